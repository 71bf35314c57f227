"""Datasets on several threads: that they run at a time, in order, and end."""

import gc
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest

import gradtape as tf
from gradtape.data.parallel import ParallelCalls

D = tf.data.Dataset
# What ends a test that would otherwise wait for ever, in seconds.
PATIENCE = 20
SLOW = 0.003


def threads():
    return [t for t in threading.enumerate() if t.name == "gradtape-data"]


def threads_end():
    """Whether the threads of datasets end soon."""
    gc.collect()
    deadline = time.monotonic() + PATIENCE
    while threads() and time.monotonic() < deadline:
        time.sleep(0.005)
    return not threads()


@pytest.fixture(autouse=True)
def no_other_threads():
    """Lets a test begin when the threads of others have ended."""
    assert threads_end()


def by_python(function):
    """A function of datasets that calls Python code."""
    return lambda x: tf.py_function(function, [x], tf.int64)


def slowly(x):
    time.sleep(SLOW)
    return x


def values(dataset):
    return [int(x) for x in dataset]


# Parallel calls -----------------------------------------------------------------------------------


@pytest.mark.parametrize("deterministic", [None, True, False])
def test_slow_calls_run_at_the_same_time(deterministic):
    meeting = threading.Barrier(3)

    def meet(x):
        meeting.wait(PATIENCE)  # which three calls have to reach
        return x

    dataset = D.range(9).map(by_python(meet), num_parallel_calls=3, deterministic=deterministic)
    assert sorted(values(dataset)) == list(range(9))


def test_no_more_calls_at_a_time_than_asked_for():
    running, most = [], []

    def count(x):
        running.append(1)
        most.append(len(running))
        time.sleep(SLOW)
        running.pop()
        return x

    assert values(D.range(20).map(by_python(count), num_parallel_calls=2)) == list(range(20))
    assert max(most) == 2


def test_results_keep_their_order():
    def longer_at_first(x):
        time.sleep(0.02 if x % 4 == 0 else 0.001)
        return x

    dataset = D.range(16).map(by_python(longer_at_first), num_parallel_calls=4)
    assert values(dataset) == list(range(16))


@pytest.mark.parametrize("by_options", [False, True])
def test_results_come_as_they_are_ready_if_order_does_not_matter(by_options):
    may_end = threading.Event()

    def first_waits(x):
        if x == 0:
            may_end.wait(PATIENCE)
        elif x == 3:
            may_end.set()
        return x

    options = tf.data.Options()
    options.deterministic = False
    source = D.range(4).with_options(options) if by_options else D.range(4)
    dataset = source.map(
        by_python(first_waits),
        num_parallel_calls=2,
        deterministic=None if by_options else False,
    )
    found = values(dataset)
    assert sorted(found) == [0, 1, 2, 3]
    assert found[0] != 0


def test_quick_calls_stay_on_one_thread():
    seen = set()

    def note(x):
        seen.add(threading.get_ident())
        return x

    dataset = D.range(200).map(by_python(note), num_parallel_calls=tf.data.AUTOTUNE)
    iterator = iter(dataset)
    first = [int(next(iterator)) for _ in range(100)]
    seen.clear()
    assert first + [int(x) for x in iterator] == list(range(200))
    assert seen == {threading.get_ident()}


def test_calls_that_become_slow_get_threads():
    meeting = threading.Barrier(2)
    is_slow = []

    def work(x):
        if not is_slow:
            return x
        time.sleep(SLOW)
        if x >= 110:
            meeting.wait(PATIENCE)
        return x

    iterator = iter(D.range(130).map(by_python(work), num_parallel_calls=2))
    found = [int(next(iterator)) for _ in range(100)]
    is_slow.append(True)
    assert found + [int(x) for x in iterator] == list(range(130))


@pytest.mark.parametrize("in_order", [True, False])
def test_results_are_not_kept(in_order):
    class Result:
        pass

    kept = weakref.WeakSet()

    def made_slowly(x):
        result = Result()
        kept.add(result)
        time.sleep(SLOW)
        return result

    results = ParallelCalls(made_slowly, zip(range(20)), 2, in_order)
    for _ in range(20):
        next(results)
    gc.collect()
    assert len(kept) <= 2


@pytest.mark.parametrize("deterministic", [True, False])
def test_errors_come_at_their_elements(deterministic):
    def fail_at_three(x):
        time.sleep(SLOW)
        if x == 3:
            raise ValueError("three")
        return x

    dataset = D.range(6).map(
        by_python(fail_at_three), num_parallel_calls=2, deterministic=deterministic
    )
    iterator, found = iter(dataset), []
    for _ in range(6):
        try:
            found.append(int(next(iterator)))
        except tf.errors.InvalidArgumentError as error:
            found.append("error" if "three" in str(error) else error)
    assert next(iterator, None) is None
    if deterministic:
        assert found == [0, 1, 2, "error", 4, 5]
    assert sorted(map(str, found)) == ["0", "1", "2", "4", "5", "error"]


def test_errors_of_what_comes_before_keep_their_place():
    source = D.range(5).map(lambda x: 6 // (x - 2))
    dataset = source.map(by_python(slowly), num_parallel_calls=3).ignore_errors()
    assert values(dataset) == [-3, -6, 6, 3]


def test_threads_of_calls_end_with_the_elements():
    dataset = D.range(10).map(by_python(slowly), num_parallel_calls=3)
    iterator = iter(dataset)
    next(iterator)
    assert threads()
    assert len(list(iterator)) == 9
    assert threads_end()


def test_threads_of_calls_end_with_the_iterator():
    iterator = iter(D.range(1000).map(by_python(slowly), num_parallel_calls=3))
    next(iterator)
    assert threads()
    del iterator
    assert threads_end()


def test_tapes_do_not_see_other_threads():
    w = tf.Variable(3.0)

    def multiply(x):
        time.sleep(SLOW)
        return x * w

    dataset = D.from_tensor_slices([1.0, 2.0]).map(
        lambda x: tf.py_function(multiply, [x], tf.float32), num_parallel_calls=2
    )
    with tf.GradientTape() as tape:
        total = tf.add_n(list(dataset.prefetch(2))) * w
    assert float(total) == 27.0
    assert float(tape.gradient(total, w)) == 9.0


def test_large_numpy_work_gives_the_same_on_threads():
    rng = np.random.default_rng(0)
    matrices = rng.normal(size=(12, 150, 150))
    plain = D.from_tensor_slices(matrices).map(lambda m: m @ m)
    parallel = D.from_tensor_slices(matrices).map(lambda m: m @ m, num_parallel_calls=4)
    for a, b in zip(plain, parallel, strict=True):
        np.testing.assert_array_equal(a, b)


# Interleaved datasets -----------------------------------------------------------------------------


def test_interleaved_datasets_run_at_the_same_time():
    meeting = threading.Barrier(3)

    def meet(x):
        if x % 10 == 0:
            meeting.wait(PATIENCE)  # which the first elements of three datasets have to reach
        return x

    dataset = D.range(3).interleave(
        lambda i: D.range(i * 10, i * 10 + 2).map(by_python(meet)),
        cycle_length=3,
        num_parallel_calls=3,
    )
    assert values(dataset) == [0, 10, 20, 1, 11, 21]
    assert threads_end()


def test_a_dataset_that_waits_is_passed_over_if_order_does_not_matter():
    may_end = threading.Event()

    def first_waits(x):
        if x == 0:
            may_end.wait(PATIENCE)
        return x

    dataset = D.range(2).interleave(
        lambda i: D.range(i * 10, i * 10 + 2).map(by_python(first_waits)),
        cycle_length=2,
        num_parallel_calls=2,
        deterministic=False,
    )
    iterator = iter(dataset)
    time.sleep(SLOW)
    assert int(next(iterator)) == 10
    may_end.set()
    assert sorted([int(x) for x in iterator]) == [0, 1, 11]


def test_threads_of_interleaved_datasets_end_with_the_iterator():
    dataset = D.range(4).interleave(
        lambda i: D.range(1000).map(by_python(slowly)), cycle_length=2, num_parallel_calls=2
    )
    iterator = iter(dataset)
    next(iterator)
    assert threads()
    del iterator
    assert threads_end()


# Prefetch -----------------------------------------------------------------------------------------


def test_slow_elements_are_made_ahead():
    made = []
    ahead = threading.Event()

    def note(x):
        time.sleep(SLOW)
        made.append(int(x))
        if x == 5:
            ahead.set()
        return x

    iterator = iter(D.range(100).map(by_python(note)).prefetch(3))
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 2]
    assert ahead.wait(PATIENCE)  # nobody has asked for the elements after 2
    time.sleep(10 * SLOW)
    assert max(made) <= 6  # three in the buffer, and one that waits for a place


def test_quick_elements_are_made_when_asked_for():
    made = []
    iterator = iter(D.range(100).map(by_python(lambda x: made.append(1) or x)).prefetch(10))
    for _ in range(20):
        next(iterator)
    assert len(made) == 20
    assert not threads()


def test_elements_that_become_quick_need_no_thread():
    def slow_at_first(x):
        if x < 10:
            time.sleep(SLOW)
        return x

    iterator = iter(D.range(1_000_000).map(by_python(slow_at_first)).prefetch(2))
    found = [int(next(iterator)) for _ in range(10)]
    assert threads()
    deadline = time.monotonic() + PATIENCE
    while threads() and time.monotonic() < deadline:
        found.append(int(next(iterator)))
    assert not threads()
    assert [*found, int(next(iterator))] == list(range(len(found) + 1))


def test_errors_pass_through_prefetch():
    def fail_at_four(x):
        time.sleep(SLOW)
        if x == 4:
            raise ValueError("four")
        return x

    dataset = D.range(7).map(by_python(fail_at_four)).prefetch(2)
    assert values(dataset.ignore_errors()) == [0, 1, 2, 3, 5, 6]
    iterator = iter(dataset)
    assert [int(next(iterator)) for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="four"):
        next(iterator)
    assert int(next(iterator)) == 5


@pytest.mark.parametrize("how", ["all", "dropped"])
def test_the_thread_of_prefetch_ends(how):
    iterator = iter(D.range(20 if how == "all" else 10_000).map(by_python(slowly)).prefetch(2))
    found = [int(next(iterator)) for _ in range(4)]
    assert found == [0, 1, 2, 3]
    assert threads()
    if how == "all":
        assert len(list(iterator)) == 16
    else:
        del iterator
    assert threads_end()


def test_rows_pass_through_prefetch_and_options():
    dataset = D.from_tensor_slices(np.arange(6)).prefetch(2).with_options(tf.data.Options())
    columns, begin = dataset._rows()
    assert columns[0].tolist() == list(range(6))
    assert list(begin()) == list(range(6))
    assert [x.numpy().tolist() for x in dataset.batch(4)] == [[0, 1, 2, 3], [4, 5]]


# The end of a program -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dataset",
    [
        "D.range(1000).map(wait, num_parallel_calls=2)",
        "D.range(1000).map(wait).prefetch(2)",
        "D.range(4).interleave(lambda i: D.range(9).map(wait), 2, num_parallel_calls=2)",
    ],
)
def test_a_program_ends_although_threads_wait(dataset):
    code = f"""
        import threading, time
        import gradtape as tf
        D = tf.data.Dataset

        def work(x):
            time.sleep(0.002)
            if x > 3:
                threading.Event().wait()
            return x

        wait = lambda x: tf.py_function(work, [x], tf.int64)
        iterator = iter({dataset})
        print(int(next(iterator)), int(next(iterator)))
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True, text=True, timeout=3 * PATIENCE, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() in ("0 1", "0 0")


def test_an_interrupt_ends_the_wait_for_an_element():
    code = """
        import os, signal, threading
        import gradtape as tf

        signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may switch off

        def work(x):
            if x == 0:
                threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            threading.Event().wait()

        dataset = tf.data.Dataset.range(9).map(
            lambda x: tf.py_function(work, [x], tf.int64), num_parallel_calls=2
        )
        try:
            next(iter(dataset))
        except KeyboardInterrupt:
            print("interrupted")
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True, text=True, timeout=3 * PATIENCE, check=False,
    )  # fmt: skip
    assert run.stdout.strip() == "interrupted", run.stderr
