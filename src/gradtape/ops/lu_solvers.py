"""What an LU decomposition is good for: solutions, inverses, and the matrix itself."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.exports import export
from ..core.tensor import EagerTensor
from .broadcasting import broadcast_to
from .contraction import matmul
from .diagonals import band_part, set_diag
from .indexing import gather
from .ordering import argsort
from .solvers import triangular_solve


def _decomposition(lower_upper, perm, validate_args):
    """Both parts as tensors, checked."""
    factors = operand(lower_upper)
    order = convert_to_tensor(perm, dtype_hint=dtypes.int32)
    shape = factors._value.shape
    if len(shape) < 2:
        raise ValueError("Input `lower_upper` must have at least 2 dimensions.")
    if len(shape) != len(order._value.shape) + 1:
        raise ValueError("`rank(lower_upper)` must equal `rank(perm) + 1`")
    if validate_args and shape[-1] != shape[-2]:
        raise ValueError("`lower_upper` must be square.")
    return factors, order


def _permuted(x, order):
    """The rows of matrices in the order that a permutation for each of them says."""
    return gather(x, order, axis=-2, batch_dims=len(order._value.shape) - 1)


def _unit_lower(factors):
    unit = np.ones(factors._value.shape[:-1], factors._value.dtype)
    return set_diag(band_part(factors, -1, 0), EagerTensor(unit))


@export("linalg.lu_reconstruct")
def lu_reconstruct(lower_upper, perm, validate_args=False, name=None):
    """The matrices of which `tf.linalg.lu` gave this decomposition.

    Args:
        lower_upper: both factors.
        perm: the permutation of rows.
        validate_args: whether to check that the factors are square.

    Raises:
        ValueError: the ranks do not agree.
    """
    factors, order = _decomposition(lower_upper, perm, validate_args)
    product = matmul(_unit_lower(factors), band_part(factors, 0, -1))
    return _permuted(product, argsort(order))


@export("linalg.lu_solve")
def lu_solve(lower_upper, perm, rhs, validate_args=False, name=None):
    """Solves equations with matrices of which `tf.linalg.lu` gave this decomposition.

    Args:
        lower_upper: both factors.
        perm: the permutation of rows.
        rhs: the right-hand sides, as matrices whose columns they are; leading axes broadcast.
        validate_args: whether to check that the factors are square and as large as `rhs`.

    Raises:
        ValueError: the ranks do not agree.
    """
    factors, order = _decomposition(lower_upper, perm, validate_args)
    rhs = operand(rhs, factors)
    shape, have = factors._value.shape, rhs._value.shape
    if len(have) < 2:
        raise ValueError("Input `rhs` must have at least 2 dimensions.")
    if validate_args and have[-2] != shape[-1]:
        raise ValueError("`lower_upper.shape[-1]` must equal `rhs.shape[-1]`.")
    lead = np.broadcast_shapes(shape[:-2], have[:-2])
    rhs = apply(broadcast_to.op, (rhs,), {"shape": (*lead, *have[-2:])})
    order = apply(broadcast_to.op, (order,), {"shape": (*lead, shape[-1])})
    halfway = triangular_solve(_unit_lower(factors), _permuted(rhs, order))
    return triangular_solve(factors, halfway, lower=False)


@export("linalg.lu_matrix_inverse")
def lu_matrix_inverse(lower_upper, perm, validate_args=False, name=None):
    """The inverse of matrices of which `tf.linalg.lu` gave this decomposition.

    Args:
        lower_upper: both factors.
        perm: the permutation of rows.
        validate_args: whether to check that the factors are square.

    Raises:
        ValueError: the ranks do not agree.
    """
    factors, order = _decomposition(lower_upper, perm, validate_args)
    unit = EagerTensor(np.eye(factors._value.shape[-1], dtype=factors._value.dtype))
    return lu_solve(factors, order, unit, validate_args)
