"""Cases of gradtape.ops.image_quality."""

import numpy as np

from ..case import Case, Sample
from ..draws import Draws

draw = Draws(__name__)

_WEIGHTS = (0.25, 0.5, 0.25)


def _matrix(old, weights):
    new = old - len(weights) + 1
    return sum(w * np.eye(new, old, k) for k, w in enumerate(weights))


def _filter(images, size, weights):
    rows, columns = [_matrix(d, weights) for d in images.shape[1:3]]
    return np.einsum("ih,jw,bhwc->bijc", rows, columns, images)


def _spread(grads, size, weights):
    rows, columns = [_matrix(d, weights) for d in size]
    return np.einsum("ih,jw,bijc->bhwc", rows, columns, grads)


CASES = [
    Case(
        op="FilterImages",
        samples=[
            Sample((draw.uniform(1, 5, 4, 1),), {"size": (3, 2), "weights": _WEIGHTS}),
            Sample((draw.uniform(2, 3, 3, 2),), {"size": (1, 1), "weights": _WEIGHTS}),
        ],
        reference=_filter,
        dtypes=["float32"],
    ),
    Case(
        op="FilterImagesGrad",
        samples=[
            Sample((draw.uniform(1, 3, 2, 1),), {"size": (5, 4), "weights": _WEIGHTS}),
            Sample((draw.uniform(2, 1, 1, 2),), {"size": (3, 3), "weights": _WEIGHTS}),
        ],
        reference=_spread,
        dtypes=["float32"],
    ),
]
