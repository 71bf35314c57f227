"""IndexedSlices: the gradient of a gather, and what can be done with it."""

import numpy as np
import pytest

import gradtape as tf

WEIGHTS = [[1.0], [2.0], [3.0]]


@pytest.fixture
def table():
    return tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@pytest.fixture
def slices(table):
    """Rows 0, 2 and 0 of the table, weighted 1, 2 and 3."""
    return gradient_of_gather(table, [0, 2, 0], WEIGHTS)


DENSE = [[4.0, 4.0], [0.0, 0.0], [2.0, 2.0]]


def gradient_of_gather(table, indices, weights=(1.0,)):
    with tf.GradientTape() as tape:
        tape.watch(table)
        y = tf.reduce_sum(tf.gather(table, indices) * weights)
    return tape.gradient(y, table)


def gradient_wrt(table, function):
    with tf.GradientTape() as tape:
        y = function(table)
    return tape.gradient(y, table)


GIVES_SLICES = {
    "gather": lambda v: tf.gather(v, [0]),
    "gather axis 0": lambda v: tf.gather(v, [0], axis=0),
    "embedding_lookup": lambda v: tf.nn.embedding_lookup(v, [0]),
    "sparse_read": lambda v: v.sparse_read([0]),
    "through identity": lambda v: tf.gather(tf.identity(v), [0]),
    "through a read": lambda v: tf.gather(v.read_value(), [0]),
    "second gather": lambda v: tf.gather(tf.gather(v, [0, 2, 1]), [0]),
}
GIVES_A_TENSOR = {
    "gather axis 1": lambda v: tf.gather(v, [0], axis=1),
    "gather axis -2": lambda v: tf.gather(v, [0], axis=-2),
    "batch_dims": lambda v: tf.gather(v, [[0], [0], [0]], batch_dims=1),
    "gather_nd": lambda v: tf.gather_nd(v, [[0, 1]]),
    "index": lambda v: v[0],
    "slice": lambda v: v[:2],
    "boolean_mask": lambda v: tf.boolean_mask(v, [True, False, True]),
    "through mul": lambda v: tf.gather(v * 2.0, [0]),
    "through reshape": lambda v: tf.gather(tf.reshape(v, [6]), [0]),
    "through transpose": lambda v: tf.gather(tf.transpose(v), [0]),
    "with a dense one": lambda v: tf.reduce_sum(tf.gather(v, [0])) + tf.reduce_sum(v),
}


class TestWhereTheyArise:
    @pytest.mark.parametrize("function", GIVES_SLICES.values(), ids=GIVES_SLICES)
    def test_sparse(self, table, function):
        assert isinstance(gradient_wrt(table, function), tf.IndexedSlices)

    @pytest.mark.parametrize("function", GIVES_A_TENSOR.values(), ids=GIVES_A_TENSOR)
    def test_dense(self, table, function):
        assert isinstance(gradient_wrt(table, function), tf.Tensor)

    def test_of_a_plain_tensor_too(self):
        gradient = gradient_of_gather(tf.constant([1.0, 2.0]), [1, 1])
        assert isinstance(gradient, tf.IndexedSlices)
        assert gradient.indices.numpy().tolist() == [1, 1]

    def test_several_are_concatenated(self, table):
        gradient = gradient_wrt(
            table,
            lambda v: tf.reduce_sum(tf.gather(v, [0])) + 2.0 * tf.reduce_sum(tf.gather(v, [0, 2])),
        )
        assert sorted(gradient.indices.numpy().tolist()) == [0, 0, 2]
        assert tf.convert_to_tensor(gradient).numpy().tolist() == [[3.0] * 2, [0.0] * 2, [2.0] * 2]

    def test_with_a_dense_one_the_sum_is_dense(self, table):
        gradient = gradient_wrt(table, GIVES_A_TENSOR["with a dense one"])
        assert gradient.numpy().tolist() == [[2.0, 2.0], [1.0, 1.0], [1.0, 1.0]]


class TestFields:
    def test_values_and_indices_as_they_were_gathered(self, slices):
        assert slices.indices.numpy().tolist() == [0, 2, 0]
        assert slices.values.numpy().tolist() == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
        assert slices.dense_shape.numpy().tolist() == [3, 2]
        assert slices.dense_shape.dtype == tf.int32
        assert slices.shape == tf.TensorShape([3, 2])
        assert slices.dtype == tf.float32

    @pytest.mark.parametrize(
        ("indices", "flat", "dtype"),
        [
            (1, [1], tf.int32),
            ([[0, 1], [1, 2]], [0, 1, 1, 2], tf.int32),
            (np.array([2, 0], np.int64), [2, 0], tf.int64),
            (np.zeros([0], np.int32), [], tf.int32),
        ],
        ids=["scalar", "matrix", "int64", "empty"],
    )
    def test_indices_are_flat_and_keep_their_dtype(self, table, indices, flat, dtype):
        gradient = gradient_of_gather(table, indices)
        assert gradient.indices.numpy().tolist() == flat
        assert gradient.indices.dtype == dtype
        assert gradient.values.shape == (len(flat), 2)

    def test_made_by_hand(self):
        values, indices = tf.constant([1.0, 2.0]), tf.constant([3, 0])
        slices = tf.IndexedSlices(values, indices)
        assert slices.values is values
        assert slices.indices is indices
        assert slices.dense_shape is None

    def test_str(self, slices):
        assert str(slices) == (
            "IndexedSlices(indices=tf.Tensor([0 2 0], shape=(3,), dtype=int32), "
            "values=tf.Tensor(\n[[1. 1.]\n [2. 2.]\n [3. 3.]], shape=(3, 2), dtype=float32), "
            "dense_shape=tf.Tensor([3 2], shape=(2,), dtype=int32))"
        )
        by_hand = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
        assert "dense_shape" not in str(by_hand)

    def test_is_a_tensor_for_is_tensor_only(self, slices):
        assert tf.is_tensor(slices)
        assert not isinstance(slices, tf.Tensor)

    def test_has_no_op(self, slices):
        with pytest.raises(AttributeError, match="op is undefined when eager"):
            _ = slices.op


FUNCTIONS = {
    "add": (lambda g: tf.add(g, 1.0), np.add(DENSE, 1.0)),
    "multiply": (lambda g: tf.multiply(g, 2.0), np.multiply(DENSE, 2.0)),
    "reduce_sum": (tf.reduce_sum, 12.0),
    "norm": (tf.norm, np.linalg.norm(DENSE)),
    "matmul": (lambda g: tf.matmul(g, tf.ones([2, 1])), [[8.0], [0.0], [4.0]]),
    "zeros_like": (tf.zeros_like, np.zeros([3, 2])),
    "tensor + slices": (lambda g: tf.ones([3, 2]) + g, np.add(DENSE, 1.0)),
    "add_n": (lambda g: tf.add_n([g, tf.ones([3, 2])]), np.add(DENSE, 1.0)),
}


class TestConversion:
    def test_to_dense_adds_repeated_rows(self, slices):
        dense = tf.convert_to_tensor(slices)
        assert isinstance(dense, tf.Tensor)
        assert dense.numpy().tolist() == DENSE

    def test_needs_a_dense_shape(self):
        slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
        with pytest.raises(ValueError, match=r"without dense_shape: IndexedSlices\("):
            tf.convert_to_tensor(slices)

    @pytest.mark.parametrize(("function", "want"), FUNCTIONS.values(), ids=FUNCTIONS)
    def test_functions_make_it_dense(self, slices, function, want):
        np.testing.assert_allclose(function(slices), want, rtol=1e-6)

    def test_negation_stays_sparse(self, slices):
        negative = -slices
        assert isinstance(negative, tf.IndexedSlices)
        assert negative.values.numpy().tolist() == [[-1.0, -1.0], [-2.0, -2.0], [-3.0, -3.0]]
        assert negative.indices.numpy().tolist() == [0, 2, 0]

    @pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
    def test_assignment_accepts_it(self, table, slices, method):
        before = table.numpy()
        getattr(table, method)(slices)
        want = {
            "assign": DENSE,
            "assign_add": before + np.array(DENSE, np.float32),
            "assign_sub": before - np.array(DENSE, np.float32),
        }
        assert table.numpy().tolist() == np.asarray(want[method]).tolist()


class TestClipping:
    def test_by_norm(self, slices):
        clipped = tf.clip_by_norm(slices, 1.0)
        assert isinstance(clipped, tf.IndexedSlices)
        values = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
        np.testing.assert_allclose(clipped.values, values / np.linalg.norm(values), rtol=1e-6)

    def test_by_value(self, slices):
        clipped = tf.clip_by_value(slices, -1.5, 1.5)
        assert isinstance(clipped, tf.IndexedSlices)
        assert clipped.values.numpy().tolist() == [[1.0, 1.0], [1.5, 1.5], [1.5, 1.5]]

    def test_by_global_norm(self, slices):
        dense = tf.constant([3.0])
        (first, second), norm = tf.clip_by_global_norm([slices, dense], 1.0)
        assert isinstance(first, tf.IndexedSlices)
        assert float(norm) == pytest.approx(np.sqrt(28.0 + 9.0))
        assert float(second[0]) == pytest.approx(3.0 / np.sqrt(37.0))


class TestSecondOrder:
    def test_of_a_function_of_the_slices(self, table):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(tf.gather(table, [0, 2, 0]) ** 3)
            total = tf.reduce_sum(inner.gradient(y, table))
        gradient = outer.gradient(total, table)
        want = [[12.0, 24.0], [0.0, 0.0], [30.0, 36.0]]
        assert tf.convert_to_tensor(gradient).numpy().tolist() == want

    def test_of_the_slices_themselves(self, table):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(tf.gather(table, [0]) ** 3)
            gradient = inner.gradient(y, table)
        with pytest.raises(AttributeError):
            outer.gradient(gradient, table)


@pytest.mark.beyond_tensorflow
class TestUsableWhereverAGradientIs:
    def test_numpy(self, slices):
        assert isinstance(slices.numpy(), np.ndarray)
        assert slices.numpy().tolist() == DENSE

    def test_asarray(self, slices):
        assert np.asarray(slices).tolist() == DENSE
        assert np.asarray(slices, dtype=np.float64).dtype == np.float64
        assert np.linalg.norm(slices) == pytest.approx(np.linalg.norm(DENSE))

    @pytest.mark.parametrize(
        ("function", "want"),
        [
            (lambda g: g * 2.0, np.multiply(DENSE, 2.0)),
            (lambda g: 0.5 * g, np.multiply(DENSE, 0.5)),
            (lambda g: g * tf.constant(3.0), np.multiply(DENSE, 3.0)),
            (lambda g: g * tf.constant([[1.0, 2.0]]), np.multiply(DENSE, [[1.0, 2.0]])),
            (lambda g: g * g, np.multiply(DENSE, DENSE)),
            (lambda g: g + 1.0, np.add(DENSE, 1.0)),
            (lambda g: 1.0 + g, np.add(DENSE, 1.0)),
            (lambda g: g + g, np.multiply(DENSE, 2.0)),
            (lambda g: g + tf.ones([3, 2]), np.add(DENSE, 1.0)),
        ],
        ids=["g*2", ".5*g", "g*scalar", "g*row", "g*g", "g+1", "1+g", "g+g", "g+tensor"],
    )
    def test_operators(self, slices, function, want):
        np.testing.assert_allclose(tf.convert_to_tensor(function(slices)), want, rtol=1e-6)

    def test_a_step_of_gradient_descent(self, table, slices):
        before = table.numpy()
        table.assign_sub(0.1 * slices)
        np.testing.assert_allclose(table, before - 0.1 * np.array(DENSE), rtol=1e-6)

    def test_the_operands_stay_as_they_were(self, slices):
        _ = slices + 1.0, slices * 2.0, slices + slices
        slices.numpy()[:] = 0.0
        assert slices.values.numpy().tolist() == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
        assert slices.indices.numpy().tolist() == [0, 2, 0]
