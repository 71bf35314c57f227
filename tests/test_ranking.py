"""in_top_k and the approximate searches."""

import numpy as np
import pytest

import gradtape as tf


def test_in_top_k():
    predictions = [[0.1, 0.9, 0.3], [0.5, 0.2, 0.6], [0.3, 0.3, 0.3]]
    found = tf.math.in_top_k([0, 1, 2], predictions, 2)
    assert found.numpy().tolist() == [False, False, True]
    assert tf.nn.in_top_k([1, 2, 0], predictions, tf.constant(1)).numpy().all()


def test_targets_that_are_no_class_and_rows_that_are_not_finite():
    predictions = [[0.3, 0.2], [np.nan, 1.0], [1.0, np.inf], [0.1, 0.2]]
    found = tf.math.in_top_k([5, 1, 1, -1], predictions, 2)
    assert found.numpy().tolist() == [False] * 4


def test_in_top_k_errors():
    with pytest.raises(tf.errors.InvalidArgumentError, match="must match length of targets 2"):
        tf.math.in_top_k([1, 2], [[0.1, 0.9, 0.3]], 1)


def test_approximate_searches_find_all():
    found = tf.math.approx_max_k([1.0, 5.0, 2.0, 4.0], 2)
    assert found.values.numpy().tolist() == [5, 4]
    assert found.indices.numpy().tolist() == [1, 3]
    least = tf.nn.approx_min_k([[1.0, 5.0], [0.0, 9.0]], 1, reduction_dimension=0)
    assert least.values.numpy().tolist() == [[0, 5]]
    assert least.indices.numpy().tolist() == [[1, 0]]
    assert tf.approx_top_k([1.0, 5.0], 1, is_max_k=False).values.numpy().tolist() == [1]


def test_the_gradient_of_an_approximate_search():
    x = tf.constant([1.0, 5.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        values, _ = tf.math.approx_max_k(x, 2)
    assert tape.gradient(values, x).numpy().tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], 3), "Had 2, needed 3"),
        (([1.0, 2.0], 1, 1), r"range \[-1, 1\), but got 1"),
        (([1, 2], 1), "int32 is not in the list"),
    ],
)
def test_approximate_search_errors(arguments, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.math.approx_max_k(*arguments)
