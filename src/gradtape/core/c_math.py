"""float32 ``log``, ``sin`` and ``cos`` with the rounding of the C library.

Normal samples go through these three functions, so a last bit that differs here differs in every
seeded script. C libraries evaluate short minimax polynomials in float64 and round once; with the
same polynomials (those of the Arm Optimized Routines, used by glibc, musl, Bionic and others)
the results are equal bit for bit, on every platform. Functions of float32 arrays serve many
numbers; `few_*`, on Python's floats, serve few, for which calling NumPy takes longer than counting.
"""

from array import array
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray


def _exact(coefficients: str) -> list[float]:
    return [float.fromhex(coefficient) for coefficient in coefficients.split()]


_LOG_POLYNOMIAL = _exact("-0x1.00ea348b88334p-2 0x1.5575b0be00b6ap-2 -0x1.ffffef20a4123p-2")
# Sine divided by its argument, and cosine: powers from 0 of the squared argument.
_SIN_POLYNOMIAL = _exact("0x1p0 -0x1.555545995a603p-3 0x1.1107605230bc4p-7 -0x1.994eb3774cf24p-13")
_COS_POLYNOMIAL = _exact(
    "0x1p0 -0x1.ffffffd0c621cp-2 0x1.55553e1068f19p-5 -0x1.6c087e89a359dp-10 0x1.99343027bf8c3p-16"
)
_HALF_PI = np.pi / 2

# log splits each power of two into 16 pieces; piece 0 of exponent 0 starts at 0.699.
_LOG_PIECE_BITS = 19
_LOG_ORIGIN = 0x3F330000
_LOG_LOWEST_EXPONENT = -32
# Two pieces are not expanded about their middle: that of 1, where log is 0, and the next.
_LOG_PIECE_OF_ONE = 9
_LOG_CENTRE_AFTER_ONE = 1 / float.fromhex("0x1.e608cfd9a47acp-1")


@cache
def _log_tables() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Reciprocal and logarithm of the centre of each piece of [2**-32, 1)."""
    starts = _LOG_ORIGIN + (np.arange(16, dtype=np.int32) << _LOG_PIECE_BITS)
    ends = starts + (1 << _LOG_PIECE_BITS) - 1
    centres = (starts.view(np.float32).astype(float) + ends.view(np.float32).astype(float)) / 2
    centres[_LOG_PIECE_OF_ONE] = 1.0
    centres[_LOG_PIECE_OF_ONE + 1] = _LOG_CENTRE_AFTER_ONE
    exponents = np.arange(_LOG_LOWEST_EXPONENT, 1)[:, np.newaxis]
    reciprocals = np.ldexp(1 / centres, -exponents)
    logarithms = np.log(centres) + exponents * np.log(2.0)
    return reciprocals.ravel(), logarithms.ravel()


@cache
def _log_lists() -> tuple[list[float], list[float]]:
    reciprocals, logarithms = _log_tables()
    return reciprocals.tolist(), logarithms.tolist()


def log(
    x: NDArray[np.float32], result: NDArray[np.float32], space: Sequence[NDArray[np.float64]]
) -> None:
    """Natural logarithm for 2**-32 <= x < 1; `result` may be `x`.

    Args:
        x: a contiguous array.
        result: where the logarithms go.
        space: four contiguous arrays of the same length to work with.
    """
    rest, value, more, piece = space[0], space[1], space[2], space[3].view(np.int64)
    reciprocals, logarithms = _log_tables()
    np.subtract(x.view(np.int32), np.int32(_LOG_ORIGIN), out=piece)
    piece >>= _LOG_PIECE_BITS
    piece -= _LOG_LOWEST_EXPONENT * 16
    # With another mode than "raise" the array is written without a copy.
    np.take(reciprocals, piece, out=rest, mode="clip")
    value[:] = x
    rest *= value
    rest -= 1.0
    a0, a1, a2 = _LOG_POLYNOMIAL
    np.multiply(rest, a0, out=value)
    value += a1
    value *= rest
    value += a2
    value *= rest
    value *= rest
    np.take(logarithms, piece, out=more, mode="clip")
    rest += more
    value += rest
    result[:] = value


def sin_cos(
    x: NDArray[np.float32],
    sin_result: NDArray[np.float32],
    cos_result: NDArray[np.float32],
    space: Sequence[NDArray[np.float64]],
) -> None:
    """Sine and cosine for 0 <= x <= 2 pi; overwrites x.

    Args:
        x: a contiguous array.
        sin_result: a contiguous array for the sines.
        cos_result: a contiguous array for the cosines.
        space: four contiguous arrays of the same length to work with.
    """
    wide, square, sin, cos = space
    wide[:] = x
    turns = square
    np.multiply(wide, 1 / _HALF_PI, out=turns)
    np.rint(turns, out=turns)
    quarter = x.view(np.int32)
    np.copyto(quarter, turns, casting="unsafe")
    turns *= _HALF_PI
    wide -= turns
    np.multiply(wide, wide, out=square)
    _polynomial(_SIN_POLYNOMIAL, square, sin)
    sin *= wide
    _polynomial(_COS_POLYNOMIAL, square, cos)
    sin_result[:] = sin
    cos_result[:] = cos
    _turn(sin_result.view(np.int32), cos_result.view(np.int32), quarter, wide.view(np.int32))


def _polynomial(coefficients: list[float], x: NDArray, result: NDArray) -> None:
    *lower, last = coefficients
    np.multiply(x, last, out=result)
    for coefficient in lower[:0:-1]:
        result += coefficient
        result *= x
    result += lower[0]


def _turn(sin: NDArray, cos: NDArray, quarter: NDArray, space: NDArray) -> None:
    """Adds quarter turns to angles given by the bits of their sine and cosine."""
    mask, swapped = space[: quarter.size], space[quarter.size :]
    # After an odd number the two change places.
    np.bitwise_and(quarter, 1, out=mask)
    np.negative(mask, out=mask)
    np.bitwise_xor(sin, cos, out=swapped)
    swapped &= mask
    sin ^= swapped
    cos ^= swapped
    # The second bit of the number, and of the next number, become the signs.
    np.bitwise_and(quarter, 2, out=mask)
    mask <<= 30
    sin ^= mask
    quarter += 1
    quarter &= 2
    quarter <<= 30
    cos ^= quarter


def few_logs(x: "array[float]") -> "array[float]":
    """`log` for an array of C floats."""
    reciprocals, logarithms = _log_lists()
    a0, a1, a2 = _LOG_POLYNOMIAL
    values = array("f")
    for number, bits in zip(x, memoryview(x).cast("B").cast("i"), strict=True):
        piece = (bits - _LOG_ORIGIN >> _LOG_PIECE_BITS) - _LOG_LOWEST_EXPONENT * 16
        rest = number * reciprocals[piece] - 1.0
        values.append((((a0 * rest + a1) * rest + a2) * rest) * rest + (rest + logarithms[piece]))
    return values


def few_sin_cos(x: "array[float]") -> "tuple[array[float], array[float]]":
    """`sin_cos` for an array of C floats."""
    s0, s1, s2, s3 = _SIN_POLYNOMIAL
    c0, c1, c2, c3, c4 = _COS_POLYNOMIAL
    sines, cosines = array("f"), array("f")
    for angle in x:
        turns = round(angle * (1 / _HALF_PI))
        rest = angle - turns * _HALF_PI
        square = rest * rest
        sin = (((s3 * square + s2) * square + s1) * square + s0) * rest
        cos = (((c4 * square + c3) * square + c2) * square + c1) * square + c0
        if turns & 1:
            sin, cos = cos, -sin
        sines.append(-sin if turns & 2 else sin)
        cosines.append(-cos if turns & 2 else cos)
    return sines, cosines
