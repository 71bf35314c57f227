"""Cases of gradtape.ops.ctc_alignment."""

import itertools

import numpy as np

from gradtape.core.errors import InvalidArgumentError
from gradtape.ops.ctc_alignment import NEVER, UNFINISHED

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _ways(emissions, entry, final, live):
    """All alignments of one example, written out: their states and log-probabilities."""
    states = emissions.shape[1]
    frames = int(live.sum())
    for path in itertools.product(range(states), repeat=frames):
        score, before = 0.0, 0
        for t, state in enumerate(path):
            by = state - before
            if by not in (0, 1, 2):
                break
            score += emissions[t, state] + (entry[state] if by == 2 else 0.0)
            before = state
        else:
            yield path, score + final[before]


def _likelihood(emissions, entry, final, live):
    totals = []
    for b in range(emissions.shape[1]):
        scores = [s for _, s in _ways(emissions[:, b], entry[b], final[b], live[:, b])]
        totals.append(np.logaddexp.reduce(scores))
    return np.array(totals)


def _occupancy(emissions, entry, final, live):
    shares = np.zeros_like(emissions)
    for b in range(emissions.shape[1]):
        ways = list(_ways(emissions[:, b], entry[b], final[b], live[:, b]))
        total = np.logaddexp.reduce([score for _, score in ways])
        for path, score in ways:
            shares[np.arange(len(path)), b, list(path)] += np.exp(score - total)
    return shares


def _sample(frames, lengths, labels, label_lengths):
    """Examples with given numbers of frames, and for each label whether it repeats the last."""
    states = 2 * len(labels[0]) + 1
    entry = np.full((len(labels), states), NEVER)
    entry[:, 3::2] = np.where(np.array(labels)[:, 1:] == 0, 0.0, NEVER)
    ends = 2 * np.array(label_lengths)[:, None] - np.arange(states)
    final = np.where((ends == 0) | (ends == 1), 0.0, UNFINISHED)
    live = np.arange(frames)[:, None] < np.array(lengths)
    return Sample((draw.uniform(frames, len(labels), states), entry, final, live))


SAMPLES = [
    _sample(4, [4, 3], [[0, 0], [0, 1]], [2, 2]),
    _sample(3, [3, 1, 2], [[0], [0], [0]], [1, 1, 0]),
    _sample(2, [2], [[]], [0]),
]
FAILURES = [
    Failure(
        (draw.uniform(2, 1, 3), np.zeros((1, 3)), np.zeros((1, 3)), np.ones((3, 1), bool)),
        {},
        InvalidArgumentError,
        "shapes do not fit",
    ),
]

CASES = [
    Case(
        op="CTCLikelihood",
        samples=SAMPLES,
        reference=_likelihood,
        failures=FAILURES,
        dtypes=(),
        differentiable=("emissions",),
    ),
    Case(
        op="CTCOccupancy",
        samples=SAMPLES,
        reference=_occupancy,
        failures=FAILURES,
        dtypes=(),
        differentiable=("emissions",),
    ),
]
