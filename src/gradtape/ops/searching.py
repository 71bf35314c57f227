"""Positions of values in sorted sequences: searchsorted."""

import math

import numpy as np

from ..core import dtypes
from ..core.convert import operands
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .broadcasting import not_allowed, reshape, words
from .families import non_differentiable, shape_of
from .joining import all_batched
from .pointwise import dtype_mismatch
from .uniqueness import check_counting_dtype

# Up to this length a whole batch of short sequences is quicker compared than searched in turn.
_SHORT = 64


def _infer_for(op_name):
    def infer(sorted_inputs, values, *, out_type):
        if values.dtype != sorted_inputs.dtype:
            raise dtype_mismatch(op_name, 1, sorted_inputs.dtype, values.dtype)
        if sorted_inputs.dtype not in dtypes.REAL:
            raise not_allowed(op_name, sorted_inputs.dtype, dtypes.REAL)
        check_counting_dtype(op_name, "out_type", out_type)
        for argument, x in (("sorted input", sorted_inputs), ("values", values)):
            if len(x.shape) != 2:
                raise invalid_argument(op_name, f"{argument} argument must be a matrix")
        if sorted_inputs.shape[0] != values.shape[0]:
            raise invalid_argument(op_name, "Leading dim_size of both tensors must match.")
        return Spec(values.shape, out_type)

    return infer


def _kernel_for(side, compare, of_nan):
    """The kernel of one side; `of_nan` picks where a NaN goes, which compares with nothing."""

    def kernel(sorted_inputs, values, out_type):
        rows, length = sorted_inputs.shape
        if rows > _SHORT and length <= _SHORT:
            found = compare(sorted_inputs[:, None, :], values[:, :, None]).sum(-1, dtype=out_type)
        else:
            found = np.empty(values.shape, out_type)
            for i in range(rows):
                found[i] = sorted_inputs[i].searchsorted(values[i], side)
        if values.dtype.kind not in "iu":
            missing = np.isnan(values)
            if missing.any():
                found[missing] = of_nan(length)
        return found

    return kernel


def _batch(op, values, flags, attrs):
    sequences, wanted = all_batched(values, flags)
    flat = [
        reshape(x, shape=(math.prod(shape_of(x)[:2]), shape_of(x)[2])) for x in (sequences, wanted)
    ]
    return reshape(op.call(*flat, **attrs), shape=shape_of(wanted))


lower_bound = non_differentiable(
    "LowerBound",
    _kernel_for("left", np.less, lambda length: 0),
    inputs="sorted_inputs values",
    infer=_infer_for("LowerBound"),
    batch=_batch,
    raw="sorted_inputs, values, out_type=tf.int32",
)

upper_bound = non_differentiable(
    "UpperBound",
    _kernel_for("right", np.less_equal, lambda length: length),
    inputs="sorted_inputs values",
    infer=_infer_for("UpperBound"),
    batch=_batch,
    raw="sorted_inputs, values, out_type=tf.int32",
)


@export("searchsorted")
def searchsorted(sorted_sequence, values, side="left", out_type=dtypes.int32, name=None):
    """Where `values` would go in sorted sequences, which lie along the last axis.

    Args:
        sorted_sequence: the sequences, in ascending order.
        values: what to look for; its other axes are those of `sorted_sequence`.
        side: `"left"` for the place before equal elements, `"right"` for that behind them.
        out_type: int32 or int64.

    Raises:
        ValueError: there is no such side.
        InvalidArgumentError: the numbers of sequences differ, or one of the two is a scalar.
    """
    if side not in ("left", "right"):
        raise ValueError(
            f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'."
        )
    row = lower_bound if side == "left" else upper_bound
    sequences, wanted = operands(sorted_sequence, values)
    flat = []
    for argument, x in (("sorted_sequence", sequences), ("values", wanted)):
        shape = tuple(x.shape)
        if not shape:
            raise invalid_argument(
                row.op.name, f"{argument} must be at least a vector. Received shape {words(shape)}"
            )
        goal = (math.prod(shape[:-1]), shape[-1])
        flat.append(apply(reshape.op, (x,), {"shape": goal}))
    attrs = {"out_type": dtypes.as_dtype(out_type).numpy_dtype}
    found = apply(row.op, tuple(flat), attrs)
    return apply(reshape.op, (found,), {"shape": tuple(wanted.shape)})
