"""tf.experimental.numpy.experimental_enable_numpy_behavior: tensors that act like arrays.

Methods and promoting operators are set on the classes when it is called, so that nothing is slower
before.
"""

import functools
from typing import Any

import numpy as np

import gradtape as tf

from ..core import log
from ..core.exports import PUBLIC
from ..core.tensor import Tensor
from ..core.variable import Variable
from . import flexible, indexing, pairs, products, reductions, shaping
from .names import numpy_names
from .promotion import Defaults, as_tensor, numpy_dtype, promoted_dtype

_MODES = ("off", "legacy", "safe", "all")
_OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lt le gt ge eq ne"
# Functions that promote as operators do in the modes "all" and "safe".
_FUNCTIONS = """
add math.add subtract math.subtract multiply math.multiply divide math.divide truediv math.truediv
math.floordiv math.floormod math.mod maximum math.maximum minimum math.minimum pow math.pow
math.squared_difference matmul linalg.matmul equal math.equal not_equal math.not_equal less
math.less less_equal math.less_equal greater math.greater greater_equal math.greater_equal
"""

_ORIGINALS = {
    (cls, method): vars(cls)[method]
    for cls in (Tensor, Variable)
    for name in _OPERATORS.split()
    for method in (f"__{name}__", f"__r{name}__")
    if method in vars(cls)
}
_getitem = Tensor.__getitem__


@numpy_names("experimental_enable_numpy_behavior")
def enable_numpy_behavior(prefer_float32=False, dtype_conversion_mode="legacy"):
    """Gives tensors NumPy's methods, indexing and promotion, for the whole process.

    Args:
        prefer_float32: whether Python floats count as float32 rather than float64.
        dtype_conversion_mode: how operators promote. `"legacy"`: as NumPy does. `"all"`: integers
            beside floats take the float's dtype. `"safe"`: likewise, where no bits can be lost;
            TypeError otherwise. `"off"`: not at all.

    Raises:
        ValueError: there is no such mode.
    """
    if dtype_conversion_mode not in _MODES:
        raise ValueError(
            f"dtype_conversion_mode is one of {_MODES}. Received: {dtype_conversion_mode!r}"
        )
    if dtype_conversion_mode in ("safe", "all"):
        log.warn(
            "UserWarning: enabling the new type promotion must happen at the beginning of the "
            "program. Please ensure no TF APIs have been used yet."
        )
    Defaults.prefer_float32 = bool(prefer_float32)
    Defaults.narrow = dtype_conversion_mode in ("safe", "all")
    for name, method in _METHODS.items():
        setattr(Tensor, name, method)
    _set_operators(dtype_conversion_mode)
    _set_functions(dtype_conversion_mode)


# Operators ----------------------------------------------------------------------------------------


def _set_operators(mode):
    for (cls, method), original in _ORIGINALS.items():
        setattr(cls, method, original if mode == "off" else _promoting(method, original, mode))


def _promoting(method, original, mode):
    """The operator after promotion of its operands."""

    def operator(self, other):
        if not _is_operand(other):
            return original(self, other)
        return compute(*_together(self, other, mode))

    compute: Any = original
    if method in ("__mul__", "__rmul__"):  # of booleans, whether both hold
        compute = functools.partial(_product, original)
    elif mode == "legacy" and method == "__matmul__":  # of vectors too
        compute = products.matmul
    elif mode == "legacy" and method == "__rmatmul__":
        compute = _reflected_matmul
    return operator


def _product(multiply, x, y):
    return tf.logical_and(x, y) if x.dtype.is_bool else multiply(x, y)


def _reflected_matmul(x, y):
    return products.matmul(y, x)


def _is_operand(value):
    if isinstance(value, (list, tuple, bool, int, float, complex, np.ndarray, np.generic)):
        return True
    return isinstance(value, (Tensor, Variable))


def _together(x, y, mode):
    dtype = promoted_dtype(x, y) if mode == "legacy" else flexible.dtype_of(x, y, mode)
    return as_tensor(x, dtype), as_tensor(y, dtype)


_plain_functions: dict = {}


def _set_functions(mode):
    """Makes public functions promote, or puts back those that do not."""
    for dotted in _FUNCTIONS.split():
        path, _, name = dotted.rpartition(".")
        module = getattr(tf, path) if path else tf
        plain = _plain_functions.setdefault(dotted, getattr(module, name))
        function = _promoting_function(plain, mode) if mode in ("safe", "all") else plain
        PUBLIC[dotted] = function
        setattr(module, name, function)


def _promoting_function(plain, mode):
    def function(x, y, *args, **kwargs):
        if _is_operand(x) and _is_operand(y):
            x, y = _together(x, y, mode)
        return plain(x, y, *args, **kwargs)

    function.__name__, function.__doc__ = plain.__name__, plain.__doc__
    return function


# Methods ------------------------------------------------------------------------------------------


def _getitem_as_numpy(self, key):
    """A part of the tensor; arrays and masks in the key select as in NumPy."""
    return (
        indexing.indexed(self, key, _getitem) if indexing.is_advanced(key) else _getitem(self, key)
    )


def _astype(self, dtype):
    """The tensor cast to another dtype."""
    return tf.cast(self, numpy_dtype(dtype) if dtype is int else dtype)


def _reshape(self, *newshape, **kwargs):
    """The tensor in another shape, given as one argument or several."""
    shape = newshape[0] if len(newshape) == 1 else newshape
    return shaping.reshape(self, shape, **kwargs)


def _clip(self, a_min, a_max):
    """The elements kept between two bounds."""
    return pairs.clip(self, a_min, a_max)


def _tolist(self):
    """The elements as nested lists of Python numbers."""
    return np.asarray(self).tolist()


_METHODS = {
    "T": property(shaping.transpose, doc="The tensor with its axes reversed."),
    "data": property(tf.identity, doc="The tensor."),
    "size": property(lambda self: np.int64(reductions.size(self)), doc="The number of elements."),
    "astype": _astype,
    "clip": _clip,
    "flatten": shaping.flatten,
    "max": reductions.max_,
    "mean": reductions.mean,
    "min": reductions.min_,
    "ravel": shaping.ravel,
    "reshape": _reshape,
    "tolist": _tolist,
    "transpose": shaping.transpose,
    "__pos__": tf.identity,
    "__getitem__": _getitem_as_numpy,
}
