"""Tensors made from values and shapes: constants, zeros and ones."""

import numpy as np

from ..core import dtypes
from ..core.active import thread
from ..core.composite import open_to_composites
from ..core.convert import convert_to_tensor, operand, to_value
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.shapes import TensorShape
from ..core.tensor import EagerTensor, Tensor
from .arguments import integers
from .broadcasting import not_allowed, words

export("convert_to_tensor", convert_to_tensor)


@export("constant")
def constant(value, dtype=None, shape=None, name="Const"):
    """A tensor with the given value.

    Args:
        value: a number, string, array or nested list.
        dtype: its dtype; otherwise by the value.
        shape: its shape; a single value is repeated to fill it.

    Raises:
        TypeError: the value does not fit `dtype` or `shape`.
        ValueError: the value has no tensor form, or is a list that contains tensors.
    """
    goal = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, Tensor) or hasattr(value, "_to_tensor"):
        tensor = convert_to_tensor(value, goal if hasattr(value, "_takes_any_dtype") else None)
        if goal is not None and goal is not tensor.dtype:
            raise TypeError(
                f"Expected tensor {tensor} with dtype {goal!r}, but got dtype {tensor.dtype!r}."
            )
    else:
        _refuse_tensors_in(value)
        tensor = EagerTensor(to_value(value, goal))
    if shape is not None:
        tensor = _reshaped(tensor._value, shape, value)
    return tensor if thread.trace is None else thread.trace.constant(tensor)


def _refuse_tensors_in(value):
    """A constant has no gradient: tensors inside a list would silently lose theirs."""
    if isinstance(value, (list, tuple)):
        for item in value:
            if isinstance(item, (int, float, str, bytes)):
                continue
            if hasattr(item, "_dispatch_level"):
                raise ValueError(
                    "tf.constant does not take lists that contain tensors or variables: use "
                    "tf.stack or tf.convert_to_tensor, through which gradients pass. "
                    f"Received: {item!r}."
                )
            _refuse_tensors_in(item)


def _reshaped(array, shape, value):
    shape = TensorShape(shape)
    count = shape.num_elements()
    if count is not None and array.size == 1:
        return EagerTensor(np.full(shape.as_list(), array.reshape(()), array.dtype)[()])
    if count != array.size:
        raise TypeError(
            f"Eager execution of tf.constant with unsupported shape. Tensor {array} (converted "
            f"from {value}) has {array.size} elements, but got `shape` {shape} with {count} "
            "elements)."
        )
    return EagerTensor(array.reshape(shape.as_list()))


def _is_plain(shape):
    return type(shape) in (list, tuple) and all(type(size) is int for size in shape)


def dimensions(shape):
    """The shape that a tensor is to be filled in, however it is given, as a tuple of ints.

    Raises:
        InvalidArgumentError: a size is negative, or these are not a list of integers.
        ValueError: a size is not known.
    """
    if _is_plain(shape):
        goal = tuple(shape)
    else:
        array = integers(shape, "Fill", "index_type")
        if array.ndim > 1:
            raise invalid_argument(
                "Fill", f"dims must represent a vector, got shape {words(array.shape)}"
            )
        goal = tuple(array.reshape(-1).tolist())
    for size in goal:
        if size < 0:
            raise invalid_argument("Fill", f"Dimension {size} must be >= 0")
    return goal


def _sizes(shape):
    """The shape as `dimensions` takes it; unlike tensors, Python and NumPy values become int32."""
    if type(shape) is int:
        return (shape,)
    if _is_plain(shape) or isinstance(shape, (Tensor, TensorShape)):
        return shape
    return convert_to_tensor(shape, dtypes.int32)


def _filled(shape, dtype, make):
    dtype = dtypes.as_dtype(dtype)
    shape = dimensions(_sizes(shape))
    if dtype is not dtypes.string:
        return EagerTensor(make(shape, dtype.numpy_dtype)[()])
    if make is np.ones:
        raise TypeError("Cannot convert 1 to EagerTensor of dtype string")
    return EagerTensor(np.full(shape, b"", object))


@export("zeros")
def zeros(shape, dtype=dtypes.float32, name=None, layout=None):
    """A tensor of zeros; of strings, a tensor of empty ones."""
    return _filled(shape, dtype, np.zeros)


@export("ones")
def ones(shape, dtype=dtypes.float32, name=None, layout=None):
    """A tensor of ones."""
    return _filled(shape, dtype, np.ones)


@export("zeros_like")
@open_to_composites
def zeros_like(input, dtype=None, name=None, layout=None):
    """Zeros in the shape, and unless said otherwise the dtype, of `input`."""
    x = operand(input)
    return _filled(x._value.shape, dtype or x.dtype, np.zeros)


@export("ones_like")
@open_to_composites
def ones_like(input, dtype=None, name=None, layout=None):
    """Ones in the shape, and unless said otherwise the dtype, of `input`."""
    x = operand(input)
    goal = dtypes.as_dtype(dtype or x.dtype)
    if goal is dtypes.string:
        raise not_allowed("OnesLike", goal.numpy_dtype, dtypes.NUMERIC | dtypes.BOOL)
    return _filled(x._value.shape, goal, np.ones)
