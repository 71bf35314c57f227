"""Some of a dataset's elements, in their order: take, skip, shard, repeat, unique."""

import itertools

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import int32, int64, string
from ..core.errors import FailedPreconditionError, InvalidArgumentError
from ..core.exports import export
from ..core.spec import TensorSpec
from .dataset import INFINITE, UNKNOWN, Reordered, SameElements, method
from .elements import leaf_specs

SHARD_HINT = -1
_END = object()

export("data.experimental.SHARD_HINT", SHARD_HINT)


def number(value, name, op):
    """An int64 scalar that a method was given, as an int.

    Raises:
        InvalidArgumentError: it is no scalar.
        TypeError, ValueError: it is no int64.
    """
    if type(value) is int:
        return value
    found = convert_to_tensor(value, int64)
    if found.shape.rank:
        raise InvalidArgumentError(None, None, f"{name} must be a scalar [Op:{op}] name: ")
    return int(found._known())


# Unlike those of itertools.islice, these iterators go on after an item that raises an error.


def _first(source, left):
    def pull():
        nonlocal left
        if left <= 0:
            raise StopIteration
        item = next(source)
        left -= 1
        return item

    return iter(pull, _END)


def _passed_over(source, count):
    """An iterator over no items, which takes some from another one; from anew after an error."""

    def pull():
        for _ in range(count):
            next(source)
        raise StopIteration

    return iter(pull, _END)


def _every(source, first, step):
    left = first

    def pull():
        nonlocal left
        while left:
            next(source)
            left -= 1
        item = next(source)
        left = step - 1
        return item

    return iter(pull, _END)


class TakeDataset(Reordered):
    def __init__(self, source, count):
        super().__init__(source)
        self._limit = None if count < 0 else count

    def _reordered(self, begin):
        source = begin()
        return source if self._limit is None else _first(source, self._limit)

    def _count(self):
        count = self._input._count()
        if self._limit is None or count == UNKNOWN:
            return count
        return self._limit if count == INFINITE else min(count, self._limit)


@method
def take(self, count, name=None):
    """At most `count` elements from the first one on; all if it is negative."""
    return TakeDataset(self, number(count, "count", "TakeDataset"))


class SkipDataset(Reordered):
    def __init__(self, source, count):
        super().__init__(source)
        self._skipped = count

    def _reordered(self, begin):
        if self._skipped < 0:
            return iter(())
        source = begin()
        return itertools.chain(_passed_over(source, self._skipped), source)

    def _count(self):
        count = self._input._count()
        if count < 0:
            return count
        return 0 if self._skipped < 0 else max(count - self._skipped, 0)


@method
def skip(self, count, name=None):
    """All elements but the first `count`; none if it is negative."""
    return SkipDataset(self, number(count, "count", "SkipDataset"))


class ShardDataset(Reordered):
    def __init__(self, source, shards, index):
        if shards <= 0 and shards != SHARD_HINT:
            raise _wrong_shard(
                f"Number of shards must be greater than zero (currently num_shards = {shards})."
            )
        if shards > 0 and not 0 <= index < shards:
            raise _wrong_shard(
                f"Index must be between 0 and {shards - 1} (currently index = {index})."
            )
        super().__init__(source)
        self._shards, self._index = shards, index

    def _reordered(self, begin):
        if self._shards == SHARD_HINT:
            raise FailedPreconditionError(
                None,
                None,
                "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in "
                "`tf.distribute.Strategy.experimental_distribute_dataset()` with "
                "`tf.data.experimental.AutoShardPolicy.HINT` policy, or tf.data service with "
                "`tf.data.experimental.service.ShardingPolicy.HINT` processing mode. "
                "[Op:MakeIterator] name: ",
            )
        return _every(begin(), self._index, self._shards)

    def _count(self):
        count = self._input._count()
        if count < 0 or self._shards == SHARD_HINT:
            return count
        return len(range(self._index, count, self._shards))


def _wrong_shard(text):
    return InvalidArgumentError(None, None, f"{text} [Op:ShardDataset] name: ")


@method
def shard(self, num_shards, index, name=None):
    """Every `num_shards`-th element, from the one at `index` on.

    Raises:
        InvalidArgumentError: there is no such shard.
    """
    shards = number(num_shards, "num_shards", "ShardDataset")
    return ShardDataset(self, shards, number(index, "index", "ShardDataset"))


class RepeatDataset(Reordered):
    # TensorFlow begins once more after the last time, which nobody sees but datasets that draw
    # new seeds for each iteration.
    _begins_once_more = True

    def __init__(self, source, count):
        super().__init__(source)
        self._times = count

    def _reordered(self, begin):
        if self._times < 0:
            return _Endless(begin)
        if self._times == 0:
            return iter(())
        later = (begin() for _ in range(self._times - 1))
        return itertools.chain.from_iterable(itertools.chain([begin()], later, self._end()))

    def _end(self):
        if self._begins_once_more and self._times > 1:
            pass_over(self._input)
        return
        yield

    def _count(self):
        count = self._input._count()
        if self._times >= 0 and count >= 0:
            return count * self._times
        if self._times == 0 or count == 0:
            return 0
        return INFINITE if self._times < 0 else count


def pass_over(dataset):
    """Draws the seeds of an iteration that is not made."""
    seeds = getattr(dataset, "_seeds", None)
    if seeds is not None:
        seeds.draw()
        return
    for source in dataset._inputs:
        pass_over(source)


class _Endless:
    """Starts over at the end, unless there was nothing in between."""

    def __init__(self, begin):
        self._begin = begin
        self._items = begin()
        self._found_any = False

    def __iter__(self):
        return self

    def __next__(self):
        for item in self._items:
            self._found_any = True
            return item
        if not self._found_any:
            raise StopIteration
        self._items, self._found_any = self._begin(), False
        return next(self)


@method
def repeat(self, count=None, name=None):
    """The elements `count` times over; without end if it is None or -1."""
    return RepeatDataset(self, -1 if count is None else number(count, "count", "RepeatDataset"))


class UniqueDataset(SameElements):
    def __init__(self, source):
        specs = leaf_specs(source.element_spec)
        for spec in specs:
            kind = getattr(spec, "dtype", spec)
            if kind not in (int32, int64, string):
                raise TypeError(
                    f"`tf.data.Dataset.unique` does not support type {kind} -- only `tf.int32`, "
                    "`tf.int64`, and `tf.string` are supported."
                )
        if len(specs) != 1 or not isinstance(specs[0], TensorSpec):
            raise InvalidArgumentError(
                None,
                None,
                "UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or "
                "`tf.string` component. [Op:UniqueDataset] name: ",
            )
        super().__init__(source)

    def _elements(self):
        seen = set()

        def is_new(leaves):
            key = _key(leaves[0])
            return key not in seen and seen.add(key) is None

        return filter(is_new, self._input._elements())


def _key(leaf):
    """What tells the value of a leaf from others."""
    array = np.asarray(leaf)
    if not array.ndim:
        return array.item()
    return array.shape, tuple(array.flat) if array.dtype == object else array.tobytes()


@method
def unique(self, name=None):
    """Each element once, where it comes first.

    Raises:
        TypeError, InvalidArgumentError: elements are not one int32, int64 or string tensor.
    """
    return UniqueDataset(self)


@export("data.experimental.unique")
def unique_elements():
    """A transformation for `Dataset.apply`: `Dataset.unique`."""
    return lambda dataset: dataset.unique()
