"""Datasets made of tensors and numbers."""

import builtins
import itertools

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import as_dtype, int64
from ..core.errors import InvalidArgumentError
from ..core.exports import export
from ..core.spec import TensorSpec
from .arguments import whole_number
from .dataset import INFINITE, Dataset, constructor
from .elements import common_spec, flattened, leaf_specs, with_leaf_specs
from .leaves import count_of, slices, unbatched

# Numbers of a range that are made at a time: many are quick, and few enough take no memory.
_NUMBERS_AT_ONCE = 4096


class TensorDataset(Dataset):
    def __init__(self, element):
        super().__init__()
        self._spec, self._leaves = flattened(element)
        if all([leaf is None for leaf in self._leaves]):
            raise InvalidArgumentError(
                None, None, "Length for attr 'Toutput_types' of 0 must be at least minimum 1 "
                "[Op:TensorDataset] name: ",
            )  # fmt: skip

    def _elements(self):
        return iter([self._leaves])

    def _count(self):
        return 1


@constructor
def from_tensors(tensors, name=None):
    """A dataset of one element: `tensors`.

    Raises:
        ValueError: a part of it is no tensor and cannot be made one.
        InvalidArgumentError: there is no tensor in it.

    Example:
        >>> [pair.numpy().tolist() for pair in from_tensors([1, 2])]
        [[1, 2]]
    """
    return TensorDataset(tensors)


class TensorSliceDataset(Dataset):
    def __init__(self, element):
        super().__init__()
        spec, self._leaves = flattened(element)
        if all([leaf is None for leaf in self._leaves]):
            raise ValueError("Invalid `element`. `element` should not be empty.")
        self._spec = with_leaf_specs(spec, [unbatched(each) for each in leaf_specs(spec)])
        for leaf in self._leaves:
            slices(leaf)  # tells what cannot be taken apart
        sizes = [count_of(leaf) for leaf in self._leaves if leaf is not None]
        wrong = [size for size in sizes if size != sizes[0]]
        if wrong:
            raise ValueError(f"Dimensions {sizes[0]} and {wrong[0]} are not compatible")
        self._size = sizes[0]

    def _elements(self):
        # Parts of None have no end, so that there are as many as there are others.
        return zip(*[slices(leaf) for leaf in self._leaves], strict=False)

    def _count(self):
        return self._size

    def _rows(self):
        if not all([isinstance(leaf, np.ndarray) for leaf in self._leaves]):
            return None
        return list(self._leaves), lambda: iter(builtins.range(self._size))


@constructor
def from_tensor_slices(tensors, name=None):
    """A dataset of the parts that tensors have along their first axes.

    Raises:
        ValueError: a tensor is a scalar, or first axes have different lengths.

    Example:
        >>> parts = from_tensor_slices({"x": [[1, 2], [3, 4]], "y": [5, 6]})
        >>> [(part["x"].numpy().tolist(), int(part["y"])) for part in parts]
        [([1, 2], 5), ([3, 4], 6)]
    """
    return TensorSliceDataset(tensors)


class RangeDataset(Dataset):
    def __init__(self, numbers, dtype):
        super().__init__()
        self._numbers = numbers
        self._dtype = dtype

    @property
    def element_spec(self):
        return TensorSpec((), self._dtype)

    def _elements(self):
        if not (self._dtype.is_integer or self._dtype.is_floating or self._dtype.is_complex):
            return map(self._refuse, self._numbers)
        starts = builtins.range(0, len(self._numbers), _NUMBERS_AT_ONCE)
        return zip(itertools.chain.from_iterable(map(self._from, starts)))

    def _from(self, start):
        piece = self._numbers[start : start + _NUMBERS_AT_ONCE]
        numbers = piece.start + piece.step * np.arange(len(piece), dtype=np.int64)
        return numbers.astype(self._dtype.numpy_dtype)

    def _refuse(self, _):
        raise InvalidArgumentError(
            None, None, f"Unsupported data type: {self._dtype.name} [Op:IteratorGetNext] name: "
        )

    def _count(self):
        return len(self._numbers)


@constructor
def range(*args, **kwargs):
    """A dataset of numbers: as Python's range.

    Args:
        *args: the end; or the beginning and the end; or these and the step between numbers.
        **kwargs: `output_type`, the dtype of the numbers (int64), and `name`.

    Raises:
        ValueError: there are other than one, two or three arguments.
        InvalidArgumentError: the step is 0, or an argument is no scalar.

    Example:
        >>> [int(number) for number in range(10, 1, -3)]
        [10, 7, 4]
    """
    if not 1 <= len(args) <= 3:
        raise ValueError(
            f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}."
        )
    names = ("stop",) if len(args) == 1 else ("start", "stop", "step")
    numbers = [_integer(arg, what) for arg, what in zip(args, names, strict=False)]
    if len(numbers) == 3 and numbers[2] == 0:
        raise _invalid_range("step must be a non-zero integer.")
    return RangeDataset(builtins.range(*numbers), as_dtype(kwargs.get("output_type", int64)))


def _integer(value, what):
    if isinstance(value, int) and not int64.min <= value <= int64.max:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    tensor = convert_to_tensor(value, int64)
    if tensor.ndim:
        raise _invalid_range(f"{what} must be a scalar")
    return whole_number(tensor)


def _invalid_range(message):
    return InvalidArgumentError(None, None, f"{message} [Op:RangeDataset] name: ")


class CounterDataset(Dataset):
    def __init__(self, start, step):
        super().__init__()
        self._start, self._step = start, step

    @property
    def element_spec(self):
        return TensorSpec(self._start.shape, self._start.dtype)

    def _elements(self):
        # Added one by one, so that floats are rounded as often as anywhere; np.add wraps around.
        steps = itertools.repeat(self._step._value)
        return zip(itertools.accumulate(steps, np.add, initial=self._start._value))

    def _count(self):
        return INFINITE


@constructor
def counter(start=0, step=1, dtype=int64, name=None):
    """A dataset without end: `start`, and each element `step` more than the one before it.

    Raises:
        TypeError: `start` or `step` is nothing of this dtype.

    Example:
        >>> [int(number) for number in counter(3, 2).take(3)]
        [3, 5, 7]
    """
    start, step = convert_to_tensor(start, dtype), convert_to_tensor(step, dtype)
    return CounterDataset(start, step)


@export("data.experimental.Counter")
def Counter(start=0, step=1, dtype=int64):  # noqa: N802 - TensorFlow's name
    """As `tf.data.Dataset.counter`."""
    return counter(start, step, dtype)


class ListDataset(Dataset):
    def __init__(self, elements):
        super().__init__()
        found = [flattened(element) for element in elements]
        for spec, _ in found:
            if not all([_fits_in_list(leaf) for leaf in leaf_specs(spec)]):
                raise ValueError(
                    "Attempt to convert a value with an unsupported type to a Tensor: elements of "
                    f"a list must be made of dense tensors. Received: {spec}"
                )
        self._spec = common_spec([spec for spec, _ in found])
        self._items = [leaves for _, leaves in found]

    def _elements(self):
        return iter(self._items)

    def _count(self):
        return len(self._items)


def _fits_in_list(spec):
    return isinstance(spec, TensorSpec) or hasattr(spec, "element_spec")


@export("data.experimental.from_list")
def from_list(elements, name=None):
    """A dataset of the items of a list, which may differ in shape.

    Raises:
        ValueError: it is no list or empty, or items have different structures.

    Example:
        >>> [(int(number), word.numpy()) for number, word in from_list([(1, "a"), (2, "b")])]
        [(1, b'a'), (2, b'b')]
    """
    if not elements:
        raise ValueError(
            "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use "
            "`tf.data.Dataset.range(0)`."
        )
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    return ListDataset(elements)
