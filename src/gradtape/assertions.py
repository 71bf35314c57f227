"""`tf.debugging.assert_*`: what holds of tensors, said in code and checked at every call."""

from collections.abc import Iterable

import ml_dtypes
import numpy as np

from .core import dtypes
from .core.convert import convert_to_tensor, operands
from .core.effects import perform
from .core.errors import InvalidArgumentError
from .core.exports import export
from .core.tensor import EagerTensor, Tensor
from .core.variable import Variable
from .ops import elementwise, logic
from .ops.arithmetic import add, mul, sub

_FIRST = 3  # how many entries a message shows unless `summarize` says another number


def _arrays(x, y):
    x, y = operands(x, y)
    return convert_to_tensor(x), convert_to_tensor(y)


def _broken(message):
    return InvalidArgumentError(None, None, message)


# Two tensors, entry by entry ----------------------------------------------------------------------


def _compare(sign, holds, x, y, message, summarize):
    x, y = _arrays(x, y)

    def check(x, y, held):
        if not np.all(held):
            raise _broken(_comparison(sign, held, np.asarray(x), np.asarray(y), message, summarize))
        return ()

    perform("Assert", check, (x, y, holds(x, y)))


def _comparison(sign, held, x, y, message, summarize):
    """What to say where two arrays do not compare as they should."""
    lines = [message] if message else []
    lines.append(f"Condition x {sign} y did not hold.")
    shown = _FIRST if summarize is None else summarize
    shown = max(x.size, y.size) if shown < 0 else shown
    if x.shape == y.shape:
        where = np.argwhere(~np.asarray(held))[:shown]
        at = tuple(where.T)
        lines += [
            f"Indices of first {len(where)} different values:",
            f"{where}",
            "Corresponding x values:",
            f"{x[at].reshape(len(where))}",
            "Corresponding y values:",
            f"{y[at].reshape(len(where))}",
        ]
    for name, value in (("x", x), ("y", y)):
        count = min(shown, value.size)
        lines += [f"First {count} elements of {name}:", f"{value.reshape(-1)[:count]}"]
    return "\n".join(lines)


@export("debugging.assert_equal assert_equal")
def assert_equal(x, y, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x == y` everywhere."""
    _compare("==", logic.equal, x, y, message, summarize)


@export("debugging.assert_none_equal")
def assert_none_equal(x, y, summarize=None, message=None, name=None):
    """Raises InvalidArgumentError unless `x != y` everywhere."""
    _compare("!=", logic.not_equal, x, y, message, summarize)


@export("debugging.assert_less assert_less")
def assert_less(x, y, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x < y` everywhere."""
    _compare("<", logic.less, x, y, message, summarize)


@export("debugging.assert_less_equal")
def assert_less_equal(x, y, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x <= y` everywhere."""
    _compare("<=", logic.less_equal, x, y, message, summarize)


@export("debugging.assert_greater assert_greater")
def assert_greater(x, y, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x > y` everywhere."""
    _compare(">", logic.greater, x, y, message, summarize)


@export("debugging.assert_greater_equal")
def assert_greater_equal(x, y, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x >= y` everywhere."""
    _compare(">=", logic.greater_equal, x, y, message, summarize)


@export("debugging.assert_near")
def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `|x - y| <= atol + rtol * |y|` everywhere.

    Args:
        x: a floating tensor.
        y: a tensor of its dtype.
        rtol: the relative tolerance; 10 times the dtype's machine epsilon if None.
        atol: the absolute one, likewise.
        message: what the error starts with.
        summarize: how many entries it shows.
    """
    x = convert_to_tensor(x)
    y = convert_to_tensor(y, x.dtype)
    rtol, atol = [_tolerance(value, x.dtype) for value in (rtol, atol)]
    limit = add(atol, mul(rtol, elementwise.abs_(y)))
    held = logic.less(elementwise.abs_(sub(x, y)), limit)

    def check(*arrays):
        x, y, rtol, atol, held = map(EagerTensor, arrays)
        if not np.all(held._value):
            raise _broken(
                f"{_prefix(message)}\nx and y not equal to tolerance rtol = {rtol!s}, "
                f"atol = {atol!s}\n{_shown('x', x, summarize)}\n{_shown('y', y, summarize)}"
            )
        return ()

    perform("Assert", check, (x, y, rtol, atol, held))


def _tolerance(value, dtype):
    if value is not None:
        return convert_to_tensor(value, dtype)
    if not dtype.is_floating:
        raise ValueError(
            f"assert_near takes floating tensors unless both tolerances are given. "
            f"Received: {dtype.name}"
        )
    return convert_to_tensor(10 * float(ml_dtypes.finfo(dtype.numpy_dtype).eps), dtype)


def _shown(name, tensor, summarize):
    value = np.asarray(tensor.numpy()).reshape(-1)
    count = _FIRST if summarize is None else summarize
    count = value.size if count < 0 else count
    entries = [str(entry) for entry in value[:count]] + (["..."] if value.size > count else [])
    return f"{name} (shape={tensor.shape} dtype={tensor.dtype.name}) = \n{entries}"


# One tensor against zero --------------------------------------------------------------------------


def _against_zero(sign, holds, x, message, summarize):
    def check(value):
        if not np.all(holds(value, value.dtype.type(0))):
            raise _broken(
                f"{_prefix(message)}\nCondition x {sign} 0 did not hold element-wise:\n"
                f"{_shown('x', EagerTensor(value), summarize)}"
            )
        return ()

    perform("Assert", check, (convert_to_tensor(x),))


@export("debugging.assert_negative")
def assert_negative(x, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x < 0` everywhere."""
    _against_zero("<", np.less, x, message, summarize)


@export("debugging.assert_positive")
def assert_positive(x, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x > 0` everywhere."""
    _against_zero(">", np.greater, x, message, summarize)


@export("debugging.assert_non_negative")
def assert_non_negative(x, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x >= 0` everywhere."""
    _against_zero(">=", np.greater_equal, x, message, summarize)


@export("debugging.assert_non_positive")
def assert_non_positive(x, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x <= 0` everywhere."""
    _against_zero("<=", np.less_equal, x, message, summarize)


# Dtypes and ranks ---------------------------------------------------------------------------------


def _prefix(message):
    return f"{message}.  " if message else ""


@export("debugging.assert_integer")
def assert_integer(x, message=None, name=None):
    """Raises TypeError unless `x` is a tensor of integers."""
    dtype = convert_to_tensor(x).dtype
    if not dtype.is_integer:
        raise TypeError(
            f'{_prefix(message)}Expected "x" to be integer type.  Found: tensor of dtype {dtype}'
        )


@export("debugging.assert_type")
def assert_type(tensor, tf_type, message=None, name=None):
    """Raises TypeError unless the tensor has the dtype `tf_type`."""
    expected, found = dtypes.as_dtype(tf_type), convert_to_tensor(tensor).dtype
    if found != expected:
        raise TypeError(f"{_prefix(message)}tensor must be of type {expected!r}; got {found!r}")


@export("debugging.assert_same_float_dtype")
def assert_same_float_dtype(tensors=None, dtype=None):
    """The one floating dtype of all tensors.

    Args:
        tensors: tensors; None among them are passed over.
        dtype: the dtype they must have; that of the first if None, float32 if there is none.

    Raises:
        ValueError: their dtypes differ, or are not floating.
    """
    expected = None if dtype is None else dtypes.as_dtype(dtype)
    first = None
    for tensor in tensors or ():
        if tensor is None:
            continue
        if expected is None:
            expected, first = tensor.dtype, tensor
        elif tensor.dtype != expected:
            beside = "" if first is None else f" as {first!s}"
            raise ValueError(
                f"{tensor!s}, type={tensor.dtype}, must be of the same type ({expected}){beside}."
            )
    expected = dtypes.float32 if expected is None else expected
    if not expected.is_floating:
        raise ValueError(f"Expected floating point type, got {expected}.")
    return expected


@export("debugging.is_numeric_tensor")
def is_numeric_tensor(tensor):
    """Whether `tensor` is a tensor of numbers."""
    if not isinstance(tensor, (Tensor, Variable)):
        return False
    dtype = tensor.dtype
    return dtype.is_floating or dtype.is_integer or dtype.is_complex


@export("debugging.assert_proper_iterable")
def assert_proper_iterable(values):
    """Raises TypeError unless `values` is iterable, and neither a string nor a tensor."""
    if isinstance(values, (Tensor, Variable, str, bytes, np.ndarray)):
        raise TypeError(
            'Expected argument "values" to be a "proper" iterable.  Found: ' + str(type(values))
        )
    if not isinstance(values, Iterable):
        raise TypeError('Expected argument "values" to be iterable.  Found: ' + str(type(values)))


def _as_rank(rank):
    rank = convert_to_tensor(rank)
    if rank.dtype != dtypes.int32:
        raise TypeError(f"tensor must be of type tf.int32; got {rank.dtype!r}")
    if rank.ndim:
        raise ValueError("Rank must be a scalar.")
    return int(rank)


def _check_rank(x, holds, expected, message):
    shape = tuple(convert_to_tensor(x).shape)
    if not holds(len(shape)):
        raise ValueError(
            f"{_prefix(message)}Tensor  must have rank {expected}.  Received rank {len(shape)}, "
            f"shape {shape}"
        )


@export("debugging.assert_rank assert_rank")
def assert_rank(x, rank, message=None, name=None):
    """Raises ValueError unless `x` has exactly this rank."""
    rank = _as_rank(rank)
    _check_rank(x, lambda found: found == rank, str(rank), message)


@export("debugging.assert_rank_at_least")
def assert_rank_at_least(x, rank, message=None, name=None):
    """Raises ValueError unless `x` has this rank or a higher one."""
    rank = _as_rank(rank)
    _check_rank(x, lambda found: found >= rank, f"at least {rank}", message)


@export("debugging.assert_rank_in")
def assert_rank_in(x, ranks, message=None, name=None):
    """Raises ValueError unless the rank of `x` is one of `ranks`."""
    ranks = tuple([_as_rank(rank) for rank in ranks])
    _check_rank(x, lambda found: found in ranks, f"in {ranks}", message)


@export("debugging.assert_scalar")
def assert_scalar(tensor, message=None, name=None):
    """Raises ValueError unless the tensor is a scalar."""
    tensor = convert_to_tensor(tensor)
    if tensor.ndim:
        raise ValueError(f"{_prefix(message)}Expected scalar shape, saw shape: {tensor.shape}.")


# Shapes that share their dimensions ---------------------------------------------------------------


@export("debugging.assert_shapes")
def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Raises ValueError unless tensors have these shapes, with equal symbols for equal sizes.

    Args:
        shapes: pairs of a tensor and its shape (or a mapping): each dimension a size, a symbol
            such as `"N"`, or None for any; the first may be `...` or `"*"` for any number more.
        data: what to print besides; accepted, as everything needed is in the message.
        summarize: accepted likewise.
        message: what the error starts with.
        name: not used.

    Example:
        >>> tf.debugging.assert_shapes([(x, ("N", "D")), (weights, ("D", 10))])
    """
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    known = {}
    for value, expected in pairs:
        _check_shape(convert_to_tensor(value), expected, known, message)


def _check_shape(tensor, expected, known, message):
    shown = f"Tensor shape={tensor.shape} dtype={tensor.dtype.name}"
    if not hasattr(expected, "__iter__") and not hasattr(expected, "__getitem__"):
        raise ValueError(
            f"{_prefix(message)}{shown}.  Specified shape must be an iterable.  An iterable has "
            "the attribute `__iter__` or `__getitem__`.  Received specified shape: "
            f"{expected}"
        )
    expected, shape = list(expected), tuple(tensor.shape)
    any_lead = bool(expected) and _is_any_number(expected[0])
    rest = expected[1:] if any_lead else expected
    for position, symbol in enumerate(rest, any_lead):
        if _is_any_number(symbol):
            raise ValueError(
                f"{_prefix(message)}{shown} specified shape index {position}.  Symbol `...` or `*` "
                "for a variable number of unspecified dimensions is only allowed as the first entry"
            )
    if any_lead:
        assert_rank_at_least(tensor, len(rest), message)
    elif len(rest) == 1:
        assert_rank_in(tensor, (0, 1), message)  # a scalar counts as a vector of one entry
        shape = shape or (1,)
    else:
        assert_rank(tensor, len(rest), message)
    offset = len(shape) - len(rest)
    for i, symbol in enumerate(rest):
        if symbol is None:
            continue
        size, axis = shape[offset + i], i - len(rest) if any_lead else i
        if isinstance(symbol, (int, np.integer)) or (isinstance(symbol, str) and symbol.isdigit()):
            source, wanted = "Specified explicitly", int(symbol)
        else:
            source, wanted = known.setdefault(
                symbol, (f"Specified by {shown.lower()} dimension {axis}", size)
            )
        if size != wanted:
            raise ValueError(
                f"{_prefix(message)}{source}.  {shown} dimension {axis} must have size {wanted}.  "
                f"Received size {size}, shape {tensor.shape}"
            )


def _is_any_number(symbol):
    return symbol is Ellipsis or symbol == "*"
