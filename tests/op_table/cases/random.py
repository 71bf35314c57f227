"""Cases of gradtape.ops.random, random_gamma and stateless_random."""

import numpy as np

import gradtape as tf
from gradtape.core.op import UNREGISTERED

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

# Shape parameter, sample, and the sample's derivative, computed with 60 digits from the incomplete
# gamma function. Every form of the kernel is met, and all numbers are exact in float16.
_GAMMA_GRADIENTS = np.array(
    [
        (0.125, 0.0078125, 0.28130351809660026),
        (0.125, 0.5, 4.189534344541474),
        (0.125, 3.0, 7.852146364927545),
        (0.125, 16.0, 10.665401686511329),
        (0.5, 0.25, 0.9080144917641113),
        (0.5, 1.0, 1.8782472817325202),
        (1.0, 0.5, 0.806979116825318),
        (1.0, 1.0, 1.1735630272247268),
        (1.0, 6.0, 2.514242763363475),
        (1.0, 36.0, 4.187780420402278),
        (2.25, 0.5, 0.45910069542489484),
        (2.25, 2.25, 1.0764592687110117),
        (2.25, 9.0, 1.98481293311894),
        (8.0, 2.0, 0.4711591093587146),
        (8.0, 8.5, 1.0523440306219538),
        (40.0, 30.0, 0.8666398251504487),
        (40.0, 41.0, 1.0166258763799658),
        (100.0, 128.0, 1.1303823285979808),
        (1024.0, 1000.0, 0.9883494595397677),
        (20000.0, 19904.0, 0.9976044640936789),
        (20000.0, 20160.0, 1.0039977423987088),
    ]
).T
_OUTSIDE = np.array([[-1.0, 0.0, np.nan, 2.0, 2.0], [1.0, 1.0, 1.0, -1.0, np.nan]])


def _second(first, second):
    return np.broadcast_to(second, np.broadcast_shapes(first.shape, second.shape))


_INVALID = tf.errors.InvalidArgumentError
_TOO_SHORT = (draw.positive(2), draw.positive(3))


CASES = [
    Case(
        op="RandomGammaGrad",
        samples=[
            Sample(tuple(_GAMMA_GRADIENTS[:2]), expected=_GAMMA_GRADIENTS[2]),
            Sample(tuple(_GAMMA_GRADIENTS[:2, 5]), expected=_GAMMA_GRADIENTS[2, 5]),
            Sample(
                (np.array([[0.5], [1.0]]), np.array([1.0, 0.0])),
                expected=np.array([[1.8782472817325202, 0.0], [1.1735630272247268, 0.0]]),
            ),
            Sample((np.empty((0, 2)), np.ones(2)), expected=np.empty((0, 2))),
            Sample(tuple(_OUTSIDE), expected=np.full(5, np.nan)),
        ],
        reference=lambda alpha, sample: None,
        state=UNREGISTERED,
        dtypes=("float16", "float32"),
        failures=[
            Failure(_TOO_SHORT, {}, _INVALID, r"Incompatible shapes: \[2\] vs. \[3\]"),
            Failure((1, 1), {}, _INVALID, "Value for attr 'T' of int64"),
        ],
        # log x - ψ(α) loses digits as α grows, about as many as √α has.
        tolerance=20.0,
    ),
    # The value does not show how it would change with alpha: derivatives are in test_random.py.
    Case(
        op="RandomGamma",
        samples=[
            Sample((draw.positive(3), draw.positive(2, 3)), gradient=False),
            Sample((draw.positive(), draw.positive()), gradient=False),
            Sample((draw.positive(2, 1), draw.positive(4, 2, 1)), gradient=False),
            Sample((draw.positive(3), np.empty((0, 3))), gradient=False),
        ],
        reference=_second,
        differentiable=("alpha",),
        failures=[Failure(_TOO_SHORT, {}, _INVALID, "Incompatible shapes")],
    ),
    Case(
        op="RandomPoissonV2",
        samples=[
            Sample((draw.positive(3), draw.integers(2, 3).astype(float))),
            Sample((draw.positive(), draw.integers(4, dtype=np.int32))),
            Sample((draw.positive(2, 1), draw.integers(2, 1, dtype=np.int64))),
        ],
        reference=_second,
        state=UNREGISTERED,
        dtypes=("float16", "float32"),
    ),
    Case(
        op="StatelessShuffle",
        samples=[
            Sample((draw.uniform(3, 2), np.array([2, 0, 1]))),
            Sample((draw.uniform(4), np.array([3, 2, 1, 0]))),
            Sample((draw.strings(2), np.array([1, 0]))),
            Sample((np.empty((0, 2)), np.empty(0, np.int64))),
        ],
        reference=lambda value, order: value[order],
        state=UNREGISTERED,
    ),
]
