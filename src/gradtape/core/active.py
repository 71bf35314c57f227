"""What is active on this thread: recorders that see its ops, maps over elements, a trace."""

import threading
from typing import Any


class _Thread(threading.local):
    """What is active, outermost first.

    `trace` is that of the function being traced, if any; `effects` are those that a call has done
    already, while its function runs once more as Python. `translations` say, innermost last, which
    tensors stand for those of traces that are closed. `in_function` says whether a function runs as
    Python, in which some errors are other ones than outside.
    """

    recorders: tuple = ()
    maps: tuple = ()
    batch_depth: int = 0
    in_backward: bool = False
    nan_safe: bool = False
    trace: Any = None
    starts: Any = None
    kept_starts: tuple = ()
    effects: Any = None
    translations: tuple = ()
    in_function: bool = False


thread = _Thread()


def is_recording():
    """Whether somebody may differentiate what is done on this thread."""
    recorders = thread.recorders
    return bool(recorders) and not all([each.is_silent for each in recorders])


class _Program:
    """Switches of the whole program that ops and functions look at."""

    functions_run_eagerly: bool = False


program = _Program()
