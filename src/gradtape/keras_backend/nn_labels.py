"""Classes as vectors of zeros and ones."""

from keras.src.backend.common import standardize_dtype
from keras.src.backend.config import floatx

import gradtape as tf

from .core import convert_to_tensor


def one_hot(x, num_classes, axis=-1, dtype=None, sparse=False):
    """1 at the place of each class, 0 elsewhere; all 0 for what is no class."""
    dtype = floatx() if dtype is None else standardize_dtype(dtype)
    classes = convert_to_tensor(x, dtype="int64", sparse=False)
    if sparse:
        return _sparse_one_hot(classes, num_classes, axis, dtype)
    on, off = (True, False) if dtype == "bool" else (None, None)
    return tf.one_hot(classes, num_classes, on, off, axis=axis, dtype=dtype)


def _sparse_one_hot(classes, num_classes, axis, dtype):
    axis = axis % (classes.shape.rank + 1)
    is_class = tf.logical_and(classes >= 0, classes < num_classes)
    places = tf.where(is_class)
    found = tf.boolean_mask(classes, is_class)[:, tf.newaxis]
    indices = tf.concat([places[:, :axis], found, places[:, axis:]], 1)
    shape = [*classes.shape[:axis], num_classes, *classes.shape[axis:]]
    return tf.sparse.reorder(tf.SparseTensor(indices, tf.ones(found.shape[:1], dtype), shape))


def multi_hot(x, num_classes, axis=-1, dtype=None, sparse=False):
    """1 at the places of all classes of a sample, 0 elsewhere."""
    x = convert_to_tensor(x, sparse=False)
    each = one_hot(x, num_classes, axis=axis, dtype=dtype)
    largest = tf.reduce_any if each.dtype == tf.bool else tf.reduce_max
    found = largest(each, axis=1 if x.shape.rank > 1 else 0)
    return tf.sparse.from_dense(found) if sparse else found
