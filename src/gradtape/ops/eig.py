"""Eigenvalues and eigenvectors of general square matrices; they are complex."""

import collections

import numpy as np

from ..core import dtypes
from ..core.convert import operand
from ..core.dispatch import apply, quiet
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arithmetic import add, div_no_nan, mul, sub
from .broadcasting import not_allowed
from .complex_numbers import real
from .diagonals import diag_part_row
from .elementwise import conj
from .families import dtype_of, opaque, shape_of
from .matrices import batch_leading, check_square, per_column, times, transposed
from .solvers import solve_row

_ACCEPTS = dtypes.numpy_set(dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


def _complex_of(dtype):
    return np.dtype(np.complex64 if dtype in (np.float32, np.complex64) else np.complex128)


def _infer_values(input):
    check_square("Eig", input, _ACCEPTS)
    return Spec(input.shape[:-1], _complex_of(input.dtype))


def _infer(input):
    values = _infer_values(input)
    return values, Spec(input.shape, values.dtype)


def _check_finite(input):
    if not np.isfinite(input).all():
        raise invalid_argument(
            "Eig", "Eigen decomposition was not successful. The input might not be valid."
        )


def _eigenvalues(input):
    _check_finite(input)
    return np.linalg.eigvals(input).astype(_complex_of(input.dtype), copy=False)


def _eigenvectors(input):
    _check_finite(input)
    values, vectors = np.linalg.eig(input)
    kind = _complex_of(input.dtype)
    return values.astype(kind, copy=False), vectors.astype(kind, copy=False)


def _back(inner, vectors, input_dtype):
    """From the basis of eigenvectors to that of the input."""
    whole = solve_row(vectors, times(inner, vectors, adjoint_b=True), adjoint=True)
    return whole if input_dtype.kind == "c" else real(whole)


def _values_rule(g, input):
    _, vectors = eig_row(input)
    unit = np.eye(shape_of(vectors)[-1], dtype=dtype_of(vectors))
    return _back(mul(unit, per_column(g, vectors)), vectors, dtype_of(input))


def _rule(g, input_dtype, out):
    """Vectors are of length 1, and their phases arbitrary: functions of these have no gradient."""
    (g_values, g_vectors), (values, vectors) = g, out
    unit = np.eye(shape_of(vectors)[-1], dtype=dtype_of(vectors))
    along = times(vectors, g_vectors, adjoint_a=True)
    stretch = real(diag_part_row(along, k=(0, 0), align="RIGHT_LEFT"))
    gram = times(vectors, vectors, adjoint_a=True)
    turning = sub(along, mul(gram, per_column(stretch, vectors)))
    columns = per_column(values, vectors)
    gaps = conj(sub(columns, transposed(columns)))
    inner = add(div_no_nan(turning, gaps), mul(unit, per_column(g_values, vectors)))
    return _back(inner, vectors, input_dtype)


Eig = collections.namedtuple("Eig", "e v")


def _raw(input, Tout, compute_v=True, name=None):
    x = operand(input)
    if dtypes.as_dtype(Tout).numpy_dtype not in dtypes.COMPLEX:
        raise not_allowed("Eig", dtypes.as_dtype(Tout).numpy_dtype, dtypes.COMPLEX)
    if compute_v:
        return Eig(*apply(eig_row.op, (x,)))
    nothing = operand(np.zeros(0, dtypes.as_dtype(Tout).numpy_dtype))
    return Eig(apply(eigenvalues_row.op, (x,)), nothing)


eig_row = opaque(
    "Eig",
    quiet(_eigenvectors),
    inputs="input",
    infer=_infer,
    vjp={"input": _rule},
    batch=batch_leading,
    outputs=2,
    holomorphic=False,
    raw=_raw,
)

eigenvalues_row = opaque(
    "EigenvaluesOnly",
    quiet(_eigenvalues),
    inputs="input",
    infer=_infer_values,
    vjp={"input": _values_rule},
    batch=batch_leading,
    holomorphic=False,
    raw=False,
)


@export("linalg.eig eig")
def eig(tensor, name=None):
    """The eigenvalues and eigenvectors of square matrices, in no particular order.

    Returns:
        The eigenvalues e and, as columns, the vectors v of length 1: tensor @ v = v * e.

    Raises:
        InvalidArgumentError: the matrices are not square, or not finite.
    """
    return apply(eig_row.op, (operand(tensor),))


@export("linalg.eigvals eigvals")
def eigvals(tensor, name=None):
    """The eigenvalues of square matrices, in no particular order.

    Raises:
        InvalidArgumentError: the matrices are not square, or not finite.
    """
    return apply(eigenvalues_row.op, (operand(tensor),))
