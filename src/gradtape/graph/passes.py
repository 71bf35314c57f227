"""Passes: each takes a graph and returns one that gives the same, bit for bit, with less work."""

import numpy as np

from .ir import APPLY, EFFECT, GUARD, RULE, Node, Value

# What a constant may grow to by folding: more would make the graph large, not quick.
_LARGEST_FOLDED = 1 << 16


def optimize(graph):
    """All passes, in the order in which they help one another."""
    for each in PASSES:
        graph = each(graph)
    return graph


def without_rules(graph):
    """Leaves out gradient functions of the user: what they stand beside is the value."""
    found, nodes = {}, []
    for node in graph.nodes:
        if node.kind == RULE:
            sources = node.inputs[-len(node.outputs) :]
            for value, source in zip(node.outputs, sources, strict=True):
                found[id(value)] = found.get(id(source), source)
        else:
            nodes.append(node)
    return _rebuilt(graph, nodes, found)


def without_dead_code(graph):
    """Leaves out nodes whose results nobody uses, unless they do or decide something."""
    needed = {id(value) for value in graph.outputs}
    needed.update([id(value) for _, value in graph.writes])
    kept = []
    for node in reversed(graph.nodes):
        acts = node.kind in (GUARD, EFFECT) or node.type in _CHECKING
        if acts or any([id(value) in needed for value in node.outputs]):
            kept.append(node)
            needed.update([id(value) for value in node.inputs])
    return graph.like(kept[::-1])


# Ops that are there for the error they may raise.
_CHECKING = frozenset(("CheckNumerics",))


def with_common_subexpressions(graph):
    """Computes what is the same only once: the same op on the same values."""
    found, first = {}, {}
    nodes = []
    for node in graph.nodes:
        key = _expression(node, found) if node.kind == APPLY else None
        earlier = None if key is None else first.setdefault(key, node)
        if earlier is None or earlier is node:
            nodes.append(node)
            continue
        for value, same in zip(node.outputs, earlier.outputs, strict=True):
            found[id(value)] = same
    return _rebuilt(graph, nodes, found)


def _expression(node, found):
    """What tells an op on values apart; None if it cannot be told."""
    key = node.op.name, tuple([_identity(found.get(id(v), v)) for v in node.inputs])
    try:
        # By type too: attributes that are equal, as 1 and True, are not the same.
        attrs = tuple([(name, type(item), item) for name, item in sorted(node.attrs.items())])
        hash(attrs)
    except TypeError:
        return None
    return *key, attrs


def _identity(value):
    """Equal for values that are the same, and for equal numbers."""
    if value.is_constant and value.shape == () and value.dtype != object:
        return value.dtype.num, np.asarray(value.constant).tobytes()
    return id(value)


def with_folded_constants(graph):
    """Computes beforehand what depends on constants alone."""
    found, nodes = {}, []
    for node in graph.nodes:
        inputs = [found.get(id(value), value) for value in node.inputs]
        if not _can_fold(node, inputs):
            nodes.append(node)
            continue
        with np.errstate(all="ignore"):
            result = node.op.kernel(*[value.constant for value in inputs], **node.attrs)
        results = (result,) if node.op.outputs == 1 else result
        for value, array in zip(node.outputs, results, strict=True):
            found[id(value)] = Value(array.shape, array.dtype, constant=array, name="const")
    return _rebuilt(graph, nodes, found)


def _can_fold(node, inputs):
    return (
        node.kind == APPLY
        and not node.rechecked
        and all([value.is_constant for value in inputs])
        and all([value.dtype != object for value in (*inputs, *node.outputs)])
        and all([np.prod(value.shape) <= _LARGEST_FOLDED for value in node.outputs])
    )


def with_simpler_algebra(graph):
    """Leaves out what changes nothing: `x * 1`, `x - 0`, `-(-x)`, a reshape to the same shape, …"""
    found, nodes, given = {}, [], _inputs_of(graph)
    for node in graph.nodes:
        if node.kind == APPLY and len(node.outputs) == 1:
            inputs = [found.get(id(value), value) for value in node.inputs]
            same = _same_as(node, inputs, node.outputs[0], given)
            if same is not None:
                found[id(node.outputs[0])] = same
                continue
        nodes.append(node)
    return _rebuilt(graph, nodes, found)


def _same_as(node, inputs, out, given):
    """A value that is that of the node, bit for bit; None if there is none."""
    name, x = node.op.name, inputs[0]
    if name in _NOTHING:
        return x
    if name in _NOTHING_IF_SAME:
        return x if (x.shape, x.dtype) == (out.shape, out.dtype) else None
    if name == "Neg" and _made_by(x, "Neg") and id(x) not in given:
        return x.node.inputs[0]
    if name == "Transpose" and node.attrs["perm"] == tuple(range(len(x.shape))):
        return x
    if name in _NEUTRAL:
        neutral, on_the_left = _NEUTRAL[name]
        y = inputs[1]
        if _is_all(y, neutral) and x.shape == out.shape:
            return x
        if on_the_left and _is_all(x, neutral) and y.shape == out.shape:
            return y
    return None


_NOTHING = frozenset(("Identity", "StopGradient", "ReadVariableOp", "PreventGradient"))
_NOTHING_IF_SAME = frozenset(("Reshape", "BroadcastTo", "Cast"))
# Numbers that change nothing, and whether on the left too. Adding 0 is none: it turns -0.0 to 0.0.
_NEUTRAL = {"Mul": (1, True), "RealDiv": (1, False), "Sub": (0, False)}


def _is_all(value, number):
    """Whether a value is a constant that consists of one number alone, and not of -0.0."""
    array = value.constant
    if array is None or value.dtype.kind not in "fc" or value.dtype.itemsize < 4:
        return False
    return bool(np.all(np.asarray(array) == number)) and not np.any(np.signbit(np.real(array)))


def _inputs_of(graph):
    """The inputs, by id. Those of a backward graph were made by nodes that are not in it."""
    return {id(value) for value in graph.inputs}


def _made_by(value, name):
    node = value.node
    return node is not None and node.kind == APPLY and node.op.name == name


def with_transposes_in_products(graph):
    """Has matrix products take transposed matrices as they lie in memory."""
    found, nodes, given = {}, [], _inputs_of(graph)
    for node in graph.nodes:
        if node.kind == APPLY and node.op.name in _PRODUCTS:
            inputs, attrs = [], dict(node.attrs)
            for value, flag in zip(node.inputs, _PRODUCTS[node.op.name], strict=True):
                value = found.get(id(value), value)
                if _swaps_matrices(value) and id(value) not in given:
                    value = value.node.inputs[0]
                    attrs[flag] = not attrs[flag]
                inputs.append(value)
            if attrs != node.attrs:
                node = _twin(node, inputs, attrs, found)
        nodes.append(node)
    return _rebuilt(graph, nodes, found)


_PRODUCTS = {
    "MatMul": ("transpose_a", "transpose_b"),
    "BatchMatMulV2": ("transpose_a", "transpose_b"),
}


def _swaps_matrices(value):
    """Whether a value is a transpose of the last two axes and no others."""
    if not _made_by(value, "Transpose"):
        return False
    rank = len(value.shape)
    return rank >= 2 and value.node.attrs["perm"] == (*range(rank - 2), rank - 1, rank - 2)


# Building -----------------------------------------------------------------------------------------


def _rebuilt(graph, nodes, found):
    """`graph` with `nodes`, in which values with an entry in `found` are replaced by it."""
    if not found:
        return graph.like(nodes)

    def new(value):
        # What takes the place of a value may itself be replaced by then.
        while id(value) in found:
            value = found[id(value)]
        return value

    result = []
    for node in nodes:
        if any([id(value) in found for value in node.inputs]):
            node = _twin(node, [new(value) for value in node.inputs], node.attrs, found)
        result.append(node)
    outputs = [new(value) for value in graph.outputs]
    return graph.like(result, outputs, [(variable, new(v)) for variable, v in graph.writes])


def _twin(node, inputs, attrs, found):
    """A node with other inputs and attributes, whose outputs stand for the old ones."""
    twin = Node(node.kind, node.op, inputs, attrs, node.name, node.where)
    twin.gradient, twin.rechecked = node.gradient, node.rechecked
    twin.outputs = tuple([
        Value(value.shape, value.dtype, node=twin, name=value.name, fresh=value.fresh)
        for value in node.outputs
    ])  # fmt: skip
    found.update({id(old): new for old, new in zip(node.outputs, twin.outputs, strict=True)})
    return twin


PASSES = (
    without_rules,
    with_simpler_algebra,
    with_folded_constants,
    with_common_subexpressions,
    with_transposes_in_products,
    without_dead_code,
)
