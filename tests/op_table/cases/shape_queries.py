"""Cases of gradtape.ops.shape_queries."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.op import NON_DIFFERENTIABLE

from ..case import Case, Failure, Sample

CASES = [
    Case(
        op="UnravelIndex",
        state=NON_DIFFERENTIABLE,
        samples=[
            Sample((np.array([0, 5, 11]),), {"dims": (3, 4)}),
            Sample((np.array([0, 5, 11], np.int32),), {"dims": (3, 2, 2)}),
            Sample((np.array(5),), {"dims": (3, 4)}),
            Sample((np.zeros(0, np.int64),), {"dims": (3, 4)}),
            Sample((np.array([2, 1]),), {"dims": (3,)}),
        ],
        reference=lambda indices, dims: np.array(
            [np.unravel_index(indices, dims)[axis] for axis in range(len(dims))], indices.dtype
        ),
        failures=[
            Failure((np.array([12]),), {"dims": (3, 4)}, InvalidArgumentError, "out of bound"),
            Failure((np.array([-1]),), {"dims": (3, 4)}, InvalidArgumentError, "out of bound"),
            Failure(
                (np.array([[1, 2]]),), {"dims": (3, 4)}, InvalidArgumentError, "scalar or vector"
            ),
            Failure((np.array([1]),), {"dims": (0, 4)}, InvalidArgumentError, "zero at index 0"),
            Failure((np.array([1.0]),), {"dims": (4,)}, InvalidArgumentError, "double is not in"),
        ],
    ),
]
