"""Sums, means, products, extremes, truth along axes: argument forms, dtypes, errors, gradients."""

import numpy as np
import pytest

import gradtape as tf
from composites import check_batch, check_gradient
from expressions import check_error, check_gradients, check_value

InvalidArgumentError = tf.errors.InvalidArgumentError
nan, inf = np.nan, np.inf

AXES = [
    ("None", 21.0),
    ("0", [5.0, 7.0, 9.0]),
    ("-1", [6.0, 15.0]),
    ("[0]", [5.0, 7.0, 9.0]),
    ("(0, 1)", 21.0),
    ("[]", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    ("c([], tf.int32)", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    ("c(1)", [6.0, 15.0]),
    ("c([0, 1], tf.int64)", 21.0),
    ("c([[0], [1]])", 21.0),
    ("[[0, 1]]", 21.0),
    ("[0, c(1)]", 21.0),
    ("V(1)", [6.0, 15.0]),
    ("np.int64(1)", [6.0, 15.0]),
    ("np.int8(1)", [6.0, 15.0]),
    ("np.array([0, 1])", 21.0),
    ("np.array([1], np.uint8)", [6.0, 15.0]),
    ("range(2)", 21.0),
    ("True", [6.0, 15.0]),
]


@pytest.mark.parametrize(("axis", "value"), AXES)
def test_axis(axis, value):
    check_value(f"tf.reduce_sum(A(2, 3), {axis})", "float32", value)


@pytest.mark.parametrize("keepdims", ["True", "1", "c(True)", "np.bool_(True)"])
def test_keepdims(keepdims):
    check_value(f"tf.reduce_sum(A(2, 3), 1, {keepdims})", "float32", [[6.0], [15.0]])
    check_value(f"tf.reduce_max(A(2, 3), keepdims={keepdims})", "float32", [[6.0]])


VALUES = [
    ("tf.reduce_sum([1, 2, 3])", "int32", 6),
    ("tf.reduce_sum([[1.0, 2.0], [3.0, 4.0]], -1, keepdims=None)", "float32", [3.0, 7.0]),
    ("tf.reduce_sum(c(2.0))", "float32", 2.0),
    ("tf.reduce_sum(c([100, 100], tf.int8))", "int8", -56),
    ("tf.reduce_sum([c(1.0), c(2.0)])", "float32", 3.0),
    ("tf.reduce_sum(tf.IndexedSlices(c([[1.0, 5.0]]), c([1]), c([3, 2])))", "float32", 6.0),
    ("tf.reduce_sum(V([1.0, 2.0]))", "float32", 3.0),
    ("tf.reduce_sum(ones(0, 3), 0)", "float32", [0.0, 0.0, 0.0]),
    ("tf.math.reduce_sum(input_tensor=[1.0], axis=0, keepdims=True, name='x')", "float32", [1.0]),
    # mean
    ("tf.reduce_mean([1, 2, 4])", "int32", 2),
    ("tf.reduce_mean([-1, -2, -4])", "int32", -2),
    ("tf.reduce_mean(c([100, 100, 100], tf.int8))", "int8", 100),
    ("tf.reduce_mean(c([200, 200], tf.uint8))", "uint8", 200),
    ("tf.reduce_mean([2**31 - 1, 2**31 - 1])", "int32", 2**31 - 1),
    ("tf.reduce_mean([2**53 + 1, 2**53 + 1, 2**53 + 1])", "int64", 2**53 + 1),
    ("tf.reduce_mean(c([], tf.int32))", "int32", 0),
    ("tf.reduce_mean(c([]))", "float32", nan),
    ("tf.reduce_mean(ones(0, 3), 1)", "float32", []),
    ("tf.reduce_mean(c([1.0] * 1000, tf.bfloat16))", "bfloat16", 1.0),
    ("tf.reduce_mean(c([1 + 1j, 2.0]))", "complex128", 1.5 + 0.5j),
    ("tf.reduce_mean(c(2.0), [])", "float32", 2.0),
    # variance and standard deviation
    ("tf.math.reduce_variance([1.0, 2.0, 3.0])", "float32", 2 / 3),
    ("tf.math.reduce_variance([[1.0, 2.0], [3.0, 6.0]], 0, True)", "float32", [[1.0, 4.0]]),
    ("tf.math.reduce_variance(c([1j, 3j]))", "float64", 1.0),
    ("tf.math.reduce_variance(V([1.0, 3.0]))", "float32", 1.0),
    ("tf.math.reduce_variance([])", "float32", nan),
    ("tf.math.reduce_std([1.0, 2.0, 3.0])", "float32", np.sqrt(2 / 3)),
    ("tf.math.reduce_std([[1.0, 2.0], [3.0, 6.0]], 0, True)", "float32", [[1.0, 2.0]]),
    ("tf.math.reduce_std(c([1j, 3j]))", "float64", 1.0),
    ("tf.math.reduce_std(c([300.0, 0.0], tf.float16))", "float16", 150.0),
    ("tf.math.reduce_std([])", "float32", nan),
    # products
    ("tf.reduce_prod(A(2, 3), 1)", "float32", [6.0, 120.0]),
    ("tf.reduce_prod([1j, 2.0])", "complex128", 2j),
    ("tf.reduce_prod(c([100, 100], tf.int8))", "int8", 16),
    ("tf.reduce_prod(c([]))", "float32", 1.0),
    # extremes
    ("tf.reduce_max([1.0, nan, 3.0])", "float32", nan),
    ("tf.reduce_min(c([3.0, 1.0, nan], tf.bfloat16))", "bfloat16", nan),
    ("tf.reduce_max(c([3, 1], tf.uint8))", "uint8", 3),
    ("tf.reduce_max(c([], tf.uint8))", "uint8", 0),
    ("tf.reduce_min(c([], tf.int64))", "int64", 2**63 - 1),
    ("tf.reduce_max(c([], tf.float16))", "float16", -inf),
    ("tf.reduce_min(c([], tf.bfloat16))", "bfloat16", inf),
    ("tf.reduce_max(ones(0, 3), 1)", "float32", []),
    ("tf.reduce_max(V([1.0, 2.0]))", "float32", 2.0),
    # log of the sum of exponentials
    ("tf.reduce_logsumexp([1000.0, 1000.0])", "float32", 1000.0 + np.log(2)),
    ("tf.reduce_logsumexp([[0.0, 0.0], [1.0, 1.0]], 1)", "float32", [np.log(2), 1 + np.log(2)]),
    ("tf.reduce_logsumexp([[0.0], [0.0]], 0, True)", "float32", [[np.log(2)]]),
    ("tf.reduce_logsumexp([0.0, 1.0], [])", "float32", [0.0, 1.0]),
    ("tf.reduce_logsumexp([inf, 1.0])", "float32", inf),
    ("tf.reduce_logsumexp([-inf, -inf])", "float32", -inf),
    ("tf.reduce_logsumexp([nan, 1.0])", "float32", nan),
    ("tf.reduce_logsumexp([])", "float32", -inf),
    ("tf.reduce_logsumexp(V([2.0]))", "float32", 2.0),
    ("tf.reduce_logsumexp(c([1000.0, 1000.0], tf.float16))", "float16", 1000.5),
    # truth
    ("tf.reduce_all([[True, False], [True, True]], 1)", "bool", [False, True]),
    ("tf.reduce_any([[True, False], [True, True]], [0, 1], True)", "bool", [[True]]),
    ("tf.reduce_all([[True, False]], [])", "bool", [[True, False]]),
    ("tf.reduce_any(np.array([1, 0]))", "bool", True),
    ("tf.reduce_all([])", "bool", True),
    ("tf.math.count_nonzero([[0, 1, 0], [1, 1, 0]])", "int64", 3),
    ("tf.math.count_nonzero([[0, 1], [1, 1]], 1, True, tf.int32)", "int32", [[1], [2]]),
    ("tf.math.count_nonzero(['', 'a'])", "int64", 1),
    ("tf.math.count_nonzero([True, False])", "int64", 1),
    ("tf.math.count_nonzero([0.0, nan])", "int64", 1),
    ("tf.math.count_nonzero([0j, 1j])", "int64", 1),
    ("tf.math.count_nonzero(V([0.0, 3.0]), dtype=tf.float32)", "float32", 1.0),
]


@pytest.mark.parametrize(("expression", "dtype", "value"), VALUES)
def test_value(expression, dtype, value):
    check_value(expression, dtype, value)


ERRORS = [
    ("tf.reduce_sum(A(2, 3), 2)", InvalidArgumentError, "Invalid reduction dimension (2 for input"),
    ("tf.reduce_mean(A(2, 3), [0, 0])", InvalidArgumentError, "duplicate dimension: 0 [Op:Mean]"),
    ("tf.reduce_max(c(2.0), 0)", InvalidArgumentError, "with 0 dimension(s) [Op:Max]"),
    ("tf.reduce_any(c(True), 5)", InvalidArgumentError, "with 0 dimension(s) [Op:Any]"),
    ("tf.reduce_sum(A(2, 3), 1.5)", TypeError, "Cannot convert 1.5 to EagerTensor of dtype int32"),
    ("tf.reduce_max(A(2, 3), [1.0])", InvalidArgumentError, "Value for attr 'Tidx' of float"),
    ("tf.reduce_sum(A(2, 3), c(1.0))", InvalidArgumentError, "Value for attr 'Tidx' of float"),
    ("tf.reduce_sum(A(2, 3), 'a')", InvalidArgumentError, "Value for attr 'Tidx' of string"),
    ("tf.reduce_sum(A(2, 3), {0})", ValueError, "Attempt to convert a value ({0})"),
    ("tf.reduce_sum([True])", InvalidArgumentError, "'T' of bool is not in the list of allowed"),
    ("tf.reduce_prod(['a'])", InvalidArgumentError, "'T' of string is not in the list of allowed"),
    (
        "tf.reduce_max([1j])",
        InvalidArgumentError,
        "'T' of complex128 is not in the list of allowed",
    ),
    ("tf.reduce_min([True])", InvalidArgumentError, "'T' of bool is not in the list of allowed"),
    ("tf.reduce_sum(None)", ValueError, "Attempt to convert a value (None)"),
    ("tf.math.reduce_variance([1, 2])", TypeError, "Input must be either real or complex"),
    ("tf.math.reduce_std([1, 2])", TypeError, "Input must be either real or complex"),
    ("tf.reduce_logsumexp([1, 2])", InvalidArgumentError, "int32 is not in the list of allowed"),
    ("tf.reduce_all([1, 0])", TypeError, "to EagerTensor of dtype bool"),
    (
        "tf.reduce_all(c([1, 0]))",
        InvalidArgumentError,
        "cannot compute All as input #0(zero-based) was expected to be a bool tensor but is a",
    ),
    (
        "tf.reduce_any(c([1.0]))",
        InvalidArgumentError,
        "expected to be a bool tensor but is a float",
    ),
]


@pytest.mark.parametrize(("expression", "error", "message"), ERRORS)
def test_error(expression, error, message):
    check_error(expression, error, message)


# name -> function, points, value, gradients
GRADIENTS = {
    "sum, no axes": (lambda x: tf.reduce_sum(x, []), [[1, 2]], [1, 2], [[1, 1]]),
    "mean": (lambda x: tf.reduce_mean(x, 0), [[[1, 2], [3, 4]]], [2, 3], [np.full((2, 2), 0.5)]),
    "mean, complex": (tf.reduce_mean, [np.array([1 + 1j, 2])], 1.5 + 0.5j, [[0.5, 0.5]]),
    "mean of nothing": (tf.reduce_mean, [[]], nan, [[]]),
    "variance": (
        tf.math.reduce_variance,
        [[1, 2, 6]],
        14 / 3,
        [[-4 / 3, -2 / 3, 2]],
    ),
    "variance, complex": (tf.math.reduce_variance, [np.array([1j, 3j])], 1, [[-1j, 1j]]),
    "std": (tf.math.reduce_std, [[1, 3]], 1, [[-0.5, 0.5]]),
    "std, complex": (tf.math.reduce_std, [np.array([1j, 3j])], 1, [[-0.5j, 0.5j]]),
    "prod, two axes": (
        lambda x: tf.reduce_prod(x, [0, 2]),
        [np.arange(1.0, 9.0).reshape(2, 2, 2)],
        [60, 672],
        [[[[60, 30], [224, 168]], [[12, 10], [96, 84]]]],
    ),
    "prod, complex": (tf.reduce_prod, [np.array([1 + 1j, 2])], 2 + 2j, [[2, 1 - 1j]]),
    "prod, one element": (tf.reduce_prod, [3], 3, [1]),
    "prod of nothing": (tf.reduce_prod, [[]], 1, [[]]),
    "max of all": (tf.reduce_max, [[[1, 1], [2, 0]]], 2, [[[0, 0], [1, 0]]]),
    "max, infinite ties": (tf.reduce_max, [[inf, inf, 1]], inf, [[0.5, 0.5, 0]]),
    "max, NaN": (tf.reduce_max, [[1, nan, 3]], nan, [[nan, nan, nan]]),
    "max, scalar": (tf.reduce_max, [3], 3, [1]),
    "logsumexp": (tf.reduce_logsumexp, [[0, np.log(3)]], np.log(4), [[0.25, 0.75]]),
    "logsumexp, one infinite": (tf.reduce_logsumexp, [[-inf, 2]], 2, [[0, 1]]),
    "logsumexp, keepdims": (
        lambda x: tf.reduce_logsumexp(x, 1, True),
        [[[0, 0], [1, 1]]],
        [[np.log(2)], [1 + np.log(2)]],
        [np.full((2, 2), 0.5)],
    ),
    "count_nonzero": (tf.math.count_nonzero, [[1, 0]], 1, [None]),
}


@pytest.mark.parametrize(
    ("function", "points", "value", "gradients"), GRADIENTS.values(), ids=GRADIENTS
)
def test_gradient(function, points, value, gradients):
    check_gradients(function, points, value, gradients)


@pytest.mark.parametrize("function", [tf.reduce_mean, tf.reduce_prod, tf.math.reduce_std])
def test_gradient_by_a_variable(function):
    variable = tf.Variable([1.0, 3.0])
    with tf.GradientTape() as tape:
        value = function(variable)
    assert tape.gradient(value, variable).shape == [2]


COMPOSITES = [
    tf.math.reduce_variance,
    tf.math.reduce_std,
    tf.reduce_logsumexp,
    lambda x: tf.math.reduce_variance(x, 0, True),
    lambda x: tf.math.reduce_std(x, [-1]),
    lambda x: tf.reduce_logsumexp(x, 1),
]


@pytest.mark.parametrize("function", COMPOSITES)
def test_composite(function):
    x = np.random.default_rng(1).standard_normal((3, 4))
    check_gradient(function, x)
    check_batch(function, x)


@pytest.mark.beyond_tensorflow
class TestMoreExactThanTensorFlow:
    """TensorFlow adds up 16-bit floats, and divides by their number, in 16 bits."""

    @pytest.mark.parametrize(
        ("expression", "dtype", "value"),
        [
            ("tf.reduce_mean(c([60000.0, 60000.0], tf.float16))", "float16", 60000.0),
            ("tf.reduce_mean(c([1.0] * 100000, tf.float16))", "float16", 1.0),
            ("tf.math.reduce_std(c([1000.0, 3000.0] * 5000, tf.float16))", "float16", 1000.0),
        ],
    )
    def test_narrow_floats(self, expression, dtype, value):
        check_value(expression, dtype, value)

    def test_mean_of_no_complex_numbers(self):
        check_value("tf.reduce_mean(c([], tf.complex64))", "complex64", complex(nan, nan))

    def test_std_of_equal_numbers(self):
        check_gradients(tf.math.reduce_std, [[2, 2]], 0, [[0, 0]])


@pytest.mark.parametrize("width", [2, 3, 8])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("function", [tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min])
def test_long_arrays_of_short_rows(function, width, keepdims):
    x = np.random.default_rng(0).normal(size=(7, 3000, width)).astype(np.float32)
    x[3, 5, 1] = np.nan
    expected = getattr(np, function.__name__.removeprefix("reduce_"))(
        x.astype(np.float64), axis=-1, keepdims=keepdims
    )
    found = function(tf.constant(x), -1, keepdims)
    assert found.dtype is tf.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("function", [tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min])
def test_long_arrays_over_all_axes_but_the_last(function, keepdims):
    x = np.random.default_rng(1).normal(size=(64, 30, 30, 3)).astype(np.float32)
    expected = getattr(np, function.__name__.removeprefix("reduce_"))(
        x.astype(np.float64), axis=(0, 1, 2), keepdims=keepdims
    )
    found = function(tf.constant(x), [0, 1, 2], keepdims)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("shape", [(25088, 32), (17, 13, 29, 3), (32, 8, 8, 8), (1000, 300)])
def test_many_rows_add_up_without_losing_digits(shape):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32) + np.float32(0.3)
    axes = list(range(len(shape) - 1))
    exact = x.astype(np.float64)
    mean, variance = tf.nn.moments(x, axes)
    for result, expected in (
        (tf.reduce_sum(x, axes), exact.sum(tuple(axes))),
        (tf.reduce_sum(x, axes, keepdims=True), exact.sum(tuple(axes), keepdims=True)),
        (mean, exact.mean(tuple(axes))),
        (variance, exact.var(tuple(axes))),
        (tf.reduce_max(x, axes), exact.max(tuple(axes))),
    ):
        assert result.shape == expected.shape
        error = np.max(np.abs(result - expected)) / np.max(np.abs(expected))
        assert error < 6e-7
