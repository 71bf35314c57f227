"""Windows that taper a frame of a signal towards its ends."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.exports import export
from ..core.tensor import EagerTensor
from .arguments import integer
from .bessel_kernels import bessel_i0e


def _length_and_dtype(window_length, dtype):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype}")
    length = convert_to_tensor(window_length)
    if length.ndim:
        raise ValueError(f"Shape {length.shape} must have rank 0")
    return integer(length, "Range"), dtype


def _window(values, dtype):
    return EagerTensor(np.asarray(values).astype(dtype.numpy_dtype))


def _raised_cosine(window_length, periodic, dtype, mean, swing):
    length, dtype = _length_and_dtype(window_length, dtype)
    if length == 1:
        return _window(np.ones(1), dtype)
    periodic = bool(convert_to_tensor(periodic).numpy())
    steps = length + (periodic and length % 2 == 0) - 1
    working = np.dtype(np.float64 if dtype.size == 8 else np.float32).type
    angle = working(2 * np.pi) * np.arange(length, dtype=working) / working(max(steps, 1))
    return _window(working(mean) - working(swing) * np.cos(angle), dtype)


@export("signal.hann_window")
def hann_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """Hann's window: one wave of a cosine, from 0 up to 1 and back.

    Args:
        window_length: how many samples.
        periodic: whether the window is to repeat itself, for an even length.
        dtype: a floating dtype.

    Raises:
        ValueError: the dtype is not floating.
    """
    return _raised_cosine(window_length, periodic, dtype, 0.5, 0.5)


@export("signal.hamming_window")
def hamming_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """Hamming's window: a cosine that does not quite reach 0; see `tf.signal.hann_window`."""
    return _raised_cosine(window_length, periodic, dtype, 0.54, 0.46)


def _kaiser(length, beta):
    if length == 1:
        return np.ones(1)
    half = (length - 1) / 2
    places = np.arange(length) - half
    bend = beta * np.sqrt(np.maximum(1 - np.square(places / half), 0))
    top = bessel_i0e(np.float64(beta))
    return np.exp(bend - beta) * (bessel_i0e(bend) / top)


@export("signal.kaiser_window")
def kaiser_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """Kaiser's window.

    Args:
        window_length: how many samples.
        beta: how steep it is.
        dtype: a floating dtype.

    Raises:
        ValueError: the dtype is not floating.
    """
    length, dtype = _length_and_dtype(window_length, dtype)
    return _window(_kaiser(length, float(beta)), dtype)


@export("signal.kaiser_bessel_derived_window")
def kaiser_bessel_derived_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """The window made of the sums of Kaiser's, suited to `tf.signal.mdct`.

    Args:
        window_length: how many samples, an even number.
        beta: how steep it is.
        dtype: a floating dtype.

    Raises:
        ValueError: the dtype is not floating.
    """
    length, dtype = _length_and_dtype(window_length, dtype)
    sums = np.cumsum(_kaiser(length // 2 + 1, float(beta)))
    half = np.sqrt(sums[:-1] / sums[-1])
    return _window(np.concatenate([half, half[::-1]]), dtype)


@export("signal.vorbis_window")
def vorbis_window(window_length, dtype=dtypes.float32, name=None):
    """The window of the Vorbis format, suited to `tf.signal.mdct`.

    Raises:
        ValueError: the dtype is not floating.
    """
    length, dtype = _length_and_dtype(window_length, dtype)
    wave = np.sin(np.pi / max(length, 1) * (np.arange(length) + 0.5))
    return _window(np.sin(np.pi / 2 * np.square(wave)), dtype)
