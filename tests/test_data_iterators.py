"""Iterators inside of functions: each call takes a step, and takes it once."""

import logging
import sys
import threading

import numpy as np
import pytest

import gradtape as tf
from counted_functions import traced_function

D = tf.data.Dataset


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.ERROR)


def sgd_by_hand(weight, rate, xs, ys):
    for x, y in zip(xs, ys, strict=True):
        weight = weight - rate * 2 * (weight * x - y) * x
    return weight


def test_an_iterator_advances_once_when_a_call_starts_over():
    """The branches are met one by one: each new one makes the call that meets it start over."""
    step, runs = traced_function(lambda it: _by_remainder(next(it)))
    iterator = iter(D.range(9))
    found = [step(iterator).numpy() for _ in range(9)]
    assert found == [0, 10, 200, 3, 40, 500, 6, 70, 800]
    assert len(runs) == 3


def _by_remainder(x):
    if x % 3 == 0:
        return x
    if x % 3 == 1:
        return x * 10
    return x * 100


def test_partial_batches():
    step, runs = traced_function(lambda it: tf.reduce_sum(next(it)) * 2)
    for _ in range(2):
        iterator = iter(D.range(8).batch(3))
        assert [step(iterator).numpy() for _ in range(3)] == [6, 24, 26]
    assert len(runs) == 2
    assert step.experimental_get_tracing_count() == 1


def test_calls_of_a_known_path_do_not_run_python():
    step, runs = traced_function(lambda it: next(it) + 1)
    for start in (0, 10):
        iterator = iter(D.range(start, start + 5))
        assert [step(iterator).numpy() for _ in range(5)] == list(range(start + 1, start + 6))
    assert len(runs) == 1
    with pytest.raises(tf.errors.OutOfRangeError):
        step(iterator)
    assert step(iter(D.range(1))).numpy() == 1
    assert len(runs) == 2  # Python tells the end


def test_the_end_can_be_handled_in_the_function():
    @tf.function
    def rest(iterator):
        found = tf.constant(0, tf.int64)
        while True:
            try:
                found += next(iterator)
            except tf.errors.OutOfRangeError:
                break
        return found

    for count in (4, 5, 0):
        assert rest(iter(D.range(count))).numpy() == sum(range(count))


def test_next_with_a_default():
    @tf.function
    def step(iterator):
        return next(iterator, tf.constant(-1, tf.int64))

    iterator = iter(D.range(2))
    assert [step(iterator).numpy() for _ in range(4)] == [0, 1, -1, -1]


def test_the_first_call_tells_the_end_as_others_do():
    for function in (tf.function(lambda it: next(it)), tf.function(lambda it: it.get_next())):
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence") as caught:
            function(iter(D.range(0)))
        assert type(caught.value) is tf.errors.OutOfRangeError


def test_the_end_ends_a_function_that_runs_as_python():
    dataset = D.range(2)

    @tf.function
    def both(iterator):
        for _ in dataset:
            pass
        return next(iterator)

    iterator = iter(D.range(1))
    assert both(iterator).numpy() == 0
    for _ in range(2):
        with pytest.raises(tf.errors.OutOfRangeError) as caught:
            both(iterator)
        assert not isinstance(caught.value, StopIteration)


def test_a_step_before_a_loop_is_not_repeated():
    dataset = D.range(3)

    @tf.function
    def run(iterator):
        x = next(iterator)
        for y in dataset:
            x += y
        return x, next(iterator)

    iterator = iter(D.range(0, 100, 10))
    assert [x.numpy() for x in run(iterator)] == [3, 10]
    assert [x.numpy() for x in run(iterator)] == [23, 30]
    assert next(iterator).numpy() == 40


def test_training_step_on_an_iterator():
    xs, ys = np.arange(1, 5, dtype=np.float32), np.arange(2, 6, dtype=np.float32)
    weight = tf.Variable(0.5)

    def step(iterator):
        x, y = next(iterator)
        with tf.GradientTape() as tape:
            loss = tf.square(weight * x - y)
        weight.assign_sub(0.01 * tape.gradient(loss, weight))
        return loss

    compiled, runs = traced_function(step)
    iterator = iter(D.from_tensor_slices((xs, ys)))
    for _ in range(4):
        compiled(iterator)
    assert weight.numpy() == pytest.approx(sgd_by_hand(np.float32(0.5), 0.01, xs, ys), rel=1e-5)
    assert len(runs) == 1


def test_several_steps_in_one_call():
    weight = tf.Variable(1.0)

    @tf.function
    def three(iterator):
        for _ in range(3):
            weight.assign_add(next(iterator))

    three(iter(D.from_tensor_slices([1.0, 10.0, 100.0])))
    three(iter(D.from_tensor_slices([2.0, 20.0, 200.0])))
    assert weight.numpy() == 334.0


def test_functions_of_the_dataset_see_what_the_call_has_written():
    offset = tf.Variable(0, dtype=tf.int64)
    iterator = iter(D.range(5).map(lambda x: x + offset))

    @tf.function
    def step(value):
        offset.assign(value)
        return next(iterator)

    assert [step(tf.constant(v, tf.int64)).numpy() for v in (100, 200, 300)] == [100, 201, 302]


def test_an_outer_tape_sees_a_step():
    weight = tf.Variable(3.0)
    step, runs = traced_function(lambda it: weight * weight * next(it))
    iterator = iter(D.from_tensor_slices([1.0, 2.0, 5.0]))
    for x in (1.0, 2.0, 5.0):
        with tf.GradientTape() as tape:
            loss = step(iterator)
        assert loss.numpy() == 9.0 * x
        assert tape.gradient(loss, weight).numpy() == 6.0 * x
    assert len(runs) == 1


def test_second_derivatives_through_a_step():
    weight = tf.Variable(2.0)
    step = tf.function(lambda it: weight**3 * next(it))
    iterator = iter(D.from_tensor_slices([1.0, 10.0]))
    for x in (1.0, 10.0):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = step(iterator)
            slope = inner.gradient(loss, weight)
        assert slope.numpy() == 12.0 * x
        assert outer.gradient(slope, weight).numpy() == 12.0 * x
    with pytest.raises(StopIteration):
        next(iterator)


@pytest.fixture
def many_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("as_graph", [False, True])
def test_threads_share_an_iterator(many_switches, as_graph):
    iterator = iter(D.range(3000).map(lambda x: x).batch(3))
    step = tf.function(lambda it: next(it)) if as_graph else next
    found, failed = [], []

    def work():
        try:
            while True:
                found.append(step(iterator).numpy().tolist())
        except (StopIteration, tf.errors.OutOfRangeError):
            pass
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failed
    assert sorted(found) == [[i, i + 1, i + 2] for i in range(0, 3000, 3)]
