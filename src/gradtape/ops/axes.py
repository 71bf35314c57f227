"""What all reductions share: the axes they are given, their inference and batch rules."""

import math
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.dispatch import apply
from ..core.op import Spec
from .arguments import integers
from .broadcasting import batch_axes, checked_shape, not_allowed

_PLAIN = {int}


def axes_of(axis, rank, op_name):
    """An `axis` argument as a tuple of ints, negative where they were given so; None means all.

    Raises:
        InvalidArgumentError: these are tensors or lists, but not of integers.
        TypeError: it is a Python float.
    """
    if axis is None:
        return tuple(range(rank))
    if type(axis) is int:
        return (axis,)
    if type(axis) in (list, tuple) and {*map(type, axis)} <= _PLAIN:
        return tuple(axis)
    if isinstance(axis, float):
        convert_to_tensor(axis, dtypes.int32)  # raises TensorFlow's error
    if isinstance(axis, (bool, np.integer, np.ndarray)) and np.asarray(axis).dtype.kind in "biu":
        array = np.asarray(axis).astype(np.int64)
    else:
        array = integers(axis, op_name, "Tidx")
    return tuple(array.reshape(-1).tolist())


def reduce_with(row, x, axis, keepdims) -> Any:
    """Applies a reduction to a tensor or variable, with its arguments as callers give them."""
    op = row.op
    attrs = {"axis": axes_of(axis, len(x._value.shape), op.name), "keepdims": bool(keepdims)}
    return apply(op, (x,), attrs)


def infer_for(name, accepts):
    """The inference rule of a reduction that keeps the dtype, one of those it accepts."""

    def infer(x, *, axis, keepdims):
        if x.dtype not in accepts:
            raise not_allowed(name, x.dtype, accepts)
        return Spec(checked_shape(name, x.shape, axis, keepdims), x.dtype)

    return infer


def batch(op, values, flags, attrs):
    """The batch rule of a reduction: its axes stand one place further."""
    return op.call(values[0], **batch_axes(values, attrs))


def count_along(shape, axis):
    """How many elements each result of a reduction is made of."""
    return math.prod([shape[a] for a in axis])
