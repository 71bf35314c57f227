"""argmax, sorting and the largest k: argument forms, ties, NaN, dtypes, errors, gradients."""

import numpy as np
import pytest

import gradtape as tf
from composites import check_batch, check_gradient
from expressions import check_error, check_gradients, check_value

InvalidArgumentError = tf.errors.InvalidArgumentError
inf, nan = np.inf, np.nan

VALUES = [
    ("tf.argmax([1, 3, 3])", "int64", 1),
    ("tf.math.argmin([1.0, 3.0, 1.0])", "int64", 0),
    ("tf.argmax([[1, 5, 3], [4, 2, 6]])", "int64", [1, 0, 1]),
    ("tf.argmax([[1, 5, 3], [4, 2, 6]], -1)", "int64", [1, 2]),
    ("tf.argmin([[1, 5, 3], [4, 2, 6]], axis=c(1))", "int64", [0, 1]),
    ("tf.argmin([[1, 5, 3], [4, 2, 6]], axis=V(1))", "int64", [0, 1]),
    ("tf.argmax([1, 2], output_type=tf.int32)", "int32", 1),
    ("tf.argmax([1, 2], output_type='int16')", "int16", 1),
    ("tf.argmax([1, 2], 0, tf.uint16)", "uint16", 1),
    ("tf.argmax([False, True])", "int64", 1),
    ("tf.argmax(c([1, 2], tf.uint64))", "int64", 1),
    ("tf.argmin(c([2.0, 1.0], tf.bfloat16))", "int64", 1),
    ("tf.argmax(V([1.0, 2.0]))", "int64", 1),
    ("tf.argmax(ones(3, 0), 0)", "int64", []),
    ("tf.argmax([1.0, nan, 3.0])", "int64", 2),
    ("tf.argmin(c([nan, 1.0, 0.5], tf.bfloat16))", "int64", 2),
    ("tf.argmax([nan, nan])", "int64", 0),
    ("tf.argmax([nan, -inf])", "int64", 0),
    # sort
    ("tf.sort([3.0, 1.0, 2.0])", "float32", [1, 2, 3]),
    ("tf.sort([3, 1, 2], direction='DESCENDING')", "int32", [3, 2, 1]),
    ("tf.sort([[3, 1, 2], [0, -1, 5]])", "int32", [[1, 2, 3], [-1, 0, 5]]),
    ("tf.sort([[3, 1, 2], [0, -1, 5]], axis=0)", "int32", [[0, -1, 2], [3, 1, 5]]),
    ("tf.sort([[3, 1, 2], [0, -1, 5]], -2, 'DESCENDING')", "int32", [[3, 1, 5], [0, -1, 2]]),
    ("tf.sort([[3, 1]], axis=c(1))", "int32", [[1, 3]]),
    ("tf.sort([[3, 1]], axis=np.int64(1))", "int32", [[1, 3]]),
    ("tf.sort(A(2, 2, 2), axis=1, direction='DESCENDING')[0]", "float32", [[3, 4], [1, 2]]),
    ("tf.sort(c([3, 1, 255], tf.uint8))", "uint8", [1, 3, 255]),
    ("tf.sort(c([3, 1, -128], tf.int8))", "int8", [-128, 1, 3]),
    ("tf.sort(c([3, -2**63, 1], tf.int64))", "int64", [-(2**63), 1, 3]),
    ("tf.sort(c([3.0, 1.0], tf.bfloat16))", "bfloat16", [1, 3]),
    ("tf.sort(ones(0, 2), axis=0)", "float32", np.zeros((0, 2))),
    ("tf.sort([])", "float32", []),
    ("tf.sort(V([3.0, 1.0]))", "float32", [1, 3]),
    # argsort
    ("tf.argsort([3.0, 1.0, 2.0])", "int32", [1, 2, 0]),
    ("tf.argsort([3.0, 1.0, 2.0], direction='DESCENDING')", "int32", [0, 2, 1]),
    ("tf.argsort([1, 0, 1, 0])", "int32", [1, 3, 0, 2]),
    ("tf.argsort([1, 0, 1, 0], direction='DESCENDING', stable=True)", "int32", [0, 2, 1, 3]),
    ("tf.argsort([[3, 1, 2], [0, -1, 5]], axis=0)", "int32", [[1, 1, 0], [0, 0, 1]]),
    ("tf.argsort(c([3, 1, 255], tf.uint8))", "int32", [1, 0, 2]),
    ("tf.argsort([])", "int32", []),
    # top_k
    ("tf.math.top_k([1.0, 3.0, 2.0], 2).values", "float32", [3, 2]),
    ("tf.nn.top_k([1.0, 3.0, 2.0], 2).indices", "int32", [1, 2]),
    ("tf.math.top_k([1.0, 3.0, 2.0])[0]", "float32", [3]),
    ("tf.math.top_k([1.0, 3.0, 2.0], k=c(2))[1]", "int32", [1, 2]),
    ("tf.math.top_k([1.0, 3.0, 2.0], k=np.int64(2))[1]", "int32", [1, 2]),
    ("tf.math.top_k([[1, 3, 2], [4, 4, 5]], 2).values", "int32", [[3, 2], [5, 4]]),
    ("tf.math.top_k([[1, 3, 2], [4, 4, 5]], 2).indices", "int32", [[1, 2], [2, 0]]),
    ("tf.math.top_k([1.0, 1.0, 1.0], 2).indices", "int32", [0, 1]),
    ("tf.math.top_k([1.0, 2.0], 1, index_type=tf.int64).indices", "int64", [1]),
    ("tf.math.top_k(c([1, 3, 2], tf.uint8), 0).values", "uint8", []),
    ("tf.math.top_k(ones(0, 2), 1).indices", "int32", np.zeros((0, 1))),
    ("tf.math.top_k(V([1.0, 2.0])).values", "float32", [2]),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "dtype", "value"), VALUES)
def test_value(expression, dtype, value):
    check_value(expression, dtype, value)


ERRORS = [
    ("tf.argmax(A(2, 3), 2)", InvalidArgumentError, "dimension in the range [-2, 2), but got 2"),
    ("tf.argmin(A(2, 3), -3)", InvalidArgumentError, "dimension in the range [-2, 2), but got -3"),
    ("tf.argmax(c(3.0))", InvalidArgumentError, "dimension in the range [0, 0), but got 0"),
    ("tf.argmax(ones(0, 3))", InvalidArgumentError, "Reduction axis 0 is empty in shape [0,3]"),
    ("tf.argmax(A(2, 3), 1.0)", TypeError, " "),
    ("tf.argmax(A(2, 3), [1])", TypeError, "axis must be int or Tensor with integer datatype"),
    ("tf.argmax([1j])", InvalidArgumentError, "'T' of complex128 is not in the list of allowed"),
    ("tf.argmax(['a'])", InvalidArgumentError, "'T' of string is not in the list of allowed"),
    (
        "tf.argmin([1, 2], output_type=tf.uint16)",
        InvalidArgumentError,
        "Value for attr 'output_type' of uint16 is not in the list of allowed values: int32, int64",
    ),
    (
        "tf.argmax([1], output_type=tf.float32)",
        InvalidArgumentError,
        "'output_type' of float is not",
    ),
    ("tf.sort(A(2, 3), axis=2)", InvalidArgumentError, "2"),
    ("tf.argsort(A(2, 3), axis=-3)", InvalidArgumentError, " "),
    ("tf.sort(c(3.0))", InvalidArgumentError, "-1"),
    ("tf.sort(A(2), axis=None)", ValueError, "Attempt to convert a value (None)"),
    (
        "tf.sort(A(2), axis=[0])",
        ValueError,
        "`axis` must be a constant scalar. Received: axis=[0].",
    ),
    (
        "tf.sort(A(2), direction='ascending')",
        ValueError,
        "`direction` should be one of ASCENDING, DESCENDING. Received: direction=ascending",
    ),
    ("tf.argsort(A(2), direction='x')", ValueError, "Received: direction=x"),
    ("tf.sort([True, False])", InvalidArgumentError, "'T' of bool is not in the list of allowed"),
    ("tf.sort([1j])", InvalidArgumentError, "'T' of complex128 is not in the list of allowed"),
    (
        "tf.math.top_k(A(2), 3)",
        InvalidArgumentError,
        "input must have at least k columns. Had 2, needed 3 [Op:TopKV2]",
    ),
    ("tf.math.top_k(A(2), -1)", InvalidArgumentError, "Need k >= 0, got -1"),
    ("tf.math.top_k(c(1.0))", InvalidArgumentError, "input must be >= 1-D, got shape []"),
    ("tf.math.top_k([True])", InvalidArgumentError, "'T' of bool is not in the list of allowed"),
    (
        "tf.math.top_k(A(2), 1, index_type=tf.float32)",
        InvalidArgumentError,
        "Value for attr 'index_type' of float is not in the list of allowed values: int16, int32",
    ),
]


@pytest.mark.parametrize(("expression", "error", "message"), ERRORS)
def test_error(expression, error, message):
    check_error(expression, error, message)


def test_top_k_names_its_results():
    result = tf.math.top_k([1.0, 2.0], 1)
    assert type(result).__name__ == "TopKV2"
    assert result._fields == ("values", "indices")


# name -> function, points, value, gradients
GRADIENTS = {
    "sort": (lambda x: tf.sort(x) * [1, 2, 3], [[3, 1, 2]], [1, 4, 9], [[3, 1, 2]]),
    "sort, ties": (lambda x: tf.sort(x) * [1, 2, 3], [[3, 1, 1]], [1, 2, 9], [[3, 1, 2]]),
    "sort, descending": (
        lambda x: tf.sort(x, direction="DESCENDING") * [1, 2, 3],
        [[1, 3, 1]],
        [3, 2, 3],
        [[2, 1, 3]],
    ),
    "sort, axis": (
        lambda x: tf.sort(x, axis=0) * [[1, 2], [3, 4]],
        [[[3, 1], [1, 2]]],
        [[1, 2], [9, 8]],
        [[[3, 2], [1, 4]]],
    ),
    "top_k": (lambda x: tf.math.top_k(x, 2)[0] * [1, 10], [[1, 3, 2]], [3, 20], [[0, 1, 10]]),
    "argmax": (tf.argmax, [[1, 2]], 1, [None]),
    # Zeros, not None: the indices come from an op that has a gradient.
    "argsort": (tf.argsort, [[3, 1, 2]], [1, 2, 0], [[0, 0, 0]]),
    "indices of top_k": (lambda x: tf.math.top_k(x).indices, [[3, 1]], [0], [[0, 0]]),
}


@pytest.mark.parametrize(
    ("function", "points", "value", "gradients"), GRADIENTS.values(), ids=GRADIENTS
)
def test_gradient(function, points, value, gradients):
    check_gradients(function, points, value, gradients)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("direction", ["ASCENDING", "DESCENDING"])
def test_composite(axis, direction):
    x = np.random.default_rng(8).permutation(np.arange(12.0)).reshape(3, 4)

    def function(x):
        return tf.sort(x, axis, direction) * np.arange(12.0).reshape(3, 4)

    check_gradient(function, x)
    check_batch(function, x)
    check_batch(lambda x: tf.argsort(x, axis, direction), x)


@pytest.mark.beyond_tensorflow
class TestNaN:
    """It counts as the largest, as in NumPy; TensorFlow leaves it, and others, anywhere."""

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
    def test_sort(self, dtype):
        x = f"c([3.0, nan, 2.0, -inf, inf], tf.{dtype})"
        check_value(f"tf.sort({x})", dtype, [-inf, 2, 3, inf, nan])
        check_value(f"tf.sort({x}, direction='DESCENDING')", dtype, [nan, inf, 3, 2, -inf])
        check_value(f"tf.argsort({x})", "int32", [3, 2, 0, 4, 1])
        check_value(f"tf.math.top_k({x}, 2).indices", "int32", [1, 4])
        check_value(f"tf.math.top_k({x}, 1).indices", "int32", [1])


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize("axis", ["np.int64(1)", "np.array(1)"])
def test_more_forms_of_axes(axis):
    check_value(f"tf.argmax(A(2, 3), axis={axis})", "int64", [2, 2])
