"""Cases of gradtape.ops.image."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.op import UNREGISTERED

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

_FACTOR = np.array(1.5, np.float32)


def _adjust_contrast(images, contrast_factor):
    average = np.mean(images, axis=(-3, -2), keepdims=True) if images.size else images
    return (images - average) * contrast_factor.astype(np.float64) + average


CASES = [
    Case(
        op="AdjustContrastv2",
        samples=[
            Sample((draw.uniform(2, 3, 2), _FACTOR)),
            Sample((draw.uniform(2, 2, 1, 3), np.array(-0.5, np.float32))),
            Sample((draw.uniform(0, 2, 3), _FACTOR)),
        ],
        state=UNREGISTERED,
        reference=_adjust_contrast,
        failures=[
            Failure(
                (np.ones((2, 3)), _FACTOR),
                {},
                InvalidArgumentError,
                r"input must be at least 3-D, got shape\[2,3\]",
            ),
            Failure(
                (np.ones((2, 3, 1)), np.ones(2, np.float32)),
                {},
                InvalidArgumentError,
                r"contrast_factor must be scalar: \[2\]",
            ),
            Failure(
                (np.ones((2, 3, 1)), np.array(1.5)),
                {},
                InvalidArgumentError,
                "was expected to be a float tensor but is a double tensor",
            ),
            Failure(
                (np.ones((2, 3, 1), int), _FACTOR), {}, InvalidArgumentError, "attr 'T' of int64"
            ),
        ],
    ),
]
