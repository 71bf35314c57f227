"""tf.experimental.RowPartition: how a line of values is divided into rows, without the values."""

import numpy as np

from .core import dtypes
from .core.convert import convert_to_tensor
from .core.errors import InvalidArgumentError
from .core.ragged_tensor import RaggedTensor
from .core.tensor import EagerTensor
from .type_specs import TypeSpec

_INT64 = np.dtype(np.int64)


class RowPartition:
    """Where rows begin and end in a line of values. Made by its `from_…` methods.

    Example:
        >>> RowPartition.from_row_lengths([2, 0, 1])
        tf.RowPartition(row_splits=[0 2 2 3])
    """

    _is_composite = True
    __slots__ = ("__weakref__", "_known_nvals", "_splits", "_uniform")

    def __init__(self, row_splits, uniform_row_length=None, known_nvals=None):
        self._splits = np.asarray(row_splits)
        self._uniform = uniform_row_length
        self._known_nvals = known_nvals

    # Making -----------------------------------------------------------------------------------

    @classmethod
    def from_row_splits(cls, row_splits, validate=True, dtype=None, dtype_hint=None):
        """Rows that end where the next begins, the first at 0.

        Raises:
            ValueError: the splits are no vector of int32 or int64, or empty.
            InvalidArgumentError: they do not begin at 0, or decrease.
        """
        splits = _vector(row_splits, "row_splits", dtype, dtype_hint)
        if not splits.size:
            raise ValueError("row_splits tensor may not be empty.")
        if validate:
            what = "Arguments to from_row_splits do not form a valid RaggedTensor"
            _require(splits[0] == 0, f"{what}:zero: row_splits[0] is {splits[0]}")
            _require((np.diff(splits) >= 0).all(), f"{what}:monotonic: row_splits decrease")
        return cls(splits)

    @classmethod
    def from_row_lengths(cls, row_lengths, validate=True, dtype=None, dtype_hint=None):
        """Rows of given lengths."""
        lengths = _vector(row_lengths, "row_lengths", dtype, dtype_hint)
        if validate:
            _require(
                (lengths >= 0).all(),
                "Arguments to from_row_lengths do not form a valid RowPartition: a length is "
                "negative",
            )
        return cls(_splits_of(lengths))

    @classmethod
    def from_value_rowids(
        cls, value_rowids, nrows=None, validate=True, dtype=None, dtype_hint=None
    ):
        """Rows by the number of the row each value belongs to, in order."""
        ids = _vector(value_rowids, "value_rowids", dtype, dtype_hint)
        if validate:
            _require(
                not ids.size or (ids[0] >= 0 and (np.diff(ids) >= 0).all()),
                "Arguments to from_value_rowids do not form a valid RowPartition: row ids must be "
                "in order and not negative",
            )
        needed = int(ids[-1]) + 1 if ids.size else 0
        count = needed if nrows is None else _number(nrows)
        if count < 0:
            raise ValueError(f"Expected nrows >= 0; got {count}")
        if count < needed:
            raise ValueError(
                f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, "
                f"value_rowids[-1]={needed - 1}"
            )
        lengths = np.bincount(ids, minlength=count).astype(ids.dtype)
        return cls(_splits_of(lengths), known_nvals=ids.size)

    @classmethod
    def from_row_starts(cls, row_starts, nvals, validate=True, dtype=None, dtype_hint=None):
        """Rows by where they begin, of `nvals` values."""
        starts = _vector(row_starts, "row_starts", dtype, dtype_hint)
        end = _number(nvals)
        if validate:
            what = "Arguments to from_row_starts do not form a valid RaggedTensor"
            _require(not starts.size or starts[0] == 0, f"{what}: the first row starts not at 0")
            _require((np.diff(starts) >= 0).all(), f"{what}: row_starts decrease")
            _require(
                not starts.size or starts[-1] <= end, f"{what}: a row starts behind {end} values"
            )
        return cls(np.append(starts, starts.dtype.type(end)))

    @classmethod
    def from_row_limits(cls, row_limits, validate=True, dtype=None, dtype_hint=None):
        """Rows by where they end."""
        limits = _vector(row_limits, "row_limits", dtype, dtype_hint)
        splits = np.concatenate([np.zeros(1, limits.dtype), limits])
        if validate:
            _require(
                (np.diff(splits) >= 0).all(),
                "Arguments to from_row_limits do not form a valid RaggedTensor: row_limits "
                "decrease or are negative",
            )
        return cls(splits)

    @classmethod
    def from_uniform_row_length(
        cls, uniform_row_length, nvals=None, nrows=None, validate=True, dtype=None, dtype_hint=None
    ):
        """Rows of one length, known as such.

        Raises:
            ValueError: neither `nvals` nor `nrows` is given, or they do not agree.
        """
        if nvals is None and nrows is None:
            raise ValueError("Either (or both) of nvals and nrows must be specified")
        length = _number(uniform_row_length)
        total = _number(nvals) if nvals is not None else length * _number(nrows)
        whole = total // length if length else 0
        count = whole if nrows is None else _number(nrows)
        if length * count != total:
            raise ValueError(
                f"uniform_row_length={length} times nrows={count} must equal nvals={total}"
            )
        if length < 0:
            raise ValueError(f"uniform_row_length must be nonnegative, got {length}.")
        goal = _INT64 if dtype is None else _splits_dtype(dtype)
        return cls((np.arange(count + 1) * length).astype(goal), length, total)

    # Asking -----------------------------------------------------------------------------------

    @property
    def dtype(self):
        return dtypes.of_numpy(self._splits.dtype)

    def row_splits(self):
        return EagerTensor(self._splits)

    def row_starts(self):
        return EagerTensor(self._splits[:-1])

    def row_limits(self):
        return EagerTensor(self._splits[1:])

    def row_lengths(self):
        return EagerTensor(self._lengths)

    def value_rowids(self):
        """The number of the row each value belongs to."""
        return EagerTensor(np.repeat(np.arange(len(self._lengths)), self._lengths).astype(self._t))

    def offsets_in_rows(self):
        """The position of each value in its row."""
        starts = np.repeat(self._splits[:-1], self._lengths)
        return EagerTensor(np.arange(len(starts), dtype=self._t) - starts)

    def nrows(self):
        return EagerTensor(self._t.type(len(self._lengths)))

    def nvals(self):
        return EagerTensor(self._t.type(self._splits[-1]))

    def uniform_row_length(self):
        """The length of all rows; None if they are not known to have one."""
        return None if self._uniform is None else EagerTensor(self._t.type(self._uniform))

    def is_uniform(self):
        return self._uniform is not None

    @property
    def static_nrows(self):
        return len(self._lengths)

    @property
    def static_nvals(self):
        return self._known_nvals

    @property
    def static_uniform_row_length(self):
        return self._uniform

    @property
    def _lengths(self):
        return np.diff(self._splits)

    @property
    def _t(self):
        return self._splits.dtype

    def with_dtype(self, dtype):
        """The same with numbers of another dtype, int32 or int64."""
        return RowPartition(
            self._splits.astype(_splits_dtype(dtype)), self._uniform, self._known_nvals
        )

    def _components(self):
        return [self.row_splits()]

    def _from_components(self, components):
        return RowPartition(components[0]._value, self._uniform, self._known_nvals)

    @property
    def _type_spec(self):
        return RowPartitionSpec(self.static_nrows, self._known_nvals, self._uniform, self.dtype)

    def _spec_with_nvals(self):
        return RowPartitionSpec(self.static_nrows, int(self._splits[-1]), self._uniform, self.dtype)

    def __repr__(self):
        if self._uniform is not None:
            rows = self.static_nrows
            return f"tf.RowPartition(nrows={rows}, uniform_row_length={self._uniform})"
        return f"tf.RowPartition(row_splits={self._splits})"


class RowPartitionSpec(TypeSpec):
    """Describes row partitions: what is known of their numbers, and the dtype of these."""

    value_type = RowPartition

    def __init__(self, nrows=None, nvals=None, uniform_row_length=None, dtype=dtypes.int64):
        self._state = (nrows, nvals, uniform_row_length, dtypes.as_dtype(dtype))

    def _serialize(self):
        return self._state

    def __repr__(self):
        nrows, nvals, length, dtype = self._state
        return (
            f"RowPartitionSpec(nrows={nrows}, nvals={nvals}, uniform_row_length={length}, "
            f"dtype={dtype!r})"
        )


def _require(condition, message):
    if not condition:
        raise InvalidArgumentError(None, None, message)


def _number(value):
    return int(np.asarray(convert_to_tensor(value)._value))


def _splits_dtype(dtype, what="row_splits"):
    found = dtypes.as_dtype(dtype).numpy_dtype
    if found not in (np.int32, np.int64):
        raise ValueError(f"{what} must have dtype int32 or int64")
    return found


def _vector(value, what, dtype, dtype_hint):
    if isinstance(value, (list, tuple)) and not value:
        return np.zeros(0, _INT64)
    if dtype is not None:
        _splits_dtype(dtype, what)
    elif not hasattr(value, "dtype"):
        dtype = dtypes.int64 if dtype_hint is None else dtype_hint
    tensor = convert_to_tensor(value, dtype)
    tensor.shape.assert_has_rank(1)
    array = np.asarray(tensor._value)
    _splits_dtype(array.dtype, what)
    return array


def _splits_of(lengths):
    return np.concatenate([np.zeros(1, lengths.dtype), np.cumsum(lengths, dtype=lengths.dtype)])


RaggedTensor._row_partition = property(  # pyright: ignore[reportAttributeAccessIssue]
    lambda self: RowPartition(self._splits, self._uniform)
)
