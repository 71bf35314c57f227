"""tf.function: what is kept of its traces, and what threads share."""

import gc
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import pytest

import gradtape as tf
from gradtape.graph.specialisations import MOST_SPECIALISATIONS


def counted(**options):
    runs = []

    @tf.function(**options)
    def f(x):
        runs.append(1)
        return x + 1.0

    return f, runs


def in_threads(count, work):
    """Runs `work(i)` in several threads at once, and gives what they returned."""
    results, start = [None] * count, threading.Barrier(count)

    def run(i):
        start.wait()
        results[i] = work(i)

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(timeout=20)
    assert not any(each.is_alive() for each in threads)
    return results


@pytest.fixture(autouse=True)
def _without_warnings(logs):
    """Many traces are what these tests are about."""


# Memory -------------------------------------------------------------------------------------------


def test_those_used_least_recently_are_dropped():
    f, runs = counted()
    most = MOST_SPECIALISATIONS
    for i in range(most):
        f(tf.zeros([i]))
    assert len(runs) == most
    f(tf.zeros([0]))  # used again, so that the next to go is another
    f(tf.zeros([most]))
    f(tf.zeros([0]))
    assert len(runs) == most + 1
    f(tf.zeros([1]))
    assert len(runs) == most + 2


def test_a_dropped_trace_is_freed():
    f, _ = counted()
    f(tf.zeros([0]))
    graph = weakref.ref(f.get_concrete_function(tf.zeros([0])).graph)
    for i in range(1, MOST_SPECIALISATIONS + 1):
        f(tf.zeros([i]))
    gc.collect()
    assert graph() is None


def test_ten_thousand_shapes_take_little_memory():
    """Measured in another process, as this one has memory to spare already."""
    program = """
        import gc, logging, tracemalloc
        import numpy as np
        import gradtape as tf

        tf.get_logger().setLevel(logging.ERROR)
        array = np.zeros(10_300, np.float32)
        f = tf.function(lambda x: x * 2.0)

        def call(sizes):
            for n in sizes:
                f(tf.constant(array[:n]))
            gc.collect()

        def resident():
            pages = open("/proc/self/statm").read().split()[1]
            return int(pages) * 4096

        call(range(1, 20))
        before = resident()
        call(range(20, 10_020))
        print(resident() - before, f.experimental_get_tracing_count())
    """
    if sys.platform != "linux":
        pytest.skip("reads /proc")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
    )
    grown, count = map(int, done.stdout.split())
    assert count == 10_019
    assert grown < 20e6


def test_objects_that_are_gone_leave_no_traces():
    class Item:
        pass

    f = tf.function(lambda item, x: x)
    for _ in range(20):
        f(Item(), tf.constant(1.0))
    gc.collect()
    assert len(f._state.known) == len(f._state.identities._watches) == 0


def test_an_object_at_the_address_of_another_is_told_apart():
    f = tf.function(lambda item, x: x + item.n)

    class Item:
        def __init__(self, n):
            self.n = n

        def get(self):
            return self.n

    expected = [1.0 + i for i in range(50)]
    assert [f(Item(float(i)), tf.constant(1.0)).numpy() for i in range(50)] == expected
    g = tf.function(lambda get, x: x + get())
    assert [g(Item(float(i)).get, tf.constant(1.0)).numpy() for i in range(50)] == expected


def test_instances_that_are_gone_leave_no_traces():
    class Item:
        @tf.function
        def f(self, x):
            return x

    for _ in range(5):
        Item().f(tf.constant(1.0))
    gc.collect()
    assert Item.f._of_instances == {}


# Threads ------------------------------------------------------------------------------------------


def test_one_of_many_threads_traces():
    runs = []

    @tf.function
    def f(x):
        runs.append(1)
        time.sleep(0.05)
        return x + 1.0

    results = in_threads(8, lambda i: f(tf.constant(float(i))).numpy())
    assert results == [i + 1.0 for i in range(8)]
    assert len(runs) == f.experimental_get_tracing_count() == 1


def test_one_of_many_threads_with_tapes_traces():
    runs = []

    @tf.function
    def f(x):
        runs.append(1)
        time.sleep(0.05)
        return x * x

    def gradient(i):
        x = tf.constant(float(i))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x).numpy()

    assert in_threads(6, gradient) == [2.0 * i for i in range(6)]
    assert len(runs) == f.experimental_get_tracing_count() == 1


def test_threads_with_arguments_of_their_own():
    f, runs = counted()
    results = in_threads(6, lambda i: [f(tf.ones([i % 3 + 1])).shape[0] for _ in range(20)])
    assert results == [[i % 3 + 1] * 20 for i in range(6)]
    assert len(runs) == 3


def test_variables_are_made_by_one_thread():
    made = []

    @tf.function
    def f(x):
        if not made:
            time.sleep(0.05)
            made.append(tf.Variable(2.0))
        return made[0] * x

    results = in_threads(6, lambda i: f(tf.ones([i])).numpy().tolist())
    assert results == [[2.0] * i for i in range(6)]
    assert len(made) == 1


def test_functions_that_call_each_other_do_not_wait_for_each_other():
    @tf.function
    def f(x, deeper=True):
        time.sleep(0.05)
        return g(x, False) + 1.0 if deeper else x

    @tf.function
    def g(x, deeper=True):
        time.sleep(0.05)
        return f(x, False) + 2.0 if deeper else x

    results = in_threads(2, lambda i: (f, g)[i](tf.constant(1.0)).numpy())
    assert results == [2.0, 3.0]


def test_a_function_may_wait_for_a_thread_that_traces_another():
    @tf.function
    def inner(x):
        return x * 2.0

    @tf.function
    def outer(x):
        found = []
        thread = threading.Thread(target=lambda: found.append(inner(tf.constant(4.0))))
        thread.start()
        thread.join(timeout=30)
        return x + found[0]

    assert outer(tf.constant(1.0)).numpy() == 9.0
