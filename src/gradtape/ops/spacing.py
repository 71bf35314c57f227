"""Evenly spaced values between two numbers, in one array."""

import numpy as np

from ..core.dtypes import FLOATING
from ..core.errors import invalid_argument
from ..core.op import Spec
from .arithmetic import add, mul
from .broadcasting import not_allowed, reshape, sum_, words
from .families import dtype_of, opaque, shape_of
from .joining import all_batched
from .pointwise import dtype_mismatch
from .selection import zero_of

_NAME = "EvenlySpaced"
_BLOCK = 1024


def _infer(start, stop, *, num):
    if start.dtype not in FLOATING:
        raise not_allowed(_NAME, start.dtype, FLOATING)
    if stop.dtype != start.dtype:
        raise dtype_mismatch(_NAME, 1, start.dtype, stop.dtype)
    for argument, x in (("start", start), ("stop", stop)):
        if x.shape:
            raise invalid_argument(
                _NAME, f"{argument} must be a scalar, not shape {words(x.shape)}"
            )
    return Spec((num,), start.dtype)


def _spaced(start, stop, num):
    dtype = start.dtype
    values = _counted(num, dtype)
    if num > 1:
        values *= (stop - start) / dtype.type(num - 1)
    values += start
    if num > 1:
        values[-1] = stop  # not what rounding makes of it
    return values


def _counted(num, dtype):
    """The numbers 0, 1, 2, …; of a large count by sums, several times quicker than `arange`."""
    if num <= _BLOCK or dtype.itemsize < 4:
        return np.arange(num).astype(dtype)
    starts = np.arange(0, num, _BLOCK).astype(dtype)
    return np.add.outer(starts, np.arange(_BLOCK).astype(dtype)).reshape(-1)[:num]


def _shares(num, dtype):
    """How much of each value is `start`, and how much `stop`."""
    of_stop = np.arange(num) / max(num - 1, 1)
    return (1 - of_stop).astype(dtype), of_stop.astype(dtype)


def _sum_of(g, weights):
    return sum_(mul(g, weights), axis=(0,), keepdims=False)


def _tangent(tangents, inputs, out, attrs):
    start, stop = [
        zero_of(x) if tangent is None else tangent
        for tangent, x in zip(tangents, inputs, strict=True)
    ]
    return spaced_row(start, stop, **attrs)


def _batch(op, values, flags, attrs):
    start, stop = [reshape(x, shape=(*shape_of(x), 1)) for x in all_batched(values, flags)]
    of_start, of_stop = _shares(attrs["num"], dtype_of(start))
    return add(mul(start, of_start), mul(stop, of_stop))


spaced_row = opaque(
    _NAME,
    _spaced,
    inputs="start stop",
    infer=_infer,
    vjp={
        "start": lambda g, *, num: _sum_of(g, _shares(num, dtype_of(g))[0]),
        "stop": lambda g, *, num: _sum_of(g, _shares(num, dtype_of(g))[1]),
    },
    jvp=_tangent,
    batch=_batch,
    raw=False,
)
