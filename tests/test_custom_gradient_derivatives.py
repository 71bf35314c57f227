"""Derivatives through custom_gradient: every order and mode follows the rule, and errors pass."""

import gc
import weakref

import numpy as np
import pytest

import gradtape as tf


def values(gradients):
    return [None if g is None else g.numpy().tolist() for g in gradients]


@tf.custom_gradient
def product(x, y):
    """A product whose rule gives 5 and 7 times what is right."""
    return x * y, lambda g: (g * y * 5.0, g * x * 7.0)


@tf.custom_gradient
def cube(x):
    """A cube whose first derivative is x**5, which is differentiated as usual."""
    return x**3, lambda g: g * x**5


@pytest.fixture
def x():
    return tf.constant(3.0)


@pytest.fixture
def y():
    return tf.constant(2.0)


class TestWhatSurroundsIt:
    def test_a_captured_tensor_has_no_gradient_beside_a_watched_argument(self, x, y):
        @tf.custom_gradient
        def f(a):
            return a * y, lambda g: g * 5.0

        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = f(x)
        assert values(tape.gradient(z, [x, y])) == [5.0, None]

    def test_a_captured_tensor_alone_has_its_natural_gradient(self, x, y):
        @tf.custom_gradient
        def f(a):
            return a * y, lambda g: g * 5.0

        with tf.GradientTape() as tape:
            tape.watch(y)
            z = f(x)
        assert values(tape.gradient(z, [x, y])) == [None, 3.0]

    def test_intermediates_that_leave_the_function_are_differentiable(self, x):
        leaked = []

        @tf.custom_gradient
        def f(a):
            leaked.append(a * a)
            return leaked[0] * 1.0, lambda g: g * 100.0

        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            z = f(x)
        assert float(tape.gradient(leaked[0], x)) == 6.0
        assert float(tape.gradient(z, x)) == 100.0

    def test_nested(self, x):
        @tf.custom_gradient
        def outer(a):
            return cube(a) + 1.0, lambda g: g * 11.0

        @tf.custom_gradient
        def through(a):
            with tf.GradientTape() as tape:
                tape.watch(a)
                b = cube(a)
            slope = tape.gradient(b, a)
            return b, lambda g: g * slope

        for f, expected in [(outer, 11.0), (through, 243.0)]:
            with tf.GradientTape() as tape:
                tape.watch(x)
                z = f(x)
            assert float(tape.gradient(z, x)) == expected

    @pytest.mark.beyond_tensorflow
    def test_arguments_the_rule_does_not_use_are_not_kept(self):
        @tf.custom_gradient
        def doubled(a):
            return tf.constant(1.0), lambda g: g * 2.0 * tf.ones(3)

        v = tf.Variable([1.0, 2.0, 3.0])
        gc.disable()
        try:
            with tf.GradientTape() as tape:
                big = v * 2.0
                z = doubled(big)
            alive = weakref.ref(big)
            del big
            assert alive() is None
        finally:
            gc.enable()
        assert tape.gradient(z, v).numpy().tolist() == [4.0, 4.0, 4.0]


class TestHigherOrder:
    def test_the_rule_is_differentiated(self, x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                z = cube(x)
            first = inner.gradient(z, x)
        assert float(first) == 243.0
        assert float(outer.gradient(first, x)) == 405.0

    def test_a_custom_rule_inside_the_rule(self, x):
        @tf.custom_gradient
        def f(a):
            @tf.custom_gradient
            def slope(b, g):
                return g * 2.0 * b, lambda h: (h * 1000.0, None)

            return a * a, lambda g: slope(a, g)

        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                z = f(x)
            first = inner.gradient(z, x)
        assert float(first) == 6.0
        assert float(outer.gradient(first, x)) == 1000.0

    @pytest.mark.beyond_tensorflow
    def test_both_kinds_of_walk_agree(self, x, y):
        """One records the gradient itself, the other computes on plain arrays."""

        def gradients():
            with tf.GradientTape() as tape:
                tape.watch([x, y])
                z = product(cube(x), product(x, y)) * cube(y)
            return tape.gradient(z, [x, y])

        plain = gradients()
        with tf.GradientTape() as outer:
            outer.watch([x, y])
            recorded = gradients()
        assert values(plain) == values(recorded)
        assert all(g is not None for g in outer.gradient(recorded, [x, y]))


class TestJacobians:
    def test_jacobian(self):
        a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            z = product(a, b)
        of_a, of_b = tape.jacobian(z, [a, b])
        assert of_a.numpy().tolist() == [[15.0, 0.0], [0.0, 20.0]]
        assert of_b.numpy().tolist() == [[7.0, 0.0], [0.0, 14.0]]

    def test_jacobian_of_the_rule(self):
        a = tf.constant([1.0, 2.0])
        with tf.GradientTape() as outer:
            outer.watch(a)
            with tf.GradientTape() as inner:
                inner.watch(a)
                z = cube(a)
            first = inner.gradient(z, a)
        assert outer.jacobian(first, a).numpy().tolist() == [[5.0, 0.0], [0.0, 80.0]]

    @pytest.mark.beyond_tensorflow
    def test_jacobian_of_a_jacobian(self):
        a = tf.constant([1.0, 2.0])
        with tf.GradientTape() as outer:
            outer.watch(a)
            with tf.GradientTape() as inner:
                inner.watch(a)
                z = cube(a)
            first = inner.jacobian(z, a)
        second = outer.jacobian(first, a).numpy()
        expected = np.zeros((2, 2, 2))
        expected[0, 0, 0], expected[1, 1, 1] = 5.0, 80.0
        assert second.tolist() == expected.tolist()

    def test_a_rule_inside_vectorized_map(self):
        a = tf.constant([1.0, 2.0, 3.0])

        def slope(element):
            with tf.GradientTape() as tape:
                tape.watch(element)
                z = cube(element)
            return tape.gradient(z, element)

        assert tf.vectorized_map(slope, a).numpy().tolist() == [1.0, 32.0, 243.0]


@pytest.mark.beyond_tensorflow
class TestVectorizedMapInsideATape:
    """Tapes outside the map see it as one batched computation, and the rule still holds."""

    @pytest.fixture
    def a(self):
        return tf.constant([1.0, 2.0, 3.0])

    @pytest.fixture
    def looped(self, a, y):
        return lambda: tf.stack([product(cube(a[i]), y) for i in range(3)])

    @pytest.fixture
    def mapped(self, a, y):
        return lambda: tf.vectorized_map(lambda element: product(cube(element), y), a)

    def test_gradient_of_elements_and_of_what_they_share(self, a, y, looped, mapped):
        found = []
        for function in (looped, mapped):
            with tf.GradientTape() as tape:
                tape.watch([a, y])
                z = function()
            found.append(values(tape.gradient(z, [a, y])))
        assert found[0] == found[1]
        assert found[1] == [[10.0, 320.0, 2430.0], 7.0 * 36.0]

    @pytest.mark.parametrize("method", ["gradient", "jacobian"])
    def test_second_order(self, a, y, looped, mapped, method):
        found = []
        for function in (looped, mapped):
            with tf.GradientTape() as outer:
                outer.watch([a, y])
                with tf.GradientTape() as inner:
                    inner.watch(a)
                    z = function()
                first = getattr(inner, method)(z, a)
            found.append(getattr(outer, method)(first, [a, y]))
        for of_loop, of_map in zip(*found, strict=True):
            np.testing.assert_allclose(of_map, of_loop, rtol=1e-6)
            assert np.any(of_map.numpy() != 0)

    def test_under_more_tapes_than_the_map_had(self, a):
        found = []
        for function in (cube, lambda a: tf.vectorized_map(cube, a)):
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(a)
                z = function(a)
            with tf.GradientTape() as outer:
                outer.watch(a)
                with tf.autodiff.ForwardAccumulator(a, tf.constant([1.0, 2.0, 3.0])) as accumulator:
                    with tf.GradientTape() as inner:
                        inner.watch(a)
                        first = tape.gradient(z, a)
                    second = inner.gradient(first, a)
                third = accumulator.jvp(second)
            found.append(values([first, second, third, outer.gradient(third, a)]))
        assert None not in found[0]
        for of_all, of_map in zip(*found, strict=True):
            np.testing.assert_allclose(of_map, of_all, rtol=1e-6)

    def test_forward_mode(self, a, y, looped, mapped):
        tangents = [tf.constant([1.0, 2.0, 3.0]), tf.constant(10.0)]
        found = []
        for function in (looped, mapped):
            with tf.autodiff.ForwardAccumulator([a, y], tangents) as accumulator:
                z = function()
            found.append(accumulator.jvp(z).numpy().tolist())
        assert found[0] == found[1]

    def test_an_output_that_is_the_same_for_all(self, a):
        @tf.custom_gradient
        def constant(element):
            return tf.constant(1.0), lambda g: g * element

        with tf.GradientTape() as tape:
            tape.watch(a)
            z = tf.vectorized_map(constant, a)
        assert z.numpy().tolist() == [1.0, 1.0, 1.0]
        seeds = tf.constant([10.0, 20.0, 30.0])
        assert tape.gradient(z, a, output_gradients=seeds).numpy().tolist() == [10.0, 40.0, 90.0]

    def test_a_gradient_that_is_the_same_for_all(self, a, y):
        @tf.custom_gradient
        def f(element, shared):
            return element * shared, lambda g: (tf.constant(5.0), tf.constant(7.0))

        with tf.GradientTape() as tape:
            tape.watch([a, y])
            z = tf.vectorized_map(lambda element: f(element, y), a)
        assert values(tape.gradient(z, [a, y])) == [[5.0, 5.0, 5.0], 21.0]


@pytest.mark.beyond_tensorflow
class TestForwardMode:
    """Tangents follow the rule too; TensorFlow's ignore it."""

    def test_the_tangent_is_the_transposed_rule(self, x, y):
        tangents = [tf.constant(1.0), tf.constant(10.0)]
        with tf.autodiff.ForwardAccumulator([x, y], tangents) as accumulator:
            z = product(x, y)
        assert float(accumulator.jvp(z)) == 10.0 + 210.0

    def test_several_outputs(self, x, y):
        @tf.custom_gradient
        def f(a, b):
            return (a * b, a + b), lambda g, h: (g * 5.0 + h * 3.0, None)

        tangents = [tf.constant(1.0), tf.constant(10.0)]
        with tf.autodiff.ForwardAccumulator([x, y], tangents) as accumulator:
            z = f(x, y)
        assert values(accumulator.jvp(z)) == [5.0, 3.0]

    def test_forward_over_reverse(self, x):
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
            with tf.GradientTape() as tape:
                tape.watch(x)
                z = cube(x)
            first = tape.gradient(z, x)
        assert float(accumulator.jvp(first)) == 405.0

    def test_reverse_over_forward(self, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
                z = cube(x)
            first = accumulator.jvp(z)
        assert float(first) == 243.0
        assert float(tape.gradient(first, x)) == 405.0


class TestErrors:
    """What fails inside leaves nothing behind."""

    def test_inside_the_function(self, x):
        @tf.custom_gradient
        def f(a):
            raise ZeroDivisionError("inside")

        with tf.GradientTape() as tape:
            tape.watch(x)
            with pytest.raises(ZeroDivisionError, match="inside"):
                f(x)
            z = x * x
        assert float(tape.gradient(z, x)) == 6.0
        with tf.GradientTape() as tape:
            tape.watch(x)
        unseen = x * x
        assert tape.gradient(unseen, x) is None

    def test_inside_the_rule(self, x):
        @tf.custom_gradient
        def f(a):
            def grad(g):
                raise ZeroDivisionError("inside")

            return a * 1.0, grad

        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            z = f(x)
            w = x * x
        for _ in range(2):
            with pytest.raises(ZeroDivisionError, match="inside"):
                tape.gradient(z, x)
        assert float(tape.gradient(w, x)) == 6.0

    @pytest.mark.beyond_tensorflow
    def test_no_recorder_stays(self, x):
        from gradtape.core.dispatch import thread

        @tf.custom_gradient
        def f(a):
            def grad(g):
                raise ZeroDivisionError

            return a * 1.0, grad

        with tf.GradientTape() as outer:
            outer.watch(x)
            during = thread.recorders
            with tf.GradientTape() as inner:
                inner.watch(x)
                z = tf.vectorized_map(f, tf.stack([x, x]))
            with pytest.raises(ZeroDivisionError):
                inner.gradient(z, x)
            assert thread.recorders == during
            with pytest.raises(TypeError):
                tf.custom_gradient(lambda a: a)(x)
            assert thread.recorders == during
        assert thread.recorders == ()

    @pytest.mark.beyond_tensorflow
    def test_a_tape_used_up_inside_the_function_stays_off(self, x):
        from gradtape.core.dispatch import thread

        with tf.GradientTape() as tape:
            tape.watch(x)

            @tf.custom_gradient
            def f(a):
                slope = tape.gradient(a * a, a)
                return slope * 1.0, lambda g: g

            assert float(f(x)) == 6.0
            assert thread.recorders == ()
