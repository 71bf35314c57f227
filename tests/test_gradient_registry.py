"""The gradient registry: ops without an entry, entries added by the user, and bad entries."""

import subprocess
import sys
import textwrap

import pytest

import gradtape as tf

NO_ENTRY = r"^gradient registry has no entry for: AdjustContrastv2$"


@pytest.fixture
def image():
    return tf.Variable([[[0.5, 0.0, 1.0], [1.0, 0.5, 0.0]]])


def run_in_a_new_process(code):
    """What code prints; the registry is global, so an entry must not outlive its test."""
    header = f"import {tf.__name__} as tf\n"
    done = subprocess.run(
        [sys.executable, "-c", header + textwrap.dedent(code)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


class TestWithoutAnEntry:
    def test_the_value_is_there_and_the_gradient_is_a_lookup_error(self, image):
        with tf.GradientTape() as tape:
            y = tf.image.adjust_contrast(image, 0.5)
        assert y.shape == image.shape
        with pytest.raises(LookupError, match=NO_ENTRY) as caught:
            tape.gradient(y, image)
        assert caught.type is LookupError

    def test_also_if_the_source_has_nothing_to_do_with_it(self, image):
        v = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.image.adjust_contrast(image, 0.5)) + v * v
        with pytest.raises(LookupError, match=NO_ENTRY):
            tape.gradient(y, v)

    def test_not_if_the_target_does_not_depend_on_it(self, image):
        with tf.GradientTape() as tape:
            tf.image.adjust_contrast(image, 0.5)
            y = tf.reduce_sum(image * 2.0)
        assert tape.gradient(y, image).numpy().tolist() == [[[2.0] * 3] * 2]

    def test_not_behind_stop_gradient(self, image):
        v = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.stop_gradient(tf.image.adjust_contrast(image, 0.5))) + v * v
        assert float(tape.gradient(y, v)) == 4.0

    def test_not_if_nothing_is_watched(self, image):
        v = tf.Variable(2.0)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(v)
            y = tf.reduce_sum(tf.image.adjust_contrast(image, 0.5)) + v * v
        assert float(tape.gradient(y, v)) == 4.0


def test_a_registered_function_is_used():
    assert run_in_a_new_process("""
        image = tf.Variable([[[1.0], [3.0]]])
        with tf.GradientTape(persistent=True) as tape:
            y = tf.image.adjust_contrast(image, 0.5)
        try:
            tape.gradient(y, image)
        except LookupError as error:
            print(type(error).__name__)

        @tf.RegisterGradient("AdjustContrastv2")
        def gradient(op, dy):
            images, factor = op.inputs
            assert op.outputs[0].shape == dy.shape
            print(float(factor), images.numpy().ravel().tolist())
            return dy * factor * images, None

        print(callable(gradient))
        print(tape.gradient(y, image).numpy().ravel().tolist())
    """) == ["LookupError", "True", "0.5 [1.0, 3.0]", "[0.5, 1.5]"]


def test_a_registered_function_is_differentiable():
    assert run_in_a_new_process("""
        @tf.RegisterGradient("AdjustContrastv2")
        def gradient(op, dy):
            return dy * op.inputs[0] ** 3, None

        image = tf.Variable([[[1.0], [2.0]]])
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.image.adjust_contrast(image, 0.5)
            first = inner.gradient(y, image)
        print(first.numpy().ravel().tolist())
        print(outer.gradient(first, image).numpy().ravel().tolist())
    """) == ["[1.0, 8.0]", "[3.0, 12.0]"]


def test_no_gradient_ends_the_path():
    assert run_in_a_new_process("""
        tf.no_gradient("AdjustContrastv2")
        image, v = tf.Variable([[[1.0], [3.0]]]), tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.image.adjust_contrast(image, 0.5)) + v * v
        dimage, dv = tape.gradient(y, [image, v])
        print(dimage, float(dv))
    """) == ["None 4.0"]


def test_a_registered_function_with_too_few_gradients():
    assert run_in_a_new_process("""
        @tf.RegisterGradient("AdjustContrastv2")
        def gradient(op, dy):
            return dy

        image, factor = tf.Variable([[[1.0], [3.0]]]), tf.Variable(0.5)
        with tf.GradientTape() as tape:
            y = tf.image.adjust_contrast(image, factor)
        try:
            tape.gradient(y, [image, factor])
        except tf.errors.InternalError as error:
            print("AdjustContrastv2" in str(error), "Expected 2 but received 1" in str(error))
    """) == ["True True"]


@pytest.mark.parametrize("name", ["Mul", "AddV2", "MatMul", "Tanh", "Sum"])
def test_a_name_that_is_taken(name):
    with pytest.raises(KeyError, match=f"Registering two gradient with name '{name}'"):
        tf.RegisterGradient(name)(lambda op, dy: dy)


def test_no_gradient_for_a_name_that_is_taken():
    with pytest.raises(KeyError, match="Registering two gradient with name 'Mul'"):
        tf.no_gradient("Mul")


@pytest.mark.parametrize("name", [1, None, tf.constant(1.0)])
def test_a_name_that_is_not_a_string(name):
    with pytest.raises(TypeError, match="op_type must be a string"):
        tf.RegisterGradient(name)
    with pytest.raises(TypeError, match="must be a string"):
        tf.no_gradient(name)
