"""Cases of gradtape.ops.complex_numbers."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws
from ..samples import binary_failures, binary_samples, unary_failures, unary_samples

draw = Draws(__name__)


def _real_of(x):
    """What an op from complex numbers gives, as far as it takes any."""
    return np.dtype(np.float64) if x.dtype == np.complex128 else np.dtype(np.float32)


def _to_real(op, reference, *more):
    return Case(
        op=op,
        raw=lambda x: {"x" if op == "ComplexAbs" else "input": x, "Tout": _real_of(x)},
        samples=[*unary_samples(draw.complex_signed), *more],
        reference=reference,
        failures=unary_failures([True, 1.5, 3, b"a"]),
    )


_ZERO = Sample((np.array([0j, -0.0 + 0j, 1j, -1.0]),), gradient=False)

CASES = [
    _to_real("Real", np.real),
    _to_real("Imag", np.imag),
    _to_real("ComplexAbs", np.abs, _ZERO),
    _to_real("Angle", np.angle, _ZERO),
    Case(
        op="Complex",
        raw=lambda real, imag: {
            "real": real,
            "imag": imag,
            "Tout": np.dtype(np.complex128 if real.dtype == np.float64 else np.complex64),
        },
        samples=binary_samples(draw.uniform),
        reference=lambda real, imag: real + 1j * imag,
        dtypes=("float32",),
        failures=[
            *binary_failures(np.array([1.5, 2.5]), [3, b"a"]),
            Failure(
                (np.float16(1), np.float16(2)), {}, InvalidArgumentError, "half is not in the list"
            ),
        ],
    ),
]
