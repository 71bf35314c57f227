"""Cross-entropies, and the ratio of signal to noise."""

import math
import warnings

from keras.src.backend.config import epsilon

import gradtape as tf

from .core import cast, convert_to_tensor
from .nn_activations import floating


def _shapes(target, output):
    return f"target.shape={tuple(target.shape)}, output.shape={tuple(output.shape)}"


def _check_same_shape(target, output):
    if target.shape.rank != output.shape.rank:
        raise ValueError(
            "Arguments `target` and `output` must have the same rank (ndim). Received: "
            + _shapes(target, output)
        )
    if tuple(target.shape) != tuple(output.shape):
        raise ValueError(
            "Arguments `target` and `output` must have the same shape. Received: "
            + _shapes(target, output)
        )


def _logits(output, from_logits, kind, axis, name):
    """The logits of `output`, and whether they are known."""
    found = getattr(output, "_from_logits", None)
    # Of another activation, or along another axis, the logits are no logits of these.
    if found is None or found[0] != kind or found[2] != axis:
        return output, from_logits
    if from_logits:
        warnings.warn(
            f"`{name}` received `from_logits=True`, but the `output` argument was produced by a "
            f"{kind} activation and thus does not represent logits. Was this intended?",
            stacklevel=3,
        )
    return found[1], True


def _clipped(probabilities):
    return tf.clip_by_value(probabilities, epsilon(), 1 - epsilon())


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    target, output = convert_to_tensor(target), convert_to_tensor(output)
    if target.shape.rank < 1:
        raise ValueError(
            "Arguments `target` and `output` must be at least rank 1. Received: "
            + _shapes(target, output)
        )
    _check_same_shape(target, output)
    axis %= output.shape.rank
    output, from_logits = _logits(output, from_logits, "Softmax", axis, "categorical_crossentropy")
    target = cast(target, output.dtype)
    if from_logits:
        return tf.nn.softmax_cross_entropy_with_logits(target, output, axis=axis)
    probabilities = _clipped(output / tf.reduce_sum(output, axis, keepdims=True))
    return -tf.reduce_sum(target * tf.math.log(probabilities), axis)


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    target, output = convert_to_tensor(target, dtype="int64"), convert_to_tensor(output)
    rank = output.shape.rank
    if rank < 1:
        raise ValueError(
            "Argument `output` must be at least rank 1. Received: "
            f"output.shape={tuple(output.shape)}"
        )
    if target.shape.rank == rank and target.shape[-1] == 1:
        target = tf.squeeze(target, [-1])
    axis %= rank
    name = "sparse_categorical_crossentropy"
    output, from_logits = _logits(output, from_logits, "Softmax", axis, name)
    if axis != rank - 1:
        output = tf.transpose(output, [*range(axis), *range(axis + 1, rank), axis])
    if tuple(target.shape) != tuple(output.shape)[:-1]:
        raise ValueError(
            "Arguments `target` and `output` must have the same shape up until the last "
            "dimension: " + _shapes(target, output)
        )
    if not from_logits:
        # The softmax of logarithms divides by the sum of what they are of.
        output = tf.math.log(_clipped(output))
    return tf.nn.sparse_softmax_cross_entropy_with_logits(target, output)


def binary_crossentropy(target, output, from_logits=False):
    target, output = convert_to_tensor(target), convert_to_tensor(output)
    _check_same_shape(target, output)
    output, from_logits = _logits(output, from_logits, "Sigmoid", None, "binary_crossentropy")
    target = cast(target, output.dtype)
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(target, output)
    output = _clipped(output)
    return -(target * tf.math.log(output) + (1 - target) * tf.math.log(1 - output))


def psnr(x1, x2, max_val):
    """The peak signal-to-noise ratio of two images, in decibels."""
    x1, x2 = floating(x1), floating(x2)
    if tuple(x1.shape) != tuple(x2.shape):
        raise ValueError(
            f"Input shapes {tuple(x1.shape)} and {tuple(x2.shape)} must match for PSNR calculation."
        )
    peak = convert_to_tensor(max_val, dtype=x2.dtype)
    noise = tf.reduce_mean(tf.square(x1 - x2))
    return (2 * tf.math.log(peak) - tf.math.log(noise)) * (10 / math.log(10))
