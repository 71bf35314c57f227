"""Random numbers, each call's from the seed that Keras draws for it and nothing else.

The numbers are those of Keras on TensorFlow for the same seeds.
"""

from keras.src.backend.common import standardize_dtype
from keras.src.backend.config import floatx
from keras.src.random.seed_generator import SeedGenerator, draw_seed, make_default_seed

import gradtape as tf

from .core import cast, convert_to_tensor

__all__ = [
    "SeedGenerator",
    "beta",
    "binomial",
    "categorical",
    "draw_seed",
    "dropout",
    "gamma",
    "make_default_seed",
    "normal",
    "randint",
    "shuffle",
    "truncated_normal",
    "uniform",
]


def _drawn(seed):
    """The pair of numbers that stateless ops start from, in the range TensorFlow's Keras has."""
    return tf.cast(tf.math.floormod(draw_seed(seed), tf.int32.max - 1), "int32")


def normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    return tf.random.stateless_normal(
        shape, _drawn(seed), mean=mean, stddev=stddev, dtype=dtype or floatx()
    )


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    return tf.random.stateless_truncated_normal(
        shape, _drawn(seed), mean=mean, stddev=stddev, dtype=dtype or floatx()
    )


def uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    dtype = dtype or floatx()
    bounds = convert_to_tensor(minval, dtype), convert_to_tensor(maxval, dtype)
    return tf.random.stateless_uniform(shape, _drawn(seed), *bounds, dtype=dtype)


def randint(shape, minval, maxval, dtype="int32", seed=None):
    dtype = standardize_dtype(dtype)
    # Whole numbers of other sizes have no generator of their own.
    drawn_as = dtype if dtype in ("int32", "int64") else "int64"
    bounds = convert_to_tensor(minval, drawn_as), convert_to_tensor(maxval, drawn_as)
    return cast(tf.random.stateless_uniform(shape, _drawn(seed), *bounds, dtype=drawn_as), dtype)


def categorical(logits, num_samples, dtype="int64", seed=None):
    logits = convert_to_tensor(logits)
    return cast(tf.random.stateless_categorical(logits, num_samples, _drawn(seed)), dtype)


def dropout(inputs, rate, noise_shape=None, seed=None):
    inputs = convert_to_tensor(inputs)
    if rate == 1.0:
        return tf.zeros_like(inputs)
    if rate == 0.0:
        return inputs
    if noise_shape is not None:
        noise_shape = [
            inputs.shape[axis] if size is None else size for axis, size in enumerate(noise_shape)
        ]
    return tf.nn.experimental.stateless_dropout(
        inputs, rate=rate, seed=_drawn(seed), noise_shape=noise_shape
    )


def shuffle(x, axis=0, seed=None):
    x = convert_to_tensor(x)
    order = tf.argsort(tf.random.stateless_uniform([x.shape[axis]], _drawn(seed)))
    return tf.gather(x, order, axis=axis)


def gamma(shape, alpha, dtype=None, seed=None):
    return _gamma(_drawn(seed), shape, alpha, dtype or floatx())


def _gamma(seed, shape, alpha, dtype):
    drawn_as = _wider(dtype)
    alpha = tf.broadcast_to(convert_to_tensor(alpha, drawn_as), shape)
    return cast(tf.random.stateless_gamma(shape, seed, alpha, dtype=drawn_as), dtype)


def _wider(dtype):
    """The dtype to draw in: gamma and binomial samples have no bfloat16."""
    return "float32" if standardize_dtype(dtype) == "bfloat16" else dtype


def binomial(shape, counts, probabilities, dtype=None, seed=None):
    dtype = dtype or floatx()
    counts, probabilities = convert_to_tensor(counts), convert_to_tensor(probabilities)
    sample = tf.random.stateless_binomial(
        shape, _drawn(seed), counts, probabilities, output_dtype=_wider(dtype)
    )
    return cast(sample, dtype)


def beta(shape, alpha, beta, dtype=None, seed=None):
    """The share of one gamma variable in the sum of two."""
    dtype = dtype or floatx()
    seed = _drawn(seed)
    one = _gamma(seed, shape, alpha, dtype)
    # Any other seed makes the two independent; this one is the one TensorFlow's Keras takes.
    other = _gamma(seed + 12, shape, beta, dtype)
    return one / (one + other)
