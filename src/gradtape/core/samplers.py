"""Gamma, Poisson, binomial and categorical samples, and random permutations.

A sample of the first three takes as many numbers as its rejections need. Each therefore has a
stream of its own, a fixed number of blocks after the one before, and results do not depend on
the order of evaluation. Parameters are flat arrays; a result has one row of ``count`` samples for
each parameter.
"""

import math

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gradtape.core.distributions import BLOCKS_PER_SAMPLE, normals_from_words, uniform_doubles
from gradtape.core.philox import WORDS_PER_BLOCK, random_words, random_words_at

# Below this mean, counting events one by one is quicker than rejection.
_SMALL_MEAN = 10.0
_BLOCKS_PER_SMALL_BINOMIAL = 42


class _Streams:
    """Independent streams of doubles, advanced for any subset of them at a time.

    A block makes two uniform or two normal samples, of which the second is used first.
    """

    def __init__(self, key: int, counter: int, offsets: NDArray[np.int64]) -> None:
        self._key = key
        self._counter = counter
        self._offsets = offsets.copy()
        self._spare = {kind: np.empty(offsets.size) for kind in ("uniform", "normal")}
        self._has_spare = {kind: np.zeros(offsets.size, bool) for kind in self._spare}

    def uniform(self, which: NDArray[np.intp]) -> NDArray[np.float64]:
        """The next uniform sample of each of the streams ``which``."""
        return self._next("uniform", which)

    def normal(self, which: NDArray[np.intp]) -> NDArray[np.float64]:
        """The next normal sample of each of the streams ``which``."""
        return self._next("normal", which)

    def _next(self, kind: str, which: NDArray[np.intp]) -> NDArray[np.float64]:
        spare, has_spare = self._spare[kind], self._has_spare[kind]
        samples = spare[which]
        empty = np.flatnonzero(~has_spare[which])
        has_spare[which] = False
        if empty.size:
            refilled = which[empty]
            words = random_words_at(self._key, self._counter, self._offsets[refilled])
            self._offsets[refilled] += 1
            if kind == "uniform":
                pairs = uniform_doubles(words)
            else:
                pairs = normals_from_words(words.reshape(-1), np.dtype(np.float64)).reshape(-1, 2)
            samples[empty] = pairs[:, 1]
            spare[refilled] = pairs[:, 0]
            has_spare[refilled] = True
        return samples


def gamma(key: int, counter: int, count: int, alpha: NDArray[np.float64]) -> NDArray[np.float64]:
    """Gamma samples of rate 1, by Marsaglia and Tsang's squeeze; exponential where alpha is 1."""
    shapes = np.repeat(alpha, count)
    streams = _Streams(key, counter, np.arange(shapes.size) * BLOCKS_PER_SAMPLE)
    samples = np.full(shapes.size, np.nan)
    exponential = np.flatnonzero(shapes == 1.0)
    samples[exponential] = -np.log1p(-streams.uniform(exponential))
    # A shape below 1 is drawn as shape + 1 and scaled by a power of a uniform sample.
    boosted = shapes < 1.0
    d = shapes + np.where(boosted, 2.0 / 3, -1.0 / 3)
    open_ = np.flatnonzero((shapes != 1.0) & (shapes > 0.0) & (shapes < np.inf))
    samples[shapes == 0.0] = 0.0
    samples[shapes == np.inf] = np.inf
    while open_.size:
        normals = streams.normal(open_)
        v = 1.0 + 1.0 / 3 / np.sqrt(d[open_]) * normals
        positive = v > 0.0
        candidates, normals, v = open_[positive], normals[positive], v[positive]
        v = v * v * v
        uniforms = streams.uniform(candidates)
        squares = normals * normals
        # log(0) is a certain acceptance, as is everything the squeeze on the left accepts.
        with np.errstate(divide="ignore"):
            accepted = (uniforms < 1.0 - 0.0331 * squares * squares) | (
                np.log(uniforms) < 0.5 * squares + d[candidates] * (1.0 - v + np.log(v))
            )
        finished = candidates[accepted]
        samples[finished] = d[finished] * v[accepted]
        positive[positive] = accepted
        open_ = open_[~positive]
    small = np.flatnonzero(boosted & (shapes > 0.0))
    samples[small] *= streams.uniform(small) ** (1.0 / shapes[small])
    return samples.reshape(alpha.size, count)


def poisson(key: int, counter: int, count: int, rate: NDArray[np.float64]) -> NDArray[np.float64]:
    """Poisson samples: products of uniforms for small rates, else Hörmann's rejection (1993)."""
    rates = np.repeat(rate, count)
    streams = _Streams(key, counter, np.arange(rates.size) * BLOCKS_PER_SAMPLE)
    samples = np.zeros(rates.size)
    samples[np.isnan(rates)] = np.nan
    samples[rates == np.inf] = np.inf
    open_ = np.flatnonzero((rates >= 0.0) & (rates < _SMALL_MEAN))
    product = np.ones(rates.size)
    bound = np.exp(-rates[open_])
    while open_.size:
        product[open_] *= streams.uniform(open_)
        more = product[open_] > bound
        open_, bound = open_[more], bound[more]
        samples[open_] += 1.0
    open_ = np.flatnonzero((rates >= _SMALL_MEAN) & (rates < np.inf))
    while open_.size:
        mean = rates[open_]
        b = 0.931 + 2.53 * np.sqrt(mean)
        a = -0.059 + 0.02483 * b
        u = streams.uniform(open_) - 0.5
        v = streams.uniform(open_)
        edge = 0.5 - np.abs(u)
        with np.errstate(divide="ignore", invalid="ignore"):
            k = np.floor((2.0 * a / edge + b) * u + mean + 0.43)
            scale = 1.1239 + 1.1328 / (b - 3.4)
            log_v = np.log(v * scale / (a / (edge * edge) + b))
        inside = (edge >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2.0))
        possible = (k >= 0.0) & ((edge >= 0.013) | (v <= edge))
        k_checked = np.where(possible, k, 0.0)
        log_density = -mean + k_checked * np.log(mean) - _log_factorial(k_checked)
        accepted = inside | (possible & (log_v <= log_density))
        samples[open_[accepted]] = k[accepted]
        open_ = open_[~accepted]
    return samples.reshape(rate.size, count)


def binomial(
    key: int, counter: int, count: int, trials: NDArray[np.float64], probs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Binomial samples: sums of geometric gaps for small means, else Hörmann's rejection."""
    n, p = np.repeat(trials, count), np.repeat(probs, count)
    samples = np.where(np.isnan(p) | np.isnan(n), np.nan, 0.0)
    certain = (n > 0.0) & (p >= 1.0)
    samples[certain] = n[certain]
    # Successes or failures, whichever are rarer.
    flipped = p > 0.5
    rare = np.where(flipped, 1.0 - p, p)
    regular = (n > 0.0) & (p > 0.0) & (p < 1.0)
    samples[regular & (n == np.inf)] = np.inf
    regular &= n < np.inf
    small = np.where(regular, n, 0.0) * rare < _SMALL_MEAN
    offsets = np.arange(n.size) * np.where(small, _BLOCKS_PER_SMALL_BINOMIAL, BLOCKS_PER_SAMPLE)
    streams = _Streams(key, counter, offsets)
    for which, sampler in ((regular & small, _binomial_gaps), (regular & ~small, _binomial_btrs)):
        indices = np.flatnonzero(which)
        drawn = sampler(streams, indices, n[indices], rare[indices])
        samples[indices] = np.where(flipped[indices], n[indices] - drawn, drawn)
    return samples.reshape(trials.size, count)


def categorical(key: int, counter: int, count: int, logits: NDArray) -> NDArray[np.int64]:
    """Class indices drawn with probability proportional to exp(logits), one row for each row.

    Classes with infinite or NaN logits are never drawn; a row without any other class gives the
    number of classes.
    """
    rows, _ = logits.shape
    words = random_words(key, counter, -(-rows * count * 2 // WORDS_PER_BLOCK))
    uniforms = uniform_doubles(words)[: rows * count].reshape(rows, count)
    finite = np.isfinite(logits)
    wide = np.where(finite, logits, -np.inf).astype(np.float64)
    highest = wide.max(axis=1, keepdims=True)
    weights = np.exp(wide - np.where(np.isfinite(highest), highest, 0.0))
    cumulative = np.cumsum(weights, axis=1)
    targets = uniforms * cumulative[:, -1:]
    samples = np.empty((rows, count), np.int64)
    for row in range(rows):
        samples[row] = np.searchsorted(cumulative[row], targets[row], side="right")
    return samples


def permutation(key: int, counter: int, size: int) -> NDArray[np.int64]:
    """Fisher and Yates's shuffle of ``range(size)``, from the front."""
    if size < 2:
        return np.arange(size)
    steps = np.arange(size - 1)
    words = random_words(key, counter, -(-(size - 1) // WORDS_PER_BLOCK))[: size - 1]
    partners = words % np.arange(size, 1, -1, dtype=np.uint32) + steps
    # Step i moves what lies at place i to its partner, where the next step with the same partner
    # finds it. Sorted by partner, then step, these two steps are neighbours.
    order = partners << 32 | steps
    order.sort()
    order_steps = order & 0xFFFFFFFF
    order >>= 32
    # What a step finds at its partner: what an earlier step left there, or the number ~found.
    found = np.empty(size, np.int64)
    found[order_steps[0]] = ~order[0]
    again = order[1:] == order[:-1]
    found[order_steps[1:]] = np.where(again, order_steps[:-1], ~order[1:])
    # What lies at place i at step i was left by the last earlier step with that partner.
    left = ~np.arange(size)
    left[partners] = steps
    alone = np.flatnonzero(partners == steps)
    left[alone] = found[alone]
    found[-1] = left[-1]
    moved = np.flatnonzero(left >= 0)
    while moved.size:  # follow each number back to where it started, in ever longer strides
        strides = left[left[moved]]
        left[moved] = strides
        moved = moved[strides >= 0]
    waiting = np.flatnonzero(found >= 0)
    found[waiting] = left[found[waiting]]
    return ~found


def round_to(samples: NDArray[np.float64], dtype: DTypeLike) -> NDArray:
    """Double precision samples in another type; values beyond an integer type saturate."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        # The largest double below the end of the range: the end itself may round up out of it.
        top = np.nextafter(float(np.iinfo(dtype).max) + 1.0, 0.0)
        return np.nan_to_num(samples, nan=0.0).clip(np.iinfo(dtype).min, top).astype(dtype)
    with np.errstate(over="ignore"):
        # The 16-bit types are reached through float32, so they are rounded twice.
        return samples if dtype == np.float64 else samples.astype(np.float32).astype(dtype)


def _binomial_gaps(streams: _Streams, indices: NDArray[np.intp], n: NDArray, p: NDArray) -> NDArray:
    """Successes found by jumping from one to the next: the gaps are geometric."""
    successes = np.zeros(n.size)
    position = np.zeros(n.size)
    open_ = np.arange(n.size)
    log_failure = np.log1p(-p)
    while open_.size:
        with np.errstate(divide="ignore"):
            gap = np.log(streams.uniform(indices[open_])) / log_failure[open_]
        position[open_] += np.ceil(gap)
        open_ = open_[position[open_] <= n[open_]]
        successes[open_] += 1.0
    return successes


def _binomial_btrs(streams: _Streams, indices: NDArray[np.intp], n: NDArray, p: NDArray) -> NDArray:
    """Hörmann's transformed rejection (1993) with his algorithm BTRS's constants."""
    successes = np.zeros(n.size)
    open_ = np.arange(n.size)
    deviation = np.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    odds = p / (1.0 - p)
    mode = np.floor((n + 1.0) * p)
    log_mode = (mode + 0.5) * np.log((mode + 1.0) / (odds * (n - mode + 1.0)))
    log_mode += _stirling_tail(mode) + _stirling_tail(n - mode)
    while open_.size:
        n_, a_, b_, mode_ = n[open_], a[open_], b[open_], mode[open_]
        u = streams.uniform(indices[open_]) - 0.5
        v = streams.uniform(indices[open_])
        edge = 0.5 - np.abs(u)
        with np.errstate(divide="ignore", invalid="ignore"):
            k = np.floor((2.0 * a_ / edge + b_) * u + n_ * p[open_] + 0.5)
            scale = (2.83 + 5.1 / b_) * deviation[open_]
            log_v = np.log(v * scale / (a_ / (edge * edge) + b_))
        inside = (edge >= 0.07) & (v <= 0.92 - 4.2 / b_)
        possible = (k >= 0.0) & (k <= n_)
        k_checked = np.where(possible, k, 0.0)
        log_ratio = (
            log_mode[open_]
            + (n_ + 1.0) * np.log((n_ - mode_ + 1.0) / (n_ - k_checked + 1.0))
            + (k_checked + 0.5) * np.log(odds[open_] * (n_ - k_checked + 1.0) / (k_checked + 1.0))
            - _stirling_tail(k_checked)
            - _stirling_tail(n_ - k_checked)
        )
        accepted = inside | (possible & (log_v <= log_ratio))
        successes[open_[accepted]] = k[accepted]
        open_ = open_[~accepted]
    return successes


_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_SMALL_TAILS = np.array(
    [
        math.lgamma(k + 1) - ((k + 0.5) * math.log(k + 1) - (k + 1) + _HALF_LOG_TWO_PI)
        for k in range(10)
    ]
)


def _stirling_tail(k: NDArray[np.float64]) -> NDArray[np.float64]:
    """What log(k!) exceeds (k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2 by."""
    square = (k + 1.0) ** 2
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1.0)
    small = k < _SMALL_TAILS.size
    return np.where(small, _SMALL_TAILS[np.where(small, k, 0.0).astype(np.intp)], series)


def _log_factorial(k: NDArray[np.float64]) -> NDArray[np.float64]:
    return (k + 0.5) * np.log(k + 1.0) - (k + 1.0) + _HALF_LOG_TWO_PI + _stirling_tail(k)
