"""The same value as a new tensor: identity, reads of variables, stop_gradient."""

from ..core.containers import is_composite
from ..core.convert import operand
from ..core.dispatch import apply
from ..core.exports import export
from ..core.op import Spec
from .families import linear, non_differentiable


def _same(input):
    return input


def _infer(input):
    return Spec(input.shape, input.dtype)


def _batch(op, values, flags, attrs):
    return op.call(values[0])


def _identity_row(name, raw=None):
    return linear(
        name,
        _same,
        inputs="input",
        infer=_infer,
        transpose=lambda g: g,
        batch=_batch,
        takes_sparse=True,
        checked=False,
        raw=raw,
    )


identity_row = _identity_row("Identity")
read_variable = _identity_row("ReadVariableOp", raw=False)

stop_gradient_row = non_differentiable(
    "StopGradient", _same, inputs="input", infer=_infer, batch=_batch, checked=False
)


def _in_parts(function, composite):
    """A function of tensors applied to everything that IndexedSlices and the like are made of."""
    return composite._from_components([function(part) for part in composite._components()])


@export("identity")
def identity(input, name=None):
    """A new tensor with the same value, through which gradients pass."""
    if is_composite(input):
        return _in_parts(identity, input)
    return apply(identity_row.op, (operand(input),))


@export("identity_n")
def identity_n(input, name=None):
    """New tensors with the same values, one for each tensor of a list."""
    return [identity(x) for x in input]


@export("stop_gradient")
def stop_gradient(input, name=None):
    """A new tensor with the same value, at which gradients end."""
    if is_composite(input):
        return _in_parts(stop_gradient, input)
    return apply(stop_gradient_row.op, (operand(input),))


@export("guarantee_const")
def guarantee_const(input, name=None):
    """The tensor, said never to change; at it gradients end."""
    return stop_gradient(input)
