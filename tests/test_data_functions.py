"""Functions of datasets: when they run, what they see, and what is known of their results."""

import collections
import functools
import gc
import logging
import weakref

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.active import thread

D = tf.data.Dataset


def values(dataset):
    return [np.asarray(x.numpy(), object).tolist() for x in dataset]


def is_traced():
    """Whether the function that asks is being traced."""
    return thread.trace is not None


def shape_of(dataset):
    return dataset.element_spec.shape


# When functions run -------------------------------------------------------------------------------


def test_a_function_runs_once_when_shapes_are_known():
    runs = []
    dataset = D.range(50).map(lambda x: runs.append(1) or x + 1)
    assert len(runs) == 1
    assert dataset.element_spec == tf.TensorSpec((), tf.int64)
    assert values(dataset)[-1] == 50
    assert values(dataset)[0] == 1
    assert len(runs) == 1


def test_an_error_of_python_code_shows_at_construction():
    with pytest.raises(ZeroDivisionError):
        D.range(3).map(lambda x: x + 1 // 0)


@pytest.mark.parametrize("function", [tf.py_function, tf.numpy_function])
def test_python_code_in_an_op_runs_for_each_element_and_not_before(function):
    seen = []

    def note(x):
        seen.append(int(x))
        return x

    dataset = D.range(4).map(lambda x: function(note, [x], tf.int64))
    assert dataset.element_spec == tf.TensorSpec(None, tf.int64)
    assert seen == []
    assert values(dataset) == [0, 1, 2, 3]
    assert seen == [0, 1, 2, 3]


def test_files_are_not_read_before_the_dataset_is_run(tmp_path):
    path = tmp_path / "late.txt"
    dataset = D.from_tensors(str(path)).map(tf.io.read_file).map(tf.strings.length)
    assert dataset.element_spec == tf.TensorSpec((), tf.int32)
    path.write_bytes(b"12345")
    assert values(dataset) == [5]


def test_printing_waits_for_elements(capfd):
    dataset = D.range(2).map(lambda x: (tf.print("element", x), x)[1])
    assert capfd.readouterr().err == ""
    assert values(dataset) == [0, 1]
    assert capfd.readouterr().err == "element 0\nelement 1\n"


def test_a_spec_that_takes_an_element_asks_for_one_only():
    pulled = []

    def numbers():
        for i in range(100):
            pulled.append(i)
            yield i

    source = D.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int32))
    dataset = source.map(lambda x: np.float32(int(x) ** 0.5) if x >= 0 else np.float32(0))
    chained = dataset.map(lambda x: x + 1)
    assert chained.element_spec == tf.TensorSpec((), tf.float32)
    assert len(pulled) <= 2


def test_random_numbers_are_not_used_up_by_construction():
    def first_number(is_mapped):
        tf.random.set_seed(4)
        if is_mapped:
            D.range(3).map(lambda x: tf.random.uniform([]))
        return float(tf.random.uniform([]))

    assert first_number(True) == first_number(False)


def test_random_numbers_differ_between_elements():
    tf.random.set_seed(4)
    assert len(set(values(D.range(20).map(lambda x: tf.random.uniform([]))))) == 20


# What functions may be ----------------------------------------------------------------------------


class Adder:
    def __init__(self, n):
        self.n = n

    def add(self, x):
        return x + self.n

    __call__ = add

    @tf.function
    def traced(self, x):
        return x * self.n


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (Adder(3), [3, 4, 5]),
        (Adder(3).add, [3, 4, 5]),
        (functools.partial(lambda a, x: x - a, 1), [-1, 0, 1]),
        (functools.partial(lambda x, a: x - a, a=2), [-2, -1, 0]),
        (tf.function(lambda x: x * 2), [0, 2, 4]),
        (tf.negative, [0, -1, -2]),
        (lambda x, scale=10: x * scale, [0, 10, 20]),
    ],
)
def test_kinds_of_functions(function, expected):
    assert values(D.range(3).map(function)) == expected


def test_a_traced_method():
    adder = Adder(4)
    assert values(D.range(3).map(adder.traced)) == [0, 4, 8]


def test_a_named_tuple_goes_in_as_one_and_comes_out():
    Pair = collections.namedtuple("Pair", "a b")
    dataset = D.range(2).map(lambda x: Pair(x, -x)).map(lambda p: Pair(p.b, p.a))
    assert [type(each).__name__ for each in dataset] == ["Pair", "Pair"]
    assert [int(each.a) for each in dataset] == [0, -1]


def test_python_control_flow():
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    dataset = D.range(1, 12).map(collatz)
    assert values(dataset) == [0, 1, 7, 2, 5, 8, 16, 3, 19, 6, 14]


def test_lookup_by_python_values():
    names = {0: "zero", 1: "one", 2: "two"}
    dataset = D.range(3).map(lambda x: names[int(x)])
    assert values(dataset) == [b"zero", b"one", b"two"]
    assert dataset.element_spec == tf.TensorSpec((), tf.string)


def test_many_python_values_are_no_trouble():
    runs = []
    dataset = D.range(500).map(lambda x: runs.append(is_traced()) or int(x) * 2)
    assert values(dataset) == list(range(0, 1000, 2))
    # A trace for each value would be of no use to any other.
    assert sum(runs) < 10


def test_a_value_that_python_cannot_convert_fails_at_its_element():
    dataset = D.from_tensor_slices(["1", "x", "3"]).map(lambda s: int(s.numpy()))
    assert values(dataset.take(1)) == [1]
    iterator = iter(dataset)
    assert int(next(iterator)) == 1
    with pytest.raises(ValueError, match="invalid literal"):
        next(iterator)
    assert int(next(iterator)) == 3


def test_the_end_of_an_iterator_in_a_function_does_not_end_the_dataset():
    inner = iter(D.range(1))
    elements = iter(D.range(3).map(lambda x: next(inner)))
    assert int(next(elements)) == 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="End of sequence"):
        next(elements)


def test_assert_fails_at_its_element():
    def below_two(x):
        assert x < 2, "too large"
        return x

    iterator = iter(D.range(4).map(below_two))
    assert [int(next(iterator)), int(next(iterator))] == [0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        next(iterator)


# Variables ----------------------------------------------------------------------------------------


def test_changes_of_a_variable_are_seen_at_later_elements():
    scale = tf.Variable(1, dtype=tf.int64)
    iterator = iter(D.range(1, 5).map(lambda x: x * scale))
    assert int(next(iterator)) == 1
    scale.assign(10)
    assert [int(x) for x in iterator] == [20, 30, 40]


def test_a_function_may_write_to_a_variable():
    total = tf.Variable(0, dtype=tf.int64)
    dataset = D.range(5).map(lambda x: total.assign_add(x))
    assert int(total) == 0
    assert values(dataset) == [0, 1, 3, 6, 10]
    assert int(total) == 10


def test_tensors_from_outside_are_constants():
    table = tf.constant([10, 20, 30])
    assert values(D.range(3).map(lambda i: table[i])) == [10, 20, 30]


def test_tapes_do_not_see_what_computes_elements():
    w = tf.Variable(2.0)
    dataset = D.from_tensor_slices([1.0, 2.0]).map(lambda x: x * w)
    with tf.GradientTape() as tape:
        total = tf.add_n(list(dataset)) * w
    assert float(tape.gradient(total, w)) == 6.0


def test_reduce_inside_of_a_tape():
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        total = D.from_tensor_slices([1.0, 2.0]).reduce(0.0, lambda s, x: s + x * w) * w
    assert float(tape.gradient(total, w)) == 6.0


# What is known of results -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: tf.zeros([3]) if x > 1 else tf.ones([3]), [3]),
        (lambda x: tf.zeros([3]) if x > 1 else tf.ones([4]), [None]),
        (lambda x: tf.zeros([2, 3]) if x > 1 else tf.ones([4, 3]), [None, 3]),
        (lambda x: tf.zeros([3]) if tf.random.uniform([]) > 0.5 else tf.ones([4]), [None]),
        (lambda x: tf.zeros([3]) if tf.random.uniform([]) > 0.5 else tf.ones([3]), [3]),
        # No example is 77: what happens then is not known, nor how large results are.
        (lambda x: tf.zeros([3]) if x == 77 else tf.ones([4]), [None]),
        (lambda x: tf.zeros([int(x)]), [None]),
        (lambda x: tf.zeros([int(x) + 2, 2])[0], [None]),
        (lambda x: tf.unique(tf.stack([x, x, x]))[0], [None]),
        (lambda x: tf.boolean_mask(tf.zeros([3, 4]), [x > 0, x > 1, x > 2]), [None, 4]),
    ],
)
def test_sizes_are_known_only_if_no_value_changes_them(function, shape):
    dataset = D.range(3).map(function)
    assert shape_of(dataset) == tf.TensorShape(shape)
    assert all([shape_of(dataset).is_compatible_with(x.shape) for x in dataset])


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: x[:1], [None]),
        (lambda x: x[-2:], [None]),
        (lambda x: tf.concat([x, [1]], 0), [None]),
        (lambda x: tf.reshape(x, [tf.shape(x)[0], 1]), [None, 1]),
        (lambda x: tf.reduce_sum(x, keepdims=True), [1]),
    ],
)
def test_sizes_that_follow_from_open_sizes_are_open(function, shape):
    signature = tf.TensorSpec([None], tf.int32)
    dataset = D.from_generator(lambda: iter([[], [1], [1, 2, 3]]), output_signature=signature)
    assert shape_of(dataset.map(function)) == tf.TensorShape(shape)


def test_a_picture_resized_has_a_known_size(tmp_path):
    for name, size in ("a", (5, 4)), ("b", (3, 9)):
        picture = tf.io.encode_png(np.zeros((*size, 3), np.uint8))
        (tmp_path / f"{name}.png").write_bytes(picture.numpy())

    def load(path):
        image = tf.io.decode_png(tf.io.read_file(path), channels=3)
        return tf.image.resize(image, [6, 7])

    paths = [str(tmp_path / "a.png"), str(tmp_path / "b.png")]
    dataset = D.from_tensor_slices(paths).map(load)
    assert shape_of(dataset).as_list()[:2] == [6, 7]
    assert next(iter(dataset.batch(2))).shape == (2, 6, 7, 3)


def test_a_reshape_that_suits_only_real_elements():
    signature = tf.TensorSpec([None], tf.float32)
    elements = [np.ones(28, np.float32), np.ones(56, np.float32)]
    dataset = D.from_generator(lambda: iter(elements), output_signature=signature)
    dataset = dataset.map(lambda x: tf.reshape(x, [-1, 28]))
    assert [x.shape for x in dataset] == [(1, 28), (2, 28)]
    assert shape_of(dataset) == tf.TensorShape([None, 28])


def test_an_unknown_spec_of_an_empty_dataset_says_so():
    dataset = D.range(0).map(lambda x: {5: "five"}[int(x)])
    assert list(dataset) == []
    with pytest.raises(ValueError, match="shows when it is called with an element"):
        dataset.element_spec  # noqa: B018 - that is what fails


# Shapes that differ -------------------------------------------------------------------------------


def test_elements_of_many_shapes_are_traced_neither_each_nor_with_a_warning(caplog):
    runs = []
    signature = tf.TensorSpec([None], tf.int64)
    dataset = D.from_generator(
        lambda: iter([np.arange(i) for i in range(200)]), output_signature=signature
    )
    with caplog.at_level(logging.WARNING):
        dataset = dataset.map(lambda x: runs.append(is_traced()) or tf.reduce_sum(x))
        assert values(dataset) == [sum(range(i)) for i in range(200)]
    assert len(runs) <= 210
    assert sum(runs) < 10
    assert not caplog.records


def test_shapes_that_come_again_are_traced():
    runs = []
    dataset = D.range(100).batch(3).map(lambda x: runs.append(1) or x * 2)
    assert values(dataset)[-1] == [198]
    assert len(runs) <= 5


def test_ragged_and_sparse_elements_go_through_functions():
    ragged = tf.ragged.constant([[1, 2], [3], []])
    dataset = D.from_tensors(ragged).map(lambda r: (r * 2, tf.reduce_sum(r, 1)))
    doubled, sums = next(iter(dataset))
    assert doubled.to_list() == [[2, 4], [6], []]
    assert sums.numpy().tolist() == [3, 3, 0]
    sparse = D.from_tensors(tf.sparse.from_dense([[0, 5]])).map(lambda s: s * 2)
    assert tf.sparse.to_dense(next(iter(sparse))).numpy().tolist() == [[0, 10]]


# Datasets in functions ----------------------------------------------------------------------------


def test_inner_functions_are_not_traced_for_each_outer_element():
    runs = []

    def inner(y):
        runs.append(is_traced())
        return y * 2

    dataset = D.range(100).flat_map(lambda x: D.range(2).map(inner))
    runs.clear()
    assert values(dataset) == [0, 2] * 100
    assert len(runs) <= 210
    assert sum(runs) < 10


def test_inner_functions_are_traced_when_they_pay():
    runs = []
    dataset = D.range(1).flat_map(lambda x: D.range(500).map(lambda y: runs.append(1) or y + x))
    before = len(runs)
    assert values(dataset) == list(range(500))
    assert len(runs) - before < 20


def test_a_dataset_from_outside_is_run_for_each_element():
    total = tf.Variable(1, dtype=tf.int64)
    other = D.range(3).map(lambda x: x + total)
    iterator = iter(D.range(3).map(lambda x: other.reduce(x, lambda s, y: s + y)))
    assert int(next(iterator)) == 6
    total.assign(2)
    assert int(next(iterator)) == 10


# Reduce and scan ----------------------------------------------------------------------------------


def test_the_state_of_reduce_is_checked_before_elements_are_made():
    pulled = []
    source = D.from_generator(
        lambda: iter([pulled.append(1) or 1]), output_signature=tf.TensorSpec((), tf.int32)
    )
    with pytest.raises(TypeError, match="element types for the new state must match"):
        source.reduce(0, lambda s, x: 1.5)
    assert pulled == []


def test_a_state_may_grow():
    found = D.range(4).reduce(
        (tf.zeros([0], tf.int64), 0), lambda s, x: (tf.concat([s[0], [x]], 0), s[1] + 1)
    )
    assert found[0].numpy().tolist() == [0, 1, 2, 3]
    assert int(found[1]) == 4


def test_two_scans_do_not_share_their_states():
    dataset = D.range(1, 4).scan(np.int64(0), lambda s, x: (s + x, s + x))
    first, second = iter(dataset), iter(dataset)
    assert [int(next(first)), int(next(first)), int(next(second))] == [1, 3, 1]


# Options, errors, memory --------------------------------------------------------------------------


def test_log_warning_tells_of_errors(caplog):
    dataset = D.range(3).map(lambda x: 6 // (x - 1)).ignore_errors(log_warning=True)
    with caplog.at_level(logging.WARNING):
        assert values(dataset) == [-6, 6]
    assert "Error raised with error message" in caplog.text


def test_errors_are_ignored_silently_otherwise(caplog):
    with caplog.at_level(logging.WARNING):
        assert values(D.range(3).map(lambda x: 6 // (x - 1)).ignore_errors()) == [-6, 6]
    assert not caplog.records


def test_options_of_a_dataset_do_not_follow_those_they_were_made_of():
    options = tf.data.Options()
    options.threading.private_threadpool_size = 2
    dataset = D.range(2).with_options(options)
    options.threading.private_threadpool_size = 3
    assert dataset.options().threading.private_threadpool_size == 2
    with pytest.raises(ValueError, match="has no effect"):
        dataset.options().threading.private_threadpool_size = 4


def test_in_debug_mode_functions_run_for_each_element(monkeypatch):
    from gradtape.data.functions import debugging

    monkeypatch.setattr(debugging, "is_on", False)
    tf.data.experimental.enable_debug_mode()
    runs = []
    dataset = D.range(3).map(lambda x: runs.append(int(x)) or x)
    runs.clear()
    assert values(dataset) == [0, 1, 2]
    assert runs == [0, 1, 2]


def test_datasets_that_a_function_made_are_not_kept():
    made = []

    def make(x):
        dataset = D.from_tensors(x)
        made.append(weakref.ref(dataset))
        return dataset

    flat = D.range(3).flat_map(make)
    assert values(flat) == [0, 1, 2]
    gc.collect()
    assert [dataset for dataset in made if dataset() is not None] == []


def test_a_dataset_is_freed_with_what_its_function_holds():
    class Thing:
        pass

    thing = Thing()
    watch = weakref.ref(thing)
    dataset = D.range(3).map(lambda x, held=thing: x if held else -x)
    assert values(dataset) == [0, 1, 2]
    del dataset, thing
    gc.collect()
    assert watch() is None
