"""What happens at every call of a function, in order: printing, Python functions, checks, files."""

import sys

import numpy as np
import pytest

import gradtape as tf


def printed(capsys):
    return capsys.readouterr().out.splitlines()


def lines_of(function, capsys, *arguments):
    """What is printed by a call with each of the arguments, eagerly and as a graph."""
    for argument in arguments:
        function(argument)
    eagerly = printed(capsys)
    graph = tf.function(function)
    for argument in arguments:
        graph(argument)
    return eagerly, printed(capsys)


# Printing -----------------------------------------------------------------------------------------


def test_print_shows_the_values_of_each_call(capsys):
    def show(x):
        tf.print("x is", x, {"twice": [2 * x, 3, "text"]}, sep="|", output_stream=sys.stdout)

    eagerly, graph = lines_of(show, capsys, tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]))
    assert graph == eagerly == [
        "x is|[1 2]|{'twice': [[2 4], 3, 'text']}", "x is|[3 4]|{'twice': [[6 8], 3, 'text']}",
    ]  # fmt: skip


def test_print_follows_the_branch_that_a_call_takes(capsys):
    def show(x):
        tf.print("before", x, output_stream=sys.stdout)
        if x > 0:
            tf.print("positive", output_stream=sys.stdout)
        tf.print("after", output_stream=sys.stdout)

    arguments = [tf.constant(float(x)) for x in (1, -1, 2, -2, 3)]
    eagerly, graph = lines_of(show, capsys, *arguments)
    assert graph == eagerly
    assert graph.count("positive") == 3
    assert len(graph) == 13


def test_print_sees_variables_as_they_are_then(capsys):
    v = tf.Variable(1)

    @tf.function
    def step():
        tf.print(v, output_stream=sys.stdout)
        v.assign_add(1)
        tf.print(v, output_stream=sys.stdout)

    step()
    step()
    assert printed(capsys) == ["1", "2", "2", "3"]


def test_print_in_a_function_called_by_a_function(capsys):
    @tf.function
    def inner(x):
        tf.print("inner", x, output_stream=sys.stdout)
        return x + 1

    @tf.function
    def outer(x):
        tf.print("outer", x, output_stream=sys.stdout)
        return inner(inner(x))

    assert outer(tf.constant(1)).numpy() == 3
    assert outer(tf.constant(5)).numpy() == 7
    assert inner(tf.constant(9)).numpy() == 10
    assert printed(capsys) == [
        "outer 1", "inner 1", "inner 2", "outer 5", "inner 5", "inner 6", "inner 9",
    ]  # fmt: skip


def test_print_of_ragged_and_sparse_tensors(capsys):
    def show(x):
        ragged = tf.RaggedTensor.from_row_lengths(x, [2, 1])
        tf.print(ragged, tf.SparseTensor([[0]], x[:1], [2]), output_stream=sys.stdout)

    eagerly, graph = lines_of(show, capsys, tf.constant([1, 2, 3]), tf.constant([4, 5, 6]))
    assert graph == eagerly
    assert graph[1].startswith("[[4, 5], [6]]")


def test_print_goes_to_the_stream_of_the_call(capsys):
    @tf.function
    def show():
        tf.print("to the error stream")

    show()
    capsys.readouterr()
    show()
    assert capsys.readouterr().err == "to the error stream\n"


@pytest.mark.parametrize("tapes", [1, 2])
def test_under_tapes_each_call_prints_once(capsys, tapes):
    @tf.function
    def square(x):
        tf.print("square", x, output_stream=sys.stdout)
        return x * x

    for number in (2.0, 3.0):
        x = tf.constant(number)
        with tf.GradientTape() as outer:
            outer.watch(x)
            if tapes == 1:
                y = square(x)
            else:
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = square(x)
                y = tape.gradient(y, x)
        assert outer.gradient(y, x).numpy() == (2 * number if tapes == 1 else 2.0)
    assert printed(capsys) == ["square 2", "square 3"]


def test_what_a_gradient_function_prints_comes_with_each_gradient(capsys):
    @tf.custom_gradient
    def loud(x):
        def grad(g):
            tf.print("gradient", g, output_stream=sys.stdout)
            return g * 2.0

        tf.print("value", x, output_stream=sys.stdout)
        return x * 2.0, grad

    def gradient_of(function, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    inside = tf.function(lambda x: gradient_of(loud, x))
    outside = tf.function(loud)
    for number in (1.0, 2.0, 3.0):
        x = tf.constant(number)
        gradient_of(loud, x)
        expected = printed(capsys)
        assert len(expected) == 2
        inside(x)
        assert printed(capsys) == expected
        gradient_of(outside, x)
        assert printed(capsys) == expected


# Python functions ---------------------------------------------------------------------------------


def test_py_function_is_called_at_every_call():
    seen = []

    def note(x):
        seen.append(x.numpy().tolist())
        return x * 2

    @tf.function
    def call(x):
        return tf.py_function(note, [x], tf.float32) + 1

    assert [call(tf.constant(x)).numpy() for x in (1.0, 2.0, 3.0)] == [3.0, 5.0, 7.0]
    assert seen == [1.0, 2.0, 3.0]


def test_py_function_and_what_it_gives_may_change_their_shapes():
    @tf.function
    def call(x):
        return tf.py_function(lambda n: tf.range(n), [x], tf.int32) * 2

    assert call(tf.constant(2)).numpy().tolist() == [0, 2]
    assert call(tf.constant(4)).numpy().tolist() == [0, 2, 4, 6]
    assert call(tf.constant(2)).numpy().tolist() == [0, 2]


def gradients_of(function, x, y, v):
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        out = function(x, y)
    return [out.numpy(), *[g.numpy() for g in tape.gradient(out, [x, y, v])]]


def test_gradients_pass_through_py_function_also_to_variables_it_uses():
    v = tf.Variable(2.0)
    calls = []

    def inner(a, b):
        calls.append(1)
        return a * a * b * v, a + 1

    def outer(x, y):
        v.assign_add(1.0)
        p, q = tf.py_function(inner, [x, y], [tf.float32, tf.float32])
        return v * p * 2 + q

    found = []
    for function in (outer, tf.function(outer)):
        v.assign(2.0)
        calls.clear()
        y = tf.constant(2.0)
        found.append([gradients_of(function, tf.constant(x), y, v) for x in (3.0, 4.0, 5.0)])
        assert (len(calls), v.numpy()) == (3, 5.0)
    assert found[0] == found[1]


def test_second_derivatives_pass_through_py_function():
    @tf.function
    def cube(x):
        return tf.py_function(lambda a: a * a * a, [x], tf.float32)

    for number in (2.0, 3.0):
        x = tf.constant(number)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = cube(x)
            first = tape.gradient(y, x)
        assert (first.numpy(), outer.gradient(first, x).numpy()) == (3 * number**2, 6 * number)


def test_a_gradient_inside_a_function_passes_through_py_function():
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda a: tf.sin(a) * a, [x], tf.float32)
        return tape.gradient(y, x)

    for number in (1.0, 2.0):
        expected = np.sin(number) + number * np.cos(number)
        np.testing.assert_allclose(slope(tf.constant(number)).numpy(), expected, rtol=1e-6)


def test_python_functions_see_and_change_variables():
    v = tf.Variable(1.0)
    other = tf.Variable(0.0)
    seen = []

    def look(x):
        seen.append(v.numpy().item())
        v.assign(v * 10)
        other.assign_add(1.0)
        return x

    @tf.function
    def step(x):
        before = v + 0.0
        v.assign(x)
        x = tf.numpy_function(look, [x], tf.float32)
        if x > 3:  # a decision after the change: the call may start over
            x = x + 100
        v.assign_add(1.0)
        return before, v + 0.0, other + x

    for number, expected in ((2.0, (1.0, 21.0, 3.0)), (5.0, (21.0, 51.0, 107.0))):
        assert tuple(float(r) for r in step(tf.constant(number))) == expected
    assert (v.numpy(), other.numpy(), seen) == (51.0, 2.0, [2.0, 5.0])


def test_a_python_function_in_an_inner_function_sees_what_the_outer_one_wrote():
    v = tf.Variable(1.0)
    seen = []

    @tf.function
    def inner():
        tf.numpy_function(lambda: seen.append(v.numpy().item()), [], [])

    @tf.function
    def outer(x):
        v.assign(x)
        inner()
        v.assign_add(1.0)
        inner()

    outer(tf.constant(5.0))
    inner()
    outer(tf.constant(7.0))
    assert seen == [5.0, 6.0, 6.0, 7.0, 8.0]


def test_errors_of_a_python_function_come_at_the_call():
    @tf.function
    def call(x):
        return tf.py_function(lambda a: 1 // int(a), [x], tf.int32)

    assert call(tf.constant(1)).numpy() == 1
    with pytest.raises(tf.errors.UnknownError, match="ZeroDivisionError"):
        call(tf.constant(0))
    assert call(tf.constant(1)).numpy() == 1


# Checks -------------------------------------------------------------------------------------------

_FAILING = [
    (lambda x: tf.debugging.assert_positive(x, message="low"), "low"),
    (lambda x: tf.debugging.assert_less(0 * x, x), "Condition x < y"),
    (lambda x: tf.debugging.assert_near(x, x + 1), "x and y not equal to tolerance"),
    (lambda x: tf.Assert(tf.reduce_all(x > 0), [x]), "-1.0"),
    (lambda x: tf.debugging.check_numerics(1 / (0 * x), "odd"), "odd : Tensor had Inf"),
]


@pytest.mark.parametrize(("check", "text"), _FAILING)
def test_a_check_that_fails_raises_at_every_call_and_what_is_after_it_does_not_happen(
    check, text, capsys
):
    def checked(x):
        tf.print("before", output_stream=sys.stdout)
        check(x)
        tf.print("after", output_stream=sys.stdout)

    def message_of(function):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text) as caught:
            function(tf.constant([-1.0]))
        assert printed(capsys) == ["before"]
        return str(caught.value)

    graph = tf.function(checked)
    assert message_of(checked) == message_of(graph) == message_of(graph)


def test_a_check_passes_and_fails_by_the_values_of_each_call(capsys):
    @tf.function
    def checked(x):
        tf.debugging.assert_positive(x)
        tf.print(x, output_stream=sys.stdout)
        return x

    for number in (1.0, 2.0, -1.0, 3.0, -2.0):
        if number < 0:
            with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x > 0"):
                checked(tf.constant(number))
        else:
            assert checked(tf.constant(number)).numpy() == number
    assert printed(capsys) == ["1", "2", "3"]
    graph = checked.get_concrete_function(tf.constant(1.0)).graph
    assert "guard" not in graph.verify().as_text().lower()


def test_numbers_are_checked_though_nobody_uses_the_result():
    @tf.function
    def checked(x):
        tf.debugging.check_numerics(x, "bad")
        return tf.constant(1)

    assert checked(tf.constant(1.0)).numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad : Tensor had NaN"):
        checked(tf.constant(np.nan))


# Time, files and tables ---------------------------------------------------------------------------


def test_the_time_is_that_of_the_call():
    now = tf.function(lambda: tf.timestamp())
    first, second, third = [now().numpy() for _ in range(3)]
    assert first < second < third


def test_files_are_read_and_written_at_every_call(tmp_path):
    path = str(tmp_path / "numbers")

    @tf.function
    def write_and_read(text):
        tf.io.write_file(path, text)
        return tf.strings.length(tf.io.read_file(path))

    assert write_and_read(tf.constant("one")).numpy() == 3
    assert write_and_read(tf.constant("three")).numpy() == 5
    read = tf.function(lambda: tf.io.read_file(path))
    assert read().numpy() == b"three"
    (tmp_path / "numbers").write_text("changed")
    assert read().numpy() == b"changed"
    names = tf.function(lambda: tf.io.matching_files(str(tmp_path / "*")))
    assert len(names()) == 1
    (tmp_path / "more").write_text("")
    assert len(names()) == 2


def test_contents_are_decoded_by_the_call_and_not_by_the_trace():
    traces = []

    @tf.function
    def decode(contents):
        traces.append(1)
        return tf.io.decode_raw(contents, tf.uint8) + 1

    for k in range(100):
        assert decode(tf.constant(bytes([k, 3]))).numpy().tolist() == [k + 1, 4]
    assert len(traces) == 1


def test_tables_hold_what_they_hold_at_the_call():
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)

    @tf.function
    def look(keys):
        return table.lookup(keys), table.size()

    @tf.function
    def put(keys, values):
        table.insert(keys, values)
        return table.lookup(keys)

    keys = tf.constant(["a", "b"])
    assert [x.numpy().tolist() for x in look(keys)] == [[-1, -1], 0]
    table.insert(["a"], [3])
    assert [x.numpy().tolist() for x in look(keys)] == [[3, -1], 1]
    assert put(tf.constant(["b"]), tf.constant([4], tf.int64)).numpy().tolist() == [4]
    assert put(tf.constant(["b"]), tf.constant([5], tf.int64)).numpy().tolist() == [5]
    assert [x.numpy().tolist() for x in look(keys)] == [[3, 5], 2]
    table.remove(["a"])
    assert [x.numpy().tolist() for x in look(keys)] == [[-1, 5], 1]


def test_static_tables_serve_all_keys_by_one_trace():
    words = tf.lookup.KeyValueTensorInitializer(["one", "two"], tf.constant([0, 1], tf.int64))
    table = tf.lookup.StaticVocabularyTable(words, 2)
    look = tf.function(lambda keys: table.lookup(keys))
    for text in ("one", "two", "three", "four"):
        assert look(tf.constant([text])).numpy() == table.lookup(tf.constant([text])).numpy()
    assert look.experimental_get_tracing_count() == 1


def test_effects_of_making_variables_happen_once(capsys):
    class Model:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                tf.print("making", output_stream=sys.stdout)
                self.v = tf.Variable(2.0)
            tf.print("calling", x, output_stream=sys.stdout)
            return self.v * x

    model = Model()
    assert [model(tf.constant(x)).numpy() for x in (1.0, 2.0)] == [2.0, 4.0]
    assert printed(capsys) == ["making", "calling 1", "calling 2"]
