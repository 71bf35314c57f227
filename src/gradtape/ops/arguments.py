"""Arguments that are numbers, not data: axes, shapes, sizes, in any form callers give them."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.errors import invalid_argument
from ..core.shapes import TensorShape
from .broadcasting import words

_PLAIN = (int, np.int32, np.int64)


def integers(value, op_name, attr):
    """`value` (ints, lists, arrays, integer tensors, also mixed) as an array of integers.

    Args:
        value: what the caller gave.
        op_name: the op it is for.
        attr: TensorFlow's name of the attribute that holds its dtype, for the message.

    Raises:
        InvalidArgumentError: the numbers are not int32 or int64.
        ValueError: a dimension is not known, or the value is not a tensor.
    """
    if type(value) in (list, tuple):
        array = _plain_array(value)
        if array is not None:
            return array
        if any(item is None for item in value):
            convert_to_tensor(None)  # raises TensorFlow's error
    elif isinstance(value, TensorShape):
        if not value.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape {value} to a Tensor.")
        value = value.as_list()
    array = _known(convert_to_tensor(value), op_name)
    if array.dtype.kind != "i" or array.dtype.itemsize < 4:
        if not array.size:  # an empty list, which by itself would be float32
            return array.astype(np.int32)
        word = dtypes.of_numpy(array.dtype).runtime_word
        raise invalid_argument(
            op_name,
            f"Value for attr '{attr}' of {word} is not in the list of allowed values: int32, "
            f"int64\n\t; NodeDef: {{{{node {op_name}}}}}",
        )
    return np.asarray(array)


def _plain_array(sequence):
    """An array, if the sequence holds integers alone; what else it may hold takes longer."""
    try:
        array = np.array(sequence)
    except ValueError:
        return None
    return array if array.dtype.kind == "i" else None


def static_shape(shape, op_name, attr="Tshape"):
    """A shape argument as a tuple of ints, which may be negative, or an array of wrong rank."""
    if type(shape) in (list, tuple) and all(type(size) is int for size in shape):
        return tuple(shape)
    array = integers(shape, op_name, attr)
    return tuple(array.tolist()) if array.ndim == 1 else array


def integer_tuple(value, op_name, attr, complaint):
    """`value` as a tuple of ints; `complaint` starts the message if it is not of rank 1."""
    found = static_shape(value, op_name, attr)
    if isinstance(found, np.ndarray):
        raise invalid_argument(op_name, f"{complaint} {words(found.shape)}")
    return found


def integer(value, op_name):
    """`value` (an int, array or tensor with one element) as an int.

    Raises:
        TypeError: it is not an integer.
        ValueError: it is not a tensor, or has several elements.
    """
    if type(value) in _PLAIN:
        return int(value)
    dtype = None if hasattr(value, "dtype") else dtypes.int32
    array = _known(convert_to_tensor(value, dtype), op_name)
    if array.dtype.kind != "i":
        raise TypeError(f"Op {op_name} takes integers. Received: {value!r}.")
    if array.size != 1:
        raise invalid_argument(op_name, f"Expected a single integer. Received: {value!r}")
    return int(array.reshape(()))


def _known(tensor, op_name):
    value = tensor._known()
    if value is None:
        raise TypeError(
            f"The axes, shapes and sizes given to op {op_name} must be known. Received: {tensor!r}."
        )
    return value
