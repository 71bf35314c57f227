"""Splitting one long computation over the processor's threads.

NumPy lets other threads run while it computes, but handing the interpreter over takes some ten
microseconds. Only work made of long NumPy calls gains by this; the rest stays on its own thread.
"""

import os
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_pool: "ThreadPoolExecutor | None" = None
_asked_for = 0


def set_thread_count(count: int) -> None:
    """Lets at most ``count`` threads compute one op; 0 stands for one per processor."""
    global _asked_for
    _asked_for = count


def thread_count() -> int:
    """How many threads may compute one op."""
    return _asked_for or os.cpu_count() or 1


def in_parts(work: Callable[[int, int], None], size: int, smallest: int) -> None:
    """Calls ``work(start, stop)`` for ranges that make up ``range(size)``, in several threads.

    Args:
        work: writes its part of a result; called once, in this thread, if the size is small.
        size: how much there is to do.
        smallest: the least that is worth a thread of its own.
    """
    count = min(thread_count(), size // smallest)
    if count < 2:
        work(0, size)
        return
    own, *others = pairwise([size * part // count for part in range(count + 1)])
    pool = _threads()
    running = [pool.submit(work, start, stop) for start, stop in others]
    try:
        work(*own)
    finally:
        # Also after an error: none may write on into a result that was given up.
        errors = [each.exception() for each in running]
    for error in errors:
        if error is not None:
            raise error


def _threads() -> "ThreadPoolExecutor":
    global _pool
    pool = _pool
    if pool is None:
        # Imported late: most programs never come here.
        from concurrent.futures import ThreadPoolExecutor

        pool = _pool = ThreadPoolExecutor(os.cpu_count(), "gradtape")
    return pool


def _forget_threads() -> None:
    """A forked process has the pool but not its threads."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
