"""Callbacks of Keras during `fit` on gradtape, and the errors that it raises.

Figures are what TensorFlow 2.21 with Keras 3.15 has from the same weights.
"""

import csv
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from keras_fits import X, Z, assert_history, compiled, fit

keras: Any = tf.keras
layers = keras.layers
callbacks = keras.callbacks

# Calls --------------------------------------------------------------------------------------------


def test_callbacks_are_called_in_the_order_of_keras():
    called = []

    class Noted(callbacks.Callback):
        def __getattribute__(self, name):
            if name.startswith("on_"):
                return lambda *args, **_: called.append(
                    (name, *[a for a in args if type(a) is int])
                )
            return object.__getattribute__(self, name)

    model = compiled(metrics=["mae"])
    fit(model, epochs=1, validation_split=0.4, callbacks=[Noted()])
    model.predict(X, batch_size=8, verbose=0, callbacks=[Noted()])
    assert called == [
        ("on_train_begin",),
        ("on_epoch_begin", 0),
        ("on_train_batch_begin", 0),
        ("on_train_batch_end", 0),
        ("on_train_batch_begin", 1),
        ("on_train_batch_end", 1),
        ("on_test_begin",),
        ("on_test_batch_begin", 0),
        ("on_test_batch_end", 0),
        ("on_test_end",),
        ("on_epoch_end", 0),
        ("on_train_end",),
        ("on_predict_begin",),
        ("on_predict_batch_begin", 0),
        ("on_predict_batch_end", 0),
        ("on_predict_batch_begin", 1),
        ("on_predict_batch_end", 1),
        ("on_predict_end",),
    ]


def test_callbacks_get_the_logs():
    seen = []
    noted = callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: seen.append(("batch", batch, float(logs["loss"]))),
        on_epoch_end=lambda epoch, logs: seen.append(("epoch", epoch, float(logs["val_loss"]))),
    )
    fit(compiled(), epochs=1, validation_data=(X, Z), callbacks=[noted])
    assert [entry[:2] for entry in seen] == [("batch", 0), ("batch", 1), ("batch", 2), ("epoch", 0)]
    losses = [93.3737, 66.6186, 69.1041, 41.9461]
    np.testing.assert_allclose([loss for *_, loss in seen], losses, rtol=1e-5)


def test_early_stopping_restores_the_best_weights():
    model = compiled()
    stopping = callbacks.EarlyStopping(
        patience=2, min_delta=0.1, start_from_epoch=1, restore_best_weights=True
    )
    history = fit(
        model, batch_size=32, epochs=25, validation_split=0.3, callbacks=[stopping]
    ).history
    assert len(history["loss"]) == 19
    best = history["val_loss"][16]
    np.testing.assert_allclose(model.evaluate(X[7:], Z[7:], verbose=0), best, rtol=1e-5)


def test_training_stops_within_an_epoch_when_asked():
    class Stopping(callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.stop_training = batch == 1

    model = compiled()
    history = fit(model, batch_size=3, epochs=4, callbacks=[Stopping()])
    assert history.epoch == [0]
    assert int(model.optimizer.iterations) == 2
    assert_history(history.history, {"loss": [72.023]})


def test_checkpoints_logs_and_schedules(tmp_path):
    model = compiled()
    kept = callbacks.ModelCheckpoint(tmp_path / "best.keras", monitor="loss", save_best_only=True)
    weights = callbacks.ModelCheckpoint(
        str(tmp_path / "{epoch:02d}-{loss:.2f}.weights.h5"), save_weights_only=True
    )
    halved = callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5)
    log = callbacks.CSVLogger(tmp_path / "log.csv")
    found = fit(model, batch_size=32, epochs=3, callbacks=[kept, weights, log, halved]).history
    losses = [74.8058, 69.0438, 66.6505]
    assert_history(found, {"loss": losses, "learning_rate": [0.05, 0.025, 0.0125]})
    assert {path.name for path in tmp_path.iterdir()} == {
        "best.keras",
        "log.csv",
        *[f"{i + 1:02d}-{loss:.2f}.weights.h5" for i, loss in enumerate(losses)],
    }
    with (tmp_path / "log.csv").open() as file:
        rows = list(csv.DictReader(file))
    np.testing.assert_allclose([float(row["loss"]) for row in rows], losses, rtol=1e-5)
    again = keras.models.load_model(tmp_path / "best.keras")
    assert int(again.optimizer.iterations) == 3
    more = fit(again, batch_size=32, epochs=5, initial_epoch=3).history
    assert_history(more, {"loss": [65.3858, 64.0558]})


def test_training_ends_with_a_loss_that_is_no_number(capsys):
    x = X.copy()
    x[5] = np.nan
    history = fit(compiled(), x, epochs=3, callbacks=[callbacks.TerminateOnNaN()])
    assert history.epoch == [0]
    assert "Batch 1: Invalid loss, terminating training" in capsys.readouterr().out


def test_averages_of_weights_are_swapped_in_for_validation():
    optimizer = keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5)
    model = compiled(optimizer=optimizer)
    history = fit(
        model,
        batch_size=32,
        epochs=4,
        validation_data=(X, Z),
        callbacks=[callbacks.SwapEMAWeights()],
    ).history
    expected = [65.4579, 60.6951, 51.3531, 38.7855]
    losses = [74.8058, 65.4579, 55.5123, 41.6469]
    assert_history(history, {"loss": losses, "val_loss": expected})


def test_averages_of_weights_are_what_training_ends_with():
    model = compiled(optimizer=keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5))
    fit(model)
    averages = [each for each in model.optimizer.variables if each.name.endswith("_average")]
    assert len(averages) == 4
    for weight, average in zip(model.trainable_variables, averages, strict=True):
        np.testing.assert_array_equal(weight, average)


def test_the_history_is_the_callback_that_was_given():
    model, history = compiled(), callbacks.History()
    assert fit(model, callbacks=[history]) is history
    assert model.history is history


# Errors, which are Keras's own --------------------------------------------------------------------

NOT_COMPILED = r"You must call `compile\(\)` before using the model\."


def batches():
    yield X, Z


def plain():
    return keras.Sequential([layers.Input((4,)), layers.Dense(2)])


ERRORS = {
    "fit": (lambda: plain().fit(X, Z), NOT_COMPILED),
    "evaluate": (lambda: plain().evaluate(X, Z), NOT_COMPILED),
    "train_on_batch": (lambda: plain().train_on_batch(X, Z), NOT_COMPILED),
    "sizes": (
        lambda: fit(compiled(), X, Z[:5]),
        r"Data cardinality is ambiguous\. Make sure all arrays contain the same number of samples",
    ),
    "shape": (
        lambda: fit(compiled(), X[:, :3]),
        r"expected axis -1 of input shape to have value 4, but received input with shape",
    ),
    "lists": (lambda: fit(compiled(), X.tolist(), Z.tolist()), r"^Unrecognized data type: x=\[\["),
    "targets": (
        lambda: fit(compiled(), batches(), Z),
        r"^When providing `x` as a generator, `y` should not be passed\.",
    ),
    "two weights": (
        lambda: fit(compiled(), class_weight={0: 1.0}, sample_weight=np.ones(10)),
        r"^You cannot `class_weight` and `sample_weight` at the same time\.",
    ),
    "two weights of a batch": (
        lambda: compiled().train_on_batch(X, Z, sample_weight=np.ones(10), class_weight={0: 1.0}),
        r"^Arguments `sample_weight` and `class_weight` cannot be specified at the same time\.",
    ),
    "split": (
        lambda: fit(compiled(), batches(), None, validation_split=0.1, steps_per_epoch=1),
        r"^Argument `validation_split` is only supported for tensors or NumPy arrays",
    ),
    "argument": (
        lambda: compiled().evaluate(X, Z, foo=1),
        r"^Arguments not recognized: \{'foo': 1\}$",
    ),
    "metric": (
        lambda: fit(compiled(metrics=["foo"])),
        r"^Could not interpret metric identifier: foo$",
    ),
    "loss": (
        lambda: fit(compiled(loss=None)),
        r"^No loss to compute\. Provide a `loss` argument in `compile\(\)`\.$",
    ),
    "data": (lambda: compiled().predict("abc", verbose=0), r"^Unrecognized data type: x=abc"),
    "empty": (lambda: compiled().predict(X[:0], verbose=0), r"at least one batch of data"),
}


@pytest.mark.filterwarnings("ignore:Your input ran out of data")
@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    function, message = ERRORS[name]
    with pytest.raises(ValueError, match=message):
        function()
