"""tf.gradients and tf.hessians, which work inside of functions."""

import numpy as np
import pytest

import gradtape as tf
from function_programs import assert_same, leaves_of


def in_function(f, *args):
    """What a function of `f` gives, which must be the same at the second call."""
    traced = tf.function(f)
    first = traced(*args)
    assert_same(leaves_of(traced(*args)), leaves_of(first))
    return first


def lists(gradients):
    assert isinstance(gradients, list)
    return [None if g is None else g.numpy().tolist() for g in gradients]


PAIR = np.array([1.0, 2.0], np.float32)


def test_gradients_are_a_list_and_need_no_watching():
    x, y = tf.constant(PAIR), tf.constant(PAIR)
    assert lists(in_function(lambda x: tf.gradients(x * x, x), x)) == [[2, 4]]
    assert lists(in_function(lambda x: tf.gradients([x * x, 3 * x], (x,)), x)) == [[5, 7]]
    assert lists(in_function(lambda x, y: tf.gradients(x * x, [y, x]), x, y)) == [None, [2, 4]]
    assert lists(in_function(lambda x: tf.gradients(x, x), x)) == [[1, 1]]
    assert lists(in_function(lambda x: tf.gradients(3.0, x), x)) == [None]


def test_gradients_follow_constants_and_what_was_computed_of_them():
    outside = tf.constant(3.0)

    def constants_alone(stop):
        a = tf.constant(0.0)
        b = 2 * a
        return tf.gradients(a + b, [a, b], stop_gradients=[a, b] if stop else None)

    assert lists(in_function(lambda: constants_alone(False))) == [3, 1]
    assert lists(in_function(lambda: constants_alone(True))) == [1, 1]
    x = tf.constant(PAIR)
    assert lists(in_function(lambda x: tf.gradients(x * (outside * outside), outside), x)) == [18]


def test_gradients_of_variables_and_intermediate_values():
    v = tf.Variable(PAIR)

    def f(x):
        y = x * v
        z = y * v
        return tf.gradients(z, [x, v, y])

    assert lists(in_function(f, tf.constant(PAIR))) == [[1, 4], [2, 8], [1, 2]]


def test_gradients_start_from_what_is_given():
    x = tf.constant(PAIR)
    given = tf.constant([1.0, 10.0])
    assert lists(in_function(lambda x: tf.gradients(x * x, x, grad_ys=given), x)) == [[2, 40]]
    f = lambda x: tf.gradients([x * x, x], x, grad_ys=[None, 2 * x])  # noqa: E731
    assert lists(in_function(f, x)) == [[4, 8]]
    with pytest.raises(ValueError, match="Passed 1 grad_ys for 2 ys"):
        in_function(lambda x: tf.gradients([x * x, x], x, grad_ys=[x]), x)
    with pytest.raises(TypeError, match=r"Gradients of complex tensors .* must set grad_ys"):
        in_function(lambda z: tf.gradients(z * z, z), tf.constant([1 + 2j]))


def test_gradients_that_are_not_connected():
    x, other = tf.constant(PAIR), tf.constant([[1.0]])
    f = lambda x: tf.gradients(x * x, [x, other], unconnected_gradients="zero")  # noqa: E731
    assert lists(in_function(f, x)) == [[2, 4], [[0]]]
    assert lists(in_function(lambda x: tf.gradients(tf.cast(x, tf.int32), x), x)) == [None]
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'foo'"):
        in_function(lambda x: tf.gradients(x * x, x, unconnected_gradients="foo"), x)


def test_gradients_of_gradients():
    x = tf.constant(PAIR)
    f = tf.function(lambda x: tf.gradients(x**3, x)[0])
    assert lists(in_function(lambda x: tf.gradients(tf.gradients(x**3, x), x), x)) == [[6, 12]]
    assert lists(in_function(lambda x: tf.gradients(f(x), x), x)) == [[6, 12]]
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    assert g.numpy().tolist() == [6, 12]
    assert outer.gradient(g, x).numpy().tolist() == [6, 6]


def test_gradients_beside_tapes_and_rules():
    @tf.custom_gradient
    def tenfold(x):
        return x * 1.0, lambda g: g * 10.0

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tenfold(x) * x
        return [*tf.gradients(y, x), tape.gradient(y, x)]

    assert lists(in_function(f, tf.constant(PAIR))) == [[11, 22], [11, 22]]


def test_gradients_of_a_gather_are_slices():
    x = tf.constant(PAIR)
    (found,) = in_function(lambda x: tf.gradients(tf.gather(x, [0, 0]), x), x)
    assert isinstance(found, tf.IndexedSlices)
    assert found.indices.numpy().tolist() == [0, 0]


def test_gradients_with_effects_and_branches():
    drawn = tf.random.Generator.from_seed(1)
    expected = tf.random.Generator.from_seed(1)

    @tf.function
    def f(x):
        tf.print("here", output_stream="file:///dev/null")
        y = x * drawn.normal([])
        if tf.reduce_sum(x) > 0:
            return tf.gradients(y * y, x)[0]
        return tf.gradients(y, x)[0]

    for number in (1.0, -1.0, 2.0, -2.0):
        n = expected.normal([])
        g = f(tf.constant(number))
        np.testing.assert_allclose(g, 2 * n * n * number if number > 0 else n, rtol=1e-6)


def test_hessians():
    x, y = tf.constant(PAIR), tf.constant([[1.0], [2.0]])
    found = in_function(lambda x: tf.hessians(tf.reduce_sum(x**3) * x[0], x), x)
    assert lists(found) == [[[12, 12], [12, 12]]]
    f = lambda x, y: tf.hessians(tf.reduce_sum(x) ** 3 * tf.reduce_sum(y**2), [x, y])  # noqa: E731
    found = in_function(f, x, y)
    assert [tuple(h.shape) for h in found] == [(2, 2), (2, 1, 2, 1)]
    np.testing.assert_array_equal(found[0], np.full((2, 2), 90))
    np.testing.assert_array_equal(found[1][:, 0, :, 0], np.diag([54, 54]))
    found = in_function(lambda x: tf.hessians([tf.reduce_sum(x**3), x[0] ** 2], x), x)
    assert lists(found) == [[[8, 0], [0, 12]]]


@pytest.mark.beyond_tensorflow
def test_hessians_are_zero_where_there_is_nothing_to_differentiate():
    x = tf.constant(PAIR)
    f = lambda x, y: tf.hessians(tf.reduce_sum(x), [x, y])  # noqa: E731
    assert lists(in_function(f, x, tf.constant(1.0))) == [[[0, 0], [0, 0]], 0]


@pytest.mark.parametrize("name", ["gradients", "hessians"])
def test_gradients_outside_of_functions(name):
    x = tf.constant(PAIR)
    text = "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape"
    with pytest.raises(RuntimeError, match=text):
        getattr(tf, name)(x * x, x)


@pytest.mark.beyond_tensorflow
def test_gradients_say_what_they_take():
    x = tf.constant(PAIR)
    with pytest.raises(TypeError, match=r"takes tensors and variables as `xs`. Received: None"):
        in_function(lambda x: tf.gradients(x, None), x)
    with pytest.raises(ValueError, match="does not see what happens inside vectorized_map"):
        in_function(lambda x: tf.vectorized_map(lambda e: tf.gradients(e * e, e)[0], x), x)
