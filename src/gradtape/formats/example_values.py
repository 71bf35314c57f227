"""Dense columns of examples: features with a fixed number of values, or filled up."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.errors import invalid_argument
from ..core.shapes import TensorShape
from ..core.spec import TensorSpec
from ..core.tensor import EagerTensor
from .example_wire import WireError, empty, steps_of, values_of

_TYPES = "float32", "int64", "string"


class Column:
    """What columns have in common: reading a feature's values, and the errors."""

    def __init__(self, key, feature, op, in_steps=False):
        self.key, self._op = key, op
        if not feature.dtype:
            raise ValueError(f"Missing type for feature {key}. Received feature={feature}.")
        dtype = dtypes.as_dtype(feature.dtype)
        if dtype.name not in _TYPES:
            raise invalid_argument(op, f"Feature {key} cannot have dtype {dtype.name}")
        self._dtype = dtype

    def reads(self):
        """The names of the features it reads, and how."""
        return [(self.key, (type(self).__name__, self._dtype.name))]

    def rank(self):
        """The place of its kind in the order of results, which is TensorFlow's."""
        return 1

    def values(self, entry, key, kind=None):
        """The values of a feature of an example; None if it is missing."""
        feature = entry.get(key.encode())
        return None if feature is None else self._checked(feature, key, kind or self._dtype.name)

    def steps(self, entry, key, kind=None):
        """The values of each step of a sequence of an example; None if it is missing."""
        body = entry.get(key.encode())
        if body is None:
            return None
        kind = kind or self._dtype.name
        try:
            found = [self._checked(step, key, kind) for step in steps_of(body)]
        except WireError:
            raise self._error(f"Could not parse feature list {key}") from None
        return [empty(kind) if each is None else each for each in found]

    def _checked(self, feature, key, kind):
        try:
            found, values = values_of(feature)
        except WireError:
            raise self._error(f"Key: {key}.  Can't parse serialized Example.") from None
        if found is not None and found != kind:
            raise self._error(
                f"Key: {key}.  Data types don't match. Data type: {found} but expected type: {kind}"
            )
        return values

    def _error(self, message):
        return invalid_argument(self._op, message)


class DenseColumn(Column):
    """Values of a fixed number."""

    def __init__(self, key, feature, op, in_steps=False):
        super().__init__(key, feature, op)
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
        shape = TensorShape(feature.shape)
        if not shape.is_fully_defined():
            raise ValueError(
                f"All dimensions of shape for feature {key} need to be known but received "
                f"{feature.shape}."
            )
        self._shape = tuple(shape.as_list())
        self._size = int(np.prod(self._shape, dtype=np.int64))
        self._default = None
        if feature.default_value is not None:
            default = convert_to_tensor(feature.default_value, self._dtype)
            if default.shape.num_elements() != self._size:
                raise invalid_argument(
                    "Reshape",
                    f"Input to reshape is a tensor with {default.shape.num_elements()} values, "
                    f"but the requested shape has {self._size}",
                )
            self._default = np.reshape(default._value, -1)

    def tensor(self, entries, is_batch, strict):
        found = [self.values(entry, self.key) for entry in entries]
        rows = [self._row(values, i, strict) for i, values in enumerate(found)]
        array = np.empty((len(rows), self._size), self._dtype.numpy_dtype)
        for i, row in enumerate(rows):
            array[i] = row
        return as_tensor(array.reshape(len(rows), *self._shape), is_batch)

    def spec(self, shape):
        """The spec of the tensor of examples of a shape."""
        return TensorSpec([*shape, *self._shape], self._dtype)

    def _row(self, values, i, strict):
        if values is None:
            if self._default is None:
                if not strict:
                    return np.zeros(self._size, self._dtype.numpy_dtype)
                raise self._error(
                    f"Name: <unknown>, Feature: {self.key} (data type: {self._dtype.name}) is "
                    "required but could not be found."
                )
            return self._default
        if len(values) != self._size:
            raise self._error(
                f"Key: {self.key}, Index: {i}.  Number of {self._dtype.name} values != expected.  "
                f"values size: {len(values)} but output shape: {list(self._shape)}"
            )
        return values


class SequenceColumn(Column):
    """Steps of one shape, any number of them, filled up."""

    def __init__(self, key, feature, op, in_steps=False):
        super().__init__(key, feature, op)
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
        self._shape = tuple(TensorShape(feature.shape).as_list())
        self._size = int(np.prod(self._shape, dtype=np.int64))
        self._may_miss = feature.allow_missing
        self._filler = b"" if self._dtype is dtypes.string else 0
        if feature.default_value is not None:
            default = convert_to_tensor(feature.default_value, self._dtype)
            self._filler = np.reshape(default._value, ()).item()

    def tensor(self, entries, is_batch, strict):
        rows = []
        for i, entry in enumerate(entries):
            values = self.values(entry, self.key)
            values = empty(self._dtype.name) if values is None else values
            if len(values) % max(self._size, 1):
                raise self._error(
                    f"Key: {self.key}, Index: {i}.  Number of {self._dtype.name} values is not a "
                    f"multiple of stride length. Saw {len(values)} values but output shape is: "
                    f"{list(self._shape)}"
                )
            rows.append(values.reshape(-1, *self._shape))
        return self._filled(rows, is_batch)

    def steps_tensor(self, entries, is_batch, strict):
        """As `tensor`, of the features of sequences."""
        rows = []
        for entry in entries:
            steps = self.steps(entry, self.key)
            if steps is None:
                if not self._may_miss and strict:
                    raise self._error(
                        f"Name: <unknown>, Feature list '{self.key}' is required but could not be "
                        "found.  Did you mean to include it in "
                        "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
                    )
                steps = []
            for t, step in enumerate(steps):
                if len(step) != self._size:
                    raise self._error(
                        f"Feature list: {self.key}, Index: {t}.  Number of {self._dtype.name} "
                        f"values != expected.  values size: {len(step)} but output shape: "
                        f"{list(self._shape)}"
                    )
            joined = np.concatenate(steps) if steps else empty(self._dtype.name)
            rows.append(joined.reshape(len(steps), *self._shape))
        return self._filled(rows, is_batch)

    def spec(self, shape):
        """The spec of the tensor of examples of a shape."""
        return TensorSpec([*shape, None, *self._shape], self._dtype)

    def _filled(self, rows, is_batch):
        length = max([len(row) for row in rows], default=0)
        shape = (len(rows), length, *self._shape)
        array = np.full(shape, self._filler, self._dtype.numpy_dtype)
        for i, row in enumerate(rows):
            array[i, : len(row)] = row
        return as_tensor(array, is_batch)


def as_tensor(array, is_batch):
    """An array as a tensor; of one example by itself, without the axis of examples."""
    if not is_batch:
        array = array[0, ...]
        if array.dtype != object:
            array = array[()]
    return EagerTensor(array)
