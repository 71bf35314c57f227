"""Softmax and its logarithm along any axis."""

import functools

import numpy as np

from ..core.composite import open_to_composites
from ..core.convert import operand
from ..core.dispatch import apply
from ..core.dtypes import FLOATING
from ..core.errors import InvalidArgumentError, invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arguments import integer
from .arithmetic import mul, neg, sub
from .broadcasting import broadcast_to, not_allowed, sum_, words
from .elementwise import exp
from .families import opaque, shape_of
from .joining import all_batched
from .numerics import in_float32
from .pointwise import dtype_mismatch

_BLAS = (np.dtype(np.float32), np.dtype(np.float64))


@functools.lru_cache(maxsize=64)
def _ones(count, dtype):
    ones = np.ones((count, 1), dtype)
    ones.flags.writeable = False
    return ones


def sum_along(x, axis):
    """The sum along an axis, which stays with length 1; BLAS is faster for short rows."""
    if axis in (-1, x.ndim - 1) and x.dtype in _BLAS and x.flags.c_contiguous:
        ones = _ones(x.shape[-1], x.dtype)
        sums = x.reshape(-1, len(ones)) @ ones
        return sums.reshape(*x.shape[:-1], 1)
    return np.add.reduce(x, axis=axis, keepdims=True)


def dot_along(x, y, axis):
    """The inner products along an axis, which stays with length 1."""
    if axis in (-1, x.ndim - 1):
        return np.vecdot(x, y)[..., np.newaxis]
    return np.add.reduce(x * y, axis=axis, keepdims=True)


def _infer_along(name):
    """Shapes of an op on `logits` along an axis, and perhaps of a second input that looks alike."""

    def infer(logits, *others, axis):
        rank = len(logits.shape)
        if logits.dtype not in FLOATING:
            raise not_allowed(name, logits.dtype, FLOATING)
        if not rank:
            raise invalid_argument(name, "logits must have >= 1 dimension, got []")
        if not -rank <= axis < rank:
            raise InvalidArgumentError(
                None,
                None,
                f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of "
                f"dimensions in the input. Received: dim={axis}",
            )
        for other in others:
            if other.dtype != logits.dtype:
                raise dtype_mismatch(name, 1, logits.dtype, other.dtype)
            if other.shape != logits.shape:
                raise invalid_argument(
                    name, f"Incompatible shapes: {words(logits.shape)} vs. {words(other.shape)}"
                )
        return Spec(logits.shape, logits.dtype)

    return infer


def batch_along(op, values, flags, attrs):
    axis = attrs["axis"]
    return op.call(*all_batched(values, flags), axis=axis if axis < 0 else axis + 1)


@in_float32
def _softmax(logits, axis):
    if not logits.size:
        return logits
    # Logits that cannot overflow need no shift, as long as each sum of powers is safely normal.
    if np.maximum.reduce(logits, axis=None) <= 40:
        powers = np.exp(logits)
        total = sum_along(powers, axis)
        if np.minimum.reduce(total, axis=None) >= 1:
            powers /= total
            return powers
    powers = np.exp(logits - np.maximum.reduce(logits, axis=axis, keepdims=True))
    powers /= sum_along(powers, axis)
    return powers


@in_float32
def _softmax_grad(softmax, g, axis):
    d = g - dot_along(softmax, g, axis)
    d *= softmax
    return d


def _softmax_grad_by_softmax(h, softmax, g, *, axis):
    total = sum_(mul(softmax, g), axis=(axis,), keepdims=True)
    other = sum_(mul(h, softmax), axis=(axis,), keepdims=True)
    return sub(mul(h, sub(g, total)), mul(g, other))


def _fitted(g, out):
    """A gradient in the shape of the output; a seed that the user gives may be smaller."""
    return g if shape_of(g) == shape_of(out) else broadcast_to(g, shape=shape_of(out))


softmax_row = opaque(
    "Softmax",
    _softmax,
    inputs="logits",
    infer=_infer_along("Softmax"),
    vjp={"logits": lambda g, out, *, axis: softmax_grad(out, _fitted(g, out), axis=axis)},
    jvp=lambda tangents, inputs, out, attrs: softmax_grad(out, tangents[0], **attrs),
    batch=batch_along,
    raw="logits, :axis=-1",
)

# softmax (g - <softmax, g>): the derivative of softmax, which is symmetric.
softmax_grad = opaque(
    "SoftmaxGrad",
    _softmax_grad,
    inputs="softmax g",
    infer=_infer_along("SoftmaxGrad"),
    vjp={
        "softmax": _softmax_grad_by_softmax,
        "g": lambda h, softmax, *, axis: softmax_grad(softmax, h, axis=axis),
    },
    batch=batch_along,
    raw=False,
)


@in_float32
def _log_softmax(logits, axis):
    if not logits.size:
        return logits
    shifted = logits - np.maximum.reduce(logits, axis=axis, keepdims=True)
    shifted -= np.log(sum_along(np.exp(shifted), axis))
    return shifted


@in_float32
def _log_softmax_grad(log_softmax, g, axis):
    d = np.exp(log_softmax)
    d *= np.add.reduce(g, axis=axis, keepdims=True)
    return np.subtract(g, d, out=d)


def _log_softmax_tangent(t, log_softmax, axis):
    return sub(t, sum_(mul(exp(log_softmax), t), axis=(axis,), keepdims=True))


log_softmax_row = opaque(
    "LogSoftmax",
    _log_softmax,
    inputs="logits",
    infer=_infer_along("LogSoftmax"),
    vjp={"logits": lambda g, out, *, axis: log_softmax_grad(out, _fitted(g, out), axis=axis)},
    jvp=lambda tangents, inputs, out, attrs: _log_softmax_tangent(tangents[0], out, **attrs),
    batch=batch_along,
    raw="logits, :axis=-1",
)

# g - softmax sum(g): the adjoint of the derivative of log_softmax.
log_softmax_grad = opaque(
    "LogSoftmaxGrad",
    _log_softmax_grad,
    inputs="log_softmax g",
    infer=_infer_along("LogSoftmaxGrad"),
    vjp={
        "log_softmax": lambda h, log_softmax, g, *, axis: neg(
            mul(mul(h, exp(log_softmax)), sum_(g, axis=(axis,), keepdims=True))
        ),
        "g": lambda h, log_softmax, *, axis: _log_softmax_tangent(h, log_softmax, axis),
    },
    batch=batch_along,
    raw=False,
)


def _along(row, logits, axis):
    axis = -1 if axis is None else integer(axis, row.op.name)
    return apply(row.op, (operand(logits),), {"axis": axis})


@export("nn.softmax math.softmax")
@open_to_composites
def softmax(logits, axis=None, name=None):
    """exp(logits), divided by its sum along an axis.

    Args:
        logits: a floating tensor.
        axis: the axis; None for the last.

    Raises:
        InvalidArgumentError: there is no such axis, or the tensor is not floating.
    """
    return _along(softmax_row, logits, axis)


@export("nn.log_softmax math.log_softmax")
def log_softmax(logits, axis=None, name=None):
    """The logarithm of `softmax`, without underflow.

    Args:
        logits: a floating tensor.
        axis: the axis; None for the last.

    Raises:
        InvalidArgumentError: there is no such axis, or the tensor is not floating.
    """
    return _along(log_softmax_row, logits, axis)
