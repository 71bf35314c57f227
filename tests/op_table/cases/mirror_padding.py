"""Cases of gradtape.ops.mirror_padding."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _how(paddings, mode="REFLECT"):
    return {"paddings": paddings, "mode": mode}


def _reference(input, paddings, mode):
    return np.pad(input, paddings, mode.lower()) if input.ndim else input


def _transposed(input, paddings, mode):
    """The sum, for each element, of all places where padding puts it."""
    shape = [n - a - b for n, (a, b) in zip(input.shape, paddings, strict=True)]
    size = int(np.prod(shape))
    sources = _reference(np.arange(size).reshape(shape), paddings, mode).reshape(-1)
    total = np.zeros(size, input.dtype)
    np.add.at(total, sources, input.reshape(-1))
    return total.reshape(shape)


CASES = [
    Case(
        op="MirrorPad",
        samples=[
            Sample((draw.uniform(4),), _how(((2, 3),))),
            Sample((draw.uniform(4),), _how(((4, 3),), "SYMMETRIC")),
            Sample((draw.uniform(2, 3),), _how(((1, 0), (0, 2)))),
            Sample((draw.uniform(2, 3),), _how(((1, 2), (3, 0)), "SYMMETRIC")),
            Sample((draw.uniform(2, 1, 2, 3),), _how(((0, 1), (0, 0), (1, 1), (2, 1)))),
            Sample((draw.uniform(),), _how(())),
            Sample((draw.complex_uniform(2, 3),), _how(((1, 1), (1, 1)))),
            Sample((draw.integers(2, 3),), _how(((1, 1), (1, 1)))),
        ],
        reference=_reference,
        failures=[
            Failure(
                (draw.uniform(2),), _how(((2, 0),)), InvalidArgumentError, "2, 0 not less than 2"
            ),
            Failure(
                (draw.uniform(2),),
                _how(((0, 3),), "SYMMETRIC"),
                InvalidArgumentError,
                "0, 3 greater than 2",
            ),
        ],
    ),
    Case(
        op="MirrorPadGrad",
        samples=[
            Sample((draw.uniform(9),), _how(((2, 3),))),
            Sample((draw.uniform(11),), _how(((4, 3),), "SYMMETRIC")),
            Sample((draw.uniform(3, 5),), _how(((1, 0), (0, 2)))),
            Sample((draw.uniform(5, 6),), _how(((1, 2), (3, 0)), "SYMMETRIC")),
            Sample((draw.complex_uniform(4, 5),), _how(((1, 1), (1, 1)))),
        ],
        reference=_transposed,
        failures=[
            Failure(
                (draw.uniform(4),), _how(((2, 0),)), InvalidArgumentError, "2, 0 not less than 2"
            ),
        ],
    ),
]
