"""Python and NumPy code as ops: py_function and numpy_function."""

import numpy as np

from .core import dtypes, errors, nest
from .core.convert import convert_to_tensor
from .core.exports import export
from .core.spec import TensorSpec

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
    try:
        result = func(*inputs)
        if result is None:
            values = []
        else:
            values = list(result) if isinstance(result, (list, tuple)) else [result]
        outputs = [convert_to_tensor(v, d) for v, d in zip(values, expected, strict=False)]
    except Exception as error:
        raise _as_op_error(error) from error
    if len(outputs) != len(expected):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"py_function expects {len(expected)} values of its function, by `Tout`. Received: "
            f"{len(values)} [Op:EagerPyFunc] name: ",
        )
    return outputs if several else outputs[0]


def _dtype_of(item):
    return item.dtype if isinstance(item, TensorSpec) else dtypes.as_dtype(item)


def _as_op_error(error):
    fitting = [op_error for classes, op_error in _CODES if isinstance(error, classes)]
    op_error = fitting[0] if fitting else errors.UnknownError
    message = f"{type(error).__name__}: {error} [Op:EagerPyFunc] name: "
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
    result = func(*[np.array(item) for item in inp or ()])
    if result is None:
        return None
    tensors = [convert_to_tensor(value) for value in nest.flatten(result)]
    return tensors[0] if len(tensors) == 1 else tensors
