"""Cases of gradtape.ops.masks."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.op import NON_DIFFERENTIABLE

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

ON, OFF = np.array(1.0), np.array(0.0)


def _hot(depth, axis=-1):
    return {"depth": depth, "axis": axis}


def _one_hot(indices, on_value, off_value, depth, axis):
    places = np.expand_dims(np.asarray(indices, np.int64), axis)
    rank = np.ndim(indices) + 1
    classes = np.arange(depth).reshape([-1 if d == axis % rank else 1 for d in range(rank)])
    return np.where(places == classes, on_value, off_value)


CASES = [
    Case(
        op="Where",
        state=NON_DIFFERENTIABLE,
        samples=[
            Sample((draw.booleans(5),)),
            Sample((draw.booleans(2, 3, 2),)),
            Sample((np.zeros((2, 2), bool),)),
            Sample((draw.booleans(0, 3),)),
            Sample((np.array([0.0, 0.5, -1.0, np.nan]),)),
            Sample((draw.integers(3, 2, high=2),)),
            Sample((np.array([0j, 1j, 1 + 0j]),)),
        ],
        reference=np.argwhere,
        # As many rows as the condition is true: elements of a batch would differ in shape.
        batch_inputs=(),
        failures=[
            Failure(
                (np.array(True),),
                {},
                InvalidArgumentError,
                "WhereOp : Unhandled input dimensions: 0",
            ),
            Failure((draw.strings(2),), {}, InvalidArgumentError, "string is not in the list"),
        ],
    ),
    Case(
        op="OneHot",
        state=NON_DIFFERENTIABLE,
        samples=[
            Sample((np.array([0, 2, 1]), ON, OFF), _hot(3)),
            Sample((np.array(1), ON, OFF), _hot(3)),
            Sample((np.array([0, -1, 5]), ON, OFF), _hot(3)),
            Sample((np.array([[0, 1], [2, 1]], np.int32), ON, OFF), _hot(3, 0)),
            Sample((np.array([[0, 1], [2, 1]], np.uint8), ON, OFF), _hot(4, 1)),
            Sample((np.array([0, 1], np.int8), np.array(5), np.array(-2)), _hot(2)),
            Sample((np.array([0, 1]), np.array(True), np.array(False)), _hot(3, 0)),
            Sample((np.array([0, 1]), np.array(1j), np.array(2.0 + 0j)), _hot(3, 1)),
            Sample((np.array([0, 1]), ON, OFF), _hot(0)),
            Sample((np.zeros((0, 2), np.int64), ON, OFF), _hot(3)),
            Sample((np.array([1]), np.array(b"y", object), np.array(b"n", object)), _hot(2)),
        ],
        reference=_one_hot,
        failures=[
            Failure(
                (np.array([0]), ON, OFF),
                _hot(3, 2),
                InvalidArgumentError,
                r"Expected axis to be -1 or between \[0, 2\).  But received: 2",
            ),
            Failure(
                (np.array([0]), ON, OFF),
                _hot(-1),
                InvalidArgumentError,
                "depth must be non-negative, got: -1",
            ),
            Failure(
                (np.array([0.5]), ON, OFF), _hot(3), InvalidArgumentError, "'TI' of double is not"
            ),
            Failure(
                (np.array([0]), draw.uniform(2), OFF),
                _hot(3),
                InvalidArgumentError,
                r"on_value must be a scalar, but got: \[2\]",
            ),
            Failure(
                (np.array([0]), ON, np.array(0)),
                _hot(3),
                InvalidArgumentError,
                "was expected to be a double tensor but is a int64 tensor",
            ),
        ],
    ),
]
