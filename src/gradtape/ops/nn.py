"""Building blocks of networks: bias_add, l2_loss, moments, normalisation and average losses."""

import math

import numpy as np

from ..core.convert import convert_to_tensor, operand, operands
from ..core.dispatch import apply
from ..core.dtypes import FLOATING, NUMERIC, bfloat16, float16, float32, int64
from ..core.errors import InvalidArgumentError, invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arithmetic import add, add_n, div_no_nan, maximum, mul, real_div, sub
from .axes import reduce_with
from .broadcasting import broadcast_to, not_allowed, reshape, sum_, words
from .casting import cast
from .complex_numbers import complex_, imag, real
from .elementwise import conj, exp, log, rsqrt, square
from .families import opaque, shape_of
from .identity import stop_gradient
from .logic import greater_equal, less_equal, logical_and
from .norms import norm, sum_of_squares
from .numerics import in_float32
from .pointwise import dtype_mismatch
from .reduction import count_nonzero, mean_of_squares, reduce_mean, reduce_sum
from .selection import select, zero_of

# bias_add -----------------------------------------------------------------------------------------


def _infer_bias_add(value, bias, *, channels_first):
    if value.dtype not in NUMERIC:
        raise not_allowed("BiasAdd", value.dtype, NUMERIC)
    if bias.dtype != value.dtype:
        raise dtype_mismatch("BiasAdd", 1, value.dtype, bias.dtype)
    if len(value.shape) < 2:
        raise invalid_argument("BiasAdd", f"Input tensor must be at least 2D: {words(value.shape)}")
    if len(bias.shape) != 1:
        raise invalid_argument("BiasAdd", f"Biases must be 1D: {words(bias.shape)}")
    if bias.shape[0] != value.shape[1 if channels_first else -1]:
        raise invalid_argument(
            "BiasAdd",
            f"Must provide as many biases as the {'second' if channels_first else 'last'} "
            f"dimension of the input tensor: {words(bias.shape)} vs. {words(value.shape)}",
        )
    return Spec(value.shape, value.dtype)


def _beside(bias, rank, channels_first):
    """A bias, perhaps with a leading batch axis, shaped to broadcast with values of `rank`."""
    if not channels_first or rank == 2:
        return bias
    return reshape(bias, shape=(*shape_of(bias), *(1,) * (rank - 2)))


def _bias_gradient(g, *, channels_first):
    shape = shape_of(g)
    if channels_first and len(shape) > 2:
        return sum_(g, axis=(0, *range(2, len(shape))), keepdims=False)
    flat = reshape(g, shape=(math.prod(shape[:-1]), shape[-1]))
    return sum_(flat, axis=(0,), keepdims=False)


def _bias_add_jvp(tangents, inputs, out, attrs):
    value, bias = tangents
    if bias is None:
        return value
    if value is None:
        bias = _beside(bias, len(shape_of(out)), **attrs)
        return broadcast_to(bias, shape=shape_of(out))
    return bias_add_row(value, bias, **attrs)


def _batch_bias_add(op, values, flags, attrs):
    value, bias = values
    rank = len(shape_of(value)) - flags[0]
    bias = _beside(bias, rank, **attrs)
    if flags[1]:
        shape = shape_of(bias)
        bias = reshape(bias, shape=(shape[0], *(1,) * (rank + 1 - len(shape)), *shape[1:]))
    return add(value, bias)


# Rows shorter than this are added to several at a time.
_LONG_ROW = 512


def _bias_add(value, bias, channels_first):
    width = value.shape[-1]
    if channels_first or not 0 < width < _LONG_ROW or value.size < 32 * _LONG_ROW:
        return value + _beside(bias, value.ndim, channels_first)
    together = math.gcd(value.size // width, 1 << (_LONG_ROW // width).bit_length())
    rows = value.reshape(-1, together * width) + np.tile(bias, together)
    return rows.reshape(value.shape)


bias_add_row = opaque(
    "BiasAdd",
    _bias_add,
    inputs="value bias",
    infer=_infer_bias_add,
    vjp={"value": lambda g: g, "bias": _bias_gradient},
    jvp=_bias_add_jvp,
    batch=_batch_bias_add,
    holomorphic=False,
    raw=lambda value, bias, data_format="NHWC": bias_add(value, bias, data_format),
)


@export("nn.bias_add")
def bias_add(value, bias, data_format=None, name=None):
    """Adds a bias to each channel.

    Args:
        value: a tensor with at least two axes.
        bias: a vector, as long as the axis of the channels.
        data_format: where that axis is: last if None or "N...C", second if "NC...".

    Raises:
        ValueError: there is no such `data_format`.
        InvalidArgumentError: the shapes do not fit.
    """
    channels_first = False
    if data_format is not None:
        if data_format.startswith("NC"):
            channels_first = True
        elif not (data_format.startswith("N") and data_format.endswith("C")):
            raise ValueError(
                "`data_format` must be of the form `N...C` or `NC...`. Received: "
                f"data_format={data_format}"
            )
    return apply(bias_add_row.op, operands(value, bias), {"channels_first": channels_first})


# l2_loss ------------------------------------------------------------------------------------------


def _infer_l2_loss(t):
    if t.dtype not in FLOATING:
        raise not_allowed("L2Loss", t.dtype, FLOATING)
    return Spec((), t.dtype)


@in_float32
def _l2_loss(t):
    flat = t.reshape(-1)
    return np.dot(flat, flat) / 2


l2_loss_row = opaque(
    "L2Loss",
    _l2_loss,
    inputs="t",
    infer=_infer_l2_loss,
    vjp={"t": lambda g, t: mul(g, t)},
    jvp=lambda tangents, inputs, out, attrs: sum_(
        mul(tangents[0], inputs[0]), axis=tuple(range(inputs[0].ndim)), keepdims=False
    ),
    batch=lambda op, values, flags, attrs: mul(
        sum_(square(values[0]), axis=tuple(range(1, len(shape_of(values[0])))), keepdims=False),
        0.5,
    ),
)


@export("nn.l2_loss")
def l2_loss(t, name=None):
    """Half the sum of the squares of all elements."""
    return apply(l2_loss_row.op, (operand(t),))


# Moments and normalisation ------------------------------------------------------------------------

_NARROW = (float16, bfloat16)


@export("nn.moments")
def moments(x, axes, shift=None, keepdims=False, name=None):
    """The mean and the variance along axes, as a pair.

    Args:
        x: a tensor; 16-bit floats are computed in float32.
        axes: an axis or list of axes.
        shift: accepted for compatibility.
        keepdims: whether to keep the axes with length 1.
    """
    x = convert_to_tensor(x)
    wide = cast(x, float32) if x.dtype in _NARROW else x
    mean = reduce_mean(wide, axes, keepdims=True)
    # The mean distance from the mean is 0, and so is what the gradient by the mean would add.
    distance = sub(wide, stop_gradient(mean))
    if wide.dtype.is_floating:
        variance = mean_of_squares(distance, axes, keepdims)
    else:
        squares = mul(distance, conj(distance)) if x.dtype.is_complex else square(distance)
        variance = reduce_mean(squares, axes, keepdims)
    if not keepdims:
        mean = reshape(mean, shape=shape_of(variance))
    return cast(mean, x.dtype), cast(variance, x.dtype)


@export("nn.batch_normalization")
def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    """`scale * (x - mean) / sqrt(variance + variance_epsilon) + offset`.

    Args:
        x: a floating tensor.
        mean: a tensor that broadcasts with `x`, and so for the other three.
        variance: see `mean`.
        offset: what to add, or None.
        scale: what to multiply with, or None.
        variance_epsilon: a small number that keeps the root away from 0.
    """
    x, mean = convert_to_tensor(x), convert_to_tensor(mean)
    factor = rsqrt(convert_to_tensor(variance) + variance_epsilon)
    if scale is not None:
        scale = operand(scale, factor)
        if _grows(shape_of(factor), tuple(scale.shape)):
            # As in layer normalisation: here one factor after the other is less work.
            scaled = (x - cast(mean, x.dtype)) * cast(factor, x.dtype) * cast(scale, x.dtype)
            return scaled if offset is None else scaled + cast(offset, x.dtype)
        factor = factor * scale
    shift = -mean * factor if offset is None else offset - mean * factor
    return x * cast(factor, x.dtype) + cast(shift, x.dtype)


def _grows(a, b):
    """Whether the product of two tensors of these shapes is larger than either."""
    try:
        return np.broadcast_shapes(a, b) not in (a, b)
    except ValueError:
        return False


@export("nn.l2_normalize math.l2_normalize linalg.l2_normalize")
def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """`x` divided by its Euclidean norm along axes.

    Args:
        x: a tensor.
        axis: an axis or list of axes; all if None.
        epsilon: the least square of the norm to divide by.
        dim: an older name of `axis`.

    Raises:
        ValueError: both `axis` and `dim` are given.
    """
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'dim' and 'axis'.")
        axis = dim
    x = convert_to_tensor(x)
    parts = [real(x), imag(x)] if x.dtype.is_complex else [x]
    if x.dtype.is_integer:
        squares = reduce_sum(square(x), axis, keepdims=True)
    else:
        squares = add_n([reduce_with(sum_of_squares, part, axis, True) for part in parts])
    factor = rsqrt(maximum(*operands(squares, epsilon)))
    parts = [mul(part, factor) for part in parts]
    return complex_(*parts) if x.dtype.is_complex else parts[0]


@export("linalg.normalize")
def normalize(tensor, ord="euclidean", axis=None, name=None):
    """`tensor` divided by its norm along axes, and that norm, as a pair; see `tf.norm`."""
    tensor = convert_to_tensor(tensor)
    size = cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
    return tensor / size, size


# Losses and statistics ----------------------------------------------------------------------------


@export("nn.zero_fraction math.zero_fraction")
def zero_fraction(value, name=None):
    """The fraction of elements that are 0, in float32."""
    value = convert_to_tensor(value)
    size = float(math.prod(shape_of(value)))
    zeros = sub(size, cast(count_nonzero(value, dtype=int64), float32))
    return real_div(zeros, size)


@export("nn.log_poisson_loss")
def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """The loss of Poisson counts, given the logarithms of the expected ones.

    Args:
        targets: the counts, a floating tensor.
        log_input: the logarithms, of the same shape.
        compute_full_loss: whether to add the term that does not depend on `log_input`, by
            Stirling's formula.

    Raises:
        ValueError: the shapes differ.
    """
    log_input, targets = convert_to_tensor(log_input), convert_to_tensor(targets)
    if shape_of(log_input) != shape_of(targets):
        raise ValueError(
            "`log_input` and `targets` must have the same shape, received "
            f"({log_input.shape} vs {targets.shape})."
        )
    loss = exp(log_input) - log_input * targets
    if not compute_full_loss:
        return loss
    few = logical_and(greater_equal(targets, zero_of(targets)), less_equal(targets, 1.0))
    many = select(few, zero_of(targets) + 1.0, targets)  # keeps log away from 0
    stirling = many * log(many) - many + 0.5 * log(many * (2.0 * math.pi))
    return loss + select(few, zero_of(targets), stirling)


@export("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss):
    """The sum of regularisation losses, divided by the number of replicas: one."""
    return reduce_sum(regularization_loss) / 1


@export("nn.compute_average_loss")
def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """The sum of the losses of examples, divided by the size of the batch.

    Args:
        per_example_loss: a tensor with at least one axis.
        sample_weight: factors for the losses; fewer axes are taken to be the first ones.
        global_batch_size: an integer; the number of examples if None.

    Raises:
        ValueError: the loss is a scalar, or the batch size is not.
        TypeError: the batch size is not an integer.
        InvalidArgumentError: the batch size is negative.
    """
    losses = convert_to_tensor(per_example_loss)
    if not losses.ndim:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1. "
            f"Received: per_example_loss={losses} with rank 0"
        )
    dtype = losses.dtype
    if sample_weight is not None:
        weight = cast(convert_to_tensor(sample_weight), dtype)
        shape = shape_of(weight)
        if 0 < len(shape) < losses.ndim:
            weight = reshape(weight, shape=shape + (1,) * (losses.ndim - len(shape)))
        losses = losses * weight
    total = reduce_sum(losses)
    size = shape_of(losses)[0] if global_batch_size is None else _batch_size(global_batch_size)
    if dtype.is_integer:
        return total / size
    return div_no_nan(total, cast(size, dtype))


def _batch_size(size):
    size = convert_to_tensor(size)
    if size.ndim:
        raise ValueError(
            f"global_batch_size must be scalar. Expected scalar shape, saw shape: {size.shape}."
        )
    if not size.dtype.is_integer:
        raise TypeError(
            "global_batch_size must be an integer. Expected integer type, "
            f"found: tensor of dtype {size.dtype}"
        )
    if np.asarray(size) < 0:
        raise InvalidArgumentError(
            None, None, f"global_batch_size must be non-negative. Received: {size}"
        )
    return size
