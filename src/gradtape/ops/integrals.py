"""Functions that are integrals: Dawson's, exponential, Fresnel's and the dilogarithm."""

import numpy as np

from ..core.dtypes import FLOATING
from . import integral_kernels as kernels
from .arithmetic import add, mul, neg, real_div
from .elementwise import cos, exp, log, one_minus, sin, square
from .logic import equal
from .pointwise import elementwise
from .selection import select, zero_of

dawsn = elementwise(
    "Dawsn",
    kernels.dawsn,
    x=lambda g, x, out: mul(g, one_minus(mul(mul(x, 2.0), out))),
    accepts=FLOATING,
    public="math.special.dawsn",
)

expint = elementwise(
    "Expint",
    kernels.expint,
    x=lambda g, x: mul(g, real_div(exp(x), x)),
    accepts=FLOATING,
    public="math.special.expint",
)

fresnel_cos = elementwise(
    "FresnelCos",
    kernels.fresnel_cos,
    x=lambda g, x: mul(g, cos(mul(square(x), np.pi / 2))),
    accepts=FLOATING,
    public="math.special.fresnel_cos",
)

fresnel_sin = elementwise(
    "FresnelSin",
    kernels.fresnel_sin,
    x=lambda g, x: mul(g, sin(mul(square(x), np.pi / 2))),
    accepts=FLOATING,
    public="math.special.fresnel_sin",
)


def _log_over_distance(x):
    """log(x) / (1 - x), and at 1 its limit, -1."""
    at_one = equal(x, add(zero_of(x), 1.0))
    two = add(zero_of(x), 2.0)
    away = select(at_one, two, x)
    return select(at_one, neg(add(zero_of(x), 1.0)), real_div(log(away), one_minus(away)))


spence = elementwise(
    "Spence",
    kernels.spence,
    x=lambda g, x: mul(g, _log_over_distance(x)),
    accepts=FLOATING,
    public="math.special.spence",
)
