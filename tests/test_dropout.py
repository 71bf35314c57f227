"""Dropout: TensorFlow's choices, scaling, shapes of choices, and what it refuses."""

import numpy as np
import pytest

import gradtape as tf


@pytest.fixture(autouse=True)
def _unseeded_afterwards():
    yield
    tf.random.set_seed(None)


@pytest.mark.parametrize(
    ("rate", "expected"),
    [(0.5, [0, 0, 2, 2, 0, 2]), (0.3, [0, 0, 1.4285715, 1.4285715, 1.4285715, 1.4285715])],
)
def test_the_choices_are_tensorflows(rate, expected):
    tf.random.set_seed(0)
    np.testing.assert_array_equal(tf.nn.dropout(tf.ones([6]), rate), np.array(expected, np.float32))


def test_stateless_choices_are_tensorflows():
    expected = [2, 0, 2, 0, 0, 2]
    for alg in (None, "philox", "auto_select"):
        dropped = tf.nn.experimental.stateless_dropout(tf.ones([6]), 0.5, [1, 2], rng_alg=alg)
        np.testing.assert_array_equal(dropped, expected)


# The scale is rounded to the dtype before it multiplies.
@pytest.mark.parametrize(
    ("dtype", "rate", "kept"),
    [
        ("float16", 0.7, 11.0078125),
        ("bfloat16", 0.1, 3.65625),
        ("bfloat16", 0.7, 11.0),
        ("float32", 0.7, 11.0),
        ("float64", 0.7, 10.999999999999998),
    ],
)
def test_scale_in_each_dtype(dtype, rate, kept):
    dropped = tf.nn.dropout(tf.fill([60], tf.constant(3.3, dtype)), rate)
    assert dropped.dtype == dtype
    assert set(dropped.numpy().astype(float)) == {0.0, kept}


def test_elements_are_kept_where_uniform_numbers_reach_the_rate():
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        tf.random.set_seed(5)
        uniform = tf.random.uniform([200], dtype=dtype, seed=3).numpy()
        tf.random.set_seed(5)
        dropped = tf.nn.dropout(tf.ones([200], dtype), 0.25, seed=3).numpy()
        np.testing.assert_array_equal(dropped != 0, uniform >= uniform.dtype.type(0.25))


def test_calls_with_a_seed_continue_one_sequence():
    tf.random.set_seed(5)
    uniform = [tf.random.uniform([30], seed=3).numpy() for _ in range(2)]
    tf.random.set_seed(5)
    for numbers in uniform:
        dropped = tf.nn.dropout(tf.ones([30]), 0.5, seed=3).numpy()
        np.testing.assert_array_equal(dropped > 0, numbers >= 0.5)


def test_rate_0_returns_the_input():
    x = tf.ones([3])
    assert tf.nn.dropout(x, 0) is x
    assert tf.nn.dropout(x, 0.0) is x
    assert tf.nn.dropout(x, np.float64(0.0)) is x
    assert tf.nn.experimental.stateless_dropout(x, 0.0, [1, 2]) is x
    with_tensor = tf.nn.dropout(x, tf.constant(0.0))
    assert with_tensor is not x
    np.testing.assert_array_equal(with_tensor, x)


def test_a_variable_can_be_dropped_from(gradient_of):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.nn.dropout(v, 0)
    assert isinstance(y, tf.Tensor)
    np.testing.assert_array_equal(tape.gradient(y, v), [1.0, 1.0])


def test_rates_in_tensors_are_not_limited():
    np.testing.assert_array_equal(tf.nn.dropout([1.0, 2.0], tf.constant(1.0)), [0.0, 0.0])
    np.testing.assert_array_equal(tf.nn.dropout([1.0, 2.0], tf.constant(1.5)), [0.0, 0.0])


def test_what_is_dropped_leaves_no_trace(gradient_of):
    tf.random.set_seed(0)
    np.testing.assert_array_equal(tf.nn.dropout([np.nan, np.inf, np.nan], 0.5), [0.0, 0.0, np.nan])
    tf.random.set_seed(0)
    gradient = gradient_of(lambda x: tf.nn.dropout(tf.sqrt(x), 0.5), [1.0, 4.0, 1.0, 4.0])
    np.testing.assert_array_equal(gradient, [0.0, 0.0, 1.0, 0.5])


def test_second_derivative():
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            tf.random.set_seed(0)
            y = tf.nn.dropout(x * x * x, 0.5)
        slope = inner.gradient(y, x)
    np.testing.assert_array_equal(outer.gradient(slope, x), [0.0, 0.0, 36.0, 48.0])


@pytest.mark.parametrize(
    "noise_shape",
    [[2, 1], (2, 1), [None, 1], tf.constant([2, 1]), tf.TensorShape([2, 1]), np.array([2, 1])],
    ids=repr,
)
def test_elements_that_share_a_choice(noise_shape):
    tf.random.set_seed(0)
    expected = tf.random.uniform([2, 1], seed=1).numpy() >= 0.5
    tf.random.set_seed(0)
    dropped = tf.nn.dropout(tf.ones([2, 3]), 0.5, noise_shape=noise_shape, seed=1).numpy()
    np.testing.assert_array_equal(dropped, np.broadcast_to(2.0 * expected, [2, 3]))


def test_shapes_of_choices_of_another_rank():
    x = tf.ones([2, 3])
    columns = tf.nn.dropout(x, 0.5, noise_shape=[3]).numpy()
    np.testing.assert_array_equal(columns[0], columns[1])
    assert tf.nn.dropout(x, 0.5, noise_shape=[4, 2, 3]).shape == [4, 2, 3]


def test_choices_by_a_function():
    def sampler(shape, dtype):
        return tf.reshape(tf.constant([0.4, 0.5, 0.6], dtype), shape)

    dropped = tf.nn.experimental.general_dropout(tf.ones([3]), 0.5, sampler)
    np.testing.assert_array_equal(dropped, [0.0, 2.0, 2.0])


@pytest.mark.parametrize(
    ("x", "rate", "options", "error", "message"),
    [
        (
            [1.0], 1.0, {}, ValueError,
            "`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate=1.0",
        ),
        ([1.0], 1, {}, ValueError, "in the range [0, 1). Received: rate=1"),
        ([1.0], -0.1, {}, ValueError, "in the range [0, 1). Received: rate=-0.1"),
        ([1.0], float("nan"), {}, ValueError, "in the range [0, 1). Received: rate=nan"),
        (
            [1.0], "a", {}, ValueError,
            "`rate` must be a scalar or scalar tensor. Received: rate=a",
        ),
        ([1.0], [0.1], {}, ValueError, "must be a scalar or scalar tensor. Received: rate=[0.1]"),
        (
            [1.0], tf.constant(0.5, tf.float64), {}, ValueError,
            "`x.dtype` must be compatible with `rate.dtype`. Received: x.dtype=<dtype: 'float32'> "
            "and rate.dtype=<dtype: 'float64'>",
        ),
        ([1.0], tf.constant([0.5]), {}, ValueError, "Shape (1,) must have rank 0"),
        (
            [1], 0.5, {}, ValueError,
            "`x.dtype` must be a floating point tensor as `x` will be scaled. Received: "
            "x_dtype=<dtype: 'int32'>",
        ),
        (
            np.ones([2, 3]), 0.5, {"noise_shape": [3, 1]}, tf.errors.InvalidArgumentError,
            "condition [3,1], then [2,3], and else [] must be broadcastable [Op:SelectV2]",
        ),
    ],
)  # fmt: skip
def test_errors_change_nothing(x, rate, options, error, message):
    tf.random.set_seed(5)
    with pytest.raises(error) as caught:
        tf.nn.dropout(x, rate, **options)
    assert message in str(caught.value)
    after = tf.random.normal([3]).numpy()
    tf.random.set_seed(5)
    np.testing.assert_array_equal(tf.random.normal([3]), after)
