"""Cases of gradtape.ops.patches."""

import itertools

import numpy as np

from gradtape.core.errors import InvalidArgumentError, OutOfRangeError, UnimplementedError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _steps(ksizes, strides, rates, padding="VALID"):
    return {"ksizes": ksizes, "strides": strides, "rates": rates, "padding": padding}


def _patches(x, ksizes, strides, padding, rates=(1, 1, 1, 1, 1)):
    rank = x.ndim - 2
    extents = [(k - 1) * r + 1 for k, r in zip(ksizes[1:-1], rates[1 : 1 + rank], strict=True)]
    widths, counts = [(0, 0)], []
    for n, e, s in zip(x.shape[1:-1], extents, strides[1:-1], strict=True):
        count = -(-n // s) if padding == "SAME" else max((n - e) // s + 1, 0)
        missing = max((count - 1) * s + e - n, 0) if padding == "SAME" else 0
        widths.append((missing // 2, missing - missing // 2))
        counts.append(count)
    whole = np.pad(x, [*widths, (0, 0)])
    out = np.zeros((len(x), *counts, np.prod(ksizes) * x.shape[-1]), x.dtype)
    for place in itertools.product(*[range(n) for n in counts]):
        region = [
            slice(p * s, p * s + e, r)
            for p, s, e, r in zip(place, strides[1:-1], extents, rates[1 : 1 + rank], strict=True)
        ]
        part = whole[(slice(None), *region)]
        out[(slice(None), *place)] = part.reshape(len(x), out.shape[-1])
    return out


def _added(patches, input_sizes, ksizes, strides, rates, padding):
    """By what defines a transpose: its product with each basis image."""
    out = np.zeros(input_sizes, patches.dtype)
    for index in np.ndindex(*input_sizes):
        basis = np.zeros(input_sizes)
        basis[index] = 1
        out[index] = np.sum(_patches(basis, ksizes, strides, padding, rates) * patches)
    return out


_ONES = (1, 1, 1, 1)
_TWOS = (1, 2, 2, 1)
_PLANE = [
    ((1, 3, 3, 2), _steps(_TWOS, _ONES, _ONES)),
    ((1, 4, 3, 1), _steps((1, 3, 2, 1), (1, 2, 1, 1), _ONES, "SAME")),
    ((1, 4, 5, 1), _steps(_TWOS, (1, 1, 2, 1), _TWOS, "SAME")),
    ((1, 2, 2, 1), _steps((1, 3, 3, 1), _ONES, _ONES)),
]

CASES = [
    Case(
        op="ExtractImagePatches",
        samples=[
            *[Sample((draw.uniform(*shape),), steps) for shape, steps in _PLANE],
            Sample((draw.uniform(0, 3, 3, 1),), _steps(_TWOS, _ONES, _ONES)),
            Sample((draw.integers(1, 3, 3, 1),), _steps(_TWOS, _ONES, _ONES, "SAME")),
            Sample((draw.booleans(1, 3, 3, 1),), _steps(_TWOS, _ONES, _ONES)),
        ],
        reference=_patches,
        failures=[
            Failure(
                (draw.uniform(3, 3, 1),),
                _steps(_TWOS, _ONES, _ONES),
                InvalidArgumentError,
                r"input must be 4-dimensional\[3,3,1\]",
            ),
            Failure(
                (draw.uniform(1, 3, 3, 1),),
                _steps((2, 2), _ONES, _ONES),
                InvalidArgumentError,
                "Length for attr 'ksizes' of 2 must be at least minimum 4",
            ),
            Failure(
                (draw.uniform(1, 3, 3, 1),),
                _steps((2, 2, 2, 1), _ONES, _ONES),
                UnimplementedError,
                "Only support ksizes across space",
            ),
            Failure(
                (draw.uniform(1, 3, 3, 1),),
                _steps(_TWOS, (1, 1, 0, 1), _ONES),
                OutOfRangeError,
                "strides is out of range",
            ),
        ],
    ),
    Case(
        op="ExtractVolumePatches",
        samples=[
            Sample(
                (draw.uniform(1, 3, 2, 2, 2),),
                {"ksizes": (1, 2, 2, 1, 1), "strides": (1, 1, 1, 1, 1), "padding": "VALID"},
            ),
            Sample(
                (draw.uniform(1, 3, 2, 3, 1),),
                {"ksizes": (1, 2, 2, 2, 1), "strides": (1, 2, 1, 1, 1), "padding": "SAME"},
            ),
        ],
        reference=_patches,
    ),
    Case(
        op="AddPatches",
        samples=[
            *[
                Sample(
                    (draw.uniform(*_patches(np.zeros(shape), **steps).shape),),
                    {"input_sizes": shape, **steps},
                )
                for shape, steps in _PLANE
            ],
            Sample(
                (draw.uniform(1, 2, 1, 1, 8),),
                {
                    "input_sizes": (1, 3, 2, 2, 1),
                    **_steps((1, 2, 2, 2, 1), (1, 1, 1, 1, 1), (1, 1, 1, 1, 1)),
                },
            ),
        ],
        reference=_added,
    ),
]
