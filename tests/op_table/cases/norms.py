"""Cases of gradtape.ops.norms."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws
from ..reductions import along, generated_reductions, reduction_failures, reduction_samples

draw = Draws(__name__)


def _norm(x, axis, keepdims):
    squares = np.sum(np.square(x), axis, x.dtype, keepdims=keepdims)
    return np.sqrt(squares).astype(x.dtype)


CASES = [
    Case(
        op="SumOfSquares",
        samples=[
            *reduction_samples(draw.signed),
            Sample((draw.uniform(2, 20_000),), along((1,)), gradient=False),
            Sample((draw.uniform(20_000, 2),), along((0,)), gradient=False),
            Sample((np.zeros((0, 3)),), along((0,)), expected=np.zeros(3)),
        ],
        # In more digits: NumPy adds up rows one by one, and loses more than the op does.
        reference=lambda x, axis, keepdims: np.sum(
            np.square(x.astype(np.result_type(x, np.longdouble))), axis, keepdims=keepdims
        ).astype(x.dtype),
        failures=reduction_failures(draw.uniform(2, 2), [True, 1, 1j, b"a"]),
        generated=generated_reductions(),
        dtypes=["bfloat16", "float32"],
    ),
    Case(
        op="EuclideanNorm",
        samples=[
            *reduction_samples(draw.signed),
            # In float32 these squares vanish or overflow, beside ordinary ones.
            Sample(
                (np.array([[3e-25, 4e-25], [3e30, 4e30], [3.0, 4.0], [0.0, 0.0]]),),
                along((1,)),
                gradient=False,
            ),
            Sample((np.array([np.inf, 1.0]),), along((0,)), gradient=False),
            Sample((np.array([np.nan, 1.0]),), along((0,)), gradient=False),
            Sample((np.zeros((0, 3)),), along((0,)), expected=np.zeros(3)),
            Sample((np.array([[3, 4], [3, 5]], np.int32),), along((1,))),
            Sample((np.array([3, 4], np.uint8),), along((0,))),
        ],
        reference=_norm,
        failures=reduction_failures(draw.uniform(2, 2), [True, 1j, b"a"]),
        generated=generated_reductions(),
        dtypes=["bfloat16", "float32"],
    ),
    Case(
        op="GlobalNorm",
        samples=[
            Sample((draw.signed(2, 3), draw.signed(4))),
            Sample((draw.signed(),)),
            Sample((draw.signed(3), draw.signed(), draw.signed(1, 2))),
            Sample((np.zeros((0, 2)), draw.signed(2))),
            # In float32 these squares vanish or overflow.
            Sample((np.array([3e-25]), np.array([4e-25])), gradient=False),
            Sample((np.array([3e30]), np.array(4e30)), gradient=False),
            Sample((np.array([np.inf, 1.0]), np.ones(1)), gradient=False),
        ],
        reference=lambda *values: np.sqrt(sum([np.sum(np.square(x)) for x in values])),
        failures=[
            Failure((np.ones(2, np.int32),), {}, InvalidArgumentError, "int32 is not in the list"),
            Failure(
                (np.ones(2), np.ones(2, np.float32)),
                {},
                InvalidArgumentError,
                r"Pack as input #1\(zero-based\) was expected to be a double tensor",
            ),
        ],
        dtypes=["bfloat16", "float32"],
    ),
]
