"""Crosses of features: each combination of values of several features is a value of a new one."""

import itertools

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.ragged_tensor import RaggedTensor
from ..core.sparse_tensor import SparseTensor
from ..core.string_hash import fingerprint
from ..core.tensor import EagerTensor
from .broadcasting import words

_WORD = (1 << 64) - 1
_FACTOR = 0xC6A4A7935BD1E995
_HASH_KEY = 0xDECAFCAFFE
_INT64_MAX = 2**63 - 1


def _mixed(number):
    return number ^ number >> 47


def _joined(first, second):
    """Two 64-bit fingerprints made one."""
    result = first ^ _FACTOR
    result ^= _mixed(second * _FACTOR & _WORD) * _FACTOR & _WORD
    result = result * _FACTOR & _WORD
    result = _mixed(result) * _FACTOR & _WORD
    return _mixed(result)


def _rows(x, op_name, position):
    """The values of a feature, a list for each example."""
    if isinstance(x, RaggedTensor):
        if x.shape.rank != 2:
            raise ValueError("tf.ragged.cross only supports inputs with rank=2")
        values, lengths = x.values, np.asarray(x.row_lengths())
    elif isinstance(x, SparseTensor):
        places = np.asarray(x.indices._value)
        values, size = x.values, int(np.asarray(x.dense_shape._value)[0])
        lengths = np.bincount(places[:, 0], minlength=size)
    else:
        values = convert_to_tensor(x)
        if values.ndim != 2:
            raise invalid_argument(
                op_name,
                f"Dense inputs should be a matrix but received shape {words(values.shape)} at "
                f"position {position}",
            )
        lengths = np.full(values.shape[0], values.shape[1])
    dtype = values.dtype
    if not (dtype is dtypes.string or dtype.is_integer):
        if op_name == "RaggedCross":
            raise ValueError(f"Unexpected dtype for inputs[{position}]: {dtype!r}")
        values = EagerTensor(np.asarray(values._value).astype(np.int64))
    flat = np.asarray(values._value).reshape(-1).tolist()
    ends = np.cumsum(lengths)
    return [
        flat[end - length : end]
        for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
    ]


def _crossed(features, op_name, combine):
    """For each example what `combine` makes of all combinations of its values."""
    columns = [_rows(feature, op_name, i) for i, feature in enumerate(features)]
    sizes = {len(column) for column in columns}
    if len(sizes) > 1:
        counts = [len(column) for column in columns]
        raise invalid_argument(
            op_name, f"inputs must all have the same batch dimension size. Received: {counts}"
        )
    return [
        [combine(chosen) for chosen in itertools.product(*values)]
        for values in zip(*columns, strict=True)
    ]


def _with_separator(separator):
    def combine(chosen):
        parts = [part if isinstance(part, bytes) else str(part).encode() for part in chosen]
        return separator.join(parts)

    return combine


def _into_buckets(num_buckets, hash_key, op_name):
    if num_buckets < 0:
        raise invalid_argument(
            op_name, f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 0"
        )
    key = _HASH_KEY if hash_key is None else hash_key

    def combine(chosen):
        total = key
        for part in chosen:
            number = fingerprint(part) if isinstance(part, bytes) else part & _WORD
            total = _joined(total, number)
        return total % (num_buckets or _INT64_MAX)

    return combine


def _flat(rows, dtype):
    items = [item for row in rows for item in row]
    array = np.empty(len(items), dtype)
    array[:] = items
    return EagerTensor(array)


def _sparse(inputs, combine, dtype):
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    if any(isinstance(x, RaggedTensor) for x in inputs):
        raise TypeError("All inputs must be Tensor or SparseTensor.")
    first = [x for x in inputs if isinstance(x, SparseTensor)]
    then = [x for x in inputs if not isinstance(x, SparseTensor)]
    rows = _crossed(first + then, "SparseCross", combine)
    places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    longest = max([len(row) for row in rows], default=0)
    return SparseTensor(
        EagerTensor(np.array(places, np.int64).reshape(-1, 2)),
        _flat(rows, dtype),
        EagerTensor(np.array([len(rows), longest], np.int64)),
    )


def _ragged(inputs, combine, dtype):
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    rows = _crossed(inputs, "RaggedCross", combine)
    lengths = np.array([len(row) for row in rows], np.int64)
    return RaggedTensor.from_row_lengths(_flat(rows, dtype), lengths)


@export("sparse.cross")
def sparse_cross(inputs, name=None, separator=None):
    """The crosses of features, as strings; sparse features come before dense ones.

    Args:
        inputs: a list of SparseTensors and matrices, with a row for each example.
        separator: what stands between the values; "_X_" if None.

    Returns:
        A SparseTensor of strings.

    Raises:
        TypeError: the inputs are something else.
        InvalidArgumentError: they differ in the number of rows.
    """
    text = "_X_" if separator is None else separator
    text = text.encode() if isinstance(text, str) else text
    return _sparse(inputs, _with_separator(text), object)


@export("sparse.cross_hashed")
def sparse_cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """The crosses of features, as numbers by a hash; sparse features come before dense ones.

    Args:
        inputs: a list of SparseTensors and matrices, with a row for each example.
        num_buckets: numbers are below this; 0 for any int64.
        hash_key: an integer that the hash depends on.

    Returns:
        A SparseTensor of int64.
    """
    return _sparse(inputs, _into_buckets(num_buckets, hash_key, "SparseCross"), np.int64)


@export("ragged.cross")
def ragged_cross(inputs, name=None):
    """The crosses of features, as strings with "_X_" between the values.

    Args:
        inputs: a list of RaggedTensors, SparseTensors and matrices, with a row for each example.

    Returns:
        A RaggedTensor of strings.

    Raises:
        TypeError: the inputs are not a list.
        ValueError: a ragged input has not two axes, or an input is neither strings nor integers.
        InvalidArgumentError: they differ in the number of rows.
    """
    return _ragged(inputs, _with_separator(b"_X_"), object)


@export("ragged.cross_hashed")
def ragged_cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """The crosses of features, as numbers by a hash.

    Args:
        inputs: a list of RaggedTensors, SparseTensors and matrices, with a row for each example.
        num_buckets: numbers are below this; 0 for any int64.
        hash_key: an integer that the hash depends on.

    Returns:
        A RaggedTensor of int64.
    """
    return _ragged(inputs, _into_buckets(num_buckets, hash_key, "RaggedCross"), np.int64)
