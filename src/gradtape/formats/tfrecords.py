"""TFRecord files: records of any bytes, each with its length and checksums."""

import functools
import os
import struct
import zlib

from ..core.errors import DataLossError, FailedPreconditionError
from ..core.exports import export
from .checksums import masked_crc
from .files import said_as_tensorflow

_HEADER = 12
_FOOTER = 4
_LENGTH = struct.Struct("<Q")
_DEFAULT_BUFFER = 256 * 1024


@export("io.TFRecordOptions")
class TFRecordOptions:
    """How a TFRecord file is compressed; what is None is left to zlib.

    Args:
        compression_type: `""` for none, `"GZIP"` or `"ZLIB"`.
        flush_mode: how much zlib writes out when it is flushed.
        input_buffer_size: how many bytes to collect before they are compressed.
        output_buffer_size: how many compressed bytes to collect before they are written.
        window_bits: the size of the history, as a power of 2.
        compression_level: from 0, none, to 9, the best.
        compression_method: zlib's number of the method; there is one, 8.
        mem_level: how much memory to use, from 1 to 9.
        compression_strategy: zlib's number of the strategy.

    Raises:
        ValueError: there is no such compression.
    """

    compression_type_map = {0: "", 1: "ZLIB", 2: "GZIP"}  # noqa: RUF012

    def __init__(
        self,
        compression_type=None,
        flush_mode=None,
        input_buffer_size=None,
        output_buffer_size=None,
        window_bits=None,
        compression_level=None,
        compression_method=None,
        mem_level=None,
        compression_strategy=None,
    ):
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options):
        """The name of a compression: `""`, `"ZLIB"` or `"GZIP"`.

        Args:
            options: a TFRecordOptions, the name or its number.
        """
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        name = cls.compression_type_map.get(options, options)
        if name not in cls.compression_type_map.values():
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return name

    def _compressor(self):
        kind = self.get_compression_type_string(self.compression_type)
        if not kind:
            return None
        window = self.window_bits or zlib.MAX_WBITS
        if kind == "GZIP" and window <= zlib.MAX_WBITS:
            window += 16
        return zlib.compressobj(
            zlib.Z_DEFAULT_COMPRESSION
            if self.compression_level is None
            else self.compression_level,
            self.compression_method or zlib.DEFLATED,
            window,
            self.mem_level or 9,
            self.compression_strategy or zlib.Z_DEFAULT_STRATEGY,
        )


@export("io.TFRecordWriter")
class TFRecordWriter:
    """Writes records to a TFRecord file, which it makes or empties.

    Args:
        path: the path of the file.
        options: a TFRecordOptions, or the name of a compression.

    Raises:
        NotFoundError: there is no such folder.
        ValueError: there is no such compression.

    Example:
        >>> with TFRecordWriter("/dev/null") as writer:
        ...     writer.write(b"record")
    """

    _file = None

    @said_as_tensorflow
    def __init__(self, path, options=None):
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(options)
        self._compressor = options._compressor()
        self._flush_mode = options.flush_mode
        size = options.output_buffer_size or _DEFAULT_BUFFER
        self._file = open(os.fsdecode(path), "wb", buffering=max(size, 2))  # noqa: SIM115

    def _opened(self):
        if self._file is None:
            raise FailedPreconditionError(None, None, "Writer not initialized or previously closed")
        return self._file

    @said_as_tensorflow
    def write(self, record):
        """Writes one record: bytes, or a str in UTF-8."""
        file = self._opened()
        if isinstance(record, str):
            record = record.encode()
        elif not isinstance(record, (bytes, bytearray, memoryview)):
            raise TypeError(f"A record must be bytes or a str. Received: {record!r}")
        data = b"".join((_header(len(record)), record, masked_crc(record)))
        file.write(data if self._compressor is None else self._compressor.compress(data))

    @said_as_tensorflow
    def flush(self):
        """Hands what was written to the operating system."""
        file = self._opened()
        if self._compressor is not None and self._flush_mode:
            file.write(self._compressor.flush(self._flush_mode))
        file.flush()

    @said_as_tensorflow
    def close(self):
        """Writes what is left and closes the file."""
        file, self._file = self._file, None
        if file is not None:
            with file:
                if self._compressor is not None:
                    file.write(self._compressor.flush())

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        self.close()


@functools.lru_cache(4096)
def _header(length):
    """The length of a record, and its checksum."""
    data = _LENGTH.pack(length)
    return data + masked_crc(data)


class RecordReader:
    """The records of an opened TFRecord file; after one that is broken it ends."""

    def __init__(self, file, path):
        self._file, self._path = file, path
        self._place = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self._file is None:
            raise StopIteration
        try:
            return self._read(self._file.read)
        except BaseException:
            self._file = None
            raise

    def _read(self, read):
        header = read(_HEADER)
        if len(header) < _HEADER:
            raise StopIteration
        (length,) = _LENGTH.unpack_from(header)
        if header != (_header(length) if length < 1 << 40 else b""):
            raise self._broken("corrupted record")
        data = read(length + _FOOTER)
        if len(data) < length + _FOOTER:
            raise self._broken("truncated record")
        record = data[:length]
        if data[length:] != masked_crc(record):
            raise self._broken("corrupted record")
        self._place += _HEADER + length + _FOOTER
        return record

    def _broken(self, what):
        return DataLossError(
            None,
            None,
            f"{what} at {self._place} in {os.fsdecode(self._path)} [Op:IteratorGetNext] name: ",
        )
