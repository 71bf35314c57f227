"""Batches taken apart, and made anew in other sizes: unbatch and rebatch."""

import functools
import itertools

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import int64
from ..core.errors import FailedPreconditionError, InvalidArgumentError
from ..core.exports import export
from ..core.sparse_tensor import SparseTensorSpec
from ..core.spec import TensorSpec
from .arguments import wrong_number
from .batches import element_error, flag
from .dataset import UNKNOWN, Dataset, method
from .elements import leaf_specs, with_leaf_specs
from .functions import known_spec
from .leaves import batched, count_of, slices, stacked, unbatched
from .specs import DatasetSpec

_END = object()


def _count_of_parts(leaves):
    """How many parts all leaves of an element have along their first axes.

    Raises:
        InvalidArgumentError: one has no axes, or they have different numbers of parts.
    """
    found, of = None, 0
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, np.generic) or (isinstance(leaf, np.ndarray) and not leaf.ndim):
            raise element_error(
                InvalidArgumentError,
                "Input element must have a non-scalar value in each component.",
            )
        count = count_of(leaf)
        if count is None or count == found:
            continue
        if found is not None:
            raise element_error(
                InvalidArgumentError,
                "Input element must have the same batch size in each component. Component "
                f"{of} had size {found} but component {i} had size, {count}.",
            )
        found, of = count, i
    return found or 0


def _first_size(spec):
    """The size of the first axis, None if it is not known; `spec` may have no shape."""
    shape = getattr(spec, "shape", None)
    return shape[0] if shape is not None and shape.rank else None


# unbatch ------------------------------------------------------------------------------------------


class UnbatchDataset(Dataset):
    def __init__(self, source):
        super().__init__(source)
        self._input = source
        known_spec(self)

    @functools.cached_property
    def _spec(self):
        spec = self._input.element_spec
        specs, common = leaf_specs(spec), None
        for leaf in specs:
            if isinstance(leaf, DatasetSpec) and leaf._dataset_shape.rank == 0:
                raise ValueError("Slicing dataset elements is not supported for rank 0.")
            if isinstance(leaf, TensorSpec) and leaf.shape.rank == 0:
                raise ValueError("Cannot unbatch an input with scalar components.")
            size = _first_size(leaf)
            if None not in (size, common) and size != common:
                raise ValueError(
                    "`unbatch()` is only supported for datasets of elements whose components "
                    f"have a matching leading dimension. Encountered both {common} and {size}."
                )
            common = size if common is None else common
        return with_leaf_specs(spec, [unbatched(leaf) for leaf in specs])

    def _elements(self):
        return _Parts(self._input._elements())

    def _count(self):
        count = self._input._count()
        if count < 0:
            return count
        specs = leaf_specs(self._input.element_spec)
        sizes = [_first_size(leaf) for leaf in specs if not isinstance(leaf, SparseTensorSpec)]
        known = [size for size in sizes if size]
        return count * known[0] if known else UNKNOWN


class _Parts:
    """The parts of elements, one after the other; an error costs one element."""

    def __init__(self, elements):
        self._elements = elements
        self._parts = iter(())

    def __iter__(self):
        return self

    def __next__(self):
        while True:
            for part in self._parts:
                return part
            leaves = next(self._elements)
            count = _count_of_parts(leaves)
            self._parts = itertools.islice(zip(*[slices(leaf) for leaf in leaves]), count)  # noqa: B905 - None has parts without end


@method
def unbatch(self, name=None):
    """Takes elements apart along their first axes.

    Raises:
        ValueError: there is no such axis, or its lengths differ.
        InvalidArgumentError: the same, where it shows only when an element is there.

    Example:
        >>> [int(x) for x in Dataset.range(5).batch(2).unbatch()]
        [0, 1, 2, 3, 4]
    """
    return UnbatchDataset(self)


@export("data.experimental.unbatch")
def experimental_unbatch():
    """`Dataset.unbatch` as a function for `Dataset.apply`."""
    return lambda dataset: dataset.unbatch()


# rebatch ------------------------------------------------------------------------------------------


class RebatchDataset(Dataset):
    def __init__(self, source, sizes, drop_remainder):
        super().__init__(source)
        self._input, self._sizes, self._drops = source, sizes, drop_remainder
        known_spec(self)

    @functools.cached_property
    def _spec(self):
        spec = self._input.element_spec
        specs = leaf_specs(spec)
        size = self._static_size(specs)
        return with_leaf_specs(spec, [batched(unbatched(leaf), size) for leaf in specs])

    def _static_size(self, specs):
        """The size of all batches; None if it is not known, or there may be smaller ones."""
        size = self._sizes[0]
        if any([other != size for other in self._sizes]):
            return None
        if self._drops:
            return size
        for leaf in specs:
            if getattr(leaf, "shape", None) is not None and leaf.shape.rank == 0:
                raise ValueError(
                    "Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset "
                    "with scalar elements. Fix the issue by adding the `batch` transformation to "
                    "the dataset."
                )
        known = [n for n in map(_first_size, specs) if n is not None]
        if any([n != known[0] for n in known]):
            raise ValueError(
                "Invalid `input_dataset.` The batch dimension of component 0 is "
                f"{known[0]}, while the batch dimension of component i is {known}."
            )
        return size if known and size and known[0] % size == 0 else None

    def _elements(self):
        return _Rebatched(self._input._elements(), self._sizes, self._drops, self._empty)

    def _empty(self):
        """An element without rows."""
        specs = leaf_specs(self._input.element_spec)
        return tuple([
            np.empty([0, *[n or 0 for n in leaf.shape[1:]]], leaf.dtype.numpy_dtype)
            for leaf in specs
        ])  # fmt: skip


class _Rebatched:
    """Takes rows of elements, from where it stopped, until a batch is full."""

    def __init__(self, elements, sizes, drops, empty):
        self._elements, self._drops, self._empty = elements, drops, empty
        self._sizes = itertools.cycle(sizes)
        self._leaves, self._start, self._stop = (), 0, 0

    def __iter__(self):
        return self

    def __next__(self):
        size = next(self._sizes)
        if not size and self._elements is not None:
            return self._empty()
        pieces, missing = [], size
        while missing:
            if self._start == self._stop and not self._advance():
                break
            stop = min(self._start + missing, self._stop)
            pieces.append((self._leaves, self._start, stop))
            missing -= stop - self._start
            self._start = stop
        if not pieces or (missing and self._drops):
            raise StopIteration
        return _joined(pieces)

    def _advance(self):
        """Goes on to the next element; whether there is one."""
        if self._elements is None:
            return False
        leaves = next(self._elements, None)
        if leaves is None:
            self._elements = None
            return False
        count = _count_of_parts(leaves)
        self._leaves, self._start, self._stop = leaves, 0, count
        return True


def _joined(pieces):
    """Rows of elements as one element; a piece is the leaves of one, a first row and an end."""
    if len(pieces) == 1:
        leaves, start, stop = pieces[0]
        return tuple([_rows(leaf, start, stop) for leaf in leaves])
    found = []
    for i, leaf in enumerate(pieces[0][0]):
        if isinstance(leaf, np.ndarray):
            arrays = [leaves[i][start:stop] for leaves, start, stop in pieces]
            found.append(_concatenated(arrays))
        else:
            found.append(stacked([each for piece in pieces for each in _parts(piece, i)], i))
    return tuple(found)


def _concatenated(arrays):
    first = arrays[0]
    for array in arrays:
        if array.shape[1:] != first.shape[1:]:
            size = sum([len(each) for each in arrays])
            raise element_error(
                FailedPreconditionError,
                "Batches of different shapes cannot be joined: source and dst shapes are not "
                f"compatible. Source shape: {list(array.shape)}, dst shape: "
                f"{[size, *first.shape[1:]]}",
            )
    return np.concatenate(arrays)


def _rows(leaf, start, stop):
    if isinstance(leaf, np.ndarray):
        return leaf[start:stop]
    return stacked(_parts(((leaf,), start, stop), 0), 0)


def _parts(piece, i):
    leaves, start, stop = piece
    return list(itertools.islice(slices(leaves[i]), start, stop))


@method
def rebatch(self, batch_size, drop_remainder=False, name=None):
    """Makes batches of other sizes of batches.

    Args:
        batch_size: how many rows a batch has; or several such numbers, which take turns.
        drop_remainder: whether to leave out a last batch that is smaller than it should be.

    Raises:
        ValueError: elements are no batches, or numbers no list.

    Example:
        >>> batches = Dataset.range(6).batch(2)
        >>> [batch.numpy().tolist() for batch in batches.rebatch([1, 3])]
        [[0], [1, 2, 3], [4], [5]]
    """
    sizes = convert_to_tensor(batch_size, int64)
    if (sizes.shape.rank or 0) > 1:
        raise ValueError(
            "Invalid `batch_sizes`. Expected `batch_sizes` to be a scalar or a vector. Received "
            f"`batch_sizes` of rank {sizes.shape.rank}."
        )
    numbers = np.atleast_1d(np.asarray(sizes._known())).tolist()
    if not numbers:
        raise IndexError("index 0 is out of bounds for axis 0 with size 0")
    if min(numbers) < 0:
        raise wrong_number("RebatchDatasetV2", "batch_sizes must not be negative.")
    return RebatchDataset(self, numbers, flag(drop_remainder))
