"""Elements written to files when they are first gone through, and read afterwards: snapshot."""

import os

from ..core import dtypes
from ..core.errors import NotFoundError
from ..core.exports import export
from .dataset import SameElements, method
from .fingerprints import fingerprint_number
from .saving import (
    Metadata,
    Run,
    compression_of,
    folder_of,
    is_integer,
    read_run,
    shard_function,
)


class SnapshotDataset(SameElements):
    """Writes elements when they are first gone through to the end, and reads them afterwards."""

    def __init__(self, source, folder, compression, reader_func, shard_func):
        super().__init__(source)
        self._folder = os.path.join(folder, str(fingerprint_number(source)))
        self._compression, self._reader_func = compression, reader_func
        self._shard_of, spec = shard_function(shard_func, source)
        if not is_integer(spec, dtypes.int32, dtypes.int64):
            raise TypeError(
                "Invalid `shard_func`. `shard_func` must return `tf.int64` scalar tensor but its "
                f"return type is {spec}."
            )

    def _elements(self):
        spec = self._input.element_spec
        try:
            metadata = Metadata(self._folder)
        except NotFoundError:
            metadata = None
        if metadata is not None and metadata.is_final:
            return read_run(metadata.run, spec, self._compression, self._reader_func)._elements()
        run = Run(self._folder, self._compression)
        return _Written(self._input._elements(), run, self._shard_of, spec)

    def _count(self):
        return self._input._count()


class _Written:
    """Passes on elements and writes them."""

    def __init__(self, source, run, shard_of, spec):
        self._source, self._run, self._shard_of, self._spec = source, run, shard_of, spec

    def __iter__(self):
        return self

    def __next__(self):
        for leaves in self._source:
            if self._run is not None:
                self._run.write(leaves, self._shard_of(*leaves))
            return leaves
        run, self._run = self._run, None
        if run is not None:
            run.finish(self._spec)
        raise StopIteration


@method
def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
    """Writes the elements to files when they are first gone through, and reads them afterwards.

    Datasets that are made alike (see `Dataset.fingerprint`) share them, in other programs too.

    Args:
        path: a folder.
        compression: "GZIP"; anything else for none.
        reader_func: makes a dataset of a dataset of the datasets of all shards; by default elements
            come from shards in turn.
        shard_func: gives the number of the shard for an element, an int64 scalar; by default all
            are in one.
        name: not used.

    Raises:
        TypeError: `shard_func` returns something else.
    """
    return SnapshotDataset(
        self, folder_of(path), compression_of(compression), reader_func, shard_func
    )


@export("data.experimental.snapshot")
def _snapshot(path, compression="AUTO", reader_func=None, shard_func=None):
    """A transformation for `Dataset.apply`: `Dataset.snapshot`."""
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)
