"""Running sums and products along an axis."""

import functools

import numpy as np

from ..core import dtypes
from ..core.convert import operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arguments import integer
from .arithmetic import add, masked, mul, sub
from .broadcasting import not_allowed, words
from .elementwise import exp
from .families import linear, opaque, shape_of
from .joining import all_batched
from .logic import greater
from .numerics import in_float32
from .pointwise import dtype_mismatch
from .selection import zero_of
from .slicing import EVERYTHING, strided_slice_grad, strided_slice_row


def _infer_for(name, accepts=dtypes.NUMERIC):
    def infer(x, *, axis, exclusive, reverse):
        rank = len(x.shape)
        if x.dtype not in accepts:
            raise not_allowed(name, x.dtype, accepts)
        if not -rank <= axis < rank:
            raise invalid_argument(
                name, f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {axis}"
            )
        return Spec(x.shape, x.dtype)

    return infer


def _scan(ufunc, x, axis, exclusive, reverse):
    """`ufunc` accumulated along an axis, perhaps from the end, perhaps leaving out the element."""
    out = np.empty(x.shape, x.dtype)
    along_x, along_out = np.moveaxis(x, axis, 0), np.moveaxis(out, axis, 0)
    if reverse:
        along_x, along_out = along_x[::-1], along_out[::-1]
    if exclusive:
        along_out[:1] = ufunc.identity
        along_x, along_out = along_x[:-1], along_out[1:]
    if len(along_x) > 1 and x.size // x.shape[axis] >= _WIDE and axis % x.ndim != x.ndim - 1:
        _scan_rows(ufunc, along_x, along_out)
    else:
        ufunc.accumulate(along_x, axis=0, dtype=x.dtype, out=along_out)
    return out


# From so many elements on, rows are better combined as a whole: NumPy would go down column by
# column, far away in memory at each step.
_WIDE = 256


def _scan_rows(ufunc, x, out):
    before = out[0]
    before[...] = x[0]
    for row, place in zip(x[1:], out[1:], strict=True):
        ufunc(before, row, place)
        before = place


def _batch(op, values, flags, attrs):
    rank = len(shape_of(values[0])) - 1
    return op.call(values[0], **{**attrs, "axis": attrs["axis"] % rank + 1})


cumsum_row = linear(
    "Cumsum",
    lambda x, axis, exclusive, reverse: _scan(np.add, x, axis, exclusive, reverse),
    infer=_infer_for("Cumsum"),
    transpose=lambda g, *, axis, exclusive, reverse: cumsum_row(
        g, axis=axis, exclusive=exclusive, reverse=not reverse
    ),
    batch=_batch,
    raw="x, axis, exclusive=False, reverse=False",
)


# Linear recurrence: what the derivative of a running product is made of --------------------------
#
# h[i] = b[i] + a[i-1] h[i-1], or from the end h[i] = b[i] + a[i] h[i+1]: in both directions a[i]
# is the factor between places i and i+1, so that the one is the other's transpose.


def _infer_recurrence(a, b, *, axis, reverse):
    if a.dtype != b.dtype:
        raise dtype_mismatch("LinearRecurrence", 1, a.dtype, b.dtype)
    shorter = (*b.shape[:axis], max(b.shape[axis] - 1, 0), *b.shape[axis + 1 :])
    if a.shape != shorter:
        raise invalid_argument(
            "LinearRecurrence",
            f"Expected factors of shape {words(shorter)} for terms of shape {words(b.shape)}. "
            f"Received: {words(a.shape)}",
        )
    return Spec(b.shape, b.dtype)


def _recurrence(a, b, axis, reverse):
    h = b.copy()
    factors, places = np.moveaxis(a, axis, 0), np.moveaxis(h, axis, 0)
    if reverse:
        factors, places = factors[::-1], places[::-1]
    for i, factor in enumerate(factors):
        places[i + 1] += factor * places[i]
    return h


def _part(x, axis, places):
    """A slice of one axis; `places` are where it starts and stops."""
    return strided_slice_row(x, key=(EVERYTHING,) * axis + ((*places, None),))


def _placed(x, shape, axis, places):
    """The transpose: a slice put in its place, with zeros around it."""
    return strided_slice_grad(x, shape=shape, key=(EVERYTHING,) * axis + ((*places, None),))


def _ends(size, reverse):
    """For the steps from each place to the next, where they start and where they arrive."""
    lower, upper = (0, max(size - 1, 0)), (1, size)
    return (upper, lower) if reverse else (lower, upper)


def _factors_rule(g, a, out, *, axis, reverse):
    starts, arrivals = _ends(shape_of(out)[axis], reverse)
    back = linear_recurrence(a, g, axis=axis, reverse=not reverse)
    return mul(_part(out, axis, starts), _part(back, axis, arrivals))


def _recurrence_tangent(tangents, inputs, out, attrs):
    t_a, t_b = tangents
    terms = [] if t_b is None else [t_b]
    if t_a is not None:
        shape, axis = shape_of(out), attrs["axis"]
        starts, arrivals = _ends(shape[axis], attrs["reverse"])
        terms.append(_placed(mul(t_a, _part(out, axis, starts)), shape, axis, arrivals))
    return linear_recurrence(inputs[0], functools.reduce(add, terms), **attrs)


def _batch_recurrence(op, values, flags, attrs):
    a, b = all_batched(values, flags)
    return op.call(a, b, axis=attrs["axis"] + 1, reverse=attrs["reverse"])


linear_recurrence = opaque(
    "LinearRecurrence",
    _recurrence,
    inputs="a b",
    infer=_infer_recurrence,
    vjp={
        "a": _factors_rule,
        "b": lambda g, a, *, axis, reverse: linear_recurrence(a, g, axis=axis, reverse=not reverse),
    },
    jvp=_recurrence_tangent,
    batch=_batch_recurrence,
    raw=False,
)


# How each product moves with the elements: exactly, since nothing is ever divided by them.


def _cumprod_parts(x, axis, exclusive, reverse):
    """What the derivative consists of.

    Returns:
        The products of all elements before each; the factors of the recurrence by which a change
        goes on; which elements have an influence; and which products they first have it on.
    """
    size = shape_of(x)[axis]
    before = cumprod_row(x, axis=axis, exclusive=True, reverse=reverse)
    starts, arrivals = _ends(size, reverse)
    if exclusive:
        return before, _part(x, axis, (1, max(size - 1, 1))), starts, arrivals
    return before, _part(x, axis, arrivals), (0, size), (0, size)


def _cumprod_rule(g, x, *, axis, exclusive, reverse):
    shape = shape_of(x)
    axis %= len(shape)
    before, factors, elements, products = _cumprod_parts(x, axis, exclusive, reverse)
    reached = _part(g, axis, products)
    reached = linear_recurrence(factors, reached, axis=axis, reverse=not reverse)
    return _placed(mul(reached, _part(before, axis, elements)), shape, axis, elements)


def _cumprod_tangent(tangents, inputs, out, attrs):
    shape = shape_of(out)
    axis, exclusive, reverse = attrs["axis"] % len(shape), attrs["exclusive"], attrs["reverse"]
    before, factors, elements, products = _cumprod_parts(inputs[0], axis, exclusive, reverse)
    change = mul(_part(tangents[0], axis, elements), _part(before, axis, elements))
    change = linear_recurrence(factors, change, axis=axis, reverse=reverse)
    return _placed(change, shape, axis, products)


cumprod_row = opaque(
    "Cumprod",
    lambda x, axis, exclusive, reverse: _scan(np.multiply, x, axis, exclusive, reverse),
    inputs="x",
    infer=_infer_for("Cumprod"),
    vjp={"x": _cumprod_rule},
    jvp=_cumprod_tangent,
    batch=_batch,
    raw="x, axis, exclusive=False, reverse=False",
)


# Running log(sum(exp(x))): each element's share of a sum shrinks from one sum to the next.


def _logsumexp_rule(g, x, out, *, axis, exclusive, reverse):
    shape = shape_of(x)
    axis %= len(shape)
    starts, arrivals = _ends(shape[axis], reverse)
    total = out
    if exclusive:  # the sums that include each element come one place later
        total = logsumexp_row(x, axis=axis, exclusive=False, reverse=reverse)
        g = _placed(_part(g, axis, arrivals), shape, axis, starts)
    some = greater(total, add(zero_of(total), -np.inf))
    total = masked(total, some)
    shrinking = exp(sub(_part(total, axis, starts), _part(total, axis, arrivals)))
    shrinking = masked(shrinking, _part(some, axis, starts))
    reached = linear_recurrence(shrinking, g, axis=axis, reverse=not reverse)
    return mul(exp(sub(x, total)), reached)


logsumexp_row = opaque(
    "CumulativeLogsumexp",
    in_float32(
        lambda x, axis, exclusive, reverse: _scan(np.logaddexp, x, axis, exclusive, reverse)
    ),
    inputs="x",
    infer=_infer_for("CumulativeLogsumexp", dtypes.FLOATING),
    vjp={"x": _logsumexp_rule},
    batch=_batch,
    raw="x, axis, exclusive=False, reverse=False",
)


@export("cumsum math.cumsum")
def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running sums along an axis.

    Args:
        x: the tensor.
        axis: the axis.
        exclusive: whether each sum leaves out its own element.
        reverse: whether to start from the end.

    Raises:
        InvalidArgumentError: there is no such axis.
    """
    return _cumulate(cumsum_row, x, axis, exclusive, reverse)


@export("math.cumprod")
def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running products along an axis; arguments as for `cumsum`.

    Unlike TensorFlow's, the gradient is exact where elements are zero.
    """
    return _cumulate(cumprod_row, x, axis, exclusive, reverse)


@export("math.cumulative_logsumexp")
def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running log(sum(exp(x))) along an axis, without overflow; arguments as for `cumsum`."""
    return _cumulate(logsumexp_row, x, axis, exclusive, reverse)


def _cumulate(row, x, axis, exclusive, reverse):
    attrs = {
        "axis": integer(axis, row.op.name),
        "exclusive": bool(exclusive),
        "reverse": bool(reverse),
    }
    return apply(row.op, (operand(x),), attrs)
