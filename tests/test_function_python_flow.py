"""Python's own control flow inside `tf.function`: what happens is what happens without it."""

import logging

import numpy as np
import pytest

import gradtape as tf


def same(function, calls, **options):
    """Compares a function with itself under `tf.function`, over calls made twice and mixed."""
    traced = tf.function(function, **options)
    for arguments in [*calls, *calls[::-1], *calls]:
        tensors = [tf.constant(x) for x in arguments]
        expected, found = _outcome(function, tensors), _outcome(traced, tensors)
        assert found == expected, arguments
    return traced


def _outcome(function, tensors):
    """What a call returns or raises, and the gradients of what it returns."""
    try:
        with tf.GradientTape() as tape:
            tape.watch([x for x in tensors if x.dtype.is_floating])
            result = function(*tensors)
            sources = [x for x in tensors if x.dtype.is_floating]
        flat = [tf.convert_to_tensor(x) for x in tf.nest.flatten(result)]
        targets = [x for x in flat if x.dtype.is_floating]
        grads = tape.gradient(targets, sources) if targets else []
        plain = _outcome_of_value(function(*tensors))
    except Exception as error:
        return type(error), str(error).splitlines()[0]  # further lines show tensors, or tell where
    return plain, [_bits(x) for x in flat], [None if g is None else _bits(g) for g in grads]


def _outcome_of_value(result):
    return [_bits(tf.convert_to_tensor(x)) for x in tf.nest.flatten(result)]


def _bits(tensor):
    return tensor.dtype.name, tuple(tensor.shape), tensor.numpy().tobytes()


SCALARS = [(v,) for v in (-2.0, -0.5, 0.0, 0.25, 1.0, 3.0)]


def test_if_elif_else():
    def f(x):
        if x > 1.0:
            return x * 2.0
        elif x < 0.0:
            return -x
        else:
            return x * x

    traced = same(f, SCALARS)
    assert traced.experimental_get_tracing_count() == 1


def test_nested_if_and_boolean_operators():
    def f(x, y):
        if x > 0.0 and y > 0.0:
            if x > y or not y < 2.0:
                return x - y
            return x * y
        return x + y if not x > y else x

    same(f, [(a, b) for a in (-1.0, 0.5, 3.0) for b in (-1.0, 0.5, 2.5)])


def test_each_way_is_traced_once():
    runs = []

    @tf.function
    def f(x):
        runs.append(1)
        return x + 1.0 if x > 0.0 else x - 1.0

    for value in (1.0, 2.0, -1.0, -2.0, 3.0, -3.0):
        assert f(tf.constant(value)).numpy() == (value + 1.0 if value > 0 else value - 1.0)
    assert len(runs) == 2


def test_while_until_it_converges():
    def f(x):
        steps = 0
        while x > 1.0:
            x = x / 2.0
            steps += 1
        return x, steps

    same(f, [(1.0,), (3.0,), (40.0,), (0.5,)])


def test_while_with_break_and_continue():
    def f(x):
        total = tf.zeros(())
        i = 0
        while True:
            i += 1
            if i % 2 == 0:
                continue
            total += x * i
            if total > 10.0:
                break
        return total

    same(f, [(0.5,), (1.0,), (4.0,), (20.0,)])


def test_while_else():
    def f(n):
        while n > 0:
            n -= 3
            if n == 1:
                break
        else:
            return n * 100
        return n

    same(f, [(7,), (6,), (0,), (4,), (5,)])


def test_early_return_from_a_loop():
    def f(x, limit):
        for i in range(10):
            x = x * 1.5
            if tf.reduce_sum(x) > limit:
                return x, i
        return x, -1

    same(f, [([1.0, 2.0], 4.0), ([1.0, 2.0], 100.0), ([1.0, 2.0], 1e6)])


def test_for_over_range_of_a_tensor():
    def f(x, n):
        total = tf.zeros_like(x)
        for i in tf.range(n):
            total += x * tf.cast(i, tf.float32)
        return total

    same(f, [(2.0, 0), (2.0, 1), (2.0, 4), (-1.0, 7)])


def test_for_over_range_uses_the_counter_as_an_index():
    def f(x, n):
        out = []
        for i in tf.range(n):
            out.append(x[i] * x[n - 1 - i])
        return tf.stack(out)

    same(f, [([1.0, 2.0, 3.0], 1), ([1.0, 2.0, 3.0], 3), ([4.0, 5.0, 6.0], 2)])


def test_python_range_of_a_tensor():
    def f(x, n):
        for _ in range(n):
            x = x * x
        return x

    same(f, [(1.5, 0), (1.5, 2), (0.5, 3)])


def test_for_over_the_rows_of_a_tensor():
    def f(rows):
        total = tf.zeros(2)
        for row in rows:
            if row[0] < 0.0:
                continue
            total = total * 0.5 + row
        return total

    same(f, [([[1.0, 2.0], [-1.0, 5.0], [3.0, 4.0]],), ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],)])


def test_enumerate_zip_and_unpacking():
    def f(x, y):
        a, *rest = x
        total = a
        for i, (u, v) in enumerate(zip(rest, y[1:], strict=True)):
            total += u * v * i
        return total

    same(f, [([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), ([0.5, 1.0, -1.0], [1.0, 1.0, 1.0])])


@pytest.mark.parametrize("convert", [int, float, bool, round, complex])
def test_python_numbers_of_tensors(convert):
    def f(x):
        kind = int if convert is round else convert
        number = convert(float(x)) if convert is round else kind(x)
        return x * tf.cast(tf.constant(float(np.real(number))), tf.float32)

    same(f, SCALARS)


def test_assert_and_exceptions():
    def f(x):
        assert x >= 0.0, "negative"
        if x > 2.0:
            raise ValueError("too large")
        return tf.sqrt(x)

    same(f, SCALARS)


def test_caught_exceptions():
    def f(x, i):
        try:
            if x < 0.0:
                raise KeyError("negative")
            return x[None][int(i)]
        except KeyError:
            return -x
        except (IndexError, tf.errors.InvalidArgumentError, ValueError):
            return x * 10.0
        finally:
            x = x + 1.0

    same(f, [(1.0, 0), (-1.0, 0), (1.0, 3), (2.0, 0)])


def test_a_raising_call_leaves_variables_alone():
    count = tf.Variable(0)

    @tf.function
    def f(x):
        count.assign_add(1)
        if x < 0.0:
            raise ValueError("negative")
        return count.read_value()

    assert f(tf.constant(1.0)).numpy() == 1
    with pytest.raises(ValueError, match="negative"):
        f(tf.constant(-1.0))
    assert f(tf.constant(1.0)).numpy() == int(count.numpy())


def test_match_and_conditional_expressions():
    def f(n, x):
        match int(n):
            case 0:
                return x
            case 1 | 2:
                return x * x
            case k:
                return x * k if k > 5 else x / k

    same(f, [(n, 3.0) for n in (0, 1, 2, 3, 6)])


def test_any_all_sorted_and_comprehensions():
    def f(x):
        if any(v > 2.0 for v in x) and not all(v > 2.0 for v in x):
            return tf.stack(sorted(x, key=float))
        return tf.stack([v * 2.0 for v in x if v < 10.0] or [x[0]])

    same(f, [([1.0, 3.0, 2.0],), ([1.0, 1.0, 1.0],), ([5.0, 4.0, 3.0],), ([11.0, 12.0, 13.0],)])


def test_variables_decide():
    def run(wrap):
        state = tf.Variable(0.0)

        @wrap
        def f(x):
            if state > 3.0:
                state.assign(0.0)
                return x * 0.0
            state.assign_add(x)
            return state * x

        return [f(tf.constant(v)).numpy() for v in (1.0, 2.0, 2.0, 1.0, 5.0, 1.0, 1.0)]

    assert run(tf.function) == run(lambda f: f)


def test_recursion():
    @tf.function
    def traced(n):
        return n if n <= 1 else traced(n - 1) + traced(n - 2)

    for n in (0, 1, 5, 8, 5):
        assert traced(tf.constant(n)).numpy() == [0, 1, 1, 2, 3, 5, 8, 13, 21][n]


def test_a_function_that_decides_inside_another():
    @tf.function
    def inner(x):
        return x * 2.0 if x > 0.0 else x - 1.0

    def f(x):
        return inner(x) + inner(-x)

    same(f, SCALARS)


def test_tape_inside():
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            while y < 10.0:
                y = y * y + 1.0
        return y, tape.gradient(y, x)

    same(f, [(0.5,), (2.0,), (20.0,), (-1.0,)])


def test_nan_and_minus_zero():
    def f(x):
        if x == x:
            return tf.constant(1.0) / x
        return tf.zeros(())

    same(f, [(0.0,), (-0.0,), (float("nan"),), (float("inf"),)])


def test_truth_of_an_array_is_ambiguous():
    @tf.function
    def f(x):
        return x if x > 0.0 else -x

    with pytest.raises(ValueError, match="ambiguous"):
        f(tf.constant([1.0, 2.0]))


def test_more_than_64_ways_run_as_python(caplog):
    runs = []

    @tf.function
    def f(n):
        runs.append(1)
        return n * int(n)

    with caplog.at_level(logging.WARNING):
        for value in range(100):
            assert f(tf.constant(value)).numpy() == value * value
    warnings = [r for r in caplog.records if "plain Python" in r.getMessage()]
    assert len(warnings) == 1
    assert "64" in warnings[0].getMessage()
    before = len(runs)
    f(tf.constant(3))
    f(tf.constant(3))
    assert len(runs) == before + 2


def test_ways_are_counted_for_each_kind_of_argument():
    @tf.function
    def f(n):
        return n * int(n)

    for value in range(70):
        f(tf.constant(value))
    runs = []

    @tf.function
    def g(n):
        runs.append(1)
        return n * int(n)

    for value in range(70):
        g(tf.constant(value))
    before = len(runs)
    for value in (1.0, 2.0, 1.0, 2.0):
        assert g(tf.constant(value)).numpy() == value * value
    assert len(runs) == before + 2


def test_random_programs_of_branches():
    rng = np.random.default_rng(0)

    def make(depth):
        kind = rng.integers(0, 5) if depth else 0
        c = float(np.round(rng.normal(), 2))
        if kind == 0:
            return lambda x: x * c + 1.0
        first, second = make(depth - 1), make(depth - 1)
        if kind == 1:
            return lambda x: first(x) if tf.reduce_sum(x) > c else second(x)
        if kind == 2:
            return lambda x: second(first(x))

        def loop(x):
            for _ in range(6):
                x = first(x)
                if tf.reduce_max(tf.abs(x)) > 2.0 + abs(c):
                    return second(x)
            return x

        return loop

    for _ in range(15):
        program = make(3)
        calls = [(rng.normal(size=2).astype(np.float32),) for _ in range(8)]
        same(lambda x, program=program: program(x), calls)


def test_numpy_reads_strings_of_a_function():
    @tf.function
    def words(text):
        return tf.strings.split([text]).values, np.array([text], object).tolist()[0]

    assert words(tf.constant("a b"))[0].numpy().tolist() == [b"a", b"b"]
    assert words(tf.constant("c"))[1].numpy() == b"c"
