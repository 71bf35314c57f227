"""Ragged tensors cut into parts, without axes of length 1, and strings in them joined."""

import itertools

import numpy as np

from ..core.errors import InvalidArgumentError
from ..core.exports import PUBLIC, public
from ..core.ragged_tensor import RaggedTensor
from ..core.tensor import EagerTensor
from .arguments import integer, integers
from .ragged import expand_ragged, for_ragged, get_item, of_lengths, positions_in_rows


def _axis_of(x, axis, name="axis"):
    rank = x.ndim
    if not -rank <= axis < rank:
        raise ValueError(f"{name}={axis} out of bounds: expected {-rank}<={name}<{rank}")
    return axis % rank


# Splitting ----------------------------------------------------------------------------------------


@for_ragged("split")
def _split(value, num_or_size_splits, axis=0, num=None, name=None):
    axis = _axis_of(value, integer(axis, "Split"))
    length = value.shape[axis]
    if length is None:
        raise ValueError(
            f"Cannot split a ragged dimension. Got `value` with shape {_shape_text(value)} and "
            f"`axis` {axis}."
        )
    starts = np.cumsum([0, *_sizes(num_or_size_splits, length, num)]).tolist()
    outer = (slice(None),) * axis
    return [get_item(value, (*outer, slice(a, b))) for a, b in itertools.pairwise(starts)]


def _shape_text(value):
    return public("experimental.DynamicRaggedShape").from_tensor(value)


def _sizes(wanted, length, num):
    if isinstance(wanted, (int, np.integer)):
        if wanted < 1:
            raise ValueError(
                f"`num_or_size_splits` must be >=1 if it is an `int`.Received {wanted}."
            )
        if length % wanted:
            raise _inexact(length, wanted)
        return [length // wanted] * int(wanted)
    sizes = integers(wanted, "SplitV", "Tlen")
    if sizes.ndim != 1:
        raise ValueError(f"`num_or_size_splits` must be a vector. Received: {sizes.tolist()}.")
    if num is not None and num != len(sizes):
        raise ValueError(
            "`num` does not match the size of `num_or_size_split`. Received `num`: "
            f"{num} and size of `num_or_size_split`: {len(sizes)}."
        )
    if (sizes < 0).any():
        raise InvalidArgumentError(
            None, None, f"`num_or_size_splits` must be non-negative. Received: {sizes.tolist()}"
        )
    if sizes.sum() != length:
        raise _inexact(length, sizes.sum())
    return sizes.tolist()


def _inexact(length, wanted):
    return InvalidArgumentError(
        None,
        None,
        "Cannot exactly split the `axis` dimension of `value` with the given `num_or_size_split`: "
        f"{length} beside {wanted}",
    )


# Squeezing ----------------------------------------------------------------------------------------


@for_ragged("squeeze")
def _squeeze(input, axis=None, name=None):
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    given = integers(axis, "Squeeze", "axis").reshape(-1).tolist()
    axes = {_axis_of(input, each, f"axis[{i}]") for i, each in enumerate(given)}
    for each in sorted(axes, reverse=True):
        input = _without(input, each, each)
    return input


def _without(x, axis, shown):
    """`x` without an axis along which every row has length 1."""
    if not isinstance(x, RaggedTensor):
        if x.shape[axis] != 1:
            raise _not_squeezable(shown)
        return PUBLIC["squeeze"](x, axis)
    if axis > 1:
        return x.with_values(_without(x.values, axis - 1, shown))
    if axis == 0:
        if x._nrows != 1:
            raise _not_squeezable(shown)
        return x.values
    if (x._lengths != 1).any():
        raise _not_squeezable(shown)
    return x.values


def _not_squeezable(axis):
    return InvalidArgumentError(None, None, f"the given axis (axis = {axis}) is not squeezable!")


# Joining strings ----------------------------------------------------------------------------------


@for_ragged("reduce_join")
def _reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    if axis is None:
        return PUBLIC["strings.reduce_join"](inputs.flat_values, None, keepdims, separator)
    axes = {
        _axis_of(inputs, each) for each in integers(axis, "ReduceJoin", "T").reshape(-1).tolist()
    }
    joined = inputs
    for each in sorted(axes, reverse=True):
        joined = _joined_along(joined, each, separator)
        if keepdims:
            is_ragged = isinstance(joined, RaggedTensor)
            joined = (expand_ragged if is_ragged else PUBLIC["expand_dims"])(joined, each)
    return joined


def _joined_along(x, axis, separator):
    if not isinstance(x, RaggedTensor):
        return PUBLIC["strings.reduce_join"](x, axis, separator=separator)
    if axis > 1:
        return x.with_values(_joined_along(x.values, axis - 1, separator))
    if axis:
        return _by_segments(x.values, x._rowids, x._nrows, separator)
    count = int(x._lengths.max()) if x._nrows else 0
    return _by_segments(x.values, positions_in_rows(x), count, separator)


def _by_segments(values, ids, count, separator):
    """Values with the same number joined; of rows, those in the same place."""
    if not isinstance(values, RaggedTensor):
        return PUBLIC["strings.unsorted_segment_join"](
            values, EagerTensor(np.asarray(ids, np.int64)), count, separator
        )
    lengths = np.zeros(count, np.int64)
    np.maximum.at(lengths, ids, values._lengths)
    starts = np.cumsum(lengths) - lengths
    places = starts[ids[values._rowids]] + positions_in_rows(values)
    joined = _by_segments(values.values, places, int(lengths.sum()), separator)
    return of_lengths(joined, lengths, values._splits.dtype)
