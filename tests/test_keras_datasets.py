"""Keras on datasets: `fit`, `evaluate` and `predict` take them.

Figures without a formula are what TensorFlow 2.21 with Keras 3.15 has from the same weights.
"""

import warnings
from typing import Any

import numpy as np
import pytest

import gradtape as tf

keras: Any = tf.keras
layers = keras.layers
Dataset: Any = tf.data.Dataset

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 4)).astype("float32")
Y = RNG.integers(0, 3, 20)
PAIRS = Dataset.from_tensor_slices((X, Y))

IGNORED = "`shuffle=True` was passed, but will be ignored"
RAN_OUT = "Your input ran out of data"


def classifier(**settings):
    """A linear model of three classes, always with the same weights."""
    kernel = (np.arange(12).reshape(4, 3) % 5 - 2).astype("float32") / 4
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3)])
    model.set_weights([kernel, np.zeros(3, "float32")])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.1), loss, **settings)
    return model


def fit(model, *args, **settings):
    """The history of `fit`, which is told not to shuffle: a dataset does so itself."""
    return model.fit(*args, **{"shuffle": False, "verbose": 0, **settings}).history


def assert_same_weights(a, b):
    for first, second in zip(a.get_weights(), b.get_weights(), strict=True):
        np.testing.assert_array_equal(first, second)


def messages(action):
    """The texts of all warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [str(each.message) for each in caught]


# The same as on arrays ----------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"run_eagerly": True}, {"steps_per_execution": 2}])
def test_weights_are_to_the_bit_those_of_arrays(settings):
    on_arrays, on_dataset = classifier(**settings), classifier(**settings)
    expected = fit(on_arrays, X, Y, batch_size=8, epochs=3, validation_data=(X, Y))
    found = fit(on_dataset, PAIRS.batch(8), epochs=3, validation_data=PAIRS.batch(32))
    assert found == expected
    assert_same_weights(on_dataset, on_arrays)


def test_weights_of_examples_are_those_of_arrays():
    weights = np.linspace(0, 2, 20).astype("float32")
    on_arrays, on_dataset = classifier(), classifier()
    fit(on_arrays, X, Y, sample_weight=weights, batch_size=8)
    fit(on_dataset, Dataset.from_tensor_slices((X, Y, weights)).batch(8))
    assert_same_weights(on_dataset, on_arrays)
    assert fit(on_arrays, X, Y, batch_size=8) == fit(on_dataset, PAIRS.batch(8))


@pytest.mark.parametrize("targets", [Y, Y[:, None].astype("float32"), np.eye(3, dtype="f4")[Y]])
def test_class_weights_are_those_of_arrays(targets):
    weights = {0: 1.0, 2: 0.5, 1: 2.0}
    on_arrays, on_dataset = classifier(), classifier()
    if targets.shape[-1] == 3:
        for model in (on_arrays, on_dataset):
            model.compile("sgd", keras.losses.CategoricalCrossentropy(from_logits=True))
    expected = fit(on_arrays, X, targets, class_weight=weights, batch_size=8, epochs=2)
    dataset = Dataset.from_tensor_slices((X, targets)).batch(8)
    assert fit(on_dataset, dataset, class_weight=weights, epochs=2) == expected
    assert_same_weights(on_dataset, on_arrays)


def test_evaluate_and_predict_are_those_of_arrays():
    model = classifier(metrics=["accuracy"])
    expected = model.evaluate(X, Y, batch_size=8, verbose=0)
    assert model.evaluate(PAIRS.batch(8), verbose=0) == expected
    outputs = model.predict(X, batch_size=8, verbose=0)
    for inputs in (PAIRS, Dataset.from_tensor_slices(X), Dataset.from_tensor_slices((X,))):
        np.testing.assert_array_equal(model.predict(inputs.batch(8), verbose=0), outputs)


def test_structures_of_inputs_and_outputs():
    def model():
        a, b = keras.Input((2,), name="a"), keras.Input((2,), name="b")
        u = layers.Dense(1, name="u", kernel_initializer="ones")(layers.Concatenate()([a, b]))
        v = layers.Dense(1, name="v", kernel_initializer="ones")(a)
        made = keras.Model({"a": a, "b": b}, {"u": u, "v": v})
        made.compile("sgd", {"u": "mse", "v": "mae"})
        return made

    x = {"a": X[:, :2], "b": X[:, 2:]}
    y = {"u": X[:, :1], "v": X[:, 1:2]}
    on_arrays, on_dataset = model(), model()
    expected = fit(on_arrays, x, y, batch_size=8, epochs=2)
    assert fit(on_dataset, Dataset.from_tensor_slices((x, y)).batch(8), epochs=2) == expected
    outputs = on_dataset.predict(Dataset.from_tensor_slices(x).batch(8), verbose=0)
    for name, value in on_arrays.predict(x, batch_size=8, verbose=0).items():
        np.testing.assert_array_equal(outputs[name], value)


def test_nested_inputs():
    inputs = [keras.Input((4,)), (keras.Input((4,)), keras.Input((4,)))]
    model = keras.Model(inputs, layers.Add()([inputs[0], *inputs[1]]))
    dataset = Dataset.from_tensor_slices(((X, (X, X)),)).batch(8)
    np.testing.assert_allclose(model.predict(dataset, verbose=0), 3 * X, rtol=1e-6)


@pytest.mark.filterwarnings(f"ignore:{IGNORED}")
def test_a_shuffled_dataset_trains():
    model = classifier()
    losses = fit(model, PAIRS.shuffle(20, seed=1).batch(8), shuffle=True, epochs=20)["loss"]
    assert losses[-1] < losses[0] / 1.2


# Traces -------------------------------------------------------------------------------------------


class Counted(keras.Model):
    """Counts how often Python runs its steps."""

    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(1)
        self.runs = {"train": 0, "test": 0, "predict": 0}

    def call(self, x):
        return tf.reduce_sum(self.dense(x), axis=-1)

    def train_step(self, data):
        self.runs["train"] += 1
        return super().train_step(data)

    def test_step(self, data):
        self.runs["test"] += 1
        return super().test_step(data)

    def predict_step(self, data):
        self.runs["predict"] += 1
        return super().predict_step(data)


def test_a_last_partial_batch_costs_one_more_trace():
    model = Counted()
    model.compile("sgd", "mse")
    fit(model, PAIRS.batch(8), epochs=6, validation_data=PAIRS.batch(6))
    # The first batch makes the variables as Python; then there is one trace for each shape.
    assert model.runs == {"train": 3, "test": 2, "predict": 0}
    model.predict(PAIRS.batch(8), verbose=0)
    model.predict(PAIRS.batch(8), verbose=0)
    assert model.runs["predict"] == 2


def test_of_many_shapes_those_are_traced_that_come_again(caplog):
    def of_lengths(lengths):
        batches = [(np.ones((2, n, 4), "f4"), np.ones((2, n), "f4")) for n in lengths]
        return keras_sequence(batches)

    model = Counted()
    model.compile("sgd", "mse")
    fit(model, of_lengths(range(1, 30)))
    assert model.runs["train"] == 29
    again = of_lengths([28, 29])
    fit(model, again, epochs=11)  # the last of these is the twelfth time, and traces
    assert model.runs["train"] == 29 + 22
    fit(model, again, epochs=5)
    assert model.runs["train"] == 29 + 22
    assert "retracing" not in caplog.text


def keras_sequence(batches):
    class Sequence(keras.utils.PyDataset):
        def __len__(self):
            return len(batches)

        def __getitem__(self, index):
            return batches[index]

    return Sequence()


# How many batches there are -----------------------------------------------------------------------


def test_endless_datasets_go_on_where_the_epoch_before_ended():
    model, steps = classifier(), classifier()
    found = fit(model, PAIRS.repeat().batch(8), steps_per_epoch=2, epochs=3)
    expected = [
        fit(steps, PAIRS.repeat().batch(8).skip(start).take(2))["loss"][0] for start in (0, 2, 4)
    ]
    assert found["loss"] == expected
    assert_same_weights(model, steps)


def test_a_finite_dataset_is_spread_over_epochs_and_begins_anew_when_it_ends():
    model = classifier()
    seen = []
    note = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append(batch))
    texts = messages(
        lambda: fit(model, PAIRS.batch(4), steps_per_epoch=2, epochs=4, callbacks=[note])
    )
    assert [text.startswith(RAN_OUT) for text in texts] == [True]
    assert seen == [0, 1, 0, 1, 0, 0, 1]


def test_too_many_steps_warn_and_train_on_what_there_is():
    model, plain = classifier(), classifier()
    texts = messages(lambda: fit(model, PAIRS.batch(8), steps_per_epoch=5, epochs=2))
    assert [text[: len(RAN_OUT)] for text in texts] == [RAN_OUT] * 2
    fit(plain, PAIRS.batch(8), epochs=2)
    assert_same_weights(model, plain)


def test_an_unknown_number_of_batches_is_known_after_the_first_epoch(capsys):
    dataset = PAIRS.filter(lambda x, y: y >= 0).batch(8)
    assert dataset.cardinality() == tf.data.UNKNOWN_CARDINALITY
    model, plain = classifier(), classifier()
    messages(lambda: fit(model, dataset, epochs=2, verbose=2))
    assert capsys.readouterr().out.count("3/3 - ") == 2
    fit(plain, PAIRS.batch(8), epochs=2)
    assert_same_weights(model, plain)


def test_validation_steps():
    model = classifier()
    data = {"validation_data": PAIRS.batch(5)}
    some = fit(model, PAIRS.batch(8), validation_steps=2, **data)["val_loss"]
    assert some == [model.evaluate(X[:10], Y[:10], batch_size=5, verbose=0)]
    endless = {"validation_data": PAIRS.repeat().batch(5)}
    assert len(fit(model, PAIRS.batch(8), validation_steps=2, **endless)["val_loss"]) == 1
    texts = messages(lambda: fit(model, PAIRS.batch(8), validation_steps=9, **data))
    assert [text[: len(RAN_OUT)] for text in texts] == [RAN_OUT]


def test_an_empty_dataset():
    model = classifier()
    texts = messages(lambda: fit(model, PAIRS.take(0).batch(8)))
    assert [text[: len(RAN_OUT)] for text in texts] == [RAN_OUT]


# What is refused ----------------------------------------------------------------------------------


def test_targets_beside_a_dataset_are_refused():
    with pytest.raises(ValueError, match="`y` should not be passed"):
        fit(classifier(), PAIRS.batch(8), Y)
    with pytest.raises(ValueError, match="`sample_weights` should not be passed"):
        fit(classifier(), PAIRS.batch(8), sample_weight=Y)


def test_validation_split_is_refused():
    with pytest.raises(ValueError, match="`validation_split` is only supported for tensors"):
        fit(classifier(), PAIRS.batch(8), validation_split=0.5)


def test_shuffle_is_ignored_with_keras_own_warning():
    (text,) = messages(lambda: classifier().fit(PAIRS.batch(8), verbose=0))
    assert text.startswith(IGNORED)


@pytest.mark.parametrize("x", [X, X[:, 0]])
def test_examples_that_are_not_batched_are_refused(x):
    with pytest.raises(ValueError, match="incompatible"):
        fit(classifier(), Dataset.from_tensor_slices((x, Y)))


def test_what_cannot_be_weighed_by_class_is_refused():
    weights = {0: 1.0, 1: 2.0, 2: 1.0}
    with pytest.raises(ValueError, match="You cannot `class_weight` and `sample_weight`"):
        fit(
            classifier(),
            Dataset.from_tensor_slices((X, Y, Y)).batch(8),
            class_weight=weights,
        )
    with pytest.raises(ValueError, match="only supported for Models with a single output"):
        fit(
            classifier(),
            Dataset.from_tensor_slices((X, {"a": Y})).batch(8),
            class_weight=weights,
        )
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not in"):
        fit(classifier(), PAIRS.batch(8), class_weight={0: 1.0, 1: 2.0})


def test_too_many_parts_are_refused():
    with pytest.raises(ValueError, match="Data is expected to be in format"):
        fit(classifier(), Dataset.from_tensor_slices((X, Y, Y, Y)).batch(8))


# Sparse and ragged --------------------------------------------------------------------------------

RAGGED = tf.ragged.constant([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0], [7.0]])


class Sums(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(1, kernel_initializer="ones")

    def call(self, x):
        return self.dense(tf.reduce_sum(x, axis=1)[:, None])


def test_models_take_ragged_batches():
    model = Sums()
    model.compile("sgd", "mse")
    y = np.array([[1.0], [2.0], [3.0], [4.0]], "float32")
    dataset = Dataset.from_tensors((RAGGED, y)).repeat(2)
    expected = [[3.0], [3.0], [15.0], [7.0]]
    assert model.predict(dataset, verbose=0).tolist() == expected * 2
    assert model.predict(RAGGED, verbose=0).tolist() == expected
    losses = fit(model, dataset, epochs=2)["loss"]
    np.testing.assert_allclose(losses, [24.876798629760742, 2.9469447135925293], rtol=1e-6)


def test_ragged_inputs_are_declared_and_looked_up():
    numbers = tf.cast(RAGGED, tf.int32)
    inputs = keras.Input((None,), ragged=True, dtype="int32")
    table = layers.Embedding(8, 2, embeddings_initializer=lambda shape, dtype: tf.reshape(
        tf.range(16.0), shape))  # fmt: skip
    outputs = table(inputs)
    assert outputs.ragged
    assert outputs.shape == (None, None, 2)
    found = keras.Model(inputs, outputs).predict(Dataset.from_tensors(numbers), verbose=0)
    assert isinstance(found, tf.RaggedTensor)
    rows = [[[2.0 * i, 2.0 * i + 1] for i in row] for row in numbers.to_list()]
    assert found.to_list() == rows


def test_outputs_of_different_lengths_are_joined_to_a_ragged_tensor():
    class Doubled(keras.Model):
        def call(self, x):
            return 2 * x

    batches = [np.ones((2, 3, 1), "f4"), np.ones((1, 2, 1), "f4")]
    found = Doubled().predict(keras_sequence([(batch,) for batch in batches]), verbose=0)
    assert isinstance(found, tf.RaggedTensor)
    assert found.to_list() == [[[2.0]] * 3, [[2.0]] * 3, [[2.0]] * 2]
    assert isinstance(Doubled().predict(RAGGED, verbose=0), tf.RaggedTensor)


def test_models_take_sparse_batches():
    dense = np.where(X > 0.5, X, 0)
    inputs = keras.Input((4,), sparse=True)
    model = keras.Model(inputs, layers.Dense(3)(inputs))
    expected = dense @ model.get_weights()[0]
    sparse = tf.sparse.from_dense(dense)
    for data in (sparse, Dataset.from_tensors(sparse)):
        np.testing.assert_allclose(model.predict(data, verbose=0), expected, atol=1e-6)
