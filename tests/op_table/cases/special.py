"""Cases of gradtape.ops.special."""

import functools

import numpy as np
from scipy import integrate, special

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.op import UNREGISTERED

from ..case import Case, Failure, Sample
from ..draws import Draws
from ..samples import binary_failures, binary_samples, unary_failures, unary_samples

draw = Draws(__name__)

_PAIR = np.array([1.5, 2.5])
_SPECIAL = Sample((np.array([np.inf, -np.inf, np.nan, 0.0]),), gradient=False)
_TAILS = Sample((np.array([-9.0, -3.0, -1e-3, 1e-3, 3.0, 5.0]),))


def _fractions(*shape):
    """Numbers inside (-1, 1)."""
    return draw.uniform(*shape, low=-0.9, high=0.9)


def _probabilities(*shape):
    return draw.uniform(*shape, low=0.05, high=0.95)


def _orders(*shape):
    return draw.integers(*shape, low=1, high=4).astype(np.float64)


def _exponents(*shape):
    return draw.positive(*shape, low=1.5, high=6.0)


def _polygamma(a, x):
    return special.polygamma(a.astype(int), x)


def _varied(x, k):
    """Whole numbers stay whole: only they are orders of derivatives."""
    return np.roll(x, k) if np.all(x == np.rint(x)) else x * (1 - 0.05 * k)


def _product(op, function):
    """The case of a product that is 0 wherever `x` is."""

    def reference(x, y):
        with np.errstate(all="ignore"):
            return np.where(x == 0, 0, function(x, y)).astype(x.dtype)

    return Case(
        op=op,
        samples=[
            *binary_samples(draw.signed, draw.positive),
            Sample((draw.complex_signed(2, 3), draw.complex_signed(3))),
            Sample((np.zeros(4), np.array([0.0, -1.0, np.inf, np.nan])), gradient=False),
            Sample((np.array([2.0, 2.0]), np.array([0.0, np.inf])), gradient=False),
        ],
        reference=reference,
        failures=binary_failures(_PAIR, [3, b"a"]),
    )


def _incomplete_gamma_samples():
    return [
        *binary_samples(draw.positive),
        Sample((np.array([0.05, 9.0, 30.0, 30.0]), np.array([0.7, 3.0, 25.0, 36.0]))),
        Sample((np.array([200.0, 500.0]), np.array([210.0, 480.0]))),
        Sample((np.array([1.0, 1.0, 2.0]), np.array([0.0, np.inf, np.nan])), gradient=False),
    ]


@functools.partial(np.vectorize, otypes=[float])
def _igamma_slope(a, x):
    """The integral over u = (t / x) ** a, in which only log(u) is singular."""

    def rest(u):
        return np.exp(-x * u ** (1 / a))

    integral = integrate.quad(rest, 0, 1, weight="alg-loga", wvar=(0, 0), epsabs=0, epsrel=1e-13)[0]
    lead = (np.log(x) - special.digamma(a)) * special.gammainc(a, x)
    return lead + x**a / (a * a * special.gamma(a)) * integral


CASES = [
    Case(
        op="Erf",
        samples=[*unary_samples(draw.uniform), _TAILS, _SPECIAL],
        reference=special.erf,
        failures=unary_failures([3, 1j, b"a"]),
    ),
    Case(
        op="Erfc",
        samples=[*unary_samples(draw.uniform), _SPECIAL],
        reference=special.erfc,
        failures=unary_failures([3, 1j, b"a"]),
    ),
    Case(
        op="Erfinv",
        samples=[
            *unary_samples(_fractions),
            Sample((np.array([1.0, -1.0, 1.5, np.nan, 0.0]),), gradient=False),
            Sample((np.array([1e-300, 1e-9, -0.5, 1.0 - 1e-12]),), gradient=False),
        ],
        reference=special.erfinv,
        failures=unary_failures([3, 1j, b"a"]),
    ),
    Case(
        op="Ndtr",
        samples=[*unary_samples(draw.uniform), _SPECIAL],
        reference=special.ndtr,
        failures=unary_failures([3, 1j, b"a"]),
    ),
    Case(
        op="Ndtri",
        samples=[
            *unary_samples(_probabilities),
            Sample((np.array([0.0, 1.0, 0.5, -0.1, 1.1, np.nan]),), gradient=False),
            Sample((np.array([1e-300, 1e-30, 0.999]),), gradient=False),
        ],
        reference=special.ndtri,
        failures=unary_failures([3, 1j, b"a"]),
    ),
    Case(
        op="Lgamma",
        samples=[
            *unary_samples(lambda *shape: draw.positive(*shape, low=2.5, high=9.0)),
            Sample((np.array([0.1, 0.7, 1.5, 11.9, 12.1, 300.0]),)),
            Sample((np.array([-0.4, -1.5, -2.25]),)),
            # Next to the zeros at 1 and 2, where SciPy loses digits.
            Sample(
                (np.array([0.9921875, 1.0078125, 1.9921875, 2.015625]),),
                expected=np.array(
                    [
                        0.0045598888618045589,
                        -0.0044594880379522991,
                        -0.003283288599221334,
                        0.0066844768302321849,
                    ]
                ),
            ),
            Sample((np.array([np.inf, np.nan, 0.0, -1.0, -2.0]),), gradient=False),
        ],
        reference=special.gammaln,
        failures=unary_failures([3, 1j, b"a"]),
    ),
    Case(
        op="Digamma",
        samples=[
            *unary_samples(lambda *shape: draw.positive(*shape, low=2.0, high=12.0)),
            Sample((np.array([0.1, 1.0, 100.0]),)),
            Sample((np.array([-0.25, -1.25, -2.75]),)),
            Sample((np.array([np.inf, np.nan, -1.0]),), gradient=False),
        ],
        reference=special.digamma,
        failures=unary_failures([3, 1j, b"a"]),
    ),
    Case(
        op="Polygamma",
        samples=[
            *binary_samples(_orders, draw.positive),
            Sample((np.array([0.0, 1.0, 9.0]), np.array([3.0, 30.0, 3.0]))),
            Sample(
                (np.array([1.0, 2.0]), np.array([-0.375, -1.625])),
                expected=np.array([10.51229428415152, -30.304028374139287]),
            ),
            Sample((np.array([1.5, -1.0]), _PAIR), expected=np.full(2, np.nan), gradient=False),
        ],
        differentiable=["x"],
        reference=_polygamma,
        failures=binary_failures(_PAIR, [3, 1j, b"a"]),
        vary=_varied,
    ),
    Case(
        op="Zeta",
        samples=[
            *binary_samples(_exponents, draw.positive),
            Sample(
                (np.array([2.0, 3.0]), np.array([-1.5, -0.375])),
                expected=np.array([9.379246644989124, -14.528672271883123]),
            ),
            Sample((np.array([1.0, 2.0, 2.0]), np.array([1.0, 0.0, np.inf])), gradient=False),
        ],
        differentiable=["q"],
        reference=special.zeta,
        failures=binary_failures(_PAIR, [3, 1j, b"a"]),
        vary=_varied,
    ),
    Case(
        op="Igamma",
        samples=_incomplete_gamma_samples(),
        reference=special.gammainc,
        failures=binary_failures(_PAIR, [3, 1j, b"a"]),
        skip_second_order="the derivative by `a` has none of its own",
        tolerance=10.0,  # sums of many terms, and their differences from 1
    ),
    Case(
        op="Igammac",
        samples=_incomplete_gamma_samples(),
        reference=special.gammaincc,
        failures=binary_failures(_PAIR, [3, 1j, b"a"]),
        skip_second_order="the derivative by `a` has none of its own",
        tolerance=10.0,  # sums of many terms, and their differences from 1
    ),
    Case(
        op="IgammaGradA",
        samples=[
            Sample(
                (np.array([0.5, 3.0, 50.0, 200.0]), np.array([2.0, 2.5, 45.0, 210.0])),
                expected=np.array(
                    [
                        -0.135619335203997243,
                        -0.247117357483268238,
                        -0.0455432921401238757,
                        -0.0216198810145983812,
                    ]
                ),
            ),
            *binary_samples(draw.positive),
        ],
        reference=_igamma_slope,
        failures=binary_failures(_PAIR, [3, 1j, b"a"]),
        state=UNREGISTERED,
        tolerance=1e3,  # a difference of terms with logarithms, in the reference too
    ),
    Case(
        op="Betainc",
        samples=[
            Sample((draw.positive(2, 3), draw.positive(2, 3), _probabilities(2, 3))),
            Sample((draw.positive(), draw.positive(), _probabilities(3))),
            Sample((draw.positive(2, 1), draw.positive(3), _probabilities())),
            Sample((draw.positive(0, 2), draw.positive(0, 2), _probabilities(0, 2))),
            Sample(
                (
                    np.array([20.0, 300.0, 0.2]),
                    np.array([30.0, 200.0, 40.0]),
                    np.array([0.42, 0.61, 0.01]),
                )
            ),
            Sample(([74.0], [0.04], [0.98]), gradient=False),
            Sample(
                (np.array([0.0, -1.0, 1.0, 1.0]), np.ones(4), np.array([0.5, 0.5, 0.0, 1.0])),
                expected=np.array([np.nan, np.nan, 0.0, 1.0]),
                gradient=False,
            ),
        ],
        differentiable=["x"],
        reference=special.betainc,
        failures=[
            Failure(
                (_PAIR, _PAIR[[0, 1, 1]], _PAIR), {}, InvalidArgumentError, "Incompatible shapes"
            ),
            Failure((_PAIR.astype(np.float16),) * 3, {}, InvalidArgumentError, "half is not in"),
        ],
    ),
    _product("Xlogy", lambda x, y: x * np.log(y)),
    _product("Xlog1py", lambda x, y: x * np.log1p(y)),
    _product("Xdivy", lambda x, y: x / y),
]
