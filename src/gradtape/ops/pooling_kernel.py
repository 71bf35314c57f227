"""Pools, one axis after another: a window's maximum is that of the maxima along its rows.

All functions take Spans for every axis of their arrays, those without a window included.
"""

from typing import Any

import numpy as np

from .numerics import in_float32
from .windows import padded, places, seen, unpadded


def _stages(axes):
    """The axes along which something happens, last first: ties then go to the first in order."""
    return [i for i in reversed(range(len(axes))) if axes[i].window > 1 or axes[i].stride > 1]


def _parts(x, i, axis):
    """What each element of the window sees along axis i of a padded array."""
    before = (slice(None),) * i
    return [x[(*before, seen(axis, k))] for k in range(axis.window)]


def _reduced(parts, ufunc):
    if len(parts) == 1:
        return parts[0]
    total = ufunc(parts[0], parts[1])
    for part in parts[2:]:
        ufunc(total, part, out=total)
    return total


def _lowest(dtype):
    return -np.inf if dtype.kind not in "iu" else np.iinfo(dtype).min


def _first_hits(parts, best):
    """For each part where it is the first to have the best value; the last has what is left.

    Of two parts the first has it unless it is smaller: `best` may then be None.
    """
    remaining: Any = None
    for part in parts[:-1]:
        hit = part >= parts[-1] if best is None else part == best
        if remaining is None:
            remaining = ~hit
        else:
            hit &= remaining
            remaining ^= hit
        yield hit
    yield remaining


@in_float32
def max_pool(x, axes):
    """The largest element in each window."""
    if 0 in places(axes):
        return np.empty(places(axes), x.dtype)
    x = padded(x, axes, 0, _lowest(x.dtype))
    for i in sorted(_stages(axes)):
        x = _reduced(_parts(x, i, axes[i]), np.maximum)
    return x


def _maxima(x, axes):
    """Stages of a max pool: (axis, shape, what each element of the window sees, their maximum).

    The last maximum is None where `_first_hits` can do without.
    """
    found = []
    stages = _stages(axes)
    for i in stages:
        parts = _parts(x, i, axes[i])
        best: Any = None if i == stages[-1] and len(parts) == 2 else _reduced(parts, np.maximum)
        found.append((i, x.shape, parts, best))
        x = best
    return found


@in_float32
def max_pool_gradient(x, g, axes):
    """`g`, of the output's shape, at the first largest element of each window; zero elsewhere."""
    if not g.size:
        return np.zeros(x.shape, g.dtype)
    for i, shape, parts, best in reversed(_maxima(padded(x, axes, 0, _lowest(x.dtype)), axes)):
        axis = axes[i]
        g = _spread(g, i, axis, shape, parts, best)
    return unpadded(g, axes, 0)


def _spread(g, i, axis, shape, parts, best):
    """One stage of `max_pool_gradient`, along axis i."""
    apart = axis.stride >= axis.window
    if apart and axis.stride == axis.window and axis.count * axis.stride == shape[i]:
        whole = np.empty(shape, g.dtype)  # windows side by side leave nothing out
    else:
        whole = np.zeros(shape, g.dtype)
    targets = _parts(whole, i, axis)
    if axis.window == 1:
        targets[0][...] = g
        return whole
    for target, hit in zip(targets, _first_hits(parts, best), strict=True):
        if apart:
            np.multiply(g, hit, out=target)
        else:
            target += g * hit
    return whole


@in_float32
def pick_at_maximum(x, values, axes):
    """Of `values`, of the input's shape, those at the first largest element of each window."""
    if 0 in places(axes):
        return np.empty(places(axes), values.dtype)
    stages = _maxima(padded(x, axes, 0, _lowest(x.dtype)), axes)
    picked: Any = padded(values, axes, 0)
    for i, _, parts, best in stages:
        seen_values = _parts(picked, i, axes[i])
        if len(parts) == 1:
            picked = seen_values[0]
            continue
        picked = None
        for part, hit in zip(seen_values, _first_hits(parts, best), strict=True):
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
    for i in sorted(_stages(axes)):
        x = _reduced(_parts(x, i, axes[i]), np.add)
    return x / sizes


@in_float32
def average_pool_gradient(g, shape, axes):
    """The transpose of `average_pool`: each element of `g` spread evenly over its window."""
    if not g.size:
        return np.zeros(shape, g.dtype)
    g = g / _sizes(axes, g.dtype)
    for i in _stages(axes):
        axis = axes[i]
        whole = np.zeros(
            (*g.shape[:i], axis.size + axis.before + axis.after, *g.shape[i + 1 :]), g.dtype
        )
        for target in _parts(whole, i, axis):
            if axis.stride >= axis.window:
                target[...] = g
            else:
                target += g
        g = whole
    return unpadded(g, axes, 0)
