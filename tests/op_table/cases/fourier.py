"""Cases of gradtape.ops.fourier."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

_SUFFIXES = {1: "", 2: "2D", 3: "3D"}
_SHAPES = {1: [(5,), (2, 4), (0, 3)], 2: [(3, 4), (2, 2, 3)], 3: [(2, 3, 2), (1, 2, 2, 3)]}
_LENGTHS = {1: [(4,), (5,), (7,), (2,)], 2: [(3, 4), (2, 5)], 3: [(2, 3, 4), (3, 2, 3)]}


def _axes(rank):
    return tuple(range(-rank, 0))


def _complex_cases(rank):
    samples = [Sample((draw.complex_uniform(*shape),)) for shape in _SHAPES[rank]]
    failures = [
        Failure((np.ones((2, 2, 2)),), {}, InvalidArgumentError, "is not in the list of allowed"),
        Failure(
            (np.ones((2,) * (rank - 1), np.complex128),), {}, InvalidArgumentError,
            "rank of at least",
        ),
    ]  # fmt: skip
    return [
        Case(
            op=f"{name}{_SUFFIXES[rank]}", samples=samples, failures=failures, dtypes=["complex64"],
            reference=lambda input, transform=transform: (
                transform(input, axes=_axes(rank)) if input.size else input
            ),
        )
        for name, transform in (("FFT", np.fft.fftn), ("IFFT", np.fft.ifftn))
    ]  # fmt: skip


def _raw_real(rank, inverse):
    """How TensorFlow is called: it does not pad, and is told the dtype of the result."""

    def raw(input, fft_length):
        needed = (*fft_length[:-1], fft_length[-1] // 2 + 1) if inverse else fft_length
        if len(fft_length) == rank:
            sizes = zip(input.shape[input.ndim - rank :], needed, strict=True)
            missing = [(0, max(0, new - old)) for old, new in sizes]
            input = np.pad(input, [(0, 0)] * (input.ndim - rank) + missing)
        result = np.float64 if inverse else np.complex128
        return {
            "input": input,
            "fft_length": np.array(fft_length, np.int32),
            "Treal" if inverse else "Tcomplex": np.dtype(result),
        }

    return raw


def _real_cases(rank):
    suffix = _SUFFIXES[rank]
    attrs = [{"fft_length": lengths} for lengths in _LENGTHS[rank]]
    shapes = [shape for shape in _SHAPES[rank] if 0 not in shape]
    wrong = {"fft_length": (2,) * (rank + 1)}
    return [
        Case(
            op=f"RFFT{suffix}",
            samples=[Sample((draw.uniform(*shape),), a) for shape in shapes for a in attrs],
            reference=lambda input, fft_length: np.fft.rfftn(input, fft_length, _axes(rank)),
            failures=[
                Failure((np.ones((2, 2, 2)),), wrong, InvalidArgumentError, "fft_length must have"),
                Failure(
                    (np.ones((2, 2, 2)),), {"fft_length": (-1,) * rank}, InvalidArgumentError,
                    "must be >= 0",
                ),
            ],
            dtypes=["float32"],
            raw=_raw_real(rank, inverse=False),
        ),
        Case(
            op=f"IRFFT{suffix}",
            samples=[Sample((draw.complex_uniform(*shape),), a) for shape in shapes for a in attrs],
            reference=lambda input, fft_length: np.fft.irfftn(input, fft_length, _axes(rank)),
            failures=[
                Failure(
                    (np.ones((2, 2, 2), np.complex128),), wrong, InvalidArgumentError,
                    "fft_length must have",
                ),
            ],
            dtypes=["complex64"],
            raw=_raw_real(rank, inverse=True),
        ),
    ]  # fmt: skip


CASES = [case for rank in (1, 2, 3) for case in _complex_cases(rank) + _real_cases(rank)]
