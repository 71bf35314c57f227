"""Pools and patches at the level of tf.nn: recorded answers, channels first, errors."""

import json
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from window_calls import POOLS, ramp

_RECORDED = json.loads(
    (Path(__file__).parent / "data" / "window_reference.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", POOLS)
def test_answers_as_tensorflow(name):
    recorded = _RECORDED[name]
    value = POOLS[name](tf).numpy()
    assert (str(value.dtype), list(value.shape)) == (recorded["dtype"], recorded["shape"])
    np.testing.assert_allclose(value.reshape(-1), recorded["elements"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("pool", [tf.nn.max_pool, tf.nn.avg_pool])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_channels_first_is_the_same_with_axes_moved(pool, axes):
    x = ramp(tf, 2, *(4,) * axes, 3)
    order = [0, axes + 1, *range(1, axes + 1)]
    expected = tf.transpose(pool(x, 2, 2, "SAME"), order)
    found = pool(tf.transpose(x, order), 2, 2, "SAME", data_format="NC" + "DHW"[3 - axes :])
    np.testing.assert_array_equal(found, expected)


def _gradient_window_by_window(x, window, stride):
    """The gradient of the sum of places times maxima, the first of equal elements having it all."""
    gradient = np.zeros_like(x)
    count = (x.shape[1] - window) // stride + 1
    for n, i, j, c in np.ndindex(len(x), count, count, x.shape[3]):
        rows, columns = (slice(k * stride, k * stride + window) for k in (i, j))
        first = np.unravel_index(np.argmax(x[n, rows, columns, c]), (window, window))
        gradient[n, rows, columns, c][first] += 1 + i * count + j
    return gradient


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize(
    ("window", "stride"), [(1, 2), (2, 2), (2, 3), (3, 3), (4, 4), (3, 2), (3, 1)]
)
def test_the_first_of_equal_elements_has_the_gradient(window, stride, data_format):
    x = np.random.default_rng(0).integers(0, 3, (2, 9, 9, 5)).astype(np.float32)
    order, back = ((0, 3, 1, 2), (0, 2, 3, 1)) if data_format == "NCHW" else ((0, 1, 2, 3),) * 2
    variable = tf.Variable(x.transpose(order))
    with tf.GradientTape() as tape:
        y = tf.nn.max_pool2d(variable, window, stride, "VALID", data_format)
        y = tf.transpose(y, back)
        places = np.arange(1, 1 + y.shape[1] ** 2, dtype=np.float32)
        loss = tf.reduce_sum(y * places.reshape(1, y.shape[1], y.shape[1], 1))
    found = tape.gradient(loss, variable).numpy().transpose(back)
    np.testing.assert_array_equal(found, _gradient_window_by_window(x, window, stride))


def test_raw_gradient_looks_for_the_maxima_itself():
    x = tf.constant([1.0, 1.0, 5.0, 2.0, 1.0, 1.0, 5.0, 5.0], shape=(1, 2, 4, 1))
    sizes = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    g = tf.constant([1.0, 2.0], shape=(1, 1, 2, 1))
    found = tf.raw_ops.MaxPoolGrad(orig_input=x, orig_output=tf.zeros_like(g), grad=g, **sizes)
    assert found.numpy().reshape(-1).tolist() == [1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_argmax_comes_with_the_maximum():
    found = tf.nn.max_pool_with_argmax(ramp(tf, 1, 4, 4, 1), 2, 2, "VALID")
    flat = ramp(tf, 1, 4, 4, 1).numpy().reshape(-1)
    np.testing.assert_array_equal(found.output.numpy(), flat[found.argmax.numpy()])
    assert found.argmax.dtype == tf.int64


def test_second_derivative_of_a_maximum_passes_to_the_largest():
    x = tf.constant([[[[1.0], [2.0]], [[4.0], [3.0]]]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.nn.max_pool2d(x, 2, 2, "VALID") ** 3
        first = inner.gradient(y, x)
    np.testing.assert_array_equal(first.numpy().reshape(-1), [0.0, 0.0, 48.0, 0.0])
    second = outer.gradient(first, x)
    np.testing.assert_array_equal(second.numpy().reshape(-1), [0.0, 0.0, 24.0, 0.0])


_REFUSED = {
    "rank": (
        lambda: tf.nn.max_pool(tf.zeros([1, 3]), 2, 1, "SAME"),
        ValueError,
        "`input.shape.rank` must be 3, 4 or 5. Received: input.shape=.1, 3. of rank 2",
    ),
    "three sizes": (
        lambda: tf.nn.max_pool2d(tf.zeros([1, 3, 3, 1]), [1, 2, 2], 1, "VALID"),
        ValueError,
        "ksize should be of length 1, 2 or 4",
    ),
    "pairs for a mean": (
        lambda: tf.nn.avg_pool2d(tf.zeros([1, 3, 3, 1]), 2, 1, [[0, 0], [1, 1], [1, 1], [0, 0]]),
        TypeError,
        "Expected string for argument 'padding'",
    ),
    "no such pool": (
        lambda: tf.nn.pool(tf.zeros([1, 6, 6, 1]), [2, 2], "FOO"),
        ValueError,
        "2-D FOO pooling is not supported",
    ),
    "dilated and the same size": (
        lambda: tf.nn.pool(tf.zeros([1, 6, 6, 1]), [2, 2], "MAX", dilations=[2, 2], padding="SAME"),
        ValueError,
        "pooling with 'SAME' padding is not implemented for `dilation_rate` > 1",
    ),
    "dilated and strided": (
        lambda: tf.nn.pool(tf.zeros([1, 6, 6, 1]), [2, 2], "AVG", strides=[2, 2], dilations=[2, 2]),
        ValueError,
        "`strides > 1` not supported in conjunction with `dilation_rate > 1`",
    ),
    "window of another rank": (
        lambda: tf.nn.pool(tf.zeros([1, 6, 6, 1]), [2], "AVG"),
        ValueError,
        "must have rank 3",
    ),
    "morphology with channels first": (
        lambda: tf.nn.dilation2d(
            tf.zeros([1, 3, 3, 1]), tf.zeros([2, 2, 1]), [1] * 4, "SAME", "NCHW", [1] * 4
        ),
        ValueError,
        "`data_format` values other  than 'NHWC' are not supported",
    ),
    "morphology of other channels": (
        lambda: tf.nn.dilation2d(
            tf.zeros([1, 3, 3, 2]), tf.zeros([2, 2, 1]), [1] * 4, "SAME", "NHWC", [1] * 4
        ),
        tf.errors.InvalidArgumentError,
        "input and filter must have the same depth: 2 vs 1",
    ),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_refuses(name):
    call, error, message = _REFUSED[name]
    with pytest.raises(error, match=message):
        call()


def test_of_equal_elements_the_first_has_the_gradient_in_a_plane_and_all_in_space():
    x = tf.constant([1.0, 3, 3, 2, 3, 0, 1, 3])
    for pool, shape, expected in (
        (tf.nn.max_pool2d, [2, 2, 2, 1], [0, 1, 0, 0, 1, 0, 0, 0]),
        (tf.nn.max_pool3d, [1, 2, 2, 2, 1], [0, 1, 1, 0, 1, 0, 0, 1]),
    ):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = pool(tf.reshape(x, shape), 2, 2, "VALID")
        np.testing.assert_array_equal(tape.gradient(y, x), expected)
    image = tf.reshape(tf.repeat(x, 2), [1, 2, 2, 2, 2])[..., ::-1]
    with tf.GradientTape() as tape:
        tape.watch(image)
        y = tf.nn.max_pool3d(image, 2, 1, "SAME")  # windows overlap
    one = [0, 2, 2, 0, 2, 0, 0, 8]
    np.testing.assert_array_equal(tf.reshape(tape.gradient(y, image), [-1, 2])[:, 0], one)
