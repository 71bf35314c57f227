"""Permutations of ``range(max_index + 1)`` that give one place at a time, by the cipher Simon.

A block cipher permutes all numbers of twice the width of its words (Beaulieu et al., "The Simon and
Speck families of lightweight block ciphers", 2013, with keys of three words). The width is the
smallest, but at least 8 bits, that holds the largest number; a result that is too large is
encrypted again until it is not, which leaves a permutation of the others.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_KEY_WORDS = 3
_SMALLEST_WIDTH = 8
# The bits that make the round keys differ, the first one lowest: z2 of the publication.
_KEY_BITS = int("11001101101001111110001000010100011001001011000000111011110101", 2)


def permuted(
    index: NDArray[np.uint64], key: tuple[int, int, int], max_index: int, rounds: int
) -> NDArray[np.uint64]:
    """Where a permutation of ``range(max_index + 1)`` takes each index."""
    bits = max(max_index - 1, 0).bit_length()
    width = max((bits + 1) // 2, _SMALLEST_WIDTH)
    round_keys = _round_keys(key, width, rounds)
    if width == _SMALLEST_WIDTH and index.size:
        # The way to a small number may be long, so all ways are followed at once.
        steps = _steps_of_smallest(round_keys, max_index)
        result = _encrypted(index, width, round_keys)
        return np.where(result > max_index, steps[result], result)
    result = _encrypted(index, width, round_keys)
    beyond = np.flatnonzero(result > max_index)
    while beyond.size:
        result[beyond] = _encrypted(result[beyond], width, round_keys)
        beyond = beyond[result[beyond] > max_index]
    return result


def _round_keys(key: tuple[int, int, int], width: int, rounds: int) -> tuple[int, ...]:
    mask = (1 << width) - 1
    # Those beyond the width are 0.
    key_bits = _KEY_BITS & mask
    keys = [word & mask for word in key]
    for place in range(rounds - _KEY_WORDS):
        mixed = _rotated(keys[-1], width - 3, width)
        mixed ^= _rotated(mixed, width - 1, width)
        bit = key_bits >> place % 62 & 1
        keys.append(~keys[place] & mask ^ mixed ^ bit ^ 3)
    return tuple(keys)


def _rotated(word: Any, left: int, width: int) -> Any:
    """A word, or an array of them, rotated to the left."""
    left, mask = left % width, (1 << width) - 1
    return (word << left | word >> (width - left)) & mask


def _encrypted(
    index: NDArray[np.uint64], width: int, round_keys: tuple[int, ...]
) -> NDArray[np.uint64]:
    shift, mask = np.uint64(width), np.uint64((1 << width) - 1)
    low, high = index & mask, index >> shift & mask
    for key in round_keys:
        mixed = _rotated(low, 1, width) & _rotated(low, 8, width) ^ _rotated(low, 2, width)
        low, high = high ^ mixed ^ np.uint64(key), low
    return high << shift | low


@lru_cache(maxsize=8)  # indices of one permutation are often asked for one by one
def _steps_of_smallest(round_keys: tuple[int, ...], max_index: int) -> NDArray[np.uint64]:
    """For each number the first after it, encrypted again and again, that is not too large."""
    numbers = np.arange(1 << 2 * _SMALLEST_WIDTH, dtype=np.uint64)
    steps = _encrypted(numbers, _SMALLEST_WIDTH, round_keys)
    beyond = np.flatnonzero(steps > max_index)
    # Every pass doubles the strides; a cycle of large numbers alone would never end.
    for _ in range(2 * _SMALLEST_WIDTH):
        steps[beyond] = steps[steps[beyond]]
        beyond = beyond[steps[beyond] > max_index]
    return steps
