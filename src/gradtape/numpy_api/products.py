"""Products of vectors, matrices and more axes; polynomials."""

import gradtape as tf

from .names import numpy_names
from .promotion import as_tensor, numpy_dtype, promoted
from .shaping import moveaxis


@numpy_names("dot")
def dot(a, b):
    """The sum of products over the last axis of `a` and the second to last of `b`."""
    x, y = promoted(a, b)
    if not x.ndim or not y.ndim:
        return x * y
    return tf.tensordot(x, y, [[-1], [-1 if y.ndim == 1 else -2]])


@numpy_names("inner")
def inner(a, b):
    """The sum of products over the last axes."""
    x, y = promoted(a, b)
    return tf.tensordot(x, y, [[-1], [-1]]) if x.ndim and y.ndim else x * y


@numpy_names("matmul")
def matmul(x1, x2):
    """The product of matrices, or of matrices and vectors.

    Raises:
        ValueError: the shapes do not fit.
    """
    x, y = promoted(x1, x2)
    try:
        if y.ndim == 1:
            return tf.tensordot(x, y, 1)
        if x.ndim == 1:
            return tf.tensordot(x, y, [[0], [-2]])
        return tf.matmul(x, y)
    except tf.errors.InvalidArgumentError as error:
        raise ValueError(str(error)) from None


@numpy_names("tensordot")
def tensordot(a, b, axes=2):
    """The sum of products over the given axes."""
    return tf.tensordot(*promoted(a, b), axes)


@numpy_names("vdot")
def vdot(a, b):
    """The sum of products over all elements, those of `a` conjugated."""
    x, y = [tf.reshape(each, [-1]) for each in promoted(a, b)]
    return tf.tensordot(tf.math.conj(x), y, 1)


@numpy_names("outer")
def outer(a, b):
    """The products of all elements of `a` with all of `b`."""
    x, y = promoted(a, b)
    return tf.reshape(x, [-1, 1]) * tf.reshape(y, [-1])


@numpy_names("kron")
def kron(a, b):
    """`b` in each place of `a`, multiplied by the element there."""
    x, y = promoted(a, b)
    rank = max(x.ndim, y.ndim)
    rows = [1] * (rank - x.ndim) + list(x.shape)
    columns = [1] * (rank - y.ndim) + list(y.shape)
    spread = tf.reshape(x, [n for size in rows for n in (size, 1)])
    repeated = tf.reshape(y, [n for size in columns for n in (1, size)])
    shape = [m * n for m, n in zip(rows, columns, strict=True)]
    return tf.reshape(spread * repeated, shape)


@numpy_names("cross")
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The cross product of vectors of 2 or 3 elements.

    Args:
        a: vectors along `axisa`.
        b: vectors along `axisb`.
        axisa: the axis of the vectors of `a`.
        axisb: the axis of the vectors of `b`.
        axisc: where the vectors of the result go; ignored if all vectors have 2 elements.
        axis: all three axes at once.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = promoted(a, b)
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    sizes = (x.shape[-1], y.shape[-1])
    if not set(sizes) <= {2, 3}:
        raise ValueError(
            f"cross takes vectors of 2 or 3 elements. Received: {sizes[0]} and {sizes[1]}"
        )
    x0, x1, *x2 = tf.unstack(x, axis=-1)
    y0, y1, *y2 = tf.unstack(y, axis=-1)
    last = x0 * y1 - x1 * y0
    if not x2 and not y2:
        return last
    x2 = x2[0] if x2 else tf.zeros_like(x0)
    y2 = y2[0] if y2 else tf.zeros_like(y0)
    found = tf.stack([x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, last], axis=-1)
    return moveaxis(found, -1, axisc)


@numpy_names("einsum")
def einsum(subscripts, *operands, **kwargs):
    """Sums of products in Einstein's notation.

    Args:
        subscripts: `"ij,jk->ik"`.
        *operands: the arrays.
        **kwargs: `dtype` to compute in; `casting`, `order` and `optimize` change no result.
    """
    unknown = set(kwargs) - {"casting", "order", "optimize", "dtype"}
    if unknown:
        raise TypeError(f"einsum() got an unexpected keyword argument {min(unknown)!r}")
    tensors = promoted(*operands)
    if kwargs.get("dtype") is not None:
        tensors = [tf.cast(x, numpy_dtype(kwargs["dtype"])) for x in tensors]
    return tf.einsum(subscripts, *tensors)


@numpy_names("polyval")
def polyval(p, x):
    """A polynomial at `x`; its coefficients are given from the highest power down."""
    coefficients, points = promoted(p, x)
    found = tf.zeros_like(points)
    for coefficient in tf.unstack(tf.reshape(coefficients, [-1])):
        found = found * points + coefficient
    return as_tensor(found)
