"""Cases of gradtape.ops.truncation."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.op import NON_DIFFERENTIABLE

from ..case import Case, Failure, Sample
from ..draws import Draws
from ..samples import binary_failures, binary_samples

draw = Draws(__name__)

_PAIR = np.array([1.5, 2.5])


def _numerators(*shape):
    """Numbers of both signs, whose quotients by `_divisors` are off the integers."""
    return draw.integers(*shape, low=-4, high=4) * 2.0 + 0.7


def _divisors(*shape):
    return draw.integers(*shape, low=0, high=2) * 4.0 - 2.0


_BY_ZERO = Failure(
    (np.array([3, 4], np.int32), np.array([1, 0], np.int32)),
    {},
    InvalidArgumentError,
    "division by zero",
)

_INTEGERS = Sample((np.array([7, -7, 7, -7, 6]), np.array([2, 2, -2, -2, -3])))


def _quotient(x, y):
    with np.errstate(all="ignore"):
        return np.trunc(x / y).astype(x.dtype)


CASES = [
    Case(
        op="TruncateDiv",
        samples=[
            *binary_samples(_numerators, _divisors),
            Sample((draw.integers(5, low=0, high=100), draw.integers(5, low=1, high=9))),
            Sample((np.array([7, -7, 6], np.int8), np.array([-2, 2, -3], np.int8))),
            Sample((np.array([2.0, -2.0]), np.array([0.0, 0.0]))),
        ],
        reference=_quotient,
        failures=[*binary_failures(_PAIR, [True, 1j, b"a"]), _BY_ZERO],
        state=NON_DIFFERENTIABLE,
    ),
    Case(
        op="TruncateMod",
        samples=[*binary_samples(_numerators, _divisors), _INTEGERS],
        reference=np.fmod,
        failures=[*binary_failures(_PAIR, [True, 1j, b"a"]), _BY_ZERO],
    ),
    Case(
        op="NextAfter",
        samples=[
            *binary_samples(draw.uniform),
            Sample(
                (
                    np.array([1.0, 0.0, np.nan], np.float32),
                    np.array([np.inf, -1.0, 1.0], np.float32),
                ),
                gradient=False,
            ),
        ],
        reference=np.nextafter,
        failures=binary_failures(_PAIR, [3, 1j, b"a"]),
    ),
]
