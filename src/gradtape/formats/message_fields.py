"""Fields of protocol buffer messages: what values they take, and lists and maps of them."""

import operator
import struct
from collections.abc import MutableMapping, MutableSequence
from typing import Any, ClassVar, NamedTuple

from .proto_descriptors import BYTES, FIXED32, VARINT, read_varint, wire_values
from .varints import signed, tag, varint


class Field(NamedTuple):
    """A field of a message: its number, what it holds (see `_SCALARS`), and how many of it."""

    number: int
    kind: Any
    many: str = ""


def block(name, lines):
    """The lines of a message within another one."""
    return [f"{name} {{", *[f"  {line}" for line in lines], "}"]


def iterable(value):
    """An iterator over what a repeated field is made of."""
    try:
        return iter(value)
    except TypeError:
        raise TypeError("must assign iterable") from None


def as_message(kind, value):
    """A message of a kind, from one or from a dict of its fields; always a new one."""
    if isinstance(value, dict):
        return kind(**value)
    if type(value) is not kind:
        raise TypeError(
            "Parameter to initialize message field must be dict or instance of same class: "
            f"expected {kind} got {type(value)}."
        )
    return value.__deepcopy__(None)


# Values of fields ---------------------------------------------------------------------------------


class _Scalar(NamedTuple):
    """How values of a type are checked, written, read and shown."""

    wire: int
    check: Any
    packed: Any
    unpack: Any
    shown: Any


def _check_bytes(value):
    if not isinstance(value, bytes):
        raise TypeError(f"expected bytes, {type(value).__name__} found")
    return bytes(value)


def _check_int64(value):
    if isinstance(value, bool):
        raise TypeError("Expected an int, got a boolean.")
    number = operator.index(value)
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"Value out of range: {number}")
    return number


def _check_float(value):
    if isinstance(value, (str, bytes)):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    except struct.error:
        try:
            return _check_float(value.__float__())
        except AttributeError:
            raise TypeError(f"must be real number, not {type(value).__name__}") from None


def _unpack_varints(data):
    found, position = [], 0
    while position < len(data):
        value, position = read_varint(data, position)
        found.append(signed(value))
    return found


def _unpack_floats(data):
    return struct.unpack(f"<{len(data) // 4}f", data)


def _shown_float(value):
    short = f"{value:.6g}"
    return short if value != value or _check_float(float(short)) == value else f"{value:.9g}"


_ESCAPES = {0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t", 0x22: '\\"', 0x27: "\\'", 0x5C: "\\\\"}


def _shown_bytes(value):
    shown = [
        _ESCAPES.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}")
        for byte in value
    ]
    return f'"{"".join(shown)}"'


SCALARS = {
    "bytes": _Scalar(BYTES, _check_bytes, None, None, _shown_bytes),
    "int64": _Scalar(
        VARINT, _check_int64, lambda items: b"".join(map(varint, items)), _unpack_varints, str
    ),
    "float": _Scalar(
        FIXED32,
        _check_float,
        lambda items: struct.pack(f"<{len(items)}f", *items),
        _unpack_floats,
        _shown_float,
    ),
}


class _Repeated(MutableSequence):
    """What a repeated field holds."""

    __slots__ = ("_field", "_items", "_message")
    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]

    def __init__(self, message, field):
        self._message, self._field, self._items = message, field, []

    def _check(self, value):
        raise NotImplementedError

    def __len__(self):
        return len(self._items)

    def __getitem__(self, index):
        return self._items[index]

    def __delitem__(self, index):
        del self._items[index]

    def insert(self, index, value):
        self._items.insert(index, self._check(value))
        self._message._changed()

    def extend(self, values):
        self._items.extend([self._check(value) for value in values])
        self._message._changed()

    def sort(self, *, key=None, reverse=False):
        """Sorts the items in place."""
        self._items.sort(key=key, reverse=reverse)

    def MergeFrom(self, other):  # noqa: N802
        """Appends the items of another such field."""
        self.extend(other)

    def __eq__(self, other):
        if isinstance(other, _Repeated):
            other = other._items
        return self._items == other if isinstance(other, list) else NotImplemented

    def __repr__(self):
        return repr(self._items)


class RepeatedScalarContainer(_Repeated):
    """The values of a repeated field: a list that takes values of one type only."""

    __slots__ = ()

    def _check(self, value):
        return SCALARS[self._field.kind].check(value)

    def _copied_items(self):
        return self._items.copy()

    def __setitem__(self, index, value):
        if isinstance(index, slice):
            self._items[index] = [self._check(each) for each in value]
        else:
            self._items[index] = self._check(value)

    def _write(self, parts, deterministic):
        if not self._items:
            return
        key = tag(self._field.number, BYTES)
        pack = SCALARS[self._field.kind].packed
        for body in self._items if pack is None else [pack(self._items)]:
            parts += (key, varint(len(body)), body)

    def _read(self, wire, value):
        kind = SCALARS[self._field.kind]
        if kind.unpack is None:
            self._items.append(value)
        elif wire == VARINT:
            self._items.append(signed(value))
        else:
            self._items.extend(kind.unpack(value))

    def _lines(self, name):
        return [f"{name}: {SCALARS[self._field.kind].shown(item)}" for item in self._items]


class RepeatedCompositeContainer(_Repeated):
    """The messages of a repeated field."""

    __slots__ = ()

    def _check(self, value):
        if not isinstance(value, dict) and not hasattr(value, "_merge"):
            raise TypeError(f"Expected a message object, but got {value!r}.")
        return as_message(self._field.kind, value)

    def _copied_items(self):
        return [item.__deepcopy__(None) for item in self._items]

    def __setitem__(self, index, value):
        raise TypeError("Messages in a repeated field may not be assigned.")

    def add(self, **fields):
        """Appends a new message and returns it."""
        self.append(self._field.kind(**fields))
        return self._items[-1]

    def _write(self, parts, deterministic):
        for item in self._items:
            body = item.SerializeToString(deterministic=deterministic)
            parts += (tag(self._field.number, BYTES), varint(len(body)), body)

    def _read(self, wire, value):
        item = self._field.kind()
        item._merge(value)
        self._items.append(item)

    def _lines(self, name):
        return [line for item in self._items for line in block(name, item._lines())]


class MessageMapContainer(MutableMapping):
    """The messages of a map by their keys; one that is not there is made when asked for."""

    __slots__ = ("_field", "_items", "_message")

    def __init__(self, message, field):
        self._message, self._field, self._items = message, field, {}

    def _key(self, key):
        if isinstance(key, bytes):
            return key.decode()
        if not isinstance(key, str):
            raise TypeError("bad argument type for built-in operation")
        return key

    def _copied_items(self):
        return {key: item.__deepcopy__(None) for key, item in self._items.items()}

    def _take(self, items):
        for key, value in dict(items).items():
            self._items[self._key(key)] = as_message(self._field.kind, value)

    def __getitem__(self, key):
        key = self._key(key)
        if key not in self._items:
            self._items[key] = self._field.kind()
            self._message._changed()
        return self._items[key]

    def __setitem__(self, key, value):
        raise ValueError("Message objects may not be assigned")

    def __delitem__(self, key):
        del self._items[self._key(key)]

    def __contains__(self, key):
        return self._key(key) in self._items

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def get(self, key, default=None):
        return self._items.get(self._key(key), default)

    def get_or_create(self, key):
        """The message of a key, made if it is not there."""
        return self[key]

    def clear(self):
        self._items.clear()

    def MergeFrom(self, other):  # noqa: N802
        """Takes over the entries of another such map."""
        self._take(other)
        self._message._changed()

    def __eq__(self, other):
        if isinstance(other, MessageMapContainer):
            other = other._items
        return self._items == other if isinstance(other, dict) else NotImplemented

    def __repr__(self):
        return repr(self._items)

    def _write(self, parts, deterministic):
        for key in sorted(self._items) if deterministic else self._items:
            name = key.encode()
            body = self._items[key].SerializeToString(deterministic=deterministic)
            entry = b"".join([b"\n", varint(len(name)), name, b"\x12", varint(len(body)), body])
            parts += (tag(self._field.number, BYTES), varint(len(entry)), entry)

    def _read(self, wire, value):
        key, item = "", self._field.kind()
        for number, kind, part in wire_values(value):
            if kind == BYTES and number == 1:
                key = part.decode()
            elif kind == BYTES and number == 2:
                item._merge(part)
        self._items[key] = item

    def _lines(self, name):
        for key, item in self._items.items():
            parts = [f"key: {_shown_bytes(key.encode())}", *block("value", item._lines())]
            yield from block(name, parts)


CONTAINERS = {
    "list": RepeatedScalarContainer,
    "messages": RepeatedCompositeContainer,
    "map": MessageMapContainer,
}
