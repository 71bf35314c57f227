"""What is active on this thread: the recorders that see its ops, and maps over elements."""

import threading


class _Thread(threading.local):
    """What is active on this thread, outermost first: recorders, and maps over elements."""

    recorders: tuple = ()
    maps: tuple = ()
    batch_depth: int = 0
    in_backward: bool = False
    nan_safe: bool = False


thread = _Thread()
