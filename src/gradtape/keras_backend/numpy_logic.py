"""Comparisons, tests of elements, and logic of booleans and bits."""

import gradtape as tf

from .core import cast
from .numpy_promotion import as_floats, as_numbers, dense, promoted, promoted_floats

# Comparisons --------------------------------------------------------------------------------------


def equal(x1, x2):
    return tf.equal(*promoted(x1, x2))


def greater(x1, x2):
    return tf.greater(*_ordered(x1, x2))


def greater_equal(x1, x2):
    return tf.greater_equal(*_ordered(x1, x2))


def less(x1, x2):
    return tf.less(*_ordered(x1, x2))


def less_equal(x1, x2):
    return tf.less_equal(*_ordered(x1, x2))


def _ordered(x1, x2):
    return [as_numbers(x) for x in promoted(x1, x2)]


def isclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    x1, x2 = promoted_floats(x1, x2)
    return tf.experimental.numpy.isclose(x1, x2, rtol, atol, equal_nan)


def allclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    return tf.reduce_all(isclose(x1, x2, rtol, atol, equal_nan))


def isin(x1, x2, assume_unique=False, invert=False):
    """Whether each element of `x1` is one of `x2`'s."""
    x1, x2 = _ordered(x1, x2)
    if 0 in x2.shape:
        return tf.fill(x1.shape, bool(invert))
    # The first of the sorted elements that is not smaller is the only one that can be equal.
    candidates = tf.sort(tf.reshape(x2, [-1]))
    places = tf.searchsorted(candidates, tf.reshape(x1, [-1]))
    nearest = tf.gather(candidates, tf.minimum(places, candidates.shape[0] - 1))
    found = tf.equal(x1, tf.reshape(nearest, x1.shape))
    return tf.logical_not(found) if invert else found


# Tests of elements --------------------------------------------------------------------------------


def isfinite(x):
    return tf.logical_not(tf.logical_or(isinf(x), isnan(x)))


def isinf(x):
    return _in_parts(tf.math.is_inf, x)


def isnan(x):
    return _in_parts(tf.math.is_nan, x)


def _in_parts(test, x):
    """Whether a test holds for a number, or for either part of a complex one."""
    x = dense(x)
    if x.dtype.is_complex:
        return tf.logical_or(test(tf.math.real(x)), test(tf.math.imag(x)))
    return test(as_floats(x))


def isneginf(x):
    x = as_floats(x)
    return tf.equal(x, tf.constant(float("-inf"), x.dtype))


def isposinf(x):
    x = as_floats(x)
    return tf.equal(x, tf.constant(float("inf"), x.dtype))


def isreal(x):
    x = dense(x)
    if not x.dtype.is_complex:
        return tf.ones_like(x, "bool")
    part = tf.math.imag(x)
    return tf.equal(part, tf.zeros_like(part))


# Booleans -----------------------------------------------------------------------------------------


def logical_and(x1, x2):
    return tf.logical_and(cast(x1, "bool"), cast(x2, "bool"))


def logical_not(x):
    return tf.logical_not(cast(x, "bool"))


def logical_or(x1, x2):
    return tf.logical_or(cast(x1, "bool"), cast(x2, "bool"))


def logical_xor(x1, x2):
    return tf.math.logical_xor(cast(x1, "bool"), cast(x2, "bool"))


# Bits ---------------------------------------------------------------------------------------------


def bitwise_and(x, y):
    x, y = promoted(x, y)
    return tf.logical_and(x, y) if x.dtype.is_bool else tf.bitwise.bitwise_and(x, y)


def bitwise_or(x, y):
    x, y = promoted(x, y)
    return tf.logical_or(x, y) if x.dtype.is_bool else tf.bitwise.bitwise_or(x, y)


def bitwise_xor(x, y):
    x, y = promoted(x, y)
    return tf.math.logical_xor(x, y) if x.dtype.is_bool else tf.bitwise.bitwise_xor(x, y)


def bitwise_invert(x):
    x = dense(x)
    return tf.logical_not(x) if x.dtype.is_bool else tf.bitwise.invert(x)


def bitwise_not(x):
    return bitwise_invert(x)


def bitwise_left_shift(x, y):
    return tf.bitwise.left_shift(*_ordered(x, y))


def left_shift(x, y):
    return bitwise_left_shift(x, y)


def bitwise_right_shift(x, y):
    return tf.bitwise.right_shift(*_ordered(x, y))
