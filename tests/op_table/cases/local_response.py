"""Cases of gradtape.ops.local_response."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _attrs(depth_radius=5, bias=1.0, alpha=1.0, beta=0.5):
    return {"depth_radius": depth_radius, "bias": bias, "alpha": alpha, "beta": beta}


def _lrn(x, depth_radius, bias, alpha, beta):
    out = np.empty_like(x)
    for d in range(x.shape[-1]):
        near = x[..., max(0, d - depth_radius) : d + depth_radius + 1]
        out[..., d] = x[..., d] / (bias + alpha * (near**2).sum(-1)) ** beta
    return out


CASES = [
    Case(
        op="LRN",
        samples=[
            Sample((draw.uniform(2, 1, 2, 4),), _attrs()),
            Sample((draw.uniform(1, 2, 1, 5),), _attrs(1, 2.0, 0.5, 0.75)),
            Sample((draw.uniform(1, 1, 2, 3),), _attrs(0, 1.5, 1.0, 2.0)),
            Sample((draw.uniform(1, 1, 2, 3),), _attrs(1, 1.5, -0.1, -0.5)),
            Sample((draw.uniform(0, 2, 2, 3),), _attrs()),
            Sample((draw.uniform(1, 2, 2, 0),), _attrs()),
        ],
        reference=_lrn,
        failures=[
            Failure((draw.uniform(2, 3),), _attrs(), InvalidArgumentError, "4-dimensional"),
            Failure(
                (draw.uniform(1, 1, 1, 2),), _attrs(-1), InvalidArgumentError, "depth_radius = -1"
            ),
            Failure(
                (draw.integers(1, 1, 1, 2),), _attrs(), InvalidArgumentError, "int64 is not in"
            ),
        ],
    ),
]
