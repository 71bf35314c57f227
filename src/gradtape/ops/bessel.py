"""Bessel functions of orders 0 and 1: I, K and both scaled by exp(∓|x|), J and Y."""

from ..core.dtypes import FLOATING
from . import bessel_kernels as kernels
from .arithmetic import add, mul, neg, real_div, sub
from .elementwise import one_minus, reciprocal, sign
from .logic import equal
from .pointwise import elementwise
from .selection import select, zero_of


def _row(name, kernel, derivative_times, in_math=False):
    """A row, and its public names: all are in tf.math.special, the functions I also in tf.math."""
    word = name.lower().replace("bessel", "bessel_")
    public = f"math.special.{word} math.{word}" if in_math else f"math.special.{word}"
    return elementwise(name, kernel, x=derivative_times, accepts=FLOATING, public=public)


def _over_x(y, x):
    """y / x, and at 0 the limit of the functions of order 1 there, 1/2."""
    at_zero = equal(x, zero_of(x))
    one = add(zero_of(x), 1.0)
    return select(at_zero, mul(one, 0.5), real_div(y, select(at_zero, one, x)))


# Modified functions -------------------------------------------------------------------------------

i0 = _row("BesselI0", kernels.bessel_i0, lambda g, x: mul(g, i1(x)), in_math=True)

i1 = _row(
    "BesselI1",
    kernels.bessel_i1,
    lambda g, x, out: mul(g, sub(i0(x), _over_x(out, x))),
    in_math=True,
)

i0e = _row(
    "BesselI0e",
    kernels.bessel_i0e,
    lambda g, x, out: mul(g, sub(i1e(x), mul(sign(x), out))),
    in_math=True,
)

i1e = _row(
    "BesselI1e",
    kernels.bessel_i1e,
    lambda g, x, out: mul(g, sub(sub(i0e(x), mul(sign(x), out)), _over_x(out, x))),
    in_math=True,
)

k0 = _row("BesselK0", kernels.bessel_k0, lambda g, x: neg(mul(g, k1(x))))

k1 = _row(
    "BesselK1",
    kernels.bessel_k1,
    lambda g, x, out: neg(mul(g, add(k0(x), real_div(out, x)))),
)

k0e = _row("BesselK0e", kernels.bessel_k0e, lambda g, x, out: mul(g, sub(out, k1e(x))))

k1e = _row(
    "BesselK1e",
    kernels.bessel_k1e,
    lambda g, x, out: mul(g, sub(mul(out, one_minus(reciprocal(x))), k0e(x))),
)

# Oscillating functions ----------------------------------------------------------------------------

j0 = _row("BesselJ0", kernels.bessel_j0, lambda g, x: neg(mul(g, j1(x))))

j1 = _row(
    "BesselJ1",
    kernels.bessel_j1,
    lambda g, x, out: mul(g, sub(j0(x), _over_x(out, x))),
)

y0 = _row("BesselY0", kernels.bessel_y0, lambda g, x: neg(mul(g, y1(x))))

y1 = _row(
    "BesselY1",
    kernels.bessel_y1,
    lambda g, x, out: mul(g, sub(y0(x), real_div(out, x))),
)
