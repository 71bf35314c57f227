"""Batches, windows and combinations of datasets: messages, laziness, and work that is saved."""

import itertools

import numpy as np
import pytest

import gradtape as tf

D = tf.data.Dataset


def counted(count):
    """A dataset of numbers, and a list that the numbers of made elements are added to."""
    made = []

    def numbers():
        for i in range(count):
            made.append(i)
            yield i

    return D.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int64)), made


def lengths(*sizes):
    """A dataset of vectors of these lengths."""
    arrays = [np.arange(size) for size in sizes]
    return D.from_generator(lambda: arrays, output_signature=tf.TensorSpec([None], tf.int64))


# Messages -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: D.range(3).batch(0), "InvalidArgumentError", "Batch size must be greater than"),
        (lambda: D.range(3).batch([2]), "InvalidArgumentError", "batch_size must be a scalar"),
        (lambda: D.range(3).window(2, 0), "InvalidArgumentError", "Window shift must be greater"),
        (lambda: D.range(3).window(2, 1, 0), "InvalidArgumentError", "Window stride must be"),
        (lambda: D.range(3).unbatch(), "ValueError", "Cannot unbatch an input with scalar"),
        (
            lambda: D.from_tensors(([1], [1, 2])).unbatch(),
            "ValueError",
            "matching leading dimension. Encountered both 1 and 2",
        ),
        (lambda: D.range(3).rebatch(2), "ValueError", "adding the `batch` transformation"),
        (lambda: D.range(3).batch(2).rebatch(-1), "InvalidArgumentError", "not be negative"),
        (lambda: D.zip([D.range(3)]), "TypeError", "you should use `tuple` instead"),
        (lambda: D.zip((D.range(3), 1)), "TypeError", "encountered object of type <class 'int'>"),
        (
            lambda: D.range(3).concatenate(D.from_tensors("a")),
            "TypeError",
            "Incompatible dataset elements:\n  TensorSpec(shape=(), dtype=tf.int64, name=None) vs.",
        ),
        (
            lambda: D.choose_from_datasets([D.range(3), D.from_tensors("a")], D.range(2)),
            "TypeError",
            "Dataset 1 element_spec=TensorSpec(shape=(), dtype=tf.string",
        ),
        (
            lambda: lengths(1).padded_batch(2, [None, None]),
            "ValueError",
            "The padded shape (None, None) is not compatible with the shape (None,)",
        ),
        (
            lambda: lengths(1).padded_batch(2, padding_values=1),
            "TypeError",
            "type tf.int32 does not match type tf.int64",
        ),
        (
            lambda: lengths(1).bucket_by_sequence_length(len, [2], [1]),
            "ValueError",
            "`len(bucket_batch_sizes)=1` and `len(bucket_boundaries)=1`",
        ),
        (
            lambda: D.range(3).group_by_window(lambda x: x, lambda k, w: k, window_size=1),
            "TypeError",
            "`reduce_func` must return a single `tf.data.Dataset` object",
        ),
        (lambda: next(iter(lengths(1, 2).batch(2))), "InvalidArgumentError", "in component 0"),
        (lambda: next(iter(lengths(3).padded_batch(2, [2]))), "DataLossError", "smaller size"),
        (
            lambda: next(iter(lengths(3).sparse_batch(2, [2]))),
            "DataLossError",
            "Input element had shape ([3]) that is larger than the row shape ([2]).",
        ),
        (
            lambda: tf.data.experimental.at(D.range(3), 3),
            "OutOfRangeError",
            "Index out of range [0, 3):3",
        ),
        (
            lambda: tf.data.experimental.at(D.range(3).repeat(), 3),
            "FailedPreconditionError",
            "has infinite cardinality, which does not support random access",
        ),
    ],
)
def test_messages(make, error, text):
    with pytest.raises(Exception) as raised:  # noqa: PT011 - the class is compared by its name
        make()
    assert type(raised.value).__name__ == error
    assert text in str(raised.value)


def test_deterministic_has_no_effect_on_its_own():
    with pytest.warns(UserWarning, match="`deterministic` argument has no effect"):
        D.range(3).batch(2, deterministic=True)


# Only what is needed ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("transform", "needed"),
    [
        (lambda dataset: dataset.batch(3), 3),
        (lambda dataset: dataset.padded_batch(3), 3),
        (lambda dataset: dataset.window(3, shift=1), 3),
        (lambda dataset: dataset.enumerate(), 1),
        (lambda dataset: dataset.batch(4).unbatch(), 4),
        (lambda dataset: dataset.batch(4).rebatch(2), 4),
        (lambda dataset: dataset.concatenate(D.range(2)), 1),
        (lambda dataset: D.range(1).concatenate(dataset), 0),
        (lambda dataset: D.zip(dataset, D.range(9)), 1),
        (lambda dataset: D.choose_from_datasets([D.range(9), dataset], D.range(2)), 0),
        (
            lambda dataset: dataset.group_by_window(
                lambda x: x % 2, lambda key, group: group.batch(2), window_size=2
            ),
            3,
        ),
    ],
)
def test_elements_are_made_when_needed(transform, needed):
    dataset, made = counted(9)
    iterator = iter(transform(dataset))
    assert made == []
    next(iterator)
    assert len(made) == needed


def test_a_spec_that_takes_an_element_is_not_asked_for():
    made = []

    def vectors():
        for i in range(3):
            made.append(i)
            yield np.arange(6)

    dataset = D.from_generator(vectors, output_signature=tf.TensorSpec([None], tf.int64))
    # What it returns cannot be told by examples: no vector of another length would do.
    pairs = dataset.map(lambda x: tf.stack(tf.split(x, [2, 2, 2])))
    combined = pairs.concatenate(pairs).unbatch()
    assert made == []
    assert [x.numpy().tolist() for x in combined.take(4)] == [[0, 1], [2, 3], [4, 5], [0, 1]]


# Rows of arrays -----------------------------------------------------------------------------------


def gathered(dataset):
    """Whether batches of a dataset are made without elements."""

    def refuse():
        raise AssertionError("an element was made")

    for each in (dataset, *dataset._inputs):
        each._elements = refuse
    try:
        return [[part.numpy().tolist() for part in batch] for batch in dataset.batch(2)]
    except AssertionError:
        return None


def test_batches_of_rows_are_gathered():
    slices = D.from_tensor_slices((np.arange(3), np.arange(6).reshape(3, 2)))
    assert gathered(slices) == [[[0, 1], [[0, 1], [2, 3]]], [[2], [[4, 5]]]]
    shuffled = D.from_tensor_slices((np.arange(3), np.arange(3))).shuffle(1)
    assert gathered(shuffled) == [[[0, 1], [0, 1]], [[2], [2]]]


def test_zipped_slices_are_gathered():
    numbers, letters = D.from_tensor_slices(np.arange(3)), D.from_tensor_slices(list("abcd"))
    assert gathered(D.zip(numbers, letters)) == [[[0, 1], [b"a", b"b"]], [[2], [b"c"]]]


def test_enumerated_slices_are_gathered():
    letters = D.from_tensor_slices(list("abc"))
    assert gathered(letters.enumerate(5)) == [[[5, 6], [b"a", b"b"]], [[7], [b"c"]]]


def test_zipped_in_another_order_are_not_gathered():
    numbers = D.from_tensor_slices(np.arange(4))
    zipped = D.zip(numbers, numbers.skip(1))
    assert zipped._rows() is None
    assert [[int(a), int(b)] for a, b in zipped] == [[0, 1], [1, 2], [2, 3]]


def test_a_batch_is_no_view_of_a_buffer_that_changes():
    dataset = D.from_tensor_slices(np.arange(6)).batch(3)
    first, second = dataset
    assert first.numpy().tolist() == [0, 1, 2]
    assert second.numpy().tolist() == [3, 4, 5]


# Datasets in datasets -----------------------------------------------------------------------------


def test_windows_outlive_their_dataset():
    windows = list(D.range(5).window(2))
    assert [len(window) for window in windows] == [2, 2, 1]
    assert [[int(x) for x in window] for window in windows * 2] == [[0, 1], [2, 3], [4]] * 2


def test_sizes_of_windows_are_asked_for_once_for_each_key():
    asked = []

    def size_of(key):
        asked.append(1)
        return tf.numpy_function(lambda k: asked.append(int(k)) or k + 1, [key], tf.int64)

    dataset = D.range(8).group_by_window(
        lambda x: x % 2, lambda key, group: group.batch(9), window_size_func=size_of
    )
    asked.clear()
    sizes = [len(batch) for batch in dataset]
    assert sizes == [1, 1, 2, 1, 1, 2]
    assert [key for key in asked if key == 0] == [0]


def test_reducer_keeps_its_functions():
    reducer = tf.data.experimental.Reducer(int, len, str)
    assert (reducer.init_func, reducer.reduce_func, reducer.finalize_func) == (int, len, str)


def test_groups_are_reduced_anew_in_each_iteration():
    reducer = tf.data.experimental.Reducer(lambda key: key, lambda s, x: s + x, lambda s: s)
    sums = D.range(5).apply(tf.data.experimental.group_by_reducer(lambda x: x % 2, reducer))
    assert [int(x) for x in sums] == [6, 5]
    assert [int(x) for x in sums] == [6, 5]


def test_enumerate_supports_access_by_number():
    number, element = tf.data.experimental.at(D.range(5, 9).enumerate(10), 2)
    assert (int(number), int(element)) == (12, 7)


def test_empty_batches_never_end():
    batches = iter(D.range(3).batch(2).rebatch(0))
    assert [len(batch) for batch in itertools.islice(batches, 100)] == [0] * 100
