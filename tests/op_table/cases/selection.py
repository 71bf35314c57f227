"""Cases of gradtape.ops.selection."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

CASES = [
    Case(
        op="SelectV2",
        samples=[
            Sample((draw.booleans(2, 3), draw.uniform(2, 3), draw.uniform(2, 3))),
            Sample((draw.booleans(3), draw.uniform(2, 1), draw.uniform())),
            Sample((np.array(True), draw.uniform(), draw.uniform(2))),
            Sample((np.array(False), draw.uniform(), draw.uniform())),
            Sample((draw.booleans(2, 1, 1), draw.uniform(3, 1), draw.uniform(2))),
            Sample((draw.booleans(0, 3), draw.uniform(1, 3), draw.uniform(3))),
            Sample((draw.booleans(3), draw.complex_uniform(3), draw.complex_uniform(2, 1))),
            Sample((draw.booleans(3), draw.integers(3, dtype=np.int32), np.array(7, np.int32))),
            Sample((draw.booleans(4), draw.strings(4), draw.strings(4))),
            Sample((np.array([True, False]), np.array([1.0, np.nan]), np.array([np.nan, 2.0]))),
        ],
        reference=np.where,
        failures=[
            Failure(
                (draw.booleans(1), draw.uniform(2), draw.uniform(3)),
                {},
                InvalidArgumentError,
                r"condition \[1\], then \[2\], and else \[3\] must be broadcastable",
            ),
            Failure(
                (draw.integers(2, dtype=np.int32), draw.uniform(2), draw.uniform(2)),
                {},
                InvalidArgumentError,
                r"input #0\(zero-based\) was expected to be a bool tensor but is a int32 tensor",
            ),
            Failure(
                (draw.booleans(2), draw.uniform(2), draw.integers(2)),
                {},
                InvalidArgumentError,
                r"input #2\(zero-based\) was expected to be a double tensor but is a int64 tensor",
            ),
        ],
    ),
]
