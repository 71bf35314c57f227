"""py_function and numpy_function: values, dtypes, errors, and where gradients pass."""

import numpy as np
import pytest

import gradtape as tf


def gradient(function, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


def test_py_function_gives_what_tout_says():
    double = tf.py_function(lambda x: x * 2, [3.0], tf.float32)
    assert (float(double), double.dtype) == (6.0, tf.float32)
    assert float(tf.py_function(lambda x: np.float64(3), [3.0], tf.float32)) == 3.0
    assert int(tf.py_function(lambda: 5, [], tf.int32)) == 5
    both = tf.py_function(lambda x: (x, 1), [3.0], (tf.float32, tf.int32))
    assert [x.dtype for x in both] == [tf.float32, tf.int32]
    assert tf.py_function(lambda x: None, [3.0], []) == []
    spec = tf.TensorSpec([], tf.float32)
    assert float(tf.py_function(lambda x: x, [tf.Variable(3.0)], spec)) == 3.0


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (ValueError("why"), tf.errors.InvalidArgumentError),
        (TypeError("why"), tf.errors.InvalidArgumentError),
        (StopIteration("why"), tf.errors.OutOfRangeError),
        (NotImplementedError("why"), tf.errors.UnimplementedError),
        (MemoryError("why"), tf.errors.ResourceExhaustedError),
        (ZeroDivisionError("why"), tf.errors.UnknownError),
    ],
)
def test_errors_of_the_function(raised, error):
    def fail():
        raise raised

    with pytest.raises(error, match=f"{type(raised).__name__}: why") as caught:
        tf.py_function(fail, [], tf.float32)
    assert caught.value.__cause__ is raised


def test_py_function_refuses():
    with pytest.raises(tf.errors.InvalidArgumentError, match="requested dtype int32"):
        tf.py_function(lambda x: x, [tf.constant(3.0)], tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"expects 2 values.* Received: 1"):
        tf.py_function(lambda x: x, [3.0], [tf.float32, tf.float32])
    with pytest.raises(ValueError, match=r"Expected func to be callable. Received func=3"):
        tf.py_function(3, [], tf.float32)
    with pytest.raises(TypeError, match="not iterable"):
        tf.py_function(lambda x: x, 3.0, tf.float32)


def test_gradients_pass_through_py_function_only():
    assert float(gradient(lambda x: tf.py_function(lambda y: y * y, [x], tf.float32), 3.0)) == 6.0
    assert gradient(lambda x: tf.numpy_function(lambda y: y * y, [x], tf.float32), 3.0) is None


def test_numpy_function_gives_arrays_and_keeps_their_dtype():
    kinds = []
    result = tf.numpy_function(
        lambda x: kinds.append(type(x)) or x * 2, [tf.constant([3.0])], tf.float32
    )
    assert kinds == [np.ndarray]
    assert (result.numpy().tolist(), result.dtype) == ([6.0], tf.float32)
    assert tf.numpy_function(lambda x: x, [3.0], tf.float32).dtype == tf.float64
    assert [int(x) for x in tf.numpy_function(lambda: (1, 2), [], (tf.int32, tf.int32))] == [1, 2]
    assert tf.numpy_function(lambda: None, [], []) is None
    assert tf.numpy_function(lambda: "abc", [], tf.string).numpy() == b"abc"


def test_numpy_function_refuses():
    with pytest.raises(ZeroDivisionError):
        tf.numpy_function(lambda: 1 / 0, [], tf.float32)
    with pytest.raises(ValueError, match="Expected func to be callable"):
        tf.numpy_function(3, [], tf.float32)
