"""Graphs in files: what comes back is what was saved, and bad files are refused."""

import io
import json
import zipfile

import ml_dtypes
import numpy as np
import pytest

import gradtape as tf
from gradtape.graph.interpret import run_stepwise
from gradtape.graph.saving import NotSavableError, load_graphs, loaded_function, save_graphs
from graphs import traced, types

X = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, -0.0]], np.float32)


def written(*graphs):
    file = io.BytesIO()
    save_graphs(list(graphs), file)
    return file


def test_a_graph_comes_back_as_it_was():
    def several(x):
        y = tf.reduce_sum(tf.cast(x, tf.float64)[::-1, ..., :2], axis=-1, keepdims=True)
        return (
            tf.nn.leaky_relu(y, alpha=0.3) * np.pi,
            tf.transpose(x),
            tf.concat([x, x], 1),
            tf.gather(x, [1, 0]),
        )

    graph = traced(several, X)
    (again,) = load_graphs(written(graph))
    assert again.as_text() == "\n".join(
        [line.partition("  #")[0] for line in graph.as_text().splitlines()]
    )
    for got, expected in zip(run_stepwise(again, [X]), run_stepwise(graph, [X]), strict=True):
        assert got.dtype == expected.dtype
        assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "constant",
    [
        np.array([1.5, -0.0], ml_dtypes.bfloat16),
        np.array([1 + 2j, -1j], np.complex64),
        np.array([True, False]),
        np.array([2**40, -1], np.int64),
        np.array([b"a\x00", "ä".encode()], object),
        np.float64("nan"),
    ],
    ids=str,
)
def test_constants_of_every_dtype_come_back(constant):
    graph = traced(lambda x: x, constant)
    graph.inputs, graph.outputs[0].constant = [], constant
    (again,) = load_graphs(written(graph))
    (value,) = again.outputs
    assert value.dtype == constant.dtype
    if constant.dtype == object:
        assert value.constant.tolist() == constant.tolist()
    else:
        assert np.asarray(value.constant).tobytes() == constant.tobytes()


def test_variables_come_back_with_their_values_and_are_no_longer_the_same():
    state = tf.Variable([1.0, 2.0, 3.0], name="state", trainable=False)

    def counted(x):
        state.assign_add(x[0])
        return state * 2.0

    graph = traced(counted, X)
    (again,) = load_graphs(written(graph))
    (variable,) = again.variables
    assert (variable.name, variable.trainable) == ("state:0", False)
    function = loaded_function([again])
    function(X)
    assert np.array_equal(variable.numpy(), [2.0, 0.0, 3.5])
    assert np.array_equal(state.numpy(), [1.0, 2.0, 3.0])


def test_a_loaded_function_has_gradients_of_every_order():
    weight = tf.Variable(2.0)
    (graph,) = load_graphs(written(traced(lambda x: tf.reduce_sum(weight**2 * x**3), X)))
    cubes = loaded_function([graph])
    (loaded,) = graph.variables
    x = tf.constant(X)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            (y,) = cubes(x)
        first = tape.gradient(y, x)
    assert np.allclose(first, 4 * 3 * X**2)
    assert np.allclose(outer.gradient(first, x), 4 * 6 * X)
    with tf.GradientTape() as tape:
        (y,) = cubes(x)
    assert np.allclose(tape.gradient(y, loaded), 2 * 2 * np.sum(X**3))


def test_all_ways_of_a_function_can_be_saved():
    def absolute(x):
        return x if tf.reduce_sum(x) > 0 else -x

    positive, negative = (
        traced(absolute, np.array([1, 2], np.float32)),
        traced(absolute, np.array([-1, 0], np.float32)),
    )
    function = loaded_function(load_graphs(written(positive, negative)))
    assert np.array_equal(function(np.array([3, 1], np.float32))[0], [3, 1])
    assert np.array_equal(function(np.array([-3, 1], np.float32))[0], [3, -1])
    only = loaded_function(load_graphs(written(positive)))
    assert np.array_equal(only(np.array([3, 1], np.float32))[0], [3, 1])
    with pytest.raises(tf.errors.FailedPreconditionError, match="absolute"):
        only(np.array([-3, 1], np.float32))


def test_other_arguments_than_it_was_traced_for_are_refused():
    function = loaded_function(load_graphs(written(traced(lambda x: x + 1.0, X))))
    with pytest.raises(ValueError, match=r"\('float32', \[2, 3\]\).*\('float32', \[2\]\)"):
        function(np.array([1, 2], np.float32))
    with pytest.raises(ValueError, match="int32"):
        function(np.zeros((2, 3), np.int32))


def test_python_code_cannot_be_saved_and_nothing_is_written():
    def printed(x):
        tf.print(x)
        return x

    file = io.BytesIO()
    with pytest.raises(NotSavableError, match=r"test_graph_saving\.py"):
        save_graphs([traced(printed, X)], file)
    assert file.getvalue() == b""


def test_gradient_functions_of_the_user_are_left_out():
    @tf.custom_gradient
    def doubled(x):
        return x * 2.0, lambda g: g

    (graph,) = load_graphs(written(traced(doubled, X)))
    assert types(graph) == ["Mul"]


def test_a_file_holds_no_code():
    with zipfile.ZipFile(written(traced(lambda x: tf.sin(x) * X, X))) as archive:
        assert sorted(archive.namelist()) == ["arrays/0", "graphs.json"]
        contents = json.loads(archive.read("graphs.json"))
        assert (contents["format"], contents["version"]) == ("gradtape graph", 1)
        assert archive.read("arrays/0") == X.tobytes()


def changed(**entries):
    """A file in which entries of graphs.json are replaced."""
    with zipfile.ZipFile(written(traced(lambda x: tf.sin(x), X))) as archive:
        contents = json.loads(archive.read("graphs.json")) | entries
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("graphs.json", json.dumps(contents))
    return file


def test_other_files_are_refused():
    with pytest.raises(ValueError, match="version is 2, and this gradtape reads up to 1"):
        load_graphs(changed(version=2))
    with pytest.raises(ValueError, match="'something else'"):
        load_graphs(changed(format="something else"))
    with pytest.raises(ValueError, match="not a gradtape graph"):
        load_graphs(io.BytesIO(b"not a zip file"))
    graphs = [{"name": "f", "inputs": [], "outputs": [], "writes": [], "nodes": [
        {"kind": "apply", "op": "NoSuchOp", "name": "n", "inputs": [], "attrs": {}, "outputs": [],
         "rechecked": False},
    ]}]  # fmt: skip
    with pytest.raises(ValueError, match="NoSuchOp"):
        load_graphs(changed(graphs=graphs))
