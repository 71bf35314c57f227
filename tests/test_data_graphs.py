"""Datasets inside of functions: loops, effects of a call, tapes."""

import logging
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from counted_functions import traced_function

D = tf.data.Dataset


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.ERROR)


# Loops over datasets ------------------------------------------------------------------------------


def test_loop_over_an_argument():
    @tf.function
    def total(dataset):
        found = tf.constant(0, tf.int64)
        for x in dataset:
            found += x
        return found

    assert total(D.range(4)).numpy() == 6
    assert total(D.range(5)).numpy() == 10
    assert total(D.range(0)).numpy() == 0
    assert total.experimental_get_tracing_count() == 1


def test_loop_over_a_captured_dataset():
    """What the elements are is not known before the call: here a variable decides it."""
    factor = tf.Variable(1, dtype=tf.int64)
    dataset = D.range(4).map(lambda x: x * factor)

    @tf.function
    def total():
        found = tf.constant(0, tf.int64)
        for x in dataset:
            found += x
        return found

    assert total().numpy() == 6
    factor.assign(10)
    assert total().numpy() == 60


def test_loop_over_a_dataset_made_of_an_argument():
    @tf.function
    def total(x):
        found = 0.0
        for row in D.from_tensor_slices(x).batch(2):
            found += tf.reduce_max(row)
        return found

    assert total(tf.constant([1.0, 3.0, 2.0])).numpy() == 5.0
    assert total(tf.constant([4.0, 3.0, 7.0])).numpy() == 11.0


def test_loop_with_break_continue_and_return():
    @tf.function
    def broken(dataset):
        found = tf.constant(0, tf.int64)
        for x in dataset:
            if x == 1:
                continue
            if x > 3:
                break
            found += x
        return found

    @tf.function
    def first_beyond(dataset, limit):
        for x in dataset:
            if x > limit:
                return x
        return tf.constant(-1, tf.int64)

    for dataset in (D.range(9), D.range(9).repeat()):
        assert broken(dataset).numpy() == 5
        assert first_beyond(dataset, tf.constant(5, tf.int64)).numpy() == 6
    assert first_beyond(D.range(3), tf.constant(5, tf.int64)).numpy() == -1


def test_loop_over_an_iterator_goes_on_where_it_stopped():
    iterator = iter(D.range(7))

    @tf.function
    def take(iterator, count):
        found = []
        for x in iterator:
            found.append(x)
            if len(found) == count:
                break
        return found

    assert [x.numpy() for x in take(iterator, 2)] == [0, 1]
    assert next(iterator).numpy() == 2
    assert [x.numpy() for x in take(iterator, 3)] == [3, 4, 5]
    assert [x.numpy() for x in take(iterator, 3)] == [6]


def test_nested_loops_and_enumerate():
    @tf.function
    def total(outer, inner):
        found = tf.constant(0, tf.int64)
        for x in outer:
            for i, y in enumerate(inner):
                found += x * y + i
        return found

    assert total(D.range(3), D.range(4)).numpy() == 3 * 6 + 3 * 6


def test_results_are_tensors_though_python_runs():
    variable = tf.Variable(2.0)

    @tf.function
    def mixed(dataset):
        count = 0
        for _ in dataset:
            count += 1
        return count, variable, {"text": "a", "nothing": None}

    for _ in range(2):
        count, held, rest = mixed(D.range(3))
        assert isinstance(count, tf.Tensor)
        assert (int(count), count.dtype) == (3, tf.int32)
        assert isinstance(held, tf.Tensor)
        assert rest["text"].numpy() == b"a"
        assert rest["nothing"] is None


def test_functions_called_in_a_loop_stay_compiled():
    step, runs = traced_function(lambda x: x * 2 + 1)

    @tf.function
    def total(dataset):
        found = tf.constant(0, tf.int64)
        for x in dataset:
            found += step(x)
        return found

    for _ in range(3):
        assert total(D.range(100)).numpy() == 2 * 4950 + 100
    assert len(runs) == 1


def test_a_function_around_the_one_with_the_loop():
    @tf.function
    def inner(dataset, scale):
        found = tf.constant(0.0)
        for x in dataset:
            found += scale * tf.cast(x, tf.float32)
        return found

    dataset = D.range(4)
    outer = tf.function(lambda scale: inner(dataset, scale) + 1.0)
    assert outer(tf.constant(2.0)).numpy() == 13.0
    assert outer(tf.constant(3.0)).numpy() == 19.0


def test_handled_errors_do_not_hide_that_there_can_be_no_graph():
    @tf.function
    def careful(x):
        try:
            dataset = D.from_tensor_slices(x)
        except Exception:
            return tf.constant(-1)
        return dataset.reduce(0, lambda a, b: a + b)

    assert careful(tf.constant([1, 2])).numpy() == 3
    assert careful(tf.constant([5, 7])).numpy() == 12


def test_the_log_says_once_that_python_runs(caplog):
    caplog.set_level(logging.WARNING)

    @tf.function
    def over(dataset):
        for _ in dataset:
            pass

    for dataset in (D.range(2), D.range(3), D.range(2).map(lambda x: x)):
        over(dataset)
    (record,) = [r for r in caplog.records if "'over'" in r.getMessage()]
    assert "a dataset is used in it" in record.getMessage()


# Variables, tapes, effects ------------------------------------------------------------------------


def sgd_by_hand(weight, rate, xs, ys):
    for x, y in zip(xs, ys, strict=True):
        weight = weight - rate * 2 * (weight * x - y) * x
    return weight


def test_training_loop_over_a_dataset():
    xs, ys = np.array([1, 2, 3], np.float32), np.array([2, 3, 4], np.float32)
    weight = tf.Variable(0.5)
    dataset = D.from_tensor_slices((xs, ys))

    @tf.function
    def epoch(dataset):
        losses = tf.constant(0.0)
        for x, y in dataset:
            with tf.GradientTape() as tape:
                loss = tf.square(weight * x - y)
            weight.assign_sub(0.01 * tape.gradient(loss, weight))
            losses += loss
        return losses

    first = epoch(dataset)
    second = epoch(dataset)
    expected = sgd_by_hand(sgd_by_hand(np.float32(0.5), 0.01, xs, ys), 0.01, xs, ys)
    assert weight.numpy() == pytest.approx(expected, rel=1e-5)
    assert second.numpy() < first.numpy()


def test_variables_written_before_the_loop_are_written_once():
    counter = tf.Variable(0)

    @tf.function
    def count(dataset):
        counter.assign_add(1)
        for _ in dataset:
            counter.assign_add(10)
        return counter.read_value()

    dataset = D.range(2)
    assert count(dataset).numpy() == 21
    captured = tf.function(lambda: count.python_function(dataset))
    assert captured().numpy() == 42
    assert captured().numpy() == 63


def test_variables_made_in_the_first_call():
    class Model(tf.Module):
        weight: Any = None

        @tf.function
        def total(self, dataset):
            if self.weight is None:
                self.weight = tf.Variable(2.0)
            found = tf.constant(0.0)
            for x in dataset:
                found += self.weight * x
            return found

    model = Model()
    dataset = D.from_tensor_slices([1.0, 2.0])
    assert model.total(dataset).numpy() == 6.0
    model.weight.assign(3.0)
    assert model.total(dataset).numpy() == 9.0
    assert len(model.trainable_variables) == 1


def test_an_outer_tape_sees_the_loop():
    weight = tf.Variable(3.0)

    @tf.function
    def total(dataset, scale):
        found = tf.constant(0.0)
        for x in dataset:
            found += scale * weight * x
        return found

    scale = tf.constant(2.0)
    dataset = D.from_tensor_slices([1.0, 2.0, 4.0])
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(scale)
            result = total(dataset, scale)
        by_weight, by_scale = tape.gradient(result, [weight, scale])
        assert (by_weight.numpy(), by_scale.numpy()) == (14.0, 21.0)


def test_random_numbers_and_python_functions_before_a_loop_happen_once():
    seen = []
    dataset = D.range(2)

    @tf.function
    def run(x):
        noise = tf.random.uniform([])
        tf.py_function(lambda y: seen.append(float(y)), [x], [])
        for _ in dataset:
            x += 1.0
        return noise

    tf.random.set_seed(3)
    found = [run(tf.constant(1.0)).numpy() for _ in range(2)]
    tf.random.set_seed(3)
    alone = tf.function(lambda: tf.random.uniform([]))
    assert found == [alone().numpy() for _ in range(2)]
    assert seen == [1.0, 1.0]


def test_what_makes_elements_is_no_part_of_the_call():
    """Neither of its effects, which would have functions run as Python, nor of its tapes."""
    doubled, runs = traced_function(lambda x: weight * x)
    weight = tf.Variable(2.0)
    dataset = D.from_generator(lambda: map(doubled, map(tf.constant, [1.0, 2.0, 3.0])), tf.float32)

    @tf.function
    def total(iterator):
        found = next(iterator)
        for x in dataset:
            found += x
        return found

    iterator = iter(D.from_tensor_slices([10.0, 20.0]))
    for expected in (22.0, 32.0):
        with tf.GradientTape() as tape:
            assert total(iterator).numpy() == expected
        assert tape.watched_variables() == ()
    assert len(runs) == 1
