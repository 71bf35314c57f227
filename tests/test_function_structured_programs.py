"""Random programs of branches, loops and scans inside `tf.function`: as without it."""

import numpy as np
import pytest

import gradtape as tf
from structured_comparison import same


def random_program(rng, depth):
    """A function of a vector and a number, made of structured control flow and plain ops."""
    kind = rng.integers(0, 9) if depth else rng.integers(0, 3)
    c = float(np.round(rng.uniform(-1.0, 1.0), 2))
    if kind == 0:
        return lambda x, n: tf.sin(x) * c + 0.5
    if kind == 1:
        return lambda x, n: x * x * 0.25 - c
    if kind == 2:
        return lambda x, n: tf.tanh(x + c * tf.cast(n, tf.float64)) * SCALE
    first, second = random_program(rng, depth - 1), random_program(rng, depth - 1)
    turns = int(rng.integers(0, 4))

    def branch(x, n):
        return tf.cond(tf.reduce_sum(x) > c, lambda: first(x, n), lambda: second(x, n))

    def case(x, n):
        return tf.switch_case(n, [lambda: first(x, n), lambda: second(x, n), lambda: x * c])

    def loop(x, n):
        def body(i, y):
            return i + 1, first(y, i) + c * second(x, n)

        return tf.while_loop(lambda i, y: i < n, body, [tf.constant(0), x * 0.5])[1]

    def limited(x, n):
        def cond(y, z):
            return tf.reduce_sum(y) < 5.0

        def body(y, z):
            return first(y, n) + z, tf.abs(second(z, n)) + 0.1

        found = tf.while_loop(cond, body, [x + c, x], maximum_iterations=turns)
        return found[0] * found[1]

    def scan(x, n):
        rows = tf.stack([x, x * c, x + 1.0])
        return tf.reduce_sum(tf.scan(lambda h, r: first(h, n) + second(r, n), rows, x * c), 0)

    def mapped(x, n):
        rows = tf.stack([x, x * c, x - 1.0])
        rows = tf.map_fn(lambda r: second(r, n), rows)
        return tf.foldr(lambda h, r: h * 0.5 + first(r, n), rows) * x

    makers = [branch, case, loop, limited, scan, mapped]
    return makers[kind - 3]


SCALE = tf.Variable([0.5, -0.75], dtype=tf.float64)


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed):
    rng = np.random.default_rng(seed)
    program = random_program(rng, 3)
    calls = [(rng.uniform(-1.0, 1.0, 2), n) for n in (2, 0, 1)]
    traced = same(program, calls, tolerance=1e-11)
    for x, n in calls:
        found = []
        for function in (program, traced):
            with tf.GradientTape() as tape:
                y = function(tf.constant(x), tf.constant(n))
            found.append(tape.gradient(y, SCALE, unconnected_gradients="zero").numpy())
        np.testing.assert_allclose(*found, rtol=1e-11, atol=1e-11)
