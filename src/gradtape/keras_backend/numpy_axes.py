"""The axes that functions of arrays are told, and dtypes that hold sums along them."""

from keras.src.backend.common.backend_utils import canonicalize_axis

import gradtape as tf

from .numpy_promotion import dense

_WIDER = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}


def widened(x):
    """A tensor in the dtype that sums and products of many elements have."""
    x = dense(x)
    wider = _WIDER.get(x.dtype.name)
    return x if wider is None else tf.cast(x, wider)


def at_least_32_bits(x):
    """A floating tensor in a dtype that holds sums of its elements."""
    return tf.cast(x, "float32") if x.dtype.name in ("float16", "bfloat16") else x


def axes_of(axis, rank):
    """The axes as a list of places from the front; all of them if `axis` is None."""
    if axis is None:
        return list(range(rank))
    axes = axis if isinstance(axis, (list, tuple)) else [axis]
    return [canonicalize_axis(each, rank) for each in axes]


def flat_if_none(x, axis):
    """A tensor and the axis to go along, which is the only one of all elements if it is None."""
    return (tf.reshape(x, [-1]), 0) if axis is None else (x, canonicalize_axis(axis, x.shape.rank))
