"""Cases of gradtape.ops.eig."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

# Eigenvalues well apart from each other.
_REAL = np.array([[3.0, 1.0, 0.5], [0.2, -1.0, 0.3], [0.1, 0.4, 6.0]])
_TURNING = np.array([[1.0, -2.0], [3.0, 0.5]])
_COMPLEX = np.array([[1.0 + 1j, 0.5], [0.3j, -2.0]])
_SAMPLES = [
    Sample((_REAL,)),
    Sample((_TURNING,)),
    Sample((np.stack([_TURNING, _REAL[:2, :2]]),)),
    Sample((_COMPLEX,)),
    Sample((np.zeros((0, 0)),)),
    Sample((np.zeros((0, 2, 2)),)),
]
_FAILURES = [
    Failure((np.ones((2, 3)),), {}, InvalidArgumentError, "Input matrix must be square."),
    Failure((np.ones(3),), {}, InvalidArgumentError, "must have rank >= 2, got 1"),
    Failure((draw.integers(2, 2),), {}, InvalidArgumentError, "int64 is not in the list"),
    Failure((np.full((2, 2), np.nan),), {}, InvalidArgumentError, "was not successful"),
]


def _eigenvectors(outputs, inputs, attrs):
    """Vectors of length 1 that the matrix only stretches."""
    e, v = [x.astype(np.complex128) for x in outputs]
    (x,) = inputs
    assert {out.dtype for out in outputs} == {np.result_type(x.dtype, np.complex64)}
    error = 40 * np.finfo(x.dtype).eps
    np.testing.assert_allclose(x @ v, v * e[..., None, :], rtol=0, atol=10 * error)
    np.testing.assert_allclose(np.linalg.norm(v, axis=-2), np.ones(e.shape), rtol=0, atol=error)


def _eigenvalues(outputs, inputs, attrs):
    (e,), (x,) = outputs, inputs
    assert e.dtype == np.result_type(x.dtype, np.complex64)
    unit = np.eye(x.shape[-1])
    wide = x.astype(np.complex128)
    for i in range(x.shape[-1]):
        shifted = wide - e[..., i, None, None] * unit
        least = np.linalg.svd(shifted, compute_uv=False)[..., -1]
        np.testing.assert_allclose(least, 0.0, rtol=0, atol=100 * np.finfo(x.dtype).eps)


CASES = [
    Case(
        op="Eig",
        skip_second_order="not checked: the phases of vectors are arbitrary",
        # The phases of vectors are arbitrary: what a gradient by them means is tested elsewhere.
        samples=[Sample(s.inputs, gradient=False) for s in _SAMPLES],
        verify=_eigenvectors,
        failures=_FAILURES,
        dtypes=["float32", "complex64"],
        raw=lambda input: {"input": input, "Tout": np.result_type(input.dtype, np.complex64)},
    ),
    Case(
        op="EigenvaluesOnly",
        samples=_SAMPLES,
        verify=_eigenvalues,
        failures=_FAILURES,
        dtypes=["float32", "complex64"],
    ),
]
