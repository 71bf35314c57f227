"""Python and NumPy code as ops: py_function and numpy_function."""

import contextlib
from typing import NamedTuple

import numpy as np

from .autodiff.custom import override
from .autodiff.tape import GradientTape
from .core import dtypes, errors, nest
from .core.convert import convert_to_tensor
from .core.effects import boxed, is_deferred, perform, real_value
from .core.exports import export
from .core.spec import TensorSpec
from .core.tensor import EagerTensor, Tensor
from .core.variable import Variable
from .graph.batched_effects import with_batches

# What an exception of the user's function becomes; the first class that fits.
_CODES = (
    ((TypeError, ValueError), errors.InvalidArgumentError),
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
)


@export("py_function")
def py_function(func=None, inp=None, Tout=None, name=None):
    """Calls a Python function with tensors; gradients pass through the ops it applies.

    Args:
        func: from as many tensors as `inp` holds to a value, a list of values, or None.
        inp: a list of tensors.
        Tout: the dtype (or TensorSpec) of the value, or a list of dtypes; empty if `func`
            returns None.

    Returns:
        A tensor, or a list of tensors if `Tout` is a list or tuple.

    Raises:
        ValueError: `func` cannot be called.
        InvalidArgumentError: it raises a TypeError or ValueError, or its values do not fit `Tout`.
        UnknownError: it raises anything else.
    """
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable. Received func={func!r} of type {type(func)}."
        )
    several = isinstance(Tout, (list, tuple))
    expected = [_dtype_of(item) for item in (Tout if several else [Tout])]
    inputs = [convert_to_tensor(item) for item in inp or ()]
    if is_deferred():
        outputs = _call_at_every_run(func, inputs, expected)
    else:
        outputs = _call(func, inputs, expected)
    return outputs if several else outputs[0]


def _call(func, inputs, expected):
    """The results of a Python function on tensors, of the dtypes expected."""
    try:
        result = func(*inputs)
        if result is None:
            values = []
        else:
            values = list(result) if isinstance(result, (list, tuple)) else [result]
        outputs = [convert_to_tensor(v, d) for v, d in zip(values, expected, strict=False)]
    except Exception as error:
        raise as_op_error(error) from error
    if len(outputs) != len(expected):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"py_function expects {len(expected)} values of its function, by `Tout`. Received: "
            f"{len(values)} [Op:EagerPyFunc] name: ",
        )
    return outputs


# As a part of a graph -----------------------------------------------------------------------------

# How often a function called by a graph can be differentiated.
_ORDERS = 2


class _Run(NamedTuple):
    """One run of a function, which its gradient starts from; effects pass it on in an array.

    Attributes:
        tapes: those that have recorded it, innermost first.
        sources: eager tensors and variables it was recorded for.
        outputs: those of its results that have derivatives.
    """

    tapes: list
    sources: list
    outputs: list


def _call_at_every_run(func, inputs, expected):
    """The results of a Python function as an effect, with gradients that are effects too."""
    followed = [i for i, dtype in enumerate(expected) if dtype.is_differentiable]

    def forward(*arrays):
        given = [EagerTensor(array) for array in arrays]
        sources = [x for x in given if x.dtype.is_differentiable]
        tapes = [GradientTape(persistent=True) for _ in range(_ORDERS)]
        with contextlib.ExitStack() as stack:
            for tape in reversed(tapes):
                stack.enter_context(tape)
                tape.watch(sources)
            outputs = _call(func, given, expected)
        # Variables that the function uses get gradients too.
        sources += tapes[0].watched_variables()
        run = _Run(tapes, sources, [outputs[i] for i in followed])
        return (*[x._value for x in outputs], boxed(run))

    forward.__annotations__["return"] = expected  # for those who must not call it yet
    *outputs, token = perform("EagerPyFunc", forward, inputs, variables=None)
    sources = [x for x in inputs if x.dtype.is_differentiable]
    variables = [x for x in real_value(token).item().sources if isinstance(x, Variable)]
    sources += [variable._read() for variable in variables]
    if sources and followed:
        fresh = _differentiable(token, sources, [outputs[i] for i in followed], _ORDERS)
        for i, tensor in zip(followed, fresh, strict=True):
            outputs[i] = tensor
    return outputs


def _differentiable(token, sources, outputs, orders):
    """Tensors with the values of `outputs`, the gradients of which come from the run in `token`."""

    def gradients(box, *arrays):
        run = box.item()
        grads = [EagerTensor(array) for array in arrays]
        tape, *others = run.tapes
        with contextlib.ExitStack() as stack:
            for other in reversed(others):
                stack.enter_context(other)
                other.watch(grads)
            found = tape.gradient(
                run.outputs, run.sources, output_gradients=grads, unconnected_gradients="zero"
            )
            found = [convert_to_tensor(g) for g in found]
        again = _Run(others, [*run.sources, *grads], found)
        return (*[g._value for g in found], boxed(again))

    def compute(tensors):
        return perform("EagerPyFunc", gradients, tensors, rehearsable=True, fixed=True)

    def backward(*grads):
        if not orders:
            raise LookupError(
                f"Inside of a tf.function, py_function has derivatives up to order {_ORDERS}."
            )
        *found, again = with_batches(compute)([token, *grads])
        return _differentiable(again, [*sources, *grads], found, orders - 1)

    return override("EagerPyFunc", sources, outputs, backward)


def _dtype_of(item):
    return item.dtype if isinstance(item, TensorSpec) else dtypes.as_dtype(item)


def as_op_error(error, op="EagerPyFunc"):
    """The error of an op for an exception of Python code that it ran."""
    fitting = [op_error for classes, op_error in _CODES if isinstance(error, classes)]
    op_error = fitting[0] if fitting else errors.UnknownError
    message = f"{type(error).__name__}: {error} [Op:{op}] name: "
    return op_error(None, None, message)


@export("numpy_function")
def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """Calls a Python function with NumPy arrays; gradients end there.

    Args:
        func: from as many arrays as `inp` holds to an array, a structure of arrays, or None.
        inp: a list of tensors.
        Tout: the dtypes of the results; run eagerly, results have the dtype they have.
        stateful: accepted for compatibility.

    Returns:
        A tensor, or a list of tensors if the function returns several arrays.
    """
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable. Received func={func!r} of type {type(func)}."
        )
    given = list(inp or ())
    is_tensor = [isinstance(item, (Tensor, Variable)) for item in given]
    inputs = [convert_to_tensor(x) for x, flag in zip(given, is_tensor, strict=True) if flag]
    nothing = []

    def call(*arrays):
        values = iter(arrays)
        both = zip(given, is_tensor, strict=True)
        result = func(*[np.array(next(values) if flag else item) for item, flag in both])
        if result is None:
            nothing.append(True)
            return ()
        return tuple([convert_to_tensor(value)._value for value in nest.flatten(result)])

    call.__annotations__["return"] = [_dtype_of(item) for item in nest.flatten(Tout)]
    tensors = perform("PyFunc", call, inputs, variables=None)
    if nothing or (is_deferred() and not tensors):
        return None
    return tensors[0] if len(tensors) == 1 else tensors
