"""Division that rounds towards zero, its remainder, and the next floating-point number."""

import numpy as np

from ..core.dtypes import FLOATING, REAL, float32, float64, int32, int64, numpy_set
from ..core.errors import invalid_argument
from ..core.op import NON_DIFFERENTIABLE
from ..core.rules import unchanged
from .arithmetic import mul, neg
from .pointwise import elementwise


def _check_divisor(op_name, y):
    if y.dtype.kind in "iu" and not np.all(y):
        raise invalid_argument(op_name, "Integer division by zero")


def _truncate_div(x, y):
    _check_divisor("TruncateDiv", y)
    if x.dtype.kind == "u":
        return x // y
    if x.dtype.kind == "i":
        quotient = x // y
        return quotient + ((quotient < 0) & (quotient * y != x)).astype(x.dtype)
    return np.trunc(x / y)


def _truncate_mod(x, y):
    _check_divisor("TruncateMod", y)
    return np.fmod(x, y)


truncate_div = elementwise(
    "TruncateDiv",
    _truncate_div,
    x=None,
    y=None,
    accepts=REAL,
    state=NON_DIFFERENTIABLE,
    public="truncatediv",
)

truncate_mod = elementwise(
    "TruncateMod",
    _truncate_mod,
    x=unchanged,
    y=lambda g, x, y: neg(mul(g, truncate_div(x, y))),
    accepts=FLOATING | numpy_set(int32, int64),
    public="truncatemod",
)

next_after = elementwise(
    "NextAfter",
    np.nextafter,
    x1=unchanged,
    x2=lambda g: mul(g, 0.0),
    accepts=numpy_set(float32, float64),
    public="math.nextafter",
)
