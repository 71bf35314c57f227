"""Rows of a tensor that stands for all elements of a TensorArray inside the body of a loop.

Writing a row gives a new tensor. In the program of a loop's body, where nobody looks at the tensor
before, it is written into the same memory: a loop that fills an array takes the time of its rows.
"""

import contextlib
import copy
from typing import Any

import numpy as np

from ..batching import batch_level
from ..core.active import thread
from ..core.dispatch import apply, make_call
from ..core.errors import OutOfRangeError
from ..core.op import NON_DIFFERENTIABLE, Op, Spec
from ..ops.broadcasting import reshape
from ..ops.creation import zeros_like
from ..ops.indexing import gather_row
from ..ops.tensor_scatter import tensor_scatter_nd_update
from .structured import BodyTrace, rows_of_all

_MESSAGES = {
    "read": "Tried to read from index {} but array size is: {} ",
    "write": "Tried to write to index {} but array is not resizeable and size is: {} ",
}


def _check(index, *, size, verb):
    """The index itself, if there is such an element."""
    for each in np.ravel(index).tolist() if index.ndim else (int(index),):
        if each < 0:
            what = "Reading from" if verb == "read" else "Writing to"
            message = f"{what} negative indices (index {each}) is not allowed."
            raise OutOfRangeError(None, None, message)
        if each >= size:
            raise OutOfRangeError(None, None, _MESSAGES[verb].format(each, size))
    return index


def _infer_check(index, *, size, verb):
    return Spec(index.shape, index.dtype)


def _batch_check(op, values, flags, attrs):
    return apply(op, tuple(values), attrs)


def _set(whole, index, row):
    return _set_in_place(whole.copy(), index, row)


def _set_in_place(whole, index, row):
    i = _check(index, size=whole.shape[0], verb="write")
    whole[int(i)] = row[()] if row.dtype == object and not row.shape else row
    return whole


def _infer_set(whole, index, row):
    return Spec(whole.shape, whole.dtype)


def _gradients_of_set(g, index, row_shape, row_dtype):
    # The row first: what follows may take the place of `g`.
    of_row = gather_row(g, index, axis=0, batch_dims=0)
    return set_row(g, index, np.zeros(row_shape, row_dtype)[()]), None, of_row


def _tangent_of_set(op, tangents, inputs, out, attrs):
    whole, index, row = inputs
    of_whole = zeros_like(whole) if tangents[0] is None else tangents[0]
    return set_row(of_whole, index, zeros_like(row) if tangents[2] is None else tangents[2])


def _batch_of_set(op, values, flags, attrs):
    count = next(x._value.shape[0] for x, flag in zip(values, flags, strict=True) if flag)
    with batch_level() as level:
        whole, index, row = [
            level.wrap(x) if flag else x for x, flag in zip(values, flags, strict=True)
        ]
        rows = reshape(row, shape=(1, *row._value.shape))
        out = tensor_scatter_nd_update(whole, reshape(index, shape=(1, 1)), rows)
    return rows_of_all(level, out, count)


# Not in the table of ops: they are parts of TensorArray, and exist in bodies alone.
_checked = Op(
    "TensorListIndex", ("index",), _check, _infer_check, batch=_batch_check,
    state=NON_DIFFERENTIABLE,
)  # fmt: skip
_checked.call = make_call(_checked)
_set_op = Op(
    "TensorListSetItem", ("whole", "index", "row"), _set, _infer_set, vjp=_gradients_of_set,
    jvp=_tangent_of_set, batch=_batch_of_set, holomorphic=False,
)  # fmt: skip
set_row: Any = make_call(_set_op)
_set_op.call = set_row
_set_in_place_op = Op(
    "TensorListSetItem", ("whole", "index", "row"), _set_in_place, _infer_set
)  # fmt: skip


def read_row(whole, index):
    """The row at a position, or the rows at several.

    Raises:
        OutOfRangeError: there is no such row.
    """
    index = apply(_checked, (index,), {"size": whole._value.shape[0], "verb": "read"})
    return apply(gather_row.op, (whole, index), {"axis": 0, "batch_dims": 0})


def write_row(whole, index, row):
    """`whole` with another row at a position.

    Raises:
        OutOfRangeError: there is no such row.
    """
    return apply(_set_op, (whole, index, row))


# Programs -----------------------------------------------------------------------------------------


def written_in_place(graph, pairs):
    """A graph in which rows are written into memory that an input brings, where that is safe.

    Args:
        graph: the graph.
        pairs: positions of inputs, and of the outputs that take their places in the next turn.

    Returns:
        The graph, and those positions of inputs whose memory it changes.
    """
    chains = {i: _chain(graph, graph.inputs[i], graph.outputs[k]) for i, k in pairs}
    writers = {id(node) for chain in chains.values() for node in chain}
    if not writers:
        return graph, set()
    new, nodes = {}, []
    for node in graph.nodes:
        twin = copy.copy(node)
        twin.inputs = tuple([new.get(id(value), value) for value in node.inputs])
        twin.outputs = tuple([copy.copy(value) for value in node.outputs])
        if id(node) in writers:
            twin.op = _set_in_place_op
            twin.outputs[0].fresh = False
        for old, value in zip(node.outputs, twin.outputs, strict=True):
            value.node = twin
            new[id(old)] = value
        nodes.append(twin)
    outputs = [new.get(id(value), value) for value in graph.outputs]
    return graph.like(nodes, outputs), {i for i, chain in chains.items() if chain}


def _chain(graph, value, end):
    """The nodes that write rows from `value` to `end`, if nobody else looks at what they replace.

    Rows are read before others are written, and what is read is a copy.
    """
    chain = []
    while value is not end:
        users = [node for node in graph.nodes if any([x is value for x in node.inputs])]
        if not users or any([x is value for x in graph.outputs]):
            return []
        *readers, writer = users
        if writer.op is not _set_op or any([x is value for x in writer.inputs[1:]]):
            return []
        if not all([node.op is gather_row.op and node.inputs[1] is not value for node in readers]):
            return []
        chain.append(writer)
        (value,) = writer.outputs
    uses = [x for node in graph.nodes for x in node.inputs if x is end]
    return chain if not uses and sum([x is end for x in graph.outputs]) == 1 else []


# Traces -------------------------------------------------------------------------------------------


def in_body():
    """Whether the body of a structured op is being traced."""
    return isinstance(thread.trace, BodyTrace)


@contextlib.contextmanager
def outside_of_bodies(home):
    """A context that adds to the trace `home`, or the innermost that is not a body's."""
    inside = thread.trace, thread.recorders
    try:
        while thread.trace is not home and in_body():
            thread.trace, thread.recorders = thread.trace.outside
        yield
    finally:
        thread.trace, thread.recorders = inside
