"""Elementwise mathematics of one variable: powers, exponentials, circular and hyperbolic rows."""

import numpy as np

from ..core.convert import operand
from ..core.dispatch import scalar_like
from ..core.dtypes import DIFFERENTIABLE, FLOATING, NUMERIC, REAL
from ..core.exports import export
from ..core.op import NON_DIFFERENTIABLE, UNREGISTERED
from .arithmetic import add, masked, mul, neg, real_div, sub
from .logic import equal, logical_or, not_equal
from .pointwise import elementwise
from .selection import zero_of


def _over(g, slope):
    """`g / slope`, as a product with the reciprocal.

    A zero gradient outweighs an infinite slope in the derivative of the latter, as in TensorFlow.
    """
    return mul(g, reciprocal(slope))


def _zero_wins(d, g):
    """`d`, but 0 where it is NaN only because a zero gradient met an infinite derivative."""
    return masked(d, logical_or(equal(d, d), not_equal(g, zero_of(g))))


def one_minus(x):
    return sub(1.0, x)


# Powers and roots ---------------------------------------------------------------------------------

square = elementwise(
    "Square", np.square, x=lambda g, x: mul(g, mul(x, 2.0)), accepts=NUMERIC,
    public="square math.square",
)  # fmt: skip

# As in TensorFlow, a zero gradient stays zero even where the root's derivative is infinite: so
# where(x > 0, sqrt(x), 0) has a clean gradient at 0.
sqrt = elementwise(
    "Sqrt",
    np.sqrt,
    x=lambda g, out: _zero_wins(real_div(mul(g, 0.5), out), g),
    public="sqrt math.sqrt",
)

rsqrt = elementwise(
    "Rsqrt",
    lambda x: x.dtype.type(1) / np.sqrt(x),
    x=lambda g, out: _zero_wins(mul(mul(g, -0.5), mul(out, mul(out, out))), g),
    public="math.rsqrt",
)

reciprocal = elementwise(
    "Reciprocal",
    lambda x: x.dtype.type(1) / x,
    x=lambda g, out: _zero_wins(neg(mul(g, mul(out, out))), g),
    accepts=DIFFERENTIABLE,
    public="math.reciprocal",
)


@export("math.reciprocal_no_nan")
def reciprocal_no_nan(x, name=None):
    """`1 / x`, and 0 where `x` is 0."""
    from .arithmetic import div_no_nan

    x = operand(x)
    return div_no_nan(add(mul(zero_of(x), 0.0), 1.0), x)


# Exponentials and logarithms ----------------------------------------------------------------------

exp = elementwise("Exp", np.exp, x=lambda g, out: mul(g, out), public="exp math.exp")

expm1 = elementwise("Expm1", np.expm1, x=lambda g, x: mul(g, exp(x)), public="math.expm1")

log = elementwise("Log", np.log, x=lambda g, x: _over(g, x), public="math.log")

log1p = elementwise("Log1p", np.log1p, x=lambda g, x: _over(g, add(x, 1.0)), public="math.log1p")

# Circular functions -------------------------------------------------------------------------------

sin = elementwise("Sin", np.sin, x=lambda g, x: mul(g, cos(x)), public="sin math.sin")

cos = elementwise("Cos", np.cos, x=lambda g, x: neg(mul(g, sin(x))), public="cos math.cos")

tan = elementwise(
    "Tan", np.tan, x=lambda g, out: mul(g, add(mul(out, out), 1.0)), public="tan math.tan"
)

asin = elementwise(
    "Asin",
    np.arcsin,
    x=lambda g, x: _over(g, sqrt(one_minus(square(x)))),
    public="asin math.asin",
)

acos = elementwise(
    "Acos",
    np.arccos,
    x=lambda g, x: neg(_over(g, sqrt(one_minus(square(x))))),
    public="acos math.acos",
)

atan = elementwise(
    "Atan", np.arctan, x=lambda g, x: real_div(g, add(square(x), 1.0)), public="atan math.atan"
)

# Hyperbolic functions -----------------------------------------------------------------------------

sinh = elementwise("Sinh", np.sinh, x=lambda g, x: mul(g, cosh(x)), public="sinh math.sinh")

cosh = elementwise("Cosh", np.cosh, x=lambda g, x: mul(g, sinh(x)), public="cosh math.cosh")

tanh = elementwise(
    "Tanh", np.tanh, x=lambda g, out: tanh_grad(out, g), public="tanh math.tanh nn.tanh"
)


_ONE = {np.dtype(kind): np.ones((), kind) for kind in (np.float32, np.float64)}


def _tanh_grad(y, dy):
    one = _ONE.get(y.dtype) if type(y) is np.ndarray else None
    return ((scalar_like(1.0, y) if one is None else one) - y * y) * dy


# A row of its own, because recurrent networks spend their backward pass here.
tanh_grad = elementwise(
    "TanhGrad",
    _tanh_grad,
    y=lambda g, y, dy: mul(mul(g, -2.0), mul(y, dy)),
    dy=lambda g, y: tanh_grad(y, g),
)

asinh = elementwise(
    "Asinh", np.arcsinh, x=lambda g, out: real_div(g, cosh(out)), public="asinh math.asinh"
)

acosh = elementwise(
    "Acosh", np.arccosh, x=lambda g, out: real_div(g, sinh(out)), public="acosh math.acosh"
)

atanh = elementwise(
    "Atanh", np.arctanh, x=lambda g, x: _over(g, one_minus(square(x))), public="atanh math.atanh"
)

# Magnitude, sign and rounding ---------------------------------------------------------------------

abs_ = elementwise("Abs", np.abs, x=lambda g, x: mul(g, sign(x)), accepts=REAL)

sign = elementwise("Sign", np.sign, x=lambda g: mul(g, 0.0), accepts=REAL)


def _rounding(name, kernel, public, accepts=FLOATING):
    return elementwise(
        name, kernel, x=None, accepts=accepts, public=public, state=NON_DIFFERENTIABLE
    )


floor = _rounding("Floor", np.floor, "floor math.floor")
ceil = _rounding("Ceil", np.ceil, "math.ceil")
rint = _rounding("Rint", np.rint, "math.rint")
# Halves go to the even neighbour.
round_ = _rounding(
    "Round", lambda x: np.rint(x) if x.dtype.kind not in "iu" else x, "round math.round", REAL
)


def _test(name, kernel, public):
    """TensorFlow has no entry for these in its registry, not even one that says "none"."""
    return elementwise(
        name,
        kernel,
        x=None,
        accepts=FLOATING,
        result=lambda dtype: np.dtype(np.bool_),
        public=public,
        state=UNREGISTERED,
    )


is_nan = _test("IsNan", np.isnan, "math.is_nan")
is_inf = _test("IsInf", np.isinf, "math.is_inf")
is_finite = _test("IsFinite", np.isfinite, "math.is_finite")

# Complex numbers ----------------------------------------------------------------------------------

conj = elementwise(
    "Conj", np.conjugate, x=lambda g: conj(g), accepts=NUMERIC, holomorphic=False, raw="input:x"
)


@export("math.conj")
def conj_public(x, name=None):
    """The complex conjugate; real tensors are returned as they are."""
    x = operand(x)
    return conj.op.on_tensors(x) if x.dtype.is_complex else x


@export("sign math.sign")
def sign_public(x, name=None):
    """-1, 0 or 1 by the sign; of complex numbers, the one of modulus 1 in their direction."""
    from .complex_numbers import complex_abs, unit

    x = operand(x)
    if x.dtype.is_complex:
        return unit(x, complex_abs.op.on_tensors(x))
    return sign.op.on_tensors(x)


@export("abs math.abs")
def abs_public(x, name=None):
    """The absolute value; of complex numbers, the modulus."""
    from .complex_numbers import complex_abs

    x = operand(x)
    if x.dtype.is_complex:
        return complex_abs.op.on_tensors(x)
    return abs_.op.on_tensors(x)
