"""The functions of `tf.ragged`, and public functions that treat ragged tensors in their own way."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import PUBLIC, export, public
from ..core.ragged_spec import RaggedTensorSpec
from ..core.ragged_tensor import RaggedTensor, splits_dtype
from ..core.sparse_tensor import SparseTensor, SparseTensorSpec
from ..core.spec import TensorSpec
from ..core.tensor import EagerTensor
from .arguments import integer, integers
from .ragged import (
    expand_ragged,
    for_ragged,
    get_item,
    of_lengths,
    rows_at,
    spans,
    with_ragged_rank,
)
from .selection import select

_INT64 = np.dtype(np.int64)


@export("ragged.map_flat_values")
def map_flat_values(op, *args, **kwargs):
    """Calls `op` with the flat values of every ragged argument; their rows must be the same.

    Raises:
        ValueError: there is no ragged argument, or the number of values changes.
        InvalidArgumentError: the rows differ.
    """
    ragged = [x for x in (*args, *kwargs.values()) if isinstance(x, RaggedTensor)]
    if not ragged:
        return op(*args, **kwargs)
    first = ragged[0]
    for other in ragged[1:]:
        same = other.ragged_rank == first.ragged_rank and all(
            np.array_equal(a, b)
            for a, b in zip(other._nested_splits, first._nested_splits, strict=True)
        )
        if not same:
            raise invalid_argument("map_flat_values", "Inputs must have identical ragged splits")

    def flat(x):
        return x.flat_values if isinstance(x, RaggedTensor) else x

    result = op(*[flat(x) for x in args], **{key: flat(x) for key, x in kwargs.items()})
    result = convert_to_tensor(result)
    if not result.ndim or result.shape[0] != first.flat_values.shape[0]:
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same outer-"
            f"dimension size as flat_values of any ragged inputs. (output shape: {result.shape}; "
            f"expected outer dimension size: {first.flat_values.shape[0]})"
        )
    return first.with_flat_values(result)


@export("ragged.range")
def range_(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=dtypes.int64):
    """Rows of evenly spaced numbers, each from a start up to before a limit.

    Args:
        starts: where rows start; where they end if `limits` is None.
        limits: where they end.
        deltas: the steps.
        dtype: the dtype of the numbers.
        row_splits_dtype: int64 or int32.

    Raises:
        InvalidArgumentError: a step is 0.
    """
    if limits is None:
        starts, limits = 0, starts
    parts = [convert_to_tensor(x, None if hasattr(x, "dtype") else dtype)._value
             for x in (starts, limits, deltas)]  # fmt: skip
    goal = np.result_type(*parts) if dtype is None else dtypes.as_dtype(dtype).numpy_dtype
    shape = np.broadcast_shapes(*[np.shape(part) for part in parts])
    if len(shape) > 1:
        raise ValueError("starts, limits and deltas must be scalars or vectors.")
    first, last, step = [np.broadcast_to(part, shape).reshape(-1) for part in parts]
    if (step == 0).any():
        raise invalid_argument("RaggedRange", "Requires delta != 0")
    lengths = np.maximum(np.ceil((last - first) / step), 0).astype(_INT64)
    steps = spans(np.zeros(len(lengths), _INT64), lengths)
    values = np.repeat(first, lengths) + steps * np.repeat(step, lengths)
    result = EagerTensor(values.astype(goal))
    return of_lengths(result, lengths, splits_dtype(row_splits_dtype))


@export("ragged.boolean_mask")
def boolean_mask(data, mask, name=None):
    """The elements for which a mask, dense or ragged, is true, in the rows where they stood."""
    if not isinstance(mask, RaggedTensor):
        mask = convert_to_tensor(mask, dtypes.bool_)
        if not mask.ndim:
            raise ValueError("mask cannot be scalar.")
        if mask.ndim == 1:
            return rows_at(_tensor(data), np.flatnonzero(np.asarray(mask._value)))
        mask = with_ragged_rank(mask, mask.ndim - 1)
    data = with_ragged_rank(_tensor(data), mask.ragged_rank)
    if not np.array_equal(mask._splits, data._splits):
        raise invalid_argument("boolean_mask", "mask and data must have the same rows")
    if isinstance(mask.values, RaggedTensor):
        return data.with_values(boolean_mask(data.values, mask.values))
    kept = np.asarray(mask.values._value)
    lengths = np.bincount(mask._rowids[kept], minlength=mask._nrows)
    return of_lengths(rows_at(data.values, np.flatnonzero(kept)), lengths, data._splits.dtype)


def _tensor(x):
    return x if isinstance(x, RaggedTensor) else convert_to_tensor(x)


@export("ragged.row_splits_to_segment_ids")
def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """The row number of each value."""
    array = integers(splits, "RowSplitsToSegmentIds", "T")
    if array.ndim != 1 or not array.size:
        raise ValueError("Invalid row_splits: []")
    dtype = array.dtype if hasattr(splits, "dtype") else _INT64
    dtype = dtype if out_type is None else splits_dtype(out_type)
    return EagerTensor(np.repeat(np.arange(len(array) - 1, dtype=dtype), np.diff(array)))


@export("ragged.segment_ids_to_row_splits")
def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """Where the rows begin and end whose values have these row numbers, in order."""
    ids = integers(segment_ids, "SegmentIdsToRowSplits", "T")
    dtype = ids.dtype if hasattr(segment_ids, "dtype") else _INT64
    dtype = dtype if out_type is None else splits_dtype(out_type)
    count = int(ids[-1]) + 1 if ids.size else 0
    count = count if num_segments is None else integer(num_segments, "SegmentIdsToRowSplits")
    lengths = np.bincount(ids, minlength=count) if ids.size else np.zeros(count, _INT64)
    return EagerTensor(np.concatenate([[0], np.cumsum(lengths)]).astype(dtype))


@export("ragged.stack_dynamic_partitions")
def stack_dynamic_partitions(data, partitions, num_partitions, name=None):
    """The elements of `data` sorted into rows by their partition numbers."""
    numbers = integers(partitions, "DynamicPartition", "T")
    count = integer(num_partitions, "DynamicPartition")
    if numbers.size and (numbers.min() < 0 or numbers.max() >= count):
        raise invalid_argument(
            "DynamicPartition", f"partitions are not in [0, {count}): {numbers.tolist()}"
        )
    data = _tensor(data)
    if not isinstance(data, RaggedTensor) and numbers.ndim != 1:
        data = PUBLIC["reshape"](data, (numbers.size, *data.shape[numbers.ndim :]))
    flat = numbers.reshape(-1)
    order = np.argsort(flat, kind="stable")
    lengths = np.bincount(flat, minlength=count)
    narrow = not isinstance(data, RaggedTensor) and getattr(partitions, "dtype", "") != dtypes.int64
    return of_lengths(rows_at(data, order), lengths, np.int32 if narrow else np.int64)


# Public functions on ragged tensors ---------------------------------------------------------------


@for_ragged("expand_dims")
def _expand_dims(input, axis, name=None):
    return expand_ragged(input, integer(axis, "ExpandDims"))


@for_ragged("size")
def _size(input, out_type=dtypes.int32, name=None):
    return PUBLIC["size"](input.flat_values, out_type)


@for_ragged("shape")
def _shape(input, out_type=None, name=None):
    dtype = dtypes.int32 if out_type is None else out_type
    return public("experimental.DynamicRaggedShape").from_tensor(input, dtype)


@for_ragged("zeros_like")
def _zeros_like(input, dtype=None, name=None, layout=None):
    return input.with_flat_values(PUBLIC["zeros_like"](input.flat_values, dtype))


@for_ragged("ones_like")
def _ones_like(input, dtype=None, name=None, layout=None):
    return input.with_flat_values(PUBLIC["ones_like"](input.flat_values, dtype))


@for_ragged("tile")
def _tile(input, multiples, name=None):
    counts = integers(multiples, "Tile", "Tmultiples").tolist()
    if len(counts) != input.ndim:
        raise ValueError(f"multiples must have length {input.ndim}. Received: {counts}.")
    return _tiled(input, counts)


def _tiled(x, counts):
    if not isinstance(x, RaggedTensor):
        return PUBLIC["tile"](x, counts)
    inner = (
        x.with_values(_tiled(x.values, [1, *counts[2:]])) if max(counts[2:], default=1) != 1 else x
    )
    order = np.repeat(np.arange(inner._nrows), counts[1])
    repeated = rows_at(inner, order)
    lengths = inner._lengths * counts[1]
    row = of_lengths(repeated.values, lengths, x._splits.dtype)
    return rows_at(row, np.tile(np.arange(row._nrows), counts[0]))


@for_ragged("reverse")
def _reverse(tensor, axis, name=None):
    axes = {a % tensor.ndim for a in np.atleast_1d(np.asarray(axis)).tolist()}
    return _reversed(tensor, axes)


def _reversed(x, axes):
    if not isinstance(x, RaggedTensor):
        return PUBLIC["reverse"](x, sorted(axes)) if axes else x
    inner = {a - 1 for a in axes if a > 1}
    if inner:
        x = x.with_values(_reversed(x.values, inner))
    if 1 in axes:
        x = get_item(x, (slice(None), slice(None, None, -1)))
    return get_item(x, (slice(None, None, -1),)) if 0 in axes else x


@for_ragged("where")
def _where(condition, x=None, y=None, name=None):
    if x is None and y is None:
        return PUBLIC["boolean_mask"](condition.to_sparse().indices, condition.flat_values)
    if x is None or y is None:
        raise ValueError("x and y must be either both None or both non-None")
    like = x if hasattr(x, "_dispatch_level") else y
    return apply(select.op, (condition, operand(x, like), operand(y, like)))


@for_ragged("clip_by_value")
def _clip_by_value(t, clip_value_min, clip_value_max, name=None):
    return PUBLIC["maximum"](PUBLIC["minimum"](t, clip_value_max), clip_value_min)


@for_ragged("reduce_logsumexp")
def _reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    top = PUBLIC["stop_gradient"](PUBLIC["reduce_max"](input_tensor, axis, keepdims=True))
    total = PUBLIC["reduce_sum"](PUBLIC["exp"](input_tensor - top), axis, keepdims)
    return PUBLIC["math.log"](total) + PUBLIC["reshape"](top, total.shape)


@for_ragged("reduce_variance")
def _reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    mean = PUBLIC["reduce_mean"](input_tensor, axis, keepdims=True)
    return PUBLIC["reduce_mean"](PUBLIC["square"](input_tensor - mean), axis, keepdims)


@for_ragged("reduce_std")
def _reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    return PUBLIC["sqrt"](_reduce_variance(input_tensor, axis, keepdims))


@for_ragged("softmax")
def _softmax(logits, axis=None, name=None):
    axis = -1 if axis is None else axis
    top = PUBLIC["stop_gradient"](PUBLIC["reduce_max"](logits, axis, keepdims=True))
    powers = PUBLIC["exp"](logits - top)
    return powers / PUBLIC["reduce_sum"](powers, axis, keepdims=True)


@export("type_spec_from_value")
def type_spec_from_value(value):
    """The spec that describes a tensor, sparse or ragged tensor, or array.

    Raises:
        TypeError: the value has none.
    """
    if isinstance(value, RaggedTensor):
        return RaggedTensorSpec.from_value(value)
    if isinstance(value, SparseTensor):
        return SparseTensorSpec.from_value(value)
    if hasattr(value, "_type_spec"):
        return value._type_spec
    try:
        tensor = convert_to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}"
        ) from None
    return TensorSpec(tensor.shape, tensor.dtype)
