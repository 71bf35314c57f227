"""Conversion of Python and NumPy values to tensors, by TensorFlow's rules.

Python floats become float32 and ints int32; NumPy keeps its dtype; a Python value takes the dtype
of the tensor it meets. A composite value (a variable, IndexedSlices, …) converts itself through
its method `_to_tensor(dtype)`.
"""

from typing import Any

import numpy as np

from . import dtypes
from .shapes import TensorShape
from .tensor import EagerTensor, Tensor

_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1
_FLOAT32 = np.dtype(np.float32)
_FLOAT32_LIMIT = 3.5e38

# Set by the ops layer: stacks a list of tensors and numbers, differentiably.
_stack = None


def set_stack(function):
    """Tells conversion which op stacks sequences that contain tensors."""
    global _stack
    _stack = function


def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None) -> Any:
    """Converts `value` to a tensor.

    Args:
        value: a tensor, variable, NumPy array, Python number, string or nested sequence of them.
        dtype: the dtype required; a tensor of another dtype is an error.
        dtype_hint: the dtype preferred; ignored where the value does not fit it.
        name: accepted for compatibility.

    Returns:
        A tensor; `value` itself if it is one already.

    Raises:
        ValueError: the value has no tensor form, or is a tensor of another dtype.
        TypeError: the value does not fit `dtype`.

    Example:
        >>> convert_to_tensor([1.0, 2.0]).shape
        TensorShape([2])
    """
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and dtype.numpy_dtype != value._value.dtype:
            raise conversion_error(value, dtype)
        return value
    if hasattr(value, "_to_tensor"):
        return value._to_tensor(dtype)
    if dtype is None and dtype_hint is not None:
        try:
            return _tensor_of(value, dtypes.as_dtype(dtype_hint))
        except (TypeError, ValueError):
            pass
    return _tensor_of(value, dtype)


def conversion_error(tensor, dtype):
    """The error for a tensor that has another dtype than required."""
    return ValueError(
        f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
        f"{tensor.dtype.name}: {tensor!r}"
    )


def operand(value, like=None) -> Any:
    """A tensor for an op: `value` itself if it is one, what a variable holds, else converted.

    Args:
        value: what the caller gave.
        like: a tensor or variable whose dtype Python and NumPy values take.
    """
    if isinstance(value, Tensor):
        return value
    level = getattr(value, "_dispatch_level", 0)
    if level:  # a composite stays what it is: dispatch asks it
        return value._read() if level < 0 else value
    if like is None:
        return convert_to_tensor(value)
    if hasattr(value, "_to_tensor"):
        return value._to_tensor(like.dtype if hasattr(value, "_takes_any_dtype") else None)
    # The dtype of what stands for a variable may be a name.
    return _tensor_of(value, dtypes.as_dtype(like.dtype))


_constants: dict = {}


def constant_like(number, like):
    """A Python number as a tensor of the dtype of `like`; those in use are kept, up to a limit."""
    value = like._value
    dtype = value.dtype
    key = (number, dtype, type(number), type(value))
    tensor = _constants.get(key)
    if tensor is None or not number:  # 0.0 and -0.0 are equal keys
        constant = to_value(number, dtypes.of_numpy(dtype))
        if type(value) is np.ndarray:  # beside an array NumPy is quickest with another one
            constant = np.asarray(constant)
            constant.flags.writeable = False
        tensor = EagerTensor(constant)
        if len(_constants) >= 1000:
            _constants.clear()
        _constants[key] = tensor
    return tensor


def operands(*values) -> Any:
    """Tensors for several inputs of one dtype: the first tensor's, wherever it stands."""
    like = next((v for v in values if hasattr(v, "_dispatch_level")), None)
    if like is None:
        first = convert_to_tensor(values[0])
        return (first, *[operand(v, first) for v in values[1:]])
    return tuple([operand(v, like) for v in values])


# Set by `add_conversion`: (priority, class, function), those to be tried first at the front.
_conversions: list = []


def add_conversion(base_type, function, priority):
    """Has values of a class converted by `function(value, dtype=, name=, as_ref=)`."""
    _conversions.append((priority, base_type, function))
    _conversions.sort(key=lambda entry: entry[0])


def _converted(value, dtype):
    """The tensor an added conversion makes of `value`; None if there is none for it."""
    for _, base_type, function in _conversions:
        if isinstance(value, base_type):
            tensor = function(value, dtype=dtype, name=None, as_ref=False)
            if tensor is NotImplemented:
                continue
            if not isinstance(tensor, Tensor) or (
                dtype and dtype.numpy_dtype != tensor._value.dtype
            ):
                raise RuntimeError(
                    f"The conversion function {function} for {base_type} returned {tensor!r}; "
                    f"expected a tensor{f' of dtype {dtype.name}' if dtype else ''}."
                )
            return tensor
    return None


def _tensor_of(value, dtype):
    if _conversions:
        tensor = _converted(value, dtype)
        if tensor is not None:
            return tensor
    if isinstance(value, (list, tuple)) and _contains_tensor(value):
        if _stack is None:
            raise RuntimeError("Sequences of tensors need gradtape.ops: import gradtape first.")
        return _stack(value, dtype)
    return EagerTensor(to_value(value, dtype))


def _contains_tensor(sequence):
    """Whether a nested sequence holds a tensor; looks along it only as far as it must."""
    for item in sequence:
        if isinstance(item, (float, int, str, bytes, np.ndarray, np.generic)):
            continue
        if hasattr(item, "_dispatch_level") or hasattr(item, "_to_tensor"):
            return True
        if isinstance(item, (list, tuple)) and _contains_tensor(item):
            return True
    return False


def to_value(value, dtype=None):
    """The NumPy array or scalar a tensor of `value` holds; never shares memory with `value`."""
    kind = type(value)
    if kind is float or kind is int or kind is bool or kind is complex:
        return _number(value, dtype)
    if kind is str or kind is bytes:
        return _strings(value, value, dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        return _array(value, dtype)
    if isinstance(value, TensorShape):
        if not value.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape {value} to a Tensor.")
        value = value.as_list()
    if isinstance(value, (list, tuple, range)):
        return _sequence(value, dtype)
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return _array(np.asarray(value), dtype)
    if hasattr(value, "__len__") and hasattr(value, "__getitem__") and not hasattr(value, "keys"):
        return _sequence(list(value), dtype)
    raise ValueError(
        f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) "
        "to a Tensor."
    )


def _number(value, dtype):
    if dtype is None:
        if type(value) is float:
            if abs(value) > _FLOAT32_LIMIT and abs(value) != np.inf:
                raise _out_of_range("a value out of range for a double-precision float")
            return np.float32(value)
        if type(value) is int:
            if _INT32_MIN <= value <= _INT32_MAX:
                return np.int32(value)
            if not -(2**63) <= value < 2**63:
                raise _out_of_range("out-of-range integer to Tensor")
            return np.int64(value)
        return np.bool_(value) if type(value) is bool else np.complex128(value)
    if _KIND_OF_NUMBER[type(value)] not in _KINDS_FITTING[_kind_of(dtype)]:
        raise _cannot_convert(value, dtype)
    return cast_value(value, dtype)


_KIND_OF_NUMBER = {bool: "b", int: "i", float: "f", complex: "c"}


def cast_value(number, dtype):
    """A Python number as a NumPy scalar of `dtype`; integers wrap around."""
    numpy_dtype = dtype.numpy_dtype
    if dtype.is_integer and not isinstance(number, (bool, np.bool_)):
        return np.array(int(number) & (2**64 - 1), np.uint64).astype(numpy_dtype)[()]
    if abs(number) < _FLOAT32_LIMIT and dtype.size >= 4:
        return numpy_dtype.type(number)
    with np.errstate(all="ignore"):
        return np.array(number).astype(numpy_dtype)[()]


def _array(array, dtype):
    kind = array.dtype.kind
    if kind in "OSU":
        return _strings(array, array, dtype)
    if dtype is dtypes.string:
        if array.size:
            raise _cannot_convert(array, dtype)
        return np.empty(array.shape, object)
    if dtype is None:
        try:
            dtype = dtypes.as_dtype(array.dtype)
        except TypeError:
            raise ValueError(
                f"Failed to convert a NumPy array to a Tensor (Unsupported numpy type: "
                f"{array.dtype})."
            ) from None
    if isinstance(array, np.generic) and array.dtype == dtype.numpy_dtype:
        return array
    with np.errstate(all="ignore"):
        if kind == "c" and not dtype.is_complex:
            array = array.real
        value: Any = array.astype(dtype.numpy_dtype, order="C")
    return value[()] if value.ndim == 0 else value


def _sequence(value, dtype):
    """An array from nested sequences, typed as TensorFlow types them: by the first element."""
    first = _first_leaf(value)
    if isinstance(first, (str, bytes, np.str_, np.bytes_)):
        return _strings(value, value, dtype)
    try:
        array = np.array(value)
    except OverflowError:
        raise _out_of_range("out-of-range integer to Tensor") from None
    except ValueError:
        mixed = isinstance(value, (list, tuple)) and not hasattr(value[0], "__len__")
        raise _mixed() if mixed else _ragged() from None
    kind = array.dtype.kind
    if kind in "OSUmM" or (first is None and array.size):
        if kind == "O" and isinstance(first, int) and _all_ints(array):
            raise _out_of_range("out-of-range integer to Tensor")
        raise _mixed()
    if dtype is not None:
        if kind == "f" and dtype.is_integer and _all_ints(np.array(value, object)):
            array, kind = (
                np.array(value, np.uint64),
                "u",
            )  # beyond int64 NumPy takes ints for floats
        if array.size and kind not in _KINDS_FITTING[_kind_of(dtype)]:
            raise _cannot_convert(value, dtype)
        return _array(array, dtype)
    if array.size == 0:
        return array.astype(_FLOAT32)
    if isinstance(first, np.generic) and kind != "i":
        return array
    if kind == "f":
        with np.errstate(all="ignore"):
            return array.astype(_FLOAT32)
    if kind == "c" and not isinstance(first, (complex, np.complexfloating)):
        raise _mixed()
    if isinstance(first, (bool, np.bool_)) and kind != "b":
        raise _mixed()
    if kind in "iu":
        fits = array.min() >= _INT32_MIN and array.max() <= _INT32_MAX
        return array.astype(np.int32 if fits else np.int64)
    return array


_KINDS_FITTING = {"f": "biuf", "i": "biu", "c": "biufc", "b": "b", "s": ""}


def _kind_of(dtype):
    if dtype.is_floating:
        return "f"
    if dtype.is_integer:
        return "i"
    return "c" if dtype.is_complex else "b" if dtype.is_bool else "s"


def _first_leaf(value):
    while isinstance(value, (list, tuple, range)) or (isinstance(value, np.ndarray) and value.ndim):
        if not len(value):
            return 0.0
        value = value[0]
    return value[()] if isinstance(value, np.ndarray) else value


def _all_ints(array):
    return all([isinstance(item, int) for item in array.flat])


def _strings(value, shown, dtype):
    """An object array of bytes; text is encoded as UTF-8."""
    if dtype is not None and dtype is not dtypes.string:
        raise _cannot_convert(shown, dtype)
    try:
        array = np.array(value, dtype=object)
    except ValueError:
        raise _ragged() from None
    encoded = np.empty(array.shape, dtype=object)
    for index, item in np.ndenumerate(array):
        if isinstance(item, str):
            item = item.encode()
        elif not isinstance(item, bytes):
            if isinstance(value, np.ndarray):
                raise ValueError(
                    "Failed to convert a NumPy array to a Tensor (Unsupported object type "
                    f"{type(item).__name__})."
                )
            raise _mixed()
        encoded[index] = item
    return encoded


def _cannot_convert(value, dtype):
    shown = value.tolist() if isinstance(value, np.ndarray) else value
    return TypeError(f"Cannot convert {shown!r} to EagerTensor of dtype {dtype.runtime_word}")


def _mixed():
    return ValueError("Can't convert Python sequence with mixed types to Tensor.")


def _ragged():
    return ValueError("Can't convert non-rectangular Python sequence to Tensor.")


def _out_of_range(what):
    return ValueError(f"Can't convert Python sequence with {what}.")
