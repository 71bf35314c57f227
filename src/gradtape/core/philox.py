"""Philox 4x32-10, the counter-based generator behind every random number.

A *block* is four 32-bit words, a pure function of a 64-bit key and a 128-bit counter (Salmon,
Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). The words of block
``counter``, ``counter + 1``, ... make the stream. Keys and counters are plain Python integers.
"""

from collections.abc import Iterable
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

WORDS_PER_BLOCK = 4

_ROUNDS = 10
_WORD = 0xFFFFFFFF
_DOUBLE_WORD = (1 << 64) - 1
_COUNTER_PERIOD = 1 << 128
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)

# Blocks per pass: enough to hide the cost of a NumPy call, few enough to stay in cache.
_CHUNK = 16384
# Up to this many blocks, Python's integers are quicker than the fixed cost of a NumPy call.
_FEW_BLOCKS = 128

_U64_WORD = np.uint64(_WORD)
_U64_SHIFT = np.uint64(32)
_U64_MULTIPLIERS = tuple(np.uint64(m) for m in _MULTIPLIERS)

# Turns a stateless seed pair into a key and a counter: a fixed key for one Philox block.
_SEED_SCRAMBLING_KEY = 0x02461E293EC8F720


def random_words(key: int, counter: int, blocks: int) -> NDArray[np.uint32]:
    """The ``4 * blocks`` words of the consecutive blocks that start at ``counter``."""
    if blocks <= _FEW_BLOCKS:
        return _few_blocks(_round_keys(key), range(counter, counter + blocks)).reshape(-1)
    return random_words_at(key, counter, np.arange(blocks)).reshape(-1)


def random_words_at(key: int, counter: int, offsets: NDArray[np.int64]) -> NDArray[np.uint32]:
    """One row of four words for each of the blocks ``counter + offsets`` (offsets >= 0)."""
    round_keys = _round_keys(key)
    if offsets.size <= _FEW_BLOCKS:
        return _few_blocks(round_keys, [counter + offset for offset in offsets.tolist()])
    words = np.empty((offsets.size, WORDS_PER_BLOCK), np.uint32)
    for first in range(0, offsets.size, _CHUNK):
        part = offsets[first : first + _CHUNK].astype(np.uint64)
        _fill(words[first : first + _CHUNK], round_keys, _counter_words(counter, part))
    return words


def key_and_counter_from_seed(first: int, second: int) -> tuple[int, int]:
    """The key and the start counter that a stateless seed ``[first, second]`` stands for."""
    counter = (first & _DOUBLE_WORD) | (second & _DOUBLE_WORD) << 64
    w0, w1, w2, w3 = random_words(_SEED_SCRAMBLING_KEY, counter, 1).tolist()
    return w0 | w1 << 32, (w2 | w3 << 32) << 64


@lru_cache(maxsize=256)  # a program has few keys: its seeds
def _round_keys(key: int) -> list[tuple[int, int]]:
    low, high = key & _WORD, key >> 32 & _WORD
    step_low, step_high = _KEY_STEPS
    return [(low + step_low * r & _WORD, high + step_high * r & _WORD) for r in range(_ROUNDS)]


@cache
def _lane_masks(count: int) -> tuple[int, int]:
    """Integers with the lowest bit, and the lowest word, of ``count`` 128-bit lanes set."""
    ones = sum(1 << 128 * lane for lane in range(count))
    return ones, ones * _WORD


def _few_blocks(round_keys: list[tuple[int, int]], counters: Iterable[int]) -> NDArray[np.uint32]:
    """Few blocks at once, side by side in 128-bit lanes of one long integer.

    The product of a 32-bit word and a 32-bit multiplier never leaves its lane, so a single
    multiplication of long integers multiplies all lanes.
    """
    packed = b"".join([(c % _COUNTER_PERIOD).to_bytes(16, "little") for c in counters])
    lanes = int.from_bytes(packed, "little")
    ones, word = _lane_masks(len(packed) // 16)
    multiply_a, multiply_b = _MULTIPLIERS
    w0, w1, w2, w3 = lanes & word, lanes >> 32 & word, lanes >> 64 & word, lanes >> 96 & word
    for key_low, key_high in round_keys:
        a = w0 * multiply_a
        b = w2 * multiply_b
        w0 = (b >> 32 & word) ^ w1 ^ ones * key_low
        w2 = (a >> 32 & word) ^ w3 ^ ones * key_high
        w1 = b & word
        w3 = a & word
    lanes = w0 | w1 << 32 | w2 << 64 | w3 << 96
    words = np.frombuffer(bytearray(lanes.to_bytes(len(packed), "little")), "<u4")
    return words.reshape(-1, WORDS_PER_BLOCK)


def _counter_words(start: int, offsets: NDArray[np.uint64]) -> list[NDArray[np.uint64]]:
    """The four words of each counter ``start + offsets``, lowest first, in 64-bit lanes."""
    words = []
    carry = offsets
    for position in range(WORDS_PER_BLOCK):
        total = (carry & _U64_WORD) + np.uint64(start >> 32 * position & _WORD)
        carry = (carry >> _U64_SHIFT) + (total >> _U64_SHIFT)
        words.append(total & _U64_WORD)
    return words


def _fill(
    words: NDArray[np.uint32],
    round_keys: list[tuple[int, int]],
    counter_words: list[NDArray[np.uint64]],
) -> None:
    """Many blocks at once; the arrays of counter words serve as work space."""
    w0, w1, w2, w3 = counter_words
    a = np.empty_like(w0)
    b = np.empty_like(w0)
    multiply_a, multiply_b = _U64_MULTIPLIERS
    for key_low, key_high in round_keys:
        np.multiply(w0, multiply_a, out=a)
        np.multiply(w2, multiply_b, out=b)
        np.right_shift(b, _U64_SHIFT, out=w0)
        np.bitwise_xor(w0, w1, out=w0)
        np.bitwise_xor(w0, np.uint64(key_low), out=w0)
        np.right_shift(a, _U64_SHIFT, out=w2)
        np.bitwise_xor(w2, w3, out=w2)
        np.bitwise_xor(w2, np.uint64(key_high), out=w2)
        np.bitwise_and(b, _U64_WORD, out=w1)
        np.bitwise_and(a, _U64_WORD, out=w3)
    for position, word in enumerate((w0, w1, w2, w3)):
        words[:, position] = word
