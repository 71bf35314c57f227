"""Answers as JSON: values with dtype and shape, tuples and lists of them, or an error's class."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).resolve().parent / "answers.json.gz"


def answer(compute):
    """What `compute()` gives, as JSON holds it."""
    try:
        return _encode(compute())
    except Exception as error:  # any error is an answer
        return {"error": type(error).__name__, "message": str(error)[:200]}


def _encode(result):
    if isinstance(result, (tuple, list)):
        return [_encode(item) for item in result]
    if isinstance(result, (bool, int, float, str)) or result is None:
        return {"python": result}
    if isinstance(result, (np.dtype, type)) or hasattr(result, "as_numpy_dtype"):
        dtype = getattr(result, "as_numpy_dtype", result)
        return {"dtype_only": np.dtype(dtype).name}
    array = np.asarray(result)
    flat: Any = np.array(array).reshape(-1)
    if array.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    return {"dtype": array.dtype.name, "shape": list(array.shape), "values": flat.tolist()}


def decode(one):
    """The array of an encoded value."""
    dtype = np.dtype(one["dtype"])
    if dtype.kind == "c":
        flat = np.array(one["values"], np.float64).reshape(-1, 2)
        return (flat[:, 0] + 1j * flat[:, 1]).astype(dtype).reshape(one["shape"])
    return np.array(one["values"], dtype).reshape(one["shape"])


def save(answers):
    text = json.dumps(answers, sort_keys=True)
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))


def load():
    return json.loads(gzip.decompress(FILE.read_bytes()))
