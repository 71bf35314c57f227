"""Keras models, written once: what differs between the contenders is the backend alone."""

import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from workloads.data import BATCH, EPOCHS, Cnn, Mlp

Step = Callable[[], tuple[Any, list[Any]]]


class KerasModels:
    """Builds steps; each returns a loss and the gradients, or the weights that it ends with."""

    def __init__(self, library: str) -> None:
        self.library = library
        if library == "gradtape":
            self.keras: Any = importlib.import_module("gradtape.keras")
        else:
            os.environ["KERAS_BACKEND"] = library
            self.keras = importlib.import_module("keras")
        self.version = self.keras.__version__

    def to_numpy(self, value: Any) -> np.ndarray:
        """Return a loss, gradient or weight as an array."""
        return np.asarray(self.keras.ops.convert_to_numpy(value))

    def fit_mlp(self, data: Mlp) -> Step:
        """`fit` of a ReLU network."""
        return self.fit(self.mlp(data), "adam", data.inputs, data.labels)

    def fit_dataset(self, data: Mlp) -> Step:
        """`fit` of the same network on a dataset that shuffles and batches."""
        tf = importlib.import_module(self.library)
        model = self.mlp(data)
        model.compile("adam", self.cross_entropy(), metrics=["accuracy"])
        rows = tf.data.Dataset.from_tensor_slices((data.inputs, data.labels))
        few = rows.take(2 * BATCH + len(data.inputs) % BATCH).batch(BATCH)
        shuffled = rows.shuffle(len(data.inputs), seed=1).batch(BATCH).prefetch(tf.data.AUTOTUNE)
        return self.fitting(
            model, lambda is_first: {"x": few if is_first else shuffled, "shuffle": False}
        )

    def fit_cnn(self, data: Cnn) -> Step:
        """`fit` of a network of convolutions and pools."""
        layers = self.keras.layers
        model = self.keras.Sequential([self.keras.Input(data.images.shape[1:])])
        weights = []
        for kernel, bias in zip(data.filters, data.filter_biases, strict=True):
            model.add(layers.Conv2D(len(bias), 3, padding="same", activation="relu"))
            model.add(layers.MaxPooling2D())
            weights += [kernel, bias]
        model.add(layers.Flatten())
        model.add(layers.Dense(len(data.bias)))
        model.set_weights([*weights, data.weights, data.bias])
        # Adam's first steps make as much of a gradient's rounding as of the gradient.
        optimizer = self.keras.optimizers.SGD(0.01, momentum=0.9)
        return self.fit(model, optimizer, data.images, data.labels)

    def eager_step(self, data: Mlp) -> Step:
        """A training step of one's own: a tape, a model and an optimizer, no function."""
        tf = importlib.import_module(self.library)
        model = self.mlp(data)
        loss_of = self.cross_entropy()
        optimizer = self.keras.optimizers.Adam()
        inputs, labels = tf.constant(data.inputs), tf.constant(data.labels)

        def step():
            with tf.GradientTape() as tape:
                loss = loss_of(labels, model(inputs, training=True))
            variables = model.trainable_variables
            gradients = tape.gradient(loss, variables)
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
            return loss, gradients

        return step

    def mlp(self, data: Mlp) -> Any:
        """Return a network with the data's weights."""
        *hidden, outputs = [len(bias) for bias in data.biases]
        model = self.keras.Sequential([self.keras.Input(data.inputs.shape[1:])])
        for units in hidden:
            model.add(self.keras.layers.Dense(units, activation="relu"))
        model.add(self.keras.layers.Dense(outputs))
        model.set_weights(data.parameters())
        return model

    def cross_entropy(self) -> Any:
        """Return the loss of all these models."""
        return self.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def fit(self, model: Any, optimizer: Any, inputs: np.ndarray, labels: np.ndarray) -> Step:
        """Return a call of `fit` on arrays."""
        model.compile(optimizer, self.cross_entropy(), metrics=["accuracy"])

        def arguments(is_first):
            count = 2 * BATCH + len(inputs) % BATCH if is_first else len(inputs)
            return {
                "x": inputs[:count],
                "y": labels[:count],
                "batch_size": BATCH,
                "shuffle": not is_first,
            }

        return self.fitting(model, arguments)

    def fitting(self, model: Any, arguments: Callable[[bool], dict[str, Any]]) -> Step:
        """Return a call of `fit`, quiet, for all examples.

        The first one compiles for all sizes of batches, on few examples and in order: rounding is
        all that everyone's weights differ by then.
        """
        is_first = True

        def step():
            nonlocal is_first
            epochs = 1 if is_first else EPOCHS
            history = model.fit(**arguments(is_first), epochs=epochs, verbose=0).history
            is_first = False
            return np.float32(history["loss"][-1]), model.trainable_variables

        return step
