"""Descriptors of protocol buffer messages: read from descriptor sets, without their library."""

import importlib
from pathlib import Path
from typing import Any, NamedTuple

from ..core.errors import DataLossError, invalid_argument

VARINT, FIXED64, BYTES, START_GROUP, END_GROUP, FIXED32 = range(6)

# By the number of a type in descriptors.
TYPE_NAMES = dict(
    enumerate(
        ["double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string",
         "group", "message", "bytes", "uint32", "enum", "sfixed32", "sfixed64", "sint32", "sint64"],
        1,
    )
)  # fmt: skip


class Field(NamedTuple):
    """A field of a message: its number, its type's name, and what it is if it is not there."""

    name: str
    number: int
    type: str
    is_repeated: bool
    default: Any
    enum: str


class Descriptors:
    """The messages and enumerations of some files, by full name."""

    def __init__(self, files):
        self._messages: dict[str, dict[str, Field]] = {}
        self._enums: dict[str, dict[str, int]] = {}
        for file in files:
            parts = fields_of(file)
            self._read_scope(parts, _text(parts, 2), messages=4, enums=5)

    def _read_scope(self, parts, scope, messages, enums):
        for body in parts.get(enums, ()):
            enum = fields_of(body)
            values = [fields_of(value) for value in enum.get(2, ())]
            self._enums[_joined(scope, _text(enum, 1))] = {
                _text(value, 1): _last(value, 2, 0) for value in values
            }
        for body in parts.get(messages, ()):
            message = fields_of(body)
            name = _joined(scope, _text(message, 1))
            fields = [_field(fields_of(each)) for each in message.get(2, ())]
            self._messages[name] = {field.name: field for field in fields}
            self._read_scope(message, name, messages=3, enums=4)

    def message(self, name):
        """The fields of a message, by name; None if there is no such message."""
        return self._messages.get(name)

    def default_of(self, field) -> Any:
        """What a field is that is not there."""
        text = field.default
        if field.type == "enum":
            numbers = self._enums.get(field.enum, {})
            return numbers.get(text, next(iter(numbers.values()), 0))
        if field.type in ("string", "bytes", "message", "group"):
            if field.type == "bytes" and text:
                return text.encode("latin-1").decode("unicode_escape").encode("latin-1")
            return (text or "").encode()
        if field.type == "bool":
            return text == "true"
        if field.type in ("float", "double"):
            return float(text or 0)
        return int(text or 0)


def _field(parts):
    return Field(
        _text(parts, 1),
        _last(parts, 3, 0),
        TYPE_NAMES.get(_last(parts, 5, 0), "message"),
        _last(parts, 4, 1) == 3,
        _text(parts, 7) if 7 in parts else None,
        _text(parts, 6).lstrip("."),
    )


def _joined(scope, name):
    return f"{scope}.{name}" if scope else name


def _last(parts, number, default) -> Any:
    return parts[number][-1] if number in parts else default


def _text(parts, number):
    return _last(parts, number, b"").decode()


# Wire format --------------------------------------------------------------------------------------


def fields_of(message):
    """The raw values of all fields of a serialized message, by number."""
    found: dict[int, list] = {}
    for number, _, value in wire_values(message):
        found.setdefault(number, []).append(value)
    return found


def wire_values(message):
    """The number, wire type and raw value of each field that is there, in order.

    Raises:
        DataLossError: the bytes are not a message.
    """
    position, end = 0, len(message)
    while position < end:
        number, kind, value, position = _next_value(message, position)
        if kind == END_GROUP:
            raise _damaged("CountFields: Failed to consume entire buffer")
        yield number, kind, value


def _next_value(message, position):
    tag, position = read_varint(message, position)
    number, kind = tag >> 3, tag & 7
    if not number:
        raise _damaged("CountFields: Failed to consume entire buffer")
    if kind == VARINT:
        value, position = read_varint(message, position)
        return number, kind, value, position
    if kind == START_GROUP:
        return number, kind, *_group(message, position, number)
    if kind == END_GROUP:
        return number, kind, b"", position
    if kind == BYTES:
        length, position = read_varint(message, position)
    elif kind in (FIXED64, FIXED32):
        length = 8 if kind == FIXED64 else 4
    else:
        raise _damaged("CountFields: Failed to consume entire buffer")
    if position + length > len(message):
        raise _damaged("ReadValue: Failed skipping field when counting")
    return number, kind, message[position : position + length], position + length


def _group(message, start, number):
    """The bytes up to the end of a group, and the position behind it."""
    position = start
    while position < len(message):
        found, kind, _, after = _next_value(message, position)
        if kind == END_GROUP:
            if found != number:
                break
            return message[start:position], after
        position = after
    raise _damaged("ReadValue: Failed skipping field when counting")


def read_varint(message, position):
    """An integer in groups of 7 bits, the lowest first, and the position behind it."""
    result = shift = 0
    while position < len(message) and shift < 70:
        byte = message[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result & (2**64 - 1), position
        shift += 7
    raise _damaged("CountFields: Failed to consume entire buffer")


def _damaged(message):
    return DataLossError(None, None, f"{message} [Op:DecodeProtoV2]")


# Sources ------------------------------------------------------------------------------------------


def descriptors_from(source, message_type):
    """The descriptors that a `descriptor_source` stands for.

    Raises:
        InvalidArgumentError: it is not a descriptor set, or no file that holds one.
    """
    if source in (b"", b"local://"):
        return Descriptors(_files_known_to_the_library(message_type))
    try:
        if source.startswith(b"bytes://"):
            content = source.removeprefix(b"bytes://")
        else:
            content = Path(source.decode()).read_bytes()
        files = fields_of(content).get(1, [])
        if any(not isinstance(file, bytes) for file in files):
            raise ValueError("no files")
        return Descriptors(files)
    except (OSError, ValueError, DataLossError, AttributeError, TypeError):
        raise invalid_argument(
            "DecodeProtoV2",
            "Source does not represent serialized file descriptor set proto. This may be due to a "
            'missing dependency on the file containing REGISTER_DESCRIPTOR_POOL("'
            f'{source.decode(errors="replace")}", ...);',
        ) from None


def _files_known_to_the_library(message_type):
    """The serialized files that a message needs, from google.protobuf if there is one."""
    try:
        pool: Any = importlib.import_module("google.protobuf.descriptor_pool").Default()
        pending = [pool.FindMessageTypeByName(message_type).file]
    except (ImportError, KeyError):
        return []
    found = {}
    while pending:
        file = pending.pop()
        if file.name not in found:
            found[file.name] = file.serialized_pb
            pending += file.dependencies
    return list(found.values())
