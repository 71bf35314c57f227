"""A small model of Keras with weights and data that TensorFlow was given too, and its training."""

from typing import Any

import numpy as np

import gradtape as tf

keras: Any = tf.keras
layers = keras.layers

X = np.random.default_rng(0).normal(size=(10, 4)).astype("float32")
Y = (X.sum(axis=1) > 0).astype("int64")
Z = X @ np.arange(8).reshape(4, 2).astype("float32")
TWO_EPOCHS = [69.1041, 34.0755]  # of batches of 4 of X and Z


def drawn(model):
    """A model with the weights that TensorFlow was given too."""
    for seed, variable in enumerate(model.trainable_variables):
        draw = 0.3 * np.random.default_rng(seed).normal(size=tuple(variable.shape))
        variable.assign(draw.astype("float32"))
    return model


def compiled(**options):
    parts = [layers.Input((4,)), layers.Dense(5, activation="tanh"), layers.Dense(2)]
    model = drawn(keras.Sequential(parts))
    options = {"optimizer": keras.optimizers.SGD(0.1), "loss": "mse", **options}
    model.compile(**options)
    return model


def fit(model, x: Any = X, y: Any = Z, **options):
    """The history of a training with all draws left out."""
    options = {"batch_size": 4, "epochs": 2, "shuffle": False, "verbose": 0, **options}
    if not isinstance(x, (np.ndarray, tf.Tensor, dict, list)):
        del options["batch_size"]
    return model.fit(x, y, **options)


def assert_history(found, expected):
    assert sorted(found) == sorted(expected)
    for name, figures in expected.items():
        np.testing.assert_allclose(found[name], figures, rtol=2e-5, atol=6e-5, err_msg=name)
