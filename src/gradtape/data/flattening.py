"""Functions that make a dataset of each element: flat_map and interleave."""

import os
from typing import Any

from ..core.exports import export
from .arguments import (
    keeps_order,
    parallel_calls,
    warn_of_deterministic,
    whole_number,
    wrong_number,
)
from .dataset import AUTOTUNE, UNKNOWN, Dataset, method
from .elements import as_public
from .functions import ElementFunction, known_spec
from .parallel import SLOW
from .prefetching import Prefetched
from .specs import DatasetSpec
from .states import first_element

# Elements of each dataset that are made ahead where datasets run at the same time.
_AHEAD = 4


class _OfDatasets(Dataset):
    """The elements of datasets that a function makes, one of each element."""

    def __init__(self, source, function, what):
        super().__init__(source)
        self._input = source
        self._function = ElementFunction(
            function,
            lambda: source.element_spec,
            first=lambda: first_element(source),
            traced=False,
            what=what,
        )
        known_spec(self)

    @property
    def element_spec(self):
        found = self._function.spec
        if not isinstance(found, DatasetSpec):
            raise _no_dataset(getattr(found, "value_type", type(found)))
        return found.element_spec

    def _begin(self, leaves):
        """An iterator over the elements of the dataset that is made of an element."""
        found = self._function(*leaves)
        if len(found) != 1 or not isinstance(found[0], Dataset):
            raise _no_dataset(tuple if len(found) != 1 else type(as_public(found[0])))
        return found[0]._elements()

    def _count(self):
        return UNKNOWN


def _no_dataset(found):
    return TypeError(f"The `map_func` argument must return a `Dataset` object. Got {found!r}.")


class FlatMapDataset(_OfDatasets):
    def __init__(self, source, function):
        super().__init__(source, function, "Dataset.flat_map()")

    def _elements(self):
        return _Flat(map(self._begin, self._input._elements()))


class _Flat:
    """itertools.chain.from_iterable that survives errors."""

    def __init__(self, iterators):
        self._iterators = iterators
        self._current = iter(())

    def __iter__(self):
        return self

    def __next__(self):
        while True:
            for item in self._current:
                return item
            self._current = next(self._iterators)


@method
def flat_map(self, map_func, name=None):
    """The elements of the datasets that a function makes of the elements, one after the other.

    Raises:
        TypeError: the function returns something else than a dataset.
    """
    return FlatMapDataset(self, map_func)


class InterleaveDataset(_OfDatasets):
    def __init__(self, source, function, cycle_length, block_length, what="Dataset.interleave()"):
        super().__init__(source, function, what)
        self._cycle, self._block = cycle_length, block_length

    def _elements(self):
        return _Cycle(self._begin, self._input._elements(), self._cycle, self._block)


class _Cycle:
    """Takes turns among iterators, which are begun one after the other."""

    def __init__(self, begin, items, length, block):
        self._begin, self._items = begin, items
        self._block = block
        self._open: list[Any] = [None] * length
        self._position = 0
        self._taken = 0
        self._count = 0
        self._has_more = True

    def __iter__(self):
        return self

    def __next__(self):
        while self._has_more or self._count:
            current = self._open[self._position]
            if current is not None:
                for item in current:
                    self._taken += 1
                    if self._taken == self._block:
                        self._advance()
                    return item
                self._open[self._position] = None
                self._count -= 1
                self._advance()
            elif self._has_more:
                self._open_next()
            else:
                self._advance()
        raise StopIteration

    def _open_next(self):
        for leaves in self._items:
            self._open[self._position] = self._begun(leaves)
            self._count += 1
            return
        self._has_more = False

    def _begun(self, leaves):
        return self._begin(leaves)

    def _advance(self):
        self._taken = 0
        self._position = (self._position + 1) % len(self._open)


class ParallelInterleaveDataset(InterleaveDataset):
    def __init__(self, source, function, cycle_length, block_length, count, in_order):
        super().__init__(source, function, cycle_length, block_length)
        self._parallel, self._in_order = count, in_order

    def _elements(self):
        items = self._input._elements()
        in_order = keeps_order(self, self._in_order)
        return _ParallelCycle(
            self._begin, items, self._cycle, self._block, self._parallel, in_order
        )


class _ParallelCycle(_Cycle):
    """A cycle whose iterators run ahead on threads, where their elements take time."""

    def __init__(self, begin, items, length, block, count, in_order):
        super().__init__(begin, items, length, block)
        self._threads = count
        self._in_order = in_order
        self._is_slow = None  # nothing is known before the first element

    def __next__(self):
        if self._is_slow is None:
            self._open_first()
        if not self._in_order:
            self._pass_over_waiting()
        return super().__next__()

    def _open_first(self):
        """Opens one; if its first element does not come at once, the others begin beside it."""
        self._is_slow = True
        self._open_next()
        first = self._open[0]
        self._is_slow = first is not None and not first.is_ready(SLOW)
        while self._is_slow and self._has_more and self._position + 1 < len(self._open):
            self._position += 1
            self._open_next()
        self._position = 0

    def _begun(self, leaves):
        iterator = self._begin(leaves)
        if self._position >= self._threads:
            return iterator
        return Prefetched(iterator, _AHEAD, at_once=self._is_slow is True)

    def _pass_over_waiting(self):
        """Goes on to the next one that has an element, if there is one."""
        count = len(self._open)
        for step in range(count):
            position = (self._position + step) % count
            current = self._open[position]
            if current is None or not isinstance(current, Prefetched) or current.is_ready():
                if step:
                    self._position, self._taken = position, 0
                return


@method
def interleave(
    self,
    map_func,
    cycle_length=None,
    block_length=None,
    num_parallel_calls=None,
    deterministic=None,
    name=None,
):
    """The elements of the datasets that a function makes of the elements, taken in turns.

    Args:
        map_func: from an element to a dataset.
        cycle_length: how many datasets take turns; as many as there are processors if None.
        block_length: how many elements each gives at its turn; 1 if None.
        num_parallel_calls: how many datasets may make elements at a time; None: one.
        deterministic: whether turns are kept where one has to be waited for. None: as the
            dataset's options say.

    Raises:
        TypeError: the function returns something else than a dataset.
        InvalidArgumentError: one of the numbers is too small, or there are to be more parallel
            calls than datasets that take turns.

    Example:
        >>> pairs = Dataset.range(1, 4).interleave(lambda x: Dataset.from_tensors(x).repeat(2), 2)
        >>> [int(x) for x in pairs]
        [1, 2, 1, 2, 3, 3]
    """
    block = 1 if block_length is None else whole_number(block_length)
    cycle = AUTOTUNE if cycle_length is None else whole_number(cycle_length)
    is_fixed = cycle != AUTOTUNE
    length = cycle if is_fixed else os.cpu_count() or 1
    if num_parallel_calls is None:
        if deterministic is not None:
            warn_of_deterministic()
        op = "InterleaveDataset"
        dataset = InterleaveDataset(self, map_func, length, block)
    else:
        op = "ParallelInterleaveDatasetV4"
        count = parallel_calls(num_parallel_calls, op)
        if is_fixed and count > max(length, 0):
            raise wrong_number(
                op,
                f"If `cycle_length` is set to a fixed value, num_parallel_calls ({count}) must be "
                f"no larger than cycle_length ({cycle}).",
            )
        in_order = None if deterministic is None else bool(deterministic)
        count = length if count == AUTOTUNE else count
        dataset = ParallelInterleaveDataset(self, map_func, length, block, count, in_order)
    if length <= 0:
        raise wrong_number(op, "`cycle_length` must be > 0")
    if block <= 0:
        raise wrong_number(op, "`block_length` must be > 0")
    return dataset


@export("data.experimental.parallel_interleave")
def parallel_interleave(
    map_func,
    cycle_length,
    block_length=1,
    sloppy=False,
    buffer_output_elements=None,
    prefetch_input_elements=None,
):
    """`Dataset.interleave` with parallel calls, as a function for `Dataset.apply`.

    Args:
        map_func, cycle_length, block_length: as there.
        sloppy: whether turns need not be kept.
        buffer_output_elements, prefetch_input_elements: accepted for compatibility.
    """
    return lambda dataset: dataset.interleave(
        map_func, cycle_length, block_length, cycle_length, not sloppy
    )
