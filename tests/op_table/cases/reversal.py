"""Cases of gradtape.ops.reversal."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _dims(seq_dim, batch_dim=0):
    return {"seq_dim": seq_dim, "batch_dim": batch_dim}


def _reversed(input, seq_lengths, seq_dim, batch_dim):
    out = np.array(input)
    view = np.moveaxis(out, (batch_dim, seq_dim), (0, 1))
    for row, length in zip(view, seq_lengths.tolist(), strict=True):
        row[:length] = row[:length][::-1].copy()
    return out


CASES = [
    Case(
        op="ReverseSequence",
        samples=[
            Sample((draw.uniform(2, 4), np.array([2, 3])), _dims(1)),
            Sample((draw.uniform(3, 2), np.array([3, 0], np.int32)), _dims(0, 1)),
            Sample((draw.uniform(2, 3, 2), np.array([3, 1])), _dims(1)),
            Sample((draw.uniform(2, 3, 2), np.array([1, 2])), _dims(1, 2)),
            Sample((draw.uniform(2, 3, 2), np.array([2, 0, 1])), _dims(2, 1)),
            Sample((draw.uniform(0, 3), np.zeros(0, np.int64)), _dims(1)),
            Sample((draw.complex_uniform(2, 2), np.array([2, 1])), _dims(1)),
            Sample((draw.integers(2, 3), np.array([2, 3])), _dims(1)),
            Sample((draw.strings(2, 3), np.array([2, 3])), _dims(1)),
        ],
        reference=_reversed,
        failures=[
            Failure(
                (draw.uniform(2, 2), np.array([1, 3])),
                _dims(1),
                InvalidArgumentError,
                r"seq_lens\(1\) > input.dims\(1\)",
            ),
            Failure(
                (draw.uniform(2, 2), np.array([-1, 1])),
                _dims(1),
                InvalidArgumentError,
                r"seq_lens\(0\) < 0",
            ),
            Failure(
                (draw.uniform(2, 2), np.array([1])),
                _dims(1),
                InvalidArgumentError,
                r"Length of seq_lengths != input.dims\(0\), \(1 vs. 2\)",
            ),
            Failure(
                (draw.uniform(2, 2), np.array([1, 1])),
                _dims(0),
                InvalidArgumentError,
                "batch_dim == seq_dim == 0",
            ),
            Failure(
                (draw.uniform(2, 2), np.array([1, 1])),
                _dims(2),
                InvalidArgumentError,
                "seq_dim must be < input rank",
            ),
            Failure(
                (draw.uniform(2, 2), np.array([1.0, 1.0])),
                _dims(1),
                InvalidArgumentError,
                "'Tlen' of double is not in the list",
            ),
        ],
    ),
]
