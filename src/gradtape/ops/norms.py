"""Norms of vectors and matrices, along axes."""

import math

import numpy as np

from ..core import dtypes
from ..core.convert import operand
from ..core.dispatch import apply
from ..core.exports import export
from ..core.op import Spec
from .arithmetic import add, div_no_nan, masked, mul, real_div
from .axes import batch, infer_for, reduce_with
from .broadcasting import (
    MANY_ROWS,
    check_axes,
    not_allowed,
    reduced_shape,
    reshape,
    spread,
    sum_,
    working_dtype,
)
from .complex_numbers import complex_
from .elementwise import abs_public, is_finite
from .extremes import max_
from .families import opaque, shape_of
from .identity import stop_gradient_row
from .joining import all_batched, pack
from .linalg import largest_singular_value
from .logic import logical_and, not_equal
from .pointwise import dtype_mismatch
from .selection import select, zero_of

# Where a norm is less, the squares have lost digits: they vanish below the smallest number.
_LEAST = {
    np.dtype(kind): float(np.finfo(kind).tiny / np.finfo(kind).eps) ** 0.5
    for kind in (np.float32, np.float64)
}


def _euclidean_norm(x, axis, keepdims):
    if not axis:
        return np.abs(x)
    dtype = x.dtype
    if dtype.kind in "iu":
        return np.sqrt(_sum_of_squares(x, axis, keepdims)).astype(dtype)
    working = working_dtype(dtype)
    if working is not dtype:
        x = x.astype(working)
    norm = np.sqrt(_sum_of_squares(x, axis, keepdims))
    if norm.size:
        lowest = highest = norm
        if norm.shape:
            lowest, highest = np.minimum.reduce(norm, None), np.maximum.reduce(norm, None)
        if not (lowest > _LEAST[working] and highest < np.inf):
            norm = _scaled_norm(x, axis, keepdims)
    return norm if working is dtype else norm.astype(dtype)


def _scaled_norm(x, axis, keepdims):
    """The norm by squares of elements divided by the largest: none vanishes or overflows."""
    top = np.maximum.reduce(np.abs(x), axis, keepdims=True, initial=0)
    scale = np.where(np.isfinite(top) & (top > 0), top, x.dtype.type(1))
    norm = np.sqrt(_sum_of_squares(x / scale, axis, True)) * scale
    return norm.reshape(reduced_shape(x.shape, axis, keepdims))[()]


# Sums of so many squares are formed in one go, without losing digits, and then added up in pairs.
_CHUNK = 1 << 15


def _sum_of_squares(x, axis, keepdims):
    """The sum of squares along axes; if these are neighbours, the squares are never all held."""
    if not axis:
        return np.square(x)
    if x.dtype.kind != "f" or not x.flags.c_contiguous:
        return sum_.op.kernel(np.square(x), axis=axis, keepdims=keepdims)
    if len(axis) == x.ndim:
        total = _all_squares(x.reshape(-1))
        return total.reshape((1,) * x.ndim) if keepdims else total
    if axis in ((-1,), (x.ndim - 1,)) and x.shape[-1] <= _CHUNK and not keepdims:
        return np.vecdot(x, x)
    axes = sorted([a % x.ndim for a in axis])
    stop = axes[-1] + 1
    if stop - axes[0] != len(axes):
        return sum_.op.kernel(np.square(x), axis=axis, keepdims=keepdims)
    shape = x.shape
    rest = math.prod(shape[stop:])
    rows = x.reshape((math.prod(shape[: axes[0]]), math.prod(shape[axes[0] : stop]), rest))
    total = _inner_squares(rows[..., 0]) if rest == 1 else _column_squares(rows)
    return total.reshape(reduced_shape(shape, axis, keepdims))[()]


def _column_squares(x):
    """The sums of squares along the second of three axes; many rows are added up in parts."""
    rows = x.shape[1]
    if rows < MANY_ROWS:
        return np.einsum("lij,lij->lj", x, x)
    parts = math.isqrt(rows)
    taken = rows - rows % parts
    split = x[:, :taken].reshape(len(x), parts, taken // parts, x.shape[2])
    total = np.add.reduce(np.einsum("lpij,lpij->lpj", split, split), 1)
    if taken < rows:
        total += np.einsum("lij,lij->lj", x[:, taken:], x[:, taken:])
    return total


def _all_squares(x):
    """The sum of squares of a vector."""
    chunks = x.size // _CHUNK
    rest = x[chunks * _CHUNK :]
    total = np.dot(rest, rest)
    if chunks:
        whole = x[: chunks * _CHUNK].reshape((chunks, _CHUNK))
        total += np.add.reduce(np.vecdot(whole, whole))
    return total


def _inner_squares(rows):
    """The sum of squares of each row."""
    count, size = rows.shape
    chunks = size // _CHUNK
    rest = rows[:, chunks * _CHUNK :]
    total = np.vecdot(rest, rest)
    if chunks:
        whole = rows[:, : chunks * _CHUNK].reshape((count, chunks, _CHUNK))
        total += np.add.reduce(np.vecdot(whole, whole), axis=-1)
    return total


def _squares(x, axis, keepdims):
    working = working_dtype(x.dtype)
    if working is x.dtype:
        return _sum_of_squares(x, axis, keepdims)
    return _sum_of_squares(x.astype(working), axis, keepdims).astype(x.dtype)


sum_of_squares = opaque(
    "SumOfSquares",
    _squares,
    inputs="x",
    infer=infer_for("SumOfSquares", dtypes.FLOATING),
    vjp={
        "x": lambda g, x, *, axis, keepdims: mul(
            spread(mul(g, 2.0), shape_of(x), axis, keepdims), x
        )
    },
    jvp=lambda tangents, inputs, out, attrs: mul(sum_(mul(tangents[0], inputs[0]), **attrs), 2.0),
    batch=batch,
    raw=False,
)


def _unit(x, out, axis, keepdims):
    """x / |x|, and 0 where the norm is 0: of all subgradients there the smallest."""
    return div_no_nan(x, spread(out, shape_of(x), axis, keepdims))


euclidean_norm = opaque(
    "EuclideanNorm",
    _euclidean_norm,
    inputs="x",
    infer=infer_for("EuclideanNorm", dtypes.REAL),
    vjp={
        "x": lambda g, x, out, *, axis, keepdims: mul(
            spread(g, shape_of(x), axis, keepdims), _unit(x, out, axis, keepdims)
        )
    },
    jvp=lambda tangents, inputs, out, attrs: sum_(
        mul(tangents[0], _unit(inputs[0], out, **attrs)), **attrs
    ),
    batch=batch,
    raw="input:x, axis, keep_dims:keepdims=False",
)


# Norm of several tensors --------------------------------------------------------------------------


def _infer_global_norm(*values):
    first = values[0].dtype
    for i, x in enumerate(values):
        if x.dtype != first:
            raise dtype_mismatch("Pack", i, first, x.dtype)
    if first not in dtypes.FLOATING:
        raise not_allowed("L2Loss", first, dtypes.FLOATING)
    return Spec((), first)


def _global_norm(*values):
    norms = [_euclidean_norm(x, tuple(range(x.ndim)), False) for x in values]
    return norms[0] if len(norms) == 1 else _euclidean_norm(np.array(norms), (0,), False)


def _tangent_of_global_norm(tangents, inputs, out, attrs):
    total = None
    for tangent, x in zip(tangents, inputs, strict=True):
        if tangent is not None:
            axis = tuple(range(len(shape_of(x))))
            term = sum_(mul(tangent, div_no_nan(x, out)), axis=axis, keepdims=False)
            total = term if total is None else add(total, term)
    return total


def _batch_global_norm(op, values, flags, attrs):
    norms = [
        euclidean_norm(x, axis=tuple(range(1, len(shape_of(x)))), keepdims=False)
        for x in all_batched(values, flags)
    ]
    return euclidean_norm(pack(norms, axis=0), axis=(0,), keepdims=False)


global_norm_row = opaque(
    "GlobalNorm",
    _global_norm,
    inputs="*values",
    infer=_infer_global_norm,
    vjp=lambda g, values, out: tuple([mul(g, div_no_nan(x, out)) for x in values]),
    jvp=_tangent_of_global_norm,
    batch=_batch_global_norm,
    raw=False,
)


# Public functions ---------------------------------------------------------------------------------


@export("math.reduce_euclidean_norm")
def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """The Euclidean norm along axes, without overflow; its gradient at 0 is 0."""
    x = operand(input_tensor)
    if not x.dtype.is_complex:
        return reduce_with(euclidean_norm, x, axis, keepdims)
    size = reduce_with(euclidean_norm, abs_public(x), axis, keepdims)
    return complex_(size, zero_of(size))


@export("norm linalg.norm")
def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None):
    """The norm of vectors or matrices, without overflow; its gradient at 0 is 0.

    Args:
        tensor: a floating or complex tensor.
        ord: "euclidean" (Frobenius for matrices), 1, 2, another positive number, or np.inf.
        axis: an axis for vectors, a pair for matrices, None for the whole tensor as a vector.
        keepdims: whether to keep the reduced axes with length 1.

    Raises:
        ValueError: there is no such norm, or `axis` is neither of those.
        InvalidArgumentError: there is no such axis, or the tensor's dtype has no roots.
    """
    x = operand(tensor)
    keepdims = bool(keepdims)
    axes, of_matrices = _axes_of_norm(axis, len(x._value.shape))
    if of_matrices:
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError(
                "'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got "
                f"{ord}"
            )
    elif ord != "euclidean" and (isinstance(ord, str) or ord <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    if ord in ("euclidean", "fro") or (ord == 2 and not of_matrices):
        dtype = x._value.dtype
        if dtype not in dtypes.DIFFERENTIABLE:
            raise not_allowed("Sqrt", dtype, dtypes.DIFFERENTIABLE)
        if dtype.kind == "c":
            return reduce_euclidean_norm(x, axes, keepdims)
        return apply(euclidean_norm.op, (x,), {"axis": axes, "keepdims": keepdims})
    if of_matrices:
        return _matrix_norm(x, ord, axes, keepdims)
    size = abs_public(x)
    if ord == np.inf:
        return reduce_with(max_, size, axes, keepdims)
    if ord == 1:
        return reduce_with(sum_, size, axes, keepdims)
    return _p_norm(size, ord, axes, keepdims)


def _axes_of_norm(axis, rank):
    """The axes of a norm, not negative, and whether they are those of matrices."""
    if axis is None:
        return tuple(range(rank)), False
    if type(axis) is int:
        check_axes("EuclideanNorm", rank, (axis,))
        return (axis % rank,), False
    given = np.asarray(axis)
    of_matrices = given.shape == (2,)
    if given.dtype.kind not in "iu" or (given.ndim and not of_matrices):
        raise _wrong_axis(axis)
    axes = given.reshape(-1).tolist()
    if of_matrices and axes[0] == axes[1]:
        raise _wrong_axis(axis)
    check_axes("EuclideanNorm", rank, axes)
    return tuple([a % rank for a in axes]), of_matrices


def _wrong_axis(axis):
    return ValueError(
        f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
    )


def _p_norm(size, ord, axes, keepdims):
    """The norm of order `ord`, by powers of elements divided by the largest."""
    if not size.dtype.is_floating:
        raise TypeError(
            f"A norm of order {ord} takes floating-point numbers. Received: {size.dtype!r}."
        )
    zero, one = zero_of(size), add(zero_of(size), 1.0)
    top = stop_gradient_row(reduce_with(max_, size, axes, True))
    scale = select(logical_and(is_finite(top), not_equal(top, zero)), top, one)
    total = reduce_with(sum_, real_div(size, scale) ** ord, axes, keepdims)
    # At 0 the root is kept away from its infinite slope: the gradient there is 0.
    nonzero = not_equal(total, zero)
    root = select(nonzero, total, one) ** (1.0 / ord)
    return masked(mul(root, reshape(scale, shape=shape_of(total))), nonzero)


def _matrix_norm(x, ord, axes, keepdims):
    if ord == 2:
        result = largest_singular_value(x, axes)
    else:
        summed, compared = axes if ord == 1 else axes[::-1]
        sums = reduce_with(sum_, abs_public(x), summed, True)
        result = reduce_with(max_, sums, compared, True)
    return reshape(result, shape=reduced_shape(x._value.shape, axes, keepdims))
