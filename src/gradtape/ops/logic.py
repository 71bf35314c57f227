"""Comparisons, logic and bits: ops through which no gradient passes."""

import operator

import numpy as np

from ..core import dtypes
from ..core.convert import operands
from ..core.exports import export
from ..core.op import NON_DIFFERENTIABLE
from ..core.tensor import EagerTensor
from .pointwise import elementwise


def _bool(dtype):
    return np.dtype(np.bool_)


def _comparison(name, kernel, accepts, public="", raw=None):
    return elementwise(
        name, kernel, x=None, y=None, accepts=accepts, result=_bool, public=public,
        state=NON_DIFFERENTIABLE, raw=raw,
    )  # fmt: skip


less = _comparison("Less", operator.lt, dtypes.REAL, "less math.less")
less_equal = _comparison("LessEqual", operator.le, dtypes.REAL, "less_equal math.less_equal")
greater = _comparison("Greater", operator.gt, dtypes.REAL, "greater math.greater")
greater_equal = _comparison(
    "GreaterEqual", operator.ge, dtypes.REAL, "greater_equal math.greater_equal"
)
_EQUALITY = "x, y, incompatible_shape_error:=True"
equal = _comparison("Equal", operator.eq, dtypes.EVERY, raw=_EQUALITY)
not_equal = _comparison("NotEqual", operator.ne, dtypes.EVERY, raw=_EQUALITY)


@export("equal math.equal")
def _equal(x, y, name=None):
    """Whether `x` and `y` are equal, element by element; they must broadcast."""
    return equal.op.on_tensors(*operands(x, y))


@export("not_equal math.not_equal")
def _not_equal(x, y, name=None):
    """Whether `x` and `y` differ, element by element; they must broadcast."""
    return not_equal.op.on_tensors(*operands(x, y))


def compare(op, x, y, when_incompatible):
    """`==` and `!=` between tensors: shapes that do not broadcast are simply not equal."""
    try:
        np.broadcast_shapes(x._value.shape, y._value.shape)
    except ValueError:
        return EagerTensor(np.bool_(when_incompatible))
    return op.on_tensors(x, y)


def _logical(name, kernel, public):
    return elementwise(
        name, kernel, x=None, y=None, accepts=dtypes.BOOL, public=public, state=NON_DIFFERENTIABLE
    )


logical_and = _logical("LogicalAnd", operator.and_, "logical_and math.logical_and")
logical_or = _logical("LogicalOr", operator.or_, "logical_or math.logical_or")
logical_not = elementwise(
    "LogicalNot", operator.invert, x=None, accepts=dtypes.BOOL, state=NON_DIFFERENTIABLE,
    public="logical_not math.logical_not",
)  # fmt: skip


@export("math.logical_xor")
def logical_xor(x, y, name="LogicalXor"):
    """Exclusive or, element by element."""
    x, y = operands(x, y)
    if x.dtype.is_bool and y.dtype.is_bool:
        return not_equal.op.on_tensors(x, y)
    return logical_and.op.on_tensors(
        logical_or.op.on_tensors(x, y),
        logical_not(logical_and.op.on_tensors(x, y)),
    )


def _bitwise(name, kernel, public):
    return elementwise(
        name,
        kernel,
        x=None,
        y=None,
        accepts=dtypes.INTEGER,
        public=public,
        state=NON_DIFFERENTIABLE,
    )


bitwise_and = _bitwise("BitwiseAnd", operator.and_, "bitwise.bitwise_and")
bitwise_or = _bitwise("BitwiseOr", operator.or_, "bitwise.bitwise_or")
bitwise_xor = _bitwise("BitwiseXor", operator.xor, "bitwise.bitwise_xor")
invert = elementwise(
    "Invert", operator.invert, x=None, accepts=dtypes.INTEGER, state=NON_DIFFERENTIABLE,
    public="bitwise.invert",
)  # fmt: skip


def _shift(ufunc):
    """A shift by no less than 0 and no more than all bits but one, as TensorFlow has it."""

    def kernel(x, y):
        return ufunc(x, np.clip(y, 0, x.dtype.itemsize * 8 - 1))

    return kernel


left_shift = _bitwise("LeftShift", _shift(np.left_shift), "bitwise.left_shift")
right_shift = _bitwise("RightShift", _shift(np.right_shift), "bitwise.right_shift")
