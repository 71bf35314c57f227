"""ForwardAccumulator: tangents beside values."""

import gc
import weakref

import numpy as np
import pytest

import gradtape as tf
from small_values import numbers

ForwardAccumulator = tf.autodiff.ForwardAccumulator


@pytest.fixture
def x():
    return tf.constant(3.0)


class TestTangents:
    def test_of_a_product(self, x):
        with ForwardAccumulator(x, tf.constant(2.0)) as acc:
            y = x * x
        assert float(acc.jvp(y)) == 12.0

    def test_keyword_arguments(self, x):
        with ForwardAccumulator(primals=x, tangents=tf.constant(1.0)) as acc:
            y = x * x
        assert float(acc.jvp(primals=y, unconnected_gradients="none")) == 6.0

    def test_structures_in_and_out(self):
        primals = {"a": tf.constant(2.0), "b": [tf.constant(3.0)]}
        tangents = {"a": tf.constant(1.0), "b": [tf.constant(10.0)]}
        with ForwardAccumulator(primals, tangents) as acc:
            y = primals["a"] * primals["b"][0]
        found = acc.jvp({"y": y, "t": (primals["a"],)})
        assert numbers(found) == {"y": 23.0, "t": (1.0,)}

    def test_empty_structures(self, x):
        acc = ForwardAccumulator(x, tf.constant(1.0))
        assert acc.jvp([]) == []
        assert numbers(acc.jvp([[x], ()])) == [[1.0], ()]

    def test_ops_with_several_inputs_and_outputs(self):
        z = tf.constant([1.0, 2.0, 3.0, 4.0])
        with ForwardAccumulator(z, tf.constant([1.0, 0.0, 2.0, 0.0])) as acc:
            p, q = tf.split(z, 2)
            stacked = tf.stack([p, q])
            parts = tf.unstack(stacked)
            best = tf.nn.top_k(z, 2)
        assert numbers(acc.jvp([p, q])) == [[1.0, 0.0], [2.0, 0.0]]
        assert numbers(acc.jvp(stacked)) == [[1.0, 0.0], [2.0, 0.0]]
        assert numbers(acc.jvp(parts)) == [[1.0, 0.0], [2.0, 0.0]]
        assert numbers(acc.jvp(best.values)) == [0.0, 2.0]
        assert acc.jvp(best.indices) is None

    @pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64])
    def test_keep_the_dtype(self, dtype):
        h = tf.constant(2.0, dtype)
        with ForwardAccumulator(h, 1.0) as acc:
            y = tf.exp(h * h)
        tangent = acc.jvp(y)
        assert tangent.dtype == dtype
        assert float(tangent) == pytest.approx(4 * np.exp(4), rel=1e-2)

    def test_of_a_scalar_tangent_broadcast(self):
        z = tf.constant([1.0, 2.0])
        with ForwardAccumulator(z, tf.constant(1.0)) as acc:
            y = z * z
        assert numbers(acc.jvp(y)) == [2.0, 4.0]
        assert numbers(acc.jvp(z)) == 1.0

    def test_of_an_intermediate_primal(self, x):
        y = x * x
        with ForwardAccumulator(y, tf.constant(1.0)) as acc:
            z = y * x
        assert float(acc.jvp(z)) == 3.0
        assert acc.jvp(x) is None

    def test_of_several_primals_are_summed(self, x):
        w = tf.constant(5.0)
        with ForwardAccumulator([x, w], [tf.constant(1.0), tf.constant(100.0)]) as acc:
            y = x * w
        assert float(acc.jvp(y)) == 305.0

    def test_agree_with_a_jacobian(self):
        z = tf.constant([[0.5, -1.0], [2.0, 0.25]])
        v = tf.constant([[1.0, 2.0], [-1.0, 0.5]])

        def function(z):
            return tf.nn.softmax(tf.matmul(z, z) + tf.tanh(z), axis=0)

        with ForwardAccumulator(z, v) as acc:
            y = function(z)
        with tf.GradientTape() as tape:
            tape.watch(z)
            y_again = function(z)
        jacobian = tape.jacobian(y_again, z)
        expected = np.tensordot(jacobian.numpy(), v.numpy(), 2)
        np.testing.assert_allclose(acc.jvp(y).numpy(), expected, rtol=1e-5, atol=1e-6)


class TestWhereTangentsEnd:
    @pytest.mark.parametrize(
        "function",
        [
            tf.stop_gradient,
            tf.round,
            tf.floor,
            tf.argmax,
            tf.shape,
            lambda z: z > 1.0,
            lambda z: tf.cast(z, tf.int32),
            lambda z: tf.cast(z, tf.bool),
            lambda z: tf.cast(tf.cast(z, tf.int32), tf.float32),
            lambda z: tf.ones(2),
        ],
    )
    def test_is_none_or_zeros(self, function):
        z = tf.constant([1.0, 2.5])
        with ForwardAccumulator(z, tf.ones(2)) as acc:
            y = function(z)
        assert acc.jvp(y) is None
        zeros = acc.jvp(y, unconnected_gradients="zero")
        assert (zeros.shape, zeros.dtype) == (y.shape, y.dtype)
        assert not np.any(zeros.numpy())

    def test_casts_between_floating_types_go_on(self, x):
        with ForwardAccumulator(x, tf.constant(1.0)) as acc:
            double, number = tf.cast(x, tf.float64), tf.cast(x, tf.complex64)
        assert acc.jvp(double).dtype == tf.float64
        assert complex(acc.jvp(number).numpy()) == 1 + 0j

    def test_a_stopped_factor_counts_as_a_constant(self, x):
        with ForwardAccumulator(x, tf.constant(1.0)) as acc:
            y = tf.stop_gradient(x) * x
        assert float(acc.jvp(y)) == 3.0

    def test_what_was_never_watched(self, x):
        other = tf.constant(1.0)
        with ForwardAccumulator(x, tf.constant(1.0)) as acc:
            y = other * other
        assert acc.jvp([y, other]) == [None, None]

    def test_zeros_for_variables_integers_and_strings(self, x):
        acc = ForwardAccumulator(x, tf.constant(1.0))
        others = [tf.Variable([1.0, 2.0]), {"k": tf.constant(3)}, tf.constant("a")]
        found = acc.jvp(others, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        assert numbers(found) == [[0.0, 0.0], {"k": 0}, b""]

    @pytest.mark.beyond_tensorflow
    def test_sign_has_the_tangent_zero_as_its_gradient_is(self, x):
        with ForwardAccumulator(x, tf.constant(1.0)) as acc:
            y = tf.sign(x)
        assert float(acc.jvp(y)) == 0.0

    def test_an_op_without_a_registered_gradient(self):
        image = tf.ones((1, 2, 2, 3))
        with (
            pytest.raises(LookupError, match="registry has no entry for: AdjustContrastv2"),
            ForwardAccumulator(image, tf.ones((1, 2, 2, 3))),
        ):
            tf.image.adjust_contrast(image, 2.0)

    @pytest.mark.parametrize("bad", ["foo", None])
    def test_an_unknown_choice(self, x, bad):
        acc = ForwardAccumulator(x, tf.constant(1.0))
        with pytest.raises(ValueError, match=f"{bad!r} is not a valid UnconnectedGradients"):
            acc.jvp(x, unconnected_gradients=bad)


class TestContext:
    def test_before_entering_only_primals_have_tangents(self, x):
        acc = ForwardAccumulator(x, tf.constant(1.0))
        assert float(acc.jvp(x)) == 1.0
        assert acc.jvp(x * x) is None

    def test_inside(self, x):
        with ForwardAccumulator(x, tf.constant(1.0)) as acc:
            y = x * x
            assert float(acc.jvp(y)) == 6.0
            assert acc.jvp(acc.jvp(y)) is None

    def test_what_was_computed_before(self, x):
        y = x * x
        with ForwardAccumulator(x, tf.constant(1.0)) as acc:
            pass
        assert acc.jvp(y) is None

    def test_entering_again_continues(self, x):
        acc = ForwardAccumulator(x, tf.constant(1.0))
        with acc:
            y = x * x
        between = y * x
        with acc:
            cube, constant_times_x = y * x, between * x
        assert float(acc.jvp(cube)) == 27.0
        assert acc.jvp(between) is None
        assert float(acc.jvp(constant_times_x)) == 27.0

    def test_entering_twice(self, x):
        acc = ForwardAccumulator(x, tf.constant(1.0))
        with acc, pytest.raises(ValueError, match="Accumulator is already recording"):
            acc.__enter__()

    def test_leaving_without_entering(self, x):
        acc = ForwardAccumulator(x, tf.constant(1.0))
        acc.__exit__(None, None, None)
        assert float(acc.jvp(x)) == 1.0

    def test_after_an_exception(self, x):
        acc = ForwardAccumulator(x, tf.constant(1.0))
        results = []

        def failing():
            with acc:
                results.append(x * x)
                raise KeyError

        with pytest.raises(KeyError):
            failing()
        y, z = results[0], x * x
        assert float(acc.jvp(y)) == 6.0
        assert acc.jvp(z) is None

    def test_is_freed_by_its_last_reference(self, x):
        acc = ForwardAccumulator(x, tf.constant(1.0))
        with acc:
            y = tf.exp(x) * 2.0
        tangent = weakref.ref(acc.jvp(y))
        gone = weakref.ref(acc)
        gc.disable()
        try:
            del acc
            assert gone() is None
            assert tangent() is None
        finally:
            gc.enable()

    def test_tangents_of_intermediates_are_freed_with_them(self, x):
        gc.disable()
        try:
            with ForwardAccumulator(x, tf.constant(1.0)) as acc:
                y = tf.exp(x)
                tangent = weakref.ref(acc.jvp(y))
                del y
                assert tangent() is None
        finally:
            gc.enable()


class TestPrimalsAndTangents:
    def test_python_numbers_and_arrays_are_converted(self, x):
        for tangent in (1, 1.0, np.float64(1.0), np.ones((), np.float32)):
            with ForwardAccumulator(x, tangent) as acc:
                y = x * x
            assert acc.jvp(y).dtype == tf.float32
            assert float(acc.jvp(y)) == 6.0

    def test_a_tangent_of_another_dtype(self, x):
        message = "Tensor conversion requested dtype float32 for Tensor with dtype float64"
        with pytest.raises(ValueError, match=message):
            ForwardAccumulator(x, tf.constant(1.0, tf.float64))

    def test_no_tangent(self, x):
        with pytest.raises(ValueError, match=r"Attempt to convert a value \(None\)"):
            ForwardAccumulator(x, None)

    @pytest.mark.parametrize("tangents", [tf.constant(1.0), [tf.constant(1.0)] * 2])
    def test_structures_that_differ(self, x, tangents):
        with pytest.raises(ValueError, match="don't have the same nested structure"):
            ForwardAccumulator([x], tangents)

    @pytest.mark.parametrize("make", [tf.constant, tf.Variable])
    @pytest.mark.parametrize("value", [2.0, 2])
    def test_a_repeated_primal(self, make, value):
        primal, tangent = make(value), tf.constant(value)
        message = "was specified as a primal multiple times.*please sum the corresponding tangents"
        with pytest.raises(ValueError, match=message):
            ForwardAccumulator([primal, primal], [tangent, tangent])

    def test_an_integer_primal_warns_and_ends_there(self, logs):
        i = tf.constant(3)
        with ForwardAccumulator(i, tf.constant(1)) as acc:
            y, z = i * i, tf.cast(i, tf.float32) * 2.0
        assert logs == [
            "WARNING:The dtype of the watched primal must be floating (e.g. tf.float32), got "
            "tf.int32"
        ]
        assert acc.jvp([y, z]) == [None, None]
        assert int(acc.jvp(i)) == 1
        assert int(acc.jvp(y, unconnected_gradients="zero")) == 0

    def test_indexed_slices_as_a_tangent_become_dense(self):
        p = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        tangent = tf.IndexedSlices(tf.ones((1, 2)), tf.constant([0]), tf.constant([2, 2]))
        with ForwardAccumulator(p, tangent) as acc:
            y = p * p
        assert numbers(acc.jvp(y)) == [[2.0, 4.0], [0.0, 0.0]]

    @pytest.mark.parametrize("value", [3.0, None, "a", np.ones(2, np.float32)])
    def test_values_in_the_place_of_tensors(self, x, value):
        acc = ForwardAccumulator(x, tf.constant(1.0))
        with pytest.raises(AttributeError):
            acc.jvp(value)

    @pytest.mark.beyond_tensorflow
    def test_values_in_the_place_of_tensors_are_named(self, x):
        with pytest.raises(
            TypeError, match=r"must be a tensor or variable.* Received: 3.0 of type"
        ):
            ForwardAccumulator(3.0, 1.0)
        slices = tf.IndexedSlices(tf.ones((1, 2)), tf.constant([0]), tf.constant([2, 2]))
        acc = ForwardAccumulator(x, tf.constant(1.0))
        with pytest.raises(TypeError, match=r"use its `\.values`"):
            acc.jvp(slices)

    def test_a_tangent_that_does_not_fit(self):
        z = tf.constant([1.0, 2.0])
        with (
            pytest.raises((ValueError, tf.errors.InvalidArgumentError)),
            ForwardAccumulator(z, tf.ones(3)),
        ):
            tf.multiply(z, z)


class TestVariables:
    def test_the_tangent_stays_when_the_value_changes(self):
        v = tf.Variable(2.0)
        with ForwardAccumulator(v, tf.constant(1.0)) as acc:
            y = v * v
            v.assign(5.0)
            z = v * v
            v.assign_add(1.0)
        assert numbers(acc.jvp([y, z, v])) == [4.0, 10.0, 1.0]

    def test_assigning_part_of_it(self):
        v = tf.Variable([1.0, 2.0, 3.0])
        with ForwardAccumulator(v, tf.ones(3)) as acc:
            v.scatter_nd_update([[0]], [9.0])
            y = v * v
        assert numbers(acc.jvp(y)) == [18.0, 4.0, 6.0]

    def test_a_variable_assigned_from_a_primal_has_none(self, x):
        v = tf.Variable(2.0)
        with ForwardAccumulator(x, tf.constant(1.0)) as acc:
            v.assign(x * 2.0)
            y = v * v
        assert acc.jvp([y, v]) == [None, None]

    def test_every_way_of_reading(self):
        v = tf.Variable([1.0, 2.0])
        with ForwardAccumulator(v, tf.constant([1.0, 0.0])) as acc:
            reads = [v.read_value() * 3.0, v[0], tf.identity(v), v.value()]
        assert numbers(acc.jvp(reads)) == [[3.0, 0.0], 1.0, [1.0, 0.0], [1.0, 0.0]]

    def test_one_that_is_not_trainable(self):
        v = tf.Variable(2.0, trainable=False)
        with ForwardAccumulator(v, tf.constant(1.0)) as acc:
            y = v * v
        assert float(acc.jvp(y)) == 4.0
