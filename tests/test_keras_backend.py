"""Keras's backend: it has what Keras asks for, and says what it cannot do."""

import ast
import importlib
import operator
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as tf

keras: Any = tf.keras

ROOT = Path(__file__).resolve().parent.parent
OWN = ROOT / "src" / "gradtape" / "keras_backend"
KERAS = Path(str(keras.__file__)).parent / "src"
BACKENDS = {"jax", "numpy", "openvino", "tensorflow", "torch"}
RNG = np.random.default_rng(0)

backend = importlib.import_module("keras.src.backend")
linalg = backend.linalg

# What Keras refers to that need not be here.
MISSING = {
    "concatenate": "no backend has it; it is for merging tensors of unknown rank",
    "get_uid": "no backend has it; it is for blocks without names, and all have names",
    "tensorflow": "the backend on TensorFlow, for layers that need that package on every backend",
}


# What Keras asks for ------------------------------------------------------------------------------


def sources():
    """The modules of Keras that are neither tests nor part of a backend, parsed."""
    for path in sorted(KERAS.rglob("*.py")):
        parts = path.relative_to(KERAS).parts
        if path.name.endswith("_test.py") or (parts[0] == "backend" and parts[1] in BACKENDS):
            continue
        yield ast.parse(path.read_text(encoding="utf-8"))


def dotted(node):
    """`backend.nn.relu` as a list of names; None for what is not made of names."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else None


def asked_for():
    """Names below `keras.src.backend` that Keras uses, and what it imports from this backend."""
    used, imported = set(), set()
    for module in sources():
        for node in ast.walk(module):
            if isinstance(node, ast.Attribute):
                names = dotted(node)
                if names and names[0] == "backend":
                    used.add(".".join(names[1:3]))
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = {alias.name for alias in node.names} - {"*"}
                if node.module == "keras.src.backend":
                    used |= names
                elif node.module.startswith("keras.src.backend.numpy"):
                    imported |= {(node.module, name) for name in names}
    return used, imported


def has(name):
    try:
        operator.attrgetter(name)(backend)
    except AttributeError:
        return False
    return True


def test_every_name_that_keras_asks_for_exists():
    used, imported = asked_for()
    assert len(used) > 350  # that they are found at all
    assert "math._get_complex_tensor_from_tuple" in used
    assert {name for name in used if not has(name)} == set(MISSING)
    assert ("keras.src.backend.numpy.export", "NumpyExportArchive") in imported
    for module, name in imported:
        assert hasattr(importlib.import_module(module), name), (module, name)


# What is not supported ----------------------------------------------------------------------------


def raising_functions():
    """The functions of the backend that raise NotImplementedError, by their names in Keras."""
    found = set()

    def visit(node, names):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names = [*names, node.name.removeprefix("Numpy")]
        elif isinstance(node, ast.Raise) and "NotImplementedError" in ast.unparse(node):
            found.add(".".join(names))
        for child in ast.iter_child_nodes(node):
            visit(child, names)

    for path in OWN.glob("*.py"):
        visit(ast.parse(path.read_text(encoding="utf-8")), [])
    return found


def archive():
    return keras.export.ExportArchive()


def recurrent(function):
    x, mask = tf.zeros([1, 2, 4]), tf.constant([[True, False]])
    arguments = dict.fromkeys(
        ("kernel", "recurrent_kernel", "bias", "activation", "recurrent_activation"), x
    )
    if function is backend.lstm:
        return function(x, x, x, mask, **arguments)
    return function(x, x, mask, **arguments)


CALLS = {
    "ExportArchive.track": lambda: archive().track(None),
    "ExportArchive.add_endpoint": lambda: archive().add_endpoint("serve", len),
    "ExportArchive.track_and_add_endpoint": lambda: archive().track_and_add_endpoint(
        "serve", None, []
    ),
    "ExportArchive.add_variable_collection": lambda: archive().add_variable_collection("v", []),
    "ExportArchive.write_out": lambda: archive().write_out("model"),
    "lstm": lambda: recurrent(backend.lstm),
    "gru": lambda: recurrent(backend.gru),
    "bidirectional_lstm": lambda: backend.bidirectional_lstm(),
    "bidirectional_gru": lambda: backend.bidirectional_gru(),
}


def test_what_raises_is_what_the_page_lists():
    page = (ROOT / "docs" / "keras.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([\w.]+)` \| .+ \|$", page, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == raising_functions() == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_the_error_names_the_function_and_an_alternative(name):
    with pytest.raises(NotImplementedError) as raised:
        CALLS[name]()
    message = str(raised.value)
    assert name in message
    assert re.search(r"\buse \w+|[Ss]ave the model", message), message


def test_exporting_a_model_says_how_to():
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    with pytest.raises(NotImplementedError, match=r"model.save\('model.keras'\)"):
        model.export("exported")


# Functions ----------------------------------------------------------------------------------------


def test_polar():
    found = keras.ops.polar(tf.constant([1.0, 2.0]), tf.constant([0.0, 1.0]))
    np.testing.assert_allclose(found.numpy(), [1, 2 * np.exp(1j)], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize(
    "mode",
    ["edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap"],
)
def test_pad_as_numpy_does(mode, dtype):
    x = (RNG.normal(size=(3, 4)) * 10).astype(dtype)
    widths = ((2, 1), (0, 3))
    found = backend.numpy.pad(x, widths, mode=mode)
    assert found.dtype == dtype
    np.testing.assert_allclose(found.numpy(), np.pad(x, widths, mode=mode), rtol=1e-6)


def test_pad_with_other_modes():
    x = tf.constant([[1.0, 2.0]])
    assert backend.numpy.pad(x, 1, mode="circular").numpy()[1].tolist() == [2, 1, 2, 1]
    with pytest.raises(ValueError, match=r"Expected one of .*'median'.*Received: mode=mode"):
        backend.numpy.pad(x, 1, mode="mode")


def attention(q, k, v, cap):
    """Attention of one head, in NumPy."""
    logits = np.einsum("bth,bsh->bts", q, k) / np.sqrt(q.shape[-1])
    weights = np.exp(cap * np.tanh(logits / cap))
    return np.einsum("bts,bsh->bth", weights / weights.sum(-1, keepdims=True), v)


@pytest.mark.parametrize("flash", [None, True, False])
def test_attention_with_a_soft_cap(flash):
    q, k, v = 3 * RNG.normal(size=(3, 2, 4, 1, 8))
    found = backend.nn.dot_product_attention(
        q, k, v, flash_attention=flash, attn_logits_soft_cap=1.5
    )
    expected = attention(q[:, :, 0], k[:, :, 0], v[:, :, 0], 1.5)
    np.testing.assert_allclose(found.numpy()[:, :, 0], expected, rtol=1e-6)


def test_moments_of_the_only_replica():
    x = RNG.normal(size=(5, 3)).astype("float32")
    mean, variance = backend.nn.moments(x, [0], synchronized=True)
    np.testing.assert_allclose(mean.numpy(), x.mean(0), rtol=1e-5)
    np.testing.assert_allclose(variance.numpy(), x.var(0), rtol=1e-5)


@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (4, 4)])
@pytest.mark.parametrize("columns", [(), (2,)])
def test_least_squares(shape, columns):
    a, b = RNG.normal(size=shape), RNG.normal(size=(shape[0], *columns))
    a[:, -1] = a[:, 0]  # of the many solutions, the shortest
    found = linalg.lstsq(a, b)
    np.testing.assert_allclose(found.numpy(), np.linalg.lstsq(a, b, rcond=None)[0], atol=1e-10)


@pytest.mark.parametrize("many", [(), (2,)])
def test_homographies_send_ends_to_starts(many):
    ends = np.array([[0.0, 0.0], [0.0, 9.0], [9.0, 0.0], [9.0, 9.0]])
    ends = ends + RNG.uniform(-1, 1, size=(*many, 4, 2))
    starts = ends + RNG.uniform(-1, 1, size=ends.shape)
    numbers = backend.image.compute_homography_matrix(starts, ends).numpy()
    assert numbers.shape == (*many, 8)
    matrix = np.concatenate([numbers, np.ones((*many, 1))], -1).reshape(*many, 3, 3)
    sent = np.concatenate([ends, np.ones((*many, 4, 1))], -1) @ np.swapaxes(matrix, -1, -2)
    np.testing.assert_allclose(sent[..., :2] / sent[..., 2:], starts, atol=1e-6)


@pytest.mark.parametrize("method", ["linear", "cubic", "lanczos3", "lanczos5"])
def test_scale_and_translate_keeps_what_it_does_not_move(method):
    image = RNG.uniform(size=(5, 6, 2)).astype("float32")
    found = backend.image.scale_and_translate(
        image, (5, 6, 2), np.ones(2, "float32"), np.zeros(2, "float32"), (0, 1), method
    )
    np.testing.assert_allclose(found.numpy(), image, atol=1e-5)
    moved = backend.image.scale_and_translate(
        image, (5, 6, 2), np.ones(2, "float32"), np.array([0, 2], "float32"), (0, 1), method
    )
    np.testing.assert_allclose(moved.numpy()[:, 2:], image[:, :-2], atol=1e-5)
    assert not moved.numpy()[:, :2].any()


@pytest.mark.parametrize(
    ("method", "named"), [("linear", "bilinear"), ("cubic", "bicubic"), ("lanczos3", "lanczos3")]
)
@pytest.mark.parametrize("factor", [2, 0.5])
def test_scale_and_translate_resizes(method, named, factor):
    image = RNG.uniform(size=(8, 6, 2)).astype("float32")
    size = int(8 * factor), int(6 * factor)
    found = backend.image.scale_and_translate(
        image, (*size, 2), np.full(2, factor, "float32"), np.zeros(2, "float32"), (0, 1), method
    )
    expected = tf.image.resize(image, size, named, antialias=True)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_sparsemax_along_any_axis(axis):
    x = RNG.normal(size=(3, 4)).astype("float32")
    along_last = backend.nn.sparsemax(np.moveaxis(x, axis, -1)).numpy()
    found = backend.nn.sparsemax(x, axis).numpy()
    np.testing.assert_allclose(np.moveaxis(found, axis, -1), along_last, rtol=1e-6)
    one_stays = backend.nn.sparsemax(tf.constant([5.0, 1.0, -2.0])).numpy()
    assert one_stays.tolist() == [1, 0, 0]


def test_the_gradient_of_a_distance_of_zero():
    x = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        y = backend.math.cdist(x, tf.constant([[1.0, 2.0], [4.0, 6.0]]))
    assert y.numpy().tolist() == [[0, 5]]
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [[-0.6, -0.8]], rtol=1e-6)


# Dtypes -------------------------------------------------------------------------------------------


def test_doubles_stay_doubles():
    double, single = tf.constant([1.0], "float64"), tf.constant([1.0])
    assert keras.ops.add(double, single).dtype == "float64"
    assert keras.ops.concatenate([single, double]).dtype == "float64"
    assert keras.backend.result_type("float64", "int64") == "float64"
    symbol = keras.KerasTensor((2,), "float64")
    assert keras.ops.multiply(symbol, symbol).dtype == "float64"
    assert keras.ops.add(tf.constant([1], "int64"), tf.constant([1])).dtype == "int32"


@pytest.mark.parametrize(
    "layer",
    [
        lambda: keras.layers.Dense(2, dtype="float64"),
        lambda: keras.layers.LSTM(2, dtype="float64"),
        lambda: keras.layers.BatchNormalization(dtype="float64"),
        lambda: keras.layers.Conv1D(2, 2, dtype="float64"),
    ],
)
def test_layers_of_doubles_have_the_digits_of_doubles(layer):
    x = tf.constant(RNG.normal(size=(2, 5, 3)))
    layer = layer()
    found = layer(x, training=True) if "batch" in layer.name else layer(x)
    assert found.dtype == "float64"
    assert all(weight.dtype == "float64" for weight in layer.weights)
    rounded = tf.cast(tf.cast(found, "float32"), "float64")
    assert np.any(rounded.numpy() != found.numpy())


def test_a_dense_layer_trains_in_float8():
    x = RNG.normal(size=(64, 8)).astype("float32")
    y = x @ RNG.normal(size=(8, 1)).astype("float32")
    layer = keras.layers.Dense(1)
    layer.build((None, 8))
    layer.quantize("float8")
    optimizer = keras.optimizers.Adam(0.05)
    losses = []
    for _ in range(150):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(layer(x, training=True) - y))
        variables = layer.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        losses.append(float(loss))
    assert losses[-1] < 0.02 * losses[0]
    # The scales of numbers in 8 bits were learnt from what passed through.
    assert float(layer.inputs_scale.value) == pytest.approx(np.abs(x).max() / 448, rel=1e-6)
