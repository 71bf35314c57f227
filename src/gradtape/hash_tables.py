"""tf.lookup: tables from keys to values."""

from typing import Any

import numpy as np

from .core import dtypes
from .core.convert import convert_to_tensor
from .core.effects import performed
from .core.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from .core.exports import export
from .core.ragged_tensor import RaggedTensor
from .core.sparse_tensor import SparseTensor
from .core.tensor import EagerTensor
from .ops.string_buckets import to_hash_bucket_fast
from .ops.strings import as_string
from .table_initializers import KEYS, table_error


def _plain(array):
    """A NumPy array as a list of Python values; rows of a matrix stay arrays."""
    return array.tolist() if array.ndim < 2 else list(array)


class _Table:
    """What all tables have: their dtypes, and lookup in any kind of tensor."""

    def __init__(self, key_dtype, value_dtype):
        self._key_dtype, self._value_dtype = map(dtypes.as_dtype, (key_dtype, value_dtype))
        if self._key_dtype not in KEYS:
            raise NotFoundError(
                None, None, f"There are no tables with keys of dtype {self._key_dtype.name}."
            )

    @property
    def key_dtype(self):
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self):
        """The dtype of the values."""
        return self._value_dtype

    @property
    def name(self):
        """The name of the table: it has none."""

    def __getitem__(self, keys):
        return self.lookup(keys)

    def lookup(self, keys, name=None) -> Any:
        """The values of keys, in a tensor, RaggedTensor or SparseTensor like that of the keys.

        Raises:
            TypeError: the keys have another dtype than the table's.
        """
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, self.lookup(keys.values), keys.dense_shape)
        if isinstance(keys, RaggedTensor):
            return keys.with_flat_values(self.lookup(keys.flat_values))
        return self._find(self._as_keys(keys))

    def _as_keys(self, keys):
        if not hasattr(keys, "dtype"):
            keys = convert_to_tensor(keys, self._key_dtype)
        keys = convert_to_tensor(keys)
        if keys.dtype is not self._key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self._key_dtype!r}, received: {keys.dtype!r}"
            )
        return keys

    def _find(self, keys) -> Any:
        raise NotImplementedError


class _DictTable(_Table):
    """A table held in a Python dict."""

    def __init__(self, key_dtype, value_dtype, default_value):
        super().__init__(key_dtype, value_dtype)
        self._default = convert_to_tensor(default_value, self._value_dtype)
        self._found: dict = {}

    @property
    def default_value(self):
        """The value of keys that are not in the table."""
        return self._default

    @performed("LookupTableSizeV2")
    def size(self, name=None):
        """The number of keys."""
        return EagerTensor(np.int64(len(self._found)))

    @performed("LookupTableExportV2")
    def export(self, name=None):
        """All keys and all values, as a pair of tensors."""
        keys = self._array(list(self._found), (), self._key_dtype)
        return EagerTensor(keys), EagerTensor(self._value_array(list(self._found.values())))

    def _array(self, items, shape, dtype):
        array = np.empty((len(items), *shape), dtype.numpy_dtype)
        for place, item in enumerate(items) if array.dtype.kind == "O" else ():
            array[place] = item
        if array.dtype.kind != "O" and items:
            array[...] = items
        return array

    def _value_array(self, items):
        return self._array(items, self._default.shape, self._value_dtype)

    @performed("LookupTableFindV2")
    def _find(self, keys, defaults=None) -> Any:
        array = np.asarray(keys._value)
        flat = array.reshape(-1).tolist()
        if defaults is None:
            default = self._default._value
            default = default if np.ndim(default) else np.asarray(default).item()
            items = [self._found.get(key, default) for key in flat]
        else:
            items = [self._found.get(k, d) for k, d in zip(flat, defaults, strict=True)]
        values = self._value_array(items)
        return EagerTensor(values.reshape(array.shape + values.shape[1:])[()])


@export("lookup.StaticHashTable")
class StaticHashTable(_DictTable):
    """A table that does not change once it is made.

    Args:
        initializer: what gives the keys and values.
        default_value: the value of all other keys.

    Raises:
        FailedPreconditionError: a key has two values.

    Example:
        >>> import gradtape as tf
        >>> words = tf.lookup.KeyValueTensorInitializer(["one", "two"], [1, 2])
        >>> table = tf.lookup.StaticHashTable(words, default_value=-1)
        >>> table.lookup(tf.constant(["two", "six"])).numpy().tolist()
        [2, -1]
    """

    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        super().__init__(initializer.key_dtype, initializer.value_dtype, default_value)
        initializer.initialize(self)

    def _fill(self, keys, values):
        self._found = dict(zip(keys, values, strict=True))
        if len(self._found) < len(keys):
            _refuse_second_values(keys, values)


def _refuse_second_values(keys, values):
    known: dict = {}
    for key, value in zip(keys, values, strict=True):
        if known.setdefault(key, value) != value:
            shown = [x.decode() if isinstance(x, bytes) else x for x in (key, known[key], value)]
            raise table_error(
                FailedPreconditionError,
                "LookupTableImportV2",
                "HashTable has different value for same key. Key {} has {} and trying to add "
                "value {}".format(*shown),
            )


@export("lookup.StaticVocabularyTable")
class StaticVocabularyTable(_Table):
    """A table of ids that also has ids for keys it does not know.

    Args:
        initializer: what gives the known keys and their ids, 0 to n - 1; None if there are none.
        num_oov_buckets: how many ids, from n on, other keys share, by their hash.
        lookup_key_dtype: the dtype of the keys that are looked up, if not that of the known ones.

    Raises:
        ValueError: there are no ids for other keys.
        TypeError: the ids are not int64, or the keys of an unfit dtype.
    """

    def __init__(
        self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None,
        experimental_is_anonymous=False,
    ):  # fmt: skip
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        self._buckets = num_oov_buckets
        self._table = None
        if initializer is not None:
            if initializer.value_dtype is not dtypes.int64:
                raise TypeError(
                    f"Invalid `value_dtype`, expected {dtypes.int64!r} but got "
                    f"{initializer.value_dtype!r}."
                )
            self._table = StaticHashTable(initializer, -1)
            lookup_key_dtype = lookup_key_dtype or initializer.key_dtype
        super().__init__(lookup_key_dtype or dtypes.string, dtypes.int64)

    def size(self, name=None):
        """The number of all ids."""
        known = 0 if self._table is None else len(self._table._found)
        return EagerTensor(np.int64(known + self._buckets))

    @performed("LookupTableFindV2")
    def _find(self, keys):
        words = keys if keys.dtype is dtypes.string else as_string(keys)
        buckets = np.asarray(to_hash_bucket_fast(words, self._buckets)._value)
        if self._table is None:
            return EagerTensor(buckets[()])
        if self._table.key_dtype is not keys.dtype:
            keys = EagerTensor(np.asarray(keys._value, self._table.key_dtype.numpy_dtype))
        ids = np.asarray(self._table._find(keys)._value)
        return EagerTensor(np.where(ids < 0, buckets + len(self._table._found), ids)[()])


@export("lookup.experimental.MutableHashTable")
class MutableHashTable(_DictTable):
    """A table that can be changed.

    Args:
        key_dtype: the dtype of the keys.
        value_dtype: the dtype of the values.
        default_value: the value of keys that are not in the table; all values have its shape.
    """

    def __init__(
        self, key_dtype, value_dtype, default_value, name="MutableHashTable", checkpoint=True,
        experimental_is_anonymous=False,
    ):  # fmt: skip
        super().__init__(key_dtype, value_dtype, default_value)

    def lookup(self, keys, dynamic_default_values=None, name=None):
        """The values of keys; of those that are not there, the default or a given value.

        Args:
            keys: a tensor of keys.
            dynamic_default_values: a value for each key, to be used in the place of the default.

        Raises:
            TypeError: the keys have another dtype than the table's.
        """
        if dynamic_default_values is None:
            return super().lookup(keys)
        return self._find_or(self._as_keys(keys), dynamic_default_values)

    @performed("LookupTableFindV2")
    def _find_or(self, keys, defaults):
        return self._find(keys, self._values_for(keys, defaults, "LookupTableFindV2"))

    @performed("LookupTableInsertV2")
    def insert(self, keys, values, name=None):
        """Sets the values of keys, whether they are there or not.

        Raises:
            TypeError: the keys have another dtype than the table's.
            InvalidArgumentError: there are not as many values as keys.
        """
        keys = self._as_keys(keys)
        self._check_keys(keys, "LookupTableInsertV2")
        items = self._values_for(keys, values, "LookupTableInsertV2")
        flat = np.asarray(keys._value).reshape(-1).tolist()
        self._found.update(zip(flat, items, strict=True))

    @performed("LookupTableRemoveV2")
    def remove(self, keys, name=None):
        """Removes keys, of which some may not be there."""
        keys = self._as_keys(keys)
        self._check_keys(keys, "LookupTableRemoveV2")
        for key in np.asarray(keys._value).reshape(-1).tolist():
            self._found.pop(key, None)

    def _values_for(self, keys, values, op_name):
        values = convert_to_tensor(values, self._value_dtype)
        expected = (*keys.shape, *self._default.shape)
        if tuple(values.shape) != expected:
            raise table_error(
                InvalidArgumentError,
                op_name,
                f"Expected shape {list(expected)} for value, got {list(values.shape)}",
            )
        rows = np.array(values._value).reshape((-1, *self._default.shape))
        return _plain(rows)

    def _check_keys(self, keys, op_name):
        """Refuses keys the table cannot hold: there are none."""


@export("lookup.experimental.DenseHashTable")
class DenseHashTable(MutableHashTable):
    """A table that can be changed, with two keys that are never in it.

    Args:
        key_dtype: the dtype of the keys.
        value_dtype: the dtype of the values.
        default_value: the value of keys that are not in the table; all values have its shape.
        empty_key: a key that cannot be used.
        deleted_key: another one.
        initial_num_buckets: accepted for compatibility.
    """

    def __init__(
        self, key_dtype, value_dtype, default_value, empty_key, deleted_key,
        initial_num_buckets=None, name="MutableDenseHashTable", checkpoint=True,
        experimental_is_anonymous=False,
    ):  # fmt: skip
        super().__init__(key_dtype, value_dtype, default_value)
        reserved = [convert_to_tensor(key, self._key_dtype) for key in (empty_key, deleted_key)]
        empty, deleted = [np.asarray(key._value).item() for key in reserved]
        if empty == deleted:
            raise table_error(
                InvalidArgumentError,
                "MutableDenseHashTableV2",
                "Empty and deleted keys must have same shape and be different. Received: "
                f"{empty!r} and {deleted!r}",
            )
        self._reserved = {empty: "empty_key", deleted: "deleted_key"}

    def insert_or_assign(self, keys, values, name=None):
        """Sets the values of keys, as `insert`."""
        self.insert(keys, values)

    def erase(self, keys, name=None):
        """Removes keys, as `remove`."""
        self.remove(keys)

    @performed("LookupTableFindV2")
    def _find(self, keys, defaults=None):
        self._check_keys(keys, "LookupTableFindV2")
        return super()._find(keys, defaults)

    def _check_keys(self, keys, op_name):
        for key in np.asarray(keys._value).reshape(-1).tolist():
            if key in self._reserved:
                raise table_error(
                    InvalidArgumentError,
                    op_name,
                    f"Using the {self._reserved[key]} as a table key is not allowed",
                )
