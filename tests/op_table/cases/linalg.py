"""Cases of gradtape.ops.linalg."""

import numpy as np

from gradtape.core.errors import FailedPreconditionError, InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

# Singular values well apart from each other and from 0.
_TALL = np.array([[3.0, -4.0], [1.0, 2.0], [0.5, 1.0]])
_STACK = np.stack([_TALL.T, _TALL.T[::-1] + 0.3])
_COMPLEX = np.array([[3.0 + 1j, -4.0j], [1.0, 2.0 - 0.5j]])
_FAILURES = [
    Failure((draw.uniform(3),), {}, InvalidArgumentError, "must have rank >= 2, got 1"),
    Failure((draw.integers(2, 2),), {}, InvalidArgumentError, "int64 is not in the list"),
]


def _decomposition(outputs, inputs, attrs):
    """The product of the parts is the input, the vectors are orthonormal, the values in order."""
    s, u, v = outputs
    (x,) = inputs
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    error = 20 * np.finfo(x.dtype).eps * max(1.0, np.max(np.abs(x), initial=0.0))
    u, v = u.astype(wide), v.astype(wide)
    count = s.shape[-1]
    adjoint_v = np.conj(np.swapaxes(v[..., :count], -1, -2))
    np.testing.assert_allclose(
        (u[..., :count] * s[..., None, :]) @ adjoint_v, x, rtol=0, atol=error
    )
    for vectors in (u, v):
        gram = np.conj(np.swapaxes(vectors, -1, -2)) @ vectors
        unit = np.broadcast_to(np.eye(gram.shape[-1]), gram.shape)
        np.testing.assert_allclose(gram, unit, rtol=0, atol=error)
    assert s.dtype == np.finfo(x.dtype).dtype
    assert np.all(np.diff(s, axis=-1) <= 0)
    assert np.all(s >= 0)


CASES = [
    Case(
        op="Svd",
        samples=[
            Sample((_TALL,), {"full_matrices": False}),
            Sample((_TALL.T,), {"full_matrices": False}),
            Sample((_STACK,), {"full_matrices": False}),
            Sample((_TALL[:2],), {"full_matrices": True}),
            Sample((np.zeros((2, 0, 3)),), {"full_matrices": False}),
            Sample((np.zeros((0, 2)),), {"full_matrices": False}),
            # A further vector is determined, but for its sign.
            Sample((_TALL,), {"full_matrices": True}),
            Sample((_STACK,), {"full_matrices": True}),
            # The phases of complex vectors are not determined, and so have no derivative.
            Sample((_COMPLEX,), {"full_matrices": False}, gradient=False),
        ],
        verify=_decomposition,
        failures=[Failure(f.inputs, {"full_matrices": False}, f.error, f.match) for f in _FAILURES],
        dtypes=["float32", "complex64"],
        # Derivatives are divided by the differences of squared singular values.
        tolerance=10.0,
    ),
    Case(
        op="SingularValues",
        samples=[
            Sample((_TALL,)),
            Sample((_TALL.T,)),
            Sample((_STACK,)),
            Sample((_COMPLEX,)),
            Sample((np.stack([_COMPLEX, _COMPLEX.T * 1.5j]),)),
            Sample((np.zeros((2, 0, 3)),)),
            Sample(
                (np.array([[[np.nan, 1.0], [1.0, 2.0]], [[2.0, 0.0], [0.0, -3.0]]]),),
                expected=np.array([[np.nan, np.nan], [3.0, 2.0]]),
                gradient=False,
            ),
        ],
        reference=lambda input: np.linalg.svd(input, compute_uv=False),
        failures=_FAILURES,
        dtypes=["float32", "complex64"],
        tolerance=10.0,
    ),
    Case(
        op="Cross",
        samples=[
            Sample((draw.uniform(3), draw.uniform(3))),
            Sample((draw.uniform(2, 2, 3), draw.uniform(2, 2, 3))),
            Sample((np.zeros((0, 3)), np.zeros((0, 3)))),
            Sample((draw.integers(2, 3), draw.integers(2, 3))),
        ],
        reference=np.cross,
        failures=[
            Failure((draw.uniform(2, 3), draw.uniform(3)), {}, InvalidArgumentError, "same shape"),
            Failure((draw.uniform(2), draw.uniform(2)), {}, FailedPreconditionError, "3-element"),
            Failure((np.float64(1), np.float64(2)), {}, InvalidArgumentError, "at least 1D"),
            Failure(
                (draw.complex_uniform(3), draw.complex_uniform(3)),
                {},
                InvalidArgumentError,
                "complex128 is not in the list",
            ),
            Failure(
                (draw.uniform(3), draw.integers(3)),
                {},
                InvalidArgumentError,
                "expected to be a double tensor but is a int64",
            ),
        ],
    ),
]
