"""Dataset.from_generator: when generators start and end, and what is said of their errors."""

import gc
import itertools
import weakref

import numpy as np
import pytest

import gradtape as tf

D = tf.data.Dataset
NUMBER = tf.TensorSpec((), tf.int32)


def generated(generator, spec=NUMBER, **kwargs):
    return D.from_generator(generator, output_signature=spec, **kwargs)


def test_a_generator_starts_with_the_first_element_and_anew_for_each_iteration():
    log = []

    def generator():
        log.append("start")
        yield 1
        yield 2

    dataset = generated(generator)
    iterator = iter(dataset)
    assert not log
    assert int(next(iterator)) == 1
    assert log == ["start"]
    assert [int(x) for x in dataset.repeat(2)] == [1, 2, 1, 2]
    assert log == ["start"] * 3
    assert int(next(iterator)) == 2


@pytest.mark.parametrize("how", ["dropped", "exhausted", "taken from", "left"])
def test_a_generator_is_closed(how):
    log = []

    def generator():
        try:
            yield from range(3)
        finally:
            log.append("closed")

    dataset = generated(generator)
    if how == "dropped":
        iterator = iter(dataset)
        next(iterator)
        assert not log
        del iterator
    elif how == "exhausted":
        iterator = iter(dataset)
        assert len(list(iterator)) == 3
    elif how == "taken from":
        assert len(list(dataset.take(1))) == 1
    else:
        for _ in dataset:
            break
    gc.collect()
    assert log == ["closed"]


def test_an_exhausted_iterator_keeps_nothing_of_the_generator():
    class Source:
        def __init__(self):
            self.items = iter([1])

        def __iter__(self):
            return self

        def __next__(self):
            return next(self.items)

    made = []

    def generator():
        source = Source()
        made.append(weakref.ref(source))
        return source

    iterator = iter(generated(generator))
    assert int(next(iterator)) == 1
    assert made[0]() is not None
    assert next(iterator, "end") == "end"
    gc.collect()
    assert made[0]() is None
    assert next(iterator, "end") == "end"
    assert len(made) == 1


def test_a_generator_may_write_into_its_arguments():
    def generator(array):
        array += 1
        yield array

    dataset = generated(generator, tf.TensorSpec([2], tf.int32), args=([1, 2],))
    for _ in range(2):
        assert next(iter(dataset)).numpy().tolist() == [2, 3]


@pytest.mark.parametrize(
    ("generator", "spec", "error", "message"),
    [
        (
            lambda: ["a"],
            NUMBER,
            tf.errors.InvalidArgumentError,
            "TypeError: `generator` yielded an element that could not be converted to the expected "
            "type. The expected type was int32, but the yielded element was a.",
        ),
        (
            lambda: [[1]],
            NUMBER,
            tf.errors.InvalidArgumentError,
            "TypeError: `generator` yielded an element of shape (1,) where an element of shape () "
            "was expected.",
        ),
        (
            lambda: [(1, 2)],
            (NUMBER,),
            tf.errors.InvalidArgumentError,
            "TypeError: `generator` yielded an element that did not match the expected structure. "
            "The expected structure was (tf.int32,), but the yielded element was (1, 2).",
        ),
        (
            lambda: [tf.ragged.constant([[1]])],
            tf.RaggedTensorSpec([2, None], tf.int32),
            tf.errors.InvalidArgumentError,
            "TypeError: `generator` yielded an element of RaggedTensorSpec(TensorShape([1, None]), "
            "tf.int32, 1, tf.int64) where an element of RaggedTensorSpec(TensorShape([2, None]), "
            "tf.int32, 1, tf.int64) was expected.",
        ),
        (
            lambda: [1],
            tf.SparseTensorSpec([2], tf.int32),
            tf.errors.InvalidArgumentError,
            "TypeError: `generator` yielded an element that did not match the expected structure. "
            "The expected structure was SparseTensorSpec(TensorShape([2]), tf.int32), but the "
            "yielded element was 1.",
        ),
        (
            lambda: [1],
            tf.TensorSpec((), tf.string),
            tf.errors.InternalError,
            "Unsupported object type int",
        ),
        (
            lambda: (1 // i for i in [0]),
            NUMBER,
            tf.errors.UnknownError,
            "ZeroDivisionError: integer division or modulo by zero",
        ),
        (
            lambda: 5,
            NUMBER,
            tf.errors.InvalidArgumentError,
            "TypeError: 'int' object is not iterable",
        ),
    ],
    ids=["type", "shape", "structure", "ragged", "sparse", "string", "exception", "factory"],
)
def test_errors_of_a_generator(generator, spec, error, message):
    with pytest.raises(error) as caught:
        list(generated(generator, spec))
    assert caught.value.message == f"{message} [Op:IteratorGetNext] name: "


def test_the_exception_of_a_generator_is_the_cause():
    def generator():
        yield 1
        raise KeyError("mine")

    iterator = iter(generated(generator))
    next(iterator)
    with pytest.raises(tf.errors.UnknownError, match="KeyError: 'mine'") as caught:
        next(iterator)
    assert isinstance(caught.value.__cause__, KeyError)
    assert next(iterator, None) is None


def test_a_generator_that_cannot_be_started_is_tried_once():
    calls = []

    def generator():
        calls.append(1)
        raise ValueError("not now")

    iterator = iter(generated(generator))
    with pytest.raises(tf.errors.InvalidArgumentError, match="ValueError: not now"):
        next(iterator)
    assert next(iterator, "end") == "end"
    assert calls == [1]


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({}, "need to provide either the `output_signature` argument or the `output_types`"),
        (
            {"output_signature": NUMBER, "output_types": tf.int32},
            "`output_types` argument can not be used together with the `output_signature`",
        ),
        (
            {"output_signature": NUMBER, "output_shapes": ()},
            "`output_shapes` argument can not be used together with the `output_signature`",
        ),
        (
            {"output_signature": [NUMBER]},
            "must contain objects that are subclass of `tf.TypeSpec` but found <class 'list'>",
        ),
    ],
)
def test_signatures_that_make_no_sense(kwargs, message):
    with pytest.raises(TypeError, match=message):
        D.from_generator(lambda: [1], **kwargs)


def test_a_generator_must_be_callable():
    with pytest.raises(TypeError, match="`generator` must be a Python callable"):
        generated(iter([1]))


def test_generators_of_several_iterators_at_once():
    dataset = generated(lambda: itertools.count())
    first, second = iter(dataset), iter(dataset)
    pairs = [(int(next(first)), int(next(second))) for _ in range(3)]
    assert pairs == [(0, 0), (1, 1), (2, 2)]


def test_a_generator_may_reuse_its_array():
    def generator():
        array = np.zeros(2, np.int32)
        for i in range(3):
            array[:] = i
            yield array

    dataset = generated(generator, tf.TensorSpec([2], tf.int32))
    assert [x.numpy().tolist() for x in list(dataset)] == [[0, 0], [1, 1], [2, 2]]


def test_a_single_element_is_not_read_past():
    read = []

    def generator():
        for i in range(10):
            read.append(i)
            yield i

    with pytest.raises(tf.errors.InvalidArgumentError):
        generated(generator).get_single_element()
    assert read == [0, 1]


def test_tapes_do_not_record_what_a_generator_does():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        (value,) = generated(lambda: [x * 3.0], tf.TensorSpec((), tf.float32))
    assert float(value) == 6.0
    assert tape.watched_variables() == ()
