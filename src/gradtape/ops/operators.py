"""Python's operators on tensors and variables."""

from ..core.convert import constant_like, operand
from ..core.dispatch import binary_on_tensors
from ..core.dtypes import DIFFERENTIABLE
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import ResourceVariable, Variable
from . import arithmetic, elementwise, logic


def _other(self, value):
    """The other operand as a tensor of this one's dtype."""
    kind = type(value)
    if kind is EagerTensor:
        return value
    if kind is ResourceVariable:
        return value._read()
    return constant_like(value, self) if kind is float or kind is int else operand(value, self)


def _binary(op):
    """The method for `self op other`, and the one for `other op self`."""
    on_tensors = op.on_tensors

    def converted(self, other):
        if type(self) is ResourceVariable:
            self = self._read()
        kind = type(other)
        if kind is float or kind is int:
            return on_tensors(self, constant_like(other, self))
        if getattr(other, "_is_composite", False):
            return NotImplemented
        return on_tensors(self, _other(self, other))

    def reflected(self, other):
        return on_tensors(_other(self, other), operand(self))

    return binary_on_tensors(op, converted), reflected


def _by_dtype(for_bool, for_integers):
    """Methods for an operator that is logical on booleans and bitwise on integers."""

    def forward(self, other):
        op = for_bool if self.dtype.is_bool else for_integers
        return op.on_tensors(operand(self), _other(self, other))

    def reflected(self, other):
        op = for_bool if self.dtype.is_bool else for_integers
        return op.on_tensors(_other(self, other), operand(self))

    return forward, reflected


def _add_converted(self, other):
    # As in TensorFlow, a Python float beside integers is not cast to them but is an error.
    if type(self) is ResourceVariable:
        self = self._read()
    if getattr(other, "_is_composite", False):
        return NotImplemented
    if type(other) is float and self._value.dtype not in DIFFERENTIABLE:
        return arithmetic.add.op.on_tensors(self, operand(other))
    return arithmetic.add.op.on_tensors(self, _other(self, other))


def _rtruediv(self, other):
    return arithmetic.true_divide(_other(self, other), operand(self))


def _equal(self, other):
    if other is None and isinstance(self, Tensor):
        return False
    return logic.compare(logic.equal.op, operand(self), _other(self, other), False)


def _not_equal(self, other):
    if other is None and isinstance(self, Tensor):
        return True
    return logic.compare(logic.not_equal.op, operand(self), _other(self, other), True)


def _invert(self):
    return (logic.logical_not if self.dtype.is_bool else logic.invert).op.on_tensors(operand(self))


def _neg(self):
    return arithmetic.neg.op.on_tensors(operand(self))


def _install(name, forward, reflected=None):
    for cls in (Tensor, Variable):
        setattr(cls, f"__{name}__", forward)
        if reflected is not None:
            setattr(cls, f"__r{name}__", reflected)


_install("sub", *_binary(arithmetic.sub.op))
_install("mul", *_binary(arithmetic.mul.op))
_install("mod", *_binary(arithmetic.floor_mod.op))
_install("pow", *_binary(arithmetic.pow_.op))
_install("floordiv", *_binary(arithmetic.floor_div.op))
_install(
    "add",
    binary_on_tensors(arithmetic.add.op, _add_converted),
    _binary(arithmetic.add.op)[1],
)
_install("truediv", arithmetic.divide, _rtruediv)
_install("and", *_by_dtype(logic.logical_and.op, logic.bitwise_and.op))
_install("or", *_by_dtype(logic.logical_or.op, logic.bitwise_or.op))
_install("xor", *_by_dtype(logic.not_equal.op, logic.bitwise_xor.op))
_install("lt", _binary(logic.less.op)[0])
_install("le", _binary(logic.less_equal.op)[0])
_install("gt", _binary(logic.greater.op)[0])
_install("ge", _binary(logic.greater_equal.op)[0])
_install("eq", _equal)
_install("ne", _not_equal)
_install("neg", _neg)
_install("abs", elementwise.abs_public)
_install("invert", _invert)
