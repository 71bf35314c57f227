"""Cases of gradtape.ops.horner."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

_CUBIC = {"coefficients": (0.5, 0.0, -1.5, 2.0)}
_LINE = {"coefficients": (3.0, -1.0)}
_CONSTANT = {"coefficients": (2.5,)}

CASES = [
    Case(
        op="Polynomial",
        samples=[
            Sample((draw.uniform(3, 4),), _CUBIC),
            Sample((draw.uniform(),), _CUBIC),
            Sample((draw.uniform(2, 1, 2),), _LINE),
            Sample((draw.uniform(3),), _CONSTANT),
            Sample((draw.uniform(),), _CONSTANT),
            Sample((np.zeros((0, 2)),), _CUBIC),
            Sample((draw.complex_uniform(3),), _CUBIC),
        ],
        reference=lambda x, coefficients: np.polyval(np.array(coefficients), x),
        failures=[
            Failure((np.arange(3),), _LINE, InvalidArgumentError, "int64 is not in the list"),
        ],
        dtypes=["float16", "float32", "complex64"],
    ),
]
