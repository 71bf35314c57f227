"""Cases of gradtape.ops.index_shuffle; the numbers are TensorFlow's."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.op import NON_DIFFERENTIABLE

from ..case import Case, Failure, Sample

_ATTRS = {"rounds": 4}
_SEED = np.array([1, 2, 3], np.int32)
_ROWS = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.int32)


def _int32(*numbers):
    return np.array(numbers, np.int32)


def _failure(index, seed, max_index, match, rounds=4):
    return Failure((index, seed, max_index), {"rounds": rounds}, InvalidArgumentError, match)


_Z2 = "10101111011100000011010010011000101000010001111110010110110011"


def _encrypt(number, key, width, rounds):
    """Simon's block cipher in strings of bits, the lower word of a block being the left one."""

    def rotate(word, by):
        bits = f"{word:0{width}b}"
        return int(bits[by % width :] + bits[: by % width], 2)

    mask = 2**width - 1
    keys = [word % 2**width for word in key]
    while len(keys) < rounds:
        place = len(keys) - 3
        mixed = rotate(keys[-1], -3)
        bit = int(_Z2[place]) if place < width else 0
        keys.append((keys[-3] ^ mask) ^ mixed ^ rotate(mixed, -1) ^ bit ^ 3)
    left, right = number & mask, number >> width & mask
    for k in keys[:rounds]:
        left, right = right ^ (rotate(left, 1) & rotate(left, 8)) ^ rotate(left, 2) ^ k, left
    return right << width | left


def _reference(index, seed, max_index, rounds):
    index, seed, max_index = (x.astype(object) for x in (index, seed, max_index))
    size = [*index.shape, *seed.shape[:-1], *max_index.shape][:1]
    result = []
    for i, limit, *key in np.broadcast(
        np.broadcast_to(index, size), max_index, *np.moveaxis(seed, -1, 0)
    ):
        width = max(-(-max(limit - 1, 0).bit_length() // 2), 8)
        i = _encrypt(i, key, width, rounds)
        while i > limit:
            i = _encrypt(i, key, width, rounds)
        result.append(i)
    return np.array(result).reshape(size)


CASES = [
    Case(
        op="RandomIndexShuffle",
        state=NON_DIFFERENTIABLE,
        samples=[
            Sample((np.int32(100), -_SEED, np.int32(500000)), _ATTRS, expected=np.int32(496027)),
            Sample(
                (np.int32(100), np.array([2**33 + 1, 2**40 + 2, 3]), np.int32(500000)),
                _ATTRS,
                expected=np.int32(357626),
            ),
            Sample(
                (_int32(0, 1, 2), _ROWS, _int32(500000, 50, 60)),
                _ATTRS,
                expected=_int32(27350, 45, 31),
            ),
            Sample(
                (np.int32(1), _ROWS, np.int32(500000)),
                _ATTRS,
                expected=_int32(97223, 22817, 31042),
            ),
            Sample((np.int32(1), _SEED, _int32(5, 6)), _ATTRS, expected=_int32(0, 0)),
            Sample((_int32(1), _ROWS[:1], _int32(5)), _ATTRS, expected=_int32(0)),
            # The largest index is a power of two, one more than the cipher has numbers.
            Sample(
                (_int32(65536, 65535), _SEED, np.int32(65536)),
                _ATTRS,
                expected=_int32(7886, 58889),
            ),
            Sample(
                (np.array([7, 300, 4999]), _SEED.astype(np.int64), np.array(5000)), {"rounds": 24}
            ),
            Sample((np.array([2**40 - 5]), np.array([5, -6, 7]), np.array(2**40)), {"rounds": 8}),
        ],
        reference=_reference,
        failures=[
            _failure(np.int32(-1), _SEED, np.int32(5), "index must be >= 0 but was -1"),
            _failure(np.int32(0), _SEED, np.int32(-1), "max_index must be >= 0 but was -1"),
            _failure(_int32(1, 9), _SEED, np.int32(5), "max_index must be >= index, but 5 < 9"),
            _failure(_int32(1, 2), _SEED, _int32(5, 5, 5), "Maxval must be a scalar or a vector"),
            _failure(_int32(1, 2), _SEED[:2], np.int32(5), r"Seed must be .* \[2, 3\] but got"),
            _failure(_int32(), _SEED, np.int32(5), "must be a scalar or vector"),
            _failure(_ROWS, _SEED, np.int32(9), "must be a scalar or vector"),
            _failure(np.int32(1), _SEED, np.int64(5), r"input #2\(zero-based\)"),
            _failure(1.0, _SEED, 5.0, "double is not in the list"),
        ],
    ),
]
