"""Models that are trained and saved on gradtape and on other backends of Keras alike.

Whoever imports this has chosen Keras's backend before, gradtape's with `import gradtape.keras`.
NumPy draws first weights and orders of data, so that every backend starts from the same numbers;
what a layer draws while it trains (dropout, the VAE's noise) is each backend's own.
"""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import keras
import numpy as np
from keras import layers

ANSWERS = Path(__file__).with_name("keras_answers")
DIGITS = Path(__file__).parent.parent / "examples" / "data" / "digits.npz"
TEST_IMAGES, BATCH_SIZE = 360, 32
EPOCHS = {"cnn": 3, "lstm": 6, "transformer": 5, "vae": 6}
SEEDS = range(6)
ops: Any = keras.ops  # its annotations do not say what its functions return
FILES = ("model.keras", "model.weights.h5")


def digits(seed):
    """Shuffled handwritten digits: `images`, `labels`, `test_images`, `test_labels`."""
    with np.load(DIGITS) as data:
        images = data["images"].reshape(-1, 8, 8, 1).astype(np.float32) / 16
        labels = data["labels"].astype(np.int32)
    order = np.random.default_rng(seed).permutation(len(images))
    test, train = order[:TEST_IMAGES], order[TEST_IMAGES:]
    return SimpleNamespace(
        images=images[train],
        labels=labels[train],
        test_images=images[test],
        test_labels=labels[test],
    )


def start_from(model, seed):
    """Draws a model's matrices with NumPy; its vectors start from constants on every backend."""
    rng = np.random.default_rng(seed)
    for variable in model.trainable_variables:
        shape = tuple(variable.shape)
        if len(shape) > 1:
            scale = 1 / np.sqrt(np.prod(shape[:-1]))
            variable.assign(rng.normal(0, scale, shape).astype(np.float32))


# Models that are trained --------------------------------------------------------------------------


def cnn():
    """A convolutional network with batch normalization."""
    return keras.Sequential([
        layers.Input((8, 8, 1)),
        layers.Conv2D(8, 3, padding="same", activation="relu"),
        layers.BatchNormalization(momentum=0.9),
        layers.MaxPooling2D(),
        layers.Conv2D(12, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(10),
    ])  # fmt: skip


def lstm():
    """A recurrent network that reads an image row by row."""
    return keras.Sequential([
        layers.Input((8, 8, 1)), layers.Reshape((8, 8)), layers.LSTM(20), layers.Dense(10)
    ])  # fmt: skip


class WithPositions(layers.Layer):
    """Adds to each token a vector that is learnt for its place."""

    def __init__(self, length, width):
        super().__init__()
        self.length = length
        self.embedding = layers.Embedding(length, width)

    def build(self, input_shape):
        self.embedding.build((self.length,))

    def call(self, tokens):
        return tokens + self.embedding(ops.arange(self.length))


def transformer(dropout=0.1):
    """A transformer encoder whose tokens are the rows of an image."""
    images = layers.Input((8, 8, 1))
    tokens = layers.Dense(16)(layers.Reshape((8, 8))(images))
    x = WithPositions(8, 16)(tokens)
    attention = layers.MultiHeadAttention(2, 8, dropout=dropout)(x, x)
    x = layers.LayerNormalization()(layers.Add()([x, layers.Dropout(dropout)(attention)]))
    between = layers.Dense(32, activation="gelu")(x)
    between = layers.Dropout(dropout)(layers.Dense(16)(between))
    x = layers.LayerNormalization()(layers.Add()([x, between]))
    return keras.Model(images, layers.Dense(10)(layers.Flatten()(x)))


class VAE(keras.Model):
    """A variational autoencoder; how it takes a step is for a subclass to say.

    Its outputs are the logits of pixels, and the means and log variances of the code.
    """

    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential([
            layers.Flatten(), layers.Dense(32, activation="relu"), layers.Dense(8)
        ])  # fmt: skip
        self.decoder = keras.Sequential([layers.Dense(32, activation="relu"), layers.Dense(64)])
        self.seed_generator = keras.random.SeedGenerator(0)
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, images, noise=None, training=False):
        mean, log_variance = ops.split(self.encoder(images), 2, axis=-1)
        if noise is None and training:
            noise = keras.random.normal(ops.shape(mean), seed=self.seed_generator)
        code = mean if noise is None else mean + ops.exp(log_variance / 2) * noise
        return ops.reshape(self.decoder(code), ops.shape(images)), mean, log_variance

    @property
    def metrics(self):
        return [self.loss_tracker]


def loss_of_code(images, outputs):
    """The bound on the likelihood that a VAE minimizes, for each image."""
    logits, mean, log_variance = outputs
    pixels = ops.binary_crossentropy(images, logits, from_logits=True)
    divergence = (ops.exp(log_variance) + ops.square(mean) - 1 - log_variance) / 2
    return ops.mean(ops.sum(pixels, axis=(1, 2, 3)) + ops.sum(divergence, axis=1))


CLASSIFIERS = {"cnn": cnn, "lstm": lstm, "transformer": transformer}
label_loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def first_step(name, vae_class):
    """A model and its first batch: `model`, `images`, `options` of its call, `loss` of outputs."""
    data = digits(seed=0)
    images, labels = data.images[:BATCH_SIZE], data.labels[:BATCH_SIZE]
    step: Any = SimpleNamespace(images=images, options={"training": True})
    if name == "vae":
        step.model = vae_class()
        noise = np.random.default_rng(1).normal(size=(BATCH_SIZE, 4)).astype(np.float32)
        step.options["noise"] = noise
        step.loss = lambda outputs: loss_of_code(images, outputs)
        step.model(images)
    else:
        step.model = transformer(dropout=0) if name == "transformer" else CLASSIFIERS[name]()
        step.loss = lambda outputs: label_loss(labels, outputs)
    start_from(step.model, seed=0)
    return step


def trained(name, seed, vae_class):
    """Trains a model on digits; returns it and its figures on those it has not seen.

    The figures are `loss` and, for what tells digits apart, `accuracy`.
    """
    keras.utils.set_random_seed(seed)
    data = digits(seed)
    options = {"batch_size": BATCH_SIZE, "epochs": EPOCHS[name], "shuffle": False, "verbose": 0}
    if name == "vae":
        model = vae_class()
        model(data.images[:BATCH_SIZE])
        start_from(model, seed)
        model.compile(keras.optimizers.Adam(0.01))
        model.fit(data.images, **options)
        outputs = model.predict(data.test_images, verbose=0)
        return model, {"loss": float(loss_of_code(data.test_images, outputs))}
    model = CLASSIFIERS[name]()
    start_from(model, seed)
    model.compile(keras.optimizers.Adam(0.01), label_loss, metrics=["accuracy"])
    model.fit(data.images, data.labels, **options)
    return model, model.evaluate(data.test_images, data.test_labels, verbose=0, return_dict=True)


# The model that is saved --------------------------------------------------------------------------


def model_of_many_layers():
    """A compiled model of images and tokens, of all the kinds of layers that keep weights."""
    images = layers.Input((8, 8, 1), name="images")
    x = layers.Conv2D(3, 3, activation="relu", name="convolution")(images)
    x = layers.BatchNormalization(name="batch_normalization")(x)
    x = layers.Dense(5, activation="tanh", name="dense")(layers.Flatten(name="flat")(x))
    tokens = layers.Input((6,), dtype="int32", name="tokens")
    y = layers.Embedding(96, 6, name="embedding")(tokens)
    attention = layers.MultiHeadAttention(2, 3, name="attention")(y, y)
    y = layers.LayerNormalization(name="normalization")(layers.Add(name="sum")([y, attention]))
    y = layers.GRU(4, name="gru")(layers.LSTM(5, return_sequences=True, name="lstm")(y))
    outputs = layers.Dense(3, name="outputs")(layers.Concatenate(name="both")([x, y]))
    model = keras.Model([images, tokens], outputs, name="many_layers")
    # What is compiled by itself differs between backends, and is part of what is saved.
    options: Any = {"metrics": ["accuracy"], "jit_compile": False}
    model.compile(keras.optimizers.Adam(0.01), label_loss, **options)
    return model


def batch_of_many(number):
    """Batch `number` of inputs and labels for that model.

    No token is there twice: on TensorFlow Adam would add up the squares of a row's gradients, where
    other backends square their sum.
    """
    rng = np.random.default_rng(number)
    images = rng.normal(size=(16, 8, 8, 1)).astype(np.float32)
    tokens = rng.permutation(96).reshape(16, 6).astype(np.int32)
    return [images, tokens], rng.integers(0, 3, 16).astype(np.int32)


def save_model(folder):
    """Trains that model a little and saves it in both formats; returns what follows."""
    keras.utils.clear_session(free_memory=False)  # names count from the beginning
    model = model_of_many_layers()
    start_from(model, seed=2)
    for number in range(3):
        model.train_on_batch(*batch_of_many(number))
    model.save(os.path.join(folder, FILES[0]))
    model.save_weights(os.path.join(folder, FILES[1]))
    return what_follows(model)


def load_model(folder, file):
    """The model that was saved in one of the formats."""
    path = os.path.join(folder, file)
    if file == FILES[0]:
        return keras.models.load_model(path)
    model = model_of_many_layers()
    model.optimizer.build(model.trainable_variables)
    model.load_weights(path)
    return model


def what_follows(model):
    """What a saved model predicts, and predicts after one more step of its optimizer."""
    inputs, labels = batch_of_many(3)
    found = {"predictions": model.predict(inputs, verbose=0)}
    found["loss"] = np.asarray(model.train_on_batch(inputs, labels)[0])
    found["predictions_after_a_step"] = model.predict(inputs, verbose=0)
    found["iterations"] = np.asarray(int(model.optimizer.iterations))
    return found
