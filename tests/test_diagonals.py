"""Diagonals and bands: argument forms, errors, gradients."""

import numpy as np
import pytest

import gradtape as tf
from composites import check_batch, check_gradient
from expressions import check_error, check_value

InvalidArgumentError = tf.errors.InvalidArgumentError

PACKED = "c([[1, 2, 3], [4, 5, 9]])"

VALUES = [
    # diag
    ("tf.linalg.diag([1.0, 2.0])", "float32", [[1, 0], [0, 2]]),
    ("tf.linalg.diag([1, 2], k=1)", "int32", [[0, 1, 0], [0, 0, 2], [0, 0, 0]]),
    (f"tf.linalg.diag({PACKED}, k=(0, 1))", "int32", [[4, 2, 0], [0, 5, 3], [0, 0, 9]]),
    (f"tf.linalg.diag({PACKED}, k=(-1, 0))", "int32", [[1, 0, 0], [4, 2, 0], [0, 5, 3]]),
    (
        f"tf.linalg.diag({PACKED}, k=(-1, 0), align='LEFT_RIGHT')",
        "int32",
        [[1, 0, 0], [5, 2, 0], [0, 9, 3]],
    ),
    (
        "tf.linalg.diag([1, 2], num_rows=3, num_cols=4, padding_value=9, k=-1)",
        "int32",
        [[9, 9, 9, 9], [1, 9, 9, 9], [9, 2, 9, 9]],
    ),
    ("tf.linalg.diag([1, 2], num_cols=4)", "int32", [[1, 0, 0, 0], [0, 2, 0, 0]]),
    ("tf.linalg.diag([1, 2], k=c([0]), num_rows=c(2))", "int32", [[1, 0], [0, 2]]),
    ("tf.linalg.diag([True, True], padding_value=False)", "bool", [[True, False], [False, True]]),
    ("tf.linalg.diag(ones(2, 0))", "float32", np.zeros((2, 0, 0))),
    (
        "tf.linalg.diag(ones(2, 2, 2), k=(-2, -1))[0]",
        "float32",
        [[0, 0, 0], [1, 0, 0], [1, 1, 0]],
    ),
    ("tf.linalg.diag(V([1.0, 2.0]))", "float32", [[1, 0], [0, 2]]),
    # set_diag
    ("tf.linalg.set_diag(ones(2, 3), [5.0, 6.0])", "float32", [[5, 1, 1], [1, 6, 1]]),
    ("tf.linalg.set_diag(ones(2, 2), [5.0], k=1)", "float32", [[1, 5], [1, 1]]),
    (
        "tf.linalg.set_diag(tf.zeros((3, 3)), A(2, 3), k=(0, 1))",
        "float32",
        [[4, 2, 0], [0, 5, 3], [0, 0, 6]],
    ),
    (
        "tf.linalg.set_diag(tf.zeros((3, 3)), A(2, 3), k=(0, 1), align='LEFT_RIGHT')",
        "float32",
        [[4, 1, 0], [0, 5, 2], [0, 0, 6]],
    ),
    # bands
    ("tf.linalg.band_part(A(2, 3), 0, 1)", "float32", [[1, 2, 0], [0, 5, 6]]),
    ("tf.linalg.band_part(A(3, 2), -1, 0)", "float32", [[1, 0], [3, 4], [5, 6]]),
    ("tf.linalg.band_part(A(2, 2), -2, -5)", "float32", [[1, 2], [3, 4]]),
    ("tf.linalg.band_part(A(2, 2), c(0, tf.int64), 0)", "float32", [[1, 0], [0, 4]]),
    ("tf.linalg.band_part([[True, True]], 0, 0)", "bool", [[True, False]]),
    ("tf.linalg.band_part([[nan, nan]], 0, 0)", "float32", [[np.nan, 0]]),
    # tensors
    ("tf.linalg.tensor_diag([1, 2])", "int32", [[1, 0], [0, 2]]),
    (
        "tf.linalg.tensor_diag([[1, 2]])",
        "int32",
        [[[[1, 0]], [[0, 2]]]],
    ),
    ("tf.linalg.tensor_diag(c([1.0, 2.0], tf.float16))", "float16", [[1, 0], [0, 2]]),
    (
        "tf.linalg.tensor_diag_part(tf.reshape(tf.range(16), (2, 2, 2, 2)))",
        "int32",
        [[0, 5], [10, 15]],
    ),
    ("tf.linalg.tensor_diag_part(3)", "int32", 3),
    # diag_part beside numbers
    ("tf.linalg.diag_part([[True]], padding_value=False)", "bool", [True]),
]


@pytest.mark.parametrize(("expression", "dtype", "value"), VALUES)
def test_value(expression, dtype, value):
    check_value(expression, dtype, value)


ERRORS = [
    (
        "tf.linalg.diag([1, 2], num_rows=1)",
        InvalidArgumentError,
        "The number of rows is too small.",
    ),
    ("tf.linalg.diag([1, 2], num_cols=1)", InvalidArgumentError, "number of columns is too small."),
    (f"tf.linalg.diag({PACKED}, k=(0, 2))", InvalidArgumentError, "does not match the lower_diag"),
    (
        "tf.linalg.diag(3)",
        InvalidArgumentError,
        "diagonal must be at least 1-dim, received shape: []",
    ),
    ("tf.linalg.diag([1, 2], num_rows=4, num_cols=4)", InvalidArgumentError, "is not consistent"),
    ("tf.linalg.diag([1, 2, 3], k=(1, 0))", InvalidArgumentError, "upper_diag_index: 1 > 0"),
    ("tf.linalg.diag([1.0], k=[1, 2, 3])", InvalidArgumentError, "received 3 elements."),
    ("tf.linalg.diag([1.0], align='X')", InvalidArgumentError, "Value for attr 'align' of \"X\""),
    ("tf.linalg.diag([True, True])", TypeError, "Cannot convert 0 to EagerTensor of dtype bool"),
    ("tf.linalg.diag_part([[True]])", TypeError, "Cannot convert 0 to EagerTensor of dtype bool"),
    (
        "tf.linalg.set_diag(ones(3, 3), [1.0, 2.0])",
        InvalidArgumentError,
        "Expected diagonal shape: [3]",
    ),
    ("tf.linalg.set_diag(ones(3), ones(3))", InvalidArgumentError, "input must be at least 2-dim"),
    ("tf.linalg.set_diag(ones(2, 3), ones(2), k=5)", InvalidArgumentError, "is out of bound: 5"),
    ("tf.linalg.band_part(ones(3, 4), 5, 0)", InvalidArgumentError, "number of rows (3) got: 5"),
    ("tf.linalg.band_part(ones(3, 4), [0], 0)", InvalidArgumentError, "num_lower must be scalar"),
    ("tf.linalg.band_part(ones(3, 4), 0.0, 0)", TypeError, "Cannot convert 0.0 to EagerTensor"),
    ("tf.linalg.tensor_diag(1)", InvalidArgumentError, "Input must be at least rank 1, got 0"),
    ("tf.linalg.tensor_diag([True])", InvalidArgumentError, "'T' of bool is not in the list"),
    ("tf.linalg.tensor_diag_part(ones(2, 2, 2))", InvalidArgumentError, "even and positive"),
    (
        "tf.linalg.tensor_diag_part(ones(2, 3))",
        InvalidArgumentError,
        "dimensions 0 and 1 do not match",
    ),
]


@pytest.mark.parametrize(("expression", "error", "message"), ERRORS)
def test_error(expression, error, message):
    check_error(expression, error, message)


COMPOSITES = {
    "diag": lambda x: tf.linalg.diag(x, k=(-1, 1), padding_value=3.0),
    "set_diag": lambda x: tf.linalg.set_diag(x, x[:, 0], k=0),
    "tensor_diag": tf.linalg.tensor_diag,
    "tensor_diag_part": lambda x: tf.linalg.tensor_diag_part(x),
    "band_part": lambda x: tf.linalg.band_part(x, 1, 0),
    "padded": lambda x: tf.linalg.diag_part(x, k=(-1, 1), padding_value=2.0),
}


@pytest.mark.parametrize("function", COMPOSITES.values(), ids=COMPOSITES)
def test_composite(function):
    x = np.random.default_rng(3).uniform(0.5, 2.0, (3, 3))
    check_gradient(function, x)
    check_batch(function, x)


def test_padding_has_no_gradient():
    padding = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        value = tf.linalg.diag([1.0, 2.0], padding_value=padding) * 3.0
    assert value.numpy().tolist() == [[3.0, 6.0], [6.0, 6.0]]
    assert tape.gradient(value, padding) is None
