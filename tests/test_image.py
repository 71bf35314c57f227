"""tf.image by its public names: contrast, brightness, conversion, mirror images, grey levels."""

import math

import numpy as np
import pytest

import gradtape as tf

image = tf.image
RGB = np.array([[[20, 76, 123], [108, 103, 7]], [[1, 31, 2], [171, 134, 165]]], np.uint8)
FLOATS = (RGB / 255).astype(np.float32)


class TestAdjustContrast:
    def test_each_channel_around_its_mean(self):
        x = np.arange(16.0).reshape(2, 2, 2, 2).astype(np.float32)
        wanted = [
            [[[-3, -2], [1, 2]], [[5, 6], [9, 10]]],
            [[[5, 6], [9, 10]], [[13, 14], [17, 18]]],
        ]
        assert image.adjust_contrast(x, 2.0).numpy().tolist() == wanted
        assert image.adjust_contrast(images=x, contrast_factor=2).numpy().tolist() == wanted
        assert image.adjust_contrast(x[0], 2.0).numpy().tolist() == wanted[0]

    def test_integers_are_fractions_of_their_largest_value(self):
        got = image.adjust_contrast(RGB, 3.0)
        assert got.dtype is tf.uint8
        wanted = [[[0, 56, 220], [174, 137, 0]], [[0, 0, 0], [255, 230, 255]]]
        assert got.numpy().tolist() == wanted
        got = image.adjust_contrast(tf.constant([[[1], [100]]]), 2.0)
        assert (got.dtype, got.numpy().tolist()) == (tf.int32, [[[-48], [149]]])

    @pytest.mark.parametrize("dtype", [tf.bfloat16, tf.float32, tf.float64])
    def test_floating_dtypes_stay(self, dtype):
        got = image.adjust_contrast(tf.cast(FLOATS, dtype), 1.0)
        assert got.dtype is dtype
        np.testing.assert_allclose(tf.cast(got, tf.float32), FLOATS, rtol=1e-2)

    def test_of_nothing_and_with_nan(self):
        assert image.adjust_contrast(tf.zeros([0, 3, 3]), 2.0).shape == (0, 3, 3)
        assert np.isnan(image.adjust_contrast([[[1.0], [math.nan]]], 2.0).numpy()).all()

    def test_gradient_is_not_registered(self):
        pixels, factor = tf.Variable([[[0.5, 0.0, 0.0]]]), tf.Variable(0.1)
        with tf.GradientTape(persistent=True) as tape:
            adjusted = image.adjust_contrast(pixels, factor)
            unrelated = tf.reduce_sum(adjusted) + factor
        for target in (adjusted, unrelated):
            with pytest.raises(LookupError, match="registry has no entry for: AdjustContrastv2"):
                tape.gradient(target, [pixels, factor])

    def test_errors(self):
        error = tf.errors.InvalidArgumentError
        with pytest.raises(error, match=r"input must be at least 3-D, got shape\[1,2\]"):
            image.adjust_contrast([[1.0, 2.0]], 2.0)
        with pytest.raises(error, match=r"contrast_factor must be scalar: \[2\]"):
            image.adjust_contrast(FLOATS, [1.0, 2.0])
        with pytest.raises(error, match="expected to be a float tensor but is a double tensor"):
            image.adjust_contrast(FLOATS, tf.constant(2.0, tf.float64))
        with pytest.raises(AttributeError, match="must be either floating point or integer"):
            image.adjust_contrast([[[True]]], 2.0)
        with pytest.raises(TypeError, match="'a'"):
            image.adjust_contrast(FLOATS, "a")


class TestAdjustBrightness:
    def test_values(self, gradient_of):
        np.testing.assert_allclose(
            image.adjust_brightness([[0.5, 0.1]], 0.2), [[0.7, 0.3]], rtol=1e-6
        )
        got = image.adjust_brightness(RGB, 0.2)
        wanted = [[[71, 127, 174], [159, 154, 58]], [[52, 82, 53], [222, 185, 216]]]
        assert (got.dtype, got.numpy().tolist()) == (tf.uint8, wanted)
        by_image, by_delta = gradient_of(image.adjust_brightness, [[0.5, 0.1]], 0.2)
        assert (by_image.numpy().tolist(), by_delta.numpy()) == ([[1, 1]], 2)

    def test_integers_do_not_wrap_around(self):
        pixels = tf.constant([[[0, 255]]], tf.uint8)
        assert image.adjust_brightness(pixels, 0.9).numpy().tolist() == [[[229, 255]]]
        assert image.adjust_brightness(pixels, -0.9).numpy().tolist() == [[[0, 25]]]


# (from dtype, values, to dtype, wanted)
CONVERSIONS = [
    ("float32", [0.0, 0.5, 1.0, 0.999, 0.25], "uint8", [0, 127, 255, 255, 63]),
    ("float32", [0.0, 0.5, 1.0, 0.999, 0.25], "int16", [0, 16383, 32767, 32734, 8191]),
    ("float64", [0.0, 0.5, 1.0], "int32", [0, 1073741823, 2147483647]),
    ("uint8", [0, 127, 255], "float32", [0, 0.49803925, 1]),
    ("uint8", [0, 127, 255], "float64", [0, 127 / 255, 1]),
    ("uint8", [0, 127, 255], "int8", [0, 63, 127]),
    ("uint8", [0, 127, 255], "uint16", [0, 32512, 65280]),
    ("uint8", [0, 127, 255], "int32", [0, 1065353216, 2139095040]),
    ("int16", [0, 127, 32767], "uint8", [0, 0, 255]),
    ("int8", [0, 100, -128, 127], "float32", [0, 0.78740156, -1.007874, 1]),
    ("int64", [0, 127, 2**40], "int32", [0, 0, 256]),
    ("float32", [0.25, 2.0], "float64", [0.25, 2.0]),
]


class TestConvertImageDtype:
    @pytest.mark.parametrize(("source", "values", "goal", "wanted"), CONVERSIONS)
    def test_values(self, source, values, goal, wanted):
        got = image.convert_image_dtype(tf.constant(values, source), goal)
        assert got.dtype == goal
        np.testing.assert_allclose(got, wanted, rtol=1e-6)

    @pytest.mark.parametrize(
        ("source", "values", "goal", "wanted"),
        [
            ("float32", [-1.0, 0.5, 2.0], "uint8", [0, 127, 255]),
            ("float32", [-1.0, 0.5, 2.0], "int8", [-127, 63, 127]),
            ("float32", [-1.0, 0.5, 2.0], "float64", [-1.0, 0.5, 2.0]),
            ("int16", [0, 127, -5, 32767], "uint8", [0, 0, 0, 255]),
            ("int16", [0, 127, -5, 32767], "uint16", [0, 254, 0, 65534]),
        ],
    )
    def test_saturate(self, source, values, goal, wanted):
        got = image.convert_image_dtype(tf.constant(values, source), goal, saturate=True)
        assert got.numpy().tolist() == wanted

    def test_an_image_of_that_dtype_is_not_changed(self):
        assert image.convert_image_dtype([[1.5, 2.0]], tf.float32).numpy().tolist() == [[1.5, 2.0]]

    def test_gradient(self, gradient_of):
        gradient = gradient_of(lambda x: image.convert_image_dtype(x, tf.float64), [1.0])
        assert (gradient.dtype, gradient.numpy()) == (tf.float32, [1.0])
        assert gradient_of(lambda x: image.convert_image_dtype(x, tf.uint8), [1.0]) is None

    def test_errors(self):
        for dtype in (tf.bool, tf.complex64, tf.string):
            with pytest.raises(
                AttributeError, match="dtype must be either floating point or integer"
            ):
                image.convert_image_dtype(FLOATS, dtype)
        with pytest.raises(AttributeError, match="image dtype must be either"):
            image.convert_image_dtype([True], tf.float32)
        with pytest.raises(TypeError, match="'foo'"):
            image.convert_image_dtype(FLOATS, "foo")


class TestMirrorImages:
    @pytest.mark.parametrize(
        ("function", "axis"), [(image.flip_left_right, 1), (image.flip_up_down, 0)]
    )
    def test_one_image_and_a_batch(self, function, axis):
        np.testing.assert_array_equal(function(RGB), np.flip(RGB, axis))
        np.testing.assert_array_equal(function(image=[RGB, RGB])[1], np.flip(RGB, axis))

    def test_gradient(self, gradient_of):
        weights = np.arange(4, dtype=np.float32).reshape(2, 2, 1)
        gradient = gradient_of(lambda x: image.flip_left_right(x) * weights, tf.ones([2, 2, 1]))
        assert gradient.numpy().tolist() == [[[1], [0]], [[3], [2]]]

    @pytest.mark.parametrize("function", [image.flip_left_right, image.flip_up_down])
    def test_errors(self, function):
        for shape in ([1, 2], [1, 1, 1, 1, 1]):
            with pytest.raises(ValueError, match="dimension"):
                function(tf.ones(shape))
        with pytest.raises(ValueError, match=r"inner 3 dims of 'image\.shape' must be > 0"):
            function(tf.zeros([0, 2, 2]))


class TestGreyLevels:
    def test_rgb_to_grayscale(self, gradient_of):
        got = image.rgb_to_grayscale(RGB)
        assert (got.dtype, got.numpy().tolist()) == (tf.uint8, [[[64], [93]], [[18], [148]]])
        np.testing.assert_allclose(image.rgb_to_grayscale([[1.0, 2.0, 3.0]]), [[1.8149]], rtol=1e-6)
        gradient = gradient_of(image.rgb_to_grayscale, tf.ones([1, 1, 3]))
        np.testing.assert_allclose(gradient, [[[0.2989, 0.587, 0.114]]], rtol=1e-6)

    def test_grayscale_to_rgb(self, gradient_of):
        grey = tf.constant(RGB[..., :1])
        np.testing.assert_array_equal(image.grayscale_to_rgb(grey), np.repeat(grey.numpy(), 3, -1))
        gradient = gradient_of(image.grayscale_to_rgb, tf.ones([1, 2, 1]))
        assert gradient.numpy().tolist() == [[[3], [3]]]

    def test_errors(self):
        with pytest.raises(tf.errors.InvalidArgumentError):
            image.rgb_to_grayscale(tf.ones([2, 2, 4]))
        with pytest.raises(
            ValueError, match="Last dimension of a grayscale image should be size 1"
        ):
            image.grayscale_to_rgb(tf.ones([2, 2, 3]))


@pytest.mark.beyond_tensorflow
class TestBetterThanTensorFlow:
    def test_float64_is_not_rounded_to_float32(self):
        pixels = tf.constant([[[0.1], [0.2]]], tf.float64)
        np.testing.assert_allclose(image.adjust_brightness(pixels, 0.1).numpy().ravel(), [0.2, 0.3])
        np.testing.assert_allclose(
            image.adjust_contrast(pixels, 2.0).numpy().ravel(), [0.05, 0.25], rtol=1e-12
        )

    def test_float16(self):
        pixels = tf.cast(FLOATS, tf.float16)
        assert image.adjust_contrast(pixels, 2.0).dtype is tf.float16
