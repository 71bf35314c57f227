"""Random numbers as functions of a state: what drawing is made of where a graph must repeat it.

A state is that of a generator, three signed 64-bit integers: the low and the high half of the
counter, and the key.
"""

import numpy as np

from ..core import dtypes
from ..core.errors import invalid_argument
from ..core.op import Spec
from ..core.philox import key_and_counter_from_seed
from ..core.tensor import EagerTensor, Tensor
from .broadcasting import words
from .families import dtype_of, non_differentiable, shape_of
from .joining import pack, unpack

_WORD = 2**32 - 1
_DOUBLE_WORD = 2**64 - 1
_INT64 = np.dtype(np.int64)
_STATE = Spec((3,), _INT64)

# How to draw, by name; filled by `drawing`.
DISTRIBUTIONS: dict = {}


def state_of(key, counter):
    """The state for a key and a counter, as an array."""
    counter &= (1 << 128) - 1
    return np.array([counter & _DOUBLE_WORD, counter >> 64, key], np.uint64).view(_INT64)


def key_and_counter(state):
    """The key and the counter of a state, as integers."""
    low, high, key = [number & _DOUBLE_WORD for number in state.tolist()]
    return key, low | high << 64


def for_each(op, values, flags, attrs):
    """The op for each element of a batch: every one has its own random numbers."""
    count = next(shape_of(x)[0] for x, flag in zip(values, flags, strict=True) if flag)
    if not count:
        specs = [
            Spec(shape_of(x)[1:] if flag else shape_of(x), dtype_of(x))
            for x, flag in zip(values, flags, strict=True)
        ]
        spec = op.infer(*specs, **attrs)
        nothing = np.empty((0, *spec.shape), spec.dtype)
        return EagerTensor(nothing) if isinstance(values[0], Tensor) else nothing
    rows = [
        unpack(x, axis=0) if flag else [x] * count for x, flag in zip(values, flags, strict=True)
    ]
    each = zip(*rows, strict=True)
    if op.variadic:
        return pack([op.call(list(own), **attrs) for own in each], axis=0)
    return pack([op.call(*own, **attrs) for own in each], axis=0)


def _samples(state, *parameters, distribution, shape, dtype, op_name):
    found = DISTRIBUTIONS[distribution]
    found.check(op_name, shape, *parameters)
    samples = found.sample(*key_and_counter(state), shape, dtype, *parameters)
    return samples if shape else samples[()]


philox_samples = non_differentiable(
    "PhiloxSamples",
    _samples,
    inputs="*values",
    infer=lambda *values, distribution, shape, dtype, op_name: Spec(shape, dtype),
    batch=for_each,
    checked=False,
    raw=False,
)


def _infer_seed(seed, *, op_name):
    if seed.dtype not in _SEEDS:
        raise invalid_argument(
            op_name,
            f"Value for attr 'Tseed' of {dtypes.of_numpy(seed.dtype).runtime_word} is not in the "
            f"list of allowed values: int32, int64\n\t; NodeDef: {{{{node {op_name}}}}}",
        )
    if seed.shape != (2,):
        raise invalid_argument(op_name, f"seed must have shape [2], not {words(seed.shape)}")
    return _STATE


_SEEDS = dtypes.numpy_set(dtypes.int32, dtypes.int64)

philox_seed = non_differentiable(
    "PhiloxSeed",
    lambda seed, op_name: state_of(*key_and_counter_from_seed(*seed.tolist())),
    inputs="seed",
    infer=_infer_seed,
    batch=for_each,
    raw=False,
)


def _skipped(state, blocks):
    low, high, key = state.tolist()
    low, high = skip(low & _DOUBLE_WORD, high & _DOUBLE_WORD, blocks & _DOUBLE_WORD)
    return np.array([low, high, key & _DOUBLE_WORD], np.uint64).view(_INT64)


philox_skip = non_differentiable(
    "PhiloxSkip",
    _skipped,
    inputs="state",
    infer=lambda state, *, blocks: _STATE,
    batch=for_each,
    checked=False,
    raw=False,
)


def skip(low, high, blocks):
    """The halves of a counter, moved on.

    The carry between the words of `blocks` itself gets lost, as it does in TensorFlow: that is how
    a negative number of steps can lead back.
    """
    first = (low & _WORD) + (blocks & _WORD)
    carried = (blocks >> 32) + (first >> 32) & _WORD
    second = (low >> 32) + carried
    return first & _WORD | (second & _WORD) << 32, high + (second >> 32) & _DOUBLE_WORD
