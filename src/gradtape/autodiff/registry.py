"""The gradient registry: rules users give to ops that have none."""

from ..core.convert import convert_to_tensor
from ..core.dispatch import thread
from ..core.dtypes import as_dtype
from ..core.errors import InternalError
from ..core.indexed_slices import IndexedSlices, RawSlices
from ..core.op import UNREGISTERED, find_op
from ..core.tensor import EagerTensor

user_gradients: dict = {}


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
    op = find_op(op_type)
    if op_type in user_gradients or (op is not None and op.state != UNREGISTERED):
        raise KeyError(
            f"Registering two gradient with name '{op_type}'! It has one already"
            f"{': ' + repr(user_gradients[op_type]) if op_type in user_gradients else ''}."
        )
    user_gradients[op_type] = function


def user_gradient(op, attrs, saved, grads):
    """The gradients of an unregistered op's inputs, by the function the user registered.

    Raises:
        LookupError: nobody has registered one.
    """
    if op.name not in user_gradients:
        raise LookupError(f"gradient registry has no entry for: {op.name}")
    return ask(user_gradients[op.name], op, attrs, saved, grads)


def user_gradient_of_arrays(op, attrs, saved, grads):
    """`user_gradient` inside a gradient on raw arrays."""
    return call_on_arrays(lambda *each: user_gradient(op, attrs, saved, each), grads)


def ask(function, op, attrs, saved, grads):
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
