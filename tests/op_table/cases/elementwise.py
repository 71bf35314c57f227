"""Cases of gradtape.ops.elementwise."""

import numpy as np

from gradtape.core.op import NON_DIFFERENTIABLE, UNREGISTERED

from ..case import Case, Sample
from ..draws import Draws
from ..samples import binary_failures, binary_samples, unary_failures, unary_samples

draw = Draws(__name__)


def _function(op, reference, make, *more, tolerance=1.0, make_complex=draw.complex_signed):
    """The case of a function of floating and complex numbers."""
    return Case(
        op=op,
        samples=[*unary_samples(make), Sample((make_complex(2, 3),)), *more],
        reference=reference,
        failures=unary_failures([True, 3, b"a"]),
        tolerance=tolerance,
    )


def _inside(*shape):
    """Numbers inside (-1, 1)."""
    return draw.uniform(*shape, low=-0.8, high=0.8)


def _above_one(*shape):
    return draw.positive(*shape, low=1.3, high=3.0)


def _fractions(*shape):
    """Numbers whose fractional part is not near 0 or a half."""
    return draw.integers(*shape, low=-3, high=3) + draw.positive(*shape, low=0.1, high=0.4)


_SPECIAL = Sample((np.array([np.nan, np.inf, -np.inf, 0.0, 1.5]),))
_HALVES = Sample((np.array([0.5, 1.5, 2.5, -0.5, -1.5, -0.2]),))


def _rounding(op, reference, *more, refused=(1j, b"a", 3)):
    return Case(
        op=op,
        samples=[*unary_samples(_fractions), _HALVES, *more],
        state=NON_DIFFERENTIABLE,
        reference=reference,
        failures=unary_failures(refused),
    )


def _test(op, reference):
    return Case(
        op=op,
        samples=[*unary_samples(draw.uniform), _SPECIAL],
        state=UNREGISTERED,
        reference=reference,
        failures=unary_failures([1j, 3, b"a"]),
    )


CASES = [
    Case(
        op="Square",
        samples=[
            *unary_samples(draw.uniform),
            Sample((draw.complex_uniform(3),)),
            Sample((draw.integers(3),)),
        ],
        reference=np.square,
        failures=unary_failures([True, b"a"]),
    ),
    _function("Sqrt", np.sqrt, draw.positive),
    _function("Rsqrt", lambda x: x**-0.5, draw.positive),
    _function("Reciprocal", lambda x: x**-1.0, draw.signed),
    _function("Exp", np.exp, draw.uniform),
    _function("Expm1", np.expm1, draw.uniform, Sample((np.array([1e-9, -1e-6]),))),
    _function("Log", np.log, draw.positive),
    _function("Log1p", np.log1p, draw.positive, Sample((np.array([1e-9, -1e-6]),))),
    _function("Sin", np.sin, draw.uniform),
    _function("Cos", np.cos, draw.uniform),
    _function("Tan", np.tan, lambda *shape: draw.uniform(*shape, low=-1.2, high=1.2)),
    _function("Asin", np.arcsin, _inside),
    _function("Acos", np.arccos, _inside),
    _function("Atan", np.arctan, draw.uniform),
    _function("Sinh", np.sinh, draw.uniform),
    _function("Cosh", np.cosh, draw.uniform),
    _function("Tanh", np.tanh, draw.uniform),
    Case(
        op="TanhGrad",
        samples=[
            *binary_samples(_inside, draw.uniform),
            Sample((draw.complex_signed(2, 3), draw.complex_signed(2, 3))),
        ],
        reference=lambda y, dy: dy * (1 - y**2),
        failures=binary_failures(np.ones(2), [True, 3, b"a"]),
    ),
    _function("Asinh", np.arcsinh, draw.uniform),
    _function("Acosh", np.arccosh, _above_one),
    _function("Atanh", np.arctanh, _inside),
    Case(
        op="Abs",
        samples=[
            *unary_samples(draw.signed),
            Sample((draw.integers(4, low=-4, high=4),)),
            Sample((np.array([0.0, -0.0, np.nan, -np.inf]),), gradient=False),
        ],
        reference=np.abs,
        failures=unary_failures([True, 1j, b"a"]),
    ),
    Case(
        op="Sign",
        samples=[
            *unary_samples(draw.signed),
            Sample((draw.integers(4, low=-4, high=4),)),
            Sample((np.array([0.0, -0.0, np.nan, -np.inf]),), gradient=False),
        ],
        reference=np.sign,
        failures=unary_failures([True, 1j, b"a"]),
    ),
    _rounding("Floor", np.floor),
    _rounding("Ceil", np.ceil),
    _rounding("Rint", np.rint),
    _rounding(
        "Round",
        lambda x: np.rint(x) if x.dtype.kind == "f" else x,
        Sample((draw.integers(4, low=-4, high=4),)),
        refused=[True, 1j, b"a"],
    ),
    _test("IsNan", np.isnan),
    _test("IsInf", np.isinf),
    _test("IsFinite", np.isfinite),
    Case(
        op="Conj",
        samples=[
            *unary_samples(draw.complex_uniform),
            Sample((draw.uniform(2),)),
            Sample((draw.integers(2),)),
        ],
        reference=np.conjugate,
        failures=unary_failures([True, b"a"]),
    ),
]
