"""check_gradients: right derivatives pass, and a wrong one is caught in every mode and order."""

import re
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.autodiff import check
from gradtape.autodiff.check import GradientError
from gradtape.core.op import OPS

pytestmark = pytest.mark.beyond_tensorflow

check_gradients = tf.autodiff.check_gradients


def float64(value):
    return tf.constant(value, tf.float64)


@tf.custom_gradient
def cube_with_wrong_gradient(x):
    return x**3, lambda g: g * 2.0 * x**2


@tf.custom_gradient
def cube_with_constant_gradient(x):
    """The first derivative is right; the second is missing."""
    slope = tf.stop_gradient(3.0 * x**2)
    return x**3, lambda g: g * slope


class TestRightDerivativesPass:
    @pytest.mark.parametrize(
        ("function", "points"),
        [
            (tf.sin, [0.5]),
            (lambda x: 3.0 * x, [[1.0, 2.0]]),
            (lambda x: tf.zeros(3, tf.float64), [[1.0, 2.0]]),
            (lambda a, b: a @ b, [[[1.0, 2.0]], [[3.0], [4.0]]]),
            (lambda a, b: a * b, [[[1.0], [2.0]], [3.0, 4.0, 5.0]]),
            (lambda x: tf.gather(x, [0, 0]) ** 3, [[1.0, 2.0]]),
            (tf.nn.softmax, [[[2.0, 1.0], [0.5, 3.0]]]),
        ],
        ids=["sin", "linear", "constant", "matmul", "broadcast", "gather", "softmax"],
    )
    def test_in_double_precision(self, function, points):
        assert check_gradients(function, *[float64(p) for p in points]) is None

    def test_in_single_precision(self):
        assert check_gradients(lambda x: tf.reduce_sum(tf.exp(x)), tf.constant([1.0, 5.0])) is None

    def test_in_mixed_precision(self):
        def product(a, b):
            return tf.cast(a, tf.float64) * b

        assert check_gradients(product, tf.constant([1.0, 2.0]), float64([3.0, 4.0])) is None

    def test_structures_in_and_out_and_integers_beside(self):
        def function(d):
            return {"product": d["x"] * d["y"][0], "place": tf.argmax(d["x"])}

        assert check_gradients(function, {"x": float64([1.0, 2.0]), "y": [float64(3.0)]}) is None

    @pytest.mark.parametrize("dtype", [tf.complex64, tf.complex128])
    def test_complex_numbers(self, dtype):
        def function(z):
            return [tf.exp(z) * tf.math.conj(z), tf.abs(z)]

        assert check_gradients(function, tf.constant([1 + 2j, 0.3 - 1j], dtype)) is None

    def test_a_variable(self):
        assert check_gradients(tf.tanh, tf.Variable([0.1, 0.2], dtype=tf.float64)) is None

    def test_a_custom_gradient_that_is_right(self):
        @tf.custom_gradient
        def cube(x):
            return x**3, lambda g: g * 3.0 * x**2

        assert check_gradients(cube, float64([1.0, 2.0])) is None


class TestWrongDerivativesAreCaught:
    @pytest.mark.parametrize("mode", ["reverse", "forward"])
    @pytest.mark.parametrize("order", [1, 2])
    def test_a_wrong_first_derivative(self, mode, order):
        with pytest.raises(GradientError, match=f"The first derivative in {mode} mode by arg"):
            check_gradients(
                cube_with_wrong_gradient, float64([1.0, 2.0]), order=order, modes=(mode,)
            )

    @pytest.mark.parametrize("mode", ["reverse", "forward"])
    def test_a_wrong_second_derivative(self, mode):
        point = float64([1.0, 2.0])
        check_gradients(cube_with_constant_gradient, point, order=1, modes=mode)
        with pytest.raises(GradientError, match=f"second derivative in {mode}-over-{mode} mode"):
            check_gradients(cube_with_constant_gradient, point, modes=mode)

    def test_a_wrong_tangent_rule_only_concerns_forward_mode(self, monkeypatch):
        op = OPS["Tanh"]
        right: Any = op.jvp
        monkeypatch.setattr(op, "jvp", lambda *rest: right(*rest) * 1.001)
        point = float64([0.3, -0.2])
        check_gradients(tf.tanh, point, modes="reverse")
        with pytest.raises(GradientError, match="The first derivative in forward mode"):
            check_gradients(tf.tanh, point, order=1)

    def test_a_wrong_adjoint_rule_only_concerns_reverse_mode(self, monkeypatch):
        op = OPS["Tanh"]
        point = float64([0.3, -0.2])
        check_gradients(tf.tanh, point)  # compiles the rules
        (on_arrays,) = op.array_rules
        (on_tensors,) = op.tensor_rules
        monkeypatch.setattr(op, "array_rules", (lambda *rest: on_arrays(*rest) * 1.001,))
        monkeypatch.setattr(op, "tensor_rules", (lambda *rest: on_tensors(*rest) * 1.001,))
        check_gradients(tf.tanh, point, modes="forward")
        with pytest.raises(GradientError, match="The first derivative in reverse mode"):
            check_gradients(tf.tanh, point, order=1)

    @pytest.mark.parametrize("outer", ["reverse", "forward"])
    @pytest.mark.parametrize("inner", ["reverse", "forward"])
    def test_second_derivatives_in_every_pairing_of_modes(self, monkeypatch, outer, inner):
        right = check._derivative

        def wrong_in_one_pairing(mode, scalar, points, directions):
            found = right(mode, scalar, points, directions)
            mode_below = (scalar.__kwdefaults__ or {}).get("inner")
            return found * 1.001 if (mode, mode_below) == (outer, inner) else found

        monkeypatch.setattr(check, "_derivative", wrong_in_one_pairing)
        with pytest.raises(GradientError, match=f"second derivative in {outer}-over-{inner} mode"):
            check_gradients(tf.sin, float64([0.5]))

    def test_the_message_names_the_argument_and_its_shape(self):
        def function(a, b):
            return a * tf.stop_gradient(b)

        expected = "by argument #1, of shape (2,), does not agree"
        with pytest.raises(GradientError, match=re.escape(expected)):
            check_gradients(function, float64([1.0, 2.0]), float64([3.0, 4.0]))

    def test_in_single_precision(self):
        with pytest.raises(GradientError):
            check_gradients(cube_with_wrong_gradient, tf.constant([1.0, 2.0]))

    def test_a_wrong_complex_derivative(self):
        @tf.custom_gradient
        def square(z):
            return z * z, lambda g: g * 2.0 * z  # the conjugate of z is missing

        with pytest.raises(GradientError):
            check_gradients(square, tf.constant([1 + 2j], tf.complex128), order=1)

    def test_a_nan(self):
        with pytest.raises(GradientError):
            check_gradients(lambda x: tf.sqrt(x - x) + x, float64([1.0]), order=1)

    def test_a_kink(self):
        with pytest.raises(GradientError, match="has a kink"):
            check_gradients(tf.nn.relu, float64([0.0]), order=1)

    def test_it_is_an_assertion_error(self):
        assert issubclass(GradientError, AssertionError)

    def test_the_tolerance_may_be_chosen(self):
        def nearly(x):
            return x**3 + tf.stop_gradient(1e-3 * x)

        check_gradients(nearly, float64([1.0]), tolerance=1e-2)
        with pytest.raises(GradientError):
            check_gradients(nearly, float64([1.0]), tolerance=1e-6)


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"order": 3}, "check_gradients takes order=1 or order=2. Received: order=3"),
            ({"modes": ("backward",)}, "Received: modes=('backward',)"),
            ({"modes": ()}, "as `modes`. Received: modes=()"),
        ],
    )
    def test_options(self, options, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            check_gradients(tf.sin, float64([1.0]), **options)

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (np.array([1]), "one of shape (1,) and dtype int64. Convert it with tf.cast"),
            (tf.constant([1.0], tf.float16), "argument #0 of dtype float16 and shape (1,). Cast"),
        ],
    )
    def test_dtypes(self, value, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            check_gradients(tf.sin, value)

    def test_no_arguments(self):
        with pytest.raises(ValueError, match="needs at least one tensor in `args`"):
            check_gradients(tf.sin)

    def test_a_function_without_a_floating_result(self):
        with pytest.raises(ValueError, match="a function with a floating or complex result"):
            check_gradients(tf.argmax, float64([1.0, 2.0]))

    def test_a_function_that_returns_nothing(self):
        with pytest.raises(TypeError, match=r"that returns a tensor .* It returned: None"):
            check_gradients(lambda x: None, float64([1.0]))
