"""Expressions both libraries evaluate, so that every public function is compared.

They stand in data/tensorflow_expressions.txt, and those that are errors in
data/tensorflow_refusals.txt, one in a line, in `tf`, `np` and the names of the tensors below. To
add one, write the line and run `make answers`.
"""

import re
from pathlib import Path

import numpy as np

_DATA = Path(__file__).resolve().parent.parent / "data"


def _lines(file_name):
    lines = (_DATA / file_name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


EXPRESSIONS = _lines("tensorflow_expressions.txt")
REFUSALS = _lines("tensorflow_refusals.txt")


def _wave(*shape, scale=1.0, shift=0.0, step=1.0):
    """Numbers of both signs, none equal to another, the same in every run."""
    numbers = np.arange(np.prod(shape, dtype=int), dtype=np.float64)
    return (scale * np.sin(1.0 + step * numbers) + shift).reshape(shape)


_SQUARE = _wave(3, 3) + 3.0 * np.eye(3)
_PARTS = _wave(2, 3, shift=1.5)

# Floating and complex ones are evaluated in double and in single precision.
TENSORS = {
    "x": _wave(2, 3),
    "y": _wave(2, 3, scale=2.0, shift=0.1, step=0.7),
    "v": _wave(4, scale=2.0, step=0.9),
    "w": _wave(3, shift=0.2, step=1.3),
    "s": _wave(shift=0.4),
    "p": _wave(2, 3, shift=1.5),
    "u": 0.5 + 0.4 * _wave(2, 3, step=0.6),
    "probabilities": _PARTS / _PARTS.sum(-1, keepdims=True),
    "a": _wave(2, 3, 4),
    "b": _wave(2, 4, 3, step=0.8),
    "m": _SQUARE,
    "spd": _SQUARE @ _SQUARE.T,
    "ms": np.stack([_SQUARE, _SQUARE.T + np.eye(3)]),
    "z": _wave(2, 3) + 1j * _wave(2, 3, step=0.4),
    "signal": _wave(2, 8),
    "series": _wave(2, 8, 3),
    "images": 0.5 + 0.45 * _wave(2, 4, 5, 3),
    "gray": 0.5 + 0.45 * _wave(2, 4, 4, 1),
    "kernel": _wave(2, 2, 3, 4, step=0.7),
    "depth_kernel": _wave(2, 2, 3, 2, step=0.7),
    "kernel1d": _wave(3, 3, 2, step=0.7),
    "volume": _wave(1, 3, 4, 3, 2),
    "table": _wave(5, 3),
}
_INDICES = {
    "i": np.array([2, 0, 1, 1], np.int32),
    "k": np.array([[0, 2], [1, 0]], np.int64),
    "labels": np.array([2, 0], np.int32),
    "n": np.array([[3, -1, 0], [7, 2, 5]], np.int32),
    "mask": np.array([[True, False, True], [False, True, True]]),
    "lengths": np.array([1, 3], np.int32),
}
_SINGLE = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}


def arguments_of(tf, text, precision):
    """The tensors an expression names, in double or, for "float32", in single precision."""
    used = set(re.findall(r"(?<![\w.\"'])[a-z]\w*\b(?!\s*=[^=])", text))
    arguments = {}
    for name, array in {**TENSORS, **_INDICES}.items():
        if name in used:
            small = precision == "float32" and array.dtype in _SINGLE
            arguments[name] = tf.constant(array.astype(_SINGLE[array.dtype]) if small else array)
    return arguments


def function_of(tf, text):
    """The expression as a function of its tensors, by name."""
    code = compile(text, "<expression>", "eval")
    return lambda **tensors: eval(code, {"tf": tf, "np": np, **tensors})
