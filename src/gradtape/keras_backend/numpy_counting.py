"""Order, bins and counts of elements, and the differences between them."""

import gradtape as tf

from .core import cast, convert_to_tensor
from .numpy_promotion import as_floats, as_numbers, dense, promoted

# Order and bins ----------------------------------------------------------------------------------


def argsort(x, axis=-1):
    x = as_numbers(x)
    if axis is None or not x.ndim:
        x, axis = tf.reshape(x, [-1]), 0
    return cast(tf.argsort(x, axis, stable=True), "int32")


def argpartition(x, kth, axis=-1):
    # Sorted elements are parted at every place.
    return argsort(x, axis)


def digitize(x, bins):
    """The number of the bin that each element falls into."""
    x, bins = [as_numbers(each) for each in promoted(x, bins)]
    flat = tf.reshape(x, [-1])
    places = tf.searchsorted(bins, flat, side="right")
    return tf.reshape(places, x.shape)


# Counts -------------------------------------------------------------------------------------------


def bincount(x, weights=None, minlength=0, sparse=False):
    """How often each number occurs in `x`, or in each of its rows, or the sum of its weights."""
    x = cast(x, "int32")
    if weights is None:
        weights = tf.ones_like(x)
    weights = as_numbers(weights)
    rows = x.shape[0] if x.ndim == 2 else 1
    largest = int(tf.reduce_max(x)) if 0 not in x.shape else -1
    length = max(largest + 1, int(minlength))
    # Each row counts in places of its own.
    shifted = tf.reshape(x, [rows, -1]) + length * tf.range(rows)[:, None]
    counts = tf.math.unsorted_segment_sum(
        tf.reshape(weights, [-1]), tf.reshape(shifted, [-1]), rows * length
    )
    counts = tf.reshape(counts, [rows, length] if x.ndim == 2 else [length])
    return tf.sparse.from_dense(counts) if sparse else counts


def histogram(x, bins=10, range=None):
    """The number of elements in each of `bins` equal parts of a range, and the edges of these."""
    x = as_floats(x)
    if range:
        low, high = [convert_to_tensor(each, x.dtype.name) for each in range]
    elif 0 in x.shape:
        low, high = tf.zeros([], x.dtype), tf.ones([], x.dtype)
    else:
        low, high = tf.reduce_min(x), tf.reduce_max(x)
    # A range without extent is widened by a half to each side.
    half = tf.where(tf.equal(low, high), tf.constant(0.5, x.dtype), tf.zeros([], x.dtype))
    low, high = low - half, high + half
    edges = tf.linspace(low, high, bins + 1)
    inside = tf.logical_and(x >= low, x <= high)
    # The last part holds its upper edge too.
    places = tf.searchsorted(edges[1:-1], x, side="right")
    counts = tf.math.unsorted_segment_sum(tf.cast(inside, "int32"), places, bins)
    return counts, edges


def diff(a, n=1, axis=-1):
    return tf.experimental.numpy.diff(dense(a), n, axis)
