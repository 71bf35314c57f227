"""while_loop inside `tf.function`: one op for any number of turns, and the results of eager."""

import numpy as np
import pytest

import gradtape as tf
from structured_comparison import node_types, same


def power(x, n):
    return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x + 0.5), [0, x])


def test_while_loop():
    calls = [([0.5, 1.5], n) for n in (3, 0, 1, 7)]
    same(power, calls, types=["StatelessWhile"])


def test_while_loop_returns_what_the_body_returns():
    @tf.function
    def f(x):
        found = tf.while_loop(lambda v: v[0] < 10.0, lambda v: [(v[0] * 2.0, v[1] + 1)], [(x, 0)])
        assert type(found) is list
        assert type(found[0]) is tuple
        return found

    ((value, count),) = f(tf.constant(1.0))
    assert (value.numpy(), count.numpy(), count.dtype) == (16.0, 4, tf.int32)


def test_while_loop_until_it_converges():
    def root(a):
        return tf.while_loop(
            lambda x: tf.reduce_max(tf.abs(x * x - a)) > 1e-3,
            lambda x: [0.5 * (x + a / x)],
            [a + 1.0],
        )[0]

    same(root, [([2.0, 3.0],), ([100.0, 1.0],), ([1.0, 1.0],)], types=["StatelessWhile"])


@pytest.mark.parametrize("limit", [0, 2, 50])
def test_maximum_iterations(limit):
    def f(x, n):
        return tf.while_loop(
            lambda i, y: i < n, lambda i, y: (i + 1, y * x), [0, x], maximum_iterations=limit,
            parallel_iterations=1,
        )  # fmt: skip

    same(f, [(1.5, 0), (1.5, 1), (1.5, 5)], types=["StatelessWhile"])


def test_maximum_iterations_that_vary():
    def f(x, n):
        return tf.while_loop(lambda y: True, lambda y: [y * x], [x], maximum_iterations=n)[0]

    same(f, [(1.5, 0), (1.5, 1), (1.5, 5)], types=["StatelessWhile"])


def test_shape_invariants_and_growing_shapes():
    def f(x, n):
        return tf.while_loop(
            lambda i, y: i < n, lambda i, y: (i + 1, tf.concat([y, x * y[-1:]], 0)),
            [0, x], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
        )[1]  # fmt: skip

    same(f, [([1.5], 0), ([1.5], 1), ([1.5], 3)])


def test_while_loop_with_captures_of_all_kinds():
    w = tf.Variable([[0.5, 0.25], [-0.5, 1.0]])
    constant = tf.constant([[1.0, 2.0]])

    def f(x, n):
        def body(i, h):
            return i + 1, tf.tanh(h @ w + x * constant)

        return tf.while_loop(lambda i, h: i < n, body, [tf.constant(0), tf.zeros_like(x)])[1]

    calls = [([[0.5, -1.0]], n) for n in (2, 0, 5)]
    traced = same(f, calls, types=["StatelessWhile"])
    for x, n in calls:
        grads = []
        for function in (f, traced):
            with tf.GradientTape() as tape:
                y = function(tf.constant(x), tf.constant(n))
            grads.append(tape.gradient(y, w, unconnected_gradients="zero").numpy())
        np.testing.assert_array_equal(*grads)


def test_gradients_are_bit_for_bit_those_of_eager():
    rng = np.random.default_rng(1)
    w = tf.Variable(rng.normal(size=(4, 4)).astype(np.float32) * 0.3)
    x = tf.constant(rng.normal(size=(3, 4)).astype(np.float32))

    def f(n):
        def body(i, h):
            return i + 1, tf.tanh(h @ w + x) * tf.sigmoid(x @ w) + 0.1 * (h @ w)

        return tf.while_loop(lambda i, h: i < n, body, [0, x])[1]

    found = []
    for function in (f, tf.function(f)):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(function(tf.constant(6)))
        found.append(tape.gradient(y, w).numpy())
    np.testing.assert_array_equal(*found)


def test_unconnected_captures_and_integers():
    w, unused = tf.Variable(2.0), tf.Variable(3.0)

    @tf.function
    def f(x, n):
        def body(i, y):
            return i + tf.cast(unused, tf.int32), y * w

        return tf.while_loop(lambda i, y: i < n, body, [0, x])[1]

    x, n = tf.constant(1.5), tf.constant(6)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, n)
    found = tape.gradient(y, [x, w, unused, n])
    assert [None if g is None else float(g) for g in found] == [4.0, 6.0, None, None]


def test_while_in_while():
    def f(x, n):
        def outer(i, y):
            inner = tf.while_loop(lambda j, z: j <= i, lambda j, z: (j + 1, z * x + 0.1), [0, y])
            return i + 1, inner[1]

        return tf.while_loop(lambda i, y: i < n, outer, [0, x])[1]

    same(f, [(0.75, 0), (0.75, 1), (0.75, 3)], types=["StatelessWhile"])


def test_cond_in_while():
    def f(x, n):
        def body(i, y):
            return i + 1, tf.cond(i % 2 == 0, lambda: y * x, lambda: y + x)

        return tf.while_loop(lambda i, y: i < n, body, [0, x])[1]

    same(f, [(1.5, 0), (1.5, 1), (1.5, 4)], types=["StatelessWhile"])


def test_collatz():
    @tf.function
    def steps(n):
        def body(n, k):
            return tf.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1), k + 1

        return tf.while_loop(lambda n, k: n > 1, body, [n, 0])[1]

    assert [int(steps(tf.constant(n))) for n in (1, 2, 3, 7, 27)] == [0, 1, 7, 16, 111]


def test_loops_that_only_hold_constants_are_constants():
    @tf.function
    def f(x):
        return x * tf.while_loop(lambda i: i < 5, lambda i: [i * 2], [tf.constant(1.0)])[0]

    x = tf.constant(3.0)
    assert f(x).numpy() == 24.0
    assert node_types(f, x) == ["Mul"]


def test_python_floats_stay_python_floats():
    def f(x):
        return tf.while_loop(
            lambda t, y: t < 1.0, lambda t, y: (t + 0.1, y * x), [0.0, tf.ones_like(x)]
        )

    same(f, [(1.5,), (2.0,)])


def test_bodies_that_print_or_draw(capfd):
    def run(wrap):
        tf.random.set_seed(3)

        @wrap
        def f(x, n):
            def body(i, y):
                tf.print("turn", i)
                return i + 1, y + tf.random.normal([])

            return tf.while_loop(lambda i, y: i < n, body, [0, x])[1]

        found = [f(tf.constant(1.0), tf.constant(n)).numpy() for n in (2, 0, 3, 2)]
        return found, capfd.readouterr().err

    assert run(tf.function) == run(lambda f: f)


def test_bodies_that_write_variables():
    def run(wrap):
        total = tf.Variable(0.0)

        @wrap
        def f(x, n):
            def body(i):
                total.assign_add(x)
                return [i + 1]

            tf.while_loop(lambda i: i < n, body, [0])
            return total.read_value()

        return [f(tf.constant(1.5), tf.constant(n)).numpy() for n in (2, 0, 3, 2)]

    assert run(tf.function) == run(lambda f: f)


def test_bodies_that_look_at_values():
    def f(x, n):
        def body(i, y):
            return i + 1, y * x if y < 3.0 else y - 1.0

        return tf.while_loop(lambda i, y: i < n, body, [0, x])[1]

    same(f, [(1.5, 0), (1.5, 1), (1.5, 4)])


def test_tape_in_a_body():
    def f(x, n):
        def body(i, y):
            with tf.GradientTape() as tape:
                tape.watch(y)
                z = tf.sin(y) * x
            return i + 1, y - 0.1 * tape.gradient(z, y)

        return tf.while_loop(lambda i, y: i < n, body, [0, x * 2.0])[1]

    same(f, [(1.5, 0), (1.5, 1), (1.5, 4)], types=["StatelessWhile"])


def test_lookups_in_a_body():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def f(ids, n):
        def body(i, y):
            return i + 1, y + tf.gather(table, ids[i]) * y

        return tf.while_loop(lambda i, y: i < n, body, [0, tf.ones(2)])[1]

    traced = tf.function(f)
    for n in (1, 3, 2):
        found = []
        for function in (f, traced):
            with tf.GradientTape() as tape:
                y = function(tf.constant([2, 0, 2]), tf.constant(n))
            found.append(tf.convert_to_tensor(tape.gradient(y, table)).numpy())
        np.testing.assert_array_equal(*found)


def test_an_error_in_a_later_turn():
    @tf.function
    def f(x, n):
        return tf.while_loop(
            lambda i, y: i < n, lambda i, y: (i + 1, y + tf.gather(x, i)), [0, x[0]]
        )[1]

    x = tf.constant([1.0, 2.0])
    assert f(x, tf.constant(2)).numpy() == 4.0
    for wrapped in (f, f.python_function):
        with pytest.raises((tf.errors.InvalidArgumentError, IndexError), match="is not in"):
            wrapped(x, tf.constant(3))


def test_a_body_of_another_structure():
    @tf.function
    def f(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1,), [0, x])

    with pytest.raises(ValueError, match="structure"):
        f(tf.constant(1.0))


def test_results_do_not_share_memory_with_arguments():
    @tf.function
    def f(x, n):
        y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 2.0), [0, x])[1]
        return tf.exp(-(y + 1.0)) + y

    x = tf.constant(np.ones(1000, np.float32))
    for n in (3, 0, 2, 0):
        f(x, tf.constant(n))
        assert (x.numpy() == 1.0).all()


def test_many_turns_are_one_node():
    @tf.function
    def f(x, n):
        return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y + x), [0, x])[1]

    assert f(tf.constant(1.0), tf.constant(20_000)).numpy() == 20_001.0
    assert node_types(f, tf.constant(1.0), tf.constant(20_000)) == ["StatelessWhile"]


def test_functions_called_in_a_body():
    @tf.function
    def inner(y, x):
        return tf.sin(y) * x

    def f(x, n):
        return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, inner(y, x)), [0, x + 1.0])[1]

    same(f, [(1.5, 0), (1.5, 1), (1.5, 4)], types=["StatelessWhile"])


def test_functions_that_decide_and_print_in_a_body(capfd):
    def run(wrap):
        @wrap
        def inner(y):
            tf.print("at", y)
            return y * 2.0 if y < 4.0 else y - 1.0

        @wrap
        def f(x, n):
            return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, inner(y)), [0, x])[1]

        found = [f(tf.constant(1.0), tf.constant(n)).numpy() for n in (2, 0, 4, 2)]
        return found, capfd.readouterr().err

    assert run(tf.function) == run(lambda f: f)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64", "complex64"])
def test_dtypes(dtype):
    def f(x, n):
        return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x + y), [0, x + x])[1]

    traced = tf.function(f)
    x = tf.cast(tf.constant([0.75, -0.5]), dtype)
    for n in (3, 0):
        found = []
        for function in (f, traced):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x, tf.constant(n))
            found.append((y, tape.gradient(y, x)))
        for a, b in zip(*found, strict=True):
            assert a.dtype == b.dtype == x.dtype
            np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_gradients_that_are_nan_only_where_they_are_in_eager():
    def f(x, n):
        def body(i, y):
            return i + 1, y + tf.where(x > 0.0, tf.sqrt(x), tf.zeros_like(x))

        return tf.while_loop(lambda i, y: i < n, body, [0, tf.zeros_like(x)])[1]

    x = tf.constant([0.0, 4.0])
    for nan_safe in (False, True):
        found = []
        for function in (f, tf.function(f)):
            with tf.GradientTape(nan_safe=nan_safe) as tape:
                tape.watch(x)
                y = function(x, tf.constant(2))
            found.append(tape.gradient(y, x).numpy())
        np.testing.assert_array_equal(*found)


def test_gradients_and_hessians_by_name():
    @tf.function
    def f(x, n):
        y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), [0, x])[1]
        return tf.gradients(y, x)[0], tf.hessians(tf.reduce_sum(y), x)[0]

    for n, first, second in ((1, [4.0, 6.0], [2.0, 2.0]), (3, [32.0, 108.0], [48.0, 108.0])):
        found = f(tf.constant([2.0, 3.0]), tf.constant(n))
        assert found[0].numpy().tolist() == first
        assert np.diag(found[1].numpy()).tolist() == second
