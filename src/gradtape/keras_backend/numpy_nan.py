"""Figures over what is not NaN, and numbers in the place of NaNs and infinities."""

import math

import gradtape as tf

from . import numpy_reduction as reduction
from .numpy_axes import at_least_32_bits
from .numpy_promotion import dense


def _split(x):
    """A tensor and where its NaNs are: None where its dtype has none."""
    x = dense(x)
    return x, tf.math.is_nan(x) if x.dtype.is_floating else None


def _replaced(x, number):
    """A tensor with a number in the place of NaNs."""
    x, is_nan = _split(x)
    return x if is_nan is None else tf.where(is_nan, tf.constant(number, x.dtype), x)


def nansum(x, axis=None, keepdims=False):
    return reduction.sum(_replaced(x, 0), axis, keepdims)


def nanprod(x, axis=None, keepdims=False):
    return reduction.prod(_replaced(x, 1), axis, keepdims)


def nancumsum(x, axis=None, dtype=None):
    return reduction.cumsum(_replaced(x, 0), axis, dtype)


def nancumprod(x, axis=None, dtype=None):
    return reduction.cumprod(_replaced(x, 1), axis, dtype)


def nanmax(x, axis=None, keepdims=False):
    return _extreme(reduction.max, x, -math.inf, math.nan, axis, keepdims)


def nanmin(x, axis=None, keepdims=False):
    return _extreme(reduction.min, x, math.inf, math.nan, axis, keepdims)


def nanargmax(x, axis=None, keepdims=False):
    return _extreme(reduction.argmax, x, -math.inf, -1, axis, keepdims)


def nanargmin(x, axis=None, keepdims=False):
    return _extreme(reduction.argmin, x, math.inf, -1, axis, keepdims)


def _extreme(function, x, worst, none, axis, keepdims):
    """An extreme with the worst number in the place of NaNs; `none` if there is nothing else."""
    x, is_nan = _split(x)
    if is_nan is None:
        return function(x, axis, keepdims)
    found = function(tf.where(is_nan, tf.constant(worst, x.dtype), x), axis, keepdims)
    nothing = tf.reduce_all(is_nan, axis, keepdims)
    return tf.where(nothing, tf.constant(none, found.dtype), found)


def nanmean(x, axis=None, keepdims=False):
    x, is_nan = _split(x)
    if is_nan is None:
        return reduction.mean(x, axis, keepdims)
    wide = at_least_32_bits(x)
    return tf.cast(_mean(wide, is_nan, axis, keepdims), x.dtype)


def _mean(x, is_nan, axis, keepdims):
    count = tf.reduce_sum(tf.cast(tf.logical_not(is_nan), x.dtype), axis, keepdims)
    return tf.reduce_sum(tf.where(is_nan, tf.zeros_like(x), x), axis, keepdims) / count


def nanvar(x, axis=None, keepdims=False):
    x, is_nan = _split(x)
    if is_nan is None:
        return reduction.var(x, axis, keepdims)
    wide = at_least_32_bits(x)
    centre = _mean(wide, is_nan, axis, True)
    return tf.cast(_mean(tf.square(wide - centre), is_nan, axis, keepdims), x.dtype)


def nanstd(x, axis=None, keepdims=False):
    return tf.sqrt(nanvar(x, axis, keepdims))


def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    x, is_nan = _split(x)
    if is_nan is None:
        return x
    posinf = x.dtype.max if posinf is None else posinf
    neginf = x.dtype.min if neginf is None else neginf
    found = tf.where(is_nan, tf.constant(nan, x.dtype), x)
    found = tf.where(tf.equal(x, math.inf), tf.constant(posinf, x.dtype), found)
    return tf.where(tf.equal(x, -math.inf), tf.constant(neginf, x.dtype), found)
