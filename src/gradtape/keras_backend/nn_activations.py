"""Activations."""

from keras.src.backend.config import floatx

import gradtape as tf

from .core import cast, convert_to_tensor


def floating(x):
    """`x` as a tensor; whole numbers become Keras's default floats."""
    x = convert_to_tensor(x)
    return x if x.dtype.is_floating or x.dtype.is_complex else cast(x, floatx())


# Rectifiers ---------------------------------------------------------------------------------------


def relu(x):
    return tf.nn.relu(convert_to_tensor(x))


def relu6(x):
    return tf.nn.relu6(convert_to_tensor(x))


def leaky_relu(x, negative_slope=0.2):
    return tf.nn.leaky_relu(floating(x), alpha=negative_slope)


def elu(x, alpha=1.0):
    x = floating(x)
    if alpha == 1:
        return tf.nn.elu(x)
    # Only what is below 0 is scaled.
    return tf.nn.relu(x) + alpha * tf.nn.elu(tf.minimum(x, 0))


def selu(x):
    return tf.nn.selu(floating(x))


def celu(x, alpha=1.0):
    x = floating(x)
    return tf.nn.relu(x) + alpha * tf.math.expm1(tf.minimum(x, 0) / alpha)


def gelu(x, approximate=True):
    return tf.nn.gelu(floating(x), approximate=approximate)


def silu(x):
    return tf.nn.silu(floating(x))


def softplus(x):
    return tf.nn.softplus(floating(x))


def squareplus(x, b=4):
    x = floating(x)
    return (x + tf.sqrt(tf.square(x) + b)) / 2


def sparse_plus(x):
    """0 up to -1, `x` from 1 on, and a parabola that joins them."""
    x = floating(x)
    return tf.where(x < 1, tf.square(tf.maximum(x, -1) + 1) / 4, x)


# Squashes -----------------------------------------------------------------------------------------


def remember_logits(output, kind, logits, axis=None):
    """Notes what probabilities were computed of, for losses that are more exact with logits."""
    output._from_logits = (kind, logits, axis)
    return output


def sigmoid(x):
    x = floating(x)
    return remember_logits(tf.nn.sigmoid(x), "Sigmoid", x)


def log_sigmoid(x):
    return tf.math.log_sigmoid(floating(x))


def hard_sigmoid(x):
    return tf.nn.relu6(floating(x) + 3) / 6


def hard_silu(x):
    x = floating(x)
    return x * hard_sigmoid(x)


def sparse_sigmoid(x):
    return (tf.clip_by_value(floating(x), -1, 1) + 1) / 2


def tanh(x):
    return tf.nn.tanh(floating(x))


def hard_tanh(x):
    return tf.clip_by_value(floating(x), -1, 1)


def softsign(x):
    return tf.nn.softsign(floating(x))


def glu(x, axis=-1):
    x = floating(x)
    if x.shape[axis] % 2:
        raise ValueError(
            f"axis size must be divisible by 2. Received: x.shape={tuple(x.shape)} with axis={axis}"
        )
    values, gates = tf.split(x, 2, axis=axis)
    return values * tf.nn.sigmoid(gates)


# Shrinkage ----------------------------------------------------------------------------------------


def tanh_shrink(x):
    x = floating(x)
    return x - tf.nn.tanh(x)


def soft_shrink(x, threshold=0.5):
    x = floating(x)
    return x - tf.clip_by_value(x, -threshold, threshold)


def hard_shrink(x, threshold=0.5):
    x = floating(x)
    return tf.where(tf.abs(x) > threshold, x, tf.zeros_like(x))


def threshold(x, threshold, default_value):
    x = floating(x)
    return tf.where(x > threshold, x, convert_to_tensor(default_value, x.dtype))


# Distributions ------------------------------------------------------------------------------------


def _along_all(function, x):
    """`function` along the last axis of `x` made flat."""
    return tf.reshape(function(tf.reshape(x, [-1])), x.shape)


def softmax(x, axis=-1):
    x = floating(x)
    if axis is None:
        return _along_all(tf.nn.softmax, x)
    return remember_logits(tf.nn.softmax(x, axis=axis), "Softmax", x, axis % x.shape.rank)


def log_softmax(x, axis=-1):
    x = floating(x)
    return _along_all(tf.nn.log_softmax, x) if axis is None else tf.nn.log_softmax(x, axis=axis)


def sparsemax(x, axis=-1):
    """`x` less a level below which everything is 0: Keras's sparsemax, the same on any backend."""
    x = floating(x)
    rows = tf.experimental.numpy.moveaxis(x, axis, -1)
    descending = tf.sort(rows, direction="DESCENDING")
    sums = tf.cumsum(descending, -1)
    stays = 1 + tf.range(1, x.shape[axis] + 1, dtype=x.dtype) * descending > sums
    # All sums of those that stay are added up, where the projection on the simplex takes the last.
    total = tf.reduce_sum(tf.where(stays, sums, tf.zeros_like(sums)), -1, keepdims=True)
    level = (total - 1) / tf.math.count_nonzero(stays, -1, keepdims=True, dtype=x.dtype)
    return tf.experimental.numpy.moveaxis(tf.nn.relu(rows - level), -1, axis)
