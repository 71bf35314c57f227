"""Datasets in files, which are TensorFlow's: save and load.

A folder holds `dataset_spec.pb`, what elements look like; `snapshot.metadata`, which folder in it
is complete; and that folder, with one of TFRecord files for each shard.
"""

import os
import random
import shutil
import time
import weakref
from typing import Any

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.errors import DataLossError, InvalidArgumentError, NotFoundError
from ..core.exports import export
from ..core.spec import TensorSpec
from ..formats.files import said_as_tensorflow
from ..formats.proto_descriptors import BYTES, VARINT, wire_values
from ..formats.tfrecords import TFRecordWriter
from ..formats.varints import encoded
from .caching import write_whole
from .dataset import UNKNOWN, Dataset, constructor, method
from .elements import leaf_specs
from .file_reading import WINDOWS, open_file
from .functions import ElementFunction
from .saved_elements import ElementReader, records
from .saved_specs import spec_from_bytes, spec_to_bytes
from .specs import DatasetSpec
from .states import first_element

_SPEC_FILE, _METADATA_FILE = "dataset_spec.pb", "snapshot.metadata"
# Fields of TensorFlow's message SnapshotMetadataRecord.
_RUN, _TIME, _VERSION, _DTYPES, _COUNT, _FINAL = 2, 3, 4, 5, 6, 1000
_FORMAT = 2
_RETRY_SECONDS = 5


def folder_of(path):
    if hasattr(path, "numpy") or isinstance(path, bytes):
        path = convert_to_tensor(path, dtypes.string)._value.item()
    return os.fsdecode(path)


def compression_of(name):
    """What zlib can do is done; other names, as in TensorFlow, mean none."""
    return name if name in WINDOWS else ""


# Writing ------------------------------------------------------------------------------------------


class Run:
    """A folder of shards that is being written; it goes again unless it was finished."""

    @said_as_tensorflow
    def __init__(self, folder, compression):
        self._folder, self._compression = folder, compression
        self._name = str(random.SystemRandom().getrandbits(64))
        self._path = os.path.join(folder, self._name)
        os.makedirs(self._path)
        self._files = {}
        self._count = 0
        self._clean_up = weakref.finalize(self, shutil.rmtree, self._path, True)

    def write(self, leaves, shard):
        """Writes an element to a shard."""
        file = self._files.get(shard) or self._open(shard)
        for record in records(leaves):
            file.write(record)
        self._count += 1

    @said_as_tensorflow
    def _open(self, shard):
        folder = os.path.join(self._path, f"{shard:08}.shard")
        os.makedirs(folder, exist_ok=True)
        file = TFRecordWriter(os.path.join(folder, "00000000.snapshot"), self._compression)
        self._files[shard] = file
        return file

    def finish(self, spec):
        """Makes the run the one that counts: what was there before counts till then."""
        self._close()
        parts = [
            encoded(_RUN, BYTES, self._name.encode()),
            encoded(_TIME, VARINT, time.time_ns() // 1000),
            encoded(_VERSION, VARINT, _FORMAT),
            encoded(_DTYPES, BYTES, bytes([_dtype_number(each) for each in leaf_specs(spec)])),
            encoded(_COUNT, VARINT, self._count),
            encoded(_FINAL, VARINT, 1),
        ]
        write_whole(os.path.join(self._folder, _SPEC_FILE), spec_to_bytes(spec))
        write_whole(os.path.join(self._folder, _METADATA_FILE), b"".join(parts))
        self._clean_up.detach()

    def give_up(self):
        """Removes what was written."""
        self._close()
        self._clean_up()

    def _close(self):
        for file in self._files.values():
            file.close()
        self._files.clear()


def _dtype_number(spec):
    kind = spec.dtype if isinstance(spec, TensorSpec) else dtypes.variant
    return kind.as_datatype_enum


def shard_function(function, dataset):
    """A user's function from elements to numbers of shards, and the spec of what it returns.

    Without one there is one shard.
    """
    if function is None:
        return lambda *leaves: 0, TensorSpec((), dtypes.int64)
    call = ElementFunction(
        function,
        lambda: dataset.element_spec,
        first=lambda: first_element(dataset),
        what="Dataset.snapshot()",
    )
    spec = call.spec

    def shard_of(*leaves):
        if not is_integer(spec, dtypes.int64):
            raise InvalidArgumentError(
                None, None, "`shard_func` must return a scalar int64. [Op:SaveDataset] name: "
            )
        (number,) = call(*leaves)
        return int(number)  # pyright: ignore[reportArgumentType]

    return shard_of, spec


def is_integer(spec, *allowed):
    return isinstance(spec, TensorSpec) and spec.shape.rank == 0 and spec.dtype in allowed


@method
def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
    """Writes all elements to files in a folder, for `Dataset.load`, that of TensorFlow too.

    They count when all are written: if there is an error, what was saved there before is kept.

    Args:
        path: the folder; it is made if it is not there.
        compression: "GZIP", or None.
        shard_func: gives the number of the shard for an element, an int64 scalar; by default all
            are in one.
        checkpoint_args: arguments for a `tf.train.CheckpointManager`; without `checkpoint`. As the
            elements are written at once, there is nothing to save in between.

    Raises:
        InvalidArgumentError: `shard_func` returns something else.
        ValueError: `checkpoint` is among `checkpoint_args`.
    """
    if checkpoint_args and "checkpoint" in checkpoint_args:
        raise ValueError(
            "'Invalid `checkpoint_args`. `checkpoint_args` are not allowed to include 'checkpoint'."
        )
    shard_of, _ = shard_function(shard_func, self)
    run = Run(folder_of(path), compression_of(compression))
    try:
        for leaves in self._elements():
            run.write(leaves, shard_of(*leaves))
        run.finish(self.element_spec)
    except BaseException:
        run.give_up()
        raise


# Reading ------------------------------------------------------------------------------------------


class Metadata:
    """What `snapshot.metadata` says.

    Raises:
        NotFoundError: there is none.
    """

    def __init__(self, folder):
        try:
            with open(os.path.join(folder, _METADATA_FILE), "rb") as file:
                found = {number: value for number, _, value in wire_values(file.read())}
        except OSError:
            raise NotFoundError(
                None, None, f"Could not find metadata file [{folder}] [Op:LoadDataset]"
            ) from None
        self.is_final = bool(found.get(_FINAL))
        self.count = found.get(_COUNT, UNKNOWN)
        self.run = os.path.join(folder, found.get(_RUN, b"").decode())


class _Shard(Dataset):
    """The elements of one shard."""

    def __init__(self, folder, spec, compression):
        super().__init__()
        self._folder, self._spec, self._compression = folder, spec, compression

    def _elements(self):
        names = sorted([name for name in os.listdir(self._folder) if name.endswith(".snapshot")])
        paths = [os.path.join(self._folder, name) for name in names]
        return _ShardReader(paths, self._spec, self._compression)


class _ShardReader:
    def __init__(self, paths, spec, compression):
        self._paths, self._spec, self._compression = iter(paths), spec, compression
        self._elements = iter(())
        self._error = ""

    def __iter__(self):
        return self

    def __next__(self):
        if self._error:
            raise DataLossError(None, None, self._error)
        try:
            return self._read()
        except DataLossError as error:
            self._error = error.message  # where the next element begins is not known
            raise

    def _read(self):
        for element in self._elements:
            return element
        path = next(self._paths)
        file = open_file(path, self._compression)
        self._elements = ElementReader(file, path, self._spec)
        return self._read()


class _Shards(Dataset):
    """A dataset of the datasets of shards."""

    def __init__(self, run, spec, compression):
        super().__init__()
        self._run, self._spec, self._compression = run, spec, compression

    @property
    def element_spec(self):
        return DatasetSpec(self._spec)

    def folders(self):
        """The folders of the shards, in order."""
        if not os.path.isdir(self._run):
            return []
        return [os.path.join(self._run, name) for name in sorted(os.listdir(self._run))]

    def _elements(self):
        return zip([_Shard(each, self._spec, self._compression) for each in self.folders()])

    def _count(self):
        return len(self.folders())


def read_run(run, spec, compression, reader_func):
    """The dataset that a function, by default one that takes from shards in turn, makes of a run.

    Args:
        run: the folder of the shards.
        spec: what elements look like.
        compression: how the files are compressed.
        reader_func: makes a dataset of a dataset of datasets.
    """
    shards: Any = _Shards(run, spec, compression)
    if reader_func is not None:
        return reader_func(shards)
    folders = shards.folders()
    if len(folders) == 1:
        return _Shard(folders[0], spec, compression)
    return shards.interleave(lambda shard: shard, cycle_length=os.cpu_count())


class LoadDataset(Dataset):
    def __init__(self, folder, spec, compression, reader_func):
        super().__init__()
        self._folder, self._spec = folder, spec
        self._compression, self._reader_func = compression, reader_func
        self._metadata = Metadata(folder)

    def _elements(self):
        run = self._metadata.run
        return read_run(run, self._spec, self._compression, self._reader_func)._elements()

    def _count(self):
        return self._metadata.count


@constructor
def load(path, element_spec=None, compression=None, reader_func=None, wait=False):
    """The elements that `Dataset.save`, that of TensorFlow too, wrote to a folder.

    Args:
        path: the folder.
        element_spec: what elements look like; by default as it was saved.
        compression: what they were saved with.
        reader_func: makes a dataset of a dataset of the datasets of all shards; by default elements
            come from shards in turn.
        wait: whether to wait until the folder is there.

    Raises:
        NotFoundError: nothing was saved there.
    """
    folder = folder_of(path)
    while True:
        try:
            spec = _saved_spec(folder) if element_spec is None else element_spec
            return LoadDataset(folder, spec, compression_of(compression), reader_func)
        except NotFoundError:
            if not wait:
                raise
        time.sleep(_RETRY_SECONDS)


def _saved_spec(folder):
    path = os.path.join(folder, _SPEC_FILE)
    try:
        with open(path, "rb") as file:
            return spec_from_bytes(file.read())
    except OSError:
        text = f"tf.data snapshot element_spec file not found: {path}."
        raise NotFoundError(None, None, text) from None
    except (ValueError, DataLossError) as error:
        text = f"tf.data snapshot element_spec file not found or invalid: {path}."
        raise NotFoundError(None, None, text) from error


@export("data.experimental.save")
def _save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    """`Dataset.save`."""
    return dataset.save(path, compression, shard_func, checkpoint_args)


@export("data.experimental.load")
def _load(path, element_spec=None, compression=None, reader_func=None):
    """`Dataset.load`."""
    return load(path, element_spec, compression, reader_func)
