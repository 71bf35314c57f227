"""Whether the user's code may handle an error of an op, and go on."""

import dis
import functools
import itertools
import sys


@functools.lru_cache(maxsize=4096)
def has_handlers(code):
    """Whether a code object has an `except` clause; `with` and `finally` pass errors on."""
    if not code.co_exceptiontable:
        return False
    names = [instruction.opname for instruction in dis.get_instructions(code)]
    if "CHECK_EXC_MATCH" in names or "CHECK_EG_MATCH" in names:
        return True
    # A clause without a class drops the error at once.
    return ("PUSH_EXC_INFO", "POP_TOP") in itertools.pairwise(names)


def any_handles(base, ours, known):
    """Whether one of the frames above the caller, up to that with the code `base`, has handlers.

    Args:
        base: a code object.
        ours: prefixes of the names of files that do not count.
        known: code objects that were looked at before; those met are added.
    """
    frame = sys._getframe(2)
    while frame is not None and frame.f_code is not base:
        code = frame.f_code
        if code not in known:
            known.add(code)
            if not code.co_filename.startswith(ours) and has_handlers(code):
                return True
        frame = frame.f_back
    return False
