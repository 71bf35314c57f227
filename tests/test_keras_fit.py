"""`fit`, `evaluate` and `predict` of Keras on gradtape: figures, traces, inputs, own steps.

Figures without a formula are what TensorFlow 2.21 with Keras 3.15 has from the same weights.
"""

import math
import warnings
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from keras_fits import TWO_EPOCHS, X, Y, Z, assert_history, compiled, drawn, fit

keras: Any = tf.keras
layers = keras.layers
callbacks = keras.callbacks

# Figures ------------------------------------------------------------------------------------------

HISTORIES = {
    "plain": ({}, {"epochs": 3}, {"loss": [*TWO_EPOCHS, 10.8647]}),
    "split": (
        {"metrics": ["mae", "mse"]},
        {"validation_split": 0.3},
        {
            "loss": [72.8594, 55.0212],
            "mse": [72.8594, 55.0212],
            "mae": [7.6649, 6.628],
            "val_loss": [57.5541, 28.9944],
            "val_mse": [57.5541, 28.9944],
            "val_mae": [6.78, 4.3691],
        },
    ),
    "sample_weight": (
        {"metrics": ["mae"], "weighted_metrics": ["mse"]},
        {"sample_weight": np.arange(10.0)},
        {"loss": [225.6048, 355.8954], "mae": [6.9236, 9.4833], "mse": [50.1344, 79.0879]},
    ),
    "initial_epoch": (
        {"metrics": ["mae"]},
        {"epochs": 5, "initial_epoch": 3, "validation_data": (X, Z), "validation_freq": 2},
        {"loss": TWO_EPOCHS, "mae": [7.4577, 4.6637], "val_loss": [41.9461], "val_mae": [5.4803]},
    ),
    "steps": (
        {"metrics": ["mae"]},
        {
            "steps_per_epoch": 2,
            "validation_data": (X, Z, np.arange(10.0)),
            "validation_batch_size": 3,
            "validation_steps": 2,
        },
        {
            "loss": [66.6186, 79.0463],
            "mae": [7.3032, 8.0758],
            "val_loss": [133.131, 101.4397],
            "val_mae": [6.7924, 5.3934],
        },
    ),
}


@pytest.mark.filterwarnings("ignore:Your input ran out of data")  # "steps" asks for one more
@pytest.mark.parametrize("eagerly", [False, True])
@pytest.mark.parametrize("name", HISTORIES)
def test_histories_are_those_of_tensorflow(name, eagerly):
    compile_options, options, expected = HISTORIES[name]
    history = fit(compiled(run_eagerly=eagerly, **compile_options), **options)
    assert_history(history.history, expected)
    first = options.get("initial_epoch", 0)
    assert history.epoch == list(range(first, options.get("epochs", 2)))
    assert all(isinstance(figure, float) for figure in history.history["loss"])


def test_weights_of_classes():
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model = compiled(loss=loss, metrics=["accuracy"])
    history = fit(model, y=Y, class_weight={0: 1.0, 1: 3.0}).history
    assert_history(history, {"accuracy": [0.4, 0.7], "loss": [2.8113, 1.4498]})


def test_single_batches():
    model = compiled(metrics=["mae"])
    found = model.train_on_batch(X, Z)
    np.testing.assert_allclose(found, [74.8058, 7.746], rtol=1e-5)
    assert [type(figure) for figure in found] == [float, float]
    again = model.train_on_batch(X, Z, return_dict=True)
    assert_history(again, {"loss": 65.4579, "mae": 7.2626})
    weighted = model.train_on_batch(X[:3], Z[:3], sample_weight=np.arange(3.0))
    np.testing.assert_allclose(weighted, [63.1387, 6.424], rtol=1e-5)
    np.testing.assert_allclose(model.test_on_batch(X, Z), [41.7377, 5.6619], rtol=1e-5)
    predicted = model.predict_on_batch(X[:2])
    assert isinstance(predicted, np.ndarray)
    np.testing.assert_allclose(predicted, [[1.4292, 0.7033], [2.797, 2.9191]], atol=6e-5)


def test_evaluate_and_predict_change_nothing():
    model = compiled(metrics=["mae"])
    before = model.get_weights()
    found = model.evaluate(X, Z, batch_size=3, verbose=0, return_dict=True)
    predicted = model.predict(X, batch_size=3, verbose=0)
    np.testing.assert_allclose(predicted, model(X), atol=1e-6)
    np.testing.assert_allclose(found["loss"], np.mean((predicted - Z) ** 2), rtol=1e-5)
    np.testing.assert_allclose(found["mae"], np.mean(np.abs(predicted - Z)), rtol=1e-5)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


# Traces -------------------------------------------------------------------------------------------


@pytest.fixture
def functions(monkeypatch):
    """What is made with `tf.function`, each with the options it was made with."""
    made = []
    function = tf.function

    def recorded(*args, **options):
        made.append((function(*args, **options), options))
        return made[-1][0]

    monkeypatch.setattr(tf, "function", recorded)
    return made


def traces(functions):
    return sum(function.experimental_get_tracing_count() for function, _ in functions)


def test_a_last_partial_batch_costs_one_trace_and_not_one_each_epoch(functions):
    model = compiled()
    fit(model, epochs=1)
    assert 1 <= traces(functions) <= 2
    fit(model, epochs=6)
    assert traces(functions) == 2
    for _ in range(3):
        model.evaluate(X, Z, batch_size=4, verbose=0)
    assert traces(functions) == 4
    for _ in range(3):
        model.predict(X, batch_size=4, verbose=0)
    assert traces(functions) == 6
    # 10 rows are a third size, which is of the kind of the second as on TensorFlow.
    fit(model, batch_size=10)
    assert traces(functions) == 6


def test_validation_between_epochs_is_not_traced_anew(functions):
    fit(compiled(), epochs=5, validation_data=(X[:7], Z[:7]))
    assert traces(functions) == 4


def test_compile_makes_new_functions(functions):
    model = compiled()
    fit(model)
    model.compile(keras.optimizers.SGD(0.0), "mse")
    before = model.get_weights()
    fit(model)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)
    assert traces(functions) == 4


class Counted(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(2)
        self.runs = 0

    def call(self, x):
        self.runs += 1
        return self.dense(x)


def test_run_eagerly_runs_each_step_as_python():
    model = Counted()
    model(X)
    model.compile("sgd", "mse", run_eagerly=True)
    for run, steps in (
        (lambda: fit(model, epochs=3), 9),
        (lambda: model.evaluate(X, Z, batch_size=4, verbose=0), 3),
        (lambda: model.predict(X, batch_size=4, verbose=0), 3),
    ):
        model.runs = 0
        run()
        assert model.runs == steps


def test_functions_run_eagerly_if_all_do():
    model = Counted()
    model(X)
    model.compile("sgd", "mse")
    model.runs = 0
    tf.config.run_functions_eagerly(True)
    try:
        fit(model, epochs=3)
    finally:
        tf.config.run_functions_eagerly(False)
    assert model.runs == 9
    fit(model, epochs=3)
    assert model.runs == 11


@pytest.mark.parametrize("jit_compile", [True, False])
def test_jit_compile_is_passed_on(functions, jit_compile):
    model = compiled(jit_compile=jit_compile)
    assert model.jit_compile is jit_compile
    assert_history(fit(model).history, {"loss": TWO_EPOCHS})
    model.predict(X, verbose=0)
    passed_on = [options["jit_compile"] for _, options in functions if "jit_compile" in options]
    assert passed_on == [jit_compile] * 2


@pytest.mark.parametrize("steps", [2, 3, 8])
def test_several_steps_in_one_execution(steps):
    model = compiled(steps_per_execution=steps, metrics=["mae"])
    begun, ended = [], []

    class Noted(callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            begun.append(batch)

        def on_train_batch_end(self, batch, logs=None):
            ended.append(batch)

    history = fit(model, batch_size=3, callbacks=[Noted()]).history
    assert_history(history, {"loss": [65.5504, 18.5622], "mae": [7.1911, 3.5039]})
    executions = math.ceil(4 / steps)
    assert begun == [steps * i for i in range(executions)] * 2
    assert ended == [steps * i + steps - 1 for i in range(executions)] * 2
    assert int(model.optimizer.iterations) == 8
    assert model.predict(X, batch_size=3, verbose=0).shape == (10, 2)
    evaluated = model.evaluate(X, Z, batch_size=3, verbose=0)
    np.testing.assert_allclose(evaluated, [7.6797, 2.4342], rtol=1e-4)


# Inputs -------------------------------------------------------------------------------------------


def batches(with_weights=False):
    for start in range(0, 10, 4):
        part = slice(start, start + 4)
        weights = (np.ones(len(X[part])),) if with_weights else ()
        yield (X[part], Z[part], *weights)


def endless():
    while True:
        yield from batches()


class Rows(keras.utils.PyDataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        part = slice(4 * index, 4 * index + 4)
        return X[part], Z[part]


INPUTS = {
    "tensors": lambda: ((tf.constant(X), tf.constant(Z)), {}),
    "doubles": lambda: ((X.astype("float64"), Z.astype("float64")), {}),
    "generator": lambda: ((endless(), None), {"steps_per_epoch": 3}),
    "dataset": lambda: ((Rows(), None), {}),
    "dataset of threads": lambda: ((Rows(workers=2), None), {}),
}


@pytest.mark.filterwarnings("ignore:.*super.*:UserWarning")
@pytest.mark.parametrize("name", INPUTS)
def test_all_inputs_give_the_same_figures(name):
    data, options = INPUTS[name]()
    assert_history(fit(compiled(), *data, **options).history, {"loss": TWO_EPOCHS})


@pytest.mark.filterwarnings("ignore:Your input ran out of data")
def test_a_generator_feeds_evaluate_and_predict():
    model = compiled()
    loss = model.evaluate(batches(with_weights=True), verbose=0)
    np.testing.assert_allclose(loss, 74.8058, rtol=1e-5)
    predicted = model.predict(((x,) for x, _ in batches()), verbose=0)
    np.testing.assert_allclose(predicted, model(X), atol=1e-6)


def test_a_generator_that_ends_early():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        history = fit(compiled(), batches(), None, steps_per_epoch=3).history
    assert_history(history, {"loss": [TWO_EPOCHS[0], 0.0]})
    assert any("Your input ran out of data" in str(each.message) for each in caught)


def two_headed():
    a, b = layers.Input((4,), name="a"), layers.Input((4,), name="b")
    outputs = {
        "p": layers.Dense(2, name="p")(layers.Concatenate()([a, b])),
        "q": layers.Dense(1, name="q")(b),
    }
    model = drawn(keras.Model({"a": a, "b": b}, outputs))
    losses, weights = {"p": "mse", "q": "mae"}, {"p": 1.0, "q": 0.5}
    model.compile(keras.optimizers.SGD(0.1), losses, loss_weights=weights, metrics={"p": ["mae"]})
    return model


def test_dictionaries_of_inputs_and_outputs():
    model = two_headed()
    data = {"a": X, "b": X[::-1]}, {"p": Z, "q": Z[:, :1]}
    history = fit(model, *data, batch_size=5).history
    assert sorted(history) == ["loss", "p_loss", "p_mae", "q_loss"]
    sums = np.add(history["p_loss"], 0.5 * np.array(history["q_loss"]))
    np.testing.assert_allclose(history["loss"], sums, rtol=1e-5)
    assert history["loss"][1] < history["loss"][0]
    weights = {"p": np.ones(10), "q": np.zeros(10)}
    before = model.get_weights()
    weighted = fit(model, *data, sample_weight=weights, epochs=1).history
    np.testing.assert_allclose(weighted["loss"], weighted["p_loss"], rtol=1e-5)
    after = model.get_weights()
    assert np.any(before[0] != after[0])
    np.testing.assert_array_equal(before[2], after[2])
    predicted = model.predict(data[0], batch_size=4, verbose=0)
    assert {name: value.shape for name, value in predicted.items()} == {"p": (10, 2), "q": (10, 1)}


@pytest.mark.beyond_tensorflow
def test_the_losses_of_outputs_are_weighted_by_the_sizes_of_batches():
    # In TensorFlow's graphs the size is unknown: there a last batch of two counts as one of four.
    history = fit(two_headed(), {"a": X, "b": X[::-1]}, {"p": Z, "q": Z[:, :1]}).history
    sums = np.add(history["p_loss"], 0.5 * np.array(history["q_loss"]))
    np.testing.assert_allclose(history["loss"], sums, rtol=1e-5)
    np.testing.assert_allclose(history["loss"], [65.5021, 23.6368], rtol=1e-5)


# Steps of one's own -------------------------------------------------------------------------------


class OwnSteps(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(2)
        self.mean_loss = keras.metrics.Mean(name="loss")
        self.mae = keras.metrics.MeanAbsoluteError(name="mae")

    def call(self, x, training=None):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            predicted = self(x, training=True)
            loss = tf.reduce_mean(tf.square(predicted - y))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        self.mean_loss.update_state(loss)
        self.mae.update_state(y, predicted)
        found = {metric.name: metric.result() for metric in self.metrics}
        return {**found, "rows": tf.shape(x)[0]}

    def test_step(self, data):
        x, y = data
        self.mae.update_state(y, self(x, training=False))
        return {"mae": self.mae.result()}

    def predict_step(self, data):
        return self(data) * 0 + 1

    @property
    def metrics(self):
        return [self.mean_loss, self.mae]


@pytest.mark.parametrize("eagerly", [False, True])
def test_own_steps(eagerly):
    model = OwnSteps()
    model(X)
    drawn(model)
    model.compile(optimizer=keras.optimizers.SGD(0.1), run_eagerly=eagerly)
    assert_history(
        fit(model, validation_data=(X, Z)).history,
        {
            "loss": [59.4232, 27.973],
            "mae": [6.8522, 4.7108],
            "rows": [2, 2],
            "val_mae": [4.9958, 3.4482],
        },
    )
    np.testing.assert_allclose(model.evaluate(X, Z, verbose=0), 3.4482, rtol=1e-4)
    assert model.predict(X[:1], verbose=0).tolist() == [[1.0, 1.0]]


def test_steps_of_earlier_versions_of_keras():
    class Old(OwnSteps):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                predicted = self(x, training=True)
                loss = self.compiled_loss(y, predicted, regularization_losses=self.losses)
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            self.compiled_metrics.update_state(y, predicted)
            return {"loss": loss, "mae": self.mae.result()}

    model = Old()
    model(X)
    drawn(model)
    model.compile(keras.optimizers.SGD(0.1), "mse")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        history = fit(model, epochs=1).history
    np.testing.assert_allclose(history["mae"], [6.8522], rtol=1e-5)
    texts = {str(each.message).split(". ")[0] for each in caught}
    assert {f"`model.compiled_{part}()` is deprecated" for part in ("loss", "metrics")} <= texts


def test_two_optimizers_and_a_plain_variable_in_one_step():
    class Adversaries(keras.Model):
        def __init__(self):
            super().__init__()
            self.first, self.second = layers.Dense(2), layers.Dense(2)
            self.steps = tf.Variable(0, trainable=False)

        def compile(self, of_first, of_second):
            super().compile()
            self.of_first, self.of_second = of_first, of_second

        def train_step(self, data):
            x, found = data, {}
            for name in ("first", "second"):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(self.second(self.first(x)) ** 2)
                variables = getattr(self, name).trainable_variables
                optimizer = getattr(self, f"of_{name}")
                gradients = tape.gradient(loss, variables)
                optimizer.apply_gradients(zip(gradients, variables, strict=True))
                found[name] = loss
            self.steps.assign_add(1)
            return found

    model = Adversaries()
    model.second(model.first(X))
    model.compile(keras.optimizers.Adam(0.1), keras.optimizers.RMSprop(0.01))
    history = fit(model, y=None, epochs=4).history
    assert history["second"][-1] < 0.5 * history["first"][0]
    assert int(model.steps) == 12


# What is trained ----------------------------------------------------------------------------------


def test_frozen_layers_rest():
    model = compiled()
    model.layers[0].trainable = False
    before = model.layers[0].get_weights()
    fit(model)
    for old, new in zip(before, model.layers[0].get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_new_learning_rate_counts_without_a_new_trace(functions):
    model = compiled()
    fit(model)
    model.optimizer.learning_rate = 0.0
    before = model.get_weights()
    fit(model)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)
    assert traces(functions) == 2


def test_a_model_without_anything_to_train():
    model = compiled()
    model.trainable = False
    model.compile("sgd", "mse")
    with pytest.warns(UserWarning, match="The model does not have any trainable weights"):
        fit(model)
