"""Datasets of the records of TFRecord files, and such files of datasets."""

from ..core import dtypes
from ..core.exports import export
from ..core.spec import TensorSpec
from ..formats.tfrecords import RecordReader, TFRecordWriter as RecordWriter
from .dataset import Dataset
from .file_reading import WINDOWS, FileDataset, open_file, reading_error, string_leaf, text


@export("data.TFRecordDataset")
class TFRecordDataset(FileDataset):
    """The records of TFRecord files, as `tf.io.TFRecordWriter` writes them.

    Args:
        filenames: the path of a file, a list or tensor of them, or a dataset of them.
        compression_type: `""` for none, `"GZIP"` or `"ZLIB"`.
        buffer_size: how many bytes to read at a time; by default a size that suits.
        num_parallel_reads: how many files to take records from in turn; by default one file comes
            after the other.
        name: accepted for compatibility.

    Raises:
        NotFoundError: when a file is to be read and is not there.
        DataLossError: at a record that is broken; the next one is the first of the next file.
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

    def _check_settings(self):
        if self._buffer_size < -1:
            raise reading_error("`buffer_size` must be >= 0 (0 == no buffering) or -1")

    def _start(self, path):
        compression = self._compression if self._compression in WINDOWS else ""
        file = open_file(path, compression, max(self._buffer_size, 0))
        return file, zip(map(string_leaf, RecordReader(file, path)))


@export("data.experimental.TFRecordWriter")
class TFRecordWriter:
    """Writes the elements of a dataset to a TFRecord file.

    Args:
        filename: the path of the file.
        compression_type: `""` for none, `"GZIP"` or `"ZLIB"`.
    """

    def __init__(self, filename, compression_type=None):
        self._filename = text(filename)
        self._compression = text(compression_type)

    def write(self, dataset):
        """Writes all elements of a dataset of strings.

        Raises:
            TypeError: it is no dataset of scalar strings.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}."
            )
        spec = dataset.element_spec
        if not (isinstance(spec, TensorSpec) and spec.is_compatible_with(_STRING)):
            raise TypeError(
                "Invalid `dataset`. Expected a `dataset` that produces scalar `tf.string` "
                f"elements, but got a dataset which produces elements {spec}."
            )
        compression = self._compression if self._compression in WINDOWS else ""
        with RecordWriter(self._filename, compression) as writer:
            for (leaf,) in dataset._elements():
                writer.write(leaf.item())


_STRING = TensorSpec((), dtypes.string)
