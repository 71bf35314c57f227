"""Cases of gradtape.ops.partition."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _numbers(values):
    return np.array(values, np.int32)


def _partitioned(data, partitions, num_partitions):
    return tuple([data[partitions == i] for i in range(num_partitions)])


CASES = [
    Case(
        op="DynamicPartition",
        samples=[
            Sample((draw.uniform(4), _numbers([0, 1, 0, 2])), {"num_partitions": 3}),
            Sample((draw.uniform(3, 2), _numbers([1, 1, 1])), {"num_partitions": 2}),
            Sample((draw.uniform(2, 2), _numbers([[1, 0], [0, 1]])), {"num_partitions": 2}),
            Sample(
                (draw.uniform(2, 3, 2), _numbers([[1, 0, 1], [0, 1, 1]])), {"num_partitions": 2}
            ),
            # So many are sorted rather than picked one after another.
            Sample((draw.uniform(6, 2), _numbers([9, 0, 3, 9, 3, 5])), {"num_partitions": 10}),
            Sample((draw.uniform(0, 2), _numbers([])), {"num_partitions": 2}),
            Sample((draw.complex_uniform(3), _numbers([1, 0, 1])), {"num_partitions": 2}),
            Sample((draw.integers(3), _numbers([1, 0, 1])), {"num_partitions": 2}),
            Sample((draw.strings(3), _numbers([1, 0, 1])), {"num_partitions": 2}),
            Sample(
                (draw.uniform(), np.int32(1)),
                {"num_partitions": 2},
            ),
        ],
        reference=lambda data, partitions, num_partitions: _partitioned(
            data, partitions, num_partitions
        ),
        # Which row goes where decides the lengths: elements of a batch would differ in shape.
        batch_inputs=("data",),
        failures=[
            Failure(
                (draw.uniform(2), _numbers([0, 5])),
                {"num_partitions": 2},
                InvalidArgumentError,
                r"partitions\[1\] = 5 is not in \[0, 2\)",
            ),
            Failure(
                (draw.uniform(2), _numbers([-1, 0])),
                {"num_partitions": 2},
                InvalidArgumentError,
                r"partitions\[0\] = -1 is not in \[0, 2\)",
            ),
            Failure(
                (draw.uniform(2), _numbers([0])),
                {"num_partitions": 2},
                InvalidArgumentError,
                "data.shape must start with partitions.shape",
            ),
            Failure(
                (draw.uniform(2), _numbers([0, 0])),
                {"num_partitions": 0},
                InvalidArgumentError,
                "'num_partitions' of 0 must be at least minimum 1",
            ),
        ],
    ),
]
