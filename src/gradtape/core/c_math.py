"""float32 ``log``, ``sin`` and ``cos`` with the rounding of the C library.

Normal samples go through these three functions, so a last bit that differs here differs in every
seeded script. C libraries evaluate short minimax polynomials in float64 and round once; with the
same polynomials (those of the Arm Optimized Routines, used by glibc, musl, Bionic and others)
the results are equal bit for bit, on every platform. Functions of float32 arrays serve many
numbers; `few_*`, on Python's floats, serve few, for which calling NumPy takes longer than counting.
"""

from array import array
from functools import cache

import numpy as np
from numpy.typing import NDArray


def _exact(coefficients: str) -> list[float]:
    return [float.fromhex(coefficient) for coefficient in coefficients.split()]


_LOG_POLYNOMIAL = _exact("-0x1.00ea348b88334p-2 0x1.5575b0be00b6ap-2 -0x1.ffffef20a4123p-2")
# Sine divided by its argument, and cosine: powers 0 to 4 of the squared argument.
_SIN_POLYNOMIAL = _exact(
    "0x1p0 -0x1.555545995a603p-3 0x1.1107605230bc4p-7 -0x1.994eb3774cf24p-13 0x0p0"
)
_COS_POLYNOMIAL = _exact(
    "0x1p0 -0x1.ffffffd0c621cp-2 0x1.55553e1068f19p-5 -0x1.6c087e89a359dp-10 0x1.99343027bf8c3p-16"
)
_SIN_COS_POLYNOMIALS = np.array([_SIN_POLYNOMIAL, _COS_POLYNOMIAL])
_HALF_PI = np.pi / 2
# cos and sin of 0 to 4 quarter turns.
_QUARTER_COS = np.array([1.0, 0.0, -1.0, 0.0, 1.0])
_QUARTER_SIN = np.array([0.0, 1.0, 0.0, -1.0, 0.0])

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


def log(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Natural logarithm for 2**-32 <= x < 1."""
    piece = x.view(np.int32) - np.int32(_LOG_ORIGIN)
    piece >>= _LOG_PIECE_BITS
    piece -= _LOG_LOWEST_EXPONENT * 16
    reciprocals, logarithms = _log_tables()
    rest = x * reciprocals[piece]
    rest -= 1.0
    a0, a1, a2 = _LOG_POLYNOMIAL
    value = a0 * rest
    value += a1
    value *= rest
    value += a2
    value *= rest
    value *= rest
    rest += logarithms[piece]
    value += rest
    return value.astype(np.float32)


def sin_cos(x: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Sine and cosine for 0 <= x <= 2 pi."""
    wide = x.astype(np.float64)
    turns = wide * (1 / _HALF_PI)
    np.rint(turns, out=turns)
    quarter = turns.astype(np.intp)
    turns *= _HALF_PI
    wide -= turns
    square = wide * wide
    sin_and_cos = _SIN_COS_POLYNOMIALS[:, 4:] * square
    for power in (3, 2, 1):
        sin_and_cos += _SIN_COS_POLYNOMIALS[:, power : power + 1]
        sin_and_cos *= square
    sin_and_cos += _SIN_COS_POLYNOMIALS[:, :1]
    sin, cos = sin_and_cos
    sin *= wide
    by_cos, by_sin = _QUARTER_COS[quarter], _QUARTER_SIN[quarter]
    # One factor of each sum is 0 and the other 1 or -1: nothing is rounded here.
    return (
        (sin * by_cos + cos * by_sin).astype(np.float32),
        (cos * by_cos - sin * by_sin).astype(np.float32),
    )


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
    s0, s1, s2, s3, _ = _SIN_POLYNOMIAL
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
