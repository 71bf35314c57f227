"""Which dtype comes out: NumPy's promotion, and the arrays that become tensors.

Python numbers are weak: beside a tensor they take its dtype as NumPy 2 has it, and alone they are
int64 and float64, unless `Defaults` says otherwise.
"""

from typing import Any

import numpy as np

import gradtape as tf

from ..core import dtypes
from .names import numpy_names


class Defaults:
    """What Python numbers alone become; `behavior` changes it for the whole process."""

    prefer_float32 = False  # a Python float counts as a float32, not as weak
    narrow = False  # int32 and float32 in the place of int64 and float64


_NARROW = {
    np.dtype(np.int64): np.dtype(np.int32),
    np.dtype(np.float64): np.dtype(np.float32),
}
_SINGLE = {
    np.dtype(np.float64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.complex64),
}
_PYTHON_NUMBERS = (bool, int, float, complex)


def is_tensor(x):
    return hasattr(x, "_dispatch_level") or hasattr(x, "_to_tensor")


def numpy_dtype(dtype):
    """NumPy's dtype for anything that names one; `float` and `int` are the default ones."""
    if isinstance(dtype, dtypes.DType):
        return dtype.numpy_dtype
    found = np.dtype(dtype)
    if Defaults.narrow and (dtype is float or dtype is int):
        return _NARROW.get(found, found)
    return found


def float_dtype():
    """The dtype that integers become where a function gives floats."""
    return numpy_dtype(float)


def is_inexact(tensor):
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def _leaves(x):
    """The elements of nested lists, as promotion takes them."""
    if isinstance(x, (list, tuple)):
        return [leaf for item in x for leaf in _leaves(item)]
    if is_tensor(x):
        return [x.dtype.numpy_dtype]
    if isinstance(x, dtypes.DType):
        return [x.numpy_dtype]
    if Defaults.prefer_float32 and isinstance(x, (float, complex)):
        return [np.float32(x) if isinstance(x, float) else np.complex64(x)]
    return [x]


def promoted_dtype(*values):
    """NumPy's dtype for these tensors, arrays, numbers, dtypes and lists together."""
    leaves = [leaf for value in values for leaf in _leaves(value)]
    if not leaves:
        return float_dtype()
    found = np.result_type(*leaves)
    if Defaults.narrow and all([type(leaf) in _PYTHON_NUMBERS for leaf in leaves]):
        return _NARROW.get(found, found)
    return found


def as_tensor(x, dtype=None):
    """A tensor of what the caller gave, by NumPy's rules; cast, if `dtype` is another one."""
    if is_tensor(x):
        tensor = tf.convert_to_tensor(x)
        return tensor if dtype is None or tensor.dtype == dtype else tf.cast(tensor, dtype)
    if isinstance(x, (list, tuple)) and _holds_tensor(x):
        dtype = promoted_dtype(x) if dtype is None else dtype
        return tf.stack([as_tensor(item, dtype) for item in x])
    if dtype is None and not hasattr(x, "dtype"):
        return tf.convert_to_tensor(_of_python(x))
    with np.errstate(all="ignore"):
        return tf.convert_to_tensor(np.asarray(x, dtype))


def _holds_tensor(x):
    return any([_holds_tensor(y) if isinstance(y, (list, tuple)) else is_tensor(y) for y in x])


def _of_python(x):
    try:
        array = np.asarray(x)
    except ValueError:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from None
    if not any([isinstance(leaf, (np.generic, np.ndarray)) for leaf in _plain_leaves(x)]):
        if Defaults.prefer_float32 or Defaults.narrow:
            array = array.astype(_SINGLE.get(array.dtype, array.dtype))
        if Defaults.narrow:
            array = array.astype(_NARROW.get(array.dtype, array.dtype))
    return array


def _plain_leaves(x):
    return [y for item in x for y in _plain_leaves(item)] if isinstance(x, (list, tuple)) else [x]


def promoted(*values):
    """Tensors of one dtype."""
    dtype = promoted_dtype(*values)
    return tuple([as_tensor(value, dtype) for value in values])


def constant(number, like):
    """A Python number in the dtype of a tensor."""
    return tf.constant(number, like.dtype)


def floats(x):
    """A tensor that is cast to the default float dtype unless it is floating or complex."""
    tensor = as_tensor(x)
    return tensor if is_inexact(tensor) else tf.cast(tensor, float_dtype())


def integers(x) -> Any:
    """Integers known now, from ints, sequences, arrays and tensors: an int, or a tuple."""
    if x is None or isinstance(x, int):
        return x
    found = np.asarray(tf.convert_to_tensor(x) if is_tensor(x) else x).tolist()
    return tuple(found) if isinstance(found, list) else int(found)


def shape_of(shape):
    """A shape as a tuple; a number stands for one dimension."""
    found = integers(shape.as_list() if isinstance(shape, tf.TensorShape) else shape)
    return found if isinstance(found, tuple) else (found,)


def size_of(tensor):
    """The number of elements."""
    return int(np.prod(tuple(tensor.shape), dtype=np.int64))


@numpy_names("result_type")
def result_type(*arrays_and_dtypes):
    """The dtype that promotion gives for these arrays and dtypes together."""
    return tf.as_dtype(promoted_dtype(*arrays_and_dtypes))


@numpy_names("promote_types")
def promote_types(type1, type2):
    """The smallest NumPy dtype to which both can be cast."""
    return np.promote_types(numpy_dtype(type1), numpy_dtype(type2))


@numpy_names("finfo")
def finfo(dtype):
    """Limits of a floating dtype, as NumPy tells them."""
    return np.finfo(numpy_dtype(dtype))


@numpy_names("array")
def array(val, dtype=None, copy=True, ndmin=0):
    """A tensor of `val`, which may be a tensor, an array, a number or nested sequences of them."""
    tensor = as_tensor(val, None if dtype is None else numpy_dtype(dtype))
    if copy and tensor is val:
        tensor = tf.identity(tensor)
    missing = ndmin - tensor.ndim
    return tf.reshape(tensor, (1,) * missing + tuple(tensor.shape)) if missing > 0 else tensor


@numpy_names("asarray asanyarray")
def asarray(a, dtype=None):
    """A tensor of `a`, which stays the same tensor if it is one of that dtype."""
    return as_tensor(a, None if dtype is None else numpy_dtype(dtype))


@numpy_names("ascontiguousarray")
def ascontiguousarray(a, dtype=None):
    """A tensor of at least one dimension."""
    return array(a, dtype, copy=False, ndmin=1)


@numpy_names("copy")
def copy(a):
    """A new tensor of the same value."""
    return array(a)
