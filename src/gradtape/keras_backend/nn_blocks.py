"""Images taken apart into blocks, and put together from them."""

import functools

import numpy as np

import gradtape as tf

from .core import convert_to_tensor
from .nn_pooling import per_axis, tf_data_format


@functools.lru_cache(maxsize=256)
def _places(height, width, kernel_size, dilation, stride):
    """Where in a flattened image each element of a window lies (rows), in each block (columns)."""
    lines = []
    for size, kernel, step, move in zip(
        (height, width), kernel_size, dilation, stride, strict=True
    ):
        starts = np.arange(0, size - step * (kernel - 1), move)
        lines.append(np.arange(kernel)[:, None] * step + starts)
    rows, columns = lines
    places = rows[:, None, :, None] * width + columns[None, :, None, :]
    return places.reshape(len(rows) * len(columns), -1)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """All blocks of images (batch, channels, height, width), as columns."""
    images = convert_to_tensor(input)
    above, left = per_axis(padding, 2)
    if above or left:
        images = tf.pad(images, [[0, 0], [0, 0], [above, above], [left, left]])
    batch, channels, height, width = tuple(images.shape)
    places = _places(
        height, width, per_axis(kernel_size, 2), per_axis(dilation, 2), per_axis(stride, 2)
    )
    flat = tf.reshape(images, [batch, channels, height * width])
    blocks = tf.gather(flat, places, axis=2)
    return tf.reshape(blocks, [batch, channels * len(places), places.shape[1]])


def fold(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Images from columns that are their blocks; where blocks overlap they are added."""
    blocks = convert_to_tensor(x)
    (rows, columns), (above, left) = per_axis(output_size, 2), per_axis(padding, 2)
    height, width = rows + 2 * above, columns + 2 * left
    places = _places(
        height, width, per_axis(kernel_size, 2), per_axis(dilation, 2), per_axis(stride, 2)
    )
    batch, channels = blocks.shape[0], blocks.shape[1] // len(places)
    elements = tf.transpose(tf.reshape(blocks, [batch * channels, places.size]))
    sums = tf.math.unsorted_segment_sum(elements, places.reshape(-1), height * width)
    images = tf.reshape(tf.transpose(sums), [batch, channels, height, width])
    return images[:, :, above : above + rows, left : left + columns]


def depth_to_space(x, block_size, data_format="channels_last"):
    return tf.nn.depth_to_space(convert_to_tensor(x), block_size, tf_data_format(data_format, 4))


def space_to_depth(x, block_size, data_format="channels_last"):
    return tf.nn.space_to_depth(convert_to_tensor(x), block_size, tf_data_format(data_format, 4))
