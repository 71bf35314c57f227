"""Tests written as expressions: the names they are evaluated with, and how results are checked."""

import re

import numpy as np
import pytest

import gradtape as tf


def evaluate(expression, names=None):
    """The value of an expression in `tf`, `np` and a few short names, such as `c` for constant.

    A file with short names of its own gives them all.
    """
    names = names or {
        "tf": tf,
        "np": np,
        "c": tf.constant,
        "V": tf.Variable,
        "ones": lambda *shape: tf.ones(shape),
        "A": counted,
        "inf": np.inf,
        "nan": np.nan,
    }
    return eval(expression, names)


def counted(*shape):
    """A float32 tensor of the numbers from 1 on."""
    return tf.constant(np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape), tf.float32)


def check_value(expression, dtype, value):
    """The expression is a tensor of that dtype, shape and value."""
    result = evaluate(expression)
    assert result.dtype.name == dtype
    got = np.asarray(result.numpy())
    if dtype == "string":
        assert got.tolist() == value
        return
    got = got.astype(np.float32) if dtype == "bfloat16" else got
    value = np.asarray(value)
    assert got.shape == value.shape
    np.testing.assert_allclose(got, value, rtol=1e-6)


def check_error(expression, error, message, names=None):
    """The expression raises that error, and its message contains the text."""
    with pytest.raises(error, match=re.escape(message)):
        evaluate(expression, names)


def value_and_gradients(function, points):
    """The value of a function at points, float32 unless they are arrays, and its gradients."""
    sources = [
        tf.constant(point) if isinstance(point, np.ndarray) else tf.constant(point, tf.float32)
        for point in points
    ]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        value = function(*sources)
    return value, tape.gradient(value, sources)


def check_gradients(function, points, value, gradients):
    """The function has that value at the points, and those gradients; None where a path ends."""
    got_value, got_gradients = value_and_gradients(function, points)
    np.testing.assert_allclose(got_value, value, rtol=1e-6)
    for got, want in zip(got_gradients, gradients, strict=True):
        if want is None:
            assert got is None
        else:
            assert got is not None
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7)
