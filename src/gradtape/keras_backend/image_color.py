"""Colours of images: grey, and hue, saturation and value."""

from keras.src.backend.config import standardize_data_format

import gradtape as tf

from .core import cast, convert_to_tensor
from .floating import floating
from .image_layout import channels_last, channels_restored, check_rank

# What each of red, green and blue adds to brightness.
_BRIGHTNESS = [0.2989, 0.5870, 0.1140]


def rgb_to_grayscale(images, data_format=None):
    images = convert_to_tensor(images)
    channels_axis = -1 if standardize_data_format(data_format) == "channels_last" else -3
    check_rank(images)
    channels = images.shape[channels_axis]
    if channels not in (1, 3):
        raise ValueError(
            "Invalid channel size: expected 3 (RGB) or 1 (Grayscale). "
            f"Received input with shape: images.shape={images.shape}"
        )
    if channels == 1:
        return tf.identity(images)
    colours = floating(images)
    brightness = convert_to_tensor(_BRIGHTNESS, colours.dtype)
    grey = tf.tensordot(colours, brightness, [[channels_axis], [0]])
    return cast(tf.expand_dims(grey, channels_axis), images.dtype)


def rgb_to_hsv(images, data_format=None):
    return _between_colours(tf.image.rgb_to_hsv, images, data_format)


def hsv_to_rgb(images, data_format=None):
    return _between_colours(tf.image.hsv_to_rgb, images, data_format)


def _between_colours(conversion, images, data_format):
    images = convert_to_tensor(images)
    data_format = standardize_data_format(data_format)
    check_rank(images)
    if not images.dtype.is_floating:
        raise ValueError(
            "Invalid images dtype: expected float dtype. "
            f"Received: images.dtype={images.dtype.name}"
        )
    return channels_restored(conversion(channels_last(images, data_format)), data_format)
