"""Several datasets as one: zip, enumerate, concatenate, choose_from_datasets and such."""

import builtins
import functools
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core import nest
from ..core.dtypes import int64, string
from ..core.errors import InvalidArgumentError
from ..core.exports import export
from ..core.spec import TensorSpec
from ..core.tensor import EagerTensor
from .batches import element_error
from .dataset import INFINITE, UNKNOWN, Dataset, constructor, method
from .elements import common_spec, structure_leaves
from .functions import known_spec
from .selection import number
from .sources import RangeDataset, TensorSliceDataset

_END = object()


# zip ----------------------------------------------------------------------------------------------


class ZipDataset(Dataset):
    def __init__(self, datasets):
        inputs = structure_leaves(datasets)
        for dataset in inputs:
            _check_is_dataset(dataset)
        if not inputs:
            raise InvalidArgumentError(
                None,
                None,
                "Length for attr 'output_types' of 0 must be at least minimum 1 "
                "[Op:ZipDataset] name: ",
            )
        super().__init__(*inputs)
        self._structure = datasets

    @property
    def element_spec(self):
        specs = [dataset.element_spec for dataset in self._inputs]
        return nest.pack_sequence_as(self._structure, specs)

    def _elements(self):
        if len(self._inputs) == 1:
            return self._inputs[0]._elements()
        iterators = [dataset._elements() for dataset in self._inputs]
        return iter(functools.partial(_next_of_all, iterators), _END)

    def _count(self):
        counts = [dataset._count() for dataset in self._inputs]
        if UNKNOWN in counts:
            return UNKNOWN
        return min([count for count in counts if count != INFINITE], default=INFINITE)

    def _rows(self):
        columns = self._columns(self._count())
        if columns is None:
            return None
        size = len(columns[0])
        return columns, lambda: iter(range(size))

    def _columns(self, count):
        """The elements as arrays, if the inputs are arrays and numbers in their order."""
        found = [_columns_of(dataset, count) for dataset in self._inputs]
        if None in found or all([isinstance(each, RangeDataset) for each in self._inputs]):
            return None
        return [column for columns in found if columns for column in columns]


def _columns_of(dataset, count):
    """The first elements of a dataset as rows of arrays in this order, or None."""
    if isinstance(dataset, ZipDataset):
        columns = dataset._columns(dataset._count())
    elif isinstance(dataset, RangeDataset):
        numbers = dataset._numbers[:count]
        dtype = dataset._dtype.numpy_dtype
        return [np.arange(numbers.start, numbers.stop, numbers.step, dtype=dtype)]
    elif type(dataset) is TensorSliceDataset:
        rows = dataset._rows()
        columns = None if rows is None else rows[0]
    else:
        return None
    return None if columns is None else [column[:count] for column in columns]


def _check_is_dataset(dataset):
    if isinstance(dataset, Dataset):
        return
    intro = (
        "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
        "`tf.data.Dataset` objects"
    )
    if isinstance(dataset, list):
        raise TypeError(
            f"{intro}. Python `list` is not supported and you should use `tuple` instead."
        )
    raise TypeError(f"{intro} but encountered object of type {type(dataset)}.")


def _next_of_all(iterators):
    """An element of each, joined. All go on even if one fails, to stay in step."""
    leaves, failure = (), None
    for iterator in iterators:
        try:
            leaves += next(iterator)
        except StopIteration:
            if failure is None:
                raise
        except Exception as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return leaves


@constructor
def zip(*args, datasets=None, name=None):
    """Elements of several datasets side by side, as many as the shortest one has.

    Args:
        *args: datasets, or one structure of datasets.
        datasets: that structure.

    Raises:
        TypeError: something else than a dataset is among them.

    Example:
        >>> [(int(a), int(b)) for a, b in Dataset.zip(Dataset.range(2), Dataset.range(5, 9))]
        [(0, 5), (1, 6)]
    """
    if not args and datasets is None:
        raise TypeError("Must pass at least one dataset to `zip`.")
    if args and datasets is not None:
        raise TypeError("Both `*args` and `datasets` cannot be set.")
    if len(args) == 1:
        datasets = args[0]
    elif args:
        datasets = args
    return ZipDataset(datasets)


class _Numbers(RangeDataset):
    """More numbers than anybody counts."""

    def _elements(self):
        return builtins.zip(map(np.int64, self._numbers))

    def _count(self):
        return INFINITE


@method
def enumerate(self, start=0, name=None):
    """Pairs of a number, counted from `start` on, and an element.

    Example:
        >>> [(int(i), int(x)) for i, x in Dataset.range(5, 7).enumerate(start=1)]
        [(1, 5), (2, 6)]
    """
    first = number(start, "start", "RangeDataset")
    return ZipDataset((_Numbers(range(first, 2**63 - 1), int64), self))


@export("data.experimental.enumerate_dataset")
def enumerate_dataset(start=0):
    """`Dataset.enumerate` as a function for `Dataset.apply`."""
    return lambda dataset: dataset.enumerate(start)


# concatenate --------------------------------------------------------------------------------------


class ConcatenateDataset(Dataset):
    def __init__(self, first, second):
        super().__init__(first, second)
        known_spec(self)

    @functools.cached_property
    def _spec(self):
        first, second = [dataset.element_spec for dataset in self._inputs]
        try:
            return common_spec([first, second])
        except (TypeError, ValueError, AttributeError) as error:
            raise TypeError(f"Incompatible dataset elements:\n  {first} vs.   {second}") from error

    def _parts(self):
        """The datasets that come one after the other, however many steps joined them.

        A loop may have appended thousands, one by one: that is too deep for calls in calls.
        """
        parts, first = [], self
        while type(first) is ConcatenateDataset:
            first, second = first._inputs
            parts.append(second)
        return [first, *reversed(parts)]

    def _elements(self):
        # Each one starts when the one before it has ended.
        return itertools.chain.from_iterable(dataset._elements() for dataset in self._parts())

    def _count(self):
        counts = [dataset._count() for dataset in self._parts()]
        if INFINITE in counts:
            return INFINITE
        return UNKNOWN if UNKNOWN in counts else sum(counts)


@method
def concatenate(self, dataset, name=None):
    """The elements of this dataset, and after them those of another.

    Raises:
        TypeError: elements have different structures or dtypes.
    """
    return ConcatenateDataset(self, dataset)


# choose_from_datasets -----------------------------------------------------------------------------


class DirectedInterleaveDataset(Dataset):
    """Elements of datasets, each of the one whose number another dataset gives."""

    def __init__(self, choices, datasets, stop_on_empty_dataset):
        super().__init__(choices, *datasets)
        self._stops = stop_on_empty_dataset
        known_spec(self)

    @functools.cached_property
    def _spec(self):
        specs = [dataset.element_spec for dataset in self._inputs[1:]]
        found = specs[0]
        for i, spec in builtins.enumerate(specs):
            try:
                found = common_spec([found, spec])
            except (TypeError, ValueError, AttributeError) as error:
                raise TypeError(
                    "Invalid `datasets`. `datasets` must have compatible element specs.\n Dataset "
                    f"0 element_spec={specs[0]}.\nDataset {i} element_spec={spec}."
                ) from error
        return found

    def _elements(self):
        choices, *datasets = [dataset._elements() for dataset in self._inputs]
        return _Chosen(choices, datasets, self._stops)

    def _count(self):
        counts = [dataset._count() for dataset in self._inputs[1:]]
        return INFINITE if INFINITE in counts else UNKNOWN


class _Chosen:
    def __init__(self, choices, iterators, stops):
        self._choices, self._iterators, self._stops = choices, iterators, stops
        self._left = len(iterators)

    def __iter__(self):
        return self

    def __next__(self):
        while self._left:
            choice = int(next(self._choices)[0])
            if not 0 <= choice < len(self._iterators):
                raise element_error(
                    InvalidArgumentError,
                    f"Selector index out of range: {choice} >= {len(self._iterators)}",
                )
            iterator = self._iterators[choice]
            if iterator is None:
                continue
            for element in iterator:
                return element
            self._iterators[choice] = None
            self._left = 0 if self._stops else self._left - 1
        raise StopIteration


@constructor
def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
    """Elements of several datasets, each of the one whose number `choice_dataset` gives.

    Args:
        datasets: a list of datasets.
        choice_dataset: a dataset of int64 scalars.
        stop_on_empty_dataset: whether all ends when a dataset is chosen that has no element left;
            otherwise that choice is passed over.

    Raises:
        ValueError: there are no datasets.
        TypeError: elements have different structures or dtypes, or choices are no int64 scalars.

    Example:
        >>> choices = Dataset.range(2).repeat(2)
        >>> chosen = Dataset.choose_from_datasets([Dataset.range(9), Dataset.range(5, 9)], choices)
        >>> [int(x) for x in chosen]
        [0, 5, 1, 6]
    """
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    if not isinstance(choice_dataset, Dataset):
        raise TypeError(
            "Invalid `choice_dataset`. `choice_dataset` should be a `tf.data.Dataset` but is "
            f"{type(choice_dataset)}."
        )
    spec = choice_dataset.element_spec
    if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(TensorSpec((), int64)):
        raise TypeError(
            "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` "
            f"tensors but are {spec}."
        )
    return DirectedInterleaveDataset(choice_dataset, list(datasets), stop_on_empty_dataset)


@export("data.experimental.choose_from_datasets")
def experimental_choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=False):
    """`Dataset.choose_from_datasets`, with another default."""
    return choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


# pad_to_cardinality -------------------------------------------------------------------------------


@export("data.experimental.pad_to_cardinality")
def pad_to_cardinality(cardinality, mask_key="valid"):
    """Adds elements of zeros until there are `cardinality`, and to each whether it is real.

    Args:
        cardinality: how many elements there shall be.
        mask_key: the key in elements, which are dictionaries, that says True or False.

    Returns:
        A function for `Dataset.apply`.

    Example:
        >>> padded = Dataset.from_tensor_slices({"a": [5]}).apply(pad_to_cardinality(2))
        >>> [(int(x["a"]), bool(x["valid"])) for x in padded]
        [(5, True), (0, False)]
    """

    def apply(dataset):
        count = dataset._count()
        if count < 0:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a known cardinalty, but "
                f"has cardinality {count}"
            )
        if count > cardinality:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a cardinalty less than "
                f"the target cardinality ({cardinality}), but has cardinality {count}"
            )
        spec = dataset.element_spec
        if not isinstance(spec, Mapping):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        zeros: Any = nest.map_structure(_zeros, spec)
        filler = Dataset.from_tensors({**zeros, mask_key: False})  # pyright: ignore[reportAttributeAccessIssue]
        real = dataset.map(lambda element: {**element, mask_key: True})
        return real.concatenate(filler.repeat(int(cardinality) - count))

    return apply


def _zeros(spec):
    shape = getattr(spec, "shape", None)
    if shape is None or not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    if spec.dtype == string:
        return EagerTensor(np.full(shape.as_list(), b"", object))
    return EagerTensor(np.zeros(shape.as_list(), spec.dtype.numpy_dtype)[()])
