"""Cases of gradtape.ops.spectral."""

import numpy as np

from ..case import Case, Sample
from ..draws import Draws

draw = Draws(__name__)


def _frame(x, length, step, count):
    frames = [x[..., i * step : i * step + length, :] for i in range(count)]
    return np.stack(frames, -3)


def _overlap(x, step, size):
    total = np.zeros((*x.shape[:-3], size, x.shape[-1]), x.dtype)
    for i in range(x.shape[-3]):
        total[..., i * step : i * step + x.shape[-2], :] += x[..., i, :, :]
    return total


CASES = [
    Case(
        op="Frame",
        samples=[
            Sample((draw.uniform(9, 1),), {"length": 4, "step": 2, "count": 3}),
            Sample((draw.uniform(2, 7, 2),), {"length": 2, "step": 3, "count": 2}),
            Sample((draw.complex_uniform(5, 1),), {"length": 3, "step": 1, "count": 3}),
            Sample((draw.integers(6, 1, dtype=np.int64),), {"length": 3, "step": 3, "count": 2}),
        ],
        reference=_frame,
    ),
    Case(
        op="OverlapAndAdd",
        samples=[
            Sample((draw.uniform(3, 4, 1),), {"step": 2, "size": 8}),
            Sample((draw.uniform(2, 2, 2, 2),), {"step": 3, "size": 7}),
            Sample((draw.uniform(3, 5, 1),), {"step": 3, "size": 11}),
            Sample((draw.complex_uniform(3, 3, 1),), {"step": 1, "size": 5}),
        ],
        reference=_overlap,
    ),
]
