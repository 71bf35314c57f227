"""Singular values, diagonals, traces and adjoints: argument forms, errors, gradients."""

import numpy as np
import pytest

import gradtape as tf
from composites import check_batch, check_gradient
from expressions import check_error, check_gradients, check_value, evaluate

InvalidArgumentError = tf.errors.InvalidArgumentError

VALUES = [
    ("tf.linalg.svd([[3.0, 0.0], [0.0, -4.0]], compute_uv=False)", "float32", [4, 3]),
    ("tf.linalg.svd(c([[3j, 0.0]]), compute_uv=False)", "float64", [3]),
    ("tf.linalg.svd(ones(0, 2), compute_uv=False)", "float32", []),
    ("tf.linalg.svd([[np.nan, 1.0]], compute_uv=False)", "float32", [np.nan]),
    # one diagonal
    ("tf.linalg.diag_part(A(2, 3))", "float32", [1, 5]),
    ("tf.linalg.diag_part(A(2, 2, 2))", "float32", [[1, 4], [5, 8]]),
    ("tf.linalg.diag_part([[1, 2], [3, 4]], k=1)", "int32", [2]),
    ("tf.linalg.diag_part(A(3, 3), k=-1)", "float32", [4, 8]),
    ("tf.linalg.diag_part(A(3, 4), k=(1, 1))", "float32", [2, 7, 12]),
    ("tf.linalg.diag_part(V([[1.0, 2.0]]))", "float32", [1]),
    ("tf.linalg.diag_part(ones(2, 0, 3))", "float32", np.zeros((2, 0))),
    # several
    ("tf.linalg.diag_part(A(3, 3), k=(-1, 1))", "float32", [[0, 2, 6], [1, 5, 9], [4, 8, 0]]),
    ("tf.linalg.diag_part(A(3, 4), k=c([0, 1]))", "float32", [[2, 7, 12], [1, 6, 11]]),
    ("tf.linalg.diag_part([[1, 2], [3, 4]], k=(0, 1), padding_value=9)", "int32", [[9, 2], [1, 4]]),
    # on which side
    *[
        (f"tf.linalg.diag_part(A(2, 2), k=(-1, 1), align='{align}')", "float32", value)
        for align, value in {
            "RIGHT_LEFT": [[0, 2], [1, 4], [3, 0]],
            "LEFT_RIGHT": [[2, 0], [1, 4], [0, 3]],
            "LEFT_LEFT": [[2, 0], [1, 4], [3, 0]],
            "RIGHT_RIGHT": [[0, 2], [1, 4], [0, 3]],
        }.items()
    ],
    # trace and adjoint
    ("tf.linalg.trace(A(2, 3))", "float32", 6),
    ("tf.linalg.trace([[[1, 2], [3, 4]]])", "int32", [5]),
    ("tf.linalg.adjoint(c([[1 + 1j, 2.0]]))", "complex128", [[1 - 1j], [2]]),
    ("tf.linalg.adjoint(A(2, 2))", "float32", [[1, 3], [2, 4]]),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "dtype", "value"), VALUES)
def test_value(expression, dtype, value):
    check_value(expression, dtype, value)


@pytest.mark.parametrize("matrix", ["A(2, 3)", "A(3, 2)", "c([[3j, 4.0], [1.0, 1.0]])"])
def test_svd(matrix):
    s, u, v = tf.linalg.svd(evaluate(matrix))
    product = tf.matmul(u * tf.cast(s, u.dtype), v, adjoint_b=True)
    np.testing.assert_allclose(product, evaluate(matrix), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(s, tf.linalg.svd(evaluate(matrix), compute_uv=False), rtol=1e-6)


ERRORS = [
    ("tf.linalg.svd(A(3))", InvalidArgumentError, "must have rank >= 2, got 1"),
    ("tf.linalg.svd([[1, 2]])", InvalidArgumentError, "'T' of int32 is not in the list of allowed"),
    (
        "tf.linalg.diag_part(A(3))",
        InvalidArgumentError,
        "input must be at least 2-dim, received shape: [3] [Op:MatrixDiagPartV3]",
    ),
    (
        "tf.linalg.diag_part(A(3, 4), k=4)",
        InvalidArgumentError,
        "lower_diag_index is out of bound: 4. It must be between -3 and 4",
    ),
    ("tf.linalg.diag_part(A(3, 4), k=-3)", InvalidArgumentError, "is out of bound: -3."),
    ("tf.linalg.diag_part(A(3, 4), k=(0, 4))", InvalidArgumentError, "upper_diag_index is out of"),
    ("tf.linalg.diag_part(A(3, 4), k=(1, 0))", InvalidArgumentError, "upper_diag_index: 1 > 0"),
    ("tf.linalg.diag_part(A(3, 4), k=(0, 1, 2))", InvalidArgumentError, "received 3 elements."),
    (
        "tf.linalg.diag_part(A(3, 4), k=1.5)",
        TypeError,
        "Cannot convert 1.5 to EagerTensor of dtype",
    ),
    ("tf.linalg.diag_part(A(2, 2), align='x')", InvalidArgumentError, "Value for attr 'align' of"),
    ("tf.linalg.trace(A(2))", InvalidArgumentError, "input must be at least 2-dim"),
    (
        "tf.linalg.trace([[True]])",
        InvalidArgumentError,
        "'T' of bool is not in the list of allowed",
    ),
    ("tf.linalg.adjoint(A(2))", ValueError, "rank >= 2"),
]


@pytest.mark.parametrize(("expression", "error", "message"), ERRORS)
def test_error(expression, error, message):
    check_error(expression, error, message)


# name -> function, points, value, gradients
GRADIENTS = {
    "singular values": (
        lambda x: tf.linalg.svd(x, compute_uv=False),
        [[[0, 3], [-4, 0]]],
        [4, 3],
        [[[0, 1], [-1, 0]]],
    ),
    "diag_part": (
        lambda x: tf.linalg.diag_part(x, k=(0, 1)) * [[1, 2], [3, 4]],
        [[[1, 2], [3, 4]]],
        [[0, 4], [3, 16]],
        [[[3, 2], [0, 4]]],
    ),
    "trace": (tf.linalg.trace, [[[1, 2, 3], [4, 5, 6]]], 6, [[[1, 0, 0], [0, 1, 0]]]),
    "adjoint": (
        lambda x: tf.linalg.adjoint(x) * 1j,
        [np.array([[1 + 1j]])],
        [[1 + 1j]],
        [[[1j]]],
    ),
}


@pytest.mark.parametrize(
    ("function", "points", "value", "gradients"), GRADIENTS.values(), ids=GRADIENTS
)
def test_gradient(function, points, value, gradients):
    check_gradients(function, points, value, gradients)


def _rebuilt(x):
    """A function of all three parts that does not depend on the signs of the vectors."""
    s, u, v = tf.linalg.svd(x)
    return tf.matmul(u * s * s, v, transpose_b=True) + tf.matmul(u, u, transpose_b=True)[:, :1]


COMPOSITES = {
    "svd": _rebuilt,
    "singular values": lambda x: tf.linalg.svd(x, compute_uv=False),
    "diag_part": lambda x: tf.linalg.diag_part(x, k=(-1, 2)),
    "trace": tf.linalg.trace,
    "adjoint": tf.linalg.adjoint,
}


@pytest.mark.parametrize("function", COMPOSITES.values(), ids=COMPOSITES)
def test_composite(function):
    x = np.random.default_rng(11).standard_normal((4, 3))
    check_gradient(function, x)
    if function is not _rebuilt:
        check_batch(function, x)


def test_gradients_of_equal_singular_values():
    """Their vectors have no derivative, but the sum of the values has: here that of the trace."""
    x = tf.constant([[2.0, 0.0], [0.0, 2.0]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            total = tf.reduce_sum(tf.linalg.svd(x, compute_uv=False))
        gradient = inner.gradient(total, x)
    np.testing.assert_allclose(gradient, [[1.0, 0.0], [0.0, 1.0]], atol=1e-6)
    assert np.isfinite(outer.gradient(gradient, x)).all()


def test_full_matrices():
    s, u, v = tf.linalg.svd([[3.0, 0.0], [0.0, -4.0]], full_matrices=True)
    assert (s.shape, u.shape, v.shape) == ([2], [2, 2], [2, 2])


@pytest.mark.parametrize(("shape", "size_of_u", "size_of_v"), [((4, 2), 4, 2), ((2, 2, 5), 2, 5)])
def test_full_matrices_of_matrices_that_are_not_square(shape, size_of_u, size_of_v):
    x = np.sin(np.arange(np.prod(shape))).reshape(shape)
    s, u, v = tf.linalg.svd(x, full_matrices=True)
    assert (u.shape[-1], v.shape[-1]) == (size_of_u, size_of_v)
    for basis in (u, v):
        unit = np.broadcast_to(np.eye(basis.shape[-1]), basis.shape)
        np.testing.assert_allclose(tf.matmul(basis, basis, adjoint_a=True), unit, atol=1e-12)
    product = tf.matmul(u[..., :2] * s[..., None, :], v[..., :2], adjoint_b=True)
    np.testing.assert_allclose(product, x, atol=1e-12)


def test_arbitrary_vectors_have_no_gradient():
    x = tf.constant(np.sin(np.arange(8.0)).reshape(4, 2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        u = tf.linalg.svd(x, full_matrices=True)[1]
    with pytest.raises(NotImplementedError, match="2 vectors that fill up"):
        tape.gradient(u, x)
