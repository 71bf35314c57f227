"""Graphs in files: a zip archive of JSON and plain arrays, described in docs/graph_format.md.

Nothing in such a file is code, and reading one runs none.
"""

import base64
import json
import threading
import zipfile
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.errors import FailedPreconditionError
from ..core.op import find_op
from ..core.variable import Variable
from .ir import APPLY, EFFECT, GUARD, READ, Graph, Node, Value
from .passes import without_dead_code, without_rules
from .paths import Path, Paths

FORMAT, VERSION = "gradtape graph", 1
_GRAPHS, _ARRAY = "graphs.json", "arrays/{}"


class NotSavableError(ValueError):
    """A graph holds something that a file cannot: a Python function, or an unknown attribute."""


# Writing ------------------------------------------------------------------------------------------


def save_graphs(graphs, file):
    """Writes graphs that are the paths of one function, with the values of their variables.

    Args:
        graphs: a list of graphs with the same inputs.
        file: a path, or a file opened for writing bytes.

    Raises:
        NotSavableError: a graph calls a Python function, as printing and random numbers do, or has
            an attribute for which the format has no words. Nothing is written then.
    """
    writer = _Writer()
    described = [writer.graph(without_dead_code(without_rules(graph))) for graph in graphs]
    variables = writer.variables()
    contents = {
        "format": FORMAT,
        "version": VERSION,
        "arrays": [_array_facts(array) for array in writer.arrays],
        "variables": variables,
        "graphs": described,
    }
    text = json.dumps(contents, indent=1)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_GRAPHS, text)
        for i, array in enumerate(writer.arrays):
            archive.writestr(_ARRAY.format(i), _array_bytes(array))


def _array_facts(array):
    return {"dtype": dtypes.of_numpy(array.dtype).name, "shape": list(array.shape)}


def _array_bytes(array):
    """The elements in C order, little-endian; strings as a JSON list in base 64."""
    if array.dtype == object:
        items = [base64.b64encode(item).decode() for item in array.ravel().tolist()]
        return json.dumps(items).encode()
    array = np.ascontiguousarray(array)
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and not _LITTLE):
        array = array.byteswap()
    return array.tobytes()


_LITTLE = np.little_endian


class _Writer:
    """Numbers arrays and variables as they are met."""

    def __init__(self):
        self.arrays = []
        self._array_numbers = {}
        self._variables = {}

    def _array(self, array):
        array = np.asarray(array)
        key = id(array)
        if key not in self._array_numbers:
            self._array_numbers[key] = len(self.arrays)
            self.arrays.append(array)  # which also keeps its id from being used again
        return self._array_numbers[key]

    def _variable(self, variable):
        key = variable._handle.id
        if key not in self._variables:
            self._variables[key] = len(self._variables), variable
        return self._variables[key][0]

    def variables(self):
        return [
            {
                "name": variable.name.removesuffix(":0"),
                "trainable": variable.trainable,
                "value": self._array(variable._handle.tensor._value),
            }
            for _, variable in self._variables.values()
        ]

    def graph(self, graph):
        numbers = {}

        def reference(value):
            if value.is_constant:
                return {"array": self._array(value.constant)}
            return numbers[id(value)]

        def number(values):
            for value in values:
                numbers[id(value)] = len(numbers)
            return [[value.name, *_spec_words(value)] for value in values]

        described = {"name": graph.name, "inputs": number(graph.inputs), "nodes": []}
        for node in graph.nodes:
            described["nodes"].append({
                "kind": node.kind,
                "op": node.op.name if node.kind == APPLY else None,
                "name": node.name,
                "inputs": [reference(value) for value in node.inputs],
                "attrs": self._attrs(node),
                "outputs": number(node.outputs),
                "rechecked": node.rechecked,
            })  # fmt: skip
        described["outputs"] = [reference(value) for value in graph.outputs]
        described["writes"] = [[self._variable(v), reference(x)] for v, x in graph.writes]
        return described

    def _attrs(self, node):
        if node.kind == EFFECT:
            raise NotSavableError(
                f"Op {node.name!r}, which comes from {node.where}, calls a Python function at "
                "every run of the graph. A file cannot hold that: leave it out of what is saved."
            )
        if node.kind == READ:
            return {"variable": self._variable(node.attrs["variable"])}
        if node.kind == APPLY and find_op(node.op.name) is not node.op:
            raise NotSavableError(
                f"Op {node.name!r} of type {node.type}, which comes from {node.where}, is not in "
                "the table of ops, so a file cannot refer to it."
            )
        return {name: self._attr(item, node) for name, item in node.attrs.items()}

    def _attr(self, item, node):
        if item is None or type(item) in (bool, int, str):
            return item
        if type(item) is float:
            return {"float": item.hex()}
        if type(item) is bytes:
            return {"bytes": base64.b64encode(item).decode()}
        if type(item) is tuple:
            return {"tuple": [self._attr(each, node) for each in item]}
        if isinstance(item, np.dtype):
            return {"dtype": dtypes.of_numpy(item).name}
        if isinstance(item, slice):
            parts = item.start, item.stop, item.step
            return {"slice": [self._attr(each, node) for each in parts]}
        if item is Ellipsis:
            return {"ellipsis": True}
        if isinstance(item, (np.ndarray, np.generic)):
            return {"array": self._array(item), "scalar": isinstance(item, np.generic)}
        raise NotSavableError(
            f"Op {node.name!r} of type {node.type} has an attribute of type "
            f"{type(item).__name__!r}, for which the file format has no words."
        )


def _spec_words(value):
    return dtypes.of_numpy(value.dtype).name, list(value.shape)


# Reading ------------------------------------------------------------------------------------------


def load_graphs(file):
    """The graphs of a file, with variables of their own.

    Args:
        file: a path, or a file opened for reading bytes.

    Returns:
        A list of graphs.

    Raises:
        ValueError: it is not such a file, or of a later version, or refers to an unknown op.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            contents = json.loads(archive.read(_GRAPHS))
            if contents.get("format") != FORMAT:
                raise ValueError(f"it says {contents.get('format')!r} of itself")
            if contents["version"] > VERSION:
                raise ValueError(
                    f"its version is {contents['version']}, and this gradtape reads up to {VERSION}"
                )
            arrays = [
                _read_array(archive.read(_ARRAY.format(i)), facts)
                for i, facts in enumerate(contents["arrays"])
            ]
    except (KeyError, zipfile.BadZipFile, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} is not a gradtape graph: {error}") from error
    except ValueError as error:
        raise ValueError(f"{file} is not a gradtape graph that can be read: {error}") from None
    variables = [
        Variable(arrays[each["value"]], trainable=each["trainable"], name=each["name"])
        for each in contents["variables"]
    ]
    return [_Reader(arrays, variables).graph(each).verify() for each in contents["graphs"]]


def _read_array(data, facts):
    dtype, shape = dtypes.as_dtype(facts["dtype"]).numpy_dtype, tuple(facts["shape"])
    if dtype.kind == "O":
        array = np.empty(len(items := json.loads(data)), object)
        array[:] = [base64.b64decode(item) for item in items]
        return array.reshape(shape)
    array = np.frombuffer(bytearray(data), dtype).reshape(shape)
    return array if _LITTLE else array.byteswap()


class _Reader:
    def __init__(self, arrays, variables):
        self._arrays = arrays
        self._variables = variables
        self._values = []

    def graph(self, described):
        graph = Graph(described["name"])
        graph.inputs = [self._value(words) for words in described["inputs"]]
        for each in described["nodes"]:
            graph.nodes.append(self._node(each))
        graph.outputs = [self._reference(item) for item in described["outputs"]]
        graph.writes = [(self._variables[v], self._reference(x)) for v, x in described["writes"]]
        return graph

    def _value(self, words, node=None):
        name, dtype, shape = words
        value = Value(tuple(shape), dtypes.as_dtype(dtype).numpy_dtype, node=node, name=name)
        self._values.append(value)
        return value

    def _reference(self, item):
        if isinstance(item, int):
            return self._values[item]
        array = self._arrays[item["array"]]
        array = array[()] if not array.shape and array.dtype != object else array
        return Value(array.shape, array.dtype, constant=array, name="const")

    def _node(self, described):
        op = None
        if described["kind"] == APPLY:
            op = find_op(described["op"])
            if op is None:
                raise ValueError(f"There is no op of type {described['op']!r}.")
        attrs = {name: self._attr(item) for name, item in described["attrs"].items()}
        if described["kind"] == READ:
            attrs = {"variable": self._variables[attrs["variable"]]}
        inputs = [self._reference(item) for item in described["inputs"]]
        node = Node(described["kind"], op, inputs, attrs, described["name"])
        node.rechecked = described["rechecked"]
        node.outputs = tuple([self._value(words, node) for words in described["outputs"]])
        return node

    def _attr(self, item):
        if not isinstance(item, dict):
            return item
        ((kind, content),) = [pair for pair in item.items() if pair[0] != "scalar"]
        if kind == "float":
            return float.fromhex(content)
        if kind == "bytes":
            return base64.b64decode(content)
        if kind == "tuple":
            return tuple([self._attr(each) for each in content])
        if kind == "dtype":
            return dtypes.as_dtype(content).numpy_dtype
        if kind == "slice":
            return slice(*[self._attr(each) for each in content])
        if kind == "array":
            array = self._arrays[content]
            return array[()] if item["scalar"] else array
        return Ellipsis


# Functions ----------------------------------------------------------------------------------------


def loaded_function(graphs):
    """A function of tensors that runs loaded graphs; tapes see it as they see any function.

    It returns a tuple of tensors.
    """
    first = graphs[0]

    def no_such_path(tensors):
        raise FailedPreconditionError(
            None,
            None,
            f"The saved function {first.name!r} decides something by the values of tensors, and "
            f"for these values nothing was saved. Received: {tensors}",
        )

    names = [value.name for value in first.inputs]
    paths = Paths(first.name, no_such_path, names, threading.RLock())
    for graph in graphs:
        outcomes = [n.attrs["outcome"] for n in graph.nodes if n.kind == GUARD]
        paths.add(Path(graph, tuple(outcomes), tuple))

    def call(*tensors) -> Any:
        tensors = [convert_to_tensor(x) for x in tensors]
        expected = [_spec_words(value) for value in first.inputs]
        received = [(x.dtype.name, list(x._value.shape)) for x in tensors]
        if received != expected:
            raise ValueError(
                f"The saved function {first.name!r} takes tensors of dtypes and shapes {expected}. "
                f"Received: {received}."
            )
        return paths.call(tensors)

    call.__name__ = call.__qualname__ = first.name
    return call
