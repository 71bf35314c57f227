"""Structures of specs as bytes, as TensorFlow writes them: its message StructuredValue."""

import collections
from typing import Any

from ..core.dtypes import ALL, DType
from ..core.ragged_spec import RaggedTensorSpec
from ..core.shapes import TensorShape
from ..core.sparse_tensor import SparseTensorSpec
from ..core.spec import TensorSpec
from ..formats.proto_descriptors import BYTES, VARINT, wire_values
from ..formats.varints import encoded, signed
from .elements import NoneTensorSpec

# Fields of StructuredValue.
_NONE, _INT, _SHAPE, _DTYPE, _TENSOR, _TYPE, _TUPLE, _DICT, _NAMED = (
    1,
    12,
    31,
    32,
    33,
    34,
    52,
    53,
    54,
)
_LIST = 51
_SPARSE, _RAGGED = 1, 3
_OPEN = (1 << 64) - 1


def spec_to_bytes(spec):
    """A structure of specs as bytes.

    Raises:
        TypeError: there is something in it that TensorFlow's message has no place for.
    """
    if spec is None or isinstance(spec, NoneTensorSpec):
        return encoded(_NONE, BYTES, b"")
    if isinstance(spec, int):
        return encoded(_INT, VARINT, 2 * spec if spec >= 0 else -2 * spec - 1)
    if isinstance(spec, TensorShape):
        return encoded(_SHAPE, BYTES, _shape_to_bytes(spec))
    if isinstance(spec, DType):
        return encoded(_DTYPE, VARINT, spec.as_datatype_enum)
    if isinstance(spec, TensorSpec):
        name = encoded(1, BYTES, spec.name.encode()) if spec.name else b""
        shape = encoded(2, BYTES, _shape_to_bytes(spec.shape))
        kind = encoded(3, VARINT, spec.dtype.as_datatype_enum)
        return encoded(_TENSOR, BYTES, name + shape + kind)
    if isinstance(spec, RaggedTensorSpec):
        state = spec.shape, spec.dtype, spec.ragged_rank, spec.row_splits_dtype
        return _type_to_bytes(_RAGGED, spec, state, 1)
    if isinstance(spec, SparseTensorSpec):
        return _type_to_bytes(_SPARSE, spec, (spec.shape, spec.dtype), 3)
    if isinstance(spec, dict):
        return encoded(_DICT, BYTES, _pairs_to_bytes(1, spec.items()))
    if isinstance(spec, tuple) and hasattr(spec, "_fields"):
        name = encoded(1, BYTES, type(spec).__name__.encode())
        pairs = _pairs_to_bytes(2, spec._asdict().items())  # pyright: ignore[reportAttributeAccessIssue]
        return encoded(_NAMED, BYTES, name + pairs)
    if isinstance(spec, (tuple, list)):
        values = b"".join([encoded(1, BYTES, spec_to_bytes(each)) for each in spec])
        return encoded(_TUPLE if isinstance(spec, tuple) else _LIST, BYTES, values)
    raise TypeError(f"Elements of {spec} cannot be saved.")


def _shape_to_bytes(shape):
    if shape.rank is None:
        return encoded(3, VARINT, 1)
    sizes = [_OPEN if size is None else size for size in shape.as_list()]
    return b"".join([encoded(2, BYTES, encoded(1, VARINT, size)) for size in sizes])


def _type_to_bytes(number, spec, state, components):
    parts = [
        encoded(1, VARINT, number),
        encoded(2, BYTES, spec_to_bytes(state)),
        encoded(3, BYTES, type(spec).__name__.encode()),
        encoded(4, VARINT, components),
    ]
    return encoded(_TYPE, BYTES, b"".join(parts))


def _pairs_to_bytes(field, pairs):
    entries = []
    for key, value in pairs:
        if not isinstance(key, str):
            raise TypeError(f"Dictionary keys must be strings to be saved. Received: {key!r}.")
        entry = encoded(1, BYTES, key.encode()) + encoded(2, BYTES, spec_to_bytes(value))
        entries.append(encoded(field, BYTES, entry))
    return b"".join(entries)


def spec_from_bytes(data):
    """What `spec_to_bytes`, or TensorFlow, made bytes of.

    Raises:
        ValueError: nothing is known to be written so.
    """
    for field, value in _fields(data):
        if field in _READERS:
            return _READERS[field](value)
    raise ValueError("There is no structure of specs in the file, or one of an unknown kind.")


def _fields(data):
    for field, _, value in wire_values(data):
        yield field, value


def _read_int(value):
    return value >> 1 ^ -(value & 1)


def _read_shape(data):
    sizes = []
    for field, value in _fields(data):
        if field == 3 and value:
            return TensorShape(None)
        if field == 2:
            size: Any = signed(dict(_fields(value)).get(1, 0))
            sizes.append(None if size < 0 else size)
    return TensorShape(sizes)


def _read_dtype(number):
    for dtype in ALL:
        if dtype.as_datatype_enum == number:
            return dtype
    raise ValueError(f"The dtype {number} is not known.")


def _read_tensor(data):
    found = dict(_fields(data))
    name = found[1].decode() if 1 in found else None
    return TensorSpec(_read_shape(found.get(2, b"")), _read_dtype(found.get(3, 0)), name)


def _read_type(data):
    found = dict(_fields(data))
    state = spec_from_bytes(found.get(2, b""))
    if found.get(1) == _RAGGED:
        return RaggedTensorSpec(*state[:4])
    if found.get(1) == _SPARSE:
        return SparseTensorSpec(*state)
    raise ValueError(f"The kind of spec {found.get(1)} is not known.")


def _read_values(data):
    return [spec_from_bytes(value) for field, value in _fields(data) if field == 1]


def _read_pairs(data, number):
    entries = [dict(_fields(value)) for field, value in _fields(data) if field == number]
    return {entry.get(1, b"").decode(): spec_from_bytes(entry[2]) for entry in entries}


def _read_named(data):
    pairs = _read_pairs(data, 2)
    name = dict(_fields(data))[1].decode()
    return collections.namedtuple(name, pairs)(**pairs)


_READERS = {
    _NONE: lambda _: NoneTensorSpec(),
    _INT: _read_int,
    _SHAPE: _read_shape,
    _DTYPE: _read_dtype,
    _TENSOR: _read_tensor,
    _TYPE: _read_type,
    _LIST: _read_values,
    _TUPLE: lambda data: tuple(_read_values(data)),
    _DICT: lambda data: _read_pairs(data, 1),
    _NAMED: _read_named,
}
