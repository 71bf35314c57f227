"""Reductions of ragged tensors: over rows, over columns, and inside of values."""

import numpy as np

from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import PUBLIC, public
from ..core.ragged_tensor import RaggedTensor
from ..core.tensor import EagerTensor
from . import arithmetic
from .casting import cast
from .ragged import expand_ragged, of_lengths, positions_in_rows

_SEGMENTS = {
    "Sum": "math.unsorted_segment_sum",
    "Mean": "math.unsorted_segment_sum",
    "Max": "math.unsorted_segment_max",
    "Min": "math.unsorted_segment_min",
    "Prod": "math.unsorted_segment_prod",
    "All": "math.unsorted_segment_min",
    "Any": "math.unsorted_segment_max",
}


def _reduce(op, inputs, attrs):
    (x,) = inputs
    rank = x.ndim
    axes = set()
    for axis in attrs["axis"]:
        if not -rank <= axis < rank:
            raise invalid_argument(
                op.name,
                f"Invalid reduction dimension ({axis} for input with {rank} dimension(s)",
            )
        axes.add(axis % rank)
    if not axes:
        return x
    if len(axes) == rank:
        flat = x.flat_values
        every = {"axis": tuple(range(flat.ndim)), "keepdims": False}
        total = apply(op, (flat,), every)
        return _with_ones(total, rank) if attrs["keepdims"] else total
    if op.name == "Mean" and len(axes) > 1:
        return _mean_over(x, axes, attrs)
    for axis in sorted(axes, reverse=True):
        x = _along(op, x, axis)
        if attrs["keepdims"]:
            x = expand_ragged(x, axis) if isinstance(x, RaggedTensor) else _expanded(x, axis)
    return x


def _expanded(x, axis):
    return PUBLIC["expand_dims"](x, axis)


def _with_ones(x, rank):
    return PUBLIC["reshape"](x, (1,) * rank)


def _mean_over(x, axes, attrs):
    sums, counts = [
        PUBLIC["reduce_sum"](each, sorted(axes), attrs["keepdims"])
        for each in (x, PUBLIC["ones_like"](x))
    ]
    return sums / counts


def _along(op, x, axis):
    if not isinstance(x, RaggedTensor):
        return apply(op, (x,), {"axis": (axis,), "keepdims": False})
    if axis > 1:
        return x.with_values(_along(op, x.values, axis - 1))
    if axis == 0:
        ids, count = positions_in_rows(x), int(x._lengths.max()) if x._nrows else 0
    else:
        ids, count = x._rowids, x._nrows
    return _by_segments(op, x.values, ids.astype(np.int64), count)


def _by_segments(op, values, ids, count):
    if isinstance(values, RaggedTensor):
        return _rows_by_segments(op, values, ids, count)
    truths = op.name in ("All", "Any")
    if truths:
        values = cast(values, "int32")
    total = public(_SEGMENTS[op.name])(values, EagerTensor(ids), count)
    if truths:
        return _truths_of(op.name, total, ids, count)
    if op.name != "Mean":
        return total
    counts = np.bincount(ids, minlength=count).astype(total.dtype.numpy_dtype)
    counts = counts.reshape((count,) + (1,) * (total.ndim - 1))
    return arithmetic.real_div(total, EagerTensor(counts))


def _truths_of(name, total, ids, count):
    """Bools from the extremes of 0 and 1; empty rows are all true and none is."""
    empty = np.bincount(ids, minlength=count) == 0
    found = np.asarray(total._value) == 1
    empty = empty.reshape((count,) + (1,) * (found.ndim - 1))
    return EagerTensor(np.where(empty, name == "All", found))


def _rows_by_segments(op, rows, ids, count):
    """Rows of one segment combined element by element; the result's rows are as long as theirs."""
    lengths = np.zeros(count, np.int64)
    np.maximum.at(lengths, ids, rows._lengths)
    starts = np.cumsum(lengths) - lengths
    inner = starts[ids[rows._rowids]] + positions_in_rows(rows)
    total = _by_segments(op, rows.values, inner.astype(np.int64), int(lengths.sum()))
    return of_lengths(total, lengths, rows._splits.dtype)


for _name in _SEGMENTS:
    RaggedTensor._handlers[_name] = _reduce
