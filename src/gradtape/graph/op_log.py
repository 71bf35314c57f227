"""Recorders of what a function does: which tensors it captures, and a log of all its ops."""

from ..core.active import thread
from ..core.op import Recorder
from ..core.tensor import EagerTensor, next_id


class Captures(Recorder):
    """Notices tensors from outside of a trace: what is made of them is constant in its graph.

    Attributes:
        ids: what recorders know them by.
    """

    __slots__ = ("_first", "ids")
    is_silent = True

    def __init__(self):
        self.ids = set()
        self._first = next_id()

    def record(self, op, attrs, inputs, out):
        for x in inputs:
            self.note(x)

    def note(self, tensor):
        """Remembers an eager tensor that is older than the trace."""
        if type(tensor) is EagerTensor and tensor._id < self._first:
            self.ids.add(tensor._id)


class NeedsLog(BaseException):
    """A function being traced asks for the log of its ops, and has none."""


class Log(Recorder):
    """A recorder that keeps every op; a context in which it does so.

    Attributes:
        entries: `(op, attrs, inputs, old, out)` for each; `old` are the tensors whose place `out`
            takes where a rule of the user's does so, else None.
    """

    __slots__ = ("_outside", "entries")
    sees_everything = True

    def __init__(self):
        self.entries = []

    def __enter__(self):
        self._outside = thread.recorders
        thread.recorders = (*self._outside, self)
        return self

    def __exit__(self, *error):
        thread.recorders = self._outside

    def record(self, op, attrs, inputs, out):
        self.entries.append((op, attrs, inputs, None, out))

    def record_rule(self, op, attrs, inputs, old, out):
        """Sees that a rule of the user's takes the place of what gave `old`."""
        self.entries.append((op, attrs, inputs, old, out))
        return True
