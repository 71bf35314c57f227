"""Sparse tensors as strings: each part written as TensorFlow's TensorProto message."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.tensor import EagerTensor
from .broadcasting import words
from .sparse import as_sparse, sparse_of

# Fields of the messages TensorProto and TensorShapeProto, as their keys on the wire.
_DTYPE, _SHAPE, _CONTENT, _STRINGS = 0x08, 0x12, 0x22, 0x42
_DIMENSION, _SIZE = 0x12, 0x08


def _varint(number):
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def _field(key, content):
    return bytes([key]) + _varint(len(content)) + content


def tensor_message(array):
    """A TensorProto with the array's contents."""
    sizes = b"".join(
        [_field(_DIMENSION, bytes([_SIZE]) + _varint(n) if n else b"") for n in array.shape]
    )
    head = bytes([_DTYPE]) + _varint(dtypes.of_numpy(array.dtype).as_datatype_enum)
    message = head + _field(_SHAPE, sizes)
    if array.dtype.kind == "O":
        return message + b"".join([_field(_STRINGS, item) for item in array.reshape(-1)])
    return message + _field(_CONTENT, array.tobytes()) if array.size else message


def _read_varint(message, at):
    number = shift = 0
    while True:
        byte = message[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def _fields(message):
    """Pairs of a field's key and its number or contents."""
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        value, at = _read_varint(message, at)
        if key & 7 == 2:
            value, at = message[at : at + value], at + value
        yield key, value


def array_of_message(message):
    """The array a TensorProto holds.

    Raises:
        InvalidArgumentError: the bytes are no such message.
    """
    dtype, shape, content, strings = None, (), b"", []
    try:
        for key, value in _fields(message):
            if key == _DTYPE:
                dtype = dtypes.as_dtype(value).numpy_dtype
            elif key == _SHAPE:
                shape = tuple([dict(_fields(dim)).get(_SIZE, 0) for _, dim in _fields(value)])
            elif key == _CONTENT:
                content = value
            elif key == _STRINGS:
                strings.append(bytes(value))
        if dtype is not None and dtype.kind == "O":
            array = np.empty(len(strings), object)
            array[:] = strings
            return array.reshape(shape)
        if dtype is not None:
            return np.frombuffer(content, dtype).reshape(shape)
    except (IndexError, TypeError, ValueError):
        pass
    raise invalid_argument("DeserializeSparse", f"Could not parse a tensor from {message!r}")


def _messages(places, values, sizes):
    parts = (places, values, np.array(sizes, np.int64))
    return [tensor_message(np.ascontiguousarray(part)) for part in parts]


def _strings(rows):
    array = np.empty(np.shape(rows), object)
    array[...] = rows
    return EagerTensor(array)


def _check_string(out_type):
    if dtypes.as_dtype(out_type) is not dtypes.string:
        raise TypeError(f"Only tf.string is supported as out_type. Received: {out_type!r}.")


@export("io.serialize_sparse")
def serialize_sparse(sp_input, out_type=dtypes.string, name=None):
    """The three parts of a sparse tensor as a vector of three strings."""
    _check_string(out_type)
    x = as_sparse(sp_input)
    return _strings(_messages(x._places, x.values._value, x._sizes))


@export("io.serialize_many_sparse")
def serialize_many_sparse(sp_input, out_type=dtypes.string, name=None):
    """Each element along the first axis of a sparse tensor as a row of three strings."""
    _check_string(out_type)
    x = as_sparse(sp_input)
    if len(x._sizes) < 2:
        raise invalid_argument("SerializeManySparse", "Rank of input SparseTensor should be > 1")
    first = x._places[:, 0]
    rows = []
    for i in range(x._sizes[0]):
        mine = first == i
        rows.append(_messages(x._places[mine, 1:], x.values._value[mine], x._sizes[1:]))
    return _strings(rows if rows else np.empty((0, 3), object))


@export("io.deserialize_many_sparse")
def deserialize_many_sparse(serialized_sparse, dtype, rank=None, name=None):
    """The sparse tensor whose elements along a new first axis are the rows of a matrix of strings.

    Args:
        serialized_sparse: what `serialize_many_sparse` gives.
        dtype: the dtype of the values.
        rank: the rank of each element, if it is to be checked.

    Raises:
        InvalidArgumentError: the strings hold something else.
    """
    strings = convert_to_tensor(serialized_sparse, dtypes.string)._value
    goal = dtypes.as_dtype(dtype)
    if strings.ndim != 2 or strings.shape[1] != 3:
        raise invalid_argument(
            "DeserializeManySparse",
            f"Serialized sparse should have 3 columns, got shape {words(strings.shape)}",
        )
    places, values, sizes = [], [], []
    for i, row in enumerate(strings):
        own_places, own_values, own_sizes = [array_of_message(part) for part in row]
        if own_values.dtype != goal.numpy_dtype:
            raise invalid_argument(
                "DeserializeManySparse",
                f"Requested SparseTensor of type {goal.runtime_word} but SparseTensor[{i}].values "
                f".dtype() == {dtypes.of_numpy(own_values.dtype).runtime_word}",
            )
        if len(own_sizes) != len(sizes[0] if sizes else own_sizes) or (
            rank is not None and rank not in (len(own_sizes), len(own_sizes) + 1)
        ):
            raise invalid_argument(
                "DeserializeManySparse", f"SparseTensor[{i}] has rank {len(own_sizes)}"
            )
        places.append(np.insert(own_places, 0, i, 1))
        values.append(own_values)
        sizes.append(own_sizes)
    if not sizes:
        raise invalid_argument("DeserializeManySparse", "Must have at least 1 serialized tensor")
    shape = [len(sizes), *np.max(sizes, 0).tolist()]
    return sparse_of(np.concatenate(places), EagerTensor(np.concatenate(values)), shape)
