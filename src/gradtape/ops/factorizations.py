"""Decompositions of matrices into triangular and orthogonal factors: Cholesky, QR, LU."""

from typing import NamedTuple

import numpy as np

from ..core import dtypes
from ..core.convert import operand
from ..core.dispatch import apply, quiet
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import Tensor
from .arithmetic import add, mul, sub
from .casting import cast_row
from .complex_numbers import real
from .diagonals import band_part_row, diag_part_row, set_diag_row
from .families import dtype_of, opaque, shape_of
from .joining import concat_row
from .masks import one_hot_row
from .matrices import (
    adjoint_of,
    batch_leading,
    check_matrices,
    check_square,
    columns_of,
    in_working_precision,
    infer_square,
    times,
    without_complement,
)
from .slicing import EVERYTHING, strided_slice_row
from .solvers import triangular_row


def _main_diagonal(x):
    return diag_part_row(x, k=(0, 0), align="RIGHT_LEFT")


def _with_diagonal(x, diagonal):
    return set_diag_row(x, diagonal, k=(0, 0), align="RIGHT_LEFT")


def _lower(x):
    return band_part_row(x, num_lower=-1, num_upper=0)


def _upper(x):
    return band_part_row(x, num_lower=0, num_upper=-1)


def _strictly_lower(x):
    return _with_diagonal(_lower(x), np.zeros(shape_of(x)[:-1], dtype_of(x)))


def _over_adjoint(x, triangle, lower):
    """x times the inverse of the adjoint of a triangular matrix."""
    solved = triangular_row(triangle, adjoint_of(x), lower=lower, adjoint=False)
    return adjoint_of(solved)


# Cholesky -----------------------------------------------------------------------------------------


def _cholesky(input):
    try:
        return np.linalg.cholesky(input)
    except np.linalg.LinAlgError:
        factors = np.zeros(input.shape, input.dtype)
        for place in np.ndindex(input.shape[:-2]):
            factors[place] = _cholesky_or_nan(input[place])
        return factors


def _cholesky_or_nan(matrix):
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return np.tril(np.full(matrix.shape, np.nan, matrix.dtype))


def _cholesky_rule(g, out):
    """The gradient, made symmetric: only such matrices have a decomposition."""
    inner = _lower(times(out, g, adjoint_a=True))
    inner = _with_diagonal(inner, mul(_main_diagonal(inner), 0.5))
    left = triangular_row(out, inner, lower=True, adjoint=True)
    whole = adjoint_of(triangular_row(out, adjoint_of(left), lower=True, adjoint=True))
    return mul(add(whole, adjoint_of(whole)), 0.5)


cholesky_row = opaque(
    "Cholesky",
    quiet(in_working_precision(_cholesky)),
    inputs="input",
    infer=infer_square("Cholesky"),
    vjp={"input": _cholesky_rule},
    batch=batch_leading,
    holomorphic=False,
)


@export("linalg.cholesky")
def cholesky(input, name=None):
    """The lower triangular factor of positive definite matrices: input = L adjoint(L).

    Only the lower triangle of the input is looked at. What is not positive definite gives NaN.

    Raises:
        InvalidArgumentError: the matrices are not square.
    """
    return apply(cholesky_row.op, (operand(input),))


# QR -----------------------------------------------------------------------------------------------


class Qr(NamedTuple):
    """The factors of matrices."""

    q: Tensor
    r: Tensor


def _infer_qr(input, *, full_matrices):
    check_matrices("Qr", input)
    *lead, rows, columns = input.shape
    inner = rows if full_matrices else min(rows, columns)
    return Spec((*lead, rows, inner), input.dtype), Spec((*lead, inner, columns), input.dtype)


def _qr(input, full_matrices):
    if not input.size:
        *lead, rows, columns = input.shape
        inner = rows if full_matrices else min(rows, columns)
        q = np.broadcast_to(np.eye(rows, inner, dtype=input.dtype), (*lead, rows, inner))
        return q, np.zeros((*lead, inner, columns), input.dtype)
    q, r = np.linalg.qr(input, "complete" if full_matrices else "reduced")
    return q, r


def _qr_rule(g, input, out, *, full_matrices):
    (g_q, g_r), (q, r) = g, out
    rows, columns = shape_of(input)[-2:]
    if full_matrices and rows > columns:
        g_q, q = without_complement(g_q, q, columns)
        top = (Ellipsis, (0, columns, None), EVERYTHING)
        g_r, r = strided_slice_row(g_r, key=top), strided_slice_row(r, key=top)
    if rows >= columns:
        return _qr_of_tall(g_q, g_r, q, r)
    # The first columns are decomposed, the others only turned.
    g_rest = columns_of(g_r, rows, columns)
    g_q = add(g_q, times(columns_of(input, rows, columns), g_rest, adjoint_b=True))
    first = _qr_of_tall(g_q, columns_of(g_r, 0, rows), q, columns_of(r, 0, rows))
    return concat_row([first, times(q, g_rest)], axis=len(shape_of(input)) - 1)


def _qr_of_tall(g_q, g_r, q, r):
    inner = _upper(sub(times(g_r, r, adjoint_b=True), times(q, g_q, adjoint_a=True)))
    diagonal = _main_diagonal(inner)
    if dtype_of(inner).kind == "c":  # the diagonal of r is real, and stays so
        diagonal = cast_row(real(diagonal), dtype=dtype_of(inner))
    inner = _with_diagonal(add(inner, adjoint_of(inner)), diagonal)
    return _over_adjoint(add(g_q, times(q, inner)), r, lower=False)


qr_row = opaque(
    "Qr",
    quiet(in_working_precision(_qr)),
    inputs="input",
    infer=_infer_qr,
    vjp={"input": _qr_rule},
    batch=batch_leading,
    outputs=2,
    holomorphic=False,
    raw="input, full_matrices=False -> q r",
)


@export("linalg.qr")
def qr(input, full_matrices=False, name=None):
    """The decomposition input = q @ r, with orthonormal columns in q and r upper triangular.

    Args:
        input: matrices.
        full_matrices: whether q is square, also where the input has fewer columns than rows.

    Returns:
        A named tuple (q, r).

    Raises:
        NotImplementedError: a gradient is asked for where q has two or more further columns.
    """
    return Qr(*apply(qr_row.op, (operand(input),), {"full_matrices": bool(full_matrices)}))


# LU -----------------------------------------------------------------------------------------------


class Lu(NamedTuple):
    """Both triangles in one matrix, and the permutation of rows."""

    lu: Tensor
    p: Tensor


_PANEL = 32


def _infer_lu(input, *, output_idx_type):
    check_square("Lu", input)
    return Spec(input.shape, input.dtype), Spec(input.shape[:-1], output_idx_type)


def _lu(input, output_idx_type):
    size = input.shape[-1]
    matrices = np.array(
        input.reshape(-1, size, size) if input.size else input.reshape(0, size, size)
    )
    order = np.empty((len(matrices), size), np.int64)
    order[:] = np.arange(size)
    for start in range(0, size, _PANEL):
        stop = min(start + _PANEL, size)
        # With its columns as rows, because whole columns are worked on.
        panel = np.array(matrices[:, start:, start:stop].swapaxes(1, 2), order="C")
        permuted = _factor_panel(panel)
        rows = np.flatnonzero((permuted != np.arange(size - start)).any(0))
        for moved in (matrices, order[:, :, None]):
            taken = np.take_along_axis(moved[:, start:], permuted[:, rows, None], 1)
            moved[:, start + rows] = taken
        matrices[:, start:, start:stop] = panel.swapaxes(1, 2)
        if stop < size:
            right = matrices[:, start:stop, stop:]
            corner = np.tril(matrices[:, start:stop, start:stop], -1)
            right[...] = np.linalg.solve(corner + np.eye(stop - start, dtype=corner.dtype), right)
            matrices[:, stop:, stop:] -= np.matmul(matrices[:, stop:, start:stop], right)
    pivots = np.diagonal(matrices, 0, -2, -1)
    if not (np.abs(pivots) > 0).all():  # false for NaN as well
        raise invalid_argument("Lu", "Input is not invertible.")
    return matrices.reshape(input.shape), order.reshape(input.shape[:-1]).astype(output_idx_type)


def _factor_panel(panel):
    """Eliminates columns, which lie in rows here, of all matrices at once; gives the new order."""
    count, width, size = panel.shape
    batch = np.arange(count)
    order = np.broadcast_to(np.arange(size), (count, size)).copy()
    for j in range(width):
        pivot = j + np.abs(panel[:, j, j:]).argmax(1)
        if (pivot != j).any():
            taken = panel[batch, :, pivot]
            panel[batch, :, pivot] = panel[:, :, j]
            panel[:, :, j] = taken
            order[batch, pivot], order[:, j] = order[:, j], order[batch, pivot]
        below = panel[:, j, j + 1 :]
        below /= panel[:, j, j, None]
        panel[:, j + 1 :, j + 1 :] -= panel[:, j + 1 :, j, None] * below[:, None, :]
    return order


def _lu_rule(g, out):
    """By permutation @ input = lower @ upper; the diagonal of `lower` is 1."""
    g_factors, (factors, order) = g[0], out
    size = shape_of(factors)[-1]
    unit = np.ones(shape_of(factors)[:-1], dtype_of(factors))
    lower, upper = _with_diagonal(_lower(factors), unit), _upper(factors)
    g_lower, g_upper = _strictly_lower(g_factors), _upper(g_factors)
    inner = add(
        _strictly_lower(times(lower, g_lower, adjoint_a=True)),
        _upper(times(g_upper, upper, adjoint_b=True)),
    )
    inner = triangular_row(lower, inner, lower=True, adjoint=True)
    inner = _over_adjoint(inner, upper, lower=False)
    kind = dtype_of(factors).type
    permutation = one_hot_row(order, kind(1), kind(0), depth=size, axis=-1)
    return times(permutation, inner, adjoint_a=True)


lu_row = opaque(
    "Lu",
    quiet(in_working_precision(_lu)),
    inputs="input",
    infer=_infer_lu,
    vjp={"input": _lu_rule},
    batch=batch_leading,
    outputs=2,
    holomorphic=False,
    raw="input, output_idx_type=tf.int32 -> lu p",
)


@export("linalg.lu")
def lu(input, output_idx_type=dtypes.int32, name=None):
    """The decomposition of square matrices with their rows permuted: input[p] = lower @ upper.

    Args:
        input: the matrices.
        output_idx_type: the dtype of the permutation, int32 or int64.

    Returns:
        A named tuple: `lu` holds both factors, without the unit diagonal of `lower`, and `p` the
        permutation.

    Raises:
        InvalidArgumentError: a matrix is singular, or not square.
    """
    kind = dtypes.as_dtype(output_idx_type)
    if kind not in (dtypes.int32, dtypes.int64):
        raise invalid_argument(
            "Lu",
            f"Value for attr 'output_idx_type' of {kind.runtime_word} is not in the list of "
            "allowed values: int32, int64\n\t; NodeDef: {{node Lu}}",
        )
    return Lu(*apply(lu_row.op, (operand(input),), {"output_idx_type": kind.numpy_dtype}))
