"""Sparse tensors: making, converting, arithmetic and gradients, with TensorFlow's results."""

import operator

import numpy as np
import pytest

import gradtape as tf


@pytest.fixture
def matrix():
    return tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 4])


def parts(x):
    return x.indices.numpy().tolist(), x.values.numpy().tolist(), x.dense_shape.numpy().tolist()


def test_parts_and_repr(matrix):
    assert parts(matrix) == ([[0, 1], [2, 0]], [1.0, 2.0], [3, 4])
    assert matrix.dtype == tf.float32
    assert matrix.shape == [3, 4]
    assert matrix.get_shape() == [3, 4]
    assert repr(matrix) == (
        "SparseTensor(indices=tf.Tensor(\n[[0 1]\n [2 0]], shape=(2, 2), dtype=int64), "
        "values=tf.Tensor([1. 2.], shape=(2,), dtype=float32), "
        "dense_shape=tf.Tensor([3 4], shape=(2,), dtype=int64))"
    )
    assert tf.is_tensor(matrix)
    assert tf.sparse.SparseTensor is tf.SparseTensor
    assert len(tf.nest.flatten(matrix, expand_composites=True)) == 3


@pytest.mark.parametrize(
    ("indices", "values", "shape"),
    [([[2, 0], [2, 0]], [1.0], [3, 4]), ([[2, 0]], [1.0], [3])],
)
def test_lengths_must_agree(indices, values, shape):
    with pytest.raises(ValueError, match="Dimensions 2 and 1 are not compatible"):
        tf.SparseTensor(indices, values, shape)


def test_spec(matrix):
    spec = tf.SparseTensorSpec([3, None], tf.float32)
    assert repr(spec) == "SparseTensorSpec(TensorShape([3, None]), tf.float32)"
    assert spec.is_compatible_with(matrix)
    assert not tf.SparseTensorSpec([4, None]).is_compatible_with(matrix)
    assert tf.type_spec_from_value(matrix) == tf.SparseTensorSpec([3, 4], tf.float32)


@pytest.mark.parametrize(
    "function",
    [tf.convert_to_tensor, tf.exp, tf.reduce_sum, lambda x: tf.matmul(x, tf.ones([4, 2]))],
)
def test_is_no_dense_tensor(matrix, function):
    with pytest.raises(ValueError, match="Attempt to convert a value"):
        function(matrix)


def test_functions_that_keep_zeros(matrix):
    assert tf.square(matrix).values.numpy().tolist() == [1.0, 4.0]
    assert tf.abs(tf.negative(matrix)).values.numpy().tolist() == [1.0, 2.0]
    assert tf.cast(matrix, tf.int32).dtype == tf.int32
    assert tf.shape(matrix).numpy().tolist() == [3, 4]
    assert int(tf.size(matrix)) == 12
    assert int(tf.rank(matrix)) == 2


def test_operators(matrix):
    assert parts(matrix * 2.0)[1] == [2.0, 4.0]
    assert parts(matrix * tf.constant([10.0, 20.0, 30.0, 40.0]))[1] == [20.0, 20.0]
    assert parts(matrix / 2.0)[1] == [0.5, 1.0]
    with pytest.raises(TypeError):
        matrix + matrix
    with pytest.raises(TypeError):
        operator.neg(matrix)
    with pytest.raises(tf.errors.InvalidArgumentError, match="broadcasts dense to sparse only"):
        matrix * tf.ones([3])


def test_to_dense_and_back(matrix):
    dense = tf.sparse.to_dense(matrix, default_value=-1.0)
    assert dense.numpy().tolist() == [[-1, 1, -1, -1], [-1, -1, -1, -1], [2, -1, -1, -1]]
    assert parts(tf.sparse.from_dense([[0, 1], [2, 0]])) == ([[0, 1], [1, 0]], [1, 2], [2, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = \[0,1\] is out of"):
        tf.sparse.to_dense(tf.SparseTensor([[2, 0], [0, 1]], [1.0, 2.0], [3, 4]))


def test_products_with_a_dense_matrix(matrix):
    dense = np.arange(8.0, dtype=np.float32).reshape(4, 2)
    expected = tf.sparse.to_dense(matrix).numpy() @ dense
    np.testing.assert_array_equal(tf.sparse.sparse_dense_matmul(matrix, dense), expected)
    left = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    found = tf.sparse.sparse_dense_matmul(left, matrix)
    np.testing.assert_array_equal(found, left @ tf.sparse.to_dense(matrix).numpy())
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"4 vs\. 3\.  Did you forget"):
        tf.sparse.sparse_dense_matmul(matrix, tf.ones([3, 2]))


def test_large_product_in_chunks():
    rng = np.random.default_rng(0)
    dense = (rng.random((300, 200)) < 0.2) * rng.standard_normal((300, 200))
    other = rng.standard_normal((200, 70))
    found = tf.sparse.sparse_dense_matmul(tf.sparse.from_dense(dense), other)
    np.testing.assert_allclose(found, dense @ other, rtol=1e-12, atol=1e-12)


def test_structure(matrix):
    disordered = tf.SparseTensor([[2, 3], [2, 0]], [1.0, 2.0], [3, 4])
    assert parts(tf.sparse.reorder(disordered)) == ([[2, 0], [2, 3]], [2.0, 1.0], [3, 4])
    assert parts(tf.sparse.transpose(matrix)) == ([[0, 2], [1, 0]], [2.0, 1.0], [4, 3])
    assert parts(tf.sparse.reshape(matrix, [6, -1])) == ([[0, 1], [4, 0]], [1.0, 2.0], [6, 2])
    assert parts(tf.sparse.expand_dims(matrix, 1))[0] == [[0, 0, 1], [2, 0, 0]]
    assert parts(tf.sparse.slice(matrix, [1, 0], [5, 2])) == ([[1, 0]], [2.0], [2, 2])
    assert parts(tf.sparse.retain(matrix, [False, True])) == ([[2, 0]], [2.0], [3, 4])
    assert parts(tf.sparse.reset_shape(matrix))[2] == [3, 2]
    assert parts(tf.sparse.eye(2, 3)) == ([[0, 0], [1, 1]], [1.0, 1.0], [2, 3])
    sizes = [parts(x)[2] for x in tf.sparse.split(sp_input=matrix, num_split=3, axis=1)]
    assert sizes == [[3, 2], [3, 1], [3, 1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="requires a multiple of 5"):
        tf.sparse.reshape(matrix, [5, -1])


def test_concat(matrix):
    taller = tf.SparseTensor([[0, 1]], [1.0], [4, 5])
    joined = tf.sparse.concat(1, [matrix, taller], expand_nonconcat_dims=True)
    assert parts(joined) == ([[0, 1], [0, 5], [2, 0]], [1.0, 1.0, 2.0], [4, 9])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="expected 3 for dimension 0 but got 4"
    ):
        tf.sparse.concat(1, [matrix, taller])


def test_arithmetic(matrix):
    other = tf.SparseTensor([[0, 0], [2, 0]], [-1.0, 3.0], [3, 4])
    assert parts(tf.sparse.add(matrix, other))[1] == [-1.0, 1.0, 5.0]
    assert parts(tf.sparse.add(matrix, matrix, threshold=2.5)) == ([[2, 0]], [4.0], [3, 4])
    assert tf.sparse.add(matrix, tf.ones([3, 4])).numpy()[0].tolist() == [1, 2, 1, 1]
    assert parts(tf.sparse.maximum(matrix, other))[1] == [0.0, 1.0, 3.0]
    assert parts(tf.sparse.minimum(matrix, other))[1] == [-1.0, 0.0, 2.0]
    assert parts(tf.sparse.softmax(matrix))[1] == [1.0, 1.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="got 4 and 5 for dimension 1"):
        tf.sparse.add(matrix, tf.SparseTensor([[0, 1]], [1.0], [3, 5]))


def test_reductions(matrix):
    assert tf.sparse.reduce_sum(matrix, axis=1, keepdims=True).numpy().tolist() == [[1], [0], [2]]
    assert tf.sparse.reduce_max(matrix, axis=0).numpy().tolist() == [2, 1, 0, 0]
    assert float(tf.sparse.reduce_sum(matrix)) == 3.0
    sparse = tf.sparse.reduce_sum(matrix, axis=1, output_is_sparse=True)
    assert parts(sparse) == ([[0], [2]], [1.0, 2.0], [3])


def test_fill_empty_rows(matrix):
    filled, empty = tf.sparse.fill_empty_rows(matrix, 7.0)
    assert parts(filled) == ([[0, 1], [1, 0], [2, 0]], [1.0, 7.0, 2.0], [3, 4])
    assert empty.numpy().tolist() == [False, True, False]


def test_bincount_and_indicator():
    counts = tf.sparse.bincount(tf.constant([[1, 2, 1], [0, 0, 3]]), axis=-1)
    assert parts(counts) == ([[0, 1], [0, 2], [1, 0], [1, 3]], [2, 1, 2, 1], [2, 4])
    ids = tf.SparseTensor([[0, 0], [1, 0]], [1, 2], [2, 3])
    assert tf.sparse.to_indicator(ids, 4).numpy().tolist() == [[0, 1, 0, 0], [0, 0, 1, 0]]


GRADIENTS = {
    "matmul": (lambda x: tf.sparse.sparse_dense_matmul(x, tf.ones([4, 2])), [2, 2]),
    "reduce_sum": (lambda x: tf.sparse.reduce_sum(x, axis=1), [1, 1]),
    "softmax": (lambda x: tf.sparse.softmax(x).values, [0, 0]),
    "mul": (lambda x: (x * tf.constant([1.0, 3.0, 5.0, 7.0])).values, [3, 1]),
    "slice": (lambda x: tf.sparse.slice(x, [0, 0], [1, 4]).values, [1, 0]),
    "to_dense": (tf.sparse.to_dense, [1, 1]),
    "add": (lambda x: tf.sparse.add(x, x).values, [2, 2]),
    "add_dense": (lambda x: tf.sparse.add(x, tf.ones([3, 4])), [1, 1]),
    "fill": (lambda x: tf.sparse.fill_empty_rows(x, 7.0)[0].values, [1, 1]),
    "transpose": (lambda x: tf.sparse.transpose(x).values, [1, 1]),
    "maximum": (lambda x: tf.sparse.reduce_max(x, axis=1), [1, 1]),
}


@pytest.mark.parametrize(("function", "expected"), GRADIENTS.values(), ids=GRADIENTS)
def test_gradients_reach_the_values(function, expected):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = function(tf.SparseTensor([[0, 1], [2, 0]], v, [3, 4]))
    gradient = tape.gradient(y, v)
    assert isinstance(gradient, tf.Tensor)
    assert gradient.numpy().tolist() == expected


def test_gradients_end_at_concat():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        x = tf.SparseTensor([[0, 1], [2, 0]], v, [3, 4])
        y = tf.sparse.concat(0, [x, x]).values
    assert tape.gradient(y, v) is None


def test_is_no_gradient_source(matrix):
    with tf.GradientTape() as tape:
        y = tf.sparse.to_dense(matrix)
    with pytest.raises(ValueError, match="Type SparseTensor is not supported as a gradient source"):
        tape.gradient(y, matrix)


@pytest.mark.parametrize(
    ("combiner", "expected"),
    [
        ("sum", [[20, 24], [0, 0], [0, 2]]),
        ("mean", [[5, 6], [0, 0], [0, 1]]),
        ("sqrtn", [[6.3245554, 7.589466], [0, 0], [0, 1]]),
    ],
)
def test_embedding_lookup_sparse(combiner, expected):
    params = tf.constant(np.arange(8.0).reshape(4, 2), tf.float32)
    places = [[0, 0], [0, 1], [2, 0]]
    ids = tf.SparseTensor(places, [1, 3, 0], [3, 2])
    weights = tf.SparseTensor(places, [1.0, 3.0, 2.0], [3, 2])
    found = tf.nn.embedding_lookup_sparse(params, ids, weights, combiner=combiner)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    safe = tf.nn.safe_embedding_lookup_sparse(params, ids, weights, combiner=combiner)
    np.testing.assert_allclose(safe, expected, rtol=1e-6)


def test_safe_embedding_lookup_leaves_bad_ids_out():
    params = tf.constant(np.arange(8.0).reshape(4, 2), tf.float32)
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, -3, 0], [3, 2])
    found = tf.nn.safe_embedding_lookup_sparse(params, ids, default_id=3)
    assert found.numpy().tolist() == [[2, 3], [6, 7], [0, 1]]


def test_sets():
    a, b = tf.constant([[1, 2, 2], [3, 4, 5]]), tf.constant([[2, 9], [5, 3]])
    assert parts(tf.sets.intersection(a, b)) == ([[0, 0], [1, 0], [1, 1]], [2, 3, 5], [2, 2])
    assert parts(tf.sets.difference(a, b))[1] == [1, 4]
    assert tf.sets.size(tf.sets.union(a, b)).numpy().tolist() == [3, 3]


def test_edit_distance():
    hypothesis = tf.SparseTensor([[0, 0, 0], [1, 0, 0]], ["a", "b"], [2, 1, 1])
    truth = tf.SparseTensor(
        [[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]], ["a", "b", "c", "a"], [2, 2, 2]
    )
    assert tf.edit_distance(hypothesis, truth).numpy().tolist() == [[np.inf, 1.0], [0.5, 1.0]]


def test_serialization(matrix):
    strings = tf.io.serialize_many_sparse(matrix)
    assert strings.numpy()[1, 0] == b"\x08\t\x12\x06\x12\x00\x12\x02\x08\x01"
    assert parts(tf.io.deserialize_many_sparse(strings, tf.float32)) == parts(matrix)
    assert tf.io.serialize_sparse(matrix).numpy()[1] == (
        b'\x08\x01\x12\x04\x12\x02\x08\x02"\x08\x00\x00\x80?\x00\x00\x00@'
    )
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Requested SparseTensor of type int32"
    ):
        tf.io.deserialize_many_sparse(strings, tf.int32)
