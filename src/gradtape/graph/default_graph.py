"""tf.Graph: a graph that is written down by the code that runs while it is the default one."""

import contextlib

from ..core.dtypes import of_numpy
from ..core.exports import export
from ..core.shapes import as_shape
from ..core.tensor import EagerTensor
from ..ops.identity import identity_row
from .concrete import GraphTensor
from .guards import Effects
from .ir import APPLY, Graph
from .symbolic import SymbolicTensor
from .trace import Trace


class _NothingHappens(Effects):
    """In the place of effects: a graph is written down, not run."""

    __slots__ = ()

    def run(self, function, arrays, key=None):
        raise RuntimeError(
            "A tf.Graph is written down and never run, as there are no sessions: it cannot print, "
            "draw random numbers or call Python functions. Use tf.function for code that does."
        )


class _GraphTrace(Trace):
    """The trace of a default graph, which has constants for nodes too."""

    def __init__(self, graph):
        super().__init__(graph.name, effects=_NothingHappens())
        self.graph = graph

    def constant(self, tensor):
        """A tensor that tf.constant made, as a node of the graph."""
        if type(tensor) is not EagerTensor:
            return tensor
        value = tensor._value
        node = self._node(APPLY, identity_row.op, (self.value_of(tensor),), {}, "Const")
        (traced,) = self.graph.add_node(node, [(value.shape, value.dtype)])
        return SymbolicTensor(value, self, traced)


@export("Graph")
class DefaultGraph(Graph):
    """A graph of what code does with constants and variables, to be looked at.

    Inside `with graph.as_default():` each op on them becomes a node. Variables are not changed.
    Nothing runs a graph later on: there are no sessions. tf.function makes graphs that run.

    Example:
        >>> graph = tf.Graph()
        >>> with graph.as_default():
        ...     total = tf.constant(1.0) + 2.0
        >>> [node.name for node in graph.get_operations()]
        ['Const', 'add']
    """

    def __init__(self):
        super().__init__("graph")
        self._trace = _GraphTrace(self)
        self.finalized = False

    @contextlib.contextmanager
    def as_default(self):
        """A context in which ops become nodes of this graph.

        Raises:
            RuntimeError: it was finalized.
        """
        if self.finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        self._trace.is_open = True
        with self._trace:
            yield self
            self._trace.finish([])

    def finalize(self):
        """Has nothing be added any more."""
        self.finalized = True

    def get_tensor_by_name(self, name):
        """What is known of the tensor of a name such as `"add:0"`.

        Raises:
            ValueError: it is not a name of that form.
            KeyError: there is no such tensor.
        """
        operation, separator, index = name.rpartition(":")
        if not separator or not index.isdigit():
            raise ValueError(
                f"The name {name!r} looks like an Operation name, and not a Tensor name: those are "
                "of the form '<op_name>:<output_index>'."
            )
        node = self.get_operation_by_name(operation)
        if int(index) >= len(node.outputs):
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                f"{operation!r}, exists but only has {len(node.outputs)} outputs."
            )
        value = node.outputs[int(index)]
        return GraphTensor(operation, as_shape(value.shape), of_numpy(value.dtype), node)
