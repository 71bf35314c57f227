"""Activations by their public names: values, dtypes, arguments, aliases, errors, gradients."""

import math

import numpy as np
import pytest

import gradtape as tf

inf, nan = math.inf, math.nan
nn = tf.nn

POINTS = np.array([0.3, -0.4, 1.0, -1.0, 3.0], np.float32)
# name -> function, values at POINTS, first and second derivatives there; all by TensorFlow 2.21.
TABLE = {
    "sigmoid": (
        tf.sigmoid,
        [0.57444257, 0.40131235, 0.7310586, 0.26894143, 0.95257413],
        [0.2444583, 0.24026075, 0.19661191, 0.19661194, 0.045176655],
        [-0.03639621, 0.04742155, -0.09085775, 0.09085774, -0.04089157],
    ),
    "log_sigmoid": (
        tf.math.log_sigmoid,
        [-0.55435526, -0.9130153, -0.3132617, -1.3132616, -0.04858735],
        [0.42555743, 0.5986877, 0.26894143, 0.7310586, 0.04742587],
        [-0.2444583, -0.24026074, -0.19661194, -0.19661193, -0.04517666],
    ),
    "softplus": (
        nn.softplus,
        [0.8543553, 0.5130153, 1.3132616, 0.3132617, 3.0485873],
        [0.57444257, 0.40131235, 0.7310586, 0.26894143, 0.95257413],
        [0.2444583, 0.24026074, 0.19661193, 0.19661194, 0.04517666],
    ),
    "relu": (nn.relu, [0.3, 0, 1, 0, 3], [1, 0, 1, 0, 1], [0, 0, 0, 0, 0]),
    "relu6": (nn.relu6, [0.3, 0, 1, 0, 3], [1, 0, 1, 0, 1], [0, 0, 0, 0, 0]),
    "leaky_relu": (
        nn.leaky_relu,
        [0.3, -0.08, 1, -0.2, 3],
        [1, 0.2, 1, 0.2, 1],
        [0, 0, 0, 0, 0],
    ),
    "elu": (
        nn.elu,
        [0.3, -0.32967997, 1, -0.63212055, 3],
        [1, 0.67032003, 1, 0.36787945, 1],
        [0, 0.67032003, 0, 0.36787945, 0],
    ),
    "selu": (
        nn.selu,
        [0.3152103, -0.57961, 1.050701, -1.1113307, 3.152103],
        [1.050701, 1.1784892, 1.050701, 0.6467686, 1.050701],
        [0, 1.1784892, 0, 0.6467686, 0],
    ),
    "gelu": (
        nn.gelu,
        [0.18537343, -0.13783135, 0.8413447, -0.15865526, 2.9959502],
        [0.73232776, 0.19727021, 1.0833155, -0.08331549, 1.0119456],
        [0.7284508, 0.6776171, 0.24197075, 0.24197075, -0.03102295],
    ),
    "swish": (
        nn.swish,
        [0.17233278, -0.16052495, 0.7310586, -0.26894143, 2.8577223],
        [0.64778006, 0.30520806, 0.9276706, 0.07232948, 1.0881041],
        [0.47799772, 0.46155283, 0.30236611, 0.30236614, -0.03232139],
    ),
}


def derivatives(function, points):
    """The value of a function and its first and second derivatives, element by element."""
    x = tf.constant(points)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(x)
        first = inner.gradient(y, x)
    return y, first, outer.gradient(first, x)


@pytest.mark.parametrize(("function", "value", "first", "second"), TABLE.values(), ids=TABLE)
def test_value_and_derivatives(function, value, first, second):
    got = derivatives(function, POINTS)
    for tensor, wanted in zip(got, (value, first, second), strict=True):
        np.testing.assert_allclose(tensor, wanted, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize(
    "dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64], ids=lambda dtype: dtype.name
)
@pytest.mark.parametrize("function", [row[0] for row in TABLE.values()], ids=TABLE)
def test_dtype_and_shape_stay(function, dtype):
    for shape in [(), (2, 3), (0, 2)]:
        x = tf.ones(shape, dtype)
        y, first, second = derivatives(function, x)
        assert {t.dtype for t in (y, first, second)} == {dtype}
        assert {tuple(t.shape) for t in (y, first, second)} == {shape}


@pytest.mark.parametrize(
    ("function", "value", "gradient"),
    [
        (tf.sigmoid, [1, 0, nan, 1, 0], [0, 0, nan, 0, 0]),
        (nn.softplus, [inf, 0, nan, 90, 0], [1, 0, nan, 1, 0]),
        (nn.relu, [inf, 0, nan, 90, 0], [1, 0, 0, 1, 0]),
        (nn.relu6, [6, 0, nan, 6, 0], [0, 0, 0, 0, 0]),
        (nn.leaky_relu, [inf, -inf, nan, 90, -18], [1, 0.2, 0.2, 1, 0.2]),
        (nn.elu, [inf, -1, nan, 90, -1], [1, 0, 1, 1, 0]),
        (
            nn.selu,
            [inf, -1.7580993, nan, 94.563095, -1.7580993],
            [1.050701, 0, 1.050701, 1.050701, 0],
        ),
        (nn.gelu, [inf, nan, nan, 90, 0], [nan, nan, nan, 1, 0]),
        (nn.swish, [inf, nan, nan, 90, 0], [nan, nan, nan, 1, 0]),
        (nn.softsign, [nan, nan, nan, 90 / 91, -90 / 91], [0, 0, nan, 91**-2, 91**-2]),
    ],
    ids=lambda item: getattr(item, "__name__", ""),
)
def test_infinities_and_nan(function, value, gradient, gradient_of):
    points = np.array([inf, -inf, nan, 90, -90], np.float32)
    np.testing.assert_allclose(function(points), value, rtol=1e-6, atol=1e-37)
    np.testing.assert_allclose(gradient_of(function, points), gradient, rtol=1e-6, atol=1e-37)


def test_small_values_keep_their_digits():
    points = tf.constant([-20.0, -9.0])
    np.testing.assert_allclose(tf.sigmoid(points), [2.0611537e-09, 1.2339458e-04], rtol=1e-6)
    np.testing.assert_allclose(nn.softplus(points), [2.0611537e-09, 1.2340219e-04], rtol=1e-6)
    np.testing.assert_allclose(nn.gelu([-5.0, -8.0]), [-1.4332578e-06, -4.9767738e-15], rtol=1e-6)


def test_subnormal_values_are_zero():
    assert nn.softplus([-100.0, -90.0]).numpy().tolist() == [0.0, 0.0]
    assert tf.sigmoid([-100.0, -90.0]).numpy().tolist() == [0.0, 0.0]


class TestNames:
    def test_aliases_are_one_function(self):
        assert tf.sigmoid is tf.math.sigmoid is tf.nn.sigmoid
        assert tf.math.softplus is nn.softplus
        assert tf.math.softsign is nn.softsign
        assert nn.silu is nn.swish

    @pytest.mark.parametrize(
        "function",
        [
            nn.relu, nn.relu6, nn.elu, nn.selu, nn.gelu, nn.swish, nn.softplus, nn.softsign,
            nn.leaky_relu, nn.crelu,
        ],
    )  # fmt: skip
    def test_the_argument_is_called_features(self, function):
        assert function(features=[1.0]).numpy()[0] > 0

    def test_the_argument_of_sigmoid_is_called_x(self):
        assert tf.sigmoid(x=0.0).numpy() == 0.5
        assert tf.math.log_sigmoid(x=[0.0], name="n").numpy() == -np.log(np.float32(2))

    def test_another_name_is_refused(self):
        with pytest.raises(TypeError, match="unexpected keyword argument 'x'"):
            nn.relu(x=[1.0])


class TestArguments:
    def test_variables_and_lists(self):
        variable = tf.Variable([1.0, -1.0])
        with tf.GradientTape() as tape:
            y = nn.relu(variable)
        assert tape.gradient(y, variable).numpy().tolist() == [1.0, 0.0]
        assert nn.relu([[1, -2]]).dtype is tf.int32

    def test_relu_of_integers(self):
        assert nn.relu([-1, 0, 2]).numpy().tolist() == [0, 0, 2]
        assert nn.relu6(tf.constant([1, 9], tf.uint8)).numpy().tolist() == [1, 6]

    def test_leaky_relu_of_integers_is_float32(self):
        y = nn.leaky_relu([-1, 0, 2])
        assert y.dtype is tf.float32
        np.testing.assert_allclose(y, [-0.2, 0.0, 2.0])

    @pytest.mark.parametrize("alpha", [0.0, 0.5, 1, 2.0, -1.0, np.float32(0.25)])
    def test_leaky_relu_with_any_slope(self, alpha, gradient_of):
        points = np.array([-3.0, 2.0, 0.0])
        alpha_ = float(alpha)
        np.testing.assert_allclose(nn.leaky_relu(points, alpha), [-3 * alpha_, 2, 0])
        gradient = gradient_of(lambda x: nn.leaky_relu(x, alpha=alpha), points)
        np.testing.assert_allclose(gradient, [alpha_, 1, alpha_])

    def test_leaky_relu_without_a_slope_has_the_default(self):
        np.testing.assert_allclose(nn.leaky_relu([-1.0], alpha=None), [-0.2])

    @pytest.mark.parametrize("alpha", [tf.constant(0.3), "a", [0.1]])
    def test_leaky_relu_wants_a_number(self, alpha):
        with pytest.raises(TypeError, match="Expected float for argument 'alpha' not"):
            nn.leaky_relu([1.0], alpha=alpha)

    def test_gelu_approximate(self, gradient_of):
        points = [-1.0, 2.0, 0.0, 30.0, -30.0]
        value = [-0.158808, 1.9545977, 0, 30, 0]
        np.testing.assert_allclose(nn.gelu(points, approximate=True), value, rtol=1e-6, atol=1e-9)
        gradient = gradient_of(lambda x: nn.gelu(x, True), points)
        wanted = [-0.08296409, 1.086099, 0.5, 1, 0]
        np.testing.assert_allclose(gradient, wanted, rtol=2e-6, atol=1e-9)

    def test_gelu_wants_floats(self):
        with pytest.raises(ValueError, match=r"must be a floating point tensor\..*int32"):
            nn.gelu([1])

    def test_swish_with_beta(self, gradient_of):
        np.testing.assert_allclose(
            nn.swish([-1.0, 2.0], beta=2), [-0.11920292, 1.9640275], rtol=1e-6
        )
        by_x, by_beta = gradient_of(nn.swish, [-1.0, 2.0], 1.5)
        np.testing.assert_allclose(by_x, [-0.04129416, 1.0881041], rtol=2e-6)
        np.testing.assert_allclose(by_beta, 0.32985306, rtol=1e-6)

    def test_crelu(self, gradient_of):
        assert nn.crelu([[1.0, -2.0]]).numpy().tolist() == [[1, 0, 0, 2]]
        assert nn.crelu([[1.0, -2.0]], axis=0).numpy().tolist() == [[1, 0], [0, 2]]
        assert gradient_of(nn.crelu, [[1.0, -1.0, 0.0]]).numpy().tolist() == [[1, -1, 0]]


class TestErrors:
    @pytest.mark.parametrize("function", [tf.sigmoid, nn.softplus, nn.elu, nn.selu, nn.softsign])
    @pytest.mark.parametrize("value", [[1, 2], [True], ["a"]])
    def test_dtype(self, function, value):
        with pytest.raises(tf.errors.InvalidArgumentError, match="list of allowed values"):
            function(tf.constant(value))

    @pytest.mark.parametrize("function", [nn.relu, nn.relu6, nn.leaky_relu, nn.elu, nn.softplus])
    def test_complex(self, function):
        with pytest.raises(tf.errors.InvalidArgumentError, match="complex128 is not in the list"):
            function(tf.constant([1j]))

    def test_none(self):
        with pytest.raises(ValueError, match="None"):
            nn.relu(None)

    def test_crelu_axis(self):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"range \[-2, 2\), but got 5"):
            nn.crelu([[1.0]], axis=5)


def test_complex_sigmoid(gradient_of):
    z = tf.constant([0.3 + 0.2j], tf.complex64)
    np.testing.assert_allclose(tf.sigmoid(z), [0.57517517 + 0.049044345j], rtol=1e-6)
    s = 1 / (1 + np.exp(-(0.3 + 0.2j)))
    np.testing.assert_allclose(gradient_of(tf.sigmoid, z), [np.conj(s * (1 - s))], rtol=1e-6)


def test_relu_keeps_nothing_but_its_output():
    x = tf.constant([1.0, -1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = nn.relu(x)
    saved = tape._inner.records[0][2]
    assert [item for item in saved if isinstance(item, tf.Tensor)] == [y]


@pytest.mark.beyond_tensorflow
class TestBetterThanTensorFlow:
    def test_second_derivative_of_softsign(self):
        _, _, second = derivatives(nn.softsign, [1.0, -3.0])
        assert second.numpy().tolist() == [-0.25, 0.03125]

    def test_gradient_by_a_vector_beta(self, gradient_of):
        _, by_beta = gradient_of(nn.swish, [-1.0, 2.0], [1.0, 2.0])
        np.testing.assert_allclose(by_beta, [0.19661193, 0.07065082], rtol=1e-5)

    def test_elu_near_zero_keeps_its_digits(self):
        np.testing.assert_allclose(nn.elu([-1e-6]), [-9.999995e-07], rtol=1e-6)

    def test_slope_is_not_rounded_to_float32(self):
        assert nn.leaky_relu(tf.constant([-20.0], tf.float64)).numpy().tolist() == [-4.0]
