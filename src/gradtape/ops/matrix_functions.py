"""Functions of square matrices: exponential, logarithm, square root.

All three have one rule for derivatives: a function of [[x, d], [0, x]] holds, in its upper right
corner, the derivative of that function at x in the direction d.
"""

import numpy as np

from ..core import dtypes
from ..core.convert import operand
from ..core.dispatch import apply, quiet
from ..core.exports import export
from .creation import zeros_like
from .families import opaque, shape_of
from .joining import concat_row
from .matrices import ACCEPTS, adjoint_of, batch_leading, in_working_precision, infer_square
from .slicing import strided_slice_row


def _derivative(row, x, direction):
    size = shape_of(x)[-1]
    rank = len(shape_of(x))
    nothing = _zeros(x)
    top = concat_row([x, direction], axis=rank - 1)
    bottom = concat_row([nothing, x], axis=rank - 1)
    image = row(concat_row([top, bottom], axis=rank - 2))
    corner = (Ellipsis, (0, size, None), (size, 2 * size, None))
    return strided_slice_row(image, key=corner)


def _zeros(x):
    return zeros_like(x) if hasattr(x, "_dispatch_level") else np.zeros_like(x)


def _function(name, kernel, accepts=ACCEPTS, **fields):
    row = opaque(
        name,
        quiet(in_working_precision(kernel)),
        inputs="input",
        infer=infer_square(name, accepts),
        vjp={"input": lambda g, input: _derivative(row, adjoint_of(input), g)},
        jvp=lambda tangents, inputs, out, attrs: _derivative(row, inputs[0], tangents[0]),
        batch=batch_leading,
        holomorphic=False,
        **fields,
    )
    return row


# Exponential --------------------------------------------------------------------------------------

# Coefficients of the diagonal Padé approximants, and the norms up to which they are exact but for
# rounding.
_PADE = {
    4: (3.925724783138660, (17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1)),
    8: (
        5.371920351148152,
        (
            64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800,
            129060195264000, 10559470521600, 670442572800, 33522128640, 1323241920, 40840800,
            960960, 16380, 182, 1,
        ),
    ),
}  # fmt: skip


def _exponential(input):
    if not input.size:
        return input.copy()
    bytes_of_part = input.dtype.itemsize // (2 if input.dtype.kind == "c" else 1)
    limit, coefficients = _PADE[bytes_of_part]
    norm = np.abs(input).sum(-2).max(-1)
    halvings = np.ceil(np.log2(np.maximum(norm / limit, 1)))
    halvings = np.where(np.isfinite(halvings), halvings, 0).astype(int)
    scaled = input * np.exp2(-halvings).astype(norm.dtype)[..., None, None]
    result = _pade(scaled, coefficients)
    for i in range(halvings.max(initial=0)):
        squared = np.matmul(result, result)
        result = np.where((halvings > i)[..., None, None], squared, result)
    is_finite = np.isfinite(norm)
    return result if is_finite.all() else np.where(is_finite[..., None, None], result, np.nan)


def _pade(x, coefficients):
    kind = x.dtype.type
    unit = np.eye(x.shape[-1], dtype=x.dtype)
    square = np.matmul(x, x)
    power, even, odd = unit, kind(coefficients[0]) * unit, kind(coefficients[1]) * unit
    for k in range(2, len(coefficients), 2):
        power = square if k == 2 else np.matmul(power, square)
        even = even + kind(coefficients[k]) * power
        odd = odd + kind(coefficients[k + 1]) * power
    odd = np.matmul(x, odd)
    is_finite = np.isfinite(even).all((-1, -2)) & np.isfinite(odd).all((-1, -2))
    keep = is_finite[..., None, None]
    return np.linalg.solve(np.where(keep, even - odd, unit), even + odd)


exponential_row = _function("MatrixExponential", _exponential)


@export("linalg.expm")
def expm(input, name=None):
    """The exponential of square matrices.

    Raises:
        ValueError: the dtype is neither floating nor complex.
        InvalidArgumentError: the matrices are not square.
    """
    x = operand(input)
    if x._value.dtype not in ACCEPTS:
        raise ValueError(f"tf.linalg.expm does not support matrices of type {x.dtype}")
    return apply(exponential_row.op, (x,))


# Square root and logarithm ------------------------------------------------------------------------

# With eigenvectors better conditioned than this, functions of eigenvalues lose three digits.
_WELL_CONDITIONED = 1e3


def _by_eigenvalues(function, otherwise):
    """A kernel that applies a function to the eigenvalues, where the eigenvectors allow that."""

    def kernel(input):
        if not input.size:
            return input.copy()
        size = input.shape[-1]
        flat = input.reshape(-1, size, size).astype(np.complex128)
        result = np.full(flat.shape, np.nan, np.complex128)
        known = np.flatnonzero(np.isfinite(flat).all((1, 2)))
        values, vectors = np.linalg.eig(flat[known])
        is_good = np.linalg.cond(vectors) < _WELL_CONDITIONED
        good, others = known[is_good], known[~is_good]
        values, vectors = values[is_good], vectors[is_good]
        images = vectors * function(values)[:, None, :]
        result[good] = np.linalg.solve(vectors.swapaxes(1, 2), images.swapaxes(1, 2)).swapaxes(1, 2)
        if others.size:
            result[others] = otherwise(flat[others])
        return _in_dtype(result.reshape(input.shape), input.dtype)

    return kernel


def _in_dtype(result, dtype):
    """Complex results as real ones; NaN for matrices that are not real."""
    if dtype.kind == "c":
        return result.astype(dtype)
    size = np.abs(result).max((-1, -2), keepdims=True)
    is_real = np.abs(result.imag).max((-1, -2), keepdims=True) <= 1e-8 * size
    return np.where(is_real, result.real, np.nan).astype(dtype)


def _iterated_root(x):
    """The principal square root by the Denman-Beavers iteration, in its product form.

    It needs no eigenvectors. Where there is no such root it does not converge: those are NaN.
    """
    size = x.shape[-1]
    unit = np.eye(size, dtype=x.dtype)
    product, root = x.copy(), x.copy()
    is_open = np.ones(len(x), bool)
    for step in range(60):
        todo = np.flatnonzero(is_open)
        if not todo.size:
            break
        is_regular = np.isfinite(product[todo]).all((1, 2))
        is_regular[is_regular] = np.linalg.cond(product[todo][is_regular]) < 1e15
        is_open[todo[~is_regular]] = False
        root[todo[~is_regular]] = np.nan
        todo = todo[is_regular]
        inverse = np.linalg.inv(product[todo])
        # Scaling by the determinant brings the first steps near the goal.
        _, size_of = np.linalg.slogdet(product[todo])
        factor = np.exp(-size_of / (2 * size)) if step < 4 else np.ones(len(todo))
        factor = factor[:, None, None]
        root[todo] = 0.5 * factor * np.matmul(root[todo], unit + inverse / factor**2)
        product[todo] = 0.5 * (unit + (factor**2 * product[todo] + inverse / factor**2) / 2)
        distance = np.abs(product[todo] - unit).max((1, 2))
        is_open[todo[distance < 1e-15 * size]] = False
    accurate = _is_root(root, x)
    return np.where(accurate[:, None, None], root, np.nan)


def _is_root(root, x):
    error = np.abs(np.matmul(root, root) - x).max((1, 2))
    scale = np.abs(root).max((1, 2)) ** 2 + np.abs(x).max((1, 2))
    return error <= 1e-9 * scale


def _iterated_logarithm(x):
    """By square roots until little but the unit matrix is left, whose logarithm is a short sum."""
    unit = np.eye(x.shape[-1], dtype=x.dtype)
    near = x
    doublings = np.zeros(len(x), int)
    for _ in range(60):
        is_far = np.abs(near - unit).sum(1).max(1) > 0.25
        if not is_far.any():
            break
        near = near.copy()
        near[is_far] = _iterated_root(near[is_far])
        doublings[is_far] += 1
    rest = near - unit
    is_known = np.isfinite(rest).all((1, 2))
    rest = np.where(is_known[:, None, None], rest, 0)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    total = np.zeros_like(rest)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        total += weight * np.linalg.solve(unit + node * rest, rest)
    return np.where(is_known[:, None, None], total * (2.0**doublings)[:, None, None], np.nan)


square_root_row = _function("MatrixSquareRoot", _by_eigenvalues(np.sqrt, _iterated_root))

logarithm_row = _function(
    "MatrixLogarithm", _by_eigenvalues(np.log, _iterated_logarithm), dtypes.COMPLEX
)


@export("linalg.sqrtm matrix_square_root")
def sqrtm(input, name=None):
    """The principal square root of square matrices: a matrix whose square is the input.

    Real matrices that have no real root give NaN.

    Raises:
        InvalidArgumentError: the matrices are not square.
    """
    return apply(square_root_row.op, (operand(input),))


@export("linalg.logm")
def logm(input, name=None):
    """The principal logarithm of complex square matrices, the inverse of `tf.linalg.expm`.

    Raises:
        InvalidArgumentError: the matrices are not square, or not complex.
    """
    return apply(logarithm_row.op, (operand(input),))
