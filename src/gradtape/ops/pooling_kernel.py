"""Pools, one axis after another: a window's maximum is that of the maxima along its rows.

All functions take Spans for every axis of their arrays, those without a window included.
"""

import itertools
import math
from typing import Any

import numpy as np

from .numerics import in_float32
from .windows import padded, places, seen, unpadded

# Windows apart with no more elements than this are searched at once, not axis by axis.
_SMALL_WINDOW = 9


def _sliding(axes):
    """The axes along which something happens."""
    return [i for i, axis in enumerate(axes) if axis.window > 1 or axis.stride > 1]


def _apart(axes):
    """Whether no two windows share an element."""
    return all([axis.stride >= axis.window for axis in axes])


def _parts(x, group, axes):
    """What each element of the window along a group of axes sees of a padded array, row by row."""
    index: list = [slice(None)] * x.ndim
    parts = []
    for offsets in itertools.product(*[range(axes[i].window) for i in group]):
        for i, offset in zip(group, offsets, strict=True):
            index[i] = seen(axes[i], offset)
        parts.append(x[tuple(index)])
    return parts


def _reduced(parts, ufunc):
    if len(parts) == 1:
        return parts[0]
    total = ufunc(parts[0], parts[1])
    for part in parts[2:]:
        ufunc(total, part, out=total)
    return total


def _lowest(dtype):
    return -np.inf if dtype.kind not in "iu" else np.iinfo(dtype).min


@in_float32
def max_pool(x, axes):
    """The largest element in each window."""
    if 0 in places(axes):
        return np.empty(places(axes), x.dtype)
    x = padded(x, axes, 0, _lowest(x.dtype))
    for i in _sliding(axes):
        x = _reduced(_parts(x, (i,), axes), np.maximum)
    return x


# Where the maximum is -----------------------------------------------------------------------------


def _stages(axes):
    """Groups of axes to search one after another, last first: ties then go to the first in order.

    One group of all axes needs no maxima in between, but looks at every element of a window: too
    much work if windows are large or overlap.
    """
    sliding = _sliding(axes)
    windows = [axes[i] for i in sliding]
    if _apart(windows) and math.prod([axis.window for axis in windows]) <= _SMALL_WINDOW:
        return [tuple(sliding)]
    return [(i,) for i in reversed(sliding)]


def _maxima(x, out, axes):
    """Stages of a max pool: (group, shape, what each element of the window sees, their maximum)."""
    found = []
    stages = _stages(axes)
    for group in stages:
        parts = _parts(x, group, axes)
        best = out if group is stages[-1] else _reduced(parts, np.maximum)
        found.append((group, x.shape, parts, best))
        x = best
    return found


def first_hits(parts, best):
    """For each part where it is the first to have the best value; the last has what is left."""
    remaining: Any = None
    for part in parts[:-1]:
        hit = part == best
        if remaining is None:
            remaining = ~hit
        else:
            hit &= remaining
            remaining ^= hit
        yield hit
    yield remaining


def all_hits(parts, best):
    """For each part where it has the best value."""
    return [part == best for part in parts]


@in_float32
def max_pool_gradient(x, out, g, axes, hits):
    """`g`, of the shape of `out`, at the largest element of each window; zero elsewhere.

    Args:
        x: the input of the pool.
        out: what it gave.
        g: the gradient for `out`.
        axes: the Spans.
        hits: which of several equal elements have it, `first_hits` or `all_hits`.
    """
    if not g.size:
        return np.zeros(x.shape, g.dtype)
    x = padded(x, axes, 0, _lowest(x.dtype))
    for group, shape, parts, best in reversed(_maxima(x, out, axes)):
        g = _spread(g, group, axes, shape, hits(parts, best))
    return unpadded(g, axes, 0)


def _spread(g, group, axes, shape, hits):
    """One stage of `max_pool_gradient`, along a group of axes."""
    apart = _apart([axes[i] for i in group])
    if all(
        [
            axes[i].stride == axes[i].window and g.shape[i] * axes[i].stride == shape[i]
            for i in group
        ]
    ):
        whole = np.empty(shape, g.dtype)  # windows side by side leave nothing out
    else:
        whole = np.zeros(shape, g.dtype)
    targets = _parts(whole, group, axes)
    if len(targets) == 1:
        targets[0][...] = g
        return whole
    for target, hit in zip(targets, hits, strict=True):
        if apart:
            np.multiply(g, hit, out=target)
        else:
            target += g * hit
    return whole


@in_float32
def pick_at_maximum(x, out, values, axes):
    """Of `values`, of the input's shape, those at the first largest element of each window."""
    if 0 in places(axes):
        return np.empty(places(axes), values.dtype)
    stages = _maxima(padded(x, axes, 0, _lowest(x.dtype)), out, axes)
    picked: Any = padded(values, axes, 0)
    for group, _, parts, best in stages:
        seen_values = _parts(picked, group, axes)
        if len(parts) == 1:
            picked = seen_values[0]
            continue
        picked = None
        for part, hit in zip(seen_values, first_hits(parts, best), strict=True):
            chosen = part * hit
            picked = chosen if picked is None else np.add(picked, chosen, out=picked)
    return picked


# Averages -----------------------------------------------------------------------------------------


def _sizes(axes, dtype):
    """How many elements of each window lie inside: a number, or an array that broadcasts."""
    total = dtype.type(1)
    for i, axis in enumerate(axes):
        if not axis.padded:
            total = total * dtype.type(axis.window)
            continue
        inside = np.zeros(axis.before + axis.size + axis.after, dtype)
        inside[axis.before : axis.before + axis.size] = 1
        counts = _reduced([inside[seen(axis, k)] for k in range(axis.window)], np.add)
        total = total * counts.reshape(-1, *(1,) * (len(axes) - 1 - i))
    return total


@in_float32
def average_pool(x, axes):
    """The mean of each window, not counting what lies outside."""
    if 0 in places(axes):
        return np.empty(places(axes), x.dtype)
    sizes = _sizes(axes, x.dtype)
    x = padded(x, axes, 0)
    for i in _sliding(axes):
        x = _reduced(_parts(x, (i,), axes), np.add)
    return x / sizes


@in_float32
def average_pool_gradient(g, shape, axes):
    """The transpose of `average_pool`: each element of `g` spread evenly over its window."""
    if not g.size:
        return np.zeros(shape, g.dtype)
    g = g / _sizes(axes, g.dtype)
    for i in reversed(_sliding(axes)):
        axis = axes[i]
        whole = np.zeros(
            (*g.shape[:i], axis.size + axis.before + axis.after, *g.shape[i + 1 :]), g.dtype
        )
        for target in _parts(whole, (i,), axes):
            if _apart((axis,)):
                target[...] = g
            else:
                target += g
        g = whole
    return unpadded(g, axes, 0)
