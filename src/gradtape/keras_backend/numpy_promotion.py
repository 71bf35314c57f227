"""Which dtype comes out of Keras's NumPy functions, and the operands cast to it."""

from keras.src.backend import config
from keras.src.backend.common import dtypes

import gradtape as tf

from .core import Variable, convert_to_tensor

# Python numbers are weak: beside a tensor they take its dtype, if that can hold their kind.
_NUMBERS = {bool: 0, int: 1, float: 2}
_KINDS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def dense(x):
    """`x` as a tensor, also if it is sparse."""
    if isinstance(x, tf.Tensor):
        return x
    if isinstance(x, Variable):
        return x._read()  # as an op reads it: that the value was copied need not be recorded
    return convert_to_tensor(x, sparse=False)


def kind(dtype_name):
    """0 for bool, 1 for integers, 2 for floats, 3 for complex numbers."""
    return 2 if dtype_name == "bfloat16" else _KINDS[dtype_name[0]]


def operands(*values):
    """Tensors, and Python numbers as they are."""
    return [x if type(x) in _NUMBERS else dense(x) for x in values]


def common_dtype(*values):
    """The dtype of tensors and Python numbers together.

    It is Keras's, but one that all tensors share is kept at 64 bits too.
    """
    types = [type(x) if type(x) in _NUMBERS else x.dtype.name for x in values]
    strong = {each for each in types if isinstance(each, str)}
    if len(strong) == 1:
        (name,) = strong
        if all([_NUMBERS.get(each, 0) <= kind(name) for each in types]):
            return name
    return dtypes.result_type(*types)


def promoted(*values):
    """Tensors of one dtype."""
    found = operands(*values)
    if all([isinstance(x, tf.Tensor) for x in found]) and len({x.dtype for x in found}) == 1:
        return found  # the usual case: layers compute in one dtype throughout
    dtype = common_dtype(*found)
    return [_as_dtype(x, dtype) for x in found]


def _as_dtype(x, dtype):
    if isinstance(x, tf.Tensor):
        return x if x.dtype.name == dtype else tf.cast(x, dtype)
    # Only integers may be out of range, and then wrap around.
    return tf.constant(float(x), dtype) if kind(dtype) >= 2 else convert_to_tensor(x, dtype)


def as_floats(x):
    """A tensor that is cast to Keras's default float, unless it is floating or complex."""
    x = dense(x)
    return x if kind(x.dtype.name) >= 2 else tf.cast(x, config.floatx())


def promoted_floats(*values):
    """Tensors of one dtype that is floating or complex."""
    return [as_floats(x) for x in promoted(*values)]


def as_numbers(x):
    """A tensor in which booleans are int32."""
    x = dense(x)
    return tf.cast(x, "int32") if x.dtype.is_bool else x
