"""Cases of gradtape.ops.string_joining; values are TensorFlow's."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError, OutOfRangeError
from gradtape.core.op import NON_DIFFERENTIABLE

from ..case import Case, Failure, Sample
from .strings import ONE, texts

SQUARE = texts(b"a", b"b", b"c", b"d", shape=(2, 2))


def _join(*inputs, separator):
    rows = [array.reshape(-1) for array in np.broadcast_arrays(*inputs)]
    joined = texts(*[separator.join(row) for row in zip(*rows, strict=True)])
    return joined.reshape(np.broadcast_shapes(*[x.shape for x in inputs]))


def _along(axes, keep_dims=False, separator=b""):
    return {"reduction_indices": axes, "keep_dims": keep_dims, "separator": separator}


def _unused(*inputs, **attrs):
    raise AssertionError("every sample has its value written down")


CASES = [
    Case(
        op="StringJoin",
        samples=[
            Sample((ONE, texts(b"b", b"c")), {"separator": b"-"}),
            Sample((texts(b"a", b"b"), texts(b"c", b"d"), ONE), {"separator": b""}),
            Sample((ONE,), {"separator": b"-"}),
        ],
        reference=_join,
        state=NON_DIFFERENTIABLE,
        failures=[
            Failure(
                (texts(b"a"), texts(b"b", b"c")), {"separator": b""}, InvalidArgumentError,
                r"Input shapes do not match: \[1\] vs. \[2\]",
            )
        ],
    ),
    Case(
        op="ReduceJoin",
        samples=[
            Sample((SQUARE,), _along((0,), separator=b"."), expected=texts(b"a.c", b"b.d")),
            Sample((SQUARE,), _along((-1,)), expected=texts(b"ab", b"cd")),
            Sample((SQUARE,), _along((1, 0), True), expected=texts(b"abcd", shape=(1, 1))),
            Sample((SQUARE,), _along((0, 1)), expected=texts(b"acbd", shape=())),
            Sample((texts(),), _along((0,)), expected=texts(b"", shape=())),
        ],
        reference=_unused,
        state=NON_DIFFERENTIABLE,
        failures=[
            Failure(
                (SQUARE,), _along((2,)), OutOfRangeError,
                r"Invalid reduction dimension 2 for input with 2 dimension\(s\)",
            )
        ],
    ),
]  # fmt: skip
