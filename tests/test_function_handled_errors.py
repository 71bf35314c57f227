"""Functions that go on after an error of an op: each call does what eager code does."""

import pytest

import gradtape as tf


def checked(x):
    try:
        tf.debugging.assert_positive(x)
    except tf.errors.InvalidArgumentError:
        return x * 0
    return x


def gathered(x):
    try:
        return tf.gather(tf.constant([1.0, 2.0]), tf.cast(x, tf.int32))
    except tf.errors.InvalidArgumentError:
        return tf.constant(-1.0)


def divided(x):
    try:
        return tf.py_function(lambda a: tf.constant(6 // int(a), tf.float32), [x], tf.float32)
    except:  # noqa: E722 - that is what is tried here
        return tf.constant(7.0)


def helped(x):
    return checked(x) + gathered(x)


def changing(x):
    v = changing.variable
    v.assign_add(1.0)
    try:
        v.assign_add(10.0)
        tf.debugging.assert_positive(x)
        v.assign_add(100.0)
    except tf.errors.InvalidArgumentError:
        v.assign_add(1000.0)
    return v.read_value()


changing.variable = tf.Variable(0.0)


@pytest.mark.parametrize("function", [checked, gathered, divided, helped, changing])
@pytest.mark.parametrize("taped", [False, True])
@pytest.mark.parametrize("numbers", [(1.0, 5.0, 0.0, -1.0, 1.0), (-1.0, 0.0, 1.0, 7.0, -2.0)])
def test_a_function_may_handle_errors(function, taped, numbers):
    found = []
    inner = tf.function(function)
    for call in (function, tf.function(function), tf.function(lambda x: inner(x) + 0.0)):
        changing.variable.assign(0.0)
        results = []
        for number in numbers:
            x = tf.constant(number)
            with tf.GradientTape() as tape:
                if taped:
                    tape.watch(x)
                results.append(call(x).numpy())
        found.append([*results, changing.variable.numpy()])
    assert found[1:] == [found[0]] * 2


def test_a_python_function_that_fails_is_called_once():
    calls = []

    def fail(x):
        calls.append(x.item())
        return 1 // int(x)

    call = tf.function(lambda x: tf.numpy_function(fail, [x], tf.int64))
    call(tf.constant(1))
    with pytest.raises(ZeroDivisionError):
        call(tf.constant(0))
    assert calls == [1, 0]


def test_code_that_only_passes_errors_on_is_a_graph_all_the_time():
    @tf.function
    def call(x):
        try:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
            return tape.gradient(y, x)
        finally:
            x = x + 1

    call(tf.constant(1.0))
    assert not call.get_concrete_function(tf.constant(1.0)).graph.handles_errors
