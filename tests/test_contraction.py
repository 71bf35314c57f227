"""Matrix products, matvec and tensordot: argument forms, dtypes, errors, gradients."""

import numpy as np
import pytest

import gradtape as tf
from composites import check_batch, check_gradient
from expressions import check_error, check_gradients, check_value

InvalidArgumentError = tf.errors.InvalidArgumentError

INTEGERS = ["int32", "int64"]
NARROW = ["float16", "bfloat16"]

VALUES = [
    ("tf.matmul(A(2, 3), A(3, 2))", "float32", [[22, 28], [49, 64]]),
    ("tf.linalg.matmul([[1, 2]], [[3], [4]])", "int32", [[11]]),
    ("tf.matmul(A(2, 3), A(2, 3), transpose_b=True)", "float32", [[14, 32], [32, 77]]),
    ("tf.matmul(A(2, 3), A(2, 2), True)", "float32", [[13, 18], [17, 24], [21, 30]]),
    ("tf.matmul(A(3, 2), A(2, 3), True, True)", "float32", [[22, 49], [28, 64]]),
    ("tf.matmul(A(1, 2), A(1, 2), adjoint_b=True)", "float32", [[5]]),
    ("tf.matmul(c([[1j, 2.0]]), c([[1j, 2.0]]), transpose_b=True)", "complex128", [[3]]),
    ("tf.matmul(c([[1j, 2.0]]), c([[1j, 2.0]]), adjoint_b=True)", "complex128", [[5]]),
    ("tf.matmul(c([[1j], [2.0]]), c([[1j], [2.0]]), adjoint_a=True)", "complex128", [[5]]),
    ("tf.matmul([[np.nan, 1.0]], [[0.0], [1.0]])", "float32", [[np.nan]]),
    # what an operand may be
    ("tf.matmul(A(1, 2), [[1], [2]])", "float32", [[5]]),
    ("tf.matmul(A(1, 2), np.ones((2, 1)))", "float32", [[3]]),
    ("tf.matmul(V([[1.0, 2.0]]), V([[1.0], [2.0]]))", "float32", [[5]]),
    ("A(1, 2) @ V([[1.0], [2.0]])", "float32", [[5]]),
    ("V([[1.0, 2.0]]) @ [[1.0], [2.0]]", "float32", [[5]]),
    ("[[1.0, 2.0]] @ A(2, 1)", "float32", [[5]]),
    ("np.ones((1, 2)) @ V([[1.0], [2.0]])", "float32", [[3]]),
    # leading axes
    ("tf.matmul(A(2, 1, 2), A(2, 2, 1))", "float32", [[[5]], [[25]]]),
    ("tf.matmul(A(2, 1, 2), A(2, 1))", "float32", [[[5]], [[11]]]),
    ("tf.matmul(A(1, 2), A(2, 2, 1))", "float32", [[[5]], [[11]]]),
    ("tf.matmul(A(2, 1, 1, 2), A(3, 2, 1)).shape", "int32", [2, 3, 1, 1]),
    ("tf.matmul(A(2, 2, 1), A(2, 1), transpose_a=True)", "float32", [[[5]], [[11]]]),
    ("tf.matmul(A(2, 1, 2), A(1, 2), transpose_b=True)", "float32", [[[5]], [[11]]]),
    # nothing to multiply
    ("tf.matmul(ones(2, 0), ones(0, 2))", "float32", [[0, 0], [0, 0]]),
    ("tf.matmul(ones(0, 2, 2), ones(2, 3))", "float32", np.zeros((0, 2, 3))),
    ("tf.matmul(ones(2, 1, 0), ones(0, 1))", "float32", [[[0]], [[0]]]),
    # other dtypes
    ("tf.matmul(c([[99]], tf.int8), c([[2]], tf.int8), output_type=tf.int32)", "int32", [[198]]),
    ("tf.matmul(c([[99]], tf.int8), c([[2]], tf.uint8), output_type=tf.int32)", "int32", [[198]]),
    ("tf.matmul(A(1, 2), A(2, 1), output_type=tf.float32)", "float32", [[5]]),
    # matvec
    ("tf.linalg.matvec(A(2, 3), A(3))", "float32", [14, 32]),
    ("tf.linalg.matvec(A(2, 3), A(2), transpose_a=True)", "float32", [9, 12, 15]),
    ("tf.linalg.matvec(c([[1j, 2.0]]), c([1.0 + 0j]), adjoint_a=True)", "complex128", [-1j, 2]),
    ("tf.linalg.matvec(A(2, 1, 2), A(2, 2))", "float32", [[5], [25]]),
    ("tf.linalg.matvec(A(2, 1, 2), A(2))", "float32", [[5], [11]]),
    ("tf.linalg.matvec([[1, 2]], [3, 4])", "int32", [11]),
    # tensordot
    ("tf.tensordot(A(2, 3), A(3, 2), 1)", "float32", [[22, 28], [49, 64]]),
    ("tf.tensordot(A(2, 3), A(3, 2), [[1], [0]])", "float32", [[22, 28], [49, 64]]),
    ("tf.tensordot(A(2, 3), A(3, 2), ((1,), (0,)))", "float32", [[22, 28], [49, 64]]),
    ("tf.tensordot(A(2, 3), A(3, 2), [-1, -2])", "float32", [[22, 28], [49, 64]]),
    ("tf.tensordot(A(2, 3), A(3, 2), np.array([[1], [0]]))", "float32", [[22, 28], [49, 64]]),
    ("tf.tensordot(A(2, 3), A(3, 2), c([[1], [0]]))", "float32", [[22, 28], [49, 64]]),
    ("tf.tensordot(A(2, 3), A(3, 2), np.int64(1))", "float32", [[22, 28], [49, 64]]),
    ("tf.tensordot(A(2, 3), A(3, 2), [[0, 1], [1, 0]])", "float32", 86),
    ("tf.linalg.tensordot(A(2), A(2), 0)", "float32", [[1, 2], [2, 4]]),
    ("tf.tensordot(A(2, 3), A(2, 3), 2)", "float32", 91),
    ("tf.tensordot(c(2.0), A(2), 0)", "float32", [2, 4]),
    ("tf.tensordot([1, 2], [3, 4], 1)", "int32", 11),
    ("tf.tensordot(ones(2, 0), ones(0, 1), 1)", "float32", [[0], [0]]),
    ("tf.tensordot(A(2, 3, 4), A(4, 3, 1), [[1, 2], [1, 0]])", "float32", [[584], [1520]]),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "dtype", "value"), VALUES)
def test_value(expression, dtype, value):
    if expression.endswith(".shape"):
        expression = f"tf.constant(({expression}).as_list())"
    check_value(expression, dtype, value)


@pytest.mark.parametrize("dtype", INTEGERS + NARROW)
def test_dtypes(dtype):
    check_value(f"c([[1, 2]], tf.{dtype}) @ c([[3], [4]], tf.{dtype})", dtype, [[11]])
    check_value(f"c([[[1, 2]]], tf.{dtype}) @ c([[[3], [4]]], tf.{dtype})", dtype, [[[11]]])


@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_floats_are_added_up_in_float32(dtype):
    expression = f"c([[1.0] * 1000], tf.{dtype}) @ c([[1.0]] * 1000, tf.{dtype})"
    check_value(expression, dtype, [[1000]])


ERRORS = [
    (
        "tf.matmul(A(2, 3), A(2, 3))",
        InvalidArgumentError,
        "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3] [Op:MatMul]",
    ),
    ("tf.matmul(A(2, 2, 3), A(2, 3))", InvalidArgumentError, "In[0]: [2,2,3], In[1]: [2,3]"),
    ("tf.matmul(A(2, 3), A(3))", InvalidArgumentError, "has different ndims: [2,3] vs. [3]"),
    ("tf.matmul(A(3), A(3))", InvalidArgumentError, "In[0] and In[1] ndims must be == 2: 1"),
    ("tf.matmul(c(1.0), A(3, 2))", InvalidArgumentError, "has different ndims: [] vs. [3,2]"),
    ("tf.matmul(A(2, 2, 3), A(3))", InvalidArgumentError, "In[1] ndims must be >= 2: 1"),
    (
        "tf.matmul(A(2, 2, 3), A(3, 3, 2))",
        InvalidArgumentError,
        "In[0] and In[1] must have compatible batch dimensions: [2,2,3] vs. [3,3,2]",
    ),
    (
        "tf.matmul(A(1, 2), c([[1], [2]]))",
        InvalidArgumentError,
        "cannot compute MatMul as input #1(zero-based) was expected to be a float tensor but is a",
    ),
    ("tf.matmul([[1]], c([[1.0]]))", InvalidArgumentError, "a int32 tensor but is a float tensor"),
    ("A(1, 1) @ 'a'", InvalidArgumentError, "a float tensor but is a string tensor"),
    ("A(1, 1) @ 3", InvalidArgumentError, "has different ndims: [1,1] vs. []"),
    ("A(1, 1) @ None", ValueError, "Attempt to convert a value (None)"),
    (
        "c([[True]]) @ c([[True]])",
        InvalidArgumentError,
        "'T' of bool is not in the list of allowed",
    ),
    (
        "tf.matmul(A(2, 3), A(3, 2), transpose_a=True, adjoint_a=True)",
        ValueError,
        "Only one of `transpose_a` and `adjoint_a` can be True.",
    ),
    (
        "tf.matmul(A(2, 3), A(3, 2), transpose_b=True, adjoint_b=True)",
        ValueError,
        "Received `transpose_b`=True, `adjoint_b`=True.",
    ),
    ("tf.linalg.matvec(A(2, 3), A(2))", InvalidArgumentError, "In[0]: [2,3], In[1]: [2,1]"),
    ("tf.linalg.matvec(A(2, 3), [1, 2, 3])", InvalidArgumentError, "a float tensor but is a int32"),
    ("tf.tensordot(A(2), [1, 2], 1)", InvalidArgumentError, "a float tensor but is a int32 tensor"),
    ("tf.tensordot(A(2, 3), A(3, 2), [[1], [1]])", InvalidArgumentError, "size-incompatible"),
    ("tf.tensordot(A(2, 3), A(3, 2), -1)", ValueError, "`axes` must be at least 0"),
    ("tf.tensordot(A(2, 3), A(3, 2), 3)", ValueError, "`axes` must not be larger than the number"),
    ("tf.tensordot(A(2, 3), A(3, 2), [1])", ValueError, "must be an integer or have length 2"),
    (
        "tf.tensordot(A(2, 3), A(3, 2), [[1], [0, 1]])",
        ValueError,
        "Different number of contraction axes `a` and `b`, 1 != 2.",
    ),
    ("tf.tensordot(A(2, 3), A(3, 2), [[5], [0]])", IndexError, " "),
    ("tf.tensordot(A(2, 3), A(3, 2), [[0], [-5]])", IndexError, " "),
    ("tf.tensordot(A(2, 3), A(3, 2), 1.0)", TypeError, "1.0"),
    ("tf.tensordot(A(2, 3), A(3, 2), 'ab')", TypeError, "ab"),
]


@pytest.mark.parametrize(("expression", "error", "message"), ERRORS)
def test_error(expression, error, message):
    check_error(expression, error, message)


# name -> function, points, value, gradients
GRADIENTS = {
    "matmul": (
        tf.matmul,
        [[[1, 2]], [[3, 4], [5, 6]]],
        [[13, 16]],
        [[[7, 11]], [[1, 1], [2, 2]]],
    ),
    "matmul, complex": (
        tf.matmul,
        [np.array([[1.0, 2j]]), np.array([[3.0 + 1j], [4.0]])],
        [[3 + 9j]],
        [[[3 - 1j, 4]], [[1], [-2j]]],
    ),
    "matmul, adjoint": (
        lambda a, b: tf.matmul(a, b, adjoint_a=True, adjoint_b=True),
        [np.array([[1.0, 2j]]), np.array([[3.0 + 1j], [4.0]])],
        [[3 - 1j, 4], [-2 - 6j, -8j]],
        [[[7 - 1j, 7 - 1j]], [[1 - 2j], [1 - 2j]]],
    ),
    "many times one": (
        tf.matmul,
        [[[[1, 2]], [[3, 4]]], [[5], [6]]],
        [[[17]], [[39]]],
        [[[[5, 6]], [[5, 6]]], [[4], [6]]],
    ),
    "one times many": (
        tf.matmul,
        [[[1, 2]], [[[5], [6]], [[7], [8]]]],
        [[[17]], [[23]]],
        [[[12, 14]], [[[1], [2]], [[1], [2]]]],
    ),
    "matvec": (tf.linalg.matvec, [[[1, 2]], [3, 4]], [11], [[[3, 4]], [1, 2]]),
    "tensordot": (
        lambda a, b: tf.tensordot(a, b, [[0], [1]]),
        [[[1, 2]], [[3], [4]]],
        [[3, 4], [6, 8]],
        [[[7, 7]], [[3], [3]]],
    ),
}


@pytest.mark.parametrize(
    ("function", "points", "value", "gradients"), GRADIENTS.values(), ids=GRADIENTS
)
def test_gradient(function, points, value, gradients):
    check_gradients(function, points, value, gradients)


def test_gradients_by_variables():
    a, b = tf.Variable([[1.0, 2.0]]), tf.Variable([[[3.0], [4.0]]])
    with tf.GradientTape() as tape:
        product = a @ b
    by_a, by_b = tape.gradient(product, [a, b])
    assert by_a.numpy().tolist() == [[3.0, 4.0]]
    assert by_b.numpy().tolist() == [[[1.0], [2.0]]]


_OTHER = np.random.default_rng(4).standard_normal((2, 4, 3))

COMPOSITES = {
    "matvec": lambda x: tf.linalg.matvec(_OTHER, x[0]),
    "tensordot": lambda x: tf.tensordot(x, _OTHER, [[0, 1], [2, 1]]),
    "tensordot with itself": lambda x: tf.tensordot(x, x, [[0], [0]]),
}


@pytest.mark.parametrize("function", COMPOSITES.values(), ids=COMPOSITES)
def test_composite(function):
    x = np.random.default_rng(3).standard_normal((3, 4))
    if function is COMPOSITES["matvec"]:
        x = x.reshape(4, 3)
    check_gradient(function, x)


@pytest.mark.parametrize("flags", [(False, False), (True, False), (False, True), (True, True)])
def test_batch_of_products(flags):
    x = np.random.default_rng(5).standard_normal((2, 3, 3))
    check_batch(lambda a: tf.matmul(a, a[0], *flags) + tf.matmul(a[1], a, *flags), x)


@pytest.mark.beyond_tensorflow
class TestBeyondTensorFlow:
    @pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "uint16", "uint32", "uint64"])
    def test_every_integer_dtype(self, dtype):
        check_value(f"c([[1, 2]], tf.{dtype}) @ c([[3], [4]], tf.{dtype})", dtype, [[11]])

    def test_output_type_of_any_kind(self):
        expression = "tf.matmul(c([[100, 100]]), c([[1], [1]]), output_type=tf.float64)"
        check_value(expression, "float64", [[200]])

    def test_tensordot_takes_tensors_for_axes(self):
        for axes in ("c(1)", "(c(1), c(0))", "[c([1]), c([0])]"):
            check_value(f"tf.tensordot(A(1, 2), A(2, 1), {axes})", "float32", [[5]])

    @pytest.mark.parametrize("axes", ["2", "[[0, 1], [0, 1]]"])
    def test_tensordot_of_axes_that_do_not_match(self, axes):
        """TensorFlow only looks at their product, here 6, and gives a number."""
        check_error(
            f"tf.tensordot(A(2, 3), A(3, 2), {axes})", InvalidArgumentError, "size-incompatible"
        )

    def test_tensordot_of_an_axis_named_twice(self):
        check_error("tf.tensordot(A(2, 2), A(2, 2), [[0, 0], [0, 1]])", ValueError, "twice")
