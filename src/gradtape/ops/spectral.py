"""Signals in frames and in frequencies: frame, stft, dct, mdct and mel spectra."""

import math

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import EagerTensor
from .arguments import integer
from .arithmetic import mul, neg
from .broadcasting import reshape
from .complex_numbers import complex_, real
from .families import linear, shape_of
from .fourier import fitted, irfft, irfft_row, rfft, rfft_row
from .joining import concat
from .padding import pad
from .permutation import reverse
from .selection import select
from .taper_windows import hann_window, vorbis_window


def _cut(x, length, step, count):
    """Frames along the last axis but one of a tensor of columns: a view, not a copy."""
    shape = (*x.shape[:-2], count, length, x.shape[-1])
    outer, along, inner = x.strides[:-2], x.strides[-2], x.strides[-1]
    return np.lib.stride_tricks.as_strided(
        x, shape, (*outer, along * step, along, inner), writeable=False
    )


def _infer_frame(x, *, length, step, count):
    return Spec((*x.shape[:-2], count, length, x.shape[-1]), x.dtype)


def _overlap(x, step, size):
    """Frames added up where they overlap; a loop over the steps in a frame."""
    count, length = x.shape[-3], x.shape[-2]
    segments = max(-(-length // step), 1)
    total = np.zeros((*x.shape[:-3], count + segments, step, x.shape[-1]), x.dtype)
    for segment in range(segments):
        part = x[..., segment * step : (segment + 1) * step, :]
        total[..., segment : segment + count, : part.shape[-2], :] += part
    flat = total.reshape(*x.shape[:-3], (count + segments) * step, x.shape[-1])
    if flat.shape[-2] >= size:
        return flat[..., :size, :]
    room = np.zeros((*flat.shape[:-2], size, flat.shape[-1]), x.dtype)
    room[..., : flat.shape[-2], :] = flat
    return room


def _infer_overlap(x, *, step, size):
    return Spec((*x.shape[:-3], size, x.shape[-1]), x.dtype)


# TensorFlow composes both of other ops; as adjoints of each other they need neither indices nor
# copies of the signal.
frame_row = linear(
    "Frame",
    _cut,
    infer=_infer_frame,
    transpose=lambda g, x_shape, *, step: overlap_row(g, step=step, size=x_shape[-2]),
    batch=lambda op, values, flags, attrs: op.call(values[0], **attrs),
    raw=False,
)

overlap_row = linear(
    "OverlapAndAdd",
    _overlap,
    infer=_infer_overlap,
    transpose=lambda g, x_shape, *, step, size: frame_row(
        fitted(g, [max(size, (x_shape[-3] - 1) * step + x_shape[-2])], [-2]),
        length=x_shape[-2],
        step=step,
        count=x_shape[-3],
    ),
    batch=lambda op, values, flags, attrs: op.call(values[0], **attrs),
    raw=False,
)


def _scalar(value, name):
    tensor = convert_to_tensor(value)
    if tensor.ndim:
        raise ValueError(f"Shape {tensor.shape} must have rank 0")
    if not tensor.dtype.is_integer:
        raise ValueError(f"{name} must be an integer. Got {tensor.dtype!r}")
    return integer(tensor, "Frame")


def _at_least(x, rank):
    if x.ndim < rank:
        raise ValueError(f"Shape {x.shape} must have rank at least {rank}")
    return x


@export("signal.frame")
def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """Cuts an axis into frames of equal length that may overlap.

    Args:
        signal: the tensor.
        frame_length: the length of a frame.
        frame_step: how far apart frames start.
        pad_end: whether to add `pad_value` so that the last samples come into frames too.
        pad_value: what to add.
        axis: the axis, which gives way to two: frames, and samples in a frame.

    Raises:
        ValueError: a length is not an integer, or the tensor has no axis.
        InvalidArgumentError: a length is not positive.
    """
    x = _at_least(operand(signal), 1)
    length, step = _scalar(frame_length, "frame_length"), _scalar(frame_step, "frame_step")
    if length < 0 or step < 1:
        raise invalid_argument(
            "Frame", f"frame_length {length} and frame_step {step} must be positive."
        )
    axis = range(x.ndim)[_scalar(axis, "axis")]
    size = shape_of(x)[axis]
    if pad_end:
        count = -(-size // step)
        missing = max(0, length + step * (count - 1) - size)
        around = [[0, 0]] * axis + [[0, missing]] + [[0, 0]] * (x.ndim - axis - 1)
        x = pad(x, around, constant_values=pad_value)
        size += missing
    else:
        count = max(0, 1 + (size - length) // step)
    shape = shape_of(x)
    columns = (*shape[:axis], size, math.prod(shape[axis + 1 :]))
    frames = apply(
        frame_row.op,
        (reshape(x, shape=columns),),
        {"length": length, "step": step, "count": count},
    )
    return reshape(frames, shape=(*shape[:axis], count, length, *shape[axis + 1 :]))


@export("signal.overlap_and_add")
def overlap_and_add(signal, frame_step, name=None):
    """Adds up frames, each `frame_step` after the one before, to one signal.

    Args:
        signal: frames, [..., frames, frame_length].
        frame_step: how far apart they start.

    Raises:
        ValueError: the step is not an integer, or there are fewer than two axes.
    """
    x = _at_least(convert_to_tensor(signal), 2)
    step = _scalar(frame_step, "frame_step")
    if step < 1:
        raise invalid_argument("OverlapAndAdd", f"frame_step must be positive. Received: {step}")
    shape = shape_of(x)
    size = max(shape[-1] + step * (shape[-2] - 1), 0)
    total = overlap_row(reshape(x, shape=(*shape, 1)), step=step, size=size)
    return reshape(total, shape=(*shape[:-2], size))


def _enclosing_power_of_two(length):
    return int(2 ** np.ceil(np.log(length) / np.log(2.0)))


@export("signal.stft")
def stft(
    signals,
    frame_length,
    frame_step,
    fft_length=None,
    window_fn=hann_window,
    pad_end=False,
    name=None,
):
    """The short-time Fourier transform: of each frame of a signal, the spectrum.

    Args:
        signals: real signals, [..., samples].
        frame_length: the length of a frame.
        frame_step: how far apart frames start.
        fft_length: the length to fill frames to; the next power of two if None.
        window_fn: `window_fn(length, dtype=...)` gives the window; None for no window.
        pad_end: whether to add zeros so that the last samples come into frames too.

    Returns:
        Complex spectra, [..., frames, fft_length // 2 + 1].
    """
    signals = _at_least(convert_to_tensor(signals), 1)
    length = _scalar(frame_length, "frame_length")
    fft_length = _fft_length(fft_length, length)
    frames = frame(signals, length, frame_step, pad_end=pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return rfft(frames, [fft_length])


def _fft_length(fft_length, frame_length):
    if fft_length is None:
        return _enclosing_power_of_two(frame_length)
    return _scalar(fft_length, "fft_length")


@export("signal.inverse_stft_window_fn")
def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window, name=None):
    """The window with which `tf.signal.inverse_stft` undoes one of `tf.signal.stft`.

    Args:
        frame_step: how far apart frames start.
        forward_window_fn: the window of the forward transform.

    Returns:
        A function `window_fn(frame_length, dtype)`.
    """

    def window(frame_length, dtype):
        step = _scalar(frame_step, "frame_step")
        length = _scalar(frame_length, "frame_length")
        forward = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        squares = pad(forward * forward, [[0, overlaps * step - length]])
        weight = np.sum(squares.numpy().reshape(overlaps, step), 0)
        divisor = EagerTensor(np.tile(weight, overlaps)[:length])
        safe = select(divisor == 0.0, divisor * 0 + 1, divisor)
        return select(divisor == 0.0, forward * 0, forward / safe)

    return window


@export("signal.inverse_stft")
def inverse_stft(
    stfts, frame_length, frame_step, fft_length=None, window_fn=hann_window, name=None
):
    """Signals from their short-time Fourier transforms.

    For an exact inverse the window must be that of `tf.signal.inverse_stft_window_fn`.

    Args:
        stfts: complex spectra, [..., frames, fft_length // 2 + 1].
        frame_length: the length of a frame.
        frame_step: how far apart frames start.
        fft_length: as in the forward transform.
        window_fn: `window_fn(length, dtype=...)` gives the window; None for no window.
    """
    stfts = _at_least(convert_to_tensor(stfts), 2)
    length = _scalar(frame_length, "frame_length")
    frames = irfft(stfts, [_fft_length(fft_length, length)])
    frames = fitted(frames, [length], [-1])
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step)


def _check_dct(x, kind, n, axis, norm):
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if kind not in (1, 2, 3, 4):
        raise ValueError("Types I, II, III and IV (I)DCT are supported.")
    if kind == 1:
        if norm == "ortho":
            raise ValueError("Normalization is not supported for the Type-I DCT.")
        if shape_of(x)[-1] < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"RFFT requires tf.float32 or tf.float64 inputs, got: {x}")


def _rotations(count, x, sign):
    """Twice the quarter-wave phases that turn a transform of doubled length into a cosine's."""
    dtype = np.complex64 if x.dtype is dtypes.float32 else np.complex128
    return (2 * np.exp(sign * 0.5j * np.pi / max(count, 1) * np.arange(count))).astype(dtype)


def _weights(first, others, count, x):
    weights = np.full(count, others)
    weights[:1] = first
    return weights.astype(x.dtype.numpy_dtype)


def _dct(x, kind, n, norm):
    if n is not None:
        x = fitted(x, [n], [-1])
    count = shape_of(x)[-1]
    if kind == 1:
        mirrored = concat([x, x[..., -2:0:-1]], -1)
        return real(rfft_row(mirrored, fft_length=(2 * count - 2,)))
    if kind == 2:
        spectrum = rfft_row(x, fft_length=(2 * count,))[..., :count]
        result = real(mul(spectrum, _rotations(count, x, -1)))
        if norm == "ortho":
            first = 0.5 / math.sqrt(count)
            result = mul(result, _weights(first, first * math.sqrt(2), count, x))
        return result
    if kind == 3:
        root = math.sqrt(count)
        weights = (root, root * math.sqrt(0.5)) if norm == "ortho" else (count, count)
        x = mul(x, _weights(*weights, count, x))
        turned = mul(complex_(x, mul(x, 0.0)), _rotations(count, x, 1))
        return irfft_row(turned, fft_length=(2 * count,))[..., :count]
    result = _dct(x, 2, 2 * count, None)[..., 1::2]
    return mul(result, math.sqrt(0.5 / count)) if norm == "ortho" else result


@export("signal.dct")
def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The discrete cosine transform over the last axis.

    Args:
        input: float32 or float64.
        type: 1 to 4.
        n: the length to cut or fill the axis to.
        axis: -1.
        norm: `"ortho"` for an orthogonal transform.

    Raises:
        ValueError: there is no such type or norm, or the type does not allow them.
        NotImplementedError: another axis.
    """
    x = convert_to_tensor(input)
    _check_dct(x, type, n, axis, norm)
    return _dct(x, type, n, norm)


@export("signal.idct")
def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The inverse of `tf.signal.dct`; without `"ortho"`, times twice the length."""
    x = convert_to_tensor(input)
    _check_dct(x, type, n, axis, norm)
    return _dct(x, {1: 1, 2: 3, 3: 2, 4: 4}[type], n, norm)


@export("signal.mdct")
def mdct(signals, frame_length, window_fn=vorbis_window, pad_end=False, norm=None, name=None):
    """The modified discrete cosine transform, of frames that overlap by half.

    Args:
        signals: real signals, [..., samples].
        frame_length: the length of a frame, a multiple of 4.
        window_fn: `window_fn(length, dtype=...)` gives the window; None for a flat one.
        pad_end: whether to add zeros so that the last samples come into frames too.
        norm: `"ortho"` or None.

    Returns:
        [..., frames, frame_length // 2].

    Raises:
        ValueError: the frame length is not a multiple of 4.
    """
    signals = _at_least(convert_to_tensor(signals), 1)
    length = _scalar(frame_length, "frame_length")
    if length % 4:
        raise ValueError("The frame length must be a multiple of 4.")
    frames = frame(signals, length, length // 2, pad_end=pad_end)
    frames = frames * _window(window_fn, length, frames.dtype)
    quarter = length // 4
    a, b, c, d = [frames[..., i * quarter : (i + 1) * quarter] for i in range(4)]
    folded = concat([neg(reverse(c, [-1])) - d, a - reverse(b, [-1])], -1)
    return dct(folded, type=4, norm=norm)


def _window(window_fn, length, dtype):
    return math.sqrt(0.5) if window_fn is None else window_fn(length, dtype=dtype)


@export("signal.inverse_mdct")
def inverse_mdct(mdcts, window_fn=vorbis_window, norm=None, name=None):
    """Signals from their modified cosine transforms, with the arguments of `tf.signal.mdct`."""
    mdcts = _at_least(convert_to_tensor(mdcts), 2)
    half = shape_of(mdcts)[-1]
    folded = dct(mdcts, type=4, norm=norm)
    if norm is None:
        folded = folded * (0.5 / half)
    low, high = folded[..., : half // 2], folded[..., half // 2 :]
    frames = concat([high, neg(reverse(high, [-1])), neg(reverse(low, [-1])), neg(low)], -1)
    return overlap_and_add(frames * _window(window_fn, 2 * half, mdcts.dtype), half)


def _mel(hertz):
    return 1127.0 * np.log(1.0 + hertz / 700.0)


@export("signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(
    num_mel_bins=20,
    num_spectrogram_bins=129,
    sample_rate=8000,
    lower_edge_hertz=125.0,
    upper_edge_hertz=3800.0,
    dtype=dtypes.float32,
    name=None,
):
    """The matrix that takes a spectrum to bands as wide as the ear hears them.

    Args:
        num_mel_bins: how many bands.
        num_spectrogram_bins: how many frequencies the spectrum has, from 0 to half the rate.
        sample_rate: samples a second.
        lower_edge_hertz: where the lowest band starts.
        upper_edge_hertz: where the highest ends.
        dtype: a floating dtype.

    Returns:
        [num_spectrogram_bins, num_mel_bins].

    Raises:
        ValueError: numbers that make no bands.
    """
    dtype = dtypes.as_dtype(dtype)
    sample_rate = float(convert_to_tensor(sample_rate).numpy())
    if num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if lower_edge_hertz < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower_edge_hertz}")
    if lower_edge_hertz >= upper_edge_hertz:
        raise ValueError(
            f"lower_edge_hertz {lower_edge_hertz:.1f} >= upper_edge_hertz {upper_edge_hertz:.1f}"
        )
    if sample_rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
    if upper_edge_hertz > sample_rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
            f"Got {upper_edge_hertz} for sample_rate: {sample_rate}"
        )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}")
    mels = _mel(np.linspace(0.0, sample_rate / 2, num_spectrogram_bins)[1:, None])
    edges = np.linspace(_mel(lower_edge_hertz), _mel(upper_edge_hertz), num_mel_bins + 2)
    lower, centre, upper = edges[:-2], edges[1:-1], edges[2:]
    slopes = np.minimum((mels - lower) / (centre - lower), (upper - mels) / (upper - centre))
    matrix = np.zeros((num_spectrogram_bins, num_mel_bins), dtype.numpy_dtype)
    matrix[1:] = np.maximum(slopes, 0)  # the constant part of a sound is not heard
    return EagerTensor(matrix)


@export("signal.mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """Cepstral coefficients: the orthogonal cosine transform of logarithmic mel spectra.

    Raises:
        ValueError: there is no band.
    """
    x = convert_to_tensor(log_mel_spectrograms)
    bands = shape_of(x)[-1]
    if bands == 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {x!r}")
    return dct(x, type=2) * (1 / math.sqrt(2.0 * bands))
