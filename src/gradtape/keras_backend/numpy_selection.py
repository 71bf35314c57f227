"""Elements at places and under conditions, and where in a tensor something is."""

import math

import numpy as np
from keras.src.backend.common.backend_utils import canonicalize_axis

import gradtape as tf

from .core import cast, convert_to_tensor
from .numpy_axes import flat_if_none
from .numpy_promotion import as_numbers, dense, promoted


def where(condition, x1=None, x2=None):
    if x1 is None and x2 is None:
        return nonzero(condition)
    if x1 is None or x2 is None:
        raise ValueError(
            "`x1` and `x2` either both should be `None` or both should have non-None value."
        )
    return tf.where(cast(condition, "bool"), *promoted(x1, x2))


def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError(
            "`condlist` must have as many elements as `choicelist`. "
            f"Received: {len(condlist)} and {len(choicelist)}"
        )
    *choices, found = promoted(*choicelist, default)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        found = tf.where(cast(condition, "bool"), choice, found)
    return found


def nonzero(x):
    x = cast(x, "bool")
    places = tf.cast(tf.where(x), "int32")
    return tuple([places[:, axis] for axis in range(x.shape.rank)])


def _from_the_front(indices, size):
    """Indices of which negative ones count from the end."""
    indices = dense(indices)
    if indices.dtype.name not in ("int32", "int64"):
        indices = tf.cast(indices, "int32")
    return tf.where(indices < 0, indices + size, indices)


def take(x, indices, axis=None):
    if isinstance(indices, tf.RaggedTensor) and axis is not None:
        x = dense(x)
        return _take_ragged(x, indices, canonicalize_axis(axis, x.shape.rank))
    x, axis = flat_if_none(dense(x), axis)
    return tf.gather(x, _from_the_front(indices, x.shape[axis]), axis=axis)


def _take_ragged(x, indices, axis):
    if axis == 0:
        return indices.with_flat_values(take(x, indices.flat_values, 0))
    return tf.stack([_take_ragged(row, indices, axis - 1) for row in tf.unstack(x)])


def take_along_axis(x, indices, axis=None):
    x, indices = dense(x), dense(indices)
    if axis is None:
        x, indices = tf.reshape(x, [-1]), tf.reshape(indices, [-1])
    last = x.shape.rank - 1
    axis = last if axis is None else canonicalize_axis(axis, last + 1)
    if indices.shape.rank != last + 1:
        raise ValueError(
            "`indices` must have as many dimensions as `x`. "
            f"Received: indices.shape={indices.shape}, x.shape={x.shape}"
        )
    order = [*[i for i in range(last + 1) if i != axis], axis]
    rows, places = tf.transpose(x, order), tf.transpose(indices, order)
    batch = np.broadcast_shapes(tuple(rows.shape[:-1]), tuple(places.shape[:-1]))
    rows = tf.broadcast_to(rows, [*batch, rows.shape[-1]])
    places = tf.broadcast_to(places, [*batch, places.shape[-1]])
    found = tf.gather(rows, _from_the_front(places, rows.shape[-1]), axis=-1, batch_dims=last)
    return tf.transpose(found, np.argsort(order).tolist())


def unravel_index(indices, shape):
    """The places along each axis of flat indices; those beyond the ends count as the ends."""
    indices = dense(indices)
    size = math.prod(shape)
    rest = tf.clip_by_value(_from_the_front(indices, size), 0, size - 1)
    found = []
    for length in reversed(shape):
        found.append(tf.cast(rest % length, indices.dtype))
        rest //= length
    return tuple(reversed(found))


def searchsorted(sorted_sequence, values, side="left"):
    sequence, values = promoted(sorted_sequence, values)
    if sequence.shape.rank != 1:
        raise ValueError(
            "`searchsorted` only supports 1-D sorted sequences. You can use "
            "`keras.ops.vectorized_map` to extend it to N-D sequences. Received: "
            f"sorted_sequence.shape={sequence.shape}"
        )
    flat = tf.searchsorted(as_numbers(sequence), tf.reshape(as_numbers(values), [-1]), side=side)
    return tf.reshape(flat, values.shape)


# Unique elements ----------------------------------------------------------------------------------


def unique(
    x,
    sorted=True,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    size=None,
    fill_value=None,
):
    """The different elements, or parts along `axis`, in order, whether that is asked or not."""
    x = dense(x)
    whole = x.shape
    x, along = flat_if_none(x, axis)
    count = x.shape[along]
    parts = tf.reshape(_in_front(x, along), [count, math.prod(x.shape) // (count or 1)])
    order = _sorted_places(as_numbers(parts))
    parts = tf.gather(parts, order)
    is_new = tf.reduce_any(tf.not_equal(parts[1:], parts[:-1]), axis=1)
    is_new = tf.concat([tf.ones([np.minimum(count, 1)], "bool"), is_new], 0)
    group = tf.cumsum(tf.cast(is_new, "int32")) - 1
    first = tf.boolean_mask(order, is_new)

    answers = [tf.gather(x, first, axis=along)]
    if return_index:
        answers.append(first)
    if return_inverse:
        inverse = tf.scatter_nd(order[:, tf.newaxis], group, [count])
        answers.append(tf.reshape(inverse, whole) if axis is None else inverse)
    if return_counts:
        answers.append(tf.math.unsorted_segment_sum(tf.ones_like(group), group, first.shape[0]))
    if size is not None:
        # Keras has these in the place of elements, indices and counts that are missing.
        fills = [fill_value or 0, *[1] * return_index, *[None] * return_inverse, 0]
        places = [along, *[0] * len(answers)]
        answers = [
            answer if fill is None else _resized(answer, size, fill, place)
            for answer, fill, place in zip(answers, fills, places, strict=False)
        ]
    return tuple(answers) if len(answers) > 1 else answers[0]


def _in_front(x, axis):
    return tf.transpose(x, [axis, *[i for i in range(x.shape.rank) if i != axis]])


def _sorted_places(rows):
    """The order of rows by their first column, then by the next: the last is sorted by first."""
    order = tf.range(rows.shape[0])
    for column in reversed(range(rows.shape[1])):
        values = tf.gather(rows[:, column], order)
        order = tf.gather(order, tf.argsort(values, stable=True))
    return order


def _resized(x, size, fill, axis):
    """A tensor cut or filled up to `size` along an axis."""
    kept = np.minimum(size, x.shape[axis])
    x = tf.gather(x, np.arange(kept), axis=axis)
    widths = [[0, int(size - kept) if i == axis else 0] for i in range(x.shape.rank)]
    return tf.pad(x, widths, constant_values=convert_to_tensor(fill, x.dtype.name))
