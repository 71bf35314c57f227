"""Linear equations in every form: argument forms, errors, gradients."""

import numpy as np
import pytest

import gradtape as tf
from composites import check_gradient
from expressions import check_error, check_value, evaluate

InvalidArgumentError = tf.errors.InvalidArgumentError

COLUMN = "[[1.0], [2.0], [3.0]]"
BELOW = "[[2.0, 2.0, 2.0], [9.0, 1.0, 1.0]]"
ABOVE = "[[1.0, 1.0, 9.0], [2.0, 2.0, 2.0]]"
RHS = "c([1.0, 2.0, 3.0])"
THREE = "c([[1.0, 1.0, 0.0], [4.0, 4.0, 4.0], [0.0, 1.0, 1.0]])"
SWAPPED = "c([[1.0, 1.0, 0.0], [0.0, 4.0, 4.0], [0.0, 1.0, 1.0]])"
PARTS = "[c([1.0, 1.0]), c([4.0, 4.0, 4.0]), c([1.0, 1.0])]"
WHOLE = "c([[4.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 4.0]])"
SOLUTION = [5 / 28, 2 / 7, 19 / 28]
TALL = "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]"

VALUES = [
    ("tf.linalg.inv([[1.0, 2.0], [3.0, 5.0]])", "float32", [[-5, 2], [3, -1]]),
    ("tf.linalg.inv(c([[1j]]), adjoint=True)", "complex128", [[1j]]),
    ("tf.linalg.inv(c([[2.0]], tf.float16))", "float16", [[0.5]]),
    ("tf.linalg.inv(ones(0, 2, 2))", "float32", np.zeros((0, 2, 2))),
    (
        "tf.linalg.solve([[1.0, 2.0], [3.0, 4.0]], [[1.0], [1.0]], adjoint=True)",
        "float32",
        [[-0.5], [0.5]],
    ),
    ("tf.linalg.solve(V([[2.0]]), [[3.0]])", "float32", [[1.5]]),
    # triangles
    ("tf.linalg.triangular_solve([[2.0, 9.0], [1.0, 1.0]], [[2.0], [3.0]])", "float32", [[1], [2]]),
    (
        "tf.linalg.triangular_solve(tf.eye(2, batch_shape=[3]), ones(2, 1))",
        "float32",
        np.ones((3, 2, 1)),
    ),
    ("tf.linalg.triangular_solve([[0.0]], [[1.0]])", "float32", [[np.inf]]),
    ("tf.linalg.cholesky_solve([[2.0, 0.0], [1.0, 1.0]], [[4.0], [4.0]])", "float32", [[0], [2]]),
    # LU
    (
        "tf.linalg.lu_reconstruct(*tf.linalg.lu([[0.0, 1.0], [2.0, 3.0]]))",
        "float32",
        [[0, 1], [2, 3]],
    ),
    (
        "tf.linalg.lu_solve(*tf.linalg.lu([[0.0, 2.0], [4.0, 0.0]]), [[2.0], [4.0]])",
        "float32",
        [[1], [1]],
    ),
    (
        "tf.linalg.lu_solve(*tf.linalg.lu(tf.eye(2, batch_shape=[3])), [[1.0], [1.0]])",
        "float32",
        np.ones((3, 2, 1)),
    ),
    (
        "tf.linalg.lu_matrix_inverse(*tf.linalg.lu([[0.0, 2.0], [4.0, 0.0]]))",
        "float32",
        [[0, 0.25], [0.5, 0]],
    ),
    # three diagonals
    (f"tf.linalg.tridiagonal_solve({THREE}, {RHS})", "float32", SOLUTION),
    (
        f"tf.linalg.tridiagonal_solve({THREE}, [1.0, 2.0, 3.0], partial_pivoting=False)",
        "float32",
        SOLUTION,
    ),
    (
        f"tf.linalg.tridiagonal_solve({PARTS}, {RHS}, diagonals_format='sequence')",
        "float32",
        SOLUTION,
    ),
    (
        f"tf.linalg.tridiagonal_solve({WHOLE}, {RHS}, diagonals_format='matrix')",
        "float32",
        SOLUTION,
    ),
    (f"tf.linalg.tridiagonal_solve({SWAPPED}, {RHS})", "float32", [-2.5, 1, 0.5]),
    (
        f"tf.linalg.tridiagonal_solve({SWAPPED}, {RHS}, partial_pivoting=False)",
        "float32",
        [np.nan] * 3,
    ),
    (
        f"tf.linalg.tridiagonal_solve({THREE}, c([[1.0, 2.0, 3.0]]), transpose_rhs=True)[:, 0]",
        "float32",
        SOLUTION,
    ),
    ("tf.linalg.tridiagonal_solve(c([[5.0], [2.0], [7.0]]), c([4.0]))", "float32", [2]),
    ("tf.linalg.tridiagonal_solve(tf.zeros((3, 3)), ones(3))", "float32", [np.nan] * 3),
    ("tf.linalg.tridiagonal_solve(ones(2, 3, 3), ones(2, 3))", "float32", [[0, 1, 0]] * 2),
    (
        "tf.linalg.tridiagonal_matmul(c([[1.0, 1.0, nan], [4.0, 4.0, 4.0], [nan, 1.0, 1.0]]), "
        "ones(3, 1))",
        "float32",
        [[5], [6], [5]],
    ),
    (
        f"tf.linalg.tridiagonal_matmul({WHOLE}, ones(3, 1), diagonals_format='matrix')",
        "float32",
        [[5], [6], [5]],
    ),
    # bands
    (f"tf.linalg.banded_triangular_solve({BELOW}, {COLUMN})", "float32", [[0.5], [0.75], [1.125]]),
    (
        f"tf.linalg.banded_triangular_solve({ABOVE}, {COLUMN}, lower=False)",
        "float32",
        [[0.375], [0.25], [1.5]],
    ),
    (
        f"tf.linalg.banded_triangular_solve({BELOW}, {COLUMN}, adjoint=True)",
        "float32",
        [[0.375], [0.25], [1.5]],
    ),
    (
        f"tf.linalg.banded_triangular_solve([[9.0, 1.0, 1.0], [2.0, 2.0, 2.0]], {COLUMN}, "
        "lower=False, adjoint=True)",
        "float32",
        [[0.5], [-1.25], [2.125]],
    ),
    ("tf.linalg.banded_triangular_solve(ones(5, 3), ones(3, 1))", "float32", [[1], [0], [0]]),
    ("tf.linalg.banded_triangular_solve(ones(4, 2, 3), ones(3, 1))[3]", "float32", [[1], [0], [1]]),
    # what has no inverse
    ("tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])", "int32", 1),
    ("tf.linalg.matrix_rank(tf.eye(3, batch_shape=[2]), tol=2.0)", "int32", [0, 0]),
    ("tf.linalg.matrix_rank([[1, 2], [2, 4]])", "int32", 1),
    ("tf.linalg.matrix_rank(ones(0, 2))", "int32", 0),
    ("tf.linalg.pinv([[1.0, 2.0], [2.0, 4.0]])", "float32", [[0.04, 0.08], [0.08, 0.16]]),
    (
        "tf.linalg.pinv(tf.eye(2, batch_shape=[2]), rcond=[0.1, 2.0])[1]",
        "float32",
        np.zeros((2, 2)),
    ),
    ("tf.linalg.lstsq(ones(2, 3, 1), ones(3, 1))", "float32", np.ones((2, 1, 1))),
    ("tf.linalg.lstsq(tf.zeros((2, 2)), tf.eye(2), fast=False)", "float32", np.zeros((2, 2))),
    ("tf.linalg.lstsq(tf.zeros((2, 2)), tf.eye(2))", "float32", np.full((2, 2), np.nan)),
    ("tf.linalg.lstsq(ones(3, 0), ones(3, 1))", "float32", np.zeros((0, 1))),
    ("tf.linalg.lstsq(ones(0, 2), ones(0, 1), l2_regularizer=1.0)", "float32", np.zeros((2, 1))),
]


@pytest.mark.parametrize(("expression", "dtype", "value"), VALUES)
def test_value(expression, dtype, value):
    check_value(expression, dtype, value)


LEAST_SQUARES = [
    (f"tf.linalg.lstsq({TALL}, [[1.0], [2.0], [3.0]])", [[0], [0.5]]),
    (f"tf.linalg.lstsq({TALL}, [[1.0], [2.0], [3.0]], fast=False)", [[0], [0.5]]),
    # Without `fast` there is no regularization.
    (
        f"tf.linalg.lstsq({TALL}, [[1.0], [2.0], [3.0]], fast=False, l2_regularizer=0.7)",
        [[0], [0.5]],
    ),
    (
        "tf.linalg.lstsq([[1.0, 2.0, 3.0], [3.0, 4.0, 7.0]], [[1.0], [2.0]])",
        [[-1 / 6], [1 / 3], [1 / 6]],
    ),
    (
        "tf.linalg.lstsq([[1.0, 2.0, 3.0], [3.0, 4.0, 7.0]], [[1.0], [2.0]], l2_regularizer=0.5)",
        [[0.0266668], [0.1599999], [0.1866667]],
    ),
    (
        "tf.linalg.lstsq(c([[1j, 2.0], [3.0, 4.0], [5.0, 6.0]], tf.complex64), tf.ones((3, 1), "
        "tf.complex64), l2_regularizer=0.5)",
        [[-0.2187168 - 0.1366982j], [0.3701364 + 0.1093585j]],
    ),
    (
        f"tf.linalg.pinv({TALL})",
        [[-1.333333, -0.333333, 0.666667], [1.083333, 0.333333, -0.416667]],
    ),
    (
        "tf.linalg.lu_solve(*tf.linalg.lu(c([[1j, 2], [3, 4]], tf.complex64)), "
        "tf.ones((2, 1), tf.complex64))",
        [[-0.2307692 - 0.1538462j], [0.4230769 + 0.1153846j]],
    ),
]


@pytest.mark.parametrize(("expression", "value"), LEAST_SQUARES)
def test_to_a_few_digits(expression, value):
    np.testing.assert_allclose(evaluate(expression), value, rtol=0, atol=2e-5)


ERRORS = [
    (
        "tf.linalg.inv(tf.zeros((2, 2)))",
        InvalidArgumentError,
        "Input is not invertible. [Op:MatrixInverse]",
    ),
    ("tf.linalg.inv(ones(2, 3))", InvalidArgumentError, "Input matrix must be square."),
    ("tf.linalg.inv([[1, 2], [3, 4]])", InvalidArgumentError, "'T' of int32 is not in the list"),
    (
        "tf.linalg.solve(ones(2, 2), ones(2, 1))",
        InvalidArgumentError,
        "Input matrix is not invertible.",
    ),
    ("tf.linalg.solve(tf.eye(2), ones(2))", InvalidArgumentError, "must have the same rank"),
    ("tf.linalg.cholesky_solve(tf.eye(2), ones(2))", InvalidArgumentError, "ndims must be >= 2: 1"),
    ("tf.linalg.lu_solve(tf.eye(2), [0, 1], [1.0, 1.0])", ValueError, "`rhs` must have at least 2"),
    (
        "tf.linalg.lu_solve(tf.eye(2), [[0, 1]], ones(2, 1))",
        ValueError,
        "must equal `rank(perm) + 1`",
    ),
    ("tf.linalg.lu_solve(ones(2, 3), [0, 1], ones(2, 1), True)", ValueError, "must be square"),
    (
        "tf.linalg.lu_solve(tf.eye(2), [0, 1], ones(3, 1), True)",
        ValueError,
        "must equal `rhs.shape[-1]`",
    ),
    (
        "tf.linalg.lu_solve(tf.eye(2), [0, 2], ones(2, 1))",
        InvalidArgumentError,
        "= 2 is not in [0, 2)",
    ),
    ("tf.linalg.lu_reconstruct(ones(3), [0])", ValueError, "must have at least 2 dimensions"),
    ("tf.linalg.tridiagonal_solve(ones(3, 3), ones(2))", ValueError, "to be equal, got 3 and 2"),
    ("tf.linalg.tridiagonal_solve(ones(2, 3), ones(3))", ValueError, "Expected 3 diagonals got 2"),
    ("tf.linalg.tridiagonal_solve(ones(3), ones(3))", ValueError, "rank at least 2, got 1"),
    ("tf.linalg.tridiagonal_solve(ones(2, 3, 3), ones(3))", ValueError, "to be 2 or 3, got 1"),
    (
        "tf.linalg.tridiagonal_solve(ones(2, 3, 3), ones(3, 1))",
        ValueError,
        "Batch shapes (2,) and (3,)",
    ),
    (
        "tf.linalg.tridiagonal_solve(ones(3, 3), ones(3), 'x')",
        ValueError,
        "Unrecognized diagonals_format: x",
    ),
    (
        "tf.linalg.tridiagonal_solve([ones(3)], ones(3), 'sequence')",
        ValueError,
        "sequence of length 3",
    ),
    (
        "tf.linalg.tridiagonal_solve([ones(1), ones(3), ones(2)], ones(3), 'sequence')",
        ValueError,
        "length 3 or 2, got 1",
    ),
    (
        "tf.linalg.tridiagonal_solve(ones(2, 3), ones(3), 'matrix')",
        ValueError,
        "to be same, got 3 and 2",
    ),
    (
        "tf.linalg.tridiagonal_solve(ones(3, 3), ones(3), partial_pivoting=False, "
        "perturb_singular=True)",
        ValueError,
        "partial_pivoting must be True",
    ),
    (
        "tf.linalg.tridiagonal_matmul(ones(3, 3), ones(3))",
        InvalidArgumentError,
        "must have the same rank",
    ),
    (
        "tf.linalg.tridiagonal_matmul(ones(3, 3), ones(2, 1))",
        InvalidArgumentError,
        "Invalid superdiagonal shape.",
    ),
    (
        "tf.linalg.banded_triangular_solve(tf.zeros((2, 3)), ones(3, 1))",
        InvalidArgumentError,
        "Input matrix is not invertible.",
    ),
    (
        "tf.linalg.banded_triangular_solve(ones(2, 3), ones(2, 1))",
        InvalidArgumentError,
        "mismatch In[1] shape: 3 vs. 2",
    ),
    (
        "tf.linalg.banded_triangular_solve(ones(2, 3), ones(3))",
        InvalidArgumentError,
        "ndims must be >= 2: 1",
    ),
    ("tf.linalg.matrix_rank([1.0, 2.0])", ValueError, "at least 2 dimensions (saw: 1)"),
    ("tf.linalg.pinv([1.0, 2.0])", ValueError, "at least 2 dimensions (saw: 1)"),
    ("tf.linalg.pinv([[1, 2]])", TypeError, "`float`-like `dtype` (saw int32)"),
    (
        "tf.linalg.lstsq(ones(3, 1), ones(3))",
        InvalidArgumentError,
        "has different ndims: [3,1] vs. [3]",
    ),
    ("tf.linalg.lstsq(ones(3, 1), ones(2, 1))", InvalidArgumentError, "Matrix size-incompatible"),
]


@pytest.mark.parametrize(("expression", "error", "message"), ERRORS)
def test_error(expression, error, message):
    check_error(expression, error, message)


def _lu_both(x):
    factors, order = tf.linalg.lu(x)
    rebuilt = tf.linalg.lu_reconstruct(factors, order)
    return rebuilt + tf.linalg.lu_matrix_inverse(factors, order)


COMPOSITES = {
    "cholesky_solve": lambda x: tf.linalg.cholesky_solve(x, x),
    "lu": _lu_both,
    "tridiagonal_solve": lambda x: tf.linalg.tridiagonal_solve(x, x, "matrix"),
    "tridiagonal_matmul": lambda x: tf.linalg.tridiagonal_matmul(x, x, "matrix"),
    "banded": lambda x: tf.linalg.banded_triangular_solve(x[:2] + 3.0, x, lower=False),
    "pinv": lambda x: tf.linalg.pinv(x[:, :2]),
    "lstsq": lambda x: tf.linalg.lstsq(x[:, :2], x, l2_regularizer=0.1),
    "lstsq, few rows": lambda x: tf.linalg.lstsq(x[:2], x[:2]),
    "lstsq, not fast": lambda x: tf.linalg.lstsq(x[:, :2], x, fast=False),
}


@pytest.mark.parametrize("function", COMPOSITES.values(), ids=COMPOSITES)
def test_composite(function):
    check_gradient(function, np.random.default_rng(3).uniform(-0.5, 0.5, (3, 3)) + 2 * np.eye(3))


@pytest.mark.parametrize("function", COMPOSITES.values(), ids=COMPOSITES)
def test_batch(function):
    x = np.random.default_rng(4).uniform(-0.5, 0.5, (4, 3, 3)) + 2 * np.eye(3)
    found = tf.vectorized_map(function, tf.constant(x), fallback_to_while_loop=False)
    np.testing.assert_allclose(found, [function(tf.constant(each)) for each in x], rtol=1e-10)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("lower", [True, False])
def test_triangles_of_every_size(size, lower):
    rng = np.random.default_rng(size)
    matrix = rng.normal(size=(size, size)) / size + np.eye(size)
    rhs = rng.normal(size=(2, size, 3))
    x = tf.linalg.triangular_solve(matrix, rhs, lower=lower).numpy()
    triangle = np.tril(matrix) if lower else np.triu(matrix)
    np.testing.assert_allclose(triangle @ x, rhs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [2, 40, 600])
def test_three_diagonals_of_every_size(size):
    rng = np.random.default_rng(size)
    diagonals, rhs = rng.normal(size=(2, 3, size)), rng.normal(size=(2, size, 3))
    diagonals[0, 1] += 4.0
    diagonals[1, 1, ::2] = 0.0
    x = tf.linalg.tridiagonal_solve(diagonals, rhs)
    error = 1e-9 * np.abs(x).max()
    np.testing.assert_allclose(tf.linalg.tridiagonal_matmul(diagonals, x), rhs, atol=error)


class _Matrix:
    """The least that an operator is: it multiplies."""

    def __init__(self, matrix):
        self.matrix = tf.constant(matrix)

    def matvec(self, x):
        return tf.linalg.matvec(self.matrix, x)


def test_conjugate_gradient():
    state = tf.linalg.experimental.conjugate_gradient(_Matrix([[4.0, 1.0], [1.0, 3.0]]), [1.0, 2.0])
    np.testing.assert_allclose(state.x, [1 / 11, 7 / 11], rtol=1e-6)
    assert (state.i.dtype, int(state.i)) == (tf.int32, 2)


def test_conjugate_gradient_with_preconditioner_and_start():
    state = tf.linalg.experimental.conjugate_gradient(
        _Matrix([[4.0, 1.0], [1.0, 3.0]]),
        tf.constant([[1.0, 2.0], [4.0, 1.0]]),
        preconditioner=_Matrix([[0.25, 0.0], [0.0, 1 / 3]]),
        x=tf.ones((2, 2)),
        max_iter=5,
    )
    np.testing.assert_allclose(state.x, [[1 / 11, 7 / 11], [1, 0]], atol=1e-5)


def test_conjugate_gradient_needs_a_positive_definite_operator():
    operator = _Matrix([[1.0]])
    operator.is_positive_definite = False  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(ValueError, match="self-adjoint, positive definite"):
        tf.linalg.experimental.conjugate_gradient(operator, [1.0])
