"""Eigenvalues of self-adjoint matrices: argument forms, errors, gradients as in TensorFlow."""

import numpy as np
import pytest

import gradtape as tf
from expressions import check_error, check_value

InvalidArgumentError = tf.errors.InvalidArgumentError

MATRIX = np.array([[2.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 5.0]])
HERMITIAN = np.array([[2.0, 1 + 1j], [1 - 1j, 3.0]], np.complex64)
WEIGHTS = np.array([1.0, 2.0, 4.0])

VALUES = [
    ("tf.linalg.eigvalsh([[2.0, 9.0], [0.0, 3.0]])", "float32", [2, 3]),
    ("tf.linalg.eigvalsh(V([[3.0, 0.0], [0.0, -1.0]]))", "float32", [-1, 3]),
    ("tf.linalg.eigvalsh(c([[1 + 0j, 5.0], [2j, 1.0]]))", "complex128", [-1, 3]),
    ("tf.linalg.eigvalsh(ones(2, 0, 0))", "float32", np.zeros((2, 0))),
    ("tf.linalg.eigvalsh(c([[[2.0]], [[3.0]]], tf.float64))", "float64", [[2], [3]]),
    ("tf.linalg.eigh([[3.0, np.nan], [0.0, -1.0]])[0]", "float32", [-1, 3]),
    ("tf.abs(tf.linalg.eigh([[3.0, 0.0], [0.0, -1.0]])[1])", "float32", [[0, 1], [1, 0]]),
]


@pytest.mark.parametrize(("expression", "dtype", "value"), VALUES)
def test_value(expression, dtype, value):
    check_value(expression, dtype, value)


@pytest.mark.parametrize("name", ["eigh", "eigvalsh"])
@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("[1.0, 2.0]", "Input tensor 0 must have rank >= 2, got 1"),
        ("ones(2, 3)", "Input matrix must be square."),
        ("[[1, 2], [3, 4]]", "Value for attr 'T' of int32 is not in the list of allowed values"),
        ("[[nan, 1.0], [1.0, 2.0]]", "Self-adjoint eigen decomposition was not successful."),
        ("[[1.0, 1.0], [inf, 2.0]]", "The input might not be valid"),
    ],
)
def test_error(name, argument, message):
    check_error(f"tf.linalg.{name}({argument})", InvalidArgumentError, message)


def derivatives(function, x):
    x = tf.constant(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(x)
        first = inner.gradient(y, x)
    return first, outer.gradient(first, x)


def of_values(x):
    return tf.reduce_sum(WEIGHTS * tf.linalg.eigvalsh(x))


def of_values_with_vectors(x):
    return tf.reduce_sum(WEIGHTS * tf.linalg.eigh(x)[0])


def of_vectors(x):
    return tf.reduce_sum(WEIGHTS * tf.linalg.eigh(x)[1] ** 2 * WEIGHTS[:, None])


def of_hermitian_values(x):
    weights = tf.constant([1.0, 3.0], tf.complex64)
    return tf.reduce_sum(weights * tf.cast(tf.linalg.eigvalsh(x), tf.complex64))


def of_hermitian_vectors(x):
    return tf.reduce_sum(tf.abs(tf.linalg.eigh(x)[1]) ** 2 * tf.constant([[1.0, 3.0], [2.0, 5.0]]))


VALUES_FIRST = [
    [1.37424445, 0, 0],
    [0.84465080, 1.96627951, 0],
    [0.49020892, -1.65925515, 3.6594758],
]
VALUES_SECOND = [
    [0.02173599, 0, 0],
    [-0.4009688, -0.52603257, 0],
    [1.0936146, 1.1326953, 0.50429666],
]
GRADIENTS = [
    (of_values, MATRIX, VALUES_FIRST, VALUES_SECOND),
    (of_values_with_vectors, MATRIX, VALUES_FIRST, VALUES_SECOND),
    (
        of_vectors,
        MATRIX,
        [[-0.25809193, 0, 0], [-0.13657689, -0.19940218, 0], [0.05795431, 1.06548011, 0.45749399]],
        [[0.41324776, 0, 0], [0.7406932, 0.15956683, 0], [-0.28972423, 0.02381158, -0.5728146]],
    ),
    (
        of_hermitian_values,
        HERMITIAN,
        [[1.6666666, 0], [1.3333333 - 1.3333333j, 2.3333333]],
        [[0.14814816, 0], [0.7407407 + 0.59259254j, -0.14814824]],
    ),
    (
        of_hermitian_vectors,
        HERMITIAN,
        [[-0.14814819, 0], [-0.0740741 + 0.0740741j, 0.14814818]],
        [[0.04938272, 0], [0.02469139 - 0.09876546j, -0.04938273]],
    ),
]


@pytest.mark.parametrize(("function", "x", "first", "second"), GRADIENTS)
def test_gradient(function, x, first, second):
    got_first, got_second = derivatives(function, x)
    np.testing.assert_allclose(got_first, first, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got_second, second, rtol=1e-5, atol=2e-6)


def test_batch_of_matrices_in_jacobian():
    x = tf.constant(np.stack([MATRIX, 2 * MATRIX, MATRIX - 1.0]))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.linalg.eigvalsh(x)
    found = tape.batch_jacobian(y, x)
    for i in range(3):
        for j in range(3):
            want = derivatives(lambda m, j=j: tf.linalg.eigvalsh(m)[j], x[i])[0]
            np.testing.assert_allclose(found[i, j], want, atol=1e-12)


def test_both_modes_agree_with_differences():
    tf.autodiff.check_gradients(of_values, tf.constant(MATRIX))
    tf.autodiff.check_gradients(of_vectors, tf.constant(MATRIX))
