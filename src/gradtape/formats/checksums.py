"""CRC-32C, the checksum of TFRecord files.

Checksums of many bytes are computed in parallel: a checksum is linear (sums are exclusive ors), so
it is the sum of what each byte contributes, which a table gives by the byte and its distance from
the end. Of longer data blocks are summed up so, and then folded pair by pair.
"""

import functools
import struct

import numpy as np

_POLYNOMIAL = np.uint32(0x82F63B78)
_BLOCK = 1024
# Bytes taken at a time, which bounds the memory needed.
_PIECE = 256 * _BLOCK
# Up to here a loop in Python is quicker.
_SHORT = 48


def masked_crc(data):
    """The checksum of bytes as TFRecord files hold it, four bytes."""
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def crc32c(data):
    """The CRC-32C of bytes."""
    crc = 0xFFFFFFFF
    for start in range(0, len(data), _PIECE):
        piece = data[start : start + _PIECE]
        size = len(piece)
        crc = (_short if size <= _SHORT else _block if size <= _BLOCK else _long)(crc, piece)
    return crc ^ 0xFFFFFFFF


def _short(crc, data):
    table = _byte_table()
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc


def _block(crc, data):
    """As `_short`."""
    size = len(data)
    places = np.frombuffer(data, np.uint8) + _places()[-size:]
    found = np.bitwise_xor.reduce(_contributions().take(places))
    return int(found) ^ _before(crc, size)


@functools.lru_cache(4096)
def _before(crc, size):
    """What a checksum becomes by so many zeros: as if it were added to the first four bytes."""
    table = _contributions().reshape(_BLOCK, 256)[_BLOCK - size :]
    return int(np.bitwise_xor.reduce(table[range(4), list(struct.pack("<I", crc))]))


def _long(crc, data):
    """As `_short`, block by block."""
    size = len(data)
    rows = -(-size // _BLOCK)
    numbers = np.zeros(rows * _BLOCK, np.uint8)  # zeros in front change nothing
    numbers[-size:] = np.frombuffer(data, np.uint8)
    numbers[-size : 4 - size or None] ^= np.frombuffer(struct.pack("<I", crc), np.uint8)
    places = numbers.reshape(rows, _BLOCK) + _places()
    sums = np.bitwise_xor.reduce(_contributions().take(places), axis=1)
    power = 0
    while len(sums) > 1:
        if len(sums) % 2:
            sums = np.concatenate([np.zeros(1, np.uint32), sums])
        sums = _moved(sums[::2], _moves(power)) ^ sums[1::2]
        power += 1
    return int(sums[0])


@functools.cache
def _byte_table():
    """What each byte contributes as the last one."""
    values = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        values = (values >> np.uint32(1)) ^ (_POLYNOMIAL * (values & np.uint32(1)))
    return values.tolist()


@functools.cache
def _contributions():
    """What each byte contributes in each place of a block, place by place."""
    last = np.array(_byte_table(), np.uint32)
    table = np.empty((_BLOCK, 256), np.uint32)
    table[-1] = last
    for place in range(_BLOCK - 2, -1, -1):
        later = table[place + 1]
        table[place] = last[later & np.uint32(0xFF)] ^ (later >> np.uint32(8))
    return table.ravel()


@functools.cache
def _places():
    """Where the part of each place of a block begins in that table."""
    return np.arange(_BLOCK, dtype=np.intp) * 256


@functools.cache
def _moves(power):
    """How a checksum changes by zeros behind it, 2**power blocks of them: for each of its bytes."""
    if power:
        before = _moves(power - 1)
        return _moved(before, before)
    # A checksum before zeros is like its bytes in the first four places of the block.
    return _contributions().reshape(_BLOCK, 256)[:4]


def _moved(sums, moves):
    mask = np.uint32(0xFF)
    result = moves[0][sums & mask]
    for i in (1, 2, 3):
        result = result ^ moves[i][(sums >> np.uint32(8 * i)) & mask]
    return result
