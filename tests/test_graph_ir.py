"""Graphs: how they are traced, printed, listed and checked."""

from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from gradtape.graph.ir import Graph, GraphError
from graphs import traced, types

X = np.array([1.0, 2.0], np.float32)


def test_only_what_depends_on_inputs_becomes_part_of_a_graph():
    graph = traced(lambda x: x * tf.exp(tf.constant(2.0)), X)
    assert types(graph) == ["Mul"]
    assert graph.nodes[0].inputs[1].constant == np.exp(np.float32(2.0))


def test_the_text_of_a_graph():
    scale = tf.Variable(3.0, name="scale")

    def scaled(x):
        y = tf.reduce_sum(x * scale)
        scale.assign_add(y)
        return y if y > 0 else -y

    lines = traced(scaled, X).as_text().splitlines()
    lines = [line.partition("  #")[0] for line in lines]
    assert lines == [
        "graph scaled(%x0: float32[2]) {",
        "  %ReadVariableOp: float32[] = ReadVariableOp(variable=scale:0)",
        "  %mul: float32[2] = Mul(%x0, %ReadVariableOp)",
        "  %Sum: float32[] = Sum(%mul, axis=(0,), keepdims=False)",
        "  %add: float32[] = AddV2(%ReadVariableOp, %Sum)",
        "  %Greater: bool[] = Greater(%Sum, 0.0)",
        "  Guard(%Greater, how='truth', outcome=True)",
        "  scale:0 <- %add",
        "  return %Sum",
        "}",
    ]


def test_nodes_know_the_line_they_come_from():
    graph = traced(lambda x: tf.tanh(x), X)
    file, _, line = graph.nodes[0].where.rpartition(":")
    assert file == __file__
    assert "tf.tanh(x), X)" in Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1]


def test_gradients_come_from_the_line_that_asks_for_them():
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x)
        return tape.gradient(y, x)  # here

    graph = traced(slope, X)
    line = int(graph.nodes[-1].where.rpartition(":")[2])
    assert Path(__file__).read_text(encoding="utf-8").splitlines()[line - 1].endswith("# here")


def test_operations_have_unique_names_and_can_be_found():
    graph = traced(lambda x: (x + 1.0) + (x + 2.0), X)
    assert [node.name for node in graph.operations] == ["add", "add_1", "add_2"]
    assert graph.get_operation_by_name("add_1") is graph.operations[1]
    with pytest.raises(KeyError, match="'sub'"):
        graph.get_operation_by_name("sub")


def test_the_listing_of_a_graph():
    listed = traced(lambda x: tf.reduce_sum(x * 2.0), X).as_graph_def()["node"]
    assert [(node["name"], node["op"], node["input"]) for node in listed] == [
        ("x0", "Placeholder", []),
        ("mul", "Mul", ["%x0", "2.0"]),
        ("Sum", "Sum", ["%mul"]),
    ]
    assert listed[0]["attr"] == {"dtype": "float32", "shape": [2]}


def test_the_variables_of_a_graph_are_those_read_and_written():
    read, written = tf.Variable(1.0), tf.Variable(1.0)

    def both(x):
        written.assign(tf.reduce_sum(x))
        return x + read

    graph = traced(both, X)
    assert [v is w for v, w in zip(graph.variables, (read, written), strict=True)] == [True, True]
    assert written.numpy() == 1.0  # a trace by itself changes nothing


def _used_before_it_is_given(graph):
    graph.nodes.reverse()


def _named_twice(graph):
    graph.nodes[1].name = graph.nodes[0].name


def _of_unknown_kind(graph):
    graph.nodes[0].kind = "call"


def _without_op(graph):
    graph.nodes[0].op = None


def _returns_what_nobody_gives(graph):
    graph.outputs = [Graph().add_input((), np.dtype(np.float32))]


def _owned_by_another(graph):
    graph.nodes[0].outputs[0].node = graph.nodes[1]


def _with_a_list_for_a_shape(graph):
    graph.outputs[0].shape = [2]


@pytest.mark.parametrize(
    "spoil",
    [
        _used_before_it_is_given,
        _named_twice,
        _of_unknown_kind,
        _without_op,
        _returns_what_nobody_gives,
        _owned_by_another,
        _with_a_list_for_a_shape,
    ],
)
def test_verify_finds_what_is_wrong(spoil):
    graph = traced(lambda x: tf.exp(tf.sin(x)), X)
    spoil(graph)
    with pytest.raises(GraphError):
        graph.verify()


def test_a_value_given_twice_is_found():
    graph = traced(lambda x: tf.unstack(x), X)
    (node,) = graph.nodes
    node.outputs = (node.outputs[0], node.outputs[0])
    with pytest.raises(GraphError, match="given twice"):
        graph.verify()


def test_results_are_named_by_their_operation_and_place():
    names = []

    def parts(x):
        names.extend([each.name for each in (x, *tf.unstack(x), tf.exp(x))])
        return x

    traced(parts, X)
    assert names == ["x0:0", "Unpack:0", "Unpack:1", "Exp:0"]
