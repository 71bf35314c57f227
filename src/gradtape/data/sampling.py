"""Random numbers, and elements drawn at random from several datasets."""

import bisect
import itertools

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import float32, float64, int64
from ..core.exports import export
from ..core.philox import key_and_counter_from_seed, random_words
from ..core.samplers import categorical
from ..core.spec import TensorSpec
from ..core.tensor import Tensor
from ..ops.elementwise import log
from .combining import DirectedInterleaveDataset
from .dataset import INFINITE, Dataset, constructor
from .shuffling import Seeds, stream_of_words


class RandomDataset(Dataset):
    """Random int64 numbers below 2**32, without end."""

    def __init__(self, seed=None, rerandomize_each_iteration=None, name=None):
        super().__init__()
        self._seeds = Seeds(seed, bool(rerandomize_each_iteration))

    @property
    def element_spec(self):
        return TensorSpec((), int64)

    def _elements(self):
        return zip(map(np.int64, self._numbers()))

    def _numbers(self):
        return stream_of_words(*self._seeds.draw())

    def _count(self):
        return INFINITE


export("data.experimental.RandomDataset", RandomDataset)


@constructor
def random(seed=None, rerandomize_each_iteration=None, name=None):
    """Random int64 numbers below 2**32, without end.

    Args:
        seed: makes them the same in each run of the program, with `tf.random.set_seed`.
        rerandomize_each_iteration: whether each iteration has other numbers.
        name: not used.
    """
    return RandomDataset(seed, rerandomize_each_iteration)


class Choices(Dataset):
    """Numbers of datasets, drawn at random.

    Args:
        begin: gives an iterator over logits, arrays of shape [1, datasets].
        numbers: a RandomDataset, of which each two numbers are the seed of a choice.
        inputs: what the logits are made of.
    """

    def __init__(self, begin, numbers, *inputs):
        super().__init__(*inputs, numbers)
        self._begin, self._numbers = begin, numbers

    @property
    def element_spec(self):
        return TensorSpec((), int64)

    def _elements(self):
        logits = self._begin()
        numbers = self._numbers._numbers()
        return zip(map(_choice, logits, numbers, numbers))

    def _count(self):
        return INFINITE


def _choice(logits, first, second):
    key, counter = key_and_counter_from_seed(first, second)
    return categorical(key, counter, 1, logits)[0, 0]


class _SteadyChoices(Choices):
    """The same where the logits do not change."""

    def __init__(self, logits, numbers):
        super().__init__(None, numbers)
        finite = np.where(np.isfinite(logits), logits, -np.inf).astype(np.float64)
        highest = finite.max()
        weights = np.exp(finite - (highest if np.isfinite(highest) else 0.0))
        self._steps = np.cumsum(weights).tolist()

    def _elements(self):
        numbers = self._numbers._numbers()
        return zip(map(self._chosen, numbers, numbers))

    def _chosen(self, first, second):
        high, low = random_words(*key_and_counter_from_seed(first, second), 1)[:2].tolist()
        uniform = ((high & 0xFFFFF) << 32 | low) * 2.0**-52
        return bisect.bisect_right(self._steps, uniform * self._steps[-1])


@constructor
def sample_from_datasets(
    datasets,
    weights=None,
    seed=None,
    stop_on_empty_dataset=False,
    rerandomize_each_iteration=None,
):
    """Elements of several datasets, each from one drawn at random.

    Args:
        datasets: a list of datasets whose elements look alike.
        weights: the probability of each; a list, a tensor, or a dataset of such, one for each
            choice. None for equal ones.
        seed: makes the choices the same in each run of the program, with `tf.random.set_seed`.
        stop_on_empty_dataset: whether the end of one dataset is the end; else the others go on.
        rerandomize_each_iteration: whether each iteration makes other choices.

    Raises:
        TypeError: `weights` are no floats, or elements do not look alike.
        ValueError: no datasets, or not as many `weights`.
    """
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")

    def numbers():
        return RandomDataset(seed, rerandomize_each_iteration)

    if isinstance(weights, Dataset):
        selector = _varying_choices(weights, numbers)
    else:
        datasets, logits = _with_logits(datasets, weights)
        if len(datasets) == 1:
            return datasets[0]
        selector = _SteadyChoices(logits, numbers())
    return DirectedInterleaveDataset(selector, list(datasets), stop_on_empty_dataset)


def _varying_choices(weights, numbers):
    logits = weights.map(lambda *parts: log(convert_to_tensor(parts)))
    rank = logits.element_spec.shape.rank
    if rank not in (None, 2):
        raise ValueError(f"Shape must be rank 2 but is rank {rank} for logits.")

    def begin():
        return itertools.chain.from_iterable(logits._elements())

    return Choices(begin, numbers(), logits)


def _with_logits(datasets, weights):
    """Datasets that may be drawn, and the logarithms of their weights."""
    if weights is None:
        return datasets, np.ones(len(datasets), np.float32)
    if isinstance(weights, Tensor):
        if not weights.shape.is_compatible_with([len(datasets)]):
            raise ValueError(
                "Invalid `weights`. The shape of `weights` should be compatible with "
                f"`[len(datasets)]` but is {weights.shape}."
            )
    elif len(datasets) != len(weights):
        raise ValueError(
            "Invalid `weights`. `weights` should have the same length as `datasets` but got "
            f"`len(weights)={len(weights)}` vs. `len(datasets)={len(datasets)}`."
        )
    else:
        kept = [pair for pair in zip(datasets, weights, strict=True) if pair[1] > 0]
        if kept:
            datasets, weights = zip(*kept, strict=True)
        else:
            datasets, weights = [datasets[0].take(0)], [1.0]
    found = convert_to_tensor(weights)
    if found.dtype not in (float32, float64):
        raise TypeError(
            "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is "
            f"{found.dtype}."
        )
    return datasets, np.asarray(log(found)._value)


@export("data.experimental.sample_from_datasets")
def _sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False):
    """`Dataset.sample_from_datasets`."""
    return sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)
