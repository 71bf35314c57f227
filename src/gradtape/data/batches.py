"""Consecutive elements as one: batch."""

import contextlib
import itertools

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import bool_
from .arguments import parallel_calls, warn_of_deterministic, wrong_number
from .dataset import Dataset, method
from .elements import leaf_specs, with_leaf_specs
from .leaves import batched, stacked
from .mapping import MapDataset
from .selection import number

_END = object()


def batch_size_of(value, op):
    """A size of batches that a method was given.

    Raises:
        InvalidArgumentError: it is no scalar, or less than 1.
        TypeError, ValueError: it is no int64.
    """
    size = number(value, "batch_size", op)
    if size <= 0:
        raise wrong_number(op, "Batch size must be greater than zero.")
    return size


def flag(value):
    """A bool that a method was given, perhaps as a tensor.

    Raises:
        TypeError, ValueError: it is none.
    """
    if type(value) is bool:
        return value
    return bool(convert_to_tensor(value, bool_)._known())


def element_error(error_class, text):
    """The error of an element that cannot be made."""
    return error_class(None, None, f"{text} [Op:IteratorGetNext] name: ")


class Batches(Dataset):
    """A dataset that makes one element of some consecutive ones: as many as `size`.

    Where one of them fails, those before it are lost. If the source is a map, as a rule, so are
    those after it that would be in the same batch; TensorFlow runs such a map batch by batch.
    """

    _loses_all = False

    def __init__(self, source, size, drop_remainder):
        super().__init__(source)
        self._input, self._size, self._drops = source, size, drop_remainder

    @property
    def _static_size(self):
        return self._size if self._drops else None

    @property
    def _batch_size(self):
        """What Keras knows by that a dataset is batched, where it splits one."""
        return self._size

    def _count(self):
        count = self._input._count()
        if count < 0:
            return count
        return count // self._size if self._drops else -(-count // self._size)

    def _elements(self):
        return self._grouped(self._input._elements(), self._join)

    def _grouped(self, items, join):
        """Calls `join` with lists of so many consecutive items."""

        def pull():
            group = []
            try:
                group.extend(itertools.islice(items, self._size))
            except Exception:
                if self._loses_all:
                    _skip(items, self._size - len(group) - 1)
                raise
            if not group or (self._drops and len(group) < self._size):
                raise StopIteration
            return join(group)

        return iter(pull, _END)

    def _join(self, elements):
        """The element that is made of some."""
        raise NotImplementedError(f"{type(self).__name__}._join()")


def _skip(items, count):
    for _ in range(count):
        with contextlib.suppress(Exception):
            next(items, None)


class BatchDataset(Batches):
    def __init__(self, source, size, drop_remainder, after_map=None):
        super().__init__(source, size, drop_remainder)
        self._loses_all = isinstance(source, MapDataset) if after_map is None else after_map

    @property
    def element_spec(self):
        spec = self._input.element_spec
        size = self._static_size
        return with_leaf_specs(spec, [batched(each, size) for each in leaf_specs(spec)])

    def _elements(self):
        rows = self._input._rows()
        if rows is None:
            return super()._elements()
        columns, begin = rows
        return self._grouped(begin(), lambda numbers: _gathered(columns, numbers))

    def _join(self, elements):
        columns = zip(*elements, strict=True)
        return tuple([stacked(leaves, i) for i, leaves in enumerate(columns)])


class ParallelBatchDataset(BatchDataset):
    """A batch is made in one piece and at once, so that there is nothing to do in parallel."""


def _gathered(columns, numbers):
    """Rows of arrays as arrays; consecutive ones are copied in one piece."""
    first, count = numbers[0], len(numbers)
    if numbers[-1] - first == count - 1 and numbers == list(range(first, first + count)):
        return tuple([column[first : first + count] for column in columns])
    numbers = np.array(numbers)
    return tuple([column.take(numbers, 0) for column in columns])


@method
def batch(
    self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None
):
    """Joins each `batch_size` consecutive elements along a new first axis.

    Args:
        batch_size: how many elements make one.
        drop_remainder: whether to leave out a last batch that is smaller than the others.

    Raises:
        InvalidArgumentError: `batch_size` is less than 1; or, of a batch, shapes differ in it.

    Example:
        >>> [batch.numpy().tolist() for batch in Dataset.range(5).batch(2)]
        [[0, 1], [2, 3], [4]]
    """
    if num_parallel_calls is None:
        if deterministic is not None:
            warn_of_deterministic()
        size = batch_size_of(batch_size, "BatchDatasetV2")
        return BatchDataset(self, size, flag(drop_remainder))
    size = batch_size_of(batch_size, "ParallelBatchDataset")
    drops = flag(drop_remainder)
    parallel_calls(num_parallel_calls, "ParallelBatchDataset")
    return ParallelBatchDataset(self, size, drops)
