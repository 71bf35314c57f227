"""Blocks of images moved between axes: to the batch and back, to the channels and back."""

import math

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.tensor import EagerTensor
from .arguments import integers
from .broadcasting import reshape
from .identity import identity
from .manipulation import transpose_row
from .padding import pad_row
from .slicing import EVERYTHING, strided_slice_row


def _block_and_margins(op_name, x, block_shape, margins, argument):
    """The block's sizes and the paddings or crops as tuples, checked against each other."""
    block = integers(block_shape, op_name, "Tblock_shape")
    if block.ndim != 1:
        raise invalid_argument(op_name, f"block_shape rank should be 1 instead of {block.ndim}")
    if x.ndim < 1 + len(block):
        raise invalid_argument(
            op_name, f"input rank should be >= {1 + len(block)} instead of {x.ndim}"
        )
    widths = integers(margins, op_name, f"T{argument}")
    if widths.shape != (len(block), 2):
        raise invalid_argument(
            op_name,
            f"{argument} should have shape [{len(block)}, 2] instead of {list(widths.shape)}",
        )
    if (widths < 0).any():
        raise invalid_argument(op_name, f"{argument.capitalize()} must be non-negative")
    return tuple(block.tolist()), [tuple(pair) for pair in widths.tolist()]


def _reordered(x, split, order, goal):
    """Reshaped to `split`, its axes put into another order, and reshaped to `goal`."""
    x = apply(reshape.op, (x,), {"shape": tuple(split)})
    x = apply(transpose_row.op, (x,), {"perm": tuple(order)})
    return apply(reshape.op, (x,), {"shape": tuple(goal)})


@export("space_to_batch space_to_batch_nd nn.space_to_batch")
def space_to_batch(input, block_shape, paddings, name=None):
    """Pads, and moves the elements of each block into the batch, the first axis.

    Args:
        input: a tensor `[batch, *space, *rest]`.
        block_shape: the sizes of a block, one for each axis of space.
        paddings: for each of them how many zeros before and how many behind.

    Raises:
        InvalidArgumentError: the padded space does not divide into blocks.
    """
    op_name = "SpaceToBatchND"
    x = operand(input)
    block, widths = _block_and_margins(op_name, x, block_shape, paddings, "paddings")
    for i, size in enumerate(block):
        if size < 1:
            raise invalid_argument(
                op_name,
                f"All values in block_shape must be positive, got value, {size} at index {i}.",
            )
    count = len(block)
    around = ((0, 0), *widths, *[(0, 0)] * (x.ndim - 1 - count))
    if any(map(any, widths)):
        x = apply(pad_row.op, (x,), {"paddings": around})
    batch, *sizes = tuple(x.shape)
    space, rest = sizes[:count], sizes[count:]
    for i, (size, part) in enumerate(zip(space, block, strict=True)):
        if size % part:
            raise invalid_argument(
                op_name,
                f"padded_shape[{i}]={size} is not divisible by block_shape[{i}]={part}",
            )
    if not count:
        return identity(x)
    outer = [size // part for size, part in zip(space, block, strict=True)]
    split = [batch, *_interleaved(outer, block), *rest]
    inner_axes = range(2, 2 * count + 1, 2)
    order = [*inner_axes, 0, *range(1, 2 * count, 2), *range(2 * count + 1, len(split))]
    return _reordered(x, split, order, (batch * math.prod(block), *outer, *rest))


def _interleaved(first, second):
    return [size for pair in zip(first, second, strict=True) for size in pair]


@export("batch_to_space")
def batch_to_space(input, block_shape, crops, name=None):
    """Undoes `space_to_batch`: moves parts of the batch into blocks of space, and crops.

    Args:
        input: a tensor `[batch, *space, *rest]`.
        block_shape: the sizes of a block, one for each axis of space; one number for two of them.
        crops: for each of them how many to cut off before and how many behind.

    Raises:
        InvalidArgumentError: the batch does not divide into blocks, or too much is cut off.
    """
    op_name = "BatchToSpaceND"
    x = operand(input)
    if isinstance(block_shape, int):
        block_shape = [block_shape, block_shape]
    block, widths = _block_and_margins(op_name, x, block_shape, crops, "crops")
    count, product = len(block), math.prod(block)
    if product < 1 or min(block, default=1) < 1:
        raise invalid_argument(op_name, f"Product of block sizes must be positive, got {product}")
    batch, *sizes = tuple(x.shape)
    space, rest = sizes[:count], sizes[count:]
    if batch % product:
        raise invalid_argument(
            op_name,
            f"Input batch dimension ({batch}) is not divisible by product of block sizes "
            f"({product})",
        )
    whole = [size * part for size, part in zip(space, block, strict=True)]
    for i, (size, (before, after)) in enumerate(zip(whole, widths, strict=True)):
        if size < before + after:
            raise invalid_argument(
                op_name, f"cropped_shape[{i}]={size - before - after} must be non-negative"
            )
    if not count:
        return identity(x)
    split = [*block, batch // product, *space, *rest]
    space_axes = range(count + 1, 2 * count + 1)
    order = [count, *_interleaved(space_axes, range(count)), *range(2 * count + 1, len(split))]
    x = _reordered(x, split, order, (batch // product, *whole, *rest))
    if not any(map(any, widths)):
        return x
    kept = [(before, size - after, 1) for size, (before, after) in zip(whole, widths, strict=True)]
    return apply(strided_slice_row.op, (x,), {"key": (EVERYTHING, *kept)})


@export("required_space_to_batch_paddings")
def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """The paddings with which space divides into blocks, and the crops that undo what they add.

    Args:
        input_shape: the sizes of space.
        block_shape: the sizes of a block.
        base_paddings: paddings that are wanted in any case; what is missing is added behind.
    """
    sizes, block = [
        np.asarray(convert_to_tensor(each, dtypes.int32)) for each in (input_shape, block_shape)
    ]
    if base_paddings is None:
        base = np.zeros((len(block), 2), np.int32)
    else:
        base = np.array(convert_to_tensor(base_paddings, dtypes.int32))
    missing = -(sizes + base.sum(1)) % block
    crops = np.stack([np.zeros_like(missing), missing], 1).astype(np.int32)
    return EagerTensor((base + crops).astype(np.int32)), EagerTensor(crops)


# Channels -----------------------------------------------------------------------------------------

_FORMATS = ("NHWC", "NCHW", "NCHW_VECT_C")


def _image_sizes(op_name, x, block_size, data_format):
    """Batch, height, width and channels, the last two places of which depend on the format."""
    if data_format not in _FORMATS:
        allowed = ", ".join([f'"{each}"' for each in _FORMATS])
        raise invalid_argument(
            op_name,
            f"Value for attr 'data_format' of \"{data_format}\" is not in the list of allowed "
            f"values: {allowed}\n\t; NodeDef: {{{{node {op_name}}}}}",
        )
    if block_size < 2:
        raise invalid_argument(
            op_name,
            f"Value for attr 'block_size' of {block_size} must be at least minimum 2\n\t; "
            f"NodeDef: {{{{node {op_name}}}}}",
        )
    rank = 5 if data_format == "NCHW_VECT_C" else 4
    if x.ndim != rank:
        raise invalid_argument(op_name, f"Input rank should be {rank} instead of {x.ndim}")
    shape = tuple(x.shape)
    if data_format == "NHWC":
        return shape
    return (shape[0], shape[2], shape[3], shape[1])


@export("nn.space_to_depth")
def space_to_depth(input, block_size, data_format="NHWC", name=None):
    """Moves the pixels of square blocks into the channels.

    Args:
        input: images, of the layout `data_format` says.
        block_size: the side of a block.
        data_format: `"NHWC"`, `"NCHW"`, or `"NCHW_VECT_C"` with 4 channels at a time last.

    Raises:
        InvalidArgumentError: height and width do not divide into blocks.
    """
    x = operand(input)
    n, height, width, depth = _image_sizes("SpaceToDepth", x, block_size, data_format)
    b = block_size
    if height % b or width % b:
        raise invalid_argument(
            "SpaceToDepth",
            f"Image width {width} and height {height} should be divisible by block_size: {b}",
        )
    h, w = height // b, width // b
    if data_format == "NHWC":
        goal = (n, h, w, b * b * depth)
        return _reordered(x, (n, h, b, w, b, depth), (0, 1, 3, 2, 4, 5), goal)
    tail = tuple(x.shape[4:])
    split = (n, depth, h, b, w, b, *tail)
    order = (0, 3, 5, 1, 2, 4, *range(6, len(split)))
    return _reordered(x, split, order, (n, b * b * depth, h, w, *tail))


@export("nn.depth_to_space")
def depth_to_space(input, block_size, data_format="NHWC", name=None):
    """Undoes `space_to_depth`: moves groups of channels into square blocks of pixels.

    Raises:
        InvalidArgumentError: the channels do not divide into blocks.
    """
    x = operand(input)
    n, h, w, channels = _image_sizes("DepthToSpace", x, block_size, data_format)
    b = block_size
    if channels % (b * b):
        raise invalid_argument(
            "DepthToSpace",
            f"Input depth dimension {channels} should be divisible by: {b * b}",
        )
    depth = channels // (b * b)
    if data_format == "NHWC":
        goal = (n, h * b, w * b, depth)
        return _reordered(x, (n, h, w, b, b, depth), (0, 1, 3, 2, 4, 5), goal)
    tail = tuple(x.shape[4:])
    split = (n, b, b, depth, h, w, *tail)
    order = (0, 3, 4, 1, 5, 2, *range(6, len(split)))
    return _reordered(x, split, order, (n, depth, h * b, w * b, *tail))
