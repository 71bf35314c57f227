"""Cases of gradtape.ops.banded."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

_ATTRS = {"partial_pivoting": True, "perturb_singular": False}
_PLAIN = {"partial_pivoting": False, "perturb_singular": False}


def _dominant(*shape):
    """Three diagonals, of which the main one is the largest."""
    diagonals = draw.uniform(*shape)
    diagonals[..., 1, :] += 6
    return diagonals


def _whole(diagonals):
    size = diagonals.shape[-1]
    matrices = np.zeros((*diagonals.shape[:-2], size, size), diagonals.dtype)
    for i in range(size):
        matrices[..., i, i] = diagonals[..., 1, i]
        if i + 1 < size:
            matrices[..., i, i + 1] = diagonals[..., 0, i]
            matrices[..., i + 1, i] = diagonals[..., 2, i + 1]
    return matrices


def _solve(diagonals, rhs, partial_pivoting, perturb_singular):
    return np.linalg.solve(_whole(diagonals), rhs)


def _in_parts(diagonals, rhs):
    """The arguments of TensorFlow's product, which has one for each diagonal."""
    if diagonals.shape[-2] != 3:
        return None
    parts = [diagonals[..., i : i + 1, :] for i in range(3)]
    return {**dict(zip(("superdiag", "maindiag", "subdiag"), parts, strict=True)), "rhs": rhs}


def _no_product(diagonals, rhs, message):
    return Failure((diagonals, rhs), {}, InvalidArgumentError, message)


def _refused(diagonals, rhs, message):
    return Failure((diagonals, rhs), _ATTRS, InvalidArgumentError, message)


# Zeros on the main diagonal: without swapping rows there is no solution.
_PIVOTED = np.array([[1.0, 2.0, 1.5, 9.0], [0.0, 0.0, 0.5, 0.0], [9.0, -3.0, 1.0, 2.0]])

CASES = [
    Case(
        op="TridiagonalSolve",
        samples=[
            Sample((_dominant(3, 4), draw.uniform(4, 2)), _ATTRS),
            Sample((_dominant(2, 3, 3), draw.uniform(2, 3, 1)), _PLAIN),
            Sample((_PIVOTED, draw.uniform(4, 1)), _ATTRS),
            Sample((_dominant(3, 1), draw.uniform(1, 2)), _ATTRS),
            Sample((_dominant(3, 2), draw.uniform(2, 1)), _ATTRS),
            Sample((np.zeros((3, 0)), np.zeros((0, 1))), _ATTRS),
            Sample((np.zeros((0, 3, 2)), np.zeros((0, 2, 1))), _ATTRS),
            Sample((_dominant(3, 3) + 1j * draw.uniform(3, 3), draw.complex_uniform(3, 2)), _ATTRS),
            Sample(
                (np.stack([np.zeros((3, 2)), np.ones((3, 2)) * [[0.0], [2.0], [0.0]]]),
                 np.ones((2, 2, 1))),
                _ATTRS,
                expected=np.array([[[np.nan], [np.nan]], [[0.5], [0.5]]]),
                gradient=False,
            ),
        ],
        reference=_solve,
        failures=[
            _refused(np.ones((2, 3)), np.ones((3, 1)), "Expected diagonals to have 3 rows, got 2"),
            _refused(np.ones((3, 3)), np.ones((2, 1)), "got 3 and 2"),
            _refused(np.ones((3, 3)), np.ones(3), "must have the same rank"),
            _refused(np.ones((2, 3, 3)), np.ones((1, 3, 1)), "must have the same outer dimensions"),
            _refused(np.ones((3, 3), np.float16), np.ones((3, 1), np.float16), "half is not in"),
        ],
        dtypes=["float32", "complex64"],
    ),
    Case(
        op="TridiagonalMatMul",
        samples=[
            Sample((draw.uniform(3, 4), draw.uniform(4, 2)), {}),
            Sample((draw.uniform(2, 3, 3), draw.uniform(2, 3, 1)), {}),
            Sample((draw.uniform(3, 1), draw.uniform(1, 2)), {}),
            Sample((np.zeros((3, 0)), np.zeros((0, 1))), {}),
            Sample((np.zeros((0, 3, 2)), np.zeros((0, 2, 1))), {}),
            Sample((draw.complex_uniform(3, 3), draw.complex_uniform(3, 2)), {}),
        ],
        reference=lambda diagonals, rhs: _whole(diagonals) @ rhs,
        raw=_in_parts,
        failures=[
            _no_product(np.ones((2, 3)), np.ones((3, 1)), "Invalid superdiagonal shape"),
            _no_product(np.ones((3, 3)), np.ones((2, 1)), "Invalid superdiagonal shape"),
            _no_product(np.ones((3, 3)), np.ones(3), "must have the same rank"),
            _no_product(np.ones((2, 3, 3)), np.ones((1, 3, 1)), "the same outer dimensions"),
            _no_product(np.ones((3, 3), np.float16), np.ones((3, 1), np.float16), "half is not in"),
        ],
        dtypes=["float32", "complex64"],
    ),
]  # fmt: skip
