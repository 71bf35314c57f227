"""Cases of gradtape.ops.random_rows."""

import numpy as np

import gradtape as tf
from gradtape.core import distributions
from gradtape.core.op import NON_DIFFERENTIABLE
from gradtape.core.philox import key_and_counter_from_seed

from ..case import Case, Failure, Sample

_STATE = np.array([5, 0, 7])
_FLOAT = np.dtype(np.float32)
_LARGEST = 2**63 - 1


def _attrs(distribution, shape, dtype: np.dtype = _FLOAT):
    return {"distribution": distribution, "shape": shape, "dtype": dtype, "op_name": "Random"}


def _drawn(state, *parameters, distribution, shape, dtype, op_name):
    low, _, key = state.tolist()
    if distribution == "integers":
        low_limit, high_limit = map(int, parameters)
        return distributions.uniform_int(key, low, 4, low_limit, high_limit, dtype).reshape(shape)
    kernel = {"normal": distributions.normal, "uniform": distributions.uniform}[distribution]
    return kernel(key, low, int(np.prod(shape)), dtype).reshape(shape)


def _state(seed, op_name):
    key, counter = key_and_counter_from_seed(*seed.tolist())
    words = [counter % 2**64, counter >> 64, key]
    return np.array(words, np.uint64).view(np.int64)


CASES = [
    Case(
        op="PhiloxSamples",
        samples=[
            Sample((_STATE,), _attrs("uniform", (2, 3))),
            Sample((np.array([6, 0, 8]),), _attrs("normal", ())),
            Sample((_STATE,), _attrs("normal", (0, 2))),
            Sample(
                (_STATE, np.int32(2), np.int32(9)), _attrs("integers", (4,), np.dtype(np.int32))
            ),
        ],
        reference=_drawn,
        state=NON_DIFFERENTIABLE,
        failures=[
            Failure(
                (_STATE, np.int32(9), np.int32(2)),
                _attrs("integers", (4,), np.dtype(np.int32)),
                tf.errors.InvalidArgumentError,
                "Need minval < maxval, got 9 >= 2",
            ),
        ],
    ),
    Case(
        op="PhiloxSeed",
        samples=[
            Sample((np.array([1, 2]),), {"op_name": "Random"}),
            Sample((np.array([-1, 2**31 - 1], np.int32),), {"op_name": "Random"}),
        ],
        reference=_state,
        state=NON_DIFFERENTIABLE,
        failures=[
            Failure(
                (np.array([1, 2, 3]),), {"op_name": "Random"},
                tf.errors.InvalidArgumentError, r"seed must have shape \[2\], not \[3\]",
            ),
            Failure(
                (np.array([1.0, 2.0]),), {"op_name": "Random"},
                tf.errors.InvalidArgumentError, "Value for attr 'Tseed' of double",
            ),
        ],
    ),
    Case(
        op="PhiloxSkip",
        samples=[
            Sample((_STATE,), {"blocks": 256}, expected=np.array([261, 0, 7])),
            Sample((np.array([-1, 3, -9]),), {"blocks": 1}, expected=np.array([0, 4, -9])),
            Sample(
                (np.array([_LARGEST, 0, 1]),), {"blocks": 1}, expected=np.array([-(2**63), 0, 1])
            ),
        ],
        reference=lambda state, blocks: None,
        state=NON_DIFFERENTIABLE,
    ),
]  # fmt: skip
