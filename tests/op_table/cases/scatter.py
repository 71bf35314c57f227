"""Cases of gradtape.ops.scatter."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws
from ..places import vary_places

draw = Draws(__name__)


def _segment_sum(data, segment_ids, num_segments):
    inner = data.shape[segment_ids.ndim :]
    total = np.zeros((num_segments, *inner), data.dtype)
    for place in np.ndindex(segment_ids.shape):
        if segment_ids[place] >= 0:
            total[segment_ids[place]] += data[place]
    return total


def _scatter_nd(updates, indices, shape):
    zero = b"" if updates.dtype == object else 0
    total = np.full(shape, zero, updates.dtype)
    for place in np.ndindex(indices.shape[:-1]):
        total[(*indices[place], ...)] += updates[place]
    return total


CASES = [
    Case(
        op="UnsortedSegmentSum",
        samples=[
            Sample((draw.uniform(4, 2), np.array([1, 0, 1, 1])), {"num_segments": 3}),
            Sample((draw.uniform(3), np.array([2, -1, 0], np.int32)), {"num_segments": 3}),
            Sample((draw.uniform(2, 3), np.array([[0, 1, 0], [1, 1, 0]])), {"num_segments": 2}),
            Sample((draw.uniform(2, 2), np.array(1)), {"num_segments": 2}),
            Sample((draw.uniform(0, 2), np.zeros(0, np.int64)), {"num_segments": 2}),
            Sample((draw.uniform(2, 0), np.array([0, 0])), {"num_segments": 1}),
            Sample((draw.complex_uniform(3, 2), np.array([1, 0, 1])), {"num_segments": 2}),
            Sample((draw.integers(3, dtype=np.int32), np.array([0, 0, 1])), {"num_segments": 2}),
        ],
        reference=_segment_sum,
        failures=[
            Failure(
                (draw.uniform(2, 2), np.array([0, 2])),
                {"num_segments": 2},
                InvalidArgumentError,
                r"segment_ids\[1\] = 2 is out of range \[0, 2\)",
            ),
            Failure(
                (draw.uniform(2, 2), np.array([0])),
                {"num_segments": 2},
                InvalidArgumentError,
                r"data.shape = \[2,2\] does not start with segment_ids.shape = \[1\]",
            ),
            Failure(
                (draw.uniform(2), np.array([0, 1])),
                {"num_segments": -1},
                InvalidArgumentError,
                "Input num_segments == -1 must not be negative",
            ),
            Failure(
                (draw.uniform(1), np.array([0.5])),
                {"num_segments": 1},
                InvalidArgumentError,
                "'Tindices' of double",
            ),
        ],
    ),
    Case(
        op="ScatterNd",
        samples=[
            Sample((draw.uniform(3), np.array([[1], [3], [1]])), {"shape": (5,)}),
            Sample((draw.uniform(2, 3), np.array([[1], [0]], np.int32)), {"shape": (2, 3)}),
            Sample((draw.uniform(2), np.array([[1, 2], [0, 0]])), {"shape": (2, 3)}),
            Sample((draw.uniform(2, 1, 2), np.array([[[1]], [[0]]], np.int16)), {"shape": (2, 2)}),
            Sample((draw.uniform(), np.array([1, 0])), {"shape": (2, 1)}),
            Sample((draw.uniform(2, 3), np.zeros((2, 0), np.int64)), {"shape": (3,)}),
            Sample((draw.uniform(0), np.zeros((0, 1), np.int64)), {"shape": (3,)}),
            Sample((draw.complex_uniform(2), np.array([[1], [1]])), {"shape": (2,)}),
            Sample((draw.integers(2), np.array([[1], [1]])), {"shape": (2,)}),
            Sample((draw.booleans(2), np.array([[1], [0]])), {"shape": (3,)}),
            Sample((draw.strings(2), np.array([[1], [0]])), {"shape": (3,)}),
        ],
        reference=_scatter_nd,
        vary=vary_places,
        failures=[
            Failure(
                (draw.uniform(2), np.array([[1], [7]])),
                {"shape": (3,)},
                InvalidArgumentError,
                r"indices\[1\] = \[7\] does not index into shape \[3\]",
            ),
            Failure(
                (draw.uniform(1), np.array([[-1]])),
                {"shape": (3,)},
                InvalidArgumentError,
                r"indices\[0\] = \[-1\] does not index into shape \[3\]",
            ),
            Failure(
                (draw.uniform(1), np.array([[0], [1]])),
                {"shape": (3,)},
                InvalidArgumentError,
                r"Dimensions \[0,1\) of indices\[shape=\[2,1\]\] must match dimensions \[0,1\) of "
                r"updates\[shape=\[1\]\]",
            ),
            Failure(
                (draw.uniform(2, 3), np.array([[0], [1]])),
                {"shape": (3, 2)},
                InvalidArgumentError,
                r"Dimensions \[1,2\) of input\[shape=\[3,2\]\] must match dimensions \[1,2\) of "
                r"updates\[shape=\[2,3\]\]",
            ),
            Failure(
                (draw.uniform(1), np.array([[0, 0]])),
                {"shape": (3,)},
                InvalidArgumentError,
                r"Dimensions \[2,1\) of input",
            ),
            Failure(
                (draw.uniform(1), np.array(0)),
                {"shape": (3,)},
                InvalidArgumentError,
                "Indices shape must have rank at least one",
            ),
            Failure(
                (draw.uniform(1), np.array([[0.5]])),
                {"shape": (3,)},
                InvalidArgumentError,
                "'Tindices' of double",
            ),
        ],
    ),
]
