"""Matrices with few diagonals: tridiagonal products and equations, banded triangular equations."""

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.convert import operand, operands
from ..core.dispatch import apply, quiet
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arithmetic import mul, neg
from .broadcasting import not_allowed, reshape, sum_, words
from .diagonals import diag, diag_part
from .elementwise import conj, conj_public
from .families import dtype_of, multilinear, opaque, shape_of
from .joining import concat, concat_row, stack
from .logic import equal
from .manipulation import matrix_transpose
from .matrices import batch_leading, check_same_dtype
from .padding import pad_row
from .reduction import reduce_any
from .selection import zero_of
from .slicing import EVERYTHING, strided_slice_row
from .solvers import check_triangular, triangular_solve

_TRIDIAGONAL = dtypes.numpy_set(dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)

# Up to so many elements LAPACK is quicker on whole matrices than a loop over rows on diagonals.
_DENSE = 2**20

# Tridiagonal equations ----------------------------------------------------------------------------


def _infer_tridiagonal(diagonals, rhs, *, partial_pivoting, perturb_singular):
    name = "TridiagonalSolve"
    check_same_dtype(name, diagonals, rhs)
    if diagonals.dtype not in _TRIDIAGONAL:
        raise not_allowed(name, diagonals.dtype, _TRIDIAGONAL)
    if len(diagonals.shape) < 2 or len(diagonals.shape) != len(rhs.shape):
        raise invalid_argument(name, "All input tensors must have the same rank.")
    if diagonals.shape[:-2] != rhs.shape[:-2]:
        raise invalid_argument(name, "All input tensors must have the same outer dimensions.")
    if diagonals.shape[-2] != 3:
        raise invalid_argument(
            name, f"Expected diagonals to have 3 rows, got {diagonals.shape[-2]}"
        )
    if diagonals.shape[-1] != rhs.shape[-2]:
        raise invalid_argument(
            name,
            "Expected the same number of left-hand sides and right-hand sides, got "
            f"{diagonals.shape[-1]} and {rhs.shape[-2]}.",
        )
    return Spec(rhs.shape, rhs.dtype)


def _tridiagonal_solve(diagonals, rhs, partial_pivoting, perturb_singular):
    if not rhs.size:
        return np.zeros(rhs.shape, rhs.dtype)
    *_, size, columns = rhs.shape
    if partial_pivoting and diagonals.size * size < _DENSE:
        try:
            return np.linalg.solve(_whole(diagonals), rhs)
        except np.linalg.LinAlgError:
            pass  # some matrices are singular; not all of them, perhaps
    # Rows come first, so that each step works on all matrices of the batch.
    above, main, below = [
        np.array(diagonals[..., i, :].reshape(-1, size).T, order="C") for i in range(3)
    ]
    x = np.array(rhs.reshape(-1, size, columns).transpose(1, 0, 2), order="C")
    above2 = np.zeros_like(above)
    above[-1] = 0
    for i in range(size - 1):
        _eliminate(above, above2, main, below, x, i, partial_pivoting)
    if perturb_singular:
        main[main == 0] = np.finfo(main.dtype).tiny
    for i in range(size - 1, -1, -1):
        if i + 1 < size:
            x[i] -= above[i, :, None] * x[i + 1]
        if i + 2 < size:
            x[i] -= above2[i, :, None] * x[i + 2]
        x[i] /= main[i, :, None]
    if not main.all():  # no solution, in no component
        x[:, ~main.all(0)] = np.nan
    return x.transpose(1, 0, 2).reshape(rhs.shape)


def _whole(diagonals):
    size = diagonals.shape[-1]
    matrices = np.zeros((*diagonals.shape[:-2], size, size), diagonals.dtype)
    flat = matrices.reshape(*diagonals.shape[:-2], size * size)
    flat[..., :: size + 1] = diagonals[..., 1, :]
    if size > 1:
        flat[..., 1 :: size + 1] = diagonals[..., 0, :-1]
        flat[..., size :: size + 1] = diagonals[..., 2, 1:]
    return matrices


def _eliminate(above, above2, main, below, x, i, pivots):
    """One step of the elimination; rows are swapped where the lower one has the larger pivot."""
    j = i + 1
    swap = np.flatnonzero(np.abs(below[j]) > np.abs(main[i])) if pivots else ()
    if len(swap):
        main[i, swap], below[j, swap] = below[j, swap], main[i, swap]
        above[i, swap], main[j, swap] = main[j, swap], above[i, swap]
        above2[i, swap], above[j, swap] = above[j, swap], 0
        x[i, swap], x[j, swap] = x[j, swap], x[i, swap]
    factor = below[j] / np.where(main[i] == 0, 1, main[i])
    main[j] -= factor * above[i]
    above[j] -= factor * above2[i]
    x[j] -= factor[:, None] * x[i]


def _tridiagonal_rule(g, diagonals, out, *, partial_pivoting, perturb_singular, wanted):
    g_rhs = tridiagonal_row(
        _adjoint_diagonals(diagonals), g,
        partial_pivoting=partial_pivoting, perturb_singular=perturb_singular,
    )  # fmt: skip
    if not wanted[0]:
        return None, g_rhs
    solution = conj(out) if dtype_of(out).kind == "c" else out
    return neg(_products_of_rows(g_rhs, solution)), g_rhs


def _products_of_rows(left, right):
    """Three rows of products: of the rows of `left` with those of `right` after, at and before."""
    parts = [mul(left, _rows_after(right)), mul(left, right), mul(left, _rows_before(right))]
    sums = [_as_row(sum_(part, axis=(-1,), keepdims=False)) for part in parts]
    return concat_row(sums, axis=len(shape_of(left)) - 2)


def _as_row(x):
    shape = shape_of(x)
    return reshape(x, shape=(*shape[:-1], 1, shape[-1]))


def _rows_after(x):
    """Each row replaced by the next; the last by zeros."""
    return _padded(strided_slice_row(x, key=(Ellipsis, (1, None, None), EVERYTHING)), x, (0, 1))


def _rows_before(x):
    """Each row replaced by the one before; the first by zeros."""
    return _padded(strided_slice_row(x, key=(Ellipsis, (0, -1, None), EVERYTHING)), x, (1, 0))


def _padded(part, x, widths):
    if not shape_of(x)[-2]:
        return x
    return pad_row(part, paddings=(*((0, 0),) * (len(shape_of(x)) - 2), widths, (0, 0)))


def _adjoint_diagonals(diagonals):
    """The diagonals of the adjoint matrix."""
    return _transposed(conj(diagonals) if dtype_of(diagonals).kind == "c" else diagonals)


def _transposed(diagonals):
    """The diagonals of the transposed matrix: those above and below change places."""
    above, main, below = [
        strided_slice_row(diagonals, key=(Ellipsis, (i, i + 1, None), EVERYTHING)) for i in range(3)
    ]
    axis = len(shape_of(diagonals)) - 2
    return concat_row([_rolled(below, 1), main, _rolled(above, -1)], axis=axis)


def _rolled(x, start):
    axis = len(shape_of(x)) - 1
    ends = [
        strided_slice_row(x, key=(Ellipsis, (start, None, None))),
        strided_slice_row(x, key=(Ellipsis, (0, start, None))),
    ]
    return concat_row(ends, axis=axis)


tridiagonal_row = opaque(
    "TridiagonalSolve",
    quiet(_tridiagonal_solve),
    inputs="diagonals rhs",
    infer=_infer_tridiagonal,
    vjp=_tridiagonal_rule,
    batch=batch_leading,
    holomorphic=False,
    raw="diagonals, rhs, partial_pivoting=True, perturb_singular=False",
)


@export("linalg.tridiagonal_solve")
def tridiagonal_solve(
    diagonals, rhs, diagonals_format="compact", transpose_rhs=False, conjugate_rhs=False, name=None,
    partial_pivoting=True, perturb_singular=False,
):  # fmt: skip
    """Solves equations with tridiagonal matrices.

    Args:
        diagonals: in the format "compact" the diagonals above, on and below the main one, as three
            rows, where the last of the first and the first of the last are not looked at; as
            "sequence" a list of three; as "matrix" whole matrices.
        rhs: the right-hand sides, as vectors, or as matrices whose columns they are.
        diagonals_format: which of these `diagonals` is.
        transpose_rhs: whether to transpose matrices of right-hand sides first.
        conjugate_rhs: whether to conjugate them.
        partial_pivoting: whether rows are swapped, as accuracy may need.
        perturb_singular: whether singular matrices give a large solution instead of NaN.

    Raises:
        ValueError: there is no such format, or the shapes do not agree.
    """
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is.")
    packed = _compact(diagonals, diagonals_format)
    rhs = operand(rhs, packed)
    shape, rank = packed._value.shape, len(rhs._value.shape)
    if rank not in (len(shape) - 1, len(shape)):
        raise ValueError(
            f"Expected the rank of rhs to be {len(shape) - 1} or {len(shape)}, got {rank}"
        )
    of_vectors = rank < len(shape)
    if of_vectors:
        rhs = apply(reshape.op, (rhs,), {"shape": (*rhs._value.shape, 1)})
    elif transpose_rhs:
        rhs = matrix_transpose(rhs)
    if conjugate_rhs:
        rhs = conj_public(rhs)
    have = rhs._value.shape
    if have[:-2] != shape[:-2]:
        raise ValueError(f"Batch shapes {shape[:-2]} and {have[:-2]} are incompatible")
    if have[-2] != shape[-1]:
        raise ValueError(
            "Expected number of left-hand sided and right-hand sides to be equal, got "
            f"{shape[-1]} and {have[-2]}"
        )
    attrs = {
        "partial_pivoting": bool(partial_pivoting),
        "perturb_singular": bool(perturb_singular),
    }
    out = apply(tridiagonal_row.op, (packed, rhs), attrs)
    return reshape(out, shape=have[:-1]) if of_vectors else out


def _compact(diagonals, form):
    """The three diagonals as rows of equal length."""
    if form == "compact":
        packed = operand(diagonals)
        shape = packed._value.shape
        if len(shape) < 2:
            raise ValueError(f"Expected diagonals to have rank at least 2, got {len(shape)}")
        if shape[-2] != 3:
            raise ValueError(f"Expected 3 diagonals got {shape[-2]}")
        return packed
    if form == "sequence":
        return _from_sequence(diagonals)
    if form == "matrix":
        matrices = operand(diagonals)
        shape = matrices._value.shape
        if shape[-1:] != shape[-2:-1]:
            raise ValueError(
                "Expected last two dimensions of diagonals to be same, got "
                f"{shape[-1]} and {shape[-2] if len(shape) > 1 else None}"
            )
        neighbours: Any = (-1, 1)
        return diag_part(matrices, k=neighbours, align="LEFT_RIGHT")
    raise ValueError(f"Unrecognized diagonals_format: {form}")


def _from_sequence(diagonals):
    if not isinstance(diagonals, (list, tuple)) or len(diagonals) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    above, main, below = operands(*diagonals)
    size = main._value.shape[-1]
    filled = []
    for x, widths, name in ((above, (0, 1), "superdiagonal"), (below, (1, 0), "subdiagonal")):
        length = x._value.shape[-1]
        if length not in (size, size - 1):
            raise ValueError(
                f"Expected {name} to be have length {size} or {size - 1}, got {length}."
            )
        if length < size:
            lead = ((0, 0),) * (len(x._value.shape) - 1)
            x = apply(pad_row.op, (x,), {"paddings": (*lead, widths)})
        filled.append(x)
    return stack([filled[0], main, filled[1]], axis=-2)


# Tridiagonal products -----------------------------------------------------------------------------


def _infer_product(diagonals, rhs):
    name = "TridiagonalMatMul"
    check_same_dtype(name, diagonals, rhs)
    if diagonals.dtype not in _TRIDIAGONAL:
        raise not_allowed(name, diagonals.dtype, _TRIDIAGONAL)
    shape, have = diagonals.shape, rhs.shape
    if len(have) != len(shape) or len(shape) < 2:
        raise invalid_argument(name, "All input tensors must have the same rank.")
    if have[:-2] != shape[:-2]:
        raise invalid_argument(name, "All input tensors must have the same outer dimensions.")
    if shape[-2] != 3 or have[-2] != shape[-1]:
        raise invalid_argument(
            name, f"Invalid superdiagonal shape. Received: {words(shape)} and rhs {words(have)}"
        )
    return Spec(have, rhs.dtype)


def _product(diagonals, rhs):
    above, main, below = [diagonals[..., i, :, None] for i in range(3)]
    out = main * rhs
    term = above[..., :-1, :] * rhs[..., 1:, :]
    out[..., :-1, :] += term
    np.multiply(below[..., 1:, :], rhs[..., :-1, :], out=term)
    out[..., 1:, :] += term
    return out


tridiagonal_product = multilinear(
    "TridiagonalMatMul",
    _product,
    infer=_infer_product,
    batch=batch_leading,
    diagonals=lambda g, rhs: _products_of_rows(g, rhs),
    rhs=lambda g, diagonals: tridiagonal_product(_transposed(diagonals), g),
    raw=lambda superdiag, maindiag, subdiag, rhs: tridiagonal_matmul(
        concat([superdiag, maindiag, subdiag], -2), rhs
    ),
)


@export("linalg.tridiagonal_matmul")
def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    """Multiplies tridiagonal matrices by matrices.

    Args:
        diagonals: as for `tf.linalg.tridiagonal_solve`.
        rhs: matrices.
        diagonals_format: "compact", "sequence" or "matrix".

    Raises:
        ValueError: there is no such format.
        InvalidArgumentError: the shapes do not agree.
    """
    packed = _compact(diagonals, diagonals_format)
    return apply(tridiagonal_product.op, (packed, operand(rhs, packed)))


# Banded triangular equations ----------------------------------------------------------------------


@export("linalg.banded_triangular_solve")
def banded_triangular_solve(bands, rhs, lower=True, adjoint=False, name=None):
    """Solves equations with triangular matrices that have few diagonals; leading axes broadcast.

    Args:
        bands: the diagonals from the highest, as rows. Where one is shorter, the places left over
            are the first of those below the main diagonal and the last of those above.
        rhs: the right-hand sides, as matrices whose columns they are.
        lower: whether the matrices are lower triangular; otherwise upper.
        adjoint: whether to solve with the adjoints of the matrices.

    Raises:
        InvalidArgumentError: a matrix is singular, or the shapes do not agree.
    """
    op_name = "BandedTriangularSolve"
    bands, rhs = operands(bands, rhs)
    shape, have = bands._value.shape, rhs._value.shape
    check_triangular(op_name, bands._value, rhs._value, _TRIDIAGONAL)
    count, size = shape[-2:]
    if size != have[-2]:
        raise invalid_argument(
            op_name,
            f"In[0] mismatch In[1] shape: {size} vs. {have[-2]}: {words(shape)} {words(have)} "
            f"{int(lower)} {int(adjoint)}",
        )
    if count < 1:
        raise invalid_argument(
            op_name, f"bands must have at least one row. Received: {words(shape)}"
        )
    kept = min(count, max(size, 1))
    bands = bands[..., :kept, :] if lower else bands[..., count - kept :, :]
    # In a batch there are no values to look at: there a singular matrix gives infinities.
    diagonal = bands[..., 0 if lower else -1, :]
    if reduce_any(equal(diagonal, zero_of(diagonal)))._known():
        raise invalid_argument(op_name, "Input matrix is not invertible.")
    k: Any = (1 - kept, 0) if lower else (0, kept - 1)
    packed = bands if kept > 1 else bands[..., 0, :]
    return triangular_solve(diag(packed, k=k, align="LEFT_RIGHT"), rhs, lower, adjoint)
