"""Cases of gradtape.ops.padding."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _matrix(paddings):
    return np.array(paddings, np.int32).reshape(-1, 2)


def _widths(*pairs):
    return {"paddings": pairs}


def _pad(x, paddings):
    if x.dtype == object:
        return _pad_with(x, b"", paddings)
    return np.pad(x, paddings) if paddings else x


def _pad_with(x, constant_values, paddings):
    return np.pad(x, paddings, constant_values=constant_values) if paddings else x


CASES = [
    Case(
        op="Pad",
        raw=lambda x, paddings: {"input": x, "paddings": _matrix(paddings)},
        samples=[
            Sample((draw.uniform(2, 3),), _widths((1, 0), (2, 1))),
            Sample((draw.uniform(3),), _widths((0, 0))),
            Sample((draw.uniform(),), _widths()),
            Sample((draw.uniform(0, 2),), _widths((1, 1), (0, 0))),
            Sample((draw.uniform(2, 1, 1, 2),), _widths((0, 1), (0, 0), (1, 1), (1, 0))),
            Sample((draw.complex_uniform(2),), _widths((1, 2))),
            Sample((draw.integers(2, dtype=np.int32),), _widths((1, 2))),
            Sample((draw.booleans(2),), _widths((1, 2))),
            Sample((draw.strings(2),), _widths((1, 2))),
        ],
        reference=_pad,
    ),
    Case(
        op="PadV2",
        raw=lambda x, constant_values, paddings: {
            "input": x,
            "paddings": _matrix(paddings),
            "constant_values": constant_values,
        },
        samples=[
            Sample((draw.uniform(2, 3), draw.uniform()), _widths((1, 0), (2, 1))),
            Sample((draw.uniform(), draw.uniform()), _widths()),
            Sample((draw.uniform(0), draw.uniform()), _widths((1, 1))),
            Sample((draw.complex_uniform(2), draw.complex_uniform()), _widths((1, 2))),
            Sample((draw.integers(2), draw.integers()), _widths((1, 2))),
            Sample((draw.strings(2), np.array(b"z", object)), _widths((1, 2))),
        ],
        reference=_pad_with,
        differentiable=("x",),
        failures=[
            Failure(
                (draw.uniform(2), draw.integers()),
                _widths((1, 1)),
                InvalidArgumentError,
                r"input #2\(zero-based\) was expected to be a double tensor but is a int64 tensor",
            ),
            Failure(
                (draw.uniform(2), draw.uniform(1)),
                _widths((1, 1)),
                InvalidArgumentError,
                r"constant_values must be a scalar. Found: \[1\]",
            ),
        ],
    ),
]
