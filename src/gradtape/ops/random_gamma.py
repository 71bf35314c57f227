"""RandomGamma: how samples of the gamma distribution depend on its shape parameter.

A sample x of shape α may be thought of as the quantile of a fixed probability. Differentiating
P(α, x) = constant gives dx/dα = -(∂P/∂α) / p(α, x), with P the regularised lower incomplete gamma
function and p its density, however x was drawn (Figurnov, Mohamed and Mnih, "Implicit
reparameterization gradients", 2018).
"""

import numpy as np

from ..core import dtypes
from ..core.op import Spec
from .arithmetic import mul
from .broadcasting import not_allowed
from .families import unregistered
from .gamma_functions import digamma
from .numerics import special_kernel
from .pointwise import batch_aligned, broadcast_shape, dtype_mismatch, elementwise

_FLOATS = dtypes.numpy_set(dtypes.float16, dtypes.float32, dtypes.float64)
_ROUNDING = 1e-17
# From this shape on, an expansion about the normal distribution is exact to 1e-10 or better.
_LARGE_SHAPE = 1e4
_WIDEST_DEVIATION = 8.0


def _sample_gradient(alpha, sample):
    """dx/dα, from whichever of three forms loses no digits."""
    out = np.full(alpha.size, np.nan)
    defined = (alpha > 0.0) & (sample > 0.0) & (alpha < np.inf) & (sample < np.inf)
    deviation = np.abs(sample - alpha) / np.sqrt(alpha)
    central = defined & (alpha >= _LARGE_SHAPE) & (deviation < _WIDEST_DEVIATION)
    lower = defined & ~central & (sample <= np.maximum(alpha, 1.0))
    upper = defined & ~central & ~lower
    for which, form in ((central, _near_normal), (lower, _lower_tail), (upper, _upper_tail)):
        if which.any():
            out[which] = form(alpha[which], sample[which])
    out[(alpha > 0.0) & (sample == 0.0)] = 0.0
    return out


def _lower_tail(a, x):
    """From the power series P = xᵃ e⁻ˣ / Γ(a + 1) · Σ xⁿ / ((a + 1)…(a + n))."""
    term, total = np.ones_like(a), np.ones_like(a)
    harmonic, slope = np.zeros_like(a), np.zeros_like(a)
    n = 0
    while (term * (1.0 + harmonic) > _ROUNDING * (total + slope)).any():
        n += 1
        term *= x / (a + n)
        harmonic += 1.0 / (a + n)
        total += term
        slope += term * harmonic
    return x / a * (total * (digamma(a + 1.0) - np.log(x)) + slope)


def _upper_tail(a, x):
    """From Legendre's continued fraction of 1 - P, evaluated with its derivative from the end."""
    # Its error falls like exp(-4 √(nx)) for small shapes; for large ones √a terms come first.
    terms = int(np.ceil(120.0 / x.min() + 12.0 * np.sqrt(a.max()) + 10.0))
    tail, slope = np.zeros_like(a), np.zeros_like(a)
    for n in range(terms, 0, -1):
        below = x - a + (2 * n + 1) + tail
        tail = n * (a - n) / below
        slope = (n - tail * (slope - 1.0)) / below
    fraction = 1.0 / (x - a + 1.0 + tail)
    return x * fraction * (np.log(x) - digamma(a) + fraction * (1.0 - slope))


def _near_normal(a, x):
    """From Cornish and Fisher's expansion of x in the quantile z of the normal distribution."""
    root = np.sqrt(a)
    z = (x - a) / root
    for _ in range(8):
        square = z * z
        rest = (square - 1.0) / 3.0 + z * (square - 7.0) / (36.0 * root)
        rest -= ((3.0 * square + 7.0) * square - 16.0) / (810.0 * a)
        rest += z * ((9.0 * square + 256.0) * square - 433.0) / (38880.0 * a * root)
        z = (x - a - rest) / root
    square = z * z
    slope = 1.0 + z / (2.0 * root) - z * (square - 7.0) / (72.0 * a * root)
    slope += ((3.0 * square + 7.0) * square - 16.0) / (810.0 * a * a)
    slope -= z * ((9.0 * square + 256.0) * square - 433.0) / (25920.0 * a * a * root)
    return slope


def _infer_gradient(alpha, sample):
    if sample.dtype != alpha.dtype:
        raise dtype_mismatch("RandomGammaGrad", 1, alpha.dtype, sample.dtype)
    if alpha.dtype not in _FLOATS:
        raise not_allowed("RandomGammaGrad", alpha.dtype, _FLOATS)
    return Spec(broadcast_shape("RandomGammaGrad", alpha, sample), alpha.dtype)


random_gamma_grad = unregistered(
    "RandomGammaGrad",
    special_kernel(_sample_gradient),
    inputs="alpha sample",
    infer=_infer_gradient,
    batch=batch_aligned,
)


def _drawn(alpha, sample):
    shape = np.broadcast_shapes(alpha.shape, sample.shape)
    return sample if sample.shape == shape else np.broadcast_to(sample, shape)


# The sample itself, drawn before for this alpha; what the row adds is the derivative.
random_gamma = elementwise(
    "RandomGamma",
    _drawn,
    alpha=lambda g, alpha, sample: mul(g, random_gamma_grad(alpha, sample)),
    sample=None,
    accepts=_FLOATS,
    raw=False,
)
