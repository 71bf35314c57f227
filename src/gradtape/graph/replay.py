"""Runs a graph through dispatch, op by op, so that tapes, batches and outer traces see each op."""

import functools

from ..autodiff.custom import override
from ..autodiff.override import gradient_override
from ..core.active import thread
from ..core.dispatch import apply
from ..core.tensor import EagerTensor
from .batched_effects import with_batches
from .guards import NUMBER, SHAPE, Miss, outcome_of
from .ir import APPLY, EFFECT, GUARD, READ, RULE
from .symbolic import SymbolicTensor, translating


def replay(graph, tensors, run_effect, states=None):
    """Applies the ops of a graph to tensors of any kind.

    Args:
        graph: the graph.
        tensors: one for each input.
        run_effect: `run_effect(node, tensors)`, the results of an effect as tensors.
        states: the tensors that variables held, by id, in a run that has taken place and must not
            write to them again; None to read and write.

    Returns:
        The tensors of the outputs, or a Miss if a guard does not hold.
    """
    known = {id(value): tensor for value, tensor in zip(graph.inputs, tensors, strict=True)}
    constants = {}

    def get(value):
        if not value.is_constant:
            return known[id(value)]
        if id(value) not in constants:
            constants[id(value)] = EagerTensor(value.constant)
        return constants[id(value)]

    def run(node, inputs):
        if node.kind == APPLY:
            return _applied(node, inputs)
        if node.kind == READ:
            variable = node.attrs["variable"]
            return (variable._read() if states is None else states[variable._handle.id],)
        if node.kind == EFFECT:
            return with_batches(functools.partial(run_effect, node))(inputs)
        return _with_rule(graph, node, inputs, known)

    if graph.handles_errors and thread.trace is not None:
        thread.trace.graph.handles_errors = True
    guards = 0
    for position, node in enumerate(graph.nodes):
        if graph.history and thread.trace is not None:
            for place, variable, value in graph.history:
                if place == position:
                    thread.trace.note_write(variable, get(value))
        inputs = tuple([get(value) for value in node.inputs])
        if node.kind == GUARD:
            outcome = _outcome(inputs[0], node.attrs["how"])
            if outcome != node.attrs["outcome"]:
                return Miss(guards, outcome)
            guards += 1
            continue
        try:
            found = run(node, inputs)
        except Exception:
            if states is None and thread.trace is None:
                for variable, value in graph.written_before(position):
                    variable.assign(get(value))
            raise
        for value, tensor in zip(node.outputs, found, strict=True):
            known[id(value)] = tensor
    if states is None:
        for variable, value in graph.writes:
            variable.assign(get(value))
    return [get(value) for value in graph.outputs]


def _applied(node, inputs):
    if node.holder is not None:
        return (_held(node, inputs),)
    if node.gradient is None:
        out = apply(node.op, inputs, node.attrs)
    else:
        with gradient_override({node.op.name: node.gradient}):
            out = apply(node.op, inputs, node.attrs)
    return (out,) if node.op.outputs == 1 else out


def _held(node, inputs):
    """What a variable holds once it is written, as recorders know it."""
    for recorder in thread.recorders:
        recorder.variable_read(node.holder)
    out = apply(node.op, inputs, node.attrs)
    out._id = node.holder._handle.id
    if type(out) is SymbolicTensor:
        out._value._traced.node.holder = node.holder
    return out


def _with_rule(graph, node, inputs, known):
    count = len(node.outputs)
    function = node.attrs["backward"]

    def backward(*grads):
        # It holds on to tensors of the trace that the graph came from.
        with translating(known, graph):
            return function(*grads)

    return override(node.attrs["name"], list(inputs[:-count]), list(inputs[-count:]), backward)


def _outcome(tensor, how):
    """What a guard sees; in a trace the outcome becomes a guard of that trace too."""
    if how == SHAPE:
        if type(tensor) is SymbolicTensor:
            tensor._value._trace.guard(tensor._value._traced, tensor._value._real, SHAPE)
        return tensor._value.shape
    if how == NUMBER:
        return outcome_of(tensor._known(), NUMBER)
    return bool(tensor)


def effect_by(effects):
    """How the effects of a graph take place when it is replayed outside of a trace."""

    def run_effect(node, tensors):
        results = effects.run(node.attrs["function"], [x._value for x in tensors])
        return [EagerTensor(each) for each in results]

    return run_effect


def effect_in(trace):
    """How the effects of a graph take place when it is replayed in a trace."""

    def run_effect(node, tensors):
        attrs = node.attrs
        return trace.effect(
            node.name, attrs["function"], tensors, variables=attrs["variables"],
            rehearsable=attrs["rehearsable"], fixed=attrs["fixed"],
        )  # fmt: skip

    return run_effect


def effect_again_in(trace):
    """The same in a trace of that graph alone, where effects know already what variables hold."""

    def run_effect(node, tensors):
        attrs = node.attrs
        results = trace.effect(
            node.name, attrs["function"], tensors, rehearsable=attrs["rehearsable"], fixed=True
        )
        if attrs["variables"] is None:
            trace.forget_states()
        return results

    return run_effect


def is_simple(graph):
    """Whether a graph can be tried and given up: it has no effects, or nothing to fail at."""
    if graph.handles_errors:
        return False
    kinds = {node.kind for node in graph.nodes}
    return kinds <= {APPLY, READ, GUARD, RULE} or kinds <= {APPLY, READ, EFFECT, RULE}
