"""Graphs of a user's function, run with arrays: traced on examples first, then on elements."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..core import random_seed
from ..core.active import thread
from ..core.effects import boxed
from ..core.errors import InvalidArgumentError, OpError, OutOfRangeError
from ..core.spec import TensorSpec
from ..core.tensor import EagerTensor
from ..graph.examples import Rehearsal, RehearsalError
from ..graph.guards import NUMBER, TRUTH
from ..graph.ir import GUARD
from ..graph.paths import Paths
from ..python_functions import as_op_error, numpy_function
from .function_examples import EXAMPLES, example_leaf
from .specs import DATASET_IN_FUNCTION

# Ways through a function that looks at numbers: as a rule each element takes one of its own.
_MOST_BY_NUMBERS = 4
# Ops of a function on examples: for some a loop does not end that does for elements.
_MOST_REHEARSED = 4000
_TEXT = np.array(b"", object)
# Effects that only read what is in memory; and what stands for others while nothing may happen.
_HARMLESS = frozenset(("LookupTableFindV2", "LookupTableSizeV2"))
_NO_RUN = boxed(SimpleNamespace(tapes=[], sources=[], outputs=[]))
_STAND_INS: dict[str, tuple] = {
    "Assert": (),
    "PrintV2": (),
    "ReadFile": (_TEXT, boxed(EagerTensor(_TEXT))),
}


# What errors of ops say where dtypes are wrong.
_DTYPE_ERROR = "was expected to be a"


class ElementPaths(Paths):
    """The paths of a function for elements of the same shapes.

    Args:
        name: the function's name.
        run: the function on tensors.
        count: of tensors it takes.
        lock: held while tracing.
        described: describes what the function returned last.
    """

    def __init__(self, name, run: Callable[..., list], count, lock, described):
        super().__init__(name, self._run_watched, [f"args_{i}" for i in range(count)], lock)
        self._function = run
        self._described = described
        self._is_rehearsal = False
        self._looked = False
        self._failed_by_shapes = False
        self._returned = {}

    def _add(self, trace, result):
        path, outputs = super()._add(trace, result)
        self._returned[id(path)] = self._described()
        return path, outputs

    def returned(self, path) -> Any:
        """What the function returned in a trace, as its `described` told then."""
        return self._returned[id(path)]

    def _run_watched(self, tensors):
        if self._is_rehearsal and thread.trace is not None:
            thread.trace._limit = _MOST_REHEARSED
        try:
            return self._function(tensors)
        except Exception:
            trace = thread.trace
            if trace is not None:
                self._looked = looks_at(trace.graph, TRUTH, NUMBER)
                self._failed_by_shapes = not trace.has_failed
            raise

    def _give_up(self, reason):
        # To run as Python is no news to users of datasets, who asked for no graph.
        self.by_python = reason

    def traced(self, tensors, effects, may_create, *, commits=False):
        latest: Any = self.latest
        if self.count >= _MOST_BY_NUMBERS and looks_at(latest.graph, NUMBER):
            self._give_up("it looks at values that differ from element to element")
            return None
        return super().traced(tensors, effects, may_create, commits=commits)

    def rehearse(self, tensors, is_certain):
        """Traces the function on examples, in the place of elements that come later.

        Args:
            tensors: the examples.
            is_certain: whether elements will have these shapes.

        Returns:
            The new path; None if that takes the values of an element.

        Raises:
            Exception: the function fails whatever the values are.
        """
        self._looked, self._failed_by_shapes = False, True
        self._is_rehearsal = True
        effects = _DatasetRehearsal()
        outside = thread.trace, thread.recorders, thread.effects
        thread.trace, thread.recorders, thread.effects = None, (), None
        try:
            found = self.traced(tensors, effects, is_certain and not self.count)
        except RehearsalError:
            return None
        except OpError as error:
            by_shapes = self._failed_by_shapes and not self._looked
            is_certain = is_certain and not effects.has_guessed
            by_dtypes = _DTYPE_ERROR in str(error)  # of which none is a guess
            if by_shapes and (is_certain or by_dtypes):
                raise (TypeError if by_dtypes else ValueError)(str(error)) from error
            return None
        except (ArithmeticError, LookupError, ValueError):
            # The guess may be what fails: of sizes, or of values.
            if is_certain and not effects.has_guessed and not self._looked:
                raise
            return None
        except Exception:
            if not self._looked:
                raise
            return None
        finally:
            self._is_rehearsal = False
            thread.trace, thread.recorders, thread.effects = outside
        if found is None:
            if self.by_python != DATASET_IN_FUNCTION:
                self.by_python = None  # with other values it may do less
            return None
        found[1].release()
        return found[0]

    def call_alone(self, tensors) -> Any:
        """What the function returns, whatever is being traced or recorded on this thread."""
        outside = thread.trace, thread.recorders, thread.effects
        thread.trace, thread.recorders, thread.effects = None, (), None
        try:
            return self.call(tensors)
        finally:
            thread.trace, thread.recorders, thread.effects = outside

    def quick(self) -> Any:
        """A function from arrays to a tuple of arrays, or to a Miss, or failing; None if none is.

        It is the latest path written out: where it does not fit or fails, call the function.
        """
        path = self.latest
        if path is None or self.by_python is not None:
            return None
        program = path.program
        return program._run if program.is_quick and not program._locks else None

    def unseen(self):
        """Whether some value of a tensor would lead the function where no trace went."""
        forks = [self._root]
        while forks:
            outcomes = forks.pop().outcomes
            if len(outcomes) == 1 and isinstance(next(iter(outcomes)), bool):
                return True
            forks += outcomes.values()
        return False

    def all_paths(self):
        """All traces."""
        found, forks = {}, [self._root]
        while forks:
            fork = forks.pop()
            if not fork.outcomes and fork.path is not None:
                found[id(fork.path)] = fork.path
            forks += fork.outcomes.values()
        return list(found.values())


class _DatasetRehearsal(Rehearsal):
    """As other rehearsals; but what checks or prints is passed over, as nothing depends on it.

    Attributes:
        has_guessed: whether something stands in for results of Python code.
    """

    __slots__ = ("has_guessed",)

    def __init__(self):
        super().__init__()
        self.has_guessed = False

    def run(self, function, arrays, key=None):
        name = "" if key is None else key[0]
        if name in _STAND_INS:
            return _STAND_INS[name]
        if name in ("EagerPyFunc", "PyFunc") and "return" in function.__annotations__:
            self.has_guessed = True
            dtypes = function.__annotations__["return"]
            results = [example_leaf(TensorSpec((), dtype), EXAMPLES[0]) for dtype in dtypes]
            return (*results, *([_NO_RUN] if name == "EagerPyFunc" else []))
        if key is not None and name in _HARMLESS:
            key = (*key[:-1], True)
        return super().run(function, arrays, key)


def looks_at(graph, *how):
    """Whether what was traced relies on values, in one of these ways."""
    return any([node.kind == GUARD and node.attrs["how"] in how for node in graph.nodes])


def as_in_an_iterator(error, end_error):
    """The error that an iterator raises for one of a function.

    Python code inside of an op fails as that op does; other code of the function says best itself
    what is wrong with it. That something in the function is at its end must not end the iterator:
    that is an `end_error`.
    """
    if isinstance(error, (OutOfRangeError, StopIteration)):
        text = f"Function invocation produced OutOfRangeError: {error}"
        return end_error(None, None, text)
    if isinstance(error, OpError):
        return error
    if isinstance(error, AssertionError):
        return InvalidArgumentError(None, None, f"assertion failed: {error} [Op:Assert] name: ")
    frame = error.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code
        if code.co_filename == numpy_function.__code__.co_filename and code.co_name == "call":
            return as_op_error(error, "PyFunc")
        frame = frame.tb_next
    return error


class random_numbers_kept:  # noqa: N801 - a context, used like a function
    """A context that leaves the streams of random numbers as they were."""

    def __enter__(self):
        self._before = random_seed.capture()

    def __exit__(self, *error):
        self._before.restore()
