"""Constants, zeros, ranges and their like: argument forms, dtypes, errors, gradients."""

import numpy as np
import pytest

import gradtape as tf
from composites import check_gradient
from expressions import check_error, check_gradients, check_value

InvalidArgumentError = tf.errors.InvalidArgumentError

CONSTANTS = [
    ("c([1, 2], shape=[2, 1])", "int32", [[1], [2]]),
    ("c(7, shape=c([2, 2]))", "int32", [[7, 7], [7, 7]]),
    ("c([7], shape=(2,))", "int32", [7, 7]),
    ("c([1, 2, 3, 4], shape=4)", "int32", [1, 2, 3, 4]),
    ("c([1], shape=[])", "int32", 1),
    ("c(1, shape=[0])", "int32", []),
    ("c([], shape=[0, 3])", "float32", np.zeros((0, 3))),
    ("c('a', shape=[2])", "string", [b"a", b"a"]),
    ("c(np.arange(4), shape=[2, 2])", "int64", [[0, 1], [2, 3]]),
    ("c(c([1.0, 2.0]), shape=[2, 1])", "float32", [[1], [2]]),
    ("c(V(1.0))", "float32", 1),
    ("c(value=1, dtype='float64', name='x')", "float64", 1),
]

FILLED = [
    ("tf.zeros([2, 1])", "float32", [[0], [0]]),
    ("tf.zeros(3)", "float32", [0, 0, 0]),
    ("tf.zeros([])", "float32", 0),
    ("tf.zeros((0, 2))", "float32", np.zeros((0, 2))),
    ("tf.zeros(c([1, 2], tf.int64))", "float32", [[0, 0]]),
    ("tf.zeros(c(2))", "float32", [0, 0]),
    ("tf.zeros(np.array([1, 2]))", "float32", [[0, 0]]),
    ("tf.zeros(np.int64(2))", "float32", [0, 0]),
    ("tf.zeros([c(1), 2])", "float32", [[0, 0]]),
    ("tf.zeros(tf.TensorShape([1, 2]))", "float32", [[0, 0]]),
    ("tf.zeros([2], tf.string)", "string", [b"", b""]),
    ("tf.zeros([2], tf.bool)", "bool", [False, False]),
    ("tf.zeros([1], np.complex64)", "complex64", [0]),
    ("tf.ones([2], tf.bfloat16)", "bfloat16", [1, 1]),
    ("tf.ones([], 'int64')", "int64", 1),
    ("tf.ones(shape=[1], dtype=tf.bool, name='x')", "bool", [True]),
    ("tf.zeros_like([1, 2])", "int32", [0, 0]),
    ("tf.zeros_like(c(['a']))", "string", [b""]),
    ("tf.zeros_like(V([1.0, 2.0]), tf.int32)", "int32", [0, 0]),
    ("tf.zeros_like(3)", "int32", 0),
    ("tf.ones_like(np.ones((2, 0)))", "float64", np.ones((2, 0))),
    ("tf.ones_like(input=[1.0], dtype='bool')", "bool", [True]),
    ("tf.fill([1, 2], 9)", "int32", [[9, 9]]),
    ("tf.fill([], 9.0)", "float32", 9),
    ("tf.fill(c([2]), 'a')", "string", [b"a", b"a"]),
    ("tf.fill(2, True)", "bool", [True, True]),
    ("tf.fill([c(2)], np.float64(3))", "float64", [3, 3]),
    ("tf.fill(dims=[2], value=[3])", "int32", [3, 3]),
    ("tf.fill([0, 2], 3)", "int32", np.zeros((0, 2))),
    ("tf.fill([2], V(3.0))", "float32", [3, 3]),
    ("tf.eye(2)", "float32", [[1, 0], [0, 1]]),
    ("tf.eye(3, 2, dtype=tf.int32)", "int32", [[1, 0], [0, 1], [0, 0]]),
    ("tf.linalg.eye(1, 2, [2])", "float32", [[[1, 0]], [[1, 0]]]),
    ("tf.eye(c(1), c(2), dtype='bool')", "bool", [[True, False]]),
    ("tf.eye(np.int64(1), batch_shape=c([2]))", "float32", [[[1]], [[1]]]),
    ("tf.eye(1, batch_shape=[])", "float32", [[1]]),
    ("tf.eye(0)", "float32", np.zeros((0, 0))),
    ("tf.eye(1, dtype=tf.bfloat16)", "bfloat16", [[1]]),
]

RANGES = [
    ("tf.range(3)", "int32", [0, 1, 2]),
    ("tf.range(1, 4)", "int32", [1, 2, 3]),
    ("tf.range(4, 1, -2)", "int32", [4, 2]),
    ("tf.range(start=3, limit=5, delta=1, name='x')", "int32", [3, 4]),
    ("tf.range(3, delta=2)", "int32", [0, 2]),
    ("tf.range(0)", "int32", []),
    ("tf.range(1.0, 1.0)", "float32", []),
    ("tf.range(3.0)", "float32", [0, 1, 2]),
    ("tf.range(1, 2, 0.5)", "float32", [1, 1.5]),
    ("tf.range(0.0, 1.0, 0.1)", "float32", np.arange(10) / 10),
    ("tf.range(1.0, 0.0, -0.25)", "float32", [1, 0.75, 0.5, 0.25]),
    ("tf.range(3, dtype=tf.float16)", "float16", [0, 1, 2]),
    ("tf.range(2, dtype=tf.bfloat16)", "bfloat16", [0, 1]),
    ("tf.range(2**40, 2**40 + 2)", "int64", [2**40, 2**40 + 1]),
    ("tf.range(c(1, tf.int64), c(3))", "int64", [1, 2]),
    ("tf.range(c(1, tf.int64), 3.0)", "float32", [1, 2]),
    ("tf.range(c(1.0, tf.float64), 3.0)", "float64", [1, 2]),
    ("tf.range(c(2.0), dtype=tf.float64)", "float64", [0, 1]),
    ("tf.range(c(1.0), 3, dtype=tf.int32)", "int32", [1, 2]),
    ("tf.range(np.int64(2))", "int64", [0, 1]),
    ("tf.range(np.float32(2))", "float32", [0, 1]),
    ("tf.range(V(2))", "int32", [0, 1]),
    ("tf.range([2])", "int32", [0, 1]),
    ("tf.range(2147483640, 2147483647, 5)", "int32", [2147483640, 2147483645]),
    ("tf.linspace(0.0, 1.0, 3)", "float32", [0, 0.5, 1]),
    ("tf.linspace(0, 5, c(3))", "float64", [0, 2.5, 5]),
    ("tf.linspace(0.0, 1, 2)", "float32", [0, 1]),
    ("tf.linspace(3.0, 1.0, 1)", "float32", [3]),
    ("tf.linspace(3.0, 1.0, 0)", "float32", []),
    ("tf.linspace(1.0, 0.1, 4)", "float32", [1, 0.7, 0.4, 0.1]),
    ("tf.linspace([0.0, 10.0], [1.0, 20.0], 3)", "float32", [[0, 10], [0.5, 15], [1, 20]]),
    ("tf.linspace([0.0, 10.0], [1.0, 20.0], 3, axis=-1)", "float32", [[0, 0.5, 1], [10, 15, 20]]),
    ("tf.linspace([0.0, 10.0], [1.0, 20.0], 2, axis=c(1))", "float32", [[0, 1], [10, 20]]),
    ("tf.linspace(1.0, [0.0, 10.0], 3)", "float32", [[1, 1], [0.5, 5.5], [0, 10]]),
    ("tf.linspace([0.0, 1.0], [1.0], 2)", "float32", [[0, 1], [1, 1]]),
    ("tf.linspace(0j, 1j, 3)", "complex128", [0, 0.5j, 1j]),
    ("tf.linspace(c(0.0, tf.bfloat16), c(1.0, tf.bfloat16), 3)", "bfloat16", [0, 0.5, 1]),
    ("tf.linspace(start=5.0, stop=5.0, num=3, name='x')", "float32", [5, 5, 5]),
]

SAME = [
    ("tf.identity([1.0, 2.0])", "float32", [1, 2]),
    ("tf.identity(V('a'))", "string", b"a"),
    ("tf.identity_n([c(1.0), [2]])[1]", "int32", [2]),
    ("tf.stop_gradient(V([1.0]))", "float32", [1]),
]


@pytest.mark.parametrize(("expression", "dtype", "value"), CONSTANTS + FILLED + RANGES + SAME)
def test_value(expression, dtype, value):
    check_value(expression, dtype, value)


ERRORS = [
    ("c([1, 2, 3], shape=[2])", TypeError, "3 elements, but got `shape` (2,) with 2 elements)."),
    ("c([1, 2], shape=[None, 2])", TypeError, "but got `shape` (None, 2) with None elements)."),
    ("c([1, 2], shape=[-1])", ValueError, "Dimension -1 must be >= 0"),
    ("c([c(1.0), 2.0])", ValueError, " "),
    ("c([V(1.0)])", ValueError, " "),
    ("tf.zeros([-1])", InvalidArgumentError, "Dimension -1 must be >= 0 [Op:Fill]"),
    ("tf.ones([[2, 2]])", InvalidArgumentError, "dims must represent a vector, got shape [1,2]"),
    ("tf.zeros([2.5])", TypeError, "Cannot convert [2.5] to EagerTensor of dtype int32"),
    ("tf.zeros('a')", TypeError, "Cannot convert 'a' to EagerTensor of dtype int32"),
    ("tf.zeros(None)", ValueError, "Attempt to convert a value (None)"),
    ("tf.zeros(tf.TensorShape([None]))", ValueError, "partially known TensorShape (None,)"),
    ("tf.ones([2], tf.string)", TypeError, "Cannot convert 1 to EagerTensor of dtype string"),
    ("tf.ones_like(['a'])", InvalidArgumentError, "'T' of string is not in the list of allowed"),
    ("tf.zeros_like(None)", ValueError, "Attempt to convert a value (None)"),
    ("tf.fill([2], [3, 4])", InvalidArgumentError, "value must represent a scalar, got shape [2]"),
    ("tf.fill([[1]], 3)", InvalidArgumentError, "dims must represent a vector, got shape [1,1]"),
    ("tf.fill([-1], 3)", InvalidArgumentError, "Dimension -1 must be >= 0 [Op:Fill]"),
    ("tf.fill([1.5], 3)", InvalidArgumentError, "Value for attr 'index_type' of float is not in"),
    ("tf.eye(-1)", InvalidArgumentError, "Dimension -1 must be >= 0"),
    (
        "tf.eye(2.5)",
        TypeError,
        "`num_rows` and `num_columns` must be positive integer values. Received: num_rows=2.5, ",
    ),
    ("tf.eye([2])", TypeError, "Received: num_rows=[2], num_columns=[2]"),
    ("tf.eye(1, dtype=tf.string)", TypeError, "Cannot convert 1 to EagerTensor of dtype string"),
    ("tf.range(1, 4, 0)", InvalidArgumentError, "Requires delta != 0: 0 [Op:Range]"),
    ("tf.range(4, 1)", InvalidArgumentError, "Requires start <= limit when delta > 0: 4/1"),
    ("tf.range(1, 4, -1)", InvalidArgumentError, "Requires start >= limit when delta < 0: 1/4"),
    ("tf.range(0.0, 5.0, nan)", InvalidArgumentError, "when delta < 0: 0"),
    ("tf.range([1, 2], 5)", InvalidArgumentError, "start must be a scalar, not shape [2]"),
    ("tf.range(3.5, dtype=tf.int32)", TypeError, "Cannot convert 3.5 to EagerTensor of dtype"),
    ("tf.range(3, dtype=tf.complex64)", InvalidArgumentError, "complex64 is not in the list of"),
    ("tf.range(3, dtype=tf.uint8)", InvalidArgumentError, "uint8 is not in the list of"),
    ("tf.linspace(0.0, 1.0, -1)", InvalidArgumentError, "Requires "),
    ("tf.linspace(0.0, 1.0, 2.5)", TypeError, "2.5"),
    ("tf.linspace(0.0, 1.0, 2, axis=1)", InvalidArgumentError, "Tried to expand dim index 1 for"),
    ("tf.linspace(A(2), A(3), 2)", InvalidArgumentError, "Incompatible shapes: [2] vs. [3]"),
    ("tf.linspace(c(0), c(1.0), 2)", ValueError, "requested dtype int32 for Tensor with dtype"),
    ("tf.identity(None)", ValueError, "Attempt to convert a value (None)"),
    ("tf.stop_gradient({'a': 1})", ValueError, "Attempt to convert a value ({'a': 1})"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "error", "message"), ERRORS)
def test_error(expression, error, message):
    check_error(expression, error, message)


@pytest.mark.parametrize("function", [tf.identity, tf.stop_gradient])
def test_a_new_tensor_and_parts_of_slices(function):
    x = tf.constant([1.0])
    assert function(x) is not x
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([1]), tf.constant([3, 1]))
    same = function(slices)
    assert isinstance(same, tf.IndexedSlices)
    assert same.values.numpy().tolist() == [[1.0]]
    assert same.indices.numpy().tolist() == [1]


# name -> function, points, value, gradients
GRADIENTS = {
    "constant": (tf.constant, [[1, 2]], [1, 2], [[1, 1]]),
    "constant in a shape": (lambda x: tf.constant(x, shape=[2, 1]), [[1, 2]], [[1], [2]], [None]),
    "zeros_like": (tf.zeros_like, [[1, 2]], [0, 0], [None]),
    "fill": (lambda x: tf.fill([2, 2], x), [3], [[3, 3], [3, 3]], [4]),
    "range": (tf.range, [3], [0, 1, 2], [None]),
    "linspace": (
        lambda a, b: tf.linspace(a, b, 3) * [1, 2, 3],
        [0, 1],
        [0, 1, 3],
        [2, 4],
    ),
    "linspace, one": (lambda a, b: tf.linspace(a, b, 1), [0, 1], [0], [1, 0]),
    "identity_n": (lambda x: tf.identity_n([x, 2.0 * x])[1], [3], 6, [2]),
    "stop_gradient": (lambda x: x * tf.stop_gradient(x), [3], 9, [3]),
}


@pytest.mark.parametrize(
    ("function", "points", "value", "gradients"), GRADIENTS.values(), ids=GRADIENTS
)
def test_gradient(function, points, value, gradients):
    check_gradients(function, points, value, gradients)


def test_composite():
    x = np.random.default_rng(9).standard_normal((2, 3))
    check_gradient(lambda x: tf.linspace(x[0], x[1] * x[1], 4, axis=1), x)


def test_the_end_of_linspace_is_exact():
    for stop in np.random.default_rng(10).uniform(-1e3, 1e3, 50).astype(np.float32):
        assert tf.linspace(np.float32(0.1), stop, 7).numpy()[-1] == stop


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize("dtype", ["int8", "int16", "uint16", "uint32", "uint64"])
def test_range_has_every_integer_dtype_but_uint8(dtype):
    check_value(f"tf.range(3, dtype=tf.{dtype})", dtype, [0, 1, 2])


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize("start", ["c(1, tf.int8)", "'a'", "True"])
def test_range_says_which_dtypes_it_takes(start):
    """TensorFlow raises an AssertionError without a word."""
    check_error(f"tf.range({start})", TypeError, "tf.range finds its dtype among int32, int64")


@pytest.mark.beyond_tensorflow
def test_constant_says_what_to_do_with_tensors():
    check_error("c([c(1.0), 2.0])", ValueError, "use tf.stack or tf.convert_to_tensor")
