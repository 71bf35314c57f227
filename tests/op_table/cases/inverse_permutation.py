"""Cases of gradtape.ops.inverse_permutation."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.op import NON_DIFFERENTIABLE

from ..case import Case, Failure, Sample

CASES = [
    Case(
        op="InvertPermutation",
        state=NON_DIFFERENTIABLE,
        samples=[
            Sample((np.array([2, 0, 1]),)),
            Sample((np.array([3, 1, 0, 2], np.int32),)),
            Sample((np.array([], np.int32),)),
        ],
        reference=lambda x: np.argsort(x).astype(x.dtype),
        failures=[
            Failure((np.array([0, 0]),), {}, InvalidArgumentError, "0 is duplicated in the input"),
            Failure((np.array([1, 2]),), {}, InvalidArgumentError, "2 is not between 0 and 2"),
            Failure((np.array([-1, 0]),), {}, InvalidArgumentError, "-1 is not between 0 and 2"),
            Failure((np.array([[0]]),), {}, InvalidArgumentError, "expects a 1D vector"),
            Failure((np.array([0.0]),), {}, InvalidArgumentError, "double is not in the list"),
        ],
    ),
]
