"""Names that stand for themselves: permutations, isotonic regression, conversions, op types."""

import pstats

import numpy as np
import pytest

import gradtape as tf
from expressions import check_error, check_value

InvalidArgumentError = tf.errors.InvalidArgumentError

VALUES = [
    ("tf.math.invert_permutation([2, 0, 1])", "int32", [1, 2, 0]),
    ("tf.math.invert_permutation(c([2, 0, 1], tf.int64))", "int64", [1, 2, 0]),
    ("tf.math.invert_permutation([])", "int32", []),
    ("tf.realdiv([1.0, 2.0], 4.0)", "float32", [0.25, 0.5]),
    ("tf.nn.isotonic_regression([1.0, 3, 2, 2, 2, 5, 0])[0]", "float32", [2.5] * 6 + [0.0]),
    ("tf.nn.isotonic_regression([1.0, 3, 2, 2, 2, 5, 0])[1]", "int32", [0] * 6 + [1]),
    ("tf.nn.isotonic_regression([1.0, 1, 1])[1]", "int32", [0, 1, 2]),
    (
        "tf.nn.isotonic_regression([1.0, 3, 2, 2, 2, 5, 0], decreasing=False)[0]",
        "float32",
        [1.0, 2.25, 2.25, 2.25, 2.25, 2.5, 2.5],
    ),
    (
        "tf.nn.isotonic_regression([[3.0, 1, 2], [1, 2, 3]], axis=0, decreasing=False)[0]",
        "float32",
        [[2.0, 1.0, 2.0], [2.0, 2.0, 3.0]],
    ),
    ("tf.nn.isotonic_regression([[3, 1, 2]])[0]", "float64", [[3.0, 1.5, 1.5]]),
    ("tf.nn.isotonic_regression(c([1, 2], tf.int8))[0]", "float32", [1.5, 1.5]),
    ("tf.nn.isotonic_regression(c([3, 4], tf.bfloat16))[0]", "bfloat16", [3.5, 3.5]),
    ("tf.nn.isotonic_regression(3.0)[0]", "float32", 3.0),
    ("tf.nn.isotonic_regression(ones(3, 0))[0]", "float32", np.ones((3, 0))),
    (
        "tf.conv(A(1, 3, 3, 1), tf.ones((2, 2, 1, 1)), [1, 1, 1, 1], 'VALID')[0, :, :, 0]",
        "float32",
        [[12, 16], [24, 28]],
    ),
]


@pytest.mark.parametrize(("expression", "dtype", "value"), VALUES)
def test_values(expression, dtype, value):
    check_value(expression, dtype, value)


ERRORS = [
    ("tf.math.invert_permutation([2, 2, 1])", InvalidArgumentError, "2 is duplicated"),
    ("tf.math.invert_permutation([3, 2, 1])", InvalidArgumentError, "3 is not between 0 and 3"),
    ("tf.math.invert_permutation([[0]])", InvalidArgumentError, "expects a 1D vector"),
    ("tf.nn.isotonic_regression([1.0], axis=3)", InvalidArgumentError, "in the range [-1, 1)"),
    ("tf.nn.isotonic_regression([True])", InvalidArgumentError, "bool is not in the list"),
    ("tf.linalg.eigh_tridiagonal(ones(3), ones(2), select='x')", ValueError, "select must have"),
    ("tf.linalg.eigh_tridiagonal(ones(3), ones(3))", InvalidArgumentError, "hapes"),
    (
        "tf.linalg.eigh_tridiagonal(ones(3), c([1.0, 2.0], tf.float64))",
        ValueError,
        "must have the same type",
    ),
    (
        "tf.linalg.eigh_tridiagonal(ones(3), ones(2), select='i', select_range=(2, 1))",
        InvalidArgumentError,
        "Got empty index range in select_range",
    ),
    (
        "tf.linalg.eigh_tridiagonal(ones(3), ones(2), select='v', select_range=(2.0, 1.0))",
        InvalidArgumentError,
        "Got empty interval in select_range",
    ),
    ("tf.linalg.eigh_tridiagonal(c([1, 2]), c([1]))", ValueError, "not inexact"),
]


@pytest.mark.parametrize(("expression", "error", "message"), ERRORS)
def test_errors(expression, error, message):
    check_error(expression, error, message)


@pytest.mark.beyond_tensorflow
def test_gradient_of_isotonic_regression():
    """TensorFlow's has another shape than the vector."""
    x = tf.constant([1.0, 3, 2, 2, 2, 5, 0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, _ = tf.nn.isotonic_regression(x)
        total = tf.reduce_sum(y * tf.range(7.0))
    assert tape.gradient(total, x).numpy().tolist() == [2.5] * 6 + [6.0]


class TestTridiagonalEigenvalues:
    diagonal = tf.constant([1.0, 2.0, 3.0, 4.0])
    beside = tf.constant([0.5, 0.2, 0.1])
    expected = np.array([0.7902092, 2.1661055, 3.0335777, 4.010107])

    def check(self, got, expected):
        np.testing.assert_allclose(got, expected, rtol=1e-6)

    def test_all(self):
        self.check(tf.linalg.eigh_tridiagonal(self.diagonal, self.beside), self.expected)

    @pytest.mark.parametrize(
        ("select", "bounds"), [("i", (1, 2)), ("v", (1.5, 3.5)), ("v", (0.8, 3.1))]
    )
    def test_some(self, select, bounds):
        got = tf.linalg.eigh_tridiagonal(
            self.diagonal, self.beside, select=select, select_range=bounds
        )
        self.check(got, self.expected[1:3])

    @pytest.mark.parametrize("dtype", [tf.float32, tf.complex64])
    def test_vectors(self, dtype):
        beside = tf.cast(self.beside, dtype) * (1j if dtype.is_complex else 1.0)
        values, vectors = tf.linalg.eigh_tridiagonal(
            tf.cast(self.diagonal, dtype), beside, eigvals_only=False, select="i",
            select_range=(1, 3),
        )  # fmt: skip
        self.check(values, self.expected[1:])
        above = np.diag(beside.numpy(), 1)
        matrix = np.diag(self.diagonal.numpy()) + above + above.conj().T
        np.testing.assert_allclose(matrix @ vectors, vectors * values.numpy(), atol=1e-5)

    @pytest.mark.beyond_tensorflow
    def test_gradient(self):
        def smallest(alpha, beta):
            return tf.linalg.eigh_tridiagonal(alpha, beta)[0]

        points = [tf.cast(self.diagonal, tf.float64), tf.cast(self.beside, tf.float64)]
        for by_tape, by_differences in zip(
            *tf.test.compute_gradient(smallest, points), strict=True
        ):
            np.testing.assert_allclose(by_tape, by_differences, atol=1e-8)


@pytest.mark.beyond_tensorflow
class TestOpTypes:
    """TensorFlow has these names, but no kernels for them, or not without a graph."""

    def test_fourier_transforms(self):
        x = tf.constant(np.random.RandomState(0).randn(2, 4), tf.float32)
        spectrum = tf.rfftnd(x, [2, 4], [0, 1])
        assert spectrum.dtype == tf.complex64
        np.testing.assert_allclose(spectrum, np.fft.rfft2(x), atol=1e-5)
        np.testing.assert_allclose(tf.irfftnd(spectrum, [2, 4], [0, 1]), x, atol=1e-6)
        z = tf.cast(x, tf.complex64)
        np.testing.assert_allclose(tf.ifftnd(tf.fftnd(z, [4], [1]), [4], [1]), z, atol=1e-6)

    def test_parallel_stack(self):
        check_value("tf.parallel_stack([c([1, 2]), c([3, 4])])", "int32", [[1, 2], [3, 4]])

    def test_gradients_of_convolutions(self):
        x, w = tf.random.normal((2, 4, 4, 2)), tf.random.normal((2, 2, 2, 3))
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.nn.conv2d(x, w, 1, "VALID")
        by_input, by_filter = tape.gradient(y, [x, w])
        steps = ([1, 1, 1, 1], "VALID")
        g = tf.ones_like(y)
        np.testing.assert_allclose(tf.conv2d_backprop_input_v2(x, w, g, *steps), by_input)
        np.testing.assert_allclose(tf.conv2d_backprop_filter_v2(x, w, g, *steps), by_filter)


class TestSpaceToBatch:
    @pytest.mark.parametrize("padding", ["SAME", "VALID"])
    @pytest.mark.parametrize("rates", [[2, 3], [1, 1]])
    def test_dilated_convolution(self, padding, rates):
        x = tf.constant(np.random.RandomState(0).randn(2, 9, 8, 2), tf.float32)
        w = tf.constant(np.random.RandomState(1).randn(3, 2, 2, 4), tf.float32)
        seen = []

        def op(part, axes, padding):
            seen.append(axes)
            return tf.nn.conv2d(part, w, 1, padding)

        got = tf.nn.with_space_to_batch(x, rates, padding, op, filter_shape=w.shape)
        expected = tf.nn.conv2d(x, w, 1, padding, dilations=rates)
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
        assert seen == [2]

    def test_filter_shape_is_needed(self):
        with pytest.raises(ValueError, match="filter_shape"):
            tf.nn.with_space_to_batch(tf.ones((1, 4, 4, 1)), [2, 2], "SAME", lambda *_: None)


class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees


class Other(Celsius):
    pass


class TestConversionFunctions:
    def test_registered_class(self):
        def convert(value, dtype=None, name=None, as_ref=False):
            if isinstance(value, Other):
                return NotImplemented
            return tf.constant(value.degrees, dtype or tf.float32)

        tf.register_tensor_conversion_function(Celsius, convert)
        assert float(tf.convert_to_tensor(Celsius(20.0))) == 20.0
        assert tf.convert_to_tensor(Celsius(20.0), tf.float64).dtype == tf.float64
        assert float(tf.add(Celsius(1.0), 2.0)) == 3.0
        assert float(tf.constant(2.0) * Celsius(3.0)) == 6.0
        with pytest.raises((ValueError, TypeError)):
            tf.convert_to_tensor(Other(1.0))

    @pytest.mark.parametrize("base_type", [int, np.ndarray, (str, np.float32), "Celsius"])
    def test_other_types(self, base_type):
        with pytest.raises(TypeError):
            tf.register_tensor_conversion_function(base_type, lambda *_, **__: None)

    def test_function(self):
        with pytest.raises(TypeError, match="callable"):
            tf.register_tensor_conversion_function(Celsius, None)


def test_aggregation_methods():
    assert tf.AggregationMethod.DEFAULT == tf.AggregationMethod.ADD_N == 0
    assert tf.AggregationMethod.EXPERIMENTAL_TREE == 1
    assert tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N == 2


class TestProfiler:
    @pytest.mark.beyond_tensorflow
    def test_writes_what_pstats_reads(self, tmp_path):
        profiler = tf.profiler.experimental
        with profiler.Profile(str(tmp_path)), profiler.Trace("step", step_num=1, _r=1):
            tf.reduce_sum(tf.ones(3))
        (path,) = tmp_path.rglob("*.pstats")
        assert "reduce_sum" in pstats.Stats(str(path)).get_stats_profile().func_profiles

    def test_stop_without_start(self):
        with pytest.raises(tf.errors.UnavailableError, match="No profiler is running"):
            tf.profiler.experimental.stop()

    def test_start_twice(self, tmp_path):
        tf.profiler.experimental.start(str(tmp_path))
        try:
            with pytest.raises(tf.errors.AlreadyExistsError):
                tf.profiler.experimental.start(str(tmp_path))
        finally:
            tf.profiler.experimental.stop(save=False)

    def test_options(self):
        options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=3)
        assert (options.host_tracer_level, options.delay_ms) == (3, None)


class TestSobolSequence:
    def test_first_points(self):
        check_value(
            "tf.math.sobol_sample(5, 6)",
            "float32",
            [
                [0.5, 0.5, 0.5, 0.5, 0.5],
                [0.75, 0.25, 0.25, 0.25, 0.75],
                [0.25, 0.75, 0.75, 0.75, 0.25],
                [0.375, 0.375, 0.625, 0.875, 0.375],
                [0.875, 0.875, 0.125, 0.375, 0.875],
                [0.625, 0.125, 0.875, 0.625, 0.625],
            ],
        )

    def test_later_points(self):
        check_value(
            "tf.math.sobol_sample(3, 2, skip=2, dtype=tf.float64)",
            "float64",
            [[0.25, 0.75, 0.75], [0.375, 0.375, 0.625]],
        )
        check_value("tf.math.sobol_sample(41, 3)[:, -1]", "float32", [0.5, 0.25, 0.75])

    def test_fills_every_interval_once(self):
        """With the origin, 2**k points have one in each of as many equal parts of each axis."""
        points = tf.math.sobol_sample(256, 127).numpy()
        counts = np.sort((points * 128).astype(int), axis=0)
        assert (counts == np.arange(1, 128)[:, None]).all()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ("0, 4", "dim must be at least one"),
            ("30000, 4", "dim must be at most"),
            ("2, 0", "num_results must be at least one"),
            ("2, 1, -1", "skip must be non-negative"),
            ("2, 1, 0, tf.float16", "half is not in the list of allowed values"),
        ],
    )
    def test_errors(self, arguments, message):
        check_error(f"tf.math.sobol_sample({arguments})", InvalidArgumentError, message)


class TestSampledProducts:
    places = tf.constant([[0, 1], [1, 0]], tf.int64)
    left = tf.constant([[1.0, 2, 3], [4, 5, 6]])
    right = tf.constant([[1.0, 2], [3, 4], [5, 6]])

    @pytest.mark.parametrize(
        ("factors", "expected"), [((), [29.0, 51.0]), ((0.5, 2.0), [56.5, 99.0])]
    )
    def test_values(self, factors, expected):
        places, values, shape = tf.sparse.sampled_addmm(
            self.places, tf.constant([1.0, 2.0]), [2, 2], self.left, self.right, *factors
        )
        assert places.numpy().tolist() == [[0, 1], [1, 0]]
        assert values.numpy().tolist() == expected
        assert shape.numpy().tolist() == [2, 2]

    def test_gradient(self):
        with tf.GradientTape() as tape:
            tape.watch(self.left)
            _, values, _ = tf.sparse.sampled_addmm(
                self.places, tf.constant([1.0, 2.0]), [2, 2], self.left, self.right
            )
        gradient = tf.convert_to_tensor(tape.gradient(values, self.left))
        assert gradient.numpy().tolist() == [[2.0, 4.0, 6.0], [1.0, 3.0, 5.0]]

    @pytest.mark.beyond_tensorflow
    def test_error(self):
        with pytest.raises(InvalidArgumentError, match="Matrix size-incompatible"):
            tf.sparse.sampled_addmm(
                self.places, tf.constant([1.0, 2.0]), [2, 2], self.left, self.left
            )
