"""Cases of gradtape.ops.fourier_any_axes."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

_ATTRS = [
    {"fft_length": (3, 4), "axes": (0, 1)},
    {"fft_length": (2, 5), "axes": (0, -1)},
    {"fft_length": (4,), "axes": (1,)},
    {"fft_length": (3,), "axes": (-1,)},
]


def _failures(dtype):
    x = np.ones((3, 4, 2), dtype)
    return [
        Failure((x,), {"fft_length": (3,), "axes": (0, 1)}, InvalidArgumentError, "same size"),
        Failure((x,), {"fft_length": (3,), "axes": (3,)}, InvalidArgumentError, "out of range"),
        Failure((x,), {"fft_length": (3, 3), "axes": (0, 0)}, InvalidArgumentError, "unique"),
        Failure((x,), {"fft_length": (-1,), "axes": (0,)}, InvalidArgumentError, ">= 0"),
    ]


def _case(op, transform, array, dtype):
    return Case(
        op=op,
        samples=[Sample((array(3, 4, 2),), attrs) for attrs in _ATTRS],
        reference=lambda input, fft_length, axes: transform(input, fft_length, axes),
        failures=_failures(array(1).dtype),
        dtypes=[dtype],
    )


CASES = [
    _case("FFTND", np.fft.fftn, draw.complex_uniform, "complex64"),
    _case("IFFTND", np.fft.ifftn, draw.complex_uniform, "complex64"),
    _case("RFFTND", np.fft.rfftn, draw.uniform, "float32"),
    _case("IRFFTND", np.fft.irfftn, draw.complex_uniform, "complex64"),
]
