"""Philox 4x32-10, the counter-based generator behind every random number.

A *block* is four 32-bit words, a pure function of a 64-bit key and a 128-bit counter (Salmon,
Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). The words of block
``counter``, ``counter + 1``, ... make the stream. Keys and counters are plain Python integers.
"""

import threading
from collections.abc import Callable, Iterable
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from gradtape.core.parallel import in_parts

WORDS_PER_BLOCK = 4

_ROUNDS = 10
_WORD = 0xFFFFFFFF
_DOUBLE_WORD = (1 << 64) - 1
_COUNTER_PERIOD = 1 << 128
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)

# Blocks per pass: enough for the calls of two threads not to wait for each other.
_CHUNK = 65536
# Up to this many blocks, Python's integers are quicker than the fixed cost of a NumPy call.
_FEW_BLOCKS = 128

_U64_WORD = np.array(_WORD, np.uint64)
_U64_SHIFT = np.array(32, np.uint64)
_U64_MULTIPLIERS = tuple(np.array(m, np.uint64) for m in _MULTIPLIERS)

# Turns a stateless seed pair into a key and a counter: a fixed key for one Philox block.
_SEED_SCRAMBLING_KEY = 0x02461E293EC8F720


class _WorkSpace(threading.local):
    """Memory that a thread keeps, as fresh memory costs as much as several rounds."""

    def __init__(self) -> None:
        self.array = np.empty(0, np.uint64)


_work_spaces = _WorkSpace()


def work_space(rows: int, columns: int) -> list[NDArray[np.uint64]]:
    """Uninitialised contiguous arrays that this thread's next call gives out again."""
    # Rows a multiple of 4096 bytes apart would make the processor wait for stores to other rows.
    width = columns + 72
    if _work_spaces.array.size < rows * width:
        _work_spaces.array = np.empty(rows * width, np.uint64)
    array = _work_spaces.array
    return [array[row * width : row * width + columns] for row in range(rows)]


def random_words(
    key: int,
    counter: int,
    blocks: int,
    then: Callable[[NDArray[np.uint32]], None] | None = None,
) -> NDArray[np.uint32]:
    """The ``4 * blocks`` words of the consecutive blocks that start at ``counter``.

    Args:
        key: the key.
        counter: the counter of the first block.
        blocks: how many.
        then: changes each part of the result in place as soon as it is made, in the same thread.
    """
    round_keys = _round_keys(key)
    if blocks <= _FEW_BLOCKS:
        words = _few_blocks(round_keys, range(counter, counter + blocks)).reshape(-1)
        if then is not None:
            then(words)
        return words
    words = np.empty(blocks * WORDS_PER_BLOCK, np.uint32)
    pairs = words.view(np.uint64).reshape(-1, 2)

    def fill(start: int, stop: int) -> None:
        while start < stop:
            first = counter + start
            # No part may cross a multiple of 2**32: the higher words of its counters are constant.
            end = min(start + _CHUNK, stop, start + (1 << 32) - (first & _WORD))
            _fill_consecutive(pairs[start:end], round_keys, first)
            if then is not None:
                then(words[start * WORDS_PER_BLOCK : end * WORDS_PER_BLOCK])
            start = end

    in_parts(fill, blocks, _CHUNK // 2)
    return words


def random_words_at(key: int, counter: int, offsets: NDArray[np.int64]) -> NDArray[np.uint32]:
    """One row of four words for each of the blocks ``counter + offsets`` (offsets >= 0)."""
    round_keys = _round_keys(key)
    if offsets.size <= _FEW_BLOCKS:
        return _few_blocks(round_keys, [counter + offset for offset in offsets.tolist()])
    words = np.empty((offsets.size, WORDS_PER_BLOCK), np.uint32)
    pairs = words.view(np.uint64)

    def fill(start: int, stop: int) -> None:
        for first in range(start, stop, _CHUNK):
            last = min(first + _CHUNK, stop)
            space = work_space(6, last - first)
            w0, b, w2, a, _, _ = space
            _counter_words(counter, offsets[first:last], (w0, b, w2, a))
            _run_rounds(pairs[first:last], round_keys, space)

    in_parts(fill, offsets.size, _CHUNK // 2)
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


def _counter_words(
    start: int, offsets: NDArray[np.int64], words: Iterable[NDArray[np.uint64]]
) -> None:
    """Writes the four words of each counter ``start + offsets``, lowest first, in 64-bit lanes."""
    carry = offsets.astype(np.uint64)
    for position, word in enumerate(words):
        total = (carry & _U64_WORD) + np.uint64(start >> 32 * position & _WORD)
        carry = (carry >> _U64_SHIFT) + (total >> _U64_SHIFT)
        np.bitwise_and(total, _U64_WORD, out=word)


def _fill_consecutive(
    pairs: NDArray[np.uint64], round_keys: list[tuple[int, int]], counter: int
) -> None:
    """Consecutive blocks: their counters differ in one word, which spreads in three rounds."""
    count = len(pairs)
    space = work_space(6, count)
    w0, b, w2, a, w1, w3 = space
    multiply_a, multiply_b = _U64_MULTIPLIERS
    c0, c1, c2, c3 = [counter >> 32 * place & _WORD for place in range(WORDS_PER_BLOCK)]
    (k0, k1), (k2, k3), (k4, k5) = round_keys[:3]
    # Round 1: the first and second word become the same in all blocks.
    np.multiply(np.arange(c0, c0 + count, dtype=np.uint64), multiply_a, out=a)
    same_b = c2 * _MULTIPLIERS[1]
    same_w0, same_w1 = same_b >> 32 ^ c1 ^ k0, same_b & _WORD
    np.right_shift(a, _U64_SHIFT, out=w2)
    np.bitwise_xor(w2, np.uint64(c3 ^ k1), out=w2)
    np.bitwise_and(a, _U64_WORD, out=w3)
    # Round 2: the fourth does.
    np.multiply(w2, multiply_b, out=b)
    same_a = same_w0 * _MULTIPLIERS[0]
    same_w3 = same_a & _WORD
    np.right_shift(b, _U64_SHIFT, out=w0)
    np.bitwise_xor(w0, np.uint64(same_w1 ^ k2), out=w0)
    np.bitwise_xor(w3, np.uint64(same_a >> 32 ^ k3), out=w2)
    np.bitwise_and(b, _U64_WORD, out=w1)
    # Round 3: none is the same any more.
    np.multiply(w0, multiply_a, out=a)
    np.multiply(w2, multiply_b, out=b)
    np.right_shift(b, _U64_SHIFT, out=w0)
    np.bitwise_xor(w0, w1, out=w0)
    np.bitwise_xor(w0, np.uint64(k4), out=w0)
    np.right_shift(a, _U64_SHIFT, out=w2)
    np.bitwise_xor(w2, np.uint64(same_w3 ^ k5), out=w2)
    _run_rounds(pairs, round_keys[3:], space)


def _run_rounds(
    pairs: NDArray[np.uint64],
    round_keys: list[tuple[int, int]],
    space: list[NDArray[np.uint64]],
) -> None:
    """Rounds of many blocks, written as two numbers of two words each.

    The work space holds the first words, numbers whose low halves are the second words, likewise
    the third and the fourth, and two arrays to work with.
    """
    w0, b, w2, a, w1, w3 = space
    multiply_a, multiply_b = _U64_MULTIPLIERS
    for key_low, key_high in round_keys:
        np.bitwise_and(b, _U64_WORD, out=w1)
        np.bitwise_and(a, _U64_WORD, out=w3)
        np.multiply(w0, multiply_a, out=a)
        np.multiply(w2, multiply_b, out=b)
        np.right_shift(b, _U64_SHIFT, out=w0)
        np.bitwise_xor(w0, w1, out=w0)
        np.bitwise_xor(w0, np.uint64(key_low), out=w0)
        np.right_shift(a, _U64_SHIFT, out=w2)
        np.bitwise_xor(w2, w3, out=w2)
        np.bitwise_xor(w2, np.uint64(key_high), out=w2)
    for place, (low, high) in enumerate(((w0, b), (w2, a))):
        np.left_shift(high, _U64_SHIFT, out=high)
        np.bitwise_or(low, high, out=pairs[:, place])
