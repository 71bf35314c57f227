"""Protocol buffer messages in Python, without their library: fields, wire format, text form.

A kind of message is a subclass that says what its fields are. As in the library, a message that is
not there is made when it is asked for, and becomes part of the one around it when it is changed.
"""

import copy
import struct
from typing import ClassVar

from ..core.errors import DataLossError
from .message_fields import CONTAINERS, SCALARS, Field, as_message, block, iterable
from .proto_descriptors import BYTES, wire_values
from .varints import encoded, tag, varint


class DecodeError(Exception):
    """Bytes are not a message."""


class Message:
    """A message. Fields are attributes; those that hold one message are made on demand."""

    __slots__ = ("_absent", "_owner", "_unknown", "_values")
    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]

    _fields: ClassVar[dict[str, Field]] = {}
    # Of the fields of a group at most one is there.
    _groups: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __init__(self, *args, **fields):
        if args:
            raise TypeError("No positional arguments allowed")
        self._reset()
        for name, value in fields.items():
            field = self._field(name)
            if value is None:
                continue
            if field.many == "map":
                self._values[name]._take(value)
            elif field.many:
                self._values[name].extend(iterable(value))
            else:
                self._set(name, as_message(field.kind, value))

    def _reset(self, owner=None):
        setattr_ = object.__setattr__
        setattr_(self, "_owner", owner)
        setattr_(self, "_values", {})
        setattr_(self, "_absent", {})
        setattr_(self, "_unknown", b"")
        for name, field in self._fields.items():
            if field.many:
                self._values[name] = CONTAINERS[field.many](self, field)

    @classmethod
    def _field(cls, name):
        if name not in cls._fields:
            raise ValueError(f'Protocol message {cls.__name__} has no "{name}" field.')
        return cls._fields[name]

    def _changed(self):
        """Makes this message part of the one it was asked from."""
        if self._owner is not None:
            owner, name = self._owner
            object.__setattr__(self, "_owner", None)
            owner._set(name, self)

    def _set(self, name, message):
        for group in self._groups.values():
            if name in group:
                for other in group:
                    self._values.pop(other, None)
        self._absent.pop(name, None)
        self._values[name] = message
        self._changed()

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._fields:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name in self._values:
            return self._values[name]
        if name not in self._absent:
            self._absent[name] = message = self._fields[name].kind()
            object.__setattr__(message, "_owner", (self, name))
        return self._absent[name]

    def __setattr__(self, name, value):
        if name not in self._fields:
            raise AttributeError(f'Protocol message {type(self).__name__} has no "{name}" field.')
        what = "map, or repeated" if self._fields[name].many else "message"
        raise AttributeError(
            f'Assignment not allowed to {what} field "{name}" in protocol message object.'
        )

    # What is there ------------------------------------------------------------------------------

    def HasField(self, field_name):  # noqa: N802 - the name is the library's
        """Whether a field that holds one message is there, or one of a group."""
        if field_name in self._groups:
            return self.WhichOneof(field_name) is not None
        if self._field(field_name).many:
            raise ValueError(f"Field {type(self).__name__}.{field_name} does not have presence.")
        return field_name in self._values

    def WhichOneof(self, oneof_group):  # noqa: N802
        """The name of the field of a group that is there, or None."""
        if oneof_group not in self._groups:
            self._field("" if oneof_group in self._fields else oneof_group)
        return next((name for name in self._groups[oneof_group] if name in self._values), None)

    def ClearField(self, field_name):  # noqa: N802
        """Empties a field."""
        if self._field(field_name).many:
            self._values[field_name].clear()
        else:
            self._values.pop(field_name, None)

    def Clear(self):  # noqa: N802
        """Empties all fields."""
        owner = self._owner
        self._reset(owner)
        self._changed()

    def SetInParent(self):  # noqa: N802
        """Makes this message part of the one it was asked from, empty as it may be."""
        self._changed()

    def IsInitialized(self):  # noqa: N802
        """Whether all required fields are there: there are none."""
        return True

    def CopyFrom(self, other_msg):  # noqa: N802
        """Makes this message equal to another one of its type."""
        if other_msg is not self:
            self.Clear()
            self.MergeFrom(other_msg)

    def MergeFrom(self, other_msg):  # noqa: N802
        """Adds what another message of this type holds."""
        if type(other_msg) is not type(self):
            raise TypeError(
                f"Parameter to MergeFrom() must be instance of same class: expected "
                f"{type(self).__name__}, got {type(other_msg).__name__}."
            )
        self.MergeFromString(other_msg.SerializeToString())

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return self._values == other._values and self._unknown == other._unknown

    def __deepcopy__(self, memo):
        message = type(self)()
        for name, value in self._values.items():
            if self._fields[name].many:
                message._values[name]._items = value._copied_items()
            else:
                message._values[name] = value.__deepcopy__(memo)
        object.__setattr__(message, "_unknown", self._unknown)
        return message

    def __copy__(self):
        return copy.deepcopy(self)

    def __reduce__(self):
        return type(self).FromString, (self.SerializeToString(),)

    # Wire format --------------------------------------------------------------------------------

    def SerializeToString(self, *, deterministic=False):  # noqa: N802
        """The message as bytes.

        Args:
            deterministic: whether the entries of maps come in the order of their keys.
        """
        parts = []
        for name, field in self._fields.items():
            if field.many:
                self._values[name]._write(parts, deterministic)
            elif name in self._values:
                body = self._values[name].SerializeToString(deterministic=deterministic)
                parts += (tag(field.number, BYTES), varint(len(body)), body)
        return b"".join([*parts, self._unknown])

    SerializePartialToString = SerializeToString

    def ByteSize(self):  # noqa: N802
        """How many bytes the message takes."""
        return len(self.SerializeToString())

    @classmethod
    def FromString(cls, s):  # noqa: N802
        """The message that bytes are.

        Raises:
            DecodeError: they are none.
        """
        message = cls()
        message.MergeFromString(s)
        return message

    def ParseFromString(self, serialized):  # noqa: N802
        """Becomes the message that bytes are; returns how many bytes these are."""
        self.Clear()
        return self.MergeFromString(serialized)

    def MergeFromString(self, serialized):  # noqa: N802
        """Adds the message that bytes are; returns how many bytes these are."""
        if not isinstance(serialized, (bytes, bytearray, memoryview)):
            raise TypeError(f"expected bytes, {type(serialized).__name__} found")
        data = bytes(serialized)
        try:
            self._merge(data)
        except (DataLossError, UnicodeDecodeError, struct.error):
            raise DecodeError(
                f"Error parsing message with type '{type(self).__name__}': Wire format was corrupt"
            ) from None
        return len(data)

    def _merge(self, data):
        self._changed()
        names = {field.number: name for name, field in self._fields.items()}
        for number, wire, value in wire_values(data):
            name = names.get(number, "")
            field = self._fields.get(name)
            if field is None or not (wire == BYTES or self._takes(field, wire)):
                object.__setattr__(self, "_unknown", self._unknown + encoded(number, wire, value))
            elif field.many:
                self._values[name]._read(wire, value)
            else:
                part = getattr(self, name)
                part._changed()
                part._merge(value)

    @staticmethod
    def _takes(field, wire):
        return field.many == "list" and SCALARS[field.kind].wire == wire

    # Text ---------------------------------------------------------------------------------------

    def __repr__(self):
        return "".join([f"{line}\n" for line in self._lines()])

    def _lines(self):
        for name, field in self._fields.items():
            if field.many:
                yield from self._values[name]._lines(name)
            elif name in self._values:
                yield from block(name, self._values[name]._lines())
