"""Strings: case, lengths, parts, numbers, patterns and scripts.

A string tensor holds Python bytes, one by one; so do these kernels work.
"""

import functools
import re
from typing import Any

import numpy as np

from ..core import dtypes, regular_expressions, unicode_scripts
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .broadcasting import with_inner_rank, words
from .families import non_differentiable, shape_of
from .joining import all_batched
from .pointwise import broadcast_shape, dtype_mismatch

STRING: Any = dtypes.string.numpy_dtype
_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)


def string_operand(value):
    """A tensor or composite of strings.

    Raises:
        TypeError: it is a Python value that holds none.
    """
    if hasattr(value, "_dispatch_level"):
        return operand(value)
    return convert_to_tensor(value, None if hasattr(value, "dtype") else dtypes.string)


def mapped(function, x, dtype=STRING):
    """`function` of every string of an array, as an array of `dtype`."""
    x = np.asarray(x)
    out = np.empty(x.size, dtype)
    out[:] = [function(item) for item in x.reshape(-1)]
    out = out.reshape(x.shape)
    return out if out.ndim or dtype == STRING else out[()]


def check_strings(op_name, *inputs):
    """Raises TensorFlow's error for the first input that holds no strings."""
    for i, x in enumerate(inputs):
        if x.dtype != STRING:
            raise dtype_mismatch(op_name, i, STRING, x.dtype)


def check_attr(op_name, attr, value, allowed):
    """Raises TensorFlow's error for an attribute that is none of those allowed."""
    if value not in allowed:
        shown = ", ".join([f'"{each}"' for each in allowed])
        raise invalid_argument(
            op_name,
            f"Value for attr '{attr}' of \"{value}\" is not in the list of allowed values: {shown}",
        )


def each_string(name, function, dtype=STRING, inputs="input", check=None, raw=None):
    """Declares an op on every string by itself; `function` gets it and the attributes."""

    def infer(x, **attrs):
        check_strings(name, x)
        if check is not None:
            check(**attrs)
        return Spec(x.shape, attrs.get("out_type", dtype))

    def kernel(x, **attrs):
        goal = attrs.get("out_type", dtype)
        return mapped(functools.partial(function, **attrs) if attrs else function, x, goal)

    return non_differentiable(
        name, kernel, inputs=inputs, infer=infer, raw=raw,
        batch=lambda op, values, flags, attrs: op.call(values[0], **attrs),
    )  # fmt: skip


# Case and space -----------------------------------------------------------------------------------


def _check_encoding(op_name):
    def check(encoding):
        if encoding not in ("", "utf-8"):
            raise invalid_argument(
                op_name, f"only utf-8 or '' (no encoding) is supported, received {encoding}"
            )

    return check


def _cased(method):
    def change(item, encoding):
        if encoding:
            return getattr(item.decode("utf-8", "replace"), method)().encode()
        return getattr(item, method)()

    return change


_lower = each_string(
    "StringLower", _cased("lower"), check=_check_encoding("StringLower"), raw='input, encoding=""'
)
_upper = each_string(
    "StringUpper", _cased("upper"), check=_check_encoding("StringUpper"), raw='input, encoding=""'
)
_strip = each_string("StringStrip", bytes.strip)


@export("strings.lower")
def lower(input, encoding="", name=None):
    """Lower case: of ASCII letters, or with the encoding "utf-8" of all."""
    return apply(_lower.op, (string_operand(input),), {"encoding": encoding})


@export("strings.upper")
def upper(input, encoding="", name=None):
    """Upper case: of ASCII letters, or with the encoding "utf-8" of all."""
    return apply(_upper.op, (string_operand(input),), {"encoding": encoding})


@export("strings.strip")
def strip(input, name=None):
    """Without white space at either end."""
    return apply(_strip.op, (string_operand(input),))


# Lengths and parts --------------------------------------------------------------------------------

_UNITS = ("BYTE", "UTF8_CHAR")


def character_starts(item):
    """Where each UTF-8 character of a string begins."""
    return [i for i, byte in enumerate(item) if byte & 0xC0 != 0x80]


_length = each_string(
    "StringLength",
    lambda item, unit: len(item) if unit == "BYTE" else len(character_starts(item)),
    _INT32,
    check=lambda unit: check_attr("StringLength", "unit", unit, _UNITS),
    raw='input, unit="BYTE"',
)


@export("strings.length")
def length(input, unit="BYTE", name=None):
    """The number of bytes, or with the unit "UTF8_CHAR" of characters, of each string."""
    return apply(_length.op, (string_operand(input),), {"unit": unit})


def _infer_substr(input, pos, len, *, unit):
    check_strings("Substr", input)
    check_attr("Substr", "unit", unit, _UNITS)
    if pos.dtype != len.dtype or pos.dtype not in (_INT32, _INT64):
        raise dtype_mismatch("Substr", 2, pos.dtype, len.dtype)
    if pos.shape != len.shape:
        raise invalid_argument(
            "Substr",
            f"pos and len should have the same shape, got: {words(pos.shape)} vs. "
            f"{words(len.shape)}",
        )
    return Spec(broadcast_shape("Substr", input, pos), STRING)


def _substr(input, pos, len, unit):
    strings, starts, counts = np.broadcast_arrays(input, pos, len)
    out = np.empty(strings.size, STRING)
    flat = zip(strings.reshape(-1), starts.reshape(-1), counts.reshape(-1), strict=True)
    for i, (item, start, count) in enumerate(flat):
        marks = range(_size(item) + 1) if unit == "BYTE" else [*character_starts(item), _size(item)]
        total = _size(marks) - 1
        if not -total <= start <= total:
            shown = f" {item!r}" if unit == "BYTE" else ""
            raise invalid_argument(
                "Substr", f"pos {start} out of range for string{shown} at index {i}"
            )
        first = int(start) + total if start < 0 else int(start)
        end = total if count < 0 else min(first + int(count), total)
        out[i] = item[marks[first] : marks[end]]
    return out.reshape(strings.shape)


_size = len


def _batch_substr(op, values, flags, attrs):
    values = all_batched(values, flags)
    rank = max([len(shape_of(x)) for x in values]) - 1
    return op.call(*[with_inner_rank(x, rank) for x in values], **attrs)


_substr_row = non_differentiable(
    "Substr",
    _substr,
    inputs="input pos len",
    infer=_infer_substr,
    batch=_batch_substr,
    raw='input, pos, len, unit="BYTE"',
)


@export("strings.substr")
def substr(input, pos, len, unit="BYTE", name=None):
    """A part of each string.

    Args:
        input: the strings.
        pos: where it begins, from the end if negative.
        len: its length, of the shape of `pos`; less if the string ends before.
        unit: "BYTE" or "UTF8_CHAR".

    Raises:
        InvalidArgumentError: a position lies outside of its string.
    """
    pos = convert_to_tensor(pos)
    inputs = (string_operand(input), pos, convert_to_tensor(len, dtype_hint=pos.dtype))
    return apply(_substr_row.op, inputs, {"unit": unit})


# Numbers ------------------------------------------------------------------------------------------

_NUMBERS = tuple(
    [
        dtypes.as_dtype(name).numpy_dtype
        for name in ("float32", "float64", "int32", "int64", "uint32", "uint64")
    ]
)
_FLOAT = re.compile(
    rb"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?|nan)\Z", re.I
)
_HEX = re.compile(rb"[+-]?0x[0-9a-f]+\Z", re.I)
_INTEGER = re.compile(rb"[+-]?\d+\Z")


def _number(item, out_type):
    text = item.strip()
    if out_type.kind == "f":
        if _FLOAT.match(text):
            return float(text)
        if _HEX.match(text):
            return float(int(text, 16))
    elif _INTEGER.match(text):
        number, limits = int(text), np.iinfo(out_type)
        if limits.min <= number <= limits.max:
            return number
    shown = item.decode("utf-8", "replace")
    raise invalid_argument(
        "StringToNumber", f"StringToNumberOp could not correctly convert string: {shown}"
    )


def _check_number_type(out_type):
    if out_type not in _NUMBERS:
        shown = ", ".join([dtypes.of_numpy(each).runtime_word for each in _NUMBERS])
        raise invalid_argument(
            "StringToNumber",
            f"Value for attr 'out_type' of {dtypes.of_numpy(out_type).runtime_word} is not in the "
            f"list of allowed values: {shown}",
        )


_to_number = each_string(
    "StringToNumber",
    _number,
    inputs="string_tensor",
    check=_check_number_type,
    raw="string_tensor, out_type=tf.float32",
)


@export("strings.to_number")
def to_number(input, out_type=dtypes.float32, name=None):
    """The number each string spells.

    Raises:
        InvalidArgumentError: it spells none, or one outside of the dtype's range.
    """
    attrs = {"out_type": dtypes.as_dtype(out_type).numpy_dtype}
    return apply(_to_number.op, (string_operand(input),), attrs)


def _infer_as_string(input, *, precision, scientific, shortest, width, fill):
    complaint = None
    if fill not in ("", " ", "0", "-", "+"):
        complaint = f'Fill argument not supported: "{fill}"'
    if len(fill) > 1:
        complaint = "Fill string must be one or fewer characters"
    if input.dtype not in dtypes.DIFFERENTIABLE:
        word = dtypes.of_numpy(input.dtype).runtime_word
        if precision >= 0:
            complaint = f"precision not supported for datatype {word}"
        if scientific or shortest:
            complaint = f"scientific and shortest format not supported for datatype {word}"
    elif scientific and shortest:
        complaint = "Cannot select both scientific and shortest notation"
    if complaint:
        raise invalid_argument("AsString", complaint)
    return Spec(input.shape, STRING)


def _as_string(input, precision, scientific, shortest, width, fill):
    x = np.asarray(input)
    kind = "f" if x.dtype in dtypes.DIFFERENTIABLE else x.dtype.kind
    if kind == "b":
        return mapped(lambda item: b"true" if item else b"false", x)
    form = "%" + (fill if width > 0 else "") + (str(width) if width > 0 else "")
    if kind == "O":
        return mapped(
            lambda item: (form.replace("0", "", form[1:2] == "0") + "s").encode() % item, x
        )
    if kind in "iu":
        return mapped(lambda item: (form + "d").encode() % item, x)
    form += f".{precision}" if precision >= 0 else ""
    form += "g" if shortest else "e" if scientific else "f"
    if x.dtype.kind == "c":
        pair = f"({form},{form})".encode()
        return mapped(lambda item: pair % (item.real, item.imag), x)
    unpadded = form.replace("%0", "%", 1).encode()
    return mapped(
        lambda item: (form.encode() if np.isfinite(item) else unpadded) % item,
        x.astype(np.float64),
    )


_as_string_row = non_differentiable(
    "AsString",
    _as_string,
    inputs="input",
    infer=_infer_as_string,
    batch=lambda op, values, flags, attrs: op.call(values[0], **attrs),
    raw='input, precision=-1, scientific=False, shortest=False, width=-1, fill=""',
)


@export("strings.as_string as_string")
def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill="", name=None):
    """Each number written out.

    Args:
        input: numbers, bools or strings.
        precision: how many digits after the point floats get.
        scientific: whether to write floats with an exponent.
        shortest: whether to write them the shorter way.
        width: the least length.
        fill: what fills up to it: " ", "0", "-" for space behind, "+" for a sign and space.

    Raises:
        InvalidArgumentError: the options do not suit the dtype.
    """
    attrs = {
        "precision": int(precision), "scientific": bool(scientific), "shortest": bool(shortest),
        "width": int(width), "fill": fill,
    }  # fmt: skip
    return apply(_as_string_row.op, (convert_to_tensor(input),), attrs)


# Patterns -----------------------------------------------------------------------------------------


def _check_pattern(op_name):
    def check(pattern, **others):
        try:
            regular_expressions.compiled(pattern)
        except regular_expressions.PatternError as error:
            shown = pattern if isinstance(pattern, str) else pattern.decode("utf-8", "replace")
            raise invalid_argument(op_name, f"Invalid pattern: {shown}, error: {error}") from None

    return check


_full_match = each_string(
    "StaticRegexFullMatch",
    lambda item, pattern: regular_expressions.full_match(pattern, item),
    np.dtype(bool),
    check=_check_pattern("StaticRegexFullMatch"),
    raw="input, pattern",
)
_replace = each_string(
    "StaticRegexReplace",
    lambda item, pattern, rewrite, replace_global: regular_expressions.replaced(
        pattern, item, rewrite, replace_global
    ),
    check=_check_pattern("StaticRegexReplace"),
    raw="input, pattern, rewrite, replace_global=True",
)


def plain_bytes(value) -> Any:
    """A string argument that is no data, as bytes."""
    if isinstance(value, (str, bytes)):
        return value.encode() if isinstance(value, str) else value
    array = np.asarray(convert_to_tensor(value, dtypes.string)._value)
    if array.ndim:
        raise invalid_argument("Strings", f"Expected a scalar string. Received: {value!r}")
    return array[()]


@export("strings.regex_full_match")
def regex_full_match(input, pattern, name=None):
    """Whether each string as a whole matches a regular expression."""
    return apply(_full_match.op, (string_operand(input),), {"pattern": plain_bytes(pattern)})


@export("strings.regex_replace")
def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    """Each string with what matches a regular expression replaced.

    Args:
        input: the strings.
        pattern: the regular expression.
        rewrite: what to put there; `\\1` to `\\9` are the groups of the match, `\\0` all of it.
        replace_global: whether to replace all matches or the first.
    """
    attrs = {
        "pattern": plain_bytes(pattern), "rewrite": plain_bytes(rewrite),
        "replace_global": bool(replace_global),
    }  # fmt: skip
    return apply(_replace.op, (string_operand(input),), attrs)


# Unicode ------------------------------------------------------------------------------------------


def _infer_script(input):
    if input.dtype != _INT32:
        raise dtype_mismatch("UnicodeScript", 0, _INT32, input.dtype)
    return Spec(input.shape, _INT32)


_script = non_differentiable(
    "UnicodeScript",
    lambda input: unicode_scripts.scripts(np.asarray(input))[()],
    inputs="input",
    infer=_infer_script,
    batch=lambda op, values, flags, attrs: op.call(values[0]),
)


@export("strings.unicode_script")
def unicode_script(input, name=None):
    """ICU's number of the script each code point belongs to; -1 for what is no code point."""
    return apply(_script.op, (operand(input),))
