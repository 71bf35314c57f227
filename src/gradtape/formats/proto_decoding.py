"""tf.io.decode_proto: fields of serialized protocol buffer messages as tensors."""

import struct
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.effects import performed
from ..core.errors import invalid_argument, unimplemented
from ..core.exports import export
from ..core.tensor import EagerTensor
from .proto_descriptors import (
    BYTES,
    FIXED32,
    FIXED64,
    START_GROUP,
    VARINT,
    descriptors_from,
    read_varint,
    wire_values,
)
from .strings import string_array

_OP = "DecodeProtoV2"


class DecodeProtoV2(NamedTuple):
    """What decode_proto returns: how often fields are there, and their values."""

    sizes: Any
    values: list


def _signed(bits):
    half = 1 << (bits - 1)
    return lambda value: ((value & (2 * half - 1)) ^ half) - half


def _zigzag(bits):
    signed = _signed(bits)
    return lambda value: signed((value >> 1) ^ -(value & 1))


def _unpacked(form):
    unpack = struct.Struct(form).unpack
    return lambda value: unpack(value)[0]


class _Kind(NamedTuple):
    """How values of a field's type are written, and the dtypes they may be read as."""

    wire: int
    read: Any
    dtypes: str


_KINDS = {
    "double": _Kind(FIXED64, _unpacked("<d"), "float64"),
    "float": _Kind(FIXED32, _unpacked("<f"), "float32 float64"),
    "int64": _Kind(VARINT, _signed(64), "int64"),
    "uint64": _Kind(VARINT, int, "uint64"),
    "int32": _Kind(VARINT, _signed(32), "int32 int64"),
    "fixed64": _Kind(FIXED64, _unpacked("<Q"), "uint64"),
    "fixed32": _Kind(FIXED32, _unpacked("<I"), "uint32 uint64"),
    "bool": _Kind(VARINT, bool, "bool"),
    "string": _Kind(BYTES, bytes, "string"),
    "group": _Kind(START_GROUP, bytes, "string"),
    "message": _Kind(BYTES, bytes, "string"),
    "bytes": _Kind(BYTES, bytes, "string"),
    "uint32": _Kind(VARINT, lambda value: value & 0xFFFFFFFF, "uint32 uint64"),
    "enum": _Kind(VARINT, _signed(32), "int32"),
    "sfixed32": _Kind(FIXED32, _unpacked("<i"), "int32 int64"),
    "sfixed64": _Kind(FIXED64, _unpacked("<q"), "int64"),
    "sint32": _Kind(VARINT, _zigzag(32), "int32 int64"),
    "sint64": _Kind(VARINT, _zigzag(64), "int64"),
}


@export("io.decode_proto")
@performed("DecodeProtoV2", pure=True)
def decode_proto(
    bytes,
    message_type,
    field_names,
    output_types,
    descriptor_source="local://",
    message_format="binary",
    sanitize=False,
    name=None,
):
    """Fields of serialized protocol buffer messages as tensors.

    Args:
        bytes: strings, a message each.
        message_type: the full name of the messages' type.
        field_names: the fields to extract; a message inside of a message is a string.
        output_types: their dtypes.
        descriptor_source: `"bytes://"` and a serialized FileDescriptorSet, the path of a file that
            holds one, or `"local://"` for the types that google.protobuf knows in this program.
        message_format: `"binary"`.
        sanitize: accepted for compatibility; messages are always checked.

    Returns:
        A tuple of `sizes`, how often each field is there in each message, and `values`, a tensor
        for each field, with a last axis as long as the longest. Fields that are not repeated have
        their default value where they are not there.

    Raises:
        InvalidArgumentError: there is no such message type or field, or the dtype does not fit.
        DataLossError: a string is not a message.
        UnimplementedError: messages in text format.
    """
    messages = string_array(bytes)
    if len(field_names) != len(output_types):
        raise _bad("field_names and output_types attributes must have the same length")
    if message_format not in ("binary", "text"):
        raise _bad("format must be one of binary or text")
    if message_format == "text":
        raise unimplemented(_OP, "Messages are read in binary format only, not in text format.")
    if not messages.size:
        raise _bad("Bufs argument must contain at least one value")
    message_type = _word(message_type)
    fields, defaults = _fields(message_type, field_names, output_types, descriptor_source)
    found = [_values_of(message, fields) for message in messages.ravel().tolist()]
    sizes = np.array([[len(values) for values in row] for row in found], np.int32)
    columns = [
        _column([row[i] for row in found], field, dtypes.as_dtype(dtype), default, messages.shape)
        for i, (field, dtype, default) in enumerate(
            zip(fields, output_types, defaults, strict=True)
        )
    ]
    return DecodeProtoV2(EagerTensor(sizes.reshape(*messages.shape, len(fields))), columns)


def _word(text):
    return text.decode() if hasattr(text, "decode") else text


def _bad(message):
    return invalid_argument(_OP, message)


def _fields(message_type, names, output_types, source):
    """The fields asked for, and what each is where it is not there."""
    source = source.encode() if isinstance(source, str) else source
    if not hasattr(source, "decode"):
        source = convert_to_tensor(source).numpy()
    descriptors = descriptors_from(source, message_type)
    known = descriptors.message(message_type)
    if known is None:
        raise _bad(f"No descriptor found for message type {message_type}")
    fields = []
    for name, dtype in zip(map(_word, names), output_types, strict=True):
        if name not in known:
            raise _bad(f"Unknown field: {name} in message type {message_type}")
        field, dtype = known[name], dtypes.as_dtype(dtype)
        if dtype.name not in _KINDS[field.type].dtypes.split():
            raise _bad(
                f"Unexpected output type for {message_type}.{name}: {field.type} to "
                f"{_type_word(dtype)}"
            )
        fields.append(field)
    return fields, [descriptors.default_of(field) for field in fields]


def _type_word(dtype):
    words = {"float32": "FLOAT", "float64": "DOUBLE"}
    return f"DT_{words.get(dtype.name, dtype.name.upper())}"


def _values_of(message, fields):
    """The values of each field that a message has, a list each."""
    wanted: dict[int, list] = {}
    found = [[] for _ in fields]
    for field, values in zip(fields, found, strict=True):
        wanted.setdefault(field.number, []).append((field, _KINDS[field.type], values))
    for number, wire, raw in wire_values(message):
        for field, kind, values in wanted.get(number, ()):
            if wire == kind.wire:
                read = [kind.read(raw)]
            elif wire == BYTES and field.is_repeated:
                read = [kind.read(item) for item in _packed(raw, kind.wire)]
            else:  # written by a program that takes the field for another type
                continue
            values[:] = values + read if field.is_repeated else read
    return found


def _packed(raw, wire):
    """The raw values of a repeated field that is written as one."""
    if wire == VARINT:
        position = 0
        while position < len(raw):
            value, position = read_varint(raw, position)
            yield value
    elif wire in (FIXED32, FIXED64):
        size = 4 if wire == FIXED32 else 8
        for start in range(0, len(raw) - size + 1, size):
            yield raw[start : start + size]


def _column(rows, field, dtype, default, shape):
    width = max([len(row) for row in rows]) if field.is_repeated else 1
    filler = default if not field.is_repeated else b"" if dtype is dtypes.string else 0
    values = np.full((len(rows), width), filler, dtype.numpy_dtype)
    for i, row in enumerate(rows):
        if row:
            values[i, : len(row)] = row
    return EagerTensor(values.reshape(*shape, width))
