"""Cases of gradtape.ops.bessel."""

import numpy as np
from scipy import special

from ..case import Case, Sample
from ..draws import Draws
from ..samples import unary_failures, unary_samples

draw = Draws(__name__)

_SIGNED = np.array([-10.0, -8.5, -1.5, 1e-3, 3.0, 7.5, 9.5])
_POSITIVE = np.array([0.05, 1.5, 1.95, 2.05, 7.5, 8.5])


def _of_both_signs(op, function):
    return Case(
        op=op,
        samples=[
            *unary_samples(draw.signed),
            Sample((_SIGNED,)),
            Sample((np.array([0.0, np.nan]),), gradient=False),
        ],
        reference=function,
        failures=unary_failures([3, 1j, b"a"]),
    )


def _of_positives(op, function, tolerance=1.0):
    return Case(
        op=op,
        samples=[
            *unary_samples(draw.positive),
            Sample((_POSITIVE,)),
            Sample((np.array([0.0, np.nan]),), gradient=False),
        ],
        reference=function,
        tolerance=tolerance,
        failures=unary_failures([3, 1j, b"a"]),
    )


CASES = [
    _of_both_signs("BesselI0", special.i0),
    _of_both_signs("BesselI0e", special.i0e),
    _of_both_signs("BesselI1", special.i1),
    _of_both_signs("BesselI1e", special.i1e),
    _of_both_signs("BesselJ0", special.j0),
    _of_both_signs("BesselJ1", special.j1),
    _of_positives("BesselK0", special.k0),
    _of_positives("BesselK0e", special.k0e),
    _of_positives("BesselK1", special.k1),
    _of_positives("BesselK1e", special.k1e),
    # Next to their zeros, as at 0.894, values are differences of much larger ones.
    _of_positives("BesselY0", special.y0, tolerance=10.0),
    _of_positives("BesselY1", special.y1, tolerance=10.0),
]
