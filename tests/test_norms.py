"""Norms of vectors and matrices: orders, axes, dtypes, errors, gradients, extreme numbers."""

import numpy as np
import pytest

import gradtape as tf
from composites import check_batch, check_gradient
from expressions import check_error, check_gradients, check_value

InvalidArgumentError = tf.errors.InvalidArgumentError
inf, nan = np.inf, np.nan

VALUES = [
    ("tf.norm([3.0, 4.0])", "float32", 5.0),
    ("tf.linalg.norm([[3.0, 4.0], [0.0, 0.0]])", "float32", 5.0),
    ("tf.norm(c(-3.0))", "float32", 3.0),
    ("tf.norm(V([3.0, 4.0]))", "float32", 5.0),
    ("tf.norm(c([3.0, 4.0], tf.float16))", "float16", 5.0),
    ("tf.norm(c([3.0, 4.0], tf.bfloat16))", "bfloat16", 5.0),
    ("tf.norm([[3.0, 4.0], [6.0, 8.0]], axis=1)", "float32", [5.0, 10.0]),
    ("tf.norm([[3.0, 4.0], [6.0, 8.0]], axis=-1, keepdims=True)", "float32", [[5.0], [10.0]]),
    ("tf.norm([[3.0, 4.0], [0.0, 0.0]], axis=[0, 1])", "float32", 5.0),
    ("tf.norm([[3.0, 4.0], [0.0, 0.0]], 'fro', (-2, -1), True)", "float32", [[5.0]]),
    ("tf.norm([], keepdims=True)", "float32", [0.0]),
    ("tf.norm(ones(0, 3), axis=0)", "float32", [0.0, 0.0, 0.0]),
    # other orders of vectors
    ("tf.norm([3.0, -4.0], ord=1)", "float32", 7.0),
    ("tf.norm([3.0, -4.0], ord=2)", "float32", 5.0),
    ("tf.norm([3.0, -4.0], ord=3)", "float32", 91 ** (1 / 3)),
    ("tf.norm([[1.0, 4.0], [4.0, 9.0]], ord=0.5, axis=1)", "float32", [9.0, 25.0]),
    ("tf.norm([3.0, -4.0], ord=np.inf)", "float32", 4.0),
    ("tf.norm([[3.0, -4.0]], ord=np.inf, axis=1, keepdims=True)", "float32", [[4.0]]),
    ("tf.norm([3, -4], ord=1)", "int32", 7),
    ("tf.norm([3, -4], ord=np.inf)", "int32", 4),
    ("tf.norm([], ord=np.inf)", "float32", -inf),
    # other orders of matrices
    ("tf.norm([[3.0, -4.0], [1.0, 2.0]], ord=1, axis=(0, 1))", "float32", 6.0),
    ("tf.norm([[3.0, -4.0], [1.0, 2.0]], ord=np.inf, axis=(0, 1))", "float32", 7.0),
    ("tf.norm([[3.0, -4.0], [1.0, 2.0]], ord=np.inf, axis=(1, 0))", "float32", 6.0),
    ("tf.norm([[3.0, 0.0], [0.0, -4.0]], ord=2, axis=(0, 1))", "float32", 4.0),
    ("tf.norm([[3.0, 0.0], [0.0, -4.0]], ord=2, axis=(0, 1), keepdims=True)", "float32", [[4.0]]),
    ("tf.norm(A(2, 3, 4), ord=1, axis=(0, 2))", "float32", [20.0, 28.0, 36.0]),
    ("tf.norm(A(2, 3, 4), ord=1, axis=(2, 0), keepdims=True)[0]", "float32", [[58], [74], [90]]),
    ("tf.norm(A(2, 3, 4), 2, (2, 0))", "float32", [29.541496, 39.320953, 49.747726]),
    ("tf.norm(ones(3, 0, 2), ord=2, axis=[1, 2])", "float32", [-inf, -inf, -inf]),
    # complex numbers
    ("tf.norm(c([3j, 4.0]))", "complex128", 5.0),
    ("tf.norm(c([3j, 4.0]), ord=1)", "float64", 7.0),
    ("tf.norm(c([[3j, 0.0], [0.0, 4.0]]), ord=2, axis=[0, 1])", "float64", 4.0),
    # not finite
    ("tf.norm([nan, 1.0])", "float32", nan),
    ("tf.norm([inf, 1.0])", "float32", inf),
    ("tf.norm([[inf, 1.0], [1.0, 1.0]], ord=2, axis=[0, 1])", "float32", nan),
    # reduce_euclidean_norm
    ("tf.math.reduce_euclidean_norm([[3.0, 4.0], [6.0, 8.0]], 1)", "float32", [5.0, 10.0]),
    ("tf.math.reduce_euclidean_norm([-2.0, 3.0], [])", "float32", [2.0, 3.0]),
    ("tf.math.reduce_euclidean_norm([3, 5])", "int32", 5),
    ("tf.math.reduce_euclidean_norm(c([3, 4], tf.uint8), keepdims=True)", "uint8", [5]),
    ("tf.math.reduce_euclidean_norm(c([3j, 4.0], tf.complex64))", "complex64", 5.0),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "dtype", "value"), VALUES)
def test_value(expression, dtype, value):
    check_value(expression, dtype, value)


ERRORS = [
    ("tf.norm([3, 4])", InvalidArgumentError, "'T' of int32 is not in the list of allowed values"),
    ("tf.norm([3, 4], ord=3)", TypeError, "int32"),
    ("tf.norm(A(2, 3), ord='x')", ValueError, "'ord' must be a supported vector norm, got x"),
    ("tf.norm(A(2, 3), ord='fro')", ValueError, "'ord' must be a supported vector norm, got fro"),
    ("tf.norm(A(2, 3), ord=0)", ValueError, "'ord' must be a supported vector norm, got 0"),
    ("tf.norm(A(2, 3), ord=-inf)", ValueError, "'ord' must be a supported vector norm, got -inf"),
    (
        "tf.norm(A(2, 3), ord=3, axis=[0, 1])",
        ValueError,
        "'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got 3",
    ),
    (
        "tf.norm(A(2, 3), axis=[0])",
        ValueError,
        "'axis' must be None, an integer, or a tuple of 2 unique integers, got [0]",
    ),
    ("tf.norm(A(2, 3), axis=(1, 1))", ValueError, "2 unique integers, got (1, 1)"),
    ("tf.norm(A(2, 3), axis=1.0)", ValueError, "2 unique integers, got 1.0"),
    ("tf.norm(A(2, 3), axis='a')", ValueError, "2 unique integers, got a"),
    ("tf.norm(A(2, 3), axis=5)", InvalidArgumentError, "Invalid reduction dimension (5 for input"),
    ("tf.norm(A(2, 3), axis=(0, -2))", InvalidArgumentError, "duplicate dimension: 0"),
    ("tf.math.reduce_euclidean_norm([True])", InvalidArgumentError, "'T' of bool is not in"),
]


@pytest.mark.parametrize(("expression", "error", "message"), ERRORS)
def test_error(expression, error, message):
    check_error(expression, error, message)


# name -> function, points, value, gradients
GRADIENTS = {
    "axis": (lambda x: tf.norm(x, axis=1), [[[3, 4], [0, 2]]], [5, 2], [[[0.6, 0.8], [0, 1]]]),
    "complex": (tf.norm, [np.array([3j, 4])], 5, [[0.6j, 0.8]]),
    "infinite": (tf.norm, [[inf, 1]], inf, [[nan, 0]]),
    "ord 1": (lambda x: tf.norm(x, ord=1), [[0, -4]], 4, [[0, -1]]),
    "ord 1, complex": (lambda x: tf.norm(x, ord=1), [np.array([3j, -4])], 7, [[1j, -1]]),
    "ord 3": (lambda x: tf.norm(x, ord=3), [[0, -4]], 4, [[0, -1]]),
    "ord 0.5": (lambda x: tf.norm(x, ord=0.5), [[1, -4]], 9, [[3, -1.5]]),
    "ord inf": (lambda x: tf.norm(x, ord=np.inf), [[-4, 4]], 4, [[-0.5, 0.5]]),
    "matrices, ord 1": (
        lambda x: tf.norm(x, ord=1, axis=[0, 1]),
        [[[3, -4], [1, 2]]],
        6,
        [[[0, -1], [0, 1]]],
    ),
    "matrices, ord 2": (
        lambda x: tf.norm(x, ord=2, axis=[0, 1]),
        [[[0, 3], [-4, 0]]],
        4,
        [[[0, 0], [-1, 0]]],
    ),
    "matrices, ord 2, ties": (
        lambda x: tf.norm(x, ord=2, axis=[0, 1]),
        [[[1, 0], [0, 1]]],
        1,
        [[[0.5, 0], [0, 0.5]]],
    ),
    "matrices, ord 2, zero": (
        lambda x: tf.norm(x, ord=2, axis=[0, 1]),
        [[[0, 0], [0, 0]]],
        0,
        [[[0, 0], [0, 0]]],
    ),
    "matrices, ord 2, complex": (
        lambda x: tf.norm(x, ord=2, axis=[0, 1]),
        [np.array([[0, 3j], [-4, 0]])],
        4,
        [[[0, 0], [-1, 0]]],
    ),
}


@pytest.mark.parametrize(
    ("function", "points", "value", "gradients"), GRADIENTS.values(), ids=GRADIENTS
)
def test_gradient(function, points, value, gradients):
    check_gradients(function, points, value, gradients)


COMPOSITES = {
    "ord 3": lambda x: tf.norm(x, ord=3),
    "ord 2.5, axis": lambda x: tf.norm(x, ord=2.5, axis=0, keepdims=True),
    "ord inf": lambda x: tf.norm(x, ord=np.inf, axis=-1),
    "matrices": lambda x: tf.norm(x, axis=[0, 1]),
    "matrices, ord 1": lambda x: tf.norm(x, ord=1, axis=[0, 1]),
    "matrices, ord 2": lambda x: tf.norm(x, ord=2, axis=[1, 0]),
}


@pytest.mark.parametrize("function", COMPOSITES.values(), ids=COMPOSITES)
def test_composite(function):
    x = np.random.default_rng(2).standard_normal((3, 4))
    check_gradient(function, x)
    check_batch(function, x)


@pytest.mark.beyond_tensorflow
class TestExtremeNumbers:
    """Squares of these vanish or overflow; TensorFlow's norms are 0 or infinite, gradients NaN."""

    @pytest.mark.parametrize("order", [2, 3])
    @pytest.mark.parametrize("scale", [1e-25, 1e-42, 1e30, 5e37])
    def test_float32(self, order, scale):
        expected = float(np.linalg.norm([1.0, 2.0], order))
        gradient = np.array([1.0, 2.0]) ** (order - 1) / expected ** (order - 1)
        # The smallest numbers have few digits themselves.
        error = 1e-5 if scale > 1e-38 else 5e-3
        x = tf.constant([scale, 2 * scale])
        with tf.GradientTape() as tape:
            tape.watch(x)
            norm = tf.norm(x, ord=order)
        np.testing.assert_allclose(float(norm), expected * scale, rtol=error)
        np.testing.assert_allclose(tape.gradient(norm, x), gradient, rtol=error)

    def test_every_row_by_itself(self):
        x = np.array([[3e-200, 4e-200], [3e180, 4e180], [3.0, 4.0], [0.0, 0.0], [nan, 1.0]])
        expected = [5e-200, 5e180, 5.0, 0.0, nan]
        np.testing.assert_allclose(tf.norm(x, axis=1), expected, rtol=1e-15)

    def test_float16(self):
        check_value("tf.norm(c([300.0, 400.0], tf.float16))", "float16", 500.0)


@pytest.mark.beyond_tensorflow
class TestAtZero:
    """TensorFlow's gradients there are NaN, in the rows that are zero."""

    def test_some_rows_zero(self):
        check_gradients(
            lambda x: tf.norm(x, axis=1), [[[3, 4], [0, 0]]], [5, 0], [[[0.6, 0.8], [0, 0]]]
        )

    def test_second_order(self):
        x = tf.constant([0.0, 0.0])
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                norm = tf.norm(x)
            gradient = inner.gradient(norm, x)
        assert outer.gradient(gradient, x).numpy().tolist() == [0.0, 0.0]


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize("axis", ["np.int64(1)", "c(1)", "np.array(1)"])
def test_more_forms_of_axes(axis):
    check_value(f"tf.norm([[3.0, 4.0]], axis={axis})", "float32", [5.0])
