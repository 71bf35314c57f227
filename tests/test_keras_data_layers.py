"""Keras and datasets: layers learn from them and map them, and utilities make them.

Figures without a formula are what TensorFlow 2.21 with Keras 3.15 has.
"""

import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

import gradtape as tf

keras: Any = tf.keras
layers = keras.layers
Dataset: Any = tf.data.Dataset

DOCUMENTS = np.array(["The cat sat.", "a Dog ate the cat", "cat cat dog"], dtype=object)
TEXTS = Dataset.from_tensor_slices(DOCUMENTS)


def lists(dataset):
    """All elements, as lists."""
    return [element.tolist() for element in dataset.as_numpy_iterator()]


# Layers that learn from datasets, and inside of them ----------------------------------------------


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("int", [[1], [0], [3]]),
        ("one_hot", [[0, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0]]),
        ("count", [[0, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0]]),
    ],
)
def test_string_lookup(mode, expected):
    lookup = layers.StringLookup(output_mode=mode)
    lookup.adapt(Dataset.from_tensor_slices(["a", "b", "c", "a", "d", "a", "b"]).batch(3))
    assert lookup.get_vocabulary() == ["[UNK]", "a", "b", "d", "c"]
    words = np.array([["a"], ["zz"], ["d"]])
    assert lookup(words).numpy().tolist() == expected
    mapped = Dataset.from_tensor_slices(words).batch(3).map(lookup)
    assert lists(mapped) == [expected]


def test_lookups_of_what_is_not_known():
    words = ["a", "q", "r"]
    assert layers.StringLookup(vocabulary=["a"], num_oov_indices=3)(words).numpy()[0] == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_oov_indices=0"):
        layers.StringLookup(vocabulary=["a"], num_oov_indices=0)(words)


def test_integer_lookup():
    lookup = layers.IntegerLookup()
    lookup.adapt(Dataset.from_tensor_slices([5, 5, 3, 7, 3, 5]).batch(2))
    assert lookup.get_vocabulary() == [-1, 5, 3, 7]
    assert lists(Dataset.from_tensor_slices([5, 3, 9]).batch(2).map(lookup)) == [[1, 2], [0]]


def test_text_vectorization():
    vectors = layers.TextVectorization()
    vectors.adapt(TEXTS.batch(2))
    assert vectors.get_vocabulary() == ["", "[UNK]", "cat", "the", "dog", "sat", "ate", "a"]
    expected = [[3, 2, 5, 0, 0], [7, 4, 6, 3, 2]]
    assert lists(TEXTS.batch(2).map(vectors)) == [expected, [[2, 2, 4]]]
    upper = layers.TextVectorization(standardize=tf.strings.upper, vocabulary=["CAT"])
    assert lists(TEXTS.batch(3).map(upper)) == [[[1, 2, 1, 0, 0], [1, 1, 1, 1, 2], [2, 2, 1, 0, 0]]]


def test_text_as_ragged_and_sparse_tensors():
    known = ["cat", "dog"]
    ragged = layers.TextVectorization(vocabulary=known, ragged=True)(DOCUMENTS)
    assert ragged.to_list() == [[1, 2, 1], [1, 3, 1, 1, 2], [2, 2, 3]]
    sparse = layers.TextVectorization(vocabulary=known, sparse=True, output_mode="count")(DOCUMENTS)
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [[2, 1, 0], [3, 1, 1], [0, 2, 1]]


def test_normalization_and_discretization():
    x = np.arange(12.0, dtype="float32").reshape(6, 2)
    batches = Dataset.from_tensor_slices(x).batch(4)
    normal = layers.Normalization()
    normal.adapt(batches)
    expected = (x - x.mean(0)) / x.std(0)
    np.testing.assert_allclose(np.concatenate(lists(batches.map(normal))), expected, rtol=1e-5)
    bins = layers.Discretization(num_bins=3, epsilon=0.01)
    bins.adapt(batches)
    assert bins.bin_boundaries == [3.0, 7.0]
    assert lists(batches.map(bins)) == [[[0, 0], [0, 1], [1, 1], [1, 2]], [[2, 2], [2, 2]]]


def test_hashes_are_those_of_tensorflow():
    words = np.array(["a", "b", "c", "a", "d", "a", "b"], dtype=object)
    dataset = Dataset.from_tensor_slices(words).batch(7)
    assert lists(dataset.map(layers.Hashing(3))) == [[0, 1, 1, 0, 2, 0, 1]]
    assert lists(dataset.map(layers.Hashing(3, salt=133))) == [[0, 2, 2, 0, 0, 0, 2]]
    crossed = layers.HashedCrossing(5)((words, np.arange(7)))
    assert crossed.numpy().tolist() == [4, 3, 3, 1, 1, 3, 4]


def test_random_layers_draw_anew_for_each_batch_as_on_tensorflow():
    images = Dataset.from_tensors(np.arange(96, dtype="float32").reshape(2, 4, 4, 3)).repeat(2)
    bright = [
        image.sum()
        for image in images.map(layers.RandomBrightness(0.2, seed=3)).as_numpy_iterator()
    ]
    np.testing.assert_allclose(bright, [5718.8, 5202.2], rtol=1e-4)


def test_a_layer_is_built_where_a_dataset_maps_it():
    sound = np.random.default_rng(0).normal(size=(2, 64, 1))
    layer = layers.STFTSpectrogram(frame_length=16, frame_step=8, fft_length=16)
    (found,) = Dataset.from_tensor_slices(sound).batch(2).map(layer).as_numpy_iterator()
    assert layer.built
    np.testing.assert_allclose(found, layer(sound), rtol=1e-5)


def test_feature_space():
    space = keras.utils.FeatureSpace(
        features={"s": "string_categorical", "i": "integer_categorical", "f": "float_normalized"},
        crosses=[("s", "i")],
        crossing_dim=4,
    )
    raw = {"s": ["a", "b", "a", "c"], "i": [1, 2, 1, 3], "f": [0.1, 0.2, 0.3, 0.4]}
    dataset = Dataset.from_tensor_slices(raw)
    space.adapt(dataset)
    expected = space(raw).numpy()
    assert expected.shape == (4, 13)
    np.testing.assert_array_equal(np.concatenate(lists(dataset.batch(3).map(space))), expected)


def test_models_take_strings():
    vectors = layers.TextVectorization(vocabulary=["cat", "dog"], output_sequence_length=3)
    model = keras.Sequential([keras.Input((), dtype="string"), vectors])
    expected = [[1, 2, 1], [1, 3, 1], [2, 2, 3]]
    for data in (TEXTS.batch(2), DOCUMENTS, tf.constant(DOCUMENTS)):
        assert model.predict(data, verbose=0).tolist() == expected


# Datasets that Keras makes ------------------------------------------------------------------------


def test_text_dataset_from_directory(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for i in range(3):
            (tmp_path / name / f"{i}.txt").write_text(f"{name}{i}")
    dataset = keras.utils.text_dataset_from_directory(
        tmp_path, batch_size=4, shuffle=False, verbose=False
    )
    assert isinstance(dataset, tf.data.Dataset)
    assert dataset.class_names == ["a", "b"]
    found = [(text.tolist(), label.tolist()) for text, label in dataset.as_numpy_iterator()]
    assert found == [([b"a0", b"a1", b"a2", b"b0"], [0, 0, 0, 1]), ([b"b1", b"b2"], [1, 1])]


def test_image_dataset_from_directory(tmp_path):
    for shade, name in ((10, "a"), (20, "b")):
        (tmp_path / name).mkdir()
        picture = tf.io.encode_png(np.full((5, 4, 3), shade, "uint8"))
        (tmp_path / name / "0.png").write_bytes(picture.numpy())
    settings = {"image_size": (2, 2), "shuffle": False, "verbose": False}
    for more in ({}, {"crop_to_aspect_ratio": True}):
        dataset = keras.utils.image_dataset_from_directory(tmp_path, **settings, **more)
        ((images, labels),) = dataset.as_numpy_iterator()
        np.testing.assert_allclose(images, np.full((2, 2, 2, 3), [[[[10]]], [[[20]]]]), rtol=1e-6)
        assert labels.tolist() == [0, 1]


def test_audio_dataset_from_directory(tmp_path):
    for name, length in (("a", 3), ("b", 5)):
        (tmp_path / name).mkdir()
        sound = tf.audio.encode_wav(np.full((length, 1), 0.25, "float32"), 8)
        (tmp_path / name / "0.wav").write_bytes(sound.numpy())
    settings = {"shuffle": False, "verbose": False}
    dataset = keras.utils.audio_dataset_from_directory(
        tmp_path, output_sequence_length=4, **settings
    )
    ((sounds, labels),) = dataset.as_numpy_iterator()
    assert sounds[..., 0].tolist() == [[0.25, 0.25, 0.25, 0], [0.25] * 4]
    assert labels.tolist() == [0, 1]
    ((sounds, _),) = keras.utils.audio_dataset_from_directory(tmp_path, ragged=True, **settings)
    assert isinstance(sounds, tf.RaggedTensor)
    assert sounds.row_lengths().numpy().tolist() == [3, 5]


def test_timeseries_dataset_from_array():
    dataset = keras.utils.timeseries_dataset_from_array(
        np.arange(8), np.arange(8) * 10, 3, batch_size=4
    )
    found = [(x.tolist(), y.tolist()) for x, y in dataset.as_numpy_iterator()]
    assert found == [
        ([[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]], [0, 10, 20, 30]),
        ([[4, 5, 6], [5, 6, 7]], [40, 50]),
    ]


def test_split_dataset():
    numbers = Dataset.range(10)
    left, right = keras.utils.split_dataset(numbers, left_size=0.7)
    assert (lists(left), lists(right)) == ([*range(7)], [7, 8, 9])
    left, right = keras.utils.split_dataset(numbers.batch(2), right_size=2)
    assert (lists(left), lists(right)) == ([[0, 1], [2, 3], [4, 5], [6, 7]], [[8, 9]])
    left, _ = keras.utils.split_dataset((np.zeros([20, 4]), np.arange(20)), left_size=4)
    assert [x.shape for x, _ in left] == [(4,)] * 4


def test_a_seed_of_keras_is_one_for_datasets_too():
    orders = []
    for _ in range(2):
        keras.utils.set_random_seed(3)
        orders.append(lists(Dataset.range(5).shuffle(5)))
    assert orders == [[2, 3, 1, 4, 0]] * 2


# Files --------------------------------------------------------------------------------------------


def test_layers_with_tables_are_saved(tmp_path):
    lookup = layers.StringLookup()
    lookup.adapt(Dataset.from_tensor_slices(["a", "b", "b"]).batch(3))
    model = keras.Sequential([keras.Input((1,), dtype="string"), lookup])
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    words = tf.constant([["a"], ["b"], ["c"]])
    assert loaded.predict(words, verbose=0).tolist() == [[2], [1], [0]]


def test_shapes_and_dtypes_are_written():
    found = keras.saving.serialize_keras_object
    assert found(tf.TensorShape([2, None])) == [2, None]
    assert found(tf.float32) == "float32"


@pytest.mark.filterwarnings("ignore:You are saving your model as an HDF5 file")
def test_older_files_hold_shapes(tmp_path):
    class Shaped(layers.Layer):
        def __init__(self, sizes=(3, None), **kwargs):
            super().__init__(**kwargs)
            self.sizes = tf.TensorShape(sizes)

        def get_config(self):
            return {**super().get_config(), "sizes": self.sizes}

        def call(self, x):
            return x

    model = keras.Sequential([keras.Input((2,)), Shaped()])
    model.save(tmp_path / "model.h5")
    loaded = keras.models.load_model(
        tmp_path / "model.h5", custom_objects={"Shaped": Shaped}, compile=False
    )
    assert loaded.layers[0].sizes == tf.TensorShape([3, None])


# TensorFlow's name --------------------------------------------------------------------------------


def test_layers_stay_on_gradtape_where_it_answers_for_tensorflow():
    code = """
        import gradtape
        gradtape.install_as_tensorflow()
        import numpy as np
        import tensorflow as tf
        from tensorflow import keras
        layer = keras.layers.RandomContrast(0.5, seed=1)
        images = tf.data.Dataset.from_tensors(np.ones((1, 2, 2, 3), "float32")).map(layer)
        print(*[image.shape for image in images], hasattr(layer, "_backend_generators"))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "(1, 2, 2, 3) False"
