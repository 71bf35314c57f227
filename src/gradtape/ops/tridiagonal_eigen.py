"""Eigenvalues and eigenvectors of symmetric tridiagonal matrices."""

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.errors import InvalidArgumentError
from ..core.exports import export
from .complex_numbers import real
from .diagonals import diag
from .eigen import eigh, eigvalsh
from .elementwise import conj
from .families import shape_of
from .indexing import gather


@export("linalg.eigh_tridiagonal")
def eigh_tridiagonal(
    alpha, beta, eigvals_only=True, select="a", select_range=None, tol=None, name=None
):
    """The eigenvalues, from the smallest up, of a self-adjoint tridiagonal matrix.

    Args:
        alpha: the diagonal, a vector; of complex numbers the real parts.
        beta: the diagonal above it, a vector that is shorter by one.
        eigvals_only: False to get the eigenvectors too, as columns of a matrix.
        select: "a" for all eigenvalues, "i" for those with the numbers from `select_range[0]` to
            `select_range[1]`, "v" for those above `select_range[0]` and up to `select_range[1]`.
        select_range: see `select`.
        tol: accepted for compatibility; results are as exact as the dtype allows.

    Returns:
        The eigenvalues, or a pair of them and the eigenvectors.

    Raises:
        ValueError: the dtypes differ or are not floating or complex, the tensors are not vectors,
            or `select` is none of those.
        InvalidArgumentError: the lengths do not fit, or the range is empty.
    """
    alpha, beta = convert_to_tensor(alpha), convert_to_tensor(beta)
    if alpha.dtype is not beta.dtype:
        raise ValueError("'alpha' and 'beta' must have the same type.")
    if not (alpha.dtype.is_floating or alpha.dtype.is_complex):
        raise ValueError(f"data type {alpha.dtype.name} not inexact")
    if select not in ("a", "i", "v"):
        raise ValueError("'select must have a value in {'a', 'i', 'v'}.")
    sizes = shape_of(alpha), shape_of(beta)
    if len(sizes[0]) != 1 or len(sizes[1]) != 1:
        raise ValueError(f"'alpha' and 'beta' must be vectors. Received shapes: {sizes}")
    size = sizes[0][0]
    if size != sizes[1][0] + 1:
        raise _refused(f"'beta' must be shorter than 'alpha' by one. Received shapes: {sizes}")
    if alpha.dtype.is_complex:
        alpha = (alpha + conj(alpha)) / 2
    matrix = diag(alpha)
    if size > 1:  # eigen-decompositions read the lower triangle
        matrix += diag(conj(beta), k=-1, num_rows=size, num_cols=size)
    if eigvals_only:
        values = _real(eigvalsh(matrix))
        places = _places(values, select, select_range)
        return values if places is None else gather(values, places)
    values, vectors = eigh(matrix)
    values = _real(values)
    places = _places(values, select, select_range)
    if places is None:
        return values, vectors
    return gather(values, places), gather(vectors, places, axis=1)


def _real(values):
    """Eigenvalues of self-adjoint matrices are real."""
    return real(values) if values.dtype.is_complex else values


def _refused(text):
    return InvalidArgumentError(None, None, text)


def _places(values, select, bounds):
    """The numbers of the eigenvalues asked for; None for all of them."""
    if select == "a":
        return None
    if bounds is None:
        raise TypeError(f"`select_range` must be given with select={select!r}.")
    first, last = [np.asarray(convert_to_tensor(bound)._value).item() for bound in bounds]
    array = np.asarray(values)
    if select == "i":
        if first > last:
            raise _refused(f"Got empty index range in select_range. Received: {first}, {last}")
        if first < 0 or last >= array.size:
            raise _refused(f"select_range must lie in [0, {array.size}). Received: {first}, {last}")
        return np.arange(first, last + 1)
    if first >= last:
        raise _refused(f"Got empty interval in select_range. Received: {first}, {last}")
    return np.flatnonzero((array > first) & (array <= last))
