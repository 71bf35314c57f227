"""Fields of protocol buffer messages as tensors, from bytes written down here."""

import re
import struct

import numpy as np
import pytest

import gradtape as tf

TYPES = [
    "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "group",
    "message", "bytes", "uint32", "enum", "sfixed32", "sfixed64", "sint32", "sint64",
]  # fmt: skip


def varint(number):
    number &= 2**64 - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def whole(number, value):
    return varint(number << 3) + varint(value)


def text(number, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def field(name, number, kind, repeated=False, default=None, of=""):
    body = text(1, name) + whole(3, number) + whole(4, 3 if repeated else 1)
    body += whole(5, TYPES.index(kind) + 1)
    if of:
        body += text(6, of)
    return text(2, body if default is None else body + text(7, default))


def message(name, *parts):
    return text(1, name) + b"".join(parts)


INNER = message("Inner", field("v", 1, "int32"))
KIND = text(1, "Kind") + b"".join(
    text(2, text(1, name) + whole(2, number)) for name, number in (("A", 2), ("B", 5))
)
SCALARS = [kind for kind in TYPES if kind not in ("group", "message", "enum")]
MAIN = message(
    "Main",
    *[field(f"o_{kind}", 2 * i + 1, kind) for i, kind in enumerate(SCALARS)],
    *[field(f"r_{kind}", 2 * i + 2, kind, True) for i, kind in enumerate(SCALARS)],
    field("e", 100, "enum", of=".pack.Kind"),
    field("e_default", 101, "enum", default="B", of=".pack.Kind"),
    field("sub", 102, "message", of=".pack.Main.Inner"),
    field("subs", 103, "message", True, of=".pack.Main.Inner"),
    field("d_int", 104, "int32", default="7"),
    field("d_text", 105, "string", default="hey"),
    field("d_float", 106, "float", default="1.5"),
    field("d_bool", 107, "bool", default="true"),
    field("d_bytes", 108, "bytes", default="a\\001\\n"),
    field("g", 109, "group", of=".pack.Main.Inner"),
    text(3, INNER),
)
FILES = text(1, text(1, "file.proto") + text(2, "pack") + text(4, MAIN) + text(5, KIND))
SOURCE = b"bytes://" + FILES


def number_of(name):
    prefix, kind = name.split("_")
    return 2 * SCALARS.index(kind) + (1 if prefix == "o" else 2)


def decode(data, names, types, **kwargs):
    kwargs.setdefault("descriptor_source", SOURCE)
    return tf.io.decode_proto(data, "pack.Main", names, types, **kwargs)


# The raw value of each type with its wire type, what it is read as, and the dtype.
WRITTEN = {
    "double": (1, struct.pack("<d", 1.25), 1.25, tf.float64),
    "float": (5, struct.pack("<f", 1.25), 1.25, tf.float32),
    "int64": (0, varint(-3), -3, tf.int64),
    "uint64": (0, varint(2**63 + 9), 2**63 + 9, tf.uint64),
    "int32": (0, varint(-3), -3, tf.int32),
    "fixed64": (1, struct.pack("<Q", 2**63 + 9), 2**63 + 9, tf.uint64),
    "fixed32": (5, struct.pack("<I", 2**31 + 5), 2**31 + 5, tf.uint32),
    "bool": (0, varint(1), True, tf.bool),
    "string": (2, b"\x02\xc3\xa9", b"\xc3\xa9", tf.string),
    "bytes": (2, b"\x02\x00\xff", b"\x00\xff", tf.string),
    "uint32": (0, varint(2**31 + 5), 2**31 + 5, tf.uint32),
    "sfixed32": (5, struct.pack("<i", -3), -3, tf.int32),
    "sfixed64": (1, struct.pack("<q", -3), -3, tf.int64),
    "sint32": (0, varint(5), -3, tf.int32),
    "sint64": (0, varint(5), -3, tf.int64),
}


@pytest.mark.parametrize("kind", SCALARS)
def test_types(kind):
    wire, raw, value, dtype = WRITTEN[kind]
    once = varint(number_of(f"o_{kind}") << 3 | wire) + raw
    each = varint(number_of(f"r_{kind}") << 3 | wire) + raw
    sizes, (single, many) = decode([once + each * 2, b""], [f"o_{kind}", f"r_{kind}"], [dtype] * 2)
    assert sizes.numpy().tolist() == [[1, 2], [0, 0]]
    assert sizes.dtype is tf.int32
    nothing = b"" if dtype is tf.string else 0
    assert single.dtype is many.dtype is dtype
    assert single.numpy().tolist() == [[value], [nothing]]
    assert many.numpy().tolist() == [[value] * 2, [nothing] * 2]


@pytest.mark.parametrize("kind", [kind for kind in SCALARS if kind not in ("string", "bytes")])
def test_packed_values(kind):
    _, raw, value, dtype = WRITTEN[kind]
    packed = text(number_of(f"r_{kind}"), raw * 3)
    sizes, (many,) = decode(packed, [f"r_{kind}"], [dtype])
    assert sizes.numpy().tolist() == [3]
    assert many.numpy().tolist() == [value] * 3


def test_shapes():
    one, two = [whole(number_of("r_int32"), 7) * count for count in (1, 2)]
    sizes, (values,) = decode([[one], [two]], ["r_int32"], [tf.int32])
    assert sizes.numpy().tolist() == [[[1]], [[2]]]
    assert values.numpy().tolist() == [[[7, 0]], [[7, 7]]]
    assert decode([one], [], []).sizes.shape == [1, 0]
    assert decode(b"", ["r_int32"], [tf.int32]).values[0].shape == [0]


def test_defaults():
    names = ["d_int", "d_text", "d_float", "d_bool", "d_bytes", "e", "e_default"]
    types = [tf.int32, tf.string, tf.float32, tf.bool, tf.string, tf.int32, tf.int32]
    sizes, values = decode(b"", names, types)
    assert sizes.numpy().tolist() == [0] * 7
    expected = [7, b"hey", 1.5, True, b"a\x01\n", 2, 5]
    assert [value.numpy().tolist() for value in values] == [[each] for each in expected]


def test_messages_enumerations_and_groups():
    inner = whole(1, 4)
    group = varint(109 << 3 | 3) + inner + varint(109 << 3 | 4)
    data = whole(100, 5) + text(102, inner) + text(103, inner) + text(103, b"") + group
    types = [tf.int32, tf.string, tf.string, tf.string]
    sizes, (e, sub, subs, g) = decode(data, ["e", "sub", "subs", "g"], types)
    assert sizes.numpy().tolist() == [1, 1, 2, 1]
    assert e.numpy().tolist() == [5]
    assert sub.numpy().tolist() == g.numpy().tolist() == [inner]
    assert subs.numpy().tolist() == [inner, b""]
    nested = tf.io.decode_proto(sub, "pack.Main.Inner", ["v"], [tf.int32], SOURCE)
    assert nested.values[0].numpy().tolist() == [[4]]


def test_the_last_of_several_values_counts_and_unknown_fields_are_skipped():
    number = number_of("o_int32")
    data = whole(number, 3) + whole(1000, 1) + text(1001, "x") + whole(number, 4)
    sizes, (value,) = decode(data, ["o_int32"], [tf.int32])
    assert (sizes.numpy().tolist(), value.numpy().tolist()) == ([1], [4])
    wrong_wire = text(number, b"")
    assert decode(wrong_wire, ["o_int32"], [tf.int32]).sizes.numpy().tolist() == [0]


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("int32", tf.int64), ("float", tf.float64), ("uint32", tf.uint64), ("fixed32", tf.uint64)],
)
def test_wider_dtypes(kind, dtype):
    wire, raw, value, _ = WRITTEN[kind]
    data = varint(number_of(f"o_{kind}") << 3 | wire) + raw
    (found,) = decode(data, [f"o_{kind}"], [dtype]).values
    assert found.dtype is dtype
    assert found.numpy().tolist() == [value]


def test_descriptors_from_a_file(tmp_path):
    path = tmp_path / "set.pb"
    path.write_bytes(FILES)
    data = whole(number_of("o_int32"), 9)
    (value,) = decode(data, ["o_int32"], [tf.int32], descriptor_source=str(path)).values
    assert value.numpy().tolist() == [9]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"message_type": "pack.X"}, "No descriptor found for message type pack.X"),
        ({"message_type": ".pack.Main"}, "No descriptor found for message type .pack.Main"),
        ({"descriptor_source": "local://"}, "No descriptor found for message type pack.Main"),
        ({"field_names": ["zz"]}, "Unknown field: zz in message type pack.Main"),
        (
            {"output_types": [tf.string]},
            "Unexpected output type for pack.Main.o_int32: int32 to DT_STRING",
        ),
        (
            {"output_types": [tf.float32]},
            "Unexpected output type for pack.Main.o_int32: int32 to DT_FLOAT",
        ),
        (
            {"field_names": ["o_uint32"], "output_types": [tf.int64]},
            "Unexpected output type for pack.Main.o_uint32: uint32 to DT_INT64",
        ),
        (
            {"output_types": [tf.int32] * 2},
            "field_names and output_types attributes must have the same length",
        ),
        ({"message_format": "foo"}, "format must be one of binary or text"),
        ({"bytes": np.zeros(0, object)}, "Bufs argument must contain at least one value"),
        (
            {"descriptor_source": b"bytes://zzz"},
            "Source does not represent serialized file descriptor set proto.",
        ),
        (
            {"descriptor_source": "/no/such/file"},
            'on the file containing REGISTER_DESCRIPTOR_POOL("/no/such/file", ...);',
        ),
    ],
)
def test_errors(changed, message):
    given = {
        "bytes": b"", "message_type": "pack.Main", "field_names": ["o_int32"],
        "output_types": [tf.int32], "descriptor_source": SOURCE,
    }  # fmt: skip
    with pytest.raises(tf.errors.InvalidArgumentError, match=re.escape(message)):
        tf.io.decode_proto(**{**given, **changed})


@pytest.mark.parametrize("data", [b"\xff\xff", b"\x0a\x05ab", b"\x08", b"\x0c", b"\x0b\x08\x01"])
def test_damaged_messages(data):
    with pytest.raises(tf.errors.DataLossError):
        decode(data, ["o_int32"], [tf.int32])


def test_text_format_is_not_read():
    with pytest.raises(tf.errors.UnimplementedError, match="binary format only"):
        decode(b"o_int32: 5", ["o_int32"], [tf.int32], message_format="text")
