"""Windows of images and volumes laid side by side, and what is computed from them."""

import functools
import math
from typing import Any

import numpy as np

from ..core.convert import operand, operands
from ..core.dispatch import apply
from ..core.errors import InvalidArgumentError, OutOfRangeError, invalid_argument, unimplemented
from ..core.exports import export
from ..core.op import Spec
from .arguments import integer_tuple
from .arithmetic import add, neg
from .broadcasting import reshape, words
from .convolution_kernel import windows_of
from .families import linear, shape_of
from .indexing import gather
from .manipulation import transpose
from .ordering import argmax
from .padding import pad
from .permutation import reverse
from .windows import check_padding, offsets, padded, places, spans, unpadded


def _axes(shape, ksizes, strides, rates, padding):
    return spans(shape[1:-1], ksizes[1:-1], strides[1:-1], rates[1:-1], padding)


@functools.lru_cache(maxsize=4096)
def _patches_shape(name, shape, ksizes, strides, rates, padding):
    """The shape of the patches; every error that shape and attributes can have."""
    rank = 5 if "Volume" in name else 4
    for what, values in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
        if len(values) < rank:
            raise InvalidArgumentError(
                None,
                None,
                f"Length for attr '{what}' of {len(values)} must be at least minimum {rank}\n\t; "
                f"NodeDef: {{{{node {name}}}}}",
            )
        if (values[0], values[-1]) != (1, 1):
            raise unimplemented(name, f"Only support {what} across space. Received: {values}")
        if min(values) < 1:
            raise OutOfRangeError(
                None, None, f"{what} is out of range. Received: {values} [Op:{name}] name: "
            )
    if len(shape) != rank:
        raise invalid_argument(name, f"input must be {rank}-dimensional{words(shape)}")
    check_padding(name, padding, "NHWC", explicit=False)
    counts = places(_axes(shape, ksizes, strides, rates, padding))
    return (shape[0], *counts, math.prod(ksizes) * shape[-1])


def _patches(x, ksizes, strides, rates, padding):
    axes = _axes(x.shape, ksizes, strides, rates, padding)
    shape = (len(x), *places(axes), math.prod(ksizes) * x.shape[-1])
    if not math.prod(shape):
        return np.empty(shape, x.dtype)
    return windows_of(padded(x, axes), axes).reshape(shape)


def _added_patches(patches, input_sizes, ksizes, strides, rates, padding):
    """The transpose of `_patches`: every window added where it came from."""
    axes = _axes(input_sizes, ksizes, strides, rates, padding)
    sizes = [axis.before + axis.size + axis.after for axis in axes]
    whole = np.zeros((input_sizes[0], *sizes, input_sizes[-1]), patches.dtype)
    if patches.size:
        elements = patches.reshape(*patches.shape[:-1], -1, input_sizes[-1])
        for i, (_, region) in enumerate(offsets(axes)):
            whole[(slice(None), *region)] += elements[..., i, :]
    return unpadded(whole, axes)


def _fold(x):
    shape = shape_of(x)
    return reshape(x, shape=(shape[0] * shape[1], *shape[2:]))


def _batch(op, values, flags, attrs):
    out = op.call(_fold(values[0]), **attrs)
    return reshape(out, shape=(*shape_of(values[0])[:2], *shape_of(out)[1:]))


def _batch_added(op, values, flags, attrs):
    count = shape_of(values[0])[0]
    size, *rest = attrs["input_sizes"]
    out = op.call(_fold(values[0]), **{**attrs, "input_sizes": (count * size, *rest)})
    return reshape(out, shape=(count, size, *rest))


image_patches_row = linear(
    "ExtractImagePatches",
    _patches,
    inputs="images",
    infer=lambda images, *, ksizes, strides, rates, padding: Spec(
        _patches_shape("ExtractImagePatches", images.shape, ksizes, strides, rates, padding),
        images.dtype,
    ),
    transpose=lambda g, images_shape, *, ksizes, strides, rates, padding: added_patches_row(
        g, input_sizes=images_shape, ksizes=ksizes, strides=strides, rates=rates, padding=padding
    ),
    batch=_batch,
)

_ONES = (1, 1, 1, 1, 1)

volume_patches_row = linear(
    "ExtractVolumePatches",
    lambda input, ksizes, strides, padding: _patches(input, ksizes, strides, _ONES, padding),
    inputs="input",
    infer=lambda input, *, ksizes, strides, padding: Spec(
        _patches_shape("ExtractVolumePatches", input.shape, ksizes, strides, _ONES, padding),
        input.dtype,
    ),
    transpose=lambda g, input_shape, *, ksizes, strides, padding: added_patches_row(
        g, input_sizes=input_shape, ksizes=ksizes, strides=strides, rates=_ONES, padding=padding
    ),
    batch=_batch,
)


def _patches_again(g, *, ksizes, strides, rates, padding):
    if len(ksizes) == 5:
        return volume_patches_row(g, ksizes=ksizes, strides=strides, padding=padding)
    return image_patches_row(g, ksizes=ksizes, strides=strides, rates=rates, padding=padding)


added_patches_row = linear(
    "AddPatches",
    _added_patches,
    inputs="patches",
    infer=lambda patches, *, input_sizes, ksizes, strides, rates, padding: Spec(
        input_sizes, patches.dtype
    ),
    transpose=_patches_again,
    batch=_batch_added,
    raw=False,
)


def _listed(value, name, op_name):
    return integer_tuple(value, op_name, name, f"{name} must be a list, not of shape")


@export("image.extract_patches")
def extract_patches(images, sizes, strides, rates, padding, name=None):
    """Windows of images, each laid out in the last axis.

    Args:
        images: of shape [batch, height, width, channels].
        sizes: the size of the window, as [1, height, width, 1].
        strides: the step of the window, likewise.
        rates: the distance between elements of the window, likewise.
        padding: `"SAME"` or `"VALID"`.

    Returns:
        A tensor of shape [batch, rows, columns, height * width * channels].

    Raises:
        InvalidArgumentError: the images are not of rank 4, or a list is too short.
        UnimplementedError: the window is not of size 1 along batch and channels.
        OutOfRangeError: a number is not positive.
    """
    op_name = image_patches_row.op.name
    attrs = {
        "ksizes": _listed(sizes, "ksizes", op_name),
        "strides": _listed(strides, "strides", op_name),
        "rates": _listed(rates, "rates", op_name),
        "padding": padding,
    }
    return apply(image_patches_row.op, (operand(images),), attrs)


@export("extract_volume_patches")
def extract_volume_patches(input, ksizes, strides, padding, name=None):
    """Windows of volumes [batch, depth, height, width, channels], each laid out in the last axis.

    Arguments and errors as of `image.extract_patches`, with one number more in each list.
    """
    op_name = volume_patches_row.op.name
    attrs = {
        "ksizes": _listed(ksizes, "ksizes", op_name),
        "strides": _listed(strides, "strides", op_name),
        "padding": padding,
    }
    return apply(volume_patches_row.op, (operand(input),), attrs)


# Greyscale morphology -----------------------------------------------------------------------------


def _lowest(dtype) -> Any:
    return dtype.min if dtype.is_integer else -np.inf


@export("nn.dilation2d")
def dilation2d(input, filters, strides, padding, data_format, dilations, name=None):
    """The largest sum of an image and a filter in each window, channel by channel.

    Args:
        input: images of shape [batch, height, width, channels].
        filters: of shape [height, width, channels].
        strides: the step of the window, as [1, height, width, 1].
        padding: `"SAME"` or `"VALID"`.
        data_format: `"NHWC"`.
        dilations: the distance between elements of the window, as `strides`.

    Raises:
        ValueError: `data_format` is another.
        InvalidArgumentError: shapes do not go together.
    """
    if data_format != "NHWC":
        raise ValueError(
            "`data_format` values other  than 'NHWC' are not supported. Received: "
            f"data_format={data_format}"
        )
    x, filters = operands(input, filters)
    shape, filter_shape = tuple(x.shape), tuple(filters.shape)
    for what, sizes, rank in (("input", shape, 4), ("filter", filter_shape, 3)):
        if len(sizes) != rank:
            raise invalid_argument(
                "Dilation2D", f"{what} must be {rank}-dimensional: {words(sizes)}"
            )
    if shape[-1] != filter_shape[-1]:
        raise invalid_argument(
            "Dilation2D",
            f"input and filter must have the same depth: {shape[-1]} vs {filter_shape[-1]}",
        )
    check_padding("Dilation2D", padding, "NHWC", explicit=False)
    strides, dilations = (
        _listed(strides, "strides", "Dilation2D"),
        _listed(dilations, "rates", "Dilation2D"),
    )
    ksizes = (1, *filter_shape[:2], 1)
    widths = [(a.before, a.after) for a in _axes(shape, ksizes, strides, dilations, padding)]
    if any([max(pair) for pair in widths]):  # what lies outside is never the largest
        x = pad(x, [(0, 0), *widths, (0, 0)], constant_values=_lowest(x.dtype))
    windows = extract_patches(x, ksizes, strides, dilations, "VALID")
    count = math.prod(filter_shape[:2])
    windows = reshape(windows, shape=(*shape_of(windows)[:3], count, shape[-1]))
    sums = add(windows, reshape(filters, shape=(count, shape[-1])))
    sums = transpose(sums, (0, 1, 2, 4, 3))
    largest = argmax(sums, -1)
    return gather(sums, largest, axis=4, batch_dims=4)


@export("nn.erosion2d")
def erosion2d(value, filters, strides, padding, data_format, dilations, name=None):
    """The smallest difference of an image and the turned filter in each window.

    Arguments and errors as of `dilation2d`.
    """
    value, filters = operands(value, filters)
    turned = reverse(filters, [0, 1])
    return neg(dilation2d(neg(value), turned, strides, padding, data_format, dilations))
