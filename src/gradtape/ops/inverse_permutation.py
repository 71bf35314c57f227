"""The inverse of a permutation."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .broadcasting import not_allowed, words
from .families import non_differentiable, shape_of
from .joining import pack, unpack

_INTEGERS = frozenset([dtypes.int32.numpy_dtype, dtypes.int64.numpy_dtype])


def _infer(x):
    if x.dtype not in _INTEGERS:
        raise not_allowed("InvertPermutation", x.dtype, _INTEGERS)
    if len(x.shape) != 1:
        raise invalid_argument(
            "InvertPermutation", f"invert_permutation expects a 1D vector. Got: {words(x.shape)}"
        )
    return Spec(x.shape, x.dtype)


def _invert(x):
    size = x.size
    outside = (x < 0) | (x >= size)
    if outside.any():
        raise invalid_argument(
            "InvertPermutation", f"{x[np.argmax(outside)]} is not between 0 and {size}"
        )
    inverse = np.full(size, -1, x.dtype)
    inverse[x] = np.arange(size, dtype=x.dtype)
    if size and inverse.min() < 0:
        twice = np.flatnonzero(inverse[x] != np.arange(size))[0]
        raise invalid_argument("InvertPermutation", f"{x[twice]} is duplicated in the input.")
    return inverse


def _batch(op, values, flags, attrs):
    """Row by row: the rows of a batch are permutations of their own."""
    if not shape_of(values[0])[0]:
        return values[0]
    return pack([op.call(row) for row in unpack(values[0], axis=0)], axis=0)


invert_row = non_differentiable(
    "InvertPermutation", _invert, inputs="x", infer=_infer, batch=_batch
)


@export("math.invert_permutation")
def invert_permutation(x, name=None):
    """For each number from 0 to n - 1, its position in a vector that holds all of them once.

    Raises:
        InvalidArgumentError: a number is not in that range or occurs twice.
    """
    x = operand(x) if hasattr(x, "dtype") else convert_to_tensor(x, dtype_hint=dtypes.int32)
    return apply(invert_row.op, (x,))
