"""Arithmetic of the checks: random arrays, inner products, differences, comparison."""

import ml_dtypes
import numpy as np

import gradtape as tf

# Differences are taken with steps of this size, by a formula whose error is of fourth order.
_STEP = 1e-4


def numpy_dtype(name):
    """The NumPy dtype of a name such as "bfloat16"."""
    return tf.as_dtype(name).numpy_dtype


def is_continuous(array):
    """Whether the array holds floating or complex numbers: what has gradients."""
    return tf.as_dtype(array.dtype).is_differentiable


def random_like(rng, array):
    """Normal numbers in the array's shape and dtype."""
    normal = rng.standard_normal(array.shape)
    if array.dtype.kind == "c":
        normal = normal + 1j * rng.standard_normal(array.shape)
    return np.asarray(normal).astype(array.dtype)


def inner(a, b):
    """The real inner product: of complex numbers, that of their parts."""
    return float(np.sum(np.real(np.conj(a) * b)))


def inner_sum(arrays, others):
    """The sum of the inner products of pairs; a missing second factor counts as zero."""
    return sum(inner(a, b) for a, b in zip(arrays, others, strict=True) if b is not None)


def size_of(arrays, others):
    """What the sum of inner products would be if nothing cancelled: the scale of its rounding."""
    pairs = zip(arrays, others, strict=True)
    return 1.0 + sum(float(np.sum(np.abs(a * b))) for a, b in pairs if b is not None)


def derivative(function):
    """The derivative at 0 of a function of one number, by central differences."""
    h = _STEP
    near = function(h) - function(-h)
    far = function(2 * h) - function(-2 * h)
    return (8 * near - far) / (12 * h)


def with_other_memory(array):
    """An equal array that is not contiguous: every axis reversed, and gaps between elements."""
    spaced = np.empty([2 * d for d in array.shape], array.dtype)
    view = spaced[(*[slice(None, None, -2)] * array.ndim, ...)]
    view[...] = array
    return view


def epsilon(dtype):
    """The spacing of the dtype's numbers at 1; 0 for exact dtypes."""
    if dtype.kind == "c":
        return float(np.finfo(dtype).eps)
    return float(ml_dtypes.finfo(dtype).eps) if tf.as_dtype(dtype).is_floating else 0.0


def assert_close(actual, expected, *, rounding, relative=False):
    """Asserts equal shapes, and values equal but for rounding errors.

    Args:
        actual: an array.
        expected: an array; its dtype may be wider.
        rounding: how many units in the last place of `actual` they may differ by.
        relative: each element by itself, so that small ones must be right too; otherwise in
            proportion to the largest.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    error = rounding * epsilon(actual.dtype)
    if error == 0.0:
        np.testing.assert_array_equal(actual, expected)
        return
    wide = np.complex128 if actual.dtype.kind == "c" else np.float64
    actual, expected = actual.astype(wide), expected.astype(wide)
    sizes = np.abs(expected[np.isfinite(expected)])
    largest = 0.0 if relative else float(sizes.max(initial=1.0))
    np.testing.assert_allclose(actual, expected, rtol=error, atol=error * largest)
