"""The gradient registry: rules users give to ops that have none."""

import dataclasses
import threading

from ..core.convert import convert_to_tensor
from ..core.dispatch import thread
from ..core.dtypes import as_dtype
from ..core.errors import InternalError
from ..core.indexed_slices import IndexedSlices, RawSlices
from ..core.op import DIFFERENTIABLE, NON_DIFFERENTIABLE, OPS, UNREGISTERED
from ..core.rules import compile_rules
from ..core.tensor import EagerTensor

_user_gradients: dict = {}


class Operation:
    """The op a registered gradient function is asked about, as TensorFlow shows it."""

    def __init__(self, op, attrs, inputs, outputs):
        self.type = op.name
        self.name = op.name
        self.inputs = list(inputs)
        self.outputs = list(outputs) if isinstance(outputs, tuple) else [outputs]
        self._attrs = attrs

    def get_attr(self, name):
        """The attribute `name`; `"T"` is the dtype of the first input."""
        if name in self._attrs:
            return self._attrs[name]
        if name == "T":
            return as_dtype(self.inputs[0].dtype)
        raise ValueError(f"Operation {self.type!r} has no attr named {name!r}.")


class RegisterGradient:
    """Decorator that gives an op its gradient: `@tf.RegisterGradient("AdjustContrastv2")`.

    The function takes the operation, with `inputs` and `outputs`, and the gradient of each output,
    and returns the gradient of each input, None where there is none.

    Raises:
        KeyError: the op has a gradient already.
    """

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, function):
        _add(self._op_type, function)
        return function


def no_gradient(op_type):
    """Declares that an op has no gradient: paths through it end and give None.

    Raises:
        KeyError: the op has a gradient already.
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _add(op_type, None)


def _add(op_type, function):
    op = OPS.get(op_type)
    if op_type in _user_gradients or (op is not None and op.state != UNREGISTERED):
        raise KeyError(
            f"Registering two gradient with name '{op_type}'! It has one already"
            f"{': ' + repr(_user_gradients[op_type]) if op_type in _user_gradients else ''}."
        )
    _user_gradients[op_type] = function


class gradient_override:  # noqa: N801 - a context, used like a function
    """A context in which ops use other gradients: `gradient_override({"Relu": "GuidedRelu"})`.

    It is for the ops called inside it on this thread, wherever the gradient is computed.

    Args:
        mapping: from op types to names given to `RegisterGradient`.

    Raises:
        LookupError: there is no such op, or nobody has registered the gradient.
        ValueError: the op is not differentiable, so tapes never hear of it.
    """

    def __init__(self, mapping):
        for op_type, name in mapping.items():
            if op_type not in OPS:
                raise LookupError(f"There is no op of type {op_type!r}.")
            if name not in _user_gradients:
                raise LookupError(f"gradient registry has no entry for: {name}")
            if OPS[op_type].state == NON_DIFFERENTIABLE:
                raise ValueError(
                    f"Op {op_type} is not differentiable by definition, and its gradient cannot be "
                    "overridden. Wrap it in tf.grad_pass_through or tf.custom_gradient."
                )
        self._mapping = dict(mapping)
        self._outer = []

    def __enter__(self):
        for op_type in self._mapping:
            _look_at_overrides(OPS[op_type])
        self._outer.append(_overrides.active)
        _overrides.active = {**_overrides.active, **self._mapping}
        return self

    def __exit__(self, *error):
        _overrides.active = self._outer.pop()


class _Overrides(threading.local):
    active: dict = {}  # noqa: RUF012 - replaced, never changed


_overrides = _Overrides()
_watched_ops: set = set()


def _look_at_overrides(op):
    """Makes `op` look, when it is recorded, whether another gradient is asked for."""
    if op.name in _watched_ops:
        return
    _watched_ops.add(op.name)
    if op.tensor_rules is None and op.state != UNREGISTERED:
        compile_rules(op)
    usual = op.record
    twins = {}

    def record(recorder, attrs, inputs, out):
        name = _overrides.active.get(op.name)
        if name is None:
            return usual(recorder, attrs, inputs, out)
        if name not in twins:
            twins[name] = _twin_with_gradient(op, name)
        twins[name].record(recorder, attrs, inputs, out)

    op.record = record


def _twin_with_gradient(op, name):
    """`op` as it is recorded where its gradient is the one registered as `name`."""
    function = _user_gradients[name]

    def on_tensors(g, saved, attrs):
        return _ask(function, op, attrs, saved, g if type(g) is tuple else (g,))

    def on_arrays(g, saved, attrs):
        grads = g if type(g) is tuple else (g,)
        return call_on_arrays(lambda *each: _ask(function, op, attrs, saved, each), grads)

    # The gradients of ops without a rule are asked with all inputs and outputs, and so is this one.
    twin = dataclasses.replace(op, state=UNREGISTERED, holomorphic=False)
    compile_rules(twin)
    twin.state, twin.vjp, twin.jvp = DIFFERENTIABLE, on_tensors, None
    twin.tensor_rules, twin.array_rules = on_tensors, on_arrays
    return twin


def user_gradient(op, attrs, saved, grads):
    """The gradients of an unregistered op's inputs, by the function the user registered.

    Raises:
        LookupError: nobody has registered one.
    """
    if op.name not in _user_gradients:
        raise LookupError(f"gradient registry has no entry for: {op.name}")
    return _ask(_user_gradients[op.name], op, attrs, saved, grads)


def user_gradient_of_arrays(op, attrs, saved, grads):
    """`user_gradient` inside a gradient on raw arrays."""
    return call_on_arrays(lambda *each: user_gradient(op, attrs, saved, each), grads)


def _ask(function, op, attrs, saved, grads):
    """Calls a registered function and checks how many gradients it returns."""
    inputs, outputs = saved[:2]
    if function is None:
        return (None,) * len(inputs)
    result = function(Operation(op, attrs, inputs, outputs), *grads)
    result = tuple(result) if isinstance(result, (list, tuple)) else (result,)
    if len(result) != len(inputs):
        raise InternalError(
            None,
            None,
            f"The gradient function registered for {op.name} returned gradients for the wrong "
            f"number of inputs. Expected {len(inputs)} but received {len(result)}",
        )
    return tuple(
        [
            d
            if d is None or isinstance(d, IndexedSlices)
            else convert_to_tensor(d, dtype_hint=x.dtype)
            for d, x in zip(result, inputs, strict=True)
        ]
    )


def call_on_arrays(function, grads):
    """Calls a gradient function of the user's, which knows only tensors, with arrays."""
    recorders, thread.recorders = thread.recorders, ()
    try:
        found = function(*[EagerTensor(g) for g in grads])
    finally:
        thread.recorders = recorders
    return [None if d is None else _raw(d) for d in found]


def _raw(gradient):
    if not isinstance(gradient, IndexedSlices):
        return gradient._value
    if gradient.dense_shape is None:
        raise ValueError(
            "IndexedSlices that a gradient function returns need a dense_shape, the shape of the "
            f"tensor they are the gradient of. Received: {gradient}"
        )
    shape = tuple(gradient.shape.as_list())
    return RawSlices(gradient.values._value, gradient.indices._value, shape)
