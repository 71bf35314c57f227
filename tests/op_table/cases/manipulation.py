"""Cases of gradtape.ops.manipulation."""

import numpy as np
from hypothesis import strategies as st

from ..case import Case, Sample
from ..draws import Draws
from ..strategies import arrays, shapes

draw = Draws(__name__)


@st.composite
def _transposes(draw):
    shape = draw(shapes())
    return Sample((draw(arrays(shape)),), {"perm": tuple(draw(st.permutations(range(len(shape)))))})


CASES = [
    Case(
        op="Transpose",
        samples=[
            Sample((draw.uniform(2, 3),), {"perm": (1, 0)}),
            Sample((draw.uniform(2, 3, 4),), {"perm": (2, 0, 1)}),
            Sample((draw.uniform(2, 1, 3, 2),), {"perm": (0, 3, 2, 1)}),
            Sample((draw.uniform(3),), {"perm": (0,)}),
            Sample((draw.uniform(),), {"perm": ()}),
            Sample((draw.uniform(0, 3),), {"perm": (1, 0)}),
            Sample((draw.complex_uniform(2, 3),), {"perm": (1, 0)}),
            Sample((draw.integers(2, 3),), {"perm": (1, 0)}),
            Sample((draw.strings(2, 3),), {"perm": (1, 0)}),
        ],
        reference=lambda x, perm: np.transpose(x, perm),
        generated=_transposes(),
    ),
]
