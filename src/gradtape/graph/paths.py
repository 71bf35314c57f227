"""The paths of one specialisation of a function: its traces, told apart by what guards saw.

A call follows the path that the call before it took. If a guard does not hold, nothing has been
written yet; the call starts over on the path for what it saw, or traces that path.
"""

from ..autodiff.override import active_overrides
from ..core import dtypes, log, nest
from ..core.active import thread
from ..core.convert import convert_to_tensor
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import Variable
from .derivative import outline_of, trace_derivative
from .guards import Effects, Miss
from .interpret import Program
from .op_log import Log, NeedsLog
from .passes import optimize
from .recorded import call_recorded, follows_captured
from .replay import effect_in, is_simple, replay
from .symbolic import SymbolicTensor
from .trace import NeedsOuterTraceError, NotTraceableError, Trace, TraceTooLongError

MOST_PATHS = 64


class Path:
    """One trace.

    Attributes:
        graph: as traced, before any pass.
        outcomes: what its guards saw.
        pack: from tensors of the outputs to what the function returned.
        captured: ids of tensors whose values are constants of the graph.
        variables: those that are read or written, and `variable_ids` what tapes know them by.
        differentiable: the positions, among arguments and then variables, of those that are.
        trainable: variables that tapes watch by themselves, by id.
        watched_ids, variable_kinds: of those that can be differentiated.
    """

    def __init__(self, graph, outcomes, pack, captured=()):
        self.graph = graph
        self.captured = captured
        self.outcomes = outcomes
        self.pack = pack
        self.variables = graph.variables
        self.variable_ids = [variable._handle.id for variable in self.variables]
        kinds = [value.dtype for value in graph.inputs]
        kinds += [variable._handle.tensor._value.dtype for variable in self.variables]
        self.differentiable = [i for i, d in enumerate(kinds) if d in dtypes.DIFFERENTIABLE]
        self.trainable = {v._handle.id: v._original for v in self.variables if v.trainable}
        dtype_of = dict(zip(self.variable_ids, kinds[len(graph.inputs) :], strict=True))
        self.watched_ids = [i for i in self.trainable if dtype_of[i] in dtypes.DIFFERENTIABLE]
        self.variable_kinds = "".join([dtype_of[i].kind for i in self.watched_ids])
        self._program = None
        self._derivatives = {}

    @property
    def program(self):
        """The graph made ready to run, when it is run for the first time."""
        if self._program is None:
            self.make_program()
        return self._program

    def make_program(self):
        self._program = Program(optimize(self.graph), self.graph)

    def source(self, position, tensors):
        """An argument among `tensors` or, at the positions after those, what a variable holds."""
        count = len(tensors)
        if position < count:
            return tensors[position]
        return self.variables[position - count]._handle.tensor

    def derivative(self, arrays, wanted, effects, nan_safe):
        """The Derivative for the sources that are wanted; a Miss; or None if there is none."""
        key = wanted, nan_safe
        if key not in self._derivatives:
            try:
                found = trace_derivative(self.graph, arrays, wanted, effects, nan_safe=nan_safe)
            except NotTraceableError:
                found = None
            if isinstance(found, Miss):
                return found
            effects.start_over()
            self._derivatives[key] = found
        return self._derivatives[key]


class _Fork:
    """What is known after some guards: a path that saw the same so far, and where others lead."""

    __slots__ = ("outcomes", "path")

    def __init__(self):
        self.path = None
        self.outcomes = {}


class Paths:
    """All paths of one specialisation.

    Args:
        name: the function's name.
        run: `run(tensors)`, the Python function on tensors for its tensor arguments.
        names: what to call the arguments that are tensors.
        lock: held while tracing.
    """

    def __init__(self, name, run, names, lock):
        self.name = name
        self.needs_log = False
        self._overrides = active_overrides()  # gradients are traced by those
        self._run = run
        self.names = names
        self.lock = lock
        self.count = 0
        self.latest = None
        self.by_python = None  # why calls run as Python, once they do
        self.last_miss = None  # the latest path that did not fit, and where
        self._root = _Fork()

    # Calling ------------------------------------------------------------------------------------

    def call(self, tensors, may_create=False):
        """What the function returns for these tensors."""
        if self.by_python is not None:
            return self._run_instead(tensors)
        if any([_is_foreign(x) for x in tensors]):
            return self.run(tensors)
        if thread.effects is not None or active_overrides() != self._overrides:
            return self.run(tensors)
        if thread.trace is not None:
            return self._call_in_trace(tensors, may_create)
        if thread.recorders:
            return call_recorded(self, tensors, may_create)
        return self._call_plainly(tensors, may_create)

    def _call_plainly(self, tensors, may_create=False):
        path = self.latest
        if path is None:
            with self.lock:
                # Threads that come second find what the first has traced, and written.
                if self.latest is None:
                    return self._trace(tensors, Effects(), may_create)
                path = self.latest
        arrays = [x._value for x in tensors]
        effects = Effects() if path.program.has_effects else None
        try:
            found = path.program.run(arrays, effects)
        except Exception:
            if not path.graph.handles_errors:
                raise
            return self.run_python(tensors, effects or Effects())
        if type(found) is Miss:
            return self._call_again(tensors, arrays, path, found, effects or Effects())
        return path.pack([EagerTensor(array) for array in found])

    def _call_again(self, tensors, arrays, path, found, effects):
        """A call whose latest path did not fit: from the start, but for what effects have done."""
        while type(found) is Miss:
            effects.start_over()
            path = self.other(path, found)
            if path is None:
                return self._trace(tensors, effects)
            try:
                found = path.program.run(arrays, effects)
            except Exception:
                if not path.graph.handles_errors:
                    raise
                return self.run_python(tensors, effects)
        self.latest = path
        return path.pack([EagerTensor(array) for array in found])

    def run(self, tensors):
        """Runs the Python function, with a log of its ops if it has asked for one."""
        if not self.needs_log:
            return self._run(tensors)
        with Log():
            return self._run(tensors)

    def run_python(self, tensors, effects):
        """Runs the Python function itself, but for what effects have done already."""
        effects.start_over()
        outside, thread.effects = thread.effects, effects if effects.any_done else None
        try:
            return self._run_instead(tensors)
        finally:
            thread.effects = outside

    def _run_instead(self, tensors):
        """Runs the Python function in the place of a graph, with results like those of one."""
        outside, thread.in_function = thread.in_function, True
        try:
            return nest.map_structure(self._as_output, self.run(tensors))
        finally:
            thread.in_function = outside

    def other(self, path, miss):
        """The path that saw what `path` saw up to the guard that did not hold; None if unknown."""
        self.last_miss = path, miss
        fork = self._root
        for outcome in (*path.outcomes[: miss.position], miss.outcome):
            fork = fork.outcomes.get(outcome)
            if fork is None:
                return None
        return fork.path

    # Tracing ------------------------------------------------------------------------------------

    def _trace(self, tensors, effects, may_create=False):
        """Traces the function on these tensors, and returns what it gives for them."""
        found = self.traced(tensors, effects, may_create, commits=True)
        if found is None:
            return self.run_python(tensors, effects)
        path, trace, outputs = found
        path.make_program()
        result = path.pack([EagerTensor(_real(x)) for x in outputs])
        trace.release()
        return result

    def traced(self, tensors, effects, may_create, *, commits=False):
        """A new path, its trace and the tensors of its outputs; None if there can be none."""
        with self.lock:
            if self.count >= MOST_PATHS:
                self._give_up(
                    f"its Python code took more than {MOST_PATHS} ways by the values of tensors"
                )
                return None
            trace, result = self._run_traced(tensors, effects, may_create)
            if trace is not None and trace.created:
                # The variables exist now. What counts is what happens when they do.
                effects.start_over_elsewhere()
                trace, result = self._run_traced(tensors, effects, False)
            if trace is None:
                return None
            if commits:
                # Before other threads find the path: what they write must come after.
                trace.commit()
            path, outputs = self._add(trace, result)
            return path, trace, outputs

    def _run_traced(self, tensors, effects, may_create):
        trace = Trace(self.name, effects=effects, parent=thread.trace, creates=may_create)
        first_effect = effects.mark()
        try:
            with trace:
                inputs = [
                    trace.input(_real(x), name) for x, name in zip(tensors, self.names, strict=True)
                ]
                result = self.run(inputs)
                result = nest.map_structure(self._as_output, result)
                trace.finish([x for x in nest.flatten(result, True) if x is not None])
        except NeedsLog:
            self.needs_log = True
            effects.go_back(first_effect)
            return self._run_traced(tensors, effects, may_create)
        except NeedsOuterTraceError:
            return None, None
        except (NotTraceableError, TraceTooLongError) as error:
            self._give_up(str(error))
            return None, None
        except Exception:
            if trace.parent is None:
                # As in eager code, what was written before the error stays written.
                trace.commit()
            raise
        if trace.needs_outer:
            return None, None
        if trace.given_up is not None:
            self._give_up(trace.given_up)
            return None, None
        if trace.has_failed:
            self._give_up("it goes on after an error of an op")
            return None, None
        return trace, result

    def _as_output(self, item):
        """A result as a function returns it: tensors, and None."""
        if item is None or isinstance(item, Tensor) or getattr(item, "_is_composite", False):
            return item
        if isinstance(item, Variable):
            return item.read_value()
        try:
            return convert_to_tensor(item)
        except (TypeError, ValueError):
            raise TypeError(
                "To be compatible with tf.function, Python functions must return zero or more "
                "Tensors or ExtensionTypes or None values; in compilation of "
                f"{self._run!r}, found return value of type {type(item).__name__}, which is not a "
                "Tensor or ExtensionType."
            ) from None

    def _add(self, trace, result):
        """Adds the path of a trace; returns it and the tensors of its outputs."""
        leaves = nest.flatten(result, expand_composites=True)
        outputs = [x for x in leaves if x is not None]
        captured = list(trace.captures.ids)
        path = Path(trace.graph, tuple(trace.outcomes), _packer(result, leaves), captured)
        if not trace.captures_outer:
            self.add(path)
        return path, outputs

    def add(self, path):
        """Adds a path to the tree."""
        fork = self._root
        fork.path = fork.path or path
        for outcome in path.outcomes:
            fork = fork.outcomes.setdefault(outcome, _Fork())
            fork.path = path
        self.latest = path
        self.count += 1

    def _give_up(self, reason):
        self.by_python = reason
        log.warn(
            f"Function {self.name!r} runs as plain Python from now on for these arguments: "
            f"{reason}."
        )

    # Inside another trace -----------------------------------------------------------------------

    def _call_in_trace(self, tensors, may_create):
        """Adds what the function does to the trace around it."""
        outer = thread.trace
        path = self.latest
        while path is not None and is_simple(path.graph) and not follows_captured(path):
            outer.captures.ids.update(path.captured)
            found = replay(path.graph, tensors, effect_in(outer))
            if not isinstance(found, Miss):
                return path.pack(found)
            path = self.other(path, found)
        if path is not None:
            return self.run(tensors)
        first_effect = outer.effects.mark()
        trace, result = self._run_traced(tensors, outer.effects, may_create)
        if trace is None:
            outer.effects.go_back(first_effect)
            return self.run(tensors)
        if trace.created:
            outer.created = outer.created if outer.created is None else [*outer.created, None]
        path, _ = self._add(trace, result)
        outer.effects.go_back(first_effect)
        trace.release()
        if follows_captured(path):
            return self.run(tensors)
        outer.captures.ids.update(path.captured)
        found = replay(path.graph, [*tensors, *trace.outer_inputs], effect_in(outer))
        return path.pack(found)


def _real(tensor):
    return tensor._value._real if type(tensor) is SymbolicTensor else tensor._value


def _is_foreign(tensor):
    """Whether a tensor is neither eager nor of an open trace: others have no value to trace on."""
    if type(tensor) is SymbolicTensor:
        return not tensor._value._trace.is_open
    return type(tensor) is not EagerTensor


def _packer(result, leaves):
    """The function from output tensors to the structure of `result`, None where that has None."""
    if isinstance(result, Tensor):
        return _first
    if result is None:
        return _nothing
    if type(result) in (tuple, list) and all([isinstance(x, Tensor) for x in result]):
        return type(result)
    outline = [None if x is None else outline_of(x) for x in leaves]
    template = nest.pack_sequence_as(result, outline, expand_composites=True)

    def pack(tensors):
        remaining = iter(tensors)
        flat = [None if x is None else next(remaining) for x in outline]
        return nest.pack_sequence_as(template, flat, expand_composites=True)

    return pack


def _first(tensors):
    return tensors[0]


def _nothing(tensors):
    return None
