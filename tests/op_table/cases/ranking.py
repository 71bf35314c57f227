"""Cases of gradtape.ops.ranking."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.op import NON_DIFFERENTIABLE

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _scores(*shape):
    return draw.distinct(*shape).astype(np.float32)


def _in_top_k(predictions, targets, k):
    return np.array(
        [
            0 <= target < len(row) and np.sum(row > row[target]) < k
            for row, target in zip(predictions, targets, strict=True)
        ],
        bool,
    )


CASES = [
    Case(
        op="InTopKV2",
        samples=[
            Sample((_scores(4, 3), np.array([0, 1, 2, 0])), {"k": 1}),
            Sample((_scores(3, 4), np.array([3, 1, 2], np.int32)), {"k": 2}),
            Sample((_scores(2, 3), np.array([3, -1])), {"k": 3}),
            Sample((np.zeros((2, 3), np.float32), np.array([0, 2])), {"k": 1}),
            Sample((np.zeros((0, 3), np.float32), np.zeros(0, np.int32)), {"k": 1}),
            Sample(
                (np.array([[1, np.nan], [2, np.inf], [3, 1]], np.float32), np.array([0, 1, 0])),
                {"k": 2},
                expected=np.array([False, False, True]),
            ),
        ],
        reference=_in_top_k,
        failures=[
            Failure(
                (_scores(3), np.array([0])), {"k": 1}, InvalidArgumentError, "must be 2-dimensional"
            ),
            Failure(
                (_scores(1, 3), np.array([[0]])),
                {"k": 1}, InvalidArgumentError, "targets must be 1-dimensional",
            ),
            Failure(
                (_scores(1, 3), np.array([0, 1])),
                {"k": 1}, InvalidArgumentError, "predictions 1 must match length of targets 2",
            ),
            Failure(
                (draw.uniform(1, 3), np.array([0])),
                {"k": 1}, InvalidArgumentError, "expected to be a float tensor but is a double",
            ),
        ],
        state=NON_DIFFERENTIABLE,
    ),
]  # fmt: skip
