"""Reshaping, moving axes, joining and splitting."""

from typing import Any

import numpy as np

import gradtape as tf

from .names import numpy_names
from .promotion import array, as_tensor, integers, promoted, promoted_dtype, shape_of


def _tuple(x) -> Any:
    found = integers(x)
    return found if isinstance(found, tuple) else (found,)


def _reversed_axes(x):
    return tf.transpose(x, list(range(x.ndim))[::-1])


@numpy_names("reshape")
def reshape(a, newshape, order="C"):
    """The same elements in another shape.

    Args:
        a: the array.
        newshape: the shape; one dimension may be -1.
        order: `"C"` reads and writes rows first, `"F"` columns first.
    """
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument {order}")
    x, shape = as_tensor(a), shape_of(newshape)
    if order == "C":
        return tf.reshape(x, shape)
    return _reversed_axes(tf.reshape(_reversed_axes(x), shape[::-1]))


@numpy_names("ravel")
def ravel(a):
    """All elements along one axis."""
    return tf.reshape(as_tensor(a), [-1])


@numpy_names("flatten")
def flatten(a, order="C"):
    """All elements along one axis, rows first, or columns first with `order="F"`."""
    if order not in ("C", "A", "K", "F"):
        raise ValueError("order can only be C, A, K (all row major) or F (column major).")
    return ravel(_reversed_axes(as_tensor(a)) if order == "F" else a)


@numpy_names("transpose")
def transpose(a, axes=None):
    """Axes in another order, by default reversed."""
    x = as_tensor(a)
    return _reversed_axes(x) if axes is None else tf.transpose(x, list(_tuple(axes)))


@numpy_names("swapaxes")
def swapaxes(a, axis1, axis2):
    """Two axes in each other's place."""
    x = as_tensor(a)
    order = list(range(x.ndim))
    axis1, axis2 = integers(axis1), integers(axis2)
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return tf.transpose(x, order)


@numpy_names("moveaxis")
def moveaxis(a, source, destination):
    """Axes moved to other places; the rest keep their order."""
    x = as_tensor(a)
    sources, places = _tuple(source), _tuple(destination)
    if len(sources) != len(places):
        raise ValueError("The lengths of source and destination must equal")
    sources = [_inside(axis, x.ndim) for axis in sources]
    places = [_inside(axis, x.ndim) for axis in places]
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return x if order == list(range(x.ndim)) else tf.transpose(x, order)


def _inside(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of bounds for an array of {rank} dimensions")
    return axis % rank


@numpy_names("expand_dims")
def expand_dims(a, axis):
    """A new axis of length 1."""
    return tf.expand_dims(as_tensor(a), integers(axis))


@numpy_names("squeeze")
def squeeze(a, axis=None):
    """Without axes of length 1."""
    return tf.squeeze(as_tensor(a), None if axis is None else list(_tuple(axis)))


def _at_least(rank, widen):
    def at_least(*arys) -> Any:
        found = [widen(array(x)) for x in arys]
        return found[0] if len(found) == 1 else found

    at_least.__doc__ = f"Arrays with at least {rank} dimension{'s' * (rank > 1)}."
    return numpy_names(f"atleast_{rank}d")(at_least)


def _widen_to_3d(x):
    if x.ndim < 2:
        return tf.reshape(x, (1, -1, 1))
    return x[..., None] if x.ndim == 2 else x


atleast_1d = _at_least(1, lambda x: x if x.ndim else tf.reshape(x, [1]))
atleast_2d = _at_least(2, lambda x: x if x.ndim > 1 else tf.reshape(x, [1, -1]))
atleast_3d = _at_least(3, _widen_to_3d)


@numpy_names("broadcast_to")
def broadcast_to(array, shape):
    """The array repeated to a shape."""
    return tf.broadcast_to(as_tensor(array), shape_of(shape))


@numpy_names("broadcast_arrays")
def broadcast_arrays(*args, **kwargs):
    """Arrays repeated to the shape that they have together."""
    if set(kwargs) - {"subok"}:
        raise TypeError(f"broadcast_arrays() got an unexpected keyword argument {min(kwargs)!r}")
    tensors = [as_tensor(x) for x in args]
    shape = tf.TensorShape([])
    for tensor in tensors:
        shape = tf.broadcast_static_shape(shape, tensor.shape)
    return [tf.broadcast_to(tensor, shape) for tensor in tensors]


# Joining ------------------------------------------------------------------------------------------


def _tensors(arrays):
    """The arrays of a sequence, or along the first axis of a tensor, in one dtype."""
    if not isinstance(arrays, (list, tuple)):
        return tf.unstack(as_tensor(arrays))
    return list(promoted(*arrays))


@numpy_names("concatenate")
def concatenate(arys, axis=0):
    """Arrays one after the other along `axis`; all flattened, if that is None."""
    if isinstance(arys, (list, tuple)) and not arys:
        raise ValueError(f"Need at least one array to concatenate. Received empty input: {arys=}")
    tensors = _tensors(arys)
    if axis is None:
        return tf.concat([ravel(x) for x in tensors], 0)
    return tf.concat(tensors, integers(axis))


@numpy_names("append")
def append(arr, values, axis=None):
    """`values` after `arr`; both flattened, if there is no axis."""
    if axis is None:
        return tf.concat([ravel(x) for x in promoted(arr, values)], 0)
    return concatenate([arr, values], axis)


@numpy_names("stack")
def stack(arrays, axis=0):
    """Arrays side by side along a new axis."""
    return tf.stack(_tensors(arrays), integers(axis))


@numpy_names("hstack")
def hstack(tup):
    """Arrays side by side: along the second axis, or the only one."""
    tensors = [atleast_1d(x) for x in _tensors(tup)]
    return tf.concat(tensors, 0 if tensors[0].ndim == 1 else 1)


@numpy_names("vstack")
def vstack(tup):
    """Arrays below each other, as rows if they are 1-D."""
    return tf.concat([atleast_2d(x) for x in _tensors(tup)], 0)


@numpy_names("dstack")
def dstack(tup):
    """Arrays behind each other, along the third axis."""
    return tf.concat([atleast_3d(x) for x in _tensors(tup)], 2)


# Splitting ----------------------------------------------------------------------------------------


@numpy_names("split")
def split(ary, indices_or_sections, axis=0):
    """Parts along `axis`: so many equal ones, or those between the given places.

    Raises:
        ValueError: the places are not in order, or equal parts do not come out.
    """
    x, axis = as_tensor(ary), integers(axis)
    if not -x.ndim <= axis < x.ndim:
        raise IndexError(f"axis {axis} is out of range for an array of {x.ndim} dimensions")
    length = x.shape[axis]
    places = integers(indices_or_sections)
    if isinstance(places, int):
        if places < 1 or length % places:
            raise ValueError("array split does not result in an equal division")
        return list(tf.split(x, places, axis))
    ends = [min(place if place >= 0 else max(place + length, 0), length) for place in places]
    starts = [0, *ends]
    for i, (start, end) in enumerate(zip(starts, ends, strict=False)):
        if end < start:
            raise ValueError(f"The {i}-th boundary {end} is smaller than the previous one {start}")
    sizes = [end - start for start, end in zip(starts, [*ends, length], strict=True)]
    return list(tf.split(x, sizes, axis))


@numpy_names("vsplit")
def vsplit(ary, indices_or_sections):
    """Parts along the first axis."""
    return split(ary, indices_or_sections, 0)


@numpy_names("hsplit")
def hsplit(ary, indices_or_sections):
    """Parts along the second axis, or the only one."""
    x = as_tensor(ary)
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


@numpy_names("dsplit")
def dsplit(ary, indices_or_sections):
    """Parts along the third axis."""
    return split(ary, indices_or_sections, 2)


# Repeating and turning ----------------------------------------------------------------------------


@numpy_names("repeat")
def repeat(a, repeats, axis=None):
    """Each element so many times; flattened, if there is no axis."""
    return tf.repeat(as_tensor(a), repeats, axis)


@numpy_names("tile")
def tile(a, reps):
    """The whole array so many times along each axis."""
    x, counts = as_tensor(a), _tuple(reps)
    rank = max(x.ndim, len(counts))
    wide = tf.reshape(x, [1] * (rank - x.ndim) + list(x.shape))
    return tf.tile(wide, [1] * (rank - len(counts)) + list(counts))


@numpy_names("roll")
def roll(a, shift, axis=None):
    """Elements moved along; those that leave come in at the other end."""
    x = as_tensor(a)
    if axis is None:
        return tf.reshape(roll(ravel(x), shift, 0), x.shape)
    shifts, axes = np.broadcast_arrays(_tuple(shift), _tuple(axis))
    return tf.roll(x, shifts.tolist(), axes.tolist())


@numpy_names("flip")
def flip(m, axis=None):
    """Elements in reversed order along axes, or along all of them."""
    x = as_tensor(m)
    axes = range(x.ndim) if axis is None else _tuple(axis)
    return tf.reverse(x, list(axes)) if x.ndim else x


@numpy_names("flipud")
def flipud(m):
    """Reversed along the first axis."""
    return flip(m, 0)


@numpy_names("fliplr")
def fliplr(m):
    """Reversed along the second axis."""
    return flip(m, 1)


@numpy_names("rot90")
def rot90(m, k=1, axes=(0, 1)):
    """Turned `k` times by a right angle, from the first axis towards the second."""
    x = as_tensor(m)
    first, second = [_inside(axis, x.ndim) for axis in axes]
    turns = k % 4
    if turns == 0:
        return x
    if turns == 2:
        return flip(x, (first, second))
    turned = flip(x, second) if turns == 1 else x
    swapped = swapaxes(turned, first, second)
    return swapped if turns == 1 else flip(swapped, second)


@numpy_names("pad")
def pad(array, pad_width, mode, **kwargs):
    """The array with a border.

    Args:
        array: the array.
        pad_width: how many places before and after, for each axis, or one pair or number for all.
        mode: `"constant"`, `"reflect"` or `"symmetric"`.
        **kwargs: `constant_values`, one number; 0 unless given.
    """
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"Unsupported padding mode: {mode}")
    x = as_tensor(array)
    widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)).tolist()
    fill = kwargs.pop("constant_values", 0)
    if kwargs:
        raise TypeError(f"pad() got an unexpected keyword argument {min(kwargs)!r}")
    return tf.pad(x, widths, mode, constant_values=as_tensor(fill, promoted_dtype(x)))
