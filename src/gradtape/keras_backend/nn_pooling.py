"""Pools: of windows of one size, and of as many windows as are asked for."""

import functools

import numpy as np
from keras.src.backend.config import standardize_data_format

import gradtape as tf

from .core import convert_to_tensor

_LAST = {3: "NWC", 4: "NHWC", 5: "NDHWC"}
_FIRST = {3: "NCW", 4: "NCHW", 5: "NCDHW"}


def tf_data_format(data_format, rank):
    """TensorFlow's name of a data format."""
    names = _LAST if data_format == "channels_last" else _FIRST
    if rank not in names:
        raise ValueError(f"Input rank not supported: {rank}. Expected values are [3, 4, 5]")
    return names[rank]


def per_axis(value, count):
    """A number for each of `count` axes, from one for all or one for each."""
    return (value,) * count if isinstance(value, int) else tuple(value)


# Windows of one size ------------------------------------------------------------------------------


def _pool(function, inputs, pool_size, strides, padding, data_format):
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding '{padding}', must be 'same' or 'valid'.")
    inputs = convert_to_tensor(inputs)
    rank = inputs.shape.rank
    window = per_axis(pool_size, rank - 2)
    steps = window if strides is None else per_axis(strides, rank - 2)
    data_format = tf_data_format(standardize_data_format(data_format), rank)
    return function(inputs, window, steps, padding.upper(), data_format)


def max_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    return _pool(tf.nn.max_pool, inputs, pool_size, strides, padding, data_format)


def average_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    return _pool(tf.nn.avg_pool, inputs, pool_size, strides, padding, data_format)


# A number of windows ------------------------------------------------------------------------------


@functools.lru_cache(maxsize=256)
def _window_members(size, count):
    """For each of `count` windows that cover an axis: its elements, and their weights in a mean.

    Windows differ in length by one at most. Those shorter than the longest name their last element
    again, with weight 0.
    """
    starts = np.arange(count) * size // count
    ends = -(-np.arange(1, count + 1) * size // count)
    places = starts[:, None] + np.arange((ends - starts).max())
    members = np.minimum(places, ends[:, None] - 1)
    weights = (places < ends[:, None]) / (ends - starts)[:, None]
    return members, weights


def _adaptive_pool(name, plain_pool, pool_axis, inputs, output_size, data_format):
    inputs = convert_to_tensor(inputs)
    data_format = standardize_data_format(data_format)
    axes = inputs.shape.rank - 2
    if not 1 <= axes <= 3:
        raise ValueError(f"{name} supports only 1D/2D/3D inputs")
    first_axis = 1 if data_format == "channels_last" else 2
    counts = per_axis(output_size, axes)
    sizes = tuple(inputs.shape)[first_axis : first_axis + axes]
    if not any([size % count for size, count in zip(sizes, counts, strict=True)]):
        window = tuple([size // count for size, count in zip(sizes, counts, strict=True)])
        return plain_pool(inputs, window, window, "valid", data_format)
    for axis, (size, count) in enumerate(zip(sizes, counts, strict=True), first_axis):
        if size != count:
            inputs = pool_axis(inputs, axis, *_window_members(size, count))
    return inputs


def _average_axis(x, axis, members, weights):
    parts = tf.gather(x, members, axis=axis)
    shape = (*weights.shape, *[1] * (x.shape.rank - axis - 1))
    return tf.reduce_sum(parts * tf.constant(weights.reshape(shape), x.dtype), axis=axis + 1)


def _max_axis(x, axis, members, weights):
    return tf.reduce_max(tf.gather(x, members, axis=axis), axis=axis + 1)


def adaptive_average_pool(inputs, output_size, data_format=None):
    return _adaptive_pool(
        "adaptive_average_pool", average_pool, _average_axis, inputs, output_size, data_format
    )


def adaptive_max_pool(inputs, output_size, data_format=None):
    return _adaptive_pool(
        "adaptive_max_pool", max_pool, _max_axis, inputs, output_size, data_format
    )
