"""Lookup tables filled from datasets."""

from typing import Any, NamedTuple

from ..core.dtypes import as_dtype, int64, string
from ..core.exports import export
from ..hash_tables import StaticHashTable, StaticVocabularyTable
from .arguments import whole_number
from .dataset import Dataset
from .errors_ignored import assert_cardinality
from .initializers import DatasetInitializer


class HasherSpec(NamedTuple):
    """How keys that a table does not know get their ids."""

    hasher: str
    key: Any


_FAST_HASH = HasherSpec("fasthash", None)


@export("data.experimental.table_from_dataset")
def table_from_dataset(
    dataset: Any = None,
    num_oov_buckets=0,
    vocab_size=None,
    default_value=None,
    hasher_spec=_FAST_HASH,
    key_dtype=string,
    name=None,
):
    """A lookup table of the pairs that a dataset consists of.

    Args:
        dataset: of pairs of a key and a value, both scalars.
        num_oov_buckets: how many ids other keys share, by their hash; values must be int64 then.
        vocab_size: how many pairs there must be; further ones are left out. None: all.
        default_value: the value of other keys; -1 by default where values are numbers.
        hasher_spec: accepted for compatibility.
        key_dtype: the dtype of keys that are looked up.

    Raises:
        AttributeError: there is no dataset.
        TypeError, ValueError: the elements are no such pairs.
        TypeError: `key_dtype` is neither an integer nor a string type.
        ValueError: an argument is missing or out of range.
        FailedPreconditionError: a key has two values, or there are too few pairs.
        OutOfRangeError: there are no pairs.
    """
    _check_is_dataset(dataset)
    initializer = DatasetInitializer(dataset)
    kind = initializer.value_dtype
    if default_value is None:
        if not (kind.is_integer or kind.is_floating):
            raise ValueError(
                "`default_value` must be specified when creating a table from a dataset that "
                f"produces values of type {kind}."
            )
        default_value = -1
    if num_oov_buckets < 0:
        raise ValueError(
            f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}."
        )
    if num_oov_buckets and kind is not int64:
        raise ValueError(f"Ids for other keys take int64 values. Received: {kind}")
    key_dtype = as_dtype(key_dtype)
    if not key_dtype.is_integer and key_dtype is not string:
        raise TypeError(f"`key_dtype` must be either an integer or string type, got {key_dtype}")
    if vocab_size is not None:
        count = whole_number(vocab_size)
        if count < 1:
            raise ValueError(f"`vocab_size` must be greater than 0, got {count}.")
        initializer = DatasetInitializer(dataset.take(count).apply(assert_cardinality(count)))
    if num_oov_buckets:
        return StaticVocabularyTable(initializer, num_oov_buckets, key_dtype)
    return StaticHashTable(initializer, default_value)


@export("data.experimental.index_table_from_dataset")
def index_table_from_dataset(
    dataset: Any = None,
    num_oov_buckets=0,
    vocab_size=None,
    default_value=-1,
    hasher_spec=_FAST_HASH,
    key_dtype=string,
    name=None,
):
    """A lookup table that gives the elements of a dataset, which are scalars, their positions.

    Args:
        dataset: the keys.
        default_value: the value of other keys.
        num_oov_buckets, vocab_size, hasher_spec, key_dtype: as for `table_from_dataset`.

    Example:
        >>> from gradtape import constant
        >>> table = index_table_from_dataset(Dataset.from_tensor_slices(["a", "b"]))
        >>> table.lookup(constant(["b", "c"])).numpy().tolist()
        [1, -1]
    """
    _check_is_dataset(dataset)
    numbered = dataset.enumerate().map(lambda i, key: (key, i))
    return table_from_dataset(
        numbered, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name
    )


def _check_is_dataset(item):
    if not isinstance(item, Dataset):
        raise AttributeError(f"{item!r} has no elements: it is no tf.data.Dataset")
