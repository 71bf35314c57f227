"""Passes over graphs: what each leaves out, and that the rest gives the same bits."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.graph import passes
from gradtape.graph.interpret import Program, run_stepwise
from graphs import traced, types

X = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, -0.0]], np.float32)


def same_bits(first, second):
    return [np.asarray(a).tobytes() for a in first] == [np.asarray(b).tobytes() for b in second]


def check(one_pass, function, expected, *arrays):
    """The pass leaves ops of the types `expected`, and the same results; returns the graph."""
    graph = traced(function, *arrays)
    after = one_pass(graph).verify()
    assert types(after) == expected.split()
    assert same_bits(run_stepwise(graph, arrays), run_stepwise(after, arrays))
    return after


def test_dead_code_is_left_out():
    def two(x):
        tf.exp(x)
        return tf.sin(x)

    check(passes.without_dead_code, two, "Sin", X)


def test_what_decides_or_acts_is_not_dead():
    state = tf.Variable(0.0)

    def decided(x):
        state.assign_add(tf.reduce_sum(x))
        return tf.sin(x) if tf.reduce_max(x) > 0 else x

    graph = passes.without_dead_code(traced(decided, X))
    assert types(graph) == ["Sum", "ReadVariableOp", "AddV2", "Max", "Greater", "Guard", "Sin"]


def test_the_same_expression_is_computed_once():
    def twice(x):
        return tf.sin(x) * 2.0 + tf.sin(x) * 2.0

    check(passes.with_common_subexpressions, twice, "Sin Mul AddV2", X)


def test_expressions_with_other_attributes_or_constants_differ():
    def alike(x):
        return (
            tf.reduce_sum(x, axis=0), tf.reduce_sum(x, axis=1),
            tf.sin(x), tf.exp(x), x * 2.0, x * 3.0,
            x * tf.constant([1.0, 2.0, 3.0]), x * tf.constant([1.0, 2.0, 4.0]),
        )  # fmt: skip

    check(passes.with_common_subexpressions, alike, "Sum Sum Sin Exp Mul Mul Mul Mul", X)


def test_reads_of_a_variable_before_and_after_writing_differ():
    state = tf.Variable(1.0)

    def counted(x):
        before = x + state
        state.assign_add(1.0)
        return before, x + state

    graph = passes.with_common_subexpressions(traced(counted, X))
    first, second = run_stepwise(graph, [X])
    assert np.array_equal(first + 1, second)


def test_constants_are_folded():
    graph = traced(lambda x, y: tf.sin(x * 2.0) + y, X, X)
    constant = passes.Value(X.shape, X.dtype, constant=X, name="const")
    frozen = passes._rebuilt(graph, graph.nodes, {id(graph.inputs[0]): constant})
    folded = passes.with_folded_constants(frozen)
    assert types(folded) == ["AddV2"]
    assert same_bits(run_stepwise(folded, [X, X]), run_stepwise(graph, [X, X]))


def test_large_results_are_not_folded():
    graph = traced(lambda x: tf.broadcast_to(x, [1000, 1000]), np.float32(1.0))
    constant = passes.Value((), graph.inputs[0].dtype, constant=np.float32(1.0), name="const")
    frozen = passes._rebuilt(graph, graph.nodes, {id(graph.inputs[0]): constant})
    assert types(passes.with_folded_constants(frozen)) == ["BroadcastTo"]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 1.0,
        lambda x: 1.0 * x,
        lambda x: x / 1.0,
        lambda x: x - 0.0,
        lambda x: x * tf.ones([2, 3]),
        lambda x: tf.reshape(x, [2, 3]),
        lambda x: tf.transpose(x, [0, 1]),
        lambda x: tf.identity(x),
        lambda x: tf.stop_gradient(x),
        lambda x: tf.broadcast_to(x, [2, 3]),
    ],
)
def test_what_changes_nothing_is_left_out(function):
    check(passes.with_simpler_algebra, function, "", X)


def test_a_double_negation_is_left_out():
    graph = traced(lambda x: tf.sin(tf.negative(tf.negative(x))), X)
    after = passes.without_dead_code(passes.with_simpler_algebra(graph))
    assert types(after) == ["Sin"]
    assert same_bits(run_stepwise(graph, [X]), run_stepwise(after, [X]))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x + 0.0, "AddV2"),  # -0.0 + 0.0 is 0.0
        (lambda x: x - tf.constant(-0.0), "Sub"),  # -0.0 - -0.0 is 0.0
        (lambda x: x * 0.0, "Mul"),  # a NaN stays one
        (lambda x: x * tf.ones([4, 2, 3]), "Mul"),  # it is also a broadcast
        (lambda x: tf.reshape(x, [3, 2]), "Reshape"),
        (lambda x: tf.transpose(x), "Transpose"),
        (lambda x: 1.0 / x, "RealDiv"),
        (lambda x: 0.0 - x, "Sub"),
    ],
)
def test_what_changes_something_is_kept(function, expected):
    check(passes.with_simpler_algebra, function, expected, X)


@pytest.mark.parametrize("swap_a", [False, True])
@pytest.mark.parametrize("swap_b", [False, True])
def test_products_take_transposed_matrices_as_they_are(swap_a, swap_b):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4, 4)).astype(np.float32)

    def product(a, b):
        a = tf.transpose(a) if swap_a else a
        return tf.matmul(a, tf.transpose(b) if swap_b else b, transpose_b=True)

    graph = traced(product, a, b)
    after = passes.without_dead_code(passes.with_transposes_in_products(graph)).verify()
    (node,) = after.nodes
    assert node.attrs == {"transpose_a": swap_a, "transpose_b": not swap_b}
    assert same_bits(run_stepwise(graph, [a, b]), run_stepwise(after, [a, b]))


def test_batches_of_transposed_matrices_are_taken_as_they_are():
    a = np.random.default_rng(0).normal(size=(3, 4, 5))
    graph = traced(lambda a: tf.matmul(tf.transpose(a, [0, 2, 1]), a), a)
    after = passes.without_dead_code(passes.with_transposes_in_products(graph))
    assert types(after) == ["BatchMatMulV2"]
    assert same_bits(run_stepwise(graph, [a]), run_stepwise(after, [a]))


def test_a_transpose_of_other_axes_stays():
    a = np.random.default_rng(0).normal(size=(4, 4, 4))
    graph = traced(lambda a: tf.matmul(tf.transpose(a, [1, 0, 2]), a), a)
    after = passes.without_dead_code(passes.with_transposes_in_products(graph))
    assert types(after) == ["Transpose", "BatchMatMulV2"]


def test_gradient_functions_of_the_user_are_left_out_of_programs():
    @tf.custom_gradient
    def doubled(x):
        return x * 2.0, lambda g: g

    graph = traced(lambda x: tf.sin(doubled(x)), X)
    assert types(graph) == ["Mul", "IdentityN", "Sin"]
    assert types(passes.without_rules(graph)) == ["Mul", "Sin"]


def test_all_passes_together_give_the_same_bits():
    rng = np.random.default_rng(1)
    w = tf.Variable(rng.normal(size=(3, 5)).astype(np.float32))

    def step(x):
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.transpose(tf.transpose(x)) @ w) * 1.0
            loss = tf.reduce_mean(tf.square(h)) + tf.reduce_mean(tf.square(h))
        gradient = tape.gradient(loss, w)
        w.assign_sub(0.1 * gradient)
        return loss, gradient

    graph = traced(step, X)
    before = w.numpy()
    expected = run_stepwise(graph, [X])
    state = w.numpy()
    w.assign(before)
    after = passes.optimize(graph).verify()
    assert len(after.nodes) < len(graph.nodes)
    assert same_bits(Program(after).run([X]), expected)
    assert np.array_equal(w.numpy(), state)
