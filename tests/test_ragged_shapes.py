"""RowPartition and DynamicRaggedShape, and functions that take ragged shapes, as in TensorFlow."""

import re

import numpy as np
import pytest

import gradtape as tf

RowPartition = tf.experimental.RowPartition
Shape = tf.experimental.DynamicRaggedShape
of = Shape.from_lengths


def rows():
    return tf.ragged.constant([[1, 2], [], [3]])


@pytest.mark.parametrize(
    "made",
    [
        RowPartition.from_row_lengths([2, 0, 3]),
        RowPartition.from_row_splits([0, 2, 2, 5]),
        RowPartition.from_row_starts([0, 2, 2], nvals=5),
        RowPartition.from_row_limits([2, 2, 5]),
        RowPartition.from_value_rowids([0, 0, 2, 2, 2]),
    ],
)
def test_partitions_by_every_description(made):
    assert repr(made) == "tf.RowPartition(row_splits=[0 2 2 5])"
    assert made.row_splits().numpy().tolist() == [0, 2, 2, 5]
    assert made.row_lengths().numpy().tolist() == [2, 0, 3]
    assert made.row_starts().numpy().tolist() == [0, 2, 2]
    assert made.row_limits().numpy().tolist() == [2, 2, 5]
    assert made.value_rowids().numpy().tolist() == [0, 0, 2, 2, 2]
    assert made.offsets_in_rows().numpy().tolist() == [0, 1, 0, 1, 2]
    assert (int(made.nrows()), int(made.nvals()), made.static_nrows) == (3, 5, 3)
    assert made.dtype is tf.int64
    assert made.value_rowids().dtype is tf.int64
    assert made.uniform_row_length() is None
    assert not made.is_uniform()
    assert not tf.is_tensor(made)


def test_uniform_partitions():
    made = RowPartition.from_uniform_row_length(2, nvals=6)
    assert repr(made) == "tf.RowPartition(nrows=3, uniform_row_length=2)"
    assert int(made.uniform_row_length()) == made.static_uniform_row_length == 2
    assert made.is_uniform()
    assert RowPartition.from_uniform_row_length(0, nvals=0, nrows=3).static_nrows == 3
    assert int(RowPartition.from_uniform_row_length(2, nrows=3).nvals()) == 6


def test_dtypes_of_partitions():
    assert RowPartition.from_row_splits([0, 1], dtype=tf.int32).dtype is tf.int32
    assert RowPartition.from_row_splits(np.array([0, 1], np.int32)).dtype is tf.int32
    assert RowPartition.from_row_splits([0, 1]).with_dtype(tf.int32).dtype is tf.int32
    assert RowPartition.from_value_rowids([0], nrows=2).row_lengths().numpy().tolist() == [1, 0]
    assert RowPartition.from_row_splits([1, 0], validate=False).static_nrows == 1


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RowPartition.from_row_splits([]), ValueError, "row_splits tensor may not be empt"),
        (lambda: RowPartition.from_row_splits([[0]]), ValueError, "Shape (1, 1) must have rank 1"),
        (
            lambda: RowPartition.from_row_splits([0, 1], dtype=tf.float32),
            ValueError,
            "row_splits must have dtype int32 or int64",
        ),
        (
            lambda: RowPartition.from_row_splits([1, 2]),
            tf.errors.InvalidArgumentError,
            "Arguments to from_row_splits do not form a valid RaggedTensor:zero",
        ),
        (
            lambda: RowPartition.from_row_splits([0, 2, 1]),
            tf.errors.InvalidArgumentError,
            "Arguments to from_row_splits do not form a valid RaggedTensor:monotonic",
        ),
        (
            lambda: RowPartition.from_row_lengths([-1]),
            tf.errors.InvalidArgumentError,
            "Arguments to from_row_lengths do not form a valid RowPartition",
        ),
        (
            lambda: RowPartition.from_value_rowids([1, 0]),
            tf.errors.InvalidArgumentError,
            "Arguments to from_value_rowids do not form a valid RowPartition",
        ),
        (
            lambda: RowPartition.from_value_rowids([0, 5], nrows=3),
            ValueError,
            "Expected nrows >= value_rowids[-1] + 1; got nrows=3, value_rowids[-1]=5",
        ),
        (
            lambda: RowPartition.from_row_starts([1, 2], nvals=3),
            tf.errors.InvalidArgumentError,
            "Arguments to from_row_starts do not form a valid RaggedTensor",
        ),
        (
            lambda: RowPartition.from_row_starts([0, 7], nvals=3),
            tf.errors.InvalidArgumentError,
            "Arguments to from_row_starts do not form a valid RaggedTensor",
        ),
        (
            lambda: RowPartition.from_row_limits([2, 1]),
            tf.errors.InvalidArgumentError,
            "Arguments to from_row_limits do not form a valid RaggedTensor",
        ),
        (
            lambda: RowPartition.from_uniform_row_length(2),
            ValueError,
            "Either (or both) of nvals and nrows must be specified",
        ),
        (
            lambda: RowPartition.from_uniform_row_length(2, nvals=7, nrows=3),
            ValueError,
            "uniform_row_length=2 times nrows=3 must equal nvals=7",
        ),
        (
            lambda: RowPartition.from_uniform_row_length(-1, nrows=3),
            ValueError,
            "uniform_row_length must be nonnegative, got -1.",
        ),
    ],
)
def test_partitions_that_are_none(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()


# Shapes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "lengths", "partitions"),
    [
        (rows(), [3, (2, 0, 1)], 1),
        (tf.ragged.constant([[[1], [2, 3]], []]), [2, (2, 0), (1, 2)], 2),
        (tf.RaggedTensor.from_uniform_row_length(rows(), 3), [1, 3, (2, 0, 1)], 2),
        (tf.ragged.constant([[[1, 2]], []], inner_shape=(2,)), [2, (1, 0), 2], 1),
    ],
)
def test_the_shape_of_ragged_tensors(x, lengths, partitions):
    shape = tf.shape(x)
    assert shape.static_lengths() == lengths
    assert shape.num_row_partitions == partitions
    assert shape.dtype is tf.int32
    assert tf.shape(x, out_type=tf.int64).dtype is tf.int64
    assert repr(shape) == (
        f"<DynamicRaggedShape lengths={lengths} num_row_partitions={partitions}>"
    )


def test_what_shapes_know():
    shape = tf.shape(rows())
    assert (shape.rank, shape.inner_rank) == (2, 1)
    assert shape.inner_shape.numpy().tolist() == [3]
    assert shape.inner_shape.dtype is tf.int32
    assert repr(shape.row_partitions) == "(tf.RowPartition(row_splits=[0 2 2 3]),)"
    assert shape.is_uniform(0)
    assert not shape.is_uniform(1)
    assert shape.static_lengths(ragged_lengths=False) == [3, None]
    assert int(shape._num_elements()) == 3
    assert not tf.is_tensor(shape)
    parts = tf.nest.flatten(shape, expand_composites=True)
    assert [part.numpy().tolist() for part in parts] == [[3], [0, 2, 2, 3]]
    assert "nrows=3, nvals=3, uniform_row_length=None" in repr(tf.type_spec_from_value(shape))


@pytest.mark.parametrize(
    ("lengths", "ranks"),
    [
        ([2, (1, 2), 3], (3, 1, 2)), ([2, 3], (2, 0, 2)), ([], (0, 0, 0)), ([2, (3, 3)], (2, 1, 1)),
        ([2, (1, 2), (4, 5, 6)], (3, 2, 1)), ([2, (1, 2), 2, (1, 2, 3, 4, 5, 6)], (4, 3, 1)),
        ([3, (1, 0, 2), 5, 6], (4, 1, 3)), ([0, ()], (2, 1, 1)),
    ],
)  # fmt: skip
def test_shapes_from_lengths(lengths, ranks):
    shape = of(lengths)
    assert shape.static_lengths() == lengths
    assert (shape.rank, shape.num_row_partitions, shape.inner_rank) == ranks
    assert shape.dtype is tf.int64


def test_other_ways_to_make_shapes():
    partition = RowPartition.from_row_lengths([2, 0, 3])
    assert of([2, 3, 4], num_row_partitions=1).num_row_partitions == 1
    assert Shape.from_tensor([[1, 2], [3, 4]]).static_lengths() == [2, 2]
    assert Shape.from_tensor(3).static_lengths() == []
    inner = RowPartition.from_row_lengths([1] * 5)
    made = Shape.from_row_partitions([partition, inner])
    assert made.static_lengths() == [3, (2, 0, 3), (1,) * 5]
    assert Shape([partition], inner_shape=[5, 2]).static_lengths() == [3, (2, 0, 3), 2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        Shape([partition], inner_shape=[4], validate=True)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: of([2, (1, 2, 3)]), ValueError, "Shape not consistent."),
        (lambda: of([None]), ValueError, "element of lengths should be int or tuple of ints"),
        (lambda: of([2.5]), ValueError, "should be int or tuple of ints: instead 2.5"),
        (lambda: of([(2,)]), ValueError, "The first axis has one length."),
        (
            lambda: of([2, 3], 2),
            ValueError,
            "num_row_partitions should be less than",
        ),
        (lambda: of([2, (1, 2)], 0), ValueError, "Axis 1 is ragged"),
        (lambda: Shape.from_row_partitions([]), ValueError, "row_partitions cannot be empty"),
        (lambda: Shape(3, [3]), TypeError, "row_partitions should be a list of row partitions."),
        (lambda: Shape([3], [3]), TypeError, "contains 3 which is not a RowPartition"),
        (lambda: Shape([], 3), ValueError, "Shape () must have rank 1"),
        (lambda: of([2, (1, 2), 3])[1], ValueError, "Index 1 is not uniform"),
        (lambda: of([2, (1, 2), 3])[-2], ValueError, "Index 1 is not uniform"),
        (lambda: of([2, (1, 2), 3])[3], IndexError, "Index is too big: 3>=3"),
        (lambda: of([2, (1, 2), 3])[2:], ValueError, "All relevant dimensions must be uniform"),
        (lambda: of([2, 3])[::2], IndexError, "Cannot stride through a shape"),
        (lambda: tf.convert_to_tensor(of([2, 3])), ValueError, "Attempt to convert a value"),
    ],
)
def test_errors(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()


def test_indexing():
    shape = of([2, (1, 2), 3])
    assert int(shape[0]) == int(shape[-3]) == 2
    assert int(shape[2]) == 3
    assert shape[0].dtype is tf.int64
    assert shape[:2].static_lengths() == [2, (1, 2)]
    assert shape[:1].static_lengths() == [2]
    assert shape[:0].static_lengths() == []
    assert shape[:].static_lengths() == [2, (1, 2), 3]
    assert of([2, 3, 4])[1:].static_lengths() == [3, 4]


def test_equality():
    assert bool(of([2, (1, 2), 3]) == of([2, (1, 2), 3]))
    other = of([2, (1, 2), 3]) == of([2, (2, 1), 3])
    assert isinstance(other, tf.Tensor)
    assert not bool(other)
    assert (of([2, (2, 2)]) == of([2, 2])) is False
    assert (of([2]) == 3) is False
    assert (of([2]) != of([3])) is True


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([2, (1, 2), 3], [2, 1, 1], [2, (1, 2), 3]),
        ([2, (1, 2)], [1, 1], [2, (1, 2)]),
        ([2, (1, 2)], [1], [2, (1, 2)]),
        ([2, (1, 2)], [2, (1, 2)], [2, (1, 2)]),
        ([2, 1, 3], [2, (1, 2), 1], [2, (1, 2), 3]),
        ([2, 3], [1, 3], [2, 3]),
    ],
)
def test_broadcasting_shapes(x, y, expected):
    found = tf.broadcast_dynamic_shape(of(x), of(y))
    assert found.static_lengths() == expected
    assert tf.broadcast_dynamic_shape(of(y), of(x)).static_lengths() == expected
    ragged = [i for i, length in enumerate(expected) if isinstance(length, tuple)]
    assert found.num_row_partitions == max(ragged, default=0)


def test_a_ragged_shape_beside_a_vector():
    found = tf.broadcast_dynamic_shape(tf.shape(rows()), tf.constant([3, 1]))
    assert found.static_lengths() == [3, (2, 0, 1)]
    dense = tf.broadcast_dynamic_shape(tf.constant([3, 1]), tf.constant([1, 2]))
    assert dense.numpy().tolist() == [3, 2]


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([2, (1, 2)], [3]), ([2, (1, 2)], [2, (2, 2)]), ([2, (1, 1)], [2, 4]),
        ([1, (3,)], [2, (1, 3)]), ([3, (1, 1, 1)], [2, 1]),
    ],
)  # fmt: skip
def test_shapes_that_do_not_broadcast(x, y):
    with pytest.raises(tf.errors.InvalidArgumentError, match="dimension size mismatch"):
        tf.broadcast_dynamic_shape(of(x), of(y))


def test_functions_that_take_shapes():
    shape = tf.shape(rows())
    column = tf.constant([[1], [2], [3]])
    assert tf.broadcast_to(column, shape).to_list() == [[1, 1], [], [3]]
    assert tf.broadcast_to(5, shape).to_list() == [[5, 5], [], [5]]
    assert tf.broadcast_to(rows(), shape).to_list() == [[1, 2], [], [3]]
    assert tf.broadcast_to([1, 2], of([2, 2])).numpy().tolist() == [[1, 2], [1, 2]]
    deep = of([2, (1, 2), 2])
    assert tf.broadcast_to([[[1]], [[2]]], deep).to_list() == [[[1, 1]], [[2, 2], [2, 2]]]
    assert tf.reshape([1, 2, 3], shape).to_list() == [[1, 2], [], [3]]
    assert tf.reshape(rows(), of([3, (1, 1, 1)])).to_list() == [[1], [2], [3]]
    assert tf.ones(shape).to_list() == [[1.0, 1.0], [], [1.0]]
    assert tf.zeros(shape, tf.int32).dtype is tf.int32
    assert tf.fill(shape, 7).to_list() == [[7, 7], [], [7]]
    assert tf.ones(of([2, 3])).shape == [2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="dimension size mismatch"):
        tf.broadcast_to(tf.ragged.constant([[1], [2]]), of([2, (1, 2)]))


def test_gradients_pass_through_broadcasting():
    x = tf.constant([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.broadcast_to(x, tf.shape(rows()))
    assert tape.gradient(y, x).numpy().tolist() == [[2], [0], [1]]


# Ragged tensors -----------------------------------------------------------------------------------


def constant(rows):
    return tf.ragged.constant(rows)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (constant([[1, 2], [3, 4], [5, 6]]), "[[1, 2],\n [3, 4],\n [5, 6]]"),
        (constant([[[1], [2, 3]], [], [[4]]]), "[[[1], [2, 3]], [], [[4]]]"),
        (constant([["a", "b"], ["cc"]]), "[[b'a', b'b'], [b'cc']]"),
        (constant([[[1, 2], [3]], [[4, 5], [6, 7]]]), "[[[1, 2], [3]],\n [[4, 5], [6, 7]]]"),
        (constant([[[1], [2]], [[3], [4]]]), "[[[1],\n  [2]],\n\n [[3],\n  [4]]]"),
        (constant([[], []]), "[[], []]"),
        (constant([list(range(2000)), []]), "[[0, 1, 2, ..., 1997, 1998, 1999], []]"),
        (constant([[1.123456789, 2e10, 1e-8], [np.nan]]), "[[1.1234568, 2e+10, 1e-08], [nan]]"),
        (constant([[True], [False, True]]), "[[True], [False, True]]"),
        (
            constant([["a" * 70, "b"], ["cc"]]),
            f"[[b'{'a' * 70}',\n  b'b']{' ' * 69},\n [b'cc']]",
        ),
    ],
)
def test_repr_breaks_lines(value, expected):
    assert repr(value) == f"<tf.RaggedTensor {expected}>"


def lists(parts):
    return [part.to_list() for part in parts]


def test_split():
    x = constant([[1, 2], [], [3, 4, 5]])
    assert lists(tf.split(x, 3)) == [[[1, 2]], [[]], [[3, 4, 5]]]
    assert lists(tf.split(x, [1, 2])) == [[[1, 2]], [[], [3, 4, 5]]]
    inner = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    assert lists(tf.split(inner, 2, 2)) == [[[[1], [3]], [[5]]], [[[2], [4]], [[6]]]]
    uniform = tf.RaggedTensor.from_uniform_row_length(constant([[1], [2, 3], [4], []]), 2)
    assert lists(tf.split(uniform, [1, 1], axis=1)) == [[[[1]], [[4]]], [[[2, 3]], [[]]]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: tf.split(x, 2, 1),
            ValueError,
            "Cannot split a ragged dimension. Got `value` with shape <DynamicRaggedShape "
            "lengths=[3, (2, 0, 3)] num_row_partitions=1> and `axis` 1.",
        ),
        (
            lambda x: tf.split(x, 2),
            tf.errors.InvalidArgumentError,
            "Cannot exactly split the",
        ),
        (lambda x: tf.split(x, [1, 1]), tf.errors.InvalidArgumentError, "Cannot exactly split"),
        (lambda x: tf.split(x, [1, -1]), tf.errors.InvalidArgumentError, "must be non-negative"),
        (lambda x: tf.split(x, 0), ValueError, "`num_or_size_splits` must be >=1"),
        (lambda x: tf.split(x, 2, 5), ValueError, "axis=5 out of bounds: expected -2<=axis<2"),
        (lambda x: tf.split(x, [1, 2], num=3), ValueError, "`num` does not match the size of"),
        (lambda x: tf.squeeze(x), ValueError, "Ragged.squeeze must have an axis argument."),
        (lambda x: tf.squeeze(x, 0), tf.errors.InvalidArgumentError, "(axis = 0) is not squeez"),
        (lambda x: tf.squeeze(x, 1), tf.errors.InvalidArgumentError, "(axis = 1) is not squeez"),
        (lambda x: tf.squeeze(x, 5), ValueError, "axis[0]=5 out of bounds: expected -2<=axis[0]<2"),
        (lambda x: tf.where(x > 1, x), ValueError, "x and y must be either both None or both"),
    ],
)
def test_errors_of_functions(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call(constant([[1, 2], [], [3, 4, 5]]))


def test_squeeze():
    assert tf.squeeze(constant([[[1, 2], [3]]]), [0]).to_list() == [[1, 2], [3]]
    assert tf.squeeze(constant([[[1], [2]], [[3]]]), [2]).to_list() == [[1, 2], [3]]
    assert tf.squeeze(constant([[1], [2]]), -1).numpy().tolist() == [1, 2]
    assert tf.squeeze(constant([[[1, 2, 4]]]), [0, 1]).numpy().tolist() == [1, 2, 4]
    inner = tf.ragged.constant([[[[1]], [[2]]]], ragged_rank=1)
    assert tf.squeeze(inner, [2, 3]).to_list() == [[1, 2]]


def test_strings_joined_along_any_axis():
    join = tf.strings.reduce_join
    two = constant([["a", "b"], ["c"], ["d", "e", "f"]])
    assert join(two, axis=0, separator=",").numpy().tolist() == [b"a,c,d", b"b,e", b"f"]
    assert join(two, axis=0, keepdims=True).shape == [1, 3]
    assert join(two, axis=-1, keepdims=True).numpy().tolist() == [[b"ab"], [b"c"], [b"def"]]
    three = constant([[["a", "b"], ["c"]], [["d"]], []])
    assert join(three, axis=0).to_list() == [[b"ad", b"b"], [b"c"]]
    assert join(three, axis=1).to_list() == [[b"ac", b"b"], [b"d"], []]
    assert join(three, axis=2).to_list() == [[b"ab", b"c"], [b"d"], []]
    assert join(three, axis=[1, 2]).numpy().tolist() == [b"abc", b"d", b""]


def test_where_with_dense_conditions():
    x, y = constant([[1, 2], [3]]), constant([[10, 20], [30]])
    column = tf.constant([[True], [False]])
    assert tf.where(True, x, y).to_list() == [[1, 2], [3]]
    assert tf.where(column, x, y).to_list() == [[1, 2], [30]]
    assert tf.where(column, 0, y).to_list() == [[0, 0], [30]]
    assert tf.where(constant([[True, False], [True]]), [[1], [2]], y).to_list() == [[1, 20], [2]]


@pytest.mark.parametrize(
    ("value", "summarize", "expected"),
    [
        (constant([[1, 2], [], [3, 4, 5]]), 3, "[[1, 2], [], [3, 4, 5]]"),
        (constant([["a", "b'"], ["c"]]), 3, "[['a', 'b\\''], ['c']]"),
        (constant([[1.5, 2], [3.25]]), 3, "[[1.500000, 2.000000], [3.250000]]"),
        (constant([list(range(20)), [1]]), 3, "[[0, 1, 2, ..., 17, 18, 19], [1]]"),
        (constant([[i] * 5 for i in range(20)]), 1, "[[0, ..., 0], ..., [19, ..., 19]]"),
        (constant([[i] for i in range(7)]), -1, "[[0], [1], [2], [3], [4], [5], [6]]"),
        (constant([[True], []]), 3, "[[true], []]"),
        ({"a": constant([[1], []])}, 3, "{'a': [[1], []]}"),
        (constant([[], []]), 3, "[[], []]"),
        (
            tf.sparse.from_dense([[1, 0], [0, 2]]),
            3,
            "'SparseTensor(indices=[[0 0]\n [1 1]], values=[1 2], shape=[2 2])'",
        ),
        (of([2, (1, 2)]), 3, "<DynamicRaggedShape lengths=[2, (1, 2)] num_row_partitions=1>"),
    ],
)
def test_printing(value, summarize, expected, capsys):
    tf.print(value, summarize=summarize)
    assert capsys.readouterr().err == expected + "\n"
