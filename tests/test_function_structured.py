"""cond, case and switch_case inside `tf.function`: one op each, and the results are those of eager.

Gradients of what only another branch has used are zeros, as in TensorFlow's graphs: whether there
is a gradient is a fact of the function, not of a call.
"""

import numpy as np
import pytest

import gradtape as tf
from structured_comparison import same


def test_cond():
    def f(p, x, y):
        return tf.cond(p, lambda: x * y, lambda: tf.sin(x) + 1.0)

    same(f, [(True, [1.0, 2.0], 3.0), (False, [1.0, 2.0], 3.0)], types=["StatelessIf"])


def test_cond_of_structures():
    def f(p, x):
        found = tf.cond(
            p, lambda: {"a": x, "b": (x * 2.0, 3 * tf.ones((), tf.int32))},
            lambda: {"a": -x, "b": (x * x, tf.zeros((), tf.int32))},
        )  # fmt: skip
        assert set(found) == {"a", "b"}
        assert type(found["b"]) is tuple
        return found["a"], found["b"]

    same(f, [(True, 2.0), (False, 2.0)], types=["StatelessIf"])


def test_cond_in_cond():
    def f(p, q, x):
        return tf.cond(p, lambda: tf.cond(q, lambda: x, lambda: x * x), lambda: tf.exp(x) * x)

    same(f, [(p, q, 1.5) for p in (True, False) for q in (True, False)], types=["StatelessIf"])


def test_cond_on_what_is_computed():
    def f(x):
        return tf.cond(tf.reduce_sum(x) > 1.0, lambda: x * 2.0, lambda: x / 3.0)

    same(f, [([1.0, 2.0],), ([0.1, 0.2],)], types=["StatelessIf"])


def test_cond_reads_variables():
    w, b = tf.Variable(2.0), tf.Variable([1.0, 1.0])

    def f(p, x):
        return tf.cond(p, lambda: x * w, lambda: x + b)

    traced = same(f, [(True, [1.0, 2.0]), (False, [1.0, 2.0])], types=["StatelessIf"])
    for p in (True, False):
        with tf.GradientTape() as tape:
            y = traced(tf.constant(p), tf.constant([1.0, 2.0]))
        assert {v.ref() for v in tape.watched_variables()} == {w.ref(), b.ref()}
        found = tape.gradient(y, [w, b])
        expected = [3.0, [0.0, 0.0]] if p else [0.0, [1.0, 1.0]]
        for g, e in zip(found, expected, strict=True):
            np.testing.assert_array_equal(g.numpy(), e)
    w.assign(5.0)
    assert traced(tf.constant(True), tf.constant([1.0, 2.0])).numpy().tolist() == [5.0, 10.0]


def test_variables_in_branches_are_watched_by_a_tape_inside():
    w = tf.Variable(2.0)

    @tf.function
    def f(p, x):
        with tf.GradientTape() as tape:
            y = tf.cond(p, lambda: x * w * w, lambda: x)
        return tape.gradient(y, w)

    assert f(tf.constant(True), tf.constant(3.0)).numpy() == 12.0
    assert f(tf.constant(False), tf.constant(3.0)).numpy() == 0.0


def test_cond_with_a_known_predicate_runs_one_branch():
    ran = []

    @tf.function
    def f(x):
        return tf.cond(tf.constant(True), lambda: ran.append("yes") or x, lambda: ran.append("no"))

    assert f(tf.constant(2.0)).numpy() == 2.0
    assert ran == ["yes"]


def test_branches_of_other_shapes_and_dtypes():
    def f(p, x):
        return tf.cond(p, lambda: x, lambda: tf.stack([x, x]))

    def g(p, x):
        return tf.cond(p, lambda: x, lambda: tf.cast(x, tf.int32))

    for function in (f, g):
        same(function, [(True, 2.0), (False, 2.0)])


def test_branches_that_return_python_values_or_nothing():
    @tf.function
    def f(p, x):
        found = tf.cond(p, lambda: 2.0, lambda: 3.0)
        tf.cond(p, lambda: None, lambda: None)
        return x * found

    for p, expected in ((True, 2.0), (False, 3.0), (True, 2.0)):
        assert f(tf.constant(p), tf.constant(1.0, tf.float64)).numpy() == expected


def test_branches_that_write_variables():
    def run(wrap):
        count, total = tf.Variable(0), tf.Variable(0.0)

        @wrap
        def f(p, x):
            return tf.cond(
                p, lambda: (count.assign_add(1), total.assign_add(x))[1], lambda: total - x
            )

        results = [f(tf.constant(p), tf.constant(x)).numpy() for p, x in CALLS]
        return results, count.numpy(), total.numpy()

    CALLS = [(True, 1.0), (False, 2.0), (True, 3.0), (True, 4.0), (False, 5.0)]
    assert run(tf.function) == run(lambda f: f)


def test_branches_that_print(capfd):
    @tf.function
    def f(p, x):
        return tf.cond(p, lambda: (tf.print("yes", x), x)[1], lambda: (tf.print("no"), -x)[1])

    for p in (True, False, True, False):
        f(tf.constant(p), tf.constant(1.0))
    assert capfd.readouterr().err.split() == ["yes", "1", "no", "yes", "1", "no"]


def test_random_numbers_in_branches():
    def run(wrap):
        tf.random.set_seed(7)

        @wrap
        def f(p, x):
            return tf.cond(p, lambda: x + tf.random.uniform([2]), lambda: x * tf.ones(2))

        calls = [True, False, True, True]
        return [f(tf.constant(p), tf.constant(1.0)).numpy().tolist() for p in calls]

    assert run(tf.function) == run(lambda f: f)


def test_a_branch_that_would_fail_is_not_run():
    def f(i, x):
        return tf.cond(
            i < 3, lambda: tf.gather(x, i), lambda: tf.debugging.check_numerics(x[0], "x")
        )

    same(f, [(1, [1.0, 2.0, 3.0]), (5, [1.0, 2.0, 3.0]), (2, [1.0, 2.0, 3.0])])


def test_a_branch_that_fails_raises_what_it_raises():
    traced = tf.function(lambda i, x: tf.cond(i > 0, lambda: tf.gather(x, i), lambda: x[0]))
    x = tf.constant([1.0, 2.0])
    assert traced(tf.constant(1), x).numpy() == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"not in \[0, 2\)"):
        traced(tf.constant(2), x)
    assert traced(tf.constant(0), x).numpy() == 1.0


def test_untaken_branch_gives_no_nan():
    def f(x):
        return tf.cond(x > 0.0, lambda: tf.sqrt(x), lambda: x * 0.0)

    same(f, [(4.0,), (-1.0,)], types=["StatelessIf"])


def test_case():
    def f(n, x):
        return tf.case(
            [(n > 10, lambda: x * 2.0), (n > 5, lambda: x * x), (n > 0, lambda: tf.sin(x))],
            default=lambda: -x,
        )

    same(f, [(n, 1.5) for n in (20, 7, 3, -1)], types=["StatelessCase"])


def test_case_without_a_default():
    @tf.function
    def f(n, x):
        return tf.case([(n > 10, lambda: x * 2.0), (n > 5, lambda: x * x)])

    assert f(tf.constant(7), tf.constant(3.0)).numpy() == 9.0
    assert f(tf.constant(17), tf.constant(3.0)).numpy() == 6.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions"):
        f(tf.constant(1), tf.constant(3.0))


@pytest.mark.parametrize("default", [None, lambda: tf.constant(0.5)])
def test_switch_case(default):
    def f(i, x):
        branches = [lambda: x * 2.0, lambda: x * x, lambda: tf.exp(x)]
        return tf.switch_case(i, branches, default=default)

    same(f, [(i, 1.5) for i in (0, 1, 2, 3, -1)], types=["StatelessCase"])


def test_complex_branches():
    def f(p, x):
        z = tf.complex(x, 2.0 * x)
        w = tf.cond(p, lambda: z * z, lambda: tf.exp(z))
        return tf.math.real(w), tf.math.imag(w)

    same(f, [(True, 0.5), (False, 0.5)], types=["StatelessIf"])


def test_constants_that_a_tape_follows():
    c = tf.constant(3.0)

    @tf.function
    def f(p, x):
        with tf.GradientTape() as tape:
            tape.watch(c)
            y = tf.cond(p, lambda: x * c * c, lambda: x * c)
        return tape.gradient(y, c)

    assert f(tf.constant(True), tf.constant(2.0)).numpy() == 12.0
    assert f(tf.constant(False), tf.constant(2.0)).numpy() == 2.0


def test_custom_gradient_in_a_branch():
    @tf.custom_gradient
    def twice(x):
        return x * 1.0, lambda g: 2.0 * g * x

    def f(p, x):
        return tf.cond(p, lambda: twice(x), lambda: x)

    same(f, [(True, 2.0), (False, 2.0)])


def test_a_function_that_calls_itself_in_a_branch():
    @tf.function
    def factorial(n):
        return tf.cond(n <= 1, lambda: tf.ones((), tf.int32), lambda: n * factorial(n - 1))

    assert [int(factorial(tf.constant(n))) for n in (1, 3, 10, 5)] == [1, 6, 3628800, 120]


def test_branches_are_printed_with_their_graph():
    @tf.function
    def f(p, x):
        first = tf.cond(p, lambda: tf.sin(x), lambda: tf.cos(x))
        return tf.cond(p, lambda: tf.exp(first), lambda: first)

    graph = f.get_concrete_function(tf.constant(True), tf.constant(1.0)).graph
    text = graph.verify().as_text()
    assert text.count("graph branch_") == 4
    for op_type in ("Sin(", "Cos(", "Exp(", "StatelessIf("):
        assert op_type in text
    assert "form=branch_0, branch_1)" in text


def test_gradients_of_lookups_in_branches_are_sparse_if_they_are_alike():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def alike(p, x):
        return tf.cond(
            p, lambda: tf.gather(table, [0, 2, 0]) * x, lambda: tf.gather(table, [1, 1, 1]) * x * x
        )

    def unlike(p, x):
        return tf.cond(
            p, lambda: tf.gather(table, [0, 2, 0]) * x, lambda: tf.gather(table * x, [1, 1, 1])
        )

    def one_sided(p, x):
        return tf.cond(p, lambda: tf.gather(table, [0, 2, 0]) * x, lambda: x * tf.ones((3, 2)))

    for f, sparse in ((alike, True), (unlike, False), (one_sided, False)):
        traced = same(f, [(True, 2.0), (False, 2.0)], types=["StatelessIf"])
        for p in (True, False):
            found = []
            for function in (f, traced):
                with tf.GradientTape() as outer, tf.GradientTape() as tape:
                    y = function(tf.constant(p), tf.constant(2.0))
                    grad = tape.gradient(y * y, table, unconnected_gradients="zero")
                dense = tf.convert_to_tensor(grad)
                found.append((grad, dense, outer.jacobian(dense, table)))
            np.testing.assert_array_equal(found[0][1].numpy(), found[1][1].numpy())
            if found[0][2] is not None:
                np.testing.assert_array_equal(found[0][2].numpy(), found[1][2].numpy())
            assert isinstance(found[1][0], tf.IndexedSlices) == sparse
