"""Shapes and the order of elements: `meshgrid` to `vstack`."""

import numpy as np

import gradtape as tf

from .numpy_axes import axes_of, widened
from .numpy_promotion import as_numbers, dense, promoted

_numpy = tf.experimental.numpy

# Axes ---------------------------------------------------------------------------------------------


def moveaxis(x, source, destination):
    return _numpy.moveaxis(dense(x), source, destination)


def swapaxes(x, axis1, axis2):
    return _numpy.swapaxes(dense(x), axis1, axis2)


def transpose(x, axes=None):
    x = dense(x)
    if axes is None:
        return tf.transpose(x)
    order = axes_of(axes, x.shape.rank)
    if len(set(order)) != x.shape.rank:
        raise ValueError(
            f"`axes` must hold every axis once. Received: axes={axes}, x.shape={x.shape}"
        )
    return tf.transpose(x, order)


def squeeze(x, axis=None):
    x = dense(x)
    if axis is None:
        return tf.squeeze(x)
    axes = axes_of(axis, x.shape.rank)
    if any([x.shape[each] != 1 for each in axes]):
        raise ValueError(
            f"Only axes of size 1 can be squeezed. Received: x.shape={x.shape}, axis={axis}"
        )
    return tf.reshape(x, [size for i, size in enumerate(x.shape) if i not in axes])


def ravel(x):
    return tf.reshape(dense(x), [-1])


def reshape(x, newshape):
    return tf.reshape(dense(x), [newshape] if isinstance(newshape, int) else newshape)


def rot90(array, k=1, axes=(0, 1)):
    array = dense(array)
    if array.shape.rank < 2:
        raise ValueError(
            f"Input array must have at least 2 dimensions. Received: array.ndim={array.shape.rank}"
        )
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"Invalid axes: {axes}. Axes must be a tuple of two different dimensions.")
    return _numpy.rot90(array, k, axes)


def meshgrid(*x, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError(f'`indexing` must be "xy" or "ij". Received: indexing={indexing}')
    vectors = [ravel(each) for each in x]
    sizes = [each.shape[0] for each in vectors]
    order = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        order[:2] = [1, 0]
    grids = []
    for place, vector in enumerate(vectors):
        along = [-1 if each == place else 1 for each in order]
        grids.append(tf.broadcast_to(tf.reshape(vector, along), [sizes[each] for each in order]))
    return grids


# Joining and splitting ----------------------------------------------------------------------------


def stack(x, axis=0):
    return tf.stack(promoted(*x), axis)


def vstack(xs):
    return tf.concat([_numpy.atleast_2d(x) for x in promoted(*xs)], 0)


def split(x, indices_or_sections, axis=0):
    return _numpy.split(dense(x), indices_or_sections, axis)


def vsplit(x, indices_or_sections):
    return split(x, indices_or_sections, 0)


# Repeating and moving -----------------------------------------------------------------------------


def repeat(x, repeats, axis=None):
    return tf.repeat(dense(x), repeats, axis)


def tile(x, repeats):
    return _numpy.tile(dense(x), repeats)


def roll(x, shift, axis=None):
    return _numpy.roll(dense(x), shift, axis)


def sort(x, axis=-1):
    x = dense(x)
    if axis is None:
        x, axis = ravel(x), 0
    return tf.cast(tf.sort(as_numbers(x), axis), x.dtype)


# Parts of matrices --------------------------------------------------------------------------------


def trace(x, offset=0, axis1=0, axis2=1):
    return _numpy.trace(widened(x), offset, axis1, axis2)


def tril(x, k=0):
    x = dense(x)
    return tf.where(_lower(x, k), x, tf.zeros_like(x))


def triu(x, k=0):
    x = dense(x)
    return tf.where(_lower(x, k - 1), tf.zeros_like(x), x)


def _lower(x, k):
    """Where the lower triangle of matrices is, with so many diagonals above the main one."""
    rows, columns = x.shape[-2:]
    return np.tri(rows, columns, k, dtype=bool)


def vander(x, N=None, increasing=False):
    """The powers of a vector's elements, in columns."""
    x = as_numbers(x)
    if x.shape.rank != 1:
        raise ValueError(f"`x` must be a one-dimensional tensor. Received: x.shape={x.shape}")
    powers = [tf.ones_like(x)]
    for _ in range((x.shape[0] if N is None else N) - 1):
        powers.append(powers[-1] * x)
    return tf.stack(powers if increasing else powers[::-1], axis=1)
