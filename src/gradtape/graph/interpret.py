"""Runs a graph on NumPy's kernels: quickly by a plan, or node by node.

The quick way is one Python function, written out for the graph: a line for each step of its plan.
If anything goes wrong in it, the graph is run again node by node, which finds the node at fault
and the user's line it comes from. What effects have done is not done again.
"""

import functools
from typing import Any

import numpy as np

from ..core.dispatch import recover
from .guards import NUMBER, OUTCOMES, SHAPE, TRUTH, Effects, Miss, outcome_of
from .ir import APPLY, EFFECT, GUARD, READ, RULE
from .kernels import call_text
from .plan import make_plan


class Program:
    """A graph that can be run.

    Args:
        graph: the graph, its passes run.
        traced: the graph before that, from which errors are told; the same if None.
    """

    def __init__(self, graph, traced=None):
        self.graph = graph
        self._traced = graph if traced is None else traced
        kinds = {node.kind for node in graph.nodes}
        self.has_effects = EFFECT in kinds
        # Whether what it returns or raises is all there is to a call.
        self.is_quick = not self.has_effects and not self._traced.handles_errors
        self._locks = _locks_for(graph)
        self._run = _written_out(graph)

    def run(self, arrays, effects=None) -> Any:
        """The outputs for the arrays of the inputs, or a Miss.

        Args:
            arrays: one for each input.
            effects: what this call has done already, if it starts over.
        """
        if not self._locks:
            return self._run_now(arrays, effects)
        for lock in self._locks:
            lock.acquire()
        try:
            return self._run_now(arrays, effects)
        finally:
            for lock in self._locks:
                lock.release()

    def _run_now(self, arrays, effects):
        if not self.has_effects:
            try:
                return self._run(*arrays)
            except Exception:
                return run_stepwise(self._traced, arrays)
        effects = Effects() if effects is None else effects
        try:
            return self._run(effects.run, *arrays)
        except Exception:
            effects.start_over()
            return run_stepwise(self._traced, arrays, effects)


def _locks_for(graph):
    """The locks of the variables a graph writes to, in an order that all graphs agree on.

    So no call comes between what another one reads and what it writes. A Python function may wait
    for another thread: a graph that calls one takes no locks.
    """
    if any([n.kind == EFFECT and n.attrs["variables"] is None for n in graph.nodes]):
        return ()
    handles = [variable._handle for variable, _ in graph.writes]
    return tuple([handle.lock for handle in sorted(handles, key=lambda handle: handle.id)])


# Node by node -------------------------------------------------------------------------------------


def run_stepwise(graph, arrays, effects=None) -> Any:
    """The outputs of a graph, by its nodes alone: the reference for everything quicker."""
    effects = Effects() if effects is None else effects
    known = {id(value): array for value, array in zip(graph.inputs, arrays, strict=True)}

    def get(value):
        return value.constant if value.is_constant else known[id(value)]

    guards = 0
    for position, node in enumerate(graph.nodes):
        values = [get(value) for value in node.inputs]
        if node.kind == GUARD:
            outcome = outcome_of(values[0], node.attrs["how"])
            if outcome != node.attrs["outcome"]:
                return Miss(guards, outcome)
            guards += 1
            continue
        try:
            results = _RUN[node.kind](node, values, effects)
        except Exception as error:
            # As in eager code, what was written before stays written.
            for variable, value in graph.written_before(position):
                variable._handle.set_value(get(value))
            error.add_note(_origin(graph, node))
            raise
        for value, array in zip(node.outputs, results, strict=True):
            known[id(value)] = array
    for variable, value in graph.writes:
        variable._handle.set_value(get(value))
    return tuple([get(value) for value in graph.outputs])


def _run_op(node, values, effects):
    op = node.op
    try:
        if op.checked or op.accepts is not None:
            op.infer(*values, **node.attrs)
        result = op.kernel(*values, **node.attrs)
    except Exception as error:
        result = recover(op, values, node.attrs, error)
    return (as_value(result),) if op.outputs == 1 else result


def _run_read(node, values, effects):
    return (node.attrs["variable"]._handle.tensor._value,)


def _run_effect(node, values, effects):
    return effects.run(node.attrs["function"], values)


def _run_rule(node, values, effects):
    return values[-len(node.outputs) :]


_RUN = {
    APPLY: _run_op,
    READ: _run_read,
    EFFECT: _run_effect,
    RULE: _run_rule,
}


def as_value(result):
    """What a kernel returns, as a value: of two strings NumPy makes plain bytes."""
    return np.asarray(result, object) if type(result) is bytes else result


def _origin(graph, node):
    place = "" if node.where is None else f", traced at {node.where}"
    return f"In function {graph.name!r}: op {node.name!r} of type {node.type}{place}."


# Written out --------------------------------------------------------------------------------------


def _written_out(graph):
    """The function for a graph: a line for each step."""
    plan = make_plan(graph)
    names, globals_ = {}, {"Miss": Miss, "__name__": "gradtape.graph.program"}

    def bind(prefix, thing):
        name = f"{prefix}{len(globals_)}"
        globals_[name] = thing
        return name

    def name_of(value):
        found = names.get(id(value))
        if found is None:
            found = bind("c", value.constant) if value.is_constant else f"v{len(names)}"
            names[id(value)] = found
        return found

    arguments = [name_of(value) for value in graph.inputs]
    has_effects = any([node.kind == EFFECT for node in graph.nodes])
    lines = [f"def run({', '.join(['effect', *arguments] if has_effects else arguments)}):"]
    guards = 0
    for step in plan.steps:
        node = step.node
        used = [name_of(value) for value in node.inputs]
        if step.check is not None:
            lines.append(f"    {bind('i', step.check)}({', '.join(used[1:])})")
        elif node.kind == APPLY:
            lines += _op_lines(step, used, bind, name_of)
        elif node.kind == READ:
            handle = bind("h", node.attrs["variable"]._handle)
            lines.append(f"    {name_of(node.outputs[0])} = {handle}.tensor._value")
        elif node.kind == GUARD:
            lines += _guard_lines(node, used[0], guards, bind)
            guards += 1
        elif node.kind == RULE:
            given = [name_of(value) for value in node.outputs]
            lines += [f"    {a} = {b}" for a, b in zip(given, used[-len(given) :], strict=True)]
        else:
            function = bind("f", node.attrs["function"])
            given = ", ".join([name_of(value) for value in node.outputs])
            call = f"effect({function}, ({''.join([f'{each}, ' for each in used])}))"
            lines.append(f"    {given}, = {call}" if given else f"    {call}")
        if step.update is not None:
            lines.append(_update_line(step.update, bind, name_of))
        if step.frees:
            lines.append(f"    {' = '.join([name_of(value) for value in step.frees])} = None")
    outputs = [name_of(value) for value in graph.outputs]
    # Everything is computed: from here on nothing fails, and variables get what was written.
    lines += [_update_line(update, bind, name_of) for update in plan.updates]
    lines += [_change_line(change, bind, name_of) for change in plan.changes]
    for variable, value in plan.writes:
        lines.append(f"    {bind('h', variable._handle)}.set_value({name_of(value)})")
    lines.append(f"    return ({''.join([f'{each}, ' for each in outputs])})")
    exec(compile("\n".join(lines), "<gradtape program>", "exec"), globals_)
    return globals_["run"]


def _update_line(update, bind, name_of):
    handle, ufunc = bind("h", update.variable._handle), bind("k", update.ufunc)
    return f"    {bind('u', update_in_place)}({handle}, {ufunc}, {name_of(update.delta)})"


def _change_line(change, bind, name_of):
    handle, function = bind("h", change.variable._handle), bind("u", change_in_place)
    steps = [
        f"({bind('k', step)}, ({''.join([f'{name_of(value)}, ' for value in values])}))"
        for step, values in change.steps
    ]
    return f"    {function}({', '.join([handle, *steps])})"


def _op_lines(step, used, bind, name_of):
    node = step.node
    op, attrs = node.op, node.attrs
    lines = []
    if node.rechecked:
        lines.append(f"    {bind('i', functools.partial(op.infer, **attrs))}({', '.join(used)})")
    into = None if step.into is None else name_of(step.into)
    call = call_text(node, used, into, bind)
    given = ", ".join([name_of(value) for value in node.outputs])
    if op.outputs != 1:
        given += ","
    elif node.outputs[0].dtype == object and not node.outputs[0].shape:
        call = f"{bind('s', as_value)}({call})"
    return [*lines, f"    {given} = {call}"]


def _guard_lines(node, name, position, bind):
    how, outcome = node.attrs["how"], node.attrs["outcome"]
    if how == TRUTH:
        condition = name if outcome else f"not {name}"
        return [f"    if not ({condition}): return Miss({position}, {not outcome})"]
    if how == SHAPE:
        expected = bind("o", outcome)
        return [f"    if {name}.shape != {expected}: return Miss({position}, {name}.shape)"]
    see, expected = bind("g", OUTCOMES[NUMBER]), bind("o", outcome)
    return [
        f"    seen = {see}({name})",
        f"    if seen != {expected}: return Miss({position}, seen)",
    ]


def update_in_place(handle, ufunc, delta):
    """Updates what a variable holds, in its own memory if nobody else looks at that."""
    array = handle.own_array()
    if array is None:
        handle.set_value(ufunc(handle.tensor._value, delta))
    else:
        ufunc(array, delta, array)


def change_in_place(handle, *steps):
    """Changes elements of what a variable holds, in its own memory if nobody else looks at that.

    Args:
        handle: the variable's.
        steps: pairs of a function that changes an array by others, and the others.
    """
    array = handle.own_array()
    if array is not None and array.flags.c_contiguous:
        for change, values in steps:
            change(array, *values)
        return
    copy = np.array(handle.tensor._value, order="C")
    for change, values in steps:
        change(copy, *values)
    handle.set_value(copy if copy.ndim else copy[()])
