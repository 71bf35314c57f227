"""Cases of gradtape.ops.segment."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _segments(count):
    return {"num_segments": count}


def _reference(function, empty):
    """`function` of the rows of each id; `empty(dtype)` for ids without rows."""

    def reference(data, segment_ids, num_segments):
        rows = data.reshape((segment_ids.size, *data.shape[segment_ids.ndim :]))
        ids = segment_ids.reshape(-1)
        out = np.full((num_segments, *rows.shape[1:]), empty(data.dtype), data.dtype)
        for number in set(ids[ids >= 0].tolist()):
            out[number] = function(rows[ids == number])
        return out

    return reference


def _mean(rows):
    return np.sum(rows, 0) / len(rows) if rows.dtype.kind in "fc" else np.trunc(np.mean(rows, 0))


def _zero(dtype):
    return 0


def _one(dtype):
    return 1


def _limit(sign):
    def limit(dtype):
        info = np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)
        return info.max if sign > 0 else info.min

    return limit


def _vary_sorted(x, k):
    """Data that differ, and ids that stay in order."""
    if x.dtype.kind in "iu" and x.ndim == 1:
        return np.maximum(x - k * (x == x.max(initial=0)), 0) if x.size > 1 and k < 2 else x
    return x * (1 - 0.05 * k) if x.dtype.kind in "fc" else x


def _extra(is_complex):
    return [Sample((draw.complex_signed(3, 2), np.array([0, 1, 1])), _segments(2))] * is_complex


def _raw_sorted(data, segment_ids, num_segments):
    """The call that counts segments by the last id; None if there are empty ones after it."""
    more = segment_ids.ndim == 1 and num_segments > segment_ids.max(initial=-1) + 1
    return None if more else {"data": data, "segment_ids": segment_ids}


def _sorted(op, function, empty=_zero, is_complex=True):
    return Case(
        op=op,
        samples=[
            Sample((draw.distinct(4, 2), np.array([0, 1, 1, 1])), _segments(2)),
            Sample((draw.distinct(3), np.array([0, 0, 2], np.int32)), _segments(3)),
            Sample((draw.distinct(3, 1, 2), np.array([1, 1, 1])), _segments(2)),
            Sample((draw.distinct(2, 3), np.array([0, 1])), _segments(4)),
            Sample((np.zeros((0, 2)), np.zeros(0, np.int64)), _segments(0)),
            Sample((draw.integers(3, 2, dtype=np.int32), np.array([0, 0, 1])), _segments(2)),
            *_extra(is_complex),
        ],
        reference=_reference(function, empty),
        vary=_vary_sorted,
        raw=_raw_sorted,
        failures=[
            Failure(
                (draw.uniform(3), np.array([0, 1, 0])),
                _segments(2), InvalidArgumentError, "segment ids are not increasing",
            ),
            Failure(
                (draw.uniform(2), np.array([-1, 0])),
                _segments(1), InvalidArgumentError, r"Segment id -1 out of range \[0, 1\)",
            ),
            Failure(
                (draw.uniform(3), np.array([0, 1])),
                _segments(2), InvalidArgumentError, "same size as dimension 0 of input",
            ),
            Failure(
                (draw.uniform(3), np.array([[0, 1, 1]])),
                _segments(2), InvalidArgumentError, "segment_ids should be a vector",
            ),
            Failure(
                (draw.uniform(), np.array([0])),
                _segments(1), InvalidArgumentError, "input must be at least rank 1",
            ),
            Failure(
                (draw.booleans(1), np.array([0])),
                _segments(1), InvalidArgumentError, "bool is not in the list",
            ),
            Failure(
                (draw.uniform(1), np.array([0.0])),
                _segments(1), InvalidArgumentError, "double is not in the list",
            ),
        ],
    )  # fmt: skip


def _unsorted(op, function, empty, is_complex=True):
    return Case(
        op=op,
        samples=[
            Sample((draw.distinct(4, 2), np.array([1, 0, 1, 1])), _segments(2)),
            Sample((draw.distinct(3), np.array([1, -1, 0], np.int32)), _segments(2)),
            Sample((draw.distinct(2, 3), np.array([[0, 1, 0], [1, 1, 0]])), _segments(2)),
            Sample((draw.distinct(2, 2), np.array(0)), _segments(1)),
            # In float32 alone: what empty segments hold depends on the dtype.
            Sample(
                (np.array([1.5, -2.0], np.float32), np.array([2, 0])), _segments(3), gradient=False
            ),
            Sample(
                (np.zeros((0, 2), np.float32), np.zeros(0, np.int64)), _segments(2), gradient=False
            ),
            Sample((draw.integers(3, dtype=np.int32), np.array([0, 0, 1])), _segments(3)),
            *_extra(is_complex),
        ],
        reference=_reference(function, empty),
        failures=[
            Failure(
                (draw.uniform(2, 2), np.array([0, 2])),
                _segments(2), InvalidArgumentError, r"ids\[1\] = 2 is out of range \[0, 2\)",
            ),
            Failure(
                (draw.uniform(2, 2), np.array([0])),
                _segments(2), InvalidArgumentError, r"start with segment_ids.shape = \[1\]",
            ),
            Failure(
                (draw.uniform(2), np.array([0, 1])),
                _segments(-1), InvalidArgumentError, "num_segments == -1 must not be negative",
            ),
            Failure(
                (draw.booleans(1), np.array([0])),
                _segments(1), InvalidArgumentError, "bool is not in the list",
            ),
        ],
    )  # fmt: skip


def _largest(rows):
    return np.max(rows, 0)


def _smallest(rows):
    return np.min(rows, 0)


def _product(rows):
    return np.prod(rows, 0)


CASES = [
    _sorted("SegmentSum", lambda rows: np.sum(rows, 0)),
    _sorted("SegmentMean", _mean),
    _sorted("SegmentMax", _largest, is_complex=False),
    _sorted("SegmentMin", _smallest, is_complex=False),
    _sorted("SegmentProd", _product, _one),
    _unsorted("UnsortedSegmentMax", _largest, _limit(-1), is_complex=False),
    _unsorted("UnsortedSegmentMin", _smallest, _limit(1), is_complex=False),
    _unsorted("UnsortedSegmentProd", _product, _one),
]
