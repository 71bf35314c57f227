"""Special functions: the error and gamma functions, and products that are 0 where x is 0."""

import numpy as np

from ..core.convert import convert_to_tensor, operand, operands
from ..core.dispatch import apply
from ..core.dtypes import DIFFERENTIABLE, FLOATING, float32, float64, numpy_set
from ..core.exports import export
from ..core.op import UNREGISTERED
from . import error_functions, gamma_functions, incomplete_functions
from .arithmetic import add, masked, mul, neg, sub
from .elementwise import exp, square
from .logic import not_equal
from .pointwise import elementwise
from .reduction import reduce_sum
from .selection import zero_of

_TWO_OVER_ROOT_PI = 1.1283791670955126

# The error function -------------------------------------------------------------------------------


def _bell(x):
    """exp(-x²)"""
    return exp(neg(square(x)))


erf = elementwise(
    "Erf",
    error_functions.erf,
    x=lambda g, x: mul(g, mul(_bell(x), _TWO_OVER_ROOT_PI)),
    accepts=FLOATING,
    public="math.erf",
)

erfc = elementwise(
    "Erfc",
    error_functions.erfc,
    x=lambda g, x: mul(g, mul(_bell(x), -_TWO_OVER_ROOT_PI)),
    accepts=FLOATING,
    public="math.erfc",
)

erfinv = elementwise(
    "Erfinv",
    error_functions.erfinv,
    x=lambda g, out: mul(g, mul(exp(square(out)), 1.0 / _TWO_OVER_ROOT_PI)),
    accepts=FLOATING,
    public="math.erfinv",
)

# The distribution function of the normal distribution.
ndtr = elementwise(
    "Ndtr",
    error_functions.ndtr,
    x=lambda g, x: mul(g, mul(exp(mul(square(x), -0.5)), 0.3989422804014327)),
    accepts=FLOATING,
    raw=False,
)

# Its inverse, the quantile function.
ndtri = elementwise(
    "Ndtri",
    error_functions.ndtri,
    x=lambda g, out: mul(g, mul(exp(mul(square(out), 0.5)), 2.5066282746310002)),
    accepts=FLOATING,
    public="math.ndtri",
)


@export("math.erfcinv")
def erfcinv(x, name=None):
    """The inverse of `erfc`, element by element."""
    return ndtri(convert_to_tensor(x) * 0.5) * -np.sqrt(0.5)


# The gamma function -------------------------------------------------------------------------------

lgamma = elementwise(
    "Lgamma",
    gamma_functions.lgamma,
    x=lambda g, x: mul(g, digamma(x)),
    accepts=FLOATING,
    public="math.lgamma",
)

digamma = elementwise(
    "Digamma",
    gamma_functions.digamma,
    x=lambda g, x: mul(g, polygamma(add(zero_of(x), 1.0), x)),
    accepts=FLOATING,
    public="math.digamma",
)

polygamma = elementwise(
    "Polygamma",
    gamma_functions.polygamma,
    a=None,
    x=lambda g, a, x: mul(g, polygamma(add(a, 1.0), x)),
    accepts=FLOATING,
    public="math.polygamma",
)

zeta = elementwise(
    "Zeta",
    gamma_functions.zeta,
    x=None,
    q=lambda g, x, q: neg(mul(g, mul(x, zeta(add(x, 1.0), q)))),
    accepts=FLOATING,
    public="math.zeta",
)


@export("math.lbeta")
def lbeta(x, name=None):
    """The logarithm of the absolute value of the beta function, along the last axis."""
    x = operand(x)
    return sub(reduce_sum(lgamma(x), -1), lgamma(reduce_sum(x, -1)))


# Incomplete functions -----------------------------------------------------------------------------


def _gamma_slope(a, x):
    """x^(a - 1) exp(-x) / Γ(a), the derivative of `igamma` by `x`."""
    return exp(sub(xlogy(sub(a, 1.0), x), add(x, lgamma(a))))


igamma = elementwise(
    "Igamma",
    incomplete_functions.igamma,
    a=lambda g, a, x: mul(g, igamma_grad_a(a, x)),
    x=lambda g, a, x: mul(g, _gamma_slope(a, x)),
    accepts=FLOATING,
    public="math.igamma",
)

igammac = elementwise(
    "Igammac",
    incomplete_functions.igammac,
    a=lambda g, a, x: neg(mul(g, igamma_grad_a(a, x))),
    x=lambda g, a, x: neg(mul(g, _gamma_slope(a, x))),
    accepts=FLOATING,
    public="math.igammac",
)

# The derivative by `a` has no closed form, and none of its own.
igamma_grad_a = elementwise(
    "IgammaGradA",
    incomplete_functions.igamma_grad_a,
    a=None,
    x=None,
    accepts=FLOATING,
    state=UNREGISTERED,
)


def _beta_slope(a, b, x):
    """x^(a - 1) (1 - x)^(b - 1) over the beta function, the derivative of `betainc` by `x`."""
    powers = add(xlogy(sub(a, 1.0), x), xlog1py(sub(b, 1.0), neg(x)))
    return exp(sub(powers, sub(add(lgamma(a), lgamma(b)), lgamma(add(a, b)))))


# As in TensorFlow, only `x` has a gradient.
betainc_row = elementwise(
    "Betainc",
    incomplete_functions.betainc,
    a=None,
    b=None,
    x=lambda g, a, b, x: mul(g, _beta_slope(a, b, x)),
    accepts=numpy_set(float32, float64),
)


@export("math.betainc")
def betainc(a, b, x, name=None):
    """The regularized incomplete beta function, element by element; the arguments broadcast."""
    return apply(betainc_row.op, operands(a, b, x))


# Products that are 0 where x is 0 -----------------------------------------------------------------


def _zero_at_zero(function):
    """A kernel that gives 0 where `x` is 0, whatever `y` is, and `function` elsewhere."""

    def kernel(x, y):
        value = function(x, y)
        if np.all(x):
            return value
        return np.where(x == 0, x.dtype.type(0), value).astype(x.dtype, copy=False)[()]

    return kernel


def _one_where_nonzero(x):
    return masked(add(zero_of(x), 1.0), not_equal(x, zero_of(x)))


xlogy = elementwise(
    "Xlogy",
    _zero_at_zero(lambda x, y: x * np.log(y)),
    x=lambda g, x, y: mul(g, xlogy(_one_where_nonzero(x), y)),
    y=lambda g, x, y: mul(g, xdivy(x, y)),
    accepts=DIFFERENTIABLE,
    public="math.xlogy",
)

xlog1py = elementwise(
    "Xlog1py",
    _zero_at_zero(lambda x, y: x * np.log1p(y)),
    x=lambda g, x, y: mul(g, xlog1py(_one_where_nonzero(x), y)),
    y=lambda g, x, y: mul(g, xdivy(x, add(y, 1.0))),
    accepts=DIFFERENTIABLE,
    public="math.xlog1py",
)

xdivy = elementwise(
    "Xdivy",
    _zero_at_zero(lambda x, y: x / y),
    x=lambda g, x, y: mul(g, xdivy(_one_where_nonzero(x), y)),
    y=lambda g, x, y: mul(g, xdivy(neg(xdivy(x, y)), y)),
    accepts=DIFFERENTIABLE,
    public="math.xdivy",
)
