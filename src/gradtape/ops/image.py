"""Images: contrast, brightness, dtype conversion, mirror images and grey levels."""

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dispatch import apply
from ..core.dtypes import FLOATING, as_dtype, float32
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arithmetic import add, mul, sub
from .broadcasting import broadcast_to, not_allowed, reshape, words
from .casting import cast, cast_row, saturate_cast
from .contraction import tensordot
from .families import dtype_of, shape_of, unregistered
from .numerics import in_float32
from .permutation import reverse
from .pointwise import dtype_mismatch
from .reduction import mean

_HEIGHT_AND_WIDTH = (-3, -2)


def _infer_adjust_contrast(images, contrast_factor):
    name = "AdjustContrastv2"
    if images.dtype not in FLOATING:
        raise not_allowed(name, images.dtype, FLOATING)
    if contrast_factor.dtype != np.float32:
        raise dtype_mismatch(name, 1, np.dtype(np.float32), contrast_factor.dtype)
    if len(images.shape) < 3:
        raise invalid_argument(name, f"input must be at least 3-D, got shape{words(images.shape)}")
    if contrast_factor.shape:
        raise invalid_argument(
            name, f"contrast_factor must be scalar: {words(contrast_factor.shape)}"
        )
    return Spec(images.shape, images.dtype)


@in_float32
def _adjust_contrast(images, contrast_factor):
    dtype = images.dtype
    *batch, height, width, channels = images.shape
    # Whole rows of pixels at a time: NumPy is slow along an axis as short as the channels.
    rows = images.reshape(*batch, height, width * channels)
    total = np.add.reduce(rows, axis=-2).reshape(*batch, width, channels)
    average = np.add.reduce(total, axis=-2) / dtype.type(height * width)
    average = np.tile(average, width)[..., None, :]
    adjusted = rows - average
    adjusted *= dtype.type(contrast_factor)
    adjusted += average
    return adjusted.reshape(images.shape)


def _batch_adjust_contrast(op, values, flags, attrs):
    images, factor = values
    if not flags[1]:
        return op.call(images, factor)
    rank = len(shape_of(images)) - flags[0]
    factor = cast_row(factor, dtype=dtype_of(images))
    factor = reshape(factor, shape=(*shape_of(factor), *(1,) * rank))
    average = mean(images, axis=_HEIGHT_AND_WIDTH, keepdims=True)
    return add(mul(sub(images, average), factor), average)


# TensorFlow has no gradient for this op: until the user registers one, asking is an error.
adjust_contrast_row = unregistered(
    "AdjustContrastv2",
    _adjust_contrast,
    inputs="images contrast_factor",
    infer=_infer_adjust_contrast,
    batch=_batch_adjust_contrast,
)


def _as_floats(image):
    """A floating image itself; of integers, fractions of their largest value."""
    return image if image.dtype.is_floating else convert_image_dtype(image, float32)


@export("image.adjust_contrast")
def adjust_contrast(images, contrast_factor):
    """Moves pixels away from each channel's mean, or towards it.

    Args:
        images: a tensor of shape [..., height, width, channels].
        contrast_factor: the factor for distances from the mean, a scalar.

    Raises:
        AttributeError: the dtype is neither floating nor integer.
        InvalidArgumentError: there are fewer than three axes, or the factor is not a scalar.
    """
    images = convert_to_tensor(images)
    if not hasattr(contrast_factor, "_dispatch_level"):
        contrast_factor = convert_to_tensor(contrast_factor, float32)
    adjusted = apply(adjust_contrast_row.op, (_as_floats(images), contrast_factor))
    return convert_image_dtype(adjusted, images.dtype, saturate=True)


@export("image.adjust_brightness")
def adjust_brightness(image, delta):
    """Adds `delta` to each pixel; those of integers count as fractions of their largest value."""
    image = convert_to_tensor(image)
    floats = _as_floats(image)
    return convert_image_dtype(floats + cast(delta, dtype_of(floats)), image.dtype, saturate=True)


@export("image.convert_image_dtype")
def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Converts an image to another dtype, scaling its values.

    Floating images have values from 0 to 1, integer images from 0 to the dtype's largest value.

    Args:
        image: the image.
        dtype: a floating or integer dtype.
        saturate: whether to clamp values outside the new dtype's range.

    Raises:
        AttributeError: one of the dtypes is neither floating nor integer.
    """
    image = convert_to_tensor(image)
    dtype = as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_integer):
        raise AttributeError(f"dtype must be either floating point or integer. Received: {dtype!r}")
    if not (image.dtype.is_floating or image.dtype.is_integer):
        raise AttributeError(
            f"image dtype must be either floating point or integer. Received: {image.dtype!r}"
        )
    if image.dtype is dtype:
        return image
    convert = saturate_cast if saturate else cast
    if image.dtype.is_floating:
        return (
            cast(image, dtype) if dtype.is_floating else convert(image * (dtype.max + 0.5), dtype)
        )
    if dtype.is_floating:
        return mul(cast(image, dtype), 1.0 / image.dtype.max)
    if image.dtype.max > dtype.max:
        return convert(image // ((image.dtype.max + 1) // (dtype.max + 1)), dtype)
    return convert(image, dtype) * ((dtype.max + 1) // (image.dtype.max + 1))


def _mirrored(image, axis):
    """One image, or each of a batch, reversed along an axis counted from the end."""
    image = convert_to_tensor(image)
    if image.ndim not in (3, 4):
        raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    if 0 in shape_of(image)[-3:]:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {image.shape}")
    return reverse(image, [axis])


@export("image.flip_left_right")
def flip_left_right(image):
    """The mirror image, of one image or of each in a batch.

    Raises:
        ValueError: there are neither 3 nor 4 axes, or one of the image's is empty.
    """
    return _mirrored(image, -2)


@export("image.flip_up_down")
def flip_up_down(image):
    """The image upside down, of one image or of each in a batch.

    Raises:
        ValueError: there are neither 3 nor 4 axes, or one of the image's is empty.
    """
    return _mirrored(image, -3)


@export("image.rgb_to_grayscale")
def rgb_to_grayscale(images, name=None):
    """The brightness of red, green and blue in the last axis, which stays with length 1.

    Raises:
        InvalidArgumentError: the last axis has not three channels.
    """
    images = convert_to_tensor(images)
    if shape_of(images)[-1:] != (3,):
        raise invalid_argument(
            "MatMul",
            f"images must have 3 channels in the last axis. Received: shape {images.shape}",
        )
    floats = _as_floats(images)
    weights = convert_to_tensor([[0.2989], [0.587], [0.114]], dtype_of(floats))
    return convert_image_dtype(tensordot(floats, weights, 1), images.dtype)


@export("image.grayscale_to_rgb")
def grayscale_to_rgb(images, name=None):
    """A single channel in the last axis, repeated three times.

    Raises:
        ValueError: the last axis has not length 1.
    """
    images = convert_to_tensor(images)
    shape = shape_of(images)
    if shape[-1:] != (1,):
        raise ValueError(
            f"Last dimension of a grayscale image should be size 1. Received: shape {images.shape}"
        )
    return broadcast_to(images, shape=(*shape[:-1], 3))
