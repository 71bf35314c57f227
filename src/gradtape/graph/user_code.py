"""Where in the user's code something happened."""

import linecache
import sys
import traceback

from .trace import _OURS as OURS

_START = "in user code:\n"


def calling_line():
    """`"file:line"` of the innermost frame outside this package."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(OURS):
        frame = frame.f_back
    return None if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def source_of(place):
    """The line of source at `"file:line"`, or an empty text."""
    if place is None:
        return ""
    file, _, line = place.rpartition(":")
    return linecache.getline(file, int(line)).strip()


def point_to_user_code(error):
    """Adds a note to an error raised in a trace: the user's lines that led to it.

    The class of the error and its message stay what they are without tf.function.
    """
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(OURS)
    ]
    if not frames:
        return
    lines = [_START]
    for frame in frames:
        lines.append(f'    File "{frame.filename}", line {frame.lineno}, in {frame.name}  *')
        if frame.line:
            lines.append(f"        {frame.line}")
    # A function called by another one has said so already, from where it was called.
    notes = getattr(error, "__notes__", [])
    notes[:] = [note for note in notes if not note.startswith(_START)]
    error.add_note("\n".join(lines) + "\n")
