"""Consecutive elements of different shapes as one: ragged_batch and sparse_batch."""

import numpy as np

from ..core import nest
from ..core.dtypes import as_dtype, int64
from ..core.errors import DataLossError, InvalidArgumentError
from ..core.exports import export
from ..core.ragged_spec import RaggedTensorSpec
from ..core.ragged_tensor import RaggedTensor
from ..core.shapes import TensorShape
from ..core.sparse_tensor import SparseTensor, SparseTensorSpec
from ..core.spec import TensorSpec
from ..core.tensor import EagerTensor
from .batches import BatchDataset, Batches, batch_size_of, element_error, flag
from .dataset import SameElements, method
from .elements import Part, leaf_specs, with_leaf_specs
from .functions import known_spec

# ragged_batch -------------------------------------------------------------------------------------


class DenseToRaggedDataset(SameElements):
    """Tensors of open shapes as ragged ones, so that they make ragged batches."""

    def __init__(self, source, row_splits_dtype):
        super().__init__(source)
        self._splits_dtype = as_dtype(row_splits_dtype)

    @property
    def element_spec(self):
        spec = self._input.element_spec
        return with_leaf_specs(spec, [self._as_ragged(leaf) for leaf in leaf_specs(spec)])

    def _as_ragged(self, spec):
        if (
            not isinstance(spec, TensorSpec)
            or spec.shape.rank is None
            or spec.shape.is_fully_defined()
        ):
            return spec
        rank = max([axis for axis, size in enumerate(spec.shape.as_list()) if size is None])
        return RaggedTensorSpec(spec.shape, spec.dtype, rank, self._splits_dtype)

    def _count(self):
        return self._input._count()

    def _elements(self):
        return _LateMap(self._convert_leaves, self._input._elements())

    def _convert_leaves(self):
        """A function of elements; made when there is one, as specs may be known only then."""
        specs = leaf_specs(self._input.element_spec)
        ragged = [self._as_ragged(spec) for spec in specs]
        pairs = zip(specs, ragged, strict=True)
        converters = [_same if before is after else _ragged_leaf(after) for before, after in pairs]
        return lambda leaves: tuple(
            [convert(leaf) for convert, leaf in zip(converters, leaves, strict=True)]
        )


class _LateMap:
    """`map` with a function that is made after the first element came."""

    def __init__(self, make, items):
        self._make, self._items, self._function = make, items, None

    def __iter__(self):
        return self

    def __next__(self):
        item = next(self._items)
        if self._function is None:
            self._function = self._make()
        return self._function(item)


def _same(leaf):
    return leaf


def _ragged_leaf(spec):
    rank, splits = spec.ragged_rank, spec.row_splits_dtype
    if not rank:
        return lambda leaf: Part(EagerTensor(leaf), spec)
    return lambda leaf: RaggedTensor.from_tensor(
        EagerTensor(leaf), ragged_rank=rank, row_splits_dtype=splits
    )


@method
def ragged_batch(
    self, batch_size, drop_remainder=False, row_splits_dtype=int64, name=None
):  # fmt: skip
    """Joins each `batch_size` consecutive elements; tensors of open shapes become ragged ones.

    Args:
        batch_size: how many elements make one.
        drop_remainder: whether to leave out a last batch that is smaller than the others.
        row_splits_dtype: that of the ragged tensors' row splits.

    Example:
        >>> lengths = Dataset.range(3).map(lambda n: fill([n], n))
        >>> [batch.to_list() for batch in lengths.ragged_batch(3)]
        [[[], [1], [2, 2]]]
    """
    ragged = DenseToRaggedDataset(self, row_splits_dtype)
    size = batch_size_of(batch_size, "BatchDatasetV2")
    return BatchDataset(ragged, size, flag(drop_remainder), after_map=True)


@export("data.experimental.dense_to_ragged_batch")
def dense_to_ragged_batch(batch_size, drop_remainder=False, row_splits_dtype=int64):
    """`Dataset.ragged_batch` as a function for `Dataset.apply`."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


# sparse_batch -------------------------------------------------------------------------------------


class DenseToSparseBatchDataset(Batches):
    def __init__(self, source, size, row_shape):
        super().__init__(source, size, False)
        self._row = row_shape
        known_spec(self)

    @property
    def element_spec(self):
        spec = self._input.element_spec
        if nest.is_nested(spec) or not hasattr(spec, "dtype"):
            raise TypeError(
                "`dense_to_sparse_batch` requires an input dataset whose elements have a single "
                f"component, but the given dataset has the following component types: {spec}."
            )
        return SparseTensorSpec([None, *self._row], spec.dtype)

    def _elements(self):
        # Checked one by one: an element that does not fit costs no other after it.
        return self._grouped(map(self._fitting, self._input._elements()), self._join)

    def _fitting(self, leaves):
        (array,) = leaves
        if len(array.shape) != len(self._row):
            raise self._does_not_fit(InvalidArgumentError, array.shape, "incompatible with")
        if any([n is not None and n < m for n, m in zip(self._row, array.shape, strict=True)]):
            raise self._does_not_fit(DataLossError, array.shape, "larger than")
        return array

    def _join(self, arrays):
        shapes = [array.shape for array in arrays]
        places = [np.argwhere(np.ones(shape, bool)) for shape in shapes]
        rows = np.repeat(np.arange(len(arrays)), [len(each) for each in places])
        longest = [max(sizes) for sizes in zip(*shapes, strict=True)]
        sizes = [long if n is None else n for n, long in zip(self._row, longest, strict=True)]
        indices = np.column_stack([rows, np.concatenate(places)]).astype(np.int64)
        values = np.concatenate([np.ravel(array) for array in arrays])
        shape = np.array([len(arrays), *sizes], np.int64)
        return (SparseTensor(EagerTensor(indices), EagerTensor(values), EagerTensor(shape)),)

    def _does_not_fit(self, error_class, shape, how):
        own = ",".join([str(n) for n in shape])
        row = ",".join(["?" if n is None else str(n) for n in self._row])
        return element_error(
            error_class, f"Input element had shape ([{own}]) that is {how} the row shape ([{row}])."
        )


@method
def sparse_batch(self, batch_size, row_shape, name=None):
    """Joins each `batch_size` consecutive elements, tensors of one rank, to sparse tensors.

    Args:
        batch_size: how many elements make one.
        row_shape: the shape of a row of the sparse tensors; None for the longest element.

    Raises:
        TypeError: elements are more than one tensor.
        DataLossError: an element of a batch is longer than `row_shape`.
    """
    row = TensorShape([None]).concatenate(row_shape).as_list()[1:]
    size = batch_size_of(batch_size, "DenseToSparseBatchDataset")
    return DenseToSparseBatchDataset(self, size, row)


@export("data.experimental.dense_to_sparse_batch")
def dense_to_sparse_batch(batch_size, row_shape):
    """`Dataset.sparse_batch` as a function for `Dataset.apply`."""
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)
