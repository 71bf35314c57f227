"""Arrays made from shapes, ranges and diagonals."""

from typing import Any

import numpy as np

import gradtape as tf

from .names import numpy_names
from .promotion import (
    as_tensor,
    constant,
    floats,
    integers,
    is_tensor,
    numpy_dtype,
    promoted,
    promoted_dtype,
    shape_of,
)
from .shaping import broadcast_arrays, moveaxis


def _made(array_made):
    return tf.convert_to_tensor(np.asarray(array_made))


@numpy_names("zeros empty")
def zeros(shape, dtype=float):
    """An array of zeros."""
    return tf.zeros(shape_of(shape), numpy_dtype(dtype))


@numpy_names("ones")
def ones(shape, dtype=float):
    """An array of ones."""
    return tf.ones(shape_of(shape), numpy_dtype(dtype))


@numpy_names("zeros_like empty_like")
def zeros_like(a, dtype=None):
    """Zeros in the shape of `a`."""
    x = as_tensor(a)
    return tf.zeros_like(x, x.dtype if dtype is None else numpy_dtype(dtype))


@numpy_names("ones_like")
def ones_like(a, dtype=None):
    """Ones in the shape of `a`."""
    x = as_tensor(a)
    return tf.ones_like(x, x.dtype if dtype is None else numpy_dtype(dtype))


@numpy_names("full")
def full(shape, fill_value, dtype=None):
    """An array filled with `fill_value`, which broadcasts."""
    value = as_tensor(fill_value, None if dtype is None else numpy_dtype(dtype))
    return tf.broadcast_to(value, shape_of(shape))


@numpy_names("full_like")
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    """`fill_value` in the shape, and unless told otherwise the dtype, of `a`.

    Raises:
        ValueError: `order`, `subok` or `shape` is given.
    """
    if order != "K":
        raise ValueError(f"Non-standard orders are not supported. Received: order={order!r}")
    if not subok:
        raise ValueError("subok being False is not supported.")
    if shape:
        raise ValueError(f"Overriding the shape is not supported. Received: shape={shape}")
    x = as_tensor(a)
    value = as_tensor(fill_value)
    wanted = x.dtype if dtype is None else numpy_dtype(dtype)
    return tf.broadcast_to(tf.cast(value, wanted), x.shape)


@numpy_names("eye")
def eye(N, M=None, k=0, dtype=float):
    """Ones on the diagonal `k` of an N by M matrix of zeros."""
    M = N if M is None else M
    return _made(np.eye(integers(N), integers(M), integers(k), numpy_dtype(dtype)))


@numpy_names("identity")
def identity(n, dtype=float):
    """The identity matrix."""
    return eye(n, dtype=dtype)


@numpy_names("tri")
def tri(N, M=None, k=0, dtype=None):
    """Ones on and below the diagonal `k`."""
    found = np.tri(integers(N), integers(M), integers(k), bool)
    return _made(found.astype(numpy_dtype(float if dtype is None else dtype)))


def _kept_where(kept, m):
    x = as_tensor(m)
    return tf.where(kept, x, tf.zeros_like(x))


@numpy_names("tril")
def tril(m, k=0):
    """What lies on and below the diagonal `k`; zeros elsewhere."""
    rows, columns = as_tensor(m).shape[-2:]
    return _kept_where(np.tri(rows, columns, k, bool), m)


@numpy_names("triu")
def triu(m, k=0):
    """What lies on and above the diagonal `k`; zeros elsewhere."""
    rows, columns = as_tensor(m).shape[-2:]
    return _kept_where(~np.tri(rows, columns, k - 1, bool), m)


# Ranges -------------------------------------------------------------------------------------------


@numpy_names("arange")
def arange(start, stop=None, step=1, dtype=None):
    """Numbers from `start` up to `stop`, without it, `step` apart.

    Raises:
        ValueError: the step is 0.
    """
    if not step:
        raise ValueError("step must be non-zero.")
    if stop is None:
        start, stop = 0, start
    wanted = promoted_dtype(start, stop, step) if dtype is None else numpy_dtype(dtype)
    bounds: Any = [np.asarray(x) if is_tensor(x) else x for x in (start, stop, step)]
    return _made(np.arange(*bounds).astype(wanted))


def _spaced(start, stop, num, endpoint, axis):
    """`num` numbers evenly apart, and the distance between them."""
    start, stop = promoted(floats(start), floats(stop))
    steps = num - 1 if endpoint else num
    step = (stop - start) / constant(steps if steps > 0 else np.nan, start)
    shape = tf.broadcast_static_shape(start.shape, stop.shape)
    low, high = tf.broadcast_to(start, shape), tf.broadcast_to(stop, shape)
    if num < 1:
        place = axis % (len(shape) + 1)
        return tf.zeros([*shape[:place], 0, *shape[place:]], start.dtype), step
    if endpoint:
        return tf.linspace(low, high, num, axis=axis), step
    whole = moveaxis(tf.linspace(low, high, num + 1, axis=axis), axis, 0)
    return moveaxis(whole[:-1], 0, axis), step


def _weakly(start, stop) -> Any:
    """Bounds among which Python numbers take the dtype of the tensor beside them."""
    return [floats(x) for x in promoted(start, stop)]


@numpy_names("linspace")
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=float, axis=0):
    """`num` numbers evenly apart, from `start` to `stop`.

    Args:
        start: the first number, or an array of them.
        stop: the last, or the one after the last if `endpoint` is False.
        num: how many.
        endpoint: whether `stop` is the last.
        retstep: whether to return the distance between them too.
        dtype: the dtype to cast to; `float` leaves it to the bounds.
        axis: where the new axis goes.
    """
    first, last = _weakly(start, stop)
    found, step = _spaced(first, last, num, endpoint, axis)
    if dtype is not None and dtype is not float:
        found = tf.cast(found, numpy_dtype(dtype))
    return (found, step) if retstep else found


@numpy_names("logspace")
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Powers of `base`, their exponents evenly apart."""
    first, last = _weakly(start, stop)
    exponents, _ = _spaced(first, last, num, endpoint, axis)
    found = tf.pow(tf.cast(as_tensor(base), exponents.dtype), exponents)
    return found if dtype is None else tf.cast(found, numpy_dtype(dtype))


@numpy_names("geomspace")
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Numbers from `start` to `stop`, each the same multiple of the one before."""
    first, last = _weakly(start, stop)
    if dtype is not None:
        first, last = tf.cast(first, numpy_dtype(dtype)), tf.cast(last, numpy_dtype(dtype))
    sign = tf.sign(first)
    logarithms, _ = _spaced(
        tf.math.log(first * sign), tf.math.log(last * sign), num, endpoint, axis
    )
    return tf.expand_dims(sign, axis) * tf.exp(logarithms)


@numpy_names("meshgrid")
def meshgrid(*xi, **kwargs):
    """Coordinates of a grid from the places along its axes.

    Args:
        *xi: 1-D arrays.
        **kwargs: `indexing`, `"xy"` or `"ij"`; `sparse` and `copy` only as NumPy's defaults.
    """
    if kwargs.get("sparse"):
        raise ValueError(
            "Function `meshgrid` does not support returning sparse arrays yet. Received: "
            f"sparse={kwargs['sparse']}"
        )
    if not kwargs.get("copy", True):
        raise ValueError("Function `meshgrid` only supports copy=True. Received: copy=False")
    unknown = set(kwargs) - {"sparse", "copy", "indexing"}
    if unknown:
        raise TypeError(f"meshgrid() got an unexpected keyword argument {sorted(unknown)[0]!r}")
    indexing = kwargs.get("indexing", "xy")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij'. Received: indexing={indexing!r}")
    places = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        places[:2] = 1, 0
    spread = [
        tf.reshape(as_tensor(x), [-1 if axis == place else 1 for axis in range(len(xi))])
        for x, place in zip(xi, places, strict=True)
    ]
    return broadcast_arrays(*spread)


# Diagonals ----------------------------------------------------------------------------------------


@numpy_names("diagonal")
def diagonal(a, offset=0, axis1=0, axis2=1):
    """The elements of the diagonals of the matrices along two axes."""
    x = moveaxis(as_tensor(a), (axis1, axis2), (-2, -1))
    *outer, rows, columns = x.shape
    length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    first = (max(-offset, 0), max(offset, 0))
    places = (first[0] + np.arange(length)) * columns + first[1] + np.arange(length)
    return tf.gather(tf.reshape(x, [*outer, rows * columns]), places.astype(np.int32), axis=-1)


@numpy_names("diag")
def diag(v, k=0):
    """The diagonal `k` of a matrix, or a matrix with that diagonal."""
    x = as_tensor(v)
    if x.ndim not in (1, 2):
        raise ValueError(f"diag takes 1 or 2 dimensions. Received: an array of shape {x.shape}")
    return diagonal(x, k) if x.ndim == 2 else tf.linalg.diag(x, k=k)


@numpy_names("diagflat")
def diagflat(v, k=0):
    """A matrix with the elements of `v`, flattened, on its diagonal `k`."""
    return diag(tf.reshape(as_tensor(v), [-1]), k)


@numpy_names("diag_indices")
def diag_indices(n, ndim=2):
    """Indices of the main diagonal."""
    return (tf.range(n),) * ndim


@numpy_names("trace")
def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    """The sum along a diagonal."""
    x = as_tensor(a)
    if dtype is not None:
        x = tf.cast(x, numpy_dtype(dtype))
    elif x.dtype.is_bool:
        x = tf.cast(x, tf.int64)
    return tf.reduce_sum(diagonal(x, offset, axis1, axis2), axis=-1)


@numpy_names("vander")
def vander(x, N=None, increasing=False):
    """Powers of `x` as the columns of a matrix."""
    points = as_tensor(x)
    if points.ndim != 1:
        raise ValueError(f"vander takes a 1-D array. Received: an array of shape {points.shape}")
    exponents = np.arange(points.shape[0] if N is None else N)
    ordered = exponents if increasing else exponents[::-1]
    return tf.pow(points[:, None], tf.cast(_made(ordered), points.dtype))
