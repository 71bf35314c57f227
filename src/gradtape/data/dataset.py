"""Dataset: what all datasets have in common. Transformations add themselves as methods."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.exports import export
from ..core.tensor import EagerTensor
from .iterator import NumpyIterator, OwnedIterator, check_numpy
from .specs import DatasetSpec, ElementsComposite, leave_trace, unboxed

INFINITE, UNKNOWN = -1, -2
AUTOTUNE = -1

export("data.AUTOTUNE data.experimental.AUTOTUNE", AUTOTUNE)
export("data.INFINITE_CARDINALITY data.experimental.INFINITE_CARDINALITY", INFINITE)
export("data.UNKNOWN_CARDINALITY data.experimental.UNKNOWN_CARDINALITY", UNKNOWN)


@export("data.Dataset")
class Dataset(ElementsComposite):
    """A sequence of elements, perhaps without end, each a structure of tensors.

    Made by `from_tensor_slices` and its like, and from other datasets by their methods; nothing is
    computed before it is iterated over, and every iteration starts anew.

    Example:
        >>> squares = Dataset.range(5).map(lambda x: x * x).batch(3)
        >>> [batch.numpy().tolist() for batch in squares]
        [[0, 1, 4], [9, 16]]
    """

    _spec_class = DatasetSpec
    _inputs: tuple["Dataset", ...] = ()
    # What the class was called with: datasets made alike have the same fingerprint.
    _made_with: tuple[tuple, dict]

    def __new__(cls, *args, **kwargs):
        dataset = super().__new__(cls)
        dataset._made_with = args, kwargs
        return dataset

    def __init__(self, *inputs):
        if type(self) is Dataset:
            raise TypeError("Datasets are made by functions such as Dataset.from_tensor_slices().")
        leave_trace()
        self._inputs = inputs

    @classmethod
    def _from_tensor(cls, tensor, element_spec):
        if type(tensor) is not EagerTensor:
            leave_trace()
        found = unboxed(tensor._value)
        return found if isinstance(found, Dataset) else VariantDataset(None, element_spec)

    # What a kind of dataset says of itself ------------------------------------------------------

    # What `element_spec` gives, unless a kind has a property of that name: set when it is made, or
    # found once.
    _spec: Any

    @property
    def element_spec(self) -> Any:
        """The structure of an element, with specs in the place of tensors."""
        return self._spec

    def _elements(self) -> Iterator[tuple]:
        """An iterator over the elements, as flat tuples of leaves, from the first one on.

        It must survive an error: after the exception of one element comes the next. Generators
        do not, so pull elements with `map`, itertools, or `iter(function, END)`.
        """
        raise NotImplementedError(f"{type(self).__name__}._elements()")

    def _count(self) -> int:
        """How many elements there are, INFINITE or UNKNOWN."""
        return UNKNOWN

    def _rows(self) -> tuple[list[np.ndarray], Callable[[], Iterator[int]]] | None:
        """If all elements are rows of arrays in memory: these, and a function to go through them.

        The function gives an iterator over row numbers from the first element on. Batches are
        made of many rows at a time by it, which is far quicker than from elements.
        """
        return None

    # Going through it ---------------------------------------------------------------------------

    def __iter__(self):
        return OwnedIterator(self)

    def as_numpy_iterator(self):
        """An iterator over elements with NumPy arrays in the place of tensors.

        Raises:
            TypeError: a part of the elements has no such array, as datasets have none.
        """
        from .functions import known_spec  # functions are made with datasets

        spec = known_spec(self)
        if spec is not None:
            check_numpy(spec)
        return NumpyIterator(self)

    def __len__(self):
        count = self._count()
        if count == INFINITE:
            raise TypeError("The dataset is infinite.")
        if count == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return count

    def __bool__(self):
        return True

    def cardinality(self):
        """How many elements there are, as far as can be told without going through them.

        Returns:
            An int64 tensor; tf.data.INFINITE_CARDINALITY or tf.data.UNKNOWN_CARDINALITY else.
        """
        return EagerTensor(np.int64(self._count()))

    def apply(self, transformation_func):
        """What a function makes of this dataset.

        Raises:
            TypeError: it makes something else than a dataset of it.
        """
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(
                "`transformation_func` must return a `tf.data.Dataset` object. "
                f"Got {type(dataset)}."
            )
        return dataset

    def __repr__(self):
        return f"<_{type(self).__name__.lstrip('_')} element_spec={self.element_spec}>"


DatasetSpec.value_type = Dataset


class VariantDataset(Dataset):
    """A dataset that was in a tensor, with the spec its elements are said to have.

    Without a source it only shows what a dataset would look like.
    """

    def __init__(self, source, element_spec):
        self._inputs = () if source is None else (source,)
        self._spec = element_spec

    def _elements(self):
        return self._inputs[0]._elements()

    def _count(self):
        return self._inputs[0]._count()

    def _rows(self):
        return self._inputs[0]._rows()


class SameElements(Dataset):
    """A dataset whose elements look like those of its input."""

    def __init__(self, source):
        super().__init__(source)
        self._input = source

    @property
    def element_spec(self):
        return self._input.element_spec


class Reordered(SameElements):
    """A dataset that passes on elements of its input: some of them, in some order."""

    def _reordered(self, begin: Callable[[], Iterator]) -> Iterator:
        """Passes on items; `begin` gives an iterator over them from the first one on."""
        raise NotImplementedError(f"{type(self).__name__}._reordered()")

    def _elements(self):
        return self._reordered(self._input._elements)

    def _rows(self):
        rows = self._input._rows()
        if rows is None:
            return None
        columns, begin = rows
        return columns, lambda: self._reordered(begin)


def method(function):
    """Makes a function a method of all datasets."""
    setattr(Dataset, function.__name__, _never_traced(function))
    return function


def constructor(function):
    """Makes a function a way to make datasets: `tf.data.Dataset.range`."""
    setattr(Dataset, function.__name__, staticmethod(_never_traced(function)))
    return function


def _never_traced(function):
    """`function`, which has a function that is being traced run as Python."""

    @functools.wraps(function)
    def checked(*args, **kwargs):
        leave_trace()
        return function(*args, **kwargs)

    return checked
