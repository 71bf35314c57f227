"""Cases of gradtape.ops.tensor_scatter."""

import operator

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws
from ..places import vary_places

draw = Draws(__name__)


def _by(combine):
    """A reference that goes through the places one by one."""

    def reference(tensor, indices, updates):
        out = np.array(tensor)
        for place in np.ndindex(indices.shape[:-1]):
            target = (*indices[place], ...)
            out[target] = combine(out[target], updates[place])
        return out

    return reference


def _samples(make, *, repeated=True):
    """Samples of a tensor, places and updates; some name a place twice."""
    again = [
        Sample((make(4), np.array([[1], [3], [1]]), make(3))),
        Sample((draw.integers(2, 2), np.array([[0, 1], [0, 1]]), draw.integers(2))),
    ]
    return [
        Sample((make(2, 3), np.array([[1], [0]], np.int32), make(2, 3))),
        Sample((make(2, 3), np.array([[1, 2], [0, 0]]), make(2))),
        Sample((make(2, 2), np.array([[[1]], [[0]]], np.int16), make(2, 1, 2))),
        Sample((make(3), np.zeros((0, 1), np.int64), make(0))),
        Sample((make(0, 2), np.zeros((0, 1), np.int64), make(0, 2))),
        *(again if repeated else []),
    ]


def _failures(op_name):
    return [
        Failure(
            (draw.uniform(2, 3), np.array([[0, 1], [0, 3]]), draw.uniform(2)),
            {},
            InvalidArgumentError,
            rf"indices\[1\] = \[0, 3\] does not index into shape \[2,3\] \[Op:{op_name}\]",
        ),
        Failure(
            (draw.uniform(2), np.array([[0]]), draw.integers(1)),
            {},
            InvalidArgumentError,
            rf"cannot compute {op_name} as input #2\(zero-based\) was expected to be a double",
        ),
        Failure(
            (draw.uniform(2), np.array([[0]]), draw.uniform()),
            {},
            InvalidArgumentError,
            r"Updates shape must have rank at least one. Found:\[\]",
        ),
        Failure(
            (draw.uniform(2, 3), np.array([[0, 1]]), draw.uniform(2)),
            {},
            InvalidArgumentError,
            r"Outer dimensions .* Indices shape: \[1,2\], updates shape:\[2\]",
        ),
        Failure(
            (draw.uniform(2, 3), np.array([[0, 1, 2]]), draw.uniform(1)),
            {},
            InvalidArgumentError,
            r"Inner dimensions .* Output: \[2,3\] updates: \[1\]",
        ),
        Failure(
            (draw.uniform(2), np.array([[0.5]]), draw.uniform(1)),
            {},
            InvalidArgumentError,
            "'Tindices' of double",
        ),
    ]


CASES = [
    Case(
        op="TensorScatterUpdate",
        samples=[
            # Which of two updates of one place wins has no derivative that all frameworks share.
            *_samples(draw.uniform, repeated=False),
            Sample((draw.uniform(3), np.array([[1], [1]]), draw.uniform(2)), gradient=False),
            Sample((draw.complex_uniform(3), np.array([[1], [2]]), draw.complex_uniform(2))),
            Sample((draw.integers(3), np.array([[1]]), draw.integers(1))),
            Sample((draw.strings(3), np.array([[1]]), draw.strings(1))),
        ],
        reference=_by(lambda old, new: new),
        failures=_failures("TensorScatterUpdate"),
        vary=vary_places,
    ),
    Case(
        op="TensorScatterAdd",
        samples=[
            *_samples(draw.uniform),
            Sample((draw.complex_uniform(3), np.array([[1], [1]]), draw.complex_uniform(2))),
        ],
        reference=_by(operator.add),
        failures=_failures("TensorScatterAdd"),
        vary=vary_places,
    ),
    Case(
        op="TensorScatterSub",
        samples=[
            *_samples(draw.uniform),
            Sample((draw.complex_uniform(3), np.array([[1], [1]]), draw.complex_uniform(2))),
        ],
        reference=_by(operator.sub),
        failures=_failures("TensorScatterSub"),
        vary=vary_places,
    ),
    Case(
        op="TensorScatterMin",
        samples=_samples(draw.uniform),
        reference=_by(np.minimum),
        failures=_failures("TensorScatterMin"),
        vary=vary_places,
        dtypes=("float16", "bfloat16", "float32"),
    ),
    Case(
        op="TensorScatterMax",
        samples=_samples(draw.uniform),
        reference=_by(np.maximum),
        failures=_failures("TensorScatterMax"),
        vary=vary_places,
        dtypes=("float16", "bfloat16", "float32"),
    ),
]
