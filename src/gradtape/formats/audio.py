"""Sounds in WAV files of 16-bit samples."""

import struct
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.effects import performed
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.tensor import EagerTensor
from ..ops.arguments import integer
from .strings import one_string, string_tensor

_FORMAT = struct.Struct("<HHIIHH")
_PCM, _EXTENSIBLE = 1, 0xFFFE


class DecodeWav(NamedTuple):
    """The samples of a sound and how many there are a second."""

    audio: Any
    sample_rate: Any


@export("audio.decode_wav")
@performed("DecodeWav", pure=True)
def decode_wav(contents, desired_channels=-1, desired_samples=-1, name=None):
    """The samples of a WAV file, from -1 to 1, [samples, channels], and their rate.

    Args:
        contents: the file's bytes.
        desired_channels: how many channels to give; all by default.
        desired_samples: how many samples to cut it to, or to fill it with zeros to.

    Raises:
        InvalidArgumentError: the bytes are not a WAV file of 16-bit samples.
    """
    data = one_string(contents, "DecodeWav", "contents")
    channels, rate, samples = _read(data)
    audio = np.frombuffer(samples, "<i2").reshape(-1, channels)
    audio = audio.astype(np.float32) / np.float32(32768)
    if desired_channels > 0:
        wider = audio[:, np.minimum(np.arange(desired_channels), channels - 1)]
        audio = np.ascontiguousarray(wider)
    if desired_samples > 0:
        fitted = np.zeros((desired_samples, audio.shape[1]), np.float32)
        fitted[: len(audio)] = audio[:desired_samples]
        audio = fitted
    return DecodeWav(EagerTensor(audio), EagerTensor(np.int32(rate)))


def _read(data):
    if len(data) < 12:
        raise _bad("Data too short when trying to read string")
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise _bad(f"Header mismatch: Expected RIFF and WAVE but found {data[:12]!r}")
    place, layout = 12, None
    while place + 8 <= len(data):
        kind, size = data[place : place + 4], struct.unpack_from("<I", data, place + 4)[0]
        body = data[place + 8 : place + 8 + size]
        if kind == b"fmt ":
            if len(body) < _FORMAT.size:
                raise _bad("Data too short when trying to read the format")
            layout = _FORMAT.unpack_from(body)
        elif kind == b"data":
            if layout is None:
                raise _bad("The samples come before the format")
            form, channels, rate, _, _, bits = layout
            if form not in (_PCM, _EXTENSIBLE) or bits != 16 or not channels:
                raise _bad(f"Can only read 16-bit WAV files, but received {bits}")
            if len(body) < size:
                raise _bad("Data too short when trying to read the samples")
            return channels, rate, body[: len(body) // (2 * channels) * 2 * channels]
        place += 8 + size + size % 2
    raise _bad("The file has no samples")


def _bad(message):
    return invalid_argument("DecodeWav", message)


@export("audio.encode_wav")
@performed("EncodeWav", pure=True)
def encode_wav(audio, sample_rate, name=None):
    """Samples from -1 to 1, [samples, channels], as a WAV file of 16-bit samples.

    Raises:
        InvalidArgumentError: there are not two axes.
    """
    values = convert_to_tensor(audio, dtypes.float32).numpy()
    rate = integer(sample_rate, "EncodeWav")
    if values.ndim != 2:
        raise invalid_argument("EncodeWav", f"audio must be 2-dimensional: {values.shape}")
    if rate <= 0:
        raise invalid_argument("EncodeWav", "sample_rate must be positive.")
    channels = values.shape[1]
    samples = np.clip(np.rint(values * np.float32(32768)), -32768, 32767).astype("<i2").tobytes()
    layout = _FORMAT.pack(_PCM, channels, rate, rate * channels * 2, channels * 2, 16)
    chunks = b"WAVE" + _chunk(b"fmt ", layout) + _chunk(b"data", samples)
    return string_tensor(_chunk(b"RIFF", chunks))


def _chunk(kind, body):
    return kind + struct.pack("<I", len(body)) + body
