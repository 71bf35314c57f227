"""tf.debugging.assert_*, check_numerics: what passes, and TensorFlow's errors for what does not."""

import pytest

import gradtape as tf

NAN, INF = float("nan"), float("inf")

PASSING = [
    "assert_equal([1, 2], [1, 2])",
    "assert_equal(tf.ones((0,)), 3.0)",
    "assert_none_equal([1, 2], [2, 3])",
    "assert_less([1, 2], 3)",
    "assert_less_equal([1, 3], 3)",
    "assert_greater([4.0, 5.0], 3.0)",
    "assert_greater_equal([3.0], [3.0])",
    "assert_near([1.0, 2.0], [1.0, 2.1], rtol=0.1, atol=0.1)",
    "assert_near(tf.constant([1.0]), tf.constant([1.0 + 1e-7]))",
    "assert_negative([-1.0])",
    "assert_positive([])",
    "assert_non_negative([0, 1])",
    "assert_non_positive([0, -1])",
    "assert_integer(1)",
    "assert_type(tf.constant(1.0), tf.float32)",
    "assert_rank([1.0], 1)",
    "assert_rank_at_least([[1.0]], 1)",
    "assert_rank_in([1.0], (0, 1))",
    "assert_scalar(1.0)",
    "assert_proper_iterable([1])",
    "assert_shapes([(tf.ones((2, 3)), ('N', 'M')), (tf.ones((3,)), ('M',))])",
    "assert_shapes([(tf.ones((2, 3, 4)), (..., 4)), (tf.ones((2, 3)), 'NM'), (tf.ones(()), ())])",
    "assert_shapes([(tf.ones((2,)), 'N'), ([[1, 2]], (1, 'N'))], data=[3])",
    "assert_shapes([(tf.ones((2, 3)), (None, 3))])",
]

FAILING = [
    (
        "assert_equal([1, 2], [1, 3])",
        tf.errors.InvalidArgumentError,
        "Condition x == y did not hold.\nIndices of first 1 different values:\n[[1]]\n"
        "Corresponding x values:\n[2]\nCorresponding y values:\n[3]\n"
        "First 2 elements of x:\n[1 2]\nFirst 2 elements of y:\n[1 3]",
    ),
    (
        "assert_equal([1, 2], [1, 3], message='hello', summarize=1)",
        tf.errors.InvalidArgumentError,
        "hello\nCondition x == y did not hold.\nIndices of first 1 different values:\n[[1]]\n"
        "Corresponding x values:\n[2]\nCorresponding y values:\n[3]\n"
        "First 1 elements of x:\n[1]\nFirst 1 elements of y:\n[1]",
    ),
    (
        "assert_greater([1.0, 2.0], 1.0)",
        tf.errors.InvalidArgumentError,
        "Condition x > y did not hold.\nFirst 2 elements of x:\n[1. 2.]\n"
        "First 1 elements of y:\n[1.]",
    ),
    (
        "assert_equal(['a'], ['b'])",
        tf.errors.InvalidArgumentError,
        "Corresponding x values:\n[b'a']\nCorresponding y values:\n[b'b']",
    ),
    ("assert_none_equal([1, 2], [1, 3])", tf.errors.InvalidArgumentError, "x != y"),
    ("assert_less([1, 2], [1, 3])", tf.errors.InvalidArgumentError, "x < y"),
    ("assert_less_equal([4], [3])", tf.errors.InvalidArgumentError, "x <= y"),
    ("assert_greater_equal([1.0], 3.0)", tf.errors.InvalidArgumentError, "x >= y"),
    ("assert_equal([1, 2], [1, 2, 3])", tf.errors.InvalidArgumentError, "Incompatible shapes"),
    (
        "assert_near([1.0, 2.0], [1.0, 2.1])",
        tf.errors.InvalidArgumentError,
        "x and y not equal to tolerance rtol = tf.Tensor(1.1920929e-06, shape=(), dtype=float32)",
    ),
    ("assert_near([1, 2], [1, 3])", ValueError, "floating"),
    (
        "assert_positive([-1.0, 2.0], message='m')",
        tf.errors.InvalidArgumentError,
        "m.  \nCondition x > 0 did not hold element-wise:\nx (shape=(2,) dtype=float32) = \n"
        "['-1.0', '2.0']",
    ),
    ("assert_negative([1.0])", tf.errors.InvalidArgumentError, "x < 0"),
    ("assert_non_negative([-1.0])", tf.errors.InvalidArgumentError, "x >= 0"),
    ("assert_non_positive([1.0])", tf.errors.InvalidArgumentError, "x <= 0"),
    (
        "assert_integer(1.0)",
        TypeError,
        "Expected \"x\" to be integer type.  Found: tensor of dtype <dtype: 'float32'>",
    ),
    (
        "assert_type(tf.constant(1.0), tf.int32, message='m')",
        TypeError,
        "m.  tensor must be of type tf.int32; got tf.float32",
    ),
    (
        "assert_rank([1.0], 2, message='m')",
        ValueError,
        "m.  Tensor  must have rank 2.  Received rank 1, shape (1,)",
    ),
    ("assert_rank([1.0], [1, 2])", ValueError, "Rank must be a scalar."),
    ("assert_rank([1.0], 1.0)", TypeError, "tensor must be of type tf.int32; got tf.float32"),
    ("assert_rank_at_least([1.0], 2)", ValueError, "must have rank at least 2."),
    ("assert_rank_in([1.0], (0, 2))", ValueError, "must have rank in (0, 2)."),
    ("assert_scalar([1.0])", ValueError, "Expected scalar shape, saw shape: (1,)."),
    ("assert_proper_iterable('x')", TypeError, "\"proper\" iterable.  Found: <class 'str'>"),
    ("assert_proper_iterable(3)", TypeError, "to be iterable.  Found: <class 'int'>"),
    (
        "assert_same_float_dtype([tf.constant(1.0), tf.constant(1.0, tf.float64)])",
        ValueError,
        "tf.Tensor(1.0, shape=(), dtype=float64), type=<dtype: 'float64'>, must be of the same "
        "type (<dtype: 'float32'>) as tf.Tensor(1.0, shape=(), dtype=float32).",
    ),
    ("assert_same_float_dtype([tf.constant(1)])", ValueError, "Expected floating point type"),
    (
        "assert_shapes([(tf.ones((2, 3)), ('N', 'M')), (tf.ones((2,)), ('M',))])",
        ValueError,
        "Specified by tensor shape=(2, 3) dtype=float32 dimension 1.  Tensor shape=(2,) "
        "dtype=float32 dimension 0 must have size 3.  Received size 2, shape (2,)",
    ),
    (
        "assert_shapes([(tf.ones((2, 3, 4)), (..., 5))])",
        ValueError,
        "Specified explicitly.  Tensor shape=(2, 3, 4) dtype=float32 dimension -1 must have size 5."
        "  Received size 4, shape (2, 3, 4)",
    ),
    ("assert_shapes([(tf.ones((2, 3)), ('N',))])", ValueError, "must have rank in (0, 1)."),
    (
        "assert_shapes([(tf.ones((2, 3, 4)), (1, ..., 'a', 4))])",
        ValueError,
        "is only allowed as the first entry",
    ),
    ("assert_shapes([(tf.ones((2,)), 3)])", ValueError, "Specified shape must be an iterable."),
    (
        "check_numerics(tf.constant([1.0, NAN]), 'msg')",
        tf.errors.InvalidArgumentError,
        "msg : Tensor had NaN values [Op:CheckNumerics]",
    ),
    (
        "assert_all_finite(tf.constant([NAN, INF]), 'msg')",
        tf.errors.InvalidArgumentError,
        "msg : Tensor had Inf and NaN values",
    ),
]


def debugging(expression):
    return eval(f"tf.debugging.{expression}", {"tf": tf, "NAN": NAN, "INF": INF})


@pytest.mark.parametrize("expression", PASSING)
def test_what_holds_passes(expression):
    assert debugging(expression) is None


@pytest.mark.parametrize(("expression", "error", "message"), FAILING, ids=[f[0] for f in FAILING])
def test_what_does_not_hold_raises(expression, error, message):
    with pytest.raises(error) as raised:
        debugging(expression)
    assert message in str(raised.value)


def test_same_float_dtype_gives_the_dtype():
    assert debugging("assert_same_float_dtype()") is tf.float32
    assert debugging("assert_same_float_dtype([tf.constant(1.0, tf.float64)])") is tf.float64


def test_is_numeric_tensor():
    assert debugging("is_numeric_tensor(tf.constant(1.0))")
    assert not debugging("is_numeric_tensor(tf.constant('a'))")
    assert not debugging("is_numeric_tensor(1.0)")


def test_check_numerics_also_looks_at_the_gradient():
    x = tf.constant([0.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.debugging.check_numerics(tf.sqrt(tf.debugging.check_numerics(x, "in")), "out")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"detected in gradient\. in"):
        tape.gradient(y, x)


def test_enabled_everywhere_it_names_the_op_and_its_input():
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            tf.math.log(tf.constant([-1.0]))
        assert tf.sqrt(tf.constant([4.0])).numpy() == [2.0]
    finally:
        tf.debugging.disable_check_numerics()
    assert 'output 0 of eagerly-executing op "Log" (# of outputs: 1)' in str(raised.value)
    assert "Input tensor: tf.Tensor([-1.], shape=(1,), dtype=float32)" in str(raised.value)
    assert tf.math.is_nan(tf.math.log(tf.constant([-1.0])))[0]
