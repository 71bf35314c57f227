"""Python numbers that are inputs of a graph, so that each new value does not need a new trace.

To the traced function such a number looks like an int or a float. Where it meets tensors it becomes
a tensor of their dtype, and the graph takes whatever value a call gives. So it does where numbers
are added, subtracted, multiplied, divided and compared. Any other use sees the value itself, which
the trace then relies on.
"""

import operator
from typing import Any

import numpy as np

from ..core.active import thread
from ..core.convert import to_value
from ..core.tensor import EagerTensor
from ..ops import arithmetic, logic
from ..ops.casting import cast_row
from .symbolic import SymbolicTensor

_INT32 = range(-(2**31), 2**31)
# Beyond it, a float has no default tensor.
_LARGEST_FLOAT = 3.4e38
_FLOAT64, _INT64 = np.dtype(np.float64), np.dtype(np.int64)


def may_vary(item):
    """Whether a value is a number that can be an input of a graph."""
    if type(item) is int:
        return item in _INT32
    return type(item) is float and (abs(item) <= _LARGEST_FLOAT or item != item)


def as_input(number):
    """The tensor that gives a number to a graph."""
    return EagerTensor(np.int64(number) if type(number) is int else np.float64(number))


def as_number(tensor, cls) -> Any:
    """What the traced function gets for such a tensor; outside of a trace the number itself."""
    if type(tensor) is SymbolicTensor:
        return NumberInput(tensor, cls)
    return cls(tensor._value)


class NumberInput:
    """A number of class `cls` whose value is that of a float64 or int64 tensor of a trace."""

    # Where it meets a tensor it takes that one's dtype, as a Python number does.
    _takes_any_dtype = True
    __array_priority__ = 50
    __slots__ = ("_cls", "_tensor")

    def __init__(self, tensor, cls):
        self._tensor = tensor
        self._cls = cls

    @property
    def __class__(self):  # for isinstance(number, int)
        return self._cls

    def _real(self):
        """The number in this call, without relying on it."""
        return self._cls(self._tensor._value._real)

    def _number(self):
        """The number, on which the trace relies from now on."""
        return self._cls(self._tensor._known())

    def _to_tensor(self, dtype):
        # The conversion of the value itself says what cannot be converted, and the default dtype.
        goal = to_value(self._real(), dtype).dtype
        trace = thread.trace
        if trace is None:
            return EagerTensor(to_value(self._number(), dtype))
        return _cast(self._tensor, goal)

    # Arithmetic --------------------------------------------------------------------------------

    def _combined(self, other, operation, row, swapped):
        """The result as another such number, where tensors compute just what Python does."""
        if not _is_number(other):
            return NotImplemented
        if thread.trace is None or not (type(other) is NumberInput or may_vary(other)):
            return _apply(operation, self._number(), _plain(other), swapped)
        by_division = operation is operator.truediv
        if by_division and not (self if swapped else other):  # an error, and the way to it
            return _apply(operation, self._number(), _plain(other), swapped)
        is_float = by_division or float in (self._cls, _class_of(other))
        cls: type = float if is_float else int
        dtype = _FLOAT64 if cls is float else _INT64
        pair = [_cast(_tensor_of(x), dtype) for x in (self, other)]
        result = NumberInput(_quietly(row, *(reversed(pair) if swapped else pair)), cls)
        return result if _stays_in_range(result) else result._number()

    def _compared(self, other, operation, row):
        if not _is_number(other):
            return NotImplemented
        if thread.trace is None or not (type(other) is NumberInput or may_vary(other)):
            return operation(self._number(), _plain(other))
        return bool(_quietly(row, *[_cast(_tensor_of(x), _FLOAT64) for x in (self, other)]))

    def __neg__(self):
        if self._cls is int:
            return self._combined(0, operator.sub, arithmetic.sub, swapped=True)
        return self._combined(-1.0, operator.mul, arithmetic.mul, swapped=False)

    def __pos__(self):
        return self

    def __bool__(self):
        return self != 0

    # Everything else relies on the value -------------------------------------------------------

    def __hash__(self):
        return hash(self._number())

    def __repr__(self):
        return repr(self._number())

    def __str__(self):
        return str(self._number())

    def __format__(self, spec):
        return format(self._number(), spec)

    def __index__(self):
        return operator.index(self._number())

    def __int__(self):
        return int(self._number())

    def __float__(self):
        return float(self._number())

    def __complex__(self):
        return complex(self._number())

    def __array__(self, dtype=None, copy=None):
        return np.array(self._number(), dtype)

    def __getattr__(self, name):
        if not hasattr(self._cls, name):
            raise AttributeError(f"'{self._cls.__name__}' object has no attribute '{name}'")
        return getattr(self._number(), name)

    def __reduce__(self):
        return self._cls, (self._number(),)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


def _is_number(item):
    return type(item) in (int, float, bool, NumberInput)


def _class_of(item):
    return item._cls if type(item) is NumberInput else type(item)


def _plain(item):
    return item._number() if type(item) is NumberInput else item


def _tensor_of(item):
    return item._tensor if type(item) is NumberInput else as_input(item)


def _apply(operation, own, other, swapped):
    return operation(other, own) if swapped else operation(own, other)


def _cast(tensor, dtype):
    if tensor._value.dtype == dtype:
        return tensor
    return _quietly(lambda x: cast_row(x, dtype=dtype), tensor)


def _quietly(row, *tensors):
    """Applies a row as part of the trace; tapes have nothing to do with Python's numbers."""
    recorders, thread.recorders = thread.recorders, ()
    try:
        return row(*tensors)
    finally:
        thread.recorders = recorders


def _stays_in_range(number):
    """Whether a result may be used as the numbers it came from; a guard has it stay so."""
    if number._cls is int:
        low, high = as_input(_INT32[0]), as_input(_INT32[-1])
    else:
        low, high = as_input(-_LARGEST_FLOAT), as_input(_LARGEST_FLOAT)
    tensor = number._tensor
    fits = _quietly(logic.less_equal, low, tensor), _quietly(logic.less_equal, tensor, high)
    return bool(fits[0]) and bool(fits[1])


def _add_operators():
    for name, operation, row in (
        ("add", operator.add, arithmetic.add),
        ("sub", operator.sub, arithmetic.sub),
        ("mul", operator.mul, arithmetic.mul),
        ("truediv", operator.truediv, arithmetic.real_div),
    ):
        for swapped in (False, True):

            def combine(self, other, operation=operation, row=row, swapped=swapped):
                return self._combined(other, operation, row, swapped)

            setattr(NumberInput, f"__{'r' if swapped else ''}{name}__", combine)
    for name, operation, row in (
        ("lt", operator.lt, logic.less),
        ("le", operator.le, logic.less_equal),
        ("gt", operator.gt, logic.greater),
        ("ge", operator.ge, logic.greater_equal),
        ("eq", operator.eq, logic.equal),
        ("ne", operator.ne, logic.not_equal),
    ):

        def compare(self, other, operation=operation, row=row):
            return self._compared(other, operation, row)

        setattr(NumberInput, f"__{name}__", compare)
    for name in ("floordiv", "mod", "pow", "divmod", "and", "or", "xor", "lshift", "rshift"):

        def by_value(self, other, name=f"__{name}__"):
            return getattr(self._number(), name)(_plain(other))

        def by_value_swapped(self, other, name=f"__r{name}__"):
            return getattr(self._number(), name)(_plain(other))

        setattr(NumberInput, f"__{name}__", by_value)
        setattr(NumberInput, f"__r{name}__", by_value_swapped)
    for name in ("abs", "invert", "round", "trunc", "floor", "ceil"):

        def of_value(self, *arguments, name=f"__{name}__"):
            return getattr(self._number(), name)(*arguments)

        setattr(NumberInput, f"__{name}__", of_value)


_add_operators()
