"""The largest and the smallest elements along axes."""

import numpy as np

from ..core import dtypes
from ..core.convert import operand
from ..core.exports import export
from .arithmetic import mul, real_div
from .axes import batch, infer_for, reduce_with
from .broadcasting import LARGE, quick_reduction, reduced_shape, spread, sum_
from .casting import cast_row
from .families import dtype_of, opaque, shape_of
from .logic import equal


def _extreme_of(ufunc, of_nothing):
    def kernel(x, axis, keepdims):
        if not axis:
            return x
        if x.size > LARGE:
            found = quick_reduction(ufunc, x, axis, keepdims)
            if found is not None:
                return found
        if x.size:
            return ufunc.reduce(x, axis=axis, keepdims=keepdims)
        return np.full(reduced_shape(x.shape, axis, keepdims), of_nothing(x.dtype), x.dtype)[()]

    return kernel


def _ties(x, out, axis, keepdims):
    """1 where an element is the extreme, else 0; and how many of them there are."""
    ties = cast_row(equal(x, spread(out, shape_of(x), axis, keepdims)), dtype=dtype_of(x))
    return ties, sum_(ties, axis=axis, keepdims=keepdims)


def _extreme_rule(g, x, out, *, axis, keepdims):
    """Ties share the gradient equally."""
    ties, count = _ties(x, out, axis, keepdims)
    return mul(spread(real_div(g, count), shape_of(x), axis, keepdims), ties)


def _extreme_tangent(tangents, inputs, out, attrs):
    ties, count = _ties(inputs[0], out, **attrs)
    return real_div(sum_(mul(tangents[0], ties), **attrs), count)


def _extreme(name, ufunc, of_nothing):
    """A row for the largest or smallest element; `of_nothing(dtype)` is that of none."""
    return opaque(
        name,
        _extreme_of(ufunc, of_nothing),
        inputs="x",
        infer=infer_for(name, dtypes.REAL),
        vjp={"x": _extreme_rule},
        jvp=_extreme_tangent,
        batch=batch,
        raw="input:x, axis, keep_dims:keepdims=False",
    )


max_ = _extreme(
    "Max", np.maximum, lambda dtype: np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf
)
min_ = _extreme(
    "Min", np.minimum, lambda dtype: np.iinfo(dtype).max if dtype.kind in "iu" else np.inf
)


@export("reduce_max math.reduce_max")
def reduce_max(input_tensor, axis=None, keepdims=False, name=None):
    """The largest element along axes; ties share the gradient equally."""
    return reduce_with(max_, operand(input_tensor), axis, keepdims)


@export("reduce_min math.reduce_min")
def reduce_min(input_tensor, axis=None, keepdims=False, name=None):
    """The smallest element along axes; ties share the gradient equally."""
    return reduce_with(min_, operand(input_tensor), axis, keepdims)
