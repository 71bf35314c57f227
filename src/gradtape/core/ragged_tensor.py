"""RaggedTensor: rows of different lengths, as one tensor of values and where each row begins."""

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from . import dtypes
from .composite import Composite
from .convert import convert_to_tensor
from .errors import invalid_argument
from .op import Spec
from .shapes import TensorShape
from .tensor import EagerTensor, Tensor

_SPLITS = (np.dtype(np.int64), np.dtype(np.int32))


def splits_dtype(dtype):
    """A dtype of row splits, as NumPy's; an error if it is neither int64 nor int32."""
    found = dtypes.as_dtype(dtype).numpy_dtype
    if found not in _SPLITS:
        raise ValueError(f"Row splits must be int32 or int64. Received: {dtype!r}.")
    return found


def partition_array(value, what):
    """A vector of integers that says how values are divided."""
    if isinstance(value, (list, tuple)) and not value:
        return np.zeros(0, np.int64)
    dtype = None if hasattr(value, "dtype") else dtypes.int64
    array = np.asarray(convert_to_tensor(value, dtype)._value)
    if array.dtype not in _SPLITS:
        raise ValueError(f"Argument `{what}` must be int32 or int64. Received: {array.dtype}.")
    return array


def _values_of(value):
    if isinstance(value, (RaggedTensor, Tensor)):
        return value
    return convert_to_tensor(value)


def length_of(values):
    """How many rows a dense or ragged tensor has."""
    return values._nrows if isinstance(values, RaggedTensor) else values._value.shape[0]


def _checked(condition, message):
    if not condition:
        raise invalid_argument("RaggedTensor", message)


class RaggedTensor(Composite):
    """A tensor of which some axes have rows of different lengths.

    The values of all rows stand one after the other in `values`, and row `i` is
    `values[row_splits[i]:row_splits[i + 1]]`. Values may be ragged themselves. Made by its
    `from_…` methods and by `tf.ragged.constant`.

    Example:
        >>> RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1]).to_list()
        [[1, 2], [], [3]]
    """

    __slots__ = ("_row_splits", "_uniform", "_values")
    _incomplete = "RaggedTensor"

    def __init__(self, values, row_splits, uniform=None):
        self._values = values
        self._row_splits = row_splits
        self._uniform = uniform

    if TYPE_CHECKING:  # methods that need ops, which install them
        __abs__: Any
        __getitem__: Any
        __invert__: Any
        __iter__: Any
        __neg__: Any
        _other_op: Any
        from_sparse: Any
        from_tensor: Any
        merge_dims: Any
        to_sparse: Any
        to_tensor: Any

    # Making -----------------------------------------------------------------------------------

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        """Rows that end where the next begins: row i is `values[row_splits[i]:row_splits[i+1]]`.

        Raises:
            InvalidArgumentError: the splits do not start at 0, decrease, or end elsewhere than the
                values do.
        """
        values = _values_of(values)
        splits = partition_array(row_splits, "row_splits")
        if splits.ndim != 1 or not splits.size:
            raise ValueError("row_splits tensor may not be empty: it is a vector.")
        if validate:
            _checked(splits[0] == 0, f"Arguments to from_row_splits do not form a valid "
                     f"RaggedTensor:zero: row_splits[0] is {splits[0]}")  # fmt: skip
            _checked((splits[1:] >= splits[:-1]).all(), "Arguments to from_row_splits do not form "
                     "a valid RaggedTensor: row_splits must not decrease")  # fmt: skip
            _checked(splits[-1] == length_of(values), "Arguments to from_row_splits do not form a "
                     f"valid RaggedTensor: row_splits end at {splits[-1]} but there are "
                     f"{length_of(values)} values")  # fmt: skip
        return cls(values, EagerTensor(splits))

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        """Rows of given lengths."""
        lengths = partition_array(row_lengths, "row_lengths")
        if validate:
            _checked((lengths >= 0).all(), "Arguments to from_row_lengths do not form a valid "
                     "RaggedTensor: a length is negative")  # fmt: skip
        return cls.from_row_splits(values, _splits_of_lengths(lengths), validate=validate)

    @classmethod
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
        """Rows that consist of the values with the same row number; numbers do not decrease."""
        ids = partition_array(value_rowids, "value_rowids")
        if validate:
            _checked((ids[1:] >= ids[:-1]).all() and (ids >= 0).all(), "Arguments to "
                     "from_value_rowids do not form a valid RaggedTensor: row ids must be in "
                     "order and not negative")  # fmt: skip
        count = int(ids[-1]) + 1 if ids.size else 0
        if nrows is not None:
            wanted = int(np.asarray(convert_to_tensor(nrows)._value))
            if wanted < 0:
                raise ValueError(f"Expected nrows >= 0; got {wanted}")
            if wanted < count:
                raise ValueError(
                    f"Expected nrows >= value_rowids[-1] + 1; got nrows={wanted}, "
                    f"value_rowids[-1]={count - 1}"
                )
            count = wanted
        lengths = np.bincount(ids, minlength=count).astype(ids.dtype)
        return cls.from_row_splits(values, _splits_of_lengths(lengths), validate=validate)

    @classmethod
    def from_row_starts(cls, values, row_starts, name=None, validate=True):
        """Rows by where they begin."""
        values = _values_of(values)
        starts = partition_array(row_starts, "row_starts")
        end = np.array([length_of(values)], starts.dtype)
        splits = np.concatenate([starts, end] if starts.size else [end * 0])
        return cls.from_row_splits(values, splits, validate=validate)

    @classmethod
    def from_row_limits(cls, values, row_limits, name=None, validate=True):
        """Rows by where they end."""
        limits = partition_array(row_limits, "row_limits")
        splits = np.concatenate([np.zeros(1, limits.dtype), limits])
        return cls.from_row_splits(values, splits, validate=validate)

    @classmethod
    def from_uniform_row_length(
        cls, values, uniform_row_length, nrows=None, validate=True, name=None
    ):
        """Rows of one length, known as such."""
        values = _values_of(values)
        length = int(np.asarray(convert_to_tensor(uniform_row_length)._value))
        total = length_of(values)
        if length < 0:
            raise ValueError(f"uniform_row_length must be nonnegative, got {length}.")
        if nrows is None:
            count = total // length if length else 0
        else:
            count = int(np.asarray(convert_to_tensor(nrows)._value))
        if count * length != total:
            raise ValueError(
                f"Arguments to from_uniform_row_length do not form a valid RaggedTensor: {count} "
                f"rows of {length} are not {total} values"
            )
        splits = np.arange(count + 1, dtype=np.int64) * length
        return cls(values, EagerTensor(splits), length)

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True):
        """Several ragged axes, from the outermost to the innermost."""
        return _nested(cls.from_row_splits, flat_values, nested_row_splits, validate)

    @classmethod
    def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None, validate=True):
        """Several ragged axes, from the outermost to the innermost."""
        return _nested(cls.from_row_lengths, flat_values, nested_row_lengths, validate)

    @classmethod
    def from_nested_value_rowids(
        cls, flat_values, nested_value_rowids, nested_nrows=None, name=None, validate=True
    ):
        """Several ragged axes, from the outermost to the innermost."""
        counts = nested_nrows or [None] * len(nested_value_rowids)
        result = flat_values
        for ids, count in zip(nested_value_rowids[::-1], counts[::-1], strict=True):
            result = cls.from_value_rowids(result, ids, count, validate=validate)
        return result

    # Asking -----------------------------------------------------------------------------------

    @property
    def values(self):
        return self._values

    @property
    def row_splits(self):
        return self._row_splits

    @property
    def flat_values(self) -> Any:
        """The innermost values."""
        values = self._values
        return values.flat_values if isinstance(values, RaggedTensor) else values

    @property
    def nested_row_splits(self):
        return tuple([EagerTensor(splits) for splits in self._nested_splits])

    @property
    def _splits(self):
        return self._row_splits._value

    @property
    def _nested_splits(self):
        inner = self._values
        return [self._splits, *(inner._nested_splits if isinstance(inner, RaggedTensor) else ())]

    @property
    def _nrows(self):
        return len(self._splits) - 1

    @property
    def _lengths(self):
        return np.diff(self._splits)

    @property
    def _rowids(self):
        return np.repeat(np.arange(self._nrows, dtype=self._splits.dtype), self._lengths)

    @property
    def ragged_rank(self):
        return len(self._nested_splits)

    @property
    def uniform_row_length(self):
        if self._uniform is None:
            return None
        return EagerTensor(self._splits.dtype.type(self._uniform))

    @property
    def dtype(self):
        return self.flat_values.dtype

    @property
    def shape(self):
        inner = tuple(self._values.shape)[1:]
        return TensorShape([self._nrows, self._uniform, *inner])

    def get_shape(self):
        return self.shape

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def _value(self):
        """The shape and dtype, for questions about these alone."""
        return Spec(tuple(self.shape.as_list()), self.flat_values._value.dtype)

    def nrows(self, out_type=None, name=None):
        """The number of rows of the outermost axis."""
        return EagerTensor(self._typed(self._nrows, out_type))

    def row_starts(self, name=None):
        return EagerTensor(self._splits[:-1])

    def row_limits(self, name=None):
        return EagerTensor(self._splits[1:])

    def row_lengths(self, axis=1, name=None):
        """The lengths of the rows along an axis; ragged from the third on."""
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return EagerTensor(self._lengths)
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        sizes = tuple(self._values.shape)
        lengths = np.full(sizes[: axis - 1], sizes[axis - 1], self._splits.dtype)
        return self.with_values(EagerTensor(lengths))

    def nested_row_lengths(self, name=None):
        return tuple([EagerTensor(np.diff(splits)) for splits in self._nested_splits])

    def value_rowids(self, name=None):
        """The number of the row each value belongs to."""
        return EagerTensor(self._rowids)

    def nested_value_rowids(self, name=None):
        ids = (self.value_rowids(),)
        inner = self._values
        return ids + (inner.nested_value_rowids() if isinstance(inner, RaggedTensor) else ())

    def _typed(self, numbers, out_type):
        dtype = self._splits.dtype if out_type is None else splits_dtype(out_type)
        return np.asarray(numbers, dtype)[()]

    @property
    def _bounds(self):
        """The least dense shape that holds all rows."""
        inner = self._values
        rest = inner._bounds if isinstance(inner, RaggedTensor) else tuple(inner.shape)
        longest = int(self._lengths.max()) if self._nrows else 0
        return (self._nrows, longest, *rest[1:])

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """The least dense shape that holds all rows, or its size along some axis."""
        bounds = self._typed(self._bounds, out_type)
        if axis is None:
            return EagerTensor(bounds)
        return EagerTensor(bounds[np.asarray(convert_to_tensor(axis)._value)])

    # Rebuilding -------------------------------------------------------------------------------

    def with_values(self, new_values):
        """The same rows with other values, as many as before."""
        values = _values_of(new_values)
        if length_of(values) != length_of(self._values):
            raise ValueError(
                f"The values must have {length_of(self._values)} rows, as before. Received: "
                f"{length_of(values)}."
            )
        return RaggedTensor(values, self._row_splits, self._uniform)

    def with_flat_values(self, new_values):
        """The same rows with other innermost values."""
        inner = self._values
        return self.with_values(
            inner.with_flat_values(new_values) if isinstance(inner, RaggedTensor) else new_values
        )

    def with_row_splits_dtype(self, dtype):
        """The same with row splits of another dtype."""
        goal = splits_dtype(dtype)
        inner = self._values
        if isinstance(inner, RaggedTensor):
            inner = inner.with_row_splits_dtype(dtype)
        return RaggedTensor(inner, EagerTensor(self._splits.astype(goal)), self._uniform)

    def consumers(self):
        """The ops that read it; nobody keeps a list of them."""
        return []

    def _components(self):
        return [self.flat_values, *self.nested_row_splits]

    def _from_components(self, components):
        # Where a gradient is rebuilt, rows have none: they stay.
        if components[0] is None:
            return None
        splits = [
            own if new is None else new._value
            for new, own in zip(components[1:], self._nested_splits, strict=True)
        ]
        return _nested(RaggedTensor.from_row_splits, components[0], splits, False)

    def _differentiable_components(self, role):
        return [self.flat_values] if role == "target" else self._components()

    # Reading ----------------------------------------------------------------------------------

    def to_list(self):
        """Nested lists of Python values."""
        inner = self._values
        rows = inner.to_list() if isinstance(inner, RaggedTensor) else inner.numpy().tolist()
        splits = self._splits.tolist()
        return [rows[a:b] for a, b in itertools.pairwise(splits)]

    def numpy(self):
        """An array of the rows' arrays; a dense one if all rows have the same length."""
        inner = self._values.numpy()
        rows = [inner[a:b] for a, b in zip(self._splits[:-1], self._splits[1:], strict=True)]
        if not rows:
            return np.zeros((0, 0, *np.shape(inner)[1:]), inner.dtype)
        if len({len(row) for row in rows}) == 1:
            return np.stack(rows)
        array = np.empty(len(rows), object)
        array[:] = rows
        return array

    def _no_tensor(self):
        return ValueError(
            "TypeError: object of type 'RaggedTensor' has no len(): a tensor has rows of one "
            "length; use to_tensor()"
        )

    def __bool__(self):
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __repr__(self):
        return f"<tf.RaggedTensor {self._text()}>"

    def _text(self):
        """The elements as nested lists, with line breaks where NumPy puts them."""
        with np.printoptions(formatter={"all": _array_text}):
            return _array_text(self.numpy())


def _array_text(item):
    if not isinstance(item, np.ndarray):
        return str(item)
    return np.array2string(item, separator=", ") if item.size else repr(item.tolist())


def _splits_of_lengths(lengths):
    return np.concatenate([np.zeros(1, lengths.dtype), np.cumsum(lengths, dtype=lengths.dtype)])


def _nested(make, flat_values, partitions, validate):
    result = _values_of(flat_values)
    for partition in list(partitions)[::-1]:
        result = make(result, partition, validate=validate)
    return result
