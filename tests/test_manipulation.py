"""Joining, separating and reshaping tensors: argument forms, values, dtypes, errors, gradients."""

import numpy as np
import pytest

import gradtape as tf
from composites import check_batch, check_gradient
from expressions import check_error

InvalidArgumentError = tf.errors.InvalidArgumentError


def names():
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    return {
        "tf": tf,
        "np": np,
        "x": x,
        "v": tf.Variable(x),
        "s": tf.constant(5.0),
        "c": tf.constant([[1 + 2j, 3]]),
        "ones": lambda *shape: tf.ones(shape),
        "shapes": lambda tensors: [t.shape.as_list() for t in tensors],
        "arrays": lambda tensors: [np.asarray(t).tolist() for t in tensors],
    }


def plain(result):
    return np.asarray(result).tolist() if tf.is_tensor(result) else result


VALUES = {
    # concat
    "tf.concat([x, [[7, 8, 9]]], 0)": [[1, 2, 3], [4, 5, 6], [7, 8, 9]],
    "tf.concat([[[7, 8, 9]], x], 0)": [[7, 8, 9], [1, 2, 3], [4, 5, 6]],
    "tf.concat([np.zeros((1, 3)), x], 0).dtype": tf.float32,
    "tf.concat([x, v], tf.constant(-1)).shape.as_list()": [2, 6],
    "tf.concat([x, x], [1]).shape.as_list()": [2, 6],
    "tf.concat(values=[x, x], axis=1, name='joined').shape.as_list()": [2, 6],
    "tf.concat(x, 0)": [[1, 2, 3], [4, 5, 6]],
    "tf.concat([x], 5)": [[1, 2, 3], [4, 5, 6]],
    "tf.concat([s], 0)": 5.0,
    "tf.concat([tf.constant(['a']), ['b']], 0)": [b"a", b"b"],
    "tf.concat([tf.zeros([0]), [1.0, 2.0]], 0)": [1, 2],
    # stack
    "tf.stack([1, s, v[0, 0]])": [1, 5, 1],
    "tf.stack([1, 2.0]).dtype": tf.float32,
    "tf.stack([x, v], axis=-1).shape.as_list()": [2, 3, 2],
    "tf.stack([x, x], axis=tf.constant(1)).shape.as_list()": [2, 2, 3],
    "tf.stack([[1.0, s], [3.0, 4.0]])": [[1, 5], [3, 4]],
    "tf.stack(x)": [[1, 2, 3], [4, 5, 6]],
    "tf.stack(5.0)": 5.0,
    "tf.stack([])": [],
    "tf.stack(['a', 'b'])": [b"a", b"b"],
    "tf.stack([1, 2], axis=-1)": [1, 2],
    # lists with tensors inside
    "tf.convert_to_tensor([s, 2])": [5, 2],
    "tf.convert_to_tensor([[s, 2.0], [1, v[0, 0]]])": [[5, 2], [1, 1]],
    "tf.convert_to_tensor([[x[0], x[1]], x]).shape.as_list()": [2, 2, 3],
    "tf.convert_to_tensor([np.float64(2), s]).dtype": tf.float32,
    "tf.convert_to_tensor([s, 2.0], tf.float64).dtype": tf.float64,
    "tf.convert_to_tensor([s, s], tf.int32)": [5, 5],
    # unstack
    "arrays(tf.unstack(x))": [[1, 2, 3], [4, 5, 6]],
    "arrays(tf.unstack(x, axis=-1))": [[1, 4], [2, 5], [3, 6]],
    "arrays(tf.unstack([1, 2], num=2))": [1, 2],
    "arrays(tf.unstack(tf.constant(['a', 'b'])))": [b"a", b"b"],
    "tf.unstack(tf.zeros([0, 3]))": [],
    "shapes(tf.unstack(v))": [[3], [3]],
    # split
    "arrays(tf.split(x, 3, axis=1))": [[[1], [4]], [[2], [5]], [[3], [6]]],
    "arrays(tf.split(x, [1, -1], -1))": [[[1], [4]], [[2, 3], [5, 6]]],
    "shapes(tf.split(x, tf.constant([1, 2]), 1))": [[2, 1], [2, 2]],
    "shapes(tf.split(x, np.int64(2)))": [[1, 3], [1, 3]],
    "shapes(tf.split(v, np.array([1, 1]), axis=tf.constant(0)))": [[1, 3], [1, 3]],
    "shapes(tf.split(x, [3], 1, num=1))": [[2, 3]],
    "shapes(tf.split(tf.zeros([0, 3]), 2))": [[0, 3], [0, 3]],
    # meshgrid
    "arrays(tf.meshgrid([1, 2, 3], [4, 5]))": [[[1, 2, 3], [1, 2, 3]], [[4, 4, 4], [5, 5, 5]]],
    "arrays(tf.meshgrid([1, 2], [4, 5], indexing='ij'))": [[[1, 1], [2, 2]], [[4, 5], [4, 5]]],
    "shapes(tf.meshgrid([1, 2], [3], [4, 5, 6]))": [[1, 2, 3]] * 3,
    "arrays(tf.meshgrid(1, 2))": [[[1]], [[2]]],
    "tf.meshgrid()": [],
    # reshape
    "tf.reshape(x, [3, 2])": [[1, 2], [3, 4], [5, 6]],
    "tf.reshape(x, -1)": [1, 2, 3, 4, 5, 6],
    "tf.reshape(x, (tf.constant(3), -1)).shape.as_list()": [3, 2],
    "tf.reshape(x, tf.TensorShape([3, 2])).shape.as_list()": [3, 2],
    "tf.reshape(v, tf.constant([6], tf.int64)).shape.as_list()": [6],
    "tf.reshape(s, [1, 1])": [[5]],
    "tf.reshape([[1]], [])": 1,
    "tf.reshape(tf.zeros([0, 3]), [-1, 3]).shape.as_list()": [0, 3],
    "tf.reshape(tf.zeros([0, 3]), [-1, 0]).shape.as_list()": [3, 0],
    "tf.reshape(tf.zeros([3, 0, 2]), [0, -1, 4]).shape.as_list()": [0, 1, 4],
    # transpose
    "tf.transpose(x)": [[1, 4], [2, 5], [3, 6]],
    "tf.transpose(ones(2, 3, 4), [0, -1, 1]).shape.as_list()": [2, 4, 3],
    "tf.transpose(a=v, perm=tf.constant([1, 0]), name='t').shape.as_list()": [3, 2],
    "tf.transpose(s)": 5.0,
    "tf.transpose(c, conjugate=True)": [[1 - 2j], [3]],
    "tf.transpose(x, conjugate=True).shape.as_list()": [3, 2],
    "tf.linalg.matrix_transpose(ones(2, 3, 4)).shape.as_list()": [2, 4, 3],
    "tf.linalg.matrix_transpose(c, conjugate=True)": [[1 - 2j], [3]],
    # expand_dims and squeeze
    "tf.expand_dims(x, -1).shape.as_list()": [2, 3, 1],
    "tf.expand_dims(x, tf.constant(1)).shape.as_list()": [2, 1, 3],
    "tf.expand_dims(1, [0])": [1],
    "tf.squeeze(ones(1, 2, 1)).shape.as_list()": [2],
    "tf.squeeze(ones(1, 2, 1), -1).shape.as_list()": [1, 2],
    "tf.squeeze(ones(1, 2, 1), [0, 0]).shape.as_list()": [2, 1],
    "tf.squeeze(ones(1, 2, 1), []).shape.as_list()": [2],
    "tf.squeeze([[1]])": 1,
    # tile and repeat
    "tf.tile(x, [2, 1])": [[1, 2, 3], [4, 5, 6], [1, 2, 3], [4, 5, 6]],
    "tf.tile([1, 2], [2])": [1, 2, 1, 2],
    "tf.tile(x, tf.constant([0, 1])).shape.as_list()": [0, 3],
    "tf.tile(s, [])": 5.0,
    "tf.tile(tf.constant(['a']), [2])": [b"a", b"a"],
    "tf.repeat([1, 2], 2)": [1, 1, 2, 2],
    "tf.repeat(x, [1, 2], axis=0)": [[1, 2, 3], [4, 5, 6], [4, 5, 6]],
    "tf.repeat(x, 2, axis=-1)": [[1, 1, 2, 2, 3, 3], [4, 4, 5, 5, 6, 6]],
    "tf.repeat(x, [2], axis=0).shape.as_list()": [4, 3],
    "tf.repeat(x, [1, -1], axis=0)": [[1, 2, 3]],
    "tf.repeat(s, 3)": [5, 5, 5],
    "tf.repeat(['a', 'b'], [1, 2])": [b"a", b"b", b"b"],
    # pad
    "tf.pad([[1, 2], [3, 4]], [[1, 0], [0, 2]])": [[0, 0, 0, 0], [1, 2, 0, 0], [3, 4, 0, 0]],
    "tf.pad(x[0], [[2, 1]], 'REFLECT')": [3, 2, 1, 2, 3, 2],
    "tf.pad(x[0], [[2, 1]], 'symmetric')": [2, 1, 1, 2, 3, 3],
    "tf.pad(x[0], [[1, 1]], constant_values=9)": [9, 1, 2, 3, 9],
    "tf.pad(x[0], tf.constant([[1, 1]]), constant_values=s)": [5, 1, 2, 3, 5],
    "tf.pad(tf.constant(['a']), [[1, 0]])": [b"", b"a"],
    "tf.pad(tf.constant(['a']), [[1, 0]], constant_values='z')": [b"z", b"a"],
    "tf.pad(tf.constant([True]), [[1, 0]])": [False, True],
    "tf.pad(s, tf.zeros([0, 2], tf.int32))": 5.0,
    # broadcasting
    "tf.broadcast_to(1, [2])": [1, 1],
    "tf.broadcast_to(x, tf.constant([2, 2, 3])).shape.as_list()": [2, 2, 3],
    "tf.broadcast_to(tf.zeros([1]), [0]).shape.as_list()": [0],
    "tf.broadcast_static_shape(tf.TensorShape([None, 1]), tf.TensorShape([3]))": (
        tf.TensorShape([None, 3])
    ),
    "tf.broadcast_dynamic_shape([2, 1], [3])": [2, 3],
    "tf.broadcast_dynamic_shape([2, 1], [3]).dtype": tf.int32,
    "tf.broadcast_dynamic_shape(tf.constant([2, 1], tf.int64), tf.constant([3], tf.int64)).dtype": (
        tf.int64
    ),
    # shapes as tensors
    "tf.shape(x)": [2, 3],
    "tf.shape(s)": [],
    "tf.shape(v, out_type=tf.int64).dtype": tf.int64,
    "tf.shape([[1, 2]]).dtype": tf.int32,
    "arrays(tf.shape_n([x, s]))": [[2, 3], []],
    "tf.size(x)": 6,
    "tf.size([], tf.int64).dtype": tf.int64,
    "tf.rank([[1]])": 2,
    "tf.ensure_shape(x, [None, 3])": [[1, 2, 3], [4, 5, 6]],
    "tf.ensure_shape(x, None).shape.as_list()": [2, 3],
    "tf.ensure_shape(x, [2, 3]) is x": False,
    # reverse and roll
    "tf.reverse(x, [-1])": [[3, 2, 1], [6, 5, 4]],
    "tf.reverse(x, tf.constant([0, 1]))": [[6, 5, 4], [3, 2, 1]],
    "tf.reverse(s, [])": 5.0,
    "tf.reverse(s, [3])": 5.0,
    "tf.reverse(s, -1)": 5.0,
    "tf.roll(x, 1, 1)": [[3, 1, 2], [6, 4, 5]],
    "tf.roll(x, [1, -1], [0, 1])": [[5, 6, 4], [2, 3, 1]],
    "tf.roll(x, [1, 2], [1, 1])": [[1, 2, 3], [4, 5, 6]],
    "tf.roll(x, shift=4, axis=-1)": [[3, 1, 2], [6, 4, 5]],
    "tf.roll(tf.zeros([0]), 1, 0)": [],
}  # fmt: skip


@pytest.mark.parametrize("expression", VALUES)
def test_value(expression):
    expected = VALUES[expression]
    assert plain(eval(expression, names())) == expected


ERRORS = {
    "tf.concat([x, x], -3)": (
        InvalidArgumentError, "Expected concatenating dimensions in the range [-2, 2), but got -3"
    ),
    "tf.concat([1, 2], 0)": (
        InvalidArgumentError, "Can't concatenate scalars (use tf.stack instead)"
    ),
    "tf.concat([], 0)": (InvalidArgumentError, "ConcatV2"),
    "tf.concat([x, x], 1.5)": (TypeError, "Cannot convert 1.5 to EagerTensor of dtype int32"),
    "tf.concat([[1, 2], [3.0]], 0)": (
        TypeError, "Cannot convert [3.0] to EagerTensor of dtype int32"
    ),
    "tf.concat([x, tf.constant([[1, 2, 3]])], 0)": (
        InvalidArgumentError, "cannot compute ConcatV2 as input #1(zero-based) was expected to be"
    ),
    "tf.stack([x, x], axis=3)": (ValueError, "Argument `axis` = 3 not in range [-3, 3)"),
    "tf.stack([s, tf.constant(1)])": (
        InvalidArgumentError, "cannot compute Pack as input #1(zero-based) was expected to be a"
    ),
    "tf.convert_to_tensor([tf.constant(1), 2.0])": (
        TypeError, "Cannot convert 2.0 to EagerTensor of dtype int32"
    ),
    "tf.convert_to_tensor([[s], [1.0, 2.0]])": (
        InvalidArgumentError, "values[0].shape = [1] != values[1].shape = [2]"
    ),
    "tf.unstack(x, num=3)": (
        InvalidArgumentError, "Input shape axis 0 must equal 3, got shape [2,3]"
    ),
    "tf.unstack(x, axis=2)": (ValueError, "Argument `axis` = 2 not in range [-2, 2)"),
    "tf.unstack(s)": (ValueError, "Argument `axis` = 0 not in range [0, 0)"),
    "tf.split(x, 2, axis=-3)": (
        InvalidArgumentError, "-input rank(-2) <= split_dim < input rank (2), but got -3"
    ),
    "tf.split(x, [1, -1, -1], 1)": (InvalidArgumentError, "There can only be one -1 in the input"),
    "tf.split(x, [1, 1], 1)": (InvalidArgumentError, "if not fully specified.  Got: 2"),
    "tf.split(x, [4, -1], 1)": (InvalidArgumentError, "if not fully specified.  Got: 4"),
    "tf.split(x, [-2, 5], 1)": (
        InvalidArgumentError, "Split size at index 0 must be >= 0. Got: -2"
    ),
    "tf.split(x, [1, 1], num=3)": (InvalidArgumentError, "got 1 -D and 2 elements"),
    "tf.split(x, [[1, 1]])": (InvalidArgumentError, "got 2 -D and 2 elements"),
    "tf.split(x, 0)": (InvalidArgumentError, "'num_split' of 0 must be at least minimum 1"),
    "tf.split(x, [], 1)": (InvalidArgumentError, "SplitV"),
    "tf.split(x, tf.constant(3), 1)": (
        ValueError, "Rank-0 tensors are not supported as the num_or_size_splits argument to split"
    ),
    "tf.split(s, 1)": (InvalidArgumentError, "-input rank(-0) <= split_dim < input rank (0)"),
    "tf.meshgrid([1], [2], indexing='xx')": (
        ValueError, "Argument `indexing` parameter must be either 'xy' or 'ij', got 'xx'"
    ),
    "tf.meshgrid([1, 2, 3], [4.0, 5])": (InvalidArgumentError, "cannot compute Mul as input #1"),
    "tf.reshape(x, [-2, 3])": (InvalidArgumentError, "Size 0 must be non-negative, not -2"),
    "tf.reshape(x, [[2, 3]])": (InvalidArgumentError, "sizes input must be 1-D, not [1,2]"),
    "tf.reshape(x, [0, -1])": (
        InvalidArgumentError, "is a tensor with 6 values, but the requested shape has 0"
    ),
    "tf.reshape(x, [2.0, 3.0])": (
        InvalidArgumentError, "Value for attr 'Tshape' of float is not in the list of allowed"
    ),
    "tf.reshape(x, tf.constant([6], tf.int8))": (
        InvalidArgumentError, "Value for attr 'Tshape' of int8 is not in the list of allowed"
    ),
    "tf.reshape(x, [None, 2])": (ValueError, "Attempt to convert a value (None)"),
    "tf.reshape(x, tf.TensorShape([None, 2]))": (
        ValueError, "Cannot convert a partially known TensorShape (None, 2) to a Tensor."
    ),
    "tf.transpose(x, [0, 2])": (InvalidArgumentError, "2 is out of range [0 .. 2)"),
    "tf.transpose(x, [-3, 0])": (InvalidArgumentError, "-1 is out of range [0 .. 2)"),
    "tf.transpose(x, 0)": (InvalidArgumentError, "perm must be rank 1, got shape []"),
    "tf.linalg.matrix_transpose([1.0])": (
        ValueError,
        "should be a (batch) matrix with rank >= 2.  Received `a` = [1.] with shape: (1,)",
    ),
    "tf.expand_dims(x, -4)": (
        InvalidArgumentError, "Tried to expand dim index -4 for tensor with 2 dimensions"
    ),
    "tf.squeeze(ones(1, 2), -3)": (
        InvalidArgumentError, "Tried to squeeze dim index -3 for tensor with 2 dimensions"
    ),
    "tf.tile(x, [-1, 1])": (InvalidArgumentError, "Expected multiples[0] >= 0, but got -1"),
    "tf.tile(x, 2)": (InvalidArgumentError, "Expected multiples to be 1-D, but got shape []"),
    "tf.repeat(x, [1, 2], axis=1)": (ValueError, "Dimensions 3 and 2 are not compatible"),
    "tf.repeat(x, 2, axis=2)": (ValueError, "axis=2 out of bounds: expected -2<=axis<2"),
    "tf.repeat(x, -1, axis=0)": (InvalidArgumentError, "Expected multiples[1] >= 0, but got -1"),
    "tf.repeat(x, 1.5, axis=0)": (TypeError, "must be of type integer"),
    "tf.repeat(x, [[1, 2]], axis=0)": (ValueError, "Shape (1, 2) must have rank at most 1"),
    "tf.pad(x, [[0, 0]])": (
        InvalidArgumentError, "The first dimension of paddings must be the rank of inputs"
    ),
    "tf.pad(x, [[0, 0], [-1, 0]])": (
        InvalidArgumentError, "Paddings must be non-negative: -1 0"
    ),
    "tf.pad(x, [1, 1])": (InvalidArgumentError, "paddings must be a matrix with 2 columns: [2]"),
    "tf.pad(x, [[2, 0], [0, 0]], 'REFLECT')": (
        InvalidArgumentError, "paddings must be less than the dimension size: 2, 0 not less than 2"
    ),
    "tf.pad(x, [[3, 0], [0, 0]], 'SYMMETRIC')": (
        InvalidArgumentError,
        "paddings must be no greater than the dimension size: 3, 0 greater than 2",
    ),
    "tf.pad(x, [[1, 1], [1, 1]], 'foo')": (ValueError, "Received `mode` = FOO"),
    "tf.pad(x, [[0, 0], [1, 1]], constant_values=[9.0])": (
        InvalidArgumentError, "constant_values must be a scalar. Found: [1]"
    ),
    "tf.pad([1, 2], [[1, 1]], constant_values=0.5)": (
        TypeError, "Cannot convert 0.5 to EagerTensor of dtype int32"
    ),
    "tf.broadcast_to(x, [3])": (
        InvalidArgumentError, "Rank of input (2) must be no greater than rank of output shape (1)."
    ),
    "tf.broadcast_to(x, [-1, 2, 3])": (InvalidArgumentError, "Dimension -1 must be >= 0"),
    "tf.broadcast_to(s, 3)": (InvalidArgumentError, "shape must be a vector of {int32,int64}"),
    "tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3, 3]))": (
        ValueError, "Incompatible shapes for broadcasting."
    ),
    "tf.broadcast_dynamic_shape([2, 1], [3, 3])": (
        InvalidArgumentError, "Incompatible shapes: [2,1] vs. [3,3]"
    ),
    "tf.shape(x, tf.float32)": (InvalidArgumentError, "Value for attr 'out_type' of float"),
    "tf.ensure_shape(x, [3, None])": (
        InvalidArgumentError, "input [2,3] is not compatible with expected shape [3,?]."
    ),
    "tf.reverse(x, [0, -2])": (InvalidArgumentError, "axis 0 specified more than once."),
    "tf.reverse(x, [2])": (InvalidArgumentError, "'axis'[0] = 2 is out of valid range [0, 1"),
    "tf.reverse(x, 0)": (InvalidArgumentError, "'dims' must be 1-dimension, not 0"),
    "tf.roll(x, 1, 2)": (InvalidArgumentError, "axis 2 is out of range"),
    "tf.roll(x, 1, [0, 1])": (InvalidArgumentError, "shift and axis must have the same size"),
    "tf.roll(s, 1, 0)": (InvalidArgumentError, "input must be 1-D or higher"),
}  # fmt: skip


@pytest.mark.parametrize("expression", ERRORS)
def test_error(expression):
    error, message = ERRORS[expression]
    check_error(expression, error, message, names())


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("tf.squeeze(ones(1, 2, 1), tf.constant([0])).shape.as_list()", [2, 1]),
        ("tf.squeeze(ones(1, 2, 1), np.array(0)).shape.as_list()", [2, 1]),
        ("tf.broadcast_static_shape([2, 1], [3]).as_list()", [2, 3]),
    ],
)
def test_more_forms_of_arguments(expression, expected):
    assert eval(expression, names()) == expected


COMPOSITES = {
    "concat": lambda x: tf.concat([x, x * x], -1),
    "stack": lambda x: tf.stack([x, x * x], 1),
    "list of rows": lambda x: tf.convert_to_tensor([x[0], 2.0 * x[1]]),
    "unstack": lambda x: sum(tf.unstack(x * x, axis=1)),
    "split": lambda x: tf.split(x * x, [1, -1], 1)[1],
    "meshgrid": lambda x: sum(tf.meshgrid(x[0], x[1] * x[1], indexing="ij")),
    "reshape": lambda x: tf.reshape(x * x, [-1, 2]),
    "transpose": lambda x: tf.transpose(x * x),
    "expand_dims": lambda x: tf.expand_dims(x * x, 1),
    "squeeze": lambda x: tf.squeeze(tf.expand_dims(x * x, 1)),
    "broadcast_to": lambda x: tf.broadcast_to(x * x, [2, 2, 3]),
    "tile": lambda x: tf.tile(x * x, [2, 3]),
    "repeat": lambda x: tf.repeat(x * x, 2, axis=1),
    "repeat each": lambda x: tf.repeat(x * x, [2, 0, 1], axis=1),
    "pad": lambda x: tf.pad(x * x, [[1, 0], [0, 2]]),
    "pad with": lambda x: tf.pad(x * x, [[1, 0], [0, 2]], constant_values=3),
    "reflect": lambda x: tf.pad(x * x, [[1, 1], [2, 0]], "REFLECT"),
    "symmetric": lambda x: tf.pad(x * x, [[2, 1], [1, 3]], "SYMMETRIC"),
    "reverse": lambda x: tf.reverse(x * x, [1]),
    "roll": lambda x: tf.roll(x * x, [1, 5], [0, 1]),
    "ensure_shape": lambda x: tf.ensure_shape(x * x, [2, 3]),
}
POINT = np.random.default_rng(0).uniform(0.5, 2.0, (2, 3))


@pytest.mark.parametrize("function", COMPOSITES.values(), ids=COMPOSITES)
class TestDifferentiation:
    def test_gradient(self, function):
        check_gradient(function, POINT)

    @pytest.mark.beyond_tensorflow
    def test_batch(self, function):
        check_batch(function, POINT)


def test_gradients_of_what_is_cast_while_stacked(gradient_of):
    g = gradient_of(lambda a: tf.convert_to_tensor([a, 2.0], tf.float64), 5.0)
    assert g.dtype == tf.float32
    assert g.numpy() == 1.0


def test_shapes_have_no_gradient(gradient_of):
    def count(x):
        return tf.cast(tf.size(x) + tf.rank(x) + tf.shape(x)[0], tf.float32)

    assert gradient_of(count, [1.0, 2.0]) is None


def test_asking_for_its_shape_is_access_to_a_variable():
    v = tf.Variable([1.0])
    with tf.GradientTape() as tape:
        tf.shape(v)
    assert tape.watched_variables() == (v,)


def test_gradients_of_repetition_are_dense(gradient_of):
    g = gradient_of(lambda x: tf.repeat(x, [2, 1], axis=0), np.ones((2, 2)))
    assert isinstance(g, tf.Tensor)
    assert g.numpy().tolist() == [[2, 2], [1, 1]]


def test_constant_values_have_no_gradient(gradient_of):
    x, c = gradient_of(
        lambda x, c: tf.pad(x, [[1, 1]], constant_values=c), [1.0, 2.0], tf.constant(3.0)
    )
    assert x.numpy().tolist() == [1.0, 1.0]
    assert c is None
