"""Where tensors leave for NumPy: a tape follows them no further, and can say which line it was."""

import sys
from pathlib import Path

import numpy as np

_MOST = 1000  # a loop that takes arrays out at every step must not fill the memory
_HERE = str(Path(__file__).resolve().parent.parent)
_NUMPY = str(Path(np.__file__).resolve().parent)
_WAYS_OUT = ("numpy", "__array__")


def note_departure(departures, tensor):
    """Enters the line of the caller's code that takes a tensor's value as an array.

    Args:
        departures: from tensor ids to places, `"file:line"`; the first place of a tensor stays.
        tensor: the tensor.
    """
    if len(departures) < _MOST and tensor._id not in departures:
        place = _place_of_caller()
        if place is not None:
            departures[tensor._id] = place


def _place_of_caller():
    """The line outside NumPy that asks for the array; None if gradtape itself does, to print it."""
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(_HERE):
            if code.co_name not in (*_WAYS_OUT, "tensor_leaves", "_tell_of_departure"):
                return None
        elif not code.co_filename.startswith(_NUMPY):
            return f"{code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return None
