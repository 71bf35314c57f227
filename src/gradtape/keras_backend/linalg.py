"""Matrix decompositions, solutions and norms, as Keras names them."""

from typing import Any

import numpy as np
from keras.src import tree
from keras.src.backend.common import dtypes

import gradtape as tf

from .core import cast, convert_to_tensor
from .floating import floating


def _same_floating(a, b):
    a, b = floating(a), floating(b)
    if a.dtype == b.dtype:
        return a, b
    dtype = dtypes.result_type(a.dtype.name, b.dtype.name)
    return cast(a, dtype), cast(b, dtype)


def cholesky(a, upper=False):
    found = tf.linalg.cholesky(floating(a))
    # A matrix that is not positive definite gives NaNs; Keras asks for a ValueError. What is being
    # traced has no values yet.
    if not tf.is_symbolic_tensor(found) and np.isnan(found).any():
        raise ValueError(
            "Cholesky decomposition failed. "
            "The input might not be a valid positive definite matrix."
        )
    return tf.linalg.adjoint(found) if upper else found


def cholesky_inverse(a, upper=False):
    """The inverse of the matrix whose Cholesky factor is `a`."""
    a = floating(a)
    identity = tf.eye(a.shape[-1], batch_shape=a.shape[:-2], dtype=a.dtype)
    inverse = tf.linalg.triangular_solve(a, identity, lower=not upper)
    return tf.matmul(inverse, inverse, transpose_a=not upper, transpose_b=upper)


def det(a):
    return tf.linalg.det(floating(a))


def eig(a):
    return tuple(tf.linalg.eig(floating(a)))


def eigh(a):
    return tuple(tf.linalg.eigh(floating(a)))


def inv(a):
    return tf.linalg.inv(floating(a))


def lu_factor(a):
    """Both triangles in one matrix, and the row that each row in turn was exchanged with.

    Elimination column by column: `tf.linalg.lu` gives a permutation, and of square matrices only.
    """
    a = floating(a)
    rows, columns = a.shape[-2:]
    pivots = []
    for k in range(min(rows, columns)):
        pivot = k + tf.argmax(tf.abs(a[..., k:, k]), axis=-1, output_type="int32")
        pivots.append(pivot)
        order = _exchanged(pivot, k, rows)
        a = tf.gather(a, order, axis=-2, batch_dims=order.shape.rank - 1)
        top = a[..., k : k + 1, k + 1 :]
        divisor = a[..., k : k + 1, k : k + 1]
        # A column of zeros has nothing to eliminate.
        is_zero = divisor == 0
        factors = a[..., k + 1 :, k : k + 1] / tf.where(is_zero, tf.ones_like(divisor), divisor)
        rest = tf.concat([factors, a[..., k + 1 :, k + 1 :] - factors * top], -1)
        lower = tf.concat([a[..., k + 1 :, :k], rest], -1)
        a = tf.concat([a[..., : k + 1, :], lower], -2)
    return a, tf.stack(pivots, axis=-1)


def _exchanged(pivot, k, count):
    """The numbers of `count` rows, `k` and `pivot` in each other's place."""
    pivot = tf.expand_dims(pivot, -1)
    order = tf.range(count)
    return tf.where(order == k, pivot, tf.where(order == pivot, k, order))


def qr(x, mode="reduced"):
    if mode not in {"reduced", "complete"}:
        raise ValueError(
            "`mode` argument value not supported. Expected one of {'reduced', 'complete'}. "
            f"Received: mode={mode}"
        )
    return tuple(tf.linalg.qr(floating(x), full_matrices=mode == "complete"))


def svd(x, full_matrices=True, compute_uv=True):
    found = tf.linalg.svd(floating(x), full_matrices=full_matrices, compute_uv=compute_uv)
    if not compute_uv:
        return found
    s, u, v = found
    return u, s, tf.linalg.adjoint(v)


# Solutions ----------------------------------------------------------------------------------------


def solve(a, b):
    return _solve(tf.linalg.solve, a, b)


def solve_triangular(a, b, lower=False):
    return _solve(tf.linalg.triangular_solve, a, b, lower=lower)


def _solve(solver, a, b, **kwargs):
    """A solution for the columns of `b`, or for `b` as one column of each matrix."""
    a, b = _same_floating(a, b)
    if b.shape.rank == a.shape.rank - 1:
        return tf.squeeze(solver(a, tf.expand_dims(b, -1), **kwargs), -1)
    return solver(a, b, **kwargs)


def lstsq(a, b, rcond=None):
    """The shortest of the vectors `x` for which `a @ x` is nearest to `b`."""
    a, b = _same_floating(a, b)
    if a.shape.rank != 2:
        raise TypeError(f"{a.shape.rank}-dimensional array given. Array must be two-dimensional")
    if b.shape.rank not in (1, 2):
        raise TypeError(
            f"{b.shape.rank}-dimensional array given. Array must be one or two-dimensional"
        )
    if a.shape[0] != b.shape[0]:
        raise ValueError("Leading dimensions of input arrays must match")
    smallest = float(np.finfo(a.dtype.as_numpy_dtype).eps)
    if rcond is None:
        rcond = smallest * max(a.shape)
    # What is below its share of the largest singular value counts as nothing.
    inverse = tf.linalg.pinv(a, rcond=rcond if rcond >= 0 else smallest)
    return tf.linalg.matvec(inverse, b) if b.shape.rank == 1 else tf.matmul(inverse, b)


def pinv(x, rcond=None):
    return tf.linalg.pinv(_matrix(x), rcond=rcond)


def matrix_rank(x, tol=None):
    return tf.cast(tf.linalg.matrix_rank(_matrix(x), tol=tol), "int32")


def _matrix(x):
    x = floating(x)
    if x.shape.rank < 2:
        raise ValueError(f"Expected input to have rank >= 2. Received input with shape {x.shape}.")
    return x


# Norms --------------------------------------------------------------------------------------------


def norm(x, ord=None, axis=None, keepdims=False):
    x = floating(x)
    rank = x.shape.rank
    if axis is None:
        axes = tuple(range(rank))
        if ord is None:  # of all elements, however many axes there are
            return _two_norm(x, axes, keepdims)
    else:
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
    if any([each < -rank or each >= rank for each in axes]):
        raise ValueError(
            "All `axis` values must be in the range [-ndim, ndim). "
            f"Received inputs with ndim={rank}, while axis={axis}"
        )
    axes = tuple([each % rank for each in axes])
    if len(axes) == 1:
        return _vector_norm(x, ord, axes[0], keepdims)
    if len(axes) == 2 and axes[0] != axes[1]:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ValueError(f"Invalid axis values. Received: axis={axis}")


def _two_norm(x, axes, keepdims):
    size = tf.abs(x) if x.dtype.is_complex else x
    return tf.sqrt(tf.reduce_sum(tf.square(size), axis=axes, keepdims=keepdims))


def _vector_norm(x, ord, axis, keepdims):
    if isinstance(ord, str):
        raise ValueError(f"Invalid `ord` argument for vector norm. Received: ord={ord}")
    if ord is None or ord == 2:
        return _two_norm(x, axis, keepdims)
    size = tf.abs(x)
    if ord in (np.inf, -np.inf):
        extreme = tf.reduce_max if ord > 0 else tf.reduce_min
        return extreme(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return tf.reduce_sum(tf.cast(x != 0, size.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return tf.reduce_sum(size, axis=axis, keepdims=keepdims)
    power = tf.cast(ord, size.dtype)
    return tf.reduce_sum(size**power, axis=axis, keepdims=keepdims) ** (1 / power)


def _matrix_norm(x, ord, axes, keepdims):
    row, column = axes
    if ord is None or ord == "fro":
        return _two_norm(x, axes, keepdims)
    if ord in (1, -1, np.inf, -np.inf):
        summed, remaining = (row, column) if abs(ord) == 1 else (column, row)
        sums = tf.reduce_sum(tf.abs(x), axis=summed, keepdims=True)
        extreme = tf.reduce_max if ord > 0 else tf.reduce_min
        found = extreme(sums, axis=remaining, keepdims=True)
        return found if keepdims else tf.squeeze(found, axes)
    if ord not in ("nuc", 2, -2):
        raise ValueError(f"Invalid `ord` argument for matrix norm. Received: ord={ord}")
    others = [axis for axis in range(x.shape.rank) if axis not in axes]
    values = tf.linalg.svd(tf.transpose(x, [*others, row, column]), compute_uv=False)
    reduce = {"nuc": tf.reduce_sum, 2: tf.reduce_max, -2: tf.reduce_min}[ord]
    found = reduce(values, axis=-1)
    if keepdims:
        for axis in sorted(axes):
            found = tf.expand_dims(found, axis)
    return found


def jvp(fun, primals, tangents, has_aux=False):
    """The results of `fun`, and their derivatives in the direction of `tangents`."""
    arguments: Any = tree.map_structure(convert_to_tensor, tuple(primals))
    values = tree.flatten(arguments)
    directions = [
        cast(direction, value.dtype)
        for direction, value in zip(tree.flatten(tangents), values, strict=True)
    ]
    with tf.autodiff.ForwardAccumulator(values, directions) as accumulator:
        found = fun(*arguments)
        outputs, aux = found if has_aux else (found, None)
    derivatives = tree.map_structure(
        lambda output: accumulator.jvp(output, unconnected_gradients="zero"), outputs
    )
    return (outputs, derivatives, aux) if has_aux else (outputs, derivatives)
