"""Elements left out at random, so that classes come as often as wanted: rejection_resample.

An element is taken from the dataset as it is, or from what is left when some of each class are
rejected; both are chosen so that as few as possible are (see `_acceptance`).
"""

import itertools
import operator
import sys

import numpy as np

from ..core import random_seed
from ..core.convert import convert_to_tensor
from ..core.distributions import BLOCKS_PER_SAMPLE
from ..core.dtypes import float32
from ..core.errors import InvalidArgumentError
from ..core.exports import export
from ..core.philox import random_words_at
from ..ops.casting import cast
from .combining import DirectedInterleaveDataset
from .dataset import SameElements, method
from .sampling import Choices, RandomDataset
from .selection import pass_over
from .shuffling import unpredictable

_END = object()
# An estimate is made for so many elements, from those before and with them.
_ESTIMATE_SIZE = 32
# So many elements of each class are taken to have been seen before the first one.
_SEEN_BEFORE = 10
_MOST_WARNINGS = 10
_DRAWS_AT_ONCE = 256


@method
def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
    """Leaves out elements at random, so that classes come as often as wanted.

    Args:
        class_func: gives the class of an element, an int32 scalar.
        target_dist: how often each class is to come, relative to all.
        initial_dist: how often it comes now; estimated if it is None.
        seed: makes the choices the same in each run of the program, with `tf.random.set_seed`.
        name: not used.

    Returns:
        A dataset of tuples: the class, and the element.
    """

    def with_class(*parts):
        return class_func(*parts), parts[0] if len(parts) == 1 else parts

    target = _distribution(target_dist)
    if initial_dist is None:
        estimates = _Estimates(self.map(class_func), len(target))
        original = None
    else:
        estimates = _Known(_distribution(initial_dist))
        original = _acceptance(estimates.distribution, target)[1]
    all_elements = self.map(with_class)
    if original == 1:
        return all_elements
    accepted = _AcceptedDataset(self.map(with_class), estimates, target, seed)
    if original == 0:
        return accepted

    def logits():
        return map(_logits, estimates.begin(), itertools.repeat(target))

    choices = Choices(logits, RandomDataset(seed), *estimates.inputs)
    return DirectedInterleaveDataset(choices, [all_elements, accepted], True)


@export("data.experimental.rejection_resample")
def _rejection_resample(class_func, target_dist, initial_dist=None, seed=None):
    """A transformation for `Dataset.apply`: `Dataset.rejection_resample`."""
    return lambda data: data.rejection_resample(class_func, target_dist, initial_dist, seed)


def _distribution(values):
    return np.asarray(cast(convert_to_tensor(values), float32)._value)


def _acceptance(initial, target):
    """How likely each class is accepted, and how likely an element is taken as it is."""
    ratios = target / (initial + np.finfo(np.float32).tiny)
    lowest = ratios.min()
    with np.errstate(invalid="ignore"):
        return (ratios - lowest) / (ratios.max() - lowest), lowest


def _logits(initial, target):
    original = _acceptance(initial, target)[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(np.array([[original, 1 - original]], np.float32))


class _Known:
    """How often classes come, where the user says it."""

    inputs = ()

    def __init__(self, distribution):
        self.distribution = distribution

    def begin(self):
        """An iterator over distributions, one for each element."""
        return itertools.repeat(self.distribution)

    def pass_over(self):
        """Draws the seeds of an iteration that is not made."""


class _Estimates:
    """How often classes come, estimated from a dataset of classes as they come."""

    def __init__(self, classes, count):
        self._classes, self._number = classes, count
        self.inputs = (classes,)

    def begin(self):
        """An iterator over distributions, one for each element."""
        source = self._classes._elements()
        seen = np.full(self._number, _SEEN_BEFORE, np.int64)
        group, distribution, left = [], None, 0

        def pull():
            nonlocal distribution, left
            if not left:
                # If an element raises an error, those before it are kept.
                group.extend(itertools.islice(source, _ESTIMATE_SIZE - len(group)))
                if not group:
                    raise StopIteration
                for (number,) in group:
                    if 0 <= number < len(seen):
                        seen[number] += 1
                group.clear()
                distribution, left = (seen / seen.sum()).astype(np.float32), _ESTIMATE_SIZE
            left -= 1
            return (distribution,)

        return map(operator.itemgetter(0), iter(pull, _END))

    def pass_over(self):
        """Draws the seeds of an iteration that is not made."""
        pass_over(self._classes)


class _AcceptedDataset(SameElements):
    """Elements, the first leaf of which is their class, without those that are rejected."""

    def __init__(self, source, estimates, target, seed):
        super().__init__(source)
        self._inputs = (*estimates.inputs, source)
        self._estimates, self._target = estimates, target
        self._pair = _seeds_in_graph(seed)
        self._warnings = 0

    def _elements(self):
        distributions = self._estimates.begin()
        # TensorFlow goes through the estimates once more, to tell if much is rejected.
        self._estimates.pass_over()
        draws = _uniforms(*(self._pair or unpredictable()))
        pairs = zip(distributions, self._input._elements())  # noqa: B905 - the shorter one ends it
        return map(operator.itemgetter(1), filter(lambda pair: self._accepts(*pair, draws), pairs))

    def _accepts(self, initial, leaves, draws):
        accepted, _ = _acceptance(initial, self._target)
        self._warn(accepted, initial)
        number = leaves[0]
        if not 0 <= number < len(accepted):
            raise InvalidArgumentError(
                None,
                None,
                f"indices = {number} is not in [0, {len(accepted)}) [Op:IteratorGetNext] name: ",
            )
        return next(draws) < accepted[number]

    def _warn(self, accepted, initial):
        rejected = ((1 - accepted) * initial).sum()
        if rejected < 0.5 or self._warnings >= _MOST_WARNINGS:
            return
        self._warnings += 1
        parts = "".join([f"[{np.array2string(np.asarray(part))}]" for part in (initial, accepted)])
        print(
            f"Proportion of examples rejected by sampler is high: [{rejected}]{parts}",
            file=sys.stderr,
        )


def _seeds_in_graph(seed):
    """The seeds of the first random op in a graph, whose own seed is 0 there; None without any."""
    if seed is not None:
        return random_seed.seeds(seed)
    before = random_seed.capture()
    is_seeded = random_seed.seeds()[0] is not None
    before.restore()
    return random_seed.seeds(0) if is_seeded else None


def _uniforms(key, second):
    """What an op that draws one float32 at a time gives."""
    offsets = np.arange(_DRAWS_AT_ONCE) * BLOCKS_PER_SAMPLE
    for start in itertools.count(second << 64, _DRAWS_AT_ONCE * BLOCKS_PER_SAMPLE):
        words = random_words_at(key, start, offsets)[:, 0]
        floats = (words & np.uint32(0x7FFFFF) | np.uint32(0x3F800000)).view(np.float32)
        yield from floats - np.float32(1)
