"""Products of vectors, matrices and more axes."""

import math

import gradtape as tf

from .numpy_promotion import dense, promoted


def matmul(x1, x2):
    return _summing(_matmul, *_factors(x1, x2))


def _factors(*operands):
    """Operands of one dtype: 8-bit integers alone give sums that need 32 bits."""
    factors = promoted(*operands)
    if factors[0].dtype.name == "int8" and all([dense(x).dtype.name == "int8" for x in operands]):
        return [tf.cast(x, "int32") for x in factors]
    return factors


def _summing(product, *operands):
    """A sum of products; of booleans it tells whether any product is true."""
    if not operands[0].dtype.is_bool:
        return product(*operands)
    return tf.cast(product(*[tf.cast(x, "int32") for x in operands]), "bool")


def _matmul(x1, x2):
    rank1, rank2 = x1.shape.rank, x2.shape.rank
    if rank2 == 2 and rank1 > 2:
        # One large product is faster than many small ones, most of all in the gradient of x2.
        *before, size = x1.shape
        rows = tf.matmul(tf.reshape(x1, [math.prod(before), size]), x2)
        return tf.reshape(rows, [*before, x2.shape[-1]])
    if rank1 > 1 and rank2 > 1:
        return tf.matmul(x1, x2)
    if not rank1 or not rank2:
        raise ValueError(
            "matmul needs operands of at least one dimension. "
            f"Received: x1.shape={x1.shape}, x2.shape={x2.shape}"
        )
    found = tf.matmul(x1[tf.newaxis] if rank1 == 1 else x1, x2[:, tf.newaxis] if rank2 == 1 else x2)
    return tf.squeeze(found, [-axis for axis, rank in ((2, rank1), (1, rank2)) if rank == 1])


def dot(x1, x2):
    x1, x2 = promoted(x1, x2)
    if not x1.shape.rank or not x2.shape.rank:
        return x1 * x2
    last = -1 if x2.shape.rank == 1 else -2
    return _summing(lambda a, b: tf.tensordot(a, b, [[-1], [last]]), x1, x2)


def inner(x1, x2):
    x1, x2 = promoted(x1, x2)
    if not x1.shape.rank or not x2.shape.rank:
        return x1 * x2
    return _summing(lambda a, b: tf.tensordot(a, b, [[-1], [-1]]), x1, x2)


def vdot(x1, x2):
    x1, x2 = [tf.reshape(x, [-1]) for x in promoted(x1, x2)]
    if x1.dtype.is_complex:
        x1 = tf.math.conj(x1)
    return _summing(lambda a, b: tf.tensordot(a, b, 1), x1, x2)


def tensordot(x1, x2, axes=2):
    return _summing(lambda a, b: tf.tensordot(a, b, axes), *promoted(x1, x2))


def einsum(subscripts, *operands, **kwargs):
    """Sums of products in Einstein's notation; options of how to compute them change nothing."""
    operands = _factors(*operands)
    return _summing(lambda *factors: tf.einsum(subscripts, *factors), *operands)


def outer(x1, x2):
    x1, x2 = promoted(x1, x2)
    return tf.reshape(x1, [-1, 1]) * tf.reshape(x2, [1, -1])


def kron(x1, x2):
    return tf.experimental.numpy.kron(*promoted(x1, x2))


def cross(x1, x2, axisa=-1, axisb=-1, axisc=-1, axis=None):
    x1, x2 = promoted(x1, x2)
    if x1.dtype.is_bool:
        raise TypeError("cross does not support dtype=bool.")
    return tf.experimental.numpy.cross(x1, x2, axisa, axisb, axisc, axis)
