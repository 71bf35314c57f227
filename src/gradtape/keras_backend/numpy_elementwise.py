"""Functions of each element, and of each two: `abs` to `logaddexp2`."""

import math

import gradtape as tf

from .numpy_promotion import (
    as_floats,
    as_numbers,
    common_dtype,
    dense,
    operands,
    promoted,
    promoted_floats,
)

_numpy = tf.experimental.numpy


def _named(name, function):
    function.__name__ = function.__qualname__ = name
    return function


# Of one tensor ------------------------------------------------------------------------------------


def _in_floats(name, function):
    """A function of one tensor that is cast to floats first, if it holds none."""
    return _named(name, lambda x: function(as_floats(x)))


arccos = _in_floats("arccos", tf.acos)
arccosh = _in_floats("arccosh", tf.acosh)
arcsin = _in_floats("arcsin", tf.asin)
arcsinh = _in_floats("arcsinh", tf.asinh)
arctan = _in_floats("arctan", tf.atan)
arctanh = _in_floats("arctanh", tf.atanh)
cbrt = _in_floats("cbrt", _numpy.cbrt)
ceil = _in_floats("ceil", tf.math.ceil)
cos = _in_floats("cos", tf.cos)
cosh = _in_floats("cosh", tf.cosh)
deg2rad = _in_floats("deg2rad", _numpy.deg2rad)
exp = _in_floats("exp", tf.exp)
exp2 = _in_floats("exp2", _numpy.exp2)
expm1 = _in_floats("expm1", tf.math.expm1)
floor = _in_floats("floor", tf.floor)
log = _in_floats("log", tf.math.log)
log10 = _in_floats("log10", _numpy.log10)
log1p = _in_floats("log1p", tf.math.log1p)
log2 = _in_floats("log2", _numpy.log2)


def absolute(x):
    x = dense(x)
    return x if x.dtype.is_bool or x.dtype.is_unsigned else tf.abs(x)


def abs(x):
    return absolute(x)


def fabs(x):
    return tf.abs(as_floats(x))


def angle(x):
    x = as_floats(x)
    if x.dtype.is_complex:
        return tf.math.angle(x)
    # The angle of a real number is 0 or pi; NaN has none.
    flat = tf.where(_numpy.signbit(x), tf.constant(math.pi, x.dtype), tf.zeros_like(x))
    return tf.where(tf.math.is_nan(x), x, flat)


def conjugate(x):
    x = dense(x)
    return tf.math.conj(x) if x.dtype.is_complex else x


def conj(x):
    return conjugate(x)


def imag(x):
    x = dense(x)
    return tf.math.imag(x) if x.dtype.is_complex else tf.zeros_like(x)


def i0(x):
    return tf.math.bessel_i0(as_floats(x))


def clip(x, x_min, x_max):
    x = as_numbers(x)
    bounds = operands(x_min, x_max)
    dtype = common_dtype(x, *bounds)
    low, high = [_within(bound, dtype) for bound in bounds]
    return tf.minimum(tf.maximum(tf.cast(x, dtype), low), high)


def _within(bound, dtype):
    """A bound as `dtype`; an int that it cannot hold becomes the nearest that it can."""
    dtype = tf.as_dtype(dtype)
    if isinstance(bound, tf.Tensor):
        return tf.cast(bound, dtype)
    if dtype.is_integer:
        bound = max(dtype.min, min(dtype.max, bound))
    return tf.constant(bound, dtype)


# Of two tensors -----------------------------------------------------------------------------------


def add(x1, x2):
    x1, x2 = promoted(x1, x2)
    return tf.logical_or(x1, x2) if x1.dtype.is_bool else tf.add(x1, x2)


def divide(x1, x2):
    return tf.divide(*promoted_floats(x1, x2))


def divide_no_nan(x1, x2):
    return tf.math.divide_no_nan(*promoted_floats(x1, x2))


def floor_divide(x1, x2):
    x1, x2 = promoted(x1, x2)
    return tf.math.floordiv(as_numbers(x1), as_numbers(x2))


def fmod(x1, x2):
    """What division leaves, with the sign of `x1`."""
    x1, x2 = [as_numbers(x) for x in promoted(x1, x2)]
    if x1.dtype.is_unsigned:
        return tf.math.floormod(x1, x2)
    if x1.dtype.is_integer and x1.dtype.size < 4:
        return tf.cast(tf.truncatemod(tf.cast(x1, "int32"), tf.cast(x2, "int32")), x1.dtype)
    return tf.truncatemod(x1, x2)


def fmax(x1, x2):
    return _extreme(tf.maximum, tf.logical_or, x1, x2)


def fmin(x1, x2):
    return _extreme(tf.minimum, tf.logical_and, x1, x2)


def _extreme(function, of_booleans, x1, x2):
    """The greater or the lesser of each two; any number rather than NaN."""
    x1, x2 = promoted(x1, x2)
    if x1.dtype.is_bool:
        return of_booleans(x1, x2)
    if x1.dtype.is_floating:
        x1, x2 = tf.where(tf.math.is_nan(x1), x2, x1), tf.where(tf.math.is_nan(x2), x1, x2)
    return function(x1, x2)


def arctan2(x1, x2):
    return tf.atan2(*promoted_floats(x1, x2))


def heaviside(x1, x2):
    x1, x2 = promoted_floats(x1, x2)
    return tf.where(tf.math.is_nan(x1), x1, _numpy.heaviside(x1, x2))


def hypot(x1, x2):
    """The length of the hypotenuse, without overflow of the squares."""
    x1, x2 = [tf.abs(x) for x in promoted_floats(x1, x2)]
    larger, smaller = tf.maximum(x1, x2), tf.minimum(x1, x2)
    ratio = tf.math.divide_no_nan(smaller, larger)
    found = larger * tf.sqrt(1 + tf.square(ratio))
    # The ratio of two infinities is none, and beside an infinity NaN does not matter.
    infinite = tf.logical_or(tf.math.is_inf(x1), tf.math.is_inf(x2))
    return tf.where(infinite, tf.constant(math.inf, found.dtype), found)


def ldexp(x1, x2):
    """`x1` times two to the power of the integer `x2`."""
    x1, x2 = operands(x1, x2)
    exponent = dense(x2)
    if not exponent.dtype.is_integer:
        raise TypeError(
            f"ldexp exponent must be an integer type. Received: x2 dtype={exponent.dtype}"
        )
    x1 = as_floats(x1)
    # In two halves: the power may be out of range where the product is not.
    half = tf.math.floordiv(exponent, tf.constant(2, exponent.dtype))
    two = tf.constant(2, x1.dtype)
    rest = tf.pow(two, tf.cast(exponent - half, x1.dtype))
    return x1 * tf.pow(two, tf.cast(half, x1.dtype)) * rest


def logaddexp(x1, x2):
    return _log_of_sum(x1, x2, math.e)


def logaddexp2(x1, x2):
    return _log_of_sum(x1, x2, 2.0)


def _log_of_sum(x1, x2, base):
    """The logarithm to `base` of the sum of two powers of it."""
    x1, x2 = promoted_floats(x1, x2)
    log_base = tf.constant(math.log(base), x1.dtype)
    # Equal numbers share the gradient, and equal infinities differ by nothing.
    equal = tf.equal(x1, x2)
    larger = tf.where(equal, x1 / 2 + x2 / 2, tf.maximum(x1, x2))
    distance = tf.abs(tf.where(equal, tf.zeros_like(larger), x1 - x2))
    return larger + tf.math.log1p(tf.exp(-distance * log_base)) / log_base


# Of integers --------------------------------------------------------------------------------------


def gcd(x1, x2):
    """The greatest common divisor, by Euclid's algorithm on all elements at once."""
    x1, x2 = _integers("gcd", x1, x2)
    shape = tf.broadcast_static_shape(x1.shape, x2.shape)
    x1, x2 = tf.broadcast_to(absolute(x1), shape), tf.broadcast_to(absolute(x2), shape)
    zero, one = tf.zeros_like(x2), tf.ones_like(x2)

    def some_left(_, divisor):
        return tf.reduce_any(tf.not_equal(divisor, zero))

    def step(number, divisor):
        # Where the divisor is 0 the pair is done already.
        done = tf.equal(divisor, zero)
        rest = tf.math.floormod(number, tf.where(done, one, divisor))
        return tf.where(done, number, divisor), tf.where(done, zero, rest)

    return tf.while_loop(some_left, step, (x1, x2))[0]


def lcm(x1, x2):
    """The least common multiple."""
    x1, x2 = [absolute(x) for x in _integers("lcm", x1, x2)]
    divisor = tf.maximum(gcd(x1, x2), tf.constant(1, x1.dtype))
    return x1 * tf.math.floordiv(x2, divisor)


def _integers(name, x1, x2):
    x1, x2 = promoted(x1, x2)
    if not x1.dtype.is_integer:
        raise TypeError(
            f"Arguments to {name} must be integers. Received: their common dtype is {x1.dtype.name}"
        )
    return x1, x2
