"""Polynomials with coefficients that are plain numbers, by Horner's scheme in place."""

import numpy as np

from ..core.dtypes import DIFFERENTIABLE
from ..core.op import Spec
from .arithmetic import mul
from .broadcasting import not_allowed
from .families import opaque
from .numerics import polynomial


def _infer(x, *, coefficients):
    if x.dtype not in DIFFERENTIABLE:
        raise not_allowed("Polynomial", x.dtype, DIFFERENTIABLE)
    return Spec(x.shape, x.dtype)


def _horner(x, coefficients):
    numbers = [x.dtype.type(coefficient) for coefficient in coefficients]
    return polynomial(numbers, x) if len(numbers) > 1 else np.full(x.shape, numbers[0])[()]


def _slope(coefficients):
    """The coefficients of the derivative; those of nothing at all are a single 0."""
    degree = len(coefficients) - 1
    return tuple([c * (degree - i) for i, c in enumerate(coefficients[:-1])]) or (0.0,)


# Its attribute is a tuple of floats, that of the highest power first.
polynomial_row = opaque(
    "Polynomial",
    _horner,
    inputs="x",
    infer=_infer,
    vjp={
        "x": lambda g, x, *, coefficients: mul(
            g, polynomial_row(x, coefficients=_slope(coefficients))
        )
    },
    jvp=lambda tangents, inputs, out, attrs: mul(
        tangents[0], polynomial_row(inputs[0], coefficients=_slope(attrs["coefficients"]))
    ),
    batch=lambda op, values, flags, attrs: op.call(values[0], **attrs),
    raw=False,
)
