"""How alike two images are, and how images change from pixel to pixel."""

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import float32
from ..core.errors import InvalidArgumentError, invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .activations import relu
from .arithmetic import pow_, squared_difference
from .broadcasting import reshape, words
from .casting import cast
from .elementwise import abs_public, log, square
from .families import linear, shape_of
from .image import convert_image_dtype
from .joining import stack
from .padding import pad
from .reduction import reduce_mean, reduce_prod, reduce_sum
from .resize import axis_kernels, batch_images, height_and_width

_MULTISCALE_POWERS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _infer_filtered(images, *, size, weights):
    return Spec((images.shape[0], *size, images.shape[3]), images.dtype)


_filtered, _filtered_back = axis_kernels("valid", lambda weights: (weights, weights))

# The same weights along height and width, wherever they fit: half of what SSIM computes.
filter_images = linear(
    "FilterImages",
    _filtered,
    inputs="images",
    infer=_infer_filtered,
    transpose=lambda g, images_shape, *, weights: filter_images_grad(
        g, size=height_and_width(images_shape), weights=weights
    ),
    batch=batch_images,
    raw=False,
)

filter_images_grad = linear(
    "FilterImagesGrad",
    _filtered_back,
    inputs="grads",
    infer=lambda grads, *, size, weights: _infer_filtered(grads, size=size, weights=weights),
    transpose=lambda g, grads_shape, *, weights: filter_images(
        g, size=height_and_width(grads_shape), weights=weights
    ),
    batch=batch_images,
    raw=False,
)


def _comparable(a, b):
    """Two images, or batches that broadcast, as tensors whose images have one shape."""
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    for image in (a, b):
        if image.ndim < 3:
            raise ValueError(f"Shape {image.shape} must have rank at least 3")
    if shape_of(a)[-3:] != shape_of(b)[-3:]:
        raise ValueError(f"Shapes {a.shape[-3:]} and {b.shape[-3:]} are incompatible")
    try:
        np.broadcast_shapes(shape_of(a), shape_of(b))
    except ValueError:
        raise ValueError(f"Two images are not compatible: {a.shape} and {b.shape}") from None
    return a, b


def _in_float32(a, b, max_val):
    largest = convert_image_dtype(cast(max_val, a.dtype), float32)
    return convert_image_dtype(a, float32), convert_image_dtype(b, float32), largest


@export("image.psnr")
def psnr(a, b, max_val, name=None):
    """The ratio of the largest possible value to the difference of two images, in decibels.

    Args:
        a: images [..., height, width, channels].
        b: the others.
        max_val: the span of values, such as 255.

    Raises:
        InvalidArgumentError: the images have different shapes.
        ValueError: they broadcast, but differ in height, width or channels.
    """
    a, b, largest = _in_float32(convert_to_tensor(a), convert_to_tensor(b), max_val)
    error = reduce_mean(squared_difference(a, b), [-3, -2, -1])
    _comparable(a, b)
    return 20 * log(largest) / np.float32(np.log(10.0)) - np.float32(10 / np.log(10)) * log(error)


def _gaussian(size, sigma):
    places = np.arange(size, dtype=np.float32) - np.float32(size - 1) / 2
    weights = np.exp(-0.5 * np.square(places.astype(np.float64)) / float(sigma) ** 2)
    return tuple((weights / weights.sum()).tolist())


def _luminance_and_contrast(a, b, max_val, filter_size, filter_sigma, k1, k2):
    shape = shape_of(a)
    if min(shape[-3:-1]) < filter_size:
        raise InvalidArgumentError(
            None,
            None,
            "Expected images at least as large as the filter. Received: shape "
            f"{words(shape)}, filter_size {filter_size}",
        )
    weights = _gaussian(filter_size, filter_sigma)
    size = tuple([d - filter_size + 1 for d in shape[-3:-1]])

    def smooth(x):
        full = shape_of(x)
        flat = reshape(x, shape=(int(np.prod(full[:-3])), *full[-3:]))
        return reshape(
            filter_images(flat, size=size, weights=weights), shape=(*full[:-3], *size, full[-1])
        )

    low, high = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    mean_a, mean_b = smooth(a), smooth(b)
    product = mean_a * mean_b * 2.0
    squares = square(mean_a) + square(mean_b)
    luminance = (product + low) / (squares + low)
    both = smooth(a * b) * 2.0
    each = smooth(square(a) + square(b))
    return luminance, (both - product + high) / (each - squares + high)


@export("image.ssim")
def ssim(
    img1,
    img2,
    max_val,
    filter_size=11,
    filter_sigma=1.5,
    k1=0.01,
    k2=0.03,
    return_index_map=False,
):
    """The structural similarity of images, from -1 to 1.

    Args:
        img1: images [..., height, width, channels].
        img2: the others.
        max_val: the span of values, such as 255.
        filter_size: the width of the Gaussian that local statistics are taken with.
        filter_sigma: its standard deviation.
        k1: keeps the comparison of means stable.
        k2: keeps the comparison of variances stable.
        return_index_map: whether to give the similarity of each place instead of their mean.

    Raises:
        ValueError: the images have different shapes.
        InvalidArgumentError: they are smaller than the filter.
    """
    a, b = _comparable(img1, img2)
    a, b, largest = _in_float32(a, b, max_val)
    luminance, contrast = _luminance_and_contrast(a, b, largest, filter_size, filter_sigma, k1, k2)
    similarity = luminance * contrast
    if not return_index_map:
        similarity = reduce_mean(similarity, [-3, -2])
    return reduce_mean(similarity, [-1])


@export("image.ssim_multiscale")
def ssim_multiscale(
    img1,
    img2,
    max_val,
    power_factors=_MULTISCALE_POWERS,
    filter_size=11,
    filter_sigma=1.5,
    k1=0.01,
    k2=0.03,
):
    """The structural similarity of images over several scales, each half the one before.

    Args:
        img1: images [..., height, width, channels].
        img2: the others.
        max_val: the span of values, such as 255.
        power_factors: the weight of each scale.
        filter_size: see `tf.image.ssim`; the images must be as large at the last scale.
        filter_sigma: see there.
        k1: see there.
        k2: see there.

    Raises:
        ValueError: the images have different shapes.
        InvalidArgumentError: they are smaller than the filter at some scale.
    """
    a, b = _comparable(img1, img2)
    a, b, largest = _in_float32(a, b, max_val)
    parts = []
    for scale in range(len(power_factors)):
        if scale:
            a, b = _halved(a), _halved(b)
        luminance, contrast = _luminance_and_contrast(
            a, b, largest, filter_size, filter_sigma, k1, k2
        )
        last = scale == len(power_factors) - 1
        value = luminance * contrast if last else contrast
        parts.append(relu(reduce_mean(value, [-3, -2])))
    powers = convert_to_tensor(np.array(power_factors, np.float32))
    return reduce_mean(reduce_prod(pow_(stack(parts, -1), powers), [-1]), [-1])


def _halved(images):
    """Means of 2 by 2 pixels; an odd edge is doubled first."""
    shape = shape_of(images)
    odd = [shape[-3] % 2, shape[-2] % 2]
    if any(odd):
        outer = [[0, 0]] * (len(shape) - 3)
        images = pad(images, [*outer, [0, odd[0]], [0, odd[1]], [0, 0]], "SYMMETRIC")
        shape = shape_of(images)
    blocks = (*shape[:-3], shape[-3] // 2, 2, shape[-2] // 2, 2, shape[-1])
    return reduce_mean(reshape(images, shape=blocks), [-4, -2])


@export("image.total_variation")
def total_variation(images, name=None):
    """The sum of the differences between neighbouring pixels, of one image or each of a batch.

    Raises:
        ValueError: there are neither 3 nor 4 axes.
    """
    images = convert_to_tensor(images)
    if images.ndim not in (3, 4):
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    down = images[..., 1:, :, :] - images[..., :-1, :, :]
    right = images[..., 1:, :] - images[..., :-1, :]
    axes = None if images.ndim == 3 else [1, 2, 3]
    return reduce_sum(abs_public(down), axes) + reduce_sum(abs_public(right), axes)


@export("image.image_gradients")
def image_gradients(image):
    """Differences to the pixel below and to the right; zeros in the last row and column.

    Raises:
        ValueError: there are not four axes.
    """
    image = convert_to_tensor(image)
    if image.ndim != 4:
        raise ValueError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}."
        )
    down = image[:, 1:, :, :] - image[:, :-1, :, :]
    right = image[:, :, 1:, :] - image[:, :, :-1, :]
    return (
        pad(down, [[0, 0], [0, 1], [0, 0], [0, 0]]),
        pad(right, [[0, 0], [0, 0], [0, 1], [0, 0]]),
    )


@export("image.sobel_edges")
def sobel_edges(image):
    """Sobel's derivatives of images [batch, height, width, channels], in a new last axis of 2.

    Raises:
        InvalidArgumentError: there are not four axes.
    """
    image = convert_to_tensor(image)
    if image.ndim != 4:
        raise invalid_argument(
            "SobelEdges", f"image must have 4 dimensions. Received: shape {image.shape}"
        )
    x = pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    down = x[:, 2:] - x[:, :-2]
    smooth = x[:, :-2] + 2 * x[:, 1:-1] + x[:, 2:]
    vertical = down[:, :, :-2] + 2 * down[:, :, 1:-1] + down[:, :, 2:]
    return stack([vertical, smooth[:, :, 2:] - smooth[:, :, :-2]], -1)
