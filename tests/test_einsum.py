"""Einsum: equations, ellipses, diagonals, errors, gradients."""

import numpy as np
import pytest

import gradtape as tf
from composites import check_batch, check_gradient
from expressions import check_error, check_gradients, check_value

InvalidArgumentError = tf.errors.InvalidArgumentError

VALUES = [
    ("tf.einsum('ij,jk->ik', A(2, 3), A(3, 2))", [[22, 28], [49, 64]]),
    ("tf.linalg.einsum('ij,jk', A(2, 3), A(3, 2))", [[22, 28], [49, 64]]),
    ("tf.einsum(' i j , j k -> i k ', A(2, 3), A(3, 2))", [[22, 28], [49, 64]]),
    ("tf.einsum('IJ,Jk->Ik', A(2, 3), A(3, 2))", [[22, 28], [49, 64]]),
    ("tf.einsum('ba', A(2, 3))", [[1, 4], [2, 5], [3, 6]]),
    ("tf.einsum('ij->', A(2, 3))", 21),
    ("tf.einsum('ij->i', A(2, 3))", [6, 15]),
    ("tf.einsum('->', c(2.0))", 2),
    ("tf.einsum('', c(2.0))", 2),
    ("tf.einsum(',', c(2.0), c(3.0))", 6),
    ("tf.einsum(',i->i', c(2.0), A(3))", [2, 4, 6]),
    ("tf.einsum('i,i->', A(3), A(3))", 14),
    ("tf.einsum('i,i->i', A(3), A(3))", [1, 4, 9]),
    ("tf.einsum('i,j->ji', A(3), A(2))", [[1, 2, 3], [2, 4, 6]]),
    ("tf.einsum('ij,k->i', A(2, 3), A(3))", [36, 90]),
    ("tf.einsum('ij,jk->ik', V([[1.0, 2.0]]), V([[3.0], [4.0]]))", [[11]]),
    ("tf.einsum('ij,jk->ik', A(2, 3), np.ones((3, 1)))", [[6], [15]]),
    ("tf.einsum('ij,jk->ik', ones(2, 0), ones(0, 2))", [[0, 0], [0, 0]]),
    ("tf.einsum('ij,jk->ik', A(1, 2), A(2, 1), optimize='optimal', name='x')", [[5]]),
    # labels that occur twice in an input
    ("tf.einsum('ii->i', A(3, 3))", [1, 5, 9]),
    ("tf.einsum('ii', A(3, 3))", 15),
    ("tf.einsum('iij->ij', A(2, 2, 3))", [[1, 2, 3], [10, 11, 12]]),
    ("tf.einsum('iij->j', A(2, 2, 3))", [11, 13, 15]),
    ("tf.einsum('iii->i', A(2, 2, 2))", [1, 8]),
    ("tf.einsum('ii,jj->ij', A(2, 2), A(3, 3))", [[1, 5, 9], [4, 20, 36]]),
    ("tf.einsum('ii,i->i', A(2, 2), A(2))", [1, 8]),
    # ellipses
    ("tf.einsum('...ij->...ji', A(1, 2, 2))", [[[1, 3], [2, 4]]]),
    ("tf.einsum('...', A(2, 2))", [[1, 2], [3, 4]]),
    ("tf.einsum('...i', A(2, 2))", [[1, 2], [3, 4]]),
    ("tf.einsum('i...->...i', A(3, 2))", [[1, 3, 5], [2, 4, 6]]),
    ("tf.einsum('...i,i->...', A(2, 2), A(2))", [5, 11]),
    ("tf.einsum('...ij,jk->ik...', A(2, 1, 2), A(2, 1))", [[[5, 11]]]),
    ("tf.einsum('...ij,...jk->...ik', A(1, 2), A(2, 2, 1))", [[[5]], [[11]]]),
    ("tf.einsum('...ij,...jk->...ik', A(2, 1, 1, 2), A(2, 2, 1))[1]", [[[11]], [[25]]]),
    ("tf.einsum('...i,...i->...i', A(1, 2), A(3, 2))", [[1, 4], [3, 8], [5, 12]]),
    ("tf.einsum('i...,i...->...', A(3, 1), A(3, 2))", [22, 28]),
    ("tf.einsum('...,...->...', A(2, 1), A(1, 2))", [[1, 2], [2, 4]]),
    ("tf.einsum('...,...->...', ones(0, 1), ones(1, 2))", np.zeros((0, 2))),
    ("tf.einsum('...ii->...i', A(2, 2, 2))", [[1, 4], [5, 8]]),
    ("tf.einsum('ij->ij...', A(1, 2))", [[1, 2]]),
    ("tf.einsum('...i->i', A(2))", [1, 2]),
    ("tf.einsum('...i,...i', A(3), A(3))", 14),
    # more than two inputs
    ("tf.einsum('ij,jk,kl->il', A(2, 3), A(3, 2), A(2, 2))", [[106, 156], [241, 354]]),
    ("tf.einsum('i,j,k->ijk', A(2), A(1), A(2))", [[[1, 2]], [[2, 4]]]),
    ("tf.einsum('i,i,i->i', A(2), A(2), A(2))", [1, 8]),
    ("tf.einsum('ab,bc,cd,de->a', A(2, 3), A(3, 2), A(2, 3), A(3, 2))", [4264, 9682]),
    ("tf.einsum('...a,...b,...c->...abc', A(2, 1), A(1, 1), A(1))", [[[[1]]], [[[2]]]]),
    ("tf.einsum('ii,ij,jj->i', A(2, 2), A(2, 3), A(3, 3))", [38, 332]),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "value"), VALUES)
def test_value(expression, value):
    check_value(expression, "float32", value)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32", "int64", "complex64"])
def test_dtypes(dtype):
    expression = f"tf.einsum('ij,jk->ik', c([[1, 2]], tf.{dtype}), c([[3], [4]], tf.{dtype}))"
    check_value(expression, dtype, [[11]])


ERRORS = [
    (
        "tf.einsum('ij,jk->ik', A(2, 3))",
        ValueError,
        '1 inputs for equation "ij,jk->ik", expecting 2',
    ),
    ("tf.einsum('ij->ik', A(2, 3), A(3, 2))", ValueError, "Got 2 inputs for equation"),
    ("tf.einsum('ij,jk->ik')", ValueError, "Got 0 inputs for equation"),
    (
        "tf.einsum('ij->ij->ij', A(2, 3))",
        ValueError,
        "Subscripts have incorrect format: ij->ij->ij",
    ),
    ("tf.einsum('i1->i', A(2, 3))", ValueError, "Subscripts have incorrect format: i1->i"),
    ("tf.einsum('i.j->i', A(2, 3))", ValueError, "Subscripts have incorrect format: i.j->i"),
    ("tf.einsum('αβ->βα', A(2, 3))", ValueError, "Subscripts have incorrect format"),
    ("tf.einsum('i->ii', A(2))", ValueError, "contain a label appearing more than once: i->ii"),
    ("tf.einsum('i->ij', A(2))", ValueError, "contain the label j not present in the input"),
    ("tf.einsum('->i', c(2.0))", ValueError, "contain the label i not present in the input"),
    ("tf.einsum('ijk->i', A(2, 3))", InvalidArgumentError, "input 0 to have rank 3 but got: 2"),
    ("tf.einsum('...ij->i', A(3))", InvalidArgumentError, "to have rank at least 2 but got: 1"),
    (
        "tf.einsum('ij,jk->ik', A(2, 3), A(2, 3))",
        InvalidArgumentError,
        "Expected dimension 3 at axis 0 of the input shaped [2,3] but got dimension 2 [Op:Einsum]",
    ),
    ("tf.einsum('ij,jk->ik', A(2, 3), A(1, 3))", InvalidArgumentError, "but got dimension 1"),
    (
        "tf.einsum('ii->i', A(2, 3))",
        InvalidArgumentError,
        "Expected dimension 2 at axis 1 of the input shaped [2,3] but got dimension 3",
    ),
    (
        "tf.einsum('...ij,jk->ik', A(2, 2, 3), A(3, 2))",
        InvalidArgumentError,
        "Output contains 1 broadcasting dimension(s) but no ellipsis (...) was found",
    ),
    (
        "tf.einsum('...ij,...jk->...ik', ones(2, 2, 3), ones(3, 3, 2))",
        InvalidArgumentError,
        "Invalid broadcasting dimensions: [2,2,3] vs. [3,3,2]",
    ),
    (
        "tf.einsum('ij,jk->ik', A(2, 3), c([[1], [2], [3]]))",
        InvalidArgumentError,
        "cannot compute Einsum as input #1(zero-based) was expected to be a float tensor but is a",
    ),
    (
        "tf.einsum('i->i', A(2), foo=1, bar=2)",
        TypeError,
        "Invalid keyword arguments for einsum: foo, bar. Valid arguments: name, optimize, greedy.",
    ),
]


@pytest.mark.parametrize(("expression", "error", "message"), ERRORS)
def test_error(expression, error, message):
    check_error(expression, error, message)


def _equation(text):
    return lambda *inputs: tf.einsum(text, *inputs)


# equation -> points, value, gradients
GRADIENTS = {
    "ij,jk->ik": ([[[1, 2]], [[3], [4]]], [[11]], [[[3, 4]], [[1], [2]]]),
    "ii->i": ([[[1, 2], [3, 4]]], [1, 4], [[[1, 0], [0, 1]]]),
    "ii->": ([[[1, 2], [3, 4]]], 5, [[[1, 0], [0, 1]]]),
    "ij->": ([[[1, 2], [3, 4]]], 10, [[[1, 1], [1, 1]]]),
    "ii,i->i": ([[[1, 2], [3, 4]], [5, 6]], [5, 24], [[[5, 0], [0, 6]], [1, 4]]),
    "ij,k->i": ([[[1, 2], [3, 4]], [5, 6]], [33, 77], [[[11, 11], [11, 11]], [10, 10]]),
    "i,i,i->": ([[1, 2], [3, 4], [5, 6]], 63, [[15, 24], [5, 12], [3, 8]]),
    "...,...->...": ([[[1, 2]], [[3], [4]]], [[3, 6], [4, 8]], [[[7, 7]], [[3], [3]]]),
    "...i,...i->...": ([[[1, 2]], [[3, 4], [5, 6]]], [11, 17], [[[8, 10]], [[1, 2], [1, 2]]]),
    "ij,jk->ki": (
        [np.array([[1.0, 2j]]), np.array([[3.0 + 1j], [4.0]])],
        [[3 + 9j]],
        [[[3 - 1j, 4]], [[1], [-2j]]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("equation", GRADIENTS)
def test_gradient(equation):
    check_gradients(_equation(equation), *GRADIENTS[equation])


@pytest.mark.parametrize(
    "equation", ["ij,kj->ik", "...i,...j->...", "ij,ij,kj->ki", "ii,ij->j", "...ii,...ij->j..."]
)
def test_composite(equation):
    x = np.random.default_rng(6).standard_normal((3, 3))

    def function(x):
        return tf.einsum(equation, *[x] * (equation.count(",") + 1))

    check_gradient(function, x)
    check_batch(function, x)


@pytest.mark.beyond_tensorflow
class TestBeyondTensorFlow:
    def test_lists(self):
        check_value("tf.einsum('ij,jk->ik', [[1, 2]], [[3], [4]])", "int32", [[11]])
        check_value("tf.einsum('ij,jk->ik', A(1, 2), [[3], [4]])", "float32", [[11]])

    def test_narrow_floats_are_added_up_in_float32(self):
        expression = (
            "tf.einsum('i,i->', c([1.0] * 1000, tf.bfloat16), c([1.0] * 1000, tf.bfloat16))"
        )
        check_value(expression, "bfloat16", 1000)

    def test_ellipses_without_an_output(self):
        """They come first, as in NumPy; TensorFlow has no place for them if two inputs have any."""
        check_value("tf.einsum('...ij,...jk', A(1, 2), A(2, 2, 1))", "float32", [[[5]], [[11]]])

    def test_two_ellipses_in_a_term(self):
        check_error("tf.einsum('...i...->i', A(2, 3))", ValueError, "incorrect format")
