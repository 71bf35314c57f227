"""Images cut, padded and turned."""

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import float32
from ..core.errors import invalid_argument
from ..core.exports import export
from .arguments import integer
from .arithmetic import maximum
from .casting import cast
from .families import shape_of
from .manipulation import transpose as transposed
from .padding import pad
from .permutation import reverse
from .reduction import reduce_mean, root_mean_square
from .resize import ResizeMethod, resize
from .slicing import strided_slice_row


def image_or_images(image):
    """`image` as a tensor of rank 3 or 4 whose images are not empty."""
    image = convert_to_tensor(image)
    if image.ndim not in (3, 4):
        raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    if 0 in shape_of(image)[-3:]:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {image.shape}")
    return image


def _require(condition, message):
    if not condition:
        raise ValueError(message)


def _window(image, top, left, height, width):
    key = (Ellipsis, (top, top + height, 1), (left, left + width, 1), (None, None, None))
    return strided_slice_row(image, key=key)


@export("image.crop_to_bounding_box")
def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Cuts a window out of an image, or out of each of a batch.

    Raises:
        ValueError: the window is empty or reaches beyond the image.
    """
    image = image_or_images(image)
    top, left = integer(offset_height, "Slice"), integer(offset_width, "Slice")
    rows, columns = integer(target_height, "Slice"), integer(target_width, "Slice")
    height, width = shape_of(image)[-3:-1]
    _require(left >= 0, "offset_width must be >= 0.")
    _require(top >= 0, "offset_height must be >= 0.")
    _require(columns > 0, "target_width must be > 0.")
    _require(rows > 0, "target_height must be > 0.")
    _require(width >= columns + left, "width must be >= target + offset.")
    _require(height >= rows + top, "height must be >= target + offset.")
    return _window(image, top, left, rows, columns)


@export("image.pad_to_bounding_box")
def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Puts an image, or each of a batch, into a larger one of zeros.

    Raises:
        ValueError: the image does not fit there.
    """
    image = image_or_images(image)
    top, left = integer(offset_height, "Pad"), integer(offset_width, "Pad")
    height, width = shape_of(image)[-3:-1]
    below = integer(target_height, "Pad") - top - height
    right = integer(target_width, "Pad") - left - width
    _require(top >= 0, "offset_height must be >= 0")
    _require(left >= 0, "offset_width must be >= 0")
    _require(right >= 0, "width must be <= target - offset")
    _require(below >= 0, "height must be <= target - offset")
    outer = [[0, 0]] * (image.ndim - 3)
    return pad(image, [*outer, [top, below], [left, right], [0, 0]])


@export("image.central_crop")
def central_crop(image, central_fraction):
    """Keeps the middle of an image.

    Args:
        image: one image or a batch.
        central_fraction: how much of the height and of the width to keep, from above 0 to 1.

    Raises:
        ValueError: a fraction outside that range, or a rank that is neither 3 nor 4.
    """
    image = convert_to_tensor(image)
    fraction = float(convert_to_tensor(central_fraction).numpy())
    _require(0.0 < fraction <= 1.0, "central_fraction must be within (0, 1]")
    if hasattr(central_fraction, "_dispatch_level"):
        fraction = np.float64(convert_to_tensor(central_fraction).numpy())
    else:
        fraction = float(central_fraction)
    if fraction == 1.0:
        return image
    image = image_or_images(image)
    height, width = shape_of(image)[-3:-1]
    top = int((height - height * fraction) / 2)
    left = int((width - width * fraction) / 2)
    return _window(image, top, left, height - 2 * top, width - 2 * left)


@export("image.resize_with_crop_or_pad")
def resize_with_crop_or_pad(image, target_height, target_width):
    """Cuts an image, or adds zeros, around its middle until it has the size.

    Raises:
        ValueError: a size is not positive, or the rank is neither 3 nor 4.
    """
    image = image_or_images(image)
    rows, columns = integer(target_height, "Slice"), integer(target_width, "Slice")
    _require(columns > 0, "target_width must be > 0.")
    _require(rows > 0, "target_height must be > 0.")
    height, width = shape_of(image)[-3:-1]
    top, left = max(-(rows - height) // 2, 0), max(-(columns - width) // 2, 0)
    cut = _window(image, top, left, min(rows, height), min(columns, width))
    above, before = max((rows - height) // 2, 0), max((columns - width) // 2, 0)
    return pad_to_bounding_box(cut, above, before, rows, columns)


@export("image.resize_with_pad")
def resize_with_pad(
    image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False
):
    """Resizes without distortion and adds zeros at two sides to reach the size.

    Raises:
        ValueError: a size is not positive, or the rank is neither 3 nor 4.
    """
    image = image_or_images(image)
    rows, columns = integer(target_height, "Pad"), integer(target_width, "Pad")
    _require(columns > 0, "target_width must be > 0.")
    _require(rows > 0, "target_height must be > 0.")
    goal = np.array([rows, columns], np.float32)
    size = np.array(shape_of(image)[-3:-1], np.float32)
    scaled = size / (size / goal).max()
    resized = resize(image, np.floor(scaled).astype(np.int32), method, antialias=antialias)
    above, before = np.maximum(np.floor((goal - scaled) / 2), 0).astype(int).tolist()
    return pad_to_bounding_box(resized, above, before, rows, columns)


@export("image.transpose")
def transpose(image, name=None):
    """Swaps height and width.

    Raises:
        ValueError: the rank is neither 3 nor 4.
    """
    image = image_or_images(image)
    return transposed(image, [1, 0, 2] if image.ndim == 3 else [0, 2, 1, 3])


@export("image.rot90")
def rot90(image, k=1, name=None):
    """Turns an image, or each of a batch, `k` times by 90 degrees counter-clockwise.

    Raises:
        ValueError: the rank is neither 3 nor 4, or `k` is not a scalar.
    """
    image = image_or_images(image)
    turns = integer(k, "FloorMod") % 4
    height, width = image.ndim - 3, image.ndim - 2
    if turns == 1:
        return transpose(reverse(image, [width]))
    if turns == 2:
        return reverse(image, [height, width])
    if turns == 3:
        return reverse(transpose(image), [width])
    return image


@export("image.per_image_standardization")
def per_image_standardization(image):
    """Each image shifted and scaled, in float32, to mean 0 and variance 1.

    Of an image that is all one colour the variance counts as that of one pixel out of all.

    Raises:
        ValueError: there are fewer than three axes, or one of the image's is empty.
    """
    image = convert_to_tensor(image)
    if image.ndim < 3:
        raise ValueError(f"'image' (shape {image.shape}) must be at least three-dimensional.")
    if 0 in shape_of(image)[-3:]:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {image.shape}")
    image = cast(image, float32)
    axes = [-1, -2, -3]
    least = np.float32(1) / np.sqrt(np.float32(np.prod(shape_of(image)[-3:])))
    distance = image - reduce_mean(image, axes, keepdims=True)
    return distance / maximum(root_mean_square(distance, axes, keepdims=True), least)


def windows_at(images, corners, height, width, outside):
    """A window out of each image, its top left corner possibly outside of it.

    Args:
        images: a batch of images.
        corners: for each image the row and the column.
        outside: what stands where a window leaves its image, an array of the result's shape.
    """
    from .indexing import gather_nd
    from .selection import select

    count, rows, columns, depth = shape_of(images)
    y = corners[:, :1] + np.arange(height)
    x = corners[:, 1:] + np.arange(width)
    inside = ((y >= 0) & (y < rows))[:, :, None] & ((x >= 0) & (x < columns))[:, None, :]
    index = np.stack(
        np.broadcast_arrays(
            np.arange(count)[:, None, None],
            np.clip(y, 0, rows - 1)[:, :, None],
            np.clip(x, 0, columns - 1)[:, None, :],
        ),
        -1,
    )
    inside = np.broadcast_to(inside[..., None], (count, height, width, depth))
    return select(convert_to_tensor(inside), gather_nd(images, index), convert_to_tensor(outside))


@export("image.extract_glimpse")
def extract_glimpse(
    input, size, offsets, centered=True, normalized=True, noise="uniform", name=None
):
    """Cuts a window out of each image, at its own place; what lies outside is noise.

    Args:
        input: images [batch, height, width, channels], float32.
        size: the window's height and width.
        offsets: the window's centre in each image, [batch, 2].
        centered: whether offsets count from the image's centre.
        normalized: whether offsets run from -1 (or 0) to 1 instead of counting pixels.
        noise: `"uniform"`, `"gaussian"` or `"zero"`, for pixels outside.

    Raises:
        InvalidArgumentError: the images have not rank 4 or the offsets do not fit them.
        ValueError: there is no such noise.
    """
    images = convert_to_tensor(input, float32)
    places = convert_to_tensor(offsets, float32).numpy()
    height, width = [integer(each, "ExtractGlimpseV2") for each in size]
    shape = shape_of(images)
    if len(shape) != 4:
        raise invalid_argument("ExtractGlimpseV2", f"input must be 4-dimensional: {images.shape}")
    if places.shape != (shape[0], 2):
        raise invalid_argument(
            "ExtractGlimpseV2", f"offsets should have shape ({shape[0]}, 2): {places.shape}"
        )
    extent = np.array(shape[1:3], np.float32)
    if normalized:
        places = places * extent
    if centered:  # only with both flags do offsets mean the window's centre, in TensorFlow too
        places = (places - (height, width)) / 2 + extent / 2 if normalized else places + extent / 2
    corners = np.trunc(places).astype(int)
    outside = _noise(noise, (shape[0], height, width, shape[3]))
    return windows_at(images, corners, height, width, outside)


def _noise(kind, size):
    from .random import normal, uniform

    if kind == "zero":
        return np.zeros(size, np.float32)
    if kind == "gaussian":
        return normal(size)
    if kind == "uniform":
        return uniform(size)
    raise ValueError(f"noise must be 'uniform', 'gaussian' or 'zero'. Received: {kind!r}")
