"""Sums, means, extremes and other figures over axes, and what runs along one."""

import numpy as np

import gradtape as tf

from .core import cast, convert_to_tensor
from .numpy_axes import at_least_32_bits, axes_of, flat_if_none, widened
from .numpy_promotion import as_floats, as_numbers, dense, promoted, promoted_floats


def sum(x, axis=None, keepdims=False):
    return tf.reduce_sum(widened(x), axis, keepdims)


def prod(x, axis=None, keepdims=False, dtype=None):
    x = widened(x) if dtype is None else cast(x, dtype)
    return tf.reduce_prod(x, axis, keepdims)


def mean(x, axis=None, keepdims=False):
    x = as_floats(x)
    return tf.cast(tf.reduce_mean(at_least_32_bits(x), axis, keepdims), x.dtype)


def var(x, axis=None, keepdims=False):
    x = as_floats(x)
    return tf.cast(tf.math.reduce_variance(at_least_32_bits(x), axis, keepdims), x.dtype)


def std(x, axis=None, keepdims=False):
    x = as_floats(x)
    return tf.cast(tf.math.reduce_std(at_least_32_bits(x), axis, keepdims), x.dtype)


def average(x, axis=None, weights=None):
    if weights is None:
        return tf.reduce_mean(as_floats(x), axis)
    x, weights = promoted_floats(x, weights)
    if weights.shape != x.shape:
        weights = _weights_along(axis, weights, x)
    weights = tf.broadcast_to(weights, x.shape)
    return tf.reduce_sum(x * weights, axis) / tf.reduce_sum(weights, axis)


def _weights_along(axis, weights, x):
    """Weights of the places along the axes, with the other axes to be broadcast."""
    axes = [] if axis is None else axes_of(axis, x.shape.rank)
    if [x.shape[each] for each in axes] != list(weights.shape) or axes != sorted(axes):
        raise ValueError(
            "`weights` must have the shape of `x`, or its sizes along `axis`. "
            f"Received: weights.shape={weights.shape}, x.shape={x.shape}, axis={axis}"
        )
    sizes = [size if i in axes else 1 for i, size in enumerate(x.shape)]
    return tf.reshape(weights, sizes)


# Extremes -----------------------------------------------------------------------------------------


def max(x, axis=None, keepdims=False, initial=None):
    x = dense(x)
    reduce = tf.reduce_any if x.dtype.is_bool else tf.reduce_max
    widest = tf.logical_or if x.dtype.is_bool else tf.maximum
    return _extreme(x, axis, keepdims, initial, reduce, widest)


def min(x, axis=None, keepdims=False, initial=None):
    x = dense(x)
    reduce = tf.reduce_all if x.dtype.is_bool else tf.reduce_min
    widest = tf.logical_and if x.dtype.is_bool else tf.minimum
    return _extreme(x, axis, keepdims, initial, reduce, widest)


def _extreme(x, axis, keepdims, initial, reduce, widest):
    if initial is not None:
        return widest(reduce(x, axis, keepdims), convert_to_tensor(initial, x.dtype.name))
    if 0 in x.shape and 0 in [x.shape[each] for each in axes_of(axis, x.shape.rank)]:
        raise ValueError(
            "An empty tensor has no greatest or least element: give `initial`. "
            f"Received: x.shape={x.shape}, axis={axis}"
        )
    return reduce(x, axis, keepdims)


def amax(x, axis=None, keepdims=False):
    return max(x, axis, keepdims)


def amin(x, axis=None, keepdims=False):
    return min(x, axis, keepdims)


def ptp(x, axis=None, keepdims=False):
    x = dense(x)
    return max(x, axis, keepdims) - min(x, axis, keepdims)


def argmax(x, axis=None, keepdims=False):
    return _place(tf.argmax, x, axis, keepdims)


def argmin(x, axis=None, keepdims=False):
    return _place(tf.argmin, x, axis, keepdims)


def _place(function, x, axis, keepdims):
    x = as_numbers(x)
    rank = x.shape.rank
    if x.dtype.is_floating:
        # The negative zero counts as less than the other one.
        x = at_least_32_bits(x)
        bits = "int32" if x.dtype == tf.float32 else "int64"
        is_negative_zero = tf.equal(tf.bitcast(x, bits), tf.as_dtype(bits).min)
        x = tf.where(is_negative_zero, -np.finfo(x.dtype.as_numpy_dtype).tiny, x)
    x, place = flat_if_none(x, axis)
    found = function(x, place, output_type="int32")
    if not keepdims:
        return found
    return tf.reshape(found, [1] * rank) if axis is None else tf.expand_dims(found, place)


# Truth --------------------------------------------------------------------------------------------


def all(x, axis=None, keepdims=False):
    return tf.reduce_all(cast(x, "bool"), axis, keepdims)


def any(x, axis=None, keepdims=False):
    return tf.reduce_any(cast(x, "bool"), axis, keepdims)


def count_nonzero(x, axis=None):
    return tf.reduce_sum(tf.cast(cast(x, "bool"), "int32"), axis)


# Along an axis ------------------------------------------------------------------------------------


def cumsum(x, axis=None, dtype=None):
    return _running(tf.cumsum, x, axis, dtype)


def cumprod(x, axis=None, dtype=None):
    return _running(tf.math.cumprod, x, axis, dtype)


def _running(function, x, axis, dtype):
    x, axis = flat_if_none(dense(x), axis)
    return function(as_numbers(x) if dtype is None else cast(x, dtype), axis)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The area below `y`, a line between each two neighbours along `axis`."""
    y = as_floats(y)
    if x is None:
        widths = convert_to_tensor(dx, y.dtype.name)
    else:
        y, x = promoted(y, x)
        along = axis if x.shape.rank > 1 else 0
        widths = tf.experimental.numpy.diff(x, axis=along)
        if x.shape.rank == 1:
            widths = tf.reshape(
                widths, [-1 if i == axis % y.shape.rank else 1 for i in range(y.shape.rank)]
            )
    ends = [slice(None)] * y.shape.rank
    starts = list(ends)
    ends[axis], starts[axis] = slice(1, None), slice(None, -1)
    return tf.reduce_sum((y[tuple(ends)] + y[tuple(starts)]) * widths, axis) / 2
