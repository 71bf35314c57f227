"""Ragged tensors: making, converting, ops and gradients, with TensorFlow's results."""

import pytest

import gradtape as tf

R = tf.RaggedTensor


@pytest.fixture
def rows():
    return tf.ragged.constant([[1.0, 2.0], [], [3.0]])


@pytest.fixture
def deep():
    return tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6]]])


def listed(x):
    return x.to_list() if isinstance(x, R) else x.numpy().tolist()


MAKERS = {
    "splits": (lambda: R.from_row_splits([1, 2, 3], [0, 2, 2, 3]), [[1, 2], [], [3]]),
    "lengths": (lambda: R.from_row_lengths([1, 2, 3], [2, 0, 1]), [[1, 2], [], [3]]),
    "rowids": (lambda: R.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4), [[1, 2], [], [3], []]),
    "starts": (lambda: R.from_row_starts([1, 2, 3], [0, 2, 2]), [[1, 2], [], [3]]),
    "limits": (lambda: R.from_row_limits([1, 2, 3], [2, 2, 3]), [[1, 2], [], [3]]),
    "uniform": (lambda: R.from_uniform_row_length([1, 2, 3, 4], 2), [[1, 2], [3, 4]]),
    "nested": (
        lambda: R.from_nested_row_splits([1, 2, 3], [[0, 1, 2], [0, 2, 3]]), [[[1, 2]], [[3]]]
    ),
    "nested_lengths": (
        lambda: R.from_nested_row_lengths([1, 2, 3], [[2, 0], [2, 1]]), [[[1, 2], [3]], []]
    ),
    "padding": (lambda: R.from_tensor([[1, 0, 0], [2, 3, 0]], padding=0), [[1], [2, 3]]),
    "cut": (lambda: R.from_tensor([[1, 0, 0], [2, 3, 0]], lengths=[1, 3]), [[1], [2, 3, 0]]),
    "sparse": (
        lambda: R.from_sparse(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [3, 2])),
        [[1, 2], [], [3]],
    ),
    "range": (lambda: tf.ragged.range([0, 3], [3, 10], [1, 2]), [[0, 1, 2], [3, 5, 7, 9]]),
    "stack": (lambda: tf.ragged.stack([[1, 2], [3]]), [[1, 2], [3]]),
    "partitions": (
        lambda: tf.ragged.stack_dynamic_partitions([1, 2, 3], [1, 0, 1], 3), [[2], [1, 3], []]
    ),
    "strings": (lambda: tf.ragged.constant([["a", "b"], ["c"]]), [[b"a", b"b"], [b"c"]]),
    "empty": (lambda: tf.ragged.constant([[], []]), [[], []]),
}  # fmt: skip


@pytest.mark.parametrize(("make", "expected"), MAKERS.values(), ids=MAKERS)
def test_making(make, expected):
    assert make().to_list() == expected


@pytest.mark.parametrize(
    "make",
    [
        lambda: R.from_row_splits([1, 2, 3], [0, 2]),
        lambda: R.from_row_splits([1, 2, 3], [1, 3]),
        lambda: R.from_row_splits([1, 2, 3], [0, 2, 1, 3]),
        lambda: R.from_row_lengths([1, 2, 3], [2, 2]),
        lambda: R.from_value_rowids([1, 2], [1, 0]),
    ],
)
def test_bad_partitions(make):
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not form a valid RaggedTensor"):
        make()


def test_scalars_at_different_depths():
    with pytest.raises(ValueError, match="depths"):
        tf.ragged.constant([[1], 2])


def test_properties(rows, deep):
    assert repr(rows) == "<tf.RaggedTensor [[1.0, 2.0], [], [3.0]]>"
    assert repr(rows / 10.0) == "<tf.RaggedTensor [[0.1, 0.2], [], [0.3]]>"
    assert rows.shape.as_list() == [3, None]
    assert deep.shape.as_list() == [3, None, None]
    assert deep.ragged_rank == 2
    assert listed(deep.flat_values) == [1, 2, 3, 4, 5, 6]
    assert [listed(s) for s in deep.nested_row_splits] == [[0, 2, 2, 3], [0, 2, 3, 6]]
    assert listed(rows.row_lengths()) == [2, 0, 1]
    assert listed(deep.row_lengths(axis=2)) == [[2, 1], [], [3]]
    assert listed(rows.value_rowids()) == [0, 0, 2]
    assert int(rows.nrows()) == 3
    assert listed(deep.bounding_shape()) == [3, 2, 3]
    assert tf.is_tensor(rows)
    assert not isinstance(rows, tf.Tensor)
    assert len(tf.nest.flatten(deep, expand_composites=True)) == 3
    assert tf.type_spec_from_value(deep) == tf.RaggedTensorSpec([3, None, None], tf.int32, 2)
    assert repr(tf.RaggedTensorSpec([3, None])) == (
        "RaggedTensorSpec(TensorShape([3, None]), tf.float32, 1, tf.int64)"
    )


def test_converting(rows, deep):
    assert listed(rows.to_tensor()) == [[1, 2], [0, 0], [3, 0]]
    assert listed(rows.to_tensor(shape=[None, 3])) == [[1, 2, 0], [0, 0, 0], [3, 0, 0]]
    assert listed(deep.to_tensor(-1))[1:] == [[[-1] * 3] * 2, [[4, 5, 6], [-1] * 3]]
    assert listed(rows.to_sparse().indices) == [[0, 0], [0, 1], [2, 0]]
    assert listed(deep.merge_dims(0, 1)) == [[1, 2], [3], [4, 5, 6]]
    assert listed(deep.merge_dims(1, 2)) == [[1, 2, 3], [], [4, 5, 6]]
    with pytest.raises(ValueError, match="has no len"):
        tf.convert_to_tensor(rows)


COLUMN = [[1.0], [2.0], [3.0]]
OPS = {
    "add": (lambda x: x + 1, [[2, 3], [], [4]]),
    "reflected": (lambda x: 1.0 - x, [[0, -1], [], [-2]]),
    "tensor_first": (lambda x: tf.constant(1.0) - x, [[0, -1], [], [-2]]),
    "mul": (lambda x: x * x, [[1, 4], [], [9]]),
    "column": (lambda x: x * tf.constant(COLUMN), [[1, 2], [], [9]]),
    "compare": (lambda x: x > 1.0, [[False, True], [], [True]]),
    "equal": (lambda x: x == x, [[True, True], [], [True]]),
    "where": (lambda x: tf.where(x > 1.0, x, -x), [[-1, 2], [], [3]]),
    "cast": (lambda x: tf.cast(x, tf.int32), [[1, 2], [], [3]]),
    "maximum": (lambda x: tf.maximum(x, 2.0), [[2, 2], [], [3]]),
    "clip": (lambda x: tf.clip_by_value(x, 1.0, 2.0), [[1, 2], [], [2]]),
    "add_n": (lambda x: tf.add_n([x, x]), [[2, 4], [], [6]]),
    "sum": (tf.reduce_sum, 6),
    "sum_0": (lambda x: tf.reduce_sum(x, 0), [4, 2]),
    "sum_1": (lambda x: tf.reduce_sum(x, 1), [3, 0, 3]),
    "keepdims": (lambda x: tf.reduce_sum(x, 1, keepdims=True), [[3], [0], [3]]),
    "mean_0": (lambda x: tf.reduce_mean(x, 0), [2, 2]),
    "max_0": (lambda x: tf.reduce_max(x, 0), [3, 2]),
    "prod_1": (lambda x: tf.reduce_prod(x, 1), [2, 1, 3]),
    "any": (lambda x: tf.reduce_any(x > 2.0, 1), [False, False, True]),
    "all": (lambda x: tf.reduce_all(x > 2.0, 1), [False, True, True]),
    "concat_0": (lambda x: tf.concat([x, x], 0), [[1, 2], [], [3], [1, 2], [], [3]]),
    "concat_1": (lambda x: tf.concat([x, x], 1), [[1, 2, 1, 2], [], [3, 3]]),
    "concat_dense": (lambda x: tf.concat([x, tf.zeros([3, 1])], -1), [[1, 2, 0], [0], [3, 0]]),
    "stack": (lambda x: tf.stack([x, x]), [[[1, 2], [], [3]]] * 2),
    "stack_1": (lambda x: tf.stack([x, x], 1), [[[1, 2], [1, 2]], [[], []], [[3], [3]]]),
    "tile": (lambda x: tf.tile(x, [2, 2]), [[1, 2, 1, 2], [], [3, 3]] * 2),
    "gather": (lambda x: tf.gather(x, [2, 0]), [[3], [1, 2]]),
    "gather_ragged": (
        lambda x: tf.gather(x, tf.ragged.constant([[0, 2], [1]])), [[[1, 2], [3]], [[]]]
    ),
    "gather_in_rows": (
        lambda x: tf.gather(x, tf.ragged.constant([[1, 0], [], [0]]), batch_dims=1),
        [[2, 1], [], [3]],
    ),
    "expand_0": (lambda x: tf.expand_dims(x, 0), [[[1, 2], [], [3]]]),
    "expand_last": (lambda x: tf.expand_dims(x, -1), [[[1], [2]], [], [[3]]]),
    "size": (tf.size, 3),
    "rank": (tf.rank, 2),
    "zeros": (tf.zeros_like, [[0, 0], [], [0]]),
    "reverse": (lambda x: tf.reverse(x, [1]), [[2, 1], [], [3]]),
    "row": (lambda x: x[0], [1, 2]),
    "last": (lambda x: x[-1], [3]),
    "element": (lambda x: x[0, 1], 2),
    "rows": (lambda x: x[1:], [[], [3]]),
    "every_other": (lambda x: x[::2], [[1, 2], [3]]),
    "columns": (lambda x: x[:, :1], [[1], [], [3]]),
    "backwards": (lambda x: x[:, ::-1], [[2, 1], [], [3]]),
    "ellipsis": (lambda x: x[..., :1], [[1], [], [3]]),
    "newaxis": (lambda x: x[:, tf.newaxis], [[[1, 2]], [[]], [[3]]]),
    "mask": (lambda x: tf.ragged.boolean_mask(x, x > 1.0), [[2], [], [3]]),
    "mask_rows": (lambda x: tf.ragged.boolean_mask(x, [True, False, True]), [[1, 2], [3]]),
    "map_flat": (lambda x: tf.ragged.map_flat_values(tf.add, x, 10.0), [[11, 12], [], [13]]),
    "map_fn": (lambda x: tf.map_fn(lambda row: row + 1, x), [[2, 3], [], [4]]),
}  # fmt: skip


@pytest.mark.parametrize(("function", "expected"), OPS.values(), ids=OPS)
def test_ops(rows, function, expected):
    assert listed(function(rows)) == expected


def test_ops_on_two_ragged_axes(deep):
    assert listed(tf.reduce_sum(deep, 1)) == [[4, 2], [], [4, 5, 6]]
    assert listed(tf.reduce_sum(deep, 2)) == [[3, 3], [], [15]]
    assert listed(tf.reduce_sum(deep, [1, 2])) == [6, 0, 15]
    assert listed(tf.reduce_sum(deep, 0)) == [[5, 7, 6], [3]]
    assert listed(tf.concat([deep, deep], 2))[0] == [[1, 2, 1, 2], [3, 3]]
    assert listed(deep[0, 1]) == [3]
    assert listed(deep[:, 1:]) == [[[3]], [], []]
    assert listed(deep[:, :, :1]) == [[[1], [3]], [], [[4]]]


def test_gather_by_ragged_indices():
    found = tf.gather(tf.constant([10, 20, 30]), tf.ragged.constant([[0, 2], [1]]))
    assert listed(found) == [[10, 30], [20]]


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: x[:, 0], ValueError, "Cannot index into an inner ragged dimension"),
        (lambda x: x[5], IndexError, "Row key 5 out of bounds"),
        (lambda x: tf.gather(x, [5]), tf.errors.InvalidArgumentError, r"indices\[0\] = 5"),
        (lambda x: x + tf.ragged.constant([[1.0], [], [2.0]]), tf.errors.InvalidArgumentError,
         "Unable to broadcast"),
        (bool, TypeError, "RaggedTensor may not be used as a boolean"),
        (hash, TypeError, "RaggedTensor is unhashable"),
        (len, TypeError, "has no len"),
        (tf.transpose, ValueError, "has no len"),
    ],
)  # fmt: skip
def test_errors(rows, function, error, message):
    with pytest.raises(error, match=message):
        function(rows)


GRADIENTS = {
    "sum": (lambda x: tf.reduce_sum(x, 1), [2, 4, 6]),
    "concat": (lambda x: tf.concat([x, x], 1).flat_values, [4, 8, 12]),
    "to_tensor": (lambda x: x.to_tensor(), [2, 4, 6]),
    "gather": (lambda x: tf.gather(x, [0, 0]).values, [4, 8, 0]),
    "max": (lambda x: tf.reduce_max(x, 1)[0], [0, 4, 0]),
    "column": (lambda x: (x * tf.constant(COLUMN)).values, [2, 4, 18]),
    "row": (lambda x: x[0], [2, 4, 0]),
    "ragged": (lambda x: x, [2, 4, 6]),
}


@pytest.mark.parametrize(("function", "expected"), GRADIENTS.values(), ids=GRADIENTS)
def test_gradients_reach_flat_values(function, expected):
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = function(R.from_row_lengths(v * v, [2, 0, 1]))
    assert listed(tape.gradient(y, v)) == expected


def test_ragged_gradient_of_a_ragged_source(rows):
    with tf.GradientTape() as tape:
        tape.watch(rows)
        y = tf.reduce_sum(rows * rows)
    assert listed(tape.gradient(y, rows)) == [[2.0, 4.0], [], [6.0]]
