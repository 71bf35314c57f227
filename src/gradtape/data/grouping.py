"""Elements with the same key, some at a time: group_by_window."""

from typing import Any

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import int64
from ..core.errors import InvalidArgumentError
from ..core.exports import export
from ..core.spec import TensorSpec
from .batches import element_error
from .dataset import INFINITE, UNKNOWN, Dataset, VariantDataset, method
from .functions import ElementFunction
from .specs import DatasetSpec
from .states import first_element
from .windows import Kept

_KEY = TensorSpec((), int64)


class GroupByWindowDataset(Dataset):
    """Collects elements by keys, and passes on what is made of each group that is full.

    Args:
        source: the dataset of the elements.
        key_of: gives the key of an element, from its leaves.
        size_of: gives the size of a full group, from its key.
        reduced: makes a dataset of a key and a dataset of the elements.
        spec: gives what the elements of such datasets look like.
    """

    def __init__(self, source, key_of, size_of, reduced, spec):
        super().__init__(source)
        self._input = source
        self._key_of, self._size_of, self._reduced, self._spec = key_of, size_of, reduced, spec

    @property
    def element_spec(self):
        return self._spec()

    def _elements(self):
        return _Groups(self._input, self._key_of, self._size_of, self._reduced)

    def _count(self):
        return INFINITE if self._input._count() == INFINITE else UNKNOWN


class _Groups:
    def __init__(self, source, key_of, size_of, reduced):
        self._source, self._elements = source, source._elements()
        self._key_of, self._size_of, self._reduced = key_of, size_of, reduced
        self._groups, self._sizes = {}, {}
        self._is_at_end = False
        self._key = 0
        self._current = None

    def __iter__(self):
        return self

    def __next__(self):
        while True:
            if self._current is not None:
                for element in self._current:
                    return element
                self._current = None
                del self._groups[self._key]
            self._key = self._full_group()
            group = Kept(self._groups[self._key])
            # Where this fails the group stays, as it does in TensorFlow.
            dataset = self._reduced(self._key, VariantDataset(group, self._source.element_spec))
            self._current = dataset._elements()

    def _full_group(self):
        """The key of the next full group; at the end, of any that is left."""
        while not self._is_at_end:
            try:
                element = next(self._elements)
            except StopIteration:
                self._is_at_end = True
                break
            key = self._key_of(*element)
            group = self._groups.setdefault(key, [])
            size = self._sizes.get(key)
            if size is None:
                size = self._checked_size(key)
            group.append(element)
            if len(group) == size:
                return key
        if not self._groups:
            raise StopIteration
        return min(self._groups)

    def _checked_size(self, key):
        size = self._size_of(key)
        if size <= 0:
            del self._groups[key]
            raise element_error(
                InvalidArgumentError, f"Window size must be greater than zero, but got {size}."
            )
        self._sizes[key] = size
        return size


def _int64_function(function, *takes, first, what, name):
    """A function whose result must be an int64 scalar, as one from leaves to an int."""

    def wrapped(*args):
        return convert_to_tensor(function(*args), int64)

    traced = ElementFunction(wrapped, *takes, first=first, what=what)
    spec: Any = traced.spec if traced.is_known else _KEY
    if not spec.is_compatible_with(_KEY):
        raise ValueError(
            f"Invalid `{name}`. `{name}` must return a single `tf.int64` scalar tensor but its "
            f"return type is {spec}."
        )

    def call(*leaves):
        found: Any = traced(*leaves)[0]
        return int(found)

    return call


class _Reduction:
    """A function from a key and a dataset to a dataset."""

    def __init__(self, source, function, key_of):
        def first():
            element = first_element(source)
            return np.int64(key_of(*element)), VariantDataset(Kept([element]), source.element_spec)

        self._function = ElementFunction(
            function,
            lambda: _KEY,
            lambda: DatasetSpec(source.element_spec),
            first=first,
            traced=False,
            what="Dataset.group_by_window()",
        )
        if self._function.is_known:
            self.spec()

    def spec(self):
        """The structure of elements of the datasets that it makes."""
        found = self._function.spec
        if not isinstance(found, DatasetSpec):
            raise TypeError(
                "Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` "
                f"object but its return type is {found}."
            )
        return found.element_spec

    def __call__(self, key, dataset):
        found = self._function(np.int64(key), dataset)
        if len(found) != 1 or not isinstance(found[0], Dataset):
            self.spec()
        return found[0]


@method
def group_by_window(
    self, key_func, reduce_func, window_size=None, window_size_func=None, name=None
):
    """Collects elements with the same key, and makes a dataset of so many of them.

    Args:
        key_func: gives an int64 scalar, the key of an element.
        reduce_func: makes a dataset, whose elements are passed on, of a key and a dataset of
            elements with that key.
        window_size: how many elements that dataset has; fewer at the end.
        window_size_func: gives that number for a key.

    Raises:
        ValueError: not one of the last two is given; or a function does not return an int64.
        TypeError: `reduce_func` does not return a dataset.

    Example:
        >>> groups = Dataset.range(6).group_by_window(
        ...     lambda x: x % 2, lambda key, group: group.batch(3), window_size=3)
        >>> [batch.numpy().tolist() for batch in groups]
        [[0, 2, 4], [1, 3, 5]]
    """
    if (window_size is None) == (not window_size_func):
        raise ValueError(
            "Either the `window_size` argument or the `window_size_func` argument must be "
            "specified."
        )
    what = "Dataset.group_by_window()"
    key_of = _int64_function(
        key_func,
        lambda: self.element_spec,
        first=lambda: first_element(self),
        what=what,
        name="key_func",
    )
    reduction = _Reduction(self, reduce_func, key_of)
    if window_size is not None:
        size = int(convert_to_tensor(window_size, int64)._known())
        return GroupByWindowDataset(self, key_of, lambda key: size, reduction, reduction.spec)
    size_of = _int64_function(
        window_size_func,
        lambda: _KEY,
        first=lambda: (np.int64(key_of(*first_element(self))),),
        what=what,
        name="window_size_func",
    )
    return GroupByWindowDataset(
        self, key_of, lambda key: size_of(np.int64(key)), reduction, reduction.spec
    )


@export("data.experimental.group_by_window")
def experimental_group_by_window(key_func, reduce_func, window_size=None, window_size_func=None):
    """`Dataset.group_by_window` as a function for `Dataset.apply`."""
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )
