"""Cases of gradtape.ops.joining."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _split(sizes, axis):
    return {"sizes": sizes, "axis": axis}


CASES = [
    Case(
        op="ConcatV2",
        samples=[
            Sample((draw.uniform(2, 3), draw.uniform(1, 3)), {"axis": 0}),
            Sample((draw.uniform(2, 1), draw.uniform(2, 3), draw.uniform(2, 2)), {"axis": -1}),
            Sample((draw.uniform(3),), {"axis": 0}),
            Sample((draw.uniform(0, 2), draw.uniform(2, 2)), {"axis": -2}),
            Sample((draw.uniform(2, 1, 2, 1), draw.uniform(2, 3, 2, 1)), {"axis": 1}),
            Sample((draw.complex_uniform(2), draw.complex_uniform(1)), {"axis": 0}),
            Sample(
                (draw.integers(2, dtype=np.int32), draw.integers(1, dtype=np.int32)), {"axis": 0}
            ),
            Sample((draw.strings(2), draw.strings(1)), {"axis": 0}),
        ],
        reference=lambda *values, axis: np.concatenate(values, axis),
        failures=[
            Failure(
                (draw.uniform(2), draw.uniform(2)),
                {"axis": 1},
                InvalidArgumentError,
                r"Expected concatenating dimensions in the range \[-1, 1\), but got 1",
            ),
            Failure(
                (draw.uniform(2), draw.uniform(1, 2)),
                {"axis": 0},
                InvalidArgumentError,
                r"Ranks of all input tensors should match: .* = \[2\] vs. shape\[1\] = \[1,2\]",
            ),
            Failure(
                (draw.uniform(2, 2), draw.uniform(2, 3)),
                {"axis": 0},
                InvalidArgumentError,
                r"Dimension 1 in both shapes must be equal: .* = \[2,2\] vs. shape\[1\] = \[2,3\]",
            ),
            Failure(
                (draw.uniform(2), draw.integers(2)),
                {"axis": 0},
                InvalidArgumentError,
                r"input #1\(zero-based\) was expected to be a double tensor but is a int64 tensor",
            ),
            Failure(
                (draw.uniform(), draw.uniform()),
                {"axis": 0},
                InvalidArgumentError,
                r"Can't concatenate scalars \(use tf.stack instead\)",
            ),
        ],
    ),
    Case(
        op="SplitV",
        raw=lambda value, sizes, axis: {
            "value": value,
            "size_splits": sizes,
            "axis": axis,
            "num_split": len(sizes),
        },
        samples=[
            Sample((draw.uniform(3, 2),), _split((1, 2), 0)),
            Sample((draw.uniform(2, 4),), _split((2, 0, 2), -1)),
            Sample((draw.uniform(2, 3),), _split((3,), 1)),
            Sample((draw.uniform(0, 3),), _split((1, 1, 1), 1)),
            Sample((draw.uniform(2, 1, 3, 1),), _split((1, 2), -2)),
            Sample((draw.complex_uniform(3),), _split((1, 2), 0)),
            Sample((draw.integers(3, dtype=np.int32),), _split((2, 1), 0)),
            Sample((draw.strings(3),), _split((2, 1), 0)),
        ],
        reference=lambda value, sizes, axis: np.split(value, np.cumsum(sizes[:-1]), axis),
        failures=[
            Failure(
                (draw.uniform(2),),
                _split((1, 2), 0),
                InvalidArgumentError,
                r"Determined shape must .* Got: 3",
            ),
            Failure(
                (draw.uniform(2),),
                _split((1, 1), 1),
                InvalidArgumentError,
                r"-input rank\(-1\) <= split_dim < input rank \(1\), but got 1",
            ),
        ],
    ),
    Case(
        op="Pack",
        samples=[
            Sample((draw.uniform(2, 3), draw.uniform(2, 3)), {"axis": 0}),
            Sample((draw.uniform(2, 3), draw.uniform(2, 3), draw.uniform(2, 3)), {"axis": 1}),
            Sample((draw.uniform(2, 3), draw.uniform(2, 3)), {"axis": -1}),
            Sample((draw.uniform(), draw.uniform(), draw.uniform()), {"axis": 0}),
            Sample((draw.uniform(),), {"axis": -1}),
            Sample((draw.uniform(0, 2), draw.uniform(0, 2)), {"axis": 1}),
            Sample((draw.uniform(2, 1, 2), draw.uniform(2, 1, 2)), {"axis": -3}),
            Sample((draw.complex_uniform(2), draw.complex_uniform(2)), {"axis": 1}),
            Sample((draw.integers(2), draw.integers(2)), {"axis": 0}),
            Sample((np.array(b"a", object), np.array(b"b", object)), {"axis": 0}),
            Sample((draw.strings(2), draw.strings(2)), {"axis": 1}),
        ],
        reference=lambda *values, axis: np.stack(values, axis),
        failures=[
            Failure(
                (draw.uniform(2, 3), draw.uniform(2)),
                {"axis": 0},
                InvalidArgumentError,
                r"values\[0\].shape = \[2,3\] != values\[1\].shape = \[2\]",
            ),
            Failure(
                (draw.uniform(2), draw.integers(2)),
                {"axis": 0},
                InvalidArgumentError,
                r"Pack as input #1\(zero-based\) was expected to be a double tensor but is a int64",
            ),
        ],
    ),
    Case(
        op="Unpack",
        raw=lambda value, axis: {
            "value": value,
            "num": (value.shape or (1,))[axis % max(value.ndim, 1)],
            "axis": axis,
        },
        samples=[
            Sample((draw.uniform(2, 3),), {"axis": 0}),
            Sample((draw.uniform(2, 3),), {"axis": -1}),
            Sample((draw.uniform(2, 2, 3),), {"axis": 1}),
            Sample((draw.uniform(3),), {"axis": 0}),
            Sample((draw.uniform(2, 0),), {"axis": 0}),
            Sample((draw.complex_uniform(2, 3),), {"axis": 0}),
            Sample((draw.integers(3),), {"axis": 0}),
            Sample((draw.strings(3),), {"axis": 0}),
            Sample((draw.strings(2, 3),), {"axis": 1}),
        ],
        reference=lambda value, axis: [
            np.asarray(part, value.dtype) for part in np.moveaxis(value, axis, 0)
        ],
    ),
]
