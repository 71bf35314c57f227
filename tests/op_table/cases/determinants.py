"""Cases of gradtape.ops.determinants."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _regular(*shape):
    return draw.uniform(*shape, low=-1.0, high=1.0) + 2 * np.eye(shape[-1])


_SAMPLES = [
    Sample((_regular(3, 3),)),
    Sample((-_regular(2, 3, 3),)),
    Sample((_regular(1, 1),)),
    Sample((_regular(2, 2) + 1j * draw.uniform(2, 2),)),
    Sample((_regular(2, 2, 2) + 1j * draw.uniform(2, 2, 2),)),
    Sample((np.zeros((0, 0)),)),
    Sample((np.zeros((0, 2, 2)),)),
]
_FAILURES = [
    Failure((np.ones((2, 3)),), {}, InvalidArgumentError, "Input matrix must be square."),
    Failure((np.ones(3),), {}, InvalidArgumentError, "must have rank >= 2, got 1"),
    Failure((draw.integers(2, 2),), {}, InvalidArgumentError, "int64 is not in the list"),
]


def _slogdet(input):
    sign, size = np.linalg.slogdet(input)
    return sign, size.astype(input.dtype)


CASES = [
    Case(
        op="MatrixDeterminant",
        samples=_SAMPLES,
        reference=np.linalg.det,
        failures=_FAILURES,
        dtypes=["float16", "float32", "complex64"],
    ),
    Case(
        op="LogMatrixDeterminant",
        samples=_SAMPLES,
        reference=_slogdet,
        failures=_FAILURES,
        dtypes=["float16", "float32", "complex64"],
    ),
]
