"""Kernels of the incomplete gamma and beta functions, by power series and continued fractions.

Errors, measured against 30 digits at 150 random points with parameters from 0.01 to 1000, where
values exceed 1e-250, and relative to them: 5e-14 for the gamma function, 2e-13 for the beta
function and 2e-12 for the derivative by `a`. All compute in float64.
"""

import numpy as np

from .gamma_functions import STIRLING, digamma_of, lgamma_of
from .numerics import polynomial, special_kernel

_EPSILON = float(np.finfo(np.float64).eps)
_LIMIT = 1 << 16
# From here on Stirling's series has all digits.
_LARGE = 12.0
# (artanh(r) - r) / r³ in powers of r².
_ARTANH = tuple([1.0 / n for n in range(35, 1, -2)])


def _until_settled(step, results, state):
    """Repeats `state = step(n, state)`, dropping elements whose first `results` arrays stay put."""
    final = [x.copy() for x in state[:results]]
    places = np.arange(state[0].size)
    for n in range(1, _LIMIT):
        before, state = state, step(n, state)
        if n % 8 == 0 or n == _LIMIT - 1:
            moving = np.zeros(places.size, bool)
            for old, new in zip(before[:results], state[:results], strict=True):
                moving |= np.abs(new - old) > _EPSILON * np.abs(new)
            for whole, part in zip(final, state[:results], strict=True):
                whole[places] = part
            if not moving.any():
                break
            if not moving.all():
                places, state = places[moving], [x[moving] for x in state]
    return final


def _log_less(x, excess):
    """log(x) - excess, where `excess` is x - 1, with all digits next to 1 too."""
    out = np.log(x) - excess
    small = np.abs(excess) <= 0.5
    near = excess[small]
    r = near / (2.0 + near)
    square = r * r
    out[small] = 2.0 * r * square * polynomial(_ARTANH, square) - near * r
    return out


def _stirling(z):
    """log Γ(z) less its leading part (z - 1/2) log z - z + log(2π) / 2."""
    return polynomial(STIRLING, 1.0 / (z * z)) / z


# The gamma function -------------------------------------------------------------------------------


def _gamma_density(a, x):
    """x^a exp(-x) / Γ(a + 1)"""
    out = np.empty_like(a)
    large = a >= _LARGE
    b, z = a[large], x[large]
    exponent = b * _log_less(z / b, (z - b) / b) - _stirling(b)
    out[large] = np.exp(exponent) / np.sqrt(2.0 * np.pi * b)
    b, z = a[~large], np.minimum(x[~large], 1e4)  # where it is 0
    out[~large] = z**b * np.exp(-z - lgamma_of(b + 1.0))
    return out


def _gamma_series_step(n, state):
    total, slope, term, term_slope, a, x = state
    ratio = x / (a + n)
    term_slope = (term_slope - term / (a + n)) * ratio
    term = term * ratio
    return [total + term, slope + term_slope, term, term_slope, a, x]


def _gamma_fraction_step(n, state):
    """A step of Lentz's method, on the fraction and on the derivative of its logarithm by `a`."""
    value, slope, c, d, c_slope, d_slope, a, x = state
    numerator, divisor = n * (a - n), x + (2.0 * n + 1.0) - a
    c_slope = -1.0 + (n - numerator * c_slope / c) / c
    c = divisor + numerator / c
    d_slope = -1.0 + n * d + numerator * d_slope
    d = 1.0 / (divisor + numerator * d)
    d_slope = -d * d * d_slope
    return [value * c * d, slope + c_slope / c + d_slope / d, c, d, c_slope, d_slope, a, x]


def _gamma_series(a, x, density):
    """P(a, x) and its derivative by `a`, for x less than `a` or 1."""
    one, zero = np.ones_like(a), np.zeros_like(a)
    total, slope = _until_settled(_gamma_series_step, 2, [one, zero, one, zero, a, x])
    log_slope = np.log(x) - digamma_of(a + 1.0)
    return density * total, density * (total * log_slope + slope)


def _gamma_fraction(a, x, density):
    """1 - P(a, x) and its derivative by `a`, for larger x."""
    d = 1.0 / (x + 1.0 - a)
    c = np.full_like(a, 1e300)
    zero = np.zeros_like(a)
    value, slope = _until_settled(_gamma_fraction_step, 2, [d, d, c, d, zero, d * d, a, x])
    value = density * a * value
    return value, value * (np.log(x) - digamma_of(a + 1.0) + 1.0 / a + slope)


def _gamma_parts(a, x):
    """P, 1 - P and the derivative of P by `a`."""
    lower, upper, slope = np.full((3, a.size), np.nan)
    proper = (a > 0.0) & (x > 0.0) & (a < np.inf) & (x < np.inf)
    by_series = proper & ((x < 1.0) | (x < a))
    by_fraction = proper & ~by_series
    for chosen, method in ((by_series, _gamma_series), (by_fraction, _gamma_fraction)):
        if chosen.any():
            b, z = a[chosen], x[chosen]
            value, by_a = method(b, z, _gamma_density(b, z))
            is_lower = method is _gamma_series
            lower[chosen] = value if is_lower else 1.0 - value
            upper[chosen] = 1.0 - value if is_lower else value
            slope[chosen] = by_a if is_lower else -by_a
    at_zero = (x == 0.0) & (a > 0.0)
    beyond = (x == np.inf) & (a > 0.0) & (a < np.inf)
    before = (a == np.inf) & (x >= 0.0) & (x < np.inf)
    lower[at_zero | before], upper[at_zero | before] = 0.0, 1.0
    lower[beyond], upper[beyond] = 1.0, 0.0
    slope[at_zero | before | beyond] = 0.0
    return lower, upper, slope


def _igamma(a, x):
    return np.where((x == 0.0) & (a == 0.0), 0.0, _gamma_parts(a, x)[0])


# The beta function --------------------------------------------------------------------------------


def _beta_density(a, b, x):
    """x^a (1 - x)^b over the beta function of a and b."""
    out = np.empty_like(a)
    large = (a >= _LARGE) & (b >= _LARGE)
    p, q, z = a[large], b[large], x[large]
    both = p + q
    excess = z * q - p * (1.0 - z)
    exponent = p * _log_less(z * both / p, excess / p)
    exponent += q * _log_less((1.0 - z) * both / q, -excess / q)
    exponent += _stirling(both) - _stirling(p) - _stirling(q)
    out[large] = np.exp(exponent) * np.sqrt(p / both * q / (2.0 * np.pi))
    p, q, z = a[~large], b[~large], x[~large]
    exponent = p * np.log(z) + q * np.log1p(-z)
    smaller, larger = np.minimum(p, q), np.maximum(p, q)
    out[~large] = np.exp(exponent + (_lgamma_step(larger, smaller) - lgamma_of(smaller)))
    return out


def _lgamma_step(z, step):
    """log Γ(z + step) - log Γ(z), with all digits where the step is small."""
    out = lgamma_of(z + step) - lgamma_of(z)
    large = z >= _LARGE
    z, step = z[large], step[large]
    end = z + step
    change = (z - 0.5) * np.log1p(step / z) + step * (np.log(end) - 1.0)
    out[large] = change + (_stirling(end) - _stirling(z))
    return out


def _beta_fraction_step(n, state):
    value, c, d, a, b, x = state
    place = a + 2.0 * n
    numerator = n * (b - n) * x / ((place - 1.0) * place)
    d = 1.0 / (1.0 + numerator * d)
    c = 1.0 + numerator / c
    value = value * (c * d)
    numerator = -(a + n) * (a + b + n) * x / (place * (place + 1.0))
    d = 1.0 / (1.0 + numerator * d)
    c = 1.0 + numerator / c
    return [value * (c * d), c, d, a, b, x]


def _betainc(a, b, x):
    proper = (a > 0.0) & (b > 0.0) & (a < np.inf) & (b < np.inf) & (x >= 0.0) & (x <= 1.0)
    out = np.full_like(a, np.nan)
    out[proper & (x == 0.0)] = 0.0
    out[proper & (x == 1.0)] = 1.0
    inner = proper & (x > 0.0) & (x < 1.0)
    a, b, x = a[inner], b[inner], x[inner]
    density = _beta_density(a, b, x)
    # The fraction converges quickly on this side of the mean; the other side mirrors it.
    mirrored = x > (a + 1.0) / (a + b + 2.0)
    p, q = np.where(mirrored, b, a), np.where(mirrored, a, b)
    z = np.where(mirrored, 1.0 - x, x)
    d = 1.0 / (1.0 - (p + q) * z / (p + 1.0))
    (value,) = _until_settled(_beta_fraction_step, 1, [d, np.ones_like(d), d, p, q, z])
    value = density * value / p
    out[inner] = np.where(mirrored, 1.0 - value, value)
    return out


igamma = special_kernel(_igamma)
igammac = special_kernel(lambda a, x: _gamma_parts(a, x)[1])
igamma_grad_a = special_kernel(lambda a, x: _gamma_parts(a, x)[2])
betainc = special_kernel(_betainc)
