"""Cases of gradtape.ops.ordering."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.op import NON_DIFFERENTIABLE

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _position(op, function):
    def where(axis, dtype: type = np.int64):
        return {"axis": axis, "dtype": np.dtype(dtype)}

    def reference(input, axis, dtype):
        return function(input, axis).astype(dtype)

    return Case(
        op=op,
        samples=[
            Sample((draw.distinct(2, 3),), where(0)),
            Sample((draw.distinct(2, 3),), where(-1, np.int32)),
            Sample((draw.distinct(2, 1, 2, 3),), where(2)),
            Sample((draw.distinct(4),), where(0, np.int32)),
            Sample((draw.integers(5, high=3),), where(0)),
            Sample((draw.integers(2, 5, dtype=np.uint8),), where(1)),
            Sample((draw.booleans(2, 4),), where(1)),
            Sample((np.zeros((3, 0)),), where(0), expected=np.zeros(0, np.int64)),
            # NaN is never the extreme, unless there is nothing else.
            Sample(
                (np.array([[np.nan, 2.0, 2.0], [2.0, 2.0, np.nan], [np.nan] * 3]),),
                where(1),
                expected=np.array([1, 0, 0]),
            ),
        ],
        reference=reference,
        failures=[
            Failure(
                (draw.uniform(2, 2),),
                where(2),
                InvalidArgumentError,
                r"Expected dimension in the range \[-2, 2\), but got 2",
            ),
            Failure((draw.uniform(),), where(0), InvalidArgumentError, r"range \[0, 0\)"),
            Failure(
                (np.zeros((0, 3)),),
                where(0),
                InvalidArgumentError,
                r"Reduction axis 0 is empty in shape \[0,3\]",
            ),
            Failure(
                (draw.complex_uniform(2),), where(0), InvalidArgumentError, "complex128 is not"
            ),
            Failure((draw.strings(2),), where(0), InvalidArgumentError, "string is not"),
        ],
        state=NON_DIFFERENTIABLE,
    )


def _top(k, largest=True):
    return {"k": k, "largest": largest}


def _top_k(input, k, largest):
    flipped = -input if largest else input
    order = np.argsort(flipped, axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(input, order, -1), order.astype(np.int32)


def _all(largest):
    return {"largest": largest}


# Long enough for each of the ways in which the order is found, with many equal elements.
_LONG = np.arange(600).reshape(2, 300) * 7 % 23 - 11


def _ordered(op, result, **fields):
    """A case of a row that orders the whole last axis; `result` picks from values and places."""
    return Case(
        op=op,
        samples=[
            Sample((draw.distinct(2, 4),), _all(True)),
            Sample((draw.distinct(2, 4),), _all(False)),
            Sample((draw.distinct(2, 1, 2, 3),), _all(True)),
            Sample((np.zeros((0, 3)),), _all(True)),
            Sample((np.zeros((3, 0)),), _all(False)),
            Sample((draw.integers(2, 5, low=-5, high=5),), _all(False)),
            *[
                Sample((_LONG.astype(dtype),), _all(largest), gradient=False)
                for dtype in (np.float32, np.float64, np.int8, np.int32)
                for largest in (True, False)
            ],
        ],
        reference=lambda x, largest: result(_top_k(x, x.shape[-1], largest)),
        failures=[
            Failure((draw.uniform(),), _all(True), InvalidArgumentError, "input must be >= 1-D"),
            Failure((draw.booleans(2),), _all(True), InvalidArgumentError, "bool is not in the"),
        ],
        **fields,
    )


_ORDER = np.array([[2, 0], [1, 2]], np.int32)


CASES = [
    _position("ArgMax", np.argmax),
    _position("ArgMin", np.argmin),
    Case(
        op="TakeAlongLastAxis",
        samples=[
            Sample((draw.uniform(2, 3), _ORDER), {"size": 3}),
            Sample((draw.uniform(3), np.array([1], np.int32)), {"size": 3}),
            Sample((draw.uniform(2, 0), np.zeros((2, 0), np.int32)), {"size": 0}),
            Sample((draw.complex_uniform(2, 3), _ORDER), {"size": 3}),
            Sample((draw.integers(2, 3), _ORDER), {"size": 3}),
        ],
        reference=lambda x, indices, size: np.take_along_axis(x, indices, -1),
        failures=[
            Failure(
                (draw.uniform(1, 3), _ORDER),
                {"size": 3},
                InvalidArgumentError,
                r"Leading axes must be equal. Received: \[1,3\] and \[2,2\]",
            )
        ],
    ),
    Case(
        op="PutAlongLastAxis",
        samples=[
            Sample((draw.uniform(2, 2), _ORDER), {"size": 4}),
            Sample((draw.uniform(1), np.array([1], np.int32)), {"size": 3}),
            Sample((draw.uniform(2, 0), np.zeros((2, 0), np.int32)), {"size": 2}),
            Sample((draw.complex_uniform(2, 2), _ORDER), {"size": 3}),
            Sample((draw.integers(2, 2), _ORDER), {"size": 3}),
        ],
        reference=lambda x, indices, size: np.sum(
            np.eye(size, dtype=x.dtype)[indices] * x[..., None], axis=-2
        ),
        failures=[
            Failure(
                (draw.uniform(1, 2), _ORDER),
                {"size": 3},
                InvalidArgumentError,
                r"Leading axes must be equal. Received: \[1,2\] and \[2,2\]",
            )
        ],
    ),
    _ordered("SortLastAxis", lambda found: found[0]),
    _ordered("ArgsortLastAxis", lambda found: found[1], state=NON_DIFFERENTIABLE),
    Case(
        op="TopKV2",
        raw=lambda input, k, largest: {"input": input, "k": k} if largest else None,
        samples=[
            Sample((draw.distinct(2, 4),), _top(2)),
            Sample((draw.distinct(2, 4),), _top(1)),
            Sample((draw.distinct(2, 4),), _top(3, largest=False)),
            Sample((draw.distinct(2, 1, 2, 3),), _top(3)),
            Sample((draw.distinct(4),), _top(4, largest=False)),
            Sample((draw.distinct(2, 3),), _top(0)),
            Sample((np.zeros((0, 3)),), _top(1)),
            Sample((np.array([1.0, 2.0, 1.0, 2.0]),), _top(4), gradient=False),
            Sample((np.array([1.0, 2.0, 1.0, 2.0]),), _top(1), gradient=False),
            Sample((np.array([1.0, 2.0, 1.0, 2.0]),), _top(4, largest=False), gradient=False),
            Sample((draw.integers(2, 5, low=-5, high=5),), _top(3)),
            *[
                Sample((_LONG.astype(dtype),), _top(k), gradient=False)
                for dtype in (np.float32, np.float64, np.int8, np.int64)
                for k in (2, 20, 200)
            ],
            Sample(
                (np.array([3, 0, 255], np.uint8),),
                _top(3, largest=False),
                expected=(np.array([0, 3, 255], np.uint8), np.array([1, 0, 2], np.int32)),
            ),
            Sample(
                (np.array([1.0, np.nan, np.inf, -np.inf]),),
                _top(4),
                expected=(np.array([np.nan, np.inf, 1.0, -np.inf]), np.array([1, 2, 0, 3], "i4")),
                gradient=False,
            ),
        ],
        reference=_top_k,
        failures=[
            Failure(
                (draw.uniform(2, 2),),
                _top(3),
                InvalidArgumentError,
                "input must have at least k columns. Had 2, needed 3",
            ),
            Failure((draw.uniform(2),), _top(-1), InvalidArgumentError, "Need k >= 0, got -1"),
            Failure((draw.uniform(),), _top(1), InvalidArgumentError, "input must be >= 1-D"),
            Failure((draw.booleans(2),), _top(1), InvalidArgumentError, "bool is not in the list"),
            Failure((draw.complex_uniform(2),), _top(1), InvalidArgumentError, "complex128 is not"),
        ],
    ),
]
