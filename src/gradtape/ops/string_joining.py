"""Joining strings: element by element, along axes, by segments, and into a template."""

import math

import numpy as np

from ..core import dtypes
from ..core.composite import open_to_composites
from ..core.convert import convert_to_tensor
from ..core.dispatch import apply
from ..core.errors import OutOfRangeError, invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import EagerTensor
from .arguments import integer, integers
from .axes import axes_of
from .broadcasting import broadcast_to, reshape, words
from .families import non_differentiable, shape_of
from .joining import all_batched
from .strings import STRING, check_strings, plain_bytes, string_operand


def _infer_join(*inputs, separator):
    check_strings("StringJoin", *inputs)
    shape = ()
    for x in inputs:
        if x.shape:
            if shape and x.shape != shape:
                raise invalid_argument(
                    "StringJoin",
                    f"Input shapes do not match: {words(shape)} vs. {words(x.shape)}",
                )
            shape = x.shape
    return Spec(shape, STRING)


def _join(*inputs, separator):
    separator = plain_bytes(separator)
    arrays = np.broadcast_arrays(*inputs)
    out = np.empty(arrays[0].size, STRING)
    out[:] = [separator.join(row) for row in zip(*[a.reshape(-1) for a in arrays], strict=True)]
    return out.reshape(arrays[0].shape)


def _batch_join(op, values, flags, attrs):
    values = all_batched(values, flags)
    shape = max([shape_of(x) for x in values], key=len)
    spread = []
    for x in values:
        if shape_of(x) != shape:
            thin = shape_of(x) + (1,) * (len(shape) - 1)
            x = broadcast_to(reshape(x, shape=thin), shape=shape)
        spread.append(x)
    return op.call(spread, **attrs)


_join_row = non_differentiable(
    "StringJoin",
    _join,
    inputs="*inputs",
    infer=_infer_join,
    batch=_batch_join,
    raw='inputs, separator=b""',
)


@export("strings.join")
def join(inputs, separator="", name=None):
    """Strings joined element by element; scalars go with every element.

    Raises:
        InvalidArgumentError: the shapes of the others differ.
    """
    tensors = tuple([string_operand(x) for x in inputs])
    return apply(_join_row.op, tensors, {"separator": plain_bytes(separator)})


# Along axes ---------------------------------------------------------------------------------------


def _infer_reduce_join(inputs, *, reduction_indices, keep_dims, separator):
    check_strings("ReduceJoin", inputs)
    rank = len(inputs.shape)
    for axis in reduction_indices:
        if not -rank <= axis < rank:
            raise OutOfRangeError(
                None, None,
                f"Invalid reduction dimension {axis} for input with {rank} dimension(s) "
                "[Op:ReduceJoin] name: ",
            )  # fmt: skip
    gone = [axis % rank for axis in reduction_indices]
    if len({*gone}) < len(gone):
        raise invalid_argument("ReduceJoin", f"Duplicate reduction dimension {words(gone)}")
    if keep_dims:
        return Spec(tuple([1 if d in gone else n for d, n in enumerate(inputs.shape)]), STRING)
    return Spec(tuple([n for d, n in enumerate(inputs.shape) if d not in gone]), STRING)


def _reduce_join(inputs, reduction_indices, keep_dims, separator):
    separator = plain_bytes(separator)
    x = np.asarray(inputs)
    gone = [axis % x.ndim for axis in reduction_indices]
    kept = [d for d in range(x.ndim) if d not in gone]
    sizes = [x.shape[d] for d in kept]
    rows = x.transpose(kept + gone[::-1]).reshape((math.prod(sizes), -1 if x.size else 0))
    out = np.empty(len(rows), STRING)
    out[:] = [separator.join(row) for row in rows]
    if keep_dims:
        sizes = [1 if d in gone else n for d, n in enumerate(x.shape)]
    return out.reshape(sizes)


def _batch_reduce_join(op, values, flags, attrs):
    rank = len(shape_of(values[0])) - 1
    moved = tuple([axis % rank + 1 for axis in attrs["reduction_indices"]])
    return op.call(values[0], **{**attrs, "reduction_indices": moved})


_reduce_join_row = non_differentiable(
    "ReduceJoin",
    _reduce_join,
    inputs="inputs",
    infer=_infer_reduce_join,
    batch=_batch_reduce_join,
    raw='inputs, reduction_indices, keep_dims=False, separator=b""',
)


def _axes(axis, rank):
    """The axes, of which the last is the outermost; all in the order of the elements if None."""
    return axes_of(axis, rank, "ReduceJoin")[:: -1 if axis is None else 1]


@export("strings.reduce_join")
@open_to_composites
def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    """Strings joined along axes.

    Args:
        inputs: the strings.
        axis: an axis or list of axes, the innermost first; all if None.
        keepdims: whether to keep these axes with length 1.
        separator: what to put between.
    """
    inputs = string_operand(inputs)
    attrs = {
        "reduction_indices": _axes(axis, len(inputs._value.shape)),
        "keep_dims": bool(keepdims),
        "separator": plain_bytes(separator),
    }
    return apply(_reduce_join_row.op, (inputs,), attrs)


@export("strings.unsorted_segment_join")
def unsorted_segment_join(inputs, segment_ids, num_segments, separator="", name=None):
    """Strings with the same id joined.

    Args:
        inputs: the strings.
        segment_ids: ids, whose shape that of `inputs` starts with.
        num_segments: how many joined strings there are.
        separator: what to put between.

    Raises:
        InvalidArgumentError: an id is out of range.
    """
    x = np.asarray(string_operand(inputs)._value)
    ids = integers(segment_ids, "UnsortedSegmentJoin", "Tindices")
    count = integer(num_segments, "UnsortedSegmentJoin")
    if x.shape[: ids.ndim] != ids.shape:
        raise invalid_argument(
            "UnsortedSegmentJoin",
            f"segment_ids' shape must be a prefix of inputs' shape: {words(ids.shape)} vs. "
            f"{words(x.shape)}",
        )
    if ids.size and (ids.min() < 0 or ids.max() >= count):
        raise invalid_argument(
            "UnsortedSegmentJoin",
            "segment_ids are not allowed to exceed num_segments or to have negative values.",
        )
    inner = x.shape[ids.ndim :]
    rows = x.reshape(ids.size, -1) if x.size else x.reshape(ids.size, math.prod(inner))
    joint = plain_bytes(separator)
    out = np.empty((count, math.prod(inner)), STRING)
    for number in range(count):
        mine = rows[ids.reshape(-1) == number]
        out[number] = [joint.join(column) for column in mine.T]
    return EagerTensor(out.reshape((count, *inner)))


# Templates ----------------------------------------------------------------------------------------


@export("strings.format")
def format(template, inputs, placeholder="{}", summarize=3, name=None):
    """A template with tensors written in the place of its placeholders.

    Args:
        template: the text.
        inputs: a tensor or list of tensors.
        placeholder: what stands for a tensor.
        summarize: how many elements at either end of each axis to write; all if -1.

    Raises:
        ValueError: there are more or fewer tensors than placeholders.
    """
    if not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    parts = template.split(placeholder)
    if len(parts) - 1 != len(inputs):
        raise ValueError(
            f"The template expects {len(parts) - 1} tensors, but the inputs only has "
            f"{len(inputs)}. Please ensure the number of placeholders in template matches inputs "
            "length."
        )
    written = [_written(np.asarray(convert_to_tensor(x)._value), summarize) for x in inputs]
    pieces = [piece for pair in zip(parts, [*written, ""], strict=True) for piece in pair]
    return convert_to_tensor("".join(pieces), dtypes.string)


def _written(array, summarize, depth=1):
    """An array as TensorFlow prints it: brackets, spaces, and dots for what is left out."""
    if not array.ndim:
        return _element(array[()])
    joint = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * depth
    rows = list(array)
    if summarize >= 0 and len(rows) > 2 * summarize:
        front, back = rows[:summarize], rows[len(rows) - summarize :]
        texts = [_written(np.asarray(row), summarize, depth + 1) for row in front]
        texts.append("...")
        texts += [_written(np.asarray(row), summarize, depth + 1) for row in back]
    else:
        texts = [_written(np.asarray(row), summarize, depth + 1) for row in rows]
    return f"[{joint.join(texts)}]"


def _element(item):
    if isinstance(item, bytes):
        return f'"{item.decode("utf-8", "replace")}"'
    if isinstance(item, np.bool_):
        return str(int(item))
    if isinstance(item, np.complexfloating):
        return f"({_element(item.real)},{_element(item.imag)})"
    if np.asarray(item).dtype.kind in "iu":
        return str(int(item))
    digits = 17 if isinstance(item, np.float64) else 9
    return _shortest(item, digits)


def _shortest(item, digits):
    """The fewest digits that give the number back, with an exponent where that is shorter."""
    for precision in range(6, digits + 1):
        text = f"{float(item):.{precision}g}"
        if type(item)(text) == item or not np.isfinite(item):
            return text
    return f"{float(item):.{digits}g}"
