"""CheckNumerics."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

CASES = [
    Case(
        op="CheckNumerics",
        samples=[
            Sample((draw.uniform(),), {"message": "m"}),
            Sample((draw.uniform(2, 3),), {"message": "m"}),
            Sample((draw.uniform(0, 3),), {"message": ""}),
        ],
        reference=lambda tensor, message: tensor,
        dtypes=["float32", "float16", "bfloat16"],
        failures=[
            Failure((np.array([1.0, np.nan]),), {"message": "m"}, InvalidArgumentError, "had NaN"),
            Failure((np.array([-np.inf]),), {"message": "m"}, InvalidArgumentError, "m : .* Inf"),
            Failure((np.array([1]),), {"message": "m"}, InvalidArgumentError, "int64 is not in"),
        ],
    ),
]
