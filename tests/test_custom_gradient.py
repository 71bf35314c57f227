"""custom_gradient: what functions are given, and what rules return."""

import numpy as np
import pytest

import gradtape as tf


def values(gradients):
    return [None if g is None else g.numpy().tolist() for g in gradients]


@tf.custom_gradient
def product(x, y):
    """A product whose rule gives 5 and 7 times what is right."""
    return x * y, lambda g: (g * y * 5.0, g * x * 7.0)


@pytest.fixture
def x():
    return tf.constant(3.0)


@pytest.fixture
def y():
    return tf.constant(2.0)


class TestArguments:
    def test_the_rule_replaces_the_gradient(self, x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = product(x, y)
        assert float(z) == 6.0
        assert values(tape.gradient(z, [x, y])) == [10.0, 21.0]

    def test_the_function_gets_its_arguments_as_they_are(self, x):
        seen = []

        @tf.custom_gradient
        def f(a, number, word, array, other=None):
            seen.extend([a, number, word, array, other])
            return a * 1.0, lambda g: (g * 7.0, None, None, None)

        array = np.ones(2)
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x, 2, "word", array, other=4)
        assert seen[0] is x
        assert seen[1:3] == [2, "word"]
        assert seen[3] is array
        assert seen[4] == 4
        assert float(tape.gradient(z, x)) == 7.0

    def test_python_numbers_by_position_count(self, x):
        @tf.custom_gradient
        def f(a, b):
            return a * b, lambda g: g

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x, 2.0)
        with pytest.raises(ValueError, match="expected to return 2 gradients, but returned 1"):
            tape.gradient(z, x)

    def test_none_by_position(self, x):
        @tf.custom_gradient
        def f(a, b):
            return a * 1.0, lambda g: (g, None)

        with pytest.raises(ValueError, match=r"Attempt to convert a value \(None\)"):
            f(x, None)

    def test_keywords_get_no_gradient_from_a_rule_that_does_not_know_them(self, x, y):
        @tf.custom_gradient
        def f(a, scale):
            return a * scale, lambda g: g * 5.0

        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = f(x, scale=y)
        assert values(tape.gradient(z, [x, y])) == [5.0, None]

    def test_structures(self):
        @tf.custom_gradient
        def f(pair):
            result = {"p": pair["a"] * 1.0, "q": (pair["b"] * 1.0,)}
            return result, lambda gp, gq: {"a": gp * 5.0, "b": gq * 6.0}

        a, b = tf.constant(1.0), tf.constant(2.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([a, b])
            z = f({"a": a, "b": b})
        assert z["q"][0].numpy() == 2.0
        assert values(tape.gradient(z, [a, b])) == [5.0, 6.0]
        assert values(tape.gradient(z["p"], [a, b])) == [5.0, 0.0]

    def test_methods(self, x):
        class Scale:
            factor = 4.0

            @tf.custom_gradient
            def __call__(self, a):
                return a * self.factor, lambda g: g * self.factor * 10.0

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = Scale()(x)
        assert float(z) == 12.0
        assert float(tape.gradient(z, x)) == 40.0

    def test_the_name_and_docstring_are_kept(self):
        assert product.__name__ == "product"
        assert product.__doc__.startswith("A product")

    def test_with_empty_parentheses(self, x):
        @tf.custom_gradient()
        def f(a):
            return a * 1.0, lambda g: g * 9.0

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x)
        assert float(tape.gradient(z, x)) == 9.0


@pytest.mark.beyond_tensorflow
class TestKeywords:
    """TensorFlow ignores the rule of a function that is called with keywords only."""

    def test_only_keywords(self, x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = product(y=y, x=x)
        assert values(tape.gradient(z, [x, y])) == [10.0, 21.0]

    def test_some_keywords(self, x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = product(x, y=y)
        assert values(tape.gradient(z, [x, y])) == [10.0, 21.0]

    def test_python_numbers_may_count_as_they_do_by_position(self, x):
        @tf.custom_gradient
        def power(a, n):
            return a**n, lambda g: (g * 100.0, None)

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = power(n=2, a=x)
        assert float(z) == 9.0
        assert float(tape.gradient(z, x)) == 100.0

    def test_names_the_signature_does_not_list(self, x, y):
        @tf.custom_gradient
        def total(**parts):
            return parts["a"] + parts["b"], lambda g: (g * 5.0, g * 6.0)

        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = total(a=x, b=y)
        assert values(tape.gradient(z, [x, y])) == [5.0, 6.0]

    def test_a_variable(self):
        v, w = tf.Variable(3.0), tf.Variable(2.0)
        with tf.GradientTape() as tape:
            z = product(x=v, y=w)
        assert values(tape.gradient(z, [v, w])) == [10.0, 21.0]

    def test_too_few_gradients(self, x, y):
        @tf.custom_gradient
        def f(a, b):
            return a * b, lambda g: g

        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = f(a=x, b=y)
        with pytest.raises(ValueError, match="expected to return 2 gradients, but returned 1"):
            tape.gradient(z, x)


class TestVariables:
    def test_captured_ones_come_as_an_argument_of_the_rule(self, x):
        v = tf.Variable(2.0)
        seen = []

        @tf.custom_gradient
        def f(a):
            def grad(g, variables=None):
                seen.append(variables)
                return g * 5.0, [g * 6.0]

            return a * v, grad

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x)
        assert values(tape.gradient(z, [x, v])) == [5.0, 6.0]
        assert len(seen) == 1
        assert len(seen[0]) == 1
        assert seen[0][0] is v

    def test_through_keyword_only_and_any_keywords(self, x):
        v = tf.Variable(2.0)

        @tf.custom_gradient
        def keyword_only(a):
            def grad(g, *, variables):
                return g, [g * 6.0]

            return a * v, grad

        @tf.custom_gradient
        def any_keywords(a):
            def grad(g, **options):
                return g, [g * 7.0 for _ in options["variables"]]

            return a * v, grad

        for f, expected in [(keyword_only, 6.0), (any_keywords, 7.0)]:
            with tf.GradientTape() as tape:
                z = f(x)
            assert float(tape.gradient(z, v)) == expected

    def test_by_position_they_are_arguments(self):
        v, w = tf.Variable(2.0), tf.Variable(3.0)

        @tf.custom_gradient
        def f(a):
            return a * v * w, lambda g, variables: (g * 5.0, [g * 6.0 for _ in variables])

        with tf.GradientTape() as tape:
            z = f(v)
        assert values(tape.gradient(z, [v, w])) == [5.0, 6.0]

    def test_a_rule_that_does_not_take_them(self, x):
        v = tf.Variable(2.0)

        @tf.custom_gradient
        def f(a):
            return a * v, lambda g: g

        message = "must accept keyword argument 'variables', since function uses variables: .*tf.Va"
        with pytest.raises(TypeError, match=message):
            f(x)

    def test_those_that_are_not_trainable_do_not_count(self, x):
        v = tf.Variable(2.0, trainable=False)

        @tf.custom_gradient
        def f(a):
            return a * v, lambda g: g * 5.0

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x)
        assert float(tape.gradient(z, x)) == 5.0

    def test_none_for_a_variable(self, x):
        v = tf.Variable(2.0)

        @tf.custom_gradient
        def f(a):
            return a * v, lambda g, variables: (g, [None])

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x)
        assert values(tape.gradient(z, [x, v])) == [1.0, None]

    def test_the_wrong_number(self, x):
        v = tf.Variable(2.0)

        @tf.custom_gradient
        def f(a):
            return a * v, lambda g, variables: (g, [])

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x)
        with pytest.raises(ValueError, match="Must return gradient for each variable"):
            tape.gradient(z, v)

    def test_an_empty_list_where_there_are_none(self, x):
        @tf.custom_gradient
        def f(a):
            return a * 1.0, lambda g, variables=None: (g * 2.0, [])

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x)
        assert float(tape.gradient(z, x)) == 2.0

    def test_of_an_inner_custom_gradient_reach_the_outer_rule(self, x):
        v = tf.Variable(2.0)

        @tf.custom_gradient
        def inner(a):
            return a * v, lambda g, variables: (g, [g])

        @tf.custom_gradient
        def outer(a):
            return inner(a) * 1.0, lambda g, variables: (g * 5.0, [g * 6.0 for _ in variables])

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = outer(x)
        assert values(tape.gradient(z, [x, v])) == [5.0, 6.0]


class TestResults:
    def test_a_result_is_a_new_tensor(self, x):
        @tf.custom_gradient
        def same(a):
            return a, lambda g: g * 5.0

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = same(x)
        assert z is not x
        assert float(tape.gradient(z, x)) == 5.0

    def test_python_numbers_become_tensors(self, x):
        @tf.custom_gradient
        def f(a):
            return 4.0, lambda g: g * 9.0

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x)
        assert float(z) == 4.0
        assert float(tape.gradient(z, x)) == 9.0

    def test_unused_outputs_give_zeros(self, x):
        seen = []

        @tf.custom_gradient
        def f(a):
            def grad(g, h):
                seen.append((g.numpy().tolist(), h.numpy().tolist(), h.shape.as_list()))
                return g + tf.reduce_sum(h)

            return (a * 1.0, tf.stack([a, a])), grad

        with tf.GradientTape() as tape:
            tape.watch(x)
            z, _ = f(x)
        assert float(tape.gradient(z, x)) == 1.0
        assert seen == [(1.0, [0.0, 0.0], [2])]

    def test_integer_outputs(self, x):
        @tf.custom_gradient
        def f(a):
            return (a * 1.0, tf.constant(4)), lambda g, h: g * 5.0 + tf.cast(h, tf.float32)

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x)
        assert float(tape.gradient(z, x)) == 6.0

    def test_none_as_a_gradient(self, x, y):
        @tf.custom_gradient
        def f(a, b):
            return a * b, lambda g: (None, g * 5.0)

        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = f(x, y)
        assert values(tape.gradient(z, [x, y])) == [None, 5.0]

    @pytest.mark.parametrize("through_another_op", [False, True])
    def test_indexed_slices_as_a_gradient(self, through_another_op):
        @tf.custom_gradient
        def rows(a):
            def grad(g):
                return tf.IndexedSlices(g * 5.0, tf.constant([0, 0]), tf.constant([3]))

            return tf.gather(a, [0, 0]), grad

        a = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            tape.watch(a)
            z = rows(a * 2.0 if through_another_op else a)
        gradient = tape.gradient(z, a)
        if through_another_op:
            assert gradient.numpy().tolist() == [20.0, 0.0, 0.0]
        else:
            assert gradient.values.numpy().tolist() == [5.0, 5.0]
            assert gradient.indices.numpy().tolist() == [0, 0]

    def test_a_result_that_is_not_a_pair(self, x):
        @tf.custom_gradient
        def f(a):
            return a * 1.0

        with pytest.raises(TypeError, match="Cannot iterate over a scalar tensor"):
            f(x)

    def test_a_rule_that_is_no_function(self, x):
        @tf.custom_gradient
        def f(a):
            return a * 1.0, None

        with pytest.raises(TypeError):
            f(x)


@pytest.mark.beyond_tensorflow
class TestWrongShapes:
    """TensorFlow hands on a gradient of any shape."""

    def test_of_an_argument(self, x):
        @tf.custom_gradient
        def scaled(a, b):
            return a * 1.0, lambda g: (g, tf.constant([1.0, 2.0]))

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = scaled(x, x)
        message = r"scaled .*argument #1, \(\)\. Received: shape \(2,\)"
        with pytest.raises(ValueError, match=message):
            tape.gradient(z, x)

    def test_of_a_variable(self, x):
        v = tf.Variable([2.0, 3.0], name="weights")

        @tf.custom_gradient
        def scaled(a):
            return a * v, lambda g, variables: (tf.reduce_sum(g), [tf.reduce_sum(g)])

        with tf.GradientTape() as tape:
            z = scaled(x)
        message = r"scaled .*variable weights:0, \(2,\)\. Received: shape \(\)"
        with pytest.raises(ValueError, match=message):
            tape.gradient(z, v)

    def test_of_indexed_slices(self):
        @tf.custom_gradient
        def rows(a):
            return a * 1.0, lambda g: tf.IndexedSlices(g, tf.constant([0, 1]), tf.constant([5]))

        a = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(a)
            z = rows(a)
        with pytest.raises(ValueError, match=r"rows .*#0, \(2,\)\. Received: shape \(5,\)"):
            tape.gradient(z, a)

    def test_the_number_comes_with_the_name_of_the_function(self, x):
        @tf.custom_gradient
        def scaled(a):
            return a * 1.0, lambda g: (g, g)

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = scaled(x)
        with pytest.raises(ValueError, match=r"but returned 2 instead.*of scaled"):
            tape.gradient(z, x)
