"""Classes as vectors of zeros and ones."""

from keras.src.backend.common import standardize_dtype
from keras.src.backend.config import floatx

import gradtape as tf

from .core import convert_to_tensor


def one_hot(x, num_classes, axis=-1, dtype=None, sparse=False):
    """1 at the place of each class, 0 elsewhere; all 0 for what is no class."""
    if sparse:
        raise ValueError("Unsupported value `sparse=True` with the gradtape backend")
    dtype = floatx() if dtype is None else standardize_dtype(dtype)
    on, off = (True, False) if dtype == "bool" else (None, None)
    classes = convert_to_tensor(x, dtype="int64")
    return tf.one_hot(classes, num_classes, on, off, axis=axis, dtype=dtype)


def multi_hot(x, num_classes, axis=-1, dtype=None, sparse=False):
    """1 at the places of all classes of a sample, 0 elsewhere."""
    x = convert_to_tensor(x)
    each = one_hot(x, num_classes, axis=axis, dtype=dtype, sparse=sparse)
    largest = tf.reduce_any if each.dtype == tf.bool else tf.reduce_max
    return largest(each, axis=1 if x.shape.rank > 1 else 0)
