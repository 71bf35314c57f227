"""Datasets of the records of CSV files."""

import functools
import itertools

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.errors import DataLossError, invalid_argument
from ..core.exports import export
from ..core.spec import TensorSpec
from ..core.tensor import Tensor
from ..formats.csv_records import TYPES, RecordError, Records, field_reader, selected
from .dataset import Dataset
from .file_reading import (
    WINDOWS,
    Chained,
    FileItems,
    file_names,
    number,
    open_file,
    reading_error,
    text,
)

_OP = "CSVDatasetV2"
_DEFAULT_BUFFER = 4 * 1024 * 1024


@export("data.experimental.CsvDataset")
class CsvDataset(Dataset):
    """The records of CSV files, each a tuple of the values of its fields.

    Args:
        filenames: the path of a file, or a list or tensor of them.
        record_defaults: for each column wanted, a tensor with the value of an empty field, or a
            dtype or an empty tensor if a field must not be empty.
        compression_type: `""` for none, `"GZIP"` or `"ZLIB"`.
        buffer_size: how many bytes to read at a time.
        header: whether to leave out the first record of each file.
        field_delim: the character between fields.
        use_quote_delim: whether fields may stand in quotation marks.
        na_value: a further text that counts as empty.
        select_cols: the positions of the columns wanted, increasing.
        exclude_cols: the positions of the columns not wanted.

    Raises:
        InvalidArgumentError: arguments make no sense; for an element: a record has another number
            of fields, or a field is missing, no number, or quoted in a wrong way.
        NotFoundError: when a file is to be read and is not there.
    """

    def __init__(
        self,
        filenames,
        record_defaults,
        compression_type=None,
        buffer_size=None,
        header=False,
        field_delim=",",
        use_quote_delim=True,
        na_value="",
        select_cols=None,
        exclude_cols=None,
    ):
        super().__init__()
        self._names = file_names(filenames)
        self._compression = text(compression_type)
        defaults = [_default(each) for each in record_defaults]
        self._spec = tuple([TensorSpec((), each.dtype) for each in defaults])
        self._buffer_size = number(buffer_size, _DEFAULT_BUFFER)
        self._header = bool(header)
        self._delimiter = text(field_delim).encode()
        self._quoted = bool(use_quote_delim)
        self._select = _columns(select_cols)
        self._exclude = _columns(exclude_cols)
        self._check(defaults)
        missing = text(na_value).encode()
        self._readers = [field_reader(each.dtype, _only_value(each), missing) for each in defaults]

    def _check(self, defaults):
        select, exclude = self._select, self._exclude
        if self._names.ndim > 1:
            raise _wrong("`filenames` must be a scalar or a vector.")
        for i, each in enumerate(defaults):
            if len(each.shape) > 1 or each.shape.num_elements() > 1:
                raise _wrong(f"Each record default should be at most rank 1: column {i}")
            if each.dtype not in TYPES:
                raise _wrong(f"Value for attr 'output_types' of {each.dtype.name} is not allowed")
        if not defaults:
            raise _wrong("Length for attr 'output_types' of 0 must be at least minimum 1")
        if select and exclude:
            raise _wrong("Either select_cols or exclude_cols should be empty")
        if self._buffer_size <= 0:
            raise _wrong("buffer_size should be positive")
        if len(self._delimiter) != 1:
            raise _wrong("field_delim should be only 1 char")
        if self._compression not in ("", *WINDOWS):
            raise _wrong("Unsupported compression_type.")
        if select and len(select) != len(defaults):
            raise _wrong("select_cols should match output size")
        for columns in (select, exclude):
            if columns and columns[0] < 0:
                raise _wrong("columns should be non-negative indices")
            if any([a >= b for a, b in itertools.pairwise(columns)]):
                raise _wrong("columns should be strictly increasing indices")

    def _elements(self):
        names = zip(self._names.reshape(-1).tolist())
        return Chained(names, lambda path: FileItems(functools.partial(self._start, path)))

    def _start(self, path):
        file = open_file(path, self._compression, self._buffer_size)
        return file, _Values(Records(file, self._delimiter, self._quoted), self)

    def __repr__(self):
        return f"<CsvDatasetV2 element_spec={self.element_spec}>"


class _Values:
    """The elements that the records of one file give."""

    def __init__(self, records, dataset):
        self._records = records
        self._pick = functools.partial(
            selected,
            count=len(dataset._readers),
            select=dataset._select,
            exclude=frozenset(dataset._exclude),
        )
        self._readers = dataset._readers
        self._has_header = dataset._header

    def __iter__(self):
        return self

    def __next__(self):
        if self._has_header:
            self._has_header = False
            try:
                next(self._records)
            except (RecordError, StopIteration, DataLossError):
                raise reading_error("Can't read header of file") from None
        try:
            fields = self._pick(next(self._records))
            return tuple([read(f) for read, f in zip(self._readers, fields, strict=True)])
        except RecordError as error:
            raise reading_error(str(error)) from None


def _wrong(message):
    return invalid_argument(_OP, message)


def _default(value):
    """A default as a tensor; for a dtype an empty one, which says that there is no default."""
    if not isinstance(value, Tensor):
        # As in TensorFlow all that equals a dtype is one: np.float32, "int64", and a plain 1, which
        # is the number of float32. Defaults are safe as tensors, or as lists of one value.
        for kind in TYPES:
            if kind == value:
                return convert_to_tensor([], kind)
    return convert_to_tensor(value)


def _only_value(tensor):
    if not tensor.shape.num_elements():
        return None
    value = np.reshape(tensor._value, ())
    return value if tensor.dtype is dtypes.string else value[()]


def _columns(columns):
    if columns is None:
        return []
    return np.asarray(columns, np.int64).reshape(-1).tolist()
