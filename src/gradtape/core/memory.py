"""Keeps freed memory at hand, so that the next step need not ask the system for it again.

NumPy gives every array back to the C library, and glibc gives blocks above 128 KB, or a free end
of the heap, back to the system. A training step would then fault in its memory page by page, every
time anew; for a transformer block that was a third of its time.
"""

import os
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # numbers of glibc's mallopt
_KEPT_BYTES = 256 << 20
_LARGEST_HEAP_BLOCK = 32 << 20  # glibc takes no more

# Whoever sets these has decided for himself.
_DECIDED_BY_USER = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GRADTAPE_KEEP_NO_MEMORY")


def keep_freed_memory():
    """Asks glibc to keep up to 256 MB of freed memory; does nothing where there is no glibc.

    Setting the environment variable GRADTAPE_KEEP_NO_MEMORY, or glibc's own, leaves all as it is.
    """
    if not sys.platform.startswith("linux") or any(
        [name in os.environ for name in _DECIDED_BY_USER]
    ):
        return
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGEST_HEAP_BLOCK)
        mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
