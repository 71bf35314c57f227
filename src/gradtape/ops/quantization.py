"""Quantisation simulated with floating-point numbers; gradients pass as if it did not round."""

import collections

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand, operands
from ..core.dispatch import apply, quiet
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arithmetic import masked, sub
from .broadcasting import not_allowed, reshape, sum_to, words
from .extremes import reduce_max, reduce_min
from .families import non_differentiable, opaque, shape_of
from .identity import stop_gradient
from .joining import all_batched
from .logic import greater, less, logical_not, logical_or
from .pointwise import dtype_mismatch


def _infer_elementwise(op_name, x, *bounds):
    """Bounds broadcast to the numbers they are for."""
    if x.dtype not in dtypes.FLOATING:
        raise not_allowed(op_name, x.dtype, dtypes.FLOATING)
    for i, bound in enumerate(bounds, 1):
        if bound.dtype != x.dtype:
            raise dtype_mismatch(op_name, i, x.dtype, bound.dtype)
        if len(bound.shape) > len(x.shape):
            raise invalid_argument(
                op_name, f"Incompatible shapes: {words(x.shape)} vs. {words(bound.shape)}"
            )
    return Spec(x.shape, x.dtype)


def _batch_elementwise(op, values, flags, attrs):
    x, *bounds = all_batched(values, flags)
    rank = len(shape_of(x))
    aligned = []
    for bound in bounds:
        shape = shape_of(bound)
        missing = (1,) * (rank - len(shape))
        aligned.append(reshape(bound, shape=(shape[0], *missing, *shape[1:])))
    return op.call(x, *aligned, **attrs)


def _adjoint(g, x, low, high):
    """Inside of the range the gradient goes to the number, outside to the bound it was cut to."""
    below, above = less(x, low), greater(x, high)
    inside = logical_not(logical_or(below, above))
    return (
        masked(g, inside),
        sum_to(masked(g, below), shape_of(low)),
        sum_to(masked(g, above), shape_of(high)),
    )


# Fake quantisation --------------------------------------------------------------------------------


def _check_bits(op_name, num_bits):
    if not 2 <= num_bits <= 16:
        raise invalid_argument(op_name, "num_bits must be between 2 and 16, inclusive")


def _nudged(min, max, num_bits, narrow_range):
    """The range moved so that zero is one of the steps, and the size of a step and its inverse."""
    first, last = int(narrow_range), 2**num_bits - 1
    dtype = min.dtype.type
    scale = (max - min) / dtype(last - first)
    zero = np.clip(first - min / scale, first, last)
    zero = np.floor(zero + dtype(0.5))
    per_step = dtype(last - first) / (max - min)
    return (dtype(first) - zero) * scale, (dtype(last) - zero) * scale, scale, per_step


def _nudged_range(min, max, num_bits, narrow_range):
    """Of an empty range nothing lies outside."""
    low, high, _, _ = _nudged(min, max, num_bits, narrow_range)
    empty = (min == 0) & (max == 0)
    infinity = min.dtype.type(np.inf)
    return np.where(empty, -infinity, low)[()], np.where(empty, infinity, high)[()]


def _infer_nudged_range(min, max, *, num_bits, narrow_range):
    spec = _infer_elementwise("FakeQuantRange", min, max)
    return spec, spec


nudged_range = non_differentiable(
    "FakeQuantRange",
    quiet(_nudged_range),
    inputs="min max",
    infer=_infer_nudged_range,
    batch=_batch_elementwise,
    outputs=2,
    raw=False,
)


def _infer_fake_quant(inputs, min, max, *, num_bits, narrow_range):
    _check_bits("FakeQuantWithMinMaxVars", num_bits)
    return _infer_elementwise("FakeQuantWithMinMaxVars", inputs, min, max)


def _fake_quant(inputs, min, max, num_bits, narrow_range):
    low, high, scale, per_step = _nudged(min, max, num_bits, narrow_range)
    half = inputs.dtype.type(0.5)
    zero = np.floor(-low * per_step + half)
    cut = np.maximum(np.minimum(inputs, high), low)
    out = np.floor((cut - low) * per_step - zero + half) * scale
    return np.where((min == 0) & (max == 0), inputs.dtype.type(0), out)[()]


def _fake_quant_adjoint(g, inputs, min, max, *, num_bits, narrow_range):
    low, high = nudged_range(min, max, num_bits=num_bits, narrow_range=narrow_range)
    return _adjoint(g, inputs, low, high)


fake_quant = opaque(
    "FakeQuantWithMinMaxVars",
    quiet(_fake_quant),
    inputs="inputs min max",
    infer=_infer_fake_quant,
    vjp=_fake_quant_adjoint,
    batch=_batch_elementwise,
    holomorphic=False,
    raw=lambda inputs, min, max, num_bits=8, narrow_range=False: fake_quant_with_min_max_vars(
        inputs, min, max, num_bits, narrow_range
    ),
)


def _bound(op_name, name, value, rank):
    bound = convert_to_tensor(value, dtypes.float32)
    if bound.ndim != rank:
        raise invalid_argument(op_name, f"`{name}` must be rank {rank} but is rank {bound.ndim}")
    return bound


def _range_of(op_name, inputs, min, max, per_channel, num_bits):
    """The inputs and their range, which per channel has one number for each of the last axis."""
    _check_bits(op_name, num_bits)
    x = operand(inputs)
    if x.dtype is not dtypes.float32:
        raise dtype_mismatch(op_name, 0, dtypes.float32.numpy_dtype, x.dtype.numpy_dtype)
    low, high = [
        _bound(op_name, name, value, int(per_channel))
        for name, value in (("min", min), ("max", max))
    ]
    if per_channel:
        if not x.ndim:
            raise invalid_argument(op_name, "inputs must be at least rank 1 but is rank 0")
        for name, bound in (("min", low), ("max", high)):
            if bound.shape[0] != x.shape[-1]:
                raise invalid_argument(
                    op_name,
                    f"{name} has incorrect size, expected {x.shape[-1]} was {bound.shape[0]}",
                )
    return x, low, high


def _attrs(num_bits, narrow_range):
    return {"num_bits": int(num_bits), "narrow_range": bool(narrow_range)}


def _check_order(op_name, min, max):
    if min >= max:
        raise invalid_argument(op_name, f"min has to be smaller than max, was: {min} >= {max}")


@export("quantization.fake_quant_with_min_max_args")
def fake_quant_with_min_max_args(inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None):
    """Rounds to the nearest of `2**num_bits` steps between two numbers.

    Args:
        inputs: float32 numbers.
        min: the least step; the range is moved a little so that zero is a step.
        max: the greatest step.
        num_bits: from 2 to 16.
        narrow_range: whether there is one step less, at the lower end.

    Raises:
        InvalidArgumentError: the range is empty, or there are too few or too many bits.
    """
    op_name = "FakeQuantWithMinMaxArgs"
    _check_order(op_name, min, max)
    x = convert_to_tensor(inputs, dtypes.float32)
    values = _range_of(op_name, x, float(min), float(max), False, num_bits)
    return apply(fake_quant.op, values, _attrs(num_bits, narrow_range))


@export("quantization.fake_quant_with_min_max_vars")
def fake_quant_with_min_max_vars(inputs, min, max, num_bits=8, narrow_range=False, name=None):
    """As `fake_quant_with_min_max_args`, with a range that gradients pass to."""
    op_name = "FakeQuantWithMinMaxVars"
    values = _range_of(op_name, inputs, min, max, False, num_bits)
    return apply(fake_quant.op, values, _attrs(num_bits, narrow_range))


@export("quantization.fake_quant_with_min_max_vars_per_channel")
def fake_quant_with_min_max_vars_per_channel(
    inputs, min, max, num_bits=8, narrow_range=False, name=None
):
    """As `fake_quant_with_min_max_vars`, with one range for each element of the last axis."""
    op_name = "FakeQuantWithMinMaxVarsPerChannel"
    values = _range_of(op_name, inputs, min, max, True, num_bits)
    return apply(fake_quant.op, values, _attrs(num_bits, narrow_range))


def _gradients(op_name, gradients, values, num_bits, narrow_range):
    x, low, high = values
    g = convert_to_tensor(gradients, dtypes.float32)
    if g.shape != x.shape:
        raise invalid_argument(op_name, "gradient and input must be the same size")
    return _fake_quant_adjoint(g, x, low, high, **_attrs(num_bits, narrow_range))


@export("quantization.fake_quant_with_min_max_args_gradient")
def fake_quant_with_min_max_args_gradient(
    gradients, inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None
):
    """The gradient of `fake_quant_with_min_max_args`: that which comes in, inside of the range."""
    op_name = "FakeQuantWithMinMaxArgsGradient"
    _check_order(op_name, min, max)
    values = _range_of(op_name, inputs, float(min), float(max), False, num_bits)
    return _gradients(op_name, gradients, values, num_bits, narrow_range)[0]


_RESULTS = "backprops_wrt_input backprop_wrt_min backprop_wrt_max"
FakeQuantWithMinMaxVarsGradient = collections.namedtuple(
    "FakeQuantWithMinMaxVarsGradient", _RESULTS
)
FakeQuantWithMinMaxVarsPerChannelGradient = collections.namedtuple(
    "FakeQuantWithMinMaxVarsPerChannelGradient", _RESULTS
)


@export("quantization.fake_quant_with_min_max_vars_gradient")
def fake_quant_with_min_max_vars_gradient(
    gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None
):
    """The gradients of `fake_quant_with_min_max_vars` for the inputs and both ends of the range."""
    op_name = "FakeQuantWithMinMaxVarsGradient"
    values = _range_of(op_name, inputs, min, max, False, num_bits)
    found = _gradients(op_name, gradients, values, num_bits, narrow_range)
    return FakeQuantWithMinMaxVarsGradient(*found)


@export("quantization.fake_quant_with_min_max_vars_per_channel_gradient")
def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None
):
    """The gradients of `fake_quant_with_min_max_vars_per_channel`."""
    op_name = "FakeQuantWithMinMaxVarsPerChannelGradient"
    values = _range_of(op_name, inputs, min, max, True, num_bits)
    found = _gradients(op_name, gradients, values, num_bits, narrow_range)
    return FakeQuantWithMinMaxVarsPerChannelGradient(*found)


# Quantise and dequantise --------------------------------------------------------------------------

_ROUNDINGS = {"HALF_TO_EVEN": np.rint, "HALF_UP": lambda x: np.floor(x + x.dtype.type(0.5))}


def _infer_quantized(
    input, input_min, input_max, *, signed_input, num_bits, range_given, round_mode, narrow_range,
    straight,
):  # fmt: skip
    op_name = "QuantizeAndDequantizeV4"
    if not 1 <= num_bits < 63 + (not signed_input):
        raise invalid_argument(
            op_name, f"num_bits is out of range: {num_bits} with signed_input_ {int(signed_input)}"
        )
    if round_mode not in _ROUNDINGS:
        raise invalid_argument(
            op_name,
            f"Value for attr 'round_mode' of \"{round_mode}\" is not in the list of allowed "
            'values: "HALF_TO_EVEN", "HALF_UP"\n\t; NodeDef: {{node QuantizeAndDequantizeV4}}',
        )
    return _infer_elementwise(op_name, input, input_min, input_max)


def _quantized(
    input, input_min, input_max, signed_input, num_bits, range_given, round_mode, narrow_range,
    straight,
):  # fmt: skip
    if range_given and (input_min > input_max).any():
        raise invalid_argument(
            "QuantizeAndDequantizeV4",
            f"Invalid range: input_min {input_min} > input_max {input_max}",
        )
    dtype = input.dtype.type
    last = 2 ** (num_bits - bool(signed_input)) - 1
    first = -(last + (not narrow_range)) if signed_input else 0
    first, last = dtype(first), dtype(last)
    most = np.finfo(input.dtype).max if input.dtype.kind == "f" else dtype(3e38)
    # The end of the range that leaves the fewest steps decides how large they are.
    from_min = np.where(first * input_min > 0, first / input_min, most)
    from_max = np.where(last * input_max > 0, last / input_max, most)
    by_min = from_min < from_max
    step = np.where(by_min, input_min / first, input_max / last)
    scale = np.where(by_min, from_min, from_max)
    if range_given:
        low = np.where(by_min, input_min, first * step)
        high = np.where(by_min, last * step, input_max)
        input = np.clip(input, low, high)
    steps = _ROUNDINGS[round_mode](input * scale)
    return (steps * step).astype(input.dtype)[()]


def _quantized_adjoint(g, input, input_min, input_max, *, straight):
    if straight:
        return g, None, None
    outside = logical_or(less(input, input_min), greater(input, input_max))
    return masked(g, logical_not(outside)), sub(input_min, input_min), sub(input_max, input_max)


quantize_and_dequantize_row = opaque(
    "QuantizeAndDequantizeV4",
    quiet(_quantized),
    inputs="input input_min input_max",
    infer=_infer_quantized,
    vjp=_quantized_adjoint,
    batch=_batch_elementwise,
    holomorphic=False,
    raw=lambda input, input_min, input_max, signed_input=True, num_bits=8, range_given=False,
    round_mode="HALF_TO_EVEN", narrow_range=False, axis=-1: quantize_and_dequantize_v2(
        input, input_min, input_max, signed_input, num_bits, range_given, round_mode, None,
        narrow_range, None if axis == -1 else axis,
    ),
)  # fmt: skip


def _quantize_and_dequantize(
    input, input_min, input_max, signed_input, num_bits, range_given, round_mode, narrow_range,
    axis, straight,
):  # fmt: skip
    x = operand(input)
    low, high = [operands(x, bound)[1] for bound in (input_min, input_max)]
    if axis is not None and not -x.ndim <= axis < x.ndim:
        raise invalid_argument(
            "QuantizeAndDequantizeV4",
            f"Axis requested is larger than input dimensions. Axis: {axis}",
        )
    if not range_given:
        others = None if axis is None else [a for a in range(x.ndim) if a != axis % x.ndim]
        range_of = stop_gradient(x)
        low, high = [reduce(range_of, others) for reduce in (reduce_min, reduce_max)]
    expected = () if axis is None else (x.shape[axis],)
    aligned = []
    for name, bound in (("input_min", low), ("input_max", high)):
        if tuple(bound.shape) != expected:
            wanted = "a scalar" if axis is None else f"of shape {words(expected)}"
            raise invalid_argument("QuantizeAndDequantizeV4", f"{name} must be {wanted}.")
        if axis is not None:
            thin = expected + (1,) * (x.ndim - 1 - axis % x.ndim)
            bound = apply(reshape.op, (bound,), {"shape": thin})
        aligned.append(bound)
    attrs = {
        "signed_input": bool(signed_input), "num_bits": int(num_bits),
        "range_given": bool(range_given), "round_mode": round_mode,
        "narrow_range": bool(narrow_range), "straight": straight,
    }  # fmt: skip
    return apply(quantize_and_dequantize_row.op, (x, *aligned), attrs)


@export("quantization.quantize_and_dequantize_v2")
def quantize_and_dequantize_v2(
    input,
    input_min,
    input_max,
    signed_input=True,
    num_bits=8,
    range_given=False,
    round_mode="HALF_TO_EVEN",
    name=None,
    narrow_range=False,
    axis=None,
):
    """Rounds to steps symmetric about zero, and cuts off what is outside of the range.

    Args:
        input: floating-point numbers.
        input_min: the lower end of the range, if `range_given`; else it is that of `input`.
        input_max: the upper end.
        signed_input: whether there are steps below zero.
        num_bits: the binary logarithm of the number of steps.
        range_given: whether to use the given range. Gradients end outside of it.
        round_mode: `"HALF_TO_EVEN"` or `"HALF_UP"`.
        narrow_range: whether there are as many steps below zero as above.
        axis: the axis along which each element has a range of its own.

    Raises:
        InvalidArgumentError: the range is not one, or there is no such number of bits or axis.
    """
    return _quantize_and_dequantize(
        input, input_min, input_max, signed_input, num_bits, range_given, round_mode,
        narrow_range, axis, straight=False,
    )  # fmt: skip


@export("quantization.quantize_and_dequantize")
def quantize_and_dequantize(
    input,
    input_min,
    input_max,
    signed_input=True,
    num_bits=8,
    range_given=False,
    round_mode="HALF_TO_EVEN",
    name=None,
    narrow_range=False,
    axis=None,
):
    """As `quantize_and_dequantize_v2`, but gradients pass outside of the range as well."""
    return _quantize_and_dequantize(
        input, input_min, input_max, signed_input, num_bits, range_given, round_mode,
        narrow_range, axis, straight=True,
    )  # fmt: skip
