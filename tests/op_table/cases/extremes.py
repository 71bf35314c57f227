"""Cases of gradtape.ops.extremes."""

import numpy as np

from ..case import Case, Sample
from ..draws import Draws
from ..reductions import along, generated_reductions, reduction_failures, reduction_samples

draw = Draws(__name__)


def _extreme(op, function, of_no_floats, of_no_integers):
    return Case(
        op=op,
        samples=[
            *reduction_samples(draw.distinct),
            # Ties share the gradient; a step along one of them alone would be a kink.
            Sample((np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]),), along((1,)), gradient=False),
            Sample((np.array([[1.0, np.nan], [-np.inf, np.inf]]),), along((1,)), gradient=False),
            Sample(
                (np.zeros((0, 2)),), along((0,)), expected=np.full(2, of_no_floats), gradient=False
            ),
            Sample((np.zeros((0,), np.int16),), along((0,)), expected=np.int16(of_no_integers)),
            Sample((draw.integers(3, 2, low=-9, high=9, dtype=np.int8),), along((0,))),
            Sample((draw.integers(3, 2, dtype=np.uint64),), along((0, 1), keepdims=True)),
        ],
        reference=lambda x, axis, keepdims: function(x, axis, keepdims=keepdims),
        failures=reduction_failures(draw.uniform(2, 2), [True, 1j, b"a"]),
        generated=generated_reductions(min_side=1),
    )


CASES = [
    _extreme("Max", np.max, -np.inf, -(2**15)),
    _extreme("Min", np.min, np.inf, 2**15 - 1),
]
