"""Arrays made longer at both ends of their axes."""

from typing import Any

import numpy as np

import gradtape as tf

from .core import cast, convert_to_tensor
from .numpy_promotion import dense
from .numpy_quantile import median

# Padding with elements of the tensor itself, which NumPy finds by their places.
_PLACES: dict[str, Any] = {
    "edge": "edge",
    "reflect": "reflect",
    "symmetric": "symmetric",
    "wrap": "wrap",
    "circular": "wrap",
}
# Padding with one value for each line along an axis.
_SUMMARIES = {
    "maximum": tf.reduce_max,
    "minimum": tf.reduce_min,
    "mean": tf.reduce_mean,
    "median": median,
}


def pad(x, pad_width, mode="constant", constant_values=None):
    x = dense(x)
    widths = np.broadcast_to(np.asarray(pad_width), (x.shape.rank, 2)).tolist()
    if mode in ("constant", "empty"):
        fill = 0 if constant_values is None else constant_values
        return tf.pad(x, widths, constant_values=convert_to_tensor(fill, x.dtype.name))
    if constant_values is not None:
        raise ValueError(
            "Argument `constant_values` can only be provided when `mode == 'constant'`. "
            f"Received: mode={mode}"
        )
    for axis, width in enumerate(widths):
        if any(width):
            x = _padded(x, axis, width, mode)
    return x


def _padded(x, axis, width, mode):
    if mode in _PLACES:
        places = np.pad(np.arange(x.shape[axis]), width, mode=_PLACES[mode])
        return tf.gather(x, places, axis=axis)
    if mode in _SUMMARIES:
        value = _SUMMARIES[mode](_floats(x, mode), axis=axis, keepdims=True)
        value = _in_dtype(value, x.dtype)
        return tf.concat(
            [tf.repeat(value, width[0], axis), x, tf.repeat(value, width[1], axis)], axis
        )
    if mode == "linear_ramp":
        first, last = tf.gather(x, [0], axis=axis), tf.gather(x, [x.shape[axis] - 1], axis=axis)
        before, after = [np.arange(count) / max(count, 1) for count in width]
        return tf.concat([_ramp(first, before, axis), x, _ramp(last, after[::-1], axis)], axis)
    raise ValueError(
        f"Invalid value for argument `mode`. Expected one of {_modes()}. Received: mode={mode}"
    )


def _modes():
    return ["constant", "empty", "linear_ramp", *_PLACES, *_SUMMARIES]


def _floats(x, mode):
    return cast(x, "float64") if mode in ("mean", "median") and x.dtype.is_integer else x


def _ramp(edge, shares, axis):
    """So much of the values at an edge, down to none."""
    shape = [1] * edge.shape.rank
    shape[axis] = -1
    if not edge.dtype.is_integer:
        return edge * tf.constant(shares.reshape(shape), edge.dtype)
    return cast(tf.floor(cast(edge, "float64") * shares.reshape(shape)), edge.dtype)


def _in_dtype(x, dtype):
    return tf.cast(tf.round(x), dtype) if dtype.is_integer and x.dtype != dtype else x
