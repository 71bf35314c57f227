"""Values and gradients at the points where a convention decides: kinks, ties, zeros, infinities."""

import math

import numpy as np
import pytest

import gradtape as tf

inf, nan = math.inf, math.nan
nn, tfm = tf.nn, tf.math
LOG2, SELU = math.log(2.0), 1.0507009873554805
SIGMOID_1 = 1.0 / (1.0 + math.exp(-1.0))


def where_positive(function):
    """The function where x > 0, else 0: its gradient meets an upstream 0 at the singular point."""
    return lambda x: tf.where(x > 0.0, function(x), 0.0)


# name -> function, points, value, gradients (one per point; None where the path ends)
ELEMENTWISE = {
    "abs": (tf.abs, [[-2, 0, 3]], [2, 0, 3], [[-1, 0, 1]]),
    "sign": (tf.sign, [[-2, 0, 3]], [-1, 0, 1], [[0, 0, 0]]),
    "square": (tf.square, [[0, -3]], [0, 9], [[0, -6]]),
    "sqrt": (tf.sqrt, [[0, 4, -1]], [0, 2, nan], [[inf, 0.25, nan]]),
    "rsqrt": (tfm.rsqrt, [[0, 4, -1]], [inf, 0.5, nan], [[-inf, -0.0625, nan]]),
    "reciprocal": (tfm.reciprocal, [[0, 4]], [inf, 0.25], [[-inf, -0.0625]]),
    "log": (tfm.log, [[0, -1, 2]], [-inf, nan, LOG2], [[inf, -1, 0.5]]),
    "log1p": (tfm.log1p, [[-1, 0]], [-inf, 0], [[inf, 1]]),
    "exp": (tf.exp, [[0, 100, -200]], [1, inf, 0], [[1, inf, 0]]),
    "expm1": (tfm.expm1, [[0]], [0], [[1]]),
    "sin": (tf.sin, [[0]], [0], [[1]]),
    "cos": (tf.cos, [[0]], [1], [[0]]),
    "asin": (tf.asin, [[1, -1, 0]], [np.pi / 2, -np.pi / 2, 0], [[inf, inf, 1]]),
    "acos": (tf.acos, [[1, -1, 0]], [0, np.pi, np.pi / 2], [[-inf, -inf, -1]]),
    "atanh": (tf.atanh, [[0, 1]], [0, inf], [[1, inf]]),
    "acosh": (tf.acosh, [[1, 2]], [0, math.acosh(2)], [[inf, 1 / math.sqrt(3)]]),
    "erf": (tfm.erf, [[0]], [0], [[2 / math.sqrt(np.pi)]]),
    "floor": (tf.floor, [[1.5]], [1], [None]),
    "round": (tf.round, [[0.5, 1.5, 2.5]], [0, 2, 2], [None]),
}
ACTIVATIONS = {
    "relu": (nn.relu, [[-1, 0, 2, nan]], [0, 0, 2, nan], [[0, 0, 1, 0]]),
    "relu6": (nn.relu6, [[-1, 0, 3, 6, 7]], [0, 0, 3, 6, 6], [[0, 0, 1, 0, 0]]),
    "leaky_relu": (nn.leaky_relu, [[-1, 0, 2]], [-0.2, 0, 2], [[0.2, 0.2, 1]]),
    "elu": (nn.elu, [[-1, 0, 2]], [math.expm1(-1), 0, 2], [[math.exp(-1), 1, 1]]),
    "selu": (nn.selu, [[0, 2]], [0, 2 * SELU], [[SELU, SELU]]),
    "gelu": (nn.gelu, [[0, 1]], [0, 0.8413447460685429], [[0.5, 1.0833154705876864]]),
    "swish": (nn.swish, [[0, 1]], [0, SIGMOID_1], [[0.5, SIGMOID_1 * (2 - SIGMOID_1)]]),
    "softplus": (nn.softplus, [[0, 100, -200]], [LOG2, 100, 0], [[0.5, 1, 0]]),
    "softsign": (nn.softsign, [[0, 1, -3]], [0, 0.5, -0.75], [[1, 0.25, 0.0625]]),
    "sigmoid": (
        tf.sigmoid,
        [[0, -20, 100, -200, inf, -inf, nan]],
        [0.5, 2.0611536e-9, 1, 0, 1, 0, nan],
        [[0.25, 2.0611536e-9, 0, 0, 0, 0, nan]],
    ),
    "tanh": (tf.tanh, [[0, 50, -50, inf, nan]], [0, 1, -1, 1, nan], [[1, 0, 0, 0, nan]]),
    "log_sigmoid": (tfm.log_sigmoid, [[0, 100, -100]], [-LOG2, 0, -100], [[0.5, 0, 1]]),
    "naive softplus": (lambda x: tfm.log(1.0 + tf.exp(x)), [[89]], [inf], [[nan]]),
}
TWO_ARGUMENTS = {
    "maximum": (
        tf.maximum,
        [[1, 2, 0, nan, 1], [1, 1, 3, 1, nan]],
        [1, 2, 3, nan, nan],
        [[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]],
    ),
    "minimum": (
        tf.minimum,
        [[1, 2, 0, nan, 1], [1, 1, 3, 1, nan]],
        [1, 1, 0, nan, nan],
        [[1, 0, 1, 0, 0], [0, 1, 0, 1, 1]],
    ),
    "division": (
        lambda x, y: x / y,
        [[1, 0, 1], [0, 0, 2]],
        [inf, nan, 0.5],
        [[inf, inf, 0.5], [-inf, nan, -0.25]],
    ),
    "divide_no_nan": (tfm.divide_no_nan, [[1, 1], [0, 2]], [0, 0.5], [[0, 0.5], [0, -0.25]]),
    "multiply_no_nan": (tfm.multiply_no_nan, [[inf, 3], [0, 2]], [0, 6], [[0, 2], [inf, 3]]),
    "xlogy": (
        tfm.xlogy,
        [[0, 2], [0, 3]],
        [0, 2 * math.log(3)],
        [[0, math.log(3)], [0, 2 / 3]],
    ),
    "xdivy": (tfm.xdivy, [[0, 2], [0, 4]], [0, 0.5], [[0, 0.25], [0, -0.125]]),
    "pow": (
        tf.pow,
        [[0, 0, 2, -2], [1, 2, 3, 2]],
        [0, 0, 8, 4],
        [[1, 0, 12, -4], [0, 0, 8 * LOG2, 0]],
    ),
    "atan2": (tf.atan2, [[0, 1], [0, 1]], [0, np.pi / 4], [[nan, 0.5], [nan, -0.5]]),
    "mod": (tfm.floormod, [[7, -7], [3, 3]], [1, 2], [[1, 1], [-2, 3]]),
    "floordiv": (tfm.floordiv, [[7], [3]], [2], [None, None]),
    "squared_difference": (tfm.squared_difference, [[3], [1]], [4], [[4], [-4]]),
    "where": (lambda x, y: tf.where([True, False], x, y), [1, [2, 3]], [1, 3], [1, [0, 1]]),
}
REDUCTIONS = {
    "reduce_max": (tf.reduce_max, [[1, 3, 3, 3]], 3, [[0, 1 / 3, 1 / 3, 1 / 3]]),
    "reduce_min": (tf.reduce_min, [[1, 1, 3, 3]], 1, [[0.5, 0.5, 0, 0]]),
    "reduce_max, axis": (
        lambda x: tf.reduce_max(x, 0),
        [[[1, 2], [1, 0]]],
        [1, 2],
        [[[0.5, 1], [0.5, 0]]],
    ),
    "reduce_mean": (tf.reduce_mean, [[1, 2, 4, 5]], 3, [[0.25] * 4]),
    "reduce_prod": (tf.reduce_prod, [[2, 4, 3]], 24, [[12, 6, 8]]),
    "reduce_prod, one zero": (tf.reduce_prod, [[2, 0, 3]], 0, [[0, 6, 0]]),
    "reduce_prod, two zeros": (tf.reduce_prod, [[0, 0, 3]], 0, [[0, 0, 0]]),
    "reduce_variance": (tfm.reduce_variance, [[1, 3]], 1, [[-1, 1]]),
    "reduce_std": (tfm.reduce_std, [[1, 3]], 1, [[-0.5, 0.5]]),
    "empty sum": (tf.reduce_sum, [[]], 0, [[]]),
    "empty mean": (tf.reduce_mean, [[]], nan, [[]]),
    "logsumexp": (tf.reduce_logsumexp, [[1000, 1000]], 1000 + LOG2, [[0.5, 0.5]]),
    "logsumexp of -inf": (tf.reduce_logsumexp, [[-inf, -inf]], -inf, [[nan, nan]]),
    "cumsum": (tf.cumsum, [[2, 4, 3]], [2, 6, 9], [[3, 2, 1]]),
    "cumsum, exclusive and reverse": (
        lambda x: tf.cumsum(x, exclusive=True, reverse=True),
        [[2, 4, 3]],
        [7, 3, 0],
        [[0, 1, 2]],
    ),
    "cumprod": (tfm.cumprod, [[2, 4, 3]], [2, 8, 24], [[17, 8, 8]]),
}
NORMS_AND_CLIPPING = {
    "norm": (tf.norm, [[3, 4]], 5, [[0.6, 0.8]]),
    "norm at zero, upstream zero": (lambda x: tf.norm(x) * 0.0, [[0, 0]], 0, [[0, 0]]),
    "norm, ord 1": (lambda x: tf.norm(x, ord=1), [[0, -2]], 2, [[0, -1]]),
    "norm, ord inf": (lambda x: tf.norm(x, ord=np.inf), [[3, -3, 1]], 3, [[0.5, -0.5, 0]]),
    "l2_normalize at zero": (tfm.l2_normalize, [[0, 0]], [0, 0], [[1e6, 1e6]]),
    "clip_by_value": (
        tf.clip_by_value,
        [[-2, -3, -1, 0, 1, 2], -1, 1],
        [-1, -1, -1, 0, 1, 1],
        [[0, 0, 1, 1, 1, 0], 2, 1],
    ),
    "clip_by_norm": (
        lambda x: tf.clip_by_norm(x, 1.0),
        [[3, 4]],
        [0.6, 0.8],
        [[0.032, -0.024]],
    ),
    "clip_by_norm below": (lambda x: tf.clip_by_norm(x, 10.0), [[3, 4]], [3, 4], [[1, 1]]),
    "clip_by_norm at zero": (lambda x: tf.clip_by_norm(x, 1.0), [[0, 0]], [0, 0], [[1, 1]]),
    "clip_by_global_norm": (
        lambda x, y: tf.clip_by_global_norm([x, y], 1.0)[0][0],
        [[3], [4]],
        [0.6],
        [[0.128], [-0.096]],
    ),
}
SINGULAR_BRANCHES = {
    "sqrt": (where_positive(tf.sqrt), [[0, 4]], [0, 2], [[0, 0.25]]),
    "rsqrt": (where_positive(tfm.rsqrt), [[0, 4]], [0, 0.5], [[0, -0.0625]]),
    "reciprocal": (where_positive(tfm.reciprocal), [[0, 4]], [0, 0.25], [[0, -0.0625]]),
    "1/x": (where_positive(lambda x: 1.0 / x), [[0, 4]], [0, 0.25], [[nan, -0.0625]]),
    "log": (where_positive(tfm.log), [[0, 4]], [0, 2 * LOG2], [[nan, 0.25]]),
    "x**.5": (where_positive(lambda x: x**0.5), [[0, 4]], [0, 2], [[nan, 0.25]]),
}
CLASSIFICATION = {
    "softmax": (lambda x: nn.softmax(x)[0], [[1000, 1000]], 0.5, [[0.25, -0.25]]),
    "softmax, all -inf": (lambda x: nn.softmax(x)[0], [[-inf, -inf]], nan, [[nan, nan]]),
    "softmax, one -inf": (lambda x: nn.softmax(x)[0], [[0, -inf]], 1, [[0, 0]]),
    "log_softmax": (lambda x: nn.log_softmax(x)[0], [[0, 1000]], -1000, [[1, -1]]),
    "softmax_cross_entropy": (
        lambda z, y: nn.softmax_cross_entropy_with_logits(labels=y, logits=z),
        [[[0, 0]], [[1, 0]]],
        [LOG2],
        [[[-0.5, 0.5]], [[LOG2, LOG2]]],
    ),
    "softmax_cross_entropy, large": (
        lambda z, y: nn.softmax_cross_entropy_with_logits(labels=y, logits=z),
        [[[0, 1000]], [[1, 0]]],
        [1000],
        [[[-1, 1]], [[1000, 0]]],
    ),
    "sparse_softmax_cross_entropy": (
        lambda z: nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=z),
        [[[0, 0]]],
        [LOG2],
        [[[0.5, -0.5]]],
    ),
    "sigmoid_cross_entropy": (
        lambda z, y: nn.sigmoid_cross_entropy_with_logits(labels=y, logits=z),
        [[0, 100, -100], [1, 0, 1]],
        [LOG2, 100, 100],
        [[-0.5, 1, -1], [0, -100, 100]],
    ),
}
LINEAR = {
    "matmul": (tf.matmul, [[[1, 2]], [[3], [4]]], [[11]], [[[3, 4]], [[1], [2]]]),
    "gather": (lambda x: tf.gather(x * 1.0, [0, 0, 1]), [[1, 2, 3]], [1, 1, 2], [[2, 1, 0]]),
    "gather axis 1": (lambda x: tf.gather(x, [1, 1], axis=1), [[[1, 2]]], [[2, 2]], [[[0, 2]]]),
}
TABLES = {
    "elementwise": ELEMENTWISE,
    "activation": ACTIVATIONS,
    "two arguments": TWO_ARGUMENTS,
    "reduction": REDUCTIONS,
    "norm or clip": NORMS_AND_CLIPPING,
    "singular branch": SINGULAR_BRANCHES,
    "classification": CLASSIFICATION,
    "linear": LINEAR,
}
CASES = [
    pytest.param(*case, id=f"{table}: {name}")
    for table, cases in TABLES.items()
    for name, case in cases.items()
]


def value_and_gradients(function, points):
    sources = [tf.constant(point, tf.float32) for point in points]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        value = function(*sources)
    return value, tape.gradient(value, sources)


@pytest.mark.parametrize(("function", "points", "value", "gradients"), CASES)
def test_value_and_gradient(function, points, value, gradients):
    got_value, got_gradients = value_and_gradients(function, points)
    np.testing.assert_allclose(got_value, value, rtol=1e-6)
    for got, want in zip(got_gradients, gradients, strict=True):
        if want is None:
            assert got is None
        else:
            np.testing.assert_allclose(got, want, rtol=1e-6)


# name -> function, point, gradient of the gradient
SECOND_ORDER = {
    "square at 0": (lambda x: x**2, [0], [2]),
    "sqrt": (tf.sqrt, [0, 4], [-inf, -0.03125]),
    "exp": (tf.exp, [0], [1]),
    "sigmoid": (tf.sigmoid, [0, 1], [0, SIGMOID_1 * (1 - SIGMOID_1) * (1 - 2 * SIGMOID_1)]),
    "softplus": (nn.softplus, [0], [0.25]),
    "relu": (nn.relu, [1], [0]),
    "abs": (tf.abs, [1], [0]),
    "reduce_sum": (tf.reduce_sum, [1, 2], None),
    "reduce_mean": (tf.reduce_mean, [1, 2], None),
    "reduce_max": (tf.reduce_max, [1, 2], None),
    "negative": (tf.negative, [1], None),
    "cumsum": (tf.cumsum, [1, 2], None),
    "sign": (tf.sign, [1], None),
}


def second_order(function, point):
    x = tf.constant(point, tf.float32)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(x)
        first = inner.gradient(y, x)
    return outer.gradient(first, x)


@pytest.mark.parametrize(("function", "point", "want"), SECOND_ORDER.values(), ids=SECOND_ORDER)
def test_second_order(function, point, want):
    got = second_order(function, point)
    if want is None:
        assert got is None
    else:
        np.testing.assert_allclose(got, want, rtol=1e-6)


# Functions that are 0 at zeros, where TensorFlow's gradient is NaN.
NORMS_AT_ZERO = {
    "norm": tf.norm,
    "norm, ord 3": lambda x: tf.norm(x, ord=3),
    "norm, axis": lambda x: tf.norm(x, axis=0),
    "reduce_euclidean_norm": tfm.reduce_euclidean_norm,
    "reduce_std": tfm.reduce_std,
    "global_norm": lambda x: tf.linalg.global_norm([x, x]),
}


@pytest.mark.beyond_tensorflow
class TestExactWhereTensorFlowIsNot:
    @pytest.mark.parametrize("norm", NORMS_AT_ZERO.values(), ids=NORMS_AT_ZERO)
    def test_norm_at_zero(self, norm):
        """Of the subgradients the smallest, as for `tf.abs`."""
        value, (gradient,) = value_and_gradients(norm, [[0, 0]])
        assert value.numpy() == 0.0
        assert gradient.numpy().tolist() == [0.0, 0.0]

    def test_cumprod_at_a_zero(self):
        value, (gradient,) = value_and_gradients(tfm.cumprod, [[2, 0, 3]])
        assert value.numpy().tolist() == [2.0, 0.0, 0.0]
        assert gradient.numpy().tolist() == [1.0, 8.0, 0.0]

    def test_second_order_of_reduce_prod_at_a_zero(self):
        assert second_order(tf.reduce_prod, [2, 0, 3]).numpy().tolist() == [3.0, 5.0, 2.0]


def test_squared_difference_of_complex_numbers():
    x, y = tf.constant([1 + 2j, 3 - 1j]), tf.constant([0.5 + 1j, 2 + 2j])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        squares = tfm.squared_difference(x, y)
    np.testing.assert_array_equal(squares, [1.25, 10])
    # The incoming gradient is multiplied as it is, imaginary part and all.
    dx, dy = tape.gradient(squares, [x, y], output_gradients=tf.constant([1 + 1j, 2 - 1j]))
    np.testing.assert_array_equal(dx, [-1 + 3j, -2 - 14j])
    np.testing.assert_array_equal(dy, [1 - 3j, 2 + 14j])
