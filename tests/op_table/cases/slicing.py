"""Cases of gradtape.ops.slicing."""

import numpy as np
from hypothesis import strategies as st

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws
from ..strategies import arrays, shapes

draw = Draws(__name__)

ALL = (None, None, None)


def _numpy_key(key):
    return tuple(slice(*item) if isinstance(item, tuple) else item for item in key)


def _slice(x, key):
    part = x[_numpy_key(key)]
    return np.array(part, object) if x.dtype == object else part


def _put_back(x, shape, key):
    whole = np.zeros(shape, x.dtype)
    whole[_numpy_key(key)] = x
    return whole


def _numbers(key):
    """A key as TensorFlow's op takes it: three vectors, and masks for what is no number."""
    found = {"begin": [], "end": [], "strides": []}
    masks = dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    for position, item in enumerate(key):
        start, stop, step = item if isinstance(item, tuple) else (0, 0, 1)
        if item is None or item is Ellipsis:
            masks["new_axis" if item is None else "ellipsis"] |= 1 << position
        elif not isinstance(item, tuple):
            start, stop = item, item + 1
            masks["shrink_axis"] |= 1 << position
        masks["begin"] |= (start is None) << position
        masks["end"] |= (stop is None) << position
        for name, number in (("begin", start), ("end", stop), ("strides", step)):
            found[name].append(number if number is not None else int(name == "strides"))
    vectors = {name: tuple(numbers) for name, numbers in found.items()}
    return vectors | {f"{name}_mask": mask for name, mask in masks.items()}


@st.composite
def _keys(draw, shape):
    """A key that fits an array of that shape: indices, slices, new axes, an ellipsis."""
    entries = []
    bound = st.none() | st.integers(-4, 4)
    used = draw(st.integers(0, len(shape)))
    ellipsis_at = draw(st.integers(0, used)) if draw(st.booleans()) else None
    for i in range(used):
        if i == ellipsis_at:
            entries.append(Ellipsis)
        if draw(st.booleans()) and draw(st.booleans()):
            entries.append(None)
        # Behind an ellipsis entries stand for the last axes.
        size = shape[i] if ellipsis_at is None or i < ellipsis_at else shape[len(shape) - used + i]
        if size and draw(st.booleans()):
            entries.append(draw(st.integers(-size, size - 1)))
        else:
            step = draw(st.sampled_from((None, 1, 2, -1, -2)))
            entries.append((draw(bound), draw(bound), step))
    if ellipsis_at == used:
        entries.append(Ellipsis)
    return tuple(entries)


@st.composite
def _slices(draw):
    shape = draw(shapes())
    return Sample((draw(arrays(shape)),), {"key": draw(_keys(shape))})


@st.composite
def _slice_gradients(draw):
    shape = draw(shapes())
    key = draw(_keys(shape))
    part = np.zeros(shape)[_numpy_key(key)].shape
    return Sample((draw(arrays(part)),), {"shape": shape, "key": key})


CASES = [
    Case(
        op="StridedSlice",
        raw=lambda x, key: {"input": x, **_numbers(key)},
        samples=[
            Sample((draw.uniform(2, 3),), {"key": (1,)}),
            Sample((draw.uniform(2, 3),), {"key": (-1, 2)}),
            Sample((draw.uniform(4, 3),), {"key": ((None, None, -2), (1, 5, None))}),
            Sample((draw.uniform(2, 3, 2),), {"key": (Ellipsis, 0)}),
            Sample((draw.uniform(2, 3),), {"key": (None, ALL, None, 1)}),
            Sample((draw.uniform(2, 3),), {"key": ()}),
            Sample((draw.uniform(),), {"key": (Ellipsis, None)}),
            Sample((draw.uniform(),), {"key": ()}),
            Sample((draw.uniform(3),), {"key": ((2, 1, None),)}),
            Sample((draw.uniform(0, 3),), {"key": (ALL, 1)}),
            Sample((draw.uniform(2, 2, 2, 2),), {"key": (0, ALL, (1, None, None), Ellipsis)}),
            Sample((draw.complex_uniform(3, 2),), {"key": ((1, None, None),)}),
            Sample((draw.integers(3, dtype=np.int32),), {"key": (0,)}),
            Sample((draw.strings(3),), {"key": (0,)}),
            Sample((draw.strings(2, 2),), {"key": (ALL, -1)}),
        ],
        reference=_slice,
        failures=[
            Failure(
                (draw.uniform(3),),
                {"key": (3,)},
                InvalidArgumentError,
                "slice index 3 of dimension 0 out of bounds",
            ),
            Failure(
                (draw.uniform(3),),
                {"key": (-4,)},
                InvalidArgumentError,
                "slice index -1 of dimension 0 out of bounds",
            ),
            Failure(
                (draw.uniform(2, 3),),
                {"key": (None, Ellipsis, 3)},
                InvalidArgumentError,
                "slice index 3 of dimension 1 out of bounds",
            ),
            Failure(
                (draw.uniform(2, 3),),
                {"key": (0, 0, 0)},
                InvalidArgumentError,
                "Index out of range using input dim 2; input has only 2 dims",
            ),
            Failure((draw.uniform(),), {"key": (0,)}, InvalidArgumentError, "slice scalar input"),
            Failure(
                (draw.uniform(2),),
                {"key": (Ellipsis, Ellipsis)},
                InvalidArgumentError,
                "Multiple ellipses in slice spec not allowed",
            ),
            Failure(
                (draw.uniform(2, 2),),
                {"key": (ALL, (None, None, 0))},
                InvalidArgumentError,
                r"strides\[1\] must be non-zero",
            ),
        ],
        generated=_slices(),
    ),
    Case(
        op="StridedSliceGrad",
        raw=lambda x, shape, key: {"shape": shape, "dy": x, **_numbers(key)},
        samples=[
            Sample((draw.uniform(3),), {"shape": (2, 3), "key": (1,)}),
            Sample((draw.uniform(),), {"shape": (2, 3), "key": (-1, 2)}),
            Sample(
                (draw.uniform(2, 2),),
                {"shape": (4, 3), "key": ((None, None, -2), (1, 5, None))},
            ),
            Sample((draw.uniform(1, 2, 1),), {"shape": (2, 3), "key": (None, ALL, None, 1)}),
            Sample((draw.uniform(1),), {"shape": (), "key": (None,)}),
            Sample((draw.uniform(),), {"shape": (), "key": ()}),
            Sample((draw.uniform(0),), {"shape": (3,), "key": ((2, 1, None),)}),
            Sample((draw.uniform(2, 3),), {"shape": (2, 3, 2), "key": (Ellipsis, 0)}),
            Sample((draw.complex_uniform(2),), {"shape": (3,), "key": ((1, None, None),)}),
        ],
        reference=_put_back,
        failures=[
            Failure(
                (draw.uniform(2),),
                {"shape": (2, 3), "key": (1,)},
                InvalidArgumentError,
                r"shape of dy was \[2\] instead of \[3\]",
            ),
        ],
        generated=_slice_gradients(),
    ),
]
