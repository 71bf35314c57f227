"""Diagonals of tensors, which have twice the rank of what lies on them."""

import math

from ..core import dtypes
from ..core.convert import operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from .broadcasting import not_allowed, reshape, words
from .diagonals import diag, diag_part

_TENSOR_DIAGONALS = dtypes.DIFFERENTIABLE | dtypes.numpy_set(dtypes.int32, dtypes.int64)


@export("linalg.tensor_diag")
def tensor_diag(diagonal, name=None):
    """A tensor of twice the rank that is zero except at equal pairs of indices.

    Raises:
        InvalidArgumentError: a scalar has no axes to double.
    """
    x = operand(diagonal)
    shape = x._value.shape
    if x._value.dtype not in _TENSOR_DIAGONALS:
        raise not_allowed("Diag", x._value.dtype, _TENSOR_DIAGONALS)
    if not shape:
        raise invalid_argument("Diag", "Input must be at least rank 1, got 0")
    flat = apply(reshape.op, (x,), {"shape": (math.prod(shape),)})
    return reshape(diag(flat), shape=shape + shape)


@export("linalg.tensor_diag_part")
def tensor_diag_part(input, name=None):
    """The elements of a tensor at equal pairs of indices: half the rank is left.

    Raises:
        InvalidArgumentError: the rank is odd, or the second half of the shape is not the first.
    """
    x = operand(input)
    shape = x._value.shape
    if x._value.dtype not in _TENSOR_DIAGONALS:
        raise not_allowed("DiagPart", x._value.dtype, _TENSOR_DIAGONALS)
    half = len(shape) // 2
    if len(shape) % 2:
        raise invalid_argument(
            "DiagPart",
            f"The rank of the tensor should be even and positive, got shape {words(shape)}",
        )
    for i in range(half):
        if shape[i] != shape[i + half]:
            raise invalid_argument(
                "DiagPart",
                f"Invalid shape {words(shape)}: dimensions {i} and {i + half} do not match.",
            )
    size = math.prod(shape[:half])
    flat = apply(reshape.op, (x,), {"shape": (size, size)})
    return reshape(diag_part(flat), shape=shape[:half])
