"""Cases of gradtape.ops.matrix_functions."""

import numpy as np
import scipy.linalg

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _each(function):
    """A function of one matrix on stacks of them."""

    def on_stacks(input):
        out = np.zeros_like(input)
        for place in np.ndindex(input.shape[:-2]):
            if input.shape[-1]:
                out[place] = function(input[place])
        return out

    return on_stacks


def _exponential(x):
    """By its series, in more digits: SciPy's has lost two on some of these matrices."""
    wide = x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble) / 64
    term = total = np.eye(len(x), dtype=wide.dtype)
    for k in range(1, 40):
        term = term @ wide / k
        total = total + term
    for _ in range(6):
        total = total @ total
    return total


def _near_unit(*shape):
    return draw.uniform(*shape, low=-0.5, high=0.5) + 2 * np.eye(shape[-1])


# Matrices without a basis of eigenvectors.
_DEFECTIVE = np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 2.0]])


def _failures(dtype):
    return [
        Failure(
            (np.ones((2, 3), dtype),), {}, InvalidArgumentError, "Input matrix must be square."
        ),
        Failure((np.ones(3, dtype),), {}, InvalidArgumentError, "must have rank >= 2, got 1"),
        Failure((draw.integers(2, 2),), {}, InvalidArgumentError, "int64 is not in the list"),
    ]


CASES = [
    Case(
        op="MatrixExponential",
        samples=[
            Sample((draw.uniform(3, 3),)),
            Sample((np.stack([draw.uniform(2, 2), 8 * draw.uniform(2, 2)]),)),
            Sample((draw.uniform(1, 1),)),
            Sample((np.zeros((2, 2)),)),
            Sample((draw.complex_uniform(2, 2),)),
            Sample((np.zeros((0, 0)),)),
            Sample((np.zeros((0, 2, 2)),)),
            Sample(
                (np.stack([np.full((1, 1), np.nan), np.zeros((1, 1))]),),
                expected=np.array([[[np.nan]], [[1.0]]]),
                gradient=False,
            ),
        ],
        reference=_each(_exponential),
        failures=_failures(np.float64),
        dtypes=["float16", "float32", "complex64"],
        # Errors grow with the norm: in float32 SciPy too is 16 units off at the largest one here.
        tolerance=4.0,
    ),
    Case(
        op="MatrixSquareRoot",
        samples=[
            Sample((_near_unit(3, 3),)),
            Sample((_near_unit(2, 2, 2),)),
            Sample((_DEFECTIVE,)),
            Sample((np.array([[1.0, -2.0], [2.0, 1.0]]),)),
            Sample((_near_unit(2, 2) + 1j * draw.uniform(2, 2),)),
            Sample((np.zeros((0, 0)),)),
            Sample(
                (np.array([[[-4.0, 1.0], [0.0, 9.0]], [[4.0, 1.0], [0.0, 9.0]]]),),
                expected=np.array([np.full((2, 2), np.nan), [[2.0, 0.2], [0.0, 3.0]]]),
                gradient=False,
            ),
            Sample(
                (np.array([[0.0, 1.0], [0.0, 0.0]]),),
                expected=np.full((2, 2), np.nan),
                gradient=False,
            ),
            Sample((np.ones((2, 2)),), expected=np.full((2, 2), 0.5**0.5), gradient=False),
        ],
        reference=_each(scipy.linalg.sqrtm),
        failures=_failures(np.float64),
        dtypes=["float16", "float32", "complex64"],
    ),
    Case(
        op="MatrixLogarithm",
        samples=[
            Sample((_near_unit(3, 3) + 0j,)),
            Sample((_near_unit(2, 2, 2) + 1j * draw.uniform(2, 2, 2),)),
            Sample((_DEFECTIVE * (1 + 0.5j),)),
            Sample((np.array([[-1.0 + 0j]]),), expected=np.array([[np.pi * 1j]]), gradient=False),
            Sample((np.zeros((0, 0), complex),)),
        ],
        reference=_each(lambda x: scipy.linalg.logm(x)),
        failures=[
            *_failures(np.complex128),
            Failure((np.ones((2, 2)),), {}, InvalidArgumentError, "double is not in the list"),
        ],
        dtypes=["complex64"],
    ),
]
