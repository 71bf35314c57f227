"""The derivative of a graph: a forward graph that keeps what a backward graph needs.

Both are cut out of one trace, of the graph under a tape and of the tape's gradient. So a call of a
function under a tape is a single record.
"""

import numpy as np

from ..autodiff.tape import GradientTape
from ..core import nest
from ..core.active import thread
from ..core.indexed_slices import IndexedSlices, RawSlices
from ..core.tensor import EagerTensor
from .guards import Effects, Miss
from .interpret import Program
from .ir import GUARD, RULE, Graph
from .passes import optimize
from .replay import effect_again_in, effect_by, effect_in, replay
from .symbolic import translating
from .trace import NotTraceableError, Trace


class Derivative:
    """The programs, and how their values meet.

    Attributes:
        forward: a Program that gives the outputs and then the residuals.
        count: the number of outputs.
        followed: positions of those outputs that depend on a source.
        kept_sources: pairs of the position of a residual and that of the source it is.
        has_rules: whether the gradient itself is differentiated by functions of the user's.
    """

    def __init__(self, forward, count, followed, kept_sources, residuals, tape, targets, sources):
        self.forward = forward
        self.count = count
        self.followed = followed
        self.kept_sources = kept_sources
        self.has_rules = False
        self._residuals = residuals
        self._tape = tape
        self._targets = targets
        self._sources = sources
        self._backward = {}

    def backward(self, residuals, grads):
        """The Backward for those outputs that gradients came for, traced when first asked for.

        Args:
            residuals: arrays of the call it is asked for.
            grads: arrays, None where none came.
        """
        came = tuple([g is not None for g in grads])
        found = self._backward.get(came)
        if found is None:
            found = self._backward[came] = self._traced(residuals, came)
        return found

    def add(self, came, backward):
        self._backward[came] = backward
        self.has_rules = any([node.kind == RULE for node in backward.graph.nodes])

    def _traced(self, residuals, came):
        """The gradient of some outputs alone: elsewhere no zeros take part in it."""
        graph = self.forward.graph
        with Trace(f"{graph.name}_backward", creates=False) as trace:
            trace.begin_rehearsal()
            kept = [trace.input(array, "kept") for array in residuals]
            known = {id(v): x for v, x in zip(self._residuals, kept, strict=True)}
            targets = [x for x, c in zip(self._targets, came, strict=True) if c]
            grads = [trace.input(ones_like(x), "grad") for x in targets]
            with translating(known, graph):
                # The tape knows the tensors of its own trace: asked as usual, it would look for
                # those that stand for them now.
                found = self._tape._run(self._tape._inner, targets, self._sources, grads)
            results, slots = _taken_apart(trace, found)
            graph = trace.finish(())
        trace.release()
        graph.outputs = results
        return Backward(graph, slots)


class Backward:
    """The program of a gradient, and the form of its results.

    Attributes:
        graph: from residuals and gradients to gradients, as traced.
    """

    def __init__(self, graph, slots):
        self.graph = graph
        self._slots = slots
        self._program = None

    def expects(self, arrays):
        """Whether arrays have the shapes and dtypes that the program was made for."""
        for array, value in zip(arrays, self.graph.inputs[-len(arrays) :], strict=True):
            if array.shape != value.shape or array.dtype != value.dtype:
                return False
        return True

    def on_arrays(self, residuals, grads):
        """The gradients of the sources: arrays, RawSlices, or None where there is none."""
        if self._program is None:
            self._program = Program(optimize(self.graph))
        return self._packed(self._program.run([*residuals, *grads]), _raw_slices)

    def on_tensors(self, residuals, grads):
        """The same op by op, so that recorders and batches see it: tensors or IndexedSlices."""
        run_effect = effect_by(Effects()) if thread.trace is None else effect_in(thread.trace)
        found = replay(self.graph, [*residuals, *grads], run_effect)
        return self._packed(found, IndexedSlices)

    def _packed(self, results, make_slices):
        return [
            None if slot is None
            else results[slot] if type(slot) is int
            else make_slices(*[results[i] for i in slot])
            for slot in self._slots
        ]  # fmt: skip


def _raw_slices(values, indices, dense_shape):
    return RawSlices(values, indices, tuple(dense_shape.tolist()))


def trace_derivative(graph, arrays, wanted, effects, *, nan_safe):
    """Traces a graph and its gradient.

    Args:
        graph: the graph.
        arrays: the arguments of this call.
        wanted: positions, among inputs and then variables, of those that need a gradient.
        effects: what this call has done already; the effects of the graph are added.
        nan_safe: as of the tape.

    Returns:
        A Derivative, or a Miss.

    Raises:
        NotTraceableError: the gradient is not computed in a way that a graph can repeat, or leads
            to an error; that is for whoever asks for the gradient.
    """
    with Trace(graph.name, effects=effects, creates=False) as trace:
        names = [value.name for value in graph.inputs]
        inputs = [trace.input(array, name) for array, name in zip(arrays, names, strict=True)]
        everything = [*inputs, *[variable._read() for variable in graph.variables]]
        sources = [everything[i] for i in wanted]
        tape = GradientTape(True, watch_accessed_variables=False, nan_safe=nan_safe)
        with tape:
            tape.watch(sources)
            outputs = replay(graph, inputs, effect_again_in(trace))
        if isinstance(outputs, Miss):
            return outputs
        cut = len(trace.graph.nodes)
        tracked = tape._inner.tracked  # pyright: ignore[reportOptionalMemberAccess]
        followed = [i for i, x in enumerate(outputs) if x._id in tracked]
        targets = [outputs[i] for i in followed]
        grads = [trace.input(ones_like(x), "grad") for x in targets]
        writes = trace.begin_rehearsal()
        try:
            found = tape.gradient(targets, sources, output_gradients=grads)
            results, slots = _taken_apart(trace, found)
        except Exception as error:
            raise NotTraceableError(f"its gradient raises {error!r}") from error
        whole = trace.finish(outputs)
    forward, backward = whole.nodes[:cut], whole.nodes[cut:]
    if any([node.kind == GUARD for node in backward]):
        raise NotTraceableError("its gradient decides something by a tensor's value")
    residuals = residuals_of(forward, inputs, backward, results)
    first, second = Graph(graph.name), Graph(f"{graph.name}_backward")
    first.inputs = [x._value._traced for x in inputs]
    first.nodes, first.writes, first.history = forward, writes, whole.history
    first.handles_errors = graph.handles_errors
    first.outputs = [*whole.outputs, *residuals]
    second.inputs = [*residuals, *[g._value._traced for g in grads]]
    second.nodes, second.outputs, second.writes = backward, results, whole.writes
    positions = {id(x._value._traced): i for i, x in enumerate(everything)}
    kept_sources = [(i, positions[id(v)]) for i, v in enumerate(residuals) if id(v) in positions]
    trace.release()
    derivative = Derivative(
        Program(optimize(first), first), len(outputs), followed, kept_sources, residuals,
        tape, targets, sources,
    )  # fmt: skip
    derivative.add((True,) * len(followed), Backward(second, slots))
    return derivative


def _taken_apart(trace, gradients):
    """The values of gradients, and for each None, the position of its value, or of its parts."""
    results, slots = [], []
    for gradient in gradients:
        if gradient is None:
            slots.append(None)
            continue
        parts = nest.flatten(gradient, expand_composites=True)
        positions = range(len(results), len(results) + len(parts))
        if not isinstance(gradient, IndexedSlices):
            slots.append(positions[0])
        elif len(parts) == 3:
            slots.append(tuple(positions))
        else:
            raise NotTraceableError("a gradient is of an unknown shape")
        results += [trace.value_of(x) for x in parts]
    return results, slots


def ones_like(tensor):
    """Ones in the shape and dtype of a tensor, as an array or scalar."""
    return np.ones(tensor._value.shape, tensor._value.dtype)[()]


def outline_of(tensor):
    """A tensor of the same shape and dtype that takes up no memory."""
    value = tensor._value
    return EagerTensor(np.broadcast_to(np.zeros((), value.dtype), value.shape))


def residuals_of(forward, inputs, backward, results):
    """What the backward part uses of the forward part."""
    available = {id(x._value._traced) for x in inputs}
    for node in forward:
        available.update([id(value) for value in node.outputs])
    used = {}
    for value in [*[v for node in backward for v in node.inputs], *results]:
        if id(value) in available:
            used[id(value)] = value
    return list(used.values())
