"""Several tapes at once: nested, side by side, in threads and generators, and after exceptions."""

import threading

import numpy as np
import pytest

import gradtape as tf


@pytest.fixture
def x():
    return tf.Variable(2.0)


def in_a_thread(function):
    """What function returns in a thread of its own."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


class TestHigherOrders:
    def test_three_nested_tapes(self, x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as middle:
                with tf.GradientTape() as inner:
                    y = x**4
                first = inner.gradient(y, x)
            second = middle.gradient(first, x)
        third = outer.gradient(second, x)
        assert [float(d) for d in (first, second, third)] == [32.0, 48.0, 48.0]

    def test_the_inner_gradient_inside_its_own_context(self, x):
        with tf.GradientTape() as outer, tf.GradientTape() as inner:
            first = inner.gradient(x * x * x, x)
        assert float(outer.gradient(first, x)) == 12.0

    def test_the_inner_gradient_outside_the_outer_context(self, x):
        with tf.GradientTape() as outer, tf.GradientTape() as inner:
            y = x * x * x
        assert outer.gradient(inner.gradient(y, x), x) is None

    def test_mixed_second_derivative(self):
        u, v = tf.Variable(2.0), tf.Variable(3.0)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = u * u * v * v * v
            du = inner.gradient(y, u)
        duu, duv = outer.gradient(du, [u, v])
        assert (float(duu), float(duv)) == (54.0, 108.0)

    def test_a_hessian_vector_product(self):
        x = tf.Variable([1.0, 2.0, 3.0])
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(x**3)
            gradient = inner.gradient(y, x)
        product = outer.gradient(gradient, x, output_gradients=tf.constant([1.0, 0.0, 2.0]))
        assert product.numpy().tolist() == [6.0, 0.0, 36.0]

    def test_the_gradient_of_a_penalty_on_the_gradient(self):
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = tf.reduce_sum(tf.exp(w))
            penalised = loss + tf.reduce_sum(tf.square(inner.gradient(loss, w)))
        want = np.exp([1.0, 2.0]) + 2 * np.exp([2.0, 4.0])
        np.testing.assert_allclose(outer.gradient(penalised, w), want, rtol=1e-6)


class TestIndependence:
    def test_each_tape_needs_its_own_watch(self):
        c = tf.constant(3.0)
        with tf.GradientTape() as watching, tf.GradientTape() as other:
            watching.watch(c)
            y = c * c
        assert float(watching.gradient(y, c)) == 6.0
        assert other.gradient(y, c) is None

    def test_tapes_that_watch_the_same_tensor(self):
        c = tf.constant(3.0)
        with tf.GradientTape() as one, tf.GradientTape(persistent=True) as two:
            one.watch(c)
            two.watch(c)
            y = c * c
        assert float(one.gradient(y, c)) == 6.0
        assert [float(two.gradient(y, c)) for _ in range(2)] == [6.0, 6.0]

    def test_stopping_the_outer_tape_does_not_stop_the_inner(self, x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner, outer.stop_recording():
                y = x * x
            assert float(inner.gradient(y, x)) == 4.0
        assert outer.gradient(y, x) is None

    def test_a_reset_of_the_inner_tape_leaves_the_outer(self, x):
        with tf.GradientTape() as outer, tf.GradientTape() as inner:
            y = x * x
            inner.reset()
            y = y + x
        assert float(outer.gradient(y, x)) == 5.0
        assert float(inner.gradient(y, x)) == 1.0


class TestThreads:
    def test_a_thread_does_not_see_the_tapes_of_another(self, x):
        with tf.GradientTape() as tape:
            y = in_a_thread(lambda: x * x)
        assert tape.gradient(y, x) is None
        assert tape.watched_variables() == ()

    def test_a_tape_entered_in_a_thread_is_that_threads(self, x):
        def compute():
            with tf.GradientTape() as tape:
                y = x * x
            return tape, y

        tape, y = in_a_thread(compute)
        assert float(tape.gradient(y, x)) == 4.0

    def test_a_tape_active_in_a_thread_does_not_record_here(self, x):
        entered, done = threading.Event(), threading.Event()
        tape = tf.GradientTape()

        def hold():
            with tape:
                entered.set()
                done.wait(10)

        thread = threading.Thread(target=hold)
        thread.start()
        assert entered.wait(10)
        y = x * x
        done.set()
        thread.join()
        assert tape.gradient(y, x) is None

    def test_many_threads_at_once(self):
        gradients = {}

        def compute(i):
            v = tf.Variable(float(i))
            for _ in range(20):
                with tf.GradientTape() as tape:
                    y = v * v * v
                gradients[i] = float(tape.gradient(y, v))

        threads = [threading.Thread(target=compute, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert gradients == {i: 3.0 * i * i for i in range(8)}


def test_a_tape_in_a_generator_stays_active_across_yield(x):
    def steps():
        with tf.GradientTape() as tape:
            y = x * x
            z = yield y
        yield tape.gradient(z, x)

    generator = steps()
    y = next(generator)
    z = y * x
    assert float(generator.send(z)) == 12.0


class TestExceptionsLeaveNothingActive:
    @staticmethod
    def assert_nothing_records(tape, x):
        """No tape records here: watching is then without effect even for an exited tape."""
        constant = tf.constant(3.0)
        tape.watch(constant)
        with tape:
            y = constant * constant
            z = x * x
        one, other = tape.gradient([y, z], [constant, x])
        assert one is None
        assert float(other) == 4.0

    def test_in_the_block(self, x):
        tape = tf.GradientTape()
        with pytest.raises(ZeroDivisionError), tape:
            raise ZeroDivisionError
        self.assert_nothing_records(tape, x)

    def test_in_nested_blocks(self, x):
        outer = tf.GradientTape()
        with pytest.raises(ZeroDivisionError), outer, tf.GradientTape(persistent=True):
            raise ZeroDivisionError
        self.assert_nothing_records(outer, x)

    def test_in_an_operation(self, x):
        tape = tf.GradientTape()
        with pytest.raises(tf.errors.InvalidArgumentError), tape:
            tf.matmul(x * tf.ones([2, 3]), tf.ones([2, 3]))
        self.assert_nothing_records(tape, x)

    def test_in_the_backward_pass(self, x):
        with tf.GradientTape() as outer:
            with tf.GradientTape(persistent=True) as inner:
                y = tf.image.adjust_contrast(x * tf.ones([2, 2, 3]), 0.5)
                z = x * x
            with pytest.raises(LookupError):
                inner.gradient(y, x)
            first = inner.gradient(z, x)
        self.assert_nothing_records(inner, x)
        assert float(outer.gradient(first, x)) == 2.0

    def test_in_a_closed_generator(self, x):
        tape = tf.GradientTape()

        def steps():
            with tape:
                yield

        generator = steps()
        next(generator)
        generator.close()
        self.assert_nothing_records(tape, x)


def test_a_failed_operation_records_nothing(x):
    with tf.GradientTape() as tape:
        y = x * x
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.matmul(y * tf.ones([2, 3]), tf.ones([2, 3]))
        with pytest.raises(tf.errors.InvalidArgumentError):
            _ = y * tf.ones([2]) + tf.ones([3])
        z = y * x
    assert float(tape.gradient(z, x)) == 12.0


@pytest.mark.parametrize("persistent", [False, True])
def test_a_chain_of_20000_operations(x, persistent):
    with tf.GradientTape(persistent=persistent) as tape:
        y = tf.identity(x)
        for _ in range(20_000):
            y = y + 1.0
        y = y * x
    assert float(tape.gradient(y, x)) == 20_004.0


def test_second_order_through_a_chain_of_2000_operations(x):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x * x
            for _ in range(2_000):
                y = y * 1.0
        first = inner.gradient(y, x)
    assert float(outer.gradient(first, x)) == 2.0
