"""Cases of gradtape.ops.softmax."""

import numpy as np
from scipy import special

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

_SHAPES = [((3,), 0), ((2, 3), -1), ((2, 3), 0), ((2, 3, 2), 1), ((2, 1, 2, 2), -2), ((0, 3), -1)]


def _samples(count):
    return [
        Sample(tuple([draw.uniform(*shape) for _ in range(count)]), {"axis": axis})
        for shape, axis in _SHAPES
    ]


_EXTREMES = [
    Sample((np.array([[900.0, 901.0, -900.0], [0.5, 80.0, 90.0]]),), {"axis": -1}, gradient=False),
    Sample((np.array([[-900.0, -901.0], [0.0, -800.0]]),), {"axis": 1}, gradient=False),
    Sample((np.array([[0.0, -np.inf], [1.0, np.nan]]),), {"axis": -1}, gradient=False),
    Sample((np.zeros((2, 0)),), {"axis": -1}),
]


def _failures(*inputs):
    return [
        Failure(
            tuple([np.ones(()) for _ in inputs]), {"axis": -1}, InvalidArgumentError, "dimension"
        ),
        Failure(inputs, {"axis": 2}, InvalidArgumentError, r"in the range \[-2, 2\)"),
        Failure(inputs, {"axis": -3}, InvalidArgumentError, "Received: dim=-3"),
        Failure(
            tuple([x.astype(np.int32) for x in inputs]),
            {"axis": -1},
            InvalidArgumentError,
            "Value for attr 'T' of int32 is not in the list of allowed values",
        ),
    ]


def _gradient(softmax, g, axis):
    return softmax * (g - np.sum(softmax * g, axis, keepdims=True))


def _log_gradient(log_softmax, g, axis):
    return g - np.exp(log_softmax) * np.sum(g, axis, keepdims=True)


_SQUARE = np.ones((2, 2))
_FAILURES_OF_TWO = [
    *_failures(_SQUARE, _SQUARE),
    Failure((_SQUARE, np.ones(2)), {"axis": 0}, InvalidArgumentError, "Incompatible shapes"),
    Failure(
        (_SQUARE, np.ones((2, 2), np.float32)),
        {"axis": 0},
        InvalidArgumentError,
        "was expected to be a double tensor but is a float tensor",
    ),
]

CASES = [
    Case(
        op="Softmax",
        samples=[*_samples(1), *_EXTREMES],
        # SciPy subtracts the largest number, which for all -inf, and for NaN, gives NaN too.
        reference=lambda logits, axis: special.softmax(logits, axis) if logits.size else logits,
        failures=_failures(_SQUARE),
    ),
    Case(
        op="SoftmaxGrad",
        samples=_samples(2),
        reference=_gradient,
        failures=[
            *_failures(_SQUARE, _SQUARE),
            Failure(
                (_SQUARE, np.ones(2)), {"axis": 0}, InvalidArgumentError, "Incompatible shapes"
            ),
            Failure(
                (_SQUARE, np.ones((2, 2), np.float32)),
                {"axis": 0},
                InvalidArgumentError,
                "was expected to be a double tensor but is a float tensor",
            ),
        ],
    ),
    Case(
        op="LogSoftmax",
        samples=[*_samples(1), *_EXTREMES],
        reference=lambda logits, axis: special.log_softmax(logits, axis) if logits.size else logits,
        failures=_failures(_SQUARE),
    ),
    Case(
        op="LogSoftmaxGrad",
        samples=_samples(2),
        reference=_log_gradient,
        failures=_FAILURES_OF_TWO,
    ),
]
