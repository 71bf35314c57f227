"""Ops that move, order, count and gather elements beside their NumPy formulations."""

import numpy as np

from workloads.numpy_formulations import MILLION, Comparison, define_inputs, integers, normal

Array = np.ndarray

define_inputs(
    rows_wanted=integers(1000, 1000),
    places=integers(MILLION, MILLION),
    pairs=lambda random: random.integers(0, 1000, (100_000, 2)).astype(np.int32),
    updates=normal(100_000),
    groups=integers(1000, MILLION),
    sorted_groups=lambda random: np.sort(random.integers(0, 1000, MILLION)).astype(np.int32),
    row_groups=lambda random: np.sort(random.integers(0, 100, 1000)).astype(np.int32),
    two_parts=integers(2, MILLION),
    sorted_x=lambda random: np.sort(random.standard_normal(MILLION, np.float32)),
    thousand_classes=integers(1000, 1000),
    lengths=integers(1000, 1000),
    row_mask=lambda random: random.random(1000) < 0.5,
    indices_along=lambda random: random.integers(0, 1000, (1000, 1000)).astype(np.int32),
)


# Formulations -------------------------------------------------------------------------------------


def top_k(x: Array, k: int) -> tuple[Array, Array]:
    """Return the k largest of each row in order; without the care for ties."""
    some = np.argpartition(x, -k, axis=-1)[..., -k:]
    values = np.take_along_axis(x, some, -1)
    order = np.argsort(values, axis=-1)[..., ::-1]
    return np.take_along_axis(values, order, -1), np.take_along_axis(some, order, -1)


def stable_argsort(x: Array) -> Array:
    """Return the order of float32 numbers: sorted above their places in 64 bits."""
    key = (x + np.float32(0)).view(np.uint32)
    key ^= np.negative(key >> np.uint32(31)) | np.uint32(1 << 31)
    packed = key.astype(np.uint64) << np.uint64(32)
    packed |= np.arange(x.shape[-1], dtype=np.uint64)
    packed.sort(axis=-1)
    return packed.astype(np.uint32).view(np.int32)


def unique(x: Array) -> tuple[Array, Array]:
    """Return the values in the order of their first places, and where each element is among them.

    For integers from a small range, a table does it without sorting.
    """
    low = x.min()
    first = np.full(x.max() - low + 1, len(x))
    shifted = x - low
    first[shifted[::-1]] = np.arange(len(x) - 1, -1, -1)
    found = np.flatnonzero(first < len(x))
    order = found[np.argsort(first[found])]
    rank = np.empty(len(first), np.int32)
    rank[order] = np.arange(len(order))
    return (order + low).astype(x.dtype), rank[shifted]


def cumulative(function: np.ufunc, axis: int):
    """Return the function that accumulates along an axis."""
    return lambda x: function.accumulate(x, axis)


def sum_down_columns(x: Array) -> Array:
    """Return the running sum along the first axis, row by row."""
    y = np.empty_like(x)
    y[0] = x[0]
    before = y[0]
    for row, place in zip(x[1:], y[1:], strict=True):
        np.add(before, row, place)
        before = place
    return y


def exclusive_sum(x: Array) -> Array:
    y = np.empty_like(x)
    y[0] = 0
    np.cumsum(x[:-1], out=y[1:])
    return y


def cumulative_logsumexp(x: Array) -> Array:
    return np.logaddexp.accumulate(x)


def one_hot(x: Array) -> Array:
    y = np.zeros((len(x), 1000), np.float32)
    y[np.arange(len(x)), x] = 1
    return y


def padded(x: Array) -> Array:
    y = np.zeros((x.shape[0] + 2, x.shape[1] + 2), x.dtype)
    y[1:-1, 1:-1] = x
    return y


def segment_sum(x: Array, ids: Array) -> Array:
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    return np.add.reduceat(x, starts, axis=0)


def segment_max(x: Array, ids: Array) -> Array:
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    return np.maximum.reduceat(x, starts, axis=0)


def unsorted_sum(x: Array, ids: Array) -> Array:
    return np.bincount(ids, x, 1000).astype(np.float32)


def unsorted_rows(x: Array, ids: Array) -> Array:
    y = np.zeros((100, x.shape[1]), x.dtype)
    np.add.at(y, ids, x)
    return y


def unsorted_max(x: Array, ids: Array) -> Array:
    y = np.full(1000, np.finfo(np.float32).min)
    np.maximum.at(y, ids, x)
    return y


def scatter(updates: Array, pairs: Array) -> Array:
    flat = pairs[:, 0].astype(np.intp) * 1000 + pairs[:, 1]
    return np.bincount(flat, updates, 1000 * 1000).reshape(1000, 1000).astype(np.float32)


def scatter_add(m: Array, pairs: Array, updates: Array) -> Array:
    y = m.copy()
    np.add.at(y.reshape(-1), pairs[:, 0].astype(np.intp) * 1000 + pairs[:, 1], updates)
    return y


def scatter_update(m: Array, pairs: Array, updates: Array) -> Array:
    y = m.copy()
    y[pairs[:, 0], pairs[:, 1]] = updates
    return y


def space_to_depth(x: Array) -> Array:
    return x.reshape(10, 50, 2, 50, 2, 20).transpose(0, 1, 3, 2, 4, 5).reshape(10, 50, 50, 80)


def dynamic_partition(x: Array, parts: Array) -> list[Array]:
    first = parts == 1
    return [x[~first], x[first]]


def reverse_sequence(x: Array, lengths: Array) -> Array:
    columns = np.arange(x.shape[1])
    back = lengths[:, None] - 1 - columns
    return np.take_along_axis(x, np.where(back >= 0, back, columns), 1)


def histogram(x: Array) -> Array:
    y = x + np.float32(5)
    y *= np.float32(10)
    np.maximum(y, 0, out=y)
    np.minimum(y, 99, out=y)
    return np.bincount(y.astype(np.int32), minlength=100).astype(np.int32)


define_inputs(images_10=normal(10, 100, 100, 20))

# Rows ---------------------------------------------------------------------------------------------

COMPARISONS: dict[str, Comparison] = {
    "cumsum": Comparison("x", lambda tf, x: tf.cumsum(x), cumulative(np.add, 0)),
    "cumsum, columns": Comparison("m", lambda tf, x: tf.cumsum(x, 0), sum_down_columns),
    "cumsum, rows": Comparison("m", lambda tf, x: tf.cumsum(x, -1), cumulative(np.add, -1)),
    "cumsum, exclusive": Comparison("x", lambda tf, x: tf.cumsum(x, exclusive=True), exclusive_sum),
    "cumsum, reverse": Comparison(
        "x", lambda tf, x: tf.cumsum(x, reverse=True), lambda x: np.cumsum(x[::-1])[::-1]
    ),
    "cumprod": Comparison("m", lambda tf, x: tf.math.cumprod(x, -1), cumulative(np.multiply, -1)),
    "cumulative_logsumexp": Comparison(
        "x", lambda tf, x: tf.math.cumulative_logsumexp(x), cumulative_logsumexp
    ),
    "sort": Comparison("x", lambda tf, x: tf.sort(x), np.sort),
    "sort, descending rows": Comparison(
        "m",
        lambda tf, x: tf.sort(x, direction="DESCENDING"),
        lambda x: np.negative(np.sort(-x, axis=-1)),
    ),
    "argsort": Comparison("x", lambda tf, x: tf.argsort(x), stable_argsort),
    "argsort, rows": Comparison("m", lambda tf, x: tf.argsort(x), stable_argsort),
    "top_k of a vector": Comparison(
        "x", lambda tf, x: tf.math.top_k(x, 10), lambda x: top_k(x, 10)
    ),
    "top_k of rows": Comparison("m", lambda tf, x: tf.math.top_k(x, 10), lambda x: top_k(x, 10)),
    "argmax": Comparison("m", lambda tf, x: tf.argmax(x, -1), lambda x: np.argmax(x, -1)),
    "argmin, columns": Comparison("m", lambda tf, x: tf.argmin(x, 0), lambda x: np.argmin(x, 0)),
    "in_top_k": Comparison(
        "thousand_classes m",
        lambda tf, targets, x: tf.math.in_top_k(targets, x, 5),
        lambda targets, x: (x > x[np.arange(1000), targets, None]).sum(-1) < 5,
    ),
    "unique": Comparison("whole", lambda tf, x: tf.unique(x), unique),
    "bincount": Comparison(
        "whole", lambda tf, x: tf.math.bincount(x), lambda x: np.bincount(x).astype(np.int32)
    ),
    "histogram_fixed_width": Comparison(
        "x", lambda tf, x: tf.histogram_fixed_width(x, [-5.0, 5.0]), histogram
    ),
    "searchsorted": Comparison(
        "sorted_x x",
        lambda tf, s, x: tf.searchsorted(s, x),
        lambda s, x: np.searchsorted(s, x).astype(np.int32),
    ),
    "gather": Comparison("x places", lambda tf, x, i: tf.gather(x, i), lambda x, i: x.take(i)),
    "gather, rows": Comparison(
        "m rows_wanted", lambda tf, x, i: tf.gather(x, i), lambda x, i: x.take(i, 0)
    ),
    "gather, columns": Comparison(
        "m rows_wanted", lambda tf, x, i: tf.gather(x, i, axis=1), lambda x, i: x.take(i, 1)
    ),
    "gather, batch_dims": Comparison(
        "m indices_along",
        lambda tf, x, i: tf.gather(x, i, batch_dims=1),
        lambda x, i: np.take_along_axis(x, i, 1),
    ),
    "gather_nd": Comparison(
        "m pairs", lambda tf, x, i: tf.gather_nd(x, i), lambda x, i: x[i[:, 0], i[:, 1]]
    ),
    "scatter_nd": Comparison(
        "updates pairs", lambda tf, u, i: tf.scatter_nd(i, u, [1000, 1000]), scatter
    ),
    "tensor_scatter_nd_add": Comparison(
        "m pairs updates", lambda tf, x, i, u: tf.tensor_scatter_nd_add(x, i, u), scatter_add
    ),
    "tensor_scatter_nd_update": Comparison(
        "m pairs updates", lambda tf, x, i, u: tf.tensor_scatter_nd_update(x, i, u), scatter_update
    ),
    "segment_sum": Comparison(
        "x sorted_groups", lambda tf, x, i: tf.math.segment_sum(x, i), segment_sum
    ),
    "segment_sum, rows": Comparison(
        "m row_groups", lambda tf, x, i: tf.math.segment_sum(x, i), segment_sum
    ),
    "segment_max": Comparison(
        "x sorted_groups", lambda tf, x, i: tf.math.segment_max(x, i), segment_max
    ),
    "unsorted_segment_sum": Comparison(
        "x groups", lambda tf, x, i: tf.math.unsorted_segment_sum(x, i, 1000), unsorted_sum
    ),
    "unsorted_segment_sum, rows": Comparison(
        "m row_groups", lambda tf, x, i: tf.math.unsorted_segment_sum(x, i, 100), unsorted_rows
    ),
    "unsorted_segment_max": Comparison(
        "x groups", lambda tf, x, i: tf.math.unsorted_segment_max(x, i, 1000), unsorted_max
    ),
    "one_hot": Comparison("thousand_classes", lambda tf, x: tf.one_hot(x, 1000), one_hot),
    "boolean_mask": Comparison(
        "x yes", lambda tf, x, mask: tf.boolean_mask(x, mask), lambda x, mask: x[mask]
    ),
    "boolean_mask, rows": Comparison(
        "m row_mask", lambda tf, x, mask: tf.boolean_mask(x, mask), lambda x, mask: x[mask]
    ),
    "sequence_mask": Comparison(
        "lengths",
        lambda tf, x: tf.sequence_mask(x, 1000),
        lambda x: np.arange(1000, dtype=np.int32) < x[:, None],
    ),
    "dynamic_partition": Comparison(
        "x two_parts", lambda tf, x, parts: tf.dynamic_partition(x, parts, 2), dynamic_partition
    ),
    "slice": Comparison(
        "m",
        lambda tf, x: tf.slice(x, [1, 1], [998, 998]),
        lambda x: x[1:-1, 1:-1],
    ),
    "strided slice": Comparison("m", lambda tf, x: x[::2, 1:] + 0.0, lambda x: x[::2, 1:] + 0),
    "pad": Comparison("m", lambda tf, x: tf.pad(x, [[1, 1], [1, 1]]), padded),
    "pad, reflect": Comparison(
        "m",
        lambda tf, x: tf.pad(x, [[1, 1], [1, 1]], "REFLECT"),
        lambda x: np.pad(x, 1, "reflect"),
    ),
    "tile": Comparison("row", lambda tf, x: tf.tile(x, [1000]), lambda x: np.tile(x, 1000)),
    "tile, matrix": Comparison(
        "updates", lambda tf, x: tf.tile(x[None], [10, 1]), lambda x: np.tile(x[None], (10, 1))
    ),
    "repeat": Comparison("row", lambda tf, x: tf.repeat(x, 1000), lambda x: np.repeat(x, 1000)),
    "reverse": Comparison("m", lambda tf, x: tf.reverse(x, [1]), lambda x: x[:, ::-1].copy()),
    "reverse_sequence": Comparison(
        "m lengths", lambda tf, x, n: tf.reverse_sequence(x, n, seq_axis=1), reverse_sequence
    ),
    "roll": Comparison("m", lambda tf, x: tf.roll(x, 3, 1), lambda x: np.roll(x, 3, 1)),
    "transpose": Comparison("m", lambda tf, x: tf.transpose(x), lambda x: x.T),
    "transpose, rank 3": Comparison(
        "t", lambda tf, x: tf.transpose(x, [2, 0, 1]), lambda x: x.transpose(2, 0, 1)
    ),
    "concat": Comparison(
        "m n", lambda tf, x, y: tf.concat([x, y], -1), lambda x, y: np.concatenate([x, y], -1)
    ),
    "stack": Comparison(
        "m n", lambda tf, x, y: tf.stack([x, y], 1), lambda x, y: np.stack([x, y], 1)
    ),
    "unstack": Comparison("m", lambda tf, x: tf.unstack(x), list),
    "split": Comparison("m", lambda tf, x: tf.split(x, 10, 1), lambda x: np.split(x, 10, 1)),
    "reshape": Comparison(
        "x", lambda tf, x: tf.reshape(x, [1000, -1]), lambda x: x.reshape(1000, -1)
    ),
    "broadcast_to": Comparison(
        "row",
        lambda tf, x: tf.broadcast_to(x, [1000, 1000]) + 1.0,
        lambda x: np.broadcast_to(x, (1000, 1000)) + np.float32(1),
    ),
    "meshgrid": Comparison(
        "row", lambda tf, x: tf.meshgrid(x, x), lambda x: np.meshgrid(x, x, copy=False)
    ),
    "space_to_depth": Comparison(
        "images_10", lambda tf, x: tf.nn.space_to_depth(x, 2), space_to_depth
    ),
    "zeros": Comparison("", lambda tf: tf.zeros([MILLION]), lambda: np.zeros(MILLION, np.float32)),
    "fill": Comparison(
        "", lambda tf: tf.fill([MILLION], 2.0), lambda: np.full(MILLION, 2, np.float32)
    ),
    "ones_like": Comparison("x", lambda tf, x: tf.ones_like(x), np.ones_like),
    "range": Comparison(
        "", lambda tf: tf.range(MILLION), lambda: np.arange(MILLION, dtype=np.int32)
    ),
    "linspace": Comparison(
        "",
        lambda tf: tf.linspace(0.0, 1.0, MILLION),
        lambda: np.arange(MILLION, dtype=np.float32) * np.float32(1 / (MILLION - 1)),
    ),
}
