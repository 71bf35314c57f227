"""Special functions: accuracy in both precisions, edges of their domains, gradients, errors."""

import math

import numpy as np
import pytest
from scipy import special

import gradtape as tf

inf, nan = math.inf, math.nan
tfm = tf.math

RNG = np.random.default_rng(7)
LINE = np.concatenate([RNG.uniform(-6, 6, 70_000), RNG.uniform(-1.1, 1.1, 1000)])
TAIL = RNG.uniform(5.0, 26.0, 500)
FRACTIONS = np.concatenate([RNG.uniform(-1, 1, 2000), 10 ** RNG.uniform(-300, 0, 500)])
PROBABILITIES = np.concatenate([RNG.uniform(0, 1, 2000), 10 ** RNG.uniform(-300, 0, 500)])
POSITIVE = np.concatenate([RNG.uniform(2.2, 40, 2000), RNG.uniform(0.001, 0.8, 500)])
NEGATIVE = -RNG.integers(0, 9, 300) - RNG.uniform(0.2, 0.8, 300)

erfc = np.vectorize(math.erfc)  # SciPy loses digits far out


def trigamma(x):
    return tfm.polygamma(tf.ones_like(x), x)


def zeta_of_three_halves(x):
    return tfm.zeta(1.5 * tf.ones_like(x), x)


@pytest.mark.parametrize(
    ("function", "reference", "points", "rtol"),
    [
        (tfm.erf, special.erf, LINE, 1e-15),
        (tfm.erfc, erfc, LINE, 2e-15),
        (tfm.erfc, erfc, TAIL, 2e-15),
        (tfm.erfinv, special.erfinv, FRACTIONS, 2e-15),
        (tfm.ndtri, special.ndtri, PROBABILITIES, 5e-15),
        (tfm.lgamma, special.gammaln, POSITIVE, 2e-15),
        (tfm.digamma, special.digamma, POSITIVE, 2e-15),
        (trigamma, lambda x: special.polygamma(1, x), POSITIVE, 3e-15),
        (zeta_of_three_halves, lambda x: special.zeta(1.5, x), POSITIVE, 3e-15),
    ],
    ids=["erf", "erfc", "erfc, tail", "erfinv", "ndtri", "lgamma", "digamma", "trigamma", "zeta"],
)
def test_float64_accuracy(function, reference, points, rtol):
    np.testing.assert_allclose(function(tf.constant(points)), reference(points), rtol=rtol)


@pytest.mark.parametrize(
    ("function", "reference", "points", "rtol"),
    [
        (tfm.erf, special.erf, LINE, 5e-7),
        (tfm.erfc, special.erfc, LINE[LINE < 3], 8e-7),
        (tfm.erfc, special.erfc, TAIL[TAIL < 9], 4e-6),  # a rounding error of x² counts x² times
        (tfm.erfinv, special.erfinv, FRACTIONS, 2e-7),
        (tfm.ndtri, special.ndtri, PROBABILITIES, 2e-7),
        (tfm.lgamma, special.gammaln, POSITIVE, 2e-7),
        (tfm.digamma, special.digamma, POSITIVE, 2e-7),
    ],
    ids=["erf", "erfc", "erfc, tail", "erfinv", "ndtri", "lgamma", "digamma"],
)
def test_float32_accuracy(function, reference, points, rtol):
    points = points.astype(np.float32)
    value = function(points)
    assert value.dtype is tf.float32
    wanted = reference(points.astype(np.float64))
    np.testing.assert_allclose(value, wanted, rtol=rtol, atol=1e-37)


def test_lgamma_next_to_its_zero_at_one():
    for below in (1e-3, 1e-6, 1e-9):
        x = 1.0 - below
        d = 1.0 - x  # exact
        wanted = np.euler_gamma * d + np.pi**2 / 12 * d**2 + special.zeta(3) / 3 * d**3
        wanted += np.pi**4 / 360 * d**4
        np.testing.assert_allclose(tfm.lgamma(tf.constant(x, tf.float64)), wanted, rtol=1e-12)


def test_negative_arguments():
    x = tf.constant(NEGATIVE)
    np.testing.assert_allclose(tfm.lgamma(x), special.gammaln(NEGATIVE), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(tfm.digamma(x), special.digamma(NEGATIVE), rtol=1e-13, atol=1e-13)


# name -> function, points, value, gradient
EDGES = {
    "erf": (tfm.erf, [inf, -inf, nan, 0], [1, -1, nan, 0], [0, 0, nan, 1.1283792]),
    "erfc": (tfm.erfc, [inf, -inf, nan, 0], [0, 2, nan, 1], [0, 0, nan, -1.1283792]),
    "erfinv": (
        tfm.erfinv,
        [1, -1, 1.1, nan, 0],
        [inf, -inf, nan, nan, 0],
        [inf, inf, nan, nan, 0.886227],
    ),
    "erfcinv": (
        tfm.erfcinv,
        [0, 2, 1, -1, 2.5],
        [inf, -inf, 0, nan, nan],
        [-inf, -inf, -0.886227, nan, nan],
    ),
    "ndtri": (tfm.ndtri, [0, 1, 0.5, -1], [-inf, inf, 0, nan], [inf, inf, 2.5066283, nan]),
    "lgamma": (
        tfm.lgamma,
        [inf, -inf, nan, 0, -1, 1],
        [inf, inf, nan, inf, inf, 0],
        [inf, nan, nan, nan, nan, -0.5772157],
    ),
    "digamma": (
        tfm.digamma,
        [inf, -inf, nan, 0, -1],
        [inf, nan, nan, nan, nan],
        [0, inf, nan, inf, inf],
    ),
}


@pytest.mark.parametrize(("function", "points", "value", "gradient"), EDGES.values(), ids=EDGES)
def test_edges(function, points, value, gradient, gradient_of):
    points = tf.constant(points, tf.float32)
    np.testing.assert_allclose(function(points), value, rtol=1e-6)
    np.testing.assert_allclose(gradient_of(function, points), gradient, rtol=1e-6)


def test_erf_of_scalars_agrees_with_arrays():
    for x in (0.3, -2.5, 0.0, 7.0):
        for function in (tfm.erf, tfm.erfc):
            for dtype, rtol in ((tf.float32, 5e-7), (tf.float64, 2e-15)):
                alone = function(tf.constant(x, dtype))
                assert alone.dtype is dtype
                assert tuple(alone.shape) == ()
                np.testing.assert_allclose(alone, function(tf.constant([x], dtype))[0], rtol=rtol)


def test_polygamma_and_zeta():
    order = tf.constant([1, 1, 1, 2, 0, 3, 1.5, -1, 1], tf.float64)
    x = tf.constant([0.5, -0.5, 0, 2, 1.5, -1.5, 2, 2, inf], tf.float64)
    wanted = [4.934802201, 8.934802201, inf, -0.4041138063, 0.03648997398, 194.5942762, nan, nan, 0]
    np.testing.assert_allclose(tfm.polygamma(order, x), wanted, rtol=1e-9)
    x = tf.constant([2, 1, 3, 2, 0.5, 2, 2, 2], tf.float64)
    q = tf.constant([1, 1, 2, -0.5, 2, 0, -1, inf], tf.float64)
    wanted = [1.644934067, inf, 0.202056903, 8.934802201, nan, inf, inf, 0]
    np.testing.assert_allclose(tfm.zeta(x, q), wanted, rtol=1e-8)


def test_only_one_argument_of_polygamma_and_zeta_has_a_gradient(gradient_of):
    by_order, by_x = gradient_of(tfm.polygamma, [1.0, 2.0], [0.5, 2.0])
    assert by_order is None
    np.testing.assert_allclose(by_x, [-16.828796, 0.4939394], rtol=1e-6)
    by_x, by_q = gradient_of(tfm.zeta, [2.0, 3.0], [0.5, 2.0])
    assert by_x is None
    np.testing.assert_allclose(by_q, [-16.828796, -0.2469697], rtol=1e-6)


def test_lgamma_to_the_fourth_derivative():
    x = tf.constant(2.5, tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        derivatives = [tfm.lgamma(x)]
        for _ in range(4):
            derivatives.append(tape.gradient(derivatives[-1], x))
    wanted = [special.digamma(2.5), *[special.polygamma(n, 2.5) for n in (1, 2, 3)]]
    np.testing.assert_allclose([float(d) for d in derivatives[1:]], wanted, rtol=1e-13)


# name -> function, x, y, value, gradients
PRODUCTS = {
    "xlogy": (
        tfm.xlogy,
        [0, 0, 0, 2, 2, 2, 1],
        [0, -3, nan, 0, -0.5, 3, inf],
        [0, 0, 0, -inf, nan, 2.1972246, inf],
        [0, 0, 0, -inf, nan, 1.0986123, inf],
        [0, 0, 0, inf, -4, 0.6666667, 0],
    ),
    "xdivy": (
        tfm.xdivy,
        [0, 0, 0, 2, 2, 2, 1],
        [0, -3, nan, 0, -0.5, 3, inf],
        [0, 0, 0, inf, -4, 0.6666667, 0],
        [0, 0, 0, inf, -2, 0.33333334, 0],
        [0, 0, 0, -inf, -8, -0.22222222, 0],
    ),
    "xlog1py": (
        tfm.xlog1py,
        [0, 0, 0, 2, 2, 2, 1],
        [-1, -3, nan, 0, -0.5, 3, inf],
        [0, 0, 0, 0, -1.3862944, 2.7725887, inf],
        [0, 0, 0, 0, -0.6931472, 1.3862944, inf],
        [0, 0, 0, 2, 4, 0.5, 0],
    ),
}


@pytest.mark.parametrize(
    ("function", "x", "y", "value", "by_x", "by_y"), PRODUCTS.values(), ids=PRODUCTS
)
def test_products_that_are_zero_at_zero(function, x, y, value, by_x, by_y, gradient_of):
    x, y = tf.constant(x, tf.float32), tf.constant(y, tf.float32)
    np.testing.assert_allclose(function(x, y), value, rtol=1e-6)
    got_x, got_y = gradient_of(function, x, y)
    np.testing.assert_allclose(got_x, by_x, rtol=1e-6)
    np.testing.assert_allclose(got_y, by_y, rtol=1e-6)


class TestArguments:
    def test_python_values_take_the_dtype_of_a_tensor(self):
        assert tfm.xlogy(2.0, tf.constant(3.0, tf.float64)).dtype is tf.float64
        assert tfm.xlogy(tf.constant([2.0]), 3).dtype is tf.float32
        assert tfm.xlogy(x=2.0, y=3.0).numpy() == pytest.approx(2.1972246)

    def test_broadcasting(self):
        assert tuple(tfm.xdivy([[1.0], [2.0]], [1.0, 2.0, 3.0]).shape) == (2, 3)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2\] vs. \[3\]"):
            tfm.xlogy([1.0, 2.0], [1.0, 2.0, 3.0])

    @pytest.mark.parametrize(
        "function", [tfm.erf, tfm.erfc, tfm.erfinv, tfm.ndtri, tfm.lgamma, tfm.digamma]
    )
    @pytest.mark.parametrize("value", [3, 1j, True, "a"])
    def test_dtype(self, function, value):
        with pytest.raises(tf.errors.InvalidArgumentError, match="list of allowed values"):
            function(value)

    def test_erfcinv_of_integers(self):
        with pytest.raises(TypeError, match=r"Cannot convert 0\.5 to EagerTensor of dtype int32"):
            tfm.erfcinv([1])


@pytest.mark.beyond_tensorflow
class TestBetterThanTensorFlow:
    def test_erfinv_near_zero_and_one_in_float32(self):
        # TensorFlow gives 0 and 3.4655046.
        value = tfm.erfinv(np.array([1e-30, 0.999999], np.float32))
        wanted = special.erfinv(np.array([1e-30, 0.999999], np.float32).astype(np.float64))
        np.testing.assert_allclose(value, wanted, rtol=1e-6)

    def test_every_floating_dtype(self):
        for function in (tfm.erfinv, tfm.ndtri, tfm.lgamma, tfm.digamma):
            for dtype in (tf.float16, tf.bfloat16):
                assert function(tf.constant([0.25], dtype)).dtype is dtype

    def test_gradients_of_complex_products_are_conjugated(self, gradient_of):
        by_x, by_y = gradient_of(tfm.xlogy, [1 + 1j], [2 + 1j])
        np.testing.assert_allclose(by_x, [np.conj(np.log(2 + 1j))])
        np.testing.assert_allclose(by_y, [np.conj((1 + 1j) / (2 + 1j))])
