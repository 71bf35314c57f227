"""Ragged tensors in ops: elementwise ops act on their values, others on their rows too.

Handlers are found by dispatch under the op's name (see `core.composite`). Rows are plain integers
that are computed with at once; only values pass through ops, so that gradients reach them.
"""

from typing import Any

import numpy as np

from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import PUBLIC, export
from ..core.ragged_spec import RaggedTensorSpec
from ..core.ragged_tensor import RaggedTensor, length_of
from ..core.tensor import EagerTensor
from . import arithmetic
from .indexing import gather_nd_row, gather_row
from .joining import concat as concat_tensors
from .manipulation import reshape_public

_INT64: Any = np.dtype(np.int64)

export("RaggedTensor", RaggedTensor)
export("RaggedTensorSpec", RaggedTensorSpec)


def rows_at(values, numbers):
    """The rows of a dense or ragged tensor with some numbers; gradients are dense."""
    numbers = np.asarray(numbers, _INT64)
    if not isinstance(values, RaggedTensor):
        values = convert_to_tensor(values)
        attrs = {"axis": -values.ndim, "batch_dims": 0}
        return apply(gather_row.op, (values, EagerTensor(numbers)), attrs)
    count = values._nrows
    if numbers.size and (numbers.min() < 0 or numbers.max() >= count):
        bad = int(np.argmax((numbers < 0) | (numbers >= count)))
        raise invalid_argument(
            "RaggedGather", f"indices[{bad}] = {numbers[bad]} is not in [0, {count})"
        )
    lengths = values._lengths[numbers]
    inner = rows_at(values.values, spans(values._splits[numbers], lengths))
    return of_lengths(inner, lengths, values._splits.dtype, values._uniform)


def spans(starts, lengths):
    """The numbers from each start on, as many as each length says, in a line."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - lengths), lengths)


def of_lengths(values, lengths, dtype=_INT64, uniform=None):
    """A ragged tensor from values and an array of row lengths."""
    splits = np.zeros(len(lengths) + 1, dtype)
    np.cumsum(lengths, out=splits[1:])
    return RaggedTensor(values, EagerTensor(splits), uniform)


def positions_in_rows(x):
    """For each value, its position within its row."""
    return np.arange(length_of(x.values)) - np.repeat(x._splits[:-1], x._lengths)


# Elementwise --------------------------------------------------------------------------------------


def _elementwise(op, inputs, attrs):
    ragged = [x for x in inputs if isinstance(x, RaggedTensor)]
    first = max(ragged, key=lambda x: x.ragged_rank)
    flat = tuple([_spread(op, x, first) for x in inputs])
    return first.with_flat_values(apply(op, flat, attrs))


def _spread(op, x, rows):
    """The elements of `x` beside the flat values of `rows`."""
    if isinstance(x, RaggedTensor):
        splits, others = x._nested_splits, rows._nested_splits
        if len(splits) != len(others) or any(
            not np.array_equal(a, b) for a, b in zip(splits, others, strict=True)
        ):
            raise invalid_argument(
                op.name,
                "Unable to broadcast: dimension size mismatch in dimension 1: the rows of "
                f"{x.shape} and {rows.shape} have different lengths",
            )
        return x.flat_values
    x = operand(x)
    rank = rows.ndim
    shape = tuple(x.shape)
    if len(shape) > rank:
        raise invalid_argument(
            op.name, f"Unable to broadcast a tensor of rank {len(shape)} to rank {rank}"
        )
    depth = len(shape) - (rank - rows.ragged_rank - 1)  # how many axes lie outside of flat values
    if depth <= 0 or not shape:
        return x
    outer = shape[:depth]
    coordinates = _outer_coordinates(rows)[rows.ragged_rank + 1 - depth :]
    places = []
    for axis, (size, column) in enumerate(zip(outer, coordinates, strict=True)):
        if size == 1:
            column = np.zeros_like(column)
        elif not _is_length(rows, axis + rows.ragged_rank + 1 - depth, size):
            raise invalid_argument(
                op.name,
                f"Unable to broadcast: dimension size mismatch in dimension {axis}: {size} beside "
                f"{rows.shape}",
            )
        places.append(column)
    x = convert_to_tensor(x)
    return apply(gather_nd_row.op, (x, EagerTensor(np.stack(places, 1))))


def _outer_coordinates(x):
    """For each flat value, its place along every axis outside of flat values."""
    if not isinstance(x.values, RaggedTensor):
        return [x._rowids.astype(_INT64), positions_in_rows(x).astype(_INT64)]
    inner = _outer_coordinates(x.values)
    return [x._rowids[inner[0]].astype(_INT64), positions_in_rows(x)[inner[0]], *inner[1:]]


def _is_length(x, axis, size):
    """Whether all rows along an axis have one length."""
    if axis == 0:
        return x._nrows == size
    lengths = np.diff(x._nested_splits[axis - 1])
    return bool((lengths == size).all())


def _other_op(self, op, inputs, attrs):
    if op.broadcasts is None:
        raise self._no_tensor()
    return _elementwise(op, inputs, attrs)


RaggedTensor._other_op = _other_op
RaggedTensor._handlers["AddN"] = RaggedTensor._handlers["StringJoin"] = _elementwise


def _of_flat_values(op, inputs, attrs):
    first, *others = inputs
    return first.with_flat_values(apply(op, (first.flat_values, *others), attrs))


for _name in (
    "AsString", "Cast", "CheckNumerics", "ClipByValue", "Identity", "LeakyRelu", "OneHot",
    "StaticRegexFullMatch", "StaticRegexReplace", "StopGradient", "StringLength", "StringLower",
    "StringStrip", "StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong",
    "StringToNumber", "StringUpper", "Substr", "UnicodeScript", "UnicodeTranscode",
):  # fmt: skip
    RaggedTensor._handlers[_name] = _of_flat_values


# Joining ------------------------------------------------------------------------------------------


def with_ragged_rank(x, rank):
    """`x` with at least so many ragged axes; a dense tensor's become uniform rows."""
    if not isinstance(x, RaggedTensor):
        x = convert_to_tensor(x)
        if not rank:
            return x
        count, length = tuple(x.shape)[:2]
        inner = reshape_public(x, (count * length, *x.shape[2:]))
        return of_lengths(with_ragged_rank(inner, rank - 1), np.full(count, length))
    return x.with_values(with_ragged_rank(x.values, rank - 1)) if rank > x.ragged_rank else x


def concat_ragged(values, axis):
    """Ragged and dense tensors of one rank one after the other along an axis."""
    rank = values[0].ndim
    if any(x.ndim != rank for x in values):
        raise ValueError(f"All tensors must have the same rank. Received: {values!r}.")
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    axis %= rank
    deepest = max([x.ragged_rank for x in values if isinstance(x, RaggedTensor)])
    values = [with_ragged_rank(x, deepest) for x in values]
    if axis == 0:
        inner = _join([x.values for x in values], 0)
        lengths = np.concatenate([x._lengths for x in values])
        return of_lengths(inner, lengths, values[0]._splits.dtype)
    if axis > 1:
        return values[0].with_values(_join([x.values for x in values], axis - 1))
    if len({x._nrows for x in values}) > 1:
        raise invalid_argument(
            "RaggedConcat",
            f"Input tensors have incompatible shapes: {[x._nrows for x in values]} rows",
        )
    joined = concat_ragged(values, 0)
    order = np.arange(joined._nrows).reshape(len(values), -1).T.reshape(-1)
    turned = rows_at(joined, order)
    lengths = np.sum([x._lengths for x in values], 0)
    return of_lengths(turned.values, lengths, values[0]._splits.dtype)


def _join(parts, axis):
    if any(isinstance(x, RaggedTensor) for x in parts):
        return concat_ragged(parts, axis)
    return concat_tensors(parts, axis)


def expand_ragged(x, axis):
    """One more axis of length 1."""
    rank = x.ndim
    if not -rank - 1 <= axis <= rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank - 1}<=axis<={rank}")
    axis %= rank + 1
    if axis == 0:
        return RaggedTensor.from_uniform_row_length(x, length_of(x), nrows=1)
    if axis == 1:
        return RaggedTensor.from_uniform_row_length(x, 1, nrows=length_of(x))
    inner = x.values
    if isinstance(inner, RaggedTensor):
        return x.with_values(expand_ragged(inner, axis - 1))
    return x.with_values(PUBLIC["expand_dims"](inner, axis - 1))


def _stack(values, axis):
    rank = values[0].ndim
    return concat_ragged([_expanded(x, axis % (rank + 1)) for x in values], axis % (rank + 1))


def _expanded(x, axis):
    return expand_ragged(x if isinstance(x, RaggedTensor) else with_ragged_rank(x, 1), axis)


RaggedTensor._handlers["ConcatV2"] = lambda op, inputs, attrs: concat_ragged(inputs, attrs["axis"])
RaggedTensor._handlers["Pack"] = lambda op, inputs, attrs: _stack(inputs, attrs["axis"])


@export("ragged.stack")
def stack(values, axis=0, name=None):
    """Tensors of one rank, dense or ragged, stacked along a new axis; the result is ragged."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    values = [x if isinstance(x, RaggedTensor) else convert_to_tensor(x) for x in values]
    if not values[0].ndim:
        return PUBLIC["stack"](values, axis)
    if values[0].ndim == 1 and axis == 0:
        lengths = [x.shape[0] for x in values]
        return of_lengths(concat_tensors(values, 0), lengths, np.int32)
    return _stack(values, axis)


# Gathering ----------------------------------------------------------------------------------------


def _gather(op, inputs, attrs):
    params, indices = inputs
    if isinstance(indices, RaggedTensor):
        if attrs["batch_dims"]:
            return _gather_in_rows(params, indices)
        return indices.with_values(_gather(op, (params, indices.values), attrs))
    if not isinstance(params, RaggedTensor):
        return apply(op, (params, indices), {**attrs, "axis": attrs["axis"] % params.ndim})
    numbers = np.asarray(convert_to_tensor(indices)._value)
    if attrs["batch_dims"]:
        return _gather_in_rows(params, with_ragged_rank(EagerTensor(numbers), 1))
    if attrs["axis"]:
        return params.with_values(PUBLIC["gather"](params.values, indices, axis=attrs["axis"] - 1))
    if not numbers.ndim:
        return get_item(params, (int(numbers),))
    found = rows_at(params, numbers.reshape(-1))
    for size in numbers.shape[:0:-1]:
        found = RaggedTensor.from_uniform_row_length(found, size)
    return found


def _gather_in_rows(params, indices):
    """For each row of `indices`, the elements of the same row of `params`."""
    params = with_ragged_rank(params, 1)
    numbers = np.asarray(indices.flat_values._value)
    rows = indices._rowids if indices.ragged_rank == 1 else _outer_coordinates(indices)[0]
    if ((numbers < 0) | (numbers >= params._lengths[rows])).any():
        raise invalid_argument("RaggedGather", "an index lies outside of its row")
    return indices.with_flat_values(rows_at(params.values, params._splits[rows] + numbers))


RaggedTensor._handlers["GatherV2"] = _gather


# Indexing -----------------------------------------------------------------------------------------


def get_item(x, keys):
    """`x[keys]`, of a tuple of integers, slices, None and an ellipsis."""
    if not isinstance(x, RaggedTensor):
        return x[tuple(keys)] if keys else x
    keys = _without_ellipsis(keys, x.ndim)
    if not keys:
        return x
    key, rest = keys[0], keys[1:]
    if key is None:
        inner = get_item(x, rest)
        if isinstance(inner, RaggedTensor):
            return expand_ragged(inner, 0)
        return PUBLIC["expand_dims"](inner, 0)
    if isinstance(key, slice):
        chosen = range(x._nrows)[_plain_slice(key)]
        if len(chosen) != x._nrows or key.step is not None:
            x = rows_at(x, np.array(chosen, _INT64))
        return _inner_item(x, rest)
    number = _plain_index(key)
    if not -x._nrows <= number < x._nrows:
        raise IndexError(f"Row key {number} out of bounds")
    start, end = x._splits[number % x._nrows : number % x._nrows + 2].tolist()
    row = get_item(x.values, (slice(start, end),))
    return get_item(row, rest)


def _inner_item(x, keys):
    """Indexes behind the first axis, which is kept."""
    if not keys:
        return x
    key, rest = keys[0], keys[1:]
    if key is None:
        return expand_ragged(_inner_item(x, rest), 1)
    if isinstance(key, slice):
        x = _sliced_rows(x, _plain_slice(key))
        return x.with_values(get_item(x.values, (slice(None), *rest))) if rest else x
    if x._uniform is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    number = _plain_index(key)
    if not -x._uniform <= number < x._uniform:
        raise invalid_argument("StridedSlice", f"slice index {number} out of bounds.")
    return get_item(rows_at(x.values, x._splits[:-1] + number % x._uniform), (slice(None), *rest))


def _sliced_rows(x, key):
    if key == slice(None):
        return x
    pieces = [range(*key.indices(length)) for length in x._lengths.tolist()]
    lengths = np.array([len(piece) for piece in pieces], _INT64)
    numbers = [
        start + np.array(piece, _INT64) for start, piece in zip(x._splits, pieces, strict=False)
    ]
    found = np.concatenate(numbers) if numbers else np.zeros(0, _INT64)
    uniform = len(range(*key.indices(x._uniform))) if x._uniform is not None else None
    return of_lengths(rows_at(x.values, found), lengths, x._splits.dtype, uniform)


def _plain_index(key):
    return int(np.asarray(convert_to_tensor(key)._value))


def _plain_slice(key):
    parts = [None if p is None else _plain_index(p) for p in (key.start, key.stop, key.step)]
    return slice(*parts)


def _without_ellipsis(keys, rank):
    keys = keys if isinstance(keys, tuple) else (keys,)
    places = [i for i, key in enumerate(keys) if key is Ellipsis]
    if not places:
        return keys
    used = len([key for key in keys if key is not None and key is not Ellipsis])
    at = places[0]
    return (*keys[:at], *[slice(None)] * (rank - used), *keys[at + 1 :])


def _iterate(self):
    for i in range(self._nrows):
        yield get_item(self, (i,))


RaggedTensor.__getitem__ = get_item
RaggedTensor.__iter__ = _iterate


# Operators ----------------------------------------------------------------------------------------


def _operator(name):
    def forward(self, other):
        return PUBLIC[name](self, other)

    def reflected(self, other):
        return PUBLIC[name](other, self)

    return forward, reflected


for _method, _name in (
    ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "truediv"),
    ("floordiv", "math.floordiv"), ("mod", "math.floormod"), ("pow", "pow"),
    ("and", "logical_and"), ("or", "logical_or"), ("xor", "math.logical_xor"),
):  # fmt: skip
    _forward, _reflected = _operator(_name)
    setattr(RaggedTensor, f"__{_method}__", _forward)
    setattr(RaggedTensor, f"__r{_method}__", _reflected)
for _method, _name in (
    ("lt", "less"), ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal"),
    ("eq", "equal"), ("ne", "not_equal"),
):  # fmt: skip
    setattr(RaggedTensor, f"__{_method}__", _operator(_name)[0])
RaggedTensor.__neg__ = lambda self: arithmetic.neg.op.on_tensors(self)
RaggedTensor.__abs__ = lambda self: PUBLIC["abs"](self)
RaggedTensor.__invert__ = lambda self: PUBLIC["logical_not"](self)


def _unhashable(self):
    raise TypeError("RaggedTensor is unhashable.")


RaggedTensor.__hash__ = _unhashable


# Functions that are no single op ------------------------------------------------------------------


def for_ragged(function_name):
    """Makes the decorated function what a public function does with a ragged tensor."""

    def install(function):
        RaggedTensor._functions[function_name] = function
        return function

    return install
