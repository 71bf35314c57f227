"""bincount, confusion_matrix, histograms: argument forms, gradients, errors."""

import numpy as np
import pytest

import gradtape as tf


def gradient(function, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, [0, 2, 1, 0, 0, 1]),
        ({"minlength": 8}, [0, 2, 1, 0, 0, 1, 0, 0]),
        ({"maxlength": 3}, [0, 2, 1]),
        ({"minlength": 4, "maxlength": 3}, [0, 2, 1]),
        ({"binary_output": True}, [0, 1, 1, 0, 0, 1]),
        ({"minlength": tf.constant(7), "maxlength": tf.constant(9)}, [0, 2, 1, 0, 0, 1, 0]),
        ({"axis": -1}, [0, 2, 1, 0, 0, 1]),
        ({"axis": 0}, [0, 2, 1, 0, 0, 1]),
    ],
)
def test_bincount_of_a_vector(arguments, expected):
    counts = tf.math.bincount([1, 1, 2, 5], **arguments)
    assert counts.dtype == tf.int32
    assert counts.numpy().tolist() == expected


def test_bincount_of_a_matrix():
    matrix = [[1, 1, 2], [0, 0, 3]]
    assert tf.math.bincount(matrix).numpy().tolist() == [2, 2, 1, 1]
    rows = tf.math.bincount(matrix, axis=-1)
    assert rows.numpy().tolist() == [[0, 2, 1, 0], [2, 0, 0, 1]]
    weighted = tf.math.bincount(matrix, weights=[[1.0, 2, 3], [4, 5, 6]], axis=-1)
    assert weighted.numpy().tolist() == [[0, 3, 3, 0], [9, 0, 0, 6]]
    once = tf.math.bincount(matrix, axis=-1, binary_output=True)
    assert once.numpy().tolist() == [[0, 1, 1, 0], [1, 0, 0, 1]]


def test_bincount_dtypes():
    assert tf.math.bincount([1, 2], dtype=tf.int64).dtype == tf.int64
    assert tf.math.bincount([1, 2], weights=[1, 2], dtype=tf.float32).dtype == tf.int32
    assert tf.math.bincount([1.0, 2.0]).numpy().tolist() == [0, 1, 1]
    assert tf.math.bincount(tf.zeros([0], tf.int32)).shape == (0,)
    assert tf.math.bincount(3).numpy().tolist() == [0, 0, 0, 1]


def test_weights_have_gradients():
    found = gradient(
        lambda w: tf.math.bincount([0, 1, 1, 4], weights=w, maxlength=3) ** 2, [1.0, 2, 3, 4]
    )
    assert found.numpy().tolist() == [2, 10, 10, 0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tf.math.bincount([-1, 1]), tf.errors.InvalidArgumentError, "non-negative"),
        (lambda: tf.math.bincount([[[1]]], axis=-1), tf.errors.InvalidArgumentError, "rank 3"),
        (lambda: tf.math.bincount([1], axis=1), ValueError, "axis=1. Only 0 and -1"),
        (
            lambda: tf.math.bincount([1], weights=[1.0], binary_output=True),
            ValueError,
            "mutually exclusive",
        ),
        (lambda: tf.math.bincount([1], maxlength=-1), tf.errors.InvalidArgumentError, r"\(-1\)"),
    ],
)
def test_bincount_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_confusion_matrix():
    matrix = tf.math.confusion_matrix([1, 2, 4], [2, 2, 4])
    expected = np.zeros((5, 5), np.int32)
    expected[1, 2] = expected[2, 2] = expected[4, 4] = 1
    assert matrix.dtype == tf.int32
    np.testing.assert_array_equal(matrix, expected)
    column = tf.math.confusion_matrix([[1], [2]], [2, 2], num_classes=3)
    np.testing.assert_array_equal(column, expected[:3, :3])


def test_weights_are_rounded_only_at_the_end_of_the_dtype():
    weights = [0.5, 2.0, 3.0]
    matrix = tf.math.confusion_matrix([1, 2, 4], [2, 2, 4], weights=weights, dtype=tf.float32)
    assert matrix[1, 2] == 0.5
    whole = tf.math.confusion_matrix([1, 2, 4], [2, 2, 4], weights=weights)
    assert whole.numpy().sum() == 5


def test_the_gradient_of_confusion_weights():
    found = gradient(
        lambda w: tf.math.confusion_matrix([0, 1], [1, 1], weights=w, dtype=tf.float32) ** 2,
        [1.0, 5.0],
    )
    assert found.numpy().tolist() == [2, 10]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: tf.math.confusion_matrix([1, 4], [2, 2], num_classes=3),
            tf.errors.InvalidArgumentError,
            "`labels` out of bound",
        ),
        (
            lambda: tf.math.confusion_matrix([1, 2], [2, 7], num_classes=3),
            tf.errors.InvalidArgumentError,
            "`predictions` out of bound",
        ),
        (
            lambda: tf.math.confusion_matrix([1, -2], [2, 2]),
            tf.errors.InvalidArgumentError,
            "`labels` contains negative values",
        ),
        (
            lambda: tf.math.confusion_matrix([1, 2], [2, 2, 4]),
            tf.errors.InvalidArgumentError,
            "Shapes of all inputs must match",
        ),
        (
            lambda: tf.math.confusion_matrix([1, 2], [2, 2], weights=[1.0]),
            ValueError,
            "are incompatible",
        ),
    ],
)
def test_confusion_matrix_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


VALUES = [-1.0, 0.0, 1.5, 2.0, 5.0, 15]


def test_histograms():
    counts = tf.histogram_fixed_width(VALUES, [0.0, 5.0], nbins=5)
    assert counts.dtype == tf.int32
    assert counts.numpy().tolist() == [2, 1, 1, 0, 2]
    bins = tf.histogram_fixed_width_bins([VALUES], [0.0, 5.0], nbins=5, dtype=tf.int64)
    assert bins.dtype == tf.int32
    assert bins.numpy().tolist() == [[0, 0, 1, 2, 4, 4]]
    whole = tf.histogram_fixed_width([1, 2, 3], [0, 5], nbins=5, dtype=tf.int64)
    assert whole.dtype == tf.int64
    assert whole.numpy().tolist() == [0, 1, 1, 1, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [5.0, 0.0]), r"value_range\[0\] < value_range\[1\]"),
        (([1.0], [0.0, 5.0], 0), "nbins should be a positive number, but got '0'"),
        (([np.nan], [0.0, 5.0]), "must not contain NaN"),
        (([1.0], [0.0, 5.0, 6.0]), "vector of 2 elements"),
        (([1.0], [0.0, 5.0], 5, tf.float32), "float is not in the list"),
    ],
)
def test_histogram_errors(arguments, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.histogram_fixed_width(*arguments)


def test_bincount_of_ragged_rows():
    rows = tf.ragged.constant([[1, 1, 3], [], [0]])
    weights = tf.ragged.constant([[1.0, 2.0, 3.0], [], [0.5]])
    assert tf.math.bincount(rows).numpy().tolist() == [1, 2, 0, 1]
    by_row = [[0, 2, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0]]
    assert tf.math.bincount(rows, axis=-1).numpy().tolist() == by_row
    assert tf.sparse.to_dense(tf.sparse.bincount(rows, axis=-1)).numpy().tolist() == by_row
    weighted = tf.math.bincount(rows, weights=weights, axis=-1, minlength=5)
    assert weighted.numpy().tolist() == [[0, 3, 0, 3, 0], [0] * 5, [0.5, 0, 0, 0, 0]]
    once = tf.math.bincount(rows, axis=-1, maxlength=2, binary_output=True)
    assert once.numpy().tolist() == [[0, 1], [0, 0], [1, 0]]
