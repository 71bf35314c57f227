"""Cases of gradtape.ops.colors."""

import colorsys

import numpy as np

from gradtape.core.errors import FailedPreconditionError, InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

# Every order of the three channels, clear of the edges between them.
_COLOURS = np.array(
    [
        [0.9, 0.5, 0.2], [0.8, 0.1, 0.4], [0.3, 0.7, 0.1],
        [0.2, 0.6, 0.45], [0.1, 0.35, 0.95], [0.5, 0.2, 0.85],
    ]
)  # fmt: skip


def _each(function):
    def reference(images):
        flat = images.reshape(-1, 3)
        return np.array([function(*map(float, pixel)) for pixel in flat]).reshape(images.shape)

    return reference


_FAILURES = [
    Failure((np.ones((2, 2)),), {}, FailedPreconditionError, "3 channels"),
    Failure((np.ones(3, int),), {}, InvalidArgumentError, "not in the list of allowed"),
    Failure((np.array(1.0),), {}, InvalidArgumentError, "at least 1D"),
]

CASES = [
    Case(
        op="RGBToHSV",
        samples=[
            Sample((_COLOURS,)),
            Sample((_COLOURS.reshape(1, 2, 3, 3),)),
            Sample((np.zeros((0, 3)),)),
            Sample((np.array([[0.0, 0, 0], [0.5, 0.5, 0.5], [1, 0, 0]]),), gradient=False),
        ],
        reference=_each(colorsys.rgb_to_hsv),
        failures=_FAILURES,
    ),
    Case(
        op="HSVToRGB",
        samples=[
            Sample((np.array([[0.05, 0.5, 0.2], [0.3, 0.9, 0.4], [0.55, 0.3, 0.9]]),)),
            Sample((np.array([[[0.7, 0.2, 0.3]], [[0.9, 0.6, 0.8]]]),)),
            Sample((np.zeros((0, 3)),)),
        ],
        reference=_each(colorsys.hsv_to_rgb),
        failures=_FAILURES,
    ),
]
