"""Rows dealt out to several tensors and put together again: dynamic_partition and its inverse."""

import math

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand, operands
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arguments import integer
from .broadcasting import reshape, words
from .creation import zeros
from .families import linear, shape_of
from .indexing import index_operand
from .joining import concat, concat_row
from .manipulation import move_axis, reshape_public
from .scatter import segment_sum
from .tensor_scatter import tensor_scatter_update

_INT32 = np.dtype(np.int32)


def _infer_partition(data, partitions, *, num_partitions):
    if partitions.dtype != _INT32:
        raise invalid_argument("DynamicPartition", "partitions must be int32")
    if num_partitions < 1:
        raise invalid_argument(
            "DynamicPartition",
            f"Value for attr 'num_partitions' of {num_partitions} must be at least minimum 1\n\t; "
            "NodeDef: {{node DynamicPartition}}",
        )
    rank = len(partitions.shape)
    if data.shape[:rank] != partitions.shape:
        raise invalid_argument(
            "DynamicPartition",
            "data.shape must start with partitions.shape, got data.shape = "
            f"{words(data.shape)}, partitions.shape = {words(partitions.shape)}",
        )
    return (Spec((None, *data.shape[rank:]), data.dtype),) * num_partitions


def _partition(data, partitions, num_partitions):
    numbers = np.asarray(partitions)
    outside = (numbers < 0) | (numbers >= num_partitions)
    if outside.any():
        bad = np.argwhere(outside)[0].tolist()
        raise invalid_argument(
            "DynamicPartition",
            f"partitions{words(bad) if bad else ''} = {numbers[tuple(bad)]} is not in "
            f"[0, {num_partitions})",
        )
    rows = np.asarray(data).reshape((numbers.size, *data.shape[numbers.ndim :]))
    flat = numbers.reshape(-1)
    if num_partitions <= 8:
        return tuple([rows[flat == i] for i in range(num_partitions)])
    # Sorting 16-bit numbers takes a fraction of the time.
    order = np.argsort(flat.astype(np.uint16) if num_partitions < 2**16 else flat, kind="stable")
    ends = np.cumsum(np.bincount(flat, minlength=num_partitions))
    return tuple(np.split(rows[order], ends[:-1]))


def _partition_adjoint(g, partitions, data_shape, *, num_partitions):
    """Every row gets back the gradient of the one place it went to."""
    rank = len(shape_of(partitions))
    count = math.prod(data_shape[:rank])
    numbers = np.arange(count, dtype=np.int32).reshape(data_shape[:rank])
    places = partition_row(numbers, partitions, num_partitions=num_partitions)
    rows = segment_sum(concat_row(g, axis=0), concat_row(places, axis=0), num_segments=count)
    return reshape(rows, shape=data_shape)


def _batch_partition(op, values, flags, attrs):
    data, partitions = values
    if flags[1]:
        raise TypeError(
            "dynamic_partition gives tensors of the lengths its partitions say, which may differ "
            "within a batch."
        )
    behind = move_axis(data, 0, len(shape_of(partitions)))
    return tuple([move_axis(part, 1, 0) for part in op.call(behind, partitions, **attrs)])


partition_row = linear(
    "DynamicPartition",
    _partition,
    inputs="data partitions",
    infer=_infer_partition,
    transpose=_partition_adjoint,
    batch=_batch_partition,
    outputs=-1,
)


@export("dynamic_partition")
def dynamic_partition(data, partitions, num_partitions, name=None):
    """Deals out the rows of a tensor to several tensors, as the numbers in `partitions` say.

    Args:
        data: the rows.
        partitions: int32 numbers, whose shape `data`'s shape starts with.
        num_partitions: how many tensors there are.

    Returns:
        A list of tensors.

    Raises:
        InvalidArgumentError: a number is out of range, or the shapes do not agree.
    """
    numbers = convert_to_tensor(partitions, dtypes.int32)
    attrs = {"num_partitions": integer(num_partitions, "DynamicPartition")}
    return list(apply(partition_row.op, (operand(data), numbers), attrs))


@export("dynamic_stitch")
def dynamic_stitch(indices, data, name=None):
    """Puts the rows of several tensors into one, at the places `indices` says.

    Args:
        indices: a list of int32 tensors, whose shapes those of `data` start with.
        data: a list of as many tensors; of rows with one place, the last is taken.

    Raises:
        InvalidArgumentError: an index is negative, or the shapes do not agree.
    """
    op_name = "DynamicStitch"
    places = [index_operand(each) for each in indices]
    if not places or len(places) != len(data):
        raise invalid_argument(
            op_name,
            f"Expected as many tensors of indices as of data, and at least one. Received: "
            f"{len(places)} and {len(data)}",
        )
    parts = operands(*data)
    rest = _rest_shape(op_name, places, parts)
    flat = [reshape_public(place, (-1,)) for place in places]
    rows = [
        apply(reshape.op, (part,), {"shape": (math.prod(place.shape), *rest)})
        for place, part in zip(places, parts, strict=True)
    ]
    at = concat(flat, 0)
    numbers = np.asarray(at)
    size = int(np.max(numbers, initial=-1)) + 1
    if np.min(numbers, initial=0) < 0:
        bad = int(np.argmin(numbers))
        raise invalid_argument(op_name, f"indices[{bad}] is out of range")
    base = zeros((size, *rest), parts[0].dtype)
    column = apply(reshape.op, (at,), {"shape": (*at.shape, 1)})
    return apply(tensor_scatter_update.op, (base, column, concat(rows, 0)))


def _rest_shape(op_name, places, parts):
    """The shape of a row, which all parts must agree on."""
    for i, (place, part) in enumerate(zip(places, parts, strict=True)):
        if part.shape[: place.ndim] != place.shape:
            raise invalid_argument(
                op_name,
                f"data[{i}].shape = {words(part.shape)} does not start with indices[{i}].shape = "
                f"{words(place.shape)}",
            )
        if part.shape[place.ndim :] != parts[0].shape[places[0].ndim :]:
            raise invalid_argument(
                op_name,
                f"Need data[0].shape[{places[0].ndim}:] = data[{i}].shape[{place.ndim}:], got "
                f"data[0].shape = {words(parts[0].shape)}, data[{i}].shape = {words(part.shape)}, "
                f"indices[0].shape = {words(places[0].shape)}, indices[{i}].shape = "
                f"{words(place.shape)}",
            )
    return tuple(parts[0].shape[places[0].ndim :])
