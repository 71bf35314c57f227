"""Small compositions: polynomials, multiples, and whether numbers increase."""

import numpy as np

from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.exports import export
from ..core.indexed_slices import IndexedSlices
from .arithmetic import add_public, mul
from .broadcasting import reshape
from .horner import polynomial_row
from .logic import less, less_equal
from .reduction import reduce_all

_PLAIN = (np.dtype(np.float32), np.dtype(np.float64))


@export("math.polyval")
def polyval(coeffs, x, name=None):
    """A polynomial in `x`, element by element.

    Args:
        coeffs: a list of coefficients, that of the highest power first.
        x: a tensor.

    Raises:
        ValueError: the coefficients are not a list.
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = operand(x)
    if not coeffs:
        return mul(x, convert_to_tensor(0, x.dtype))
    if len(coeffs) > 1 and {*map(type, coeffs)} == {float} and x._value.dtype in _PLAIN:
        return apply(polynomial_row.op, (x,), {"coefficients": tuple(coeffs)})
    total = operand(coeffs[0], x)
    for coefficient in coeffs[1:]:
        total = add_public(operand(coefficient, x), mul(total, x))
    return total


@export("math.scalar_mul scalar_mul")
def scalar_mul(scalar, x, name=None):
    """A tensor or IndexedSlices times a number.

    Raises:
        ValueError: `scalar` is not a single number.
    """
    if not isinstance(x, IndexedSlices):
        x = operand(x)
    factor = convert_to_tensor(operand(scalar, x) if not hasattr(scalar, "shape") else scalar)
    if factor.ndim:
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {factor.shape}.")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(mul(factor, x.values), x.indices, x.dense_shape)
    return mul(factor, x)


def _in_order(x, row):
    x = convert_to_tensor(x)
    if not (x.dtype.is_integer or x.dtype.is_floating):
        raise TypeError(f"Expected x to be numeric, instead found: {x}")
    flat = reshape(x, shape=(x.shape.num_elements(),))
    return reduce_all(row(flat[:-1], flat[1:]))


@export("math.is_non_decreasing")
def is_non_decreasing(x, name=None):
    """Whether no element of `x`, read row by row, is less than the one before.

    Raises:
        TypeError: the elements are not real numbers.
    """
    return _in_order(x, less_equal)


@export("math.is_strictly_increasing")
def is_strictly_increasing(x, name=None):
    """Whether each element of `x`, read row by row, is greater than the one before.

    Raises:
        TypeError: the elements are not real numbers.
    """
    return _in_order(x, less)
