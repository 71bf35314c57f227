"""Cases of gradtape.ops.searching."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.op import NON_DIFFERENTIABLE

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


def _searched(side):
    def reference(sorted_inputs, values, out_type):
        before = np.less if side == "left" else np.less_equal
        counts = before(sorted_inputs[:, None, :], values[:, :, None]).sum(-1)
        return counts.astype(out_type)

    return reference


SAMPLES = [
    Sample(
        (np.array([[1.0, 3.0, 5.0]]), np.array([[0.0, 1.0, 2.0, 5.0, 6.0]])), {"out_type": INT32}
    ),
    Sample((np.sort(draw.uniform(3, 4), 1), draw.uniform(3, 2)), {"out_type": INT64}),
    Sample((np.array([[1, 1, 2], [3, 3, 3]]), np.array([[1, 2], [3, 4]])), {"out_type": INT32}),
    Sample((np.zeros((2, 0)), np.ones((2, 3))), {"out_type": INT32}),
    Sample((np.ones((2, 3)), np.zeros((2, 0))), {"out_type": INT32}),
    Sample((np.zeros((0, 3)), np.zeros((0, 2))), {"out_type": INT32}),
    # So many short sequences are compared, not searched one by one.
    Sample(
        (np.sort(draw.integers(70, 3), 1), draw.integers(70, 2)),
        {"out_type": INT32},
    ),
]


def _failures(op):
    return [
        Failure(
            (np.ones((1, 3)), np.ones((2, 1))),
            {"out_type": INT32},
            InvalidArgumentError,
            "Leading dim_size of both tensors must match",
        ),
        Failure(
            (np.ones(3), np.ones((2, 1))), {"out_type": INT32}, InvalidArgumentError, "a matrix"
        ),
        Failure(
            (np.ones((1, 3)), np.ones((1, 3), np.float32)),
            {"out_type": INT32},
            InvalidArgumentError,
            f"cannot compute {op} as input #1",
        ),
        Failure(
            (draw.strings(1, 3), draw.strings(1, 1)),
            {"out_type": INT32},
            InvalidArgumentError,
            "string is not in the list",
        ),
    ]


CASES = [
    Case(
        op="LowerBound",
        state=NON_DIFFERENTIABLE,
        samples=[
            *SAMPLES,
            # A NaN is not greater than anything.
            Sample(
                (np.array([[1.0, 2.0]]), np.array([[np.nan, 1.5]])),
                {"out_type": INT32},
                expected=np.array([[0, 1]], np.int32),
            ),
        ],
        reference=_searched("left"),
        failures=_failures("LowerBound"),
        vary=lambda x, k: x,
        dtypes=(),
    ),
    Case(
        op="UpperBound",
        state=NON_DIFFERENTIABLE,
        samples=[
            *SAMPLES,
            # Nothing is greater than a NaN.
            Sample(
                (np.array([[1.0, 2.0]]), np.array([[np.nan, 1.5]])),
                {"out_type": INT32},
                expected=np.array([[2, 1]], np.int32),
            ),
        ],
        reference=_searched("right"),
        failures=_failures("UpperBound"),
        vary=lambda x, k: x,
        dtypes=(),
    ),
]
