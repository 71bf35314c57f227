"""Larger tensors from smaller ones: tile, repeat, pad."""

import numpy as np

from ..core.composite import open_to_composites
from ..core.convert import convert_to_tensor, operand, operands
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import EagerTensor
from .arguments import integer, integer_tuple, integers
from .broadcasting import broadcast_to, reshape, words
from .families import linear, opaque, shape_of
from .indexing import gather_row
from .joining import all_batched
from .manipulation import reshape_public
from .mirror_padding import mirror_pad
from .pointwise import dtype_mismatch
from .selection import select
from .slicing import strided_slice_row


@export("tile")
@open_to_composites
def tile(input, multiples, name=None):
    """Repeats a whole tensor along each of its axes.

    Raises:
        InvalidArgumentError: there is not one non-negative number for each axis.
    """
    x = operand(input)
    complaint = "Expected multiples to be 1-D, but got shape"
    times = integer_tuple(multiples, "Tile", "Tmultiples", complaint)
    if len(times) != x.ndim:
        raise invalid_argument(
            "Tile",
            f"Expected multiples argument to be a vector of length {x.ndim} but got length "
            f"{len(times)}",
        )
    for i, count in enumerate(times):
        if count < 0:
            raise invalid_argument("Tile", f"Expected multiples[{i}] >= 0, but got {count}")
    thin, wide, flat = [], [], []
    for length, count in zip(x.shape, times, strict=True):
        if count != 1:
            thin.append(1)
            wide.append(count)
        thin.append(length)
        wide.append(length)
        flat.append(count * length)
    return _spread(x, tuple(thin), tuple(wide), tuple(flat))


def _spread(x, thin, wide, flat):
    """Repetition: axes of length 1 are inserted, broadcast, and merged with their neighbours."""
    x = apply(reshape.op, (x,), {"shape": thin})
    x = apply(broadcast_to.op, (x,), {"shape": wide})
    return apply(reshape.op, (x,), {"shape": flat})


@export("repeat")
def repeat(input, repeats, axis=None, name=None):
    """Repeats each element along an axis.

    Args:
        input: the tensor.
        repeats: how often; one number, or one for each element of the axis.
        axis: the axis; if not given the tensor is flattened first.

    Raises:
        ValueError: there is no such axis, or not one number for each element.
    """
    x = operand(input)
    counts = convert_to_tensor(repeats)
    if not counts.dtype.is_integer:
        raise TypeError(
            "Argument `tensor` (name: repeats) must be of type integer. Received `tensor` = "
            f"{np.asarray(counts)} of dtype: {counts.dtype}"
        )
    if counts.ndim > 1:
        raise ValueError(f"Shape {counts.shape} must have rank at most 1")
    if not x.ndim or (axis is None and x.ndim > 1):
        x = reshape_public(x, (-1,))
    axis = 0 if axis is None else integer(axis, "Tile")
    shape = shape_of(x)
    rank = len(shape)
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    axis %= rank
    before, length, after = shape[:axis], shape[axis], shape[axis + 1 :]
    times = integers(counts, "Tile", "Tmultiples").reshape(-1)
    if len(times) == 1:
        count = int(times[0])
        if count < 0:
            raise invalid_argument("Tile", f"Expected multiples[{axis + 1}] >= 0, but got {count}")
        thin = (*before, length, 1, *after)
        wide = (*before, length, count, *after)
        return _spread(x, thin, wide, (*before, length * count, *after))
    if len(times) != length:
        raise ValueError(f"Dimensions {length} and {len(times)} are not compatible")
    return _pick(x, np.repeat(np.arange(length), np.maximum(times, 0)), axis)


def _pick(x, positions, axis):
    """Gather at fixed positions; an axis counted from the end keeps its gradient dense."""
    attrs = {"axis": axis - x.ndim, "batch_dims": 0}
    return apply(gather_row.op, (x, EagerTensor(positions)), attrs)


def _padded_shape(shape, paddings):
    return tuple([a + d + b for d, (a, b) in zip(shape, paddings, strict=True)])


def _inside(shape, paddings):
    """The key of the original inside a padded tensor."""
    return tuple([(a, a + d, 1) for d, (a, _) in zip(shape, paddings, strict=True)])


def _pad(x, paddings):
    shape = _padded_shape(x.shape, paddings)
    if x.dtype.kind == "O":
        return _put_inside(np.full(shape, b"", object), x, paddings)
    return _put_inside(np.zeros(shape, x.dtype), x, paddings)


def _pad_with(x, constant_values, paddings):
    shape = _padded_shape(x.shape, paddings)
    return _put_inside(np.full(shape, constant_values, x.dtype), x, paddings)


def _put_inside(whole, x, paddings):
    if not whole.ndim:
        return x
    whole[tuple([slice(a, a + d) for d, (a, _) in zip(x.shape, paddings, strict=True)])] = x
    return whole


def _unpad(g, x_shape, *, paddings):
    return strided_slice_row(g, key=_inside(x_shape, paddings))


pad_row = linear(
    "Pad",
    _pad,
    infer=lambda x, *, paddings: Spec(_padded_shape(x.shape, paddings), x.dtype),
    transpose=_unpad,
    batch=lambda op, values, flags, attrs: op.call(
        values[0], paddings=((0, 0), *attrs["paddings"])
    ),
    checked=False,
    raw=lambda input, paddings: pad(input, paddings),
)


def _infer_pad_with(x, constant_values, *, paddings):
    if constant_values.dtype != x.dtype:
        raise dtype_mismatch("PadV2", 2, x.dtype, constant_values.dtype)
    if constant_values.shape:
        raise invalid_argument(
            "PadV2", f"constant_values must be a scalar. Found: {words(constant_values.shape)}"
        )
    return Spec(_padded_shape(x.shape, paddings), x.dtype)


def _batch_pad_with(op, values, flags, attrs):
    if not flags[1]:
        return op.call(*values, paddings=((0, 0), *attrs["paddings"]))
    x, constants = all_batched(values, flags)
    paddings = ((0, 0), *attrs["paddings"])
    inside = _pad(np.ones(shape_of(x), np.bool_), paddings)
    size = shape_of(x)[:1] + (1,) * len(attrs["paddings"])
    return select(inside, pad_row(x, paddings=paddings), reshape(constants, shape=size))


pad_with_row = opaque(
    "PadV2",
    _pad_with,
    inputs="x constant_values",
    infer=_infer_pad_with,
    vjp={"x": _unpad},
    jvp=lambda tangents, inputs, out, attrs: (
        None if tangents[0] is None else pad_row(tangents[0], **attrs)
    ),
    batch=_batch_pad_with,
    holomorphic=False,
    raw=lambda input, paddings, constant_values: apply(
        pad_with_row.op,
        operands(input, constant_values),
        {"paddings": padding_widths(paddings, operand(input).shape, "PadV2")},
    ),
)


@export("pad")
def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    """Adds elements before and after, along each axis.

    Args:
        tensor: the tensor.
        paddings: for each axis how many before and how many after.
        mode: `"CONSTANT"`, `"REFLECT"` (mirrored without the edge) or `"SYMMETRIC"` (with it).
        constant_values: what to add in the first of these modes.

    Raises:
        InvalidArgumentError: the paddings do not fit the tensor.
        ValueError: there is no such mode.
    """
    mode = mode.upper()
    if mode not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
            f"Received `mode` = {mode}"
        )
    x = operand(tensor)
    mirrored = mode != "CONSTANT"
    plain = type(constant_values) is int and constant_values == 0
    op_name = "MirrorPad" if mirrored else "Pad" if plain else "PadV2"
    widths = padding_widths(paddings, x.shape, op_name)
    if mirrored:
        return apply(mirror_pad.op, (x,), {"paddings": widths, "mode": mode})
    if plain:
        return apply(pad_row.op, (x,), {"paddings": widths})
    return apply(pad_with_row.op, (x, operand(constant_values, x)), {"paddings": widths})


def padding_widths(paddings, shape, op_name):
    """Widths of padding as pairs of integers, one for each axis, or TensorFlow's error."""
    array = integers(paddings, op_name, "Tpaddings")
    if array.ndim != 2 or array.shape[1] != 2:
        raise invalid_argument(
            op_name, f"paddings must be a matrix with 2 columns: {words(array.shape)}"
        )
    if len(array) != len(shape):
        raise invalid_argument(
            op_name,
            f"The first dimension of paddings must be the rank of inputs{words(array.shape)} "
            f"{words(shape)}",
        )
    for before, after in array.tolist():
        if before < 0 or after < 0:
            raise invalid_argument(op_name, f"Paddings must be non-negative: {before} {after}")
    return tuple([tuple(pair) for pair in array.tolist()])
