"""The dtypes of `tf.dtypes.experimental`: numbers of 8 bits and fewer, to store and to cast."""

import ml_dtypes
import numpy as np
import pytest

import gradtape as tf

experimental = tf.dtypes.experimental
FLOAT8 = (experimental.float8_e5m2, experimental.float8_e4m3fn)
# Name, number in serialised tensors, smallest and largest value, as TensorFlow has them.
FACTS = [
    ("float8_e5m2", 24, -57344, 57344),
    ("float8_e4m3fn", 25, -448, 448),
    ("float8_e4m3fnuz", 26, -240, 240),
    ("float8_e4m3b11fnuz", 27, -30, 30),
    ("float8_e5m2fnuz", 28, -57344, 57344),
    ("int4", 29, -8, 7),
    ("uint4", 30, 0, 15),
    ("int2", 31, -2, 1),
    ("uint2", 32, 0, 3),
    ("float4_e2m1fn", 33, -6, 6),
]
NAMES = [fact[0] for fact in FACTS]


@pytest.mark.parametrize(("name", "number", "low", "high"), FACTS)
def test_properties(name, number, low, high):
    dtype = getattr(experimental, name)
    assert dtype is tf.as_dtype(name) is tf.as_dtype(number) is tf.as_dtype(dtype.as_numpy_dtype)
    assert repr(dtype) == f"tf.{name}"
    assert str(dtype) == f"<dtype: '{name}'>"
    assert not hasattr(tf, name)
    assert (dtype.as_datatype_enum, dtype.size) == (number, 1)
    assert (float(dtype.min), float(dtype.max)) == (low, high)
    assert dtype.as_numpy_dtype is getattr(ml_dtypes, name)
    assert dtype.is_floating == name.startswith("float")
    assert dtype.is_integer == ("int" in name)
    assert dtype.is_unsigned == name.startswith("uint")
    assert not dtype.is_numeric
    assert not dtype.is_complex
    with pytest.raises(ValueError, match="does not have defined limits"):
        dtype.limits  # noqa: B018


def test_limits_are_those_of_colours():
    assert tf.float32.limits == (0, 1)
    assert tf.int8.limits == (0, 127)
    with pytest.raises(ValueError, match="bfloat16'> does not have defined limits"):
        tf.bfloat16.limits  # noqa: B018


# What TensorFlow's tf.cast makes of these float32 values: beyond the largest number e4m3fn has
# only NaN to go to, and e5m2 has infinity; neither saturates. Halves are rounded to even.
VALUES = [0.3, 1.7, -9.0, 17.0, 249.0, 464.0, 465.0, -480.0, 6e4, 61440.0, np.inf, 1e-3, 2**-10]
AS_E5M2 = [0.3125, 1.75, -8, 16, 256, 448, 448, -512, 57344, np.inf, np.inf, 2**-10, 2**-10]
AS_E4M3FN = [0.3125, 1.75, -9, 16, 256, 448] + [np.nan] * 5 + [2**-9, 0]


@pytest.mark.parametrize("source", ["float16", "float32", "float64", "bfloat16"])
@pytest.mark.parametrize(
    ("goal", "expected"), list(zip(FLOAT8, [AS_E5M2, AS_E4M3FN], strict=True)), ids=str
)
def test_casts_of_floats(source, goal, expected):
    found = tf.cast(tf.cast(VALUES, source), goal)
    assert found.dtype is goal
    if source == "bfloat16":  # which rounds 465 to 464
        expected = [448 if value == 465 else e for value, e in zip(VALUES, expected, strict=True)]
    np.testing.assert_array_equal(tf.cast(found, tf.float64).numpy(), expected)


def test_saturate_cast():
    for dtype, limit in zip(FLOAT8, (57344, 448), strict=True):
        found = tf.saturate_cast([1.7, 1e6, -np.inf, np.nan], dtype)
        assert found.dtype is dtype
        np.testing.assert_array_equal(found.numpy().astype(float), [1.75, limit, -limit, np.nan])


@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_casts_to_other_dtypes(dtype):
    x = tf.constant([0.0, 1.75, -2.5, 16.0], dtype)
    for name in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128"):
        assert tf.cast(x, name).numpy().tolist() == [0, 1.75, -2.5, 16]
    for name in ("int8", "int16", "int32", "int64"):
        assert tf.cast(x, name).numpy().tolist() == [0, 1, -2, 16]
    assert tf.cast(tf.abs(tf.cast(x, "float32")), "uint8").numpy().tolist() == [0, 1, 2, 16]
    assert tf.cast(x, "bool").numpy().tolist() == [False, True, True, True]
    for other in FLOAT8:
        assert tf.cast(x, other).numpy().astype(float).tolist() == [0, 1.75, -2.5, 16]


def test_casts_of_four_bits_wrap_around():
    x = tf.constant([0, 7, 8, 17, -1, -9])
    assert tf.cast(x, "int4").numpy().astype(int).tolist() == [0, 7, -8, 1, -1, 7]
    assert tf.cast(x, "uint4").numpy().astype(int).tolist() == [0, 7, 8, 1, 15, 7]
    small = tf.constant([-8, -1, 7], "int4")
    assert tf.cast(small, "uint4").numpy().astype(int).tolist() == [8, 15, 7]
    assert tf.cast(small, "uint16").numpy().tolist() == [65528, 65535, 7]
    assert tf.cast(tf.constant([15, 8], "uint4"), "int4").numpy().astype(int).tolist() == [-1, -8]


@pytest.mark.parametrize(
    ("source", "goal", "words"),
    [
        ("int32", "float8_e5m2", "int32 to float8_e5m2"),
        ("bool", "float8_e4m3fn", "bool to float8_e4m3fn"),
        ("complex64", "float8_e4m3fn", "complex64 to float8_e4m3fn"),
        ("float32", "float8_e4m3fnuz", "float to float8_e4m3fnuz"),
        ("float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fn to float8_e5m2fnuz"),
        ("float8_e4m3fn", "int4", "float8_e4m3fn to int4"),
        ("float32", "int4", "float to int4"),
        ("int4", "bool", "int4 to bool"),
        ("int4", "float16", "int4 to half"),
        ("int8", "int2", "int8 to int2"),
        ("float4_e2m1fn", "float32", "float4_e2m1fn to float"),
        ("float8_e5m2", "string", "float8_e5m2 to string"),
    ],
)
def test_casts_that_tensorflow_does_not_have(source, goal, words):
    x = tf.constant(np.array([1, 0]).astype(tf.as_dtype(source).as_numpy_dtype))
    with pytest.raises(tf.errors.UnimplementedError, match=f"Cast {words} is not supported"):
        tf.cast(x, goal)
    assert tf.cast(x, source) is x


@pytest.mark.parametrize("name", NAMES)
def test_constants_and_moves(name):
    array = np.array([[1, 0, 1], [0, 1, 1]]).astype(tf.as_dtype(name).as_numpy_dtype)
    x = tf.constant(array)
    moved = [
        tf.transpose(tf.reshape(x, [3, 2])),
        tf.concat([x, x], 0)[2:],
        tf.gather(tf.stack([x, x]), 1),
        tf.Variable(x).read_value(),
        tf.function(lambda t: tf.identity(t))(x),
    ]
    expected = [array.reshape(3, 2).T, array, array, array, array]
    for found, each in zip(moved, expected, strict=True):
        assert found.dtype.name == name
        np.testing.assert_array_equal(found.numpy(), each)
    assert tf.io.parse_tensor(tf.io.serialize_tensor(x), name).numpy().tolist() == array.tolist()


def test_numbers_as_constants():
    assert tf.constant([1.5, 449.0], "float8_e4m3fn").numpy().tolist() == [1.5, 448]
    assert tf.constant([1, 2, 15], "uint4").numpy().tolist() == [1, 2, 15]
    with pytest.raises(TypeError, match=r"Cannot convert 1\.5 to EagerTensor of dtype int4"):
        tf.constant(1.5, "int4")
    with pytest.raises(TypeError, match="Cannot convert 'a' to EagerTensor of dtype float8_e5m2"):
        tf.constant("a", "float8_e5m2")


def test_printing():
    x = tf.constant([[1.0, -2.5], [0.0, 448.0]], "float8_e4m3fn")
    assert repr(x[0, 1]) == "<tf.Tensor: shape=(), dtype=float8_e4m3fn, numpy=-2.5>"
    assert repr(x) == (
        "<tf.Tensor: shape=(2, 2), dtype=float8_e4m3fn, numpy=\n"
        "array([[1, -2.5],\n       [0, 448]], dtype=float8_e4m3fn)>"
    ).replace("dtype=float8_e4m3fn)>", f"dtype={repr(x.numpy()).rpartition('dtype=')[2]}>")
    assert str(x) == "tf.Tensor(\n[[1 -2.5]\n [0 448]], shape=(2, 2), dtype=float8_e4m3fn)"


@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e4m3fn", "int4"])
def test_ops_do_not_compute_with_them(name):
    x = tf.constant(np.array([[1, 2]]).astype(tf.as_dtype(name).as_numpy_dtype))
    refused = f"Value for attr 'T' of {name} is not in the list of allowed values"
    for compute in (
        lambda: x + x,
        lambda: -x,
        lambda: x * x,
        lambda: tf.sqrt(x),
        lambda: tf.less(x, x),
        lambda: tf.reduce_sum(x),
        lambda: tf.matmul(x, x, transpose_b=True),
        lambda: tf.maximum(x, x),
        lambda: tf.nn.relu(x),
        lambda: tf.argmax(x),
        lambda: tf.bitcast(x, "uint8"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=refused):
            compute()
    for compute in (lambda: tf.equal(x, x), lambda: x != x, lambda: tf.einsum("ij,kj->ik", x, x)):
        with pytest.raises(tf.errors.NotFoundError, match="Could not find device for node"):
            compute()


@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_gradients_end_at_them(dtype):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.cast(tf.cast(x, dtype), tf.float32) + x
    assert tape.gradient(y, x).numpy().tolist() == [1, 1]
    small = tf.Variable(tf.cast(x, dtype))
    with tf.GradientTape() as tape:
        y = tf.cast(small, tf.float32)
    assert tape.gradient(y, small) is None
