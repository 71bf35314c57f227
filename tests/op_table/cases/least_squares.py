"""Cases of gradtape.ops.least_squares."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

_TALL = np.array([[3.0, -4.0], [1.0, 2.0], [0.5, 1.0]])


def _cut(*shape):
    return np.full(shape, 1e-3)


CASES = [
    Case(
        op="PseudoInverse",
        samples=[
            Sample((_TALL, _cut())),
            Sample((_TALL.T, _cut())),
            Sample((np.eye(2), _cut())),
            Sample((np.stack([_TALL, _TALL[::-1]]), _cut(2))),
            Sample((_TALL[:2] + 1j * _TALL[1:], _cut())),
            Sample((np.zeros((0, 2)), _cut())),
            Sample(
                (np.array([[1.0, 2.0], [2.0, 4.0]]), _cut()),
                expected=np.array([[0.04, 0.08], [0.08, 0.16]]),
                gradient=False,
            ),
        ],
        reference=lambda input, rcond: np.linalg.pinv(input, rcond=rcond),
        failures=[
            Failure((np.ones(3), _cut()), {}, InvalidArgumentError, "must have rank >= 2, got 1"),
            Failure(
                (draw.integers(2, 2), _cut()), {}, InvalidArgumentError, "int64 is not in the list"
            ),
        ],
        dtypes=["float32"],
        differentiable=["input"],
        batch_inputs=["input"],
    ),
]
