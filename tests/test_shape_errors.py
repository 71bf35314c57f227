"""Wrong shapes, axes and indices: the error's class, what it says, and that nothing happened."""

import re

import numpy as np
import pytest

import gradtape as tf

InvalidArgumentError = tf.errors.InvalidArgumentError


def ones(*shape):
    return tf.ones(shape)


# expression, op named by the message, what the message says
SHAPES = [
    ("ones(2, 3) + ones(2)", "AddV2", "Incompatible shapes: [2,3] vs. [2]"),
    ("ones(2, 3) - ones(2)", "Sub", "Incompatible shapes: [2,3] vs. [2]"),
    ("ones(2, 3) * ones(4, 3)", "Mul", "Incompatible shapes: [2,3] vs. [4,3]"),
    ("ones(2, 3) / ones(2)", "RealDiv", "Incompatible shapes: [2,3] vs. [2]"),
    ("ones(2, 3) ** ones(2)", "Pow", "Incompatible shapes: [2,3] vs. [2]"),
    ("ones(2, 3) < ones(2)", "Less", "Incompatible shapes: [2,3] vs. [2]"),
    ("tf.maximum(ones(2, 3), ones(2))", "Maximum", "Incompatible shapes: [2,3] vs. [2]"),
    ("tf.broadcast_to(ones(2, 3), [3, 3])", "BroadcastTo", "Incompatible shapes: [2,3] vs. [3,3]"),
    (
        "tf.where([True, False], ones(2, 3), ones(2, 3))",
        "SelectV2",
        "condition [2], then [2,3], and else [2,3] must be broadcastable",
    ),
    (
        "tf.matmul(ones(2, 3), ones(2, 3))",
        "MatMul",
        "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]",
    ),
    (
        "ones(2, 3) @ ones(2)",
        "MatMul",
        "In[0] and In[1] has different ndims: [2,3] vs. [2]",
    ),
    ("ones(3) @ ones(3)", "MatMul", "In[0] and In[1] ndims must be == 2: 1"),
    (
        "ones(2, 2, 3) @ ones(3, 3, 2)",
        "BatchMatMulV2",
        "In[0] and In[1] must have compatible batch dimensions: [2,2,3] vs. [3,3,2]",
    ),
    (
        "tf.einsum('ij,jk->ik', ones(2, 3), ones(2, 3))",
        "Einsum",
        "Expected dimension 3 at axis 0 of the input shaped [2,3] but got dimension 2",
    ),
    (
        "tf.reshape(ones(2, 3), [4])",
        "Reshape",
        "Input to reshape is a tensor with 6 values, but the requested shape has 4",
    ),
    ("tf.reshape(ones(2, 3), [4, -1])", "Reshape", "requires a multiple of 4"),
    ("tf.reshape(ones(6), [-1, -1])", "Reshape", "Only one input size may be -1, not both 0 and 1"),
    (
        "tf.concat([ones(2, 3), ones(2, 2)], 0)",
        "ConcatV2",
        "Dimension 1 in both shapes must be equal: shape[0] = [2,3] vs. shape[1] = [2,2]",
    ),
    ("tf.concat([ones(2, 3), ones(2)], 0)", "ConcatV2", "Ranks of all input tensors should match"),
    (
        "tf.stack([ones(2, 3), ones(2)])",
        "Pack",
        "Shapes of all inputs must match: values[0].shape = [2,3] != values[1].shape = [2]",
    ),
    ("tf.reduce_sum(ones(2, 3), 2)", "Sum", "Invalid reduction dimension (2 for input with 2"),
    ("tf.reduce_sum(ones(2, 3), -3)", "Sum", "Invalid reduction dimension (-3 for input with 2"),
    ("tf.reduce_max(ones(2, 3), 2)", "Max", "Invalid reduction dimension (2 for input with 2"),
    ("tf.reduce_sum(ones(2, 3), [0, -2])", "Sum", "Axes contains duplicate dimension: 0"),
    (
        "tf.transpose(ones(2, 3), [0])",
        "Transpose",
        "transpose expects a vector of size 2. But input(1) is a vector of size 1",
    ),
    ("tf.transpose(ones(2, 3), [0, 0])", "Transpose", "1 is missing from {0,0}"),
    (
        "tf.tile(ones(2, 3), [2])",
        "Tile",
        "Expected multiples argument to be a vector of length 2 but got length 1",
    ),
    (
        "tf.squeeze(ones(2, 1), [0])",
        "Squeeze",
        "Can not squeeze dim[0], expected a dimension of 1, got 2",
    ),
    (
        "tf.expand_dims(ones(2, 3), 5)",
        "ExpandDims",
        "Tried to expand dim index 5 for tensor with 2 dimensions",
    ),
    ("tf.gather(ones(2, 3), [5])", "GatherV2", "= 5 is not in [0, 2)"),
    ("tf.gather(ones(2, 3), [0, -1])", "GatherV2", "= -1 is not in [0, 2)"),
    ("tf.nn.embedding_lookup(ones(2, 3), [7])", "GatherV2", "= 7 is not in [0, 2)"),
    (
        "tf.split(ones(2, 3), 2, axis=1)",
        "Split",
        "should evenly divide the split dimension, but got split_dim 1 (size = 3) and num_split 2",
    ),
    (
        "tf.add_n([ones(2, 3), ones(2)])",
        "AddN",
        "must have the same size and shape.  Input 0: [2,3] != input 1: [2]",
    ),
    ("tf.zeros([-1])", "Fill", "Dimension -1 must be >= 0"),
    (
        "tf.nn.softmax_cross_entropy_with_logits(labels=ones(2, 3), logits=ones(2, 2))",
        "SoftmaxCrossEntropyWithLogits",
        "logits_size=[2,2] labels_size=[2,3]",
    ),
    (
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[5, 0], logits=ones(2, 3))",
        "SparseSoftmaxCrossEntropyWithLogits",
        "label value of 5 which is outside the valid range of [0, 3)",
    ),
]


def evaluate(expression):
    return eval(expression, {"tf": tf, "np": np, "ones": ones})


@pytest.mark.parametrize(("expression", "op", "message"), SHAPES, ids=lambda value: str(value)[:50])
def test_says_what_is_wrong(expression, op, message):
    with pytest.raises(InvalidArgumentError) as caught:
        evaluate(expression)
    assert message in str(caught.value)
    assert re.search(rf"\b{op}\b", str(caught.value))


# Further bad arguments: the class, and the op that is named.
ARGUMENTS = [
    ("tf.reshape(ones(6), [-2])", "Reshape"),
    ("tf.matmul(ones(2, 3), ones(3, 2), transpose_a=True)", "MatMul"),
    ("tf.concat([ones(2, 3), ones(2, 3)], 2)", "ConcatV2"),
    ("tf.transpose(ones(2, 3), [0, 2])", "Transpose"),
    ("tf.squeeze(ones(2, 1), [4])", "Squeeze"),
    ("tf.argmax(ones(2, 3), axis=2)", "ArgMax"),
    ("tf.cumsum(ones(2, 3), axis=2)", "Cumsum"),
    ("tf.gather(ones(2, 3), [0], axis=2)", "GatherV2"),
    ("tf.gather(ones(2, 3), [0.0])", "GatherV2"),
    ("tf.gather_nd(ones(2, 3), [[0, 5]])", "GatherNd"),
    ("tf.scatter_nd([[5]], [1.0], [3])", "ScatterNd"),
    ("tf.scatter_nd([[0]], [1.0, 2.0], [3])", "ScatterNd"),
    ("tf.split(ones(2, 3), 2, axis=3)", "Split"),
    ("tf.unstack(ones(2, 3), num=3)", "Unpack"),
    ("tf.einsum('ijk->i', ones(2, 3))", "Einsum"),
    ("tf.pad(ones(2, 3), [[1, 1]])", "Pad"),
    ("tf.pad(ones(2, 3), [[-1, 1], [0, 0]])", "Pad"),
    ("tf.one_hot([0], -1)", "OneHot"),
    ("tf.clip_by_value(ones(2, 3), ones(2), 1.0)", "Maximum"),
    ("tf.image.adjust_contrast(ones(2, 3), 0.5)", "AdjustContrastv2"),
]


@pytest.mark.parametrize(("expression", "op"), ARGUMENTS)
def test_names_the_op(expression, op):
    with pytest.raises(InvalidArgumentError, match=rf"\b{op}\b"):
        evaluate(expression)


OTHER_CLASSES = [
    ("tf.nn.softmax(ones(2, 3), axis=2)", InvalidArgumentError, r"\[-2, 2\)"),
    ("tf.stack([ones(2, 3)], axis=4)", ValueError, r"4 not in range \[-3, 3\)"),
    ("tf.add_n([])", ValueError, "at least one"),
    ("tf.einsum('ij,jk', ones(2, 3))", ValueError, "1 inputs.*expecting 2"),
    ("tf.boolean_mask(ones(2, 3), [True])", ValueError, r"\(2,\).*\(1,\)"),
    ("tf.norm(ones(2, 3), ord='x')", ValueError, "ord"),
    ("tf.norm(ones(2, 3), axis=[0, 1, 2])", ValueError, "axis"),
    ("tf.reduce_sum(ones(2, 3), axis=1.5)", TypeError, r"1\.5"),
    (
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=ones(2, 3))",
        ValueError,
        r"\(1,\).*\(2, 3\)",
    ),
    (
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=ones(2), logits=ones(3))",
        ValueError,
        r"\(3,\).*\(2,\)",
    ),
]


@pytest.mark.parametrize(("expression", "error", "message"), OTHER_CLASSES)
def test_other_classes(expression, error, message):
    with pytest.raises(error, match=message):
        evaluate(expression)


@pytest.mark.parametrize(
    "fail",
    [
        lambda x: x + ones(2),
        lambda x: tf.matmul(x, x),
        lambda x: tf.reshape(x, [4]),
        lambda x: tf.concat([x, ones(2, 2)], 0),
        lambda x: tf.reduce_sum(x, 5),
        lambda x: tf.gather(x, [5]),
        lambda x: x[5],
    ],
    ids=["add", "matmul", "reshape", "concat", "reduce_sum", "gather", "index"],
)
def test_nothing_has_happened(fail):
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with pytest.raises(InvalidArgumentError):
            fail(x)
        with pytest.raises(InvalidArgumentError):
            fail(y)
        z = tf.reduce_sum(y)
    assert x.numpy().tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert tape.gradient(z, x).numpy().tolist() == [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]
