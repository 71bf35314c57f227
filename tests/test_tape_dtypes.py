"""Gradients and dtypes: precision of the source, casts, and TensorFlow's convention for complex."""

import numpy as np
import pytest

import gradtape as tf

Z = 1 + 2j
FLOATS = [tf.float16, tf.bfloat16, tf.float32, tf.float64]


class TestRealNumbers:
    @pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
    def test_a_gradient_has_the_dtype_of_its_source(self, dtype, gradient_of):
        gradient = gradient_of(lambda x: x * x, tf.constant([1.0, 3.0], dtype))
        assert gradient.dtype == dtype
        assert gradient.numpy().tolist() == [2.0, 6.0]

    @pytest.mark.parametrize("source", FLOATS, ids=lambda dtype: dtype.name)
    @pytest.mark.parametrize("target", FLOATS, ids=lambda dtype: dtype.name)
    def test_casts_between_floats_are_differentiable(self, source, target, gradient_of):
        gradient = gradient_of(lambda x: tf.cast(x, target) * 3.0, tf.constant(2.0, source))
        assert gradient.dtype == source
        assert float(gradient) == 3.0

    @pytest.mark.parametrize("middle", [tf.int32, tf.int64, tf.uint8, tf.bool])
    def test_a_cast_to_an_integer_ends_the_path(self, middle, gradient_of):
        assert gradient_of(lambda x: tf.cast(tf.cast(x, middle), tf.float32), 2.0) is None

    def test_sources_of_different_dtypes(self):
        half, double = tf.Variable(2.0, dtype=tf.float16), tf.Variable(3.0, dtype=tf.float64)
        with tf.GradientTape() as tape:
            y = tf.cast(half, tf.float64) * double
        gradients = tape.gradient(y, [half, double])
        assert [gradient.dtype for gradient in gradients] == [tf.float16, tf.float64]
        assert [float(gradient) for gradient in gradients] == [3.0, 2.0]

    def test_targets_of_different_dtypes(self):
        v = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            targets = [v * v, tf.cast(v, tf.float64) * 3.0]
        gradient = tape.gradient(targets, v)
        assert gradient.dtype == tf.float32
        assert float(gradient) == 7.0

    def test_an_integer_operand_does_not_disturb(self, gradient_of):
        indices = tf.constant([2, 0])
        gradient = gradient_of(
            lambda x: tf.gather(tf.reshape(x, [3, 1]) * 2.0, indices), [1.0, 2.0, 3.0]
        )
        assert gradient.numpy().tolist() == [2.0, 0.0, 2.0]

    def test_float64_keeps_its_precision(self, gradient_of):
        gradient = gradient_of(tf.exp, tf.constant(0.1, tf.float64))
        assert float(gradient) == pytest.approx(np.exp(0.1), rel=1e-15)


# f -> gradient of f at Z: conj(f'(z)) if f is holomorphic, df/dx + i df/dy if it is real.
COMPLEX_GRADIENTS = {
    "z*z": (lambda z: z * z, 2 - 4j),
    "square": (tf.square, 2 - 4j),
    "z**3": (lambda z: z**3, np.conj(3 * Z**2)),
    "z*constant": (lambda z: z * (2 + 3j), 2 - 3j),
    "z+z": (lambda z: z + z, 2 + 0j),
    "1-z": (lambda z: 1.0 - z, -1 + 0j),
    "1/z": (lambda z: 1.0 / z, 0.12 - 0.16j),
    "reciprocal": (tf.math.reciprocal, 0.12 - 0.16j),
    "z/constant": (lambda z: z / (3 - 1j), np.conj(1 / (3 - 1j))),
    "exp": (tf.exp, np.conj(np.exp(Z))),
    "log": (tf.math.log, 0.2 + 0.4j),
    "sqrt": (tf.sqrt, np.conj(0.5 / np.sqrt(Z))),
    "sin": (tf.sin, np.conj(np.cos(Z))),
    "cos": (tf.cos, np.conj(-np.sin(Z))),
    "tanh": (tf.tanh, np.conj(1 - np.tanh(Z) ** 2)),
    "conj": (tf.math.conj, 1 + 0j),
    "real": (tf.math.real, 1 + 0j),
    "imag": (tf.math.imag, 0 + 1j),
    "abs": (tf.abs, Z / abs(Z)),
    "angle": (tf.math.angle, -0.4 + 0.2j),
    "real(z conj z)": (lambda z: tf.math.real(z * tf.math.conj(z)), 2 * Z),
    "abs squared": (lambda z: tf.abs(z) ** 2, 2 * Z),
    "identity": (tf.identity, 1 + 0j),
    "reduce_sum": (tf.reduce_sum, 1 + 0j),
}


class TestComplexNumbers:
    @pytest.mark.parametrize(
        ("function", "want"), COMPLEX_GRADIENTS.values(), ids=COMPLEX_GRADIENTS
    )
    @pytest.mark.parametrize(
        ("dtype", "rtol"), [(tf.complex64, 1e-6), (tf.complex128, 1e-14)], ids=["c64", "c128"]
    )
    def test_gradient_at_one_plus_two_i(self, function, want, dtype, rtol, gradient_of):
        gradient = gradient_of(function, tf.constant(Z, dtype))
        assert gradient.dtype == dtype
        np.testing.assert_allclose(gradient, want, rtol=rtol)

    def test_abs_at_zero(self, gradient_of):
        assert complex(gradient_of(tf.abs, tf.constant(0j)).numpy()) == 0

    def test_a_complex_target_counts_by_its_real_part(self, gradient_of):
        def square(z):
            return z * z

        z = tf.constant(Z)
        same = gradient_of(lambda z: tf.math.real(square(z)), z)
        np.testing.assert_allclose(gradient_of(square, z), same, rtol=1e-14)

    def test_a_step_along_the_gradient_of_a_real_function_ascends(self, gradient_of):
        def height(z):
            return tf.math.real(tf.exp(z) * tf.math.conj(z)) + tf.math.imag(z)

        z = tf.constant(Z)
        gradient, step = gradient_of(height, z), 1e-6
        rise = float(height(z + step * gradient) - height(z))
        assert rise == pytest.approx(step * abs(complex(gradient.numpy())) ** 2, rel=1e-4)

    def test_output_gradients(self, gradient_of):
        gradient = gradient_of(lambda z: z * (2 + 3j), Z, output_gradients=tf.constant(0 + 1j))
        assert complex(gradient.numpy()) == 1j * (2 - 3j)

    def test_from_real_and_imaginary_parts(self, gradient_of):
        da, db = gradient_of(tf.complex, 3.0, 4.0)
        assert (float(da), float(db)) == (1.0, 0.0)
        da, db = gradient_of(lambda a, b: tf.abs(tf.complex(a, b)), 3.0, 4.0)
        np.testing.assert_allclose([float(da), float(db)], [0.6, 0.8], rtol=1e-6)

    def test_a_real_source_gets_the_real_part(self, gradient_of, logs):
        gradient = gradient_of(lambda x: tf.cast(x, tf.complex128) * (2 + 3j), np.float64(5.0))
        assert gradient.dtype == tf.float64
        assert float(gradient) == 2.0
        assert len(logs) == 1

    def test_matmul(self, gradient_of):
        generator = np.random.default_rng(0)
        A, B, G = (
            generator.normal(size=shape) + 1j * generator.normal(size=shape)
            for shape in [(2, 3), (3, 4), (2, 4)]
        )
        dA, dB = gradient_of(tf.matmul, A, B, output_gradients=tf.constant(G))
        np.testing.assert_allclose(dA, G @ B.conj().T, rtol=1e-12)
        np.testing.assert_allclose(dB, A.conj().T @ G, rtol=1e-12)

    def test_second_order(self):
        z = tf.Variable(Z)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = z * z * z
            first = inner.gradient(y, z)
        np.testing.assert_allclose(first, np.conj(3 * Z**2), rtol=1e-14)
        np.testing.assert_allclose(outer.gradient(first, z), np.conj(6 * Z), rtol=1e-14)

    def test_a_complex_variable(self):
        v = tf.Variable([Z, 2 * Z])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.abs(v) ** 2)
        np.testing.assert_allclose(tape.gradient(y, v), [2 * Z, 4 * Z], rtol=1e-14)
