"""Checks of functions that are composed of ops: gradients, second order, batches."""

import numpy as np

import gradtape as tf
from gradtape.batching import batch_level
from op_table.arrays import assert_close, derivative, inner


def check_gradient(function, x, *, rounding=1e6):
    """Gradients of the first and second order agree with differences in a random direction."""
    rng = np.random.default_rng(0)
    step = rng.standard_normal(x.shape)
    weights = rng.standard_normal(function(tf.constant(x)).shape)

    def weighted(point):
        value = function(point)
        return tf.reduce_sum(value * value * weights)

    def first(point):
        with tf.GradientTape() as tape:
            tape.watch(point)
            target = weighted(point)
        return tf.convert_to_tensor(tape.gradient(target, point))

    point = tf.constant(x)
    slope = derivative(lambda t: float(weighted(tf.constant(x + t * step))))
    assert_close(inner(first(point).numpy(), step), slope, rounding=rounding)

    with tf.GradientTape() as outer:
        outer.watch(point)
        along = tf.reduce_sum(first(point) * step)
    second = tf.convert_to_tensor(outer.gradient(along, point)).numpy()
    slope = derivative(lambda t: inner(first(tf.constant(x + t * step)).numpy(), step))
    assert_close(inner(second, step), slope, rounding=rounding)


def check_batch(function, x):
    """In a batch the function gives what it gives for each element by itself."""
    rows = np.stack([x, 2.0 * x, x[::-1] if x.ndim else -x])
    with batch_level() as level:
        out = level.unwrap(function(level.wrap(tf.constant(rows))))
    expected = np.stack([function(tf.constant(row)).numpy() for row in rows])
    np.testing.assert_array_equal(np.asarray(out), expected)
