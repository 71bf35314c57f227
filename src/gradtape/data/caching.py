"""Elements kept when they are first gone through: cache, in memory or in files."""

import contextlib
import itertools
import os
import weakref

from ..core.convert import convert_to_tensor
from ..core.dtypes import string
from ..core.errors import AlreadyExistsError, DataLossError
from ..formats.files import said_as_tensorflow
from ..formats.tfrecords import TFRecordWriter
from .dataset import Reordered, SameElements, method
from .saved_elements import ElementReader, records

_END = object()
# What a file with this first line means is said in `_finish`.
_MARK = b"gradtape cache 1\n"


class _Cached(SameElements):
    """A dataset with the elements of its input, and TensorFlow's name for it."""

    def _count(self):
        return self._input._count()

    def __repr__(self):
        return f"<CacheDataset element_spec={self.element_spec}>"


class CacheDataset(_Cached, Reordered):
    """Keeps elements in memory, or the numbers of their rows where these are in memory already."""

    def __init__(self, source):
        super().__init__(source)
        self._kept = None

    def _reordered(self, begin):
        if self._kept is not None:
            return iter(self._kept)
        source, kept, count = begin(), [], self._input._count()

        def keep():
            for item in source:
                kept.append(item)
                if len(kept) == count:
                    self._complete(kept)
                return item
            self._complete(kept)
            raise StopIteration

        return iter(keep, _END)

    def _complete(self, kept):
        """A pass that was not complete leaves nothing; the first complete one counts."""
        if self._kept is None:
            self._kept = kept

    def _elements(self):
        rows = self._rows()
        if rows is None:
            return super()._elements()
        # Rows and elements have to come in one order, however that was found.
        columns, begin = rows
        return map(_picker(columns), begin())


def _picker(columns):
    """A function that gives a row of arrays as leaves."""
    parts = [_part_of(column) for column in columns]
    return lambda row: tuple([part(row) for part in parts])


def _part_of(column):
    # A string of rank 0 is an array, where a number is a scalar.
    return (lambda row: column[row, ...]) if column.dtype == object else column.__getitem__


class FileCacheDataset(_Cached):
    """Keeps elements in files next to each other: data, an index that says that it is complete.

    While the data is written there is a lock file, which keeps others from doing so too.
    """

    def __init__(self, source, prefix):
        super().__init__(source)
        self._prefix = prefix

    def _elements(self):
        if os.path.exists(self._prefix + ".index"):
            return self._read()
        return _Writer(self._input._elements(), self._prefix)

    @said_as_tensorflow
    def _read(self):
        with open(self._prefix + ".index", "rb") as file:
            if file.read() != _MARK:
                raise DataLossError(
                    None, None, f"{self._prefix}.index is no index of a cache. [Op:MakeIterator]"
                )
        path = _data_path(self._prefix)
        file = open(path, "rb")  # noqa: SIM115 - the reader closes it
        return ElementReader(file, path, self._input.element_spec)


def _data_path(prefix):
    return prefix + ".data-00000-of-00001"


class _Writer:
    """Passes on elements and writes them, if nobody else does."""

    def __init__(self, source, prefix):
        self._source, self._prefix = source, prefix
        self._file = self._clean_up = None

    def __iter__(self):
        return self

    def __next__(self):
        if self._clean_up is None:
            self._start()
        for element in self._source:
            if self._file is not None:
                for record in records(element):
                    self._file.write(record)
            return element
        if self._file is not None:
            self._finish()
        raise StopIteration

    @said_as_tensorflow
    def _start(self):
        prefix = self._prefix
        if os.path.exists(prefix + ".index"):
            raise AlreadyExistsError(
                None,
                None,
                f"Existing cache files found: \n{prefix}.index\n{_data_path(prefix)}\n"
                "To continue delete the above files. [Op:IteratorGetNext] name: ",
            )
        lock = prefix + "_0.lockfile"
        try:
            with open(lock, "x") as file:
                file.write(f"Process {os.getpid()}")
        except FileExistsError:
            raise AlreadyExistsError(
                None,
                None,
                "There appears to be a concurrent caching iterator running - cache lockfile "
                f"already exists ('{lock}'). If you are sure no other running TF computations are "
                "using this cache prefix, delete the lockfile and re-initialize the iterator. "
                "[Op:IteratorGetNext] name: ",
            ) from None
        self._path = _data_path(prefix + "_0") + ".tempstate"
        # What is not complete goes with the iterator, or with the program.
        self._clean_up = weakref.finalize(self, _remove, self._path, lock)
        self._file = TFRecordWriter(self._path)

    @said_as_tensorflow
    def _finish(self):
        """Gives the data its name, then says in the index that it is complete."""
        self._file.close()  # pyright: ignore[reportOptionalMemberAccess]
        self._file = None
        os.replace(self._path, _data_path(self._prefix))
        write_whole(self._prefix + ".index", _MARK)
        self._clean_up()  # pyright: ignore[reportOptionalCall]


def _remove(*paths):
    for path in paths:
        with contextlib.suppress(OSError):
            os.remove(path)


_numbers = itertools.count()


@said_as_tensorflow
def write_whole(path, content):
    """Writes a file that is there with all of its content, or not at all."""
    other = f"{path}.{os.getpid()}-{next(_numbers)}.tmp"
    try:
        with open(other, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(other, path)
    finally:
        _remove(other)


@method
def cache(self, filename="", name=None):
    """Keeps the elements when they are first gone through to the end.

    Args:
        filename: what the names of files to keep them in begin with; by default they are kept in
            memory. Other datasets, and programs, that name the same files get what is in them.
        name: not used.

    Raises:
        AlreadyExistsError: when the first element is asked for while another iterator writes the
            files.
    """
    prefix = convert_to_tensor(filename, string)._value.item().decode()
    return FileCacheDataset(self, prefix) if prefix else CacheDataset(self)
