"""What to parse of examples: tf.io.FixedLenFeature and its kin."""

import collections
from typing import Any, ClassVar, NamedTuple

from ..core import dtypes
from ..core.exports import export


@export("io.VarLenFeature")
class VarLenFeature(NamedTuple):
    """A feature of any number of values, parsed as a sparse tensor."""

    dtype: Any


@export("io.FixedLenFeature")
class FixedLenFeature(NamedTuple):
    """A feature of a fixed number of values, parsed as a tensor.

    Args:
        shape: of the values of one example.
        dtype: float32, int64 or string.
        default_value: what it is where it is missing; without one it must be there.
    """

    shape: Any
    dtype: Any
    default_value: Any = None


@export("io.FixedLenSequenceFeature")
class FixedLenSequenceFeature(NamedTuple):
    """A feature of any number of steps of one shape, parsed as a tensor that is filled up.

    Args:
        shape: of the values of one step.
        dtype: float32, int64 or string.
        allow_missing: whether it may be missing, for which there are no steps then.
        default_value: what to fill up with.
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


@export("io.SparseFeature")
class SparseFeature(NamedTuple):
    """A sparse tensor of which two or more features hold indices and values.

    Args:
        index_key: the name of the feature of indices, or a list of one for each dimension.
        value_key: the name of the feature of values.
        dtype: float32, int64 or string.
        size: the size of the dimension, or a list of sizes.
        already_sorted: whether indices are in order.
    """

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False


class RowSplits(NamedTuple):
    """Rows of a ragged tensor by where they begin, and the end of the last."""

    key: str


class RowLengths(NamedTuple):
    """Rows of a ragged tensor by their lengths."""

    key: str


class RowStarts(NamedTuple):
    """Rows of a ragged tensor by where they begin."""

    key: str


class RowLimits(NamedTuple):
    """Rows of a ragged tensor by where they end."""

    key: str


class ValueRowIds(NamedTuple):
    """Rows of a ragged tensor by the row of each value."""

    key: str


class UniformRowLength(NamedTuple):
    """Rows of a ragged tensor by the length they all have."""

    length: int


_RaggedFields = collections.namedtuple(
    "RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"]
)


@export("io.RaggedFeature")
class RaggedFeature(_RaggedFields):
    """A feature of any number of values, parsed as a ragged tensor.

    Args:
        dtype: float32, int64 or string.
        value_key: the name of the feature that holds the values, if it is another one.
        partitions: how values make rows, and these rows again, the outermost first:
            `RaggedFeature.RowSplits(key)` and its kin name features that say it.
        row_splits_dtype: int32 or int64.
        validate: whether to check that rows make sense.

    Raises:
        ValueError, TypeError: an argument is of another kind.
    """

    __slots__ = ()

    RowSplits = RowSplits
    RowLengths = RowLengths
    RowStarts = RowStarts
    RowLimits = RowLimits
    ValueRowIds = ValueRowIds
    UniformRowLength = UniformRowLength
    _KINDS: ClassVar = (
        RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength
    )  # fmt: skip

    def __new__(
        cls, dtype, value_key=None, partitions=(), row_splits_dtype=dtypes.int32, validate=False
    ):
        if value_key is not None and not (isinstance(value_key, str) and value_key):
            raise ValueError(f"Argument `value_key` must be a string; got {value_key!r}")
        dtype, row_splits_dtype = dtypes.as_dtype(dtype), dtypes.as_dtype(row_splits_dtype)
        if dtype.name not in ("int64", "float32", "string"):
            raise ValueError(f"Argument `dtype` must be int64, float32, or bytes; got {dtype!r}")
        if row_splits_dtype.name not in ("int32", "int64"):
            raise ValueError(
                f"Argument `row_splits_dtype` must be int32 or int64; got {row_splits_dtype!r}"
            )
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(f"Argument `partitions` must be a list or tuple; got {partitions!r}")
        for partition in partitions:
            if not isinstance(partition, cls._KINDS):
                raise TypeError(
                    "Argument `partitions` must be a list of partition objects "
                    f"{cls._KINDS}; got: {partition!r}"
                )
        if not isinstance(validate, bool):
            raise TypeError(f"Argument `validate` must be a bool; got {validate!r}")
        return super().__new__(cls, dtype, value_key, tuple(partitions), row_splits_dtype, validate)
