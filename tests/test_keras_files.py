"""Files that Keras saves on gradtape and on other backends are the same, and are read both ways.

tests/keras_answers/ holds a .zip for each other backend: a model that it saved, and what followed.
That they read what gradtape saves is checked when those are recorded, where all are installed; here
it is checked that gradtape's files are made as theirs are.
"""

import json
import zipfile
from io import BytesIO
from typing import Any

import h5py
import numpy as np
import pytest

import gradtape as tf
import gradtape.keras  # pyright: ignore[reportMissingImports]
import keras_models as models

BACKENDS = ("jax", "tensorflow", "torch")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """For each other backend the folder of what it saved."""
    found = {}
    for backend in BACKENDS:
        found[backend] = tmp_path_factory.mktemp(backend)
        with zipfile.ZipFile(models.ANSWERS / f"{backend}.zip") as kept:
            kept.extractall(found[backend])
    return found


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder of what gradtape saves, and what follows."""
    folder = tmp_path_factory.mktemp("gradtape")
    return folder, models.save_model(folder)


def assert_the_same_follows(model, answers):
    assert int(model.optimizer.iterations) == answers["iterations"] - 1
    found = models.what_follows(model)
    assert found.keys() == set(answers)
    for name, value in found.items():
        np.testing.assert_allclose(value, answers[name], rtol=0, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("file", models.FILES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_files_of_other_backends_predict_and_train_on(folders, backend, file):
    with np.load(folders[backend] / "answers.npz") as answers:
        assert_the_same_follows(models.load_model(folders[backend], file), answers)


@pytest.mark.parametrize("file", models.FILES)
def test_files_of_gradtape_predict_and_train_on(saved, file):
    folder, answers = saved
    assert_the_same_follows(models.load_model(folder, file), answers)


def parts_of(file):
    """Names of all groups and arrays in an HDF5 file, with their attributes, shapes and dtypes."""
    found = {}

    def add(name, part):
        kind = (part.shape, part.dtype.str) if isinstance(part, h5py.Dataset) else "group"
        found[name] = kind, {key: np.asarray(value).tolist() for key, value in part.attrs.items()}

    with h5py.File(file) as parts:
        add("/", parts)
        parts.visititems(add)
    return found


def with_numbered_objects(configuration, numbers=None):
    """A configuration in which objects that are shared have numbers for addresses in memory."""
    numbers = {} if numbers is None else numbers
    if isinstance(configuration, list):
        return [with_numbered_objects(item, numbers) for item in configuration]
    if not isinstance(configuration, dict):
        return configuration
    found = {key: with_numbered_objects(item, numbers) for key, item in configuration.items()}
    if "shared_object_id" in found:
        found["shared_object_id"] = numbers.setdefault(found["shared_object_id"], len(numbers))
    return found


def parts_of_archive(path):
    """What a .keras file holds: its members, its configuration, its metadata, its HDF5 parts."""
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: info.compress_type for info in archive.infolist()}
        configuration = with_numbered_objects(json.loads(archive.read("config.json")))
        metadata = json.loads(archive.read("metadata.json"))
        weights = parts_of(BytesIO(archive.read("model.weights.h5")))
    return members, configuration, metadata, weights


def expected_parts(parts, backend):
    """Parts of another backend as gradtape has them: TensorFlow counts steps in int64."""
    if backend == "tensorflow":
        assert parts["optimizer/vars/0"] == (((), "<i8"), {})
        parts["optimizer/vars/0"] = (((), "<i4"), {})
    return parts


@pytest.mark.parametrize("backend", BACKENDS)
def test_archives_are_made_as_those_of_other_backends(folders, saved, backend):
    members, configuration, metadata, weights = parts_of_archive(saved[0] / models.FILES[0])
    theirs: Any = parts_of_archive(folders[backend] / models.FILES[0])
    if backend == "torch":  # it names a class of its own
        public_name = {"module": "keras.optimizers", "registered_name": None}
        theirs[1]["compile_config"]["optimizer"].update(public_name)
    assert members == theirs[0]
    assert configuration == theirs[1]
    assert metadata.keys() == theirs[2].keys()
    assert metadata["keras_version"] == tf.keras.__version__
    assert weights == expected_parts(theirs[3], backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_weights_are_kept_as_those_of_other_backends(folders, saved, backend):
    ours = parts_of(saved[0] / models.FILES[1])
    assert ours == expected_parts(parts_of(folders[backend] / models.FILES[1]), backend)
    optimizer = [name for name in ours if name.startswith("optimizer/vars/")]
    trained = len(models.model_of_many_layers().trainable_variables)
    assert len(optimizer) == 2 + 2 * trained  # its step and rate, and two moments of each weight
