"""Images in the one layout that operations work on: a batch, channels last."""

from keras.src.backend.config import standardize_data_format

import gradtape as tf


def check_rank(images):
    if len(images.shape) not in (3, 4):
        raise ValueError(
            "Invalid images rank: expected rank 3 (single image) "
            "or rank 4 (batch of images). Received input with shape: "
            f"images.shape={images.shape}"
        )


def check_choice(name, value, choices):
    if value not in choices:
        raise ValueError(
            f"Invalid value for argument `{name}`. Expected of one {choices}. "
            f"Received: {name}={value}"
        )


def channels_last(images, data_format):
    """Images, one or a batch, with their channels last."""
    if data_format == "channels_last":
        return images
    return tf.transpose(images, [0, 2, 3, 1] if images.shape.rank == 4 else [1, 2, 0])


def channels_restored(images, data_format):
    """What `channels_last` did, undone."""
    if data_format == "channels_last":
        return images
    return tf.transpose(images, [0, 3, 1, 2] if images.shape.rank == 4 else [2, 0, 1])


def on_batch(operation, images, data_format):
    """What an operation on a batch with channels last makes of images in any layout."""
    data_format = standardize_data_format(data_format)
    is_single = images.shape.rank == 3
    batch = channels_last(tf.expand_dims(images, 0) if is_single else images, data_format)
    found = channels_restored(operation(batch), data_format)
    return tf.squeeze(found, 0) if is_single else found
