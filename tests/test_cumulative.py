"""Running sums and products: argument forms, dtypes, errors, gradients."""

import numpy as np
import pytest

import gradtape as tf
from expressions import check_error, check_gradients, check_value

InvalidArgumentError = tf.errors.InvalidArgumentError

VALUES = [
    ("tf.cumsum([1, 2, 3])", "int32", [1, 3, 6]),
    ("tf.math.cumsum([1.0, 2.0, 3.0], exclusive=True)", "float32", [0, 1, 3]),
    ("tf.cumsum([1.0, 2.0, 3.0], reverse=True)", "float32", [6, 5, 3]),
    ("tf.cumsum([1.0, 2.0, 3.0], 0, True, True)", "float32", [5, 3, 0]),
    ("tf.cumsum(A(2, 3), 1)", "float32", [[1, 3, 6], [4, 9, 15]]),
    ("tf.cumsum(A(2, 3), -2)", "float32", [[1, 2, 3], [5, 7, 9]]),
    ("tf.cumsum(A(2, 3), axis=c(1))", "float32", [[1, 3, 6], [4, 9, 15]]),
    ("tf.cumsum(A(2, 3), axis=np.int64(1))", "float32", [[1, 3, 6], [4, 9, 15]]),
    ("tf.cumsum(A(2, 3), axis=np.array(1))", "float32", [[1, 3, 6], [4, 9, 15]]),
    ("tf.cumsum(ones(0, 3), exclusive=True)", "float32", np.zeros((0, 3))),
    ("tf.cumsum(c([100, 100], tf.int8))", "int8", [100, -56]),
    ("tf.cumsum(c([1j, 2.0]))", "complex128", [1j, 2 + 1j]),
    ("tf.cumsum(c([1.0, 2.0], tf.bfloat16))", "bfloat16", [1, 3]),
    ("tf.cumsum([1.0, np.inf, 2.0], exclusive=True, reverse=True)", "float32", [np.inf, 2, 0]),
    ("tf.cumsum(V([1.0, 2.0]))", "float32", [1, 3]),
    ("tf.math.cumprod([2, 3, 4])", "int32", [2, 6, 24]),
    ("tf.math.cumprod([2.0, 3.0, 4.0], exclusive=True)", "float32", [1, 2, 6]),
    ("tf.math.cumprod([2.0, 3.0, 4.0], reverse=True)", "float32", [24, 12, 4]),
    ("tf.math.cumprod(A(2, 3), 1, True, True)", "float32", [[6, 3, 1], [30, 6, 1]]),
    ("tf.math.cumprod([])", "float32", []),
]


@pytest.mark.parametrize(("expression", "dtype", "value"), VALUES)
def test_value(expression, dtype, value):
    check_value(expression, dtype, value)


ERRORS = [
    (
        "tf.cumsum(A(2, 3), 2)",
        InvalidArgumentError,
        "ScanOp: Expected scan axis in the range [-2, 2), but got 2 [Op:Cumsum]",
    ),
    ("tf.math.cumprod(A(2, 3), -3)", InvalidArgumentError, "axis in the range [-2, 2), but got"),
    ("tf.cumsum(c(1.0))", InvalidArgumentError, "axis in the range [0, 0), but got 0"),
    ("tf.cumsum(A(2, 3), 1.0)", TypeError, "Cannot convert 1.0 to EagerTensor of dtype int32"),
    ("tf.cumsum(A(2, 3), None)", ValueError, "Attempt to convert a value (None)"),
    ("tf.cumsum([True])", InvalidArgumentError, "'T' of bool is not in the list of allowed values"),
]


@pytest.mark.parametrize(("expression", "error", "message"), ERRORS)
def test_error(expression, error, message):
    check_error(expression, error, message)


# name -> function, points, value, gradients
GRADIENTS = {
    "cumsum, exclusive": (
        lambda x: tf.cumsum(x, exclusive=True),
        [[1, 2, 3]],
        [0, 1, 3],
        [[2, 1, 0]],
    ),
    "cumprod": (tf.math.cumprod, [[2, 3, 4]], [2, 6, 24], [[16, 10, 6]]),
    "cumprod, exclusive": (
        lambda x: tf.math.cumprod(x, exclusive=True),
        [[2, 3, 4]],
        [1, 2, 6],
        [[4, 2, 0]],
    ),
    "cumprod, reverse": (
        lambda x: tf.math.cumprod(x, reverse=True),
        [[2, 3, 4]],
        [24, 12, 4],
        [[12, 12, 10]],
    ),
    "cumprod, exclusive and reverse": (
        lambda x: tf.math.cumprod(x, exclusive=True, reverse=True),
        [[2, 3, 4]],
        [12, 4, 1],
        [[0, 4, 4]],
    ),
    "cumprod of nothing": (tf.math.cumprod, [[]], [], [[]]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("function", "points", "value", "gradients"), GRADIENTS.values(), ids=GRADIENTS
)
def test_gradient(function, points, value, gradients):
    check_gradients(function, points, value, gradients)


@pytest.mark.beyond_tensorflow
class TestWhereTensorFlowIsWrong:
    @pytest.mark.parametrize(
        ("options", "value", "gradient"),
        [
            ({}, [2, 0, 0], [1, 8, 0]),
            ({"exclusive": True}, [1, 2, 0], [1, 2, 0]),
            ({"reverse": True}, [0, 0, 3], [0, 9, 1]),
        ],
    )
    def test_cumprod_at_a_zero(self, options, value, gradient):
        """TensorFlow divides by the elements: [1, 0, 0] in the first case."""
        check_gradients(lambda x: tf.math.cumprod(x, **options), [[2, 0, 3]], value, [gradient])

    def test_cumprod_of_complex_numbers(self):
        """The conjugate of the derivative, as of every op; TensorFlow forgets to conjugate."""
        x = np.array([1 + 1j, 2.0])
        check_gradients(tf.math.cumprod, [x], [1 + 1j, 2 + 2j], [[3, 1 - 1j]])
