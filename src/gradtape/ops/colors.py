"""Colours: hue and saturation, brightness and chroma, and changes of them."""

import numpy as np

from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.dtypes import FLOATING, float16, float32
from ..core.errors import FailedPreconditionError, invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arithmetic import add, div_no_nan, floor_mod, maximum, minimum, mul, sub
from .broadcasting import not_allowed, words
from .casting import cast, cast_row
from .contraction import tensordot
from .elementwise import abs_, sign, square
from .families import dtype_of, opaque, shape_of
from .image import convert_image_dtype
from .joining import pack
from .logic import greater, greater_equal, less, less_equal, logical_and
from .numerics import in_float32
from .slicing import strided_slice_row


def _infer_for(name):
    def infer(images):
        if images.dtype not in FLOATING:
            raise not_allowed(name, images.dtype, FLOATING)
        if not images.shape:
            raise invalid_argument(name, f"input must be at least 1D{words(images.shape)}")
        if images.shape[-1] != 3:
            message = f"input must have 3 channels but input only has {images.shape[-1]} channels."
            raise FailedPreconditionError(None, None, f"{message} [Op:{name}] name: ")
        return Spec(images.shape, images.dtype)

    return infer


def _channels(images):
    return [strided_slice_row(images, key=(Ellipsis, i)) for i in range(3)]


def _joined(channels):
    return pack(channels, axis=len(shape_of(channels[0])))


@in_float32
def _rgb_to_hsv(images):
    red, green, blue = images[..., 0], images[..., 1], images[..., 2]
    value = np.maximum(np.maximum(red, green), blue)
    span = value - np.minimum(np.minimum(red, green), blue)
    hsv = np.empty(images.shape, images.dtype)
    with np.errstate(all="ignore"):
        scale = 1 / (6 * span)
        hue = np.where(
            value == red,
            scale * (green - blue),
            np.where(
                value == green,
                scale * (blue - red) + images.dtype.type(1 / 3),
                scale * (red - green) + images.dtype.type(2 / 3),
            ),
        )
        hsv[..., 1] = np.where(value > 0, span / value, 0)
    hue = np.where(span > 0, hue, 0)
    hsv[..., 0] = np.where(hue < 0, hue + 1, hue)
    hsv[..., 2] = value
    return hsv


def _rgb_to_hsv_vjp(g, images):
    """The gradient; among equal channels red, then green, counts as the largest."""
    red, green, blue = channels = _channels(images)
    dtype = dtype_of(images)

    def both(one, other):
        return cast_row(logical_and(one, other), dtype=dtype)

    largest = (
        both(greater_equal(red, blue), greater_equal(red, green)),
        both(greater(green, red), greater_equal(green, blue)),
        both(greater(blue, red), greater(blue, green)),
    )
    smallest = (
        both(less(red, blue), less(red, green)),
        both(less_equal(green, red), less(green, blue)),
        both(less_equal(blue, red), less_equal(blue, green)),
    )
    top, low = _weighted(largest, channels), _weighted(smallest, channels)
    per_value = div_no_nan(cast_row(greater_equal(top, top), dtype=dtype), top)
    span = sub(top, low)
    per_span = div_no_nan(cast_row(greater_equal(top, top), dtype=dtype), span)
    apart = _weighted(largest, (sub(green, blue), sub(blue, red), sub(red, green)))
    slope = mul(apart, square(per_span))
    g_hue, g_saturation, g_value = _channels(g)
    g_hue = mul(g_hue, 1 / 6)
    gradients = []
    for i, channel in enumerate(channels):
        turn = sub(largest[i - 1], largest[(i + 1) % 3])
        hue = sub(mul(turn, per_span), mul(slope, sub(largest[i], smallest[i])))
        saturation = mul(
            sub(mul(largest[i], mul(low, square(per_value))), mul(smallest[i], per_value)),
            cast_row(greater(channel, mul(channel, 0.0)), dtype=dtype),
        )
        total = add(mul(g_hue, hue), mul(g_saturation, saturation))
        gradients.append(add(total, mul(g_value, largest[i])))
    return [_joined(gradients)]


def _weighted(weights, channels):
    terms = [mul(w, c) for w, c in zip(weights, channels, strict=True)]
    return add(add(terms[0], terms[1]), terms[2])


rgb_to_hsv_row = opaque(
    "RGBToHSV",
    _rgb_to_hsv,
    inputs="images",
    infer=_infer_for("RGBToHSV"),
    vjp=_rgb_to_hsv_vjp,
    batch=lambda op, values, flags, attrs: op.call(values[0]),
)

# Red, green and blue as functions of the hue: how far from where on the circle, and the sign.
_WEDGES = ((3.0, 1.0, -1.0), (2.0, -1.0, 2.0), (4.0, -1.0, 2.0))


@in_float32
def _hsv_to_rgb(images):
    hue, saturation, value = images[..., 0] * 6, images[..., 1], images[..., 2]
    rgb = np.empty(images.shape, images.dtype)
    for i, (centre, direction, offset) in enumerate(_WEDGES):
        pure = np.clip(np.abs(hue - centre) * direction + offset, 0, 1)
        rgb[..., i] = ((1 - saturation) + saturation * pure) * value
    return rgb


def _hsv_to_rgb_vjp(g, images):
    hue, saturation, value = _channels(images)
    dtype = dtype_of(images)
    g_hue = g_saturation = g_value = None
    for (centre, direction, offset), g_channel in zip(_WEDGES, _channels(g), strict=True):
        shifted = sub(mul(hue, 6.0), centre)
        raw = add(mul(abs_(shifted), direction), offset)
        pure = minimum(maximum(raw, 0.0), 1.0)
        between = cast_row(logical_and(greater(raw, 0.0), less(raw, 1.0)), dtype=dtype)
        slope = mul(mul(sign(shifted), 6.0 * direction), between)
        paleness = sub(pure, 1.0)
        g_hue = _plus(g_hue, mul(g_channel, mul(mul(value, saturation), slope)))
        g_saturation = _plus(g_saturation, mul(g_channel, mul(value, paleness)))
        g_value = _plus(g_value, mul(g_channel, add(mul(saturation, paleness), 1.0)))
    return [_joined([g_hue, g_saturation, g_value])]


def _plus(total, term):
    return term if total is None else add(total, term)


hsv_to_rgb_row = opaque(
    "HSVToRGB",
    _hsv_to_rgb,
    inputs="images",
    infer=_infer_for("HSVToRGB"),
    vjp=_hsv_to_rgb_vjp,
    batch=lambda op, values, flags, attrs: op.call(values[0]),
)


def _floating(images):
    """The images as a tensor: integers that are not one yet become float32, unscaled."""
    tensor = operand(images)
    is_tensor = hasattr(images, "_dispatch_level")
    return tensor if is_tensor or tensor.dtype.is_floating else cast(tensor, float32)


@export("image.rgb_to_hsv")
def rgb_to_hsv(images, name=None):
    """Hue, saturation and value, all from 0 to 1, of red, green and blue in the last axis.

    Raises:
        InvalidArgumentError: the last axis has not three channels, or the dtype is not floating.
    """
    return apply(rgb_to_hsv_row.op, (_floating(images),))


@export("image.hsv_to_rgb")
def hsv_to_rgb(images, name=None):
    """Red, green and blue of hue, saturation and value in the last axis.

    Raises:
        InvalidArgumentError: the last axis has not three channels, or the dtype is not floating.
    """
    return apply(hsv_to_rgb_row.op, (_floating(images),))


# Columns are the results: brightness, then two of colour.
_RGB_TO_YIQ = (
    (0.299, 0.59590059, 0.2115),
    (0.587, -0.27455667, -0.52273617),
    (0.114, -0.32134392, 0.31119955),
)
_YIQ_TO_RGB = (
    (1.0, 1.0, 1.0),
    (0.95598634, -0.27201283, -1.10674021),
    (0.6208248, -0.64720424, 1.70423049),
)
_RGB_TO_YUV = (
    (0.299, -0.14714119, 0.61497538),
    (0.587, -0.28886916, -0.51496512),
    (0.114, 0.43601035, -0.10001026),
)
_YUV_TO_RGB = (
    (1.0, 1.0, 1.0),
    (0.0, -0.394642334, 2.03206185),
    (1.13988303, -0.58062185, 0.0),
)


def _mixed(images, matrix):
    images = convert_to_tensor(images)
    kernel = convert_to_tensor(matrix, images.dtype)
    return tensordot(images, kernel, [[images.ndim - 1], [0]])


@export("image.rgb_to_yiq")
def rgb_to_yiq(images):
    """The colours of the last axis as brightness, in-phase and quadrature."""
    return _mixed(images, _RGB_TO_YIQ)


@export("image.yiq_to_rgb")
def yiq_to_rgb(images):
    """Brightness, in-phase and quadrature as red, green and blue."""
    return _mixed(images, _YIQ_TO_RGB)


@export("image.rgb_to_yuv")
def rgb_to_yuv(images):
    """The colours of the last axis as brightness and two differences of colour."""
    return _mixed(images, _RGB_TO_YUV)


@export("image.yuv_to_rgb")
def yuv_to_rgb(images):
    """Brightness and two differences of colour as red, green and blue."""
    return _mixed(images, _YUV_TO_RGB)


def _in_floats(image):
    """float16 and float32 images themselves; others in float32, integers scaled to 1."""
    if image.dtype in (float16, float32):
        return image
    return convert_image_dtype(image, float32)


@export("image.adjust_hue")
def adjust_hue(image, delta, name=None):
    """Turns the hue of each pixel by `delta` of the colour circle.

    Args:
        image: red, green and blue in the last axis.
        delta: from -1 to 1.

    Raises:
        ValueError: `delta` is outside that range.
        InvalidArgumentError: there are fewer than three axes, or not three channels.
    """
    image = convert_to_tensor(image)
    turn = cast(delta, float32)
    if not -1 <= float(turn.numpy()) <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    floats = _in_floats(image)
    _check_colours("AdjustHue", floats)
    hue, saturation, value = _channels(apply(rgb_to_hsv_row.op, (floats,)))
    hue = floor_mod(add(hue, cast(turn, hue.dtype)), 1.0)
    turned = hsv_to_rgb_row(_joined([hue, saturation, value]))
    return convert_image_dtype(turned, image.dtype)


@export("image.adjust_saturation")
def adjust_saturation(image, saturation_factor, name=None):
    """Multiplies the saturation of each pixel, up to 1.

    Args:
        image: red, green and blue in the last axis.
        saturation_factor: the factor.

    Raises:
        InvalidArgumentError: there are fewer than three axes, or not three channels.
    """
    image = convert_to_tensor(image)
    floats = _in_floats(image)
    _check_colours("AdjustSaturation", floats)
    hue, saturation, value = _channels(apply(rgb_to_hsv_row.op, (floats,)))
    factor = cast(cast(saturation_factor, float32), hue.dtype)
    saturation = minimum(maximum(mul(saturation, factor), 0.0), 1.0)
    adjusted = hsv_to_rgb_row(_joined([hue, saturation, value]))
    return convert_image_dtype(adjusted, image.dtype)


def _check_colours(op_name, images):
    shape = shape_of(images)
    if len(shape) < 3:
        raise invalid_argument(op_name, f"input must be at least 3-D, got shape{words(shape)}")
    if shape[-1] != 3:
        raise invalid_argument(
            op_name, f"input must have 3 channels but instead has {shape[-1]} channels."
        )


@export("image.adjust_gamma")
def adjust_gamma(image, gamma=1, gain=1):
    """Raises pixels to a power and multiplies them; integer images count from 0 to 1.

    Raises:
        ValueError: the power is negative.
    """
    image = convert_to_tensor(image)
    floats = _in_floats(image)
    if float(cast(gamma, float32).numpy()) < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    return convert_image_dtype(gain * floats**gamma, image.dtype, saturate=True)
