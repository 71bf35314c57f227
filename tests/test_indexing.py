"""gather, gather_nd, masks, one-hot vectors and embeddings: forms, values, errors, gradients."""

import numpy as np
import pytest

import gradtape as tf
from composites import check_batch, check_gradient
from expressions import check_error
from gradtape.batching import batch_level

InvalidArgumentError = tf.errors.InvalidArgumentError


def names():
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    return {
        "tf": tf,
        "np": np,
        "x": x,
        "v": tf.Variable(x),
        "s": tf.constant(5.0),
        "cube": tf.reshape(tf.range(24.0), [2, 3, 4]),
    }


def plain(result):
    return np.asarray(result).tolist() if tf.is_tensor(result) else result


VALUES = {
    # gather
    "tf.gather(x, [0, 1, 0])": [[1, 2, 3], [4, 5, 6], [1, 2, 3]],
    "tf.gather(v, 1)": [4, 5, 6],
    "tf.gather(x, [[0, 1]]).shape.as_list()": [1, 2, 3],
    "tf.gather(x, [2, 0], axis=-1)": [[3, 1], [6, 4]],
    "tf.gather(v, np.array([1]), axis=tf.constant(1))": [[2], [5]],
    "tf.gather(x, tf.constant([0], tf.int16))": [[1, 2, 3]],
    "tf.gather([1, 2, 3], [2])": [3],
    "tf.gather(['a', 'b'], 1)": b"b",
    "tf.gather(x, [[0, 1], [2, 2]], batch_dims=1)": [[1, 2], [6, 6]],
    "tf.gather(x, [[0, 1], [2, 2]], axis=1, batch_dims=-1)": [[1, 2], [6, 6]],
    "tf.gather(x, [0, 1], axis=1, batch_dims=1)": [1, 5],
    "tf.gather(x, [0, 1], batch_dims=-1)": [[1, 2], [4, 5]],
    "tf.gather(cube, [[0, 1], [2, 2]], batch_dims=1).shape.as_list()": [2, 2, 4],
    "tf.gather(cube, [[3], [0]], axis=-1, batch_dims=1)": [[[3], [7], [11]], [[12], [16], [20]]],
    "tf.gather(params=x, indices=[0], validate_indices=None, axis=None, name='g')": [[1, 2, 3]],
    "tf.gather(tf.zeros([0, 3]), tf.zeros([0], tf.int32)).shape.as_list()": [0, 3],
    # gather_nd
    "tf.gather_nd(x, [[0, 1], [1, 2]])": [2, 6],
    "tf.gather_nd(v, [0, 1])": 2.0,
    "tf.gather_nd(x, [[1]])": [[4, 5, 6]],
    "tf.gather_nd(x, tf.zeros([3, 0], tf.int32)).shape.as_list()": [3, 2, 3],
    "tf.gather_nd(x, [[2], [1]], batch_dims=1)": [3, 5],
    "tf.gather_nd(cube, [[[0, 1]], [[1, 3]]], batch_dims=1)": [[1], [19]],
    "tf.gather_nd(x, [[0, 5], [1, 0]], bad_indices_policy='IGNORE')": [0, 4],
    # where
    "tf.where([[True, False], [True, True]])": [[0, 0], [1, 0], [1, 1]],
    "tf.where([0.0, 1.0]).dtype": tf.int64,
    "tf.where([0, 1, 2])": [[1], [2]],
    "tf.where([True, False], tf.constant(1.0), 2)": [1, 2],
    "tf.where([True, False], 2, tf.constant(1.0)).dtype": tf.float32,
    "tf.where([True, False], [1.0, 2.0], 3)": [1, 3],
    "tf.where([[True], [False]], v, 0.0)": [[1, 2, 3], [0, 0, 0]],
    "tf.where(True, 1, 2)": 1,
    "tf.where([True, False], 'a', 'b')": [b"a", b"b"],
    "tf.where(condition=[True], x=1, y=2, name='w')": [1],
    # boolean_mask
    "tf.boolean_mask(x, [True, False])": [[1, 2, 3]],
    "tf.boolean_mask(v, [[True, False, True], [True, False, False]])": [1, 3, 4],
    "tf.boolean_mask(x, np.array([True, False, True]), axis=1)": [[1, 3], [4, 6]],
    "tf.boolean_mask(cube, [[True, False, True, True]] * 3, axis=1).shape.as_list()": [2, 9],
    "tf.boolean_mask(x, [False, False]).shape.as_list()": [0, 3],
    "tf.boolean_mask([1, 2, 3], [1, 0, 1])": [1, 3],
    "tf.boolean_mask(tensor=x, mask=[1.0, 0.0], axis=None, name='m')": [[1, 2, 3]],
    # one_hot
    "tf.one_hot([0, 2], 3)": [[1, 0, 0], [0, 0, 1]],
    "tf.one_hot([0, 2], 3).dtype": tf.float32,
    "tf.one_hot(1, tf.constant(3))": [0, 1, 0],
    "tf.one_hot([0, -1, 5], 3)": [[1, 0, 0], [0, 0, 0], [0, 0, 0]],
    "tf.one_hot([0, 1], 3, on_value=5, off_value=2)": [[5, 2, 2], [2, 5, 2]],
    "tf.one_hot([0], 2, on_value=5).dtype": tf.int32,
    "tf.one_hot([0], 2, off_value=5)": [[1, 5]],
    "tf.one_hot([0], 2, on_value=5.0, off_value=2.0, dtype=tf.float64).dtype": tf.float64,
    "tf.one_hot([0], 2, on_value=True, off_value=False)": [[True, False]],
    "tf.one_hot([0], 2, on_value='a', off_value='b')": [[b"a", b"b"]],
    "tf.one_hot([0], 2, dtype=tf.int32).dtype": tf.int32,
    "tf.one_hot([0, 1], 3, axis=0)": [[1, 0], [0, 1], [0, 0]],
    "tf.one_hot([[0, 1]], 3, axis=1).shape.as_list()": [1, 3, 2],
    "tf.one_hot(tf.constant([0], tf.uint8), 2)": [[1, 0]],
    "tf.one_hot([True], 2)": [[0, 1]],
    "tf.one_hot(np.array([1.0, 0.7]), 2)": [[0, 1], [1, 0]],
    "tf.one_hot(np.array([1], np.uint16), 2)": [[0, 1]],
    "tf.one_hot(np.float32(1), 2)": [0, 1],
    "tf.one_hot([0, 1], 0).shape.as_list()": [2, 0],
    # embedding_lookup
    "tf.nn.embedding_lookup(x, [[0], [1]])": [[[1, 2, 3]], [[4, 5, 6]]],
    "tf.nn.embedding_lookup(v, 1)": [4, 5, 6],
    "tf.nn.embedding_lookup([x], [1])": [[4, 5, 6]],
    "tf.nn.embedding_lookup([x, x + 10.0], [[3, 0], [2, 3]])": [
        [[14, 15, 16], [1, 2, 3]], [[11, 12, 13], [14, 15, 16]]
    ],
    "tf.nn.embedding_lookup(params=x[:, :2], ids=[0, 0], max_norm=3.0)": [[1, 2], [1, 2]],
    "tf.nn.embedding_lookup(tf.constant([[3.0, 4.0]]), [0], max_norm=2.5)": [[1.5, 2.0]],
}  # fmt: skip


@pytest.mark.parametrize("expression", VALUES)
def test_value(expression):
    expected = VALUES[expression]
    assert plain(eval(expression, names())) == expected


ERRORS = {
    "tf.gather(x, 5)": (InvalidArgumentError, "indices = 5 is not in [0, 2)"),
    "tf.gather(x, [[0, 1], [0, 7]])": (InvalidArgumentError, "indices[1,1] = 7 is not in [0, 2)"),
    "tf.gather(x, [0, 5], axis=1)": (InvalidArgumentError, "indices[1] = 5 is not in [0, 3)"),
    "tf.gather(x, [0], axis=-3)": (
        InvalidArgumentError, "Shape must be at least rank 3 but is rank 2"
    ),
    "tf.gather(s, 0)": (InvalidArgumentError, "params must be at least 1 dimensional"),
    "tf.gather(x, [0.5])": (InvalidArgumentError, "Value for attr 'Tindices' of float is not in"),
    "tf.gather(x, tf.constant([0], tf.uint8))": (InvalidArgumentError, "'Tindices' of uint8"),
    "tf.gather(x, [True])": (InvalidArgumentError, "Value for attr 'Tindices' of bool is not in"),
    "tf.gather(x, [0, 1, 1], axis=1, batch_dims=1)": (
        InvalidArgumentError, "params.shape[0]: 2 should be equal to indices.shape[0]: 3"
    ),
    "tf.gather(x, 0, axis=1, batch_dims=1)": (
        InvalidArgumentError, "Expected batch_dims in the range [0, 0], but got 1"
    ),
    "tf.gather(x, [0, 1], batch_dims=-2)": (
        InvalidArgumentError, "Expected batch_dims in the range [-1, 1], but got -2"
    ),
    "tf.gather_nd(x, [[0, -1]])": (
        InvalidArgumentError, "indices[0] = [0, -1] does not index into param shape [2,3]"
    ),
    "tf.gather_nd(x, [[5], [1]], batch_dims=1)": (
        InvalidArgumentError, "indices[0] = [0, 5] does not index into param shape [2,3]"
    ),
    "tf.gather_nd(x, [[0], [1]], batch_dims=2)": (
        ValueError, "Argument `batch_dims` = 2 must be less than rank(`indices`) = 2"
    ),
    "tf.where([True, False], x=1)": (ValueError, "x and y must both be non-None or both be None."),
    "tf.where([True, False], 1, 2.0)": (TypeError, "Cannot convert 2.0 to EagerTensor of dtype"),
    "tf.where([1, 0], 1.0, 2.0)": (TypeError, "Cannot convert [1, 0] to EagerTensor of dtype bool"),
    "tf.where([True, False], s, tf.constant(1))": (
        InvalidArgumentError, "cannot compute SelectV2 as input #2(zero-based) was expected to be a"
    ),
    "tf.where(True)": (InvalidArgumentError, "WhereOp : Unhandled input dimensions: 0"),
    "tf.boolean_mask(x, [True, False, True])": (
        ValueError, "Shapes (2,) and (3,) are incompatible"
    ),
    "tf.boolean_mask(x, [True, False], axis=2)": (
        ValueError, "Shapes () and (2,) are incompatible"
    ),
    "tf.boolean_mask(x, [[True, False]])": (
        ValueError, "Shapes (2, 3) and (1, 2) are incompatible"
    ),
    "tf.boolean_mask(x, True)": (ValueError, "mask cannot be scalar."),
    "tf.one_hot([0], 3, on_value=5, off_value=2.0)": (
        TypeError,
        "dtype <dtype: 'int32'> of on_value does not match dtype <dtype: 'float32'> of off_value",
    ),
    "tf.one_hot([0], 3, on_value=5.0, dtype=tf.int32)": (
        TypeError,
        "dtype <dtype: 'float32'> of on_value does not match dtype parameter <dtype: 'int32'>",
    ),
    "tf.one_hot([0], 3, axis=-2)": (
        InvalidArgumentError, "Expected axis to be -1 or between [0, 2).  But received: -2"
    ),
    "tf.one_hot([0.0], 3)": (InvalidArgumentError, "Value for attr 'TI' of float is not in"),
    "tf.one_hot([0], [3])": (InvalidArgumentError, "depth must be a scalar, but got: [1]"),
    "tf.one_hot([0], 3.0)": (TypeError, "Cannot convert 3.0 to EagerTensor of dtype int32"),
    "tf.one_hot([0], 3, on_value=[1.0, 2.0], off_value=0.0)": (
        InvalidArgumentError, "on_value must be a scalar, but got: [2]"
    ),
    "tf.nn.embedding_lookup([], [0])": (ValueError, "Need at least one param."),
    "tf.nn.embedding_lookup(None, [0])": (ValueError, "params must be specified"),
}  # fmt: skip


@pytest.mark.parametrize("expression", ERRORS)
def test_error(expression):
    error, message = ERRORS[expression]
    check_error(expression, error, message, names())


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("tf.gather(x, [[0], [1]], axis=0, batch_dims=1)", "must be less than or equal to axis"),
        ("tf.gather_nd(x, [[0], [1], [1]], batch_dims=1)", "The first 1 axes of params [2,3]"),
        ("tf.gather_nd(x, [[0, 0]], bad_indices_policy='foo')", "Received: 'foo'"),
        ("tf.nn.embedding_lookup([x, x], [4])", "indices[0] = 4 is not in [0, 4)"),
    ],
)
def test_clearer_errors(expression, text):
    check_error(expression, InvalidArgumentError, text, names())


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize("bad", [3, -1])
@pytest.mark.parametrize("count", [10, 10_000])
def test_one_index_out_of_range_among_many(bad, count):
    indices = np.zeros(count, np.int32)
    indices[7] = bad
    with pytest.raises(InvalidArgumentError, match=rf"indices\[7\] = {bad} is not in \[0, 3\)"):
        tf.gather([1.0, 2.0, 3.0], indices)


def test_an_empty_list_holds_no_index():
    x = tf.constant([[1.0, 2.0, 3.0]])
    assert tf.gather(x, []).shape == (0, 3)
    assert tf.gather_nd(x, [[]]).numpy().tolist() == [[[1, 2, 3]]]


POINT = np.random.default_rng(0).uniform(0.5, 2.0, (3, 4))

COMPOSITES = {
    "gather rows": lambda x: tf.gather(x, [2, 0, 2]),
    "gather columns": lambda x: tf.gather(x * x, [[3, 0], [3, 1]], axis=1),
    "gather in step": lambda x: tf.gather(x * x, [[3, 0], [1, 1], [2, 3]], batch_dims=1),
    "gather_nd": lambda x: tf.gather_nd(x * x, [[2, 1], [0, 0], [2, 1]]),
    "gather_nd in step": lambda x: tf.gather_nd(x * x, [[2], [1], [1]], batch_dims=1),
    "where": lambda x: tf.where([True, False, True, False], x * x, x),
    "boolean_mask": lambda x: tf.boolean_mask(x * x, [True, False, True]),
    "boolean_mask of columns": lambda x: tf.boolean_mask(x, [True, False, True, True], axis=1),
    "boolean_mask of all": lambda x: tf.boolean_mask(x, [[True, False, False, True]] * 3),
    "embedding_lookup": lambda x: tf.nn.embedding_lookup(x, [[0, 2], [2, 2]]),
    "embedding_lookup in parts": lambda x: tf.nn.embedding_lookup([x, x * x], [5, 0, 0, 3]),
    "embedding_lookup, clipped": lambda x: tf.nn.embedding_lookup(x, [0, 2, 2], max_norm=1.5),
}


@pytest.mark.parametrize("function", COMPOSITES.values(), ids=COMPOSITES)
class TestDifferentiation:
    def test_gradient(self, function):
        check_gradient(function, POINT)

    @pytest.mark.beyond_tensorflow
    def test_batch(self, function):
        check_batch(function, POINT)


@pytest.mark.beyond_tensorflow
def test_gradient_of_places_that_are_ignored():
    places = [[2, 1], [0, 9]]
    check_gradient(lambda x: tf.gather_nd(x * x, places, bad_indices_policy="IGNORE"), POINT)


@pytest.mark.beyond_tensorflow
def test_one_hot_in_a_batch():
    with batch_level() as level:
        classes = level.wrap(tf.constant([2, 0, 1]))
        vectors = level.unwrap(tf.one_hot(classes, 3))
    assert np.asarray(vectors).tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize(
    "function",
    [lambda mask, x: tf.boolean_mask(x, mask), lambda mask, x: tf.where(mask)],
    ids=["boolean_mask", "where"],
)
def test_masks_that_differ_within_a_batch(function):
    with batch_level() as level:
        mask = level.wrap(tf.constant([[True, False], [True, True]]))
        with pytest.raises(TypeError, match=r"Use tf.where\(\w+, x, y\)"):
            function(mask, tf.constant([1.0, 2.0]))


def test_ids_into_a_table_in_parts_are_integers():
    parts = [tf.constant([[1.0], [2.0]]), tf.constant([[3.0]])]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Value for attr 'Tindices' of double"):
        tf.nn.embedding_lookup(parts, np.array([1.0]))


class TestSlicesAsGradients:
    """When the gradient of a gather is IndexedSlices."""

    X = np.arange(6.0, dtype=np.float32).reshape(3, 2)

    @pytest.mark.parametrize(
        "function",
        [
            lambda x: tf.gather(x, [0, 2, 0]),
            lambda x: tf.gather(x, [[0], [2]]),
            lambda x: tf.gather(tf.identity(x), 1),
            lambda x: tf.nn.embedding_lookup(x, [0]),
            lambda x: tf.nn.embedding_lookup(x, [0], max_norm=1.0),
            lambda x: tf.gather(x, [0]) * tf.gather(x, [1, 2]),
            lambda x: tf.gather_nd(x, [[0], [2]]),
        ],
        ids=["rows", "rows of rows", "through identity", "embedding", "clipped", "two", "nd"],
    )
    def test_sparse(self, gradient_of, function):
        assert isinstance(gradient_of(function, self.X), tf.IndexedSlices)

    @pytest.mark.parametrize(
        "function",
        [
            lambda x: tf.gather(x, [0], axis=1),
            lambda x: tf.gather(x, [0], axis=-2),
            lambda x: tf.gather(x, [[0], [1], [1]], batch_dims=1),
            lambda x: tf.gather(x * 2.0, [0]),
            lambda x: tf.gather_nd(x, [[[0]]]),
            lambda x: tf.gather_nd(x, [[0, 1]]),
            lambda x: tf.boolean_mask(x, [True, False, True]),
            lambda x: tf.gather(x, [0]) + x,
        ],
        ids=[
            "columns",
            "negative axis",
            "in step",
            "of a product",
            "nd",
            "elements",
            "mask",
            "dense too",
        ],
    )
    def test_dense(self, gradient_of, function):
        assert isinstance(gradient_of(function, self.X), tf.Tensor)

    def test_fields(self, gradient_of):
        g = gradient_of(lambda x: 2.0 * tf.gather(x, tf.constant([[2], [0]], tf.int64)), self.X)
        assert g.values.numpy().tolist() == [[2, 2], [2, 2]]
        assert g.indices.numpy().tolist() == [2, 0]
        assert g.indices.dtype == tf.int64
        assert g.dense_shape.numpy().tolist() == [3, 2]

    def test_scalar_and_empty_indices(self, gradient_of):
        assert gradient_of(lambda x: tf.gather(x, 1), self.X).indices.shape == (1,)
        none = tf.zeros([0], tf.int32)
        assert gradient_of(lambda x: tf.gather(x, none), self.X).values.shape == (0, 2)

    def test_parts_of_an_embedding(self, gradient_of):
        first, second = gradient_of(
            lambda a, b: tf.nn.embedding_lookup([a, b], [4, 0, 4]), self.X, self.X
        )
        assert isinstance(first, tf.IndexedSlices)
        assert first.indices.numpy().tolist() == [0]
        assert second.indices.numpy().tolist() == [1, 1]


@pytest.mark.beyond_tensorflow
def test_gathering_from_a_variable_does_not_copy_it():
    v = tf.Variable(tf.ones([4, 2]))
    buffer = v._handle.tensor._value
    tf.gather(v, [1])
    assert v._handle.tensor._value is buffer


def test_gradient_of_a_single_place():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.gather(x, [1, 1]) ** 2
    dense = tf.convert_to_tensor(tape.gradient(y, x))
    assert dense.numpy().tolist() == [[0, 0], [12, 16]]
