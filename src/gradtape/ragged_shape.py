"""tf.experimental.DynamicRaggedShape: the shape of a tensor whose rows may differ in length."""

import functools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .api_dispatch import dispatch_for_api
from .core import dtypes
from .core.convert import convert_to_tensor
from .core.errors import InvalidArgumentError
from .core.exports import PUBLIC
from .core.ragged_tensor import RaggedTensor
from .core.shapes import TensorShape
from .core.tensor import EagerTensor
from .ops.ragged import rows_at
from .row_partition import RowPartition
from .type_specs import TypeSpec

_INT64 = np.dtype(np.int64)


class DynamicRaggedShape:
    """A shape: partitions of the outer axes into rows, and the sizes of the values inside.

    The first size of `inner_shape` is the number of values that the last partition divides.

    Example:
        >>> DynamicRaggedShape.from_lengths([2, (1, 2), 3])
        <DynamicRaggedShape lengths=[2, (1, 2), 3] num_row_partitions=1>
    """

    _is_composite = True
    __slots__ = ("__weakref__", "_dtype", "_inner", "_partitions")

    def __init__(
        self, row_partitions, inner_shape, dtype=None, validate=False, static_inner_shape=None
    ):
        if not isinstance(row_partitions, Iterable):
            raise TypeError(
                f"row_partitions should be a list of row partitions. Instead, got {row_partitions}"
            )
        partitions = list(row_partitions)
        for each in partitions:
            if not isinstance(each, RowPartition):
                raise TypeError(f"row_partitions contains {each} which is not a RowPartition")
        given = inner_shape if hasattr(inner_shape, "dtype") else np.array(inner_shape, _INT64)
        sizes = convert_to_tensor(given)
        sizes.shape.assert_has_rank(1)
        if partitions and not sizes.shape[0]:
            raise ValueError("inner_shape must have a size for the values that rows are made of.")
        own = partitions[0].dtype if partitions else sizes.dtype
        self._dtype = dtypes.as_dtype(own if dtype is None else dtype)
        self._partitions = tuple([each.with_dtype(self._dtype) for each in partitions])
        self._inner = tuple(np.asarray(sizes._value).tolist())
        if validate:
            self._check()
        _open_functions_of_shapes()

    def _check(self):
        counts = [each._splits[-1] for each in self._partitions]
        expected = [each.static_nrows for each in self._partitions[1:]] + list(self._inner[:1])
        if self._partitions and [int(count) for count in counts] != expected:
            raise InvalidArgumentError(None, None, f"Row partitions of {counts} do not fit.")

    # Making -----------------------------------------------------------------------------------

    @classmethod
    def from_lengths(cls, lengths, num_row_partitions=None, dtype=dtypes.int64):
        """A shape from a size for each axis, or a tuple of the lengths of its rows.

        Raises:
            ValueError: a length is no integer and no tuple, or the lengths do not go together.
        """
        lengths = list(lengths)
        for each in lengths:
            if not _is_length(each):
                raise ValueError(
                    f"element of lengths should be int or tuple of ints: instead {each}"
                )
        ragged = [axis for axis, each in enumerate(lengths) if isinstance(each, tuple)]
        if ragged and ragged[0] == 0:
            raise ValueError(f"The first axis has one length. Received: {lengths[0]}.")
        count = max(ragged, default=0) if num_row_partitions is None else num_row_partitions
        if count and count >= len(lengths):
            raise ValueError(
                "num_row_partitions should be less than `len(lengths)` if shape is not scalar."
            )
        if count < max(ragged, default=0):
            raise ValueError(
                f"Axis {ragged[-1]} is ragged, but num_row_partitions is {num_row_partitions}."
            )
        partitions, rows = [], lengths[0] if lengths else 0
        for each in lengths[1 : count + 1]:
            if isinstance(each, tuple):
                if len(each) != rows:
                    raise ValueError("Shape not consistent.")
                partitions.append(RowPartition.from_row_lengths(np.array(each, _INT64)))
                rows = sum(each)
            else:
                partitions.append(RowPartition.from_uniform_row_length(each, nrows=rows))
                rows *= each
        inner = [rows, *lengths[count + 1 :]] if lengths else []
        return cls(partitions, np.array(inner, _INT64), dtype=dtype)

    @classmethod
    def from_row_partitions(cls, row_partitions, dtype=None):
        """The shape of a ragged tensor of scalars with these partitions, the outermost first."""
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        return cls(row_partitions, [int(row_partitions[-1]._splits[-1])], dtype=dtype)

    @classmethod
    def from_tensor(cls, t, dtype=None):
        """The shape of a dense or ragged tensor."""
        if isinstance(t, DynamicRaggedShape):
            return t
        if not isinstance(t, RaggedTensor):
            sizes = np.array(convert_to_tensor(t).shape, _INT64)
            return cls([], sizes, dtype=dtype)
        partitions = []
        while isinstance(t, RaggedTensor):
            partitions.append(RowPartition(t._splits, t._uniform))
            t = t.values
        return cls(partitions, np.array(t.shape, _INT64), dtype=dtype)

    # Asking -----------------------------------------------------------------------------------

    @property
    def dtype(self):
        return self._dtype

    @property
    def row_partitions(self):
        return self._partitions

    @property
    def num_row_partitions(self):
        return len(self._partitions)

    @property
    def inner_shape(self):
        return EagerTensor(np.array(self._inner, self._dtype.numpy_dtype))

    @property
    def inner_rank(self):
        return len(self._inner)

    @property
    def rank(self):
        return len(self._partitions) + len(self._inner)

    def is_uniform(self, axis):
        """Whether all rows along an axis are known to have one length."""
        axis = self._axis(axis)
        return not 0 < axis <= len(self._partitions) or self._partitions[axis - 1].is_uniform()

    def static_lengths(self, ragged_lengths=True):
        """A list of the size of each axis; of ragged ones the tuple of lengths, or None."""
        return [
            length if not isinstance(length, tuple) or ragged_lengths else None
            for length in self._lengths()
        ]

    def _lengths(self) -> list[Any]:
        if not self._partitions:
            return list(self._inner)
        middle = [
            tuple(each._lengths.tolist()) if each._uniform is None else each._uniform
            for each in self._partitions
        ]
        return [self._partitions[0].static_nrows, *middle, *self._inner[1:]]

    def _num_elements(self):
        return EagerTensor(self._dtype.numpy_dtype.type(math.prod(self._inner)))

    def with_dtype(self, dtype):
        """The same shape with numbers of another dtype."""
        return DynamicRaggedShape(self._partitions, self.inner_shape, dtype=dtype)

    def _axis(self, axis):
        if axis >= self.rank:
            raise IndexError(f"Index is too big: {axis}>={self.rank}")
        if axis < -self.rank:
            raise IndexError(f"Index is too small: {axis}<{-self.rank}")
        return axis % self.rank

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._sliced(index)
        axis = self._axis(index)
        if not self.is_uniform(axis):
            raise ValueError(f"Index {axis} is not uniform")
        return EagerTensor(self._dtype.numpy_dtype.type(self._lengths()[axis]))

    def _sliced(self, index):
        if index.step is not None and index.step != 1:
            raise IndexError("Cannot stride through a shape")
        start, stop, _ = index.indices(self.rank)
        if start == 0 or stop <= start:
            kept = self._lengths()[start:stop]
            count = min(len(self._partitions), max(len(kept) - 1, 0))
            return DynamicRaggedShape.from_lengths(kept, count, self._dtype)
        if not all(each.is_uniform() for each in self._partitions):
            raise ValueError("All relevant dimensions must be uniform")
        return DynamicRaggedShape.from_lengths(self._lengths()[start:stop], dtype=self._dtype)

    def _components(self):
        return [self.inner_shape, *[each.row_splits() for each in self._partitions]]

    def _from_components(self, components):
        pairs = zip(self._partitions, components[1:], strict=True)
        partitions = [own._from_components([new]) for own, new in pairs]
        return DynamicRaggedShape(partitions, components[0])

    @property
    def _type_spec(self):
        return DynamicRaggedShapeSpec(
            tuple([each._spec_with_nvals() for each in self._partitions]),
            TensorShape(self._inner),
            self._dtype,
        )

    def __eq__(self, other):
        if not isinstance(other, DynamicRaggedShape):
            return False
        same_form = (
            self._inner == other._inner
            and [each.static_nrows for each in self._partitions]
            == [each.static_nrows for each in other._partitions]
            and self._dtype is other._dtype
        )
        return EagerTensor(np.bool_(self._lengths() == other._lengths())) if same_form else False

    def __ne__(self, other):
        equal = self == other
        return PUBLIC["logical_not"](equal) if isinstance(equal, EagerTensor) else not equal

    def __repr__(self):
        return (
            f"<DynamicRaggedShape lengths={self._lengths()} "
            f"num_row_partitions={self.num_row_partitions}>"
        )


class DynamicRaggedShapeSpec(TypeSpec):
    """Describes ragged shapes: the specs of their partitions, and the inner sizes."""

    value_type = DynamicRaggedShape

    def __init__(self, row_partitions, static_inner_shape, dtype):
        self._state = (row_partitions, static_inner_shape, dtype)

    def _serialize(self):
        return self._state

    def __repr__(self):
        partitions, inner, dtype = self._state
        return (
            f"DynamicRaggedShape.Spec(row_partitions={partitions}, static_inner_shape={inner!r}, "
            f"dtype={dtype!r})"
        )


DynamicRaggedShape.Spec = DynamicRaggedShapeSpec  # pyright: ignore[reportAttributeAccessIssue]


def _is_length(item):
    if isinstance(item, tuple):
        return all(_is_length(each) and not isinstance(each, tuple) for each in item)
    return isinstance(item, (int, np.integer)) and not isinstance(item, bool) and item >= 0


# Broadcasting -------------------------------------------------------------------------------------


def as_ragged_shape(shape):
    """A shape, a vector of sizes or a sequence of them, as a DynamicRaggedShape."""
    if isinstance(shape, DynamicRaggedShape):
        return shape
    sizes = np.asarray(convert_to_tensor(shape)._value)
    return DynamicRaggedShape([], sizes)


class _Side:
    """A shape on its way outside in: which of its rows each row of the result comes from."""

    def __init__(self, shape, rank):
        self.lengths = [1] * (rank - shape.rank) + shape._lengths()
        self.rows = np.zeros(1, _INT64)

    def at(self, axis):
        """The lengths along an axis of the rows that are asked for, and whether it is just 1."""
        length = self.lengths[axis]
        own = np.asarray(length, _INT64)
        return (own[self.rows] if isinstance(length, tuple) else own, length == 1)

    def descend(self, axis, counts, is_stretched):
        length = self.lengths[axis]
        if isinstance(length, tuple):
            ends = np.cumsum(length)
            starts = (ends - length)[self.rows] if len(ends) else self.rows
        else:
            starts = self.rows * length
        starts = np.repeat(starts, counts)
        if not is_stretched:
            ends = np.cumsum(counts)
            starts = starts + np.arange(len(starts)) - np.repeat(ends - counts, counts)
        self.rows = starts


def _walk(shapes, rank, depth):
    """Goes along the first `depth` axes; the result's lengths along each, and the sides."""
    sides = [_Side(shape, rank) for shape in shapes]
    lengths = []
    for axis in range(depth):
        found = [side.at(axis) for side in sides]
        wanted = next((own for own, is_one in found if not is_one), np.int64(1))
        is_ragged = any(isinstance(side.lengths[axis], tuple) for side in sides)
        counts = np.broadcast_to(wanted, sides[0].rows.shape)
        for own, is_one in found:
            if not is_one and not np.array_equal(np.broadcast_to(own, counts.shape), counts):
                raise InvalidArgumentError(
                    None,
                    None,
                    "Unable to broadcast: dimension size mismatch in dimension "
                    f"{axis}: {[side.lengths[axis] for side in sides]}",
                )
        for side, (_, is_one) in zip(sides, found, strict=True):
            side.descend(axis, counts, is_one)
        lengths.append(tuple(counts.tolist()) if is_ragged else int(wanted))
    return lengths, sides


def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape that results from broadcasting two shapes, of which at least one is ragged.

    Only axes known to have length 1 are stretched, rows that happen to have it are not.
    """
    x, y = as_ragged_shape(shape_x), as_ragged_shape(shape_y)
    rank = max(x.rank, y.rank)
    lengths, _ = _walk([x, y], rank, rank)
    count = max([s.num_row_partitions + rank - s.rank for s in (x, y) if s.num_row_partitions],
                default=0)  # fmt: skip
    dtype = x.dtype if isinstance(shape_x, DynamicRaggedShape) else y.dtype
    return DynamicRaggedShape.from_lengths(lengths, count, dtype)


def broadcast_to(input, shape):
    """A dense or ragged tensor stretched to a ragged shape."""
    x: Any = input if isinstance(input, RaggedTensor) else convert_to_tensor(input)
    if not shape.num_row_partitions:
        return PUBLIC["broadcast_to"](x, shape._inner)
    own = DynamicRaggedShape.from_tensor(x)
    depth, added = shape.num_row_partitions + 1, shape.rank - own.rank
    if added < 0:
        raise ValueError(f"A tensor of rank {own.rank} does not broadcast to {shape}.")
    lengths, (side, _) = _walk([own, shape], shape.rank, depth)
    if lengths != shape._lengths()[:depth]:
        raise InvalidArgumentError(None, None, f"Cannot broadcast {own} to {shape}")
    if added < depth:
        flat = x.flat_values if isinstance(x, RaggedTensor) else x
        merged = depth - added - own.num_row_partitions
        flat = PUBLIC["reshape"](flat, (-1, *flat.shape[merged:]))
        x = rows_at(flat, side.rows)
    return _with_shape(PUBLIC["broadcast_to"](x, shape._inner), shape)


def _with_shape(values, shape):
    for each in shape.row_partitions[::-1]:
        values = RaggedTensor(values, each.row_splits(), each._uniform)
    return values


# Functions that take a shape ----------------------------------------------------------------------


@functools.cache
def _open_functions_of_shapes():
    """Makes functions that take a shape take ragged ones, as soon as there is one."""
    shape = DynamicRaggedShape

    @dispatch_for_api(PUBLIC["broadcast_to"], {"shape": shape})
    def _(input, shape):
        return broadcast_to(input, shape)

    @dispatch_for_api(PUBLIC["broadcast_dynamic_shape"], {0: shape}, {1: shape})
    def _(shape_x, shape_y):
        return broadcast_dynamic_shape(shape_x, shape_y)

    @dispatch_for_api(PUBLIC["reshape"], {"shape": shape})
    def _(tensor, shape):
        flat = tensor.flat_values if isinstance(tensor, RaggedTensor) else tensor
        return _with_shape(PUBLIC["reshape"](flat, shape._inner), shape)

    @dispatch_for_api(PUBLIC["ones"], {"shape": shape})
    def _(shape, dtype, name, layout):
        return _with_shape(PUBLIC["ones"](shape._inner, dtype), shape)

    @dispatch_for_api(PUBLIC["zeros"], {"shape": shape})
    def _(shape, dtype, name, layout):
        return _with_shape(PUBLIC["zeros"](shape._inner, dtype), shape)

    @dispatch_for_api(PUBLIC["fill"], {"dims": shape})
    def _(dims, value, name, layout):
        return _with_shape(PUBLIC["fill"](dims._inner, value), dims)
