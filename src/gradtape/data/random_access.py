"""tf.data.experimental.at: an element by its number."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import int64
from ..core.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    OutOfRangeError,
    UnimplementedError,
)
from ..core.exports import export
from .dataset import INFINITE
from .elements import packer
from .sources import RangeDataset


def _error(error_class, text):
    return error_class(None, None, f"{text} [Op:GetElementAtIndex] name: ")


def _leaves_at(dataset, index):
    """The leaves of an element.

    Raises:
        OutOfRangeError: there is none with this number.
        FailedPreconditionError: it is not known how many there are.
        UnimplementedError: it would take all elements before it.
    """
    name = type(dataset).__name__
    if name not in _BY_NUMBER:
        raise _error(UnimplementedError, f"Random access is not implemented for dataset {name}")
    if name != "CacheDataset":  # it knows better than its input
        count = dataset._count()
        if count < 0:
            kind = "infinite" if count == INFINITE else "unknown"
            raise _error(
                FailedPreconditionError,
                f"Dataset of type {name} has {kind} cardinality, which does not support random "
                "access.",
            )
        if not 0 <= index < count:
            raise _error(OutOfRangeError, f"Index out of range [0, {count}):{index}")
    return _BY_NUMBER[name](dataset, index)


def _by_going_there(dataset, index):
    """Of datasets whose elements cost nothing, or that depend on all before."""
    for i, leaves in enumerate(dataset._elements()):
        if i == index:
            return leaves
    raise _error(OutOfRangeError, f"Index out of range:{index}")


def _same_number(dataset, index):
    return _leaves_at(dataset._inputs[0], index)


def _of_range(dataset, index):
    return (dataset._dtype.numpy_dtype.type(dataset._numbers[index]),)


def _of_batch(dataset, index):
    first = index * dataset._size
    rest = range(first, min(first + dataset._size, dataset._input._count()))
    return dataset._join([_leaves_at(dataset._input, i) for i in rest])


def _of_map(dataset, index):
    return dataset._function(*_leaves_at(dataset._input, index))


def _of_zip(dataset, index):
    return tuple([leaf for each in dataset._inputs for leaf in _zipped_at(each, index)])


def _zipped_at(dataset, index):
    # What numbers elements, in enumerate, has more of them than any count.
    if isinstance(dataset, RangeDataset):
        return _of_range(dataset, index)
    return _leaves_at(dataset, index)


def _of_skip(dataset, index):
    return _leaves_at(dataset._input, index + dataset._input._count() - dataset._count())


def _of_repeat(dataset, index):
    return _leaves_at(dataset._input, index % dataset._input._count())


def _of_concatenation(dataset, index):
    first, second = dataset._inputs
    count = first._count()
    return _leaves_at(first, index) if index < count else _leaves_at(second, index - count)


_BY_NUMBER: dict[str, Callable[[Any, int], tuple]] = {
    "RangeDataset": _of_range,
    "TensorDataset": _by_going_there,
    "TensorSliceDataset": _by_going_there,
    "ListDataset": _by_going_there,
    "ShuffleDataset": _by_going_there,
    "ShardDataset": _by_going_there,
    "CacheDataset": _by_going_there,
    "BatchDataset": _of_batch,
    "MapDataset": _of_map,
    "ParallelMapDataset": _of_map,
    "ZipDataset": _of_zip,
    "SkipDataset": _of_skip,
    "TakeDataset": _same_number,
    "PrefetchDataset": _same_number,
    "OptionsDataset": _same_number,
    "AssertCardinalityDataset": _same_number,
    "RepeatDataset": _of_repeat,
    "ConcatenateDataset": _of_concatenation,
}


@export("data.experimental.at")
def at(dataset, index):
    """The element of a dataset that has the number `index`, from 0 on.

    Raises:
        OutOfRangeError: there is no such element.
        FailedPreconditionError: it is not known how many elements there are, or there is no end.
        UnimplementedError: elements of such a dataset can be had only one after the other. To
            have them by number, make a `cache()` of it.

    Example:
        >>> int(at(Dataset.range(10, 20).map(lambda x: x * x), 3))
        169
    """
    spec = dataset.element_spec
    number = (
        convert_to_tensor(index) if hasattr(index, "dtype") else convert_to_tensor(index, int64)
    )
    if number.dtype != int64:
        raise InvalidArgumentError(
            None,
            None,
            "cannot compute GetElementAtIndex as input #1(zero-based) was expected to be a int64 "
            f"tensor but is a {number.dtype.name} tensor [Op:GetElementAtIndex] name: ",
        )
    return packer(spec)(_leaves_at(dataset, int(np.asarray(number._known()))))
