"""Samples and failures that suit any elementwise op: ranks 0 to 4, size 0, broadcasting."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from .case import Failure, Sample

_UNARY_SHAPES = ((2, 3), (), (0, 2), (2, 1, 2, 2))
_BINARY_SHAPES = (
    ((2, 3), (2, 3)),
    ((2, 3), ()),
    ((), (2,)),
    ((3,), (2, 1)),
    ((2, 1, 3), (1, 2, 1)),
    ((0, 3), (1, 3)),
    ((), ()),
)


def unary_samples(make):
    """Samples of one input; `make(*shape)` gives arrays."""
    return [Sample((make(*shape),)) for shape in _UNARY_SHAPES]


def binary_samples(make_x, make_y=None):
    """Samples of two inputs that broadcast; by default both are made alike."""
    make_y = make_y or make_x
    return [Sample((make_x(*first), make_y(*second))) for first, second in _BINARY_SHAPES]


def unary_failures(refused=(b"a",)):
    """What an elementwise op of one input refuses: values of dtypes it does not take."""
    return [_refusal((_array(value),)) for value in refused]


def binary_failures(x, refused=(b"a",)):
    """What an elementwise op of two inputs refuses: shapes, mixed dtypes, dtypes it does not take.

    Args:
        x: an array the op accepts, of shape (2,).
        refused: values of dtypes it does not accept.
    """
    other = np.int32 if x.dtype == np.float32 else np.float32
    return [
        Failure(
            (x, x[[0, 1, 1]]), {}, InvalidArgumentError, r"Incompatible shapes: \[2\] vs. \[3\]"
        ),
        Failure(
            (x, x.astype(other)),
            {},
            InvalidArgumentError,
            r"as input #1\(zero-based\) was expected to be a \w+ tensor but is a \w+ tensor",
        ),
        *[_refusal((_array(value), _array(value))) for value in refused],
    ]


def _refusal(inputs):
    return Failure(inputs, {}, InvalidArgumentError, "is not in the list of allowed values")


def _array(value):
    return np.array(value, object if isinstance(value, bytes) else None)
