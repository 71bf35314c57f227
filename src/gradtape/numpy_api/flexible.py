"""The promotion modes "all" and "safe" of binary operators.

Integers beside floats take the float's dtype, Python numbers take the tensor's where their kind
fits. "safe" allows only what loses no bits and widens no dtype.
"""

import ml_dtypes
import numpy as np

from ..core import dtypes
from .promotion import is_tensor

_KINDS = "biufc"
_BFLOAT16 = dtypes.bfloat16.numpy_dtype
_OF_PYTHON = {
    bool: np.dtype(np.bool_),
    int: np.dtype(np.int32),
    float: np.dtype(np.float32),
    complex: np.dtype(np.complex128),
}


def _kind(dtype):
    return "f" if dtype == _BFLOAT16 else dtype.kind


def _is_integer(dtype):
    return dtype.kind in "iu"


def _together(a, b):
    """The dtype of two tensors."""
    if a == b:
        return a
    if a.kind == "b" or b.kind == "b":
        return b if a.kind == "b" else a
    if _is_integer(a) != _is_integer(b):
        return b if _is_integer(a) else a
    if {a, b} == {_BFLOAT16, np.dtype(np.float16)}:
        return np.dtype(np.float32)
    return np.promote_types(a, b)


def _with_number(dtype, weak):
    """The dtype of a tensor and a Python number of the dtype `weak`."""
    if _KINDS.index(weak.kind.replace("u", "i")) <= _KINDS.index(_kind(dtype)):
        return dtype
    if weak.kind == "f":
        return np.dtype(np.float64)
    if weak.kind == "c":
        single = _kind(dtype) == "f" and dtype.itemsize <= 4
        return np.dtype(np.complex64 if single else np.complex128)
    return weak


def _loses_nothing(dtype, result):
    """Whether every number of `dtype` is one of `result` too."""
    if not _is_integer(dtype) or _is_integer(result):
        return True
    digits = np.iinfo(dtype).max.bit_length()
    real = result.type(0).real.dtype if result.kind == "c" else result
    return digits <= ml_dtypes.finfo(real).nmant + 1


def dtype_of(x, y, mode):
    """The dtype in which a binary operator computes.

    Args:
        x: a tensor, array, Python number or sequence.
        y: the other operand.
        mode: `"all"` or `"safe"`.

    Raises:
        TypeError: the mode is `"safe"`, and bits might be lost.
    """
    (a, a_weak), (b, b_weak) = _dtype_and_weakness(x), _dtype_and_weakness(y)
    if a_weak == b_weak:
        result = _together(a, b)
        # Arrays are taken as they are: whoever made them chose their dtype.
        checked = [a, b] if is_tensor(x) and is_tensor(y) else []
    else:
        strong, weak = (b, a) if a_weak else (a, b)
        result = _with_number(strong, weak)
        checked = [strong]
    safe = not checked or (
        result in (a, b) and all([_loses_nothing(dtype, result) for dtype in checked])
    )
    if mode == "safe" and not safe:
        raise TypeError(
            "In promotion mode PromoMode.SAFE, implicit dtype promotion between "
            f"(<dtype: '{dtypes.of_numpy(a).name}'>, weak={a_weak}) and "
            f"(<dtype: '{dtypes.of_numpy(b).name}'>, weak={b_weak}) is disallowed. "
            "You need to explicitly specify the dtype in your op, or relax your dtype promotion "
            "rules (such as from SAFE mode to ALL mode)."
        )
    return result


def _dtype_and_weakness(value):
    """The dtype of an operand; that of Python numbers, also in lists, is weak."""
    if is_tensor(value):
        return value.dtype.numpy_dtype, False
    if isinstance(value, (list, tuple)):
        items = [_dtype_and_weakness(item) for item in value] or [(_OF_PYTHON[float], True)]
        return max(items, key=lambda item: (not item[1], _KINDS.index(_kind(item[0]))))
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype, False
    return _OF_PYTHON[type(value)], True
