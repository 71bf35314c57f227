"""Cases of gradtape.ops.bits."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.op import UNREGISTERED

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _as(dtype):
    return {"type": np.dtype(dtype)}


def _cast(input, type):
    data = input.tobytes()
    have, want = input.dtype.itemsize, type.itemsize
    shape = input.shape if have == want else input.shape[:-1]
    if have > want:
        shape = (*input.shape, have // want)
    return np.frombuffer(data, type).reshape(shape)


CASES = [
    Case(
        op="Bitcast",
        state=UNREGISTERED,
        samples=[
            Sample((draw.uniform(2, 3),), _as(np.int64)),
            Sample((draw.uniform(2),), _as(np.uint8)),
            Sample((draw.uniform(),), _as(np.float32)),
            Sample((draw.uniform(3),), _as(np.complex64)),
            Sample((draw.complex_uniform(2),), _as(np.float64)),
            Sample((draw.integers(2, 4, dtype=np.uint8),), _as(np.int32)),
            Sample((draw.integers(4, dtype=np.uint16),), _as(np.float64)),
            Sample((draw.integers(2),), _as(np.int64)),
            Sample((np.zeros((0, 2)),), _as(np.int32)),
        ],
        reference=_cast,
        dtypes=(),
        failures=[
            Failure(
                (draw.integers(3, dtype=np.uint8),),
                _as(np.int32),
                InvalidArgumentError,
                "Cannot bitcast from uint8 to int32",
            ),
            Failure(
                (np.uint8(1),), _as(np.int32), InvalidArgumentError, "Cannot bitcast from uint8"
            ),
            Failure(
                (draw.booleans(2),), _as(np.uint8), InvalidArgumentError, "bool is not in the list"
            ),
            Failure((draw.strings(2),), _as(np.uint8), InvalidArgumentError, "string is not in"),
        ],
    ),
]
