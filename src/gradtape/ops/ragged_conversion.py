"""Ragged tensors from and to dense and sparse tensors and lists, and their axes merged."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.exports import PUBLIC, export
from ..core.ragged_tensor import RaggedTensor, length_of, splits_dtype
from ..core.shapes import as_shape
from ..core.sparse_tensor import SparseTensor
from ..core.tensor import EagerTensor
from .arguments import integer, integers
from .joining import concat
from .manipulation import reshape_public
from .ragged import _outer_coordinates as outer_coordinates, of_lengths, rows_at, with_ragged_rank
from .sparse import sparse_of

_INT64 = np.dtype(np.int64)


def to_tensor(self, default_value=None, name=None, shape=None):
    """The dense tensor, with rows filled up to the longest, or to `shape`.

    Args:
        default_value: what fills them up; 0 or "" if None.
        shape: the shape, of which sizes may be None; longer rows are cut.
    """
    sizes = [None] * self.ndim if shape is None else as_shape(shape).as_list()
    inner = self.values
    if isinstance(inner, RaggedTensor):
        inner = to_tensor(inner, default_value, shape=[None, *sizes[2:]])
    bounds = self._bounds
    rows = bounds[0] if sizes[0] is None else sizes[0]
    width = bounds[1] if sizes[1] is None else sizes[1]
    if default_value is None:
        default_value = b"" if self.dtype is dtypes.string else 0
    hint = None if hasattr(default_value, "dtype") else self.dtype
    default = convert_to_tensor(default_value, hint)
    filler = PUBLIC["broadcast_to"](default, (1, *inner.shape[1:]))
    total = length_of(inner)
    numbers = np.full((rows, width), total, _INT64)
    steps = np.arange(width)
    used = min(rows, self._nrows)
    inside = steps < self._lengths[:used, None]
    numbers[:used][inside] = (self._splits[:used, None] + steps)[inside]
    found = rows_at(concat([inner, filler], 0), numbers.reshape(-1))
    return reshape_public(found, (rows, width, *inner.shape[1:]))


def to_sparse(self, name=None):
    """The sparse tensor of all elements there are."""
    flat = self.flat_values
    columns = outer_coordinates(self)
    inner = tuple(flat.shape)[1:]
    outer = np.stack(columns, 1)
    grid = np.stack([axis.reshape(-1) for axis in np.indices(inner)], 1) if inner else None
    if grid is not None:
        outer = np.concatenate([np.repeat(outer, len(grid), 0), np.tile(grid, (len(outer), 1))], 1)
    return sparse_of(outer, reshape_public(flat, (-1,)), self._bounds)


def from_tensor(
    cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype=dtypes.int64
):
    """The rows of a dense tensor, of given lengths or without the padding at their end.

    Args:
        tensor: the dense tensor.
        lengths: the length of each row; nested lists for several ragged axes.
        padding: the element that fills rows up, left out from the end of each.
        ragged_rank: how many ragged axes the result has.
        row_splits_dtype: int64 or int32.

    Raises:
        ValueError: both `lengths` and `padding` are given, or the rank is too low.
    """
    tensor = convert_to_tensor(tensor)
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not 0 < ragged_rank < max(tensor.ndim, 1):
        raise ValueError(
            f"Argument `ragged_rank` must be in [1, {tensor.ndim - 1}]. Received: {ragged_rank}."
        )
    dtype = splits_dtype(row_splits_dtype)
    if ragged_rank > 1 and padding is None and lengths is None:
        return with_ragged_rank(tensor, ragged_rank).with_row_splits_dtype(row_splits_dtype)
    if ragged_rank > 1:
        merged = reshape_public(tensor, (-1, *tensor.shape[2:]))
        inner = from_tensor(cls, merged, lengths, padding, ragged_rank - 1)
        return of_lengths(inner, np.full(tensor.shape[0], tensor.shape[1]), dtype)
    count, width = tuple(tensor.shape)[:2]
    if padding is not None:
        filler = np.asarray(convert_to_tensor(padding, tensor.dtype)._value)
        is_data = np.asarray(tensor._value) != filler
        is_data = is_data.reshape(count, width, -1).any(2)
        lengths = np.where(is_data.any(1), width - np.argmax(is_data[:, ::-1], 1), 0)
    elif lengths is None:
        inner = reshape_public(tensor, (count * width, *tensor.shape[2:]))
        return of_lengths(inner, np.full(count, width), dtype)
    else:
        if isinstance(lengths, (list, tuple)) and lengths and isinstance(lengths[0], (list, tuple)):
            lengths = lengths[0]
        lengths = np.clip(integers(lengths, "RaggedTensor", "T"), 0, width)
    flat = reshape_public(tensor, (count * width, *tensor.shape[2:]))
    chosen = np.flatnonzero(np.arange(width) < np.asarray(lengths)[:, None])
    return of_lengths(rows_at(flat, chosen), lengths, dtype)


def from_sparse(cls, st_input, name=None, row_splits_dtype=dtypes.int64):
    """The rows of a sparse matrix whose elements stand at the beginning of each row.

    Raises:
        TypeError: it is no SparseTensor.
        ValueError: its rank is not 2, or there are gaps.
    """
    if not isinstance(st_input, SparseTensor):
        raise TypeError(f"Argument `st_input` must be of type SparseTensor, but is {st_input!r}.")
    if len(st_input._sizes) != 2:
        raise ValueError("rank(st_input) must be 2.")
    rows, columns = st_input._places.T
    lengths = np.bincount(rows, minlength=st_input._sizes[0]) if len(rows) else np.zeros(
        st_input._sizes[0], _INT64
    )  # fmt: skip
    result = of_lengths(st_input.values, lengths, splits_dtype(row_splits_dtype))
    expected = np.arange(len(rows)) - np.repeat(result._splits[:-1], lengths)
    if not np.array_equal(columns, expected) or (np.diff(rows) < 0).any():
        from ..core.errors import invalid_argument

        raise invalid_argument("RaggedTensor", "SparseTensor is not right-ragged")
    return result


def merge_dims(self, outer_axis, inner_axis):
    """The axes from `outer_axis` to `inner_axis` made one."""
    rank = self.ndim
    outer, inner = [integer(axis, "MergeDims") for axis in (outer_axis, inner_axis)]
    outer, inner = outer % rank, inner % rank
    if outer > inner:
        raise ValueError(
            f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis "
            f"({inner_axis})"
        )
    if outer == inner:
        return self
    return _merged(self, outer, inner)


def _merged(x, outer, inner):
    if not isinstance(x, RaggedTensor):
        sizes = tuple(x.shape)
        return reshape_public(x, (*sizes[:outer], -1, *sizes[inner + 1 :]))
    if outer > 1:
        return x.with_values(_merged(x.values, outer - 1, inner - 1))
    if outer == 0:
        rest = x.values
        return rest if inner == 1 else _merged(rest, 0, inner - 1)
    rest = x.values if inner == 2 else _merged(x.values, 1, inner - 1)
    if isinstance(rest, RaggedTensor):
        splits = rest._splits[x._splits]
        return RaggedTensor(rest.values, EagerTensor(splits))
    width = rest.shape[1]
    flat = reshape_public(rest, (-1, *rest.shape[2:]))
    return of_lengths(flat, x._lengths * width, x._splits.dtype)


RaggedTensor.to_tensor = to_tensor
RaggedTensor.to_sparse = to_sparse
RaggedTensor.merge_dims = merge_dims
RaggedTensor.from_tensor = classmethod(from_tensor)
RaggedTensor.from_sparse = classmethod(from_sparse)


@export("ragged.constant")
def constant(
    pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=dtypes.int64
):
    """A ragged tensor from nested lists.

    Args:
        pylist: the lists, all scalars at the same depth.
        dtype: the dtype of the values; chosen by them if None.
        ragged_rank: how many ragged axes; all but the first if None.
        inner_shape: the shape of the elements behind the ragged axes.
        row_splits_dtype: int64 or int32.

    Raises:
        ValueError: scalars stand at different depths.
    """
    splits = splits_dtype(row_splits_dtype)
    if not isinstance(pylist, (list, tuple, np.ndarray)):
        return convert_to_tensor(pylist, dtype)
    depth = _depth(pylist)
    inner = None if inner_shape is None else tuple(as_shape(inner_shape).as_list())
    if ragged_rank is None:
        ragged_rank = max(0, depth - 1) if inner is None else max(0, depth - 1 - len(inner))
    if ragged_rank >= max(depth, 1):
        raise ValueError(
            f"Invalid pylist={pylist}: ragged_rank {ragged_rank} must be less than its depth "
            f"{depth}"
        )
    level, partitions = list(pylist), []
    for _ in range(ragged_rank):
        if not all(_is_list(row) for row in level):
            raise ValueError(f"Invalid pylist={pylist}: scalars stand at different depths.")
        partitions.append(np.array([len(row) for row in level], _INT64))
        level = [item for row in level for item in row]
    flat = _flat_values(level, pylist, depth - ragged_rank - 1, inner, dtype)
    for lengths in partitions[::-1]:
        flat = of_lengths(flat, lengths, splits)
    return flat


def _flat_values(level, pylist, rank, inner, dtype):
    if not level:
        shape = (0, *(inner if inner is not None else (0,) * rank))
        goal = dtypes.as_dtype(dtype or dtypes.float32)
        return EagerTensor(np.zeros(shape, goal.numpy_dtype))
    if rank == 0 and any(_is_list(item) for item in level):
        raise ValueError(f"Invalid pylist={pylist}: scalars stand at different depths.")
    values = convert_to_tensor(level, dtype)
    if inner is not None and tuple(values.shape[1:]) != inner:
        raise ValueError(f"Invalid pylist={pylist}: its elements have not the shape {inner}")
    return values


def _is_list(item):
    return isinstance(item, (list, tuple)) or (isinstance(item, np.ndarray) and item.ndim > 0)


def _depth(item):
    if not _is_list(item):
        return 0
    return 1 + max([_depth(each) for each in item], default=0)
