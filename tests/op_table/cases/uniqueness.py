"""Cases of gradtape.ops.uniqueness."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.op import UNREGISTERED

from ..case import Case, Failure, Sample

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


def _slowly(x):
    """The distinct elements, each element's number, and how often each occurs, one by one."""
    found, numbers, counts = [], [], []
    for item in x.tolist():
        if item not in found:
            found.append(item)
            counts.append(0)
        numbers.append(found.index(item))
        counts[numbers[-1]] += 1
    y = np.empty(len(found), x.dtype)
    y[:] = found
    return y, numbers, counts


def _unique(x, out_idx):
    y, numbers, _ = _slowly(x)
    return y, np.array(numbers, out_idx)


def _unique_with_counts(x, out_idx):
    y, numbers, counts = _slowly(x)
    return y, np.array(numbers, out_idx), np.array(counts, out_idx)


SAMPLES = [
    Sample((np.array([3.0, 1.0, 3.0, 2.0, 1.0]),), {"out_idx": INT32}),
    Sample((np.array([0.0, -0.0, 0.5]),), {"out_idx": INT64}),
    Sample((np.array([7, 7, -1, 7]),), {"out_idx": INT32}),
    Sample((np.array([1j, 1 + 1j, 1j]),), {"out_idx": INT32}),
    Sample((np.array([b"b", b"a", b"b"], object),), {"out_idx": INT64}),
    Sample((np.array([True, False, True]),), {"out_idx": INT32}),
    Sample((np.zeros(0),), {"out_idx": INT32}),
]
FAILURES = [
    Failure((np.ones((1, 2)),), {"out_idx": INT32}, InvalidArgumentError, "expects a 1D vector"),
    Failure((np.array(1.0),), {"out_idx": INT32}, InvalidArgumentError, "expects a 1D vector"),
    Failure(
        (np.ones(2),),
        {"out_idx": np.dtype(np.float32)},
        InvalidArgumentError,
        "'out_idx' of float is not in the list of allowed values: int32, int64",
    ),
]

CASES = [
    Case(
        op="Unique",
        state=UNREGISTERED,
        samples=[
            *SAMPLES,
            # No NaN equals another.
            Sample(
                (np.array([np.nan, 1.0, np.nan]),),
                {"out_idx": INT32},
                expected=(np.array([np.nan, 1.0, np.nan]), np.arange(3, dtype=np.int32)),
            ),
        ],
        reference=_unique,
        # As many results as elements are distinct: elements of a batch would differ in shape.
        batch_inputs=(),
        failures=FAILURES,
    ),
    Case(
        op="UniqueWithCounts",
        state=UNREGISTERED,
        samples=SAMPLES,
        reference=_unique_with_counts,
        batch_inputs=(),
        failures=FAILURES,
    ),
]
