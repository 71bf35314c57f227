"""What the seeds do, snapshots of the random state, threads, and the distributions' statistics."""

import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape.core import random_seed


@pytest.fixture(autouse=True)
def _unseeded_afterwards():
    yield
    tf.random.set_seed(None)


def _draws():
    return [
        tf.random.normal([4]),
        tf.random.uniform([4], maxval=1000, dtype=tf.int32),
        tf.random.truncated_normal([4], seed=8),
        tf.random.gamma([4], 0.5),
        tf.random.poisson([4], 30.0, seed=9),
        tf.random.categorical(tf.zeros([2, 90]), 4),
        tf.random.shuffle(tf.range(30)),
        tf.nn.dropout(tf.ones([30]), 0.5),
    ]


def _same(draws, others):
    return [np.array_equal(a, b) for a, b in zip(draws, others, strict=True)]


def test_set_seed_repeats_everything():
    tf.random.set_seed(1234)
    first, second = _draws(), _draws()
    tf.random.set_seed(1234)
    assert all(_same(first, _draws()))
    assert all(_same(second, _draws()))
    assert not any(_same(first, second))
    tf.random.set_seed(1235)
    assert not any(_same(first, _draws()))


def test_without_seeds_nothing_repeats():
    tf.random.set_seed(None)
    first = tf.random.normal([4]).numpy()
    tf.random.set_seed(None)
    assert not np.array_equal(tf.random.normal([4]), first)


def test_other_ops_do_not_disturb_an_explicit_seed():
    tf.random.set_seed(3)
    alone = [tf.random.normal([3], seed=1).numpy() for _ in range(3)]
    tf.random.set_seed(3)
    among = []
    for _ in range(3):
        tf.random.normal([7])
        tf.random.normal([7], seed=2)
        tf.random.uniform([7], seed=1)
        tf.random.normal([7], seed=1, dtype=tf.float64)
        tf.random.stateless_normal([7], [1, 2])
        among.append(tf.random.normal([3], seed=1).numpy())
    assert all(_same(alone, among))


@pytest.mark.parametrize(
    ("call", "same_stream"),
    [
        (lambda: tf.random.normal([4], seed=1), True),
        (lambda: tf.random.normal((4,), mean=0.0, seed=1), True),
        (lambda: tf.random.normal(np.array([4], np.int32), seed=1), True),
        (lambda: tf.random.normal(np.array([4], np.int64), seed=1), False),
        (lambda: tf.random.normal([4], seed=np.int64(1)), True),
    ],
)
def test_which_calls_continue_a_sequence(call, same_stream):
    tf.random.set_seed(3)
    first, second = (tf.random.normal([4], seed=1).numpy() for _ in range(2))
    tf.random.set_seed(3)
    tf.random.normal([4], seed=1)
    np.testing.assert_array_equal(call(), second if same_stream else first)


@pytest.mark.parametrize(
    ("call", "op_seeds_drawn"),
    [
        (lambda: tf.nn.dropout(tf.ones([3]), 0.0), 1),
        (lambda: tf.nn.dropout(tf.ones([3]), 0.0, seed=5), 0),
        (lambda: tf.nn.dropout(tf.ones([3]), 0.5), 1),
        (lambda: tf.nn.dropout(tf.ones([3]), tf.constant(0.0)), 1),
        (lambda: tf.nn.experimental.stateless_dropout(tf.ones([3]), 0.0, [1, 2]), 0),
        (lambda: tf.random.normal([0]), 1),
        (lambda: tf.random.normal([2], seed=4), 0),
        (lambda: tf.random.shuffle([1.0]), 1),
        (lambda: tf.random.gamma([2], 1.0), 1),
        (lambda: tf.random.stateless_gamma([2], [1, 2], 1.0), 0),
    ],
)
def test_how_many_op_seeds_a_call_draws(call, op_seeds_drawn):
    tf.random.set_seed(0)
    draws = [tf.random.normal([1]).numpy() for _ in range(3)]
    tf.random.set_seed(0)
    call()
    np.testing.assert_array_equal(tf.random.normal([1]), draws[op_seeds_drawn])


@pytest.mark.parametrize("seed", [None, 11])
def test_a_captured_state_can_be_restored(seed):
    tf.random.set_seed(seed)
    tf.random.normal([3], seed=1)
    snapshot = random_seed.capture()
    shared = tf.random.get_global_generator()
    snapshot_with_generator = random_seed.capture()
    first = [*_draws(), tf.random.normal([3], seed=1), shared.normal([3])]
    tf.random.set_seed(99)
    tf.random.set_global_generator(None)
    for _ in range(2):
        snapshot_with_generator.restore()
        again = tf.random.get_global_generator()
        assert again is shared
        assert all(_same(first, [*_draws(), tf.random.normal([3], seed=1), again.normal([3])]))
    snapshot.restore()
    assert all(_same(first[:-1], [*_draws(), tf.random.normal([3], seed=1)]))


def _in_threads(function, count):
    results = [[] for _ in range(count)]
    start = threading.Barrier(count)

    def work(number):
        start.wait()
        results[number] = function()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("op_seed", [None, 1])
def test_threads_share_the_seeds_without_loss_or_repetition(op_seed):
    def draw():
        return [tf.random.uniform([], seed=op_seed).numpy().item() for _ in range(50)]

    tf.random.set_seed(6)
    alone = [number for _ in range(4) for number in draw()]
    tf.random.set_seed(6)
    together = [number for numbers in _in_threads(draw, 4) for number in numbers]
    assert sorted(together) == sorted(alone)


# Statistics ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("samples", "mean", "variance"),
    [
        (lambda n: tf.random.normal([n], 3.0, 2.0), 3.0, 4.0),
        (lambda n: tf.random.uniform([n], -1.0, 2.0), 0.5, 0.75),
        (lambda n: tf.random.uniform([n], -2, 3, tf.int32), 0.0, 2.0),
        (lambda n: tf.random.truncated_normal([n]), 0.0, 0.7737),
        (lambda n: tf.random.gamma([n], 0.4, 2.0), 0.2, 0.1),
        (lambda n: tf.random.gamma([n], 9.0, 3.0), 3.0, 1.0),
        (lambda n: tf.random.poisson([n], 2.5), 2.5, 2.5),
        (lambda n: tf.random.poisson([n], 40.0), 40.0, 40.0),
        (lambda n: tf.random.stateless_binomial([n], [1, 2], 12.0, 0.25), 3.0, 2.25),
        (lambda n: tf.random.stateless_binomial([n], [1, 2], 100.0, 0.5), 50.0, 25.0),
        (lambda n: tf.random.categorical([np.log([0.2, 0.3, 0.5])], n), 1.3, 0.61),
        (lambda n: tf.cast(tf.nn.dropout(tf.ones([n]), 0.2), tf.float64), 1.0, 0.25),
    ],
)
def test_mean_and_variance(samples, mean, variance):
    tf.random.set_seed(2)
    count = 40_000
    array = samples(count).numpy().astype(np.float64)
    # Five standard errors; that of the variance for a kurtosis of at most 16.
    assert abs(array.mean() - mean) < 5 * np.sqrt(variance / count)
    assert abs(array.var() - variance) < 5 * variance * np.sqrt(15 / count)
