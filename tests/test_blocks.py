"""Blocks moved between space, batch and channels."""

import numpy as np
import pytest

import gradtape as tf

INVALID = tf.errors.InvalidArgumentError


def counted(*shape):
    return tf.reshape(tf.range(int(np.prod(shape))), shape)


def test_space_to_batch():
    x = counted(1, 3, 4)
    out = tf.space_to_batch(x, [2, 2], [[1, 0], [0, 0]])
    expected = [[[0, 0], [4, 6]], [[0, 0], [5, 7]], [[0, 2], [8, 10]], [[1, 3], [9, 11]]]
    assert out.numpy().tolist() == expected
    rows = tf.space_to_batch_nd(x, [2], [[1, 0]])
    assert rows.numpy().tolist() == [
        [[0, 0, 0, 0], [4, 5, 6, 7]],
        [[0, 1, 2, 3], [8, 9, 10, 11]],
    ]
    assert tf.nn.space_to_batch is tf.space_to_batch
    none = tf.space_to_batch(x, np.zeros(0, np.int32), np.zeros((0, 2), np.int32))
    assert none.numpy().tolist() == x.numpy().tolist()


def test_batch_to_space():
    out = tf.batch_to_space(counted(6, 2, 2), [3, 2], [[0, 1], [1, 0]])
    expected = [[[4, 1, 5], [12, 9, 13], [20, 17, 21], [6, 3, 7], [14, 11, 15]]]
    assert out.numpy().tolist() == expected
    cropped = tf.batch_to_space(counted(6, 2, 2), [3], [[2, 3]])
    assert cropped.numpy().tolist() == [[[16, 17]], [[20, 21]]]
    one_number = tf.batch_to_space(counted(4, 1, 1, 1), 2, [[0, 0], [0, 0]])
    assert one_number.numpy().tolist() == [[[[0], [1]], [[2], [3]]]]


@pytest.mark.parametrize(
    ("shape", "block", "paddings", "message"),
    [
        ((1, 3, 4), [2], [[0, 0]], r"padded_shape\[0\]=3 is not divisible by block_shape\[0\]=2"),
        ((1, 3, 4), [0], [[0, 0]], "must be positive, got value, 0 at index 0"),
        ((1, 3, 4), [3], [[0, -3]], "Paddings must be non-negative"),
        ((1, 3, 4), 3, [[0, 3]], "block_shape rank should be 1 instead of 0"),
        ((1, 3, 4), [3], [0, 3], r"paddings should have shape \[1, 2\] instead of \[2\]"),
        ((12,), [3], [[0, 3]], "input rank should be >= 2 instead of 1"),
    ],
)
def test_space_to_batch_refuses(shape, block, paddings, message):
    with pytest.raises(INVALID, match=message):
        tf.space_to_batch(counted(*shape), block, paddings)


@pytest.mark.parametrize(
    ("block", "crops", "message"),
    [
        ([3], [[2, 5]], r"cropped_shape\[0\]=-1 must be non-negative"),
        ([4], [[0, 0]], r"\(6\) is not divisible by product of block sizes \(4\)"),
        ([3], [[-1, 0]], "Crops must be non-negative"),
        ([0], [[0, 0]], "Product of block sizes must be positive, got 0"),
    ],
)
def test_batch_to_space_refuses(block, crops, message):
    with pytest.raises(INVALID, match=message):
        tf.batch_to_space(counted(6, 2, 2), block, crops)


def test_required_paddings():
    paddings, crops = tf.required_space_to_batch_paddings([5, 7], [2, 3], [[1, 0], [2, 1]])
    assert paddings.numpy().tolist() == [[1, 0], [2, 3]]
    assert crops.numpy().tolist() == [[0, 0], [0, 2]]
    paddings, crops = tf.required_space_to_batch_paddings(tf.constant([5, 7]), [2, 3])
    assert paddings.numpy().tolist() == crops.numpy().tolist() == [[0, 1], [0, 2]]


def test_space_to_depth():
    out = tf.nn.space_to_depth(counted(1, 4, 4, 2), 2)
    assert out.numpy()[0, 0].tolist() == [
        [0, 1, 2, 3, 8, 9, 10, 11],
        [4, 5, 6, 7, 12, 13, 14, 15],
    ]
    assert out.numpy()[0, 1, 1].tolist() == [20, 21, 22, 23, 28, 29, 30, 31]


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW", "NCHW_VECT_C"])
def test_formats_agree_and_depth_to_space_undoes(data_format):
    images = counted(2, 4, 6, 4)
    given = {
        "NHWC": images,
        "NCHW": tf.transpose(images, [0, 3, 1, 2]),
        "NCHW_VECT_C": tf.transpose(tf.reshape(images, [2, 4, 6, 1, 4]), [0, 3, 1, 2, 4]),
    }[data_format]
    deep = tf.nn.space_to_depth(given, 2, data_format)
    assert tf.nn.depth_to_space(deep, 2, data_format).numpy().tolist() == given.numpy().tolist()
    usual = tf.nn.space_to_depth(images, 2)
    if data_format == "NCHW":
        deep = tf.transpose(deep, [0, 2, 3, 1])
    elif data_format == "NCHW_VECT_C":
        deep = tf.reshape(tf.transpose(deep, [0, 2, 3, 1, 4]), usual.shape)
    assert deep.numpy().tolist() == usual.numpy().tolist()


@pytest.mark.parametrize(
    ("function", "shape", "options", "message"),
    [
        (tf.nn.space_to_depth, (1, 4, 4, 2), {"block_size": 3}, "width 4 and height 4 should be"),
        (tf.nn.space_to_depth, (1, 4, 4, 2), {"block_size": 1}, "at least minimum 2"),
        (tf.nn.space_to_depth, (4, 4, 2), {"block_size": 2}, "rank should be 4 instead of 3"),
        (tf.nn.depth_to_space, (1, 4, 4, 2), {"block_size": 2}, "depth dimension 2 should be div"),
        (
            tf.nn.depth_to_space,
            (1, 4, 4, 2),
            {"block_size": 2, "data_format": "X"},
            "'data_format' of \"X\" is not in",
        ),
    ],
)
def test_depth_refuses(function, shape, options, message):
    with pytest.raises(INVALID, match=message):
        function(counted(*shape), **options)


def test_gradient():
    x = tf.constant([[[[1.0], [2.0]], [[3.0], [4.0]]]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.space_to_depth(x, 2) * [1.0, 2.0, 3.0, 4.0]
    assert tape.gradient(y, x).numpy().tolist() == x.numpy().tolist()
