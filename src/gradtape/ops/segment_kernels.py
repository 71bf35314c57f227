"""Reductions of rows that have the same id, as arrays."""

import numpy as np

from ..core import dtypes
from .broadcasting import working_dtype
from .scatter import combine_rows


def starts_of_runs(ids):
    """Where runs of equal ids start."""
    if not ids.size:
        return np.zeros(0, np.int64)
    (changes,) = (ids[1:] != ids[:-1]).nonzero()
    starts = np.zeros(len(changes) + 1, np.int64)
    np.add(changes, 1, starts[1:])
    return starts


def reduced(ufunc, rows, ids, count, empty, starts=None):
    """`ufunc` over the rows of each id from 0 to `count` - 1; `empty` where there are none.

    Args:
        starts: where runs of equal ids start, if these are known to be in order.
    """
    out = np.full((count, *rows.shape[1:]), empty, rows.dtype)
    if not rows.size:
        return out
    if starts is None:
        if (ids[1:] < ids[:-1]).any():
            return _scattered(ufunc, rows, ids, out)
        starts = starts_of_runs(ids)
    out[ids[starts]] = ufunc.reduceat(rows, starts, axis=0, dtype=working_dtype(rows.dtype))
    return out


def _scattered(ufunc, rows, ids, out):
    """The same for ids in any order; sorting them would take longer."""
    dtype = rows.dtype
    working = working_dtype(dtype)
    start = _neutral(ufunc, working)
    totals = np.full(out.shape, start, working)
    combine_rows(ufunc, totals, ids, rows.astype(working, copy=False))
    if (totals == start).any():
        used = np.zeros(out.shape[0], bool)
        used[ids] = True
        out[used] = totals[used]
        return out
    return totals.astype(dtype, copy=False)


def _neutral(ufunc, dtype):
    """What a product or an extreme can start from: no other number changes by it."""
    if ufunc is np.multiply:
        return 1
    if dtype.kind == "f":
        return -np.inf if ufunc is np.maximum else np.inf
    return lowest(dtype) if ufunc is np.maximum else highest(dtype)


def lowest(dtype):
    """The least number of a dtype that is finite."""
    return dtypes.of_numpy(dtype).min


def highest(dtype):
    """The greatest number of a dtype that is finite."""
    return dtypes.of_numpy(dtype).max
