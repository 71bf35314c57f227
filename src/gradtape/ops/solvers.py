"""Linear equations: inverses, and solutions for general and triangular matrices."""

import numpy as np

from ..core import dtypes
from ..core.convert import operand, operands
from ..core.dispatch import apply, quiet
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arithmetic import add, neg, sub
from .broadcasting import not_allowed, sum_to, with_inner_rank, words
from .diagonals import band_part_row
from .families import opaque, shape_of
from .matrices import (
    ACCEPTS,
    adjoint_of,
    batch_leading,
    check_same_dtype,
    in_working_precision,
    infer_square,
    times,
)

# Inverses -----------------------------------------------------------------------------------------


def _adjoint_array(x):
    return x.swapaxes(-1, -2).conj()


def _inverse(input, adjoint):
    if np.isnan(input).any():
        raise invalid_argument("MatrixInverse", "Input is not invertible.")
    try:
        inverse = np.linalg.inv(input)
    except np.linalg.LinAlgError:
        raise invalid_argument("MatrixInverse", "Input is not invertible.") from None
    return _adjoint_array(inverse) if adjoint else inverse


def _inverse_rule(g, out, *, adjoint):
    g = adjoint_of(g) if adjoint else g
    return neg(times(times(out, g, adjoint_a=not adjoint), out, adjoint_b=not adjoint))


def _inverse_jvp(tangents, inputs, out, attrs):
    t = adjoint_of(tangents[0]) if attrs["adjoint"] else tangents[0]
    return neg(times(times(out, t), out))


inverse_row = opaque(
    "MatrixInverse",
    quiet(in_working_precision(_inverse)),
    inputs="input",
    infer=infer_square("MatrixInverse"),
    vjp={"input": _inverse_rule},
    jvp=_inverse_jvp,
    batch=batch_leading,
    holomorphic=False,
    raw="input, adjoint=False",
)


@export("linalg.inv")
def inv(input, adjoint=False, name=None):
    """The inverse of square matrices.

    Args:
        input: the matrices.
        adjoint: whether to invert their adjoints instead.

    Raises:
        InvalidArgumentError: a matrix is singular, or not square.
    """
    return apply(inverse_row.op, (operand(input),), {"adjoint": bool(adjoint)})


# General matrices ---------------------------------------------------------------------------------


def _infer_solve(matrix, rhs, *, adjoint):
    name = "MatrixSolve"
    check_same_dtype(name, matrix, rhs)
    if matrix.dtype not in ACCEPTS:
        raise not_allowed(name, matrix.dtype, ACCEPTS)
    if len(matrix.shape) != len(rhs.shape):
        raise invalid_argument(name, "All input tensors must have the same rank.")
    if len(matrix.shape) < 2:
        raise invalid_argument(name, f"Input tensor 0 must have rank >= 2, got {len(matrix.shape)}")
    if matrix.shape[:-2] != rhs.shape[:-2]:
        raise invalid_argument(name, "All input tensors must have the same outer dimensions.")
    if matrix.shape[-1] != matrix.shape[-2]:
        raise invalid_argument(name, "First input (lhs) must be a square matrix.")
    if matrix.shape[-1] != rhs.shape[-2]:
        raise invalid_argument(name, "Input matrix and rhs are incompatible.")
    return Spec(rhs.shape, rhs.dtype)


def _solve(matrix, rhs, adjoint):
    if np.isnan(matrix).any():
        raise invalid_argument("MatrixSolve", "Input matrix is not invertible.")
    try:
        return np.linalg.solve(_adjoint_array(matrix) if adjoint else matrix, rhs)
    except np.linalg.LinAlgError:
        raise invalid_argument("MatrixSolve", "Input matrix is not invertible.") from None


def _solve_rule(g, matrix, out, *, adjoint, wanted):
    g_rhs = solve_row(matrix, g, adjoint=not adjoint)
    if not wanted[0]:
        return None, g_rhs
    left, right = (out, g_rhs) if adjoint else (g_rhs, out)
    return neg(times(left, right, adjoint_b=True)), g_rhs


def _solve_jvp(tangents, inputs, out, attrs):
    t_matrix, t_rhs = tangents
    if t_matrix is not None:
        moved = neg(times(t_matrix, out, adjoint_a=attrs["adjoint"]))
        t_rhs = moved if t_rhs is None else add(t_rhs, moved)
    return solve_row(inputs[0], t_rhs, **attrs)


solve_row = opaque(
    "MatrixSolve",
    quiet(in_working_precision(_solve)),
    inputs="matrix rhs",
    infer=_infer_solve,
    vjp=_solve_rule,
    jvp=_solve_jvp,
    batch=batch_leading,
    holomorphic=False,
    raw="matrix, rhs, adjoint=False",
)


@export("linalg.solve")
def solve(matrix, rhs, adjoint=False, name=None):
    """Solves matrix @ x = rhs for square matrices.

    Args:
        matrix: the matrices.
        rhs: the right-hand sides, as matrices whose columns they are.
        adjoint: whether to solve with the adjoints of the matrices.

    Raises:
        InvalidArgumentError: a matrix is singular or not square, or the shapes do not agree.
    """
    return apply(solve_row.op, operands(matrix, rhs), {"adjoint": bool(adjoint)})


# Triangular matrices ------------------------------------------------------------------------------

_TRIANGULAR = ACCEPTS | dtypes.numpy_set(dtypes.bfloat16)
_BLOCK = 64


def check_triangular(name, matrix, rhs, accepts=_TRIANGULAR):
    """Raises TensorFlow's errors for right-hand sides that do not go with square matrices.

    Returns:
        The leading axes that both broadcast to.
    """
    check_same_dtype(name, matrix, rhs)
    if matrix.dtype not in accepts:
        raise not_allowed(name, matrix.dtype, accepts)
    for i, x in enumerate((matrix, rhs)):
        if len(x.shape) < 2:
            raise invalid_argument(name, f"In[{i}] ndims must be >= 2: {len(x.shape)}")
    try:
        return np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    except ValueError:
        raise invalid_argument(
            name,
            f"In[0] and In[1] must have compatible batch dimensions: {words(matrix.shape)} vs. "
            f"{words(rhs.shape)}",
        ) from None


def _infer_triangular(matrix, rhs, *, lower, adjoint):
    name = "MatrixTriangularSolve"
    lead = check_triangular(name, matrix, rhs)
    rows, columns = matrix.shape[-2:]
    if rows != columns:
        raise invalid_argument(
            name, f"In[0] matrices in the last dimensions must be square ({columns} =/= {rows})"
        )
    if rows != rhs.shape[-2]:
        raise invalid_argument(
            name,
            f"In[0] mismatch In[1] shape: {rows} vs. {rhs.shape[-2]}: {words(matrix.shape)} "
            f"{words(rhs.shape)} {int(lower)} {int(adjoint)}",
        )
    return Spec((*lead, *rhs.shape[-2:]), rhs.dtype)


def _triangular_solve(matrix, rhs, lower, adjoint):
    if adjoint:
        matrix, lower = _adjoint_array(matrix), not lower
    lead = np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    if matrix.ndim == 2 and rhs.ndim > 2:
        # Many right-hand sides for one matrix are so many more columns.
        columns = np.moveaxis(rhs, -2, 0)
        x = _substituted(
            matrix, columns.reshape(rhs.shape[-2], rhs.size // max(len(columns), 1)), lower
        )
        return np.moveaxis(x.reshape(columns.shape), 0, -2)
    return _substituted(matrix, np.broadcast_to(rhs, (*lead, *rhs.shape[-2:])), lower)


def _substituted(matrix, rhs, lower):
    """Block after block, by products with the blocks that are solved already."""
    size = matrix.shape[-1]
    is_singular = not np.diagonal(matrix, 0, -2, -1).all()
    width = 1 if is_singular else _BLOCK
    x = np.empty(rhs.shape, rhs.dtype)
    starts = range(0, size, width)
    for start in starts if lower else reversed(starts):
        stop = min(start + width, size)
        known = slice(0, start) if lower else slice(stop, size)
        block = rhs[..., start:stop, :]
        if known.start < known.stop:
            block = block - np.matmul(matrix[..., start:stop, known], x[..., known, :])
        corner = matrix[..., start:stop, start:stop]
        # Where the diagonal has zeros the solution is not finite, as it is after a division.
        solved = block / corner if is_singular else _solved(corner, block, lower)
        x[..., start:stop, :] = solved
    return x


def _solved(matrix, rhs, lower):
    """A small triangular system, by LAPACK: an upper triangle is its own LU decomposition."""
    if lower:  # upside down and left to right it is upper
        return _solved(matrix[..., ::-1, ::-1], rhs[..., ::-1, :], False)[..., ::-1, :]
    return np.linalg.solve(np.triu(matrix), rhs)


def _triangular_rule(g, matrix, rhs_shape, out, *, lower, adjoint, wanted):
    g_rhs = triangular_row(matrix, g, lower=lower, adjoint=not adjoint)
    g_matrix = None
    if wanted[0]:
        left, right = (out, g_rhs) if adjoint else (g_rhs, out)
        g_matrix = neg(times(left, right, adjoint_b=True))
        g_matrix = sum_to(_triangle(g_matrix, lower), shape_of(matrix))
    return g_matrix, sum_to(g_rhs, rhs_shape)


def _triangle(x, lower):
    return band_part_row(x, num_lower=-1 if lower else 0, num_upper=0 if lower else -1)


def _triangular_jvp(tangents, inputs, out, attrs):
    from .broadcasting import broadcast_to

    t_matrix, t_rhs = tangents
    if t_rhs is not None:
        t_rhs = broadcast_to(t_rhs, shape=shape_of(out))
    if t_matrix is not None:
        moved = times(_triangle(t_matrix, attrs["lower"]), out, adjoint_a=attrs["adjoint"])
        t_rhs = neg(moved) if t_rhs is None else sub(t_rhs, moved)
    return triangular_row(inputs[0], t_rhs, **attrs)


def batch_broadcasting(op, values, flags, attrs):
    """The batch rule of an op on two stacks of matrices whose leading axes broadcast."""
    ranks = [len(shape_of(x)) - flag for x, flag in zip(values, flags, strict=True)]
    aligned = [
        with_inner_rank(x, max(ranks)) if flag else x for x, flag in zip(values, flags, strict=True)
    ]
    return op.call(*aligned, **attrs)


triangular_row = opaque(
    "MatrixTriangularSolve",
    quiet(in_working_precision(_triangular_solve)),
    inputs="matrix rhs",
    infer=_infer_triangular,
    vjp=_triangular_rule,
    jvp=_triangular_jvp,
    batch=batch_broadcasting,
    holomorphic=False,
    raw="matrix, rhs, lower=True, adjoint=False",
)


@export("linalg.triangular_solve")
def triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None):
    """Solves matrix @ x = rhs for triangular matrices; leading axes broadcast.

    Args:
        matrix: the matrices; what stands in the other triangle is not looked at.
        rhs: the right-hand sides, as matrices whose columns they are.
        lower: whether the matrices are lower triangular; otherwise upper.
        adjoint: whether to solve with the adjoints of the matrices.

    Raises:
        InvalidArgumentError: the matrices are not square, or the shapes do not agree.
    """
    attrs = {"lower": bool(lower), "adjoint": bool(adjoint)}
    return apply(triangular_row.op, operands(matrix, rhs), attrs)


@export("linalg.cholesky_solve")
def cholesky_solve(chol, rhs, name=None):
    """Solves chol @ adjoint(chol) @ x = rhs, where `chol` comes from `tf.linalg.cholesky`."""
    chol, rhs = operands(chol, rhs)
    return triangular_solve(chol, triangular_solve(chol, rhs), adjoint=True)
