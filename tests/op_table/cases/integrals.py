"""Cases of gradtape.ops.integrals."""

import numpy as np
from scipy import special

from ..case import Case, Sample
from ..draws import Draws
from ..samples import unary_failures, unary_samples

draw = Draws(__name__)


def _case(op, function, make, points, edges):
    return Case(
        op=op,
        samples=[
            *unary_samples(make),
            Sample((np.array(points),)),
            Sample((np.array(edges),), gradient=False),
        ],
        reference=function,
        failures=unary_failures([3, 1j, b"a"]),
    )


_OSCILLATING = [-3.0, -1.7, -1.5, 0.1, 1.59, 1.61, 2.5]

CASES = [
    _case(
        "Dawsn", special.dawsn, draw.uniform,
        [-9.0, -2.1, -1.9, 1e-3, 3.9, 4.1, 20.0], [0.0, np.inf, np.nan],
    ),
    _case(
        "Expint", special.expi, draw.positive,
        [0.05, 1.9, 2.1, 3.9, 5.0, 9.0, 12.0], [0.0, np.inf, np.nan],
    ),
    _case(
        "FresnelCos", lambda x: special.fresnel(x)[1], draw.uniform,
        _OSCILLATING, [0.0, np.inf, -np.inf, np.nan],
    ),
    _case(
        "FresnelSin", lambda x: special.fresnel(x)[0], draw.uniform,
        _OSCILLATING, [0.0, np.inf, -np.inf, np.nan],
    ),
    _case(
        "Spence", special.spence, draw.positive,
        [0.05, 0.45, 0.55, 1.5, 2.5, 30.0], [0.0, 1.0, -1.0, np.nan],
    ),
]  # fmt: skip
