"""String tensors, as readers and decoders take and give them."""

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.errors import invalid_argument
from ..core.tensor import EagerTensor


def string_array(value):
    """A string argument as an array of bytes objects."""
    return np.asarray(convert_to_tensor(value, dtypes.string)._value, object)


def one_string(value, op_name, what) -> Any:
    """A scalar string argument as bytes."""
    array = string_array(value)
    if array.ndim:
        raise invalid_argument(op_name, f"{what} must be scalar, got shape {array.shape}")
    return array[()]


def string_tensor(strings, shape=None):
    """A string tensor from bytes, or from a sequence of them and its shape."""
    if shape is None:
        scalar = np.empty((), object)
        scalar[()] = strings
        return EagerTensor(scalar)
    array = np.empty(len(strings), object)
    array[:] = strings
    return EagerTensor(array.reshape(shape))


def each_string(function, value):
    """The string tensor of what a function makes of each element."""
    array = string_array(value)
    return string_tensor([function(item) for item in array.ravel()], array.shape)
