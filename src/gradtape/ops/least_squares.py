"""Matrices that are not square: pseudoinverses, ranks, least squares."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand, operands
from ..core.dispatch import apply, quiet
from ..core.exports import export
from ..core.op import Spec
from .arithmetic import add, mul, sub
from .axes import reduce_with
from .broadcasting import sum_
from .casting import cast_row
from .contraction import matmul
from .extremes import max_
from .factorizations import cholesky
from .families import opaque
from .linalg import singular_values
from .logic import greater
from .matrices import ACCEPTS, batch_leading, check_matrices, in_working_precision, times
from .solvers import cholesky_solve

# Pseudoinverses -----------------------------------------------------------------------------------


def _infer_pinv(input, rcond):
    check_matrices("PseudoInverse", input, ACCEPTS)
    *lead, rows, columns = input.shape
    return Spec((*lead, columns, rows), input.dtype)


def _pinv(input, rcond):
    rcond = np.asarray(rcond)
    u, s, v_adjoint = np.linalg.svd(input, full_matrices=False)
    cutoff = rcond[..., None] * s.max(-1, keepdims=True, initial=0)
    inverse = np.where(s > cutoff, 1 / np.where(s > cutoff, s, 1), 0).astype(s.dtype)
    return np.matmul(
        v_adjoint.swapaxes(-1, -2).conj(), inverse[..., :, None] * u.swapaxes(-1, -2).conj()
    )


def _pinv_rule(g, input, out):
    """The adjoint of the derivative that holds as long as the rank stays the same."""
    through = times(times(out, g, adjoint_a=True), out, adjoint_b=True)
    # What maps to nothing: the rest of each space beside the one that the matrix acts in.
    left = times(g, times(out, out, adjoint_b=True), adjoint_a=True)
    left = sub(left, times(input, times(out, left)))
    right = times(times(out, out, adjoint_a=True), g, adjoint_b=True)
    right = sub(right, times(times(right, out), input))
    return sub(add(left, right), through)


pinv_row = opaque(
    "PseudoInverse",
    quiet(in_working_precision(_pinv)),
    inputs="input rcond",
    infer=_infer_pinv,
    vjp={"input": _pinv_rule},
    batch=batch_leading,
    holomorphic=False,
    raw=False,
)


def _pseudoinverse(x, rcond=None):
    """The pseudoinverse; singular values up to `rcond` times the largest count as zero."""
    shape, real_dtype = x._value.shape, x.dtype.real_dtype
    if rcond is None:
        rcond = 10.0 * max(shape[-2:]) * float(np.finfo(real_dtype.numpy_dtype).eps)
    rcond = np.asarray(convert_to_tensor(rcond, real_dtype))
    rcond = operand(np.broadcast_to(rcond, shape[:-2]).astype(real_dtype.numpy_dtype))
    return apply(pinv_row.op, (x, rcond))


def _needs_matrices(x):
    rank = len(x._value.shape)
    if rank < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {rank}).")


@export("linalg.pinv")
def pinv(a, rcond=None, validate_args=False, name=None):
    """The pseudoinverse of matrices.

    Args:
        a: matrices.
        rcond: singular values up to this, times the largest, count as zero; one number, or one for
            each matrix. By default 10 times the larger side of the matrices times the rounding.

    Raises:
        TypeError: the matrices are not of a floating dtype.
        ValueError: these are not matrices.
    """
    x = operand(a)
    if not x.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {x.dtype.name}).")
    _needs_matrices(x)
    return _pseudoinverse(x, rcond)


# Ranks --------------------------------------------------------------------------------------------


@export("linalg.matrix_rank")
def matrix_rank(a, tol=None, validate_args=False, name=None):
    """The rank of matrices: how many singular values are greater than `tol`.

    Args:
        a: matrices.
        tol: by default the largest singular value times the larger side times the rounding.

    Raises:
        ValueError: these are not matrices.
    """
    x = convert_to_tensor(a, dtype_hint=dtypes.float32)
    _needs_matrices(x)
    s = apply(singular_values.op, (x,))
    if tol is None:
        rounding = float(np.finfo(s._value.dtype).eps) * max(x._value.shape[-2:])
        tol = mul(reduce_with(max_, s, -1, True), rounding) if s._value.shape[-1] else s
    else:
        tol = operand(tol, s)
    is_counted = greater.op.on_tensors(s, tol)
    counted = apply(cast_row.op, (is_counted,), {"dtype": np.dtype(np.int32)})
    return reduce_with(sum_, counted, -1, False)


# Least squares ------------------------------------------------------------------------------------


@export("linalg.lstsq")
def lstsq(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """The x that makes the length of matrix @ x - rhs least; of several, the shortest.

    Args:
        matrix: matrices.
        rhs: right-hand sides, as matrices whose columns they are.
        l2_regularizer: the weight of the squared length of x beside that of the difference; used
            only if `fast`.
        fast: whether to solve the normal equations, which squares the condition of the matrix and
            needs full rank; otherwise a singular value decomposition is used.

    Raises:
        InvalidArgumentError: the shapes do not agree.
    """
    matrix, rhs = operands(matrix, rhs)
    if not fast:
        return matmul(_pseudoinverse(matrix), rhs)
    rows, columns = matrix._value.shape[-2:] if len(matrix._value.shape) > 1 else (0, 0)
    if rows >= columns:
        products = matmul(matrix, rhs, adjoint_a=True)
        gram = matmul(matrix, matrix, adjoint_a=True)
        return cholesky_solve(cholesky(_regularized(gram, l2_regularizer)), products)
    gram = matmul(matrix, matrix, adjoint_b=True)
    solved = cholesky_solve(cholesky(_regularized(gram, l2_regularizer)), rhs)
    return matmul(matrix, solved, adjoint_a=True)


def _regularized(gram, weight):
    if isinstance(weight, (int, float)) and not weight:
        return gram
    weight = convert_to_tensor(weight, gram.dtype.real_dtype)
    if weight.dtype is not gram.dtype:
        weight = apply(cast_row.op, (weight,), {"dtype": gram._value.dtype})
    unit = operand(np.eye(gram._value.shape[-1], dtype=gram._value.dtype))
    return add(gram, mul(unit, weight))
