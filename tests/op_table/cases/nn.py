"""Cases of gradtape.ops.nn."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

_LAST, _SECOND = {"channels_first": False}, {"channels_first": True}


def _add_bias(value, bias, channels_first):
    if channels_first:
        bias = bias.reshape(-1, *[1] * (value.ndim - 2))
    return value + bias


CASES = [
    Case(
        op="BiasAdd",
        raw=lambda value, bias, channels_first: {
            "value": value,
            "bias": bias,
            "data_format": "NCHW" if channels_first else "NHWC",
        },
        samples=[
            Sample((draw.uniform(2, 3), draw.uniform(3)), _LAST),
            Sample((draw.uniform(2, 3), draw.uniform(3)), _SECOND),
            Sample((draw.uniform(2, 2, 3), draw.uniform(3)), _LAST),
            Sample((draw.uniform(2, 3, 2), draw.uniform(3)), _SECOND),
            Sample((draw.uniform(2, 2, 1, 3), draw.uniform(3)), _LAST),
            Sample((draw.uniform(2, 3, 1, 2), draw.uniform(3)), _SECOND),
            Sample((draw.uniform(0, 3), draw.uniform(3)), _LAST),
            Sample((draw.uniform(0, 3, 2), draw.uniform(3)), _SECOND),
            Sample((draw.complex_uniform(2, 3), draw.complex_uniform(3)), _LAST),
            Sample((draw.integers(2, 3), draw.integers(3)), _LAST),
        ],
        reference=_add_bias,
        failures=[
            Failure(
                (np.ones(2), np.ones(2)),
                _LAST,
                InvalidArgumentError,
                r"Input tensor must be at least 2D: \[2\]",
            ),
            Failure(
                (np.ones((2, 3)), np.ones((1, 3))),
                _LAST,
                InvalidArgumentError,
                r"Biases must be 1D: \[1,3\]",
            ),
            Failure(
                (np.ones((2, 3)), np.ones(2)),
                _LAST,
                InvalidArgumentError,
                r"as many biases as the last dimension of the input tensor: \[2\] vs. \[2,3\]",
            ),
            Failure(
                (np.ones((2, 3, 2)), np.ones(2)),
                _SECOND,
                InvalidArgumentError,
                "as many biases as the second dimension",
            ),
            Failure(
                (np.ones((2, 3)), np.ones(3, np.float32)),
                _LAST,
                InvalidArgumentError,
                "was expected to be a double tensor but is a float tensor",
            ),
            Failure(
                (np.ones((2, 3), bool), np.ones(3, bool)),
                _LAST,
                InvalidArgumentError,
                "Value for attr 'T' of bool is not in the list of allowed values",
            ),
        ],
    ),
    Case(
        op="L2Loss",
        samples=[Sample((draw.uniform(*s),)) for s in [(2, 3), (), (4,), (0, 2), (2, 1, 2, 2)]],
        reference=lambda t: np.sum(t * t) / 2,
        failures=[
            Failure((np.array([3]),), {}, InvalidArgumentError, "Value for attr 'T' of int64"),
        ],
    ),
]
