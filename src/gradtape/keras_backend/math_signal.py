"""Fourier transforms of pairs (real part, imaginary part), and sequences cut from signals."""

import numpy as np
from keras.src.backend.common import standardize_dtype

import gradtape as tf

from .core import cast, convert_to_tensor


def complex_of_parts(x):
    """The complex tensor with the two parts in `x`."""
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise ValueError(
            f"Input `x` should be a tuple of two tensors - real and imaginary.Received: x={x}"
        )
    real, imaginary = [convert_to_tensor(part) for part in x]
    if real.shape != imaginary.shape:
        raise ValueError(
            "Input `x` should be a tuple of two tensors - real and imaginary."
            "Both the real and imaginary parts should have the same shape. "
            f"Received: x[0].shape = {real.shape}, x[1].shape = {imaginary.shape}"
        )
    if not real.dtype.is_floating or not imaginary.dtype.is_floating:
        raise ValueError(f"At least one tensor in input `x` is not of type float.Received: x={x}.")
    return tf.complex(_single_or_double(real), _single_or_double(imaginary))


def _single_or_double(x):
    return x if x.dtype.name in ("float32", "float64") else cast(x, "float32")


def _parts(x):
    return tf.math.real(x), tf.math.imag(x)


def fft(x):
    return _parts(tf.signal.fft(complex_of_parts(x)))


def fft2(x):
    return _parts(tf.signal.fft2d(complex_of_parts(x)))


def ifft2(x):
    return _parts(tf.signal.ifft2d(complex_of_parts(x)))


def rfft(x, fft_length=None):
    x = _single_or_double(convert_to_tensor(x))
    return _parts(tf.signal.rfft(x, None if fft_length is None else [fft_length]))


def irfft(x, fft_length=None):
    return tf.signal.irfft(complex_of_parts(x), None if fft_length is None else [fft_length])


def extract_sequences(x, sequence_length, sequence_stride):
    return tf.signal.frame(convert_to_tensor(x), sequence_length, sequence_stride)


# Short-time transforms ----------------------------------------------------------------------------


def _window(window, sequence_length, fft_length, dtype):
    """The weights of a sequence, in the middle of zeros up to the length of the transform."""
    if isinstance(window, str):
        if window not in {"hann", "hamming"}:
            raise ValueError(
                'If a string is passed to `window`, it must be one of `"hann"`, `"hamming"`. '
                f"Received: window={window}"
            )
        mean = 0.5 if window == "hann" else 0.54
        # One period of a cosine; a single sample is its peak.
        angles = 2 * np.pi * np.arange(sequence_length) / sequence_length
        weights = mean - (1 - mean) * np.cos(angles)
        window = weights if sequence_length > 1 else np.ones(1)
    window = convert_to_tensor(window, dtype)
    if window.shape.rank != 1 or window.shape[0] != sequence_length:
        raise ValueError(
            "The shape of `window` must be equal to [sequence_length]."
            f"Received: window shape={window.shape}"
        )
    before = (fft_length - sequence_length) // 2
    return tf.pad(window, [[before, fft_length - sequence_length - before]])


def stft(x, sequence_length, sequence_stride, fft_length, window="hann", center=True):
    dtype = standardize_dtype(x.dtype)
    if dtype not in {"float32", "float64"}:
        raise TypeError(
            f"Invalid input type. Expected `float32` or `float64`. Received: input type={x.dtype}"
        )
    if fft_length < sequence_length:
        raise ValueError(
            "`fft_length` must equal or larger than `sequence_length`. "
            f"Received: sequence_length={sequence_length}, fft_length={fft_length}"
        )
    x = convert_to_tensor(x)
    if window is not None:
        window = _window(window, sequence_length, fft_length, dtype)
    if center:
        half = fft_length // 2
        x = tf.pad(x, [[0, 0]] * (x.shape.rank - 1) + [[half, half]], mode="REFLECT")
    frames = tf.signal.frame(x, fft_length, sequence_stride)
    return _parts(tf.signal.rfft(frames if window is None else frames * window, [fft_length]))


def istft(x, sequence_length, sequence_stride, fft_length, length=None, window="hann", center=True):
    x = complex_of_parts(x)
    if x.shape.rank < 2:
        raise ValueError(f"Input `x` must have at least 2 dimensions. Received shape: {x.shape}")
    inverse_window = None
    if window is not None:
        weights = _window(window, sequence_length, fft_length, tf.math.real(x).dtype)
        # Weights that undo those of `stft`, summed over the sequences that overlap.
        inverse_window = tf.signal.inverse_stft_window_fn(
            sequence_stride, lambda frame_length, dtype: weights
        )
    signal = tf.signal.inverse_stft(
        x, fft_length, sequence_stride, fft_length, window_fn=inverse_window
    )
    half = fft_length // 2 if center else 0
    end = signal.shape[-1] - half if length is None else half + length
    return signal[..., half:end]
