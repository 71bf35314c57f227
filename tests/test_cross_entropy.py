"""The cross-entropies by their public names: values, shapes, dtypes, gradients, errors."""

import math

import numpy as np
import pytest

import gradtape as tf

inf, nan = math.inf, math.nan
dense = tf.nn.softmax_cross_entropy_with_logits
sparse = tf.nn.sparse_softmax_cross_entropy_with_logits
binary = tf.nn.sigmoid_cross_entropy_with_logits
weighted = tf.nn.weighted_cross_entropy_with_logits
Invalid = tf.errors.InvalidArgumentError

LOGITS = np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 5.0]], np.float32)
LABELS = np.array([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]], np.float32)


def second_order(function, x):
    """The gradient of the sum of the first gradient."""
    x = tf.constant(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(x)
        first = inner.gradient(y, x)
    return outer.gradient(first, x)


def hessian_product(function, x, direction):
    x = tf.constant(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(x)
        first = inner.gradient(y, x)
    return outer.gradient(first, x, output_gradients=tf.constant(direction, x.dtype))


class TestOfProbabilities:
    def test_value_and_gradients(self, gradient_of):
        np.testing.assert_allclose(dense(LABELS, LOGITS), [2.407606, 2.8091745], rtol=1e-6)
        by_labels, by_logits = gradient_of(dense, LABELS, LOGITS)
        wanted = [[2.407606, 1.4076059, 0.40760595], [5.0091743, 6.0091743, 0.009174452]]
        np.testing.assert_allclose(by_labels, wanted, rtol=1e-5)
        wanted = [[-0.90996945, 0.24472848, 0.66524094], [-0.1933236, -0.29754388, 0.4908675]]
        np.testing.assert_allclose(by_logits, wanted, rtol=1e-6)

    def test_axis(self):
        wanted = [0.575914, 0.91457623, 0.06346402]
        np.testing.assert_allclose(dense(LABELS, LOGITS, axis=0), wanted, rtol=1e-6)

    @pytest.mark.parametrize("shape", [(2,), (2, 2), (3, 2, 2), (0, 3)])
    def test_shapes(self, shape):
        assert tuple(dense(tf.ones(shape), tf.ones(shape)).shape) == shape[:-1]

    def test_no_classes(self):
        assert dense(tf.zeros([2, 0]), tf.zeros([2, 0])).numpy().tolist() == [0, 0]

    def test_labels_are_repeated_where_they_are_one_row(self):
        wanted = [2.407606, 5.0091743]
        np.testing.assert_allclose(dense(LABELS[:1], LOGITS), wanted, rtol=1e-6)
        np.testing.assert_allclose(dense([1.0, 0.0, 0.0], LOGITS), wanted, rtol=1e-6)
        np.testing.assert_allclose(dense(tf.ones([2, 1]), LOGITS), [4.222818, 11.027523], rtol=1e-6)
        assert tuple(dense(tf.ones([2, 2, 2]), tf.ones([4, 2])).shape) == (4,)

    @pytest.mark.parametrize("dtype", [tf.int32, tf.float64, tf.float32, tf.bool])
    def test_labels_take_the_dtype_of_the_logits(self, dtype):
        loss = dense(tf.cast([[1, 0, 0], [0, 1, 0]], dtype), LOGITS)
        assert loss.dtype is tf.float32
        np.testing.assert_allclose(loss, [2.407606, 6.0091743], rtol=1e-6)

    @pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64])
    def test_dtypes(self, dtype, gradient_of):
        logits = tf.cast(LOGITS, dtype)
        assert dense(LABELS, logits).dtype is dtype
        assert gradient_of(lambda z: dense(LABELS, z), logits).dtype is dtype
        np.testing.assert_allclose(
            tf.cast(dense(LABELS, logits), tf.float32), [2.407606, 2.8091745], rtol=4e-3
        )

    def test_infinite_logits(self, gradient_of):
        assert np.isnan(dense([[1.0, 0.0, 0.0]], [[1.0, -inf, 3.0]]).numpy()[0])
        assert dense([[0.0, 1.0, 0.0]], [[1.0, -inf, 3.0]]).numpy() == [inf]
        by_logits = gradient_of(lambda z: dense([[1.0, 0.0, 0.0]], z), [[1.0, -inf, 3.0]])
        np.testing.assert_allclose(by_logits, [[-0.8807971, 0.0, 0.880797]], rtol=1e-6)

    def test_second_order(self):
        product = hessian_product(lambda z: dense(LABELS, z), LOGITS, [[1, 0, 0], [0, 1, 0]])
        p = tf.nn.softmax(LOGITS).numpy()
        wanted = [p[0, 0] * (np.eye(3)[0] - p[0]), p[1, 1] * (np.eye(3)[1] - p[1])]
        np.testing.assert_allclose(product, wanted, rtol=1e-5, atol=1e-8)

    def test_third_order(self):
        z = tf.constant([[0.3, -0.2]], tf.float64)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(z)
            y = dense([[1.0, 0.0]], z)
            for _ in range(3):
                y = tape.gradient(y, z)[0, 0]
        p = 1 / (1 + np.exp(-0.5))
        np.testing.assert_allclose(y, p * (1 - p) * (1 - 2 * p), rtol=1e-12)

    def test_errors(self):
        with pytest.raises(Invalid, match=r"logits_size=\[2,2\] labels_size=\[2,3\]"):
            dense(LABELS, LOGITS[:, :2])
        with pytest.raises(Invalid, match=r"logits_size=\[2,3\] labels_size=\[3,3\]"):
            dense(tf.ones([3, 3]), LOGITS)
        with pytest.raises(Invalid, match="int32"):
            dense([[1, 0]], [[1, 2]])
        for axis in (2, -3):
            with pytest.raises(Invalid):
                dense(LABELS, LOGITS, axis=axis)
        with pytest.raises(Invalid):
            dense(1.0, 2.0)
        for labels, logits in ((None, LOGITS), (LABELS, None)):
            with pytest.raises(ValueError, match="None"):
                dense(labels=labels, logits=logits)


class TestOfNumbers:
    def test_value_and_gradient(self, gradient_of):
        np.testing.assert_allclose(sparse([0, 2], LOGITS), [2.407606, 0.009174452], rtol=2e-5)
        by_labels, by_logits = gradient_of(sparse, [0, 2], LOGITS)
        assert by_labels is None
        wanted = [
            [-0.90996945, 0.24472848, 0.66524094],
            [0.0066764127, 0.002456115, -0.0091325045],
        ]
        np.testing.assert_allclose(by_logits, wanted, rtol=1e-5)

    @pytest.mark.parametrize("shape", [(), (2,), (2, 2), (0,), (2, 1, 3)])
    def test_shapes(self, shape):
        assert tuple(sparse(tf.zeros(shape, tf.int32), tf.ones((*shape, 3))).shape) == shape

    def test_it_is_the_loss_of_one_hot_labels(self, gradient_of):
        labels = np.array([[2, 0], [1, 1]])
        logits = np.linspace(-2, 3, 12).reshape(2, 2, 3)
        rows = np.eye(3)[labels]
        np.testing.assert_allclose(sparse(labels, logits), dense(rows, logits), rtol=1e-13)
        np.testing.assert_allclose(
            gradient_of(lambda z: sparse(labels, z), logits),
            gradient_of(lambda z: dense(rows, z), logits),
            rtol=1e-13,
        )

    @pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64])
    def test_dtypes(self, dtype, gradient_of):
        logits = tf.cast(LOGITS, dtype)
        assert sparse([0, 1], logits).dtype is dtype
        assert (
            gradient_of(lambda z: sparse(tf.constant([0, 1], tf.int64), z), logits).dtype is dtype
        )

    def test_variables(self):
        logits = tf.Variable(LOGITS)
        with tf.GradientTape() as tape:
            loss = sparse(tf.Variable([0, 1]), logits)
        np.testing.assert_allclose(loss, [2.407606, 6.0091743], rtol=1e-6)
        assert tape.gradient(loss, logits).shape == (2, 3)

    def test_infinite_logits(self):
        loss = sparse([0, 1], [[0.0, -inf], [0.0, -inf]])
        np.testing.assert_array_equal(loss, [0.0, inf])

    def test_second_order(self):
        product = hessian_product(lambda z: sparse([0, 2], z), LOGITS, [[1, 0, 0], [0, 1, 0]])
        p = tf.nn.softmax(LOGITS).numpy()
        wanted = [p[0, 0] * (np.eye(3)[0] - p[0]), p[1, 1] * (np.eye(3)[1] - p[1])]
        np.testing.assert_allclose(product, wanted, rtol=2e-5, atol=1e-8)

    @pytest.mark.parametrize(
        ("labels", "logits", "match"),
        [
            ([0, 3], LOGITS, r"value of 3 which is outside the valid range of \[0, 3\)\.  Label"),
            ([-1, 1], LOGITS, r"Received a label value of -1 .* Label values: -1 1"),
            ([[0, 7]], np.ones((1, 2, 3)), r"Received a label value of 7 .* Label values: 0 7"),
            (5, [1.0, 2.0], r"Received a label value of 5 .*\[0, 2\)"),
            ([0.0, 2.0], LOGITS, "Value for attr 'Tlabels' of float is not in the list"),
            (np.array([0, 2], np.int8), LOGITS, "Value for attr 'Tlabels' of int8"),
            ([0], [[1, 2]], "Value for attr 'T' of int32"),
            ([0], np.zeros((1, 0)), r"Must have at least one class, but got logits shape \[1,0\]"),
        ],
    )  # fmt: skip
    def test_labels_and_dtypes_that_are_refused(self, labels, logits, match):
        with pytest.raises(Invalid, match=match):
            sparse(labels, logits)

    @pytest.mark.parametrize(
        ("labels", "logits", "match"),
        [
            ([0, 1, 2], LOGITS, r"except for the last dimension.*\(3,\) and logits.shape=\(2, 3\)"),
            (
                [[0, 1]],
                LOGITS,
                r"`labels.shape.rank` must equal `logits.shape.rank - 1`.*of rank 2",
            ),
            (0, LOGITS, r"labels.shape=\(\) of rank 0 and logits.shape=\(2, 3\) of rank 2"),
            (0, 1.0, "`logits` cannot be a scalar"),
            (None, LOGITS, "Both `labels` and `logits` must be provided"),
        ],
    )
    def test_shapes_that_are_refused(self, labels, logits, match):
        with pytest.raises(ValueError, match=match):
            sparse(labels, logits)


class TestOfOneThing:
    def test_value_and_gradients(self, gradient_of):
        loss = binary([1.0, 0.0, 0.5, 1.0], [100.0, -100.0, 0.3, -100.0])
        np.testing.assert_allclose(loss, [0.0, 0.0, 0.70435524, 100.0], rtol=1e-6, atol=1e-40)
        by_labels, by_logits = gradient_of(
            binary, [1.0, 0.0, 0.5, 0.0, 1.0], [100.0, -100.0, 0.3, 0.0, -0.0]
        )
        np.testing.assert_allclose(by_labels, [-100, 100, -0.3, 0, 0], rtol=1e-6)
        wanted = [0, 0, 0.074442536, 0.5, -0.5]
        np.testing.assert_allclose(by_logits, wanted, rtol=1e-6, atol=1e-40)

    def test_small_gradients_keep_their_digits(self, gradient_of):
        by_logits = gradient_of(lambda z: binary([1.0, 0.0], z), [10.0, -10.0])
        np.testing.assert_allclose(by_logits, [-4.539787e-05, 4.539787e-05], rtol=1e-6)

    def test_second_order(self):
        second = second_order(lambda z: binary([1.0, 0.0, 0.5], z), [0.0, 1.0, -2.0])
        np.testing.assert_allclose(second, [0.25, 0.19661193, 0.10499358], rtol=1e-6)

    def test_infinite_logits(self, gradient_of):
        by_labels, by_logits = gradient_of(binary, [1.0, 0.0, 1.0, 0.0], [inf, inf, -inf, nan])
        np.testing.assert_array_equal(by_labels, [-inf, -inf, inf, nan])
        np.testing.assert_array_equal(by_logits, [0, 1, -1, nan])

    def test_scalars_and_float16(self):
        np.testing.assert_allclose(binary(1.0, 2.0), 0.126928, rtol=1e-6)
        loss = binary(tf.constant([1.0, 0.0], tf.float16), tf.constant([3.0, 20.0], tf.float16))
        assert loss.dtype is tf.float16
        np.testing.assert_allclose(loss, [0.0486, 20.0], rtol=1e-3)

    def test_weighted(self, gradient_of):
        loss = weighted([1.0, 0.0, 0.5, 1.0], [100.0, -100.0, 0.3, -100.0], 2.0)
        np.testing.assert_allclose(loss, [0.0, 0.0, 0.98153293, 200.0], rtol=1e-6, atol=1e-40)
        assert weighted([1.0], [1.0], pos_weight=2).numpy() == pytest.approx([0.6265234])
        gradients = gradient_of(weighted, [1.0, 0.0, 0.5], [1.0, -1.0, 0.3], [1.0, 2.0, 3.0])
        wanted = [
            [-1.0, 2.3132617, 0.8087105],
            [-0.26894143, 0.26894143, -0.35111493],
            [0.3132617, 0.0, 0.27717763],
        ]
        for got, want in zip(gradients, wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6)

    @pytest.mark.parametrize(
        "function", [binary, lambda labels, logits: weighted(labels, logits, 2.0)]
    )
    def test_shapes_must_agree(self, function):
        with pytest.raises(ValueError, match=r"the same shape, received \(\(3,\) vs \(2,\)\)"):
            function(labels=[1.0, 0.0], logits=[1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match=r"the same shape, received \(\(2,\) vs \(1,\)\)"):
            function(labels=[1.0], logits=[1.0, 2.0])

    def test_errors(self):
        for arguments in ({}, {"labels": [1.0]}, {"logits": [1.0]}):
            with pytest.raises(ValueError, match="Both `labels` and `logits` must be provided"):
                binary(**arguments)
        with pytest.raises(Invalid, match="expected to be a float tensor but is a int32 tensor"):
            binary(tf.constant([1]), tf.constant([2.0]))
        with pytest.raises(Invalid, match="int32"):
            binary([1], [2])
        with pytest.raises(TypeError, match=r"Cannot convert 1\.0 to EagerTensor of dtype int32"):
            weighted([1, 0], [1.0, 2.0], 2.0)


@pytest.mark.beyond_tensorflow
class TestBetterThanTensorFlow:
    def test_gradient_where_labels_do_not_add_up_to_one(self, gradient_of):
        # TensorFlow gives softmax - labels, which is the derivative only if they do.
        labels = np.array([[2.0, 0.0, 0.0]])
        by_logits = gradient_of(lambda z: dense(labels, z), LOGITS[:1].astype(np.float64))
        wanted = 2.0 * gradient_of(lambda z: dense(labels / 2.0, z), LOGITS[:1].astype(np.float64))
        np.testing.assert_allclose(by_logits, wanted, rtol=1e-13)

    def test_mixed_second_derivative(self):
        labels, logits = tf.constant(LABELS), tf.constant(LOGITS)
        with tf.GradientTape() as outer:
            outer.watch(labels)
            with tf.GradientTape() as inner:
                inner.watch(logits)
                loss = dense(labels, logits)
            first = inner.gradient(loss, logits)[:, 0]
        second = outer.gradient(first, labels)
        wanted = tf.nn.softmax(logits)[:, :1] - tf.constant([[1.0, 0.0, 0.0]])
        np.testing.assert_allclose(second, wanted, rtol=1e-6)

    def test_axes_counted_from_the_end(self):
        for axis in (-1, -2):
            got = dense(LABELS, LOGITS, axis=axis)
            np.testing.assert_array_equal(got, dense(LABELS, LOGITS, axis=axis + 2))

    def test_gradient_by_repeated_labels(self, gradient_of):
        by_labels = gradient_of(lambda y: dense(y, LOGITS), LABELS[:1])
        wanted = -np.sum(tf.nn.log_softmax(LOGITS).numpy(), axis=0, keepdims=True)
        np.testing.assert_allclose(by_labels, wanted, rtol=1e-6)

    def test_gradient_of_the_weighted_one_at_zero(self, gradient_of):
        # TensorFlow gives 1 and 0.
        by_logits = gradient_of(lambda z: weighted([0.0, 1.0], z, 2.0), [0.0, 0.0])
        assert by_logits.numpy().tolist() == [0.5, -1.0]
