"""Hypothesis strategies for samples: shapes that broadcast, arrays, axes."""

import math

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

MAX_SIDE = 3


def shapes(min_dims=0, max_dims=4, min_side=0):
    """Shapes of small arrays."""
    return hnp.array_shapes(
        min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=MAX_SIDE
    )


def arrays(shape, low=-2.0, high=2.0):
    """float64 arrays of a shape; multiples of 1/64, so that failing examples are readable."""
    numbers = st.integers(math.ceil(low * 64), math.floor(high * 64)).map(lambda n: n / 64)
    return hnp.arrays(np.float64, shape, elements=numbers)


@st.composite
def broadcastable_arrays(draw, count, low=-2.0, high=2.0):
    """A tuple of arrays whose shapes broadcast, some of them by stretching."""
    together = draw(
        hnp.mutually_broadcastable_shapes(
            num_shapes=count, max_dims=3, min_side=0, max_side=MAX_SIDE
        )
    )
    return tuple([draw(arrays(shape, low, high)) for shape in together.input_shapes])


@st.composite
def axes_of(draw, rank):
    """Distinct axes of an array of that rank, some of them counted from the end."""
    chosen = draw(
        st.lists(st.integers(0, rank - 1), unique=True, max_size=rank) if rank else st.just([])
    )
    return tuple([axis - rank if draw(st.booleans()) else axis for axis in chosen])
