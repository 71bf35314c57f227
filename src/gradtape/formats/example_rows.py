"""Columns of examples with any number of values: sparse and ragged ones."""

import numpy as np

from ..core.ragged_spec import RaggedTensorSpec
from ..core.ragged_tensor import RaggedTensor
from ..core.sparse_tensor import SparseTensor, SparseTensorSpec
from ..core.tensor import EagerTensor
from .example_features import RaggedFeature
from .example_values import Column
from .example_wire import empty


class VarLenColumn(Column):
    """Any number of values, as a sparse tensor."""

    def rank(self):
        return 0

    def tensor(self, entries, is_batch, strict):
        return self._sparse([self._row(entry, self.key) for entry in entries], is_batch)

    def spec(self, shape):
        """The spec of the tensor of examples of a shape."""
        return SparseTensorSpec([*shape, None], self._dtype)

    def _row(self, entry, key, kind=None):
        values = self.values(entry, key, kind)
        return empty(kind or self._dtype.name) if values is None else values

    def _sparse(self, rows, is_batch):
        lengths = [len(row) for row in rows]
        columns = [np.repeat(np.arange(len(rows)), lengths), _counted(lengths)]
        shape = [len(rows), max(lengths, default=0)]
        return _sparse(columns, _joined(rows, self._dtype), shape, is_batch)

    def steps_tensor(self, entries, is_batch, strict):
        """As `tensor`, of the features of sequences."""
        examples = [self.steps(entry, self.key) or [] for entry in entries]
        counts = [len(steps) for steps in examples]
        rows = [step for steps in examples for step in steps]
        lengths = [len(row) for row in rows]
        columns = [
            np.repeat(np.repeat(np.arange(len(examples)), counts), lengths),
            np.repeat(_counted(counts), lengths),
            _counted(lengths),
        ]
        shape = [len(examples), max(counts, default=0), max(lengths, default=0)]
        return _sparse(columns, _joined(rows, self._dtype), shape, is_batch)


class SparseColumn(VarLenColumn):
    """Values at places that other features tell."""

    def __init__(self, key, feature, op, in_steps=False):
        if not feature.index_key:
            raise ValueError(f"Missing index_key for SparseFeature {feature}.")
        if not feature.value_key:
            raise ValueError(f"Missing value_key for SparseFeature {feature}.")
        super().__init__(key, feature, op)
        is_one = isinstance(feature.index_key, str)
        self._index_keys = [feature.index_key] if is_one else list(feature.index_key)
        self._sizes = [feature.size] if is_one else list(feature.size)
        self._value_key = feature.value_key
        self._is_sorted = feature.already_sorted

    def rank(self):
        return 3

    def reads(self):
        uses = [(key, ("VarLenColumn", "int64")) for key in self._index_keys]
        return [*uses, (self._value_key, ("VarLenColumn", self._dtype.name))]

    def tensor(self, entries, is_batch, strict):
        rows = [self._row(entry, self._value_key) for entry in entries]
        places = [[self._row(entry, key, "int64") for entry in entries] for key in self._index_keys]
        values = _joined(rows, self._dtype)
        columns = [np.concatenate([empty("int64"), *column]) for column in places]
        if any([len(column) != len(values) for column in columns]):
            raise self._error(f"Feature {self.key} has not as many indices as values")
        owners = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        columns = [owners, *columns]
        if not self._is_sorted:
            order = np.lexsort(columns[::-1])
            columns, values = [column[order] for column in columns], values[order]
        return _sparse(columns, values, [len(rows), *self._sizes], is_batch)

    def spec(self, shape):
        return SparseTensorSpec([*shape, *self._sizes], self._dtype)


class RaggedColumn(Column):
    """Any number of values, as a ragged tensor; other features may tell what rows they make."""

    def __init__(self, key, feature, op, in_steps=False):
        super().__init__(key, feature, op)
        self._value_key = key if feature.value_key is None else feature.value_key
        self._partitions = feature.partitions
        self._splits_dtype = feature.row_splits_dtype
        self._validates = feature.validate

    def reads(self):
        splits = self._splits_dtype.name
        uses = [
            (each.key, ("RaggedColumn", "int64", splits))
            for each in self._partitions
            if not isinstance(each, RaggedFeature.UniformRowLength)
        ]
        return [(self._value_key, ("RaggedColumn", self._dtype.name, splits)), *uses]

    def tensor(self, entries, is_batch, strict):
        def rows_of(key, kind):
            found = [self.values(entry, key, kind) for entry in entries]
            return [empty(kind) if each is None else each for each in found]

        values, counts = self._partitioned(rows_of)
        return self._ragged(values, counts) if is_batch else values

    def steps_tensor(self, entries, is_batch, strict):
        """As `tensor`, of the features of sequences."""

        def rows_of(key, kind):
            return [row for entry in entries for row in self.steps(entry, key, kind) or ()]

        values, counts = self._partitioned(rows_of)
        steps = self._ragged(values, counts)
        if not is_batch:
            return steps
        lengths = [len(self.steps(entry, self._value_key) or ()) for entry in entries]
        return self._ragged(steps, lengths)

    def spec(self, shape):
        """The spec of the tensor of examples of a shape."""
        rank = 1 + len(self._partitions)
        return RaggedTensorSpec([*shape, *[None] * rank], self._dtype, rank, self._splits_dtype)

    def rank(self):
        return 2 if self._value_key == self.key else 3

    def _partitioned(self, rows_of):
        """The values in the rows they make, and how many rows each example, or step, has."""
        rows = rows_of(self._value_key, self._dtype.name)
        values = EagerTensor(_joined(rows, self._dtype))
        counts = [len(row) for row in rows]
        for partition in reversed(self._partitions):
            if isinstance(partition, RaggedFeature.UniformRowLength):
                values = self._uniform(values, partition.length)
                counts = [count // partition.length for count in counts]
                continue
            given = rows_of(partition.key, "int64")
            lengths = [
                _LENGTHS[type(partition)](row, count)
                for row, count in zip(given, counts, strict=False)
            ]
            values = self._ragged(values, np.concatenate([empty("int64"), *lengths]))
            counts = [len(each) for each in lengths]
        return values, counts

    def _uniform(self, values, length):
        if isinstance(values, RaggedTensor):
            return RaggedTensor.from_uniform_row_length(values, length)
        array = values._value
        return EagerTensor(array.reshape(-1, length, *array.shape[1:]))

    def _ragged(self, values, lengths):
        lengths = EagerTensor(np.asarray(lengths, self._splits_dtype.numpy_dtype))
        return RaggedTensor.from_row_lengths(values, lengths, validate=self._validates)


# By how a feature tells rows: their lengths, from its values and the number of items in the rows.
_LENGTHS = {
    RaggedFeature.RowSplits: lambda row, count: np.diff(row),
    RaggedFeature.RowLengths: lambda row, count: row,
    RaggedFeature.RowStarts: lambda row, count: np.diff(row, append=count)[: len(row)],
    RaggedFeature.RowLimits: lambda row, count: np.diff(row, prepend=0)[: len(row)],
    RaggedFeature.ValueRowIds: lambda row, count: np.bincount(row),
}


def _sparse(columns, values, shape, is_batch):
    if not is_batch:
        columns, shape = columns[1:], shape[1:]
    indices = np.stack(columns, axis=1).astype(np.int64)
    return SparseTensor(
        EagerTensor(indices), EagerTensor(values), EagerTensor(np.array(shape, np.int64))
    )


def _counted(lengths):
    """0, 1, ... up to each length, one after the other."""
    parts = [np.arange(length) for length in lengths]
    return np.concatenate([np.empty(0, np.int64), *parts])


def _joined(rows, dtype):
    return np.concatenate([empty(dtype.name), *rows])
