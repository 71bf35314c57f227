"""Concrete functions, and default graphs: what they take, do and tell of themselves."""

import collections

import numpy as np
import pytest

import gradtape as tf
from function_programs import counted

Pair = collections.namedtuple("Pair", "a b")


# Concrete functions -------------------------------------------------------------------------------


@tf.function
def weighted(x, y=1, *, z=3):
    return x + y + z


def test_a_concrete_function_describes_itself():
    concrete = weighted.get_concrete_function(tf.TensorSpec([]), 2, z=tf.TensorSpec([]))
    assert concrete.structured_input_signature == (
        (tf.TensorSpec([], name="x"), 2),
        {"z": tf.TensorSpec([], name="z")},
    )
    assert [repr(each) for each in concrete.inputs] == [
        "<tf.Tensor 'x:0' shape=() dtype=float32>",
        "<tf.Tensor 'z:0' shape=() dtype=float32>",
    ]
    assert [each.dtype for each in concrete.outputs] == [tf.float32]
    assert concrete.structured_outputs.shape == []
    assert (concrete.output_shapes, concrete.output_dtypes) == ([], tf.float32)
    assert concrete.name.startswith(b"__inference_weighted_")
    assert concrete.variables == concrete.trainable_variables == ()
    assert concrete.captured_inputs == []
    assert [each.type for each in concrete.graph.operations] == ["AddV2", "AddV2"]
    assert concrete.graph.verify().as_text().startswith("graph weighted(%x: float32[], %z")
    definition = concrete.function_def
    assert [each["name"] for each in definition["signature"]["input_arg"]] == ["x", "z"]
    assert [each["op"] for each in definition["node_def"]] == ["AddV2", "AddV2"]
    expected = (
        "Input Parameters:\n"
        "  x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(), dtype=tf.float32, name=None)\n"
        "  y (POSITIONAL_OR_KEYWORD): Literal[2]\n"
        "  z (KEYWORD_ONLY): TensorSpec(shape=(), dtype=tf.float32, name=None)\n"
        "Output Type:\n"
        "  TensorSpec(shape=(), dtype=tf.float32, name=None)\n"
        "Captures:\n"
        "  None"
    )
    assert concrete.pretty_printed_signature() == expected
    assert str(concrete) == f"ConcreteFunction {expected}"
    assert repr(concrete).startswith(
        "<ConcreteFunction (x: TensorSpec(shape=(), dtype=tf.float32, name=None), y: Literal[2], "
        "*, z: TensorSpec(shape=(), dtype=tf.float32, name=None)) -> TensorSpec("
    )


def test_a_concrete_function_is_called_by_position_keyword_and_tensors_alone():
    concrete = weighted.get_concrete_function(tf.TensorSpec([]), 2, z=tf.TensorSpec([]))
    one, two = tf.constant(1.0), tf.constant(2.0)
    assert concrete(one, z=two).numpy() == 5.0
    assert concrete(one, 2, z=two).numpy() == 5.0
    assert concrete(one, two).numpy() == 5.0
    assert concrete(x=one, z=two).numpy() == 5.0
    assert concrete(tf.Variable(1.0), z=two).numpy() == 5.0
    assert concrete(tf.constant([1.0, 2.0]), z=two).numpy().tolist() == [5.0, 6.0]


def test_a_concrete_function_and_its_function_share_traces():
    f, runs = counted(lambda x: x + 1.0)
    f(tf.ones([2]))
    f.get_concrete_function(tf.ones([2]))
    f.get_concrete_function(tf.TensorSpec([2]))
    assert len(runs) == f.experimental_get_tracing_count() == 1
    concrete = f.get_concrete_function(tf.TensorSpec([None]))
    assert f.experimental_get_tracing_count() == 2
    assert f(tf.ones([5])).shape == [5]
    assert f.experimental_get_tracing_count() == 2
    assert concrete.structured_outputs.shape.as_list() == [None]


def test_a_concrete_function_of_structures_and_specs():
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(d, p, *rest, flag=True, **named):
        return {"r": v * 3.0 + d["a"]}, Pair(d["b"][0], None)

    concrete = f.get_concrete_function(
        {"a": tf.TensorSpec([None]), "b": [tf.TensorSpec([], tf.int32)]},
        Pair(tf.TensorSpec([2, None]), 1),
        tf.TensorSpec(None),
        extra=tf.TensorSpec([1], name="hello"),
    )
    args, kwargs = concrete.structured_input_signature
    assert args[0]["b"] == [tf.TensorSpec([], tf.int32, name="d_b_0")]
    assert args[1] == Pair(tf.TensorSpec([2, None], name="p_a"), 1)
    assert args[2] == tf.TensorSpec(None, name="rest_0")
    assert kwargs == {"flag": True, "extra": tf.TensorSpec([1], name="hello")}
    names = [each.name for each in concrete.inputs]
    assert names == ["d:0", "d_1:0", "p:0", "rest_0:0", "hello:0"]
    assert [each.name for each in concrete.variables] == ["Variable:0"]
    assert "  rest_0 (POSITIONAL_ONLY): TensorSpec(shape=<unknown>" in str(concrete)
    assert "tf.resource" in concrete.pretty_printed_signature()
    outputs = concrete.structured_outputs
    assert outputs[1].b is None
    arguments = {"a": tf.ones([2]), "b": [tf.constant(1)]}, Pair(tf.ones([2, 2]), 1), tf.ones([3])
    f(*arguments, extra=tf.ones([1]))
    assert f.experimental_get_tracing_count() == 1
    result, pair = concrete(*arguments, extra=tf.ones([1]))
    assert result["r"].numpy().tolist() == [4.0, 7.0]
    assert pair.a.numpy() == 1


def test_a_concrete_function_with_an_input_signature_needs_no_arguments():
    f = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([None], name="foo")])
    concrete = f.get_concrete_function()
    assert concrete.structured_input_signature == ((tf.TensorSpec([None], name="foo"),), {})
    assert concrete.inputs[0].name == "foo:0"
    for value in ([1, 2], np.ones(2), tf.ones([2])):
        assert concrete(value).dtype == tf.float32
    same = f.get_concrete_function(tf.TensorSpec([5]))
    assert same.structured_input_signature == concrete.structured_input_signature


def test_composites_in_concrete_functions():
    f = tf.function(lambda r: r + 1.0)
    concrete = f.get_concrete_function(tf.RaggedTensorSpec([None, None]))
    assert [repr(each) for each in concrete.inputs] == [
        "<tf.Tensor 'r:0' shape=(None,) dtype=float32>",
        "<tf.Tensor 'r_1:0' shape=(None,) dtype=int64>",
    ]
    result = concrete(tf.ragged.constant([[1.0], [2.0, 3.0]]))
    assert result.to_list() == [[2.0], [3.0, 4.0]]
    assert isinstance(concrete.structured_outputs, tf.RaggedTensorSpec)


def test_getting_a_concrete_function_does_nothing_but_trace(capfd):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign_add(x)
        return v + x

    @tf.function
    def printing(x):
        tf.print("printed", x)
        return x + 1.0

    assert f.get_concrete_function(tf.TensorSpec([])).variables == (v,)
    assert v.numpy() == 1.0
    concrete = printing.get_concrete_function(tf.TensorSpec([]))
    captured = capfd.readouterr()
    assert "printed" not in captured.out + captured.err
    with pytest.raises(ValueError, match="Call it first"):
        _ = concrete.graph
    assert concrete(tf.constant(1.0)).numpy() == 2.0
    captured = capfd.readouterr()
    assert (captured.out + captured.err).count("printed") == 1
    assert len(concrete.graph.operations) == 2


def test_what_fails_on_examples_is_left_to_the_first_call():
    f = tf.function(lambda x: tf.matmul(x, tf.ones([5, 1])))
    concrete = f.get_concrete_function(tf.TensorSpec([None, None]))
    assert concrete(tf.ones([2, 5])).numpy().tolist() == [[5.0], [5.0]]


def test_pretty_printed_concrete_signatures():
    f = tf.function(lambda x, y=2: (x, None))
    f(tf.ones([2]))
    f([1.0], y="a")
    assert f.pretty_printed_concrete_signatures() == (
        "Input Parameters:\n"
        "  x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(2,), dtype=tf.float32, name=None)\n"
        "  y (POSITIONAL_OR_KEYWORD): Literal[2]\n"
        "Output Type:\n"
        "  Tuple[TensorSpec(shape=(2,), dtype=tf.float32, name=None), Literal[None]]\n"
        "Captures:\n"
        "  None\n"
        "\n"
        "Input Parameters:\n"
        "  x (POSITIONAL_OR_KEYWORD): List[Literal[1.0]]\n"
        "  y (POSITIONAL_OR_KEYWORD): Literal['a']\n"
        "Output Type:\n"
        "  Tuple[List[TensorSpec(shape=(), dtype=tf.float32, name=None)], Literal[None]]\n"
        "Captures:\n"
        "  None"
    )


def test_getting_a_concrete_function_draws_no_random_numbers():
    f = tf.function(lambda x: x + tf.random.normal([2]))
    tf.random.set_seed(1)
    expected = [(1.0 + tf.random.normal([2])).numpy().tolist() for _ in range(2)]
    tf.random.set_seed(1)
    concrete = f.get_concrete_function(tf.TensorSpec([]))
    assert len(concrete.graph.operations) >= 2
    assert [concrete(tf.constant(1.0)).numpy().tolist() for _ in range(2)] == expected


# tf.Graph -----------------------------------------------------------------------------------------


def test_a_default_graph_lists_what_is_done():
    graph, v = tf.Graph(), tf.Variable(3.0)
    with graph.as_default() as default:
        assert default is graph
        assert not tf.executing_eagerly()
        a = tf.constant(1.0) * 2.0
        v.assign(a + v)
        assert a.graph is graph
    assert v.numpy() == 3.0
    assert [node.name for node in graph.get_operations()] == [
        "Const",
        "mul",
        "ReadVariableOp",
        "add",
    ]
    assert graph.get_operation_by_name("mul").type == "Mul"
    assert repr(graph.get_tensor_by_name("mul:0")) == "<tf.Tensor 'mul:0' shape=() dtype=float32>"
    assert graph.as_graph_def()["node"][1]["op"] == "Mul"
    assert "Variable:0 <- %add" in graph.verify().as_text()
    with graph.as_default():
        assert (a - 1.0).name == "sub:0"
    assert (tf.constant(1.0) * 2.0).numpy() == 2.0


def test_what_a_default_graph_refuses():
    graph = tf.Graph()
    with graph.as_default():
        a = tf.constant(1.0) * 2.0
        with pytest.raises(RuntimeError, match="no sessions"):
            tf.print(a)
    with pytest.raises(TypeError, match="out of scope"):
        _ = a + 1.0
    with pytest.raises(KeyError, match="'zz' refers to an Operation not in the graph"):
        graph.get_operation_by_name("zz")
    with pytest.raises(KeyError, match="only has 1 outputs"):
        graph.get_tensor_by_name("mul:3")
    with pytest.raises(ValueError, match="looks like an Operation name"):
        graph.get_tensor_by_name("mul")
    graph.finalize()
    with pytest.raises(RuntimeError, match="finalized"), graph.as_default():
        pass
