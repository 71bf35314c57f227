"""Reductions by segment: argument forms, empty segments, gradients, errors."""

import numpy as np
import pytest

import gradtape as tf

DATA = [[1.0, 2.0], [3.0, 4.0], [3.0, 6.0]]


def gradient(function, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (tf.math.segment_sum, [[4, 6], [0, 0], [3, 6]]),
        (tf.math.segment_mean, [[2, 3], [0, 0], [3, 6]]),
        (tf.math.segment_max, [[3, 4], [0, 0], [3, 6]]),
        (tf.math.segment_min, [[1, 2], [0, 0], [3, 6]]),
        (tf.math.segment_prod, [[3, 8], [1, 1], [3, 6]]),
    ],
)
def test_sorted_ids_with_a_gap(function, expected):
    np.testing.assert_array_equal(function(DATA, [0, 0, 2]), np.float32(expected))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (tf.math.unsorted_segment_sum, [[4, 8], [0, 0], [3, 4]]),
        (tf.math.unsorted_segment_mean, [[2, 4], [0, 0], [3, 4]]),
        (tf.math.unsorted_segment_prod, [[3, 12], [1, 1], [3, 4]]),
        (tf.math.unsorted_segment_max, [[3, 6], [np.finfo(np.float32).min] * 2, [3, 4]]),
        (tf.math.unsorted_segment_min, [[1, 2], [np.finfo(np.float32).max] * 2, [3, 4]]),
    ],
)
def test_ids_in_any_order(function, expected):
    np.testing.assert_array_equal(function(DATA, [0, 2, 0], 3), np.float32(expected))


def test_the_square_root_of_the_number_of_rows():
    total = tf.math.unsorted_segment_sqrt_n(DATA, [0, 2, 0], 3)
    expected = np.array([[4, 8], [0, 0], [3, 4]]) / np.sqrt([[2], [1], [1]])
    np.testing.assert_allclose(total, expected, rtol=1e-6)


def test_means_of_integers():
    numbers = tf.constant([1, 2, 4])
    assert tf.math.segment_mean(numbers, [0, 0, 0]).numpy().tolist() == [2]
    mean = tf.math.unsorted_segment_mean(numbers, [0, 0, 0], 2)
    assert mean.dtype == tf.float64
    np.testing.assert_allclose(mean, [7 / 3, 0])


def test_equal_extremes_share_the_gradient():
    shared = gradient(lambda x: tf.math.segment_max(x, [0, 1, 1]), DATA)
    np.testing.assert_array_equal(shared, [[1, 1], [0.5, 0], [0.5, 1]])
    left_out = gradient(lambda x: tf.math.unsorted_segment_max(x, [0, -1, 0], 2), DATA)
    np.testing.assert_array_equal(left_out, [[0, 0], [0, 0], [1, 1]])


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([0.0, 0.0, 3.0], [1, 3, 0]),
        ([2.0, 0.0, 0.0], [1, 0, 0]),
        ([2.0, 5.0, 3.0], [1, 3, 5]),
    ],
)
def test_the_gradient_of_a_product_is_exact_at_zero(x, expected):
    found = gradient(lambda x: tf.math.segment_prod(x, [0, 1, 1]), x)
    np.testing.assert_array_equal(found, expected)
    found = gradient(lambda x: tf.math.unsorted_segment_prod(x, [0, 1, 1], 2), x)
    np.testing.assert_array_equal(found, expected)


def test_chosen_rows():
    indices, ids = [0, 2, 1], [0, 0, 3]
    total = tf.sparse.segment_sum(DATA, indices, ids, num_segments=5)
    np.testing.assert_array_equal(total, [[4, 8], [0, 0], [0, 0], [3, 4], [0, 0]])
    np.testing.assert_array_equal(
        tf.sparse.segment_mean(DATA, indices, ids), [[2, 4], [0, 0], [0, 0], [3, 4]]
    )
    np.testing.assert_allclose(
        tf.sparse.segment_sqrt_n(DATA, indices, ids)[0], np.array([4, 8]) / np.sqrt(2), rtol=1e-6
    )


def test_gradients_of_chosen_rows():
    dense = gradient(lambda x: tf.sparse.segment_mean(x, [0, 2], [1, 1]), DATA)
    np.testing.assert_array_equal(dense, [[0.5, 0.5], [0, 0], [0.5, 0.5]])
    slices = gradient(
        lambda x: tf.sparse.segment_sum(x, [0, 2, 2], [1, 1, 1], sparse_gradient=True), DATA
    )
    assert isinstance(slices, tf.IndexedSlices)
    np.testing.assert_array_equal(tf.convert_to_tensor(slices), [[1, 1], [0, 0], [2, 2]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.math.segment_sum(DATA, [0, 1, 0]), "segment ids are not increasing"),
        (lambda: tf.math.segment_sum(DATA, [-1, 0, 1]), r"Segment id -1 out of range \[0, 2\)"),
        (lambda: tf.math.segment_sum(DATA, [0, 1]), "same size as dimension 0"),
        (lambda: tf.math.segment_sum(DATA, 0), "segment_ids should be a vector"),
        (lambda: tf.math.segment_max([1j], [0]), "complex128 is not in the list"),
        (lambda: tf.sparse.segment_sum(DATA, [0, 3, 1], [0, 0, 1]), r"indices\[1\] == 3 out of"),
        (lambda: tf.sparse.segment_sum(DATA, [0, 1], [0, 0, 1]), "should have same size"),
        (
            lambda: tf.sparse.segment_sum(DATA, [0, 1], [0, 3], num_segments=2),
            "segment ids must be < num_segments",
        ),
        (lambda: tf.sparse.segment_mean([1], [0], [0]), "int32 is not in the list"),
    ],
)
def test_errors(call, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        call()


def test_in_vectorized_map():
    data = np.arange(12.0).reshape(2, 3, 2)
    mapped = tf.vectorized_map(lambda x: tf.math.segment_sum(x, [0, 1, 1]), tf.constant(data))
    expected = np.stack([data[:, 0], data[:, 1] + data[:, 2]], 1)
    np.testing.assert_array_equal(mapped, expected)
