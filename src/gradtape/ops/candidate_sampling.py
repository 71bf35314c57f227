"""Samples of classes for losses that do not look at all of them, with their expected counts.

With equal seeds the samples are TensorFlow's: the same Philox words, drawn in the same way.
"""

import math
from collections import namedtuple

import numpy as np

from ..core import random_seed
from ..core.convert import convert_to_tensor
from ..core.dtypes import int64
from ..core.effects import performed
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.philox import WORDS_PER_BLOCK, random_words
from ..core.tensor import EagerTensor
from .arguments import integer
from .families import shape_of

# How far TensorFlow's generator advances with each sample that is asked for.
_BLOCKS_PER_SAMPLE = 512
_FLOAT_MAX = np.finfo(np.float32).max


class _Words:
    """The 32-bit words of a stream, as many as are asked for."""

    def __init__(self, key, counter):
        self._key, self._counter = key, counter
        self._words = np.empty(0, np.uint32)

    def first(self, count):
        missing = count - len(self._words)
        if missing > 0:
            blocks = -(-missing // WORDS_PER_BLOCK)
            more = random_words(self._key, self._counter, blocks)
            self._counter += blocks
            self._words = np.concatenate([self._words, more])
        return self._words[:count]


class _Uniform:
    """Every class is as probable as any other."""

    def __init__(self, range_max):
        self._range = range_max
        self._is_uneven = range_max & (range_max - 1) != 0

    def probability(self, classes):
        return np.full(classes.shape, np.float32(1.0 / self._range))

    def draw(self, words):
        pairs = words.astype(np.uint64).reshape(-1, 2)
        numbers = pairs[:, 0] | pairs[:, 1] << np.uint64(32)
        # What is left over at the end of all numbers would favour some classes.
        whole = numbers >= np.uint64((2**64 - 1) % self._range + 1 if self._is_uneven else 0)
        return (numbers[whole] % np.uint64(self._range)).astype(np.int64)


class _LogUniform:
    """Class n has the probability log((n + 2) / (n + 1)) / log(range + 1), as words have."""

    def __init__(self, range_max):
        self._range, self._log_range = range_max, math.log1p(range_max)

    def probability(self, classes):
        return (np.log((classes + 2.0) / (classes + 1.0)) / self._log_range).astype(np.float32)

    def draw(self, words):
        pairs = words.astype(np.uint64).reshape(-1, 2)
        mantissas = (pairs[:, 0] & np.uint64(0xFFFFF)) << np.uint64(32) | pairs[:, 1]
        uniforms = mantissas.astype(np.float64) * 2.0**-52
        return (np.exp(uniforms * self._log_range).astype(np.int64) - 1) % self._range


class _Weighted:
    """Classes have given weights; drawn by Walker's alias method."""

    def __init__(self, weights):
        self._weights = np.asarray(weights, np.float32)
        self._total = float(np.sum(self._weights, dtype=np.float32))
        self._share, self._alias = _alias_table(self._weights.tolist())

    def probability(self, classes):
        return (self._weights[classes] / self._total).astype(np.float32)

    def draw(self, words):
        words = _with_fair_seconds(words, len(self._alias))
        uniforms = (words[::2] & np.uint32(0x7FFFFF)).astype(np.float32) * np.float32(2.0**-23)
        places = words[1::2] % np.uint32(len(self._alias))
        return np.where(uniforms < self._share[places], places, self._alias[places]).astype(
            np.int64
        )


def _alias_table(weights):
    """For each class the share of its column that is its own, and whose the rest is."""
    count, total = len(weights), sum(weights)
    share = [weight * count / total for weight in weights]
    alias = [-1] * count
    low = [i for i in range(count) if share[i] < 1.0]
    high = [i for i in range(count) if share[i] >= 1.0]
    while high and low:
        small, large = low.pop(), high.pop()
        alias[small] = large
        share[large] -= 1.0 - share[small]
        (low if share[large] < 1.0 else high).append(large)
    for rest in high + low:  # all but 1, but for rounding
        share[rest] = 1.0
    return np.array(share, np.float32), np.array(alias, np.int64)


def _unfair(limit):
    """Words below this number would favour some of the integers below `limit`."""
    return 0 if limit & (limit - 1) == 0 else (2**32 - 1) % limit + 1


def _with_fair_seconds(words, limit):
    """Pairs of words, without those second words that would favour some integers."""
    unfair = _unfair(limit)
    while True:
        found = np.flatnonzero(words[1::2] < unfair)
        if not len(found):
            return words[: len(words) // 2 * 2]
        words = np.delete(words, 2 * found[0] + 1)


class _Learned:
    """Classes are as probable as they were seen often, counting each once from the start."""

    def __init__(self, range_max):
        self._counts = np.ones(range_max, np.int64)

    def probability(self, classes):
        return (self._counts[classes] / np.float32(self._counts.sum())).astype(np.float32)

    def draw(self, words):
        ends = np.cumsum(self._counts)
        total = int(ends[-1])
        places = words[words >= _unfair(total)] % np.uint32(total)
        return np.searchsorted(ends, places, side="right")

    def learn(self, classes):
        np.add.at(self._counts, classes.reshape(-1), 1)


def _samples(sampler, words, count, unique):
    """`count` samples, different ones if so asked, and how many had to be drawn for them."""
    asked = 2 * count + 8
    while True:
        drawn = sampler.draw(words.first(2 * asked))
        if not unique:
            if len(drawn) >= count:
                return drawn[:count], count
        else:
            _, places = np.unique(drawn, return_index=True)
            if len(places) >= count:
                places = np.sort(places)[:count]
                return drawn[places], int(places[-1]) + 1
        asked *= 2


def _expected(probability, count, tries):
    """How often a class is expected among the samples."""
    if tries == count:
        return probability * np.float32(count)
    wide = probability.astype(np.float64)
    with np.errstate(divide="ignore"):
        return (-np.expm1(tries * np.log1p(-wide))).astype(np.float32)


def _check(op_name, true_classes, num_true, num_sampled, range_max):
    for what, number in (
        ("num_true", num_true), ("num_sampled", num_sampled), ("range_max", range_max),
    ):  # fmt: skip
        if number < 1:
            raise invalid_argument(
                op_name, f"Value for attr '{what}' of {number} must be at least minimum 1"
            )
    hint = None if hasattr(true_classes, "dtype") else int64
    classes = convert_to_tensor(true_classes, hint)
    if classes.dtype is not int64:
        raise invalid_argument(
            op_name,
            f"cannot compute {op_name} as input #0(zero-based) was expected to be a int64 tensor "
            f"but is a {classes.dtype.runtime_word} tensor",
        )
    if classes.ndim != 2:
        raise invalid_argument(op_name, f"true_classes must be a matrix: {shape_of(classes)}")
    if shape_of(classes)[1] != num_true:
        raise invalid_argument(
            op_name,
            f"true_classes must have num_true columns, expected: {shape_of(classes)[1]} was: "
            f"{num_true}",
        )
    array = np.asarray(classes._value)
    wrong = array[(array < 0) | (array >= range_max)]
    if wrong.size:
        raise invalid_argument(
            op_name, f"`true_candidate` out of range [0, {range_max}), received {wrong[0]}"
        )
    return array


def _sample(op_name, sampler, true_classes, num_sampled, unique, range_max, seed):
    """The three results all samplers have."""
    if unique and num_sampled > range_max:
        raise invalid_argument(op_name, "Sampler's range is too small.")
    key, counter = random_seed.reserve(
        (op_name, true_classes.shape[1], num_sampled, bool(unique), range_max),
        seed,
        _BLOCKS_PER_SAMPLE * num_sampled,
    )
    samples, tries = _samples(sampler, _Words(key, counter), num_sampled, unique)
    return _results(
        op_name,
        samples,
        _expected(sampler.probability(true_classes), num_sampled, tries),
        _expected(sampler.probability(samples), num_sampled, tries),
    )


def _results(op_name, *arrays):
    return _KINDS[op_name](*map(EagerTensor, arrays))


_KINDS = {
    name: namedtuple(
        name, "sampled_candidates true_expected_count sampled_expected_count", module=__name__
    )
    for name in (
        "AllCandidateSampler", "FixedUnigramCandidateSampler", "LearnedUnigramCandidateSampler",
        "LogUniformCandidateSampler", "UniformCandidateSampler",
    )
}  # fmt: skip


@export("random.uniform_candidate_sampler")
@performed("UniformCandidateSampler")
def uniform_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None
):
    """Samples classes from 0 to `range_max` - 1, all with equal probability.

    Args:
        true_classes: an int64 matrix (examples, num_true) of classes to count too.
        num_true: the number of its columns.
        num_sampled: how many classes to sample.
        unique: whether all samples are different.
        range_max: the number of classes.
        seed: an integer, for the same samples in every run.

    Returns:
        The samples, how often each true class is expected among them, and each sample.

    Raises:
        InvalidArgumentError: the shapes do not fit, a class does not exist, or there are not
            enough classes for different samples.
    """
    return _simple("UniformCandidateSampler", _Uniform, true_classes, num_true, num_sampled,
                   unique, range_max, seed)  # fmt: skip


@export("random.log_uniform_candidate_sampler")
@performed("LogUniformCandidateSampler")
def log_uniform_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None
):
    """Samples classes with probabilities that fall as those of words by rank.

    Class n has the probability log((n + 2) / (n + 1)) / log(range_max + 1). Arguments and results
    are those of `tf.random.uniform_candidate_sampler`.
    """
    return _simple("LogUniformCandidateSampler", _LogUniform, true_classes, num_true, num_sampled,
                   unique, range_max, seed)  # fmt: skip


def _simple(op_name, kind, true_classes, num_true, num_sampled, unique, range_max, seed):
    num_true, num_sampled = integer(num_true, op_name), integer(num_sampled, op_name)
    range_max = integer(range_max, op_name)
    classes = _check(op_name, true_classes, num_true, num_sampled, range_max)
    return _sample(op_name, kind(range_max), classes, num_sampled, unique, range_max, seed)


@export("random.learned_unigram_candidate_sampler nn.learned_unigram_candidate_sampler")
@performed("LearnedUnigramCandidateSampler")
def learned_unigram_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None
):
    """Samples classes as often as they were among the true ones before.

    Calls with equal arguments go on counting together, until `tf.random.set_seed`. Arguments and
    results are those of `tf.random.uniform_candidate_sampler`.
    """
    op_name = "LearnedUnigramCandidateSampler"
    num_true, num_sampled = integer(num_true, op_name), integer(num_sampled, op_name)
    range_max = integer(range_max, op_name)
    classes = _check(op_name, true_classes, num_true, num_sampled, range_max)
    key = (num_true, num_sampled, bool(unique), range_max, seed)
    sampler = _learned.setdefault(key, _Learned(range_max))
    results = _sample(op_name, sampler, classes, num_sampled, unique, range_max, seed)
    sampler.learn(classes)
    return results


_learned: dict = {}
random_seed.also_reset(_learned.clear)


@export("random.fixed_unigram_candidate_sampler nn.fixed_unigram_candidate_sampler")
@performed("FixedUnigramCandidateSampler")
def fixed_unigram_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, vocab_file="", distortion=1.0,
    num_reserved_ids=0, num_shards=1, shard=0, unigrams=(), seed=None, name=None,
):  # fmt: skip
    """Samples classes with given weights.

    Args:
        true_classes: an int64 matrix (examples, num_true) of classes to count too.
        num_true: the number of its columns.
        num_sampled: how many classes to sample.
        unique: whether all samples are different.
        range_max: the number of classes.
        vocab_file: a file with a line for each class, the weight behind its last comma.
        distortion: the power of the weights to use.
        num_reserved_ids: how many classes of weight 0 to put before the others.
        num_shards: with `shard`, takes only every num_shards-th class, from `shard` on.
        shard: see `num_shards`.
        unigrams: the weights, in the place of a file.
        seed: an integer, for the same samples in every run.

    Returns:
        The samples, how often each true class is expected among them, and each sample.

    Raises:
        InvalidArgumentError: there are no weights or not `range_max`; or see
            `tf.random.uniform_candidate_sampler`.
    """
    op_name = "FixedUnigramCandidateSampler"
    unigrams = [float(weight) for weight in unigrams]
    if bool(vocab_file) == bool(unigrams):
        text = "Must provide either vocab_file or unigrams."
        raise invalid_argument(op_name, f"{text} Received both." if unigrams else text)
    given = _weights_in(vocab_file) if vocab_file else unigrams
    powers = [0.0] * num_reserved_ids + [weight**distortion for weight in given]
    weights = powers[shard::num_shards]
    num_true, num_sampled = integer(num_true, op_name), integer(num_sampled, op_name)
    range_max = integer(range_max, op_name)
    if len(weights) != range_max:
        raise invalid_argument(
            op_name, f"range is {range_max} must be equal to weights size  {len(weights)}"
        )
    classes = _check(op_name, true_classes, num_true, num_sampled, range_max)
    sampler = _Weighted(weights)
    if unique and num_sampled > np.count_nonzero(weights):
        raise invalid_argument(op_name, "Sampler's range is too small.")
    return _sample(op_name, sampler, classes, num_sampled, unique, range_max, seed)


def _weights_in(path):
    with open(path, encoding="utf-8") as lines:
        return [float(line.rstrip().rpartition(",")[2]) for line in lines if line.strip()]


@export("random.all_candidate_sampler nn.all_candidate_sampler")
@performed("AllCandidateSampler")
def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None):
    """All classes from 0 to `num_sampled` - 1, each expected once.

    Arguments and results are those of `tf.random.uniform_candidate_sampler`.
    """
    op_name = "AllCandidateSampler"
    num_true, num_sampled = integer(num_true, op_name), integer(num_sampled, op_name)
    classes = _check(op_name, true_classes, num_true, num_sampled, num_sampled)
    random_seed.seeds(seed)  # TensorFlow draws a seed here too
    return _results(
        op_name,
        np.arange(num_sampled),
        np.ones(classes.shape, np.float32),
        np.ones(num_sampled, np.float32),
    )


AccidentalHits = namedtuple("ComputeAccidentalHits", "indices ids weights", module=__name__)


@export("nn.compute_accidental_hits")
@performed("ComputeAccidentalHits")
def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """Where samples are among the true classes.

    Args:
        true_classes: an int64 matrix (examples, num_true).
        sampled_candidates: the samples, a vector.
        num_true: the number of columns of `true_classes`.
        seed: accepted for compatibility.

    Returns:
        For each hit its example, the position of the sample, and a very negative weight.

    Raises:
        InvalidArgumentError: the shapes do not fit.
    """
    op_name = "ComputeAccidentalHits"
    classes = np.asarray(convert_to_tensor(true_classes, dtype_hint=int64)._value)
    samples = np.asarray(convert_to_tensor(sampled_candidates, dtype_hint=int64)._value)
    if classes.ndim != 2 or classes.shape[1] != integer(num_true, op_name):
        raise invalid_argument(
            op_name, f"true_candidates must be a batch_size * num_true matrix: {classes.shape}"
        )
    if samples.ndim != 1:
        raise invalid_argument(op_name, f"sampled_candidates must be a vector: {samples.shape}")
    random_seed.seeds(seed)  # TensorFlow draws a seed here too
    known, places = np.unique(samples[::-1], return_index=True)  # the last of equal samples
    place = np.searchsorted(known, classes)
    hit = place < len(known)
    hit[hit] = known[place[hit]] == classes[hit]
    ids = len(samples) - 1 - places[place[hit]]
    weights = np.full(len(ids), -_FLOAT_MAX, np.float32)
    return AccidentalHits(
        EagerTensor(np.nonzero(hit)[0].astype(np.int32)),
        EagerTensor(ids.astype(np.int64)),
        EagerTensor(weights),
    )
