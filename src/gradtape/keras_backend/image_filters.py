"""Filters: each pixel becomes a weighted sum of those around it."""

from keras.src.backend.config import standardize_data_format

import gradtape as tf

from .core import cast, convert_to_tensor
from .floating import floating
from .image_layout import channels_last, check_rank, on_batch


def gaussian_blur(images, kernel_size=(3, 3), sigma=(1.0, 1.0), data_format=None):
    """The mean of the pixels around each, weighted by a bell curve.

    Args:
        images: one image or a batch.
        kernel_size: the width and the height of what is averaged.
        sigma: the widths of the bell curve along these, numbers or a tensor.
        data_format: where the channels are.
    """
    images = convert_to_tensor(images)
    check_rank(images)
    pixels = floating(images)
    dtype = pixels.dtype
    sigma = convert_to_tensor(sigma, dtype)
    across, down = [_bell(int(size), sigma[which], dtype) for which, size in enumerate(kernel_size)]
    kernel = tf.tensordot(down, across, axes=0)

    def blur(batch):
        filters = tf.tile(kernel[:, :, None, None], [1, 1, batch.shape[-1], 1])
        return tf.nn.depthwise_conv2d(batch, filters, [1, 1, 1, 1], "SAME")

    return cast(on_batch(blur, pixels, data_format), images.dtype)


def _bell(size, sigma, dtype):
    distances = tf.range(size, dtype=dtype) - convert_to_tensor((size - 1) / 2, dtype)
    # A softmax divides exponentials by their sum.
    return tf.nn.softmax(-0.5 * tf.square(distances / sigma))


def sobel_edges(images, data_format=None):
    """How fast a batch of images changes downwards and to the right, on a last axis of two."""
    images = convert_to_tensor(images)
    data_format = standardize_data_format(data_format)
    edges = tf.image.sobel_edges(channels_last(floating(images), data_format))
    if data_format == "channels_first":
        edges = tf.transpose(edges, [0, 3, 1, 2, 4])
    return cast(edges, images.dtype)
