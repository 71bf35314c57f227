"""Cases of gradtape.ops.reduction."""

import numpy as np

from gradtape.core.op import NON_DIFFERENTIABLE

from ..case import Case, Sample
from ..draws import Draws
from ..reductions import along, generated_reductions, reduction_failures, reduction_samples

draw = Draws(__name__)


def _mean(x, axis, keepdims):
    if x.dtype.kind not in "iu":
        with np.errstate(all="ignore"):
            return np.sum(x, axis, keepdims=keepdims) / np.prod([x.shape[a] for a in axis])
    exact = np.mean(x.astype(np.float64), axis, keepdims=keepdims)
    return np.trunc(exact).astype(x.dtype)


def _logical(op, function):
    return Case(
        op=op,
        samples=[
            *reduction_samples(draw.booleans),
            Sample((draw.booleans(0, 3),), along((0,))),
        ],
        reference=lambda x, axis, keepdims: function(x, axis, keepdims=keepdims),
        failures=reduction_failures(draw.booleans(2, 2), [3, 1.5, b"a"]),
        state=NON_DIFFERENTIABLE,
    )


def _counting(dtype, axis, keepdims=False):
    return {**along(axis, keepdims), "dtype": np.dtype(dtype)}


CASES = [
    Case(
        op="CountNonzero",
        samples=[
            Sample((draw.integers(3, 4, high=2),), _counting(np.int64, (0,))),
            Sample((draw.integers(3, 4, high=2),), _counting(np.int32, (-1,), keepdims=True)),
            Sample((draw.integers(2, 1, 2, 3, high=2),), _counting(np.int64, (0, 3))),
            Sample((draw.integers(3, 4, high=2),), _counting(np.int64, (0, 1))),
            Sample((draw.integers(3, high=2),), _counting(np.int64, ())),
            Sample((np.array(2.0),), _counting(np.int64, ())),
            Sample((draw.booleans(2, 3),), _counting(np.float32, (1,))),
            Sample((draw.complex_uniform(2, 3),), _counting(np.int64, (1,))),
            Sample((np.array([0.0, -0.0, np.nan, 1.0]),), _counting(np.int64, (0,))),
            Sample((np.zeros((0, 3)),), _counting(np.int64, (0,))),
            Sample(
                (np.array([b"", b"a", b""], object),),
                _counting(np.int64, (0,)),
                expected=np.int64(1),
            ),
        ],
        reference=lambda x, axis, keepdims, dtype: np.sum(
            x != 0, axis, dtype=dtype, keepdims=keepdims
        ),
        state=NON_DIFFERENTIABLE,
    ),
    Case(
        op="Mean",
        samples=[
            *reduction_samples(draw.uniform),
            Sample((np.zeros((0, 3)),), along((0,)), gradient=False),
            Sample((draw.complex_uniform(2, 3),), along((1,))),
            Sample((draw.integers(3, 2, low=-9, high=9, dtype=np.int32),), along((0,))),
            Sample((draw.integers(3, 2, low=100, high=120, dtype=np.int8),), along((0,))),
            Sample((draw.integers(3, 2, low=200, high=250, dtype=np.uint8),), along((0, 1))),
            Sample((np.zeros((0, 2), np.int32),), along((0,)), expected=np.zeros(2, np.int32)),
        ],
        reference=_mean,
        failures=reduction_failures(draw.uniform(2, 2), [True, b"a"]),
        generated=generated_reductions(min_side=1),
    ),
    Case(
        op="Prod",
        samples=[
            *reduction_samples(draw.signed),
            Sample((draw.signed(0, 3),), along((0,))),
            Sample((np.array([[2.0, 0.0, 3.0], [0.0, 1.5, 0.0]]),), along((1,))),
            Sample((np.array([2.0, 0.0, 3.0]),), along((0,))),
            Sample((draw.complex_uniform(2, 3),), along((0, 1))),
            Sample((draw.integers(3, 2, low=-9, high=9, dtype=np.int32),), along((0,))),
            Sample((draw.integers(3, 2, low=50, high=120, dtype=np.int8),), along((0,))),
        ],
        reference=lambda x, axis, keepdims: np.prod(x, axis, x.dtype, keepdims=keepdims),
        failures=reduction_failures(draw.uniform(2, 2), [True, b"a"]),
        generated=generated_reductions(),
    ),
    _logical("All", np.all),
    _logical("Any", np.any),
]
