"""Functions of two arrays that broadcast against each other."""

import math

import gradtape as tf

from .elementwise import truth
from .names import numpy_names
from .promotion import as_tensor, constant, float_dtype, floats, is_inexact, promoted


def _enter(names, function, doc=None):
    def pairwise(x1, x2):
        return function(*promoted(x1, x2))

    pairwise.__doc__ = doc or f"`{names.split()[0]}` of two arrays, element by element."
    return numpy_names(names)(pairwise)


def _for_bool(function, otherwise):
    return lambda x, y: function(x, y) if x.dtype.is_bool else otherwise(x, y)


def _as_int8(function):
    """Booleans count as numbers."""

    def computed(x, y):
        if x.dtype.is_bool:
            x, y = tf.cast(x, tf.int8), tf.cast(y, tf.int8)
        return function(x, y)

    return computed


def _in_floats(function):
    """Integers become floats first."""
    return lambda x, y: function(floats(x), floats(y))


def _hypot(x, y):
    return tf.sqrt(tf.square(x) + tf.square(y))


def _true_divide(x, y):
    return tf.truediv(floats(x), floats(y)) if x.dtype.is_bool else tf.truediv(x, y)


def _heaviside(x, y):
    at_zero = tf.where(x > 0, tf.ones_like(y), y)
    found = tf.where(x < 0, tf.zeros_like(y), at_zero)
    return found if is_inexact(found) else tf.cast(found, float_dtype())


def _greatest_divisor(x, y):
    if not (x.dtype.is_integer and y.dtype.is_integer):
        raise ValueError("Arguments to gcd must be integers.")
    x, y = _magnitude(x), _magnitude(y)
    x, y = x + tf.zeros_like(y), y + tf.zeros_like(x)
    while bool(tf.reduce_any(truth(y))):
        # Where the divisor is 0 the pair is done already.
        x, y = (
            tf.where(truth(y), y, x),
            tf.where(truth(y), tf.math.floormod(x, tf.where(truth(y), y, tf.ones_like(y))), y),
        )
    return x


def _magnitude(x):
    return x if x.dtype.is_unsigned else tf.abs(x)


def _least_multiple(x, y):
    divisor = _greatest_divisor(x, y)
    divisor = tf.where(truth(divisor), divisor, tf.ones_like(divisor))
    return _magnitude(x) * (_magnitude(y) // divisor)


_enter("add", _for_bool(tf.logical_or, tf.add), "Sums; of booleans, whether either is true.")
_enter("subtract", tf.subtract)
_enter("multiply", _for_bool(tf.logical_and, tf.multiply), "Products; of booleans, both.")
_enter("true_divide divide", _true_divide, "Quotients, which are floats.")
floor_divide = _enter("floor_divide", _as_int8(tf.math.floordiv), "Quotients rounded down.")
mod = _enter("mod remainder", _as_int8(tf.math.floormod), "What `floor_divide` leaves.")
maximum = _enter("maximum", _for_bool(tf.logical_or, tf.maximum), "The greater of each two.")
minimum = _enter("minimum", _for_bool(tf.logical_and, tf.minimum), "The lesser of each two.")
_enter("power", tf.pow, "Powers.")
_enter("float_power", _in_floats(tf.pow), "Powers, which are floats.")
_enter("arctan2", _in_floats(tf.atan2), "The angle of the point (x2, x1).")
_enter("nextafter", _in_floats(tf.math.nextafter), "The next number from the first to the second.")
_enter("hypot", _in_floats(_hypot), "The length of the hypotenuse.")
_enter("heaviside", _heaviside, "0 below zero, 1 above it, and `x2` at zero.")
_enter("equal", tf.equal)
_enter("not_equal", tf.not_equal)
_enter("greater", _as_int8(tf.greater))
_enter("greater_equal", _as_int8(tf.greater_equal))
_enter("less", _as_int8(tf.less))
_enter("less_equal", _as_int8(tf.less_equal))
_enter("bitwise_and", _for_bool(tf.logical_and, tf.bitwise.bitwise_and))
_enter("bitwise_or", _for_bool(tf.logical_or, tf.bitwise.bitwise_or))
_enter("bitwise_xor", _for_bool(tf.not_equal, tf.bitwise.bitwise_xor))
_enter("gcd", _greatest_divisor, "The greatest common divisor of integers.")
_enter("lcm", _least_multiple, "The least common multiple of integers.")


def _enter_logical(name, function):
    def logical(x1, x2):
        return function(truth(as_tensor(x1)), truth(as_tensor(x2)))

    logical.__doc__ = f"`{name}` of what is nonzero."
    numpy_names(name)(logical)


_enter_logical("logical_and", tf.logical_and)
_enter_logical("logical_or", tf.logical_or)
_enter_logical("logical_xor", tf.math.logical_xor)


@numpy_names("divmod")
def divmod_(x1, x2):
    """`floor_divide` and `mod` together."""
    return floor_divide(x1, x2), mod(x1, x2)


def _log_of_sum(x1, x2, base):
    """The logarithm to `base` of the sum of two powers of it."""
    x, y = [floats(each) for each in promoted(x1, x2)]
    log_base = constant(math.log(base), x)
    difference = x - y
    larger = tf.maximum(x, y) + tf.math.log1p(tf.exp(-tf.abs(difference) * log_base)) / log_base
    # Infinities of one sign have no difference, and NaN stays NaN.
    return tf.where(tf.math.is_nan(difference), x + y, larger)


@numpy_names("logaddexp")
def logaddexp(x1, x2):
    """The logarithm of the sum of the exponentials."""
    return _log_of_sum(x1, x2, math.e)


@numpy_names("logaddexp2")
def logaddexp2(x1, x2):
    """The same to base 2."""
    return _log_of_sum(x1, x2, 2.0)


@numpy_names("isclose")
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether elements differ by no more than `atol + rtol * abs(b)`."""
    x, y = promoted(a, b)
    if not is_inexact(x):
        return tf.equal(x, y)
    size = tf.abs(y)
    allowed = constant(atol, size) + constant(rtol, size) * size
    # Equal infinities are close, though their difference is NaN.
    close = tf.logical_or(
        tf.equal(x, y), tf.logical_and(tf.abs(x - y) <= allowed, tf.math.is_finite(size))
    )
    if not equal_nan:
        return close
    return tf.logical_or(close, tf.logical_and(tf.not_equal(x, x), tf.not_equal(y, y)))


@numpy_names("allclose")
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close in the sense of `isclose`."""
    return tf.reduce_all(isclose(a, b, rtol, atol, equal_nan))


@numpy_names("array_equal")
def array_equal(a1, a2):
    """Whether shapes and elements are the same."""
    x, y = promoted(a1, a2)
    if x.shape != y.shape:
        return tf.constant(False)
    return tf.reduce_all(tf.equal(x, y))


@numpy_names("clip")
def clip(a, a_min, a_max):
    """Elements kept between two bounds, of which one may be None."""
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    if a_min is None:
        return minimum(a, a_max)
    if a_max is None:
        return maximum(a, a_min)
    x, low, high = promoted(a, a_min, a_max)
    shape = tf.broadcast_static_shape(x.shape, tf.broadcast_static_shape(low.shape, high.shape))
    return tf.clip_by_value(tf.broadcast_to(x, shape), low, high)
