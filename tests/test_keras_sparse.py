"""Keras's functions of sparse tensors, and of the rows that are the gradient of an embedding."""

from typing import Any

import numpy as np
import pytest

import gradtape as tf

keras: Any = tf.keras
ops = keras.ops

MATRIX = np.array([[1.0, 0.0, -2.0], [0.0, 3.0, 0.0]], np.float32)
OTHER = np.array([[0.0, 5.0, 4.0], [0.0, 0.5, 0.0]], np.float32)


def sparse(x):
    return tf.sparse.from_dense(x)


def rows_twice():
    """Row 2 given in two parts, which add up."""
    values = tf.constant([[1.0, -2.0], [3.0, 4.0], [5.0, 6.0]])
    return tf.IndexedSlices(values, tf.constant([2, 0, 2]), (4, 2))


def other_rows():
    """Rows of which one is among those of `rows_twice`, in another order."""
    return tf.IndexedSlices(tf.constant([[7.0, -1.0], [0.5, 2.0]]), tf.constant([3, 2]), (4, 2))


@pytest.mark.parametrize("name", ["abs", "square", "sin", "negative", "sign"])
def test_a_function_that_keeps_zeros_keeps_a_tensor_sparse(name):
    found = getattr(ops, name)(sparse(MATRIX))
    assert isinstance(found, tf.SparseTensor)
    np.testing.assert_allclose(ops.convert_to_numpy(found), getattr(np, name)(MATRIX), 1e-6)


@pytest.mark.parametrize("name", ["abs", "square", "sin", "negative"])
def test_parts_of_a_row_are_added_before_a_function_is_applied(name):
    found = getattr(ops, name)(rows_twice())
    assert isinstance(found, tf.IndexedSlices)
    expected = getattr(np, name)(rows_twice().numpy())
    np.testing.assert_allclose(ops.convert_to_numpy(found), expected, 1e-6)


@pytest.mark.parametrize("name", ["add", "subtract", "maximum", "minimum", "multiply"])
@pytest.mark.parametrize(
    ("x", "y"), [(sparse(MATRIX), sparse(OTHER)), (rows_twice(), other_rows())]
)
def test_two_sparse_operands_give_a_sparse_result(name, x, y):
    found = getattr(ops, name)(x, y)
    assert type(found) is type(x)
    dense = [ops.convert_to_numpy(each) for each in (x, y)]
    np.testing.assert_allclose(ops.convert_to_numpy(found), getattr(np, name)(*dense), 1e-6)


def test_a_sparse_tensor_and_a_dense_one():
    assert isinstance(ops.add(sparse(MATRIX), OTHER), tf.Tensor)
    np.testing.assert_array_equal(ops.add(sparse(MATRIX), OTHER), MATRIX + OTHER)
    product = ops.multiply(OTHER, sparse(MATRIX))
    assert isinstance(product, tf.SparseTensor)
    np.testing.assert_array_equal(ops.convert_to_numpy(product), MATRIX * OTHER)


def test_a_quotient_is_none_where_both_are_zero():
    with np.errstate(all="ignore"):
        expected = MATRIX / OTHER
    found = ops.divide(sparse(MATRIX), ops.convert_to_tensor(OTHER))
    assert isinstance(found, tf.SparseTensor)
    np.testing.assert_array_equal(ops.convert_to_numpy(found), expected)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_and_means(axis, keepdims):
    for name in ("sum", "mean"):
        found = getattr(ops, name)(sparse(MATRIX), axis=axis, keepdims=keepdims)
        assert isinstance(found, tf.SparseTensor)
        expected = getattr(np, name)(MATRIX, axis=axis, keepdims=keepdims)
        np.testing.assert_allclose(ops.convert_to_numpy(found), expected, 1e-6)


def test_the_gradient_of_a_product_has_the_rows_that_were_used():
    kernel = tf.Variable(np.arange(6.0, dtype=np.float32).reshape(3, 2))
    x = sparse(np.array([[0.0, 2.0, 0.0], [0.0, 3.0, 0.0]], np.float32))
    with tf.GradientTape() as tape:
        y = ops.matmul(x, kernel)
    np.testing.assert_array_equal(y, ops.convert_to_numpy(x) @ kernel.numpy())
    gradient = tape.gradient(y, kernel)
    assert isinstance(gradient, tf.IndexedSlices)
    np.testing.assert_array_equal(gradient, [[0, 0], [5, 5], [0, 0]])


def test_one_hot_leaves_out_what_is_no_class():
    found = ops.one_hot([2, -1, 0], 3, sparse=True)
    assert isinstance(found, tf.SparseTensor)
    np.testing.assert_array_equal(found.indices, [[0, 2], [2, 0]])


def test_a_model_is_fitted_to_sparse_matrices():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    model = keras.Sequential([keras.Input((3,), sparse=True), keras.layers.Dense(1)])
    model.compile("sgd", "mse")

    def batches():
        while True:
            yield scipy_sparse.coo_matrix(MATRIX), MATRIX.sum(1, keepdims=True)

    history = model.fit(batches(), steps_per_epoch=20, epochs=2, shuffle=False, verbose=0).history
    assert history["loss"][1] < history["loss"][0] / 2
