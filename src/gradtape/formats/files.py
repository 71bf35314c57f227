"""Files: tf.io.read_file and its kin, and tf.io.gfile."""

import functools
import glob as globbing
import os
import re
import shutil
from typing import NamedTuple

from ..core import errors
from ..core.effects import performed
from ..core.exports import export
from .strings import one_string, string_array, string_tensor

_ERRORS = (
    (FileNotFoundError, errors.NotFoundError),
    (FileExistsError, errors.AlreadyExistsError),
    (PermissionError, errors.PermissionDeniedError),
    (IsADirectoryError, errors.FailedPreconditionError),
    (NotADirectoryError, errors.FailedPreconditionError),
)


def said_as_tensorflow(function):
    """The function, with the operating system's errors raised as TensorFlow's."""

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except OSError as error:
            kind = next(
                (goal for source, goal in _ERRORS if isinstance(error, source)),
                errors.UnknownError,
            )
            name = os.fsdecode(error.filename) if error.filename else ""
            raise kind(None, None, f"{name}; {error.strerror}") from error

    return wrapped


def _path(path):
    if hasattr(path, "numpy"):
        path = path.numpy()
    return os.fsdecode(path)


@export("io.read_file")
@performed("ReadFile")
@said_as_tensorflow
def read_file(filename, name=None):
    """The contents of a file, a string tensor.

    Raises:
        NotFoundError: there is no such file.
    """
    with open(one_string(filename, "ReadFile", "Input filename tensor"), "rb") as file:
        return string_tensor(file.read())


@export("io.write_file")
@performed("WriteFile")
@said_as_tensorflow
def write_file(filename, contents, name=None):
    """Writes a string tensor to a file, making its folder where there is none."""
    path = one_string(filename, "WriteFile", "Input filename tensor")
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "wb") as file:
        file.write(one_string(contents, "WriteFile", "Contents tensor"))


def _matches(pattern):
    if "\\" in pattern and os.sep != "\\":
        pattern = _ESCAPED.sub(lambda found: globbing.escape(found[1]), pattern)
    return sorted(globbing.glob(pattern, include_hidden=True))


_ESCAPED = re.compile(r"\\(.)")


@export("io.matching_files")
@performed("MatchingFiles")
def matching_files(pattern, name=None):
    """The names of the files that match a pattern, or one of several, in order.

    In a pattern `*` and `?` stand for any characters but the separator of folders.
    """
    found = []
    for each in string_array(pattern).ravel():
        found.extend(map(os.fsencode, _matches(os.fsdecode(each))))
    return string_tensor(sorted(found), (len(found),))


@export("io.gfile.exists")
def exists(path):
    """Whether there is such a file or folder."""
    return os.path.exists(_path(path))


@export("io.gfile.isdir")
def isdir(path):
    """Whether there is such a folder."""
    return os.path.isdir(_path(path))


@export("io.gfile.listdir")
def listdir(path):
    """The names of what a folder holds.

    Raises:
        NotFoundError: there is no such folder.
    """
    if not isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {_path(path)}")
    return os.listdir(_path(path))


@export("io.gfile.makedirs")
@said_as_tensorflow
def makedirs(path):
    """Makes a folder and those above it; one that exists is left alone."""
    os.makedirs(_path(path), exist_ok=True)


@export("io.gfile.mkdir")
@said_as_tensorflow
def mkdir(path):
    """Makes a folder; one that exists is left alone.

    Raises:
        NotFoundError: the folder above does not exist.
    """
    if not isdir(path):
        os.mkdir(_path(path))


@export("io.gfile.remove")
@said_as_tensorflow
def remove(path):
    """Deletes a file.

    Raises:
        NotFoundError: there is no such file.
    """
    os.remove(_path(path))


@export("io.gfile.rmtree")
@said_as_tensorflow
def rmtree(path):
    """Deletes a folder and all it holds.

    Raises:
        NotFoundError: there is no such folder.
    """
    if not exists(path):
        raise errors.NotFoundError(None, None, f"{_path(path)} not found")
    shutil.rmtree(_path(path))


def _check_free(path, overwrite):
    if not overwrite and exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists")


@export("io.gfile.rename")
@said_as_tensorflow
def rename(src, dst, overwrite=False):
    """Moves a file or folder.

    Raises:
        AlreadyExistsError: there is a file of that name and `overwrite` is False.
    """
    _check_free(dst, overwrite)
    os.replace(_path(src), _path(dst))


@export("io.gfile.copy")
@said_as_tensorflow
def copy(src, dst, overwrite=False):
    """Copies a file.

    Raises:
        AlreadyExistsError: there is a file of that name and `overwrite` is False.
    """
    _check_free(dst, overwrite)
    shutil.copyfile(_path(src), _path(dst))


@export("io.gfile.glob")
def glob(pattern):
    """The names of the files that match a pattern, or one of several."""
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    return [name for each in patterns for name in _matches(_path(each))]


@export("io.gfile.walk")
def walk(top, topdown=True, onerror=None):
    """For a folder and each below it, its name and the names of the folders and files in it."""
    yield from os.walk(_path(top), topdown, onerror)


@export("io.gfile.join")
def join(path, *paths):
    """One path from its parts."""
    return os.path.join(_path(path), *[_path(each) for each in paths])


@export("io.gfile.get_registered_schemes")
def get_registered_schemes():
    """The kinds of file systems that paths may name."""
    return ["file", ""]


class FileStatistics(NamedTuple):
    """What `tf.io.gfile.stat` knows of a file."""

    length: int
    mtime_nsec: int
    is_directory: bool


@export("io.gfile.stat")
@said_as_tensorflow
def stat(path):
    """The length, the time of the last change and the kind of a file.

    Raises:
        NotFoundError: there is no such file.
    """
    found = os.stat(_path(path))
    return FileStatistics(found.st_size, found.st_mtime_ns, isdir(path))


@export("io.gfile.GFile")
class GFile:
    """A file, opened when it is first read or written.

    Args:
        name: its path.
        mode: `"r"`, `"w"`, `"a"`, with `"b"` for bytes and `"+"` for both ways.

    Example:
        >>> with GFile("/dev/null", "w") as file:
        ...     file.write("text")
    """

    def __init__(self, name, mode="r"):
        self._name, self._mode, self._file = _path(name), mode, None

    @property
    def name(self):
        """The path."""
        return self._name

    @property
    def mode(self):
        """The mode it is opened in."""
        return self._mode

    @said_as_tensorflow
    def _opened(self):
        if self._file is None:
            encoding = None if "b" in self._mode else "utf-8"
            self._file = open(self._name, self._mode, encoding=encoding)  # noqa: SIM115
        return self._file

    def read(self, n=-1):
        """Up to `n` characters or bytes; all that are left by default."""
        return self._opened().read(n)

    def readline(self):
        """The next line, with its end; empty after the last."""
        return self._opened().readline()

    def readlines(self):
        """All lines that are left."""
        return self._opened().readlines()

    def write(self, file_content):
        """Writes at the end of what is written."""
        self._opened().write(file_content)

    def seek(self, offset=None, whence=0, position=None):
        """Goes to a place in the file."""
        if offset is None:
            offset = position
        if offset is None:
            raise TypeError("seek(): offset argument required")
        self._opened().seek(offset, whence)

    def seekable(self):
        """Whether it can go to any place."""
        return True

    def tell(self):
        """The place in the file."""
        return self._opened().tell()

    def size(self):
        """The length of the file in bytes."""
        return stat(self._name).length

    def flush(self):
        """Hands what was written to the operating system."""
        if self._file is not None:
            self._file.flush()

    def close(self):
        """Closes the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line
