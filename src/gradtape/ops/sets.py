"""Sets along the last axis of tensors, dense or sparse, and distances between sequences."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.sparse_tensor import SparseTensor
from ..core.tensor import EagerTensor
from .broadcasting import words
from .sparse import as_sparse, sparse_of

_ALLOWED = dtypes.numpy_set(
    dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16,
    dtypes.string,
)  # fmt: skip


def rows_of(x):
    """The elements of each row of the last axis, by the row's place, and the shape of the rest."""
    if isinstance(x, SparseTensor):
        rows = {}
        for place, item in zip(x._places[:, :-1].tolist(), x.values._value, strict=True):
            rows.setdefault(tuple(place), []).append(item)
        return rows, x._sizes[:-1]
    array = x._value
    lead = array.shape[:-1]
    return {place: list(array[place]) for place in np.ndindex(lead)}, lead


def _operation(a, b, aminusb, combine):
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        raise ValueError("If `a` is sparse, `b` must be sparse, too: swap them otherwise.")
    a, b = [x if isinstance(x, SparseTensor) else convert_to_tensor(x) for x in (a, b)]
    if a.dtype != b.dtype:
        raise TypeError(f"Types don't match, a {a.dtype} vs b {b.dtype}.")
    if a.dtype.numpy_dtype not in _ALLOWED:
        raise TypeError(f"Invalid dtype `{a.dtype!r}` not in the dtypes sets can hold.")
    of_a, lead = rows_of(a)
    of_b, lead_of_b = rows_of(b)
    if lead != lead_of_b:
        raise invalid_argument(
            "SetOperation", f"Mismatched group shapes {words(lead)} vs {words(lead_of_b)}"
        )
    places, values, longest = [], [], 0
    for place in sorted({*of_a, *of_b}):
        found = sorted(combine(set(of_a.get(place, ())), set(of_b.get(place, ()))))
        places += [(*place, i) for i in range(len(found))]
        values += found
        longest = max(longest, len(found))
    array = np.array(values, a.dtype.numpy_dtype)
    return sparse_of(np.array(places, np.int64), EagerTensor(array), (*lead, longest))


@export("sets.intersection")
def intersection(a, b, validate_indices=True):
    """What the rows of `a` and `b` have in common, as a sparse tensor."""
    return _operation(a, b, False, set.intersection)


@export("sets.union")
def union(a, b, validate_indices=True):
    """What the rows of `a` or `b` hold, as a sparse tensor."""
    return _operation(a, b, False, set.union)


@export("sets.difference")
def difference(a, b, aminusb=True, validate_indices=True):
    """What the rows of `a` hold and those of `b` do not, or the other way round."""
    return _operation(a, b, aminusb, lambda x, y: x - y if aminusb else y - x)


@export("sets.size")
def size(a, validate_indices=True):
    """How many different elements the rows of a sparse tensor hold."""
    rows, lead = rows_of(as_sparse(a))
    counts = np.zeros(lead, np.int32)
    for place, items in rows.items():
        counts[place] = len(set(items))
    return EagerTensor(counts if lead else counts[()])


@export("edit_distance")
def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """The Levenshtein distances of the sequences along the last axes of two sparse tensors.

    Args:
        hypothesis: the sequences tried.
        truth: those wanted.
        normalize: whether to divide by the length of the latter.

    Raises:
        TypeError: one is not a SparseTensor.
        InvalidArgumentError: their ranks differ.
    """
    for each, what in ((hypothesis, "Hypothesis"), (truth, "Truth")):
        if not isinstance(each, SparseTensor):
            raise TypeError(f"{what} must be a SparseTensor.")
    (tried, lead), (wanted, lead_of_truth) = rows_of(hypothesis), rows_of(truth)
    if len(lead) != len(lead_of_truth):
        raise invalid_argument(
            "EditDistance",
            "Ranks of truth and hypothesis must be equal, but are "
            f"{len(lead_of_truth) + 1} and {len(lead) + 1}",
        )
    result = np.zeros(tuple(np.maximum(lead, lead_of_truth).tolist()), np.float32)
    for place in {*tried, *wanted}:
        ours, theirs = tried.get(place, []), wanted.get(place, [])
        distance = _levenshtein(ours, theirs)
        if normalize:
            distance = distance / len(theirs) if theirs else np.inf
        result[place] = distance
    return EagerTensor(result if result.ndim else result[()])


def _levenshtein(a, b):
    """Row by row of the table; along a row, the least of `row[j'] + j - j'` is a running one."""
    steps = np.arange(len(b) + 1)
    row = steps.copy()
    other = np.array(b, object)
    for i, item in enumerate(a):
        best = np.empty_like(row)
        best[0] = i + 1
        best[1:] = np.minimum(row[1:] + 1, row[:-1] + (other != item))
        row = np.minimum.accumulate(best - steps) + steps
    return int(row[-1])
