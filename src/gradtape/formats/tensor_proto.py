"""Tensors as bytes: TensorFlow's TensorProto message, written and read without its library."""

import base64
import struct

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.effects import performed
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.tensor import EagerTensor
from .strings import one_string, string_tensor

_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5

# Field numbers of the message.
_DTYPE, _SHAPE, _CONTENT, _STRINGS = 1, 2, 4, 8
_DIM, _SIZE, _UNKNOWN_RANK = 2, 1, 3

# Values that come one by one: the field number, how each is written, how it is to be read.
_VALUES = {
    5: ("<f4", _FOUR_BYTES),
    6: ("<f8", _EIGHT_BYTES),
    7: ("<i4", _VARINT),
    9: ("<f4", _FOUR_BYTES),
    10: ("<i8", _VARINT),
    11: ("?", _VARINT),
    12: ("<f8", _EIGHT_BYTES),
    13: ("<u2", _VARINT),
    16: ("<u4", _VARINT),
    17: ("<u8", _VARINT),
}


def _varint(number):
    number &= 2**64 - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _bytes_field(field, content):
    return _varint(field << 3 | _LENGTH) + _varint(len(content)) + content


def _read_varint(data, place):
    number = shift = 0
    while True:
        byte = data[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, place
        shift += 7


def fields(data):
    """The fields of a message in order: number, wire type, and value."""
    place = 0
    while place < len(data):
        key, place = _read_varint(data, place)
        field, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, place = _read_varint(data, place)
        elif kind in (_LENGTH, _EIGHT_BYTES, _FOUR_BYTES):
            size = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}.get(kind)
            if size is None:
                size, place = _read_varint(data, place)
            if place + size > len(data):
                raise ValueError("a field ends after the message")
            value = data[place : place + size]
            place += size
        else:
            raise ValueError(f"wire type {kind} is not known")
        if field == 0:
            raise ValueError("a field has number 0")
        yield field, kind, value


class TensorProto:
    """A tensor as TensorFlow writes it to files.

    Attributes:
        dtype: the number of the dtype, as in `tf.DType.as_datatype_enum`.
        shape: the shape, a tuple.
        tensor_content: the elements as bytes, for all dtypes but strings.
        string_val: the elements of a string tensor.
    """

    def __init__(self, dtype=0, shape=(), tensor_content=b"", string_val=()):
        self.dtype = dtype
        self.shape = tuple(shape)
        self.tensor_content = tensor_content
        self.string_val = list(string_val)

    def SerializeToString(self):  # noqa: N802
        """The message as bytes."""
        dims = b"".join([_bytes_field(_DIM, _dim(size)) for size in self.shape])
        parts = [_varint(_DTYPE << 3) + _varint(self.dtype), _bytes_field(_SHAPE, dims)]
        if self.tensor_content:
            parts.append(_bytes_field(_CONTENT, self.tensor_content))
        parts += [_bytes_field(_STRINGS, each) for each in self.string_val]
        return b"".join(parts)

    @classmethod
    def FromString(cls, data):  # noqa: N802
        """The message that bytes hold.

        Raises:
            ValueError: they hold none.
        """
        message = cls()
        values = []
        try:
            for field, kind, value in fields(data):
                if field == _DTYPE and kind == _VARINT:
                    message.dtype = value
                elif field == _SHAPE and kind == _LENGTH:
                    message.shape = _read_shape(value)
                elif field == _CONTENT and kind == _LENGTH:
                    message.tensor_content = value
                elif field == _STRINGS and kind == _LENGTH:
                    message.string_val.append(value)
                elif field in _VALUES:
                    values += _read_values(field, kind, value)
        except (IndexError, struct.error) as error:
            raise ValueError("the message ends too early") from error
        if values and not message.tensor_content:
            message.tensor_content = _spread(values, message)
        return message

    def __eq__(self, other):
        return isinstance(other, TensorProto) and vars(self) == vars(other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self):
        return f"TensorProto(dtype={_dtype_of(self).name}, shape={self.shape})"


def _dim(size):
    return _varint(_SIZE << 3) + _varint(size) if size else b""


def _read_shape(data):
    sizes = []
    for field, _, dim in fields(data):
        if field == _DIM:
            found = [value for number, _, value in fields(dim) if number == _SIZE]
            sizes.append(found[-1] if found else 0)
    return tuple(sizes)


def _read_values(field, kind, value):
    form, own = _VALUES[field]
    if kind == own == _VARINT:
        return [value]
    if kind == own:
        return [np.frombuffer(value, form)[0]]
    if own != _VARINT:
        return list(np.frombuffer(value, form))
    values, place = [], 0
    while place < len(value):
        number, place = _read_varint(value, place)
        values.append(number)
    return values


def _spread(values, message):
    """Elements written one by one, as bytes; the last stands for all that are missing."""
    dtype = _dtype_of(message).numpy_dtype
    count = int(np.prod(message.shape, dtype=int))
    if dtype.kind == "c":
        pairs = np.array(values, np.float64).reshape(-1, 2)
        array = (pairs[:, 0] + 1j * pairs[:, 1]).astype(dtype)
    elif dtype.itemsize == 2 and dtype.kind not in "iu":  # 16-bit floats come as their bits
        array = np.array(values, np.uint16).view(dtype)
    elif dtype.kind in "iu":
        array = np.array([int(v) & (2**64 - 1) for v in values], np.uint64).astype(dtype)
    else:
        array = np.array(values).astype(dtype)
    missing = max(count - len(array), 0)
    return np.concatenate([array, np.repeat(array[-1:], missing)])[:count].tobytes()


def _dtype_of(message):
    for dtype in dtypes.ALL:
        if dtype.as_datatype_enum == message.dtype:
            return dtype
    raise ValueError(f"TensorProto has the dtype {message.dtype}, which is not known.")


def _message_of(array, dtype):
    if dtype is dtypes.string:
        return TensorProto(dtype.as_datatype_enum, array.shape, string_val=array.ravel().tolist())
    return TensorProto(dtype.as_datatype_enum, array.shape, np.ascontiguousarray(array).tobytes())


def _array_of(message):
    dtype = _dtype_of(message)
    count = int(np.prod(message.shape, dtype=int))
    if dtype is dtypes.string:
        strings = message.string_val or [b""] * count
        array = np.empty(count, object)
        array[:] = strings + strings[-1:] * (count - len(strings))
        return array.reshape(message.shape)
    size = count * dtype.numpy_dtype.itemsize
    content = message.tensor_content or bytes(size)
    if len(content) != size:
        raise ValueError(f"TensorProto of shape {message.shape} has {len(content)} bytes.")
    return np.frombuffer(content, dtype.numpy_dtype).reshape(message.shape).copy()


@export("make_tensor_proto")
def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """A value as a TensorProto.

    Args:
        values: anything `tf.convert_to_tensor` takes.
        dtype: its dtype.
        shape: its shape; one element may fill any.
        verify_shape: whether the value must have that shape by itself.
        allow_broadcast: whether one element may fill the shape even so.

    Raises:
        ValueError: the value does not fit the shape.
        TypeError: it does not, and `verify_shape` is True.
    """
    if isinstance(values, TensorProto):
        return values
    tensor = convert_to_tensor(values, dtype)
    array = np.asarray(tensor._value)
    if shape is not None:
        shape = tuple([int(size) for size in shape])
        if verify_shape and array.shape != shape:
            raise TypeError(f"Expected Tensor's shape: {shape}, but got {array.shape}.")
        if array.size != 1 and array.size != int(np.prod(shape)):
            raise ValueError(
                f"Shape {shape} has {int(np.prod(shape))} elements, the value {array.size}."
            )
        array = np.broadcast_to(array, shape) if array.size == 1 else array.reshape(shape)
    return _message_of(array, tensor.dtype)


@export("make_ndarray")
def make_ndarray(tensor):
    """The NumPy array that a TensorProto holds.

    Raises:
        ValueError: the message contradicts itself.
    """
    return _array_of(tensor)


@export("io.serialize_tensor")
@performed("SerializeTensor", pure=True)
def serialize_tensor(tensor, name=None):
    """A tensor as a string that `tf.io.parse_tensor`, TensorFlow's too, makes a tensor of."""
    tensor = convert_to_tensor(tensor)
    return string_tensor(_message_of(np.asarray(tensor._value), tensor.dtype).SerializeToString())


@export("io.parse_tensor")
@performed("ParseTensor", pure=True)
def parse_tensor(serialized, out_type, name=None):
    """The tensor that `tf.io.serialize_tensor`, TensorFlow's too, made a string of.

    Raises:
        InvalidArgumentError: the string holds no tensor, or one of another dtype.
    """
    data = one_string(serialized, "ParseTensor", "serialized")
    try:
        message = TensorProto.FromString(data)
        array, found = _array_of(message), _dtype_of(message)
    except ValueError:
        shown = base64.b64encode(data).decode()
        raise invalid_argument(
            "ParseTensor", f"Could not parse `serialized` as TensorProto, base64: {shown}"
        ) from None
    out_type = dtypes.as_dtype(out_type)
    if found is not out_type:
        raise invalid_argument(
            "ParseTensor",
            f"Type mismatch between parsed tensor ({found.runtime_word}) and dtype "
            f"({out_type.runtime_word})",
        )
    return EagerTensor(array if array.ndim or out_type is dtypes.string else array[()])
