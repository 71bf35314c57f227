"""Cases of gradtape.ops.factorizations."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def _positive(*shape, is_complex=False):
    """Positive definite matrices."""
    x = draw.complex_uniform(*shape) if is_complex else draw.uniform(*shape)
    return x @ _adjoint(x) + 2 * np.eye(shape[-1])


def _symmetric_step(rng, x, position):
    step = rng.normal(size=x.shape)
    if x.dtype.kind == "c":
        step = step + 1j * rng.normal(size=x.shape)
    return step + _adjoint(step)


def _wide(x):
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _assert_product(product, x):
    error = 40 * np.finfo(x.dtype).eps * max(1.0, np.max(np.abs(x), initial=0.0))
    np.testing.assert_allclose(product, _wide(x), rtol=0, atol=error)


def _qr_decomposition(outputs, inputs, attrs):
    """The product is the input, q has orthonormal columns, r is triangular."""
    q, r = [_wide(x) for x in outputs]
    (x,) = inputs
    _assert_product(q @ r, x)
    gram = _adjoint(q) @ q
    unit = np.broadcast_to(np.eye(gram.shape[-1]), gram.shape)
    np.testing.assert_allclose(gram, unit, rtol=0, atol=40 * np.finfo(x.dtype).eps)
    np.testing.assert_array_equal(r, np.triu(r))
    assert q.shape[-1] == (x.shape[-2] if attrs["full_matrices"] else min(x.shape[-2:]))


def _lu_decomposition(outputs, inputs, attrs):
    """The product of both triangles is the input with its rows permuted, by largest pivots."""
    factors, order = outputs
    (x,) = inputs
    assert order.dtype == attrs["output_idx_type"]
    factors = _wide(factors)
    lower = np.tril(factors, -1) + np.eye(factors.shape[-1])
    assert np.all(np.abs(lower) <= 1.0 + 1e-6)
    permuted = np.take_along_axis(x, order[..., None].astype(np.int64), -2)
    _assert_product(lower @ np.triu(factors), permuted)


_INT32, _INT64 = {"output_idx_type": np.dtype(np.int32)}, {"output_idx_type": np.dtype(np.int64)}
_THIN, _FULL = {"full_matrices": False}, {"full_matrices": True}
_ROUNDED = ["float16", "float32", "complex64"]
# No two candidates for a pivot are equally large, also in batches of scaled matrices.
_PIVOTED = np.array([[0.1, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 9.5]])

CASES = [
    Case(
        op="Cholesky",
        samples=[
            Sample((_positive(3, 3),)),
            Sample((_positive(2, 2, 2),)),
            Sample((_positive(1, 1),)),
            Sample((np.zeros((0, 0)),)),
            Sample((np.zeros((0, 2, 2)),)),
            Sample((_positive(2, 2, is_complex=True),)),
            Sample(
                (np.array([[4.0, 9.0], [2.0, 5.0]]),),
                expected=np.array([[2.0, 0.0], [1.0, 2.0]]),
                gradient=False,
            ),
            # Only what is not positive definite is NaN.
            Sample(
                (np.array([[[4.0, 0.0], [2.0, 5.0]], [[-1.0, 0.0], [0.0, 1.0]]]),),
                expected=np.array([[[2.0, 0.0], [1.0, 2.0]], [[np.nan, 0.0], [np.nan, np.nan]]]),
                gradient=False,
            ),
        ],
        reference=np.linalg.cholesky,
        failures=[
            Failure((np.ones((2, 3)),), {}, InvalidArgumentError, "Input matrix must be square."),
            Failure((np.ones(3),), {}, InvalidArgumentError, "must have rank >= 2, got 1"),
            Failure((draw.integers(2, 2),), {}, InvalidArgumentError, "int64 is not in the list"),
        ],
        dtypes=_ROUNDED,
        direction=_symmetric_step,
    ),
    Case(
        op="Qr",
        samples=[
            Sample((draw.uniform(3, 3),), _THIN),
            Sample((draw.uniform(3, 2),), _THIN),
            Sample((draw.uniform(2, 4),), _THIN),
            Sample((draw.uniform(2, 3, 2),), _THIN),
            Sample((draw.uniform(2, 3),), _FULL),
            # A further column is determined, but for its sign.
            Sample((draw.uniform(3, 2),), _FULL),
            Sample((draw.uniform(2, 3, 2),), _FULL),
            Sample((np.zeros((0, 3)),), _THIN),
            Sample((np.zeros((1, 0)),), _FULL),
            Sample((draw.complex_uniform(3, 2),), _THIN),
            Sample((draw.complex_uniform(2, 3),), _THIN),
        ],
        verify=_qr_decomposition,
        failures=[
            Failure((np.ones(3),), _THIN, InvalidArgumentError, "must have rank >= 2, got 1"),
            Failure(
                (draw.integers(2, 2),), _THIN, InvalidArgumentError, "int64 is not in the list"
            ),
        ],
        dtypes=_ROUNDED,
    ),
    Case(
        op="Lu",
        samples=[
            Sample((_PIVOTED,), _INT32),
            Sample((np.stack([_PIVOTED, _PIVOTED.T]),), _INT64),
            Sample((np.array([[2.0]]),), _INT32),
            Sample((np.zeros((0, 0)),), _INT32),
            Sample((np.zeros((0, 2, 2)),), _INT32),
            Sample((_PIVOTED[:2, :2] + 1j * _PIVOTED[1:, 1:],), _INT32),
            # More than one panel.
            Sample((draw.uniform(75, 75),), _INT32, gradient=False, batch_inputs=()),
        ],
        verify=_lu_decomposition,
        failures=[
            Failure((np.zeros((2, 2)),), _INT32, InvalidArgumentError, "Input is not invertible."),
            Failure((np.full((1, 1), np.nan),), _INT32, InvalidArgumentError, "not invertible."),
            Failure((np.ones((2, 3)),), _INT32, InvalidArgumentError, "must be square."),
            Failure((np.ones(3),), _INT32, InvalidArgumentError, "must have rank >= 2, got 1"),
        ],
        dtypes=["float32", "complex64"],
    ),
]
