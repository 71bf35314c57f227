"""map_fn, scan, foldl and foldr."""

import numpy as np
import pytest

import gradtape as tf
from small_values import gradient, values

NUMBERS = tf.constant([1, 2, 3])


# map_fn -------------------------------------------------------------------------------------------


def test_map_fn_keeps_the_dtype_of_elems():
    assert values(tf.map_fn(lambda x: x * 2, NUMBERS)) == [2, 4, 6]
    assert tf.map_fn(lambda x: x, np.array([1, 2])).dtype == tf.int64
    assert values(tf.map_fn(lambda x: 1, tf.constant([1.0, 2.0]))) == [1.0, 1.0]
    assert values(tf.map_fn(lambda x: x, tf.constant(["a", "b"]))) == [b"a", b"b"]
    assert values(tf.map_fn(tf.reduce_sum, tf.Variable([[1.0, 2.0], [3.0, 4.0]]))) == [3.0, 7.0]


@pytest.mark.parametrize(
    "signature", [{"dtype": tf.float32}, {"fn_output_signature": tf.float32},
                  {"fn_output_signature": tf.TensorSpec([], tf.float32)}],
)  # fmt: skip
def test_map_fn_with_another_dtype(signature):
    result = tf.map_fn(lambda x: tf.cast(x, tf.float32), NUMBERS, **signature)
    assert result.dtype == tf.float32
    assert values(result) == [1.0, 2.0, 3.0]


def test_map_fn_of_structures():
    pair = (tf.constant([1, 2]), tf.constant([3, 4]))
    assert values(tf.map_fn(lambda x: (x[0] + x[1], x[0]), pair)) == ([4, 6], [1, 2])
    assert values(tf.map_fn(lambda x: x[0] + x[1], pair, fn_output_signature=tf.int32)) == [4, 6]
    signature = {"u": tf.float32, "v": tf.bool}
    result = tf.map_fn(
        lambda x: {"u": x, "v": x > 1}, tf.constant([1.0, 2.0]), fn_output_signature=signature
    )
    assert values(result) == {"u": [1.0, 2.0], "v": [False, True]}


def test_map_fn_of_nothing_knows_no_more_than_its_signature():
    assert tf.map_fn(lambda x: x, tf.zeros([0, 3])).shape == [0]
    spec = tf.TensorSpec([3], tf.float64)
    result = tf.map_fn(lambda x: x, tf.zeros([0, 3]), fn_output_signature=spec)
    assert (result.shape, result.dtype) == ([0, 3], tf.float64)


@pytest.mark.parametrize(
    ("fn", "elems", "error", "message"),
    [
        (3, NUMBERS, TypeError, "not callable"),
        (abs, [1, 2], ValueError, "1\\+ dimensional Tensors, not scalars"),
        (abs, tf.constant(1), ValueError, "1\\+ dimensional Tensors, not scalars"),
        (abs, [], ValueError, "does not contain any Tensors"),
        (abs, (tf.zeros(2), tf.zeros(3)), ValueError, "Dimensions 2 and 3 are not compatible"),
        (
            lambda x: tf.cast(x, tf.float32),
            NUMBERS,
            tf.errors.InvalidArgumentError,
            "TensorArray dtype is int32 but Op is trying to write dtype float32",
        ),
        (lambda x: tf.zeros(x, tf.int32), NUMBERS, ValueError, "Incompatible shape for value"),
        (lambda x: (x, x), NUMBERS, ValueError, "same nested structure"),
        (lambda x: list(x), (NUMBERS, NUMBERS), TypeError, "same nested structure"),
        (lambda x: None, NUMBERS, ValueError, "None"),
    ],
)
def test_map_fn_refuses(fn, elems, error, message):
    with pytest.raises(error, match=message):
        tf.map_fn(fn, elems)


def test_map_fn_checks_the_declared_shape():
    spec = tf.TensorSpec([2], tf.int32)
    with pytest.raises(ValueError, match=r"Incompatible shape for value \(\(\)\), expected"):
        tf.map_fn(lambda x: x, NUMBERS, fn_output_signature=spec)


def test_gradients_pass_through_map_fn():
    assert gradient(lambda x: tf.map_fn(lambda y: y * y, x), [1.0, 2.0]) == [2.0, 4.0]
    both = gradient(lambda x: tf.map_fn(lambda y: (y[0] * y[1], y[0]), (x, x))[0], [1.0, 2.0])
    assert both == [2.0, 4.0]


def test_map_fn_of_ragged_rows():
    rows = tf.ragged.constant([[1, 2], [], [3]])
    assert tf.map_fn(lambda row: row * 2, rows).to_list() == [[2, 4], [], [6]]
    assert values(tf.map_fn(tf.reduce_sum, rows, fn_output_signature=tf.int32)) == [3, 0, 3]
    spec = tf.RaggedTensorSpec([None], tf.int32)
    ranges = tf.map_fn(tf.range, tf.constant([1, 0, 2]), fn_output_signature=spec)
    assert ranges.to_list() == [[0], [], [0, 1]]
    none = tf.map_fn(tf.range, tf.zeros(0, tf.int32), fn_output_signature=spec)
    assert none.to_list() == []


# scan ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [1, 3, 6]),
        ({"initializer": 10}, [11, 13, 16]),
        ({"reverse": True}, [6, 5, 3]),
        ({"initializer": tf.constant(10), "reverse": True}, [16, 15, 13]),
    ],
)
def test_scan(options, expected):
    assert values(tf.scan(lambda a, x: a + x, NUMBERS, **options)) == expected


def test_scan_of_structures():
    both = tf.scan(lambda a, x: (a[0] + x, a[1] * x), NUMBERS, initializer=(0, 1))
    assert values(both) == ([1, 3, 6], [1, 2, 6])
    pair = (NUMBERS, tf.constant([3, 4, 5]))
    assert values(tf.scan(lambda a, x: a + x[0] - x[1], pair, initializer=0)) == [-2, -4, -6]
    assert values(tf.scan(lambda a, x: (a[0] + x[0], a[1] + x[1]), pair)) == (
        [1, 3, 6],
        [3, 7, 12],
    )
    named = tf.scan(lambda a, x: {"s": a["s"] + x}, NUMBERS, initializer={"s": 0})
    assert values(named) == {"s": [1, 3, 6]}


def test_scan_of_nothing():
    assert tf.scan(lambda a, x: a + x, tf.zeros(0), initializer=1.0).shape == [0]
    with pytest.raises(tf.errors.OutOfRangeError, match="array size is: 0"):
        tf.scan(lambda a, x: a + x, tf.zeros(0))


@pytest.mark.parametrize(
    ("fn", "initializer", "error", "message"),
    [
        (3, 0, TypeError, "not callable"),
        (lambda a, x: (a, a), 0, ValueError, "same nested structure"),
        (lambda a, x: [*a], (0, 0), TypeError, "same nested structure"),
        (lambda a, x: tf.zeros(x), 0.0, ValueError, "Incompatible shape for value"),
    ],
)
def test_scan_refuses(fn, initializer, error, message):
    with pytest.raises(error, match=message):
        tf.scan(fn, NUMBERS, initializer=initializer)


def test_gradients_pass_through_scan():
    assert gradient(lambda x: tf.scan(lambda a, b: a * b, x), [1.0, 2.0, 3.0]) == [9.0, 4.0, 2.0]
    backwards = gradient(
        lambda x: tf.scan(lambda a, b: a * b, x, initializer=x[0], reverse=True), [1.0, 2.0, 3.0]
    )
    assert backwards == [21.0, 6.0, 5.0]


# Folds --------------------------------------------------------------------------------------------


def test_folds_go_from_their_side():
    def fn(a, x):
        return a * 2 + x

    assert values(tf.foldl(fn, NUMBERS)) == 11
    assert values(tf.foldl(fn, NUMBERS, initializer=5)) == 51
    assert values(tf.foldr(fn, NUMBERS)) == 17
    assert values(tf.foldr(fn, NUMBERS, initializer=5)) == 57


def test_folds_of_structures_and_of_nothing():
    both = tf.foldl(lambda a, x: (a[0] + x, a[1] * x), NUMBERS, initializer=(0, 1))
    assert values(both) == (6, 6)
    squares = tf.foldl(lambda a, x: a + x[0] * x[1], (NUMBERS, NUMBERS), initializer=0)
    assert values(squares) == 14
    assert values(tf.foldl(lambda a, x: a, tf.zeros(0), initializer=3.0)) == 3.0
    for fold in (tf.foldl, tf.foldr):
        with pytest.raises(tf.errors.OutOfRangeError):
            fold(lambda a, x: a, tf.zeros(0))
        with pytest.raises(TypeError, match="not callable"):
            fold(3, NUMBERS)


def test_gradients_pass_through_folds():
    assert gradient(lambda x: tf.foldl(lambda a, b: a * b, x), [2.0, 3.0, 4.0]) == [12.0, 8.0, 6.0]
