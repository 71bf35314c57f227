"""Choosing elements by conditions and positions."""

import numpy as np

import gradtape as tf

from .elementwise import truth
from .names import numpy_names
from .promotion import as_tensor, constant, integers, promoted
from .shaping import atleast_1d, moveaxis, ravel


def positions(indices):
    """Indices as a tensor of integers."""
    found = as_tensor(indices)
    return found if found.dtype in (tf.int32, tf.int64) else tf.cast(found, tf.int64)


@numpy_names("nonzero")
def nonzero(a):
    """The positions of nonzero elements, one array for each axis."""
    return tuple(tf.unstack(tf.where(truth(atleast_1d(a))), axis=1))


@numpy_names("where")
def where(condition, x=None, y=None):
    """Elements of `x` where the condition holds, of `y` elsewhere; the positions without both."""
    if (x is None) != (y is None):
        raise ValueError("Both x and y must be ndarrays, or both must be None.")
    if x is None:
        return nonzero(condition)
    return tf.where(truth(as_tensor(condition)), *promoted(x, y))


@numpy_names("select")
def select(condlist, choicelist, default=0):
    """For each element the first choice whose condition holds, else `default`."""
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})"
        )
    if not len(condlist):
        raise ValueError("condlist must be non-empty")
    *choices, found = promoted(*choicelist, default)
    for condition, choice in reversed(list(zip(condlist, choices, strict=True))):
        found = tf.where(truth(as_tensor(condition)), choice, found)
    return found


@numpy_names("compress")
def compress(condition, a, axis=None):
    """The slices along `axis` for which the condition holds; of all elements without an axis.

    Raises:
        ValueError: the condition is not 1-D, or longer than the axis.
    """
    kept, x = truth(as_tensor(condition)), as_tensor(a)
    if kept.ndim != 1:
        raise ValueError(f"condition must be a 1-d array. Received: shape {kept.shape}")
    x, axis = (ravel(x), 0) if axis is None else (x, integers(axis))
    if kept.shape[0] > x.shape[axis]:
        raise ValueError(
            f"condition has {kept.shape[0]} elements, the array {x.shape[axis]} along its axis"
        )
    return tf.gather(x, nonzero(kept)[0], axis=axis)


@numpy_names("take")
def take(a, indices, axis=None, out=None, mode="clip"):
    """Elements, or slices along `axis`, at the given positions.

    Args:
        a: the array.
        indices: the positions.
        axis: the axis; the array is flattened, if None.
        out: not supported.
        mode: how positions outside count: `"clip"`, as the nearest, or `"wrap"`, going round.
    """
    if out is not None:
        raise ValueError("The argument `out` is not supported: tensors cannot be written into.")
    if mode not in ("clip", "wrap"):
        raise ValueError(f"take needs mode 'clip' or 'wrap'. Received: mode={mode!r}")
    x, places = as_tensor(a), positions(indices)
    x, axis = (ravel(x), 0) if axis is None else (x, integers(axis))
    length = constant(x.shape[axis], places)
    if mode == "wrap":
        places = tf.math.floormod(places, length)
    else:
        places = tf.clip_by_value(places, tf.zeros_like(length), length - 1)
    return tf.gather(x, places, axis=axis)


@numpy_names("take_along_axis")
def take_along_axis(arr, indices, axis):
    """For each 1-D slice along `axis` the elements at its own positions."""
    x, places = as_tensor(arr), positions(indices)
    x, axis = (ravel(x), 0) if axis is None else (x, integers(axis))
    if x.ndim != places.ndim:
        raise ValueError(
            f"`indices` and `arr` need the same number of dimensions. Received: {places.ndim} and "
            f"{x.ndim}"
        )
    x, places = moveaxis(x, axis, -1), moveaxis(places, axis, -1)
    outer = list(tf.broadcast_static_shape(x.shape[:-1], places.shape[:-1]))
    x = tf.broadcast_to(x, [*outer, x.shape[-1]])
    places = tf.broadcast_to(places, [*outer, places.shape[-1]])
    found = tf.gather(x, from_start(places, x.shape[-1]), axis=-1, batch_dims=len(outer))
    return moveaxis(found, -1, axis)


def from_start(places, length):
    """Positions counted from the start, where negative ones count from the end."""
    return tf.where(places < 0, places + constant(length, places), places)


@numpy_names("ix_")
def ix_(*args):
    """Positions along several axes, shaped so that together they index a grid."""
    found = []
    for i, arg in enumerate(args):
        x = as_tensor(arg)
        if x.ndim != 1:
            raise ValueError(f"Arguments must be 1-d, got arg {i} of rank {x.ndim}")
        if x.dtype.is_bool:
            (x,) = nonzero(x)
        elif not x.dtype.is_integer:
            raise ValueError(f"Only integer and bool dtypes are supported, got {x.dtype!r}")
        found.append(tf.reshape(x, np.where(np.arange(len(args)) == i, -1, 1).tolist()))
    return found
