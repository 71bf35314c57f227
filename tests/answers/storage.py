"""Answers as files: JSON, compressed, the same bytes for the same content."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "data" / "tensorflow_answers"
_DTYPE = "dtype"


def save(name, content):
    """Writes one file of answers; returns its size in bytes."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    data = gzip.compress(text.encode(), compresslevel=9, mtime=0)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.json.gz").write_bytes(data)
    return len(data)


def load(name):
    """What was saved under that name."""
    return json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))


def saved_names():
    """The names of all files of answers."""
    return sorted(path.name.removesuffix(".json.gz") for path in FOLDER.glob("*.json.gz"))


def encode(value) -> Any:
    """A call's argument, or a result, as JSON knows it."""
    if isinstance(value, (np.ndarray, np.generic)):
        array: Any = np.ascontiguousarray(value).reshape(np.shape(value))
        if array.dtype == object:
            data = [base64.b64encode(item).decode() for item in array.flat]
            return {"array": ["string", list(array.shape), data]}
        data = base64.b64encode(array.tobytes()).decode()
        return {"array": [array.dtype.name, list(array.shape), data]}
    if isinstance(value, np.dtype):
        return {_DTYPE: value.name}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [encode(item) for item in value]}
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"An answer cannot hold {value!r}.")


def decode(value) -> Any:
    """What was encoded."""
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == _DTYPE:
        return _numpy_dtype(content)
    if kind == "float":
        return float(content)
    if kind == "bytes":
        return base64.b64decode(content)
    if kind != "array":
        items = [decode(item) for item in content]
        return tuple(items) if kind == "tuple" else items
    dtype, shape, data = content
    if dtype == "string":
        flat = np.empty(len(data), object)
        flat[:] = [base64.b64decode(item) for item in data]
        return flat.reshape(shape)
    return np.frombuffer(base64.b64decode(data), _numpy_dtype(dtype)).reshape(shape)


def _numpy_dtype(name):
    return np.dtype(getattr(ml_dtypes, name, name))
