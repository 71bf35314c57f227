"""Matrices and vectors as such: singular values, traces, adjoints, cross products."""

from typing import NamedTuple

import numpy as np

from ..core import dtypes
from ..core.convert import operand, operands
from ..core.dispatch import apply, quiet
from ..core.errors import FailedPreconditionError, invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import EagerTensor, Tensor
from .arithmetic import add, div_no_nan, masked, mul, sub
from .axes import reduce_with
from .broadcasting import not_allowed, sum_, words
from .casting import cast_row
from .complex_numbers import complex_, imag
from .diagonals import diag_part_row
from .elementwise import square
from .extremes import max_
from .families import dtype_of, multilinear, opaque, shape_of
from .logic import not_equal
from .manipulation import matrix_transpose, transpose_row
from .matrices import adjoint_of, batch_leading, per_column, per_row, times, without_complement
from .pointwise import dtype_mismatch
from .selection import zero_of

# Singular values ----------------------------------------------------------------------------------

_SVD_ACCEPTS = dtypes.numpy_set(dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


def _infer_values(input):
    shape = input.shape
    if input.dtype not in _SVD_ACCEPTS:
        raise not_allowed("Svd", input.dtype, _SVD_ACCEPTS)
    if len(shape) < 2:
        raise invalid_argument("Svd", f"Input tensor 0 must have rank >= 2, got {len(shape)}")
    real_dtype = dtypes.of_numpy(input.dtype).real_dtype.numpy_dtype
    return Spec((*shape[:-2], min(shape[-2:])), real_dtype)


def _infer_svd(input, *, full_matrices):
    values = _infer_values(input)
    *lead, rows, columns = input.shape
    count = values.shape[-1]
    return (
        values,
        Spec((*lead, rows, rows if full_matrices else count), input.dtype),
        Spec((*lead, columns, columns if full_matrices else count), input.dtype),
    )


def _batch(op, values, flags, attrs):
    return op.call(values[0], **attrs)


def _finite(input):
    """The matrices, with zeros for those that are not finite; and which ones are, or None."""
    finite = np.isfinite(input).all(axis=(-2, -1))
    if finite.all():
        return input, None
    return np.where(finite[..., None, None], input, 0), finite


def _singular_values(input):
    input, finite = _finite(input)
    s = np.linalg.svd(input, compute_uv=False)
    return s if finite is None else np.where(finite[..., None], s, np.nan).astype(s.dtype)


def _svd(input, full_matrices):
    input, finite = _finite(input)
    u, s, v_adjoint = np.linalg.svd(input, full_matrices=full_matrices)
    v = v_adjoint.swapaxes(-1, -2).conj()
    if finite is not None:
        s[~finite], u[~finite], v[~finite] = np.nan, np.nan, np.nan
    return s, u, v


def _svd_rule(g, out, *, full_matrices):
    """The adjoint of the decomposition.

    Where singular values are equal or zero their vectors have no derivative; what would be
    divided by zero there is left out, and is zero for every function that has a gradient.
    """
    (g_s, g_u, g_v), (s, u, v) = g, out
    if full_matrices:
        count = shape_of(s)[-1]
        g_u, u = without_complement(g_u, u, count)
        g_v, v = without_complement(g_v, v, count)
    squares = square(s)
    gaps = sub(per_column(squares, u), per_row(squares, u))
    along_u, along_v = times(u, g_u, adjoint_a=True), times(v, g_v, adjoint_a=True)
    diagonal = np.eye(shape_of(s)[-1], dtype=dtype_of(u))
    inner = mul(diagonal, per_column(g_s, u))
    inner = add(inner, mul(_turning(along_u, gaps), per_column(s, u)))
    inner = add(inner, mul(per_row(s, u), _turning(along_v, gaps)))
    if dtype_of(u).kind == "c":
        phase = div_no_nan(imag(sum_(mul(diagonal, along_u), axis=(-1,), keepdims=False)), s)
        inner = add(inner, mul(diagonal, per_column(complex_(mul(phase, 0.0), phase), u)))
    outside_u = div_no_nan(sub(g_u, times(u, along_u)), per_column(s, u))
    outside_v = div_no_nan(sub(g_v, times(v, along_v)), per_column(s, u))
    left = add(times(u, inner), outside_u)
    return add(times(left, v, adjoint_b=True), times(u, outside_v, adjoint_b=True))


def _turning(x, gaps):
    """How much a gradient turns the singular vectors into each other."""
    return div_no_nan(sub(x, adjoint_of(x)), gaps)


svd_row = opaque(
    "Svd",
    quiet(_svd),
    inputs="input",
    infer=_infer_svd,
    vjp={"input": _svd_rule},
    batch=_batch,
    outputs=3,
    holomorphic=False,
    raw=lambda input, compute_uv=True, full_matrices=False: _raw_svd(
        input, compute_uv, full_matrices
    ),
)


def _values_rule(g, input):
    s, u, v = svd_row(input, full_matrices=False)
    # At a singular value 0, as at the norm 0, the gradient is 0.
    g = masked(g, not_equal(s, zero_of(s)))
    return times(mul(u, per_column(g, u)), v, adjoint_b=True)


singular_values = opaque(
    "SingularValues",
    quiet(_singular_values),
    inputs="input",
    infer=_infer_values,
    vjp={"input": _values_rule},
    batch=_batch,
    holomorphic=False,
    raw=False,
)


def largest_singular_value(x, axes):
    """The largest singular value of the matrices that lie in two axes of a tensor or variable."""
    rank = len(x._value.shape)
    order = (*[axis for axis in range(rank) if axis not in axes], *axes)
    matrices = apply(transpose_row.op, (x,), {"perm": order})
    return reduce_with(max_, apply(singular_values.op, (matrices,)), -1, False)


@export("linalg.svd")
def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """The singular value decomposition: tensor = u diag(s) adjoint(v).

    Args:
        tensor: matrices.
        full_matrices: whether `u` and `v` are square, with further vectors where the matrices are
            not.
        compute_uv: whether to compute `u` and `v` at all.

    Returns:
        The singular values `s`, largest first, or (s, u, v).

    Raises:
        NotImplementedError: a gradient is asked for where there is more than one further vector.
    """
    x = operand(tensor)
    if not compute_uv:
        return apply(singular_values.op, (x,))
    return apply(svd_row.op, (x,), {"full_matrices": bool(full_matrices)})


class Svd(NamedTuple):
    """Singular values and vectors, as `tf.raw_ops` names them."""

    s: Tensor
    u: Tensor
    v: Tensor


def _raw_svd(input, compute_uv, full_matrices):
    dtype = dtype_of(operand(input))
    nothing = EagerTensor(np.zeros(0, dtype))
    if compute_uv:
        s, u, v = svd(input, full_matrices)
    else:
        s, u, v = svd(input, compute_uv=False), nothing, nothing
    return Svd(apply(cast_row.op, (s,), {"dtype": dtype}) if dtype.kind == "c" else s, u, v)


@export("linalg.trace")
def trace(x, name=None):
    """The sum along the main diagonal of matrices."""
    diagonal = apply(diag_part_row.op, (operand(x),), {"k": (0, 0), "align": "RIGHT_LEFT"})
    return reduce_with(sum_, diagonal, -1, False)


@export("linalg.adjoint")
def adjoint(matrix, name=None):
    """The conjugate transpose of matrices."""
    return matrix_transpose(matrix, conjugate=True)


# Vectors ------------------------------------------------------------------------------------------


def _infer_cross(a, b):
    if a.dtype != b.dtype:
        raise dtype_mismatch("Cross", 1, a.dtype, b.dtype)
    if a.dtype not in dtypes.REAL:
        raise not_allowed("Cross", a.dtype, dtypes.REAL)
    if a.shape != b.shape:
        raise invalid_argument(
            "Cross", f"Both inputs must be of same shape: {words(a.shape)} vs. {words(b.shape)}"
        )
    if not a.shape:
        raise invalid_argument("Cross", f"Input must be at least 1D{words(a.shape)}")
    if a.shape[-1] != 3:
        raise FailedPreconditionError(
            None,
            None,
            "Cross-products are only defined for 3-element vectors. Received: shape "
            f"{words(a.shape)} [Op:Cross]",
        )
    return Spec(a.shape, a.dtype)


def _cross(a, b):
    product = np.empty(a.shape, a.dtype)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        product[..., i] = a[..., j] * b[..., k] - a[..., k] * b[..., j]
    return product


cross_row = multilinear(
    "Cross",
    _cross,
    infer=_infer_cross,
    batch=batch_leading,
    a=lambda g, b: cross_row(b, g),
    b=lambda g, a: cross_row(g, a),
)


@export("linalg.cross")
def cross(a, b, name=None):
    """The cross product of vectors of length 3.

    Raises:
        InvalidArgumentError: the shapes or dtypes differ.
        FailedPreconditionError: the vectors have another length.
    """
    return apply(cross_row.op, operands(a, b))
