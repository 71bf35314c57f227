"""Local response normalisation: each channel divided by what its neighbours amount to."""

import numpy as np

from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.dtypes import FLOATING, bfloat16, float16, float32
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arithmetic import add, mul, pow_, real_div, sub
from .broadcasting import not_allowed, reshape
from .contraction import matmul_row
from .elementwise import square
from .families import dtype_of, opaque, shape_of
from .numerics import in_float32

_INT_MAX = 2**31 - 1
_ACCEPTED = frozenset([t.numpy_dtype for t in (float16, bfloat16, float32)])


def _infer(input, *, depth_radius, bias, alpha, beta):
    if input.dtype not in FLOATING:
        raise not_allowed("LRN", input.dtype, _ACCEPTED)
    if len(input.shape) != 4:
        raise invalid_argument("LRN", f"in must be 4-dimensional. Received rank: {input.ndim}")
    if not 0 <= depth_radius <= _INT_MAX:
        raise invalid_argument("LRN", f"depth_radius = {depth_radius} larger than int max")
    return Spec(input.shape, input.dtype)


def _band(depth, radius, dtype):
    """The matrix that sums each channel and those up to `radius` away."""
    places = np.arange(depth)
    return (np.abs(places[:, None] - places) <= radius).astype(dtype)


def _neighbours(x, radius):
    """For each channel, the sum over its neighbourhood."""
    shape = shape_of(x)
    depth = shape[-1]
    band = _band(depth, radius, dtype_of(x))
    rows = reshape(x, shape=(shape[0] * shape[1] * shape[2], depth))
    return reshape(matmul_row(rows, band, transpose_a=False, transpose_b=False), shape=shape)


@in_float32
def _normalise(input, depth_radius, bias, alpha, beta):
    depth = input.shape[-1]
    band = _band(depth, depth_radius, input.dtype)
    band *= input.dtype.type(alpha)
    rows = input.size // max(depth, 1)
    size = (np.square(input).reshape(rows, depth) @ band).reshape(input.shape)
    size += input.dtype.type(bias)
    if beta == 0.5:
        np.sqrt(size, out=size)
        return np.divide(input, size, out=size)
    np.power(size, input.dtype.type(-beta), out=size)
    size *= input
    return size


def _adjoint(g, input, *, depth_radius, bias, alpha, beta):
    size = add(mul(_neighbours(square(input), depth_radius), float(alpha)), float(bias))
    scale = pow_(size, -float(beta))
    scaled = mul(g, scale)
    spread = _neighbours(real_div(mul(scaled, input), size), depth_radius)
    return sub(scaled, mul(mul(spread, input), 2.0 * alpha * beta))


def _batch(op, values, flags, attrs):
    x = values[0]
    shape = shape_of(x)
    merged = reshape(x, shape=(shape[0] * shape[1], *shape[2:]))
    return reshape(op.call(merged, **attrs), shape=shape)


lrn_row = opaque(
    "LRN",
    _normalise,
    inputs="input",
    infer=_infer,
    vjp={"input": _adjoint},
    batch=_batch,
    raw="input, depth_radius=5, bias=1, alpha=1, beta=0.5",
)


@export("nn.local_response_normalization nn.lrn")
def local_response_normalization(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None):
    """Divides each element by `(bias + alpha * s) ** beta`, `s` summing its neighbours' squares.

    Args:
        input: a tensor with four axes, of a floating dtype up to float32.
        depth_radius: neighbours are the channels of the same place up to this far away.
        bias: an offset that keeps the divisor from 0.
        alpha: the weight of the squares.
        beta: the exponent.

    Raises:
        InvalidArgumentError: the tensor has another rank or dtype, or the radius is negative.
    """
    x = operand(input) if hasattr(input, "dtype") else convert_to_tensor(input, dtype_hint=float32)
    if x.dtype.numpy_dtype not in _ACCEPTED:
        raise not_allowed("LRN", x.dtype.numpy_dtype, _ACCEPTED)
    attrs = {
        "depth_radius": int(depth_radius),
        "bias": float(bias),
        "alpha": float(alpha),
        "beta": float(beta),
    }
    return apply(lrn_row.op, (x,), attrs)
