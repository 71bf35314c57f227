"""Which dtype a value gets, which operands go together, and what is refused."""

import operator

import numpy as np
import pytest

import gradtape as tf

InvalidArgumentError = tf.errors.InvalidArgumentError
NAMES = {
    "tf": tf,
    "np": np,
    "c": tf.constant,
    "i": tf.constant([1, 2]),
    "f": tf.constant([1.0, 2.0]),
    "d": tf.constant([1.0, 2.0], tf.float64),
    "b": tf.constant([True, False]),
}


def evaluate(expression):
    return eval(expression, dict(NAMES))


def check(expression, dtype, value):
    result = evaluate(expression)
    assert result.dtype.name == dtype
    np.testing.assert_array_equal(np.asarray(result), value)


CONSTANTS = [
    ("c(1)", "int32", 1),
    ("c(2**31)", "int64", 2**31),
    ("c([1, 2**40])", "int64", [1, 2**40]),
    ("c(1.5)", "float32", 1.5),
    ("c([1, 2.0])", "float32", [1.0, 2.0]),
    ("c(True)", "bool", True),
    ("c([1, True])", "int32", [1, 1]),
    ("c('a')", "string", b"a"),
    ("c(b'a')", "string", b"a"),
    ("c(1 + 2j)", "complex128", 1 + 2j),
    ("c([])", "float32", []),
    ("c(range(3))", "int32", [0, 1, 2]),
    ("c(np.float64(1.5))", "float64", 1.5),
    ("c([np.float64(1), np.float64(2)])", "float64", [1.0, 2.0]),
    ("c(np.array([1, 2]))", "int64", [1, 2]),
    ("c(np.array(['a']))", "string", [b"a"]),
    ("c(np.float16(0.5))", "float16", 0.5),
    ("c(1, tf.float64)", "float64", 1.0),
    ("c([1, 2], 'float32')", "float32", [1.0, 2.0]),
    ("c([1, 2], np.float64)", "float64", [1.0, 2.0]),
    ("c(True, tf.int32)", "int32", 1),
    ("c(np.array([1.5]), tf.int32)", "int32", [1]),
    ("c(300, tf.uint8)", "uint8", 44),
    ("c(-1, tf.uint8)", "uint8", 255),
    ("c([1, 2, 3, 4], shape=[2, 2])", "int32", [[1, 2], [3, 4]]),
    ("c(7, shape=[2, 2])", "int32", [[7, 7], [7, 7]]),
    ("tf.convert_to_tensor([c(1.), 2.])", "float32", [1.0, 2.0]),
    ("tf.convert_to_tensor(1, dtype_hint=tf.float32)", "float32", 1.0),
    ("tf.cast(c(2.9), tf.int32)", "int32", 2),
    ("tf.cast(c(-2.9), tf.int32)", "int32", -2),
    ("tf.cast(c(float('nan')), tf.int32)", "int32", -(2**31)),
    ("tf.cast(c(3), tf.bool)", "bool", True),
    ("tf.cast(c(300), tf.uint8)", "uint8", 44),
    ("tf.cast(2, tf.float32)", "float32", 2.0),
    ("c(1.) // c(.1)", "float32", 10.0),
    ("tf.constant([6., float('inf')]) // tf.constant([.3, 2.])", "float32", [20.0, float("inf")]),
    ("tf.math.divide_no_nan([1, 2], [0, 4])", "float64", [0.0, 0.5]),
    ("tf.math.divide_no_nan(c(1, tf.int8), c(2, tf.int8))", "float32", 0.5),
    ("tf.math.divide_no_nan(1., 2)", "float32", 0.5),
    ("tf.math.divide_no_nan(c(3.), c(0.))", "float32", 0.0),
    ("tf.math.divide_no_nan(c([1., 2.]), c(0.))", "float32", [0.0, 0.0]),
    ("tf.zeros([2])", "float32", [0.0, 0.0]),
    ("tf.zeros([1], tf.string)", "string", [b""]),
    ("tf.ones([], tf.int64)", "int64", 1),
    ("tf.zeros_like(i)", "int32", [0, 0]),
    ("tf.ones_like(b)", "bool", [True, True]),
    ("tf.fill([2], 3)", "int32", [3, 3]),
    ("tf.fill([2], 3.)", "float32", [3.0, 3.0]),
    ("tf.eye(2, 3)", "float32", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    ("tf.one_hot([0, 3, -1], 2)", "float32", [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]),
    ("tf.range(3)", "int32", [0, 1, 2]),
    ("tf.range(5, 0, -2)", "int32", [5, 3, 1]),
    ("tf.range(1., 2., .5)", "float32", [1.0, 1.5]),
    ("tf.range(3, dtype=tf.float32)", "float32", [0.0, 1.0, 2.0]),
    ("tf.linspace(0, 1, 3)", "float64", [0.0, 0.5, 1.0]),
    ("tf.linspace(0., 1., 3)", "float32", [0.0, 0.5, 1.0]),
]


@pytest.mark.parametrize(("expression", "dtype", "value"), CONSTANTS)
def test_creation(expression, dtype, value):
    check(expression, dtype, value)


OPERANDS = [
    ("f + 1", "float32", [2.0, 3.0]),
    ("1.5 * f", "float32", [1.5, 3.0]),
    ("d + 1", "float64", [2.0, 3.0]),
    ("c(1., tf.float16) * 1e6", "float16", np.inf),
    ("c(1j, tf.complex64) * 2", "complex64", 2j),
    ("f + [1, 2]", "float32", [2.0, 4.0]),
    ("i * np.array([1.5, 2.5])", "int32", [1, 4]),
    ("f * np.array([1.5, 2.5])", "float32", [1.5, 5.0]),
    ("np.array([1.5, 2.5]) * f", "float32", [1.5, 5.0]),
    ("np.float64(1.5) * f", "float32", [1.5, 3.0]),
    ("tf.multiply(np.array([1., 2.]), f)", "float32", [1.0, 4.0]),
    ("tf.multiply(2, f)", "float32", [2.0, 4.0]),
    ("tf.maximum(0, f)", "float32", [1.0, 2.0]),
    ("tf.where([True, False], 0, f)", "float32", [0.0, 2.0]),
    ("tf.concat([[3], f], 0)", "float32", [3.0, 1.0, 2.0]),
    ("tf.stack([[1, 2], f])", "float32", [[1.0, 2.0], [1.0, 2.0]]),
    ("c(1) + 2**31", "int32", 1 - 2**31),
    ("b * b", "bool", [True, False]),
    ("i / i", "float64", [1.0, 1.0]),
    ("i / 2", "float64", [0.5, 1.0]),
    ("c(1, tf.int8) / c(2, tf.int8)", "float32", 0.5),
    ("c(1, tf.uint16) / c(2, tf.uint16)", "float32", 0.5),
    ("c(1, tf.uint32) / c(2, tf.uint32)", "float64", 0.5),
    ("i / 0", "float64", [np.inf, np.inf]),
    ("c(-7) // 2", "int32", -4),
    ("c(-7) % 2", "int32", 1),
    ("c(7) % -2", "int32", -1),
    ("c(-7.) // 2", "float32", -4.0),
    ("c(-7.) % 2", "float32", 1.0),
    ("c(2) ** 3", "int32", 8),
    ("c(-8.) ** (1 / 3)", "float32", np.nan),
    ("tf.nn.relu(-i)", "int32", [0, 0]),
    ("tf.square(i)", "int32", [1, 4]),
    ("tf.abs(-i)", "int32", [1, 2]),
    ("tf.reduce_mean([1, 2, 4])", "int32", 2),
    ("tf.argmax([1, 3, 3])", "int64", 1),
    ("tf.where([True, False, True])", "int64", [[0], [2]]),
    ("tf.reduce_sum(c([]))", "float32", 0.0),
    ("tf.reduce_prod(c([]))", "float32", 1.0),
    ("tf.reduce_mean(c([]))", "float32", np.nan),
    ("tf.reduce_max(c([]))", "float32", -np.inf),
    ("tf.reduce_min(c([]))", "float32", np.inf),
    ("tf.reduce_all(c([], tf.bool))", "bool", True),
    ("tf.reduce_any(c([], tf.bool))", "bool", False),
]


@pytest.mark.parametrize(("expression", "dtype", "value"), OPERANDS)
def test_operands(expression, dtype, value):
    check(expression, dtype, value)


REFUSED_VALUES = [
    ("c(1.5, tf.int32)", TypeError, r"Cannot convert 1\.5 to EagerTensor of dtype int32"),
    ("c(1, tf.bool)", TypeError, "Cannot convert 1 to EagerTensor of dtype bool"),
    ("c('a', tf.float32)", TypeError, "Cannot convert 'a' to EagerTensor of dtype float"),
    ("c([1., 'a'])", ValueError, "sequence with mixed types"),
    ("c([[1], [1, 2]])", ValueError, "non-rectangular Python sequence"),
    ("c(None)", ValueError, r"convert a value \(None\) with an unsupported type"),
    ("c({})", ValueError, r"convert a value \(\{\}\) with an unsupported type"),
    ("c(2**70)", ValueError, "out-of-range integer"),
    ("c(1e50)", ValueError, "out of range"),
    ("c([1, 2, 3], shape=[2, 2])", TypeError, r"3 elements.*shape.*\(2, 2\) with 4 elements"),
    ("c(c(1.), tf.float64)", TypeError, r"dtype tf\.float64, but got dtype tf\.float32"),
    (
        "tf.convert_to_tensor(i, tf.float32)",
        ValueError,
        "dtype float32 for Tensor with dtype int32",
    ),
    ("tf.cast(c('1'), tf.float32)", tf.errors.UnimplementedError, "Cast string to float"),
    ("tf.range(0, 5, 0)", InvalidArgumentError, "Requires delta != 0"),
    ("tf.as_dtype('foo')", TypeError, "'foo' to a TensorFlow DType"),
    ("c(1, 'foo')", TypeError, "'foo' to a TensorFlow DType"),
]
REFUSED_OPERANDS = [
    ("i * 2.0", TypeError, r"Cannot convert 2\.0 to EagerTensor of dtype int32"),
    ("i - 1.0", TypeError, r"Cannot convert 1\.0 to EagerTensor of dtype int32"),
    ("i ** 2.0", TypeError, r"Cannot convert 2\.0 to EagerTensor of dtype int32"),
    ("i < 1.5", TypeError, r"Cannot convert 1\.5 to EagerTensor of dtype int32"),
    ("2.0 / i", TypeError, r"Cannot convert 2\.0 to EagerTensor of dtype int32"),
    ("i + 1.5", InvalidArgumentError, "AddV2.*int32 tensor but is a float tensor"),
    ("i / 2.0", TypeError, r"same dtype, got tf\.int32 != tf\.float32"),
    ("f / i", TypeError, r"same dtype, got tf\.float32 != tf\.int32"),
    ("tf.add(np.array([1., 2.]), f)", InvalidArgumentError, "AddV2.*double.*float tensor"),
    ("tf.matmul(np.ones((1, 2)), f[:, None])", InvalidArgumentError, "MatMul.*double.*float"),
    ("f + d", InvalidArgumentError, "AddV2.*a float tensor but is a double tensor"),
    ("f + c(['a', 'b'])", InvalidArgumentError, "AddV2.*a float tensor but is a string tensor"),
    ("f + None", ValueError, r"convert a value \(None\)"),
    ("i // 0", InvalidArgumentError, "Integer division by zero"),
    ("i % 0", InvalidArgumentError, "Integer division by zero"),
    ("i ** -1", InvalidArgumentError, "Integers to negative integer powers are not allowed"),
]


@pytest.mark.parametrize(("expression", "error", "message"), REFUSED_VALUES + REFUSED_OPERANDS)
def test_refused(expression, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        evaluate(expression)


@pytest.mark.parametrize(
    ("expression", "op"),
    [
        ("f + i", "AddV2"),
        ("f - i", "Sub"),
        ("f * i", "Mul"),
        ("f ** i", "Pow"),
        ("f // i", "FloorDiv"),
        ("f % i", "FloorMod"),
        ("f < i", "Less"),
        ("f == i", "Equal"),
        ("tf.maximum(f, i)", "Maximum"),
        ("f[None] @ i[:, None]", "MatMul"),
        ("tf.stack([f, i])", "Pack"),
        ("tf.concat([f, i], 0)", "ConcatV2"),
        ("tf.where([True, False], f, i)", "SelectV2"),
    ],
)
def test_tensors_are_never_promoted(expression, op):
    message = rf"cannot compute {op} as input #[12]\(zero-based\) was expected to be a float tensor"
    with pytest.raises(InvalidArgumentError, match=message + " but is a int32 tensor"):
        evaluate(expression)


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        ("b + b", "bool"),
        ("tf.sqrt(i)", "int32"),
        ("tf.exp(i)", "int32"),
        ("tf.sin(i)", "int32"),
        ("tf.sigmoid(i)", "int32"),
        ("tf.nn.softmax(i)", "int32"),
        ("tf.norm(i)", "int32"),
    ],
)
def test_dtypes_an_op_does_not_have(expression, dtype):
    message = f"{dtype} is not in the list of allowed values"
    with pytest.raises(InvalidArgumentError, match=message):
        evaluate(expression)


def test_a_list_of_tensors_is_stacked_differentiably(gradient_of):
    gradient = gradient_of(lambda x: tf.convert_to_tensor([x, 2.0]) * [3.0, 4.0], 5.0)
    assert float(gradient) == 3.0


class TestErrorObjects:
    def test_class_and_fields(self):
        with pytest.raises(InvalidArgumentError) as caught:
            evaluate("f + c([1., 2., 3.])")
        error = caught.value
        assert isinstance(error, tf.errors.OpError)
        assert not isinstance(error, ValueError)
        assert error.error_code == 3
        assert "Incompatible shapes" in error.message
        assert (error.op, error.node_def) == (None, None)


class TestSameObject:
    def test_conversions_that_change_nothing(self):
        t = tf.constant([1.0, 2.0])
        assert tf.cast(t, tf.float32) is t
        assert tf.convert_to_tensor(t) is t
        assert tf.convert_to_tensor(t, tf.float32) is t
        assert tf.identity(t) is not t


class TestDType:
    def test_equality(self):
        assert tf.float32 == "float32"
        assert tf.float32 == np.float32
        assert tf.float32 != "foo"
        assert tf.float32 != None  # noqa: E711
        assert len({tf.float32, tf.as_dtype("float32"), tf.as_dtype(np.float32)}) == 1

    def test_conversion(self):
        assert tf.as_dtype(np.int8) is tf.int8
        assert tf.as_dtype(float) is tf.float32
        assert tf.dtypes.as_dtype("half") is tf.float16

    def test_properties(self):
        assert (tf.float32.name, tf.float32.size) == ("float32", 4)
        assert tf.float32.as_numpy_dtype is np.float32
        assert tf.complex64.real_dtype is tf.float32
        assert (tf.int8.min, tf.int8.max) == (-128, 127)
        kinds = [
            (tf.bfloat16.is_floating, tf.complex64.is_floating),
            (tf.uint8.is_integer, tf.bool.is_integer),
            (tf.complex128.is_complex, tf.float64.is_complex),
            (tf.bool.is_bool, tf.int32.is_bool),
            (tf.uint8.is_unsigned, tf.int8.is_unsigned),
        ]
        assert kinds == [(True, False)] * 5


class TestTensorShape:
    def test_like_a_sequence(self):
        shape = tf.TensorShape([2, 3])
        assert shape == [2, 3]
        assert shape == (2, 3)
        assert shape != [3, 2]
        assert (shape[0], len(shape), list(shape)) == (2, 2, [2, 3])
        assert shape[:1] == tf.TensorShape([2])
        assert operator.add(shape, [4]) == [2, 3, 4]
        assert shape.as_list() == [2, 3]
        assert (shape.rank, shape.ndims, shape.num_elements()) == (2, 2, 6)

    @pytest.mark.parametrize(
        ("dimensions", "text"),
        [([3], "(3,)"), ([], "()"), ([2, None], "(2, None)"), (None, "<unknown>")],
    )
    def test_str(self, dimensions, text):
        assert str(tf.TensorShape(dimensions)) == text
        assert repr(tf.TensorShape(dimensions)) == f"TensorShape({dimensions})"

    def test_partly_known(self):
        shape = tf.TensorShape([2, None])
        assert not shape.is_fully_defined()
        assert shape.num_elements() is None
        assert shape.is_compatible_with([2, 5])
        assert not shape.is_compatible_with([3, 5])
        assert shape.merge_with([None, 3]) == [2, 3]

    def test_unknown(self):
        assert tf.TensorShape(None).rank is None
        with pytest.raises(ValueError, match="unknown TensorShape"):
            tf.TensorShape(None).as_list()

    @pytest.mark.parametrize(("dimensions", "error"), [([-1], ValueError), (["a"], TypeError)])
    def test_bad_dimensions(self, dimensions, error):
        with pytest.raises(error, match="Dimension"):
            tf.TensorShape(dimensions)


def test_integers_beyond_int64_fit_uint64_and_floats_fit_no_integers():
    assert tf.constant([1, 2**63], tf.uint64).numpy().tolist() == [1, 2**63]
    with pytest.raises(TypeError, match="Cannot convert"):
        tf.constant([1, 2.5], tf.int32)


@pytest.mark.parametrize("value", [[], [[], []], np.zeros([0, 2])], ids=str)
def test_nothing_can_be_strings(value):
    empty = tf.constant(value, tf.string)
    assert (empty.dtype, empty.shape) == (tf.string, np.shape(value))
    with pytest.raises(TypeError, match="Cannot convert"):
        tf.constant([1.0], tf.string)
