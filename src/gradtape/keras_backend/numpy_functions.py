"""Functions of each element, and of each two: `maximum` to `view`."""

import functools
import math

from keras.src.backend.common import standardize_dtype
from keras.src.backend.common.backend_utils import vectorize_impl

import gradtape as tf

from .core import cast
from .numpy_elementwise import divide
from .numpy_logic import bitwise_right_shift
from .numpy_promotion import as_floats, as_numbers, dense, kind, promoted, promoted_floats

_numpy = tf.experimental.numpy

# Of one tensor ------------------------------------------------------------------------------------


def sin(x):
    return tf.sin(as_floats(x))


def sinc(x):
    return _numpy.sinc(as_floats(x))


def sinh(x):
    return tf.sinh(as_floats(x))


def tan(x):
    return tf.tan(as_floats(x))


def tanh(x):
    return tf.tanh(as_floats(x))


def sqrt(x):
    return tf.sqrt(as_floats(x))


def reciprocal(x):
    return tf.math.reciprocal(as_floats(x))


def rad2deg(x):
    x = as_floats(x)
    return x * tf.constant(180.0 / math.pi, x.dtype)


def square(x):
    return tf.square(as_numbers(x))


def negative(x):
    x = dense(x)
    # Unsigned numbers wrap around, as they do in a difference.
    return tf.zeros_like(x) - x if x.dtype.is_unsigned else tf.negative(x)


def sign(x):
    return tf.sign(dense(x))


def signbit(x):
    x = dense(x)
    if x.dtype.is_bool or x.dtype.is_unsigned:
        return tf.zeros_like(x, "bool")
    return _numpy.signbit(cast(x, "float32") if x.dtype.name == "bfloat16" else x)


def real(x):
    x = dense(x)
    return tf.math.real(x) if x.dtype.is_complex else x


def trunc(x):
    x = dense(x)
    if kind(x.dtype.name) < 2:
        return x
    return tf.where(x < 0, tf.math.ceil(x), tf.floor(x))


def round(x, decimals=0):
    x = dense(x)
    if decimals == 0:
        return tf.round(x)
    if kind(x.dtype.name) < 2 and decimals > 0:
        return x
    numbers = as_floats(x)
    factor = tf.constant(10.0 ** abs(decimals), numbers.dtype)
    if decimals > 0:
        return tf.round(numbers * factor) / factor
    return tf.cast(tf.round(numbers / factor) * factor, x.dtype)


def view(x, dtype=None):
    """The same bytes, read as elements of another dtype."""
    x = dense(x)
    dtype = tf.as_dtype(x.dtype.name if dtype is None else standardize_dtype(dtype))
    old, new = x.dtype.size, dtype.size
    if old == new:
        return tf.bitcast(x, dtype)
    *before, last = x.shape if x.shape.rank else [0]
    if not x.shape.rank or last * old % new:
        raise ValueError(
            "The bytes along the last axis make no whole number of elements of the new dtype. "
            f"Received: x.shape={x.shape}, x.dtype={x.dtype.name}, dtype={dtype.name}"
        )
    if old < new:
        return tf.bitcast(tf.reshape(x, [*before, last * old // new, new // old]), dtype)
    return tf.reshape(tf.bitcast(x, dtype), [*before, last * old // new])


def ndim(x):
    return dense(x).shape.rank


def size(x):
    return math.prod(dense(x).shape)


def ones_like(x, dtype=None):
    return tf.ones_like(dense(x), None if dtype is None else standardize_dtype(dtype))


def zeros_like(x, dtype=None):
    return tf.zeros_like(dense(x), None if dtype is None else standardize_dtype(dtype))


def slogdet(x):
    return tuple(tf.linalg.slogdet(dense(x)))


# Of two -------------------------------------------------------------------------------------------


def multiply(x1, x2):
    return tf.multiply(*promoted(x1, x2))


def subtract(x1, x2):
    return tf.subtract(*promoted(x1, x2))


def true_divide(x1, x2):
    return divide(x1, x2)


def maximum(x1, x2):
    x1, x2 = promoted(x1, x2)
    return tf.logical_or(x1, x2) if x1.dtype.is_bool else tf.maximum(x1, x2)


def minimum(x1, x2):
    x1, x2 = promoted(x1, x2)
    return tf.logical_and(x1, x2) if x1.dtype.is_bool else tf.minimum(x1, x2)


def mod(x1, x2):
    return tf.math.floormod(*_numbers(x1, x2))


def power(x1, x2):
    return tf.pow(*_numbers(x1, x2))


def _numbers(x1, x2):
    """Tensors of one dtype, in which booleans are integers."""
    return [as_numbers(x) for x in promoted(x1, x2)]


def not_equal(x1, x2):
    return tf.not_equal(*promoted(x1, x2))


def nextafter(x1, x2):
    x1, x2 = promoted_floats(x1, x2)
    if x1.dtype.name in ("float32", "float64"):
        return tf.math.nextafter(x1, x2)
    return _half_nextafter(x1, x2)


def _half_nextafter(x1, x2):
    """The neighbour of a number of 16 bits: its bits, read as an integer, are one more or less."""
    bits = tf.bitcast(x1, "int16")
    # Away from zero the integer grows, below zero too, as the sign is a bit of its own.
    grows = tf.equal(x1 < x2, x1 > 0)
    found = tf.bitcast(tf.where(grows, bits + 1, bits - 1), x1.dtype)
    from_zero = tf.bitcast(tf.constant(1, "int16"), x1.dtype)
    found = tf.where(tf.equal(x1, 0), tf.where(x2 > 0, from_zero, -from_zero), found)
    found = tf.where(tf.equal(x1, x2), x2, found)
    return tf.where(tf.math.is_nan(x1) | tf.math.is_nan(x2), x1 + x2, found)


def right_shift(x, y):
    return bitwise_right_shift(x, y)


# Of Python functions ------------------------------------------------------------------------------


def vectorize(pyfunc, *, excluded=None, signature=None):
    return vectorize_impl(pyfunc, _mapped, excluded=excluded, signature=signature)


def _mapped(function, in_axes=0):
    """A function over the first axes of its arguments; those whose axis is None stay whole."""

    @functools.wraps(function)
    def mapped(*args):
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)

        def of_elements(elements):
            elements = iter(elements)
            return function(
                *[
                    arg if axis is None else next(elements)
                    for arg, axis in zip(args, axes, strict=True)
                ]
            )

        rows = [arg for arg, axis in zip(args, axes, strict=True) if axis is not None]
        return tf.vectorized_map(of_elements, rows)

    return mapped
