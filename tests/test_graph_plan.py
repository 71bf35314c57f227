"""The buffer plan: memory used again, and never while somebody needs it."""

import itertools
import tracemalloc

import numpy as np
import pytest

import gradtape as tf
from gradtape.graph.interpret import Program, run_stepwise
from gradtape.graph.passes import optimize
from gradtape.graph.plan import make_plan
from graphs import traced

N = 1 << 16
X = np.linspace(-2, 2, N, dtype=np.float32)


def reused(graph):
    """Which nodes write into memory of others: pairs of names."""
    return [(s.node.name, s.into.name) for s in make_plan(graph).steps if s.into is not None]


def test_a_chain_runs_in_one_array():
    graph = traced(lambda x: tf.sin(tf.exp(tf.tanh(x) * 2.0)), X)
    assert reused(graph) == [("mul", "Tanh"), ("Exp", "mul"), ("Sin", "Exp")]


def _waits(x):
    a = tf.exp(x)
    total = tf.reduce_sum(a)  # the last to need `a`, and no array itself
    return tf.sin(x * total)


def test_memory_keeps_its_name_until_it_is_written_into():
    graph = traced(_waits, X)
    assert reused(graph)[0] == ("mul", "Exp")
    freed = []
    for step in make_plan(graph).steps:
        if step.into is not None:
            assert step.into.name not in freed
        freed += [value.name for value in step.frees]
    assert "Exp" in freed


def test_memory_does_not_wait_while_other_memory_is_asked_for():
    def interrupted(x):
        total = tf.reduce_sum(tf.exp(x))
        other = tf.cumsum(x)  # allocates what it returns
        return other, tf.sin(x * total)

    graph = traced(interrupted, X)
    assert "Exp" not in [into for _, into in reused(graph)]


def test_what_is_needed_later_is_not_written_over():
    def later(x):
        a = tf.exp(x)
        b = tf.sin(a)
        return b * a

    graph = traced(later, X)
    assert reused(graph) == [("mul", "Exp")] or reused(graph) == [("mul", "Sin")]
    assert np.array_equal(Program(graph).run([X])[0], np.sin(np.exp(X)) * np.exp(X))


def test_arguments_constants_and_results_are_not_written_over():
    constant = tf.constant(X)

    def kept(x):
        y = tf.exp(x)
        return y, tf.sin(y) + constant

    graph = traced(kept, X)
    argument = X.copy()
    first, second = Program(graph).run([argument])
    assert np.array_equal(argument, X)
    assert np.array_equal(constant.numpy(), X)
    assert np.array_equal(first, np.exp(X))
    assert np.array_equal(second, np.sin(np.exp(X)) + X)


def test_memory_that_a_view_looks_at_is_not_written_over():
    def viewed(x):
        a = tf.exp(x)
        rows = tf.reshape(a, [2, -1])
        b = tf.sin(a)
        return tf.reduce_sum(rows, axis=1), b

    graph = traced(viewed, X)
    sums, sines = Program(graph).run([X])
    expected = run_stepwise(graph, [X])
    assert np.array_equal(sums, expected[0])
    assert np.array_equal(sines, expected[1])


def test_a_returned_view_keeps_its_memory():
    graph = traced(lambda x: (tf.transpose(tf.reshape(tf.exp(x), [2, -1])), tf.sin(tf.exp(x))), X)
    graph = optimize(graph)
    for got, expected in zip(Program(graph).run([X]), run_stepwise(graph, [X]), strict=True):
        assert np.array_equal(got, expected)


def test_memory_of_another_shape_or_dtype_is_not_used():
    def other(x):
        return tf.cast(tf.exp(x), tf.float64) * 2.0, tf.exp(x)[:10] * 3.0

    graph = traced(other, X)
    for got, expected in zip(Program(graph).run([X]), run_stepwise(graph, [X]), strict=True):
        assert got.dtype == expected.dtype
        assert np.array_equal(got, expected)


def test_variables_that_are_updated_keep_their_memory():
    state = tf.Variable(X)

    @tf.function
    def step(d):
        state.assign_sub(d)

    for _ in range(2):
        step(tf.ones(N))
    address = state._handle.tensor._value.ctypes.data
    step(tf.ones(N))
    assert state._handle.tensor._value.ctypes.data == address
    assert np.array_equal(state.numpy(), X - 1 - 1 - 1)


def test_a_value_read_before_an_update_stays_what_it_was():
    state = tf.Variable(np.arange(N, dtype=np.float32))

    @tf.function
    def step(d):
        before = state.read_value()
        state.assign_add(d)
        return before

    for i in range(4):
        assert np.array_equal(step(tf.ones(N)).numpy(), state.numpy() - 1), i
    kept = state.read_value()
    held = kept.numpy()
    step(tf.ones(N))
    assert np.array_equal(kept.numpy(), held)


def _step(sizes):
    rng = np.random.default_rng(0)
    weights = [
        tf.Variable((rng.normal(size=(a, b)) / np.sqrt(a)).astype(np.float32))
        for a, b in itertools.pairwise(sizes)
    ]
    x = tf.constant(rng.normal(size=(256, sizes[0])).astype(np.float32))

    def step():
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.tanh(h @ w)
            loss = tf.reduce_sum(h)
        gradients = tape.gradient(loss, weights)
        for w, g in zip(weights, gradients, strict=True):
            w.assign_sub(0.01 * g)
        return loss

    return step


def _peak(function):
    function()
    function()
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_a_compiled_step_needs_no_more_memory_than_eager():
    sizes = [256] * 9
    assert _peak(tf.function(_step(sizes))) <= _peak(_step(sizes))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64", "int32"])
def test_every_dtype_gives_the_same_bits(dtype):
    x = tf.cast(tf.constant(X[:100]), dtype)._value
    graph = traced(lambda x: (x * x + x) * (x - x * x), x)
    (got,), (expected,) = Program(graph).run([x]), run_stepwise(graph, [x])
    assert got.dtype == x.dtype
    assert got.tobytes() == expected.tobytes()
