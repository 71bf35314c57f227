"""Functions of NumPy that tf.experimental.numpy does not have, for calls of NumPy's own."""

import gradtape as tf

from .elementwise import truth
from .names import NAMES
from .promotion import as_tensor, floats, integers, promoted
from .selection import from_start, positions
from .shaping import moveaxis, ravel


def _copysign(x1, x2):
    x, y = promoted(floats(x1), floats(x2))
    return tf.where(y < 0, -tf.abs(x), tf.abs(x))


def _ignoring_nan(name):
    """The extreme of two numbers that prefers any number to NaN."""

    def extreme(x1, x2):
        x, y = promoted(x1, x2)
        if not x.dtype.is_floating:
            return NAMES[name](x, y)
        x, y = tf.where(tf.math.is_nan(x), y, x), tf.where(tf.math.is_nan(y), x, y)
        return NAMES[name](x, y)

    return extreme


def _fmod(x1, x2):
    x, y = promoted(x1, x2)
    return x - y * NAMES["fix"](x / y) if x.dtype.is_floating else tf.truncatemod(x, y)


def _shift(function):
    return lambda x1, x2: function(*promoted(x1, x2))


def _vecdot(x1, x2, axis=-1):
    x, y = promoted(x1, x2)
    return tf.reduce_sum(tf.math.conj(x) * y, axis)


# By the name of the ufunc, where tf.experimental.numpy has another or none.
UFUNCS = {
    "copysign": _copysign,
    "degrees": lambda x: NAMES["rad2deg"](x),
    "fmax": _ignoring_nan("maximum"),
    "fmin": _ignoring_nan("minimum"),
    "fmod": _fmod,
    "invert": lambda x: NAMES["bitwise_not"](x),
    "left_shift": _shift(tf.bitwise.left_shift),
    "radians": lambda x: NAMES["deg2rad"](x),
    "right_shift": _shift(tf.bitwise.right_shift),
    "rint": lambda x: tf.round(floats(x)),
    "trunc": lambda x: NAMES["fix"](x),
    "vecdot": _vecdot,
}


def _take(a, indices, axis=None, mode="raise"):
    """As `np.take`, which by default refuses positions outside."""
    if mode != "raise":
        return NAMES["take"](a, indices, axis=axis, mode=mode)
    x, places = as_tensor(a), positions(indices)
    x, axis = (ravel(x), 0) if axis is None else (x, integers(axis))
    return tf.gather(x, from_start(places, x.shape[axis]), axis=axis)


def _std(a, axis=None, dtype=None, ddof=0, keepdims=False):
    if dtype is None and not ddof:
        return NAMES["std"](a, axis, keepdims)
    return tf.sqrt(NAMES["var"](a, axis, dtype, ddof=ddof, keepdims=keepdims))


def _median(a, axis=None, keepdims=False):
    x = floats(a)
    axes = integers(axis)
    axes = range(x.ndim) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    axes = [each % x.ndim for each in axes]
    last = list(range(-len(axes), 0))
    flat = moveaxis(x, axes, last)
    outer = list(flat.shape)[: x.ndim - len(axes)]
    ordered = tf.sort(tf.reshape(flat, [*outer, -1]), axis=-1)
    size = ordered.shape[-1]
    middle = (ordered[..., (size - 1) // 2] + ordered[..., size // 2]) / 2
    shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
    return tf.reshape(middle, shape) if keepdims else middle


def _array_split_sizes(length, sections):
    each, more = divmod(length, sections)
    return [each + 1] * more + [each] * (sections - more)


def _array_split(ary, indices_or_sections, axis=0):
    x, places = as_tensor(ary), integers(indices_or_sections)
    if isinstance(places, int):
        return list(tf.split(x, _array_split_sizes(x.shape[axis], places), axis))
    return NAMES["split"](x, places, axis)


def _nan_to_num(x, nan=0.0):
    x = as_tensor(x)
    found = tf.where(tf.math.is_nan(x), tf.constant(nan, x.dtype), x)
    return tf.clip_by_value(found, x.dtype.min, x.dtype.max)


def _rollaxis(a, axis, start=0):
    axis = axis % as_tensor(a).ndim
    return moveaxis(a, axis, start - 1 if start > axis else start)


def _argwhere(a):
    return tf.where(truth(as_tensor(a)))


MORE = {
    "argwhere": _argwhere,
    "array_split": _array_split,
    "matrix_transpose": lambda x: tf.linalg.matrix_transpose(as_tensor(x)),
    "median": _median,
    "nan_to_num": _nan_to_num,
    "permute_dims": lambda a, axes=None: NAMES["transpose"](a, axes),
    "rollaxis": _rollaxis,
    "std": _std,
    "take": _take,
    "unstack": lambda x, axis=0: tuple(tf.unstack(as_tensor(x), axis=axis)),
}


def _norm(x, ord=None, axis=None, keepdims=False):
    x, axes = floats(x), integers(axis)
    if ord in (None, "fro") or (ord == 2 and (x.ndim == 1 or isinstance(axes, int))):
        return tf.norm(x, axis=axes, keepdims=keepdims)
    if x.ndim == 1 or isinstance(axes, int):
        return tf.norm(x, ord=ord, axis=axes, keepdims=keepdims)
    return tf.norm(x, ord=ord, axis=axes or (-2, -1), keepdims=keepdims)


def _solve(a, b):
    x, y = promoted(floats(a), floats(b))
    return tf.linalg.solve(x, y[..., None])[..., 0] if y.ndim == 1 else tf.linalg.solve(x, y)


def _svd(a, full_matrices=True, compute_uv=True):
    if not compute_uv:
        return tf.linalg.svd(floats(a), compute_uv=False)
    values, left, right = tf.linalg.svd(floats(a), full_matrices=full_matrices)
    return left, values, tf.linalg.adjoint(right)


def _qr(a, mode="reduced"):
    if mode not in ("reduced", "complete", "r"):
        raise TypeError(f"np.linalg.qr on a tensor has no mode {mode!r}.")
    q, r = tf.linalg.qr(floats(a), full_matrices=mode == "complete")
    return r if mode == "r" else (q, r)


def _matrix_power(a, n):
    x = as_tensor(a)
    if n < 0:
        x, n = tf.linalg.inv(floats(x)), -n
    found = tf.eye(x.shape[-1], batch_shape=x.shape[:-2], dtype=x.dtype)
    while n:
        if n % 2:
            found = tf.matmul(found, x)
        n //= 2
        if n:
            x = tf.matmul(x, x)
    return found


LINALG = {
    "cholesky": lambda a: tf.linalg.cholesky(floats(a)),
    "det": lambda a: tf.linalg.det(floats(a)),
    "eigh": lambda a: tf.linalg.eigh(floats(a)),
    "eigvalsh": lambda a: tf.linalg.eigvalsh(floats(a)),
    "inv": lambda a: tf.linalg.inv(floats(a)),
    "matrix_power": _matrix_power,
    "norm": _norm,
    "pinv": lambda a: tf.linalg.pinv(floats(a)),
    "qr": _qr,
    "slogdet": lambda a: tf.linalg.slogdet(floats(a)),
    "solve": _solve,
    "svd": _svd,
}

_QUERIES = """
array2string array_repr array_str can_cast iscomplexobj isrealobj may_share_memory min_scalar_type
ndim result_type save savetxt savez savez_compressed shape shares_memory size
"""

# They tell of arrays and have no derivative: they get arrays.
PLAIN = {f"np.{name}" for name in _QUERIES.split()}
