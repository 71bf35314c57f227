"""Writing at positions that are data: segment sums and scatter_nd."""

import math

import numpy as np

from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.indexed_slices import set_densify
from ..core.op import Spec
from .arguments import integer, integers
from .arithmetic import add, masked, maximum
from .broadcasting import reshape, words
from .casting import cast_row
from .families import dtype_of, linear, shape_of
from .indexing import (
    check_index_dtype,
    check_places,
    gather_nd_row,
    gather_row,
    ignores_bad_indices,
    index_operand,
    lies_inside,
    numpy_places,
    with_batch_coordinate,
)
from .joining import all_batched
from .logic import greater_equal
from .manipulation import move_axis, reshape_public
from .masks import boolean_mask
from .selection import select

_INT64 = np.dtype(np.int64)


def combine_rows(ufunc, array, numbers, rows):
    """Combines each of `rows`, in order, into the row of a contiguous `array` with its number."""
    if not len(numbers):
        return
    width = math.prod(rows.shape[1:])
    if width < _WIDE:
        return _combine_elements(ufunc, array, numbers, rows, width)
    order = numbers.argsort(kind="stable")
    in_order = numbers.take(order)
    again = _not_last(in_order)
    if again.size:
        _combine_in_order(
            ufunc, array, in_order.take(again), rows.take(order.take(again), 0), width
        )
    _combine_last(ufunc, array, numbers, rows)


def _not_last(in_order):
    """Where numbers in order are followed by the same number."""
    return (in_order[1:] == in_order[:-1]).nonzero()[0]


def _combine_in_order(ufunc, array, numbers, rows, width):
    """The same for numbers in order; in rounds, as long as few rows remain for the next."""
    again = _not_last(numbers)
    if again.size * 4 > len(numbers):
        return _combine_elements(ufunc, array, numbers, rows, width)
    if again.size:
        _combine_in_order(ufunc, array, numbers.take(again), rows.take(again, 0), width)
    _combine_last(ufunc, array, numbers, rows)


def _combine_last(ufunc, array, numbers, rows):
    """Combines the last row of each number, with what those before it have left."""
    combined = array.take(numbers, 0)
    # Where a number is there twice, NumPy keeps what is written last.
    array[numbers] = ufunc(combined, rows, out=combined, dtype=array.dtype)


# From so many elements on, rows are better combined as a whole.
_WIDE = 8


def _combine_elements(ufunc, array, numbers, rows, width):
    """The same, element by element: a flat `ufunc.at` is much quicker than NumPy's on rows."""
    if width != 1:
        numbers = (numbers.astype(_INT64)[:, None] * width + np.arange(width)).reshape(-1)
    ufunc.at(array.reshape(-1), numbers, rows.reshape(-1))


def row_numbers(indices, shape):
    """Places as numbers of rows of an array of `shape`, its indexed axes taken as one."""
    depth = indices.shape[-1]
    places = indices.reshape((math.prod(indices.shape[:-1]), depth))
    numbers = np.zeros(len(places), _INT64) if not depth else places[:, 0].astype(_INT64)
    for i in range(1, depth):
        numbers *= shape[i]
        numbers += places[:, i]
    return numbers


def scatter_into(array, indices, updates, ufunc):
    """Combines `updates` with what a contiguous array holds at places; replaces it if None."""
    if ufunc is None:
        # At a place named twice NumPy keeps the last in the order of memory.
        array[numpy_places(np.ascontiguousarray(indices))] = updates
    else:
        numbers = row_numbers(indices, array.shape)
        rows = np.asarray(updates).reshape((len(numbers), *array.shape[indices.shape[-1] :]))
        combine_rows(ufunc, array, numbers, rows)


def _zero_array(shape, dtype):
    return np.full(shape, b"", object) if dtype.kind == "O" else np.zeros(shape, dtype)


# Segment sums -------------------------------------------------------------------------------------


def _infer_segment_sum(data, segment_ids, *, num_segments):
    check_index_dtype("UnsortedSegmentSum", segment_ids.dtype)
    rank = len(segment_ids.shape)
    if data.shape[:rank] != segment_ids.shape:
        raise invalid_argument(
            "UnsortedSegmentSum",
            f"data.shape = {words(data.shape)} does not start with segment_ids.shape = "
            f"{words(segment_ids.shape)}",
        )
    if num_segments < 0:
        raise invalid_argument(
            "UnsortedSegmentSum", f"Input num_segments == {num_segments} must not be negative."
        )
    return Spec((num_segments, *data.shape[rank:]), data.dtype)


def _segment_sum(data, segment_ids, num_segments):
    ids = np.asarray(segment_ids)
    rows = data.reshape((ids.size, *data.shape[ids.ndim :]))
    numbers = ids.reshape(-1)
    if numbers.size:
        if numbers.max() >= num_segments:
            bad = np.argwhere(ids >= num_segments)[0].tolist()
            raise invalid_argument(
                "UnsortedSegmentSum",
                f"segment_ids{words(bad) if bad else ''} = {ids[tuple(bad)]} is out of range "
                f"[0, {num_segments})",
            )
        if numbers.min() < 0:
            kept = numbers >= 0
            rows, numbers = rows[kept], numbers[kept]
    total = _zero_array((num_segments, *rows.shape[1:]), rows.dtype)
    combine_rows(np.add, total, numbers, rows)
    return total


def rows_of_segments(g, segment_ids, data_shape):
    """What `g` has for each row's segment; 0 for rows with a negative id."""
    zero = dtype_of(segment_ids).type(0)
    rank = len(shape_of(segment_ids))
    rows = gather_row(g, maximum(segment_ids, zero), axis=-len(shape_of(g)), batch_dims=0)
    counted = greater_equal(segment_ids, zero)
    return masked(rows, reshape(counted, shape=data_shape[:rank] + (1,) * (len(data_shape) - rank)))


def batch_of_segments(op, values, flags, attrs):
    """One reduction with ids that differ from one batch element to the next, or extra columns."""
    data, ids = values
    count = attrs["num_segments"]
    if not flags[1]:
        behind_ids = move_axis(data, 0, len(shape_of(ids)))
        return move_axis(op.call(behind_ids, ids, num_segments=count), 1, 0)
    data, ids = all_batched(values, flags)
    shape = shape_of(ids)
    ids = cast_row(ids, dtype=_INT64)
    starts = np.arange(shape[0]).reshape((-1,) + (1,) * (len(shape) - 1)) * count
    ids = select(greater_equal(ids, np.int64(0)), add(ids, starts), np.int64(-1))
    if op.name.startswith("Segment"):  # these take a vector of ids
        ids = reshape(ids, shape=(shape[0] * shape[1],))
        data = reshape(data, shape=(shape[0] * shape[1], *shape_of(data)[2:]))
    total = op.call(data, ids, num_segments=shape[0] * count)
    return reshape(total, shape=(shape[0], count, *shape_of(total)[1:]))


segment_sum = linear(
    "UnsortedSegmentSum",
    _segment_sum,
    inputs="data segment_ids",
    infer=_infer_segment_sum,
    transpose=rows_of_segments,
    batch=batch_of_segments,
)


@export("math.unsorted_segment_sum")
def unsorted_segment_sum(data, segment_ids, num_segments, name=None):
    """Sums of the rows of `data` that have the same id; rows with a negative id are left out.

    Args:
        data: the rows.
        segment_ids: integers whose shape `data`'s shape starts with.
        num_segments: how many sums there are.

    Raises:
        InvalidArgumentError: an id is too large, or the shapes do not agree.
    """
    attrs = {"num_segments": integer(num_segments, "UnsortedSegmentSum")}
    return apply(segment_sum.op, (operand(data), index_operand(segment_ids)), attrs)


set_densify(lambda values, indices, shape: segment_sum(values, indices, num_segments=shape[0]))


# scatter_nd ---------------------------------------------------------------------------------------


def check_update_shapes(op_name, indices_shape, updates_shape, shape):
    """Raises TensorFlow's errors for updates that do not fit their places in `shape`."""
    if not indices_shape:
        raise invalid_argument(op_name, "Indices shape must have rank at least one. Found:[]")
    outer, depth = len(indices_shape) - 1, indices_shape[-1]
    if updates_shape[:outer] != indices_shape[:-1]:
        raise invalid_argument(
            op_name,
            f"Dimensions [0,{outer}) of indices[shape={words(indices_shape)}] must match "
            f"dimensions [0,{outer}) of updates[shape={words(updates_shape)}]",
        )
    if depth > len(shape) or updates_shape[outer:] != shape[depth:]:
        raise invalid_argument(
            op_name,
            f"Dimensions [{depth},{len(shape)}) of input[shape={words(shape)}] must match "
            f"dimensions [{outer},{len(updates_shape)}) of updates[shape={words(updates_shape)}]",
        )


def _infer_scatter_nd(updates, indices, *, shape):
    check_index_dtype("ScatterNd", indices.dtype)
    check_update_shapes("ScatterNd", indices.shape, updates.shape, shape)
    return Spec(shape, updates.dtype)


def _scatter_nd(updates, indices, shape):
    check_places("ScatterNd", indices, shape)
    total = _zero_array(shape, updates.dtype)
    scatter_into(total, indices, updates, np.add)
    return total if shape else total[()]


def _batch_scatter_nd(op, values, flags, attrs):
    updates, indices = all_batched(values, flags)
    shape = shape_of(updates)[:1] + attrs["shape"]
    return op.call(updates, with_batch_coordinate(indices), shape=shape)


scatter_nd_row = linear(
    "ScatterNd",
    _scatter_nd,
    inputs="updates indices",
    infer=_infer_scatter_nd,
    transpose=lambda g, indices: gather_nd_row(g, indices),
    batch=_batch_scatter_nd,
    raw=lambda indices, updates, shape, bad_indices_policy="": scatter_nd(
        indices, updates, shape, bad_indices_policy
    ),
)


@export("scatter_nd")
def scatter_nd(indices, updates, shape, bad_indices_policy="", name=None):
    """A tensor that is zero but for `updates`, added up at the places `indices` names.

    Args:
        indices: integers, of which the last axis holds one coordinate of each place.
        updates: elements or slices, one for each place.
        shape: the shape of the result.
        bad_indices_policy: `"IGNORE"` to leave out places outside of `shape`.

    Raises:
        InvalidArgumentError: a place is outside of `shape`, or the shapes do not agree.
    """
    updates, indices = operand(updates), index_operand(indices)
    goal = tuple(integers(shape, "ScatterNd", "Tindices").tolist())
    if not updates.ndim:
        raise invalid_argument("ScatterNd", "Updates shape must have rank at least one. Found:[]")
    if indices.shape.num_elements() and not (goal and math.prod(goal)):
        raise invalid_argument(
            "ScatterNd",
            "Indices and updates specified for empty output.  indices shape: "
            f"{words(indices.shape)}",
        )
    if ignores_bad_indices("ScatterNd", bad_indices_policy):
        indices, updates = only_inside(indices, updates, goal)
    return apply(scatter_nd_row.op, (updates, indices), {"shape": goal})


def only_inside(indices, updates, shape):
    """Those indices that lie in `shape`, and their updates, along a single axis."""
    depth = indices.shape[-1]
    flat = reshape_public(indices, (-1, depth))
    rows = reshape_public(updates, (flat.shape[0], *updates.shape[indices.ndim - 1 :]))
    inside = lies_inside(convert_to_tensor(flat)._value, shape)
    return boolean_mask(flat, inside), boolean_mask(rows, inside)
