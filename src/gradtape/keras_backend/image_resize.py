"""Other sizes of images: resampled by TensorFlow's methods, or by any scale and translation."""

import numpy as np
from keras.src.backend.config import standardize_data_format

import gradtape as tf
from gradtape.experimental.numpy import sinc

from .core import cast, convert_to_tensor
from .floating import at_least_single
from .image_layout import channels_last, channels_restored, check_choice, check_rank

RESIZE_INTERPOLATIONS = ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic", "area")


def resize(
    images,
    size,
    interpolation="bilinear",
    antialias=False,
    crop_to_aspect_ratio=False,
    pad_to_aspect_ratio=False,
    fill_mode="constant",
    fill_value=0.0,
    data_format=None,
):
    """Images of another height and width; those of whole numbers become float32."""
    images = convert_to_tensor(images)
    data_format = standardize_data_format(data_format)
    check_choice("interpolation", interpolation, RESIZE_INTERPOLATIONS)
    if fill_mode != "constant":
        raise ValueError(
            "Invalid value for argument `fill_mode`. Only `'constant'` "
            f"is supported. Received: fill_mode={fill_mode}"
        )
    if pad_to_aspect_ratio and crop_to_aspect_ratio:
        raise ValueError(
            "Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`."
        )
    if len(size) != 2:
        raise ValueError(
            "Argument `size` must be a tuple of two elements "
            f"(height, width). Received: size={size}"
        )
    check_rank(images)
    size = tuple([int(each) for each in size])
    last = channels_last(images, data_format)
    if crop_to_aspect_ratio:
        last = _cropped(last, size)
    elif pad_to_aspect_ratio:
        last = _padded(last, size, fill_value)
    resized = tf.image.resize(last, size, method=interpolation, antialias=antialias)
    if images.dtype.is_floating:
        resized = cast(resized, images.dtype)
    return channels_restored(resized, data_format)


def _in_proportion(images, size):
    """Height and width, and what each would be next to the other in the proportions of `size`."""
    height, width = images.shape[-3], images.shape[-2]
    return height, width, int(width * size[0] / size[1]), int(height * size[1] / size[0])


def _cropped(images, size):
    """The largest part in the middle of images that has the proportions of `size`."""
    height, width, fitting_height, fitting_width = _in_proportion(images, size)
    height_kept = max(min(height, fitting_height), 1)
    width_kept = max(min(width, fitting_width), 1)
    top, left = (height - height_kept) // 2, (width - width_kept) // 2
    return images[..., top : top + height_kept, left : left + width_kept, :]


def _padded(images, size, fill_value):
    """Images in the middle of a frame with the proportions of `size`."""
    height, width, fitting_height, fitting_width = _in_proportion(images, size)
    vertical = (max(height, fitting_height) - height) // 2
    horizontal = (max(width, fitting_width) - width) // 2
    paddings = [[vertical, vertical], [horizontal, horizontal], [0, 0]]
    if images.shape.rank == 4:
        paddings = [[0, 0], *paddings]
    fill_value = convert_to_tensor(fill_value, images.dtype.name)
    return tf.pad(images, paddings, constant_values=fill_value)


# Scale and translation ----------------------------------------------------------------------------


def _triangle(distance):
    return tf.maximum(1 - distance, tf.zeros_like(distance))


def _cubic(distance):
    """Keys's cubic convolution kernel, whose two parts are 0 at 1."""
    near = 1 + distance - 1.5 * tf.square(distance)
    far = 0.5 * tf.square(_triangle(distance - 1))
    return (1 - distance) * tf.where(distance < 1, near, far)


def _lanczos(radius):
    """The sinc function, in a window that is a wider one."""

    def kernel(distance):
        found = sinc(distance) * sinc(distance / radius)
        return tf.where(distance < radius, found, tf.zeros_like(found))

    return kernel


_KERNELS = {
    "linear": _triangle,
    "bilinear": _triangle,
    "trilinear": _triangle,
    "cubic": _cubic,
    "bicubic": _cubic,
    "tricubic": _cubic,
    "lanczos3": _lanczos(3.0),
    "lanczos5": _lanczos(5.0),
}
SCALE_AND_TRANSLATE_METHODS = set(_KERNELS)


# A sum of weights this near to 0 is one of rounding errors.
_NO_WEIGHT = 1000 * float(np.finfo("float32").eps)


def scale_and_translate(
    images, output_shape, scale, translation, spatial_dims, method, antialias=True
):
    """Images drawn larger by `scale` and moved by `translation` along each of `spatial_dims`."""
    check_choice("method", method, SCALE_AND_TRANSLATE_METHODS)
    images = convert_to_tensor(images)
    scale, translation = convert_to_tensor(scale), convert_to_tensor(translation)
    if not len(spatial_dims):
        return images
    dtype = at_least_single(scale, translation)
    scale, translation = cast(scale, dtype), cast(translation, dtype)
    is_whole = not images.dtype.is_floating
    found = cast(images, "float32") if is_whole else images
    for which, axis in enumerate(spatial_dims):
        axis = axis % images.shape.rank
        weights = _resampling_weights(
            images.shape[axis],
            output_shape[axis],
            scale[which],
            translation[which],
            _KERNELS[method],
            antialias,
        )
        found = tf.tensordot(found, cast(weights, found.dtype), [[axis], [0]])
        # The product has the new axis last.
        order = list(range(images.shape.rank - 1))
        order.insert(axis, images.shape.rank - 1)
        found = tf.transpose(found, order)
    if is_whole:
        limits = [cast(limit(images), found.dtype) for limit in (tf.reduce_min, tf.reduce_max)]
        found = cast(tf.clip_by_value(tf.round(found), *limits), images.dtype)
    return found


def _resampling_weights(size, new_size, scale, translation, kernel, antialias):
    """What each pixel along an axis (rows) adds to each new one (columns)."""
    # Where the centres of the new pixels lie among the old ones.
    centres = (tf.range(new_size, dtype=scale.dtype) + 0.5 - translation) / scale - 0.5
    distances = tf.abs(tf.range(size, dtype=scale.dtype)[:, None] - centres)
    if antialias:  # a smaller image: each pixel is an average of several
        distances *= tf.minimum(scale, 1)
    weights = kernel(distances)
    total = tf.reduce_sum(weights, axis=0)
    is_inside = tf.abs(centres - (size - 1) / 2) <= size / 2
    counts = is_inside & (tf.abs(total) > _NO_WEIGHT)
    return tf.where(counts, weights / tf.where(counts, total, 1), 0)
