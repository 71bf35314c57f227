"""The buffer plan: where each value of a graph lives, and until when.

The results of NumPy's own functions are written into memory that nobody needs any more, where
there is some of the same shape and dtype; large variables are updated in place. Values that may
share memory, as a transpose does with what it is taken of, live as long as the last of them.
"""

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..ops.state import IN_PLACE
from .ir import APPLY, READ, Node, Value
from .kernels import can_write_into, is_plain_product, ufunc_of

# Smaller arrays are not worth the steps that free them early or update them in place.
_WORTH_FREEING = 1 << 15


@dataclass(slots=True, eq=False)
class Step:
    """One node of the plan.

    Attributes:
        node: what to run.
        into: a value whose memory takes the result, or None.
        update: what is done with the result at once, and with it alone, or None.
        check: for a node of a Change, in place of running it: a function of its inputs but for the
            first, which raises what the node would raise.
        frees: values that nothing needs after this step.
    """

    node: Node
    into: Value | None = None
    update: "Update | None" = None
    check: Any = None
    frees: list[Value] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Update:
    """A variable that is updated by a NumPy function of its own value and another's."""

    variable: Any
    ufunc: Any
    delta: Value


@dataclass(slots=True, eq=False)
class Change:
    """A variable in whose memory some elements are changed, when all else has been computed.

    Attributes:
        variable: the variable.
        nodes: what makes its new value, each of them from that of the one before.
    """

    variable: Any
    nodes: list[Node]

    @property
    def steps(self):
        """Pairs of a function that changes an array by values, and the values."""
        return [
            (functools.partial(IN_PLACE[node.op.name][1], **node.attrs), node.inputs[1:])
            for node in self.nodes
        ]


@dataclass(slots=True, eq=False)
class Plan:
    """How to run a graph: steps in order, then updates and writes of variables.

    Attributes:
        steps: what runs. The last of them compute, one after another, what single variables are
            updated by: such results are many, and none need wait for another.
        updates: the other variables that can be updated in place.
        changes: those of which some elements can be changed in place.
        writes: pairs of the others and their values.
    """

    steps: list[Step]
    updates: list[Update]
    changes: list[Change]
    writes: list[tuple[Any, Value]]


_UPDATING = {"AddV2": np.add, "Sub": np.subtract}


def make_plan(graph):
    """The plan for a graph whose passes have been run."""
    updates, changes, writes = _split_writes(graph)
    checked = {id(node) for change in changes for node in change.nodes}
    nodes, last = _in_order(graph, updates)
    at_once = {id(update.delta): update for update in last}
    updates = [update for update in updates if update not in last]
    kept = [*graph.outputs, *[v for _, v in writes], *[update.delta for update in updates]]
    kept += [v for change in changes for _, values in change.steps for v in values]
    roots, last_use = _lifetimes(nodes, graph.inputs, kept, at_once, checked)
    steps = []
    free: dict[tuple, list[Value]] = {}
    for position, node in enumerate(nodes):
        if id(node) in checked:
            check, _ = IN_PLACE[node.op.name]
            check = functools.partial(check, node.outputs[0].shape, **node.attrs)
            steps.append(Step(node, check=check))
            continue
        step = Step(node, update=at_once.get(id(node.outputs[0])) if node.outputs else None)
        dying = _dying(node.inputs, position, last_use, roots)
        if node.kind == APPLY and can_write_into(node):
            step.into = _memory_for(node, free, dying)
        if step.into is not None:
            dying = [root for root in dying if root is not step.into]
            # The name of the memory is needed up to here, and then no more.
            last_use[id(step.into)] = position
        elif node.outputs and node.outputs[0].fresh:
            # Memory that waits while other memory is asked for would only add to the peak.
            free.clear()
        for root in (*dying, *_dying(node.outputs, position, last_use, roots)):
            if root.shape:
                free.setdefault((root.shape, root.dtype), []).append(root)
        steps.append(step)
    _add_frees(steps, last_use, [*updates, *last, *changes])
    return Plan(steps, updates, changes, writes)


def _memory_for(node, free, dying):
    """Memory for the result of a node: what fell free last, or that of an input it needs last."""
    out = node.outputs[0]
    waiting = free.get((out.shape, out.dtype))
    if waiting:
        return waiting.pop()
    if is_plain_product(node):  # which reads its inputs while it writes
        return None
    fitting = [root for root in dying if (root.shape, root.dtype) == (out.shape, out.dtype)]
    return fitting[0] if fitting else None


def _in_order(graph, updates):
    """The nodes that run, and the updates whose deltas the last of them compute."""
    updated = {id(update.variable) for update in updates}
    later = {id(value) for variable, value in graph.writes if id(variable) in updated}
    uses = count_uses(graph)
    last = [
        update for update in updates
        if (node := update.delta.node) is not None
        and node.kind == APPLY
        and not node.rechecked
        and uses[id(update.delta)] == 1
        and ufunc_of(node) is not None
    ]  # fmt: skip
    moved = {id(update.delta): update.delta.node for update in last}
    first = [n for n in graph.nodes if not n.outputs or id(n.outputs[0]) not in later | set(moved)]
    return [*first, *moved.values()], last


def _split_writes(graph):
    """Updates of large variables by NumPy's functions, changes of elements, and other writes."""
    uses = count_uses(graph)
    updates, changes, writes = [], [], []
    for variable, value in graph.writes:
        node = value.node
        nodes = _changing_nodes(variable, value, uses)
        if nodes:
            changes.append(Change(variable, nodes))
        elif (
            node is not None
            and node.kind == APPLY
            and node.op.name in _UPDATING
            and uses[id(value)] == 1
            and np.dtype(value.dtype).itemsize * _size(value) >= _WORTH_FREEING
            and _is_read_of(node.inputs[0], variable)
            and node.inputs[1].shape == value.shape
        ):
            updates.append(Update(variable, _UPDATING[node.op.name], node.inputs[1]))
        else:
            writes.append((variable, value))
    return updates, changes, writes


def _changing_nodes(variable, value, uses):
    """The nodes that make `value` of what a variable holds by changing elements, if all do so."""
    nodes = []
    while not _is_read_of(value, variable):
        node = value.node
        if node is None or node.kind != APPLY or node.op.name not in IN_PLACE:
            return []
        if uses[id(value)] != 1:
            return []
        nodes.append(node)
        value = node.inputs[0]
    return nodes[::-1]


def _is_read_of(value, variable):
    node = value.node
    return node is not None and node.kind == READ and node.attrs["variable"] is variable


def _size(value):
    size = 1
    for each in value.shape:
        size *= each
    return size


def count_uses(graph):
    """How often each value is used, by id."""
    uses = {}
    for node in graph.nodes:
        for value in node.inputs:
            uses[id(value)] = uses.get(id(value), 0) + 1
    for value in (*graph.outputs, *[value for _, value in graph.writes]):
        uses[id(value)] = uses.get(id(value), 0) + 1
    return uses


def _lifetimes(nodes, inputs, kept, at_once, checked):
    """Which memory each value may live in, and the position of the last use of each value."""
    # What a call is given belongs to the caller: it is no memory to write into.
    roots: dict[int, tuple[Value, ...]] = {id(value): () for value in inputs}
    last_use = {}
    end = len(nodes)
    for position, node in enumerate(nodes):
        if id(node) in checked:
            continue
        shared = {}
        for value in node.inputs:
            last_use[id(value)] = position
            for root in roots.get(id(value), ()):
                shared[id(root)] = root
        for value in node.outputs:
            if id(value) in at_once:
                last_use[id(value)] = position
            if value.fresh:
                roots[id(value)] = (value,)
            elif value.shape:
                roots[id(value)] = (*shared.values(), value)
    for value in kept:
        last_use[id(value)] = end
    # Memory is needed as long as anything that may live in it.
    for key, found in roots.items():
        for root in found:
            last_use[id(root), "memory"] = max(
                last_use.get((id(root), "memory"), -1), last_use.get(key, -1)
            )
    return roots, last_use


def _dying(values, position, last_use, roots):
    """Memory of these values that is needed for the last time at this position."""
    found = {}
    for value in values:
        for root in roots.get(id(value), ()):
            if last_use[id(root), "memory"] == position and root.fresh:
                found[id(root)] = root
    return list(found.values())


def _add_frees(steps, last_use, updates):
    """Has each step let go of what nothing needs after it, if that is large."""
    held = {id(update.variable) for update in updates}
    for position, step in enumerate(steps):
        if step.check is not None:
            continue
        named = {id(value): value for value in (*step.node.inputs, *step.node.outputs)}
        if step.into is not None:
            named[id(step.into)] = step.into
        for key, value in named.items():
            if value.is_constant or last_use.get(key, position) != position:
                continue
            large = np.dtype(value.dtype).itemsize * _size(value) >= _WORTH_FREEING
            if large or _reads_one_of(value, held):
                step.frees.append(value)


def _reads_one_of(value, variables):
    node = value.node
    return node is not None and node.kind == READ and id(node.attrs["variable"]) in variables
