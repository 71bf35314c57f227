"""tf.experimental.numpy.random: drawn as `tf.random` draws."""

import numpy as np

import gradtape as tf

from .promotion import as_tensor, float_dtype, numpy_dtype, shape_of


def seed(s):
    """Sets the seed of all random numbers, as `tf.random.set_seed` does.

    Raises:
        ValueError: `s` is not an integer.
    """
    try:
        s = int(s)
    except TypeError:
        raise ValueError(
            f"Argument `s` got an invalid value {s}. Only integers are supported."
        ) from None
    tf.random.set_seed(s)


def _shape(size):
    return () if size is None else shape_of(size)


def standard_normal(size=None):
    """Normal numbers of mean 0 and deviation 1."""
    return tf.random.normal(_shape(size), dtype=float_dtype())


def randn(*args):
    """Normal numbers in the shape of the arguments."""
    return standard_normal(args)


def uniform(low=0.0, high=1.0, size=None):
    """Numbers between `low` and `high`, each as likely."""
    dtype = float_dtype()
    low, high = as_tensor(low, dtype), as_tensor(high, dtype)
    if size is None:
        size = tuple(tf.broadcast_static_shape(low.shape, high.shape))
    return tf.random.uniform(shape_of(size), low, high, dtype)


def random(size=None):
    """Numbers between 0 and 1."""
    return uniform(0.0, 1.0, size)


def rand(*size):
    """Numbers between 0 and 1 in the shape of the arguments."""
    return uniform(0.0, 1.0, size)


def poisson(lam=1.0, size=None):
    """Poisson numbers of mean `lam`."""
    return tf.random.poisson(_shape(size), lam, dtype=tf.int64)


def randint(low, high=None, size=None, dtype=np.int64):
    """Integers from `low` up to `high`, without it; from 0 up to `low`, if that is all.

    Raises:
        ValueError: `dtype` is neither int32 nor int64.
    """
    low, high = (0, int(low)) if high is None else (int(low), int(high))
    if numpy_dtype(dtype) not in (np.dtype(np.int32), np.dtype(np.int64)):
        raise ValueError(
            f"Argument `dtype` got an invalid value {dtype}. Only int32 and int64 are supported."
        )
    return tf.random.uniform(_shape(size), low, high, numpy_dtype(dtype))
