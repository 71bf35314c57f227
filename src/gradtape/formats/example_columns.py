"""Features of many examples as tensors: the columns that a dict of features makes."""

import copy

import numpy as np

from ..core import nest
from .example_features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from .example_rows import RaggedColumn, SparseColumn, VarLenColumn
from .example_values import DenseColumn, SequenceColumn, as_tensor

_COLUMNS = {
    FixedLenFeature: DenseColumn,
    FixedLenSequenceFeature: SequenceColumn,
    VarLenFeature: VarLenColumn,
    SparseFeature: SparseColumn,
    RaggedFeature: RaggedColumn,
}


class Columns:
    """The columns that a dict of features makes.

    Args:
        features: from names to features.
        kinds: the classes that features may be of.
        op: TensorFlow's op type, for messages.
        in_steps: whether these are features of sequences.

    Raises:
        ValueError: a feature makes no sense, or two of them do not go together.
    """

    def __init__(self, features, kinds, op, in_steps=False):
        self._columns = {}
        self._keys = {}
        for key in sorted(features):
            feature = features[key]
            if not isinstance(feature, kinds):
                raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key '{key}'")
            self._columns[key] = _COLUMNS[type(feature)](key, feature, op, in_steps)
            for name, use in self._columns[key].reads():
                if self._keys.setdefault(name, use) != use:
                    raise ValueError(
                        f"Feature {name} is asked for in ways that do not go together: {use} and "
                        f"{self._keys[name]}."
                    )
        order = sorted(self._columns, key=lambda key: (self._columns[key].rank(), key))
        self._columns = {key: self._columns[key] for key in order}

    def __bool__(self):
        return bool(self._columns)

    def part(self, fixed):
        """Those columns only of which shapes are fixed, or only the others."""
        part = copy.copy(self)
        part._columns = {
            key: each for key, each in self._items() if isinstance(each, DenseColumn) == fixed
        }
        return part

    def open_axes(self, results, is_batch):
        """For each tensor of results, how many of its axes are not always as long; None for all."""
        counts = []
        for key in sorted(results):
            parts = nest.flatten(results[key], expand_composites=True)
            is_sequence = isinstance(self._columns[key], SequenceColumn)
            counts += [1 + is_batch if is_sequence else None] * len(parts)
        return counts

    def in_order(self, results):
        """A dict of what is there for each column, in the order of the columns."""
        return {key: results[key] for key in self._columns}

    def parsed(self, entries, shape, strict=True):
        """The tensors.

        Args:
            entries: the features of each example by name, in wire format.
            shape: the examples'.
            strict: whether what must be there must be there.
        """
        return {key: each.tensor(entries, bool(shape), strict) for key, each in self._items()}

    def parsed_steps(self, entries, shape, strict=True):
        """As `parsed` for sequences, and the lengths of those that are dense."""
        is_batch = bool(shape)
        results, lengths = {}, {}
        for key, column in self._items():
            results[key] = column.steps_tensor(entries, is_batch, strict)
            if isinstance(column, SequenceColumn):
                counts = [len(column.steps(entry, column.key) or ()) for entry in entries]
                lengths[key] = as_tensor(np.array(counts, np.int64), is_batch)
        return results, lengths

    def specs(self, shape):
        """The specs of the tensors of examples of a shape."""
        return {key: column.spec(shape) for key, column in self._items()}

    def _items(self):
        return self._columns.items()
