"""Matrices as such: singular values, diagonals, traces, adjoints."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply, quiet
from ..core.errors import invalid_argument, unimplemented
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import EagerTensor
from .arithmetic import add, div_no_nan, masked, mul, sub
from .axes import reduce_with
from .broadcasting import not_allowed, reshape, sum_, words
from .casting import cast_row
from .complex_numbers import complex_, imag
from .contraction import batch_matmul_row
from .elementwise import conj, square
from .extremes import max_
from .families import dtype_of, opaque, shape_of
from .indexing import gather_row
from .logic import not_equal
from .manipulation import matrix_transpose, transpose_row
from .selection import select, zero_of

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


def _infer_svd(input):
    values = _infer_values(input)
    *lead, rows, columns = input.shape
    count = values.shape[-1]
    return (
        values,
        Spec((*lead, rows, count), input.dtype),
        Spec((*lead, columns, count), input.dtype),
    )


def _batch(op, values, flags, attrs):
    return op.call(values[0])


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


def _svd(input):
    input, finite = _finite(input)
    u, s, v_adjoint = np.linalg.svd(input, full_matrices=False)
    v = v_adjoint.swapaxes(-1, -2).conj()
    if finite is not None:
        s[~finite], u[~finite], v[~finite] = np.nan, np.nan, np.nan
    return s, u, v


def product_of_matrices(a, b, adjoint_a=False, adjoint_b=False):
    """The product of matrices; of their adjoints where that is said."""
    a = conj(a) if adjoint_a and dtype_of(a).kind == "c" else a
    b = conj(b) if adjoint_b and dtype_of(b).kind == "c" else b
    return batch_matmul_row(a, b, transpose_a=adjoint_a, transpose_b=adjoint_b)


def as_row(x, like):
    """A vector for each matrix, as one row in the dtype of `like`: it scales columns."""
    shape = shape_of(x)
    x = reshape(x, shape=(*shape[:-1], 1, shape[-1]))
    return x if dtype_of(x) == dtype_of(like) else cast_row(x, dtype=dtype_of(like))


def as_column(x, like):
    """Likewise as one column, which scales rows."""
    shape = shape_of(x)
    return reshape(as_row(x, like), shape=(*shape, 1))


def _svd_rule(g, out):
    """The adjoint of the decomposition.

    Where singular values are equal or zero their vectors have no derivative; what would be
    divided by zero there is left out, and is zero for every function that has a gradient.
    """
    (g_s, g_u, g_v), (s, u, v) = g, out
    squares = square(s)
    gaps = sub(as_row(squares, u), as_column(squares, u))
    along_u, along_v = (
        product_of_matrices(u, g_u, adjoint_a=True),
        product_of_matrices(v, g_v, adjoint_a=True),
    )
    diagonal = np.eye(shape_of(s)[-1], dtype=dtype_of(u))
    inner = mul(diagonal, as_row(g_s, u))
    inner = add(inner, mul(_turning(along_u, gaps), as_row(s, u)))
    inner = add(inner, mul(as_column(s, u), _turning(along_v, gaps)))
    if dtype_of(u).kind == "c":
        phase = div_no_nan(imag(sum_(mul(diagonal, along_u), axis=(-1,), keepdims=False)), s)
        inner = add(inner, mul(diagonal, as_row(complex_(mul(phase, 0.0), phase), u)))
    outside_u = div_no_nan(sub(g_u, product_of_matrices(u, along_u)), as_row(s, u))
    outside_v = div_no_nan(sub(g_v, product_of_matrices(v, along_v)), as_row(s, u))
    left = add(product_of_matrices(u, inner), outside_u)
    return add(
        product_of_matrices(left, v, adjoint_b=True),
        product_of_matrices(u, outside_v, adjoint_b=True),
    )


def _turning(x, gaps):
    """How much a gradient turns the singular vectors into each other."""
    rank = len(shape_of(x))
    swapped = transpose_row(x, perm=(*range(rank - 2), rank - 1, rank - 2))
    if dtype_of(x).kind == "c":
        swapped = conj(swapped)
    return div_no_nan(sub(x, swapped), gaps)


svd_row = opaque(
    "Svd",
    quiet(_svd),
    inputs="input",
    infer=_infer_svd,
    vjp={"input": _svd_rule},
    batch=_batch,
    outputs=3,
    holomorphic=False,
)


def _values_rule(g, input):
    s, u, v = svd_row(input)
    # At a singular value 0, as at the norm 0, the gradient is 0.
    g = masked(g, not_equal(s, zero_of(s)))
    return product_of_matrices(mul(u, as_row(g, u)), v, adjoint_b=True)


singular_values = opaque(
    "SingularValues",
    quiet(_singular_values),
    inputs="input",
    infer=_infer_values,
    vjp={"input": _values_rule},
    batch=_batch,
    holomorphic=False,
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
        full_matrices: whether `u` and `v` are square, which is possible for square matrices only.
        compute_uv: whether to compute `u` and `v` at all.

    Returns:
        The singular values `s`, largest first, or (s, u, v).

    Raises:
        UnimplementedError: full matrices are asked of matrices that are not square.
    """
    x = operand(tensor)
    if not compute_uv:
        return apply(singular_values.op, (x,))
    shape = x._value.shape
    if full_matrices and shape[-2:-1] != shape[-1:]:
        raise unimplemented(
            "Svd",
            "Full matrices `u` and `v` are not computed for matrices that are not square: use "
            f"full_matrices=False. Received: shape {words(shape)}",
        )
    return apply(svd_row.op, (x,))


# Diagonals ----------------------------------------------------------------------------------------

_ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


@export("linalg.diag_part")
def diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):
    """The diagonals of matrices.

    Args:
        input: matrices.
        k: which diagonal, counted upwards from the main one; or the lowest and highest of several.
        padding_value: what fills up the shorter of several diagonals.
        align: on which side those above and those below the main diagonal are aligned.

    Raises:
        InvalidArgumentError: there are no such diagonals, or these are not matrices.
    """
    x = operand(input)
    shape = x._value.shape
    if len(shape) < 2:
        raise _bad_diagonal(f"input must be at least 2-dim, received shape: {words(shape)}")
    rows, columns = shape[-2:]
    lower, upper = _diagonal_range(k, rows, columns)
    if align not in _ALIGNMENTS:
        allowed = ", ".join([f'"{each}"' for each in _ALIGNMENTS])
        raise _bad_diagonal(
            f"Value for attr 'align' of \"{align}\" is not in the list of allowed values: {allowed}"
        )
    places = _diagonal_places(rows, columns, lower, upper, align)
    if lower == upper:
        places = places[0]
    flat = apply(reshape.op, (x,), {"shape": (*shape[:-2], rows * columns)})
    is_inside = places >= 0
    indices = EagerTensor(np.where(is_inside, places, 0))
    taken = apply(gather_row.op, (flat, indices), {"axis": len(shape) - 2, "batch_dims": 0})
    if is_inside.all():
        return taken
    padding = convert_to_tensor(padding_value, taken.dtype)
    return select(EagerTensor(is_inside), taken, padding)


def _bad_diagonal(message):
    return invalid_argument("MatrixDiagPartV3", message)


def _diagonal_range(k, rows, columns):
    given = np.asarray(convert_to_tensor(k, dtypes.int32)).reshape(-1).tolist()
    if len(given) not in (1, 2):
        raise _bad_diagonal(
            f"diag_index must have only one or two elements, received {len(given)} elements."
        )
    lower, upper = given[0], given[-1]
    for name, index in (("lower", lower), ("upper", upper)):
        if index and not -rows < index < columns:
            raise _bad_diagonal(
                f"{name}_diag_index is out of bound: {index}. It must be between {-rows} and "
                f"{columns}"
            )
    if lower > upper:
        raise _bad_diagonal(
            f"lower_diag_index must not be larger than upper_diag_index: {lower} > {upper}"
        )
    return lower, upper


def _diagonal_places(rows, columns, lower, upper, align):
    """Positions in flattened matrices, a row for each diagonal from the highest; -1 is padding."""
    numbers = range(upper, lower - 1, -1)
    lengths = [min(rows + min(d, 0), columns - max(d, 0)) for d in numbers]
    places = np.full((len(lengths), max(lengths)), -1, np.int64)
    above, below = align.split("_")
    for i, (d, length) in enumerate(zip(numbers, lengths, strict=True)):
        start = places.shape[1] - length if (above if d >= 0 else below) == "RIGHT" else 0
        first = max(d, 0) + max(-d, 0) * columns
        places[i, start : start + length] = first + np.arange(length) * (columns + 1)
    return places


@export("linalg.trace")
def trace(x, name=None):
    """The sum along the main diagonal of matrices."""
    return reduce_with(sum_, diag_part(x), -1, False)


@export("linalg.adjoint")
def adjoint(matrix, name=None):
    """The conjugate transpose of matrices."""
    return matrix_transpose(matrix, conjugate=True)
