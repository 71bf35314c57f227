"""Cast: between dtypes; gradients pass between floating and complex types only."""

from functools import cache

import numpy as np

from ..core import dtypes, log
from ..core.convert import convert_to_tensor
from ..core.dispatch import apply
from ..core.errors import unimplemented
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import Tensor
from .families import linear

# Of the experimental dtypes TensorFlow casts four: two of floats and two of integers.
_FLOAT8 = dtypes.numpy_set(dtypes.as_dtype("float8_e5m2"), dtypes.as_dtype("float8_e4m3fn"))
_INT4 = dtypes.numpy_set(dtypes.as_dtype("int4"), dtypes.as_dtype("uint4"))
_WIDE = ("float32", "float64")
_INTEGERS = dtypes.INTEGER | _INT4
_NUMBERS = dtypes.NUMERIC | dtypes.BOOL


@cache
def _can_be_cast(source, goal):
    if source in _NUMBERS or source in _FLOAT8:
        if goal in _NUMBERS:
            return True
        if goal in _FLOAT8:
            return source in dtypes.FLOATING or source in _FLOAT8
    return source in _INTEGERS and goal in _INTEGERS


def _infer(x, *, dtype):
    if x.dtype != dtype and not _can_be_cast(x.dtype, dtype):
        source, goal = dtypes.of_numpy(x.dtype), dtypes.of_numpy(dtype)
        raise unimplemented(
            "Cast", f"Cast {source.runtime_word} to {goal.runtime_word} is not supported"
        )
    return Spec(x.shape, dtype)


@cache
def _is_silent(source, goal):
    """Whether NumPy has nothing to warn of, whatever the numbers: they fit, or wrap around."""
    if source.isbuiltin != 1:
        return False
    from_integers = source.kind in "biu" and (goal.kind in "biu" or goal.name in _WIDE)
    return from_integers or np.can_cast(source, goal)


def _cast(x, dtype):
    if _is_silent(x.dtype, dtype):
        return x.astype(dtype)
    with np.errstate(all="ignore"):
        if x.dtype in _INT4:
            return x.astype(np.int8).astype(dtype)
        if x.dtype.kind == "c" and dtype.kind != "c":
            x = x.real
        elif x.dtype.kind == "c" or dtype.kind not in "iu":
            return x.astype(dtype)
        elif x.dtype.isbuiltin == 2:  # floats that are not NumPy's go to integers through float32
            x = x.astype(np.float32)
        return x.astype(dtype)


def _transpose(g, x_dtype, *, dtype):
    if x_dtype not in dtypes.DIFFERENTIABLE or dtype not in dtypes.DIFFERENTIABLE:
        return None
    if dtype.kind == "c" and x_dtype.kind != "c":
        _warn_of_lost_part(dtypes.of_numpy(dtype), dtypes.of_numpy(x_dtype))
    return cast_row(g, dtype=x_dtype)


cast_row = linear(
    "Cast",
    _cast,
    infer=_infer,
    transpose=_transpose,
    batch=lambda op, values, flags, attrs: op.call(values[0], **attrs),
    raw="x, DstT:dtype, Truncate:=False",
)


def _warn_of_lost_part(source, goal):
    log.warn(
        f"You are casting an input of type {source.name} to an incompatible dtype {goal.name}.  "
        "This will discard the imaginary part and may not be what you intended."
    )


@export("cast dtypes.cast")
def cast(x, dtype, name=None):
    """Converts a tensor to another dtype; a tensor that has it already is returned itself.

    Raises:
        TypeError: there is no such dtype.
        UnimplementedError: strings cannot be cast; see `tf.strings.to_number`.
    """
    goal = dtypes.as_dtype(dtype)
    if hasattr(x, "_dispatch"):
        return x if x.dtype is goal else apply(cast_row.op, (x,), {"dtype": goal.numpy_dtype})
    if getattr(x, "_is_sparse_update", False):
        parts = x._components()
        return x._from_components([cast(parts[0], goal), *parts[1:]])
    if not isinstance(x, Tensor):
        x = convert_to_tensor(x)
    if x.dtype is goal:
        return x
    if x.dtype.is_complex and not goal.is_complex:
        _warn_of_lost_part(x.dtype, goal)
    return apply(cast_row.op, (x,), {"dtype": goal.numpy_dtype})


@export("saturate_cast dtypes.saturate_cast")
def saturate_cast(value, dtype, name=None):
    """Converts to another dtype, clamping what lies outside its range."""
    from .arithmetic import maximum, minimum

    value = convert_to_tensor(value)
    goal = dtypes.as_dtype(dtype)
    if value.dtype.is_complex or not (goal.is_floating or goal.is_integer):
        return cast(value, goal)
    low, high = max(value.dtype.min, goal.min, key=float), min(value.dtype.max, goal.max, key=float)
    source = value.dtype.numpy_dtype.type
    if value.dtype.min < low:
        value = maximum(value, source(low))
    if value.dtype.max > high:
        value = minimum(value, _largest_below(high, source))
    return cast(value, goal)


def _largest_below(limit, source):
    """`limit` in a type that may round it up past itself."""
    bound = source(limit)
    return np.nextafter(bound, source(0)) if int(bound) > limit else bound
