"""Cases of gradtape.ops.casting."""

import ml_dtypes
import numpy as np

from gradtape.core.errors import UnimplementedError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _to(dtype):
    return {"dtype": np.dtype(dtype)}


def _reference(x, dtype):
    return (x.real if dtype.kind != "c" else x).astype(dtype)


# In narrower types than float64, gradients are compared with 1 in tests of the tape.
CASES = [
    Case(
        op="Cast",
        samples=[
            Sample((draw.uniform(2, 3),), _to(np.complex128)),
            Sample((draw.complex_uniform(2, 3),), _to(np.float64)),
            Sample((draw.complex_uniform(),), _to(np.complex128)),
            Sample((draw.uniform(),), _to(np.float64)),
            Sample((draw.uniform(0, 2),), _to(np.float32)),
            Sample((draw.uniform(2, 3),), _to(np.float32), gradient=False),
            Sample((draw.uniform(3),), _to(np.float16), gradient=False),
            Sample((draw.uniform(3),), _to(ml_dtypes.bfloat16), gradient=False),
            Sample((draw.uniform(3).astype(ml_dtypes.bfloat16),), _to(np.float64), gradient=False),
            Sample((draw.uniform(3).astype(np.float32),), _to(np.complex64), gradient=False),
            Sample((draw.signed(2, 3, high=50.0),), _to(np.int8)),
            Sample((draw.uniform(3, high=9.0).astype(ml_dtypes.bfloat16),), _to(np.int32)),
            Sample((draw.complex_uniform(3),), _to(np.int64)),
            Sample((draw.uniform(3),), _to(np.bool_)),
            Sample((np.array([300, -1, 7]),), _to(np.uint8)),
            Sample((draw.integers(3),), _to(np.float64)),
            Sample((draw.integers(3),), _to(np.bool_)),
            Sample((draw.booleans(2, 2),), _to(np.float64)),
            Sample((draw.booleans(),), _to(np.complex128)),
            Sample((draw.strings(2),), _to(object)),
        ],
        reference=_reference,
        dtypes=(),
        failures=[
            Failure(
                (draw.strings(2),),
                _to(np.uint8),
                UnimplementedError,
                "Cast string to uint8 is not supported",
            ),
            Failure(
                (draw.uniform(2),),
                _to(object),
                UnimplementedError,
                "Cast double to string is not supported",
            ),
        ],
    ),
]
