"""Medians and other quantiles, with NaNs and without."""

import math

import gradtape as tf

from .core import convert_to_tensor
from .numpy_axes import axes_of
from .numpy_promotion import as_floats

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def median(x, axis=None, keepdims=False):
    return quantile(x, 0.5, axis, "midpoint", keepdims)


def quantile(x, q, axis=None, method="linear", keepdims=False):
    return _quantile(x, _floats(q), axis, method, keepdims, skip_nans=False)


def percentile(x, q, axis=None, method="linear", keepdims=False):
    return _quantile(x, _floats(q) / 100.0, axis, method, keepdims, skip_nans=False)


def nanmedian(x, axis=None, keepdims=False):
    return nanquantile(x, 0.5, axis, "midpoint", keepdims)


def nanquantile(x, q, axis=None, method="linear", keepdims=False):
    return _quantile(x, _floats(q), axis, method, keepdims, skip_nans=True)


def nanpercentile(x, q, axis=None, method="linear", keepdims=False):
    return _quantile(x, _floats(q) / 100.0, axis, method, keepdims, skip_nans=True)


def _floats(q):
    # Places among many elements need all the digits.
    return tf.cast(convert_to_tensor(q), "float64")


def _quantile(x, q, axis, method, keepdims, skip_nans):
    """The elements at the places `q` of the way through the sorted ones; the axes of `q` first."""
    if method not in _METHODS:
        raise ValueError(f"`method` must be one of {_METHODS}. Received: method={method}")
    x = as_floats(x)
    rank = x.shape.rank
    axes = axes_of(axis, rank)
    kept = [i for i in range(rank) if i not in axes]
    sizes = [x.shape[i] for i in kept]
    count = math.prod([x.shape[i] for i in axes])
    rows = tf.reshape(tf.transpose(x, kept + axes), [*sizes, count])

    is_nan = tf.math.is_nan(rows)
    infinity = tf.constant(math.inf, x.dtype)
    ordered = tf.sort(tf.where(is_nan, infinity, rows), -1)
    if skip_nans:
        numbers = tf.reduce_sum(tf.cast(tf.logical_not(is_nan), "float64"), -1, keepdims=True)
        missing = tf.equal(numbers, 0.0)
    else:
        numbers = tf.constant(float(count), "float64", [*sizes, 1])
        missing = tf.reduce_any(is_nan, -1, keepdims=True)
    places = tf.maximum(numbers - 1.0, 0.0) * tf.reshape(q, [1] * len(sizes) + [-1])
    found = tf.where(missing, tf.constant(math.nan, x.dtype), _at(ordered, places, method))

    found = tf.transpose(found, [len(kept), *range(len(kept))])
    if keepdims:
        sizes = [x.shape[i] if i in kept else 1 for i in range(rank)]
    return tf.reshape(found, [*q.shape, *sizes])


def _at(ordered, places, method):
    """Elements at places along the last axis, which may be between two of them."""

    def pick(whole):
        indices = tf.cast(whole, "int32")
        return tf.gather(ordered, indices, axis=-1, batch_dims=ordered.shape.rank - 1)

    if method == "nearest":
        return pick(tf.round(places))
    below, above = tf.floor(places), tf.math.ceil(places)
    if method == "lower":
        return pick(below)
    if method == "higher":
        return pick(above)
    lower, higher = pick(below), pick(above)
    if method == "midpoint":
        return tf.where(tf.equal(below, above), lower, (lower + higher) / 2)
    share = tf.cast(places - below, ordered.dtype)
    # None of an infinite element is nothing.
    return tf.where(tf.equal(share, 0), lower, lower * (1 - share) + higher * share)
