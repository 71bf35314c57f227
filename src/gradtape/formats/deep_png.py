"""PNG files of 16 bits a channel, which Pillow would round to 8."""

import struct
import zlib

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}


def is_deep(data):
    """Whether a PNG file has 16 bits a channel, written row by row."""
    return data[12:16] == b"IHDR" and data[24:25] == b"\x10" and data[28:29] == b"\0"


def encode_deep(array, compression):
    """Pixels [height, width, channels] in 16 bits as a PNG file."""
    height, width, channels = array.shape
    header = struct.pack(">IIBBBBB", width, height, 16, _COLOUR_TYPES[channels], 0, 0, 0)
    rows = array.astype(">u2").reshape(height, -1).view(np.uint8)
    filtered = np.concatenate([np.zeros((height, 1), np.uint8), rows], 1)
    body = zlib.compress(filtered.tobytes(), compression)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def decode_deep(data):
    """The pixels [height, width, channels] of a PNG file in 16 bits."""
    width, height = struct.unpack(">II", data[16:24])
    channels = _CHANNELS[data[25]]
    packed, place = b"", 8
    while place < len(data):
        size = struct.unpack_from(">I", data, place)[0]
        if data[place + 4 : place + 8] == b"IDAT":
            packed += data[place + 8 : place + 8 + size]
        place += size + 12
    step = 2 * channels
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * step)
    above = np.zeros(width * step, np.uint8)
    rows = []
    for line in lines:
        above = _unfiltered(line[0], line[1:], above, step)
        rows.append(above)
    return np.stack(rows).view(">u2").astype(np.uint16).reshape(height, width, channels)


def _unfiltered(kind, line, above, step):
    """A row from its differences: to the left, above, the mean of both, or the nearest of three."""
    if kind == 0:
        return line.copy()
    if kind == 2:
        return line + above
    if kind == 1:
        pixels = line.reshape(-1, step)
        return np.add.accumulate(pixels, 0, np.uint8).ravel()
    row = line.astype(int).tolist()
    upper = above.astype(int).tolist()
    for i in range(len(row)):
        left = row[i - step] if i >= step else 0
        if kind == 3:
            guess = (left + upper[i]) // 2
        else:
            guess = _nearest(left, upper[i], upper[i - step] if i >= step else 0)
        row[i] = (row[i] + guess) & 0xFF
    return np.array(row, np.uint8)


def _nearest(left, up, corner):
    """Of three neighbours the one nearest to left + up - corner."""
    away = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    if away[0] <= away[1] and away[0] <= away[2]:
        return left
    return up if away[1] <= away[2] else corner
