"""Datasets of the rows that queries of databases give."""

import functools
import sqlite3
import urllib.parse

import numpy as np

from ..core import dtypes, nest
from ..core.errors import InvalidArgumentError, UnknownError, invalid_argument
from ..core.exports import export
from ..core.spec import TensorSpec
from .dataset import Dataset
from .file_reading import FileItems, reading_error, string_leaf, text


@export("data.experimental.SqlDataset")
class SqlDataset(Dataset):
    """The rows that a query of a database gives.

    Args:
        driver_name: the kind of the database: `"sqlite"`.
        data_source_name: the path of its file.
        query: in SQL.
        output_types: the dtypes of the columns, as a tuple: integers, float64, bool or string.

    Raises:
        InvalidArgumentError: another kind of database, or a dtype that is not possible; for an
            element: the query gives another number of columns.
        UnknownError: for an element: what the database has to say.
    """

    def __init__(self, driver_name, data_source_name, query, output_types):
        super().__init__()
        driver = text(driver_name)
        self._path, self._query = text(data_source_name), text(query)
        self._kinds = [dtypes.as_dtype(dtype) for dtype in nest.flatten(output_types)]
        self._spec = nest.pack_sequence_as(
            output_types, [TensorSpec((), kind) for kind in self._kinds]
        )
        if driver != "sqlite":
            raise invalid_argument(
                "SqlDataset",
                f"The database type, {driver}, is not supported by SqlDataset. The set of "
                "supported databases is: {'sqlite'}.",
            )
        for i, kind in enumerate(self._kinds):
            if kind.name not in _FROM_SQL:
                raise invalid_argument(
                    "SqlDataset", f"Each element of `output_types_` must be supported: column {i}"
                )

    def _elements(self):
        return FileItems(self._start)

    def _start(self):
        address = f"file:{urllib.parse.quote(self._path)}?mode=ro"
        try:
            connection = sqlite3.connect(address, uri=True, check_same_thread=False)
        except sqlite3.Error as error:
            raise _said(error) from None
        try:
            return connection, self._rows_of(connection)
        except BaseException:
            connection.close()
            raise

    def _rows_of(self, connection):
        """An iterator over the elements that the query gives."""
        connection.text_factory = bytes
        try:
            connection.execute("pragma schema_version")  # fails if it is no database
            cursor = connection.execute(self._query)
        except sqlite3.Error as error:
            raise _said(error) from None
        width = len(cursor.description or ())
        if width != len(self._kinds):
            raise reading_error(
                f"The number of columns in output ({width}) must match the number of columns in "
                f"output_types ({len(self._kinds)})."
            )
        readers = [_FROM_SQL[kind.name] for kind in self._kinds]
        return map(functools.partial(_element, readers), cursor)

    def __repr__(self):
        return f"<SqlDatasetV2 element_spec={self.element_spec}>"


def _element(readers, row):
    return tuple([read(value) for read, value in zip(readers, row, strict=True)])


def _said(error):
    is_no_database = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB
    kind = InvalidArgumentError if is_no_database else UnknownError
    return kind(None, None, f"{error} [Op:IteratorGetNext] name: ")


# SQLite turns any value into any type: text into the number it begins with, nothing into 0.


def _real(value):
    if isinstance(value, bytes):
        value = _beginning(value, b"+-.eE")
    return float(value or 0)


def _whole(value):
    if isinstance(value, bytes):
        value = _beginning(value, b"+-")
    return int(value or 0)


def _beginning(value, signs):
    """The longest beginning of a text that is a number."""
    value = value.lstrip()
    end = next(
        (i for i, byte in enumerate(value) if not (48 <= byte < 58 or byte in signs)), len(value)
    )
    for stop in range(end, 0, -1):
        try:
            return float(value[:stop]) if b"." in signs else int(value[:stop])
        except ValueError:
            continue
    return 0


def _bytes(value):
    if value is None:
        value = b""
    return string_leaf(value if isinstance(value, bytes) else str(value).encode())


def _integer(dtype):
    numpy_dtype = dtype.numpy_dtype
    return lambda value: np.array(_whole(value), np.int64).astype(numpy_dtype)[()]


_FROM_SQL = {
    dtype.name: _integer(dtype)
    for dtype in (
        dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16
    )
}  # fmt: skip
_FROM_SQL |= {
    "bool": lambda value: np.bool_(_whole(value) != 0),
    "float64": lambda value: np.float64(_real(value)),
    "string": _bytes,
}
