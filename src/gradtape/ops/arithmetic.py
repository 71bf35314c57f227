"""Arithmetic rows: the ops behind Python's operators and their relatives."""

import operator

import numpy as np

from ..core import dtypes
from ..core.convert import constant_like, operand, operands
from ..core.dispatch import apply
from ..core.dtypes import FLOATING, NUMERIC, REAL, STRING
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import NON_DIFFERENTIABLE, Spec
from ..core.rules import unchanged
from .broadcasting import not_allowed, words
from .casting import cast
from .families import dtype_of, linear
from .logic import greater, greater_equal, less_equal, not_equal
from .pointwise import dtype_mismatch, elementwise
from .selection import select, zero_of

_FLOAT32 = np.dtype(np.float32)
_UNSIGNED = dtypes.numpy_set(dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64)


def masked(g, condition):
    """`g` where the condition holds, zero elsewhere; what is masked away cannot leak NaNs."""
    return select(condition, g, zero_of(g))


add = elementwise("AddV2", operator.add, x=unchanged, y=unchanged, accepts=NUMERIC | STRING)

sub = elementwise(
    "Sub",
    operator.sub,
    x=unchanged,
    y=lambda g: neg(g),
    accepts=NUMERIC,
    public="subtract math.subtract",
)

mul = elementwise(
    "Mul",
    operator.mul,
    x=lambda g, y: mul(g, y),
    y=lambda g, x: mul(g, x),
    accepts=NUMERIC | dtypes.BOOL,
    public="multiply math.multiply",
)

neg = elementwise(
    "Neg",
    operator.neg,
    x=lambda g: neg(g),
    accepts=NUMERIC - _UNSIGNED,
    public="negative math.negative",
)

real_div = elementwise(
    "RealDiv",
    operator.truediv,
    x=lambda g, y: real_div(g, y),
    y=lambda g, y, out: neg(real_div(mul(g, out), y)),
    accepts=dtypes.DIFFERENTIABLE,
)


def _nonzero_divisor(op_name, y):
    if y.dtype.kind in "iu" and not (y.all() if y.ndim else y):
        raise invalid_argument(op_name, "Integer division by zero")


def _floor_divide(x, y):
    _nonzero_divisor("FloorDiv", y)
    if x.dtype.kind in "iu":
        return operator.floordiv(x, y)
    return np.floor(x / y)  # TensorFlow's rounding: Python's own, of the exact quotient, is another


def _floor_modulo(x, y):
    _nonzero_divisor("FloorMod", y)
    return np.mod(x, y)


floor_div = elementwise(
    "FloorDiv",
    _floor_divide,
    x=None,
    y=None,
    accepts=REAL,
    state=NON_DIFFERENTIABLE,
    public="math.floordiv",
)

floor_mod = elementwise(
    "FloorMod",
    _floor_modulo,
    x=unchanged,
    y=lambda g, x, y: neg(mul(g, floor_div(x, y))),
    accepts=REAL,
    public="math.floormod math.mod",
)


def _power(x, y):
    if x.dtype.kind in "iu" and np.any(y < 0):
        raise invalid_argument("Pow", "Integers to negative integer powers are not allowed")
    return operator.pow(x, y)


def _log_of_positive(x):
    """log(x) where the derivative of a power by its exponent is defined, zero elsewhere."""
    from .elementwise import log

    is_defined = not_equal if dtype_of(x).kind == "c" else greater
    defined = is_defined(x, zero_of(x))
    one = add(zero_of(x), 1.0)
    return masked(log(select(defined, x, one)), defined)


pow_ = elementwise(
    "Pow",
    _power,
    x=lambda g, x, y: mul(g, mul(y, pow_(x, sub(y, 1.0)))),
    y=lambda g, x, out: mul(g, mul(out, _log_of_positive(x))),
    accepts=NUMERIC,
    public="pow math.pow",
)

# Ties go to the first argument; where either is NaN everything goes to the second.
maximum = elementwise(
    "Maximum",
    np.maximum,
    x=lambda g, x, y: masked(g, greater_equal(x, y)),
    y=lambda g, x, y: select(greater_equal(x, y), zero_of(g), g),
    accepts=REAL,
    public="maximum math.maximum",
)

minimum = elementwise(
    "Minimum",
    np.minimum,
    x=lambda g, x, y: masked(g, less_equal(x, y)),
    y=lambda g, x, y: select(less_equal(x, y), zero_of(g), g),
    accepts=REAL,
    public="minimum math.minimum",
)


def _squared_difference(x, y):
    difference = x - y
    if difference.dtype.kind == "c":
        return difference * np.conjugate(difference)
    return np.square(difference, out=difference if difference.ndim else None)


def _conjugate_difference(x, y):
    """What a squared difference, the square of an absolute value, has in the place of `x - y`."""
    difference = sub(x, y)
    if dtype_of(difference).kind != "c":
        return difference
    from .elementwise import conj

    return conj(difference)


squared_difference = elementwise(
    "SquaredDifference",
    _squared_difference,
    x=lambda g, x, y: mul(mul(g, 2.0), _conjugate_difference(x, y)),
    y=lambda g, x, y: neg(mul(mul(g, 2.0), _conjugate_difference(x, y))),
    accepts=NUMERIC,
    public="math.squared_difference",
)


def _divide_no_nan(x, y):
    if not y.ndim:
        return x / y if y else np.zeros_like(x)[()]
    if np.all(y):
        return x / y
    safe = np.where(y == 0, y.dtype.type(1), y)
    return np.where(y == 0, x.dtype.type(0), x / safe).astype(x.dtype, copy=False)[()]


div_no_nan = elementwise(
    "DivNoNan",
    _divide_no_nan,
    x=lambda g, y: div_no_nan(g, y),
    y=lambda g, y, out: neg(div_no_nan(mul(g, out), y)),
    accepts=dtypes.DIFFERENTIABLE,
)


def _multiply_no_nan(x, y):
    if np.all(y):
        return x * y
    return np.where(y == 0, x.dtype.type(0), x * y)[()]


mul_no_nan = elementwise(
    "MulNoNan",
    _multiply_no_nan,
    x=lambda g, y: mul_no_nan(g, y),
    y=lambda g, x: mul(g, x),
    accepts=dtypes.DIFFERENTIABLE,
    public="math.multiply_no_nan",
)

atan2 = elementwise(
    "Atan2",
    np.arctan2,
    y=lambda g, y, x: mul(g, real_div(x, add(mul(x, x), mul(y, y)))),
    x=lambda g, y, x: neg(mul(g, real_div(y, add(mul(x, x), mul(y, y))))),
    accepts=FLOATING,
    public="atan2 math.atan2",
)


@export("add math.add")
def add_public(x, y, name=None):
    """`x + y`, element by element; `y` takes the dtype of `x`."""
    x = operand(x)
    return add.op.on_tensors(x, operand(y, x))


# int32 and int64 divide as float64, the narrower ones as float32.
_QUOTIENT = {
    dtypes.int8: dtypes.float32, dtypes.uint8: dtypes.float32, dtypes.int16: dtypes.float32,
    dtypes.uint16: dtypes.float32, dtypes.int32: dtypes.float64, dtypes.uint32: dtypes.float64,
    dtypes.int64: dtypes.float64, dtypes.uint64: dtypes.float64,
}  # fmt: skip


def true_divide(x, y):
    """The operator `/` on tensors of one dtype; integers are divided as floats."""
    if x._value.dtype is _FLOAT32 and y._value.dtype is _FLOAT32:
        return real_div.op.on_tensors(x, y)
    if x.dtype is not y.dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {x.dtype!r} != {y.dtype!r}.")
    quotient = _QUOTIENT.get(x.dtype)
    if quotient is not None:
        x, y = cast(x, quotient), cast(y, quotient)
    return real_div.op.on_tensors(x, y)


@export("divide math.divide truediv math.truediv")
def divide(x, y, name=None):
    """`x / y`, element by element."""
    if hasattr(x, "_dispatch_level"):
        x = operand(x)
        if type(y) is float and x.dtype.is_differentiable:
            return true_divide(x, constant_like(y, x))
        return true_divide(x, operand(y) if isinstance(y, float) else operand(y, x))
    return true_divide(*operands(x, y))


@export("math.divide_no_nan")
def divide_no_nan(x, y, name=None):
    """`x / y`, element by element, and 0 where `y` is 0; integers are divided as floats."""
    x, y = operands(x, y)
    quotient = _QUOTIENT.get(x.dtype) if x.dtype is y.dtype else None
    if quotient is not None:
        x, y = cast(x, quotient), cast(y, quotient)
    return div_no_nan.op.on_tensors(x, y)


def _infer_add_n(*inputs):
    first = inputs[0]
    if first.dtype not in NUMERIC:
        raise not_allowed("AddN", first.dtype)
    for i, x in enumerate(inputs):
        if x.dtype != first.dtype:
            raise dtype_mismatch("AddN", i, first.dtype, x.dtype)
        if x.shape != first.shape:
            raise invalid_argument(
                "AddN",
                "Inputs to operation AddN of type AddN must have the same size and shape.  "
                f"Input 0: {words(first.shape)} != input {i}: {words(x.shape)}",
            )
    return Spec(first.shape, first.dtype)


def _add_n(*inputs):
    total = inputs[0]
    if len(inputs) > 1:
        total = total + inputs[1]
        for x in inputs[2:]:
            total += x
    return total


add_n_row = linear(
    "AddN",
    _add_n,
    inputs="*inputs",
    infer=_infer_add_n,
    transpose=lambda g, inputs_shape: (g,) * len(inputs_shape),
    batch=lambda op, values, flags, attrs: _sum_pairwise(values),
)


def _sum_pairwise(values):
    total = values[0]
    for x in values[1:]:
        total = add(total, x)
    return total


@export("math.add_n add_n")
def add_n(inputs, name=None):
    """The sum of a list of tensors of one shape and dtype.

    Raises:
        ValueError: there is nothing to add.
        InvalidArgumentError: shapes differ.
    """
    if not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    if not inputs:
        raise ValueError(
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype "
            "and shape."
        )
    return apply(add_n_row.op, tuple([operand(x) for x in inputs]))


@export("math.accumulate_n")
def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """The sum of a list of tensors, whose shapes are `shape` and dtypes `tensor_dtype` if given.

    Raises:
        ValueError: there is nothing to add, or shapes or dtypes differ.
        TypeError: the dtype is not `tensor_dtype`.
    """
    values = [operand(x) for x in inputs] if isinstance(inputs, (list, tuple)) else []
    if not values or any([x.dtype is not values[0].dtype for x in values]):
        raise ValueError(
            "inputs must be a list of at least one Tensor with the same dtype and shape"
        )
    wanted = values[0].shape if shape is None else shape
    for x in values:
        if not x.shape.is_compatible_with(wanted):
            raise ValueError(f"Shapes {wanted} and {x.shape} are not compatible")
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) is not values[0].dtype:
        raise TypeError(
            f"The `tensor_dtype` argument is {tensor_dtype}, but the inputs are of dtype "
            f"{values[0].dtype}. These must be equal."
        )
    return add_n(values)
