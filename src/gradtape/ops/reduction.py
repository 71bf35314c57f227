"""Reductions: sums, means, products and truth along axes."""

import math

import numpy as np

from ..core import dtypes
from ..core.composite import open_to_composites
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.exports import export
from ..core.op import Spec
from .arithmetic import add, masked, mul, real_div, sub
from .axes import axes_of, batch, count_along, infer_for, reduce_with
from .broadcasting import checked_shape, reshape, spread, sum_, working_dtype
from .casting import cast
from .complex_numbers import real
from .cumulative import cumprod_row
from .elementwise import abs_public, conj, exp, is_finite, log
from .extremes import reduce_max
from .families import linear, non_differentiable, opaque, shape_of
from .identity import stop_gradient_row
from .manipulation import transpose_row
from .norms import euclidean_norm, sum_of_squares
from .pointwise import dtype_mismatch

# Sums and means -----------------------------------------------------------------------------------


def _mean(x, axis, keepdims):
    if not axis:
        return x
    dtype = x.dtype
    count = count_along(x.shape, axis)
    if dtype.kind in "iu":
        return _integer_mean(x, axis, keepdims, count)
    working = working_dtype(dtype)
    if working is dtype:
        return sum_.op.kernel(x, axis=axis, keepdims=keepdims) / dtype.type(count)
    mean = np.add.reduce(x, axis=axis, dtype=working, keepdims=keepdims) / working.type(count)
    return mean.astype(dtype)


def _integer_mean(x, axis, keepdims, count):
    """Truncated towards zero; the sum has 64 bits, so that narrow integers do not wrap around."""
    wide = np.int64 if x.dtype.kind == "i" else np.uint64
    total = np.add.reduce(x, axis=axis, dtype=wide, keepdims=keepdims)
    count = max(count, 1)
    return ((total - np.fmod(total, count)) // count).astype(x.dtype)


mean = linear(
    "Mean",
    _mean,
    infer=infer_for("Mean", dtypes.NUMERIC),
    transpose=lambda g, x_shape, *, axis, keepdims: spread(
        real_div(g, float(count_along(x_shape, axis))), x_shape, axis, keepdims
    ),
    batch=batch,
    raw="input:x, axis, keep_dims:keepdims=False",
)


@export("reduce_sum math.reduce_sum")
def reduce_sum(input_tensor, axis=None, keepdims=False, name=None):
    """The sum of elements along axes.

    Args:
        input_tensor: the tensor to reduce.
        axis: an axis or list of axes; all if None.
        keepdims: whether to keep the reduced axes with length 1.

    Raises:
        InvalidArgumentError: there is no such axis, or it is named twice.
    """
    return reduce_with(sum_, operand(input_tensor), axis, keepdims)


@export("reduce_mean math.reduce_mean")
def reduce_mean(input_tensor, axis=None, keepdims=False, name=None):
    """The mean of elements along axes; of integers, truncated to an integer."""
    return reduce_with(mean, operand(input_tensor), axis, keepdims)


def _distance_from_mean(x, axis):
    if x.dtype.is_integer:
        raise TypeError(f"Input must be either real or complex. Received integer type {x.dtype}.")
    return sub(x, reduce_mean(x, axis, keepdims=True))


@export("math.reduce_variance")
@open_to_composites
def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """The mean squared distance from the mean along axes; a real number for complex ones.

    Raises:
        TypeError: the elements are integers.
    """
    distance = _distance_from_mean(convert_to_tensor(input_tensor), axis)
    if distance.dtype.is_complex:
        return reduce_mean(real(mul(distance, conj(distance))), axis, keepdims)
    return mean_of_squares(distance, axis, keepdims)


def mean_of_squares(x, axis, keepdims):
    """The mean of the squares of floating-point numbers, which are never all held at once."""
    total = reduce_with(sum_of_squares, x, axis, keepdims)
    return real_div(total, float(count_along(shape_of(x), axes_of(axis, x.ndim, "Mean"))))


@export("math.reduce_std")
@open_to_composites
def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """The standard deviation along axes; its gradient at 0 is 0.

    Raises:
        TypeError: the elements are integers.
    """
    x = convert_to_tensor(input_tensor)
    dtype = x.dtype.real_dtype
    if dtype in (dtypes.float16, dtypes.bfloat16):  # in which the norm may overflow
        x = cast(x, dtypes.float32)
    distance = _distance_from_mean(x, axis)
    if distance.dtype.is_complex:
        distance = abs_public(distance)
    return cast(root_mean_square(distance, axis, keepdims), dtype)


def root_mean_square(x, axis, keepdims):
    """The root of the mean of the squares of real numbers, without overflow."""
    axes = axes_of(axis, x.ndim, "Mean")
    root = math.sqrt(count_along(shape_of(x), axes))
    return real_div(reduce_with(euclidean_norm, x, axes, keepdims), root)


@export("reduce_logsumexp math.reduce_logsumexp")
@open_to_composites
def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """log(sum(exp(x))) along axes, without overflow."""
    x = convert_to_tensor(input_tensor)
    top = stop_gradient_row(reduce_max(x, axis, keepdims=True))
    top = masked(top, is_finite(top))
    total = log(reduce_sum(exp(sub(x, top)), axis, keepdims))
    return add(total, reshape(top, shape=shape_of(total)))


# Products -----------------------------------------------------------------------------------------


def _prod(x, axis, keepdims):
    if not axis:
        return x
    dtype = x.dtype
    working = working_dtype(dtype)
    product = np.multiply.reduce(x, axis=axis, dtype=working, keepdims=keepdims)
    return product if working is dtype else product.astype(dtype)


def _product_of_others(x, axis):
    """For each element the product of all others, exact also where some are zero."""
    shape = shape_of(x)
    rank = len(shape)
    gone = sorted([a % rank for a in axis])
    order = tuple([d for d in range(rank) if d not in gone] + gone)
    moved = tuple([shape[d] for d in order])
    rows = (math.prod(moved[: rank - len(gone)]), count_along(shape, axis))
    flat = reshape(transpose_row(x, perm=order), shape=rows)
    before = cumprod_row(flat, axis=1, exclusive=True, reverse=False)
    after = cumprod_row(flat, axis=1, exclusive=True, reverse=True)
    others = reshape(mul(before, after), shape=moved)
    return transpose_row(others, perm=tuple([order.index(d) for d in range(rank)]))


def _prod_rule(g, x, *, axis, keepdims):
    if not axis:
        return g
    return mul(spread(g, shape_of(x), axis, keepdims), _product_of_others(x, axis))


def _prod_tangent(tangents, inputs, out, attrs):
    axis = attrs["axis"]
    if not axis:
        return tangents[0]
    return sum_(mul(tangents[0], _product_of_others(inputs[0], axis)), **attrs)


prod = opaque(
    "Prod",
    _prod,
    inputs="x",
    infer=infer_for("Prod", dtypes.NUMERIC),
    vjp={"x": _prod_rule},
    jvp=_prod_tangent,
    batch=batch,
    raw="input:x, axis, keep_dims:keepdims=False",
)


@export("reduce_prod math.reduce_prod")
def reduce_prod(input_tensor, axis=None, keepdims=False, name=None):
    """The product of elements along axes."""
    return reduce_with(prod, operand(input_tensor), axis, keepdims)


# Logic --------------------------------------------------------------------------------------------


def _logical(name, ufunc):
    def infer(x, *, axis, keepdims):
        if x.dtype not in dtypes.BOOL:
            raise dtype_mismatch(name, 0, np.dtype(np.bool_), x.dtype)
        return Spec(checked_shape(name, x.shape, axis, keepdims), x.dtype)

    def kernel(x, axis, keepdims):
        return ufunc.reduce(x, axis=axis, keepdims=keepdims) if x.shape else x

    return non_differentiable(
        name, kernel, inputs="x", infer=infer, batch=batch,
        raw="input:x, axis, keep_dims:keepdims=False",
    )  # fmt: skip


all_ = _logical("All", np.logical_and)
any_ = _logical("Any", np.logical_or)


def _truths(value):
    return value if hasattr(value, "_dispatch_level") else convert_to_tensor(value, dtypes.bool_)


@export("reduce_all math.reduce_all")
def reduce_all(input_tensor, axis=None, keepdims=False, name=None):
    """Whether all elements along axes are true."""
    return reduce_with(all_, _truths(input_tensor), axis, keepdims)


@export("reduce_any math.reduce_any")
def reduce_any(input_tensor, axis=None, keepdims=False, name=None):
    """Whether any element along axes is true."""
    return reduce_with(any_, _truths(input_tensor), axis, keepdims)


def _infer_count(x, *, axis, keepdims, dtype):
    return Spec(checked_shape("CountNonzero", x.shape, axis, keepdims), dtype)


def _count(x, axis, keepdims, dtype):
    if not axis:
        return (x != _nothing_of(x)).astype(dtype)
    is_something = np.asarray(x != _nothing_of(x), bool)
    if len(axis) == x.ndim and not keepdims:
        return dtype.type(np.count_nonzero(is_something))
    return np.count_nonzero(is_something, axis=axis, keepdims=keepdims).astype(dtype)


def _nothing_of(x):
    return b"" if x.dtype.kind == "O" else x.dtype.type(0)


count_row = non_differentiable(
    "CountNonzero", _count, inputs="x", infer=_infer_count, batch=batch, raw=False
)


@export("math.count_nonzero")
def count_nonzero(input, axis=None, keepdims=None, dtype=dtypes.int64, name=None):
    """How many elements along axes are not zero (not empty, for strings)."""
    x = operand(input)
    attrs = {
        "axis": axes_of(axis, x.ndim, "Sum"),
        "keepdims": bool(keepdims),
        "dtype": dtypes.as_dtype(dtype).numpy_dtype,
    }
    return apply(count_row.op, (x,), attrs)
