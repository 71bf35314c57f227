"""Expressions in which `np` is tf.experimental.numpy: TensorFlow's, gradtape's, or NumPy itself.

The files <topic>.txt list them, and others are made here. The operands are arrays here; whoever
evaluates them makes tensors of them.
"""

import itertools
from pathlib import Path

import numpy as np

_HERE = Path(__file__).resolve().parent

OPERANDS = {
    "f32": np.array([[1.5, -2.0, 3.0], [4.0, 0.5, -6.0]], np.float32),
    "g32": np.array([[0.25, 0.5, 2.0], [1.0, 3.5, 0.75]], np.float32),
    "h32": np.array([[0.25, -0.5, 0.125], [0.0, 0.75, -0.875]], np.float32),
    "f64": np.array([[0.1, -2.5, 3.0], [4.25, 0.5, -6.0]], np.float64),
    "f16": np.array([1.5, -2.0, 3.0], np.float16),
    "c64": np.array([1 + 2j, -3.5 + 0.5j, 2j], np.complex64),
    "c128": np.array([[1 - 2j, 0.5, 2j]], np.complex128),
    "i32": np.array([[1, -2, 3], [4, 5, -6]], np.int32),
    "i64": np.array([[7, 2, 3], [4, 5, 6]], np.int64),
    "i8": np.array([3, 1, 2], np.int8),
    "u8": np.array([200, 100, 7], np.uint8),
    "b": np.array([[True, False, True], [False, False, True]]),
    "v32": np.array([2.0, 4.0, -1.0], np.float32),
    "j32": np.array([2, 0, 1], np.int32),
    "s32": np.array(2.5, np.float32),
    "k32": np.array(3, np.int32),
    "m32": np.array([[2.0, 1.0, 0.0], [0.5, 3.0, -1.0], [1.0, 0.0, 4.0]], np.float32),
    "t32": (np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 7) / 4,
    "z32": np.zeros((0, 3), np.float32),
    "n32": np.array([1.0, np.nan, 3.0, -np.inf, np.inf, -0.0], np.float32),
    "w32": np.array([[3.0, 1.0, 2.0], [9.0, 8.0, 7.0]], np.float32),
}

_OPERANDS_OF_ALL_KINDS = ("f32", "f64", "i32", "i64", "b", "u8", "c64", "2", "1.5", "True", "2j")

_UNARY = """
abs absolute angle arctan arcsinh around bitwise_not cbrt ceil conj conjugate copy cos cosh deg2rad
exp exp2 expm1 fabs fix floor imag iscomplex iscomplexobj isfinite isinf isnan isneginf isposinf
isreal isrealobj isscalar logical_not negative positive rad2deg real reciprocal round sign signbit
sin sinc sinh square tan tanh ravel flatten ndim shape size
"""
_UNARY_OF_POSITIVE = ["log", "log10", "log1p", "log2", "sqrt", "arccosh"]
_UNARY_OF_SMALL = ["arccos", "arcsin", "arctanh"]

_BINARY = """
add subtract multiply true_divide divide floor_divide mod remainder maximum minimum power
float_power arctan2 heaviside hypot logaddexp logaddexp2 equal not_equal greater greater_equal less
less_equal logical_and logical_or logical_xor nextafter isclose bitwise_and bitwise_or bitwise_xor
gcd lcm divmod
"""
_PAIRS = (
    "f32, v32", "f64, i32", "i32, f32", "f32, 2", "2.5, f32", "i32, 2.5", "i64, 3", "3, i64",
    "i8, u8", "b, i32", "b, b", "f16, f32", "c64, f32", "1, 2", "1.5, 2", "[1.0, 2.0, 3.0], f32",
    "f32, k32", "u8, 7", "True, False", "f32, [1, 2, 3]", "z32, v32",
)  # fmt: skip

_REDUCTIONS = """
all any amax amin max min sum prod mean std var ptp nanmean nansum nanprod
"""
_REDUCED = (
    "f32", "i32", "b", "u8", "f16", "c64", "2", "2.5", "[[1, 2], [3, 4]]", "f32, axis=0",
    "i32, axis=-1", "t32, axis=(0, 2)", "t32, axis=1, keepdims=True", "f32, keepdims=True",
    "z32", "z32, axis=0", "n32", "f32, axis=2",
)  # fmt: skip

_LISTED = ("reductions", "creation", "shapes", "selection", "products", "comparisons", "numbers")


def groups():
    """From topics to lists of expressions."""
    found = {
        topic: (_HERE / f"{topic}.txt").read_text(encoding="utf-8").splitlines()
        for topic in _LISTED
    }
    found["unary"] = [
        f"np.{name}({x})" for name, x in itertools.product(_UNARY.split(), _OPERANDS_OF_ALL_KINDS)
    ]
    found["unary"] += [
        f"np.{name}({x})" for name in _UNARY_OF_POSITIVE for x in ("g32", "i64", "b", "2", "1.5")
    ]
    found["unary"] += [
        f"np.{name}({x})" for name in _UNARY_OF_SMALL for x in ("h32", "b", "1", "0.5", "c64")
    ]
    found["binary"] = [
        f"np.{name}({pair})" for name, pair in itertools.product(_BINARY.split(), _PAIRS)
    ]
    found["reductions"] += [
        f"np.{name}({what})" for name, what in itertools.product(_REDUCTIONS.split(), _REDUCED)
    ]
    return found
