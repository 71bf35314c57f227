"""Ops that look for, deal out, reverse and reinterpret elements: public forms and errors."""

import numpy as np
import pytest

import gradtape as tf
from small_values import gradient, values

INVALID = tf.errors.InvalidArgumentError


# Distinct elements and places ---------------------------------------------------------------------


def test_unique_has_named_results():
    y, idx = found = tf.unique([3.0, 1.0, 3.0], out_idx=tf.int64)
    assert found._fields == ("y", "idx")
    assert (values(y), values(idx), idx.dtype) == ([3.0, 1.0], [0, 1, 0], tf.int64)
    counted = tf.unique_with_counts(["b", "a", "b"])
    assert values(counted.y) == [b"b", b"a"]
    assert values(counted.count) == [2, 1]


def test_unique_has_no_gradient():
    with pytest.raises(LookupError, match="no entry for: Unique"):
        gradient(lambda x: tf.unique(x)[0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("sequence", "wanted", "side", "expected"),
    [
        ([1, 3, 5], [0, 1, 2, 5, 6], "left", [0, 0, 1, 2, 3]),
        ([1, 3, 5], [0, 1, 2, 5, 6], "right", [0, 1, 1, 3, 3]),
        ([[1, 3, 5], [2, 4, 6]], [[0, 4], [4, 9]], "left", [[0, 2], [1, 3]]),
        ([[[1, 3], [2, 4]]], [[[0, 4], [4, 9]]], "left", [[[0, 2], [1, 2]]]),
        ([[1, 3, 5]], [1], "left", [0]),
    ],
)
def test_searchsorted(sequence, wanted, side, expected):
    assert values(tf.searchsorted(sequence, wanted, side)) == expected


def test_searchsorted_refuses():
    with pytest.raises(ValueError, match="either 'right' or 'left'"):
        tf.searchsorted([1], [1], side="up")
    with pytest.raises(INVALID, match="at least a vector"):
        tf.searchsorted([1, 3], 3)
    with pytest.raises(INVALID, match="'out_type' of float"):
        tf.searchsorted([1], [1], out_type=tf.float32)
    assert tf.searchsorted([1], [1], out_type=tf.int64).dtype == tf.int64


def test_unravel_index():
    assert values(tf.unravel_index([0, 5, 11], [3, 4])) == [[0, 1, 2], [0, 1, 3]]
    assert values(tf.unravel_index(5, tf.constant([3, 4]))) == [1, 1]
    with pytest.raises(INVALID, match="can only be 1-D"):
        tf.unravel_index([1], [[3, 4]])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (([1, 3, 2], 4), [[1, 0, 0, 0], [1, 1, 1, 0], [1, 1, 0, 0]]),
        (([1, 3], tf.constant(2)), [[1, 0], [1, 1]]),
        (([[1, 2], [2, 0]],), [[[1, 0], [1, 1]], [[1, 1], [0, 0]]]),
        ((2, 3), [1, 1, 0]),
        (([1, -3],), [[1], [0]]),
        (([],), []),
    ],
)
def test_sequence_mask(arguments, expected):
    assert values(tf.sequence_mask(*arguments, dtype=tf.int32)) == expected


def test_sequence_mask_is_boolean_and_refuses():
    assert tf.sequence_mask([1]).dtype == tf.bool
    with pytest.raises(ValueError, match="`maxlen` must be scalar"):
        tf.sequence_mask([1], maxlen=[4])
    with pytest.raises(INVALID, match="0/-1"):
        tf.sequence_mask([1], maxlen=-1)


# Dealing out --------------------------------------------------------------------------------------


def test_dynamic_partition():
    assert values(tf.dynamic_partition([1, 2, 3, 4], [0, 1, 0, 2], 3)) == [[1, 3], [2], [4]]
    assert values(tf.dynamic_partition(5, 0, 2)) == [[5], []]
    with pytest.raises(ValueError, match="requested dtype int32"):
        tf.dynamic_partition([1], tf.constant([0], tf.int64), 1)
    weighted = gradient(
        lambda x: tf.dynamic_partition(x, [0, 1, 0], 2)[0] * [2.0, 3.0], [1.0, 2.0, 3.0]
    )
    assert weighted == [2.0, 0.0, 3.0]


@pytest.mark.parametrize(
    ("indices", "data", "expected"),
    [
        ([[0, 2], [1]], [[10, 30], [20]], [10, 20, 30]),
        ([[0, 2], [2]], [[10, 30], [20]], [10, 0, 20]),
        ([0, [1, 2]], [[1, 2], [[3, 4], [5, 6]]], [[1, 2], [3, 4], [5, 6]]),
        ([[[0, 1], [3, 2]]], [[[1, 2], [3, 4]]], [1, 2, 4, 3]),
        ([tf.zeros([0], tf.int32)], [tf.zeros([0, 3])], []),
    ],
)
def test_dynamic_stitch(indices, data, expected):
    assert values(tf.dynamic_stitch(indices, data)) == expected


@pytest.mark.parametrize(
    ("indices", "data", "message"),
    [
        ([[0, -1]], [[10, 30]], r"indices\[1\] is out of range"),
        ([[0, 1]], [[10]], r"data\[0\].shape = \[1\] does not start with"),
        ([[0], [1]], [[1], [[2]]], r"Need data\[0\].shape\[1:\] = data\[1\].shape\[1:\]"),
        ([], [], "at least one"),
        ([[0]], [[1], [2]], "as many"),
    ],
)
def test_dynamic_stitch_refuses(indices, data, message):
    with pytest.raises(INVALID, match=message):
        tf.dynamic_stitch(indices, data)


def test_gradient_of_dynamic_stitch_goes_to_all_rows():
    found = gradient(
        lambda x: tf.dynamic_stitch([[0, 2], [2]], [x, x[:1]]) * [1.0, 2.0, 3.0], [1.0, 2.0]
    )
    assert found == [4.0, 3.0]


# Reversed and reinterpreted -----------------------------------------------------------------------


def test_reverse_sequence():
    x = [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert values(tf.reverse_sequence(x, [2, 3], seq_axis=1)) == [[2, 1, 3, 4], [7, 6, 5, 8]]
    turned = tf.reverse_sequence(x, [2, 2, 1, 0], seq_axis=0, batch_axis=1)
    assert values(turned) == [[5, 6, 3, 4], [1, 2, 7, 8]]
    with pytest.raises(TypeError, match="'seq_dim' not None"):
        tf.reverse_sequence(x, [2, 3])
    with pytest.raises(INVALID, match="Invalid seq_dim -1"):
        tf.reverse_sequence(x, [2, 3], seq_axis=-1)


def test_bitcast():
    assert values(tf.bitcast([1.0, 2.0], tf.int32)) == [1065353216, 1073741824]
    assert values(tf.bitcast(1.0, tf.uint8)) == [0, 0, 128, 63]
    assert values(tf.bitcast(tf.constant([[1, 2, 3, 4]], tf.uint8), "int32")) == [67305985]
    assert values(tf.bitcast(tf.constant(1.0, tf.bfloat16), tf.uint16)) == 16256


def test_fingerprint():
    assert values(tf.fingerprint(["a", ""])) == [
        [227, 117, 223, 182, 101, 66, 69, 179],
        [79, 64, 144, 47, 59, 106, 225, 154],
    ]
    assert values(tf.fingerprint([["a", "bc"]])) == [[85, 27, 103, 37, 147, 177, 144, 87]]
    assert values(tf.fingerprint([[1, 2]])) == [[76, 18, 253, 133, 168, 204, 240, 10]]
    assert tf.fingerprint(tf.zeros([0, 3])).shape == [0, 8]
    with pytest.raises(INVALID, match="Unsupported fingerprint method: x"):
        tf.fingerprint([1], method="x")
    with pytest.raises(INVALID, match="at least one dimension"):
        tf.fingerprint(3)


def test_small_differences():
    assert values(tf.stack([tf.constant("a"), tf.constant("b")])) == [b"a", b"b"]
    assert values(tf.guarantee_const(3.0)) == 3.0
    with pytest.raises(INVALID, match="Shapes of all inputs must match"):
        tf.stack([[1], [1, 2]])
    with pytest.raises(INVALID, match="shift must be a scalar or a 1-D vector"):
        tf.roll(np.ones(2), [[1]], [[0]])


def test_a_scalar_is_repeated_as_a_vector_of_one():
    assert values(tf.repeat(3, 2, -1)) == values(tf.repeat(3, 2, 0)) == [3, 3]
    with pytest.raises(ValueError, match="axis=1 out of bounds"):
        tf.repeat(3, 2, 1)
