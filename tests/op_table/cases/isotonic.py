"""Cases of gradtape.ops.isotonic."""

import numpy as np

from gradtape.core import dtypes
from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

DOUBLE = {"output_dtype": np.dtype(np.float64)}


def _isotonic(x, output_dtype):
    """The least of the greatest means of all runs that hold an element."""
    rows, size = x.shape
    values = np.zeros((rows, size), np.float64)
    segments = np.zeros((rows, size), np.int32)
    for r in range(rows):
        for i in range(size):
            values[r, i] = min(
                max(x[r, a : b + 1].mean() for b in range(i, size)) for a in range(i + 1)
            )
            segments[r, i] = i and segments[r, i - 1] + (values[r, i] < values[r, i - 1] - 1e-9)
    return values.astype(output_dtype), segments


CASES = [
    Case(
        op="IsotonicRegression",
        samples=[
            Sample((draw.uniform(2, 5),), DOUBLE),
            Sample((np.array([[1.0, 3.0, 2.5, 2.0, 1.9, 5.0, 0.0]]),), DOUBLE),
            Sample((draw.uniform(3, 1),), DOUBLE),
            Sample((draw.uniform(0, 3),), DOUBLE),
            Sample((draw.uniform(3, 0),), DOUBLE),
            Sample((np.array([[3, 1, 2]]),), DOUBLE),
        ],
        reference=_isotonic,
        dtypes=(),
        raw=lambda input, output_dtype: {
            "input": input,
            "output_dtype": dtypes.as_dtype(output_dtype),
        },
        failures=[
            Failure((draw.uniform(3),), DOUBLE, InvalidArgumentError, "should be a matrix"),
            Failure((draw.booleans(1, 2),), DOUBLE, InvalidArgumentError, "bool is not in"),
        ],
    ),
]
