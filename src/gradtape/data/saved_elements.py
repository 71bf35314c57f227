"""Elements as records of TFRecord files, as TensorFlow's snapshots have them.

A component is a record: a message TensorProto. Ragged and sparse tensors are variants in it, each
a message with the tensors they are made of.
"""

import numpy as np

from ..core import dtypes
from ..core.containers import is_composite
from ..core.errors import DataLossError, InvalidArgumentError, UnimplementedError
from ..core.ragged_spec import RaggedTensorSpec
from ..core.ragged_tensor import RaggedTensor
from ..core.sparse_tensor import SparseTensor, SparseTensorSpec
from ..core.tensor import EagerTensor
from ..formats.proto_descriptors import BYTES, VARINT, read_varint, wire_values
from ..formats.tensor_proto import TensorProto, make_ndarray
from ..formats.tfrecords import RecordReader
from ..formats.varints import encoded, varint
from .elements import NoneTensorSpec, Part, leaf_specs

# Fields of TensorProto and VariantTensorDataProto.
_DTYPE, _SHAPE, _CONTENT = 1, 2, 4
_TYPE_NAME, _TENSORS = 1, 3
_VARIANT = dtypes.variant.as_datatype_enum
_RAGGED, _PLAIN = b"RaggedTensorVariant", b"tensorflow::Tensor"


def records(leaves):
    """The records of an element.

    Raises:
        UnimplementedError: a component is nothing that can be written.
    """
    return [_record(leaf) for leaf in leaves if leaf is not None]


def _record(leaf):
    if isinstance(leaf, RaggedTensor):
        parts = [*leaf.nested_row_splits, leaf.flat_values]
        return _variants((), [_variant(_RAGGED, parts)])
    if isinstance(leaf, SparseTensor):
        parts = leaf.indices, leaf.values, leaf.dense_shape
        return _variants((3,), [_variant(_PLAIN, [part]) for part in parts])
    if isinstance(leaf, Part):
        return _variants((), [_variant(_RAGGED, [leaf.value])])
    if is_composite(leaf):
        raise UnimplementedError(
            None, None, f"Elements with a {type(leaf).__name__} in them cannot be saved."
        )
    return _dense(leaf)


def _dense(value):
    array = np.asarray(value)
    kind = dtypes.of_numpy(array.dtype)
    if kind is dtypes.string:
        strings = array.ravel().tolist()
        content = b"".join([*[varint(len(each)) for each in strings], *strings])
    else:
        content = array.tobytes()
    return _proto(kind.as_datatype_enum, array.shape, content)


def _proto(kind, shape, content):
    dims = b"".join([encoded(2, BYTES, encoded(1, VARINT, size)) for size in shape])
    head = encoded(_DTYPE, VARINT, kind) + encoded(_SHAPE, BYTES, dims)
    return head + encoded(_CONTENT, BYTES, content)


def _variant(name, parts):
    tensors = [encoded(_TENSORS, BYTES, _dense(part._value)) for part in parts]
    return encoded(_TYPE_NAME, BYTES, name) + b"".join(tensors)


def _variants(shape, messages):
    sizes = b"".join([varint(len(message)) for message in messages])
    return _proto(_VARIANT, shape, sizes + b"".join(messages))


class ElementReader:
    """Elements from an opened TFRecord file, which it closes at the end, or when it goes.

    Raises, one element at a time:
        InvalidArgumentError: a component has another dtype than its spec.
        DataLossError: a record is no component, or the last element is not complete.
    """

    def __init__(self, file, path, spec):
        self._file = file
        self._source = RecordReader(file, path)
        self._specs = leaf_specs(spec)

    def __iter__(self):
        return self

    def __del__(self):
        self._file.close()

    def __next__(self):
        try:
            return self._read()
        except (StopIteration, DataLossError):  # there is no more to read
            self._file.close()
            raise

    def _read(self):
        leaves = []
        for component, spec in enumerate(self._specs):
            if isinstance(spec, NoneTensorSpec):
                leaves.append(None)
                continue
            try:
                record = next(self._source)
            except StopIteration:
                if leaves and any([leaf is not None for leaf in leaves]):
                    raise _broken("the last element is not complete") from None
                raise
            try:
                leaves.append(_leaf(record, spec, component))
            except (ValueError, IndexError, KeyError) as error:
                raise _broken(str(error)) from error
        return tuple(leaves)


def _broken(text):
    return DataLossError(None, None, f"{text} [Op:IteratorGetNext] name: ")


def _leaf(record, spec, component):
    message = TensorProto.FromString(record)
    if message.dtype == _VARIANT:
        return _composite(message, spec)
    array = _array(message)
    found = dtypes.of_numpy(array.dtype)
    if found is not spec.dtype:
        raise InvalidArgumentError(
            None,
            None,
            f"Data type mismatch at component {component}: expected {spec.dtype.name} but got "
            f"{found.name}. [Op:IteratorGetNext] name: ",
        )
    return array if array.ndim or array.dtype == object else array[()]


def _array(message):
    content = message.tensor_content
    if message.dtype == dtypes.string.as_datatype_enum and content:
        count = int(np.prod(message.shape, dtype=int))
        message.string_val = _split(content, count)
    return make_ndarray(message)


def _split(content, count):
    """Byte strings whose lengths stand before all of them."""
    sizes, place = [], 0
    for _ in range(count):
        size, place = read_varint(content, place)
        sizes.append(size)
    parts = []
    for size in sizes:
        parts.append(content[place : place + size])
        place += size
    return parts


def _composite(message, spec):
    count = int(np.prod(message.shape, dtype=int))
    parts = []
    for each in _split(message.tensor_content, count):
        found = [value for field, _, value in wire_values(each) if field == _TENSORS]
        parts += [EagerTensor(_array(TensorProto.FromString(value))) for value in found]
    if isinstance(spec, SparseTensorSpec):
        return SparseTensor(*parts)
    if not isinstance(spec, RaggedTensorSpec):
        raise ValueError("there is a ragged or sparse tensor where none was expected")
    *splits, values = parts
    if not splits:
        return Part(values, spec)
    return RaggedTensor.from_nested_row_splits(values, splits, validate=False)
