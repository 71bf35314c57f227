"""Determinants of matrices, and their logarithms."""

from typing import NamedTuple

import numpy as np

from ..core.convert import operand
from ..core.dispatch import apply, quiet
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import Tensor
from .arithmetic import add, mul
from .axes import reduce_with
from .broadcasting import sum_
from .complex_numbers import complex_, imag, real
from .diagonals import diag_part
from .elementwise import conj, log
from .factorizations import cholesky
from .families import dtype_of, opaque
from .matrices import batch_leading, check_square, in_working_precision, per_matrix, transposed
from .solvers import inverse_row


def _infer_det(input):
    check_square("MatrixDeterminant", input)
    return Spec(input.shape[:-2], input.dtype)


det_row = opaque(
    "MatrixDeterminant",
    quiet(in_working_precision(lambda input: np.linalg.det(input))),
    inputs="input",
    infer=_infer_det,
    vjp={
        "input": lambda g, input, out: mul(
            per_matrix(mul(g, out)), transposed(inverse_row(input, adjoint=False))
        )
    },
    batch=batch_leading,
)


@export("linalg.det")
def det(input, name=None):
    """The determinant of square matrices.

    Raises:
        InvalidArgumentError: the matrices are not square; or a gradient is asked for at a
            singular one.
    """
    return apply(det_row.op, (operand(input),))


class LogMatrixDeterminant(NamedTuple):
    """The sign of determinants and the logarithm of their absolute value."""

    sign: Tensor
    log_abs_determinant: Tensor


def _infer_slogdet(input):
    check_square("LogMatrixDeterminant", input)
    spec = Spec(input.shape[:-2], input.dtype)
    return spec, spec


def _slogdet(input):
    sign, size = np.linalg.slogdet(input)
    return sign, size.astype(input.dtype)


def _slogdet_rule(g, input, out):
    (g_sign, g_log), (sign, _) = g, out
    if dtype_of(sign).kind == "c":
        # The sign turns with the imaginary part of what the logarithm grows by in the real one.
        g_log = complex_(real(g_log), imag(mul(g_sign, conj(sign))))
    else:
        g_log = add(g_log, mul(g_sign, 0.0))  # it is constant
    return mul(per_matrix(g_log), inverse_row(input, adjoint=True))


slogdet_row = opaque(
    "LogMatrixDeterminant",
    quiet(in_working_precision(_slogdet)),
    inputs="input",
    infer=_infer_slogdet,
    vjp={"input": _slogdet_rule},
    batch=batch_leading,
    outputs=2,
    holomorphic=False,
    raw="input -> sign log_abs_determinant",
)


@export("linalg.slogdet")
def slogdet(input, name=None):
    """The sign of the determinant, and the logarithm of its absolute value.

    Returns:
        A named tuple (sign, log_abs_determinant); 0 and -inf for a singular matrix.

    Raises:
        InvalidArgumentError: the matrices are not square.
    """
    return LogMatrixDeterminant(*apply(slogdet_row.op, (operand(input),)))


@export("linalg.logdet")
def logdet(matrix, name=None):
    """The logarithm of the determinant of positive definite matrices; of others, NaN."""
    diagonal = diag_part(cholesky(matrix))
    if diagonal.dtype.is_complex:
        diagonal = real.op.on_tensors(diagonal)
    half = reduce_with(sum_, log.op.on_tensors(diagonal), -1, False)
    return mul(half, 2.0)
