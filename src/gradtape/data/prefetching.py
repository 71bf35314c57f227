"""prefetch: the next elements are made while the last one is being used."""

import collections
import threading
import time
import weakref

from ..core.exports import export
from .arguments import whole_number, wrong_number
from .dataset import AUTOTUNE, SameElements, method
from .parallel import QUICK, SLOW

_AUTOTUNED_SIZE = 4
# Elements in a row: slow ones before a thread is begun, quick ones before it ends.
_SLOW_ENOUGH, _QUICK_ENOUGH = 2, 16


class PrefetchDataset(SameElements):
    def __init__(self, source, size):
        super().__init__(source)
        self._size = size

    def _elements(self):
        if not self._size:
            return self._input._elements()
        return Prefetched(self._input._elements(), self._size)

    def _rows(self):
        # To find a row takes no time, so there is nothing to do ahead.
        return self._input._rows()

    def _count(self):
        return self._input._count()


@method
def prefetch(self, buffer_size, name=None):
    """Makes up to `buffer_size` elements ahead, on a thread, where making them takes time.

    Args:
        buffer_size: tf.data.AUTOTUNE for a size that suits; 0 for none.

    Raises:
        InvalidArgumentError: it is negative otherwise.
    """
    size = AUTOTUNE if buffer_size is None else whole_number(buffer_size)
    if size < AUTOTUNE:
        raise wrong_number(
            "PrefetchDataset",
            "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning",
        )
    return PrefetchDataset(self, size)


class CopyToDeviceDataset(SameElements):
    """The same elements: there is one device. How many is not known any more, as there."""

    def _elements(self):
        return self._input._elements()

    def _rows(self):
        return self._input._rows()


@export("data.experimental.copy_to_device")
def copy_to_device(target_device, source_device="/cpu:0"):
    """A function for `Dataset.apply`: the same elements, as all devices are one."""
    return CopyToDeviceDataset


@export("data.experimental.prefetch_to_device")
def prefetch_to_device(device, buffer_size=None):
    """`Dataset.prefetch` as a function for `Dataset.apply`, as all devices are one."""
    return lambda dataset: prefetch(CopyToDeviceDataset(dataset), buffer_size)


class _Buffer:
    """Outcomes of `next(items)`, made by a thread: pairs of an item and None, or an error.

    The thread knows this, and not the iterator that takes from it; when that is gone, it ends.
    """

    def __init__(self, items, size):
        self._items = items
        self._size = size
        self._made = collections.deque()
        self._changed = threading.Condition()
        self._is_closed = False  # nobody wants more
        self.has_ended = False  # the thread makes no more

    def start(self):
        threading.Thread(target=self._fill, name="gradtape-data", daemon=True).start()
        return self

    def _fill(self):
        quick = 0
        while True:
            begin = time.perf_counter()
            try:
                outcome = next(self._items), None
            except BaseException as error:  # it is raised where the element is asked for
                outcome = None, error
            quick = quick + 1 if time.perf_counter() - begin < QUICK else 0
            is_last = isinstance(outcome[1], StopIteration) or quick >= _QUICK_ENOUGH
            with self._changed:
                self._made.append(outcome)
                self._changed.notify()
                while len(self._made) >= self._size and not self._is_closed and not is_last:
                    self._changed.wait()
                if self._is_closed or is_last:
                    self.has_ended = True
                    self._changed.notify()
                    return

    def take(self):
        """The next outcome; None if there are no more and the thread has ended."""
        with self._changed:
            while not self._made:
                if self.has_ended:
                    return None
                self._changed.wait()
            outcome = self._made.popleft()
            self._changed.notify()
            return outcome

    def has_some(self, seconds=0.0):
        """Whether there is an outcome, now or soon."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._made) or self.has_ended, seconds)

    def close(self):
        """Has the thread end."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()


class Prefetched:
    """An iterator over items, which a thread makes ahead as long as making them is slow.

    Args:
        items: an iterator.
        size: how many; -1 for as many as suit.
        at_once: whether to begin with a thread, before it is known how long items take.
    """

    def __init__(self, items, size, at_once=False):
        self._items = items
        self._size = _AUTOTUNED_SIZE if size < 0 else size
        self._slow = 0
        self._buffer = None
        if at_once:
            self._begin()

    def _begin(self):
        self._buffer = _Buffer(self._items, self._size).start()
        self._close = weakref.finalize(self, self._buffer.close)
        self._close.atexit = False

    def __iter__(self):
        return self

    def __next__(self):
        if self._buffer is not None:
            outcome = self._buffer.take()
            if outcome is not None:
                item, error = outcome
                if error is not None:
                    raise error
                return item
            self._buffer = None
            self._close.detach()
        begin = time.perf_counter()
        item = next(self._items)
        self._slow = self._slow + 1 if time.perf_counter() - begin >= SLOW else 0
        if self._slow >= _SLOW_ENOUGH:
            self._slow = 0
            self._begin()
        return item

    def is_ready(self, seconds=0.0):
        """Whether the next item does not take time, now or soon."""
        return self._buffer is None or self._buffer.has_some(seconds)
