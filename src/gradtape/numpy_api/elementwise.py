"""Functions of one array, element by element."""

import math

import numpy as np

import gradtape as tf

from .names import numpy_names
from .promotion import as_tensor, constant, floats, is_inexact, is_tensor

_LOG_2, _LOG_10 = math.log(2.0), math.log(10.0)


def _enter(names, function, convert):
    def elementwise(x):
        return function(convert(x))

    elementwise.__doc__ = f"`{names.split()[0]}` of each element."
    return numpy_names(names)(elementwise)


def _exp2(x):
    return tf.pow(constant(2, x), x)


def _cbrt(x):
    return tf.sign(x) * tf.pow(tf.abs(x), constant(1 / 3, x))


def _fix(x):
    return tf.where(x < 0, tf.math.ceil(x), tf.floor(x))


def _sinc(x):
    is_zero = tf.equal(x, tf.zeros_like(x))
    angle = tf.where(is_zero, tf.ones_like(x), x) * constant(math.pi, x)
    return tf.where(is_zero, tf.ones_like(x), tf.sin(angle) / angle)


def _divided_by(function, divisor):
    return lambda x: function(x) / constant(divisor, x)


def _scaled(factor):
    return lambda x: x * constant(factor, x)


# On integers these compute with floats.
_OF_FLOATS = {
    "arccos": tf.acos,
    "arccosh": tf.acosh,
    "arcsin": tf.asin,
    "arcsinh": tf.asinh,
    "arctan": tf.atan,
    "arctanh": tf.atanh,
    "cbrt": _cbrt,
    "ceil": tf.math.ceil,
    "cos": tf.cos,
    "cosh": tf.cosh,
    "deg2rad": _scaled(math.pi / 180),
    "exp": tf.exp,
    "exp2": _exp2,
    "expm1": tf.math.expm1,
    "fix": _fix,
    "floor": tf.floor,
    "log": tf.math.log,
    "log10": _divided_by(tf.math.log, _LOG_10),
    "log1p": tf.math.log1p,
    "log2": _divided_by(tf.math.log, _LOG_2),
    "rad2deg": _scaled(180 / math.pi),
    "sin": tf.sin,
    "sinc": _sinc,
    "sinh": tf.sinh,
    "sqrt": tf.sqrt,
    "tan": tf.tan,
    "tanh": tf.tanh,
}


def _bitwise_not(x):
    return tf.logical_not(x) if x.dtype.is_bool else tf.bitwise.invert(x)


def _imag(x):
    return tf.math.imag(x) if x.dtype.is_complex else tf.zeros_like(x)


def _nowhere(x):
    return tf.zeros_like(x, dtype=tf.bool)


def truth(x):
    """Whether elements are nonzero."""
    return x if x.dtype.is_bool else tf.not_equal(x, tf.zeros_like(x))


def _in_any_part(function):
    """Of complex numbers, whether it holds for either part; integers are always finite."""

    def found(x):
        if x.dtype.is_complex:
            return tf.logical_or(function(tf.math.real(x)), function(tf.math.imag(x)))
        return function(x) if x.dtype.is_floating else _nowhere(x)

    return found


_is_inf, _is_nan = _in_any_part(tf.math.is_inf), _in_any_part(tf.math.is_nan)


def _signbit(x):
    if not x.dtype.is_floating:
        return _nowhere(x) if x.dtype.is_bool else x < 0
    # -0.0 has the sign too, and its reciprocal shows it.
    return tf.logical_or(x < 0, tf.logical_and(tf.equal(x, 0), tf.math.reciprocal(x) < 0))


def _is_infinite(sign):
    def is_infinite(x):
        if x.dtype.is_complex:
            raise TypeError(f"Infinity has no sign among complex numbers. Received: {x.dtype!r}")
        return tf.equal(x, constant(sign * math.inf, x)) if x.dtype.is_floating else _nowhere(x)

    return is_infinite


_OF_ANYTHING = {
    "abs absolute fabs": tf.abs,
    "bitwise_not": _bitwise_not,
    "conj conjugate": tf.math.conj,
    "imag": _imag,
    "iscomplex": lambda x: truth(_imag(x)),
    "isfinite": lambda x: tf.logical_not(tf.logical_or(_is_inf(x), _is_nan(x))),
    "isinf": _is_inf,
    "isnan": _is_nan,
    "isneginf": _is_infinite(-1),
    "isposinf": _is_infinite(1),
    "isreal": lambda x: tf.logical_not(truth(_imag(x))),
    "logical_not": lambda x: tf.logical_not(truth(x)),
    "negative": tf.negative,
    "positive": tf.identity,
    "real": tf.math.real,
    "reciprocal": tf.math.reciprocal,
    "signbit": _signbit,
    "square": tf.square,
}

for _name, _function in _OF_FLOATS.items():
    _enter(_name, _function, floats)
for _name, _function in _OF_ANYTHING.items():
    _enter(_name, _function, as_tensor)


def _named_as_in_numpy():
    """NumPy calls the argument of these two `val`."""

    def real(val):
        """The real part of each element."""
        return tf.math.real(as_tensor(val))

    def imag(val):
        """The imaginary part of each element."""
        return _imag(as_tensor(val))

    return numpy_names("real")(real), numpy_names("imag")(imag)


real, imag = _named_as_in_numpy()


@numpy_names("sign")
def sign(x, out=None, where=None, **kwargs):
    """-1, 0 or 1; of a complex number the unit in its direction.

    Raises:
        ValueError: `out`, `where` or another argument of NumPy's is given.
    """
    if out is not None or where is not None or kwargs:
        raise ValueError("tf.experimental.numpy.sign takes no `out`, `where` or other arguments.")
    return tf.sign(as_tensor(x))


@numpy_names("angle")
def angle(z, deg=False):
    """The angle of complex numbers, in degrees if `deg`."""
    found = tf.math.angle(floats(z))
    return found * constant(180 / math.pi, found) if deg else found


@numpy_names("around round")
def around(a, decimals=0):
    """Rounds to `decimals` places, halves to the even neighbour."""
    given = as_tensor(a)
    x = given if is_inexact(given) else tf.cast(given, np.float64)
    factor = constant(10.0**decimals, x)
    rounded = tf.round(x * factor) / factor if decimals else tf.round(x)
    return tf.cast(rounded, given.dtype)


@numpy_names("iscomplexobj")
def iscomplexobj(x):
    """Whether the dtype is complex."""
    return as_tensor(x).dtype.is_complex


@numpy_names("isrealobj")
def isrealobj(x):
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


@numpy_names("isscalar")
def isscalar(num):
    """Whether `num` is a number, or a tensor of rank 0."""
    return as_tensor(num).ndim == 0 if is_tensor(num) else np.isscalar(num)
