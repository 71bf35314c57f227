"""Expressions in every public function, under `tf.function`: bit for bit what they give without."""

import numpy as np
import pytest

import gradtape as tf
from answers.evaluation import answer_of
from answers.expressions import EXPRESSIONS, REFUSALS, arguments_of, function_of

pytestmark = pytest.mark.filterwarnings("ignore")

_SAYS_WHERE_IT_IS = "it says whether it is in a function"

# Expressions that give something else in a function, as they do in TensorFlow, and why.
DIFFERENCES = {
    "tf.executing_eagerly()": _SAYS_WHERE_IT_IS,
    "tf.inside_function()": _SAYS_WHERE_IT_IS,
    "tf.is_symbolic_tensor(x)": _SAYS_WHERE_IT_IS,
    "tf.random.Generator.from_seed(5).normal([3])": "it makes a variable in every call",
    "tf.case([(s > 9.0, lambda: x)], default=lambda: y)":
        "what only the other branch uses has a gradient of zeros instead of None",
}  # fmt: skip

# Expressions that may be traced at every call: a random number is used as a Python number.
TRACED_AGAIN = ("tf.shape(tf.image.random_jpeg_quality(images[0], 60, 90, seed=3))",)


class Counted:
    """The traced function of an expression, which counts how often its Python code runs."""

    def __init__(self, text):
        self.runs = 0
        expression = function_of(tf, text)

        def counting(**tensors):
            self.runs += 1
            return expression(**tensors)

        self.function = tf.function(counting)

    def __call__(self, **tensors):
        return self.function(**tensors)


def varied(tensor):
    """Another tensor of the same shape and dtype, with the same number of true elements."""
    array = np.asarray(tensor.numpy())
    if tensor.dtype.is_floating or tensor.dtype.is_complex:
        return tf.constant(array * array.dtype.type(0.9))
    return tf.constant(np.roll(array, 1))


@pytest.mark.parametrize("text", [text for text in EXPRESSIONS if text not in DIFFERENCES])
def test_expression(text):
    plain, traced = function_of(tf, text), Counted(text)
    arguments = arguments_of(tf, text, "float32")
    others = {name: varied(tensor) for name, tensor in arguments.items()}
    runs = []
    for given in (arguments, arguments, others, arguments):
        assert answer_of(tf, traced, given) == answer_of(tf, plain, given)
        runs.append(traced.runs)
    assert runs[1] == runs[0] or text in TRACED_AGAIN
    assert runs[3] == runs[2] or text in TRACED_AGAIN


@pytest.mark.parametrize("text", DIFFERENCES)
def test_difference_exists(text):
    arguments = arguments_of(tf, text, "float32")
    expected = answer_of(tf, function_of(tf, text), arguments)
    assert answer_of(tf, Counted(text), arguments) != expected


@pytest.mark.parametrize("text", REFUSALS)
def test_refused_expression(text):
    arguments = arguments_of(tf, text, "float32")
    expected = answer_of(tf, function_of(tf, text), arguments)
    traced = Counted(text)
    for _ in range(2):
        assert answer_of(tf, traced, arguments)["error"] == expected["error"]
