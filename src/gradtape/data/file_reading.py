"""Going through files: what all datasets of files share.

Files are opened when their first item is asked for, read in pieces, and closed when what goes
through them is dropped.
"""

import collections
import io
import os
import zlib

import numpy as np

from ..core import dtypes, nest
from ..core.convert import convert_to_tensor
from ..core.errors import DataLossError, InvalidArgumentError
from ..core.spec import TensorSpec
from ..core.tensor import EagerTensor
from ..formats.files import said_as_tensorflow
from .arguments import whole_number
from .dataset import AUTOTUNE, Dataset
from .sources import from_tensor_slices

WINDOWS = {"GZIP": 31, "ZLIB": 15}
_DEFAULT_BUFFER = 256 * 1024
_PIECE = 64 * 1024


def reading_error(message):
    """The error for arguments that show to be wrong when a file is to be read."""
    return InvalidArgumentError(None, None, f"{message} [Op:IteratorGetNext] name: ")


def number(value, default=0):
    """An optional argument as an int."""
    return default if value is None else whole_number(value)


def text(value, default=""):
    """An optional string argument as a str."""
    value = convert_to_tensor(default if value is None else value, dtypes.string)
    return value._value.item().decode()


def string_leaf(data):
    """The leaf of a string tensor of rank 0."""
    leaf = np.empty((), object)
    leaf[()] = data
    return leaf


def names_dataset(filenames):
    """A dataset of file names: the one given, or one of the names given, of any shape.

    Raises:
        TypeError: names are no strings.
    """
    if isinstance(filenames, Dataset):
        spec = filenames.element_spec
        if not (isinstance(spec, TensorSpec) and spec.dtype is dtypes.string):
            raise TypeError(
                "The `filenames` argument must contain `tf.string` elements. Got a dataset of "
                f"`{spec!r}` elements."
            )
        if not spec.shape.is_compatible_with(()):
            raise TypeError(
                "The `filenames` argument must contain `tf.string` elements of shape [] (i.e. "
                f"scalars). Got a dataset of element shape {spec.shape!r}."
            )
        return filenames
    return from_tensor_slices(file_names(filenames).reshape(-1))


def file_names(names):
    """File names, or a structure of them, as an array of bytes objects.

    Raises:
        TypeError, ValueError: they are no strings.
    """
    names = nest.map_structure(
        lambda name: os.fspath(name) if isinstance(name, os.PathLike) else name, names
    )
    tensor = convert_to_tensor(names, dtype_hint=dtypes.string)
    if tensor.dtype is not dtypes.string:
        if isinstance(names, (list, tuple)) and not tensor.shape.num_elements():
            return np.empty(0, object)
        raise TypeError(
            f"Names of files must be strings. Received elements of dtype {tensor.dtype!r}."
        )
    return np.asarray(tensor._value, object)


@said_as_tensorflow
def open_file(path, compression="", buffer_size=0):
    """A file opened for reading bytes, without its compression.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: when it is read, and not compressed so.
    """
    file = open(path, "rb", buffering=0)  # noqa: SIM115
    size = buffer_size or _DEFAULT_BUFFER
    return io.BufferedReader(_Inflated(file, WINDOWS[compression]) if compression else file, size)


class _Inflated(io.RawIOBase):
    """A compressed file as the bytes that it stands for; a file cut short just ends."""

    def __init__(self, file, window):
        self._file, self._window = file, window
        self._inflate = zlib.decompressobj(window)
        self._rest = b""
        self._error = None

    def readable(self):
        return True

    def close(self):
        self._file.close()
        super().close()

    def readinto(self, buffer):
        if self._error is not None:
            raise self._error
        while True:
            data = self._rest or self._file.read(_PIECE)
            try:
                found = self._inflate.decompress(data, len(buffer))
            except zlib.error as error:
                self._error = DataLossError(
                    None, None, f"inflate() failed: {error} [Op:IteratorGetNext] name: "
                )
                raise self._error from None
            self._rest = self._inflate.unconsumed_tail
            if self._inflate.eof and self._window == WINDOWS["GZIP"]:
                # Another member may follow.
                self._rest = self._inflate.unused_data
                self._inflate = zlib.decompressobj(self._window)
            if found or not data or self._inflate.eof:
                buffer[: len(found)] = found
                return len(found)


class FileItems:
    """The items of one file, in order; one that cannot be opened is tried again each time.

    Args:
        start: opens the file; gives it and an iterator over its items.
    """

    _file = None

    def __init__(self, start):
        self._start = start
        self._items = None

    def __iter__(self):
        return self

    def __next__(self):
        if self._items is None:
            self._file, self._items = self._start()
        return next(self._items)

    def __del__(self):
        if self._file is not None:
            self._file.close()


class Chained:
    """The items of one sequence after the other; `begin` makes an iterator of each source."""

    def __init__(self, sources, begin):
        self._sources, self._begin = sources, begin
        self._items = None

    def __iter__(self):
        return self

    def __next__(self):
        while True:
            if self._items is None:
                self._items = self._begin(*next(self._sources))
            for item in self._items:
                return item
            self._items = None


class Alternating:
    """Items of several sequences in turn: of `width` at a time, each replaced when it ends.

    A sequence takes its first turn when the one whose place it took would have its next.
    """

    def __init__(self, sources, begin, width):
        self._sources, self._begin = sources, begin
        self._free = width
        self._turns = collections.deque()

    def __iter__(self):
        return self

    def __next__(self):
        while True:
            while self._free:
                self._free -= 1
                for leaves in self._sources:
                    self._turns.append(self._begin(*leaves))
                    break
            if not self._turns:
                raise StopIteration
            for item in self._turns[0]:
                self._turns.rotate(-1)
                return item
            self._turns.popleft()
            self._free += 1


class FileDataset(Dataset):
    """A dataset of items of files.

    A kind of it has `_check_settings` and `_start`.
    """

    def __init__(self, filenames, num_parallel_reads, compression, buffer_size):
        super().__init__()
        self._filenames = names_dataset(filenames)
        self._compression = text(compression)
        self._buffer_size = number(buffer_size)
        self._parallel = num_parallel_reads
        if num_parallel_reads is not None:
            self._parallel = number(num_parallel_reads)
            if self._parallel <= 0 and self._parallel != AUTOTUNE:
                raise InvalidArgumentError(
                    None,
                    None,
                    "`cycle_length` must be > 0 [Op:LegacyParallelInterleaveDatasetV2] name: ",
                )

    @property
    def element_spec(self):
        return TensorSpec((), dtypes.string)

    def _check_settings(self):
        """Raises the error of the first file, and each, if settings make no sense."""
        if self._compression not in ("", *WINDOWS):
            raise reading_error("Unsupported compression_type.")
        if self._buffer_size < 0:
            raise reading_error("`buffer_size` must be >= 0 (0 == default)")

    def _start(self, path):
        """Opens a file: gives it and an iterator over the elements."""
        raise NotImplementedError(f"{type(self).__name__}._start()")

    def _begin(self, name):
        self._check_settings()
        path = name.item()
        return FileItems(lambda: self._start(path))

    def _elements(self):
        names = self._filenames._elements()
        if self._parallel in (None, AUTOTUNE):
            return Chained(names, self._begin)
        return Alternating(names, self._begin, self._parallel)

    def __repr__(self):
        return f"<{type(self).__name__}V2 element_spec={self.element_spec}>"


class FilesInTurn(Dataset):
    """The elements of datasets made of file names: of several of them in turn.

    Args:
        names: a dataset of file names.
        make: makes a dataset of a name.
        count: of how many at a time.
    """

    def __init__(self, names, make, count):
        super().__init__(names)
        self._names, self._make, self._width = names, make, count

    @property
    def element_spec(self):
        return self._make(b"").element_spec

    def _elements(self):
        names = self._names._elements()
        if self._width == AUTOTUNE:
            return Chained(names, self._begin)
        return Alternating(names, self._begin, self._width)

    def _begin(self, name):
        return self._make(EagerTensor(name))._elements()
