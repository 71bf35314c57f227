"""NumPy's functions of `tf.SparseTensor` and `tf.IndexedSlices`, which stay sparse where they can.

Each function here takes one of dense tensors and gives one of either kind. What has no such form
makes its operands dense (see `dense`).
"""

import functools
import math
from typing import Any

import gradtape as tf

from .core import convert_to_tensor
from .numpy_axes import axes_of
from .numpy_promotion import dense, promoted

_SPARSE = frozenset([tf.SparseTensor, tf.IndexedSlices])


def _sparse_tensor_only(sparse_function) -> Any:
    """Makes of a function of a SparseTensor one that gives to the dense function what else comes.

    The former is called with the dense function, then with the arguments of that.
    """

    def wrap(function):
        @functools.wraps(function)
        def call(x, *args, **kwargs):
            if type(x) is tf.SparseTensor:
                return sparse_function(function, x, *args, **kwargs)
            return function(x, *args, **kwargs)

        return call

    return wrap


# Elements and rows, and where they are ------------------------------------------------------------


def _with(x, values):
    """Other elements or rows in the places of those of `x`."""
    if type(x) is tf.SparseTensor:
        return tf.SparseTensor(x.indices, values, x.dense_shape)
    return tf.IndexedSlices(values, x.indices, x.dense_shape)


def _at_places_of(x, whole):
    """The elements or rows of a dense tensor in the places of those of `x`."""
    if type(x) is tf.SparseTensor:
        return tf.gather_nd(whole, x.indices)
    return tf.gather(whole, x.indices)


def _distinct(x):
    """The same with no row given twice; the elements of a SparseTensor are not anyway."""
    if type(x) is tf.SparseTensor:
        return x
    rows, groups = tf.unique(convert_to_tensor(x.indices))
    values = tf.math.unsorted_segment_sum(x.values, groups, tf.size(rows))
    return tf.IndexedSlices(values, rows, x.dense_shape)


def _zeros_at(x, indices):
    """The same with zeros in more places, which may be among its own."""
    if type(x) is tf.SparseTensor:
        zeros = tf.zeros([indices.shape[0]], x.dtype)
        return tf.sparse.add(x, tf.SparseTensor(indices, zeros, x.dense_shape))
    indices = tf.concat([tf.cast(x.indices, "int64"), tf.cast(indices, "int64")], 0)
    count = indices.shape[0] - x.values.shape[0]
    zeros = tf.zeros([count, *x.values.shape[1:]], x.dtype)
    return _distinct(tf.IndexedSlices(tf.concat([x.values, zeros], 0), indices, x.dense_shape))


def _in_same_places(x1, x2):
    """Both with zeros where only the other has elements, in one order."""
    x1, x2 = _zeros_at(x1, x2.indices), _zeros_at(x2, x1.indices)
    if type(x1) is tf.SparseTensor:
        return x1, x2
    return _sorted_rows(x1), _sorted_rows(x2)


def _sorted_rows(x):
    order = tf.argsort(x.indices)
    return tf.IndexedSlices(tf.gather(x.values, order), tf.gather(x.indices, order), x.dense_shape)


# Functions of single elements ---------------------------------------------------------------------


def keeping_zeros(function):
    """A function that gives 0 for 0."""

    @functools.wraps(function)
    def call(x, *args, **kwargs):
        if type(x) in _SPARSE:
            x = _distinct(x)
            return _with(x, function(x.values, *args, **kwargs))
        return function(x, *args, **kwargs)

    return call


def zero_of_zeros(function):
    """A function of two operands that is 0 if both are: sparse if both are sparse."""

    @functools.wraps(function)
    def call(x1, x2):
        if type(x1) in _SPARSE and type(x1) is type(x2) and x1.shape == x2.shape:
            x1, x2 = _in_same_places(x1, x2)
            return _with(x1, function(x1.values, x2.values))
        return function(x1, x2)

    return call


def product(function):
    """Multiplication: sparse if an operand is."""

    @functools.wraps(function)
    def call(x1, x2):
        if type(x1) in _SPARSE:
            if type(x2) in _SPARSE:
                return zero_of_zeros(function)(x1, x2)
            return _with_dense(function, x1, x2)
        if type(x2) in _SPARSE:
            return _with_dense(lambda values, other: function(other, values), x2, x1)
        return function(x1, x2)

    return call


def _is_scalar(x):
    return not len(getattr(x, "shape", ()))


def _with_dense(function, x, other):
    """A function of a sparse operand and a dense one that is 0 where the former is."""
    if _is_scalar(other):
        return _with(x, function(x.values, other))
    other = dense(other)
    if other.shape.rank > x.shape.rank:
        return function(dense(x), other)
    return _with(x, function(x.values, _at_places_of(x, tf.broadcast_to(other, x.shape))))


def quotient(function):
    """Division: sparse if the dividend is and the divisor is not."""

    @functools.wraps(function)
    def call(x1, x2):
        if type(x1) not in _SPARSE or type(x2) in _SPARSE:
            return function(x1, x2)
        if _is_scalar(x2):
            return _with(x1, function(x1.values, x2))
        whole = dense(x2)
        if whole.shape != x1.shape:
            return function(x1, x2)
        # There zeros have quotients that are none.
        odd = tf.equal(whole, 0)
        if whole.dtype.is_floating:
            odd = tf.logical_or(odd, tf.math.is_nan(whole))
        if type(x1) is tf.IndexedSlices:
            odd = tf.reduce_any(odd, list(range(1, odd.shape.rank)))
            x1 = _zeros_at(x1, tf.where(odd)[:, 0])
        else:
            x1 = _zeros_at(x1, tf.where(odd))
        return _with(x1, function(x1.values, _at_places_of(x1, whole)))

    return call


def clipped(function):
    """Clipping: sparse if the bounds let zeros pass."""
    of_sparse = keeping_zeros(function)

    @functools.wraps(function)
    def call(x, x_min, x_max):
        if type(x_min) in (int, float) and type(x_max) in (int, float) and x_min <= 0 <= x_max:
            return of_sparse(x, x_min, x_max)
        return function(x, x_min, x_max)

    return call


# Functions of whole tensors -----------------------------------------------------------------------


@_sparse_tensor_only
def total(function, x, axis=None, keepdims=False):
    """The sum over axes."""
    axes = axes_of(axis, x.shape.rank)
    # The dtype in which the dense function would sum up.
    x = _with(x, tf.cast(x.values, function(x.values[:0]).dtype))
    if not axes:
        return x
    if len(axes) < x.shape.rank or keepdims:
        return tf.sparse.reduce_sum(x, axes, keepdims=keepdims, output_is_sparse=True)
    return tf.SparseTensor(tf.zeros([1, 0], "int64"), tf.reduce_sum(x.values)[tf.newaxis], [])


def total_of_either(function):
    """The sum over axes; rows that add up to a number need not be put in their places."""
    of_sparse = total(function)

    @functools.wraps(function)
    def call(x, axis=None, keepdims=False):
        if type(x) is tf.IndexedSlices and axis is None:
            return function(x.values, None, keepdims)
        return of_sparse(x, axis, keepdims)

    return call


@_sparse_tensor_only
def average(function, x, axis=None, keepdims=False):
    """The mean over axes."""
    count = math.prod([x.shape[each] for each in axes_of(axis, x.shape.rank)])
    dtype = function(tf.ones([1], x.dtype)).dtype
    summed = total(lambda values: tf.cast(values, dtype))(x, axis, keepdims)
    return _with(summed, summed.values / tf.cast(count, dtype))


@_sparse_tensor_only
def reshaped(function, x, newshape):
    return tf.sparse.reshape(x, [newshape] if isinstance(newshape, int) else list(newshape))


@_sparse_tensor_only
def squeezed(function, x, axis=None):
    axes = axes_of(axis, x.shape.rank) if axis is not None else range(x.shape.rank)
    kept = [size for i, size in enumerate(x.shape) if i not in axes or size != 1]
    if axis is not None and len(kept) + len(axes) != x.shape.rank:
        raise ValueError(
            f"Only axes of size 1 can be squeezed. Received: x.shape={x.shape}, axis={axis}"
        )
    return tf.sparse.reshape(x, kept)


@_sparse_tensor_only
def with_axis(function, x, axis):
    if isinstance(axis, (tuple, list)):
        return function(x, axis)
    return tf.sparse.expand_dims(x, axis)


@_sparse_tensor_only
def transposed(function, x, axes=None):
    return tf.sparse.transpose(x, axes)


def joined(function):
    """Concatenation: sparse if all parts are."""

    @functools.wraps(function)
    def call(xs, axis=0):
        if axis is not None and all([type(x) is tf.SparseTensor for x in xs]):
            return tf.sparse.concat(axis, list(xs))
        return function(xs, axis)

    return call


def matrix_product(function):
    """The product of matrices: sparse if both are."""

    @functools.wraps(function)
    def call(x1, x2):
        sparse1, sparse2 = type(x1) is tf.SparseTensor, type(x2) is tf.SparseTensor
        if sparse1 and sparse2:
            return tf.sparse.from_dense(function(x1, x2))
        if sparse1 and x1.shape.rank == len(x2.shape) == 2:
            return _rows_of_product(*_of_one_dtype(x1, dense(x2)))
        return function(x1, x2)

    return call


def _of_one_dtype(x1, x2):
    values, row = promoted(x1.values, x2[:1])
    return _with(x1, values), tf.cast(x2, row.dtype)


def _rows_of_product(x1, x2):
    """A product that takes only rows of the dense matrix, as does the gradient with its."""
    rows, columns = x1.indices[:, 0], x1.indices[:, 1]
    parts = x1.values[:, tf.newaxis] * tf.gather(x2, columns)
    return tf.math.unsorted_segment_sum(parts, rows, x1.shape[0])


def counted(function):
    """The counts of numbers: sparse if the numbers are."""

    @functools.wraps(function)
    def call(x, weights=None, minlength=0, sparse=False):
        if type(x) is not tf.SparseTensor:
            return function(x, weights, minlength, sparse)
        # What is not given counts neither: its weight is 0.
        if weights is None:
            weights = _with(x, tf.ones_like(x.values))
        return function(dense(x), dense(weights), minlength, sparse=True)

    return call


# Which functions are made of which, by name -------------------------------------------------------

KINDS = {
    keeping_zeros: "abs absolute arcsin arcsinh arctan arctanh ceil conj conjugate copy digitize "
    "expm1 floor imag log1p negative real round sign sin sinh sqrt square tan tanh",
    zero_of_zeros: "add maximum minimum subtract",
    product: "multiply",
    quotient: "divide true_divide",
    clipped: "clip",
    total_of_either: "sum",
    average: "mean",
    reshaped: "reshape",
    squeezed: "squeeze",
    with_axis: "expand_dims",
    transposed: "transpose",
    joined: "concatenate",
    matrix_product: "matmul",
    counted: "bincount",
}
