"""Cases of gradtape.ops.eigen."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

# Eigenvalues well apart from each other; what is above the diagonal does not count.
_SMALL = np.array([[3.0, 9.0], [1.0, -2.0]])
_LARGE = np.array([[1.0, 0.5, 0.3], [-0.4, 4.0, 0.0], [0.8, 0.6, -3.0]])
_STACK = np.stack([_SMALL, _SMALL[::-1, ::-1] * 1.5])
_COMPLEX = np.array([[3.0 + 0j, 7.0], [1.0 - 2j, -2.0 + 0j]])
_FAILURES = [
    Failure((draw.uniform(3),), {}, InvalidArgumentError, "must have rank >= 2, got 1"),
    Failure((draw.uniform(2, 3),), {}, InvalidArgumentError, "must be square"),
    Failure((draw.integers(2, 2),), {}, InvalidArgumentError, "int64 is not in the list"),
    Failure((np.array([[np.nan]]),), {}, InvalidArgumentError, "was not successful"),
]


def _self_adjoint(x):
    lower = np.tril(x, -1)
    return lower + np.conj(np.swapaxes(lower, -1, -2)) + np.real(x) * np.eye(x.shape[-1])


def _values(input):
    return np.linalg.eigvalsh(_self_adjoint(input)).astype(input.dtype)


def _decomposition(outputs, inputs, attrs):
    """The product of the parts is the input, the vectors are orthonormal, the values in order."""
    e, v = outputs
    (x,) = inputs
    assert e.dtype == v.dtype == x.dtype
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    e, v = e.astype(wide), v.astype(wide)
    error = 20 * np.finfo(x.dtype).eps * max(1.0, np.max(np.abs(x), initial=0.0))
    adjoint_v = np.conj(np.swapaxes(v, -1, -2))
    want = _self_adjoint(x.astype(wide))
    np.testing.assert_allclose((v * e[..., None, :]) @ adjoint_v, want, rtol=0, atol=error)
    unit = np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    np.testing.assert_allclose(adjoint_v @ v, unit, rtol=0, atol=error)
    assert np.all(np.diff(e.real, axis=-1) >= 0)


CASES = [
    Case(
        op="SelfAdjointEigV2",
        samples=[
            Sample((_SMALL,)),
            Sample((_LARGE,)),
            Sample((_STACK,)),
            Sample((np.zeros((2, 0, 0)),)),
            # The phases of complex vectors are not determined, and so have no derivative.
            Sample((_COMPLEX,), gradient=False),
        ],
        verify=_decomposition,
        failures=_FAILURES,
        dtypes=["float32", "complex64"],
        # Derivatives are divided by the differences of eigenvalues.
        tolerance=10.0,
    ),
    Case(
        op="SelfAdjointEigenvalues",
        samples=[
            Sample((_SMALL,)),
            Sample((_LARGE,)),
            Sample((_STACK,)),
            Sample((_COMPLEX,)),
            Sample((np.zeros((2, 0, 0)),)),
        ],
        reference=_values,
        failures=_FAILURES,
        dtypes=["float32", "complex64"],
        tolerance=10.0,
    ),
]
