"""Moments from sums and with weights, and normalisation by given moments and by neighbours."""

import numpy as np
import pytest

import gradtape as tf
from expressions import check_error, check_value

InvalidArgumentError = tf.errors.InvalidArgumentError

X = tf.constant(np.arange(24.0).reshape(2, 3, 4) / 7, tf.float32)
IMAGE = tf.reshape(X, (2, 1, 3, 4))


def close(got, want, rtol=2e-6):
    np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-7)


class TestSufficientStatistics:
    def test_without_a_shift(self):
        count, total, squares, shift = tf.nn.sufficient_statistics(X, [0, 1])
        assert (float(count), count.dtype, shift) == (6.0, tf.float32, None)
        close(total, [8.571428, 9.428572, 10.285715, 11.142857])
        close(squares, [17.959185, 20.530613, 23.346937, 26.408163])

    def test_with_a_shift(self):
        _, total, squares, shift = tf.nn.sufficient_statistics(X, [0, 1], 2.0, keepdims=True)
        close(total, [[[-3.4285712, -2.5714285, -1.7142859, -0.8571429]]])
        close(squares, [[[7.673469, 6.816326, 6.204081, 5.8367343]]])
        assert float(shift) == 2.0

    def test_negative_and_no_axes(self):
        count, total, _, _ = tf.nn.sufficient_statistics(X, [-1])
        assert float(count) == 4.0
        close(total[0], [0.8571429, 3.1428573, 5.4285717])
        count, total, _, _ = tf.nn.sufficient_statistics(X, [])
        assert float(count) == 1.0
        close(total, X)

    def test_integers(self):
        results = tf.nn.sufficient_statistics(tf.constant([1, 2, 3]), [0])
        assert [int(each) for each in results[:3]] == [3, 6, 14]

    def test_axes_must_be_a_list(self):
        with pytest.raises(TypeError, match="not iterable"):
            tf.nn.sufficient_statistics(X, 0)


def test_normalize_moments():
    statistics = tf.nn.sufficient_statistics(X, [0, 1], 2.0)
    mean, variance = tf.nn.normalize_moments(*statistics)
    close(mean, [1.4285715, 1.5714285, 1.7142856, 1.8571428])
    close(variance, [0.952381, 0.9523809, 0.95238084, 0.9523809])
    mean, _ = tf.nn.normalize_moments(*statistics[:3], None)
    close(mean, [-0.57142854, -0.42857143, -0.28571433, -0.14285716])


class TestWeightedMoments:
    @pytest.mark.parametrize("weights", [2.0, tf.constant([1, 2, 3, 4])])
    def test_over_equal_weights(self, weights):
        mean, variance = tf.nn.weighted_moments(X, [0, 1], weights)
        close(mean, [1.4285713, 1.5714287, 1.7142859, 1.8571428])
        close(variance, [0.95238096, 0.9523809, 0.9523809, 0.95238096])

    def test_without_weight_there_is_nothing(self):
        mean, variance = tf.nn.weighted_moments(X, [0], np.arange(4.0).astype(np.float32))
        assert mean.shape == (3, 4)
        close(mean[0], [0.0, 1.0, 1.1428572, 1.2857143])
        close(variance[0], [0.0, 0.7346938, 0.7346939, 0.73469377])

    def test_keepdims_and_gradient(self):
        weights = tf.constant([[1.0], [3.0]])
        x = tf.constant([[1.0, 2.0], [5.0, 4.0]])
        with tf.GradientTape() as tape:
            tape.watch([x, weights])
            mean, variance = tf.nn.weighted_moments(x, [0], weights, keepdims=True)
            total = tf.reduce_sum(mean) + tf.reduce_sum(variance)
        close(mean, [[4.0, 3.5]])
        close(variance, [[3.0, 0.75]])
        by_x, by_weights = tape.gradient(total, [x, weights])
        close(by_x, [[-1.25, -0.5], [2.25, 1.5]])
        close(by_weights, [[0.75], [-0.25]])

    def test_float16(self):
        mean, variance = tf.nn.weighted_moments(
            tf.cast(X, tf.float16), [0, 1], tf.constant([1, 2, 3, 4], tf.float16)
        )
        assert mean.dtype == variance.dtype == tf.float16
        close(mean, np.array([1.429, 1.571, 1.715, 1.857], np.float16), 1e-3)


def test_batch_norm_with_global_normalization():
    one = tf.ones(4)
    args = (IMAGE, one, one, one, one * 2, 0.01)
    scaled = tf.nn.batch_norm_with_global_normalization(*args, True)
    close(scaled[0, 0, 0], [-0.9900743, -0.70577794, -0.4214816, -0.13718528], 1e-5)
    plain = tf.nn.batch_norm_with_global_normalization(*args, False)
    close(plain[0, 0, 0], [0.00496286, 0.14711103, 0.2892592, 0.43140736], 1e-5)


class TestLocalResponseNormalization:
    def test_values(self):
        close(
            tf.nn.lrn(IMAGE)[0, 0],
            [
                [0.0, 0.12598817, 0.25197634, 0.3779645],
                [0.3023716, 0.37796447, 0.45355737, 0.52915025],
                [0.39270458, 0.4417926, 0.4908807, 0.5399687],
            ],
        )
        close(
            tf.nn.local_response_normalization(IMAGE, 1, 2.0, 0.5, 0.75)[0, 0, 1],
            [0.29465935, 0.33126044, 0.36490658, 0.45382643],
        )

    def test_gradient(self):
        with tf.GradientTape() as tape:
            tape.watch(IMAGE)
            total = tf.reduce_sum(tf.nn.lrn(IMAGE, 1, 2.0, 0.5, 0.75) ** 2)
        close(
            tape.gradient(total, IMAGE)[0, 0],
            [
                [0.0, 0.09394128, 0.16366006, 0.24963121],
                [0.23934722, 0.18089107, 0.11287226, 0.240206],
                [0.18704289, 0.01601367, -0.04984931, 0.11957718],
            ],
            2e-5,
        )

    def test_forms_and_dtypes(self):
        check_value(
            "tf.nn.lrn([[[[1, 2, 3]]]])", "float32", [[[[0.2581989, 0.5163978, 0.7745967]]]]
        )
        check_value("tf.nn.lrn(c([[[[3.0]]]], tf.float16), bias=0)", "float16", [[[[1.0]]]])
        check_value("tf.nn.lrn(ones(0, 2, 2, 3))", "float32", np.ones((0, 2, 2, 3)))

    @pytest.mark.parametrize(
        ("expression", "message"),
        [
            ("tf.nn.lrn(ones(2, 3))", "in must be 4-dimensional"),
            ("tf.nn.lrn(ones(1, 1, 1, 3), depth_radius=-1)", "depth_radius = -1"),
            ("tf.nn.lrn(c([[[[1.0]]]], tf.float64))", "double is not in the list"),
            ("tf.nn.lrn(c([[[[1]]]]))", "int32 is not in the list"),
        ],
    )
    def test_errors(self, expression, message):
        check_error(expression, InvalidArgumentError, message)

    @pytest.mark.beyond_tensorflow
    def test_second_order(self):
        x = tf.constant([[[[2.0]]]])
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.nn.lrn(x)  # x / sqrt(1 + x²)
            slope = inner.gradient(y, x)
        close(slope, [[[[5**-1.5]]]])
        close(outer.gradient(slope, x), [[[[-6 * 5**-2.5]]]], 1e-5)
