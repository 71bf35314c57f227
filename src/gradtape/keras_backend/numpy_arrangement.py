"""Tensors put together, taken apart and turned: `append` to `hstack`."""

import gradtape as tf

from .numpy_promotion import dense, promoted

_numpy = tf.experimental.numpy


def broadcast_to(x, shape):
    return tf.broadcast_to(dense(x), shape)


def copy(x):
    return tf.identity(dense(x))


def expand_dims(x, axis):
    x = dense(x)
    if not isinstance(axis, (tuple, list)):
        return tf.expand_dims(x, axis)
    rank = x.ndim + len(axis)
    new = {_place(each, rank) for each in axis}
    if len(new) != len(axis):
        raise ValueError(f"`axis` should not name an axis twice. Received: axis={axis}")
    sizes = iter(x.shape)
    return tf.reshape(x, [1 if i in new else next(sizes) for i in range(rank)])


def _place(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(
            f"axis {axis} is out of bounds for a result of {rank} dimensions. Received: axis={axis}"
        )
    return axis % rank


# Together -----------------------------------------------------------------------------------------


def append(x1, x2, axis=None):
    return _joined([x1, x2], axis)


def concatenate(xs, axis=0):
    return _joined(xs, axis)


def _joined(xs, axis):
    """One after the other along an axis, or along the only one of all elements."""
    xs = promoted(*xs)
    if axis is None:
        return tf.concat([tf.reshape(x, [-1]) for x in xs], 0)
    return tf.concat(xs, axis)


def dstack(xs):
    return _numpy.dstack(promoted(*xs))


def hstack(xs):
    return _numpy.hstack(promoted(*xs))


# Apart --------------------------------------------------------------------------------------------


def array_split(x, indices_or_sections, axis=0):
    """Parts of a tensor along an axis, as even as they can be if only their number is given."""
    x = dense(x)
    size = x.shape[axis]
    if isinstance(indices_or_sections, int):
        least, longer = divmod(size, indices_or_sections)
        sizes = [least + 1] * longer + [least] * (indices_or_sections - longer)
    else:
        limits = [slice(0, int(each)).indices(size)[1] for each in indices_or_sections]
        starts, stops = [0, *limits], [*limits, size]
        sizes = [max(stop - start, 0) for start, stop in zip(starts, stops, strict=True)]
    return list(tf.split(x, sizes, axis))


def dsplit(x, indices_or_sections):
    return _numpy.dsplit(dense(x), indices_or_sections)


def hsplit(x, indices_or_sections):
    return _numpy.hsplit(dense(x), indices_or_sections)


# Diagonals ----------------------------------------------------------------------------------------


def diag(x, k=0):
    x = dense(x)
    if x.dtype.is_bool:
        return tf.cast(diag(tf.cast(x, "int32"), k), "bool")
    return _numpy.diag(x, k)


def diagflat(x, k=0):
    return diag(tf.reshape(dense(x), [-1]), k)


def diagonal(x, offset=0, axis1=0, axis2=1):
    return _numpy.diagonal(dense(x), offset, axis1, axis2)


# Turned -------------------------------------------------------------------------------------------


def flip(x, axis=None):
    x = dense(x)
    if axis is None:
        axis = range(x.ndim)
    return tf.reverse(x, list(axis) if isinstance(axis, (tuple, list, range)) else [axis])


def fliplr(x):
    return flip(x, 1)


def flipud(x):
    return flip(x, 0)
