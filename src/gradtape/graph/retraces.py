"""Why a function was traced: a history that explains itself, and a warning if it is too often."""

import logging
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes
from ..core.log import get_logger
from .guards import NUMBER, SHAPE, TRUTH
from .ir import GUARD
from .kinds import CALL, Branch, covers, kind_text
from .user_code import source_of

_MOST_RECORDS = 100
_MOST_COMPARED = 16

# TensorFlow's figures: it warns of 5 traces in about the last 10 calls, twice.
_MANY_TRACES = 5
_RECENT_CALLS = 10
_MOST_WARNINGS = 2


class _Record(NamedTuple):
    title: str
    where: str | None
    reasons: Callable[[], list]  # texts, which nobody may ever ask for


class History:
    """What a function was traced for.

    Args:
        name: the function's.
    """

    def __init__(self, name):
        self._name = name
        self._records = deque(maxlen=_MOST_RECORDS)
        self._kinds = deque(maxlen=_MOST_COMPARED)

    def add_kind(self, entry, kind, where, counted):
        """Notes a trace for arguments of a kind, which counts unless its entry had one before."""
        title = f"Trace {entry.number}" if counted else f"Specialisation of trace {entry.number}"
        known = tuple(self._kinds)
        served = entry.kind if counted else kind
        self._add(_Record(title, where, lambda: _reasons(known, kind, served)))
        self._kinds.append(kind)

    def add_path(self, number, path, miss, where):
        """Notes a trace of another way through the same function for the same arguments."""
        reasons = [_guard_text(path, miss)]
        self._add(_Record(f"Another path of trace {number}", where, lambda: reasons))

    def _add(self, record):
        level = logging.INFO if self._records else logging.DEBUG
        self._records.append(record)
        logger = get_logger()
        if logger.isEnabledFor(level):
            logger.log(level, "Function %r: %s", self._name, _record_text(record))

    def text(self):
        """The history as a person reads it."""
        if not self._records:
            return f"Function {self._name!r} has not been traced."
        lines = [f"  {_record_text(each)}" for each in list(self._records)]
        return "\n".join([f"Function {self._name!r}:", *lines])


def _record_text(record):
    place = "" if record.where is None else f", called from {record.where}"
    return f"{record.title}{place}: {'; '.join(record.reasons())}."


# Arguments ----------------------------------------------------------------------------------------


def _reasons(known, kind, served):
    """What is new about a kind, and which wider one it is traced for."""
    reasons = _differences(known, kind)
    if not covers(kind, served):
        names = zip(served.keys, served.children, strict=True)
        shown = ", ".join([f"{name}: {kind_text(child)}" for name, child in names])
        reasons.append(f"from now on it serves ({shown})")
    return reasons


def _differences(known, kind):
    """What is new about a kind, compared with the one among those known that is nearest to it."""
    if not known:
        return ["the first call"]
    found: Any = None
    for other in reversed(known):
        changes = _changes(other, kind, "")
        if found is None or len(changes) < len(found):
            found = changes
    if not found:
        return ["its earlier trace was dropped, as others were used since"]
    return [
        f"argument {path} changed from {kind_text(old)} to {kind_text(new)}"
        if path
        else f"it got the arguments ({', '.join(new.keys)}) instead of ({', '.join(old.keys)})"
        for path, old, new in found
    ]


def _changes(old, new, path):
    """Triples of a path, what was there and what is there now."""
    both = isinstance(old, Branch) and isinstance(new, Branch)
    if both and old.cls is new.cls and old.keys == new.keys:
        found = []
        for key, before, after in zip(old.keys, old.children, new.children, strict=True):
            step = f"{key!r}" if old.cls is CALL else f"{path}[{key!r}]"
            found += _changes(before, after, step)
        return found
    return [] if covers(old, new) and covers(new, old) else [(path, old, new)]


# Guards -------------------------------------------------------------------------------------------


def _guard_text(path, miss):
    guards = [node for node in path.graph.nodes if node.kind == GUARD]
    if miss.position >= len(guards):
        return "Python code took another way"
    node = guards[miss.position]
    how, value = node.attrs["how"], node.inputs[0]
    before, now = [_outcome_text(x, how, value) for x in (node.attrs["outcome"], miss.outcome)]
    what = {TRUTH: "truth value", NUMBER: "value", SHAPE: "shape"}[how]
    source = source_of(node.where)
    place = "" if node.where is None else f" at {node.where}"
    quoted = f" (`{source}`)" if source else ""
    return f"the {what} of a tensor{place}{quoted} was {before} and is {now}"


def _outcome_text(outcome, how, value):
    if how != NUMBER or not isinstance(outcome, bytes):
        return str(outcome)
    numbers = np.frombuffer(outcome, value.dtype)
    if numbers.size == 1:
        return str(numbers[0])
    shown = ", ".join([str(number) for number in numbers[:4]])
    more = ", …" if numbers.size > 4 else ""
    return f"{dtypes.of_numpy(value.dtype).name} [{shown}{more}]"


# Too often ----------------------------------------------------------------------------------------


class Traffic:
    """Counts the calls of one piece of code, whichever functions were made of it."""

    def __init__(self):
        self.calls = 0
        self._traced_at = deque()
        self._warnings = 0

    def traced(self, python_function):
        """Notes that the call being counted led to a trace; warns if many did."""
        traced_at = self._traced_at
        traced_at.append(self.calls)
        while len(traced_at) > 1 and self.calls - traced_at[1] + 1 > _RECENT_CALLS:
            traced_at.popleft()
        if len(traced_at) >= _MANY_TRACES and self._warnings < _MOST_WARNINGS:
            self._warnings += 1
            get_logger().warning(
                "%d out of the last %d calls to %s triggered tf.function retracing. Tracing is "
                "expensive and the excessive number of tracings could be due to (1) creating "
                "@tf.function repeatedly in a loop, (2) passing tensors with different shapes, (3) "
                "passing Python objects instead of tensors. For (1), please define your "
                "@tf.function outside of the loop. For (2), @tf.function has "
                "reduce_retracing=True option that can avoid unnecessary retracing. For (3), "
                "please refer to "
                "https://www.tensorflow.org/guide/function#controlling_retracing and "
                "https://www.tensorflow.org/api_docs/python/tf/function for  more details.",
                len(traced_at),
                self.calls - traced_at[0] + 1,
                python_function,
            )


_traffic: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def traffic_of(python_function):
    """The Traffic of the code of a function, which all functions made of it share."""
    innermost = python_function
    while hasattr(innermost, "__wrapped__"):
        innermost = innermost.__wrapped__
    code = getattr(getattr(innermost, "__func__", innermost), "__code__", None)
    if code is None:
        return Traffic()
    found = _traffic.get(code)
    if found is None:
        found = _traffic[code] = Traffic()
    return found
