"""Random programs: small graphs of smooth ops, each value made of earlier ones."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import gradtape as tf

from .strategies import arrays

SIDE = 3

# Every value is a scalar, a vector or a square matrix of one side, so that any two broadcast.
SHAPES = ((), (SIDE,), (SIDE, SIDE))

# Results stay within a few units however long the program is.
STEPS: dict[str, tuple[int, Callable[..., Any]]] = {
    "tanh": (1, tf.tanh),
    "sin": (1, tf.sin),
    "exp": (1, lambda x: tf.exp(tf.sin(x))),
    "log1p": (1, lambda x: tf.math.log1p(tf.square(x))),
    "sqrt": (1, lambda x: tf.sqrt(tf.square(x) + 1.0)),
    "mean": (1, tf.reduce_mean),
    "rows": (1, lambda x: tf.reduce_mean(x, axis=list(range(1, x.shape.rank)))),
    "transpose": (1, tf.transpose),
    "join": (1, lambda x: tf.split(tf.concat([x, tf.cos(x)], -1), 2, -1)[1] if x.shape.rank else x),
    "stop": (1, lambda x: x - tf.stop_gradient(tf.ones_like(x))),
    "add": (2, lambda x, y: (x + y) * 0.5),
    "mul": (2, lambda x, y: tf.tanh(x) * y),
    "sub": (2, lambda x, y: (x - y) * 0.5),
    "div": (2, lambda x, y: x / (1.5 + tf.sin(y))),
    "atan2": (2, lambda x, y: tf.atan2(x, tf.square(y) + 1.0)),
    "pow": (2, lambda x, y: (1.5 + tf.sin(x)) ** tf.tanh(y)),
    "choose": (2, lambda x, y: tf.where([True, False, True], x, y)),
}


@dataclass(frozen=True)
class Program:
    """A function of one tensor, and the point where it is looked at.

    Each step names an op and the positions of its operands among the values so far, of which the
    input is the first; the result is the sum of all of them.
    """

    point: np.ndarray
    steps: tuple[tuple[str, tuple[int, ...]], ...]

    def __call__(self, x):
        values = [x]
        for name, positions in self.steps:
            values.append(STEPS[name][1](*[values[i] for i in positions]))
        total = values[0]
        for value in values[1:]:
            total = total + value
        return total


@st.composite
def programs(draw):
    """Programs of up to eight steps."""
    steps = []
    for count in range(1, draw(st.integers(1, 8)) + 1):
        name = draw(st.sampled_from(sorted(STEPS)))
        operands = st.integers(0, count - 1)
        steps.append((name, tuple([draw(operands) for _ in range(STEPS[name][0])])))
    point = draw(st.sampled_from(SHAPES).flatmap(lambda shape: arrays(shape, -1.5, 1.5)))
    return Program(point, tuple(steps))
