"""Cases of gradtape.ops.cumulative."""

import itertools

import numpy as np
from hypothesis import strategies as st

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws
from ..strategies import arrays, shapes

draw = Draws(__name__)


def _scan(axis, exclusive=False, reverse=False):
    return {"axis": axis, "exclusive": exclusive, "reverse": reverse}


def _reference(function, start):
    def reference(x, axis, exclusive, reverse):
        x = np.flip(x, axis) if reverse else x
        if exclusive:
            lead = np.full_like(np.take(x, [0] if x.shape[axis] else [], axis), start)
            kept = np.take(x, range(x.shape[axis] - 1), axis)
            x = np.concatenate([lead, kept], axis)
        x = function(x, axis, x.dtype)
        return np.flip(x, axis) if reverse else x

    return reference


def _samples(make):
    every_way = [
        Sample((make(3, 2),), _scan(0, exclusive, reverse))
        for exclusive, reverse in itertools.product((False, True), repeat=2)
    ]
    return [
        *every_way,
        Sample((make(2, 1, 3, 2),), _scan(-2, exclusive=True)),
        Sample((make(4),), _scan(-1, reverse=True)),
        Sample((make(1),), _scan(0, exclusive=True, reverse=True)),
        Sample((make(2, 0),), _scan(1, exclusive=True)),
        Sample((make(0, 2),), _scan(1, reverse=True)),
        Sample((draw.complex_uniform(3),), _scan(0)),
        Sample((draw.complex_uniform(3),), _scan(0, exclusive=True, reverse=True)),
        Sample((draw.integers(3, 2, dtype=np.int32),), _scan(0, exclusive=True)),
        Sample((draw.integers(3, low=50, high=120, dtype=np.int8),), _scan(0)),
    ]


@st.composite
def _generated(draw):
    shape = draw(shapes(min_dims=1))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    attrs = _scan(axis, draw(st.booleans()), draw(st.booleans()))
    return Sample((draw(arrays(shape)),), attrs)


def _wide_samples():
    """Rows so long that they are added as a whole."""
    wide = np.sin(np.arange(900.0)).reshape(3, 300)
    return [
        Sample((wide,), _scan(0, exclusive, reverse), gradient=False)
        for exclusive, reverse in itertools.product((False, True), repeat=2)
    ] + [Sample((wide.reshape(2, 3, 150),), _scan(1), gradient=False)]


def _failures():
    return [
        Failure(
            (draw.uniform(2, 2),),
            _scan(2),
            InvalidArgumentError,
            r"ScanOp: Expected scan axis in the range \[-2, 2\), but got 2",
        ),
        Failure((draw.uniform(2),), _scan(-2), InvalidArgumentError, "but got -2"),
        Failure((draw.uniform(),), _scan(0), InvalidArgumentError, r"range \[0, 0\)"),
        Failure((draw.booleans(2),), _scan(0), InvalidArgumentError, "bool is not in the list"),
        Failure((draw.strings(2),), _scan(0), InvalidArgumentError, "string is not in the list"),
    ]


def _recurrence(a, b, axis, reverse):
    """The matrix that is 1 on the diagonal and -a beside it, solved for b."""
    a, b = np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1)
    matrix = np.zeros((*b.shape, b.shape[-1]), b.dtype) + np.eye(b.shape[-1])
    steps = np.arange(a.shape[-1])
    rows, columns = (steps, steps + 1) if reverse else (steps + 1, steps)
    matrix[..., rows, columns] = -a
    return np.moveaxis(np.linalg.solve(matrix, b[..., None])[..., 0], -1, axis)


def _along(axis, reverse=False):
    return {"axis": axis, "reverse": reverse}


CASES = [
    Case(
        op="Cumsum",
        samples=[*_samples(draw.uniform), *_wide_samples()],
        reference=_reference(np.cumsum, 0),
        failures=_failures(),
        generated=_generated(),
    ),
    Case(
        op="Cumprod",
        samples=[
            *_samples(draw.signed),
            Sample((np.array([2.0, 0.0, 3.0, 0.0, 1.5]),), _scan(0)),
            Sample((np.array([2.0, 0.0, 3.0, 0.0, 1.5]),), _scan(0, exclusive=True)),
            Sample((np.array([0.0, 2.0, 0.0, 3.0]),), _scan(0, reverse=True)),
            Sample((np.array([0.0, 2.0, 3.0, 0.0]),), _scan(0, exclusive=True, reverse=True)),
        ],
        reference=_reference(np.cumprod, 1),
        failures=_failures(),
        generated=_generated(),
    ),
    Case(
        op="CumulativeLogsumexp",
        samples=[
            *[
                Sample((draw.uniform(3, 2),), _scan(0, exclusive, reverse), gradient=not exclusive)
                for exclusive, reverse in itertools.product((False, True), repeat=2)
            ],
            Sample((draw.uniform(2, 1, 3, 2),), _scan(-2)),
            Sample((draw.uniform(4) + 800.0,), _scan(-1, reverse=True)),
            Sample((draw.uniform(2, 0),), _scan(1, exclusive=True)),
            Sample((np.array([-np.inf, 2.0, 3.0]),), _scan(0), gradient=False),
        ],
        reference=_reference(lambda x, axis, dtype: np.logaddexp.accumulate(x, axis), -np.inf),
        failures=[
            *_failures(),
            Failure(
                (draw.integers(2),), _scan(0), InvalidArgumentError, "int64 is not in the list"
            ),
        ],
    ),
    Case(
        op="LinearRecurrence",
        samples=[
            Sample((draw.uniform(3), draw.uniform(4)), _along(0)),
            Sample((draw.uniform(3), draw.uniform(4)), _along(0, reverse=True)),
            Sample((draw.uniform(2, 2, 2), draw.uniform(2, 3, 2)), _along(1)),
            Sample((draw.uniform(2, 2), draw.uniform(2, 3)), _along(1, reverse=True)),
            Sample((draw.uniform(0), draw.uniform(1)), _along(0)),
            Sample((draw.uniform(0), draw.uniform(0)), _along(0, reverse=True)),
            Sample((draw.complex_uniform(2), draw.complex_uniform(3)), _along(0)),
        ],
        reference=_recurrence,
        failures=[
            Failure(
                (draw.uniform(3), draw.uniform(3)),
                _along(0),
                InvalidArgumentError,
                r"factors of shape \[2\] for terms of shape \[3\]. Received: \[3\]",
            ),
            Failure(
                (draw.integers(2), draw.uniform(3)),
                _along(0),
                InvalidArgumentError,
                "expected to be a int64 tensor but is a double tensor",
            ),
        ],
    ),
]
