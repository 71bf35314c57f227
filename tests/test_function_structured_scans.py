"""map_fn, scan, folds and TensorArray inside `tf.function`: as without it, in one op."""

import numpy as np
import pytest

import gradtape as tf
from structured_comparison import same, values

ROWS = [([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]], [0.5, 1.5])]
ROWS.append(([[0.5, 1.0], [1.5, -0.5], [0.25, 2.0]], [2.0, -1.0]))


def test_map_fn():
    def f(x, w):
        return tf.map_fn(lambda row: tf.reduce_sum(row * w) * row, x)

    same(f, ROWS, types=["Scan"])


def test_map_fn_of_structures():
    def f(x, w):
        return tf.map_fn(
            lambda pair: (pair[0] * w, tf.reduce_sum(pair[1]) > 0.0), (x, x * x),
            fn_output_signature=(tf.as_dtype(x.dtype), tf.bool),
        )  # fmt: skip

    same(f, ROWS, types=["Scan"])


def test_map_fn_of_another_dtype():
    def f(n, x):
        return tf.map_fn(lambda i: x * tf.cast(i, x.dtype), n, fn_output_signature=x.dtype)

    same(f, [([1, 2, 3], 1.5), ([4, 5, 6], 1.5)], types=["Scan"])


def test_map_fn_of_strings():
    def f(x, s):
        return tf.map_fn(lambda t: tf.strings.join([t, s]), x)

    same(f, [([b"a", b"b"], b"!"), ([b"c", b"d"], b"?")], types=["Scan"])


def test_scan():
    def f(x, w):
        return tf.scan(lambda h, row: tf.tanh(h * w + row), x, initializer=tf.zeros_like(w))

    same(f, ROWS, types=["Scan"])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("start", [False, True])
def test_scan_both_ways(reverse, start):
    def f(x, w):
        first_value = {"initializer": w} if start else {}
        return tf.scan(lambda a, b: a * b + w, x, reverse=reverse, **first_value)

    same(f, ROWS, types=["Scan"])


def test_scan_of_structures():
    def f(x, w):
        return tf.scan(
            lambda c, e: {"h": c["h"] * e[0] + w, "n": c["n"] + 1}, (x, x),
            initializer={"h": w, "n": tf.constant(0)},
        )  # fmt: skip

    same(f, ROWS, types=["Scan"])


@pytest.mark.parametrize("fold", ["foldl", "foldr"])
@pytest.mark.parametrize("start", [False, True])
def test_folds(fold, start):
    def f(x, w):
        first_value = {"initializer": w} if start else {}
        return getattr(tf, fold)(lambda a, b: a * 0.5 - b * w, x, **first_value)

    same(f, ROWS, types=["Scan"])


def test_scan_in_scan():
    def f(x, w):
        def row_sum(h, row):
            return tf.foldl(lambda a, b: a * 0.5 + b * h, row, initializer=h)

        return tf.scan(row_sum, x, initializer=tf.reduce_sum(w))

    same(f, ROWS, types=["Scan"])


def test_variables_in_a_scan():
    w = tf.Variable([0.5, -0.5])

    def f(x):
        return tf.reduce_sum(tf.scan(lambda h, row: tf.sin(h * w) + row, x, tf.zeros(2)))

    found = []
    for function in (f, tf.function(f)):
        with tf.GradientTape() as tape:
            y = function(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        found.append(tape.gradient(y, w).numpy())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("length", [0, 1, 2])
def test_short_scans(length):
    def f(x):
        return tf.scan(lambda a, b: a + b, x, initializer=tf.constant(1.0)), tf.map_fn(tf.sin, x)

    x = np.arange(length, dtype=np.float32)
    assert values(tf.function(f), [tf.constant(x)]) == values(f, [tf.constant(x)])


def test_map_fn_with_random_numbers_and_variables():
    def run(wrap):
        tf.random.set_seed(11)
        count = tf.Variable(0)

        @wrap
        def f(x):
            def one(row):
                count.assign_add(1)
                return row + tf.random.uniform([])

            return tf.map_fn(one, x)

        found = [f(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() for _ in range(3)]
        return found, count.numpy()

    assert run(tf.function) == run(lambda f: f)


def test_ragged_rows_are_mapped_one_by_one():
    @tf.function
    def f(x):
        return tf.map_fn(tf.reduce_sum, x, fn_output_signature=tf.float32)

    ragged = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    assert f(ragged).numpy().tolist() == [3.0, 0.0, 3.0]


def test_a_result_of_another_dtype_than_declared():
    @tf.function
    def f(x):
        return tf.map_fn(lambda row: tf.cast(row, tf.int32), x)

    with pytest.raises(tf.errors.InvalidArgumentError, match="TensorArray dtype is float"):
        f(tf.constant([1.0, 2.0]))


def test_a_recurrent_network_trains_as_eager_does():
    def run(wrap):
        rng = np.random.default_rng(0)
        wx = tf.Variable(rng.normal(size=(3, 4)).astype(np.float32) * 0.3)
        wh = tf.Variable(rng.normal(size=(4, 4)).astype(np.float32) * 0.3)
        x = tf.constant(rng.normal(size=(6, 2, 3)).astype(np.float32))

        @wrap
        def step():
            with tf.GradientTape() as tape:
                h = tf.scan(lambda h, e: tf.tanh(e @ wx + h @ wh), x, tf.zeros((2, 4)))
                loss = tf.reduce_mean((h - 0.5) ** 2)
            for v, g in zip((wx, wh), tape.gradient(loss, [wx, wh]), strict=True):
                v.assign_sub(0.5 * g)
            return loss

        return [step().numpy() for _ in range(5)], wx.numpy().tolist(), wh.numpy().tolist()

    assert run(tf.function) == run(lambda f: f)


# TensorArray --------------------------------------------------------------------------------------


def test_tensor_array_in_a_python_loop():
    def f(x, n):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(n):
            array = array.write(i, x * tf.cast(i, tf.float32))
        return array.stack()

    same(f, [([1.0, 2.0], n) for n in (1, 3, 2)])


def test_all_methods_of_a_tensor_array_outside_of_loops():
    def f(x, i):
        array = tf.TensorArray(tf.float32, size=4, clear_after_read=False)
        array = array.unstack(x).write(i, x[0] * 2.0)
        array = array.scatter([0, 2], tf.stack([x[1], x[1] * x[2]]))
        pieces = tf.TensorArray(tf.float32, size=2, infer_shape=False, element_shape=[None, 2])
        pieces = pieces.split(x, [1, 3])
        read = array.read(i) + array.read(0)
        return read, array.stack(), array.gather([3, 0]), array.concat(), pieces.concat()

    x = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]
    same(f, [(x, 1), (x, 3)])


@pytest.mark.parametrize("shape", [None, [2]])
def test_tensor_array_as_a_loop_variable(shape):
    def f(x, n):
        array = tf.TensorArray(tf.float32, size=5, element_shape=shape)
        found = tf.while_loop(
            lambda i, h, a: i < n,
            lambda i, h, a: (i + 1, tf.sin(h) * x, a.write(i, h * x)),
            [0, x, array],
        )
        return found[1], found[2].stack()

    same(f, [([0.5, 1.5], n) for n in (5, 1, 2)], types=["StatelessWhile"])


def test_reading_and_writing_a_tensor_array_in_a_loop():
    def f(x, n):
        array = tf.TensorArray(tf.float32, size=6, clear_after_read=False).unstack(x)

        def body(i, a):
            total = a.read(i - 1) * 0.5 + tf.reduce_sum(a.gather([0, 1]))
            return i + 1, a.write(i, total)

        return tf.while_loop(lambda i, a: i < n, body, [1, array])[1].stack()

    x = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    same(f, [(x, n) for n in (6, 1, 3)], types=["StatelessWhile"])


def test_recurrence_over_tensor_arrays():
    w = tf.Variable([[0.5, -0.25], [0.25, 0.5]])

    def f(x, n):
        inputs = tf.TensorArray(tf.float32, size=4).unstack(x)
        outputs = tf.TensorArray(tf.float32, size=4)

        def body(t, h, outputs):
            h = tf.tanh(inputs.read(t) + h @ w)
            return t + 1, h, outputs.write(t, h)

        found = tf.while_loop(lambda t, *_: t < n, body, (0, tf.zeros((1, 2)), outputs))
        return found[2].stack(), found[1]

    x = np.arange(8, dtype=np.float32).reshape(4, 1, 2) / 8
    same(f, [(x, n) for n in (4, 2, 1)], types=["StatelessWhile"])


def test_the_array_itself_changes_as_in_eager_code():
    def f(x, n):
        array = tf.TensorArray(tf.float32, size=3, element_shape=[])
        tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, x)), [0, array])
        return array.stack(), array.size()

    same(f, [(2.0, n) for n in (3, 1, 0)], types=["StatelessWhile"])


def test_tensor_array_in_nested_loops():
    def f(x, n):
        array = tf.TensorArray(tf.float32, size=9, element_shape=[])

        def outer(i, a):
            def inner(j, a):
                return j + 1, a.write(i * 3 + j, x * tf.cast(i - j, tf.float32))

            return i + 1, tf.while_loop(lambda j, a: j < 3, inner, [0, a])[1]

        return tf.while_loop(lambda i, a: i < n, outer, [0, array])[1].stack()

    same(f, [(2.0, n) for n in (3, 1, 0)], types=["StatelessWhile"])


def test_tensor_arrays_that_grow_or_change_places():
    def growing(x, n):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[])
        body = lambda i, a: (i + 1, a.write(i, x * 2.0))  # noqa: E731
        return tf.while_loop(lambda i, a: i < n, body, [0, array])[1].stack()

    def swapping(x, n):
        a = tf.TensorArray(tf.float32, size=3, element_shape=[]).write(0, x)
        b = tf.TensorArray(tf.float32, size=3, element_shape=[])
        body = lambda i, a, b: (i + 1, b.write(i, x * 3.0), a)  # noqa: E731
        found = tf.while_loop(lambda i, *_: i < n, body, [0, a, b])
        return found[1].stack(), found[2].stack()

    for function in (growing, swapping):
        same(function, [(2.0, n) for n in (3, 1, 0)])


def test_writing_to_an_array_around_the_loop():
    def f(x, n):
        array = tf.TensorArray(tf.float32, size=3, element_shape=[])
        tf.while_loop(lambda i: i < n, lambda i: [(array.write(i, x * 2.0), i + 1)[1]], [0])
        tf.map_fn(lambda v: (array.write(2, v), v)[1], tf.stack([x, x + 1.0]))
        return array.stack()

    same(f, [(2.0, n) for n in (3, 1, 0)])


@pytest.mark.parametrize("index", [-1, 3])
@pytest.mark.parametrize("verb", ["read", "write"])
def test_positions_that_an_array_in_a_loop_does_not_have(index, verb):
    def f(x, k):
        array = tf.TensorArray(tf.float32, size=3, clear_after_read=False).unstack(x)

        def body(i, a, y):
            if verb == "write":
                return i + 1, a.write(k, y), y
            return i + 1, a, a.read(k)

        return tf.while_loop(lambda i, *_: i < 2, body, [0, array, x[0]])[2]

    traced = tf.function(f)
    x = tf.constant([1.0, 2.0, 3.0])
    traced(x, tf.constant(1))
    messages = []
    for function in (f, traced):
        with pytest.raises(tf.errors.OutOfRangeError) as caught:
            function(x, tf.constant(index))
        messages.append(str(caught.value).splitlines()[0])
    assert messages[0] == messages[1]


def test_rows_are_read_and_written_over_in_one_turn():
    def f(x, n):
        array = tf.TensorArray(tf.float32, size=4, clear_after_read=False).unstack(x)
        other = tf.TensorArray(tf.float32, size=4, clear_after_read=False).unstack(x * 2.0)

        def body(i, a, b):
            row = a.read(i)
            a = a.write(i, tf.sin(row) * b.read(i))
            a = a.write(3 - i, a.read(i) * row + b.read(3 - i))
            return i + 1, a, b.write(i, row * row)

        found = tf.while_loop(lambda i, *_: i < n, body, [0, array, other])
        return found[1].stack(), found[2].stack()

    x = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]
    same(f, [(x, n) for n in (4, 0, 2)], types=["StatelessWhile"])


def test_all_rows_are_looked_at_while_they_are_written():
    def f(x, n):
        array = tf.TensorArray(tf.float32, size=4, clear_after_read=False).unstack(x)

        def body(i, a, seen):
            before = a.stack()
            a = a.write(i, tf.reduce_sum(before) * x[0])
            return i + 1, a, seen + before * a.stack()

        found = tf.while_loop(lambda i, *_: i < n, body, [0, array, tf.zeros_like(x)])
        return found[1].stack(), found[2]

    same(f, [([0.5, 0.25, 1.0, 2.0], n) for n in (4, 0, 2)], types=["StatelessWhile"])


def test_views_of_all_rows_outlive_a_write():
    def f(x, n):
        array = tf.TensorArray(tf.float32, size=4, clear_after_read=False).unstack(x)

        def body(i, a, seen):
            before = tf.reshape(a.stack(), (2, 2))
            a = a.write(i, x[0] * 3.0)
            return i + 1, a, seen + before

        found = tf.while_loop(lambda i, *_: i < n, body, [0, array, tf.zeros((2, 2))])
        return found[1].stack(), found[2]

    same(f, [([0.5, 0.25, 1.0, 2.0], n) for n in (4, 0, 2)], types=["StatelessWhile"])


def test_arguments_are_not_written_into():
    @tf.function
    def f(x, n):
        array = tf.TensorArray(tf.float32, size=3).unstack(x)
        loop = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, 9.0)), [0, array])
        return loop[1].stack() + 0.0 * x

    x = tf.constant([1.0, 2.0, 3.0])
    for n in (2, 3, 0):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, tf.constant(n))
        assert y.numpy().tolist() == [9.0] * n + [1.0, 2.0, 3.0][n:]
        weights = tf.constant([1.0, 1.0, 1.0])
        grad = tape.gradient(y, x, output_gradients=weights)
        assert grad.numpy().tolist() == [0.0] * n + [1.0] * (3 - n)
        assert weights.numpy().tolist() == [1.0, 1.0, 1.0]
        assert x.numpy().tolist() == [1.0, 2.0, 3.0]
