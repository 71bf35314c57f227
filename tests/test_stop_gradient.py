"""stop_gradient: the value goes on, derivatives end."""

import pytest

import gradtape as tf


def values(gradients):
    return [None if g is None else g.numpy().tolist() for g in gradients]


@pytest.fixture
def x():
    return tf.constant(3.0)


def test_no_gradient_passes(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.stop_gradient(x * x)
    assert tape.gradient(z, x) is None


def test_only_one_path_ends(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.stop_gradient(x) * x
    assert float(tape.gradient(z, x)) == 3.0


def test_the_result_can_be_watched(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        stopped = tf.stop_gradient(x * x)
        tape.watch(stopped)
        z = stopped * 4.0
    assert values(tape.gradient(z, [x, stopped])) == [None, 4.0]


def test_variables_and_lists():
    v = tf.Variable([1.0, 2.0])
    assert tf.stop_gradient(v).numpy().tolist() == [1.0, 2.0]
    assert tf.stop_gradient([1.0, 2.0]).numpy().tolist() == [1.0, 2.0]


def test_a_dictionary(x):
    with pytest.raises(ValueError, match="Attempt to convert a value"):
        tf.stop_gradient({"a": x})


def test_no_tangent_passes(x):
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        z = tf.stop_gradient(x * x)
    assert accumulator.jvp(z) is None


def test_second_order(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            z = tf.stop_gradient(x) * x * x
        first = inner.gradient(z, x)
    assert float(first) == 18.0
    assert float(outer.gradient(first, x)) == 6.0
