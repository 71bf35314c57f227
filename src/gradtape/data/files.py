"""Datasets of lines and of records of one length, and of the names of files."""

import itertools
import os

from ..core.errors import DataLossError, InternalError, InvalidArgumentError
from ..core.exports import export
from ..formats.files import glob, said_as_tensorflow
from .dataset import constructor
from .file_reading import FileDataset, file_names, number, open_file, reading_error, string_leaf
from .shuffling import shuffle as shuffled
from .sources import from_tensor_slices


@export("data.TextLineDataset")
class TextLineDataset(FileDataset):
    """The lines of text files, without their ends.

    Args:
        filenames: the path of a file, a list or tensor of them, or a dataset of them.
        compression_type: `""` for none, `"GZIP"` or `"ZLIB"`.
        buffer_size: how many bytes to read at a time; 0 for a size that suits.
        num_parallel_reads: how many files to take lines from in turn; by default one file comes
            after the other.
        name: accepted for compatibility.

    Raises:
        NotFoundError: when a file is to be read and is not there.
    """

    def __init__(
        self,
        filenames,
        compression_type=None,
        buffer_size=None,
        num_parallel_reads=None,
        name=None,
    ):
        super().__init__(filenames, num_parallel_reads, compression_type, buffer_size)

    def _start(self, path):
        file = open_file(path, self._compression, self._buffer_size)
        return file, filter(None, map(_line, file))


def _line(line):
    """A line as an element; nothing for what follows the last line, if there is nothing left."""
    if b"\r" in line:
        line = line.replace(b"\r", b"")
    if line[-1:] == b"\n":
        line = line[:-1]
    elif not line:
        return ()
    return (string_leaf(line),)


@export("data.FixedLengthRecordDataset")
class FixedLengthRecordDataset(FileDataset):
    """The records of files in which all records have one length.

    Args:
        filenames: the path of a file, a list or tensor of them, or a dataset of them.
        record_bytes: the length of a record.
        header_bytes: how many bytes to leave out at the start of a file.
        footer_bytes: how many bytes to leave out at the end of a file.
        buffer_size: how many bytes to read at a time; 0 for a size that suits.
        compression_type: `""` for none, `"GZIP"` or `"ZLIB"`.
        num_parallel_reads: how many files to take records from in turn; by default one file comes
            after the other.
        name: accepted for compatibility.

    Raises:
        NotFoundError: when a file is to be read and is not there.
        InvalidArgumentError: when a file is to be read whose length does not fit.
        DataLossError: where a compressed file ends within a record.
    """

    def __init__(
        self,
        filenames,
        record_bytes,
        header_bytes=None,
        footer_bytes=None,
        buffer_size=None,
        compression_type=None,
        num_parallel_reads=None,
        name=None,
    ):
        super().__init__(filenames, num_parallel_reads, compression_type, buffer_size)
        self._record = number(record_bytes)
        self._header, self._footer = number(header_bytes), number(footer_bytes)

    def _check_settings(self):
        if self._header < 0:
            raise reading_error("`header_bytes` must be >= 0")
        if self._record <= 0:
            raise reading_error("`record_bytes` must be > 0")
        if self._footer < 0:
            raise reading_error("`footer_bytes` must be >= 0")
        super()._check_settings()

    def _start(self, path):
        file = open_file(path, self._compression, self._buffer_size)
        try:
            if self._compression:
                return file, _Inflating(file, self._header, self._record, self._footer)
            return file, self._plain_records(path, file)
        except BaseException:
            file.close()
            raise

    @said_as_tensorflow
    def _plain_records(self, path, file):
        body = os.path.getsize(path) - self._header - self._footer
        if body < 0 or body % self._record:
            raise reading_error(
                f"Excluding the header ({self._header} bytes) and footer ({self._footer} bytes), "
                f'input file "{path.decode()}" has body length {body} bytes, which is not an exact '
                f"multiple of the record length ({self._record} bytes)."
            )
        file.seek(self._header)
        count, length = body // self._record, self._record
        return zip(map(string_leaf, map(file.read, itertools.repeat(length, count))))


class _Inflating:
    """The records of a compressed file, where it shows only at the end how long it is."""

    def __init__(self, file, header, record, footer):
        self._file = file
        self._ahead = None
        self._header, self._record, self._footer = header, record, footer

    def __iter__(self):
        return self

    def __next__(self):
        if self._file is None:
            raise StopIteration
        if self._ahead is None:
            self._skip(self._file)
        try:
            data = self._file.read(self._record)
        except DataLossError:
            self._file = None
            raise StopIteration from None
        if len(data) < self._record:
            self._file = None
            if data:
                raise DataLossError(
                    None, None, "The file ends within a record. [Op:IteratorGetNext] name: "
                )
            raise StopIteration
        data = self._ahead + data
        self._ahead = data[self._record :]
        return (string_leaf(data[: self._record]),)

    def _skip(self, file):
        """Leaves out the header; from now on as much is read ahead as the footer is long."""
        for length in (self._header, self._footer):
            try:
                self._ahead = file.read(length)
            except DataLossError:
                self._ahead = b""
            if len(self._ahead) < length:
                self._file = None
                raise InternalError(
                    None,
                    None,
                    "Failed reading header or footer of a file that is shorter than it "
                    "[Op:IteratorGetNext] name: ",
                )


@constructor
def list_files(file_pattern, shuffle=None, seed=None, name=None):
    """A dataset of the names of the files that match a pattern, or one of several.

    Args:
        file_pattern: a pattern in which `*`, `?` and `[...]` stand for characters, or a list or
            tensor of them.
        shuffle: whether names come in random order, another one each time; True by default.
        seed: what the order follows from.
        name: accepted for compatibility.

    Raises:
        InvalidArgumentError: no file matches.
    """
    patterns = file_names(file_pattern).ravel().tolist()
    names = sorted([os.fsencode(found) for found in glob(patterns)])
    if not names:
        shown = ", ".join([os.fsdecode(pattern) for pattern in patterns])
        raise InvalidArgumentError(
            None, None, f"No files matched pattern: {shown} [Op:Assert] name: "
        )
    dataset = from_tensor_slices(names)
    if shuffle is None or shuffle:
        dataset = shuffled(dataset, len(names), seed=seed)
    return dataset
