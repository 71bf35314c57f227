"""Eigenvalues and eigenvectors of self-adjoint matrices."""

import collections

import numpy as np

from ..core import dtypes
from ..core.convert import operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import EagerTensor
from .arithmetic import add, div_no_nan, mul, sub
from .broadcasting import not_allowed, words
from .elementwise import conj
from .families import dtype_of, opaque, shape_of
from .manipulation import transpose_row
from .matrices import per_column, per_row, times

_ACCEPTS = dtypes.numpy_set(dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)
_NAME = "SelfAdjointEigV2"  # in the messages of both rows


def _infer_values(input):
    shape = input.shape
    if input.dtype not in _ACCEPTS:
        raise not_allowed(_NAME, input.dtype, _ACCEPTS)
    if len(shape) < 2:
        raise invalid_argument(_NAME, f"Input tensor 0 must have rank >= 2, got {len(shape)}")
    if shape[-2] != shape[-1]:
        raise invalid_argument(_NAME, f"Input matrix must be square. Received: {words(shape)}")
    return Spec(shape[:-1], input.dtype)


def _infer(input):
    return _infer_values(input), Spec(input.shape, input.dtype)


def _batch(op, values, flags, attrs):
    return op.call(values[0])


def _lower(input):
    """The lower triangles, which alone count; others may hold anything."""
    lower = np.tril(input)
    if not np.isfinite(lower).all():
        raise invalid_argument(
            _NAME,
            "Self-adjoint eigen decomposition was not successful. The input might not be valid: "
            "it has elements that are infinite or NaN.",
        )
    return lower


def _eigen(input):
    values, vectors = np.linalg.eigh(_lower(input), UPLO="L")
    return values.astype(input.dtype, copy=False), vectors


def _eigenvalues(input):
    return np.linalg.eigvalsh(_lower(input), UPLO="L").astype(input.dtype, copy=False)


def _of_lower_triangle(g):
    """The gradient of a self-adjoint matrix that is read from its lower triangle alone."""
    rank, size = len(shape_of(g)), shape_of(g)[-1]
    swapped = transpose_row(g, perm=(*range(rank - 2), rank - 1, rank - 2))
    if dtype_of(g).kind == "c":
        swapped = conj(swapped)
    weights = np.tril(np.ones((size, size), dtype_of(g)))
    weights -= np.eye(size, dtype=dtype_of(g)) / 2
    return mul(add(g, swapped), weights)


def _rule(g, out):
    """The adjoint of the decomposition.

    Where eigenvalues are equal their vectors have no derivative; what would be divided by zero
    there is left out.
    """
    (g_values, g_vectors), (values, vectors) = g, out
    gaps = sub(per_column(values, vectors), per_row(values, vectors))
    inner = div_no_nan(times(vectors, g_vectors, adjoint_a=True), gaps)
    diagonal = np.eye(shape_of(values)[-1], dtype=dtype_of(vectors))
    inner = add(inner, mul(diagonal, per_column(g_values, vectors)))
    left = times(vectors, inner)
    return _of_lower_triangle(times(left, vectors, adjoint_b=True))


eigh_row = opaque(
    "SelfAdjointEigV2",
    _eigen,
    inputs="input",
    infer=_infer,
    vjp={"input": _rule},
    batch=_batch,
    outputs=2,
    holomorphic=False,
    raw=lambda input, compute_v=True: _raw_eigh(input, compute_v),
)


def _values_rule(g, input):
    _, vectors = eigh_row(input)
    scaled = mul(vectors, per_column(g, vectors))
    return _of_lower_triangle(times(scaled, vectors, adjoint_b=True))


eigenvalues = opaque(
    "SelfAdjointEigenvalues",
    _eigenvalues,
    inputs="input",
    infer=_infer_values,
    vjp={"input": _values_rule},
    batch=_batch,
    holomorphic=False,
    raw=False,
)


@export("linalg.eigh")
def eigh(tensor, name=None):
    """Eigenvalues, smallest first, and eigenvectors, as columns, of self-adjoint matrices.

    Args:
        tensor: square matrices, of which the lower triangles are read.

    Returns:
        The pair (e, v), with tensor = v diag(e) adjoint(v).

    Raises:
        InvalidArgumentError: the matrices are not square, or not finite.
    """
    return apply(eigh_row.op, (operand(tensor),))


@export("linalg.eigvalsh")
def eigvalsh(tensor, name=None):
    """The eigenvalues, smallest first, of self-adjoint matrices; reads the lower triangles.

    Raises:
        InvalidArgumentError: the matrices are not square, or not finite.
    """
    return apply(eigenvalues.op, (operand(tensor),))


SelfAdjointEigV2 = collections.namedtuple("SelfAdjointEigV2", "e v")


def _raw_eigh(input, compute_v):
    if compute_v:
        return SelfAdjointEigV2(*eigh(input))
    values = eigvalsh(input)
    return SelfAdjointEigV2(values, EagerTensor(np.zeros(0, dtype_of(values))))
