"""Cases of gradtape.ops.logic."""

import operator

import numpy as np

from gradtape.core.op import NON_DIFFERENTIABLE

from ..case import Case, Sample
from ..draws import Draws
from ..samples import binary_failures, binary_samples, unary_failures, unary_samples

draw = Draws(__name__)

_NUMBERS = [
    *binary_samples(draw.uniform),
    Sample((np.array([1.0, 2.0, np.nan, np.nan]), np.array([1.0, 3.0, 1.0, np.nan]))),
    Sample((draw.integers(3, 4, high=3), draw.integers(4, high=3))),
]
_EVERYTHING = [
    *_NUMBERS,
    Sample((np.array([1j, 2.0, 1 + 1j]), np.array([[1j], [2.0]]))),
    Sample((draw.booleans(4), draw.booleans(2, 4))),
    Sample((draw.strings(4), draw.strings(2, 1))),
]
_TWO = np.array([1.5, 2.5])
_TWO_TRUTHS = np.array([True, False])
_TWO_INTEGERS = np.array([1, 2])


def _comparison(op, function):
    return Case(
        op=op,
        samples=_NUMBERS,
        state=NON_DIFFERENTIABLE,
        reference=function,
        failures=binary_failures(_TWO, [True, 1j, b"a"]),
    )


def _logical(op, function):
    return Case(
        op=op,
        samples=[*binary_samples(draw.booleans)],
        state=NON_DIFFERENTIABLE,
        reference=function,
        failures=binary_failures(_TWO_TRUTHS, [3, 1.5, b"a"]),
    )


def _bitwise(op, function):
    def integers(*shape):
        return draw.integers(*shape, high=100)

    return Case(
        op=op,
        samples=[*binary_samples(integers)],
        state=NON_DIFFERENTIABLE,
        reference=function,
        failures=binary_failures(_TWO_INTEGERS, [True, 1.5, b"a"]),
    )


def _shift(op, function):
    def reference(x, y):
        return function(x, np.clip(y, 0, 8 * x.dtype.itemsize - 1))

    def integers(*shape):
        return draw.integers(*shape, high=7)

    return Case(
        op=op,
        samples=[
            *binary_samples(integers),
            Sample((np.array([1, 2, -16, -1], np.int32), np.array([40, -1, 3, 31], np.int32))),
        ],
        state=NON_DIFFERENTIABLE,
        reference=reference,
        failures=binary_failures(_TWO_INTEGERS, [True, 1.5, b"a"]),
    )


CASES = [
    _comparison("Less", np.less),
    _comparison("LessEqual", np.less_equal),
    _comparison("Greater", np.greater),
    _comparison("GreaterEqual", np.greater_equal),
    Case(
        op="Equal",
        samples=_EVERYTHING,
        state=NON_DIFFERENTIABLE,
        reference=lambda x, y: np.asarray(x == y).astype(bool),
        failures=binary_failures(_TWO, []),
    ),
    Case(
        op="NotEqual",
        samples=_EVERYTHING,
        state=NON_DIFFERENTIABLE,
        reference=lambda x, y: np.asarray(x != y).astype(bool),
        failures=binary_failures(_TWO, []),
    ),
    _logical("LogicalAnd", np.logical_and),
    _logical("LogicalOr", np.logical_or),
    Case(
        op="LogicalNot",
        samples=unary_samples(draw.booleans),
        state=NON_DIFFERENTIABLE,
        reference=np.logical_not,
        failures=unary_failures([3, 1.5, b"a"]),
    ),
    _bitwise("BitwiseAnd", operator.and_),
    _bitwise("BitwiseOr", operator.or_),
    _bitwise("BitwiseXor", operator.xor),
    _shift("LeftShift", np.left_shift),
    _shift("RightShift", np.right_shift),
    Case(
        op="Invert",
        samples=unary_samples(draw.integers),
        state=NON_DIFFERENTIABLE,
        reference=np.invert,
        failures=unary_failures([True, 1.5, b"a"]),
    ),
]
