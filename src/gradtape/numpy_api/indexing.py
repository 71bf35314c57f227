"""Indexing by arrays and masks as NumPy has it, composed of slices and gather_nd."""

import numpy as np

import gradtape as tf

from .promotion import as_tensor, is_tensor
from .selection import from_start, nonzero, positions
from .shaping import broadcast_arrays


def is_advanced(key):
    """Whether a key has entries that only NumPy's indexing takes: lists, arrays and masks."""
    return any([_is_array(item) for item in (key if isinstance(key, tuple) else (key,))])


def _is_array(item):
    if isinstance(item, (list, bool, np.bool_)):
        return True
    if isinstance(item, np.ndarray) or is_tensor(item):
        return item.ndim > 0 or as_tensor(item).dtype.is_bool
    return False


def indexed(tensor, key, getitem):
    """`tensor[key]` for a key with arrays.

    Args:
        tensor: the tensor.
        key: what stands in the brackets.
        getitem: the function that takes slices, integers, `...` and None.
    """
    key = _without_masks(key if isinstance(key, tuple) else (key,))
    key = _without_ellipsis(key, tensor.ndim)
    # Slices and new axes first; then only whole axes and arrays are left.
    plain = [item if item is None or isinstance(item, slice) else slice(None) for item in key]
    tensor = getitem(tensor, tuple(plain))
    axes = [i for i, item in enumerate(key) if not (item is None or isinstance(item, slice))]
    arrays = broadcast_arrays(
        *[_from_start(as_tensor(key[axis]), tensor.shape[axis]) for axis in axes]
    )
    rest = [axis for axis in range(tensor.ndim) if axis not in axes]
    found = tf.gather_nd(
        tf.transpose(tensor, axes + rest),
        tf.stack([tf.cast(array, tf.int64) for array in arrays], axis=-1),
    )
    if axes != list(range(axes[0], axes[0] + len(axes))):
        return found
    # Arrays side by side: their axes come in their place.
    count = arrays[0].ndim
    order = [*range(count, count + axes[0]), *range(count), *range(count + axes[0], found.ndim)]
    return tf.transpose(found, order)


def _without_masks(key):
    """A mask as the positions where it holds, one array for each of its axes."""
    items = []
    for item in key:
        mask = as_tensor(item) if _is_array(item) else None
        if mask is None or not mask.dtype.is_bool:
            items.append(item)
        elif mask.ndim:
            items.extend(nonzero(mask))
        else:
            raise IndexError("A single truth value is no index here: use tf.boolean_mask.")
    return items


def _without_ellipsis(key, rank):
    """The key with a slice for each axis it says nothing of."""
    used = sum([item is not None and item is not Ellipsis for item in key])
    if used > rank:
        raise IndexError(f"too many indices: the tensor has {rank} dimensions, the key {used}")
    whole = [slice(None)] * (rank - used)
    for i, item in enumerate(key):
        if item is Ellipsis:
            return [*key[:i], *whole, *key[i + 1 :]]
    return [*key, *whole]


def _from_start(places, length):
    if not places.dtype.is_integer:
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return from_start(positions(places), length)
