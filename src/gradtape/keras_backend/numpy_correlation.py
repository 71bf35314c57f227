"""How vectors and the rows of a matrix go together."""

from keras.src.backend import config

import gradtape as tf

from .numpy_elementwise import conjugate
from .numpy_promotion import as_floats, promoted_floats


def correlate(x1, x2, mode="valid"):
    """The sums of products of one vector with another that is moved along it."""
    x1, x2 = promoted_floats(x1, x2)
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"Invalid mode: '{mode}'. Mode must be one of: 'full', 'same', 'valid'.")
    longer, shorter = max(x1.shape[0], x2.shape[0]), min(x1.shape[0], x2.shape[0])
    # Of every product those add up whose places differ by the same.
    padded = tf.pad(x1, [[x2.shape[0] - 1] * 2])
    found = tf.linalg.matvec(tf.signal.frame(padded, x2.shape[0], 1), conjugate(x2))
    if mode == "full":
        return found
    if mode == "same":
        # The middle, which for a longer second vector is NumPy's of the two exchanged.
        start = (shorter - 1) // 2 if x1.shape[0] == longer else shorter // 2
        return found[start : start + longer]
    return found[shorter - 1 : longer]


def corrcoef(x):
    """The correlation of each two rows."""
    x = as_floats(x)
    if not x.ndim:
        return tf.constant(float("nan"), config.floatx())
    x -= tf.reduce_mean(x, -1, keepdims=True)
    x = tf.reshape(x, [-1, x.shape[-1]])
    covariance = tf.matmul(x, x, adjoint_b=True)
    spread = tf.sqrt(tf.linalg.diag_part(covariance))
    found = covariance / spread[:, None] / spread
    return found if found.shape[0] > 1 else found[0, 0]
