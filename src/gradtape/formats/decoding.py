"""Bytes decoded: raw numbers, base64, CSV and compressed data."""

import base64
import binascii
import csv
import io
import zlib

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.effects import performed
from ..core.errors import DataLossError, invalid_argument
from ..core.exports import export
from ..core.tensor import EagerTensor
from ..ops.arguments import integer
from .strings import each_string, string_array, string_tensor


@export("io.decode_raw")
@performed("DecodeRaw", pure=True)
def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    """The numbers that the bytes of strings are; each string gives a new last axis.

    Args:
        input_bytes: strings of one length.
        out_type: the dtype of the numbers.
        little_endian: whether a number's low byte comes first.
        fixed_length: the length, in bytes, to cut strings to or fill them with zeros to.

    Raises:
        InvalidArgumentError: the strings differ in length, or it is not a multiple of a number's.
    """
    strings = string_array(input_bytes)
    dtype = dtypes.as_dtype(out_type)
    size = dtype.numpy_dtype.itemsize
    items = strings.ravel().tolist()
    op_name = "DecodeRaw" if fixed_length is None else "DecodePaddedRaw"
    if fixed_length is not None:
        length = integer(fixed_length, op_name)
        if length <= 0 or length % size:
            raise invalid_argument(
                op_name,
                f"fixed_length ({length}) must be greater than zero and a multiple of {size}",
            )
        items = [item[:length].ljust(length, b"\0") for item in items]
    length = len(items[0]) if items else 0
    for i, item in enumerate(items):
        if len(item) != length:
            raise invalid_argument(
                op_name,
                f"DecodeRaw requires input strings to all be the same size, but element {i} has "
                f"size {length} != {len(item)}",
            )
    if length % size:
        raise invalid_argument(
            op_name,
            f"Input to DecodeRaw has length {length} that is not a multiple of {size}, the size of "
            f"{dtype.runtime_word}",
        )
    numbers = np.frombuffer(b"".join(items), dtype.numpy_dtype)
    if not little_endian:
        numbers = numbers.byteswap()
    return EagerTensor(numbers.reshape(*strings.shape, length // size).copy())


@export("io.encode_base64")
@performed("EncodeBase64", pure=True)
def encode_base64(input, pad=False, name=None):
    """Strings in the web-safe form of base64.

    Args:
        input: strings.
        pad: whether to fill up with `=`.
    """

    def encoded(item):
        text = base64.urlsafe_b64encode(item)
        return text if pad else text.rstrip(b"=")

    return each_string(encoded, input)


_BASE64_LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@export("io.decode_base64")
@performed("DecodeBase64", pure=True)
def decode_base64(input, name=None):
    """Strings from the web-safe form of base64, filled up or not.

    Raises:
        InvalidArgumentError: a character that does not occur there.
    """

    def decoded(item):
        text = item.rstrip(b"=")
        if not _BASE64_LETTERS.issuperset(text):
            raise invalid_argument("DecodeBase64", "Invalid character found in base64.")
        try:
            return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))
        except binascii.Error:
            raise invalid_argument(
                "DecodeBase64", f"Invalid length {len(text)} of base64."
            ) from None

    return each_string(decoded, input)


@export("io.decode_compressed")
@performed("DecodeCompressed", pure=True)
def decode_compressed(bytes, compression_type="", name=None):
    """Strings without their compression.

    Args:
        bytes: strings.
        compression_type: `""` or `"NONE"` for none, `"ZLIB"` or `"GZIP"`.

    Raises:
        InvalidArgumentError: another compression.
        DataLossError: a string is not compressed so.
    """
    if compression_type in ("", "NONE"):
        return convert_to_tensor(bytes, dtypes.string)
    if compression_type not in ("ZLIB", "GZIP"):
        raise invalid_argument(
            "DecodeCompressed",
            f"Only ZLIB, GZIP or NONE are supported compressions. Received: {compression_type!r}",
        )
    window = 15 if compression_type == "ZLIB" else 31

    def inflated(item):
        try:
            return zlib.decompress(item, window)
        except zlib.error as error:
            raise DataLossError(
                None, None, f"inflate() failed: {error} [Op:DecodeCompressed]"
            ) from None

    return each_string(inflated, bytes)


@export("io.decode_csv")
@performed("DecodeCSV", pure=True)
def decode_csv(
    records,
    record_defaults,
    field_delim=",",
    use_quote_delim=True,
    na_value="",
    select_cols=None,
    name=None,
):
    """The columns of CSV records, each a tensor of the records' shape.

    Args:
        records: strings, a record each.
        record_defaults: for each column a list with the value of an empty field, or an empty
            tensor if the field must not be empty; its dtype is the column's.
        field_delim: what separates fields.
        use_quote_delim: whether fields may stand in quotation marks.
        na_value: a further text that counts as empty.
        select_cols: the positions of the columns wanted, in order.

    Raises:
        InvalidArgumentError: a record has another number of fields, or a field is missing or no
            number.
    """
    strings = string_array(records)
    defaults = [convert_to_tensor(each) for each in record_defaults]
    columns = [[] for _ in defaults]
    for number, record in enumerate(strings.ravel()):
        found = _fields(record, field_delim, use_quote_delim)
        if select_cols:
            if max(select_cols) >= len(found):
                raise _bad_csv(
                    f"Expect {len(select_cols)} fields but have {len(found)} in record {number}"
                )
            found = [found[i] for i in select_cols]
        if len(found) != len(defaults):
            raise _bad_csv(
                f"Expect {len(defaults)} fields but have {len(found)} in record {number}"
            )
        for i, (text, default) in enumerate(zip(found, defaults, strict=True)):
            columns[i].append(_field(text, default, na_value, i, number))
    return [
        _column(values, default.dtype, strings.shape)
        for values, default in zip(columns, defaults, strict=True)
    ]


def _fields(record, delimiter, quoted):
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    text = record.decode("utf-8", "surrogateescape")
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting))
    return rows[0] if rows else [""]


def _field(text, default, na_value, i, number):
    if text in ("", na_value):
        if not default.shape.num_elements():
            raise _bad_csv(f"Field {i} is required but missing in record {number}!")
        return np.ravel(default._value)[0]
    if default.dtype is dtypes.string:
        return text.encode("utf-8", "surrogateescape")
    try:
        return int(text) if default.dtype.is_integer else float(text)
    except ValueError:
        raise _bad_csv(
            f"Field {i} in record {number} is not a valid {default.dtype.runtime_word}: {text}"
        ) from None


def _column(values, dtype, shape):
    if dtype is dtypes.string:
        return string_tensor(values, shape)
    return EagerTensor(np.array(values, dtype.numpy_dtype).reshape(shape)[()])


def _bad_csv(message):
    return invalid_argument("DecodeCSV", message)
