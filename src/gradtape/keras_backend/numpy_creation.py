"""Tensors made of shapes, ranges and windows."""

import numpy as np
from keras.src.backend import config
from keras.src.backend.common import dtypes, standardize_dtype

import gradtape as tf

from .core import cast, convert_to_tensor
from .numpy_promotion import common_dtype, dense, operands, promoted_floats

_numpy = tf.experimental.numpy

# A dtype of None is Keras's default float: `standardize_dtype` says so.


def array(x, dtype=None):
    return convert_to_tensor(x, dtype)


def zeros(shape, dtype=None):
    return tf.zeros(shape, standardize_dtype(dtype))


def ones(shape, dtype=None):
    return tf.ones(shape, standardize_dtype(dtype))


def empty(shape, dtype=None):
    return zeros(shape, dtype)


def empty_like(x, dtype=None):
    return tf.zeros_like(dense(x), dtype and standardize_dtype(dtype))


def full(shape, fill_value, dtype=None):
    return tf.broadcast_to(convert_to_tensor(fill_value, standardize_dtype(dtype)), shape)


def full_like(x, fill_value, dtype=None):
    x = dense(x)
    return full(x.shape, fill_value, dtype or x.dtype.name)


def eye(N, M=None, k=0, dtype=None):
    return _numpy.eye(N, M, k, tf.as_dtype(standardize_dtype(dtype)))


def identity(n, dtype=None):
    return eye(n, dtype=dtype)


def tri(N, M=None, k=0, dtype=None):
    return _numpy.tri(N, M, k, tf.as_dtype(standardize_dtype(dtype)))


# Ranges -------------------------------------------------------------------------------------------


def arange(start, stop=None, step=None, dtype=None):
    if dtype is None:
        given = [x for x in (start, stop, step) if x is not None]
        dtype = dtypes.result_type(*[getattr(x, "dtype", type(x)) for x in given])
    dtype = tf.as_dtype(standardize_dtype(dtype))
    if stop is None:
        start, stop = 0, start
    bounds = operands(start, stop, 1 if step is None else step)
    if any([isinstance(x, tf.Tensor) for x in bounds]):
        # In a dtype that counts exactly, whichever is wanted.
        wide = common_dtype(*bounds)
        return tf.cast(tf.range(*[convert_to_tensor(x, wide) for x in bounds]), dtype)
    return tf.constant(np.arange(*bounds).astype(dtype.as_numpy_dtype))


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    found, step = _spaced(start, stop, num, endpoint, axis)
    found = _rounded(found, dtype)
    return (found, step) if retstep else found


def _spaced(start, stop, num, endpoint, axis):
    """Floats evenly apart, and the distance between them."""
    num = int(num)  # a shape
    if num < 0:
        raise ValueError(f"`num` must be a non-negative integer. Received: num={num}")
    start, stop = promoted_floats(start, stop)
    return _numpy.linspace(start, stop, num, endpoint, True, axis=axis)


def logspace(start, stop, num=50, endpoint=True, base=10, dtype=None, axis=0):
    exponents, _ = _spaced(start, stop, num, endpoint, axis)
    found = tf.pow(convert_to_tensor(base, exponents.dtype.name), exponents)
    return found if dtype is None else cast(found, dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    start, stop = promoted_floats(start, stop)
    found = _numpy.geomspace(start, stop, num, endpoint, axis=axis)
    return found if dtype is None else cast(found, dtype)


def _rounded(x, dtype):
    """`x` as `dtype`: integers are rounded down, as NumPy's are."""
    if dtype is None:
        return x
    dtype = standardize_dtype(dtype)
    return tf.cast(tf.floor(x) if "int" in dtype else x, dtype)


# Windows: their length is a shape, so it has to be known ------------------------------------------


def _window(values):
    return tf.constant(values.astype(tf.as_dtype(config.floatx()).as_numpy_dtype))


def bartlett(x):
    return _window(np.bartlett(int(x)))


def blackman(x):
    return _window(np.blackman(int(x)))


def hamming(x):
    return _window(np.hamming(int(x)))


def hanning(x):
    return _window(np.hanning(int(x)))


def kaiser(x, beta):
    length = int(x)
    if length == 1:
        return tf.ones([1], config.floatx())
    beta = convert_to_tensor(beta, config.floatx())
    place = np.linspace(-1.0, 1.0, length)
    height = _window(np.sqrt(1 - place * place))
    return tf.math.bessel_i0(beta * height) / tf.math.bessel_i0(beta)
