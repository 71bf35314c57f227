"""Reductions of rows that have the same id: sorted ids, ids in any order, and chosen rows.

UnsortedSegmentSum itself is in `scatter`, where the gradients of indexing need it.
"""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.dtypes import NUMERIC, REAL
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arguments import integer
from .arithmetic import add, div_no_nan, masked, mul, real_div, true_divide
from .broadcasting import broadcast_to, not_allowed, reshape, words, working_dtype
from .casting import cast, cast_row
from .elementwise import sqrt
from .families import dtype_of, linear, opaque, shape_of
from .indexing import check_index_dtype, gather_row, index_operand
from .logic import equal, greater, greater_equal, less, logical_or
from .reduction import reduce_any
from .scatter import (
    batch_of_segments,
    rows_of_segments,
    segment_sum as unsorted_sum,
    unsorted_segment_sum,
)
from .segment_kernels import highest, lowest, reduced, starts_of_runs
from .selection import select, zero_of
from .slicing import strided_slice_row

_INT64 = np.dtype(np.int64)

# Kernels ------------------------------------------------------------------------------------------


def _sorted_ids(name, segment_ids, count):
    """The ids, in order and within range, and where each first occurs; or TensorFlow's error."""
    ids = np.asarray(segment_ids)
    starts = starts_of_runs(ids)
    first = ids.take(starts)
    if (first[1:] < first[:-1]).any():
        raise invalid_argument(name, "segment ids are not increasing")
    if ids.size and (ids[0] < 0 or ids[-1] >= count):
        wrong = ids[0] if ids[0] < 0 else ids[-1]
        raise invalid_argument(
            name,
            f"Segment id {wrong} out of range [0, {count}), possibly because 'segment_ids' input "
            "is not sorted.",
        )
    return ids, starts


def _kept_rows(name, data, segment_ids, count):
    """Rows and ids along one axis, without those whose id is negative."""
    shaped = np.asarray(segment_ids)
    rows = data.reshape((shaped.size, *data.shape[shaped.ndim :]))
    ids = shaped.reshape(-1)
    if ids.size and ids.max() >= count:
        bad = np.argwhere(shaped >= count)[0].tolist()
        raise invalid_argument(
            name,
            f"segment_ids{words(bad) if bad else ''} = {shaped[tuple(bad)]} is out of range "
            f"[0, {count})",
        )
    if ids.size and ids.min() < 0:
        kept = ids >= 0
        rows, ids = rows[kept], ids[kept]
    return rows, ids


def _sorted_kernel(name, ufunc, empty):
    def kernel(data, segment_ids, num_segments):
        ids, starts = _sorted_ids(name, segment_ids, num_segments)
        return reduced(ufunc, data, ids, num_segments, empty, starts)

    return kernel


def _unsorted_kernel(name, ufunc, empty):
    def kernel(data, segment_ids, num_segments):
        rows, ids = _kept_rows(name, data, segment_ids, num_segments)
        return reduced(ufunc, rows, ids, num_segments, empty(data.dtype))

    return kernel


def _mean(data, segment_ids, num_segments):
    ids, starts = _sorted_ids("SegmentMean", segment_ids, num_segments)
    dtype = data.dtype
    working = working_dtype(dtype)
    total = reduced(np.add, data.astype(working, copy=False), ids, num_segments, 0, starts)
    counts = np.maximum(np.bincount(ids, minlength=num_segments), 1)
    counts = counts.reshape((-1,) + (1,) * (data.ndim - 1))
    if dtype.kind in "iu":
        counts = counts.astype(dtype)
        return (total - np.fmod(total, counts)) // counts
    return (total / counts.astype(working)).astype(dtype, copy=False)


# Shapes -------------------------------------------------------------------------------------------


def _infer_sorted(name, accepts):
    def infer(data, segment_ids, *, num_segments):
        check_index_dtype(name, segment_ids.dtype)
        if data.dtype not in accepts:
            raise not_allowed(name, data.dtype, accepts)
        if not data.shape:
            raise invalid_argument(name, "input must be at least rank 1")
        if len(segment_ids.shape) != 1:
            raise invalid_argument(name, "segment_ids should be a vector.")
        if segment_ids.shape != data.shape[:1]:
            raise invalid_argument(
                name,
                "segment_ids should be the same size as dimension 0 of input. Received: "
                f"{words(segment_ids.shape)} and {words(data.shape)}",
            )
        return Spec((num_segments, *data.shape[1:]), data.dtype)

    return infer


def _infer_unsorted(name, accepts):
    def infer(data, segment_ids, *, num_segments):
        check_index_dtype(name, segment_ids.dtype)
        if data.dtype not in accepts:
            raise not_allowed(name, data.dtype, accepts)
        rank = len(segment_ids.shape)
        if data.shape[:rank] != segment_ids.shape:
            raise invalid_argument(
                name,
                f"data.shape = {words(data.shape)} does not start with segment_ids.shape = "
                f"{words(segment_ids.shape)}",
            )
        if num_segments < 0:
            raise invalid_argument(
                name, f"Input num_segments == {num_segments} must not be negative."
            )
        return Spec((num_segments, *data.shape[rank:]), data.dtype)

    return infer


# Derivatives --------------------------------------------------------------------------------------


def _sizes(like, ids, count, rank):
    """How many rows each segment has, but no less than 1, shaped to divide by."""
    one = add(zero_of(like), 1.0)
    sizes = unsorted_sum(broadcast_to(one, shape=shape_of(ids)), ids, num_segments=count)
    sizes = select(equal(sizes, zero_of(sizes)), one, sizes)
    return reshape(sizes, shape=(count,) + (1,) * (rank - 1))


def _mean_adjoint(g, segment_ids, data_shape, *, num_segments):
    sizes = _sizes(g, segment_ids, num_segments, len(data_shape))
    return rows_of_segments(real_div(g, sizes), segment_ids, data_shape)


def _extreme_adjoint(g, data, segment_ids, out, *, num_segments):
    """Equal extremes share the gradient."""
    shape = shape_of(data)
    chosen = equal(data, rows_of_segments(out, segment_ids, shape))
    share = unsorted_sum(
        cast_row(chosen, dtype=dtype_of(g)), segment_ids, num_segments=num_segments
    )
    return masked(rows_of_segments(div_no_nan(g, share), segment_ids, shape), chosen)


def _prod_adjoint(g, data, segment_ids, *, num_segments):
    """The product of all others: of all that are not 0, unless another one is 0."""
    shape = shape_of(data)
    one = add(zero_of(data), 1.0)
    is_zero = equal(data, zero_of(data))
    nonzero = select(is_zero, one, data)
    zeros = cast_row(is_zero, dtype=np.dtype(np.int32))
    zeros = rows_of_segments(
        unsorted_sum(zeros, segment_ids, num_segments=num_segments), segment_ids, shape
    )
    product = unsorted_prod(nonzero, segment_ids, num_segments=num_segments)
    others = real_div(rows_of_segments(product, segment_ids, shape), nonzero)
    other_is_zero = greater(zeros, cast_row(is_zero, dtype=np.dtype(np.int32)))
    others = select(other_is_zero, zero_of(others), others)
    return mul(rows_of_segments(g, segment_ids, shape), others)


# Rows ---------------------------------------------------------------------------------------------


def _raw(name):
    """How tf.raw_ops calls an op on sorted ids: without the number of segments."""

    def raw(data, segment_ids):
        return _apply_sorted(_SORTED[name], data, segment_ids)

    return raw


def _linear(name, kernel, adjoint):
    return linear(
        name, kernel, inputs="data segment_ids", infer=_infer_sorted(name, NUMERIC),
        transpose=adjoint, batch=batch_of_segments, raw=_raw(name),
    )  # fmt: skip


def _opaque(name, kernel, infer, adjoint, **fields):
    return opaque(
        name, kernel, inputs="data segment_ids", infer=infer, vjp={"data": adjoint},
        batch=batch_of_segments, **fields,
    )  # fmt: skip


sorted_sum = _linear(
    "SegmentSum",
    _sorted_kernel("SegmentSum", np.add, 0),
    lambda g, segment_ids, data_shape: rows_of_segments(g, segment_ids, data_shape),
)
sorted_mean = _linear("SegmentMean", _mean, _mean_adjoint)


def _sorted_opaque(name, ufunc, empty, accepts, adjoint):
    kernel = _sorted_kernel(name, ufunc, empty)
    return _opaque(name, kernel, _infer_sorted(name, accepts), adjoint, raw=_raw(name))


def _unsorted_opaque(name, ufunc, empty, accepts, adjoint):
    kernel = _unsorted_kernel(name, ufunc, empty)
    return _opaque(name, kernel, _infer_unsorted(name, accepts), adjoint)


sorted_max = _sorted_opaque("SegmentMax", np.maximum, 0, REAL, _extreme_adjoint)
sorted_min = _sorted_opaque("SegmentMin", np.minimum, 0, REAL, _extreme_adjoint)
sorted_prod = _sorted_opaque("SegmentProd", np.multiply, 1, NUMERIC, _prod_adjoint)
unsorted_max = _unsorted_opaque("UnsortedSegmentMax", np.maximum, lowest, REAL, _extreme_adjoint)
unsorted_min = _unsorted_opaque("UnsortedSegmentMin", np.minimum, highest, REAL, _extreme_adjoint)
unsorted_prod = _unsorted_opaque(
    "UnsortedSegmentProd", np.multiply, lambda dtype: 1, NUMERIC, _prod_adjoint
)

_SORTED = {
    row.op.name: row for row in (sorted_sum, sorted_mean, sorted_max, sorted_min, sorted_prod)
}

# Public functions ---------------------------------------------------------------------------------


def _apply_sorted(row, data, segment_ids):
    data, ids = operand(data), index_operand(segment_ids)
    attrs = {"num_segments": _count(row.op.name, ids)}
    return apply(row.op, (data, ids), attrs)


def _count(name, ids):
    """One more than the last id, which of sorted ids is the largest."""
    if ids.ndim != 1 or not ids.shape[0] or ids.dtype.numpy_dtype.kind != "i":
        return 0
    # A trace relies on the last id alone, not on all of them.
    last = apply(strided_slice_row.op, (ids,), {"key": (-1,)})._known()
    if last is None:
        raise TypeError(f"The segment ids given to op {name} must be known. Received: {ids!r}.")
    return max(int(last) + 1, 0)


def _sorted(row, word, what, otherwise):
    def function(data, segment_ids, name=None):
        return _apply_sorted(row, data, segment_ids)

    function.__name__ = function.__qualname__ = f"segment_{word}"
    function.__doc__ = f"""{what} of the rows of `data` that have the same id.

    Args:
        data: the rows.
        segment_ids: an id for each row, in increasing order; ids left out give {otherwise}.

    Raises:
        InvalidArgumentError: the ids are not sorted, or not as many as there are rows.
    """
    return export(f"math.segment_{word}", function)


segment_sum = _sorted(sorted_sum, "sum", "Sums", 0)
segment_mean = _sorted(sorted_mean, "mean", "Means", 0)
segment_max = _sorted(sorted_max, "max", "The largest elements", 0)
segment_min = _sorted(sorted_min, "min", "The smallest elements", 0)
segment_prod = _sorted(sorted_prod, "prod", "Products", 1)


def _unsorted(row, word, what, otherwise):
    def function(data, segment_ids, num_segments, name=None):
        attrs = {"num_segments": integer(num_segments, row.op.name)}
        return apply(row.op, (operand(data), index_operand(segment_ids)), attrs)

    function.__name__ = function.__qualname__ = f"unsorted_segment_{word}"
    function.__doc__ = f"""{what} of the rows of `data` that have the same id.

    Args:
        data: the rows.
        segment_ids: integers whose shape `data`'s shape starts with; rows with a negative id are
            left out, and ids that do not occur give {otherwise}.
        num_segments: how many ids there are.

    Raises:
        InvalidArgumentError: an id is too large, or the shapes do not agree.
    """
    return export(f"math.unsorted_segment_{word}", function)


unsorted_segment_max = _unsorted(
    unsorted_max, "max", "The largest elements", "the dtype's lowest number"
)
unsorted_segment_min = _unsorted(
    unsorted_min, "min", "The smallest elements", "the dtype's highest number"
)
unsorted_segment_prod = _unsorted(unsorted_prod, "prod", "Products", 1)


def _total_and_sizes(data, segment_ids, num_segments):
    data, ids = operand(data), index_operand(segment_ids)
    total = unsorted_segment_sum(data, ids, num_segments)
    rank = total.ndim
    return total, cast(_sizes(total, ids, shape_of(total)[0], rank), total.dtype)


@export("math.unsorted_segment_mean")
def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """Means of the rows that have the same id, 0 where there are none; of integers, as floats.

    Args:
        data: the rows.
        segment_ids: integers whose shape `data`'s shape starts with; rows with a negative id are
            left out.
        num_segments: how many ids there are.
    """
    return true_divide(*_total_and_sizes(data, segment_ids, num_segments))


@export("math.unsorted_segment_sqrt_n")
def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """Sums of the rows that have the same id, over the square roots of their numbers."""
    total, sizes = _total_and_sizes(data, segment_ids, num_segments)
    return true_divide(total, sqrt.op.on_tensors(sizes))


# Chosen rows --------------------------------------------------------------------------------------


def _chosen(name, data, indices, segment_ids, num_segments, accepts, sparse_gradient):
    """The rows at `indices`, their ids, and how many segments there are."""
    data, indices, ids = operand(data), index_operand(indices), index_operand(segment_ids)
    if data.dtype.numpy_dtype not in accepts:
        raise not_allowed(name, data.dtype.numpy_dtype, accepts)
    check_index_dtype(name, ids.dtype.numpy_dtype, "Tsegmentids")
    if not data.ndim:
        raise invalid_argument(name, "Shape must be at least rank 1")
    for each, word in ((indices, "indices"), (ids, "segment_ids")):
        if each.ndim != 1:
            raise invalid_argument(name, f"{word} should be a vector.")
    if indices.shape != ids.shape:
        raise invalid_argument(
            name,
            "segment_ids and indices should have same size. Received: "
            f"{words(ids.shape)} and {words(indices.shape)}",
        )
    _check_chosen(name, indices, data.shape[0])
    count = _count(name, ids)
    if num_segments is not None:
        goal = integer(num_segments, name)
        if goal < 0:
            raise invalid_argument(name, f"segment ids must be >= 0. Received: num_segments={goal}")
        if count > goal:
            raise invalid_argument(
                name, f"segment ids must be < num_segments. Received: {count - 1} and {goal}"
            )
        count = goal
    axis = 0 if sparse_gradient else -data.ndim
    return apply(gather_row.op, (data, indices), {"axis": axis, "batch_dims": 0}), ids, count


def _check_chosen(name, indices, size):
    # In a batch there are no values to look at: there the op that gathers them objects.
    indices = convert_to_tensor(indices)
    zero, end = (dtype_of(indices).type(number) for number in (0, size))
    outside = logical_or(less(indices, zero), greater_equal(indices, end))
    if reduce_any(outside)._known():
        found = indices._known()
        place = int(np.flatnonzero((found < 0) | (found >= size))[0])
        raise invalid_argument(
            name, f"Bad: indices[{place}] == {found[place]} out of range [0, {size})"
        )


@export("sparse.segment_sum")
def sparse_segment_sum(
    data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False
):
    """Sums of those rows of `data` at `indices` that have the same id.

    Args:
        data: the rows.
        indices: which rows, in any order and any number of times.
        segment_ids: an id for each index, in increasing order.
        num_segments: how many ids there are; one more than the last if None.
        sparse_gradient: whether the gradient of `data` is IndexedSlices.

    Raises:
        InvalidArgumentError: an index or id is out of range, or the ids are not sorted.
    """
    rows, ids, count = _chosen(
        "SparseSegmentSum", data, indices, segment_ids, num_segments, REAL, sparse_gradient
    )
    return apply(sorted_sum.op, (rows, ids), {"num_segments": count})


@export("sparse.segment_mean")
def sparse_segment_mean(
    data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False
):
    """Means of those rows at `indices` that have the same id; see `sparse.segment_sum`."""
    rows, ids, count = _chosen(
        "SparseSegmentMean", data, indices, segment_ids, num_segments, dtypes.FLOATING,
        sparse_gradient,
    )  # fmt: skip
    return apply(sorted_mean.op, (rows, ids), {"num_segments": count})


@export("sparse.segment_sqrt_n")
def sparse_segment_sqrt_n(
    data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False
):
    """Sums as `sparse.segment_sum`, over the square roots of the numbers of rows."""
    rows, ids, count = _chosen(
        "SparseSegmentSqrtN", data, indices, segment_ids, num_segments, dtypes.FLOATING,
        sparse_gradient,
    )  # fmt: skip
    total = apply(sorted_sum.op, (rows, ids), {"num_segments": count})
    return real_div(total, sqrt.op.on_tensors(_sizes(total, ids, count, total.ndim)))
