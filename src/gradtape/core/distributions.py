"""Uniform, normal and truncated normal samples from Philox words.

Each function returns a flat array of ``count`` samples that depends only on ``key`` and
``counter``. Samples come in *groups*: the words of one block make the four samples of a group,
two where a sample needs 64 bits. The kernels are a pure function of their arguments: whoever
calls them advances the counter.
"""

import math
from array import array
from collections.abc import Callable

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike, NDArray

from gradtape.core import c_math
from gradtape.core.philox import WORDS_PER_BLOCK, random_words, random_words_at, work_space

# Blocks set aside for each sample, whatever it uses: streams of later samples never overlap.
BLOCKS_PER_SAMPLE = 256

# Keeps log finite; the same in every precision.
_SMALLEST_UNIFORM = 1e-7
_TRUNCATION = 2.0
# Normal samples of float32 made in a pass, half as many pairs: as long as blocks per pass.
_CHUNK = 65536
# Up to this many words, Python's floats are quicker than the fixed cost of NumPy calls.
_FEW_WORDS = 32

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# For each type: the unsigned integer of its size, the bits of 1.0, the bits of the mantissa.
_UNIFORM_BITS = {
    np.dtype(np.float16): (np.uint16, 0x3C00, 0x03FF),
    BFLOAT16: (np.uint16, 0x3F80, 0x007F),
    np.dtype(np.float32): (np.uint32, 0x3F800000, 0x007FFFFF),
}


def uniform(key: int, counter: int, count: int, dtype: DTypeLike) -> NDArray:
    """Floats in [0, 1): random mantissas below an exponent of 0, minus 1."""
    dtype = np.dtype(dtype)
    if dtype == np.float64:
        return uniform_doubles(_words(key, counter, 2 * count))
    unsigned, one, mantissa = _UNIFORM_BITS[dtype]
    if dtype.itemsize == 4:
        return _words(key, counter, count, _make_uniform_floats).view(dtype)
    bits = _words(key, counter, count).astype(unsigned)
    bits &= unsigned(mantissa)
    bits |= unsigned(one)
    samples = bits.view(dtype)
    samples -= dtype.type(1)
    return samples


def uniform_doubles(words: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Doubles in [0, 1) from pairs of words along the last axis, the high word first."""
    bits = (words[..., 0::2] & np.uint32(0x000FFFFF)).astype(np.uint64)
    bits <<= np.uint64(32)
    bits |= words[..., 1::2]
    bits |= np.uint64(0x3FF0000000000000)
    samples = bits.view(np.float64)
    samples -= 1.0
    return samples


def uniform_full_int(key: int, counter: int, count: int, dtype: DTypeLike) -> NDArray:
    """Integers over the whole range of a 32- or 64-bit type; the low word comes first."""
    dtype = np.dtype(dtype)
    words = _words(key, counter, count * dtype.itemsize // 4)
    return words.view(dtype)


def uniform_int(
    key: int, counter: int, count: int, low: int, high: int, dtype: DTypeLike
) -> NDArray:
    """Integers in [low, high) as remainders, with the slight bias remainders have."""
    dtype = np.dtype(dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    samples = uniform_full_int(key, counter, count, unsigned)
    width = unsigned.type(high - low)
    # Quicker than a remainder: division by one number is done by multiplications.
    multiples = samples // width
    multiples *= width
    samples -= multiples
    # Unsigned arithmetic wraps around, as two's complement does.
    samples += np.array(low, dtype).view(unsigned)
    return samples.view(dtype)


def normal(key: int, counter: int, count: int, dtype: DTypeLike) -> NDArray:
    """Standard normal samples; the 16-bit types are rounded from float32."""
    dtype = np.dtype(dtype)
    if dtype == np.float64:
        words = _words(key, counter, -(-count // 2) * WORDS_PER_BLOCK)
        return normals_from_words(words, dtype)[:count]
    words = _words(key, counter, count, _make_normal_floats)
    return words.view(np.float32).astype(dtype, copy=False)


def normals_from_words(words: NDArray[np.uint32], dtype: np.dtype) -> NDArray:
    """Box and Muller's transform of a flat array of whole blocks."""
    if dtype != np.float64:
        bits = words.copy()
        _make_normal_floats(bits)
        return bits.view(np.float32).astype(dtype, copy=False)
    samples = np.empty(words.size // 2)
    for first in range(0, words.size, 2 * _CHUNK):
        part = _normal_doubles(words[first : first + 2 * _CHUNK])
        samples[first // 2 : first // 2 + part.size] = part
    return samples


def truncated_normal(key: int, counter: int, count: int, dtype: DTypeLike) -> NDArray:
    """Standard normal samples, those beyond two standard deviations drawn again.

    A group takes further blocks of its own until it is full, so groups do not depend on each
    other: group ``i`` starts ``BLOCKS_PER_SAMPLE`` words per sample after group ``i - 1``.
    """
    dtype = np.dtype(dtype)
    group = 2 if dtype == np.float64 else 4
    precision = np.dtype(np.float64 if group == 2 else np.float32)
    offsets = np.arange(-(-count // group)) * (group * BLOCKS_PER_SAMPLE // WORDS_PER_BLOCK)

    def draw() -> NDArray:
        words = random_words_at(key, counter, offsets)
        return normals_from_words(words.reshape(-1), precision).reshape(-1, group)

    samples = draw()
    # Most groups are complete after one block; only the others need sorting out.
    unfinished = np.flatnonzero((np.abs(samples) >= _TRUNCATION).any(axis=1))
    offsets = offsets[unfinished]
    drawn = samples[unfinished]
    filled = np.zeros(unfinished.size, np.intp)
    while unfinished.size:
        accepted = np.abs(drawn) < _TRUNCATION
        places = filled[:, np.newaxis] + np.cumsum(accepted, axis=1) - 1
        rows, columns = np.nonzero(accepted & (places < group))
        samples[unfinished[rows], places[rows, columns]] = drawn[rows, columns]
        filled += accepted.sum(axis=1)
        again = filled < group
        unfinished, filled, offsets = unfinished[again], filled[again], offsets[again] + 1
        drawn = draw()
    return samples.reshape(-1)[:count].astype(dtype, copy=False)


def _words(
    key: int,
    counter: int,
    count: int,
    change: Callable[[NDArray[np.uint32]], None] | None = None,
) -> NDArray[np.uint32]:
    """The first ``count`` words, whole blocks of which `change` may have changed in place."""
    blocks = -(-count // WORDS_PER_BLOCK)
    words = random_words(key, counter, blocks, change)
    return words[:count]


def _make_uniform_floats(words: NDArray[np.uint32]) -> None:
    """Turns words into the bits of float32 numbers in [0, 1)."""
    _, one, mantissa = _UNIFORM_BITS[np.dtype(np.float32)]
    words &= np.uint32(mantissa)
    words |= np.uint32(one)
    floats = words.view(np.float32)
    floats -= np.float32(1)


def _make_normal_floats(words: NDArray[np.uint32]) -> None:
    """Turns words of whole blocks into the bits of float32 normal samples."""
    samples = words.view(np.float32)
    if words.size <= _FEW_WORDS:
        samples[:] = _few_normal_floats(words.tolist())
        return
    _make_uniform_floats(words)
    for first in range(0, words.size, 2 * _CHUNK):
        part = samples[first : first + 2 * _CHUNK]
        count = part.size // 2
        *space, angle, radius, sin, cos = _normal_space(count)
        np.maximum(part[0::2], np.float32(_SMALLEST_UNIFORM), out=radius)
        c_math.log(radius, radius, space)
        radius *= np.float32(-2)
        np.sqrt(radius, out=radius)
        # The angle is formed in double precision and then rounded.
        np.multiply(part[1::2], 2 * np.pi, out=space[0], dtype=np.float64)
        angle[:] = space[0]
        c_math.sin_cos(angle, sin, cos, space)
        np.multiply(sin, radius, out=part[0::2])
        np.multiply(cos, radius, out=part[1::2])


def _normal_space(count: int) -> list[NDArray]:
    """Four arrays of doubles and four of floats to work with."""
    space = [row.view(np.float64) for row in work_space(6, count)]
    floats = [row.view(np.float32) for row in space[4:]]
    return space[:4] + [half for row in floats for half in (row[:count], row[count:])]


def _few_normal_floats(words: list[int]) -> NDArray[np.float32]:
    """The same for few words: rounding to float32 happens where numbers enter an array."""
    uniforms = [(word & 0x007FFFFF) * 2.0**-23 for word in words]
    lengths = array("f", [max(u, _SMALLEST_UNIFORM) for u in uniforms[0::2]])
    radii = array("f", [math.sqrt(-2.0 * log) for log in c_math.few_logs(lengths)])
    angles = array("f", [u * (2 * math.pi) for u in uniforms[1::2]])
    sines, cosines = c_math.few_sin_cos(angles)
    samples = np.empty(len(words), np.float32)
    for place, (radius, sin, cos) in enumerate(zip(radii, sines, cosines, strict=True)):
        samples[2 * place] = radius * sin
        samples[2 * place + 1] = radius * cos
    return samples


def _normal_doubles(words: NDArray[np.uint32]) -> NDArray[np.float64]:
    uniforms = uniform_doubles(words)
    radius = np.sqrt(-2.0 * np.log(np.maximum(uniforms[0::2], _SMALLEST_UNIFORM)))
    angle = (2 * np.pi) * uniforms[1::2]
    samples = np.empty(uniforms.size)
    np.multiply(np.sin(angle), radius, out=samples[0::2])
    np.multiply(np.cos(angle), radius, out=samples[1::2])
    return samples
