"""Applies ops to tensors and tells the active recorders of this thread.

`apply` looks at the kinds of its inputs: all eager, it runs the kernel; otherwise the most
derived kind of tensor among them says what happens. `unary_on_tensors` and `binary_on_tensors`
make the same for one elementwise op: those are most of eager code, and every tenth of a
microsecond counts there.
"""

import warnings
from typing import Any

import numpy as np

from .active import thread
from .errors import OpError
from .op import NON_DIFFERENTIABLE
from .rules import compile_when_recorded
from .tensor import EagerTensor, Tensor, next_id

new_tensor = object.__new__
NO_ATTRS: dict = {}
_FLOAT32 = np.dtype(np.float32)
_STRING = np.dtype(object)

# Infinities and NaNs are values like any other, as they are in TensorFlow.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradtape\.")


def apply(op, inputs, attrs=NO_ATTRS) -> Any:
    """Applies `op` to a tuple of tensors and variables.

    Args:
        op: the Op.
        inputs: tensors or variables, as many as the op takes.
        attrs: the op's attributes, normalised and immutable.

    Returns:
        A tensor, or a tuple of tensors for an op with several outputs.
    """
    values = []
    for x in inputs:
        if type(x) is not EagerTensor:
            return _apply_to_others(op, inputs, attrs)
        values.append(x._value)
    try:
        if op.checked or op.accepts is not None:
            op.infer(*values, **attrs)
        value = op.kernel(*values, **attrs)
    except Exception as error:
        value = recover(op, values, attrs, error)
    out = EagerTensor(value) if op.outputs == 1 else _tensors(value)
    recorders = thread.recorders
    if recorders and op.state is not NON_DIFFERENTIABLE:
        for recorder in recorders:
            op.record(recorder, attrs, inputs, out)
    return out


def _tensors(values):
    """An eager tensor for each of some values, of which there may be thousands."""
    tensors = []
    for value in values:
        tensor = new_tensor(EagerTensor)  # EagerTensor(value), without the call of __init__
        tensor._value = value
        tensor._id = next_id()
        tensors.append(tensor)
    return tuple(tensors)


def unary_on_tensors(op, otherwise=None):
    """`apply` for an elementwise op of one input, made into a function of its own.

    Args:
        op: the Op.
        otherwise: what to do with anything but an eager tensor; apply it, if None.

    Returns:
        The function; it takes and ignores `name`, so that it can be public as it is.
    """
    kernel, infer, accepts = op.kernel, op.infer, op.accepts
    usual = _FLOAT32 if _FLOAT32 in accepts else None
    recorded = op.state is not NON_DIFFERENTIABLE

    def on_tensors(x, name=None):
        if type(x) is not EagerTensor:
            return _apply_to_others(op, (x,), NO_ATTRS) if otherwise is None else otherwise(x)
        a = x._value
        try:
            dtype = a.dtype
            if dtype is not usual and dtype not in accepts:
                infer(a)
            value = kernel(a)
        except Exception as error:
            value = recover(op, (a,), NO_ATTRS, error)
        out = new_tensor(EagerTensor)  # EagerTensor(value), without the call of __init__
        out._value = value
        out._id = next_id()
        if recorded:
            recorders = thread.recorders
            if recorders:
                for recorder in recorders:
                    op.record(recorder, NO_ATTRS, (x,), out)
        return out

    return on_tensors


def binary_on_tensors(op, otherwise=None):
    """`apply` for an elementwise op of two inputs of one dtype, made into a function of its own.

    Args:
        op: the Op.
        otherwise: what to do with anything but two eager tensors; apply it, if None.
    """
    kernel, accepts = op.kernel, op.accepts - {_STRING}
    usual = _FLOAT32 if _FLOAT32 in accepts else None
    recorded = op.state is not NON_DIFFERENTIABLE

    def on_tensors(x, y, name=None):
        if type(x) is not EagerTensor or type(y) is not EagerTensor:
            return _apply_to_others(op, (x, y), NO_ATTRS) if otherwise is None else otherwise(x, y)
        a = x._value
        b = y._value
        try:
            dtype = a.dtype
            if dtype is not b.dtype or (dtype is not usual and dtype not in accepts):
                value = _on_strings(op, a, b)
            else:
                value = kernel(a, b)
        except Exception as error:
            value = recover(op, (a, b), NO_ATTRS, error)
        out = new_tensor(EagerTensor)  # EagerTensor(value), without the call of __init__
        out._value = value
        out._id = next_id()
        if recorded:
            recorders = thread.recorders
            if recorders:
                for recorder in recorders:
                    op.record(recorder, NO_ATTRS, (x, y), out)
        return out

    return on_tensors


def _on_strings(op, a, b):
    """The value for two strings, of which NumPy makes plain bytes; the error for anything else."""
    op.infer(a, b)
    value = op.kernel(a, b)
    return np.asarray(value, object) if type(value) is bytes else value


def _apply_to_others(op, inputs, attrs):
    """Reads variables; hands over to the kind of tensor that must act first."""
    first, level, has_variables = None, 0, False
    for x in inputs:
        if type(x) is EagerTensor:
            continue
        kind = getattr(type(x), "_dispatch_level", None)
        if kind is None:
            raise TypeError(
                f"Op {op.name} takes tensors. Received: {x!r} of type {type(x).__name__!r}. "
                "Convert it with tf.convert_to_tensor."
            )
        if kind < 0:
            has_variables = True
        elif x._level > level:
            first, level = x, x._level
    if has_variables:
        inputs = tuple([x._read() if type(x)._dispatch_level < 0 else x for x in inputs])
    if first is not None:
        return first._dispatch(op, inputs, attrs)
    return apply(op, inputs, attrs)


def recover(op, values, attrs, error):
    """What a failed kernel means: an error in TensorFlow's words, or a value after all."""
    if isinstance(error, OpError):
        raise error
    if isinstance(error, (FloatingPointError, RuntimeWarning)):
        with np.errstate(all="ignore"):
            return op.kernel(*values, **attrs)
    op.infer(*values, **attrs)
    raise error


def quiet(kernel):
    """Marks a kernel that runs NumPy code which warns from its own modules."""

    def silenced(*values, **attrs):
        with np.errstate(all="ignore"):
            return kernel(*values, **attrs)

    return silenced


def make_call(op):
    """The function by which rows and rules use `op`: on tensors it applies, on arrays it computes.

    Rules written with it therefore serve both kinds of gradient, the recorded and the raw.
    """
    kernel = op.kernel
    compile_when_recorded(op)
    if op.accepts is not None and len(op.inputs) <= 2:
        make = unary_on_tensors if len(op.inputs) == 1 else binary_on_tensors
        op.on_tensors = make(op)
    on_tensors: Any = op.on_tensors
    if op.variadic:

        def call(values, **attrs):  # pyright: ignore[reportRedeclaration]
            if any([isinstance(x, Tensor) for x in values]):
                return apply(op, tuple([_constant(x) for x in values]), attrs)
            return kernel(*values, **attrs)

    elif len(op.inputs) == 1 and on_tensors is not None:

        def call(x):  # pyright: ignore[reportRedeclaration]
            return on_tensors(x) if isinstance(x, Tensor) else kernel(x)

    elif len(op.inputs) == 1:

        def call(x, **attrs):  # pyright: ignore[reportRedeclaration]
            return apply(op, (x,), attrs) if isinstance(x, Tensor) else kernel(x, **attrs)

    elif len(op.inputs) == 2 and on_tensors is not None:

        def call(x, y):  # pyright: ignore[reportRedeclaration]
            if type(x) is type(y):
                return on_tensors(x, y) if isinstance(x, Tensor) else kernel(x, y)
            if isinstance(x, Tensor):
                return on_tensors(x, y if isinstance(y, Tensor) else _constant(y, x))
            if isinstance(y, Tensor):
                return on_tensors(_constant(x, y), y)
            if type(y) is float:
                y = scalar_like(y, x)
            elif type(x) is float:
                x = scalar_like(x, y)
            return kernel(x, y)

    else:

        def call(*inputs, **attrs):
            tensor = next((x for x in inputs if isinstance(x, Tensor)), None)
            if tensor is None:
                return kernel(*inputs, **attrs)
            return apply(op, tuple([_constant(x, tensor) for x in inputs]), attrs)

    call.op = op  # pyright: ignore[reportFunctionMemberAccess]
    call.__name__ = call.__qualname__ = op.name
    return call


def _constant(x, like=None):
    """An operand that a rule gives as an array or Python number, as a tensor."""
    if isinstance(x, Tensor):
        return x
    if like is not None and not isinstance(x, (np.ndarray, np.generic)):
        x = like._value.dtype.type(x)
    return EagerTensor(x)


_scalars: dict = {}


def scalar_like(number, array):
    """`number` in the dtype of `array`, and in the form NumPy is quickest with beside it.

    That is an array of rank 0 beside an array, and a scalar beside a scalar. The same few constants
    come up again and again, so they are kept.
    """
    key = (number, array.dtype, type(array) is np.ndarray)
    found = _scalars.get(key)
    if found is None or number == 0.0:  # 0.0 and -0.0 are equal keys
        if len(_scalars) >= 1000:
            _scalars.clear()
        found = array.dtype.type(number)
        if type(array) is np.ndarray:
            found = np.asarray(found)
            found.flags.writeable = False
        _scalars[key] = found
    return found
