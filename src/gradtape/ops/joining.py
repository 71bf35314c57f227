"""Joining and separating tensors: concat, stack, split, unstack."""

import numpy as np

from ..core.composite import Composite, own_function
from ..core.convert import convert_to_tensor, operand, operands, set_stack
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arguments import integer, integers
from .broadcasting import broadcast_to, reshape, words
from .casting import cast
from .families import linear, shape_of
from .identity import identity
from .pointwise import dtype_mismatch


def _infer_concat(*values, axis):
    first = values[0]
    rank = len(first.shape)
    if not rank:
        raise invalid_argument(
            "ConcatV2", "ConcatOp : Can't concatenate scalars (use tf.stack instead)"
        )
    if not -rank <= axis < rank:
        raise invalid_argument(
            "ConcatV2",
            f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), but got "
            f"{axis}",
        )
    axis %= rank
    total = 0
    for i, x in enumerate(values):
        if x.dtype != first.dtype:
            raise dtype_mismatch("ConcatV2", i, first.dtype, x.dtype)
        if len(x.shape) != rank:
            raise invalid_argument(
                "ConcatV2",
                "ConcatOp : Ranks of all input tensors should match: shape[0] = "
                f"{words(first.shape)} vs. shape[{i}] = {words(x.shape)}",
            )
        for d in range(rank) if x.shape != first.shape else ():
            if d != axis and x.shape[d] != first.shape[d]:
                raise invalid_argument(
                    "ConcatV2",
                    f"ConcatOp : Dimension {d} in both shapes must be equal: shape[0] = "
                    f"{words(first.shape)} vs. shape[{i}] = {words(x.shape)}",
                )
        total += x.shape[axis]
    return Spec((*first.shape[:axis], total, *first.shape[axis + 1 :]), first.dtype)


def _pieces(g, shapes, axis):
    """`g` cut along `axis` into parts of the sizes that were joined."""
    axis %= len(shape_of(g))
    return split_row(g, sizes=tuple([shape[axis] for shape in shapes]), axis=axis)


def all_batched(values, flags):
    """The inputs with every one carrying the leading axis, broadcast where it is missing."""
    size = next(shape_of(x)[0] for x, flag in zip(values, flags, strict=True) if flag)
    spread = []
    for x, flag in zip(values, flags, strict=True):
        if not flag:
            x = broadcast_to(reshape(x, shape=(1, *shape_of(x))), shape=(size, *shape_of(x)))
        spread.append(x)
    return spread


def _batch_concat(op, values, flags, attrs):
    values = all_batched(values, flags)
    rank = len(shape_of(values[0])) - 1
    return op.call(values, axis=attrs["axis"] % rank + 1)


concat_row = linear(
    "ConcatV2",
    lambda *values, axis: np.concatenate(values, axis=axis),
    inputs="*values",
    infer=_infer_concat,
    transpose=lambda g, values_shape, *, axis: _pieces(g, values_shape, axis),
    batch=_batch_concat,
)


def _infer_split(value, *, sizes, axis):
    rank = len(value.shape)
    if not -rank <= axis < rank:
        raise invalid_argument(
            "SplitV", f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {axis}"
        )
    axis %= rank
    if sum(sizes) != value.shape[axis]:
        raise invalid_argument(
            "SplitV",
            "Determined shape must either match input shape along split_dim exactly if fully "
            "specified, or be less than the size of the input along split_dim if not fully "
            f"specified.  Got: {sum(sizes)}",
        )
    return tuple(
        [Spec((*value.shape[:axis], n, *value.shape[axis + 1 :]), value.dtype) for n in sizes]
    )


def _split(value, sizes, axis):
    before = (slice(None),) * (axis % value.ndim)
    parts = []
    start = 0
    for size in sizes:
        parts.append(value[(*before, slice(start, start + size))])
        start += size
    return tuple(parts)


split_row = linear(
    "SplitV",
    _split,
    inputs="value",
    infer=_infer_split,
    transpose=lambda g, *, axis: concat_row(g, axis=axis),
    batch=lambda op, values, flags, attrs: op.call(
        values[0], sizes=attrs["sizes"], axis=attrs["axis"] % (len(shape_of(values[0])) - 1) + 1
    ),
    outputs=-1,
    raw=lambda value, size_splits, axis, num_split: split(value, size_splits, axis, num_split),
)


def _infer_pack(*values, axis):
    first = values[0]
    for i, x in enumerate(values):
        if x.dtype != first.dtype:
            raise dtype_mismatch("Pack", i, first.dtype, x.dtype)
        if x.shape != first.shape:
            raise invalid_argument(
                "Pack",
                f"Shapes of all inputs must match: values[0].shape = {words(first.shape)} != "
                f"values[{i}].shape = {words(x.shape)}",
            )
    shape = first.shape
    axis %= len(shape) + 1
    return Spec((*shape[:axis], len(values), *shape[axis:]), first.dtype)


def _pack(*values, axis):
    first = values[0]
    shape = first.shape
    if not shape:
        if first.dtype.kind == "O":  # arrays of rank 0, which would be nested as they are
            values = [x.item() for x in values]
        return np.array(values, first.dtype)
    axis %= len(shape) + 1
    if axis == 0:
        return np.concatenate(values).reshape((len(values), *shape))
    longer = (*shape[:axis], 1, *shape[axis:])
    return np.concatenate([x.reshape(longer) for x in values], axis)


def _batch_pack(op, values, flags, attrs):
    values = all_batched(values, flags)
    return op.call(values, axis=attrs["axis"] % len(shape_of(values[0])) + 1)


pack = linear(
    "Pack",
    _pack,
    inputs="*values",
    infer=_infer_pack,
    transpose=lambda g, *, axis: unpack(g, axis=axis),
    batch=_batch_pack,
    raw="values, axis=0",
)


def _infer_unpack(value, *, axis):
    axis %= len(value.shape)
    shape = value.shape[:axis] + value.shape[axis + 1 :]
    return (Spec(shape, value.dtype),) * value.shape[axis]


def _unpack(value, axis):
    rank = value.ndim
    axis %= rank
    if axis:
        value = value.transpose((axis, *[a for a in range(rank) if a != axis]))
    if value.dtype.kind == "O":  # a single string stays an array of rank 0
        return tuple([value[i, ...] for i in range(len(value))])
    return tuple(value)


unpack = linear(
    "Unpack",
    _unpack,
    inputs="value",
    infer=_infer_unpack,
    transpose=lambda g, *, axis: pack(g, axis=axis),
    batch=lambda op, values, flags, attrs: op.call(
        values[0], axis=attrs["axis"] % (len(shape_of(values[0])) - 1) + 1
    ),
    outputs=-1,
    checked=False,
    raw=lambda value, num, axis=0: unstack(value, num, axis),
)


@export("concat")
def concat(values, axis, name="concat"):
    """Joins tensors along an existing axis.

    Args:
        values: a list of tensors; Python values take the dtype of the tensors among them.
        axis: the axis, counted from the end if negative.

    Raises:
        InvalidArgumentError: the shapes differ in another axis, or there is no such axis.
    """
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    axis = integer(axis, "ConcatV2")
    if not values:
        raise invalid_argument(
            "ConcatV2", "Expected at least one tensor to concatenate. Received: []"
        )
    if len(values) == 1:
        return identity(values[0])
    return apply(concat_row.op, operands(*values), {"axis": axis})


@export("stack")
def stack(values, axis=0, name="stack"):
    """Joins tensors of equal shape along a new axis.

    Args:
        values: a list of tensors; Python values take the dtype of the tensors among them.
        axis: where the new axis stands in the result.

    Raises:
        ValueError: there is no such place.
        InvalidArgumentError: the shapes or dtypes differ.
    """
    axis = int(axis)
    given = isinstance(values, (list, tuple))
    if axis == 0 and not (given and any(_is_tensor(x) for x in values)):
        try:
            return convert_to_tensor(values)
        except ValueError:
            if not given or not values:
                raise
    parts = operands(*values)
    rank = parts[0].ndim + 1
    if not -rank <= axis < rank:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")
    return apply(pack.op, parts, {"axis": axis})


def _is_tensor(item):
    return hasattr(item, "_dispatch_level") or hasattr(item, "_to_tensor")


def _stack_sequence(sequence, dtype):
    """Nested lists with tensors inside, as one tensor.

    Numbers take the first tensor's dtype; where another is asked for, all are cast to it.
    """
    common = next(_tensors_in(sequence)).dtype if dtype is None else dtype
    parts = []
    for item in sequence:
        if not _is_tensor(item):
            item = convert_to_tensor(item, common)
        elif dtype is not None:
            item = cast(item, dtype)
        parts.append(operand(item))
    return apply(pack.op, tuple(parts), {"axis": 0})


def _tensors_in(sequence):
    for item in sequence:
        if _is_tensor(item):
            yield item
        elif isinstance(item, (list, tuple)):
            yield from _tensors_in(item)


set_stack(_stack_sequence)


@export("unstack")
def unstack(value, num=None, axis=0, name="unstack"):
    """Takes a tensor apart along an axis, into a list of tensors with one axis less.

    Args:
        value: the tensor.
        num: the length of that axis, if it is to be checked.
        axis: the axis.

    Raises:
        ValueError: there is no such axis.
        InvalidArgumentError: the axis has another length than `num`.
    """
    value = operand(value)
    shape = value.shape
    rank = len(shape)
    if not -rank <= axis < rank:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")
    if num is not None and num != shape[axis]:
        raise invalid_argument(
            "Unpack", f"Input shape axis {axis} must equal {num}, got shape {words(shape)}"
        )
    return list(apply(unpack.op, (value,), {"axis": axis}))


@export("split")
def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """Cuts a tensor along an axis into a list of tensors.

    Args:
        value: the tensor.
        num_or_size_splits: the number of equal parts, or a list of their sizes, of which one may
            be -1 for what is left.
        axis: the axis.
        num: the number of sizes, if it is to be checked.

    Raises:
        InvalidArgumentError: the parts do not add up to the axis, or there is no such axis.
        ValueError: a number of parts that is a tensor.
    """
    value = operand(value)
    if isinstance(value, Composite):
        return own_function(value, "split")(value, num_or_size_splits, axis, num)
    shape = value.shape.as_list()
    equal_parts = isinstance(num_or_size_splits, (int, np.integer))
    op_name = "Split" if equal_parts else "SplitV"
    axis = integer(axis, op_name)
    if equal_parts:
        sizes = _equal_sizes(shape, int(num_or_size_splits), axis)
    else:
        sizes = _given_sizes(shape, num_or_size_splits, axis, num)
    return list(apply(split_row.op, (value,), {"sizes": sizes, "axis": axis}))


def _check_split_axis(op_name, rank, axis):
    if not -rank <= axis < rank:
        raise invalid_argument(
            op_name, f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {axis}"
        )


def _equal_sizes(shape, parts, axis):
    if parts < 1:
        raise invalid_argument(
            "Split", f"Value for attr 'num_split' of {parts} must be at least minimum 1"
        )
    _check_split_axis("Split", len(shape), axis)
    if shape[axis] % parts:
        raise invalid_argument(
            "Split",
            "Number of ways to split should evenly divide the split dimension, but got split_dim "
            f"{axis} (size = {shape[axis]}) and num_split {parts}",
        )
    return (shape[axis] // parts,) * parts


def _given_sizes(shape, sizes, axis, num):
    if np.ndim(sizes) == 0:
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {sizes!s}"
        )
    array = integers(sizes, "SplitV", "Tlen")
    if array.ndim > 1 or (num is not None and num != len(array)):
        raise invalid_argument(
            "SplitV",
            "size of the split_tensor must be 1-D and have the same elements as outputs got "
            f"{array.ndim} -D and {array.size} elements",
        )
    if not len(array):
        raise invalid_argument(
            "SplitV", "Value for attr 'num_split' of 0 must be at least minimum 1"
        )
    _check_split_axis("SplitV", len(shape), axis)
    sizes = array.tolist()
    if sizes.count(-1) > 1:
        raise invalid_argument("SplitV", "There can only be one -1 in the input.")
    for i, size in enumerate(sizes):
        if size < -1:
            raise invalid_argument("SplitV", f"Split size at index {i} must be >= 0. Got: {size}")
    if -1 in sizes:
        rest = shape[axis] - (sum(sizes) + 1)
        if rest >= 0:
            sizes[sizes.index(-1)] = rest
        else:
            sizes.remove(-1)
    return tuple(sizes)


@export("meshgrid")
def meshgrid(*args, indexing="xy", name="meshgrid"):
    """Coordinate tensors of a grid, from the coordinates along each of its axes.

    Args:
        args: tensors of rank 1.
        indexing: `"xy"` for a grid whose first two axes are swapped, as in plots; else `"ij"`.

    Raises:
        ValueError: `indexing` is neither.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'"
        )
    axes = [operand(x) for x in args]
    for i, x in enumerate(axes):
        if x.dtype is not axes[0].dtype:
            raise dtype_mismatch("Mul", i, axes[0].dtype.numpy_dtype, x.dtype.numpy_dtype)
    sizes = [x.shape.num_elements() for x in axes]
    order = list(range(len(axes)))
    if indexing == "xy" and len(axes) > 1:
        order[:2] = [1, 0]
    goal = tuple([sizes[i] for i in order])
    grid = []
    for i, x in enumerate(axes):
        aligned = tuple([sizes[j] if j == i else 1 for j in order])
        column = apply(reshape.op, (x,), {"shape": aligned})
        grid.append(apply(broadcast_to.op, (column,), {"shape": goal}))
    return grid
