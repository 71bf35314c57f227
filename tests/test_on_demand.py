"""Most files are imported when one of their names is first asked for."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import gradtape
from gradtape import on_demand

SOURCE = Path(gradtape.__file__).resolve().parent
TOPICS = {name: namespaces.split() for name, (_, namespaces) in on_demand._TOPICS.items()}
NAMESPACES = sorted({path for paths in TOPICS.values() for path in paths})


def in_new_process(code):
    """What a program, which starts with gradtape just imported, shows as JSON."""
    program = f"import gradtape as tf, sys, json\n{code}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def first_name_in(namespace):
    names = (SOURCE.parents[1] / "tests/data/public_names.txt").read_text().split()
    return next(name for name in names if name.startswith(f"{namespace}."))


def test_importing_gradtape_leaves_most_files_alone():
    loaded = in_new_process("print(json.dumps(sorted(sys.modules)))")
    names = {name for files, _ in on_demand._TOPICS.values() for name in files.split()}
    # The diagonal of a matrix is part of einsum.
    assert {name for name in names if f"gradtape.{name}" in loaded} == {"ops.diagonals"}


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_the_first_name_of_a_namespace_is_found(namespace):
    name = first_name_in(namespace)
    found = in_new_process(f"print(json.dumps(tf.{name} is not None))")
    assert found


@pytest.mark.parametrize(
    "name", ["SparseTensor", "RaggedTensor", "while_loop", "unique", "make_ndarray", "device"]
)
def test_names_at_the_top_are_found_wherever_they_are(name):
    assert in_new_process(f"print(json.dumps(tf.{name}.__name__))") == name


@pytest.mark.parametrize(
    "before", ["pass", "tf.strings.split(['a b'])", "tf.while_loop", "tf.nn.embedding_lookup"]
)
def test_classes_have_all_their_methods_whatever_was_loaded_before(before):
    code = (
        f"{before}\n"
        "ragged = tf.RaggedTensor.from_tensor([[1, 0]], padding=0).to_list()\n"
        "sparse = tf.SparseTensor([[0, 1]], [2.0], [1, 2]) * 3.0\n"
        "print(json.dumps([ragged, sparse.values.numpy().tolist()]))"
    )
    assert in_new_process(code) == [[[1]], [6.0]]


def test_what_functions_return_has_all_its_methods():
    code = "print(json.dumps(tf.strings.length(tf.strings.split(['a bc']).to_tensor())[0].numpy()."
    assert in_new_process(code + "tolist()))") == [1, 2]


def test_sums_of_ragged_rows_find_what_they_need():
    code = "print(json.dumps(tf.reduce_max(tf.ragged.constant([[1, 3], [2]]), 1).numpy().tolist()))"
    assert in_new_process(code) == [3, 2]


def test_namespaces_can_be_imported():
    code = "from gradtape.io import gfile\nimport gradtape.signal as s\n"
    assert in_new_process(code + "print(json.dumps([gfile.exists.__name__, s.fft.__name__]))") == [
        "exists", "fft",
    ]  # fmt: skip


def test_dir_shows_everything():
    code = "print(json.dumps([dir(tf), dir(tf.signal)]))"
    at_top, in_signal = in_new_process(code)
    assert {"RaggedTensor", "unique", "GradientTape"} <= set(at_top)
    assert {"fft", "stft"} <= set(in_signal)


def test_an_unknown_name_is_an_attribute_error():
    assert in_new_process("print(json.dumps([hasattr(tf, 'foo'), hasattr(tf.nn, 'foo')]))") == [
        False, False,
    ]  # fmt: skip


def test_ops_that_are_not_loaded_have_gradients_already():
    code = (
        "try: tf.RegisterGradient('Conv2D')(lambda op, g: g)\n"
        "except KeyError as error: print(json.dumps(str(error)))"
    )
    assert "Registering two gradient with name 'Conv2D'!" in in_new_process(code)


def test_threads_that_ask_at_once_all_get_the_name():
    code = (
        "import threading\nfound = []\nstart = threading.Barrier(8)\n"
        "def ask():\n    start.wait()\n    found.append(tf.signal.stft.__name__)\n"
        "threads = [threading.Thread(target=ask) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "print(json.dumps(found))"
    )
    assert in_new_process(code) == ["stft"] * 8


def test_no_file_of_ops_is_forgotten():
    on_demand.load_everything()
    files = {path.stem for path in (SOURCE / "ops").glob("*.py")} - {"__init__"}
    assert {name for name in files if f"gradtape.ops.{name}" not in sys.modules} == set()
