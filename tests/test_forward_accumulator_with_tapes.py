"""ForwardAccumulator with tapes, complex numbers and gradients of the user's own."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.op import OPS
from small_values import numbers

ForwardAccumulator = tf.autodiff.ForwardAccumulator


@pytest.fixture
def x():
    return tf.constant(3.0)


class TestWithTapes:
    def test_forward_over_reverse(self, x):
        with ForwardAccumulator(x, tf.constant(1.0)) as acc:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x**3
            gradient = tape.gradient(y, x)
        assert numbers(acc.jvp([y, gradient])) == [27.0, 18.0]

    def test_reverse_over_forward(self, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            with ForwardAccumulator(x, tf.constant(1.0)) as acc:
                y = x**3
            tangent = acc.jvp(y)
        assert float(tape.gradient(tangent, x)) == 18.0

    def test_a_tape_inside_does_not_see_tangents(self, x):
        with ForwardAccumulator(x, tf.constant(1.0)) as acc, tf.GradientTape() as tape:
            tape.watch(x)
            tangent = acc.jvp(x**3)
        assert tape.gradient(tangent, x) is None

    def test_forward_over_forward(self, x):
        with ForwardAccumulator(x, tf.constant(1.0)) as outer:
            with ForwardAccumulator(x, tf.constant(1.0)) as inner:
                y = x**3
            tangent = inner.jvp(y)
        assert numbers([tangent, outer.jvp(y), outer.jvp(tangent)]) == [27.0, 27.0, 18.0]
        assert inner.jvp(outer.jvp(y)) is None

    def test_forward_over_forward_inside_both(self, x):
        with (
            ForwardAccumulator(x, tf.constant(1.0)) as outer,
            ForwardAccumulator(x, tf.constant(1.0)) as inner,
        ):
            y = x**3
            of_inner, of_outer = inner.jvp(y), outer.jvp(y)
            assert float(outer.jvp(of_inner)) == 18.0
            assert inner.jvp([of_inner, of_outer]) == [None, None]

    def test_different_directions_do_not_mix(self, x):
        with ForwardAccumulator(x, tf.constant(10.0)) as outer:
            with ForwardAccumulator(x, tf.constant(1.0)) as inner:
                y = x**3
            tangent = inner.jvp(y)
        assert numbers([tangent, outer.jvp(y), outer.jvp(tangent)]) == [27.0, 270.0, 180.0]

    def test_third_derivatives(self):
        x, one = tf.constant(2.0), tf.constant(1.0)
        with (
            ForwardAccumulator(x, one) as a,
            ForwardAccumulator(x, one) as b,
            ForwardAccumulator(x, one) as c,
        ):
            y = x**4
        assert float(a.jvp(b.jvp(c.jvp(y)))) == 48.0
        with ForwardAccumulator(x, one) as a:
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = x**4
                first = inner.gradient(y, x)
            second = outer.gradient(first, x)
        assert float(a.jvp(second)) == 48.0

    def test_a_hessian_vector_product_of_a_variable_both_ways(self):
        v, direction = tf.Variable([1.0, 2.0, 3.0]), tf.constant([1.0, 0.0, 0.0])
        with tf.GradientTape() as tape:
            with ForwardAccumulator(v, direction) as acc:
                y = tf.reduce_sum(v**3) * v[1]
            tangent = acc.jvp(y)
        assert numbers(tape.gradient(tangent, v)) == [12.0, 3.0, 0.0]
        with ForwardAccumulator(v, direction) as acc:
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(v**3) * v[1]
            gradient = tape.gradient(y, v)
        assert numbers(acc.jvp(gradient)) == [12.0, 3.0, 0.0]

    def test_around_and_inside_a_jacobian(self):
        z, direction = tf.constant([1.0, 2.0]), tf.constant([1.0, 0.0])
        with ForwardAccumulator(z, direction) as acc:
            with tf.GradientTape() as tape:
                tape.watch(z)
                y = z**3
            jacobian = tape.jacobian(y, z)
        assert numbers(acc.jvp(jacobian)) == [[6.0, 0.0], [0.0, 0.0]]
        with tf.GradientTape() as tape:
            tape.watch(z)
            with ForwardAccumulator(z, direction) as acc:
                y = z**3
            tangent = acc.jvp(y)
        assert numbers(tape.jacobian(tangent, z)) == [[6.0, 0.0], [0.0, 0.0]]

    def test_a_tape_that_stops_recording(self, x):
        with ForwardAccumulator(x, tf.constant(1.0)) as acc, tf.GradientTape() as tape:
            tape.watch(x)
            with tape.stop_recording():
                y = x * x
        assert float(acc.jvp(y)) == 6.0

    def test_the_values_of_a_sparse_gradient(self):
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        with ForwardAccumulator(v, tf.ones((2, 2))) as acc:
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(tf.gather(v, [0, 0]) ** 3)
            gradient = tape.gradient(y, v)
        assert numbers(acc.jvp(gradient.values)) == [[6.0, 12.0], [6.0, 12.0]]
        assert acc.jvp(gradient.indices) is None

    def test_inside_a_vectorized_map(self):
        v = tf.constant([1.0, 2.0, 3.0])

        def column(direction):
            with ForwardAccumulator(v, direction) as acc:
                y = v**2 * v[0]
            return acc.jvp(y)

        found = tf.vectorized_map(column, tf.eye(3))
        assert numbers(found) == [[3.0, 4.0, 9.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]


class TestComplex:
    @pytest.mark.parametrize(
        ("function", "expected"),
        [
            (lambda z: z * z, -4 + 2j),
            (tf.exp, 1j * np.exp(1 + 2j)),
            (tf.sin, 1j * np.cos(1 + 2j)),
            (tf.sqrt, 0.5j / np.sqrt(1 + 2j)),
            (tf.math.log, 1j / (1 + 2j)),
            (lambda z: 1.0 / z, -1j / (1 + 2j) ** 2),
            (tf.math.conj, -1j),
            (tf.math.real, 0.0),
            (tf.math.imag, 1.0),
            (tf.abs, 2 / np.sqrt(5)),
            (tf.math.angle, 1 / 5),
        ],
        ids=[
            "square",
            "exp",
            "sin",
            "sqrt",
            "log",
            "inverse",
            "conj",
            "real",
            "imag",
            "abs",
            "arg",
        ],
    )
    def test_tangents_are_not_conjugated(self, function, expected):
        z = tf.constant(1 + 2j, tf.complex128)
        with ForwardAccumulator(z, tf.constant(1j, tf.complex128)) as acc:
            y = function(z)
        assert acc.jvp(y).dtype == y.dtype
        assert complex(acc.jvp(y).numpy()) == pytest.approx(expected, rel=1e-12)

    @pytest.mark.beyond_tensorflow
    def test_a_complex_primal_is_no_cause_for_a_warning(self, logs):
        ForwardAccumulator(tf.constant(1j), tf.constant(1j))
        assert logs == []


@pytest.mark.beyond_tensorflow
class TestUserGradients:
    def test_a_custom_gradient_is_used_in_forward_mode_too(self, x):
        @tf.custom_gradient
        def hundredfold(x):
            return x * x, lambda g: g * 100.0

        with ForwardAccumulator(x, tf.constant(2.0)) as acc:
            y = hundredfold(x)
        assert float(acc.jvp(y)) == 200.0

    def test_a_gradient_override_too(self, x):
        tf.RegisterGradient("TenfoldInForwardMode")(lambda op, g: g * 10.0 * op.inputs[0])
        with (
            ForwardAccumulator(x, tf.constant(2.0)) as acc,
            tf.autodiff.gradient_override({"Tanh": "TenfoldInForwardMode"}),
        ):
            y = tf.tanh(x)
        assert float(acc.jvp(y)) == 60.0


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize("dtype", [tf.float64, tf.complex128])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("Exp", tf.exp),
        ("Mul", lambda z: tf.multiply(z, z)),
        ("MatMul", lambda z: tf.matmul(z, z)),
        ("Transpose", tf.transpose),
        ("ConcatV2", lambda z: tf.concat([z, z], 0)),
        ("Unpack", tf.unstack),
    ],
)
def test_a_tangent_derived_from_the_adjoint_is_the_same(monkeypatch, name, function, dtype):
    z = tf.cast(tf.constant([[1.0, -0.5], [0.25, 2.0]]), dtype)
    direction = tf.cast(tf.constant([[0.5, 1.0], [-1.0, 0.3]]), dtype)
    if dtype.is_complex:
        z, direction = z * (1 + 2j), direction * (0.5 - 1j)

    def tangent():
        with ForwardAccumulator(z, direction) as acc:
            y = function(z)
        return numbers(acc.jvp(y))

    by_its_own_rule = tangent()
    monkeypatch.setattr(OPS[name], "jvp", None)
    np.testing.assert_allclose(tangent(), by_its_own_rule, rtol=1e-12)
