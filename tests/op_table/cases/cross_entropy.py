"""Cases of gradtape.ops.cross_entropy."""

import numpy as np
from scipy import special

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws
from ..samples import binary_failures, binary_samples

draw = Draws(__name__)

_PAIR = np.array([0.5, 1.5])


def _probabilities(*shape, axis):
    weights = draw.positive(*shape)
    return weights / weights.sum(axis, keepdims=True)


def _of_probabilities(features, labels, axis):
    """The loss and its derivative; the labels need not add up to 1."""
    if not features.shape[axis]:
        return np.zeros(np.delete(features.shape, axis)), features
    loss = -np.sum(labels * special.log_softmax(features, axis), axis)
    weight = np.sum(labels, axis, keepdims=True)
    return loss, weight * special.softmax(features, axis) - labels


def _of_numbers(features, labels):
    rows = np.eye(features.shape[-1])[labels]
    return _of_probabilities(features, rows, -1)


def _numbers(shape, dtype=np.int32):
    return draw.integers(*shape, high=3, dtype=dtype)


_LOGITS = np.ones((2, 3))

CASES = [
    Case(
        op="SoftmaxCrossEntropyWithLogits",
        samples=[
            *[
                Sample((draw.uniform(*shape), _probabilities(*shape, axis=axis)), {"axis": axis})
                for shape, axis in [
                    ((2, 3), -1),
                    ((2, 3), 0),
                    ((3,), -1),
                    ((2, 3, 2), 1),
                    ((2, 1, 2, 3), 3),
                    ((0, 3), -1),
                    ((2, 1), -1),
                ]
            ],
            Sample((draw.uniform(2, 3), draw.positive(2, 3)), {"axis": -1}),
            Sample((draw.uniform(2, 3), np.zeros((2, 3))), {"axis": -1}),
            Sample((np.zeros((2, 0)), np.zeros((2, 0))), {"axis": -1}),
            Sample(
                (np.array([[0.0, 1000.0], [-900.0, 0.0]]), np.array([[1.0, 0.0], [0.5, 0.5]])),
                {"axis": -1},
                gradient=False,
            ),
        ],
        reference=_of_probabilities,
        failures=[
            Failure(
                (_LOGITS, np.ones((2, 2))),
                {"axis": -1},
                InvalidArgumentError,
                r"must be broadcastable: logits_size=\[2,3\] labels_size=\[2,2\]",
            ),
            Failure((_LOGITS, _LOGITS), {"axis": 2}, InvalidArgumentError, "Received: axis=2"),
            Failure(
                (_LOGITS.astype(int), _LOGITS.astype(int)),
                {"axis": -1},
                InvalidArgumentError,
                "not in the list of allowed values",
            ),
            Failure(
                (_LOGITS, _LOGITS.astype(np.float32)),
                {"axis": -1},
                InvalidArgumentError,
                "was expected to be a double tensor but is a float tensor",
            ),
        ],
    ),
    Case(
        op="SparseSoftmaxCrossEntropyWithLogits",
        samples=[
            *[
                Sample((draw.uniform(*shape, 3), _numbers(shape, dtype)))
                for shape, dtype in [
                    ((4,), np.int32),
                    ((), np.int32),
                    ((2, 2), np.int64),
                    ((2, 1, 2), np.int32),
                    ((0,), np.int64),
                ]
            ],
            Sample((np.array([[0.0, 1000.0], [-900.0, 0.0]]), np.array([0, 1])), gradient=False),
        ],
        reference=_of_numbers,
        failures=[
            Failure(
                (_LOGITS, np.array([0, 3])),
                {},
                InvalidArgumentError,
                r"Received a label value of 3 which is outside the valid range of \[0, 3\)\.  "
                "Label values: 0 3",
            ),
            Failure(
                (_LOGITS, np.array([-1, 1])),
                {},
                InvalidArgumentError,
                "Received a label value of -1",
            ),
            Failure(
                (_LOGITS, np.array([0.0, 1.0])),
                {},
                InvalidArgumentError,
                "Value for attr 'Tlabels' of double is not in the list of allowed values: int32",
            ),
            Failure(
                (_LOGITS.astype(int), np.array([0, 1])),
                {},
                InvalidArgumentError,
                "Value for attr 'T' of int64",
            ),
            Failure(
                (np.ones((2, 0)), np.array([0, 1])),
                {},
                InvalidArgumentError,
                r"Must have at least one class, but got logits shape \[2,0\]",
            ),
            Failure(
                (_LOGITS, np.array([0, 1, 2])), {}, InvalidArgumentError, r"labels shape \[3\]"
            ),
        ],
    ),
    Case(
        op="SigmoidCrossEntropyWithLogits",
        samples=[
            *binary_samples(draw.signed, lambda *shape: draw.uniform(*shape, low=0.1, high=0.9)),
            Sample((np.array([0.0, -9.0, 9.0]), np.array([0.5, 0.0, 1.0]))),
        ],
        reference=lambda logits, labels: (
            labels * np.logaddexp(0, -logits) + (1 - labels) * np.logaddexp(0, logits)
        ),
        failures=binary_failures(_PAIR, [3, 1j, b"a"]),
    ),
    Case(
        op="SigmoidCrossEntropyGrad",
        samples=[
            *binary_samples(draw.signed, lambda *shape: draw.uniform(*shape, low=2.0, high=3.0)),
            Sample((np.array([-9.0, 9.0, 7.0]), np.array([0.0, 1.0, 1.0]))),
        ],
        reference=lambda logits, labels: (
            (1 - labels) * special.expit(logits) - labels * special.expit(-logits)
        ),
        failures=binary_failures(_PAIR, [3, 1j, b"a"]),
    ),
]
