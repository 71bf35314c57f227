"""Gradients flow through tf.experimental.numpy."""

import numpy as np
import pytest

import gradtape as tf

tnp = tf.experimental.numpy

X = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.6]])
FUNCTIONS = {
    "add": lambda x: tnp.add(x, [1.0, 2.0, 3.0]) * x,
    "append": lambda x: tnp.append(x, x[:1], axis=0) ** 2,
    "arctan2": lambda x: tnp.arctan2(x, 2.0),
    "around": lambda x: x * tnp.around(x, 1),
    "average": lambda x: tnp.average(x**2, axis=1, weights=[1.0, 2.0, 3.0]),
    "cbrt": lambda x: tnp.cbrt(x),
    "clip": lambda x: tnp.clip(x, -0.5, 1.0) * x,
    "compress": lambda x: tnp.compress([True, False, True], x, axis=1) ** 2,
    "cross": lambda x: tnp.cross(x, x[::-1] ** 2),
    "cumprod": lambda x: tnp.cumprod(x, axis=1),
    "diagonal": lambda x: tnp.diagonal(x, 1) ** 2,
    "diff": lambda x: tnp.diff(x) ** 2,
    "dot": lambda x: tnp.dot(x, tnp.transpose(x)),
    "einsum": lambda x: tnp.einsum("ij,ik->jk", x, x),
    "exp2": lambda x: tnp.exp2(x),
    "flip": lambda x: tnp.flip(x) * x,
    "geomspace": lambda x: tnp.geomspace(tnp.exp(x), 2.0, 4),
    "hypot": lambda x: tnp.hypot(x, 2.0),
    "kron": lambda x: tnp.kron(x, x[:1]),
    "linspace": lambda x: tnp.linspace(x, 2.0 * x, 4, endpoint=False) ** 2,
    "log2": lambda x: tnp.log2(x + 3.0),
    "logaddexp": lambda x: tnp.logaddexp(x, 0.1),
    "logaddexp2": lambda x: tnp.logaddexp2(x, 0.1),
    "matmul": lambda x: tnp.matmul(x, tnp.transpose(x)),
    "meshgrid": lambda x: tnp.meshgrid(x[0], x[1])[0] * tnp.meshgrid(x[0], x[1])[1],
    "nanmean": lambda x: tnp.nanmean(x**2, axis=0),
    "outer": lambda x: tnp.outer(x, x),
    "pad": lambda x: tnp.pad(x, 1, "symmetric") ** 2,
    "polyval": lambda x: tnp.polyval([1.0, 2.0, 3.0], x),
    "ptp": lambda x: tnp.ptp(x, axis=1),
    "reshape": lambda x: tnp.reshape(x, (3, 2), order="F") ** 2,
    "roll": lambda x: tnp.roll(x, 2) * x,
    "rot90": lambda x: tnp.rot90(x) ** 2,
    "select": lambda x: tnp.select([x > 0.5, x < 0], [x**2, x**3], x),
    "sinc": lambda x: tnp.sinc(x),
    "sort": lambda x: tnp.sort(x, axis=None) * [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    "stack": lambda x: tnp.stack([x, x**2], axis=1),
    "std": lambda x: tnp.std(x, axis=0),
    "take": lambda x: tnp.take(x, [0, 5, 5]) ** 2,
    "take_along_axis": lambda x: tnp.take_along_axis(x, tnp.argsort(x), axis=1) ** 2,
    "tile": lambda x: tnp.tile(x, (2, 2)) ** 2,
    "trace": lambda x: tnp.trace(x) ** 2,
    "tril": lambda x: tnp.tril(x) ** 2,
    "vander": lambda x: tnp.vander(x[0], 4),
    "var": lambda x: tnp.var(x, axis=1, ddof=1),
    "vdot": lambda x: tnp.vdot(x, x),
    "where": lambda x: tnp.where(x > 0, x**2, -x),
}


def weighted(y):
    """A scalar that depends on every element in its own way."""
    flat = tf.reshape(y, [-1])
    return tf.reduce_sum(flat * np.cos(np.arange(flat.shape[0])))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradient_is_the_slope(name):
    def loss(x):
        return weighted(FUNCTIONS[name](x))

    if name == "around":  # the factor that steps has no slope
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loss(x)
        expected = np.around(X, 1) * np.cos(np.arange(6)).reshape(2, 3)
        np.testing.assert_allclose(tape.gradient(y, x), expected)
    else:
        tf.autodiff.check_gradients(loss, tf.constant(X))


def test_variables_are_followed():
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tnp.sum(tnp.square(v)) + tnp.array([v[0], 2.0])[0]
    np.testing.assert_array_equal(tape.gradient(y, v), [3.0, 4.0, 6.0])


def test_gradient_of_a_cast_comes_back_in_the_sources_dtype():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tnp.add(x, tf.constant([1, 2])) ** 2
    assert y.dtype == tf.float64
    gradient = tape.gradient(y, x)
    assert gradient.dtype == tf.float32
    np.testing.assert_array_equal(gradient, [4.0, 8.0])


def test_functions_can_be_vectorized():
    x = tf.constant(X)
    found = tf.vectorized_map(lambda row: tnp.cumsum(tnp.clip(row, -0.5, 1.0) ** 2), x)
    np.testing.assert_allclose(found, np.cumsum(np.clip(X, -0.5, 1.0) ** 2, axis=1))
