"""Calls of a function on several threads, as far as that pays."""

import collections
import os
import queue
import threading
import time
import weakref
from typing import Any

# A call that takes this long (seconds) is worth a thread; one of the second kind is not.
SLOW, QUICK = 1e-3, 1e-4
# As many calls as take turns before one decides that threads do not pay any more.
_PATIENCE = 16
_STOP = None


def calls_that_pay():
    """How many calls at a time AUTOTUNE stands for: waiting for files takes no processor."""
    return max(4, os.cpu_count() or 1)


class Workers:
    """Threads that run tasks until nobody has this object any more.

    They know the queue alone, not those who wait for results; and as daemons they do not keep the
    interpreter from exiting, even while they wait for something.
    """

    def __init__(self, count):
        self._tasks = queue.SimpleQueue()
        self._count, self._started = count, 0
        self._stop = weakref.finalize(self, _stop, self._tasks, count)
        self._stop.atexit = False

    def run(self, task):
        """Has a thread call `task()` soon."""
        self._tasks.put(task)
        if self._started < self._count:
            self._started += 1
            threading.Thread(
                target=_work, args=(self._tasks,), name="gradtape-data", daemon=True
            ).start()

    def stop_after_tasks(self):
        """Ends the threads when all tasks are done."""
        if self._stop.detach() is not None:
            for _ in range(self._count):
                self._tasks.put(_STOP)


def _stop(tasks, count):
    while not tasks.empty():  # nobody waits for these any more
        try:
            tasks.get_nowait()
        except queue.Empty:
            break
    for _ in range(count):
        tasks.put(_STOP)


def _work(tasks):
    while (task := tasks.get()) is not _STOP:
        task()
        del task  # what it refers to must not live until the next one comes


class _Call:
    """A call of a function by a thread, and what came of it.

    Args:
        function: the function.
        arguments: what it is called with.
        done: a queue that the call is put into when it has ended; None if nobody takes it from one.

    Attributes:
        ended: an event.
        seconds: how long it took.
    """

    __slots__ = ("_arguments", "_done", "_error", "_function", "_result", "ended", "seconds")

    def __init__(self, function, arguments, done):
        self._function: Any = function
        self._arguments: Any = arguments
        self._done = done
        self._result = self._error = None
        self.ended = threading.Event()
        self.seconds = SLOW

    def __call__(self):
        begin = time.perf_counter()
        try:
            self._result = self._function(*self._arguments)
        except BaseException as error:  # it is raised where the result is asked for
            self._error = error
        self.seconds = time.perf_counter() - begin
        self._function = self._arguments = None
        self._end()

    def fail(self, error):
        """Ends it before it begins: there are no arguments for it."""
        self._error = error
        self._end()

    def _end(self):
        self.ended.set()
        if self._done is not None:
            self._done.put(self)

    def outcome(self):
        """What the function returned or raised."""
        error, self._error = self._error, None  # whose traceback refers to this call
        if error is not None:
            raise error
        return self._result


class ParallelCalls:
    """An iterator over what a function makes of items, with several calls at a time.

    Where calls take microseconds they are made one by one, as threads would only cost time. The
    first one has a thread of its own all the same: it may wait for others.

    Args:
        function: is called with the parts of an item, each a tuple.
        items: an iterator.
        count: how many calls at a time; -1 for as many as pay.
        in_order: whether results come in the order of the items.
    """

    def __init__(self, function, items, count, in_order):
        self._function, self._items = function, items
        self._count = calls_that_pay() if count < 0 else count
        self._workers = Workers(self._count) if self._count > 1 else None
        self._limit = 1  # of calls at a time: nothing is known before the first has ended
        self._calls = collections.deque()
        self._done = None if in_order else queue.SimpleQueue()
        self._in_a_row = 0  # how many calls were not worth what is done now

    def __iter__(self):
        return self

    def __next__(self):
        if self._workers is not None or self._calls:
            return self._next_of_threads()
        arguments = next(self._items)
        begin = time.perf_counter()
        try:
            return self._function(*arguments)
        finally:
            if self._changes_mind(time.perf_counter() - begin >= SLOW, 2):
                self._workers, self._limit = Workers(self._count), self._count

    def _next_of_threads(self):
        self._start_calls()
        if not self._calls:
            self._be_plain()
            raise StopIteration
        if self._limit == 1:
            head = self._calls[0]
            if head.ended.wait(SLOW) and head.seconds < SLOW:
                self._be_plain()
            else:
                self._limit = self._count
                self._start_calls()
        call = self._next_call()
        if self._changes_mind(call.seconds < QUICK, _PATIENCE):
            self._be_plain()
        return call.outcome()

    def _changes_mind(self, is_wrong, most):
        """Whether so many calls in a row were made in the wrong way that others should not be."""
        self._in_a_row = self._in_a_row + 1 if is_wrong and self._count > 1 else 0
        return self._in_a_row == most

    def _be_plain(self):
        """Makes no more calls on threads, but for those that have begun."""
        self._in_a_row = 0
        if self._workers is not None:
            self._workers.stop_after_tasks()
            self._workers = None

    def _start_calls(self):
        while self._workers is not None and len(self._calls) < self._limit:
            try:
                call = _Call(self._function, next(self._items), self._done)
                self._workers.run(call)
            except StopIteration:
                self._be_plain()
                return
            except Exception as error:
                call = _Call(self._function, (), self._done)
                call.fail(error)
            self._calls.append(call)

    def _next_call(self):
        if self._done is None:
            call = self._calls.popleft()
            call.ended.wait()
        else:
            call = self._done.get()
            self._calls.remove(call)
        return call
