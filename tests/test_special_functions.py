"""Bessel functions, integrals, incomplete functions and small compositions, publicly."""

import numpy as np
import pytest
from scipy import special

import gradtape as tf


def gradients(function, *inputs):
    inputs = [tf.constant(x) for x in inputs]
    with tf.GradientTape() as tape:
        for x in inputs:
            tape.watch(x)
        y = function(*inputs)
    return tape.gradient(y, inputs)


def test_the_functions_that_are_in_both_namespaces():
    for word in ("bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e"):
        assert getattr(tf.math, word) is getattr(tf.math.special, word)


@pytest.mark.parametrize(
    ("word", "reference"),
    [
        ("bessel_i0e", special.i0e), ("bessel_i1e", special.i1e), ("bessel_j0", special.j0),
        ("bessel_j1", special.j1), ("bessel_k0e", special.k0e), ("bessel_k1e", special.k1e),
        ("bessel_y0", special.y0), ("bessel_y1", special.y1), ("dawsn", special.dawsn),
        ("spence", special.spence), ("fresnel_sin", lambda x: special.fresnel(x)[0]),
        ("fresnel_cos", lambda x: special.fresnel(x)[1]),
    ],
)  # fmt: skip
def test_float64_over_a_wide_range(word, reference):
    x = np.linspace(0.01, 30.0, 2001)
    found, expected = getattr(tf.math.special, word)(x), reference(x)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


def test_exponential_integral():
    x = np.geomspace(0.01, 700.0, 2001)
    found = tf.math.special.expint(x)
    np.testing.assert_allclose(found, special.expi(x), rtol=1e-13, atol=1e-14)
    assert np.isnan(tf.math.special.expint(-1.0))
    assert tf.math.special.expint(0.0) == -np.inf


def test_gradients_at_zero_are_those_of_the_functions():
    (i1,) = gradients(tf.math.bessel_i1, [0.0, 1.0])
    np.testing.assert_allclose(i1, [0.5, 0.70090675], rtol=1e-6)
    (j1,) = gradients(tf.math.special.bessel_j1, [0.0])
    assert j1.numpy().tolist() == [0.5]
    (dilogarithm,) = gradients(tf.math.special.spence, [1.0, 2.0])
    np.testing.assert_allclose(dilogarithm, [-1.0, -0.6931472], rtol=1e-6)


def test_incomplete_gamma():
    a, x = [1.0, 2.0], [0.5, 0.4]
    by_a, by_x = gradients(tf.math.igamma, a, x)
    np.testing.assert_allclose(by_a, [-0.48945752, -0.11604777], rtol=1e-6)
    np.testing.assert_allclose(by_x, [0.60653067, 0.26812801], rtol=1e-6)
    np.testing.assert_allclose(tf.math.igamma(a, x) + tf.math.igammac(a, x), [1.0, 1.0])


def test_incomplete_gamma_at_the_edges():
    a = [0.0, 0.0, 1.0, 1.0, -1.0, 1.0, np.inf]
    x = [1.0, 0.0, 0.0, -1.0, 1.0, np.inf, 1.0]
    nan = np.nan
    np.testing.assert_array_equal(tf.math.igamma(a, x), [nan, 0, 0, nan, nan, 1, 0])
    np.testing.assert_array_equal(tf.math.igammac(a, x), [nan, nan, 1, nan, nan, 0, 1])


def test_only_x_of_betainc_has_a_gradient():
    by_a, by_b, by_x = gradients(tf.math.betainc, [1.0, 2.0], [1.0, 2.0], [0.5, 0.4])
    assert by_a is None
    assert by_b is None
    np.testing.assert_allclose(by_x, [1.0, 1.44], rtol=1e-6)
    np.testing.assert_allclose(tf.math.betainc(1.0, 2.0, [0.5, 0.2]), [0.75, 0.36], rtol=1e-6)


def test_lbeta():
    np.testing.assert_allclose(tf.math.lbeta([[1.0, 2, 3], [2, 2, 2]]), [-4.0943446, -4.787492])
    assert tf.math.lbeta(tf.zeros([0])) == -np.inf


def test_truncation():
    x, y = tf.constant([-7, 7]), tf.constant([2, -2])
    assert tf.truncatediv(x, y).numpy().tolist() == [-3, -3]
    assert tf.truncatemod(x, y).numpy().tolist() == [-1, 1]
    assert tf.truncatediv(tf.constant([-7.0]), 2.0).numpy().tolist() == [-3]
    least = tf.constant([np.iinfo(np.int32).min])
    assert tf.truncatediv(least, 3).numpy().tolist() == [-715827882]


def test_shifts_stay_within_the_width():
    left = tf.bitwise.left_shift(tf.constant([1, 2, -1]), tf.constant([40, -1, 3]))
    assert left.numpy().tolist() == [-(2**31), 2, -8]
    right = tf.bitwise.right_shift(tf.constant([1, 2, -16]), tf.constant([40, -1, 3]))
    assert right.numpy().tolist() == [0, 2, -2]


def test_nextafter():
    found = tf.math.nextafter(tf.constant([1.0, 2.0]), tf.constant([2.0, 1.0]))
    np.testing.assert_array_equal(
        found, np.nextafter(np.array([1, 2], np.float32), np.array([2, 1], np.float32))
    )
    by_x1, by_x2 = gradients(tf.math.nextafter, [1.0, 5.0], [2.0, 3.0])
    assert by_x1.numpy().tolist() == [1, 1]
    assert by_x2.numpy().tolist() == [0, 0]


def test_polyval():
    coefficients = [tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])]
    assert tf.math.polyval(coefficients, [2.0, 2.0]).numpy().tolist() == [5, 8]
    assert tf.math.polyval([], 2.0) == 0.0
    assert tf.math.polyval([1, 2], 2) == 4
    with pytest.raises(ValueError, match="coeffs must be list type"):
        tf.math.polyval(tf.constant([1.0, 2.0]), 2.0)


def test_scalar_mul():
    assert tf.scalar_mul(2, tf.constant([1, 2])).numpy().tolist() == [2, 4]
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1]))
    assert tf.math.scalar_mul(tf.constant(2.0), slices).values.numpy().tolist() == [[2]]
    with pytest.raises(ValueError, match="must be a 0-D value"):
        tf.math.scalar_mul([1.0, 2.0], tf.constant([1.0, 2.0]))


@pytest.mark.parametrize(
    ("x", "not_decreasing", "increasing"),
    [
        ([1, 1, 2], True, False),
        ([1, 2, 3], True, True),
        ([[1.0, 2.0], [0.0, 3.0]], False, False),
        ([], True, True),
        (3.0, True, True),
    ],
)
def test_order(x, not_decreasing, increasing):
    assert bool(tf.math.is_non_decreasing(x)) is not_decreasing
    assert bool(tf.math.is_strictly_increasing(x)) is increasing


def test_order_of_what_has_none():
    with pytest.raises(TypeError, match="Expected x to be numeric"):
        tf.math.is_non_decreasing(tf.constant(["a"]))


def test_running_logsumexp():
    x = [1.0, 5.0, 2.0]
    (plain,) = gradients(tf.math.cumulative_logsumexp, x)
    np.testing.assert_allclose(plain, [1.0351341, 1.9182539, 0.0466126], rtol=1e-6)
    (later,) = gradients(lambda x: tf.math.cumulative_logsumexp(x, exclusive=True), x)
    np.testing.assert_allclose(later, [1.0179862, 0.9820139, 0.0], rtol=1e-6)
    back = tf.math.cumulative_logsumexp(x, reverse=True, exclusive=True)
    np.testing.assert_allclose(back, [5.0485873, 2.0, -np.inf], rtol=1e-6)
