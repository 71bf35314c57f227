"""GradientTape.batch_jacobian: the jacobian of each example of a batch."""

from typing import Any

import numpy as np
import pytest

import gradtape as tf

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def batch_jacobian_of(function, point: Any = X, persistent=False, **options):
    source = tf.convert_to_tensor(point)
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(source)
        target = function(source)
    return tape.batch_jacobian(target, source, **options)


def square(x):
    return x * x


def each_diagonal(rows):
    return np.stack([np.diag(row) for row in rows])


def assert_tensor(got, want, dtype="float32"):
    want = np.asarray(want)
    assert (tuple(got.shape), got.dtype.name) == (want.shape, dtype)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-6)


class TestShapes:
    def test_is_batch_and_target_and_source(self):
        found = batch_jacobian_of(lambda x: tf.einsum("bi,bj->bij", x, x))
        eye = np.eye(2)
        want = np.einsum("ik,bj->bijk", eye, X) + np.einsum("bi,jk->bijk", X, eye)
        assert_tensor(found, want)

    def test_of_sources_of_higher_rank(self):
        x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
        found = batch_jacobian_of(lambda x: tf.reduce_sum(x**2, 1), x)
        assert_tensor(found, np.einsum("bij,jk->bkij", 2 * x, np.eye(2)))

    def test_is_the_diagonal_of_the_jacobian(self):
        x = tf.constant(X)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.sin(tf.matmul(x, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
        whole = tape.jacobian(y, x).numpy()
        assert_tensor(tape.batch_jacobian(y, x), np.einsum("bibk->bik", whole))

    def test_adds_up_what_crosses_between_examples(self):
        found = batch_jacobian_of(lambda x: x + tf.reduce_sum(x * x))
        assert_tensor(found, np.eye(2) + 3 * 2 * X[:, None, :])

    def test_of_a_variable(self):
        v = tf.Variable(X)
        with tf.GradientTape(persistent=True) as tape:
            y = v * v
        assert_tensor(tape.batch_jacobian(y, v), each_diagonal(2 * X))
        assert_tensor(tape.batch_jacobian(v, v), each_diagonal(np.ones((3, 2))))

    def test_of_one_example(self):
        assert_tensor(batch_jacobian_of(square, X[1:2]), each_diagonal(2 * X[1:2]))

    @pytest.mark.beyond_tensorflow  # which divides by the size of the batch
    def test_of_no_examples(self):
        assert_tensor(batch_jacobian_of(square, X[:0]), np.zeros((0, 2, 2)))

    def test_of_examples_without_elements(self):
        assert_tensor(batch_jacobian_of(lambda x: x[:, :0] * 1.0), np.zeros((3, 0, 2)))
        found = batch_jacobian_of(
            lambda x: tf.reduce_sum(x, 1, keepdims=True) + 1.0, np.zeros((3, 0), np.float32)
        )
        assert_tensor(found, np.zeros((3, 1, 0)))

    def test_is_of_the_sources_dtype(self):
        found = batch_jacobian_of(lambda x: tf.cast(x, tf.float64) ** 2)
        assert_tensor(found, each_diagonal(2 * X))

    def test_of_complex_numbers(self):
        z = np.array([[1 + 2j, 3j]])
        assert_tensor(batch_jacobian_of(square, z), each_diagonal(np.conj(2 * z)), "complex128")

    def test_a_gathers_rows_become_dense(self):
        found = batch_jacobian_of(lambda x: tf.gather(x, [1, 1], axis=1))
        assert isinstance(found, tf.Tensor)
        assert_tensor(found, np.broadcast_to([[0, 1], [0, 1]], (3, 2, 2)))


class TestUnconnected:
    def test_gives_zeros_of_the_targets_dtype(self):
        found = batch_jacobian_of(lambda x: tf.ones((3, 4), tf.float64))
        assert_tensor(found, np.zeros((3, 4, 2)), "float64")
        found = batch_jacobian_of(lambda x: tf.cast(x, tf.int32))
        assert_tensor(found, np.zeros((3, 2, 2)), "int32")

    def test_or_of_the_sources_if_zeros_are_asked_for(self):
        found = batch_jacobian_of(
            lambda x: tf.ones((3, 4), tf.float64), unconnected_gradients="zero"
        )
        assert_tensor(found, np.zeros((3, 4, 2)))


class TestTapes:
    def test_uses_up_a_tape(self):
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        tape.batch_jacobian(y, x)
        with pytest.raises(RuntimeError, match=r"can only be used to ?compute one set of"):
            tape.batch_jacobian(y, x)

    def test_in_its_context_a_persistent_tape_warns_and_records(self, logs):
        x = tf.constant(X)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            first = tape.batch_jacobian(x**3, x)
        assert [line[:34] for line in logs if "retracing" not in line] == [
            "WARNING:Calling GradientTape.gradi"
        ]
        want = np.zeros((3, 2, 2, 2))
        want[:, range(2), range(2), range(2)] = 6 * X
        assert_tensor(tape.batch_jacobian(first, x), want)

    def test_jacobian_of_a_batch_jacobian(self):
        x = tf.constant(X)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x**3
            first = inner.batch_jacobian(y, x)
        want = np.zeros((3, 2, 2, 3, 2))
        for b in range(3):
            for i in range(2):
                want[b, i, i, b, i] = 6 * X[b, i]
        assert_tensor(outer.jacobian(first, x), want)


class TestChunks:
    @pytest.mark.parametrize("options", [{"parallel_iterations": 2}, {"experimental_use_pfor": 0}])
    def test_and_loops_give_the_same(self, options):
        found = batch_jacobian_of(lambda x: tf.concat([x, x**2], 1), persistent=True, **options)
        want = np.concatenate([each_diagonal(np.ones((3, 2))), each_diagonal(2 * X)], 1)
        assert_tensor(found, want)

    @pytest.mark.beyond_tensorflow
    @pytest.mark.parametrize("chunk", [1, 2])
    def test_work_on_a_one_shot_tape(self, chunk):
        assert_tensor(batch_jacobian_of(square, parallel_iterations=chunk), each_diagonal(2 * X))

    @pytest.mark.parametrize("chunk", [0, -1])
    def test_must_be_positive(self, chunk):
        with pytest.raises(ValueError, match=r"vectorizing|parallel_iterations=-?[01]"):
            batch_jacobian_of(square, persistent=True, parallel_iterations=chunk)

    def test_a_loop_needs_a_persistent_tape(self):
        message = (
            "GradientTape must be created with persistent=True to compute the batch_jacobian with "
            "eager execution enabled and  with experimental_use_pfor set to False."
        )
        with pytest.raises(RuntimeError) as error:
            batch_jacobian_of(square, experimental_use_pfor=False)
        assert str(error.value) == message


class TestBadArguments:
    def test_a_target_of_rank_one(self):
        with pytest.raises(ValueError, match=r"Shape \(3,\) must have rank at least 2"):
            batch_jacobian_of(lambda x: tf.reduce_sum(x, 1))

    def test_a_source_of_rank_one(self):
        with pytest.raises(ValueError, match=r"Shape \(3,\) must have rank at least 2"):
            batch_jacobian_of(lambda x: tf.ones((3, 1)) * x[:, None], X[:, 0])

    def test_a_scalar(self):
        with pytest.raises(IndexError):
            batch_jacobian_of(tf.reduce_sum)

    @pytest.mark.beyond_tensorflow
    def test_for_which_the_error_says_the_same(self):
        with pytest.raises(ValueError, match=r"Shape \(\) must have rank at least 2"):
            batch_jacobian_of(tf.reduce_sum)

    def test_batches_of_other_sizes(self):
        message = r"Need first dimension of target shape \(\(2, 2\)\) and source shape \(\(3, 2\)\)"
        with pytest.raises(ValueError, match=message):
            batch_jacobian_of(lambda x: x[:2])

    @pytest.mark.parametrize("target", [None, [tf.constant(X)]])
    def test_a_target_that_is_not_one_tensor(self, target):
        with pytest.raises(AttributeError):
            batch_jacobian_of(lambda x: target)

    def test_an_unknown_choice_for_unconnected_gradients(self):
        with pytest.raises(ValueError, match=r"vectorizing|Unknown value for unconnected_"):
            batch_jacobian_of(square, unconnected_gradients="bad")

    def test_leave_the_tape_as_it_was(self):
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            with pytest.raises(ValueError, match="rank at least 2"):
                tape.batch_jacobian(y[0], x)
            y = y * x
        assert_tensor(tape.batch_jacobian(y, x), each_diagonal(3 * X**2))
