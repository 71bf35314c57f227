"""tf.function: how few traces suffice, and how the others explain themselves."""

import logging
import math

import numpy as np
import pytest

import gradtape as tf

ones = tf.ones


def counts(calls, **options):
    f = tf.function(lambda *args: 0.0, **options)
    found = []
    for arguments in calls:
        f(*arguments)
        found.append(f.experimental_get_tracing_count())
    return found


# reduce_retracing ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([[1], [2], [3], [1, 1], [1, 2], [7, 7], [1]], [1, 2, 2, 3, 3, 3, 3]),
        ([[1], [1, 1], [1, 1, 1], [5], []], [1, 2, 2, 2, 2]),
    ],
)
def test_shapes_are_relaxed(calls, expected):
    assert counts([(ones(shape),) for shape in calls], reduce_retracing=True) == expected
    assert counts([(ones(s),) for s in calls], experimental_relax_shapes=True) == expected


def test_dtypes_are_not_relaxed():
    calls = [([1], "float32"), ([2], "int32"), ([3], "float32"), ([4], "float32"), ([5], "int32")]
    arguments = [(ones(shape, dtype),) for shape, dtype in calls]
    assert counts(arguments, reduce_retracing=True) == [1, 2, 3, 3, 4]


def test_several_arguments_and_structures_are_relaxed():
    pairs = [(1, 1), (2, 1), (2, 2), (3, 3), (3, 4)]
    calls = [(ones([a]), ones([b])) for a, b in pairs]
    assert counts(calls, reduce_retracing=True) == [1, 2, 3, 3, 3]
    lists = [([ones([1])],), ([ones([2])],), ([ones([3])],), ([ones([3]), ones([1])],)]
    assert counts(lists, reduce_retracing=True) == [1, 2, 2, 3]


def test_relaxed_calls_give_what_each_shape_gives():
    f = tf.function(
        lambda x: tf.reduce_sum(x) / tf.cast(tf.size(x), x.dtype), reduce_retracing=True
    )
    for n in (1, 4, 2, 9):
        values = np.arange(n, dtype=np.float32)
        assert f(tf.constant(values)).numpy() == values.mean()


# Python numbers -----------------------------------------------------------------------------------


def arithmetic(x, n):
    return x * n + n * 2 - 1 / n, n - x, (n + 1) * (2 - n) * x, -n, x**n, tf.constant(n, tf.float32)


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(
    "numbers",
    [(1, 2, 3, -7, 100, 40_000, 2**31 - 1, -(2**31)), (0.5, 1.5, -0.1, 1e-30, 1e10, 3.0, 1 / 3)],
)
def test_numbers_in_arithmetic_need_two_traces(numbers, dtype):
    runs = []

    def counting(x, n):
        runs.append(n)
        return arithmetic(x, n)

    f = tf.function(counting, reduce_retracing=True)
    x = tf.constant([1.0, 2.5], dtype)
    for n in numbers:
        for found, expected in zip(f(x, n), arithmetic(x, n), strict=True):
            expected = tf.convert_to_tensor(expected)
            assert found.dtype == expected.dtype
            assert found.numpy().tobytes() == expected.numpy().tobytes()
    assert f.experimental_get_tracing_count() == 2
    # Beyond the range of int32 a product is a number the trace has to know.
    assert len(runs) <= (2 if type(numbers[0]) is float else 6)


@pytest.mark.beyond_tensorflow
def test_the_same_numbers_do_not_trace_again():
    runs = []

    @tf.function(reduce_retracing=True)
    def f(x, rate):
        runs.append(1)
        return x - rate * x

    x = tf.constant(3.0)
    for step in range(50):
        rate = 0.1 / (step + 1)
        assert f(x, rate).numpy() == (x - rate * x).numpy()
    assert len(runs) == f.experimental_get_tracing_count() == 2


@pytest.mark.beyond_tensorflow
def test_numbers_used_otherwise_are_known_to_the_trace():
    def g(x, n):
        assert isinstance(n, int)
        if n > 3:
            x = x + 1.0
        table = {1: 10, 2: 20}
        others = (
            f"{n}",
            table.get(n, 0),
            int(n) // 2,
            divmod(n, 2),
            n % 3,
            math.sqrt(n),
            n.bit_length(),
        )
        return x * n, tf.range(n), [n] * n, others

    f = tf.function(g, reduce_retracing=True)
    x = tf.constant([1.0, 2.0])
    for n in (1, 2, 3, 4, 5, 2, 5, 1):
        expected = tf.nest.map_structure(tf.convert_to_tensor, g(x, n))
        found = f(x, n)
        tf.nest.assert_same_structure(found, expected)
        for a, b in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
            assert (a.dtype, np.array(a).tolist()) == (b.dtype, np.array(b).tolist())
    assert f.experimental_get_tracing_count() == 2


USES = {
    "int": lambda n: int(n),
    "float": lambda n: float(n),
    "complex": lambda n: complex(n),
    "index": lambda n: [10, 20, 30, 40][n],
    "range": lambda n: len(range(n)),
    "hash": lambda n: {1: 10, 2: 20}.get(n, 0),
    "text": lambda n: str(n),
    "repr": lambda n: repr(n),
    "format": lambda n: f"{n:03d}",
    "percent": lambda n: "%d" % n,  # noqa: UP031
    "numpy": lambda n: np.sqrt(n),
    "math": lambda n: math.sqrt(n),
    "attribute": lambda n: n.bit_length(),
    "modulo": lambda n: n % 3,
    "modulo of a number": lambda n: 7 % n,
    "power": lambda n: n**2,
    "power of a number": lambda n: 2**n,
    "floor division": lambda n: n // 2,
    "absolute": lambda n: abs(n),
    "round": lambda n: round(n, 1),
    "large numbers": lambda n: str(n * 2**40),
    "bits": lambda n: n << 1,
    "truth": lambda n: bool(n),
    "equality": lambda n: n == 2,
    "comparison with a large number": lambda n: n < 2**40,
    "membership": lambda n: n in (1, 3),
    "maximum": lambda n: max(n, 2),
    "sorting": lambda n: sorted([3, n, 0]),
    "sum": lambda n: sum([n, n], 1),
    "negative": lambda n: -n,
    "class": lambda n: isinstance(n, int) and not isinstance(n, float),
    "shape": lambda n: tf.zeros([n, 2]),
    "axis": lambda n: tf.reduce_sum(tf.ones([1, 2, 3, 4]), axis=n),
    "converted": lambda n: tf.convert_to_tensor(n, tf.float64),
    "cast": lambda n: tf.cast(n, tf.int64),
    "range of tensors": lambda n: tf.range(n),
    "list": lambda n: tf.constant([n, n + 1]),
    "stack": lambda n: tf.stack([n, tf.constant(1)]),
}


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize("use", USES)
def test_every_use_of_a_number_sees_its_value(use):
    def g(x, n):
        return tf.nest.map_structure(tf.convert_to_tensor, (x, USES[use](n)))

    f = tf.function(g, reduce_retracing=True)
    x = tf.constant(1.0)
    for n in (1, 2, 3, 0, 2) if "of a number" not in use else (1, 2, 3, 5, 2):
        found, expected = tf.nest.flatten(f(x, n)), tf.nest.flatten(g(x, n))
        for a, b in zip(found, expected, strict=True):
            assert (a.dtype, np.array(a).tolist()) == (b.dtype, np.array(b).tolist())
    assert f.experimental_get_tracing_count() == 2


@pytest.mark.beyond_tensorflow
def test_comparisons_of_numbers_only_rely_on_their_outcome():
    runs = []

    @tf.function(reduce_retracing=True)
    def f(x, n):
        runs.append(1)
        return x * n if n > 2 else x - n

    x = tf.constant(2.0)
    for n in range(40):
        assert f(x, n).numpy() == (x * n if n > 2 else x - n).numpy()
    assert len(runs) == 3


@pytest.mark.beyond_tensorflow
def test_errors_with_numbers_are_those_without():
    f = tf.function(lambda x, n: x / (1 / n), reduce_retracing=True)
    x = tf.constant(1.0)
    assert [f(x, n).numpy() for n in (1, 2, 4)] == [1.0, 2.0, 4.0]
    with pytest.raises(ZeroDivisionError):
        f(x, 0)
    assert f(x, 8).numpy() == 8.0
    g = tf.function(lambda x, n: x + n, reduce_retracing=True)
    integers = tf.constant([1, 2])
    for n in (1, 2, 3):
        assert g(integers, n).dtype == tf.int32
    for n in (0.5, 1.5, 2.5):
        with pytest.raises(tf.errors.InvalidArgumentError):
            g(integers, n)
    assert g(integers, 7).numpy().tolist() == [8, 9]


@pytest.mark.beyond_tensorflow
def test_numbers_under_tapes():
    f = tf.function(lambda x, n: x * x * n, reduce_retracing=True)
    x = tf.Variable(3.0)
    for n in (1.0, 2.0, 5.0, 7.0):
        with tf.GradientTape() as tape:
            y = f(x, n)
        assert tape.gradient(y, x).numpy() == 6.0 * n
    assert f.experimental_get_tracing_count() == 2


@pytest.mark.beyond_tensorflow
def test_numbers_of_another_class_or_range_are_not_covered():
    calls = [(1,), (2,), ("a",), (2.5,), (2**40,), (True,), (3,), (3.5,), (4.5,)]
    assert counts(calls, reduce_retracing=True) == [1, 2, 3, 4, 5, 6, 6, 6, 6]


def test_numbers_are_told_apart_unless_asked():
    assert counts([(1,), (2,), (3,)]) == [1, 2, 3]


# Explanations -------------------------------------------------------------------------------------


def test_retraces_explain_themselves():
    @tf.function
    def f(x, flag=True):
        return x if tf.reduce_sum(x) > 0.0 else -x

    assert f.explain_retraces() == "Function 'f' has not been traced."
    f(ones([2]))
    f(ones([3]))
    f(ones([3]), flag=False)
    f(-ones([3]))
    f((ones([3]), ones([3])))
    lines = f.explain_retraces().splitlines()
    assert lines[0] == "Function 'f':"
    assert "Trace 1, called from " in lines[1]
    assert "test_function_retraces.py:" in lines[1]
    assert lines[1].endswith(": the first call.")
    assert lines[2].endswith(
        "argument 'x' changed from TensorSpec(shape=(2,), dtype=tf.float32, name=None) to "
        "TensorSpec(shape=(3,), dtype=tf.float32, name=None)."
    )
    assert lines[3].endswith("argument 'flag' changed from Literal[True] to Literal[False].")
    assert lines[4].strip().startswith("Another path of trace 2, called from ")
    assert "(`return x if tf.reduce_sum(x) > 0.0 else -x`) was True and is False" in lines[4]
    assert "argument 'x' changed from TensorSpec(" in lines[5]
    assert " to Tuple[TensorSpec(" in lines[5]
    assert len(lines) == 6


def test_changes_inside_of_structures_are_located():
    f = tf.function(lambda d: 0)
    f({"a": [1, 2]})
    f({"a": [1, 3]})
    line = f.explain_retraces().splitlines()[-1]
    assert "argument 'd'['a'][1] changed from Literal[2] to Literal[3]" in line
    g = tf.function(lambda *a: 0)
    g(1)
    g(1, 2)
    assert "it got the arguments (a_0, a_1) instead of (a_0)" in g.explain_retraces()


def test_specialisations_of_a_wider_kind_do_not_count():
    f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None])])
    f(ones([1]))
    f(ones([2]))
    assert f.experimental_get_tracing_count() == 1
    text = f.explain_retraces()
    assert "from now on it serves (x: TensorSpec(shape=(None,)" in text
    assert "Specialisation of trace 1" in text


def test_values_that_the_trace_relied_on_are_shown():
    f = tf.function(lambda x: tf.constant(float(x)) + 1.0)
    f(tf.constant(1.5))
    f(tf.constant(2.5))
    assert "was 1.5 and is 2.5" in f.explain_retraces()


def test_retraces_are_logged(logs):
    logging.getLogger("tensorflow").setLevel(logging.INFO)
    f = tf.function(lambda x: x)
    f(ones([1]))
    assert logs == []
    f(ones([2]))
    assert len(logs) == 1
    assert logs[0].startswith("INFO:Function '<lambda>': Trace 2, called from ")
    f(ones([2]))
    assert len(logs) == 1


# The warning --------------------------------------------------------------------------------------

REST = (
    " triggered tf.function retracing. Tracing is expensive and the excessive number of tracings "
    "could be due to (1) creating @tf.function repeatedly in a loop, (2) passing tensors with "
    "different shapes, (3) passing Python objects instead of tensors. For (1), please define your "
    "@tf.function outside of the loop. For (2), @tf.function has reduce_retracing=True option that "
    "can avoid unnecessary retracing. For (3), please refer to "
    "https://www.tensorflow.org/guide/function#controlling_retracing and "
    "https://www.tensorflow.org/api_docs/python/tf/function for  more details."
)


def test_frequent_retracing_is_warned_of_twice(logs):
    f = tf.function(lambda x: x)
    for i in range(8):
        f(i)
    name = f.python_function
    assert logs == [
        f"WARNING:5 out of the last 5 calls to {name}{REST}",
        f"WARNING:6 out of the last 6 calls to {name}{REST}",
    ]


def test_calls_that_do_not_trace_are_counted_too(logs):
    f = tf.function(lambda x: x)
    for i in range(5):
        f(i)
        f(i)
    assert [log.split(" calls")[0] for log in logs] == ["WARNING:5 out of the last 9"]


def test_functions_made_in_a_loop_are_counted_together(logs):
    for _ in range(5):
        tf.function(lambda x: x)(ones([1]))
    assert len(logs) == 1


def test_rare_retracing_is_not_warned_of(logs):
    f = tf.function(lambda x: x)
    for i in range(8):
        for _ in range(6):
            f(i)
    g = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None])])
    for i in range(8):
        g(ones([i]))
    assert logs == []
