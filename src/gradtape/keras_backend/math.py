"""Segment reductions, rankings, distances and special functions, as Keras names them."""

from keras.src.backend.common import dtypes

import gradtape as tf

from .core import cast, convert_to_tensor
from .floating import floating
from .math_signal import (
    complex_of_parts,
    extract_sequences,
    fft,
    fft2,
    ifft2,
    irfft,
    istft,
    rfft,
    stft,
)
from .numpy_counting import histogram

__all__ = [
    "cdist",
    "erf",
    "erfc",
    "erfinv",
    "extract_sequences",
    "fft",
    "fft2",
    "histogram",
    "ifft2",
    "in_top_k",
    "irfft",
    "istft",
    "logdet",
    "logsumexp",
    "rfft",
    "rsqrt",
    "segment_max",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "stft",
    "top_k",
]

# The name by which `keras.ops.polar` asks for it.
_get_complex_tensor_from_tuple = complex_of_parts


# Segments -----------------------------------------------------------------------------------------


def segment_sum(data, segment_ids, num_segments=None, sorted=False):
    return _segments(tf.math.unsorted_segment_sum, data, segment_ids, num_segments)


def segment_prod(data, segment_ids, num_segments=None, sorted=False):
    return _segments(tf.math.unsorted_segment_prod, data, segment_ids, num_segments)


def segment_max(data, segment_ids, num_segments=None, sorted=False):
    found = _segments(tf.math.unsorted_segment_max, data, segment_ids, num_segments)
    return _fill_empty(found, segment_ids, float("-inf"))


def segment_min(data, segment_ids, num_segments=None, sorted=False):
    found = _segments(tf.math.unsorted_segment_min, data, segment_ids, num_segments)
    return _fill_empty(found, segment_ids, float("inf"))


def _segments(reduction, data, segment_ids, num_segments):
    """A reduction over rows with equal ids; those with a negative one take no part."""
    segment_ids = convert_to_tensor(segment_ids)
    if num_segments is None:
        num_segments = tf.cast(tf.reduce_max(segment_ids) + 1, "int32")
    return reduction(convert_to_tensor(data), segment_ids, num_segments)


def _fill_empty(reduced, segment_ids, value):
    """Infinities for segments without rows, where the dtype has them (TensorFlow: the limits)."""
    if not reduced.dtype.is_floating:
        return reduced
    segment_ids = convert_to_tensor(segment_ids)
    rows = tf.math.unsorted_segment_sum(tf.ones_like(segment_ids), segment_ids, reduced.shape[0])
    is_empty = tf.reshape(rows == 0, [-1] + [1] * (reduced.shape.rank - 1))
    return tf.where(is_empty, tf.constant(value, reduced.dtype), reduced)


# Rankings -----------------------------------------------------------------------------------------


def top_k(x, k, sorted=True):
    found = tf.math.top_k(convert_to_tensor(x), k, sorted=sorted)
    return found.values, found.indices


def in_top_k(targets, predictions, k):
    """Whether fewer than `k` predictions exceed the one at the target."""
    targets, predictions = convert_to_tensor(targets), convert_to_tensor(predictions)
    last = predictions.shape[-1] - 1
    inside = tf.expand_dims((targets >= 0) & (targets <= last), -1)
    index = tf.expand_dims(tf.clip_by_value(targets, 0, last), -1)
    chosen = tf.gather(predictions, index, axis=-1, batch_dims=targets.shape.rank)
    # What is no number, or no class, is not among the largest.
    chosen = tf.where(inside & ~tf.math.is_nan(chosen), chosen, float("-inf"))
    exceeding = tf.reduce_sum(tf.cast(predictions > chosen, "int32"), axis=-1)
    return exceeding < k


# Functions ----------------------------------------------------------------------------------------


def logsumexp(x, axis=None, keepdims=False):
    return tf.reduce_logsumexp(floating(x), axis=axis, keepdims=keepdims)


def cdist(x, y):
    """The distances of every row of `x` from every row of `y`."""
    x, y = floating(x), floating(y)
    if x.shape.rank < 2 or y.shape.rank < 2:
        raise ValueError("`cdist` inputs must have rank >= 2")
    if x.shape[-1] != y.shape[-1]:
        raise ValueError("Last dimension of inputs to `cdist` must match")
    if x.dtype != y.dtype:
        dtype = dtypes.result_type(x.dtype.name, y.dtype.name)
        x, y = cast(x, dtype), cast(y, dtype)
    return tf.norm(tf.expand_dims(x, -2) - tf.expand_dims(y, -3), axis=-1)


def rsqrt(x):
    return tf.math.rsqrt(floating(x))


def erf(x):
    return tf.math.erf(floating(x))


def erfc(x):
    return tf.math.erfc(floating(x))


def erfinv(x):
    return tf.math.erfinv(floating(x))


def logdet(x):
    return tf.linalg.slogdet(floating(x)).log_abs_determinant
