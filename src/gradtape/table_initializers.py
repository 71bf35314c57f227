"""What tables of tf.lookup are filled with: tensors, or the lines of a file."""

import numpy as np

from .core import dtypes
from .core.convert import convert_to_tensor
from .core.errors import InvalidArgumentError, NotFoundError
from .core.exports import export

KEYS = (dtypes.string, dtypes.int32, dtypes.int64)


def table_error(kind, op_name, text):
    """The error of an op of tables."""
    return kind(None, None, f"{text} [Op:{op_name}] name: ")


@export("lookup.KeyValueTensorInitializer")
class KeyValueTensorInitializer:
    """Keys and values for a table, given as tensors.

    Args:
        keys: a vector of keys.
        values: a vector of as many values.
        key_dtype: the dtype of the keys, if they are given as Python values.
        value_dtype: the dtype of the values, likewise.
    """

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        self._keys = convert_to_tensor(keys, key_dtype)
        self._values = convert_to_tensor(values, value_dtype)

    @property
    def key_dtype(self):
        return self._keys.dtype

    @property
    def value_dtype(self):
        return self._values.dtype

    def initialize(self, table):
        """Fills a table."""
        keys, values = np.asarray(self._keys._value), np.asarray(self._values._value)
        if keys.shape != values.shape:
            raise table_error(
                InvalidArgumentError,
                "LookupTableImportV2",
                f"Expected shape {list(keys.shape)} for value, got {list(values.shape)}",
            )
        table._fill(keys.reshape(-1).tolist(), values.reshape(-1).tolist())


@export("lookup.TextFileIndex")
class TextFileIndex:
    """What of a line a TextFileInitializer takes, besides the number of a column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


@export("lookup.TextFileInitializer")
class TextFileInitializer:
    """Keys and values for a table, read from the lines of a text file.

    Args:
        filename: the file.
        key_dtype: the dtype of the keys.
        key_index: the column of the keys, or one of `TextFileIndex`.
        value_dtype: the dtype of the values.
        value_index: the column of the values, or one of `TextFileIndex`.
        vocab_size: how many lines to read; all if None.
        delimiter: what stands between columns.
        value_index_offset: a number to add to values that are line numbers.

    Raises:
        ValueError: an index does not fit its dtype, or there is no such index.
    """

    def __init__(
        self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None,
        delimiter="\t", name=None, value_index_offset=0,
    ):  # fmt: skip
        self._filename = filename
        self._key_dtype, self._value_dtype = map(dtypes.as_dtype, (key_dtype, value_dtype))
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size, self._delimiter = vocab_size, delimiter
        self._offset = value_index_offset
        for name_, index, dtype in (
            ("key", key_index, self._key_dtype), ("value", value_index, self._value_dtype),
        ):  # fmt: skip
            if index < -2:
                raise ValueError(f"`{name_}_index` should be >= -2, received: {index}.")
            if index == TextFileIndex.LINE_NUMBER and dtype is not dtypes.int64:
                raise ValueError(
                    f"`{name_}_dtype` must be int64 for `{name_}_index` {index}, received: "
                    f"{dtype!r}"
                )
            if index == TextFileIndex.WHOLE_LINE and dtype not in KEYS:
                raise ValueError(
                    f"`{name_}_dtype` should be integer or string for `{name_}_index` {index}, "
                    f"received: {dtype!r}"
                )

    @property
    def key_dtype(self):
        return self._key_dtype

    @property
    def value_dtype(self):
        return self._value_dtype

    def initialize(self, table):
        """Fills a table."""
        path = self._filename
        if hasattr(path, "numpy"):
            path = path.numpy()
        path = path.decode() if isinstance(path, bytes) else str(path)
        op_name = "InitializeTableFromTextFileV2"
        try:
            with open(path, "rb") as file:
                lines = file.read().split(b"\n")
        except FileNotFoundError:
            raise table_error(
                NotFoundError, op_name, f"{path}; No such file or directory"
            ) from None
        if lines[-1] == b"":
            lines.pop()
        size = self._vocab_size
        if size is not None:
            if len(lines) < size:
                raise table_error(
                    InvalidArgumentError,
                    op_name,
                    f"Invalid vocab_size in {path}: expected {size} but got {len(lines)}",
                )
            lines = lines[:size]
        lines = [line.removesuffix(b"\r") for line in lines]
        keys = self._column(path, lines, self._key_index, self._key_dtype, 0)
        values = self._column(path, lines, self._value_index, self._value_dtype, self._offset)
        table._fill(keys, values)

    def _column(self, path, lines, index, dtype, offset):
        if index == TextFileIndex.LINE_NUMBER:
            return list(range(offset, offset + len(lines)))
        fields = lines
        if index >= 0:
            delimiter = self._delimiter.encode()
            fields = []
            for number, line in enumerate(lines):
                columns = line.split(delimiter)
                if len(columns) <= index:
                    raise table_error(
                        InvalidArgumentError,
                        "InitializeTableFromTextFileV2",
                        f"Invalid number of columns in {path} line {number} ({line.decode()}) : "
                        f"expected at least {index + 1} got {len(columns)}",
                    )
                fields.append(columns[index])
        if dtype is dtypes.string:
            return fields
        parse = float if dtype.is_floating else int
        numbers = []
        for number, field in enumerate(fields):
            try:
                numbers.append(parse(field))
            except ValueError:
                raise table_error(
                    InvalidArgumentError,
                    "InitializeTableFromTextFileV2",
                    f"Field {field.decode()} in line {number} is not a valid {dtype.name}.",
                ) from None
        return numbers
