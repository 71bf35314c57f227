"""The seeded results of TensorFlow stored in data/random_reference.json."""

import base64
import hashlib
import json
from pathlib import Path

import ml_dtypes
import numpy as np

REFERENCE = json.loads((Path(__file__).parent / "data" / "random_reference.json").read_text())


def describe(record):
    """A short test id for a recorded call."""
    kwargs = ",".join(f"{name}={value}" for name, value in record["kwargs"].items())
    return f"{record['function']}({kwargs})"[:80]


def assert_same(actual, expected):
    """Compare an array with a recorded result: bit for bit, but for the last bit of float64.

    float64 logarithms and sines come from the platform's C library, whose last bit may differ.
    """
    dtype = np.dtype(getattr(ml_dtypes, expected["dtype"], expected["dtype"]))
    actual = np.asarray(actual, order="C")
    assert actual.dtype == dtype
    assert list(actual.shape) == expected["shape"]
    if "sha256" in expected:
        assert hashlib.sha256(actual.tobytes()).hexdigest() == expected["sha256"]
        return
    wanted = np.frombuffer(base64.b64decode(expected["base64"]), dtype).reshape(actual.shape)
    if dtype == np.float64:
        np.testing.assert_array_max_ulp(actual, wanted, maxulp=1)
    else:
        assert actual.tobytes() == wanted.tobytes(), (actual, wanted)
