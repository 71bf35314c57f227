"""Special functions: the error and gamma functions, and products that are 0 where x is 0."""

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import DIFFERENTIABLE, FLOATING
from ..core.exports import export
from . import error_functions, gamma_functions
from .arithmetic import add, masked, mul, neg
from .elementwise import exp, square
from .logic import not_equal
from .pointwise import elementwise
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

# Products that are 0 where x is 0 -----------------------------------------------------------------


def _zero_at_zero(function):
    """A kernel that gives 0 where `x` is 0, whatever `y` is, and `function` elsewhere."""

    def kernel(x, y):
        value = function(x, y)
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
