"""Reductions of rows that have the same id, as arrays."""

import numpy as np

from ..core import dtypes
from .broadcasting import working_dtype
from .scatter import combine_rows


def reduced(ufunc, rows, ids, count, empty):
    """`ufunc` over the rows of each id from 0 to `count` - 1; `empty` where there are none."""
    out = np.full((count, *rows.shape[1:]), empty, rows.dtype)
    if not rows.size:
        return out
    if (ids[1:] < ids[:-1]).any():
        return _scattered(ufunc, rows, ids, out)
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
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
