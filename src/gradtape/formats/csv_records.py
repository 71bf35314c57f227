"""CSV as datasets read it: RFC 4180, records of bytes, strict about quotation marks."""

import itertools
import math
import re

import numpy as np

from ..core import dtypes

_QUOTE = 0x22
_CR, _LF = 0x0D, 0x0A


class RecordError(Exception):
    """A record is not what it has to be; the next one may be."""


class Records:
    """The records of a file, each a list of fields.

    Args:
        lines: an iterator over what ends in line feeds, and the rest.
        delimiter: the byte between fields.
        quoted: whether fields may stand in quotation marks.
    """

    def __init__(self, lines, delimiter, quoted):
        self._lines = lines
        self._delimiter, self._quoted = delimiter, quoted
        self._ends = re.compile(b"[\r\n" + re.escape(delimiter) + b"]")
        self._rest = b""

    def __iter__(self):
        return self

    def __next__(self):
        line = self._rest or next(self._lines)
        self._rest = b""
        if self._quoted and b'"' in line:
            return self._careful(line)
        if b"\r" in line:
            line, _, rest = line.partition(b"\r")
            self._rest = b"" if rest == b"\n" else rest
        elif line[-1] == _LF:
            line = line[:-1]
        return line.split(self._delimiter)

    def _careful(self, text):
        fields, position, problem = [], 0, None
        while True:
            if text[position : position + 1] == b'"':
                field, text, position, found = self._quoted_field(text, position + 1)
            else:
                end = self._ends.search(text, position)
                stop = end.start() if end else len(text)
                field = text[position:stop]
                found = "Unquoted fields cannot have quotes inside" if b'"' in field else None
                position = stop
            fields.append(field)
            problem = problem or found
            if text[position : position + 1] != self._delimiter:
                break
            position += 1
        position += 2 if text[position : position + 2] == b"\r\n" else 1
        self._rest = text[position:]
        if problem:
            raise RecordError(problem)
        return fields

    def _quoted_field(self, text, start):
        """The field whose text begins at `start`, where it ends, and what is wrong with it."""
        position, problem = start, None
        ends = (self._delimiter[0], _CR, _LF)
        while True:
            position = text.find(b'"', position)
            while position < 0:
                line = next(self._lines, None)
                if line is None:
                    ended = "Reached end of file without closing quoted field in record"
                    return b"", text, len(text), problem or ended
                seen = len(text)
                text += line
                position = text.find(b'"', seen)
            if position + 1 == len(text) or text[position + 1] in ends:
                field = text[start:position].replace(b'""', b'"')
                return field, text, position + 1, problem
            if text[position + 1] != _QUOTE:
                problem = "Quote inside a string has to be escaped by another quote"
            position += 2


def field_reader(dtype, default, missing):
    """A function from the bytes of a field to its value.

    Args:
        dtype: the dtype of the value.
        default: that of an empty field; None if there must not be any.
        missing: the bytes that count as empty too.
    """
    parse = _PARSERS[dtype.name]

    def read(field):
        if not field or field == missing:
            if default is None:
                raise RecordError("Field is required but missing in record!")
            return default
        try:
            return parse(field)
        except (ValueError, OverflowError):
            shown = field.decode("utf-8", "replace")
            raise RecordError(f"Field in record is not a valid {dtype.name}: {shown}") from None

    return read


def _string(field):
    leaf = np.empty((), object)
    leaf[()] = field
    return leaf


def _plain(field):
    """The field, unless it is a number to Python alone."""
    if b"_" in field:
        raise ValueError("a number with an underscore")
    return field


def _int32(field):
    return np.int32(int(_plain(field)))


def _int64(field):
    return np.int64(int(_plain(field)))


def _float(field):
    try:
        return float(_plain(field))
    except ValueError:
        return _unusual_float(field.decode("ascii").strip())


def _unusual_float(text):
    """A float as only C spells it: in hexadecimal, or "nan(...)"."""
    if _C_NAN.fullmatch(text):
        return math.nan
    if not _C_HEX.fullmatch(text):
        raise ValueError("no float")
    try:
        return float.fromhex(text)
    except OverflowError:
        return math.copysign(math.inf, -1 if text[0] == "-" else 1)


_C_NAN = re.compile(r"[+-]?nan\(\w*\)", re.ASCII | re.IGNORECASE)
_C_HEX = re.compile(r"[+-]?0x[0-9a-f.]+(p[+-]?[0-9]+)?", re.IGNORECASE)


def _float64(field):
    return np.float64(_float(field))


def _float32(field):
    with np.errstate(over="ignore"):
        return np.float32(_float(field))


_PARSERS = {
    "int32": _int32,
    "int64": _int64,
    "float32": _float32,
    "float64": _float64,
    "string": _string,
}

TYPES = tuple([dtypes.as_dtype(name) for name in _PARSERS])


def selected(fields, count, select, exclude):
    """The fields of a record that are wanted: `count` of them.

    Raises:
        RecordError: there are more or less.
    """
    if select:
        if select[-1] >= len(fields):
            raise RecordError(f"Expect {count} fields but have {len(fields)} in record")
        return [fields[i] for i in select]
    if exclude:
        wanted = [i not in exclude for i in range(len(fields))]
        fields = list(itertools.compress(fields, wanted))
    if len(fields) != count:
        raise RecordError(f"Expect {count} fields but have {len(fields)} in record")
    return fields
