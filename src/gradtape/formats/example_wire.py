"""Examples in wire format, read without making messages of them: only what is asked for."""

import numpy as np

from ..core.errors import DataLossError
from .proto_descriptors import BYTES, FIXED32, FIXED64, VARINT, read_varint
from .varints import signed

# Tags: of the first and second field, and of the kinds of a feature.
_FIRST, _SECOND = 1 << 3 | BYTES, 2 << 3 | BYTES
_KINDS = {1 << 3 | BYTES: "string", 2 << 3 | BYTES: "float32", 3 << 3 | BYTES: "int64"}
_SIZES = {FIXED32: 4, FIXED64: 8}
_VALUES = {"string": object, "float32": np.float32, "int64": np.int64}
# Up to here a loop is quicker than arrays.
_SHORT = 64


class WireError(Exception):
    """Bytes are not what they should be."""


def features_of(example, field=1):
    """The features of a serialized example by name, each still in wire format.

    Args:
        example: bytes.
        field: the number of the field that holds them.

    Raises:
        WireError: the bytes are no example.
    """
    found = {}
    for tag, start, stop in _fields(example, 0, len(example)):
        if tag == field << 3 | BYTES:
            for entry_tag, entry, end in _fields(example, start, stop):
                if entry_tag == _FIRST:
                    key = value = b""
                    for part_tag, part, part_end in _fields(example, entry, end):
                        if part_tag == _FIRST:
                            key = example[part:part_end]
                        elif part_tag == _SECOND:
                            value = example[part:part_end]
                    found[key] = value
    return found


def steps_of(feature_list):
    """The features of a list of them, each still in wire format."""
    fields = _fields(feature_list, 0, len(feature_list))
    return [feature_list[start:stop] for tag, start, stop in fields if tag == _FIRST]


def values_of(feature):
    """The dtype of a feature's values and an array of them; None twice if it holds nothing."""
    kind, parts = None, []
    for tag, start, stop in _fields(feature, 0, len(feature)):
        if tag in _KINDS:
            # Of several kinds the last one counts; parts of one kind come together.
            parts = parts if _KINDS[tag] == kind else []
            kind = _KINDS[tag]
            parts += _fields(feature, start, stop)
    return (None, None) if kind is None else (kind, _READERS[kind](feature, parts))


def _fields(data, position, end):
    """The fields of a message within `data`: the tag and the place of the value of each."""
    found = []
    try:
        while position < end:
            tag = data[position]
            position += 1
            if tag > 0x7F:
                tag, position = read_varint(data, position - 1)
            kind = tag & 7
            if kind == BYTES:
                size = data[position]
                position += 1
                if size > 0x7F:
                    size, position = read_varint(data, position - 1)
                stop = position + size
            elif kind == VARINT:
                stop = read_varint(data, position)[1]
            elif kind in _SIZES:
                stop = position + _SIZES[kind]
            else:
                raise WireError
            if stop > end or tag < 8:
                raise WireError
            found.append((tag, position, stop))
            position = stop
    except (IndexError, DataLossError):
        raise WireError from None
    return found


def empty(kind):
    """No values of a dtype."""
    return np.empty(0, _VALUES[kind])


def _strings(data, parts):
    items = [data[start:stop] for tag, start, stop in parts if tag == _FIRST]
    array = np.empty(len(items), object)
    array[:] = items
    return array


def _numbers(wire, unpack, kind):
    def read(data, parts):
        found = [
            unpack(data[start:stop]) for tag, start, stop in parts if tag in (_FIRST, 1 << 3 | wire)
        ]
        if len(found) == 1:
            return found[0]
        return np.concatenate(found) if found else empty(kind)

    return read


def _floats(data):
    if len(data) % 4:
        raise WireError
    return np.frombuffer(data, "<f4").astype(np.float32)


def _integers(data):
    """The integers of seven bits a byte, the last byte of each without the highest bit."""
    if not data:
        return empty("int64")
    if max(data) < 0x80:
        return np.frombuffer(data, np.uint8).astype(np.int64)
    if len(data) <= _SHORT:
        found, position = [], 0
        try:
            while position < len(data):
                value, position = read_varint(data, position)
                found.append(signed(value))
        except DataLossError:
            raise WireError from None
        return np.array(found, np.int64)
    numbers = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(numbers < 0x80)
    if not len(ends) or ends[-1] != len(numbers) - 1:
        raise WireError
    starts = np.concatenate([[0], ends[:-1] + 1])
    places = np.arange(len(numbers)) - np.repeat(starts, ends - starts + 1)
    if places.max() > 9:
        raise WireError
    parts = (numbers & 0x7F).astype(np.uint64) << (places * 7).astype(np.uint64)
    return np.bitwise_or.reduceat(parts, starts).view(np.int64)


_READERS = {
    "string": _strings,
    "float32": _numbers(FIXED32, _floats, "float32"),
    "int64": _numbers(VARINT, _integers, "int64"),
}
