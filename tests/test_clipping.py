"""Clipping of values and norms: argument forms, sparse gradients, dtypes, errors, gradients."""

import numpy as np
import pytest

import gradtape as tf
from composites import check_batch, check_gradient
from expressions import check_error, check_gradients, check_value

InvalidArgumentError = tf.errors.InvalidArgumentError
inf, nan = np.inf, np.nan

VALUES = [
    ("tf.clip_by_value([1.0, 5.0, -5.0], -1, 1)", "float32", [1, 1, -1]),
    ("tf.clip_by_value([1, 5, -5], -1, 1)", "int32", [1, 1, -1]),
    ("tf.clip_by_value(t=c([1.0]), clip_value_min=0, clip_value_max=2)", "float32", [1]),
    ("tf.clip_by_value(c([1.0, 5.0, -5.0]), c([-1.0, 0.0, 0.0]), c(1.0))", "float32", [1, 1, 0]),
    ("tf.clip_by_value(A(2, 2), [[2.0], [4.0]], [3.0, 9.0])", "float32", [[2, 2], [4, 4]]),
    ("tf.clip_by_value(V([1.0, 5.0]), 0.0, 2.0)", "float32", [1, 2]),
    ("tf.clip_by_value(c([1.0, 5.0], tf.bfloat16), 0, 2)", "bfloat16", [1, 2]),
    ("tf.clip_by_value(c([1, 5], tf.uint8), 0, 2)", "uint8", [1, 2]),
    ("tf.clip_by_value([nan, inf, -inf], -1.0, 1.0)", "float32", [nan, 1, -1]),
    ("tf.clip_by_value([1.0, 5.0, -5.0], 2.0, -2.0)", "float32", [2, 2, 2]),
    ("tf.clip_by_value([], 0.0, 2.0)", "float32", []),
    # norm
    ("tf.clip_by_norm([3.0, 4.0], 1)", "float32", [0.6, 0.8]),
    ("tf.clip_by_norm([3.0, 4.0], c(1))", "float32", [0.6, 0.8]),
    ("tf.clip_by_norm([3.0, 4.0], 10.0)", "float32", [3, 4]),
    ("tf.clip_by_norm([0.0, 0.0], 1.0)", "float32", [0, 0]),
    ("tf.clip_by_norm([3.0, 4.0], 0.0)", "float32", [0, 0]),
    ("tf.clip_by_norm([3.0, 4.0], -1.0)", "float32", [0, 0]),
    ("tf.clip_by_norm([[3.0, 4.0], [0.3, 0.4]], [[1.0], [1.0]], 1)[1]", "float32", [0.3, 0.4]),
    ("tf.clip_by_norm([[3.0, 4.0], [6.0, 8.0]], [[1.0], [2.0]], 1)[1]", "float32", [1.2, 1.6]),
    ("tf.clip_by_norm([[3.0], [4.0]], 1.0, axes=[0, 1])", "float32", [[0.6], [0.8]]),
    ("tf.clip_by_norm(c(3.0), 1.0)", "float32", 1),
    ("tf.clip_by_norm(V([3.0, 4.0]), 1.0)", "float32", [0.6, 0.8]),
    ("tf.clip_by_norm([inf, 4.0], 1.0)", "float32", [nan, 0]),
    ("tf.clip_by_norm([], 1.0)", "float32", []),
    # global norm
    ("tf.linalg.global_norm([c([3.0]), None, c([[4.0]])])", "float32", 5),
    ("tf.linalg.global_norm((3.0, [4.0]))", "float32", 5),
    ("tf.linalg.global_norm([V([3.0, 4.0])])", "float32", 5),
    ("tf.linalg.global_norm([np.array([3.0, 4.0])])", "float64", 5),
    ("tf.linalg.global_norm([])", "float32", 0),
    ("tf.linalg.global_norm([None])", "float32", 0),
    ("tf.linalg.global_norm([c([3.0]), c([inf])])", "float32", inf),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "dtype", "value"), VALUES)
def test_value(expression, dtype, value):
    check_value(expression, dtype, value)


ERRORS = [
    ("tf.clip_by_value([1, 5], -1.0, 1.0)", TypeError, "to EagerTensor of dtype int32"),
    ("tf.clip_by_value(A(2), c(-1), c(1))", InvalidArgumentError, "a float tensor but is a int32"),
    ("tf.clip_by_value(A(2), A(3), 9.0)", InvalidArgumentError, "shapes: [2] vs. [3] [Op:Maximum]"),
    ("tf.clip_by_value(A(2), 0.0, A(3))", InvalidArgumentError, "shapes: [2] vs. [3] [Op:Minimum]"),
    ("tf.clip_by_value(A(3), A(2, 1), 9.0)", ValueError, "Shapes (3,) and (2, 3) are incompatible"),
    ("tf.clip_by_value(c(1.0), 0.0, A(2))", ValueError, "Shapes () and (2,) are incompatible"),
    ("tf.clip_by_value([1j], 0, 2)", InvalidArgumentError, "'T' of complex128 is not in the list"),
    (
        "tf.clip_by_value([True], False, True)",
        InvalidArgumentError,
        "'T' of bool is not in the list",
    ),
    ("tf.clip_by_value(None, 0, 1)", ValueError, "Attempt to convert a value (None)"),
    ("tf.clip_by_norm([3, 4], 1)", InvalidArgumentError, "'T' of int32 is not in the list"),
    ("tf.clip_by_norm(A(2), ones(2, 2))", ValueError, "Shapes (2,) and (2, 2) are incompatible"),
    ("tf.clip_by_norm(A(2), 1.0, axes=3)", InvalidArgumentError, "Invalid reduction dimension (3"),
    ("tf.linalg.global_norm(A(2))", TypeError, "`t_list` should be a sequence of tensors."),
    ("tf.linalg.global_norm('a')", TypeError, "Received <class 'str'>."),
    ("tf.clip_by_global_norm(A(2), 1.0)", TypeError, "`t_list` should be a sequence of tensors."),
    ("tf.linalg.global_norm([c([3, 4])])", InvalidArgumentError, "'T' of int32 is not in the list"),
    (
        "tf.linalg.global_norm([c([3.0]), c([4.0], tf.float64)])",
        InvalidArgumentError,
        "cannot compute Pack as input #1(zero-based) was expected to be a float tensor but is a",
    ),
]


@pytest.mark.parametrize(("expression", "error", "message"), ERRORS)
def test_error(expression, error, message):
    check_error(expression, error, message)


def _slices():
    return tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1]), tf.constant([3, 2]))


class TestIndexedSlices:
    @pytest.mark.parametrize(
        ("clip", "values"),
        [
            (lambda g: tf.clip_by_value(g, 0.0, 3.5), [[3.0, 3.5]]),
            (lambda g: tf.clip_by_norm(g, 10.0), [[3.0, 4.0]]),
            (lambda g: tf.clip_by_global_norm([g], 10.0)[0][0], [[3.0, 4.0]]),
        ],
        ids=["value", "norm", "global norm"],
    )
    def test_stays_sparse(self, clip, values):
        clipped = clip(_slices())
        assert isinstance(clipped, tf.IndexedSlices)
        assert clipped.values.numpy().tolist() == values
        assert clipped.indices.numpy().tolist() == [1]
        assert clipped.dense_shape.numpy().tolist() == [3, 2]

    def test_global_norm(self):
        assert tf.linalg.global_norm([_slices()]).numpy() == 5.0


class TestClipByGlobalNorm:
    @pytest.mark.parametrize(
        ("tensors", "limit", "clipped", "norm"),
        [
            ([[3.0], [4.0]], 1.0, [[0.6], [0.8]], 5.0),
            ([[3.0], [4.0]], 1, [[0.6], [0.8]], 5.0),
            ([[3.0], [4.0]], 10.0, [[3.0], [4.0]], 5.0),
            ([[3.0], [4.0]], 0.0, [[0.0], [0.0]], 5.0),
            ([[0.0], [0.0]], 1.0, [[0.0], [0.0]], 0.0),
            ([[3.0], [inf]], 1.0, [[nan], [nan]], inf),
            ([[3.0], [nan]], 1.0, [[nan], [nan]], nan),
            ([], 1.0, [], 0.0),
        ],
    )
    def test_value(self, tensors, limit, clipped, norm):
        got, got_norm = tf.clip_by_global_norm([tf.constant(t) for t in tensors], limit)
        assert isinstance(got, list)
        for tensor, expected in zip(got, clipped, strict=True):
            np.testing.assert_allclose(tensor, expected, rtol=1e-6)
        np.testing.assert_allclose(got_norm, norm)

    def test_none_stays_none(self):
        (first, second), norm = tf.clip_by_global_norm((None, tf.constant([2.0])), 1.0)
        assert first is None
        assert second.numpy().tolist() == [1.0]
        assert norm.numpy() == 2.0

    def test_known_norm(self):
        norm = tf.constant(10.0)
        (clipped,), same = tf.clip_by_global_norm([tf.constant([3.0], tf.float64)], 1.0, norm)
        assert same.numpy() == 10.0
        assert clipped.dtype == tf.float64
        np.testing.assert_allclose(clipped, [0.3], rtol=1e-6)


# name -> function, points, value, gradients
GRADIENTS = {
    "value, on the bounds": (
        tf.clip_by_value,
        [[-2, -1, 0, 1, 2], -1, 1],
        [-1, -1, 0, 1, 1],
        [[0, 1, 1, 1, 0], 1, 1],
    ),
    "value, NaN": (tf.clip_by_value, [[nan, 0], -1, 1], [nan, 0], [[0, 1], 1, 0]),
    "value, crossed bounds": (tf.clip_by_value, [[0, 1.5, 3], 2, 1], [2, 2, 2], [[0, 0, 0], 3, 0]),
    "norm, above": (
        lambda x: tf.clip_by_norm(x, 1.0, axes=1),
        [[[3, 4], [0.1, 0.1]]],
        [[0.6, 0.8], [0.1, 0.1]],
        [[[0.032, -0.024], [1, 1]]],
    ),
    "norm, by the limit": (tf.clip_by_norm, [[3, 4], 1], [0.6, 0.8], [[0.032, -0.024], 1.4]),
    "norm, zero": (lambda x: tf.clip_by_norm(x, 1.0), [[0, 0]], [0, 0], [[1, 1]]),
    "global norm": (lambda x, y: tf.linalg.global_norm([x, y]), [[3], [4]], 5, [[0.6], [0.8]]),
    "global norm, below": (
        lambda x, y: tf.clip_by_global_norm([x, y], 10.0)[0][0],
        [[3], [4]],
        [3],
        [[1], [0]],
    ),
}


@pytest.mark.parametrize(
    ("function", "points", "value", "gradients"), GRADIENTS.values(), ids=GRADIENTS
)
def test_gradient(function, points, value, gradients):
    check_gradients(function, points, value, gradients)


COMPOSITES = {
    "value": lambda x: tf.clip_by_value(x, -0.7, 0.6),
    "norm": lambda x: tf.clip_by_norm(x, 1.0),
    "norm, axes": lambda x: tf.clip_by_norm(x, 1.0, axes=[0]),
    "global norm": lambda x: tf.clip_by_global_norm([x, 2.0 * x], 1.0)[0][1],
}


@pytest.mark.parametrize("function", COMPOSITES.values(), ids=COMPOSITES)
def test_composite(function):
    x = np.random.default_rng(7).standard_normal((3, 4))
    check_gradient(function, x)
    check_batch(function, x)


@pytest.mark.beyond_tensorflow
class TestBeyondTensorFlow:
    """TensorFlow's norms of these numbers overflow or vanish, and its gradients at 0 are NaN."""

    @pytest.mark.parametrize(("scale", "limit"), [(1e30, 1.0), (1e-25, 1e-26)])
    def test_extreme_numbers(self, scale, limit):
        half = limit * np.sqrt(0.5)
        clipped = tf.clip_by_norm([scale, scale], limit)
        np.testing.assert_allclose(clipped, [half, half], rtol=1e-6)
        (first, second), norm = tf.clip_by_global_norm([[scale], [scale]], limit)
        np.testing.assert_allclose([first, second], [[half], [half]], rtol=1e-6)
        np.testing.assert_allclose(norm, scale * np.sqrt(2), rtol=1e-6)

    def test_gradient_at_zero(self):
        check_gradients(lambda x, y: tf.linalg.global_norm([x, y]), [[0], [0]], 0, [[0], [0]])
        check_gradients(
            lambda x, y: tf.clip_by_global_norm([x, y], 1.0)[0][0], [[0], [0]], [0], [[1], [0]]
        )

    def test_a_number_for_the_known_norm(self):
        (clipped,), norm = tf.clip_by_global_norm([tf.constant([3.0])], 1.0, use_norm=10.0)
        np.testing.assert_allclose(clipped, [0.3], rtol=1e-6)
        assert norm.numpy() == 10.0
