"""Arithmetic of sparse tensors: sums, extremes, reductions and Python's operators."""

import math

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.ragged_tensor import RaggedTensor
from ..core.sparse_tensor import SparseTensor
from ..core.tensor import EagerTensor
from . import arithmetic
from .axes import axes_of
from .broadcasting import words
from .elementwise import exp
from .indexing import gather_nd_row
from .joining import concat
from .scatter import scatter_nd_row, segment_sum
from .sparse import as_sparse, numbers_of, places_of, sparse_of, take

_INT64 = np.dtype(np.int64)


def _segment_total(values, ids, count):
    return apply(segment_sum.op, (values, EagerTensor(ids)), {"num_segments": count})


def _union(a, b):
    """The places either has, in order, and where among them the places of each are."""
    sizes = a._sizes
    numbers = np.concatenate([numbers_of(each._places, sizes) for each in (a, b)])
    found, where = np.unique(numbers, return_inverse=True)
    where = where.reshape(-1).astype(_INT64)
    return found, where[: len(a._places)], where[len(a._places) :]


def _same_shape(a, b, op_name):
    if len(a._sizes) != len(b._sizes):
        raise invalid_argument(
            op_name,
            f"Ranks of input tensors must match, but saw ranks: {len(a._sizes)} and "
            f"{len(b._sizes)}",
        )
    for d, (own, other) in enumerate(zip(a._sizes, b._sizes, strict=True)):
        if own != other:
            raise invalid_argument(
                op_name, f"Operands' shapes do not match: got {own} and {other} for dimension {d}"
            )


@export("sparse.add")
def add(a, b, threshold=0):
    """The sum of two tensors of which at least one is sparse; sparse if both are.

    Args:
        a: a tensor.
        b: another, of the same shape.
        threshold: sums of two sparse tensors that are smaller are left out.

    Raises:
        TypeError: both are dense.
        InvalidArgumentError: the shapes differ.
    """
    if not (isinstance(a, SparseTensor) or isinstance(b, SparseTensor)):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        _same_shape(a, b, "SparseAdd")
        found, _, _ = _union(a, b)
        where = np.concatenate(_union(a, b)[1:])
        total = _segment_total(concat([a.values, b.values], 0), where, len(found))
        limit = np.asarray(convert_to_tensor(threshold, dtype_hint=a.dtype.real_dtype)._value)
        kept = np.flatnonzero(np.abs(total._value) >= limit)
        return sparse_of(places_of(found[kept], a._sizes), take(total, kept), a._sizes)
    if isinstance(b, SparseTensor):
        a, b = b, a
    dense = operand(b, a.values)
    if tuple(dense.shape) != a._sizes:
        raise invalid_argument(
            "SparseTensorDenseAdd",
            f"Dimension sizes do not match: {words(a._sizes)} vs. {words(dense.shape)}",
        )
    placed = apply(scatter_nd_row.op, (a.values, a.indices), {"shape": a._sizes})
    return arithmetic.add(placed, convert_to_tensor(dense))


def _extreme(sp_a, sp_b, op_name, row):
    """The greater or lesser elements over all places; where one tensor has none, it has 0."""
    a, b = as_sparse(sp_a), as_sparse(sp_b)
    _same_shape(a, b, op_name)
    found, of_a, of_b = _union(a, b)
    spread = [_segment_total(each.values, ids, len(found)) for each, ids in ((a, of_a), (b, of_b))]
    return sparse_of(places_of(found, a._sizes), row(*spread), a._sizes)


@export("sparse.maximum")
def maximum(sp_a, sp_b, name=None):
    """The greater of two sparse tensors' elements."""
    return _extreme(sp_a, sp_b, "SparseSparseMaximum", arithmetic.maximum)


@export("sparse.minimum")
def minimum(sp_a, sp_b, name=None):
    """The lesser of two sparse tensors' elements."""
    return _extreme(sp_a, sp_b, "SparseSparseMinimum", arithmetic.minimum)


# Reductions ---------------------------------------------------------------------------------------


def _reduced(sp_input, axis, keepdims, output_is_sparse, op_name, combine):
    x = as_sparse(sp_input)
    sizes = x._sizes
    rank = len(sizes)
    gone = set()
    for each in axes_of(axis, rank, op_name):
        if not -rank <= each < rank:
            raise invalid_argument(op_name, f"Invalid reduction dimension {each}, for input with "
                                            f"{rank} dimensions.")  # fmt: skip
        gone.add(each % rank)
    kept = [d for d in range(rank) if d not in gone]
    inner = tuple([sizes[d] for d in kept])
    numbers = numbers_of(x._places[:, kept], inner)
    found, where = np.unique(numbers, return_inverse=True)
    values = combine(x.values, where.reshape(-1).astype(_INT64), len(found))
    goal = tuple([1 if d in gone else size for d, size in enumerate(sizes)]) if keepdims else inner
    if output_is_sparse:
        return sparse_of(places_of(found, goal), values, goal)
    flat = apply(
        scatter_nd_row.op, (values, EagerTensor(found.astype(_INT64)[:, None])),
        {"shape": (math.prod(goal),)},
    )  # fmt: skip
    from .manipulation import reshape_public

    return reshape_public(flat, goal)


@export("sparse.reduce_sum")
def reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The sums of elements along axes; dense unless asked otherwise."""
    return _reduced(sp_input, axis, keepdims, output_is_sparse, "SparseReduceSum", _segment_total)


@export("sparse.reduce_max")
def reduce_max(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The greatest of the elements there are along axes; 0 where there is none."""
    return _reduced(sp_input, axis, keepdims, output_is_sparse, "SparseReduceMax", _segment_maximum)


def _segment_maximum(values, ids, count):
    """The greatest value of each segment, none of which is empty; the first of equals."""
    array = np.asarray(values._value)
    order = np.lexsort((-np.arange(len(array)), array, ids))
    last = np.flatnonzero(np.append(ids[order][1:] != ids[order][:-1], True)[: len(order)])
    return take(values, order[last])


@export("sparse.softmax")
def softmax(sp_input, name=None):
    """Softmax over the elements there are in each row of the last axis."""
    x = as_sparse(sp_input)
    if len(x._sizes) < 2:
        raise invalid_argument("SparseSoftmax", "Input should have rank >= 2")
    if not x.dtype.is_floating:
        raise invalid_argument("SparseSoftmax", f"Value for attr 'T' of {x.dtype.runtime_word} is "
                                                "not in the list of allowed values: half, float, "
                                                "double")  # fmt: skip
    rows = numbers_of(x._places[:, :-1], x._sizes[:-1])
    _, ids = np.unique(rows, return_inverse=True)
    ids = ids.reshape(-1).astype(_INT64)
    count = int(ids.max()) + 1 if len(ids) else 0
    tops = np.full(count, -np.inf, x.dtype.numpy_dtype)
    np.maximum.at(tops, ids, x.values._value)
    powers = exp(arithmetic.sub(x.values, tops[ids]))
    totals = take(_segment_total(powers, ids, count), ids)
    return x.with_values(arithmetic.real_div(powers, totals))


# Operators ----------------------------------------------------------------------------------------


def _cwise(op_name, row, sparse, other):
    """An op on the elements of a sparse tensor and those of a dense one at the same places."""
    dense = convert_to_tensor(operand(other, sparse.values))
    sizes = sparse._sizes
    if dense.ndim > len(sizes) or any(
        own not in (1, size) for own, size in zip(dense.shape[::-1], sizes[::-1], strict=False)
    ):
        raise invalid_argument(
            op_name,
            "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
            f"{words(sizes)} vs. {words(dense.shape)}",
        )
    shape = np.array(dense.shape, _INT64)
    places = sparse._places[:, len(sizes) - len(shape) :] * (shape != 1)
    if len(shape):
        dense = apply(gather_nd_row.op, (dense, EagerTensor(places.astype(_INT64))))
    return sparse.with_values(row(sparse.values, dense))


def _mul(self, other):
    return _cwise("SparseDenseCwiseMul", arithmetic.mul, self, other)


def _div(self, other):
    return _cwise("SparseDenseCwiseDiv", arithmetic.real_div, self, other)


def _truediv(self, other):
    if self.dtype.is_integer:
        from .casting import cast

        return _div(cast(self, dtypes.float64), cast(convert_to_tensor(other), dtypes.float64))
    return _div(self, other)


SparseTensor.__mul__ = _mul
SparseTensor.__truediv__ = _truediv


@export("sparse.bincount")
def bincount(
    values, weights=None, axis=0, minlength=None, maxlength=None, binary_output=False, name=None
):
    """How often each number occurs, in all or in each row, as a sparse tensor.

    Args:
        values: non-negative integers, dense, sparse or ragged, of rank 1 or 2.
        weights: what each counts, of the same form as `values`; 1 if None.
        axis: 0 (or None) to count all together, -1 or 1 to count within each row.
        minlength: the least length of the result's last axis.
        maxlength: the number from which on values are left out.
        binary_output: whether to say 1 for every number that occurs.

    Raises:
        ValueError: there is no such axis, or both weights and binary output are asked for.
        InvalidArgumentError: a number is negative.
    """
    if axis not in (0, -1, 1, None):
        raise ValueError(f"Unsupported axis value {axis}. Only 0 and -1 are currently supported.")
    if weights is not None and binary_output:
        raise ValueError("`binary_output` and `weights` are mutually exclusive.")
    numbers, rows, shape = _counted(values)
    counts = np.ones(len(numbers), np.int32) if weights is None else _counted(weights)[0]
    if len(counts) != len(numbers):
        raise invalid_argument(
            "SparseBincount", "Input values and weights must have the same number of elements"
        )
    if (numbers < 0).any():
        raise invalid_argument("SparseBincount", "Input must be non-negative")
    kept = np.ones(len(numbers), bool) if maxlength is None else numbers < maxlength
    numbers, rows, counts = numbers[kept], rows[kept], counts[kept]
    length = max(int(numbers.max()) + 1 if len(numbers) else 0, minlength or 0)
    sizes = (shape[0], length) if axis in (-1, 1) and len(shape) > 1 else (length,)
    keys = numbers + rows * length if len(sizes) == 2 else numbers
    found, where = np.unique(keys, return_inverse=True)
    total = np.zeros(len(found), counts.dtype)
    np.add.at(total, where.reshape(-1), counts)
    if binary_output:
        total = np.minimum(total, 1)
    return sparse_of(places_of(found, sizes), EagerTensor(total), sizes)


def _counted(x):
    """The elements of a dense or sparse tensor in a line, the row of each, and the shape."""
    if isinstance(x, SparseTensor):
        return np.asarray(x.values._value), x._places[:, 0], x._sizes
    if isinstance(x, RaggedTensor):
        rows = np.asarray(x.value_rowids()._value)
        return np.asarray(x.flat_values._value), rows, (int(x.nrows()), None)
    array = np.asarray(convert_to_tensor(x)._value)
    rows = np.repeat(np.arange(array.shape[0]), array[0].size if len(array) else 0)
    return array.reshape(-1), rows, array.shape
