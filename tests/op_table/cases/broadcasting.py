"""Cases of gradtape.ops.broadcasting."""

import numpy as np
from hypothesis import strategies as st

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws
from ..strategies import arrays, axes_of, shapes

draw = Draws(__name__)


def _sum(axis, keepdims=False):
    return {"axis": axis, "keepdims": keepdims}


@st.composite
def _sums(draw):
    shape = draw(shapes())
    return Sample(
        (draw(arrays(shape)),),
        {"axis": draw(axes_of(len(shape))), "keepdims": draw(st.booleans())},
    )


@st.composite
def _broadcasts(draw):
    shape = draw(shapes(max_dims=3, min_side=1))
    x = draw(arrays([draw(st.sampled_from((1, d))) for d in shape]))
    lead = draw(shapes(max_dims=1))
    return Sample((x,), {"shape": lead + shape})


CASES = [
    Case(
        op="Reshape",
        raw=lambda x, shape: {"tensor": x, "shape": shape},
        samples=[
            Sample((draw.uniform(2, 6),), {"shape": (3, 4)}),
            Sample((draw.uniform(),), {"shape": (1, 1)}),
            Sample((draw.uniform(1, 1),), {"shape": ()}),
            Sample((draw.uniform(0, 3),), {"shape": (2, 0, 5)}),
            Sample((draw.complex_uniform(2, 3),), {"shape": (6,)}),
            Sample((draw.strings(4),), {"shape": (2, 2)}),
        ],
        reference=np.reshape,
        failures=[
            Failure(
                (draw.uniform(2, 3),),
                {"shape": (4,)},
                InvalidArgumentError,
                "Input to reshape is a tensor with 6 values, but the requested shape has 4",
            )
        ],
    ),
    Case(
        op="BroadcastTo",
        samples=[
            Sample((draw.uniform(2, 1),), {"shape": (2, 3)}),
            Sample((draw.uniform(3),), {"shape": (2, 2, 3)}),
            Sample((draw.uniform(),), {"shape": (2, 3)}),
            Sample((draw.uniform(2),), {"shape": (2,)}),
            Sample((draw.uniform(1, 3),), {"shape": (0, 3)}),
            Sample((draw.complex_uniform(3, 1),), {"shape": (3, 2)}),
            Sample((draw.booleans(3),), {"shape": (2, 3)}),
        ],
        reference=np.broadcast_to,
        failures=[
            Failure(
                (draw.uniform(2),), {"shape": (3,)}, InvalidArgumentError, "Incompatible shapes"
            ),
            Failure((draw.uniform(2, 1),), {"shape": (2,)}, InvalidArgumentError, "BroadcastTo"),
        ],
        generated=_broadcasts(),
    ),
    Case(
        op="Sum",
        samples=[
            Sample((draw.uniform(2, 3),), _sum((0,))),
            Sample((draw.uniform(2, 3, 2),), _sum((-1, 0), keepdims=True)),
            Sample((draw.uniform(2, 3),), _sum((0, 1))),
            Sample((draw.uniform(2, 3),), _sum(())),
            Sample((draw.uniform(),), _sum(())),
            Sample((draw.uniform(0, 3),), _sum((0,))),
            Sample((draw.uniform(0, 3),), _sum((1,), keepdims=True)),
            Sample((draw.complex_uniform(2, 3),), _sum((1,))),
            Sample((draw.integers(3, 2, dtype=np.int32),), _sum((0,))),
            Sample((draw.integers(3, 2, low=100, high=120, dtype=np.int8),), _sum((0,))),
        ],
        reference=lambda x, axis, keepdims: np.sum(x, axis, x.dtype, keepdims=keepdims),
        failures=[
            Failure(
                (draw.uniform(2),), _sum((1,)), InvalidArgumentError, "Invalid reduction dimension"
            ),
            Failure(
                (draw.uniform(2, 2),), _sum((0, -2)), InvalidArgumentError, "duplicate dimension: 0"
            ),
            Failure(
                (draw.strings(2),), _sum((0,)), InvalidArgumentError, "string is not in the list"
            ),
            Failure(
                (draw.booleans(2),), _sum((0,)), InvalidArgumentError, "bool is not in the list"
            ),
        ],
        generated=_sums(),
    ),
]
