"""Sums, extremes, statistics, and what runs along an axis."""

import numpy as np

import gradtape as tf

from .elementwise import truth
from .names import numpy_names
from .promotion import (
    Defaults,
    as_tensor,
    constant,
    floats,
    integers,
    is_inexact,
    numpy_dtype,
    promoted,
    size_of,
)


def _axes(axis):
    return list(axis) if isinstance(axis := integers(axis), tuple) else axis


def _refuse_out(out):
    if out is not None:
        raise ValueError("The argument `out` is not supported: tensors cannot be written into.")


def _widened(x):
    """Integers as sums and products have them: 64 bits, and booleans are numbers."""
    if is_inexact(x):
        return x
    if Defaults.narrow:
        return tf.cast(x, tf.int32) if x.dtype.is_bool else x
    return tf.cast(x, tf.uint64 if x.dtype.is_unsigned and not x.dtype.is_bool else tf.int64)


def _summable(a, dtype):
    return _widened(as_tensor(a)) if dtype is None else as_tensor(a, numpy_dtype(dtype))


def _averageable(a, dtype):
    return floats(a) if dtype is None else as_tensor(a, numpy_dtype(dtype))


@numpy_names("sum")
def sum_(a, axis=None, dtype=None, keepdims=None):
    """The sum over all elements, or along `axis`."""
    return tf.reduce_sum(_summable(a, dtype), _axes(axis), bool(keepdims))


@numpy_names("prod")
def prod(a, axis=None, dtype=None, keepdims=None):
    """The product over all elements, or along `axis`."""
    return tf.reduce_prod(_summable(a, dtype), _axes(axis), bool(keepdims))


@numpy_names("mean")
def mean(a, axis=None, dtype=None, out=None, keepdims=None):
    """The mean over all elements, or along `axis`."""
    _refuse_out(out)
    return tf.reduce_mean(_averageable(a, dtype), _axes(axis), bool(keepdims))


@numpy_names("all")
def all_(a, axis=None, keepdims=None):
    """Whether all elements are nonzero."""
    return tf.reduce_all(truth(as_tensor(a)), _axes(axis), bool(keepdims))


@numpy_names("any")
def any_(a, axis=None, keepdims=None):
    """Whether any element is nonzero."""
    return tf.reduce_any(truth(as_tensor(a)), _axes(axis), bool(keepdims))


@numpy_names("max")
def max_(a, axis=None, keepdims=None):
    """The greatest element."""
    x = as_tensor(a)
    return (tf.reduce_any if x.dtype.is_bool else tf.reduce_max)(x, _axes(axis), bool(keepdims))


@numpy_names("min")
def min_(a, axis=None, keepdims=None):
    """The least element."""
    x = as_tensor(a)
    return (tf.reduce_all if x.dtype.is_bool else tf.reduce_min)(x, _axes(axis), bool(keepdims))


@numpy_names("amax")
def amax(a, axis=None, out=None, keepdims=None):
    """The greatest element."""
    _refuse_out(out)
    return max_(a, axis, keepdims)


@numpy_names("amin")
def amin(a, axis=None, out=None, keepdims=None):
    """The least element."""
    _refuse_out(out)
    return min_(a, axis, keepdims)


@numpy_names("ptp")
def ptp(a, axis=None, keepdims=None):
    """The greatest element less the least."""
    x = as_tensor(a)
    return tf.reduce_max(x, _axes(axis), bool(keepdims)) - tf.reduce_min(
        x, _axes(axis), bool(keepdims)
    )


@numpy_names("var")
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=None):
    """The mean squared distance from the mean, the count lessened by `ddof`."""
    _refuse_out(out)
    x = _averageable(a, dtype)
    axes = _axes(axis)
    centred = x - tf.reduce_mean(x, axes, keepdims=True)
    squares = tf.square(tf.abs(centred)) if x.dtype.is_complex else tf.square(centred)
    if not ddof:
        return tf.reduce_mean(squares, axes, bool(keepdims))
    total = tf.reduce_sum(squares, axes, bool(keepdims))
    return total / constant(size_of(x) // max(size_of(total), 1) - ddof, total)


@numpy_names("std")
def std(a, axis=None, keepdims=None):
    """The root of the mean squared distance from the mean."""
    x = floats(a)
    if x.dtype.is_complex:
        return tf.sqrt(var(x, axis, keepdims=keepdims))
    return tf.math.reduce_std(x, _axes(axis), bool(keepdims))


# Without NaNs -------------------------------------------------------------------------------------


def _replacing_nans(x, number):
    return tf.where(tf.math.is_nan(x), constant(number, x), x) if is_inexact(x) else x


@numpy_names("nansum")
def nansum(a, axis=None, dtype=None, keepdims=False):
    """The sum of what is not NaN."""
    return sum_(_replacing_nans(as_tensor(a), 0), axis, dtype, keepdims)


@numpy_names("nanprod")
def nanprod(a, axis=None, dtype=None, keepdims=False):
    """The product of what is not NaN."""
    return prod(_replacing_nans(as_tensor(a), 1), axis, dtype, keepdims)


@numpy_names("nanmean")
def nanmean(a, axis=None, dtype=None, keepdims=None):
    """The mean of what is not NaN."""
    x = _averageable(a, dtype)
    count = tf.reduce_sum(tf.cast(tf.equal(x, x), x.dtype), _axes(axis), bool(keepdims))
    return nansum(x, axis, keepdims=bool(keepdims)) / count


# Averages -----------------------------------------------------------------------------------------


@numpy_names("average")
def average(a, axis=None, weights=None, returned=False):
    """The mean with weights.

    Args:
        a: the array.
        axis: the axis to average along; all elements if None.
        weights: of the shape of `a`, or one for each place along `axis`.
        returned: whether to return the sum of the weights too.

    Raises:
        ValueError: `weights` fit neither way.
    """
    axis = integers(axis)
    if isinstance(axis, tuple):
        raise ValueError(f"average takes one axis, or None. Received: axis={axis}")
    x = floats(a)
    if weights is None:
        found = tf.reduce_mean(x, axis)
        total = constant(size_of(x) // max(size_of(found), 1), x)
    else:
        x, w = promoted(x, floats(weights))
        w = _along(w, x, axis)
        total = tf.reduce_sum(w * tf.ones_like(x), axis)
        found = tf.reduce_sum(x * w, axis) / total
    return (found, tf.broadcast_to(total, found.shape)) if returned else found


def _along(weights, x, axis):
    if weights.shape == x.shape:
        return weights
    if axis is None or weights.ndim != 1 or weights.shape[0] != x.shape[axis]:
        raise ValueError(
            "weights must have the shape of a, or be 1-D and as long as a is along axis. "
            f"Received: weights of shape {weights.shape}, a of shape {x.shape}, axis={axis}"
        )
    shape = [1] * x.ndim
    shape[axis] = -1
    return tf.reshape(weights, shape)


# Along an axis ------------------------------------------------------------------------------------


def _flat_if_none(x, axis):
    return (tf.reshape(x, [-1]), 0) if axis is None else (x, integers(axis))


def _cumulative(function, a, axis, dtype):
    x, axis = _flat_if_none(as_tensor(a), axis)
    if dtype is not None:
        x = tf.cast(x, numpy_dtype(dtype))
    elif not is_inexact(x) and not Defaults.narrow:
        x = tf.cast(x, tf.int64)
    return function(x, axis)


@numpy_names("cumsum")
def cumsum(a, axis=None, dtype=None):
    """The sums of all elements up to each one."""
    return _cumulative(tf.cumsum, a, axis, dtype)


@numpy_names("cumprod")
def cumprod(a, axis=None, dtype=None):
    """The products of all elements up to each one."""
    return _cumulative(tf.math.cumprod, a, axis, dtype)


@numpy_names("diff")
def diff(a, n=1, axis=-1):
    """Differences between neighbours, taken `n` times."""
    if n < 0:
        raise ValueError(f"The argument `n` must be 0 or more. Received: n={n}")
    x = as_tensor(a)
    if not x.ndim:
        raise ValueError("diff needs an array of at least one dimension.")
    before, after = [[slice(None)] * x.ndim for _ in range(2)]
    before[axis], after[axis] = slice(None, -1), slice(1, None)
    for _ in range(n):
        left, right = x[tuple(before)], x[tuple(after)]
        x = tf.not_equal(right, left) if x.dtype.is_bool else right - left
    return x


@numpy_names("count_nonzero")
def count_nonzero(a, axis=None):
    """How many elements are nonzero."""
    return tf.reduce_sum(tf.cast(truth(as_tensor(a)), tf.int64), _axes(axis))


def _comparable(x):
    return tf.cast(x, tf.int8) if x.dtype.is_bool else x


@numpy_names("argmax")
def argmax(a, axis=None):
    """The position of the greatest element."""
    x, axis = _flat_if_none(as_tensor(a), axis)
    return tf.argmax(_comparable(x), axis)


@numpy_names("argmin")
def argmin(a, axis=None):
    """The position of the least element."""
    x, axis = _flat_if_none(as_tensor(a), axis)
    return tf.argmin(_comparable(x), axis)


def _check_sort(kind, order):
    if kind not in ("quicksort", "stable"):
        raise ValueError(
            'Invalid value for argument `kind`. Only kind="quicksort" and kind="stable" are '
            f"supported. Received: kind={kind}"
        )
    if order is not None:
        raise ValueError(f"The `order` argument is not supported. Received: order={order!r}")


@numpy_names("sort")
def sort(a, axis=-1, kind="quicksort", order=None):
    """Elements in ascending order along `axis`; flattened, if that is None."""
    _check_sort(kind, order)
    x, axis = _flat_if_none(as_tensor(a), axis)
    return tf.cast(tf.sort(_comparable(x), axis), x.dtype)


@numpy_names("argsort")
def argsort(a, axis=-1, kind="quicksort", order=None):
    """The positions of the elements in ascending order."""
    _check_sort(kind, order)
    x, axis = _flat_if_none(as_tensor(a), axis)
    return tf.cast(tf.argsort(_comparable(x), axis, stable=kind == "stable"), tf.int64)


@numpy_names("size")
def size(x, axis=None):
    """The number of elements, or of places along `axis`."""
    shape = tuple(as_tensor(x).shape)
    return int(np.prod(shape)) if axis is None else shape[axis]


@numpy_names("ndim")
def ndim(a):
    """The number of dimensions."""
    return as_tensor(a).ndim


@numpy_names("shape")
def shape(a):
    """The shape."""
    return as_tensor(a).shape
