"""Train a two-layer network on handwritten digits, each layer with its own learning rate.

Plain TensorFlow code. It runs on gradtape with

    gradtape run examples/digits.py

and unchanged on TensorFlow with `python examples/digits.py`.
"""

import sys
import time
from pathlib import Path

import numpy as np
import tensorflow as tf

EPOCHS = 30
BATCH_SIZE = 32
HIDDEN_UNITS = 64
TEST_IMAGES = 360
HIDDEN_RATE = 0.2  # the first layer may move fast,
OUTPUT_RATE = 0.05  # the second follows slowly
SHADES = " .:-=+*#%@"


def load_digits(rng):
    """Return shuffled (train images, train labels, test images, test labels)."""
    with np.load(Path(__file__).parent / "data" / "digits.npz") as data:
        images = data["images"].reshape(-1, 64).astype(np.float32) / 16.0
        labels = data["labels"].astype(np.int32)
    order = rng.permutation(len(images))
    test, train = order[:TEST_IMAGES], order[TEST_IMAGES:]
    return images[train], labels[train], images[test], labels[test]


def dense_layer(rng, inputs, outputs):
    """Return the [weights, biases] of a layer; NumPy draws them, so every library starts equal."""
    weights = rng.normal(0.0, np.sqrt(2.0 / inputs), (inputs, outputs)).astype(np.float32)
    return [tf.Variable(weights), tf.Variable(tf.zeros([outputs]))]


def logits_of(images, hidden, output):
    activations = tf.nn.relu(tf.matmul(images, hidden[0]) + hidden[1])
    return tf.matmul(activations, output[0]) + output[1]


def loss_of(images, labels, hidden, output):
    logits = logits_of(images, hidden, output)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(losses)


def train_step(images, labels, hidden, output):
    """One step of gradient descent: one tape, asked once for each layer."""
    with tf.GradientTape(persistent=True) as tape:
        loss = loss_of(images, labels, hidden, output)
    for rate, layer in ((HIDDEN_RATE, hidden), (OUTPUT_RATE, output)):
        for variable, gradient in zip(layer, tape.gradient(loss, layer), strict=True):
            variable.assign_sub(rate * gradient)
    return loss


def show_progress(epoch, loss):
    """Redraw a bar on a terminal; elsewhere print a line now and then."""
    if sys.stdout.isatty():
        done = 30 * epoch // EPOCHS
        bar = "█" * done + "░" * (30 - done)
        end = "\n" if epoch == EPOCHS else ""
        print(f"\r{bar} epoch {epoch:2d}/{EPOCHS}  loss {loss:.4f}", end=end, flush=True)
    elif epoch == 1 or epoch % 10 == 0:
        print(f"epoch {epoch:2d}/{EPOCHS}  loss {loss:.4f}", flush=True)


def accuracy_of(images, labels, hidden, output):
    predicted = tf.argmax(logits_of(images, hidden, output), axis=1)
    hits = tf.equal(tf.cast(predicted, tf.int32), labels)
    return float(tf.reduce_mean(tf.cast(hits, tf.float32)))


def show_pixel_gradient(image, label, hidden, output):
    """Draw a digit beside the pixels its loss is most sensitive to."""
    pixels = tf.constant(image[np.newaxis])
    with tf.GradientTape() as tape:
        tape.watch(pixels)
        loss = loss_of(pixels, tf.constant([label]), hidden, output)
    sensitivity = np.abs(np.asarray(tape.gradient(loss, pixels)))

    drawings = []
    for values in (image, sensitivity):
        levels = (len(SHADES) - 1) * values.reshape(8, 8) / values.max()
        drawings.append(["".join(2 * SHADES[round(level)] for level in row) for row in levels])
    print(f"\na test image of a {label}, and |d loss / d pixel|:")
    for drawn, sensitive in zip(*drawings, strict=True):
        print(f"  |{drawn}|  |{sensitive}|")


def main():
    rng = np.random.default_rng(seed=7)
    train_images, train_labels, test_images, test_labels = load_digits(rng)
    hidden = dense_layer(rng, 64, HIDDEN_UNITS)
    output = dense_layer(rng, HIDDEN_UNITS, 10)
    print(f"{len(train_images)} digits to learn from, {len(test_images)} to be tested on")

    started = time.perf_counter()
    steps = 0
    for epoch in range(1, EPOCHS + 1):
        batch_losses = []
        order = rng.permutation(len(train_images))
        for start in range(0, len(order), BATCH_SIZE):
            chosen = order[start : start + BATCH_SIZE]
            images, labels = tf.constant(train_images[chosen]), tf.constant(train_labels[chosen])
            batch_losses.append(float(train_step(images, labels, hidden, output)))
        steps += len(batch_losses)
        show_progress(epoch, np.mean(batch_losses))
    seconds = time.perf_counter() - started
    print(f"{steps} steps in {seconds:.1f} s")

    accuracy = accuracy_of(test_images, test_labels, hidden, output)
    print(f"\ntest accuracy: {100 * accuracy:.1f} %")

    with tf.GradientTape() as tape:
        loss = loss_of(test_images, test_labels, hidden, output)
    print(f"test loss: {float(loss):.4f}, and the length of its gradient for")
    names = ("hidden weights", "hidden biases", "output weights", "output biases")
    for name, gradient in zip(names, tape.gradient(loss, [*hidden, *output]), strict=True):
        print(f"  {name:<14}  {float(tf.norm(gradient)):.4f}")

    show_pixel_gradient(test_images[0], test_labels[0], hidden, output)


if __name__ == "__main__":
    main()
