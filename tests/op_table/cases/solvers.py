"""Cases of gradtape.ops.solvers."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

_ROUNDED = ["float16", "float32", "complex64"]


def regular(*shape, imaginary=0.0):
    """Square matrices far from singular ones."""
    matrices = draw.uniform(*shape, low=-1.0, high=1.0) + 3 * np.eye(shape[-1])
    return matrices + 1j * imaginary * draw.uniform(*shape) if imaginary else matrices


def _adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def _solve(matrix, rhs, adjoint):
    return np.linalg.solve(_adjoint(matrix) if adjoint else matrix, rhs)


def _triangular(matrix, rhs, lower, adjoint):
    triangle = np.tril(matrix) if lower else np.triu(matrix)
    return np.linalg.solve(_adjoint(triangle) if adjoint else triangle, rhs)


def _refused(matrix, rhs, message, **attrs):
    return Failure((matrix, rhs), {"adjoint": False, **attrs}, InvalidArgumentError, message)


CASES = [
    Case(
        op="MatrixInverse",
        samples=[
            Sample((regular(3, 3),), {"adjoint": False}),
            Sample((regular(2, 2, 2),), {"adjoint": True}),
            Sample((regular(1, 1),), {"adjoint": False}),
            Sample((np.zeros((0, 0)),), {"adjoint": False}),
            Sample((np.zeros((0, 2, 2)),), {"adjoint": True}),
            Sample((regular(2, 2, imaginary=0.3),), {"adjoint": False}),
            Sample((regular(2, 2, imaginary=0.3),), {"adjoint": True}),
        ],
        reference=lambda input, adjoint: np.linalg.inv(_adjoint(input) if adjoint else input),
        failures=[
            Failure((x,), {"adjoint": False}, InvalidArgumentError, message)
            for x, message in [
                (np.ones((2, 2)), "Input is not invertible."),
                (np.full((1, 1), np.nan), "Input is not invertible."),
                (np.ones((2, 3)), "Input matrix must be square."),
                (np.ones(3), "must have rank >= 2, got 1"),
                (draw.integers(2, 2), "int64 is not in the list"),
            ]
        ],
        dtypes=_ROUNDED,
    ),
    Case(
        op="MatrixSolve",
        samples=[
            Sample((regular(3, 3), draw.uniform(3, 2)), {"adjoint": False}),
            Sample((regular(2, 2, 2), draw.uniform(2, 2, 1)), {"adjoint": True}),
            Sample((np.zeros((0, 0)), np.zeros((0, 3))), {"adjoint": False}),
            Sample((regular(2, 2), np.zeros((2, 0))), {"adjoint": False}),
            Sample((regular(2, 2, imaginary=0.3), draw.complex_uniform(2, 2)), {"adjoint": False}),
            Sample((regular(2, 2, imaginary=0.3), draw.complex_uniform(2, 1)), {"adjoint": True}),
        ],
        reference=_solve,
        failures=[
            _refused(np.ones((2, 2)), np.ones((2, 1)), "Input matrix is not invertible."),
            _refused(np.ones((2, 3)), np.ones((2, 1)), "must be a square matrix"),
            _refused(regular(2, 2), np.ones((3, 1)), "Input matrix and rhs are incompatible."),
            _refused(regular(2, 2), np.ones(2), "must have the same rank"),
            _refused(regular(3, 2, 2), np.ones((1, 2, 1)), "must have the same outer dimensions"),
            _refused(regular(2, 2), np.ones((2, 1), np.float32), "expected to be a double tensor"),
        ],
        dtypes=_ROUNDED,
    ),
    Case(
        op="MatrixTriangularSolve",
        samples=[
            Sample((regular(3, 3), draw.uniform(3, 2)), {"lower": True, "adjoint": False}),
            Sample((regular(3, 3), draw.uniform(3, 1)), {"lower": False, "adjoint": False}),
            Sample((regular(2, 2, 2), draw.uniform(2, 1)), {"lower": True, "adjoint": True}),
            Sample((regular(2, 2), draw.uniform(2, 2, 2)), {"lower": False, "adjoint": True}),
            Sample((regular(2, 1, 2, 2), draw.uniform(3, 2, 1)), {"lower": True, "adjoint": False}),
            Sample((np.zeros((0, 0)), np.zeros((0, 3))), {"lower": True, "adjoint": False}),
            Sample((regular(2, 2), np.zeros((3, 2, 0))), {"lower": True, "adjoint": False}),
            *[
                Sample(
                    (regular(2, 2, imaginary=0.3), draw.complex_uniform(2, 2)),
                    {"lower": lower, "adjoint": adjoint},
                )
                for lower in (True, False)
                for adjoint in (True, False)
            ],
            # More than one block.
            Sample(
                (regular(150, 150) / 2, draw.uniform(150, 2)), {"lower": True, "adjoint": False},
                gradient=False, batch_inputs=(),
            ),
            Sample(
                (np.array([[0.0, 9.0], [1.0, 2.0]]), np.array([[1.0], [2.0]])),
                {"lower": True, "adjoint": False},
                expected=np.array([[np.inf], [-np.inf]]), gradient=False, batch_inputs=(),
            ),
        ],
        reference=_triangular,
        failures=[
            _refused(np.ones((2, 3)), np.ones((2, 1)), "must be square", lower=True),
            _refused(regular(2, 2), np.ones((3, 1)), "mismatch In.1. shape: 2 vs. 3", lower=True),
            _refused(regular(2, 2), np.ones(2), "ndims must be >= 2: 1", lower=True),
            _refused(regular(3, 2, 2), np.ones((4, 2, 1)), "compatible batch", lower=True),
        ],
        dtypes=_ROUNDED,
    ),
]  # fmt: skip
