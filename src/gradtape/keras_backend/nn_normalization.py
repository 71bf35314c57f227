"""Moments, and normalisation by them."""

import gradtape as tf

from .core import cast, convert_to_tensor

_NARROW = ("float16", "bfloat16")


def moments(x, axes, keepdims=False, synchronized=False):
    """The mean and the variance along axes; there is one replica, in step with itself."""
    x = convert_to_tensor(x)
    name = x.dtype.name
    if name not in _NARROW:
        return tf.nn.moments(x, axes, keepdims=keepdims)
    mean, variance = tf.nn.moments(cast(x, "float32"), axes, keepdims=keepdims)
    return _narrowed(mean, name), _narrowed(variance, name)


def _narrowed(x, dtype):
    """`x` in `dtype`, with what float16 has no number for at the end of its range."""
    return cast(tf.clip_by_value(x, tf.float16.min, tf.float16.max), dtype)


def batch_normalization(x, mean, variance, axis, offset=None, scale=None, epsilon=1e-3):
    x = convert_to_tensor(x)
    shape = [1] * x.shape.rank
    shape[axis] = mean.shape[0]
    last = axis in (-1, x.shape.rank - 1)

    def along_axis(value):
        if value is None:
            return None
        value = convert_to_tensor(value)
        return value if last else tf.reshape(value, shape)

    return tf.nn.batch_normalization(
        x,
        along_axis(mean),
        along_axis(variance),
        along_axis(offset),
        along_axis(scale),
        epsilon,
    )
