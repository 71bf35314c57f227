"""Datasets of batches of the columns of CSV files, with names and types found in the files."""

import collections
import csv
import functools
import gzip
import io
import operator

import numpy as np

from ..core import dtypes, nest
from ..core.convert import convert_to_tensor
from ..core.exports import export
from ..formats.files import glob
from .batches import batch
from .csv_files import CsvDataset
from .dataset import AUTOTUNE, Dataset
from .errors_ignored import ignore_errors as without_errors
from .file_reading import FilesInTurn, open_file, text
from .prefetching import prefetch
from .selection import repeat
from .shuffling import shuffle as shuffled
from .sources import from_tensor_slices


class ColumnsDataset(Dataset):
    """Tuples as dicts of columns, perhaps with one of them aside."""

    def __init__(self, source, names, label):
        super().__init__(source)
        self._input = source
        self._names, self._label = names, label
        positions = range(len(source.element_spec))
        self._order = operator.itemgetter(*nest.flatten(self._structure(positions)), 0)

    def _structure(self, parts):
        features = collections.OrderedDict(zip(self._names, parts, strict=False))
        if self._label is None:
            return features
        label = features.pop(self._label)
        return features, label

    @property
    def element_spec(self):
        return self._structure(self._input.element_spec)

    def _elements(self):
        return map(self._rearranged, self._input._elements())

    def _rearranged(self, leaves):
        # The getter is asked for one more, as it gives no tuple of a single one.
        return self._order(leaves)[:-1]

    def _count(self):
        return self._input._count()


@export("data.experimental.make_csv_dataset")
def make_csv_dataset(
    file_pattern,
    batch_size,
    column_names=None,
    column_defaults=None,
    label_name=None,
    select_columns=None,
    field_delim=",",
    use_quote_delim=True,
    na_value="",
    header=True,
    num_epochs=None,
    shuffle=True,
    shuffle_buffer_size=10000,
    shuffle_seed=None,
    prefetch_buffer_size=None,
    num_parallel_reads=None,
    sloppy=False,
    num_rows_for_inference=100,
    compression_type=None,
    ignore_errors=False,
    encoding="utf-8",
):
    """A dataset of batches of the columns of CSV files, as dicts from their names.

    Args:
        file_pattern: a pattern of paths, or a list of them.
        batch_size: how many records make a batch.
        column_names: the names of the columns; by default the first record of a file.
        column_defaults: for each column selected, the value of an empty field, or a dtype if it
            must not be empty. By default types follow from the first records, and an empty field
            is 0 or an empty string.
        label_name: a column that is given by itself: elements are dicts and this column then.
        select_columns: the names or positions of the columns wanted.
        field_delim: the character between fields.
        use_quote_delim: whether fields may stand in quotation marks.
        na_value: a further text that counts as empty.
        header: whether the first record of each file holds names.
        num_epochs: how often to go through the files; without end by default.
        shuffle: whether files and records come in random order.
        shuffle_buffer_size: among how many records the next one is drawn.
        shuffle_seed: what the order follows from.
        prefetch_buffer_size: how many batches to make ahead.
        num_parallel_reads: how many files to take records from in turn.
        sloppy: accepted for compatibility; the order is always the same.
        num_rows_for_inference: how many records types follow from; None for all.
        compression_type: `""` for none, `"GZIP"` or `"ZLIB"`.
        ignore_errors: whether records that are wrong are left out.
        encoding: of the text that names and types follow from.

    Raises:
        ValueError: no file matches, or names or columns do not fit.
    """
    parallel = 1 if num_parallel_reads is None else num_parallel_reads
    names = _matching(file_pattern)
    dataset = from_tensor_slices(names)
    if shuffle:
        dataset = shuffled(dataset, len(names), shuffle_seed)
    if column_names is None or column_defaults is None:
        probe = _Probe(
            names, field_delim, use_quote_delim, header, _opener(compression_type, encoding)
        )
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
        column_names = probe.column_names()
    if len(column_names) != len(set(column_names)):
        twice = {name for name in column_names if list(column_names).count(name) > 1}
        raise ValueError(
            "Either `column_names` argument or CSV header row contains duplicate column names: "
            f"{twice}."
        )
    if select_columns is not None:
        select_columns = _positions(select_columns, column_names)
    if column_defaults is None:
        column_defaults = probe.defaults(
            len(column_names), select_columns, na_value, num_rows_for_inference
        )
    if select_columns is not None:
        if len(column_defaults) != len(select_columns):
            raise ValueError(
                "If specified, `column_defaults` and `select_columns` must have the same length: "
                f"`column_defaults` has length {len(column_defaults)}, `select_columns` has length "
                f"{len(select_columns)}."
            )
        column_names = [column_names[i] for i in select_columns]
    if label_name is not None and label_name not in column_names:
        raise ValueError(
            f"`label_name` provided must be one of the columns: {column_names}. Received: "
            f"{label_name}."
        )

    def records_of(name):
        dataset = CsvDataset(
            name,
            column_defaults,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=select_columns,
            header=header,
            compression_type=compression_type,
        )
        return without_errors(dataset) if ignore_errors else dataset

    dataset = FilesInTurn(dataset, records_of, parallel)
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = batch(dataset, batch_size, drop_remainder=num_epochs is None)
    dataset = ColumnsDataset(dataset, list(column_names), label_name)
    ahead = AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    return prefetch(dataset, ahead)


def shuffled_and_repeated(dataset, epochs, shuffle, buffer_size, seed):
    """A dataset in random order if asked for, as often as asked for."""
    if shuffle:
        dataset = shuffled(dataset, buffer_size, seed)
    return dataset if epochs == 1 else repeat(dataset, epochs)


def _matching(patterns):
    if isinstance(patterns, list) and not patterns:
        raise ValueError("Argument `file_pattern` should not be empty.")
    names = sorted(glob(patterns))
    if not names:
        raise ValueError(f"No files match `file_pattern` {patterns}.")
    return names


def _opener(compression, encoding):
    """A function that opens a file as text."""
    kind = "" if compression is None else text(compression)
    if kind == "GZIP":
        return lambda name: gzip.open(name, "rt", encoding=encoding, newline="")
    if kind == "ZLIB":
        raise ValueError(f"`compression_type` {compression} is not supported for probing columns.")
    if kind:
        raise ValueError(
            f"Received unknown `compression_type` {compression}. Expected: GZIP, ZLIB or "
            "(empty string)."
        )
    return lambda name: io.TextIOWrapper(open_file(name), encoding, newline="")


def _positions(columns, names):
    """The positions of columns given by name or position, in order."""
    found = set()
    for column in columns:
        if isinstance(column, int):
            if not 0 <= column < len(names):
                raise ValueError(
                    f"Column index {column} specified in `select_columns` should be >= 0 and < "
                    f"{len(names)}, which is the number of columns."
                )
            found.add(column)
        elif column in names:
            found.add(list(names).index(column))
        else:
            raise ValueError(
                f"Column {column} specified in `select_columns` must be of one of the columns: "
                f"{names}."
            )
    if len(found) != len(columns):
        raise ValueError(f"The `select_columns` argument contains duplicate columns: {columns}.")
    return sorted(found)


class _Probe:
    """Looks into CSV files for the names and types of their columns."""

    def __init__(self, names, delimiter, quoted, header, opener):
        self._names, self._open, self._header = names, opener, header
        quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
        self._reader = functools.partial(csv.reader, delimiter=delimiter, quoting=quoting)

    def column_names(self):
        """The first record, which must be the same in all files."""
        first: list[str] = []
        for name in self._names:
            with self._open(name) as file:
                row = next(self._reader(file), None)
            if row is None:
                raise ValueError(
                    f"Failed when reading the header line of {name}. Is it an empty file?"
                )
            if first not in ([], row):
                raise ValueError(
                    "All input CSV files should have the same column names in the header row. "
                    f"File {name} has different column names."
                )
            first = row
        return first

    def defaults(self, width, columns, missing, limit):
        """For each column a tensor of its type: the narrowest that holds what is seen."""
        columns = range(width) if columns is None else columns
        ranks: list[int | None] = [None] * len(columns)
        for i, row in enumerate(self._rows(width)):
            if limit is not None and i >= limit:
                break
            for j, column in enumerate(columns):
                field = row[column]
                if field not in ("", missing):
                    ranks[j] = max(ranks[j] or 0, _narrowest(field))
        found = [dtypes.string if rank is None else _BY_WIDTH[rank] for rank in ranks]
        return [convert_to_tensor([b"" if each is dtypes.string else 0], each) for each in found]

    def _rows(self, width):
        for name in self._names:
            with self._open(name) as file:
                reader = self._reader(file)
                if self._header:
                    next(reader, None)
                for position, row in enumerate(reader, 1 + self._header):
                    if len(row) != width:
                        raise ValueError(
                            f"Problem inferring types: CSV row {position} has {len(row)} number "
                            f"of fields. Expected: {width}."
                        )
                    yield row


_BY_WIDTH = dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string


_MOST_FLOAT32 = float(np.finfo(np.float32).max)


def _narrowest(field):
    """The position of the first type that holds a field."""
    try:
        value = int(field)
        if -(2**31) <= value < 2**31:
            return 0
        if -(2**63) <= value < 2**63:
            return 1
    except ValueError:
        pass
    try:
        value = float(field)
    except ValueError:
        return 4
    return 2 if value <= _MOST_FLOAT32 else 3 if value < np.inf else 4
