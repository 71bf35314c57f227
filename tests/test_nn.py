"""tf.nn by its public names: softmax, bias_add, moments, normalisation, statistics, losses."""

import math

import numpy as np
import pytest

import gradtape as tf

inf, nan = math.inf, math.nan
nn = tf.nn

X = np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 5.0]], np.float32)
Y = np.array([[1.0, 2.0, 4.0], [0.0, -1.0, 5.0]], np.float32)


def second_order(function, *points):
    """Gradients of the sum of all first gradients."""
    sources = [tf.convert_to_tensor(point) for point in points]
    with tf.GradientTape() as outer:
        outer.watch(sources)
        with tf.GradientTape() as inner:
            inner.watch(sources)
            y = function(*sources)
        first = inner.gradient(y, sources)
    return outer.gradient([g for g in first if g is not None], sources)


class TestSoftmax:
    def test_along_the_last_axis(self):
        wanted = [[0.09003057, 0.24472848, 0.66524094], [0.006676413, 0.002456115, 0.9908675]]
        np.testing.assert_allclose(nn.softmax(X), wanted, rtol=1e-6)
        np.testing.assert_allclose(nn.softmax(X, axis=None), wanted, rtol=1e-6)
        np.testing.assert_allclose(nn.log_softmax(X), np.log(wanted), rtol=1e-5)

    @pytest.mark.parametrize("axis", [0, -2, np.int64(0), tf.constant(0)])
    def test_along_another_axis(self, axis):
        wanted = [[0.7310586, 0.95257413, 0.11920291], [0.26894143, 0.047425874, 0.880797]]
        np.testing.assert_allclose(nn.softmax(X, axis=axis), wanted, rtol=1e-6)

    def test_names(self):
        assert nn.softmax is tf.math.softmax
        assert nn.log_softmax is tf.math.log_softmax
        assert nn.softmax(logits=[0.0], name="n").numpy() == 1.0

    @pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 2), (1, 0, 2)])
    def test_of_nothing(self, shape, gradient_of):
        for function in (nn.softmax, nn.log_softmax):
            assert tuple(function(tf.zeros(shape)).shape) == shape
            assert tuple(gradient_of(function, tf.zeros(shape)).shape) == shape

    @pytest.mark.parametrize(
        ("logits", "softmax", "log_softmax"),
        [
            ([0, 1000], [0, 1], [-1000, 0]),
            ([-1000, -1001], [0.7310586, 0.26894143], [-0.3132617, -1.3132616]),
            ([0, -inf], [1, 0], [0, -inf]),
            ([-inf, -inf], [nan, nan], [nan, nan]),
            ([0, inf], [nan, nan], [nan, -inf]),
            ([0, nan], [nan, nan], [nan, nan]),
            ([30, 18], [0.9999938, 6.1441742e-06], [-6.144193e-06, -12.000006]),
            ([-60, -100, 0], [8.756511e-27, 3.783506e-44, 1], [-60, -100, 0]),
        ],
    )
    def test_extremes(self, logits, softmax, log_softmax):
        logits = tf.constant(logits, tf.float32)
        np.testing.assert_allclose(nn.softmax(logits), softmax, rtol=1e-6, atol=1e-40)
        if not np.isposinf(logits.numpy()).any():
            np.testing.assert_allclose(nn.log_softmax(logits), log_softmax, rtol=1e-6, atol=1e-7)

    def test_rows_do_not_disturb_each_other(self):
        rows = np.array([[1.0, 2.0], [900.0, 901.0], [-900.0, -901.0], [nan, 0.0]], np.float32)
        together = nn.softmax(rows).numpy()
        for row, softmax in zip(rows, together, strict=True):
            np.testing.assert_allclose(softmax, nn.softmax(row), rtol=3e-7)

    def test_gradients(self, gradient_of):
        weights = tf.constant([1.0, -2.0, 0.5])
        by_softmax = gradient_of(lambda x: nn.softmax(x) * weights, X)
        wanted = [
            [0.09604514, -0.47310767, 0.3770625],
            [0.003356914, -0.0061334055, 0.002776484],
        ]
        np.testing.assert_allclose(by_softmax, wanted, rtol=1e-5)
        by_log = gradient_of(lambda x: nn.log_softmax(x) * weights, X)
        wanted = [[1.0450153, -1.8776357, 0.8326205], [1.0033382, -1.998772, 0.9954338]]
        np.testing.assert_allclose(by_log, wanted, rtol=1e-6)

    def test_a_scalar_seed_is_broadcast(self, gradient_of):
        gradient = gradient_of(nn.softmax, [1.0, 2.0], output_gradients=tf.constant(3.0))
        np.testing.assert_allclose(gradient, [0.0, 0.0], atol=1e-6)

    @pytest.mark.parametrize("function", [nn.softmax, nn.log_softmax])
    def test_errors(self, function):
        error = tf.errors.InvalidArgumentError
        with pytest.raises(error, match=r"in the range \[-2, 2\).*Received: dim=2"):
            function(X, axis=2)
        with pytest.raises(error, match="logits must have >= 1 dimension, got"):
            function(1.0)
        with pytest.raises(error, match="int32 is not in the list of allowed values"):
            function([1, 2])


class TestBiasAdd:
    def test_formats(self):
        ones = tf.ones([1, 2, 2, 2])
        for data_format in (None, "NHWC", "N...C"):
            value = nn.bias_add(ones, [1.0, 2.0], data_format)
            assert value.numpy().tolist() == [[[[2, 3], [2, 3]], [[2, 3], [2, 3]]]]
        for data_format in ("NCHW", "NC.."):
            value = nn.bias_add(ones, [1.0, 2.0], data_format=data_format)
            assert value.numpy().tolist() == [[[[2, 2], [2, 2]], [[3, 3], [3, 3]]]]

    def test_bias_takes_the_dtype_of_the_value(self):
        assert nn.bias_add(tf.ones([2, 3]), [1, 2, 3]).dtype is tf.float32
        assert nn.bias_add(tf.ones([2, 3]), np.array([1.0, 2.0, 3.0])).dtype is tf.float32
        assert nn.bias_add([[1, 2]], [3, 4]).numpy().tolist() == [[4, 6]]

    def test_gradients(self, gradient_of):
        by_value, by_bias = gradient_of(nn.bias_add, tf.ones([2, 3]), [1.0, 2.0, 3.0])
        assert by_value.numpy().tolist() == [[1, 1, 1], [1, 1, 1]]
        assert by_bias.numpy().tolist() == [2, 2, 2]
        by_bias = gradient_of(lambda b: nn.bias_add(tf.ones([2, 2, 2]), b, "NCHW"), [1.0, 2.0])
        assert by_bias.numpy().tolist() == [4, 4]
        assert (
            gradient_of(lambda b: nn.bias_add(tf.zeros([0, 2]), b), [1.0, 2.0]).numpy().sum() == 0
        )
        assert second_order(nn.bias_add, tf.ones([2, 3]), [1.0, 2.0, 3.0]) == [None, None]

    def test_errors(self):
        error = tf.errors.InvalidArgumentError
        ones = tf.ones([2, 3])
        with pytest.raises(ValueError, match=r"of the form `N...C` or `NC...`.*data_format=HWC"):
            nn.bias_add(ones, [1.0, 2.0, 3.0], "HWC")
        with pytest.raises(error, match=r"at least 2D: \[2\]"):
            nn.bias_add([1.0, 2.0], [1.0, 2.0])
        with pytest.raises(error, match=r"biases as the last dimension.*\[2\] vs. \[2,3\]"):
            nn.bias_add(ones, [1.0, 2.0])
        with pytest.raises(error, match=r"Biases must be 1D: \[1,3\]"):
            nn.bias_add(ones, [[1.0, 2.0, 3.0]])
        with pytest.raises(error, match="expected to be a float tensor but is a int32 tensor"):
            nn.bias_add(ones, tf.constant([1, 2, 3]))


class TestMoments:
    @pytest.mark.parametrize(
        ("options", "mean", "variance"),
        [
            ({"axes": [0]}, [0.5, 0.5, 4.5], [0.25, 2.25, 0.25]),
            ({"axes": 0}, [0.5, 0.5, 4.5], [0.25, 2.25, 0.25]),
            ({"axes": [0], "shift": 1.0}, [0.5, 0.5, 4.5], [0.25, 2.25, 0.25]),
            ({"axes": [0, 1]}, 1.8333334, 4.472222),
            ({"axes": None}, 1.8333334, 4.472222),
            (
                {"axes": [-1], "keepdims": True},
                [[2.3333333], [1.3333334]],
                [[1.5555557], [6.888889]],
            ),
            ({"axes": []}, Y, np.zeros_like(Y)),
        ],
    )
    def test_values(self, options, mean, variance):
        got = nn.moments(tf.constant(Y), **options)
        assert isinstance(got, tuple)
        np.testing.assert_allclose(got[0], mean, rtol=1e-6)
        np.testing.assert_allclose(got[1], variance, rtol=1e-6)

    @pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64])
    def test_dtypes(self, dtype):
        mean, variance = nn.moments(tf.cast(Y, dtype), [0])
        assert (mean.dtype, variance.dtype) == (dtype, dtype)
        assert mean.numpy().tolist() == [0.5, 0.5, 4.5]

    def test_float16_does_not_overflow(self):
        mean, variance = nn.moments(tf.constant([-300.0, 300.0, 0.0, 0.0], tf.float16), [0])
        assert (mean.numpy(), variance.numpy()) == (0.0, 44992.0)

    def test_of_nothing_and_of_complex_numbers(self):
        for moment in nn.moments(tf.zeros([0, 2]), [0]):
            np.testing.assert_array_equal(moment, [nan, nan])
        mean, variance = nn.moments(tf.constant([1 + 1j, 2j]), [0])
        assert (mean.numpy(), variance.numpy()) == (0.5 + 1.5j, 0.5)

    def test_gradients(self, gradient_of):
        gradient = gradient_of(lambda x: nn.moments(x, [0])[1], Y)
        np.testing.assert_allclose(gradient, [[0.5, 1.5, -0.5], [-0.5, -1.5, 0.5]])
        gradient = gradient_of(lambda x: nn.moments(x, [0])[0], Y)
        np.testing.assert_allclose(gradient, np.full((2, 3), 0.5))

    def test_errors(self):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"Invalid reduction dimension \(3"
        ):
            nn.moments(tf.constant(Y), [3])


class TestBatchNormalization:
    STATISTICS = tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 4.0, 9.0])
    OFFSET, SCALE = tf.constant([0.1, 0.2, 0.3]), tf.constant([2.0, 2.0, 2.0])

    def test_value(self):
        x = tf.constant(Y)
        got = nn.batch_normalization(x, *self.STATISTICS, self.OFFSET, self.SCALE, 1e-3)
        wanted = [[0.1, 0.2, 0.9666296], [-1.8990008, -2.7996252, 1.6332592]]
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
        got = nn.batch_normalization(x, *self.STATISTICS, None, None, 1e-3)
        wanted = [[0, 0, 0.3333148], [-0.9995004, -1.4998126, 0.6666296]]
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6)

    def test_gradients(self, gradient_of):
        def function(*inputs):
            return nn.batch_normalization(*inputs, variance_epsilon=1e-3)

        gradients = gradient_of(function, Y, *self.STATISTICS, self.OFFSET, self.SCALE)
        wanted = [
            [[1.9990008, 0.99987507, 0.6666296]] * 2,
            [-3.9980016, -1.9997501, -1.3332592],
            [0.9985019, 0.37485945, -0.11109259],
            [2, 2, 2],
            [-0.9995004, -1.4998126, 0.99994445],
        ]
        for got, want in zip(gradients, wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5)

    def test_as_layer_normalization(self, gradient_of):
        def function(x, offset, scale):
            mean, variance = nn.moments(x, [-1], keepdims=True)
            return nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)

        x = Y.astype(np.float64)
        offset, scale = np.array([0.1, 0.2, 0.3]), np.array([2.0, -1.0, 0.5])
        centred = x - x.mean(-1, keepdims=True)
        normal = centred / np.sqrt(np.mean(centred**2, -1, keepdims=True) + 1e-3)
        got = function(*[tf.constant(v) for v in (x, offset, scale)])
        np.testing.assert_allclose(got, normal * scale + offset, rtol=1e-12)
        by_x, by_offset, by_scale = gradient_of(function, x, offset, scale)
        np.testing.assert_allclose(by_offset, [2, 2, 2])
        np.testing.assert_allclose(by_scale, normal.sum(0), rtol=1e-12)
        wanted = scale - scale.mean() - normal * np.mean(normal * scale, -1, keepdims=True)
        wanted /= np.sqrt(np.mean(centred**2, -1, keepdims=True) + 1e-3)
        np.testing.assert_allclose(by_x, wanted, rtol=1e-9, atol=1e-12)

    def test_a_float16_input_stays_so(self):
        x = tf.cast(Y, tf.float16)
        assert nn.batch_normalization(x, *self.STATISTICS, None, None, 1e-3).dtype is tf.float16


class TestNormalize:
    def test_l2_normalize(self, gradient_of):
        assert nn.l2_normalize is tf.math.l2_normalize is tf.linalg.l2_normalize
        wanted = [[1, 0.8944272, 0.62469506], [0, -0.4472136, 0.7808688]]
        np.testing.assert_allclose(nn.l2_normalize(Y, axis=0), wanted, rtol=1e-6)
        norm = np.sqrt(np.sum(Y * Y))
        np.testing.assert_allclose(nn.l2_normalize(Y, axis=[0, 1]), Y / norm, rtol=1e-6)
        np.testing.assert_allclose(nn.l2_normalize(Y), Y / norm, rtol=1e-6)
        assert nn.l2_normalize([0.0, 0.5], epsilon=1.0).numpy().tolist() == [0.0, 0.5]
        np.testing.assert_allclose(
            gradient_of(nn.l2_normalize, [3.0, 4.0]), [0.032, -0.024], rtol=1e-5
        )

    def test_l2_normalize_of_complex_numbers(self, gradient_of):
        z = tf.constant([3.0 + 1j, 4.0])
        np.testing.assert_allclose(nn.l2_normalize(z), z.numpy() / 26**0.5)
        wanted = [0.0377146413727277 - 0.05280049792181878j, -0.015085856549091087]
        np.testing.assert_allclose(gradient_of(nn.l2_normalize, z), wanted, rtol=1e-9)

    def test_l2_normalize_errors(self):
        with pytest.raises(ValueError, match="Cannot specify both 'dim' and 'axis'"):
            nn.l2_normalize(Y, axis=0, dim=1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid reduction dimension"):
            nn.l2_normalize(Y, axis=5)
        with pytest.raises(TypeError, match="1e-12"):
            nn.l2_normalize([3, 4])

    @pytest.mark.parametrize(
        ("options", "value", "norm"),
        [
            ({}, [0.6, -0.8], [5]),
            ({"ord": 1}, [0.42857143, -0.5714286], [7]),
            ({"ord": np.inf}, [0.75, -1], [4]),
            ({"axis": 0}, [0.6, -0.8], [5]),
        ],
    )
    def test_normalize(self, options, value, norm):
        got_value, got_norm = tf.linalg.normalize([3.0, -4.0], **options)
        np.testing.assert_allclose(got_value, value, rtol=1e-6)
        np.testing.assert_allclose(got_norm, norm, rtol=1e-6)


class TestStatisticsAndLosses:
    def test_l2_loss(self, gradient_of):
        assert nn.l2_loss(t=[3.0, 4.0]).numpy() == 12.5
        assert nn.l2_loss(tf.zeros([0, 2])).numpy() == 0.0
        assert nn.l2_loss(tf.constant(2.0, tf.float64)).dtype is tf.float64
        assert gradient_of(nn.l2_loss, [[3.0, -4.0]]).numpy().tolist() == [[3, -4]]
        assert second_order(nn.l2_loss, [3.0, -4.0])[0].numpy().tolist() == [1, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="attr 'T' of int32"):
            nn.l2_loss([1])

    @pytest.mark.parametrize(
        ("value", "fraction"),
        [([[0.0, 1.0], [-0.0, nan]], 0.5), ([0, 1, 2], 1 / 3), ([True, False], 0.5), ([], nan)],
    )
    def test_zero_fraction(self, value, fraction):
        got = nn.zero_fraction(value)
        assert got.dtype is tf.float32
        np.testing.assert_allclose(got, fraction, rtol=1e-6)

    def test_zero_fraction_has_no_gradient(self, gradient_of):
        assert gradient_of(nn.zero_fraction, [0.0, 1.0]) is None

    def test_log_poisson_loss(self, gradient_of):
        loss = nn.log_poisson_loss([0.0, 1.0, 2.0, 5.0], [0.1, 0.2, 0.3, 0.4])
        np.testing.assert_allclose(loss, [1.105171, 1.0214027, 0.74985886, -0.50817525], rtol=1e-6)
        targets = [0.0, 0.5, 1.0, 2.0, 5.0, -1.0]
        log_input = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
        loss = nn.log_poisson_loss(targets, log_input, compute_full_loss=True)
        wanted = [1.105171, 1.1214027, 1.0498588, 1.3436313, 3.9195685, nan]
        np.testing.assert_allclose(loss, wanted, rtol=1e-6)
        by_targets, by_input = gradient_of(
            lambda a, b: nn.log_poisson_loss(a, b, True), targets[1:5], log_input[1:5]
        )
        np.testing.assert_allclose(by_targets, [-0.2, -0.3, 0.5431472, 1.209438], rtol=1e-6)
        wanted = [0.72140276, 0.3498588, -0.50817525, -3.3512788]
        np.testing.assert_allclose(by_input, wanted, rtol=1e-6)
        with pytest.raises(ValueError, match=r"must have the same shape, received \(\(2,\) vs \(1"):
            nn.log_poisson_loss([1.0], [1.0, 2.0])

    @pytest.mark.parametrize(
        ("loss", "options", "wanted", "dtype"),
        [
            ([1.0, 2.0, 3.0], {}, 2, tf.float32),
            ([1.0, 2.0, 3.0], {"global_batch_size": 6}, 1, tf.float32),
            ([1.0, 2.0, 3.0], {"global_batch_size": tf.constant(6)}, 1, tf.float32),
            ([1.0, 2.0, 3.0], {"global_batch_size": 0}, 0, tf.float32),
            ([1.0, 2.0, 3.0], {"sample_weight": [1.0, 0.0, 1.0]}, 4 / 3, tf.float32),
            ([1.0, 2.0], {"sample_weight": 2.0}, 3, tf.float32),
            ([[1.0, 2.0], [3.0, 4.0]], {}, 5, tf.float32),
            ([[1.0, 2.0], [3.0, 4.0]], {"sample_weight": [1.0, 2.0]}, 8.5, tf.float32),
            ([[1.0, 2.0], [3.0, 4.0]], {"sample_weight": [[1.0], [2.0]]}, 8.5, tf.float32),
            ([1, 2, 4], {}, 7 / 3, tf.float64),
            (np.array([1.0, 2.0]), {"sample_weight": tf.constant([1.0, 2.0])}, 2.5, tf.float64),
            (np.zeros([0], np.float32), {}, 0, tf.float32),
        ],
    )
    def test_compute_average_loss(self, loss, options, wanted, dtype):
        got = nn.compute_average_loss(loss, **options)
        assert got.dtype is dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-6)

    @pytest.mark.parametrize(
        ("loss", "options", "error", "match"),
        [
            (1.0, {}, ValueError, "at least rank 1"),
            ([1.0], {"global_batch_size": 6.0}, TypeError, "must be an integer"),
            ([1.0], {"global_batch_size": [6]}, ValueError, "must be scalar"),
            ([1.0], {"global_batch_size": -1}, tf.errors.InvalidArgumentError, "non-negative"),
            ([1.0] * 3, {"sample_weight": [1.0] * 2}, tf.errors.InvalidArgumentError, r"\[3\] vs"),
        ],
    )
    def test_compute_average_loss_errors(self, loss, options, error, match):
        with pytest.raises(error, match=match):
            nn.compute_average_loss(loss, **options)

    def test_scale_regularization_loss(self):
        assert nn.scale_regularization_loss([1.0, 2.0]).numpy() == 3.0
        assert nn.scale_regularization_loss(3.0).dtype is tf.float32
        assert nn.scale_regularization_loss([3, 4]).dtype is tf.float64


@pytest.mark.beyond_tensorflow
class TestBetterThanTensorFlow:
    def test_poisson_gradient_at_zero_targets(self, gradient_of):
        gradient = gradient_of(lambda t: nn.log_poisson_loss(t, [0.1], True), [0.0])
        np.testing.assert_allclose(gradient, [-0.1])

    def test_lists_where_tensorflow_wants_tensors(self):
        mean, variance = nn.moments([1.0, 3.0], [0])
        assert (mean.numpy(), variance.numpy()) == (2.0, 1.0)
        got = nn.batch_normalization([3.0], [1.0], [4.0], [0.5], [2.0], 0.0)
        np.testing.assert_allclose(got, [2.5], rtol=1e-6)

    def test_message_names_the_second_dimension(self):
        with pytest.raises(tf.errors.InvalidArgumentError, match="as the second dimension"):
            nn.bias_add(tf.ones([1, 2, 3, 3]), [1.0, 2.0, 3.0], "NCHW")
