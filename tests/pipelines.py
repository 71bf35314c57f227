"""Input pipelines both libraries run, so that datasets are compared element by element.

They stand in data/pipelines/*.txt, one Python expression in a line, in `tf`, `np`, `D` for
`tf.data.Dataset` and `folder` for a folder with the files below. To add one, write the line and
run `make answers`; what TensorFlow answers is in the file of the same name that ends in .json.
"""

import contextlib
import gzip
import json
import os
import struct
import tempfile
import zlib
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parent / "data" / "pipelines"
# Elements of an endless dataset that are compared.
_MOST = 60


def expressions(path):
    """The lines of a file that are expressions."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def recorded(path):
    """From the expressions of a file to TensorFlow's answers."""
    return json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


@contextlib.contextmanager
def files():
    """A folder with files to read, the working directory meanwhile, so that paths are alike."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        os.chdir(folder)
        try:
            yield "files"
        finally:
            os.chdir(before)


def write_files(root):
    """Text, CSV, fixed-length and TFRecord files, plain and compressed, below `root`/files."""
    folder = root / "files"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"first line\nsecond\n\nlast of a\n")
    (folder / "b.txt").write_bytes(b"windows\r\nline ends\r\nno end")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "a.txt.gz").write_bytes(gzip.compress(b"zipped\nlines\n", mtime=0))
    (folder / "a.txt.zz").write_bytes(zlib.compress(b"deflated\nlines\n"))
    (folder / "fixed.bin").write_bytes(b"HHabcdefghijFF")
    (folder / "table.csv").write_text('id,name,x\n1,one,1.5\n2,"two, too",\n3,,2.25\n')
    records = b"".join([_record(data) for data in (b"alpha", b"", b"gamma" * 5)])
    (folder / "a.tfrecord").write_bytes(records)
    (folder / "a.tfrecord.gz").write_bytes(gzip.compress(records, mtime=0))
    (folder / "broken.tfrecord").write_bytes(records[:-3])


def _record(data):
    """One record of a TFRecord file: its length, the data, and a checksum of each."""
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _masked(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 * (crc & 1))
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def answer_of(tf, text, folder):
    """What an expression gives: of a dataset its spec, cardinality and elements; or the error."""
    tf.random.set_seed(11)
    names = {"tf": tf, "np": np, "D": tf.data.Dataset, "folder": folder}
    try:
        return _shown(tf, eval(text, names))
    except Exception as error:
        return {"error": type(error).__name__}


def _shown(tf, value):
    if isinstance(value, tf.data.Dataset):
        found = {"spec": str(value.element_spec), "count": int(value.cardinality())}
        elements = found["elements"] = []
        iterator = iter(value)
        while len(elements) < _MOST:
            try:
                elements.append(_text(tf, next(iterator)))
            except StopIteration:
                break
            except Exception as error:  # that of one element: others may follow
                elements.append({"error": type(error).__name__})
                if elements[-2:] == [elements[-1]] * 2:
                    break
        return found
    return {"value": _text(tf, value)}


def _text(tf, value):
    """A value in words, the same for both libraries."""
    if isinstance(value, tf.data.Dataset):
        return [_text(tf, element) for element in value]
    if isinstance(value, dict):
        return {str(key): _text(tf, value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *[_text(tf, item) for item in value]]
    if isinstance(value, tf.RaggedTensor):
        return f"ragged {value.dtype.name} {value.to_list()}"
    if isinstance(value, tf.SparseTensor):
        parts = value.indices, value.values, value.dense_shape
        return ["sparse", *[_text(tf, part) for part in parts]]
    if isinstance(value, (tf.Tensor, tf.Variable)):
        value = value.numpy()
        kind = "tensor "
    else:
        kind = ""
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        name = "string" if array.dtype.kind in "OS" else array.dtype.name
        return f"{kind}{name}{list(array.shape)} {array.tolist()}"
    return f"{kind}{value!r}"
