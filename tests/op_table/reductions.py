"""Samples and failures that suit any reduction: ranks 0 to 4, every form of axes, size 0."""

import numpy as np
from hypothesis import strategies as st

from gradtape.core.errors import InvalidArgumentError

from .case import Failure, Sample
from .strategies import arrays, axes_of, shapes


def along(axis, keepdims=False):
    """The attributes of a reduction."""
    return {"axis": axis, "keepdims": keepdims}


def reduction_samples(make):
    """Samples of a reduction; `make(*shape)` gives arrays."""
    return [
        Sample((make(2, 3),), along((0,))),
        Sample((make(2, 3),), along((-1,), keepdims=True)),
        Sample((make(2, 3, 2),), along((-1, 0))),
        Sample((make(1, 2, 2, 3),), along((1, 3), keepdims=True)),
        Sample((make(2, 3),), along((0, 1))),
        Sample((make(4),), along((0,))),
        Sample((make(2, 3),), along(())),
        Sample((make(),), along(())),
        Sample((make(0, 3),), along((1,))),
    ]


def reduction_failures(x, refused):
    """What a reduction refuses: axes that are not there or named twice, and other dtypes.

    Args:
        x: an array of rank 2 that it accepts.
        refused: values of dtypes it does not accept.
    """
    return [
        Failure(
            (x,),
            along((2,)),
            InvalidArgumentError,
            r"Invalid reduction dimension \(2 for input with 2 dimension",
        ),
        Failure((x,), along((0, -3)), InvalidArgumentError, "Invalid reduction dimension .-3 for"),
        Failure((x,), along((1, -1)), InvalidArgumentError, "duplicate dimension: 1"),
        Failure((x[0, 0],), along((0,)), InvalidArgumentError, "with 0 dimension"),
        *[
            Failure(
                (np.array([value], object if isinstance(value, bytes) else None),),
                along((0,)),
                InvalidArgumentError,
                "is not in the list of allowed values|was expected to be a bool tensor",
            )
            for value in refused
        ],
    ]


@st.composite
def generated_reductions(draw, min_side=0, low=-2.0, high=2.0):
    """Reductions of arrays of any shape along any axes."""
    shape = draw(shapes(min_side=min_side))
    attrs = along(draw(axes_of(len(shape))), draw(st.booleans()))
    return Sample((draw(arrays(shape, low, high)),), attrs)
