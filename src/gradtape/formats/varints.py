"""The wire format of protocol buffers, written: integers of any length, and fields."""

import functools

from .proto_descriptors import BYTES, END_GROUP, START_GROUP, VARINT


def varint(number):
    """A number as bytes of seven bits, the lowest first."""
    if 0 <= number < 0x80:
        return _SHORT[number]
    number &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


_SHORT = [bytes([number]) for number in range(0x80)]


@functools.cache
def tag(number, wire):
    """What stands before a value: the number of its field, and how it is written."""
    return varint(number << 3 | wire)


def signed(number):
    """A 64-bit number as what it means as a signed one."""
    return number - (1 << 64) if number >> 63 else number


def encoded(number, wire, value):
    """A field as bytes: its number, how its value is written, and the raw value."""
    if wire == VARINT:
        return tag(number, wire) + varint(value)
    if wire == BYTES:
        return tag(number, wire) + varint(len(value)) + value
    end = tag(number, END_GROUP) if wire == START_GROUP else b""
    return tag(number, wire) + value + end
