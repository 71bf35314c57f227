"""Cases of gradtape.ops.arithmetic."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.op import NON_DIFFERENTIABLE

from ..case import Case, Failure, Sample
from ..draws import Draws
from ..samples import binary_failures, binary_samples, unary_failures, unary_samples
from ..strategies import broadcastable_arrays

draw = Draws(__name__)

_TWO = np.array([1.5, 2.5])
_PAIRS = broadcastable_arrays(2).map(Sample)
_QUOTIENTS = broadcastable_arrays(2, low=0.5, high=3.0).map(Sample)

# Multiples of the divisors, and remainders well inside them: no quotient is near an integer.
_DIVISORS = np.array([[2.0, -1.5, 3.0], [0.75, -2.5, 1.25]])
_DIVIDENDS = _DIVISORS * np.array([[2.4, -3.3, 0.6], [-1.7, 4.2, -0.5]])
_REMAINDER_SAMPLES = [
    Sample((_DIVIDENDS, _DIVISORS)),
    Sample((_DIVIDENDS[0], np.array(-0.78125))),
    Sample((np.array(7.40625), _DIVISORS)),
    Sample((np.zeros((0, 3)), _DIVISORS[:1])),
    Sample((np.array([7, -7, 7, -7]), np.array([3, 3, -3, -3]))),
    Sample((np.array(7), np.array([[2], [3]]))),
]


def _integer_failures(name, x, y):
    return Failure((np.array(x), np.array(y)), {}, InvalidArgumentError, name)


def _apart(x, y, where):
    """Samples for ops that choose one of their inputs: `where` says which."""
    return [
        Sample((x, np.where(where, x + 0.7, x - 0.6))),
        Sample((x, np.array(y))),
        Sample((np.array(y), x[:1])),
        Sample((x[:, :, None], np.array([y]))),
    ]


_CHOICES = [
    *_apart(draw.distinct(2, 3, gap=0.4), 0.05, draw.booleans(2, 3)),
    Sample((np.zeros((0, 3)), draw.uniform(1, 3))),
    Sample((np.array([1.0, np.nan, 2.0]), np.array([np.nan, 1.0, 2.0])), gradient=False),
    Sample((draw.integers(2, 3), draw.integers(3))),
]


def _no_nan(function):
    """A function of two arrays that is 0 where the second is, whatever the first."""

    def reference(x, y):
        x, y = np.broadcast_arrays(x, y)
        result = np.zeros(x.shape, x.dtype)
        result[y != 0] = function(x[y != 0], y[y != 0])
        return result

    return reference


CASES = [
    Case(
        op="AddV2",
        samples=[
            *binary_samples(draw.uniform),
            Sample((draw.complex_uniform(2, 3), draw.complex_uniform(3))),
            Sample((draw.integers(2, 3), draw.integers(2, 1))),
            Sample((draw.strings(2, 1), draw.strings(3))),
        ],
        reference=np.add,
        failures=binary_failures(_TWO, [True]),
        generated=_PAIRS,
    ),
    Case(
        op="Sub",
        samples=[
            *binary_samples(draw.uniform),
            Sample((draw.complex_uniform(2, 3), draw.complex_uniform(3))),
            Sample((draw.integers(2, 3, low=20, high=30), draw.integers(2, 1))),
        ],
        reference=np.subtract,
        failures=binary_failures(_TWO, [True, b"a"]),
        generated=_PAIRS,
    ),
    Case(
        op="Mul",
        samples=[
            *binary_samples(draw.uniform),
            Sample((draw.complex_uniform(2, 3), draw.complex_uniform(3))),
            Sample((draw.integers(2, 3), draw.integers(2, 1))),
            Sample((draw.booleans(2, 3), draw.booleans(3))),
        ],
        reference=np.multiply,
        failures=binary_failures(_TWO),
        generated=_PAIRS,
    ),
    Case(
        op="Neg",
        samples=[
            *unary_samples(draw.uniform),
            Sample((draw.complex_uniform(3),)),
            Sample((draw.integers(3),)),
        ],
        reference=np.negative,
        failures=unary_failures([True, b"a", np.uint8(3)]),
    ),
    Case(
        op="RealDiv",
        samples=[
            *binary_samples(draw.uniform, draw.signed),
            Sample((draw.complex_uniform(2, 3), draw.complex_signed(3))),
            Sample((np.array([1.0, -1.0, 0.0, np.inf]), np.zeros(4)), gradient=False),
        ],
        reference=lambda x, y: np.errstate(all="ignore")(np.divide)(x, y),
        failures=binary_failures(_TWO, [3, b"a"]),
        generated=_QUOTIENTS,
    ),
    Case(
        op="FloorDiv",
        samples=_REMAINDER_SAMPLES,
        state=NON_DIFFERENTIABLE,
        reference=lambda x, y: x // y if x.dtype.kind in "iu" else np.floor(x / y),
        failures=[
            *binary_failures(_TWO, [1j, b"a"]),
            _integer_failures("Integer division by zero", [1, 2], [1, 0]),
            _integer_failures("Integer division by zero", 1, 0),
        ],
    ),
    Case(
        op="FloorMod",
        samples=_REMAINDER_SAMPLES,
        reference=lambda x, y: x - np.floor(x / y) * y if x.dtype.kind == "f" else x % y,
        failures=[
            *binary_failures(_TWO, [1j, b"a"]),
            _integer_failures("Integer division by zero", [1, 2], [1, 0]),
            _integer_failures("Integer division by zero", 1, 0),
        ],
    ),
    Case(
        op="Pow",
        samples=[
            *binary_samples(draw.positive, draw.uniform),
            Sample((draw.complex_signed(2, 3), draw.complex_uniform(3))),
            Sample((draw.integers(2, 3, high=4), draw.integers(3, high=4))),
            Sample((np.array([-2.0, -0.5]), np.array([3.0, -2.0])), gradient=False),
        ],
        reference=np.power,
        failures=[
            *binary_failures(_TWO, [True, b"a"]),
            _integer_failures("Integers to negative integer powers", [2, 2], [1, -1]),
        ],
        generated=_QUOTIENTS,
        # The exponent is multiplied with a logarithm: relative errors grow with both.
        tolerance=4.0,
    ),
    Case(
        op="Maximum",
        samples=_CHOICES,
        reference=np.maximum,
        failures=binary_failures(_TWO, [1j, b"a"]),
        generated=_PAIRS,
    ),
    Case(
        op="Minimum",
        samples=_CHOICES,
        reference=np.minimum,
        failures=binary_failures(_TWO, [1j, b"a"]),
        generated=_PAIRS,
    ),
    Case(
        op="SquaredDifference",
        samples=[
            *binary_samples(draw.uniform),
            Sample((draw.integers(2, 3, low=8, high=12), draw.integers(2, 1))),
            # Its gradient is right where the one it gets is real.
            Sample((draw.complex_uniform(2, 3), draw.complex_uniform(3)), gradient=False),
        ],
        reference=lambda x, y: ((x - y) * np.conj(x - y)).astype(x.dtype),
        failures=binary_failures(_TWO, [True, b"a"]),
        generated=_PAIRS,
    ),
    Case(
        op="DivNoNan",
        samples=[
            *binary_samples(draw.uniform, draw.signed),
            Sample((draw.complex_uniform(2, 3), draw.complex_signed(3))),
            Sample((np.array([1.0, 0.0, np.inf, np.nan]), np.zeros(4)), gradient=False),
        ],
        reference=_no_nan(np.divide),
        failures=binary_failures(_TWO, [3, b"a"]),
    ),
    Case(
        op="MulNoNan",
        samples=[
            *binary_samples(draw.uniform, draw.signed),
            Sample((draw.complex_uniform(2, 3), draw.complex_signed(3))),
            Sample((np.array([1.0, 0.0, np.inf, np.nan]), np.zeros(4)), gradient=False),
        ],
        reference=_no_nan(np.multiply),
        failures=binary_failures(_TWO, [3, b"a"]),
    ),
    Case(
        op="Atan2",
        samples=[
            *binary_samples(draw.signed),
            Sample((np.array([0.0, 0.0, -0.0]), np.array([-1.0, 0.0, -1.0])), gradient=False),
        ],
        reference=np.arctan2,
        failures=binary_failures(_TWO, [1j, 3, b"a"]),
    ),
    Case(
        op="AddN",
        samples=[
            Sample((draw.uniform(2, 3),)),
            Sample((draw.uniform(2, 3), draw.uniform(2, 3), draw.uniform(2, 3))),
            Sample((draw.uniform(), draw.uniform(), draw.uniform(), draw.uniform())),
            Sample((draw.uniform(0, 2), draw.uniform(0, 2))),
            Sample((draw.complex_uniform(3), draw.complex_uniform(3))),
            Sample((draw.integers(3, dtype=np.int32), draw.integers(3, dtype=np.int32))),
        ],
        reference=lambda *inputs: np.sum(np.stack(inputs), axis=0, dtype=inputs[0].dtype),
        failures=[
            Failure(
                (draw.uniform(2), draw.uniform(3)),
                {},
                InvalidArgumentError,
                r"must have the same size and shape.  Input 0: \[2\] != input 1: \[3\]",
            ),
            Failure(
                (draw.uniform(2), draw.integers(2)),
                {},
                InvalidArgumentError,
                r"input #1\(zero-based\) was expected to be a double tensor but is a int64 tensor",
            ),
            Failure((draw.booleans(2),), {}, InvalidArgumentError, "bool is not in the list"),
        ],
    ),
]
