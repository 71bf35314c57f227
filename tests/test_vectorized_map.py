"""vectorized_map: a function of one element, applied to all at once."""

import numpy as np
import pytest

import gradtape as tf

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def assert_tensor(got, want, dtype="float32"):
    want = np.asarray(want)
    assert (tuple(got.shape), got.dtype.name) == (want.shape, dtype)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-6)


def different_rows(function, elems=X):
    """How many different results there are among those of all elements."""
    return len(np.unique(tf.vectorized_map(function, tf.constant(elems)).numpy(), axis=0))


class TestStructures:
    def test_of_one_tensor(self):
        assert_tensor(tf.vectorized_map(lambda row: row * row, tf.constant(X)), X**2)

    def test_the_function_sees_one_element(self):
        def function(row):
            assert row.shape == (2,)
            assert row.dtype == tf.float32
            return tf.reduce_sum(row) + float(row.shape[0])

        assert_tensor(tf.vectorized_map(function, tf.constant(X)), X.sum(1) + 2)

    def test_in_and_out(self):
        found = tf.vectorized_map(
            lambda e: (e["a"] * 2.0, [e["b"] + 1, {"z": e["a"][0]}]),
            {"a": tf.constant(X), "b": tf.range(3)},
        )
        assert_tensor(found[0], X * 2)
        assert_tensor(found[1][0], [1, 2, 3], "int32")
        assert_tensor(found[1][1]["z"], X[:, 0])

    @pytest.mark.parametrize("elems", [X, tf.Variable(X)], ids=["array", "variable"])
    def test_takes_what_is_not_a_tensor_yet(self, elems):
        assert_tensor(tf.vectorized_map(lambda row: row * 2.0, elems), X * 2)

    def test_repeats_results_that_do_not_depend_on_the_element(self):
        found = tf.vectorized_map(lambda row: (tf.constant([7.0]), 1.0), tf.constant(X))
        assert_tensor(found[0], [[7]] * 3)
        assert_tensor(found[1], [1, 1, 1])

    def test_none_stays_none(self):
        assert tf.vectorized_map(lambda row: None, tf.constant(X)) is None
        found = tf.vectorized_map(lambda row: (row, None), tf.constant(X))
        assert_tensor(found[0], X)
        assert found[1] is None

    def test_elements_of_length_one_are_shared(self):
        pair = (tf.constant(X), tf.constant([[5.0, 7.0]]))
        assert_tensor(tf.vectorized_map(lambda e: e[0] * e[1], pair), X * [5, 7])

    def test_if_all_are_of_length_one_there_is_one_element(self):
        pair = (tf.constant(X[:1]), tf.constant([[5.0, 7.0]]))
        assert_tensor(tf.vectorized_map(lambda e: e[0] * e[1], pair), X[:1] * [5, 7])

    def test_no_elements(self):
        assert_tensor(tf.vectorized_map(lambda row: row * 2.0, tf.zeros((0, 2))), np.zeros((0, 2)))

    @pytest.mark.beyond_tensorflow
    def test_no_elements_beside_a_shared_one(self):
        pair = (tf.zeros((0, 2)), tf.ones((1, 2)))
        assert_tensor(tf.vectorized_map(lambda e: e[0] * e[1], pair), np.zeros((0, 2)))

    def test_indices_that_differ(self):
        picked = tf.vectorized_map(lambda i: tf.gather(X, i), tf.constant([0, 2]))
        assert_tensor(picked, X[[0, 2]])
        picked = tf.vectorized_map(lambda i: tf.constant(X)[i], tf.constant([0, 2]))
        assert_tensor(picked, X[[0, 2]])

    def test_nested(self):
        found = tf.vectorized_map(
            lambda row: tf.vectorized_map(lambda e: e * tf.reduce_sum(row), row), tf.constant(X)
        )
        assert_tensor(found, X * X.sum(1, keepdims=True))

    @pytest.mark.beyond_tensorflow
    def test_iterating_over_an_element(self):
        assert_tensor(tf.vectorized_map(lambda row: sum(list(row)), tf.constant(X)), X.sum(1))


class TestDerivatives:
    def test_tape_inside(self):
        w = tf.Variable([1.0, 2.0])

        def gradients(row):
            with tf.GradientTape() as tape:
                tape.watch(row)
                y = tf.reduce_sum(w * row) ** 2
            return tape.gradient(y, [row, w])

        of_row, of_w = tf.vectorized_map(gradients, tf.constant(X))
        inner = 2 * (X @ [1, 2])[:, None]
        assert_tensor(of_row, inner * [1, 2])
        assert_tensor(of_w, inner * X)

    def test_tape_outside(self):
        x, w = tf.constant(X), tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.vectorized_map(lambda row: row * tf.reduce_sum(w * row), x)
        of_x, of_w = tape.gradient(y, [x, w])
        sums = X.sum(1, keepdims=True)
        assert_tensor(of_x, X @ [[1], [2]] + sums * [1, 2])
        assert_tensor(of_w, (sums * X).sum(0))

    def test_jacobian_inside(self):
        def jacobian(row):
            with tf.GradientTape() as tape:
                tape.watch(row)
                y = row * tf.reduce_sum(row)
            return tape.jacobian(y, row)

        found = tf.vectorized_map(jacobian, tf.constant(X))
        assert_tensor(found, X.sum(1)[:, None, None] * np.eye(2) + X[:, :, None])

    @pytest.mark.beyond_tensorflow
    def test_jacobian_inside_in_chunks(self):
        def jacobian(row):
            with tf.GradientTape() as tape:
                tape.watch(row)
                y = row * tf.reduce_sum(row)
            return tape.jacobian(y, row, parallel_iterations=1)

        found = tf.vectorized_map(jacobian, tf.constant(X))
        assert_tensor(found, X.sum(1)[:, None, None] * np.eye(2) + X[:, :, None])

    def test_jacobian_outside(self):
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = tf.vectorized_map(lambda row: row * tf.reduce_sum(w * row), tf.constant(X))
        assert_tensor(tape.jacobian(y, w), X[:, :, None] * X[:, None, :])

    def test_hessian_inside(self):
        def hessian(row):
            with tf.GradientTape() as outer:
                outer.watch(row)
                with tf.GradientTape() as inner:
                    inner.watch(row)
                    y = tf.reduce_sum(row) ** 3
                gradient = inner.gradient(y, row)
            return outer.jacobian(gradient, row)

        found = tf.vectorized_map(hessian, tf.constant(X))
        assert_tensor(found, np.broadcast_to(6 * X.sum(1)[:, None, None], (3, 2, 2)))

    def test_gradient_through_nested_maps(self):
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.vectorized_map(lambda row: tf.vectorized_map(lambda e: e**3, row), x)
        assert_tensor(tape.gradient(y, x), 3 * X**2)


class TestRandomNumbers:
    @pytest.mark.parametrize(
        "function",
        [
            lambda row: tf.random.uniform([4]),
            lambda row: tf.random.uniform([8], 0, 100000, tf.int32),
            lambda row: tf.random.normal([4]),
            lambda row: tf.random.normal([4], mean=1.0, stddev=tf.constant([1.0, 2.0, 3.0, 4.0])),
            lambda row: tf.random.truncated_normal([4]),
            lambda row: tf.random.gamma([4], 2.0),
            lambda row: tf.random.poisson([8], 1000.0),
            lambda row: tf.random.categorical(tf.zeros([1, 1000]), 8),
            lambda row: tf.random.shuffle(tf.range(50)),
            lambda row: tf.nn.dropout(tf.ones([60]), 0.5),
            lambda row: tf.random.uniform([]),
        ],
        ids=[
            "uniform", "integers", "normal", "scaled", "truncated", "gamma", "poisson",
            "categorical", "shuffle", "dropout", "scalar",
        ],
    )  # fmt: skip
    def test_differ_between_elements(self, function):
        assert different_rows(function) == 3

    def test_of_a_generator_differ_too(self):
        generator = tf.random.Generator.from_seed(1)
        assert different_rows(lambda row: generator.normal([4])) == 3

    def test_of_one_stateless_seed_are_the_same(self):
        found = tf.vectorized_map(
            lambda row: tf.random.stateless_normal([4], [1, 2]), tf.constant(X)
        )
        assert_tensor(found, [tf.random.stateless_normal([4], [1, 2]).numpy()] * 3)

    def test_of_stateless_seeds_that_differ(self):
        seeds = tf.constant([[1, 2], [3, 4]])
        found = tf.vectorized_map(
            lambda seed: tf.random.stateless_normal([4], seed), seeds, warn=False
        )
        want = [tf.random.stateless_normal([4], seed).numpy() for seed in seeds]
        assert_tensor(found, want)

    def test_with_parameters_that_differ(self):
        means = tf.constant([0.0, 1000.0, 2000.0])
        found = tf.vectorized_map(lambda mean: tf.random.normal([4], mean=mean), means)
        np.testing.assert_array_less(np.abs(found.numpy() - means.numpy()[:, None]), 10)
        rates = tf.vectorized_map(lambda rate: tf.random.poisson([4], rate), means + 1.0)
        away = np.abs(rates.numpy() - means.numpy()[:, None] - 1)
        assert np.all(away < [[12], [300], [400]])
        logits = tf.constant([[[0.0, -1e9]], [[-1e9, 0.0]]])
        classes = tf.vectorized_map(lambda row: tf.random.categorical(row, 3), logits)
        assert_tensor(classes, [[[0, 0, 0]], [[1, 1, 1]]], "int64")

    def test_differ_in_nested_maps(self):
        found = tf.vectorized_map(
            lambda row: tf.vectorized_map(lambda e: tf.random.normal([]) + 0.0 * e, row),
            tf.constant(X),
        )
        assert found.shape == (3, 2)
        assert len(np.unique(found.numpy())) == 6

    @pytest.mark.beyond_tensorflow
    def test_are_those_of_a_loop(self):
        tf.random.set_seed(5)
        found = tf.vectorized_map(lambda row: row + tf.random.normal([2]), tf.constant(X))
        tf.random.set_seed(5)
        want = [(row + tf.random.normal([2])).numpy() for row in tf.constant(X)]
        assert_tensor(found, want)

    def test_for_no_elements(self):
        found = tf.vectorized_map(lambda row: tf.random.normal([4]), tf.zeros((0, 2)))
        assert_tensor(found, np.zeros((0, 4)))

    def test_pass_gradients_to_their_parameters(self):
        def gradient(mean):
            with tf.GradientTape() as tape:
                tape.watch(mean)
                y = tf.random.normal([4], mean=mean)
            return tape.gradient(y, mean)

        assert_tensor(tf.vectorized_map(gradient, tf.constant([1.0, 2.0])), [4, 4])


@pytest.mark.beyond_tensorflow
class TestLoop:
    """What TensorFlow's map refuses, or passes op by op, goes element by element here."""

    @staticmethod
    def double_the_large(row):
        return row * 2.0 if row[0] > 1.0 else row

    def test_takes_over_if_the_function_needs_values(self, logs):
        found = tf.vectorized_map(self.double_the_large, tf.constant(X))
        assert_tensor(found, X * [[1], [2], [2]])
        assert len(logs) == 1
        assert logs[0].startswith("WARNING:Using a loop for vectorized_map: A tensor of shape ()")

    def test_is_silent_if_asked_to_be(self, logs):
        tf.vectorized_map(self.double_the_large, tf.constant(X), warn=False)
        assert logs == []

    def test_does_not_if_not_allowed(self, logs):
        with pytest.raises(TypeError, match=r"Use tf\.where instead of `if`"):
            tf.vectorized_map(self.double_the_large, tf.constant(X), fallback_to_while_loop=False)
        assert logs == []

    def test_shares_elements_of_length_one_and_keeps_structures(self, logs):
        found = tf.vectorized_map(
            lambda e: {"sum": e[0] + float(e[1][0]), "none": None},
            (tf.constant(X), tf.constant([[5.0, 7.0]])),
        )
        assert_tensor(found["sum"], X + 5)
        assert found["none"] is None

    def test_numbers_an_op_must_know(self, logs):
        masks = tf.constant([[True, False], [False, True]])
        assert_tensor(tf.vectorized_map(tf.where, masks), [[[0]], [[1]]], "int64")
        assert len(logs) == 1

    def test_of_a_map_inside_a_map(self, logs):
        def outer(row):
            return tf.vectorized_map(lambda e: e * 2.0 if e > 1.0 else e, row)

        found = tf.vectorized_map(outer, tf.constant(X))
        assert_tensor(found, [[0, 1], [4, 6], [8, 10]])

    def test_results_are_those_at_the_time(self, logs):
        v = tf.Variable(0.0)
        found = tf.vectorized_map(lambda row: v.assign(row[0]), tf.constant(X))
        assert_tensor(found, X[:, 0])

    def test_gradients_pass(self, logs):
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.vectorized_map(self.double_the_large, x)
        assert_tensor(tape.gradient(y, x), [[1, 1], [2, 2], [2, 2]])

    def test_an_error_of_the_function_itself_is_not_blamed_on_the_map(self, logs):
        def function(row):
            raise TypeError("its own")

        with pytest.raises(TypeError, match="its own"):
            tf.vectorized_map(function, tf.constant(X))
        assert logs == []


class TestBadArguments:
    def test_a_scalar(self):
        with pytest.raises(IndexError):
            tf.vectorized_map(lambda e: e, tf.constant(1.0))

    @pytest.mark.beyond_tensorflow
    def test_for_which_the_error_says_what_is_needed(self):
        with pytest.raises(ValueError, match="takes tensors with a first axis"):
            tf.vectorized_map(lambda e: e, tf.constant(1.0))

    def test_nothing(self):
        with pytest.raises(ValueError):  # noqa: PT011 - TensorFlow's text says nothing
            tf.vectorized_map(lambda e: 1.0, [])

    @pytest.mark.beyond_tensorflow  # which leaves out elements
    def test_lengths_that_differ(self):
        with pytest.raises(ValueError, match=r"first axes of one length. Received: \[2, 3\]"):
            tf.vectorized_map(lambda e: e[0], (tf.constant(X), tf.ones((2, 2))))

    @pytest.mark.parametrize("rows", [2, 3])
    def test_elements_that_do_not_suit_an_op(self, rows):
        # With the hidden axis they would: two matrices instead of two vectors.
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=r"rank 2|ndims"):
            tf.vectorized_map(lambda row: tf.matmul(row, row), tf.constant(X[:rows]))

    def test_an_error_leaves_no_trace(self):
        def function(row):
            raise KeyError("stop")

        with pytest.raises(KeyError, match="stop"):
            tf.vectorized_map(function, tf.constant(X))
        assert tf.random.normal([4]).shape == (4,)
        assert_tensor(tf.vectorized_map(lambda row: row + 1.0, tf.constant(X)), X + 1)

    @pytest.mark.beyond_tensorflow
    def test_shapes_in_messages_are_those_of_elements(self):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"shapes: \[2\] vs. \[3\]"):
            tf.vectorized_map(lambda e: e[0] + e[1], (tf.constant(X), tf.ones((3, 3))))


UPDATES = {
    "assign_add": lambda v, x: v.assign_add(1.0),
    "assign": lambda v, x: v.assign(x),
    "assign_sub": lambda v, x: v.assign_sub(tf.constant(-1.0)),
}


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
def test_a_variable_cannot_be_assigned_for_all_elements_at_once(update):
    v = tf.Variable(0.0)
    with pytest.raises(ValueError, match="cannot be assigned inside vectorized_map"):
        tf.vectorized_map(lambda x: update(v, x), tf.ones(3), fallback_to_while_loop=False)
    assert v.numpy() == 0.0


@pytest.mark.beyond_tensorflow
def test_but_the_loop_assigns_it_for_each():
    v = tf.Variable(0.0)
    tf.vectorized_map(lambda x: v.assign_add(1.0) * x, tf.ones(3), warn=False)
    assert v.numpy() == 3.0


def test_a_range_of_each_length_goes_by_a_loop():
    found = tf.vectorized_map(
        lambda n: tf.reduce_sum(tf.range(n)), tf.constant([2, 3, 4]), warn=False
    )
    assert found.numpy().tolist() == [1, 3, 6]
