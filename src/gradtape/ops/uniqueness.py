"""The distinct elements of a vector, in the order in which they first occur."""

import collections

import numpy as np

from ..core import dtypes
from ..core.convert import operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .families import unregistered
from .order_kernels import order as stable_order

Unique = collections.namedtuple("Unique", "y idx")
UniqueWithCounts = collections.namedtuple("UniqueWithCounts", "y idx count")

_COUNTING = dtypes.numpy_set(dtypes.int32, dtypes.int64)


def _distinct(x):
    """The distinct elements, for each element its number among them, and how often they occur."""
    if x.dtype.kind == "O":
        numbers: dict = {}
        index = np.array([numbers.setdefault(item, len(numbers)) for item in x.tolist()], np.int64)
        y = np.array([*numbers, None], object)[:-1]
        return y, index, np.bincount(index, minlength=len(y))
    group, first = _by_table(x) if _has_small_range(x) else _by_sorting(x)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return x[first[order]], rank[group], np.bincount(group, minlength=len(order))[order]


def _by_sorting(x):
    """For each element the number of its group of equals, and where each group first occurs."""
    places = stable_order(x.astype(np.float32) if x.dtype.kind == "V" else x, x.size, False)
    in_order = x[places]
    starts = np.ones(x.size, bool)
    starts[1:] = in_order[1:] != in_order[:-1]  # no NaN equals another
    group = np.empty(x.size, np.int64)
    group[places] = np.cumsum(starts) - 1
    return group, places[starts]


def _has_small_range(x):
    """Whether these are integers, so near each other that a table of all between is not large."""
    return x.dtype.kind in "iu" and x.size > 0 and int(x.max()) - int(x.min()) < 2 * x.size


def _by_table(x):
    """The same as `_by_sorting`, without sorting."""
    numbers, first = _first_places(x)
    used = first >= 0
    return (np.cumsum(used) - 1)[numbers], first[used]


def _first_places(x):
    """The elements counted from the least, and where each such number first occurs, or -1."""
    wide = x if x.dtype.itemsize == 8 else x.astype(np.int64)
    lowest = wide.min()
    numbers = (wide - lowest if lowest else wide).astype(np.int64, copy=False)
    first = np.full(numbers.max() + 1, -1)
    first[numbers[::-1]] = np.arange(x.size - 1, -1, -1)  # what is written last remains
    return numbers, first


def _infer_for(op_name):
    def infer(x, *, out_idx):
        if len(x.shape) != 1:
            raise invalid_argument(op_name, "unique expects a 1D vector.")
        check_counting_dtype(op_name, "out_idx", out_idx)
        specs = (Spec((None,), x.dtype), Spec(x.shape, out_idx), Spec((None,), out_idx))
        return specs[:2] if op_name == "Unique" else specs

    return infer


def check_counting_dtype(op_name, attr, dtype):
    """Raises TensorFlow's error for positions that are to be anything but int32 or int64."""
    if dtype not in _COUNTING:
        word = dtypes.of_numpy(dtype).runtime_word
        raise invalid_argument(
            op_name,
            f"Value for attr '{attr}' of {word} is not in the list of allowed values: int32, "
            f"int64\n\t; NodeDef: {{{{node {op_name}}}}}",
        )


def _batch(op, values, flags, attrs):
    raise TypeError(
        f"{op.name} finds as many elements as are distinct, which may differ within a batch."
    )


def _unique(x, out_idx):
    if _has_small_range(x):
        numbers, first = _first_places(x)
        used = np.flatnonzero(first >= 0)
        in_order = used.take(first.take(used).argsort())
        rank = np.empty(len(first), out_idx)
        rank[in_order] = np.arange(len(in_order))
        return x.take(first.take(in_order)), rank.take(numbers)
    y, index, _ = _distinct(x)
    return y, index.astype(out_idx, copy=False)


def _unique_with_counts(x, out_idx):
    y, index, count = _distinct(x)
    return y, index.astype(out_idx), count.astype(out_idx)


unique_row = unregistered(
    "Unique",
    _unique,
    inputs="x",
    infer=_infer_for("Unique"),
    batch=_batch,
    outputs=2,
    raw="x, out_idx=tf.int32 -> y idx",
)

unique_with_counts_row = unregistered(
    "UniqueWithCounts",
    _unique_with_counts,
    inputs="x",
    infer=_infer_for("UniqueWithCounts"),
    batch=_batch,
    outputs=3,
    raw="x, out_idx=tf.int32 -> y idx count",
)


@export("unique")
def unique(x, out_idx=dtypes.int32, name=None):
    """The distinct elements `y` of a vector, and `idx`, which are such that `x` is `y[idx]`.

    Raises:
        InvalidArgumentError: `x` is not a vector.
    """
    attrs = {"out_idx": dtypes.as_dtype(out_idx).numpy_dtype}
    return Unique(*apply(unique_row.op, (operand(x),), attrs))


@export("unique_with_counts")
def unique_with_counts(x, out_idx=dtypes.int32, name=None):
    """As `unique`, and in addition how often each of the distinct elements occurs.

    Raises:
        InvalidArgumentError: `x` is not a vector.
    """
    attrs = {"out_idx": dtypes.as_dtype(out_idx).numpy_dtype}
    return UniqueWithCounts(*apply(unique_with_counts_row.op, (operand(x),), attrs))
