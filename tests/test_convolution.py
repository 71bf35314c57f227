"""Convolutions at the level of tf.nn: recorded answers, channels first, derivatives, errors."""

import json
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from window_calls import CONVOLUTIONS, ramp

_RECORDED = json.loads(
    (Path(__file__).parent / "data" / "window_reference.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_answers_as_tensorflow(name):
    recorded = _RECORDED[name]
    value = CONVOLUTIONS[name](tf).numpy()
    assert (str(value.dtype), list(value.shape)) == (recorded["dtype"], recorded["shape"])
    np.testing.assert_allclose(value.reshape(-1), recorded["elements"], rtol=1e-5, atol=1e-5)


def _channels_first(x):
    return tf.transpose(x, [0, x.ndim - 1, *range(1, x.ndim - 1)])


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_channels_first_is_the_same_with_axes_moved(axes, padding):
    function = (tf.nn.conv1d, tf.nn.conv2d, tf.nn.conv3d)[axes - 1]
    first, last = (("NCW", "NWC"), ("NCHW", "NHWC"), ("NCDHW", "NDHWC"))[axes - 1]
    x, w = ramp(tf, 2, *(3,) * axes, 2), ramp(tf, *(2,) * axes, 2, 3)
    ones = 1 if axes == 1 else [1] * (axes + 2)
    expected = _channels_first(function(x, w, ones, padding, data_format=last))
    found = function(_channels_first(x), w, ones, padding, data_format=first)
    np.testing.assert_array_equal(found, expected)


def test_large_images_are_convolved_in_pieces():
    x = tf.constant(np.random.default_rng(0).standard_normal((2, 70, 90, 8)))
    w = tf.constant(np.random.default_rng(1).standard_normal((5, 5, 8, 3)))
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.conv2d(x, w, 1, "SAME")
        g = tf.cos(y)
    dx, dw = tape.gradient(y, [x, w], output_gradients=g)
    whole = np.pad(x.numpy(), ((0, 0), (2, 2), (2, 2), (0, 0)))
    expected, by_x, by_w = np.zeros(y.shape), np.zeros(whole.shape), np.zeros(w.shape)
    for i, j in np.ndindex(5, 5):
        part = whole[:, i : i + 70, j : j + 90]
        expected += part @ w.numpy()[i, j]
        by_x[:, i : i + 70, j : j + 90] += g.numpy() @ w.numpy()[i, j].T
        by_w[i, j] = np.tensordot(part, g.numpy(), ((0, 1, 2), (0, 1, 2)))
    np.testing.assert_allclose(y, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(dx, by_x[:, 2:-2, 2:-2], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(dw, by_w, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_are_rounded_once(dtype):
    x, w = ramp(tf, 1, 4, 4, 8) / 7.0, ramp(tf, 2, 2, 8, 2) / 7.0
    x, w = tf.cast(x, dtype), tf.cast(w, dtype)
    found = tf.nn.conv2d(x, w, 1, "VALID")
    wide = tf.nn.conv2d(tf.cast(x, tf.float32), tf.cast(w, tf.float32), 1, "VALID")
    assert found.dtype.name == dtype
    np.testing.assert_array_equal(found, tf.cast(wide, dtype))


def test_second_derivative_is_none_where_the_gradient_does_not_depend_on_the_input():
    x, w = ramp(tf, 1, 3, 3, 1), ramp(tf, 2, 2, 1, 1)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch([x, w])
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.nn.conv2d(x, w, 1, "VALID")
        dx = inner.gradient(y, x)
    assert outer.gradient(dx, x) is None
    # Each place of the window is used at all four places of the output.
    np.testing.assert_array_equal(outer.gradient(dx, w).numpy().reshape(-1), [4.0] * 4)


def test_per_example_gradients_are_those_of_a_loop():
    x, w = ramp(tf, 3, 1, 4, 4, 2), ramp(tf, 2, 2, 2, 3)

    def gradient(image):
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = tf.nn.conv2d(image, w, 1, "SAME") ** 2
        return tape.gradient(y, w)

    found = tf.vectorized_map(gradient, x)
    expected = np.stack([gradient(x[i]).numpy() for i in range(3)])
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def _zeros(*shape):
    return tf.zeros(shape)


_IMAGE, _FILTER = (1, 3, 3, 1), (2, 2, 1, 1)

_REFUSED = {
    "three strides": (
        lambda: tf.nn.conv2d(_zeros(*_IMAGE), _zeros(*_FILTER), [1, 1, 1], "SAME"),
        ValueError,
        "strides should be of length 1, 2 or 4. Received: strides=.1, 1, 1. of length 3",
    ),
    "two pairs": (
        lambda: tf.nn.conv2d(_zeros(*_IMAGE), _zeros(*_FILTER), 1, [[1, 2], [0, 1]]),
        ValueError,
        "When padding is a list, it must be of size 4",
    ),
    "a triple": (
        lambda: tf.nn.conv2d(
            _zeros(*_IMAGE), _zeros(*_FILTER), 1, [[0, 0], [1, 2, 3], [0, 1], [0, 0]]
        ),
        ValueError,
        "with element at index 1 of size 3",
    ),
    "dtypes": (
        lambda: tf.nn.conv2d(_zeros(*_IMAGE), tf.zeros(_FILTER, tf.float64), 1, "SAME"),
        tf.errors.InvalidArgumentError,
        "was expected to be a float tensor but is a double tensor",
    ),
    "depth": (
        lambda: tf.nn.conv2d(_zeros(*_IMAGE), _zeros(2, 2, 3, 1), 1, "SAME"),
        tf.errors.InvalidArgumentError,
        "input depth must be evenly divisible by filter depth: 1 vs 3",
    ),
    "pairs for sequences": (
        lambda: tf.nn.conv1d(_zeros(2, 5, 3), _zeros(2, 3, 4), 2, [[0, 0], [1, 1], [0, 0]]),
        TypeError,
        "Expected string for argument 'padding'",
    ),
    "one stride for volumes": (
        lambda: tf.nn.conv3d(_zeros(2, 4, 4, 4, 3), _zeros(2, 2, 2, 3, 4), 2, "SAME"),
        TypeError,
        "Expected list for 'strides' argument to 'conv3d' Op, not 2",
    ),
    "one stride by channel": (
        lambda: tf.nn.depthwise_conv2d(_zeros(1, 5, 5, 2), _zeros(2, 2, 2, 3), 1, "SAME"),
        TypeError,
        "Expected list for 'strides' argument",
    ),
    "rate": (
        lambda: tf.nn.atrous_conv2d(_zeros(1, 5, 5, 2), _zeros(2, 2, 2, 3), 0, "SAME"),
        ValueError,
        "all values of `dilation_rate` must be positive",
    ),
    "strides and dilations": (
        lambda: tf.nn.convolution(_zeros(1, 5, 5, 2), _zeros(2, 2, 2, 3), strides=2, dilations=2),
        ValueError,
        "`strides > 1` not supported in conjunction with `dilation_rate > 1`",
    ),
    "no axes": (
        lambda: tf.nn.convolution(_zeros(5, 2), _zeros(2, 3)),
        ValueError,
        "`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims=0",
    ),
    "pointwise filter": (
        lambda: tf.nn.separable_conv2d(
            _zeros(1, 5, 5, 2), _zeros(2, 2, 2, 3), _zeros(2, 1, 6, 4), [1, 1, 1, 1], "SAME"
        ),
        ValueError,
        "Dimensions 2 and 1 are not compatible",
    ),
    "output shape": (
        lambda: tf.nn.conv2d_transpose(_zeros(1, 2, 2, 3), _zeros(3, 3, 2, 3), [1, 5, 4, 2], 2),
        tf.errors.InvalidArgumentError,
        "Size of out_backprop doesn't match computed: actual = 2, computed = 3",
    ),
    "no output shape": (
        lambda: tf.nn.conv2d_transpose(_zeros(1, 2, 2, 3), _zeros(3, 3, 2, 3), None, 2),
        ValueError,
        "Attempt to convert a value .None.",
    ),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_refuses(name):
    call, error, message = _REFUSED[name]
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("axis", [(0, 1), (1, 0), (2, 1), (-1, 1), (0, 2), (-3, -2)])
def test_long_sums_are_over_the_axes_named_in_any_order(axis):
    # What a bias's gradient is; sums this long take a way of their own.
    x = np.random.default_rng(0).standard_normal((30, 40, 50))
    np.testing.assert_allclose(tf.reduce_sum(x, axis), x.sum(axis), rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("shape", [(9001,), (25, 30, 32), (17, 1201)])
def test_long_relu_and_bias_are_those_of_numpy(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    x.flat[5:8] = np.nan, -np.inf, np.inf
    np.testing.assert_array_equal(tf.nn.relu(x), np.maximum(x, 0))
    if len(shape) > 1:
        bias = np.arange(float(shape[-1]))
        np.testing.assert_array_equal(tf.nn.bias_add(x, bias), x + bias)
