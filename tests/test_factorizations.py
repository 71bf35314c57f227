"""Decompositions, determinants and functions of matrices: argument forms, errors, gradients."""

import numpy as np
import pytest

import gradtape as tf
from composites import check_gradient
from expressions import check_error, check_value

InvalidArgumentError = tf.errors.InvalidArgumentError

VALUES = [
    ("tf.linalg.cholesky([[4.0, 9.0], [2.0, 5.0]])", "float32", [[2, 0], [1, 2]]),
    ("tf.linalg.cholesky(-tf.eye(2))", "float32", [[np.nan, 0], [np.nan, np.nan]]),
    ("tf.linalg.cholesky([[nan, 1.0], [1.0, 2.0]])", "float32", [[np.nan, 0], [np.nan, np.nan]]),
    ("tf.linalg.cholesky(V([[4.0]]))", "float32", [[2]]),
    ("tf.linalg.qr([[3.0], [4.0]]).q", "float32", [[-0.6], [-0.8]]),
    ("tf.linalg.qr([[3.0], [4.0]])[1]", "float32", [[-5]]),
    (
        "tf.linalg.lu([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 9.0]]).lu",
        "float32",
        [[6, 7, 9], [0, 1, 2], [0.5, 0.5, -0.5]],
    ),
    ("tf.linalg.lu([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 9.0]]).p", "int32", [2, 0, 1]),
    ("tf.linalg.lu(tf.eye(2, batch_shape=[2]), output_idx_type=tf.int64).p", "int64", [[0, 1]] * 2),
    ("tf.linalg.det([[1.0, 2.0], [3.0, 5.0]])", "float32", -1),
    ("tf.linalg.det(ones(3, 0, 0))", "float32", [1, 1, 1]),
    ("tf.linalg.det(tf.zeros((2, 2)))", "float32", 0),
    ("tf.linalg.slogdet(tf.zeros((2, 2))).sign", "float32", 0),
    ("tf.linalg.slogdet(tf.zeros((2, 2))).log_abs_determinant", "float32", -np.inf),
    ("tf.linalg.slogdet(c([[1j, 2], [3, 4]]))[0]", "complex128", (-6 + 4j) / 52**0.5),
    ("tf.linalg.slogdet(c([[1j, 2], [3, 4]]))[1]", "complex128", np.log(52) / 2),
    ("tf.linalg.logdet([[4.0, 0.0], [0.0, 0.25]])", "float32", 0),
    ("tf.linalg.logdet(-tf.eye(2))", "float32", np.nan),
    ("tf.linalg.logdet(tf.eye(2, dtype=tf.complex64))", "float32", 0),
    ("tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]])", "float32", [[1, 1], [0, 1]]),
    ("tf.linalg.expm(ones(0, 2, 2))", "float32", np.zeros((0, 2, 2))),
    (
        "tf.linalg.logm(c([[1, 2], [0, 3]], tf.complex64))",
        "complex64",
        [[0, np.log(3)], [0, np.log(3)]],
    ),
    ("tf.linalg.sqrtm([[4.0, 1.0], [0.0, 9.0]])", "float32", [[2, 0.2], [0, 3]]),
    (
        "tf.linalg.sqrtm([[0.0, -1.0], [1.0, 0.0]])",
        "float32",
        [[0.5**0.5, -(0.5**0.5)], [0.5**0.5, 0.5**0.5]],
    ),
    ("tf.matrix_square_root([[-4.0, 1.0], [0.0, 9.0]])", "float32", np.full((2, 2), np.nan)),
    ("tf.eigvals(c([[2.0, 1.0], [0.0, 3.0]]))", "complex64", [2, 3]),
    ("tf.linalg.eigvals(tf.eye(2, dtype=tf.float64))", "complex128", [1, 1]),
    ("tf.linalg.cross([1, 2, 3], [4, 5, 6])", "int32", [-3, 6, -3]),
    ("tf.linalg.cross(V([1.0, 2.0, 3.0]), [4.0, 5.0, 6.0])", "float32", [-3, 6, -3]),
]


@pytest.mark.parametrize(("expression", "dtype", "value"), VALUES)
def test_value(expression, dtype, value):
    check_value(expression, dtype, value)


ERRORS = [
    (
        "tf.linalg.cholesky(ones(2, 3))",
        InvalidArgumentError,
        "Input matrix must be square. [Op:Cholesky]",
    ),
    ("tf.linalg.qr(ones(3))", InvalidArgumentError, "Input tensor 0 must have rank >= 2, got 1"),
    (
        "tf.linalg.lu([[1.0, 2.0], [2.0, 4.0]])",
        InvalidArgumentError,
        "Input is not invertible. [Op:Lu]",
    ),
    (
        "tf.linalg.lu(tf.eye(2), tf.float32)",
        InvalidArgumentError,
        "'output_idx_type' of float is not",
    ),
    ("tf.linalg.det(ones(2, 3))", InvalidArgumentError, "Input matrix must be square."),
    ("tf.linalg.slogdet(ones(2, 3))", InvalidArgumentError, "Input matrix must be square."),
    ("tf.linalg.expm([[1, 2], [3, 4]])", ValueError, "does not support matrices of type"),
    ("tf.linalg.logm(tf.eye(2))", InvalidArgumentError, "'T' of float is not in the list"),
    ("tf.linalg.sqrtm(ones(2, 3))", InvalidArgumentError, "Input matrix must be square."),
    ("tf.linalg.eig(ones(2, 3))", InvalidArgumentError, "Input matrix must be square."),
    ("tf.linalg.eig(c([[nan]]))", InvalidArgumentError, "Eigen decomposition was not successful."),
    (
        "tf.linalg.cross([1.0, 2.0], [3.0, 4.0])",
        tf.errors.FailedPreconditionError,
        "3-element vectors",
    ),
]


@pytest.mark.parametrize(("expression", "error", "message"), ERRORS)
def test_error(expression, error, message):
    check_error(expression, error, message)


def _stretched(x):
    """A function of eigenvectors that depends neither on their order nor on their phases."""
    e, v = tf.linalg.eig(x)
    sizes = tf.square(tf.abs(v))
    return tf.linalg.matvec(sizes, tf.math.real(e * e)) + tf.reduce_sum(sizes**2, -1)


def _positive(x):
    return tf.matmul(x, x, transpose_b=True)


COMPOSITES = {
    "cholesky": lambda x: tf.linalg.cholesky(_positive(x)),
    "qr": lambda x: tf.concat(tf.linalg.qr(x[:, :2]), 0),
    "lu": lambda x: tf.linalg.lu(x).lu,
    "logdet": lambda x: tf.linalg.logdet(_positive(x)),
    "logm": lambda x: tf.math.real(tf.linalg.logm(tf.cast(x, tf.complex128))),
    "expm": tf.linalg.expm,
    "sqrtm": tf.linalg.sqrtm,
    "eigenvectors": _stretched,
    "eigenvalues": lambda x: tf.abs(tf.reduce_sum(tf.linalg.eigvals(x) ** 3)),
}


@pytest.mark.parametrize("function", COMPOSITES.values(), ids=COMPOSITES)
def test_composite(function):
    x = np.array([[3.0, 0.5, -0.2], [0.3, 2.0, 0.6], [0.1, -0.4, 4.5]])
    check_gradient(function, x, rounding=1e7)


def test_cholesky_gradient_is_symmetric():
    x = tf.constant([[4.0, 2.0], [2.0, 5.0]], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.linalg.cholesky(x) * [[1.0, 7.0], [2.0, 3.0]])
    expected = [[0.1875, 0.125], [0.125, 0.75]]
    np.testing.assert_allclose(tape.gradient(y, x), expected, rtol=1e-12)


def test_determinant_has_no_gradient_at_a_singular_matrix():
    x = tf.zeros((2, 2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.linalg.det(x)
    with pytest.raises(InvalidArgumentError, match="Input is not invertible"):
        tape.gradient(y, x)


@pytest.mark.parametrize("norm", [0.1, 3.0, 50.0])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_exponential_of_an_antisymmetric_matrix_is_a_rotation(norm, dtype):
    angle = tf.constant([[0.0, -norm], [norm, 0.0]], dtype)
    expected = [[np.cos(norm), -np.sin(norm)], [np.sin(norm), np.cos(norm)]]
    error = 100 * np.finfo(dtype.as_numpy_dtype).eps * norm
    np.testing.assert_allclose(tf.linalg.expm(angle), expected, rtol=0, atol=error)
