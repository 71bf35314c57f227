"""Small graphs for tests: traced from a function, before any pass."""

import numpy as np

from gradtape.graph.trace import Trace


def traced(function, *arrays):
    """The graph of a function from tensors to a tensor or several, traced on these arrays."""
    with Trace(getattr(function, "__name__", "graph")) as trace:
        inputs = [trace.input(np.asarray(a)[()], f"x{i}") for i, a in enumerate(arrays)]
        result = function(*inputs)
        outputs = list(result) if isinstance(result, (list, tuple)) else [result]
        return trace.finish(outputs).verify()


def types(graph):
    """The op types of a graph's nodes, in order."""
    return [node.type for node in graph.nodes]
