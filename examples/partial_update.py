"""Train the layers of a Keras model apart: first one of them alone, then each with its optimizer.

Plain TensorFlow code. It runs on gradtape with

    gradtape run examples/partial_update.py

and unchanged on TensorFlow with `python examples/partial_update.py`.
"""

from pathlib import Path

import numpy as np
import tensorflow as tf

BATCH_SIZE = 64
HIDDEN_UNITS = 32
TEST_IMAGES = 360
EPOCHS_ALONE = 4
EPOCHS_TOGETHER = 8


class MLP(tf.keras.Model):
    """Two dense layers, which are known by name."""

    def __init__(self):
        super().__init__()
        self.flatten = tf.keras.layers.Flatten()
        self.dense1 = tf.keras.layers.Dense(HIDDEN_UNITS, activation="relu")
        self.dense2 = tf.keras.layers.Dense(10)

    def call(self, images):
        return self.dense2(self.dense1(self.flatten(images)))


def load_digits(rng):
    """Return shuffled (train images, train labels, test images, test labels)."""
    with np.load(Path(__file__).parent / "data" / "digits.npz") as data:
        images = data["images"].astype(np.float32) / 16.0
        labels = data["labels"].astype(np.int32)
    order = rng.permutation(len(images))
    test, train = order[:TEST_IMAGES], order[TEST_IMAGES:]
    return images[train], labels[train], images[test], labels[test]


def draw_weights(rng, model):
    """Set the kernels to draws of NumPy, so that every library starts equal."""
    for layer in (model.dense1, model.dense2):
        inputs, outputs = layer.kernel.shape
        layer.kernel.assign(rng.normal(0.0, np.sqrt(2.0 / inputs), (inputs, outputs)))


def train_step(model, optimizers, images, labels):
    """One step of the layers that have an optimizer: one tape, asked once for each of them."""
    with tf.GradientTape(persistent=True) as tape:
        losses = tf.keras.losses.sparse_categorical_crossentropy(
            y_true=labels, y_pred=model(images), from_logits=True
        )
        loss = tf.reduce_mean(losses)
    for layer, optimizer in optimizers.items():
        variables = getattr(model, layer).variables
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
    return float(loss)


def train(rng, model, optimizers, epochs, images, labels):
    """Train, and return the mean loss of the last epoch."""
    losses = []
    for _ in range(epochs):
        losses.clear()
        order = rng.permutation(len(images))
        for start in range(0, len(order), BATCH_SIZE):
            chosen = order[start : start + BATCH_SIZE]
            losses.append(train_step(model, optimizers, images[chosen], labels[chosen]))
    return np.mean(losses)


def show_phase(title, model, before, loss, images, labels):
    """Print how far each layer has moved, and what the model has learnt."""
    accuracy = np.mean(np.argmax(model(images).numpy(), axis=1) == labels)
    print(f"{title}: loss {loss:.3f}, test accuracy {100 * accuracy:.1f} %")
    for layer in ("dense1", "dense2"):
        moved = np.linalg.norm(getattr(model, layer).kernel.numpy() - before[layer])
        print(f"  {layer} moved by {moved:.3f}")


def kernels_of(model):
    return {"dense1": model.dense1.kernel.numpy(), "dense2": model.dense2.kernel.numpy()}


def main():
    rng = np.random.default_rng(seed=3)
    train_images, train_labels, test_images, test_labels = load_digits(rng)
    model = MLP()
    print(f"variables before the first call: {len(model.dense1.variables)}")
    model(train_images[:1])
    print(f"variables after it: {len(model.dense1.variables)}")
    draw_weights(rng, model)

    # The optimizers of a layer go on where they were: they keep its moving averages.
    second = {"dense2": tf.keras.optimizers.Adam(0.01)}
    both = {"dense1": tf.keras.optimizers.SGD(0.1, momentum=0.9), **second}
    phases = (
        ("dense2 alone", second, EPOCHS_ALONE),
        ("each with its own optimizer", both, EPOCHS_TOGETHER),
    )
    for title, optimizers, epochs in phases:
        before = kernels_of(model)
        loss = train(rng, model, optimizers, epochs, train_images, train_labels)
        show_phase(title, model, before, loss, test_images, test_labels)


if __name__ == "__main__":
    main()
