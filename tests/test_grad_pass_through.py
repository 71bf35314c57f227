"""grad_pass_through: the value of a function, and gradients as if it were not there."""

import pytest

import gradtape as tf


def values(gradients):
    return [None if g is None else g.numpy().tolist() for g in gradients]


@pytest.fixture
def x():
    return tf.constant(3.0)


def test_the_gradient_passes_unchanged(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.grad_pass_through(tf.exp)(x * x)
    assert float(z) == pytest.approx(8103.0840)
    assert float(tape.gradient(z, x)) == 6.0


def test_what_is_not_differentiable_becomes_so(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        plain = tf.round(x * 1.25)
        passed = tf.grad_pass_through(tf.round)(x * 1.25)
    assert float(passed) == 4.0
    assert tape.gradient(plain, x) is None
    assert float(tape.gradient(passed, x)) == 1.25


def test_variables_inside_get_no_gradient(x):
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.grad_pass_through(lambda a: a * v * v)(x * x)
    assert float(z) == 36.0
    assert values(tape.gradient(z, [x, v])) == [6.0, None]


def test_assigning_to_a_variable(x):
    v = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.grad_pass_through(v.assign)(x**2)
    assert float(v) == 9.0
    assert float(z) == 9.0
    assert values(tape.gradient(z, [x, v])) == [6.0, None]


def test_as_many_outputs_as_arguments(x):
    y = tf.constant(4.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = tf.grad_pass_through(lambda a, b: (a * b, a + b))(x, y)
    assert values(z) == [12.0, 7.0]
    assert values(
        tape.gradient(z, [x, y], output_gradients=[tf.constant(5.0), tf.constant(6.0)])
    ) == [
        5.0,
        6.0,
    ]


def test_two_arguments_and_one_output(x):
    y = tf.constant(4.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = tf.grad_pass_through(lambda a, b: a * b)(x, y)
    with pytest.raises(ValueError, match="expected to return 2 gradients, but returned 1 instead"):
        tape.gradient(z, [x, y])


def test_keywords_get_no_gradient(x):
    y = tf.constant(4.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = tf.grad_pass_through(lambda a, scale: a * scale)(x, scale=y)
    assert float(z) == 12.0
    assert values(tape.gradient(z, [x, y])) == [1.0, None]


def test_the_shape_of_the_gradient_is_that_of_the_value(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.grad_pass_through(lambda a: tf.stack([a, a]))(x)
    assert tape.gradient(z, x).numpy().tolist() == [1.0, 1.0]


def test_second_order(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            z = tf.grad_pass_through(tf.round)(x**3)
        first = inner.gradient(z, x)
    assert float(first) == 27.0
    assert float(outer.gradient(first, x)) == 18.0


def test_jacobian():
    a = tf.constant([1.25, 2.5])
    with tf.GradientTape() as tape:
        tape.watch(a)
        z = tf.grad_pass_through(tf.round)(a * a)
    assert tape.jacobian(z, a).numpy().tolist() == [[2.5, 0.0], [0.0, 5.0]]


def test_the_name_is_kept():
    def quantized(a):
        """Rounds."""
        return tf.round(a)

    passed = tf.grad_pass_through(quantized)
    assert passed.__name__ == "quantized"
    assert passed.__doc__ == "Rounds."


@pytest.mark.beyond_tensorflow
def test_tangents_pass_unchanged(x):
    with tf.autodiff.ForwardAccumulator(x, tf.constant(5.0)) as accumulator:
        z = tf.grad_pass_through(tf.round)(x * 1.25)
    assert float(accumulator.jvp(z)) == 6.25


@pytest.mark.beyond_tensorflow
def test_inside_vectorized_map():
    a = tf.constant([1.25, 2.5])
    with tf.GradientTape() as tape:
        tape.watch(a)
        z = tf.vectorized_map(lambda e: tf.grad_pass_through(tf.round)(e * e), a)
    assert z.numpy().tolist() == [2.0, 6.0]
    assert tape.gradient(z, a).numpy().tolist() == [2.5, 5.0]


@pytest.mark.beyond_tensorflow
def test_called_by_keyword_alone(x):
    def rounded(a):
        return tf.round(a)

    with tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.grad_pass_through(rounded)(a=x * 1.25)
    assert float(tape.gradient(z, x)) == 1.25
