"""Tensors made from a rule: filled with one value, ranges, evenly spaced values, eye."""

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.tensor import EagerTensor, Tensor
from .arguments import integer
from .arithmetic import add, mul, real_div, sub
from .broadcasting import broadcast_to, not_allowed, reshape, words
from .casting import cast
from .creation import dimensions
from .joining import concat_row
from .manipulation import expand_dims
from .spacing import spaced_row


@export("fill")
def fill(dims, value, name=None, layout=None):
    """A tensor of shape `dims` with one value everywhere; gradients pass to the value.

    Raises:
        InvalidArgumentError: `dims` is not a shape, or there are several values.
    """
    x = operand(value)
    if x._value.shape not in ((), (1,)):
        raise invalid_argument(
            "Fill", f"value must represent a scalar, got shape {words(x._value.shape)}"
        )
    scalar = apply(reshape.op, (x,), {"shape": ()}) if x._value.shape else x
    return apply(broadcast_to.op, (scalar,), {"shape": dimensions(dims)})


@export("eye linalg.eye")
def eye(num_rows, num_columns=None, batch_shape=None, dtype=dtypes.float32, name=None):
    """Identity matrices: ones on the diagonal, zeros elsewhere.

    Args:
        num_rows: the number of rows.
        num_columns: the number of columns, if the matrices are not square.
        batch_shape: the shape of the axes before those of the matrices.
        dtype: the dtype.

    Raises:
        TypeError: the numbers are not integers.
        InvalidArgumentError: one is negative.
    """
    goal = dtypes.as_dtype(dtype)
    if goal is dtypes.string:
        raise TypeError("Cannot convert 1 to EagerTensor of dtype string")
    if num_columns is None:
        num_columns = num_rows
    matrix = dimensions(
        [_count(number, num_rows, num_columns) for number in (num_rows, num_columns)]
    )
    lead = () if batch_shape is None else dimensions(batch_shape)
    filled = np.zeros((*lead, *matrix), goal.numpy_dtype)
    diagonal = np.arange(min(matrix))
    filled[..., diagonal, diagonal] = 1
    return EagerTensor(filled)


def _count(number, num_rows, num_columns):
    is_integer = hasattr(type(number), "__index__") or hasattr(number, "_dispatch_level")
    if not is_integer or not dtypes.as_dtype(getattr(number, "dtype", "int32")).is_integer:
        raise TypeError(
            "Arguments `num_rows` and `num_columns` must be positive integer values. Received: "
            f"num_rows={num_rows}, num_columns={num_columns}"
        )
    return integer(number, "Fill")


# Ranges -------------------------------------------------------------------------------------------

# Where the dtypes of the arguments differ, the one that stands last here is taken.
_RANGE_DTYPES = (
    dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64,
)  # fmt: skip
_RANGE_ACCEPTS = dtypes.REAL - dtypes.numpy_set(dtypes.uint8)


@export("range")
def range_(start, limit=None, delta=1, dtype=None, name="range"):
    """Evenly spaced numbers from `start` up to, not including, `limit`.

    Args:
        start: the first number; if it is the only one given, the limit, and the first is 0.
        limit: the end, which is left out.
        delta: the distance of one number to the next.
        dtype: the dtype; otherwise the widest of the arguments'.

    Raises:
        InvalidArgumentError: the step is zero or leads away from the limit.
        TypeError: the arguments are not integers or floating-point numbers.
    """
    if limit is None:
        start, limit = 0, start
    goal = None if dtype is None else dtypes.as_dtype(dtype)
    given = {"start": start, "limit": limit, "delta": delta}
    parts = {
        name: convert_to_tensor(part, None if isinstance(part, Tensor) else goal)
        for name, part in given.items()
    }
    if goal is None:
        goal = _common_dtype([part.dtype for part in parts.values()])
    elif goal.numpy_dtype not in _RANGE_ACCEPTS:
        raise not_allowed("Range", goal.numpy_dtype, _RANGE_ACCEPTS)
    first, last, step = [_range_number(name, part, goal) for name, part in parts.items()]
    _check_range(first, last, step)
    return EagerTensor(np.arange(first, last, step, dtype=goal.numpy_dtype))


def _common_dtype(found):
    for dtype in found:
        if dtype not in _RANGE_DTYPES:
            known = ", ".join([known.name for known in _RANGE_DTYPES])
            raise TypeError(f"tf.range finds its dtype among {known}. Received: {dtype!r}.")
    return max(found, key=_RANGE_DTYPES.index)


def _range_number(name, tensor, dtype):
    if tensor._value.shape not in ((), (1,)):
        raise invalid_argument("Range", f"{name} must be a scalar, not shape {words(tensor.shape)}")
    value: Any = np.asarray(tensor).reshape(())[()]
    return value.astype(dtype.numpy_dtype)


def _check_range(first, last, step):
    if step == 0:
        raise invalid_argument("Range", "Requires delta != 0: 0")
    if step > 0 and not first <= last:
        raise invalid_argument("Range", f"Requires start <= limit when delta > 0: {first}/{last}")
    if not step > 0 and not (step < 0 and first >= last):
        raise invalid_argument("Range", f"Requires start >= limit when delta < 0: {first}/{last}")


@export("linspace")
def linspace(start, stop, num, name=None, axis=0):
    """`num` evenly spaced values from `start` to `stop`, both included; differentiable in both.

    Args:
        start: a tensor; integers are taken as float64.
        stop: a tensor of the same dtype, and of a shape that broadcasts with it.
        num: how many values.
        axis: where the new axis goes.

    Raises:
        TypeError: `num` is not an integer.
        InvalidArgumentError: `num` is negative, or there is no such axis.
    """
    start = convert_to_tensor(start)
    stop = convert_to_tensor(stop, start.dtype)
    count = integer(num, "Range")
    if count < 0:
        raise invalid_argument("Range", f"Requires num >= 0. Received: num={count}")
    if start.dtype.is_integer:
        start, stop = cast(start, dtypes.float64), cast(stop, dtypes.float64)
    numpy_dtype = start.dtype.numpy_dtype
    shape = _common_shape(start, stop)
    if not shape and numpy_dtype in dtypes.FLOATING and type(axis) is int and axis in (0, -1):
        return apply(spaced_row.op, (start, stop), {"num": count})
    first = expand_dims(broadcast_to(start, shape=shape), axis)
    last = expand_dims(broadcast_to(stop, shape=shape), axis)
    position = integer(axis, "ExpandDims") % (len(shape) + 1)
    inner_count = max(count - 1, min(count, 1))
    numbers = np.arange(inner_count, dtype=numpy_dtype)
    numbers = numbers.reshape([-1 if i == position else 1 for i in range(len(shape) + 1)])
    step = real_div(sub(last, first), float(max(count - 1, 1)))
    inner = add(first, mul(step, EagerTensor(numbers)))
    if count < 2:
        return inner
    # The end is `stop` itself, not what rounding makes of it.
    return concat_row([inner, last], axis=position)


def _common_shape(start, stop):
    try:
        return np.broadcast_shapes(start._value.shape, stop._value.shape)
    except ValueError:
        raise invalid_argument(
            "BroadcastArgs",
            f"Incompatible shapes: {words(start._value.shape)} vs. {words(stop._value.shape)}",
        ) from None
