"""The intermediate representation: a graph is a list of nodes in the order they are to run.

Every value has one dtype and one shape, known when it is traced. A node is one of five kinds:

    apply     an op of the table on values
    read      what a variable holds at this point
    guard     a fact about a value (a truth value, a number, a shape) that the rest relies on
    effect    a Python function called for what it does: printing, drawing random numbers, …
    rule      the same values, differentiated by a function of the user's

Variables are written at the end, when nothing can fail any more: `writes` says with what.
"""

from typing import Any

import numpy as np

from ..core import dtypes

APPLY, READ, GUARD, EFFECT, RULE = "apply", "read", "guard", "effect", "rule"
KINDS = (APPLY, READ, GUARD, EFFECT, RULE)


class GraphError(AssertionError):
    """A graph is not well formed; only an error in gradtape itself can lead here."""


class Value:
    """What a node gives, an input of the graph, or a constant.

    Attributes:
        shape: a tuple of ints.
        dtype: the NumPy dtype.
        node: the node that gives it; None for inputs and constants.
        constant: the array, for a constant.
        name: what it is called in print.
        fresh: whether its memory belongs to it alone, as far as was seen when it was traced.
        stated: the TensorShape that it has at every call, by the user's word; or None.
    """

    __slots__ = ("constant", "dtype", "fresh", "name", "node", "shape", "stated")

    def __init__(self, shape, dtype, *, node=None, constant=None, name="", fresh=False):
        self.shape = shape
        self.dtype = dtype
        self.node = node
        self.constant: Any = constant
        self.name = name
        self.fresh = fresh
        self.stated: Any = None

    @property
    def is_constant(self):
        return self.constant is not None

    def __repr__(self):
        return f"<{self.name or 'value'}: {type_text(self)}>"


class Node:
    """One step of a graph.

    Attributes:
        kind: APPLY, READ, GUARD, EFFECT or RULE.
        op: the Op, for APPLY.
        inputs: values.
        attrs: the op's attributes; for the other kinds what they need:
            READ `variable`; GUARD `how` and `outcome`; EFFECT `function`; RULE `name`
            and `backward`, which gives gradients for all inputs but the last, one an output.
        outputs: values.
        name: unique within the graph, such as `add_1`.
        where: `"file:line"` of the user's code, or None.
        gradient: the name of the registered gradient that takes the place of the op's, or None.
        holder: the variable that holds the result from here on, or None: tapes know it by that.
        rechecked: whether inference has to look at the inputs at every call, as it reads values.
    """

    __slots__ = (
        "attrs",
        "gradient",
        "holder",
        "inputs",
        "kind",
        "name",
        "op",
        "outputs",
        "rechecked",
        "where",
    )

    def __init__(self, kind, op, inputs, attrs, name, where=None):
        self.kind = kind
        self.op = op
        self.inputs = tuple(inputs)
        self.attrs = attrs
        self.outputs: tuple[Value, ...] = ()
        self.name = name
        self.where: Any = where
        self.gradient = None
        self.holder = None
        self.rechecked = False

    @property
    def type(self):
        """TensorFlow's op type."""
        return _TYPES.get(self.kind, self.kind) if self.op is None else self.op.name

    @property
    def values(self):
        return self.outputs

    def __repr__(self):
        return f"<Operation {self.name!r} type={self.type}>"


_TYPES = {
    READ: "ReadVariableOp",
    GUARD: "Guard",
    EFFECT: "PyFunc",
    RULE: "IdentityN",
}


class Graph:
    """Nodes in the order they run, between inputs and outputs.

    Attributes:
        name: the traced function's.
        inputs: values that each call gives.
        nodes: what runs.
        outputs: values that each call returns.
        writes: pairs of a variable and the value it gets when all has run.
        history: all writes in order, each with the number of nodes before it: where a node fails,
            variables keep what was written until then.
        handles_errors: whether the traced code may go on after an error: then the code itself has
            to run where a node fails, and variables are left to it.
    """

    def __init__(self, name="graph"):
        self.name = name
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []
        self.outputs: list[Value] = []
        self.writes: list[tuple[Any, Value]] = []
        self.history: list[tuple[int, Any, Value]] = []
        self.handles_errors = False
        self._names: dict[str, int] = {}

    # Building -----------------------------------------------------------------------------------

    def unique_name(self, base):
        """`base`, or `base_1`, `base_2`, … where that is taken."""
        count = self._names.get(base, 0)
        self._names[base] = count + 1
        return base if not count else self.unique_name(f"{base}_{count}")

    def add_input(self, shape, dtype, name="input"):
        value = Value(shape, dtype, name=self.unique_name(name))
        self.inputs.append(value)
        return value

    def add_node(self, node, specs):
        """Appends `node` and gives it outputs of the shapes and dtypes in `specs`."""
        node.outputs = tuple([
            Value(shape, dtype, node=node, name=node.name if not i else f"{node.name}:{i}")
            for i, (shape, dtype) in enumerate(specs)
        ])  # fmt: skip
        self.nodes.append(node)
        return node.outputs

    def like(self, nodes, outputs=None, writes=None):
        """A graph with the same inputs and other nodes."""
        twin = Graph(self.name)
        twin.inputs = self.inputs
        twin.nodes = nodes
        twin.outputs = self.outputs if outputs is None else outputs
        twin.writes = self.writes if writes is None else writes
        twin._names = self._names
        return twin

    # Facts --------------------------------------------------------------------------------------

    @property
    def operations(self):
        return list(self.nodes)

    def get_operations(self):
        return list(self.nodes)

    def get_operation_by_name(self, name):
        """The node of that name.

        Raises:
            KeyError: there is none.
        """
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")

    @property
    def variables(self):
        """The variables that are read or written, in the order they are met."""
        found = {}
        for node in self.nodes:
            if node.kind == READ:
                found.setdefault(node.attrs["variable"]._handle.id, node.attrs["variable"])
        for variable, _ in self.writes:
            found.setdefault(variable._handle.id, variable)
        return tuple(found.values())

    def written_before(self, position):
        """Pairs of a variable and the value it held last before the node at a position."""
        held = {}
        for place, variable, value in self.history:
            if place <= position and not self.handles_errors:
                held[variable._handle.id] = variable, value
        return list(held.values())

    def verify(self):
        """Checks that the graph is well formed.

        Raises:
            GraphError: it is not; the message says which node and why.
        """
        known = set(map(id, self.inputs))
        names = set()
        for node in self.nodes:
            if node.kind not in KINDS:
                raise GraphError(f"{node!r} has the unknown kind {node.kind!r}.")
            if (node.op is not None) != (node.kind == APPLY):
                raise GraphError(f"{node!r} is of kind {node.kind!r} and its op is {node.op!r}.")
            if node.name in names:
                raise GraphError(f"Two nodes are called {node.name!r}.")
            names.add(node.name)
            for value in node.inputs:
                _check_known(value, known, node)
            for value in node.outputs:
                if value.node is not node:
                    raise GraphError(f"{value!r} of {node!r} names {value.node!r} as its source.")
                if id(value) in known:
                    raise GraphError(f"{value!r} is given twice.")
                known.add(id(value))
        for value in (*self.outputs, *[value for _, value in self.writes]):
            _check_known(value, known, "the end")
        for graph in inner_graphs(self):
            graph.verify()
        return self

    def as_text(self):
        """The graph as a person reads it, a line a node."""
        return graph_text(self)

    def as_graph_def(self):
        """A listing of the nodes as dictionaries, in the vocabulary of TensorFlow's GraphDef."""
        listed = [
            {"name": value.name, "op": "Placeholder", "input": [], "attr": _spec_attr(value)}
            for value in self.inputs
        ]
        for node in self.nodes:
            attrs = {key: attr_text(item) for key, item in node.attrs.items()}
            sources = [text_of(value) for value in node.inputs]
            listed.append({"name": node.name, "op": node.type, "input": sources, "attr": attrs})
        return {"node": listed, "versions": {"producer": 1}}

    def __repr__(self):
        return f"<Graph {self.name!r}: {len(self.nodes)} nodes>"


def _spec_attr(value):
    return {"dtype": dtypes.of_numpy(value.dtype).name, "shape": list(value.shape)}


def _check_known(value, known, user):
    if not value.is_constant and id(value) not in known:
        raise GraphError(f"{user!r} uses {value!r}, which nothing before it gives.")
    if not isinstance(value.shape, tuple) or not isinstance(value.dtype, np.dtype):
        raise GraphError(f"{value!r} must have a tuple for its shape and a NumPy dtype.")


# Text ---------------------------------------------------------------------------------------------


def type_text(value):
    """The dtype and shape of a value: `float32[2,3]`."""
    sizes = ",".join([str(size) for size in value.shape])
    return f"{dtypes.of_numpy(value.dtype).name}[{sizes}]"


def text_of(value):
    """A value where it is used: its name, or a constant's number."""
    if not value.is_constant:
        return f"%{value.name}"
    if value.shape == () and value.dtype != object:
        return f"{np.asarray(value.constant).item()}"
    return f"const:{type_text(value)}"


def attr_text(item):
    if isinstance(item, np.dtype):
        return dtypes.of_numpy(item).name
    if isinstance(item, bytes):
        return f"{len(item)} bytes"
    if callable(item):
        return getattr(item, "__qualname__", type(item).__name__)
    return getattr(item, "name", None) or repr(item)


def graph_text(graph):
    arguments = ", ".join([f"%{value.name}: {type_text(value)}" for value in graph.inputs])
    lines = [f"graph {graph.name}({arguments}) {{"]
    for node in graph.nodes:
        given = ", ".join([f"%{v.name}: {type_text(v)}" for v in node.outputs])
        used = [text_of(value) for value in node.inputs]
        used += [f"{key}={attr_text(item)}" for key, item in node.attrs.items()]
        line = f"{node.type}({', '.join(used)})"
        line = f"  {given} = {line}" if given else f"  {line}"
        lines.append(line if node.where is None else f"{line}  # {node.where}")
    for variable, value in graph.writes:
        lines.append(f"  {variable.name} <- {text_of(value)}")
    returned = ", ".join([text_of(value) for value in graph.outputs])
    text = "\n".join([*lines, f"  return {returned}".rstrip(), "}"])
    return "\n\n".join([text, *[graph_text(each) for each in inner_graphs(graph)]])


def inner_graphs(graph):
    """The graphs that nodes hold in their attributes: branches, and bodies of loops."""
    items = [item for node in graph.nodes for item in node.attrs.values()]
    return [each for item in items for each in getattr(item, "graphs", ())]
