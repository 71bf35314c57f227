"""How classes of the user's become tensors, and constants of TensorFlow's gradient functions."""

import numbers

import numpy as np

from .core.convert import add_conversion
from .core.exports import export
from .core.tensor import Tensor


@export("register_tensor_conversion_function")
def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    """Has instances of a class converted to tensors by a function, wherever tensors are taken.

    Args:
        base_type: a class, or a tuple of classes.
        conversion_func: a function with the parameters `(value, dtype=None, name=None,
            as_ref=False)`, that returns a tensor of that dtype, or NotImplemented to leave it to
            the next.
        priority: functions with lower numbers are asked first.

    Raises:
        TypeError: `base_type` holds something else than classes, is a class of numbers or arrays,
            or the function cannot be called.
    """
    classes = base_type if isinstance(base_type, tuple) else (base_type,)
    for each in classes:
        if not isinstance(each, type):
            raise TypeError(
                f"Argument `base_type` must be a type or a tuple of types. Received: {base_type}"
            )
        if issubclass(each, (Tensor, numbers.Number, np.generic, np.ndarray, str, bytes)):
            raise TypeError(
                "Cannot register conversions for Python numeric types and NumPy scalars and "
                f"arrays. Received: {each}"
            )
    if not callable(conversion_func):
        raise TypeError(
            f"Argument `conversion_func` must be callable. Received: {conversion_func!r}"
        )
    add_conversion(classes, conversion_func, priority)


@export("AggregationMethod")
class AggregationMethod:
    """How TensorFlow may add up gradients; here they are always added one by one."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2
