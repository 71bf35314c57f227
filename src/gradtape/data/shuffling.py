"""Elements in random order, the one TensorFlow gives for the same seeds: shuffle.

Each iteration is a stream of 32-bit Philox numbers. A buffer holds the next elements; a number
modulo how many there are says which of them comes, and the first one takes its place.
"""

import itertools
import os
import threading

import numpy as np

from ..core import random_seed
from ..core.errors import InvalidArgumentError
from ..core.exports import export
from ..core.philox import WORDS_PER_BLOCK, random_words
from ..core.samplers import permutation
from .dataset import INFINITE, UNKNOWN, Reordered, method
from .selection import RepeatDataset, number

_END = object()
_FEWEST_WORDS, _MOST_WORDS = 64, 8192


class Seeds:
    """Where the iterations of a dataset get their seeds from.

    Args:
        seed: the seed the user gave, or None.
        fresh_each_time: whether each iteration has other seeds.
    """

    def __init__(self, seed, fresh_each_time):
        first, second = random_seed.seeds(seed)
        if first is None or second is None:
            first, second = unpredictable()
        self._pair = first, second
        self._words = stream_of_words(first, second) if fresh_each_time else None
        self._lock = threading.Lock()

    def draw(self):
        """The two seeds of the next iteration."""
        if self._words is None:
            return self._pair
        with self._lock:
            return next(self._words), next(self._words)


def unpredictable():
    """Two seeds nobody knows."""
    return int.from_bytes(os.urandom(8)), int.from_bytes(os.urandom(8))


def words_at(seeds, start, count):
    """So many numbers of the stream of two seeds, as int64, from the one at `start` on."""
    key, second = seeds
    block, skipped = divmod(start, WORDS_PER_BLOCK)
    blocks = -(-(skipped + count) // WORDS_PER_BLOCK)
    words = random_words(key, (second << 64) + block, blocks)
    return words[skipped : skipped + count].astype(np.int64)


def chunks_of_words(*seeds):
    """The stream of two seeds, in arrays of more and more numbers."""
    start, count = 0, _FEWEST_WORDS
    while True:
        yield words_at(seeds, start, count)
        start += count
        count = min(2 * count, _MOST_WORDS)


def stream_of_words(*seeds):
    """The numbers of two seeds, one at a time, as ints."""
    return itertools.chain.from_iterable(map(np.ndarray.tolist, chunks_of_words(*seeds)))


class ShuffleDataset(Reordered):
    def __init__(self, source, size, seed, reshuffles):
        _check_size(size, "ShuffleDatasetV3")
        super().__init__(source)
        self._size = size
        self._seeds = Seeds(seed, reshuffles)

    def _reordered(self, begin):
        return _shuffled(begin, self._size, self._seeds.draw())

    def _count(self):
        return self._input._count()

    def repeat(self, count=None, name=None):
        """The elements `count` times over, in another order each time if so asked for."""
        times = -1 if count is None else number(count, "count", "RepeatDataset")
        return _RepeatDataset(self, times)


class _RepeatDataset(RepeatDataset):
    """Repeated directly after it is shuffled, which TensorFlow does in one."""

    _begins_once_more = False


def _check_size(size, op):
    if size <= 0 and size != UNKNOWN:
        raise InvalidArgumentError(
            None,
            None,
            f"buffer_size must be greater than zero or UNKNOWN_CARDINALITY [Op:{op}] name: ",
        )


def _shuffled(begin, size, seeds):
    """Items in random order.

    Args:
        begin: gives an iterator over them.
        size: how many to have at hand, or UNKNOWN for all.
        seeds: the seeds of the order.
    """
    # The place of the item that was given last is empty; the next item fills it.
    source, buffer, empty, laps = None, [], size - 1, -1
    offsets = itertools.chain.from_iterable(
        (words % size).tolist() for words in chunks_of_words(*seeds)
    )

    def fill():
        nonlocal source
        if source is None:
            source = begin()
        # If an item raises an error, those before it are kept.
        buffer.extend(source if size == UNKNOWN else itertools.islice(source, empty - len(buffer)))
        buffer.append(None)
        raise StopIteration

    def replace():
        nonlocal empty, laps
        buffer[empty] = next(source)  # pyright: ignore[reportArgumentType]
        empty += 1
        if empty == size:
            empty = 0
            laps += 1
        place = empty + next(offsets)
        if place >= size:
            place -= size
        item = buffer[place]
        buffer[place] = buffer[empty]
        return item

    def rest():
        if size == UNKNOWN or len(buffer) < size:
            return _in_order(buffer[:-1], seeds, 0)
        items = buffer[empty + 1 :] + buffer[:empty]
        return _in_order(items, seeds, laps * size + empty + 1)

    def stages():
        yield iter(fill, _END)
        if size != UNKNOWN:
            yield iter(replace, _END)
        yield rest()

    return itertools.chain.from_iterable(stages())


def _in_order(items, seeds, given):
    """A list in random order, when `given` numbers of the stream were used."""
    count = len(items)
    if not given:
        key, second = seeds
        return map(items.__getitem__, permutation(key, second << 64, count).tolist())
    offsets = words_at(seeds, given, count) % np.arange(count, 0, -1)
    for first, offset in enumerate(offsets.tolist()):
        place = first + offset
        items[first], items[place] = items[place], items[first]
    return items


@method
def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None):
    """The elements in random order, each one of the next `buffer_size`.

    Args:
        buffer_size: how many elements are at hand to choose from; as many as there are for an
            order in which all orders are equally likely.
        seed: makes the order the same in each run of the program, with `tf.random.set_seed`.
        reshuffle_each_iteration: whether each iteration has another order.
        name: not used.

    Raises:
        InvalidArgumentError: `buffer_size` is not positive.
    """
    size = number(buffer_size, "buffer_size", "ShuffleDatasetV3")
    return ShuffleDataset(self, size, seed, _flag(reshuffle_each_iteration))


def _flag(value):
    if value is None or isinstance(value, (bool, int, np.bool_)):
        return True if value is None else bool(value)
    raise TypeError(f"Expected bool for argument 'reshuffle_each_iteration' not {value!r}.")


class ShuffleAndRepeatDataset(Reordered):
    def __init__(self, source, size, times, seed):
        _check_size(size, "ShuffleAndRepeatDataset")
        if times <= 0 and times != -1:
            raise InvalidArgumentError(
                None,
                None,
                "count must be greater than zero or equal to -1. "
                "[Op:ShuffleAndRepeatDataset] name: ",
            )
        super().__init__(source)
        self._repeated = ShuffleDataset(source, size, seed, True).repeat(times)

    def _reordered(self, begin):
        return self._repeated._reordered(lambda: self._repeated._input._reordered(begin))

    def _count(self):
        return INFINITE if self._repeated._times < 0 else self._repeated._count()


@export("data.experimental.shuffle_and_repeat")
def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """A transformation for `Dataset.apply`: `Dataset.shuffle`, then `Dataset.repeat`."""

    def transform(dataset):
        op = "ShuffleAndRepeatDataset"
        size = number(buffer_size, "buffer_size", op)
        times = -1 if count is None else number(count, "count", op)
        return ShuffleAndRepeatDataset(dataset, size, times, seed)

    return transform
