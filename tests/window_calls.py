"""Calls of convolutions, pools and patches whose answers are recorded from TensorFlow.

Each is a function of the module it is to call, TensorFlow or gradtape.
"""

import numpy as np


def ramp(tf, *shape):
    """A tensor of small whole numbers, both positive and negative, in no obvious order."""
    values = np.arange(np.prod(shape)) * 7 % 11 - 4
    return tf.constant(values.reshape(shape).astype(np.float32))


def _gradient(tf, function, *inputs):
    """The gradients of a function's sum, one after another."""
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = function(*inputs)
    return tf.concat([tf.reshape(g, [-1]) for g in tape.gradient(y, inputs)], 0)


_UNEVEN = [[0, 0], [1, 0], [0, 2], [0, 0]]

CONVOLUTIONS = {
    "conv2d": lambda tf: tf.nn.conv2d(ramp(tf, 1, 3, 3, 2), ramp(tf, 2, 2, 2, 2), 1, "VALID"),
    "conv2d same strided": lambda tf: tf.nn.conv2d(
        ramp(tf, 1, 5, 4, 1), ramp(tf, 3, 2, 1, 2), [2, 1], "SAME"
    ),
    "conv2d dilated": lambda tf: tf.nn.conv2d(
        ramp(tf, 1, 5, 5, 1), ramp(tf, 2, 2, 1, 1), 2, "SAME", dilations=[1, 2, 2, 1]
    ),
    "conv2d explicit": lambda tf: tf.nn.conv2d(
        ramp(tf, 1, 2, 3, 1), ramp(tf, 2, 2, 1, 1), 1, _UNEVEN
    ),
    "conv2d grouped": lambda tf: tf.nn.conv2d(
        ramp(tf, 1, 2, 2, 4), ramp(tf, 2, 2, 2, 2), 1, "VALID"
    ),
    "conv2d leading axes": lambda tf: tf.nn.conv2d(
        ramp(tf, 2, 1, 2, 2, 1), ramp(tf, 2, 2, 1, 1), 1, "VALID"
    ),
    "conv2d empty": lambda tf: tf.nn.conv2d(ramp(tf, 1, 2, 2, 1), ramp(tf, 3, 3, 1, 2), 1, "VALID"),
    "conv2d int32": lambda tf: tf.nn.conv2d(
        tf.cast(ramp(tf, 1, 3, 3, 1), tf.int32), tf.cast(ramp(tf, 2, 2, 1, 1), tf.int32), 1, "VALID"
    ),
    "conv1d": lambda tf: tf.nn.conv1d(ramp(tf, 1, 5, 2), ramp(tf, 2, 2, 2), 2, "SAME"),
    "conv1d dilated": lambda tf: tf.nn.conv1d(
        ramp(tf, 1, 5, 1), ramp(tf, 2, 1, 2), 1, "VALID", dilations=2
    ),
    "conv1d leading axes": lambda tf: tf.nn.conv1d(
        ramp(tf, 2, 2, 3, 1), ramp(tf, 2, 1, 1), 1, "VALID"
    ),
    "conv3d": lambda tf: tf.nn.conv3d(
        ramp(tf, 1, 2, 3, 2, 1), ramp(tf, 2, 2, 1, 1, 2), [1, 1, 1, 1, 1], "VALID"
    ),
    "conv3d strided": lambda tf: tf.nn.conv3d(
        ramp(tf, 1, 3, 3, 2, 1), ramp(tf, 2, 2, 2, 1, 1), [1, 2, 2, 1, 1], "SAME"
    ),
    "conv1d_transpose": lambda tf: tf.nn.conv1d_transpose(
        ramp(tf, 1, 3, 1), ramp(tf, 2, 2, 1), [1, 6, 2], 2
    ),
    "conv2d_transpose": lambda tf: tf.nn.conv2d_transpose(
        ramp(tf, 1, 2, 2, 1), ramp(tf, 3, 3, 1, 1), [1, 4, 4, 1], 2
    ),
    "conv2d_transpose valid": lambda tf: tf.nn.conv2d_transpose(
        ramp(tf, 1, 2, 2, 1), ramp(tf, 2, 2, 1, 1), [1, 3, 3, 1], [1, 1, 1, 1], "VALID"
    ),
    "conv2d_transpose sizes": lambda tf: tf.nn.conv2d_transpose(
        ramp(tf, 1, 2, 2, 1), ramp(tf, 2, 2, 1, 1), [3, 3], 1, "VALID"
    ),
    "conv2d_transpose explicit": lambda tf: tf.nn.conv2d_transpose(
        ramp(tf, 1, 2, 2, 1),
        ramp(tf, 3, 3, 1, 1),
        [1, 3, 3, 1],
        2,
        [[0, 0], [1, 1], [1, 1], [0, 0]],
    ),
    "conv3d_transpose": lambda tf: tf.nn.conv3d_transpose(
        ramp(tf, 1, 2, 1, 1, 1), ramp(tf, 2, 2, 1, 1, 1), [1, 3, 2, 1, 1], [1, 1, 1, 1, 1], "VALID"
    ),
    "conv_transpose": lambda tf: tf.nn.conv_transpose(
        ramp(tf, 1, 3, 1), ramp(tf, 2, 1, 1), [1, 4, 1], 1, "VALID"
    ),
    "atrous_conv2d": lambda tf: tf.nn.atrous_conv2d(
        ramp(tf, 1, 4, 4, 1), ramp(tf, 2, 2, 1, 1), 2, "VALID"
    ),
    "atrous_conv2d same": lambda tf: tf.nn.atrous_conv2d(
        ramp(tf, 1, 3, 3, 1), ramp(tf, 3, 2, 1, 1), 2, "SAME"
    ),
    "atrous_conv2d_transpose": lambda tf: tf.nn.atrous_conv2d_transpose(
        ramp(tf, 1, 2, 2, 1), ramp(tf, 2, 2, 1, 1), [1, 4, 4, 1], 2, "VALID"
    ),
    "atrous_conv2d_transpose same": lambda tf: tf.nn.atrous_conv2d_transpose(
        ramp(tf, 1, 3, 3, 1), ramp(tf, 3, 2, 1, 1), [1, 3, 3, 1], 2, "SAME"
    ),
    "convolution": lambda tf: tf.nn.convolution(ramp(tf, 1, 3, 3, 1), ramp(tf, 2, 2, 1, 1)),
    "convolution 1-D": lambda tf: tf.nn.convolution(
        ramp(tf, 1, 5, 1), ramp(tf, 2, 1, 1), strides=2, padding="SAME"
    ),
    "convolution dilated": lambda tf: tf.nn.convolution(
        ramp(tf, 1, 4, 4, 1), ramp(tf, 2, 2, 1, 1), padding="SAME", dilations=[1, 2]
    ),
    "depthwise_conv2d": lambda tf: tf.nn.depthwise_conv2d(
        ramp(tf, 1, 2, 3, 2), ramp(tf, 2, 2, 2, 2), [1, 1, 1, 1], "VALID"
    ),
    "depthwise_conv2d dilated": lambda tf: tf.nn.depthwise_conv2d(
        ramp(tf, 1, 4, 4, 1), ramp(tf, 2, 2, 1, 1), [1, 1, 1, 1], "SAME", dilations=[2, 2]
    ),
    "depthwise_conv2d strided": lambda tf: tf.nn.depthwise_conv2d(
        ramp(tf, 1, 4, 4, 1), ramp(tf, 2, 2, 1, 2), [1, 2, 2, 1], "SAME"
    ),
    "depthwise_conv2d explicit": lambda tf: tf.nn.depthwise_conv2d(
        ramp(tf, 1, 2, 2, 1), ramp(tf, 2, 2, 1, 1), [1, 1, 1, 1], _UNEVEN
    ),
    "depthwise backprop input": lambda tf: tf.nn.depthwise_conv2d_backprop_input(
        [1, 3, 3, 1], ramp(tf, 2, 2, 1, 1), ramp(tf, 1, 2, 2, 1), [1, 1, 1, 1], "VALID"
    ),
    "depthwise backprop filter": lambda tf: tf.nn.depthwise_conv2d_backprop_filter(
        ramp(tf, 1, 3, 3, 1), [2, 2, 1, 1], ramp(tf, 1, 2, 2, 1), [1, 1, 1, 1], "VALID"
    ),
    "separable_conv2d": lambda tf: tf.nn.separable_conv2d(
        ramp(tf, 1, 3, 3, 2), ramp(tf, 2, 2, 2, 1), ramp(tf, 1, 1, 2, 2), [1, 1, 1, 1], "VALID"
    ),
    "gradient of conv2d": lambda tf: _gradient(
        tf,
        lambda x, w: tf.nn.conv2d(x, w, 2, "SAME") ** 2,
        ramp(tf, 1, 3, 4, 2),
        ramp(tf, 2, 2, 2, 1),
    ),
    "gradient of conv3d": lambda tf: _gradient(
        tf,
        lambda x, w: tf.nn.conv3d(x, w, [1] * 5, "SAME") ** 2,
        ramp(tf, 1, 2, 2, 2, 1),
        ramp(tf, 2, 1, 2, 1, 2),
    ),
    "gradient of depthwise_conv2d": lambda tf: _gradient(
        tf,
        lambda x, w: tf.nn.depthwise_conv2d(x, w, [1] * 4, "SAME") ** 2,
        ramp(tf, 1, 2, 2, 2),
        ramp(tf, 2, 2, 2, 2),
    ),
    "gradient of conv2d_transpose": lambda tf: _gradient(
        tf,
        lambda x, w: tf.nn.conv2d_transpose(x, w, [1, 4, 4, 1], 2) ** 2,
        ramp(tf, 1, 2, 2, 2),
        ramp(tf, 3, 3, 1, 2),
    ),
}

POOLS = {
    "max_pool": lambda tf: tf.nn.max_pool(ramp(tf, 1, 4, 4, 1), 2, 2, "VALID"),
    "max_pool 1-D": lambda tf: tf.nn.max_pool(ramp(tf, 1, 5, 1), 2, 2, "SAME"),
    "max_pool 3-D": lambda tf: tf.nn.max_pool(ramp(tf, 1, 2, 3, 2, 1), 2, 1, "VALID"),
    "max_pool1d": lambda tf: tf.nn.max_pool1d(ramp(tf, 1, 5, 2), 3, 2, "VALID"),
    "max_pool2d same": lambda tf: tf.nn.max_pool2d(ramp(tf, 1, 3, 3, 1), [3, 2], [2, 1], "SAME"),
    "max_pool2d explicit": lambda tf: tf.nn.max_pool2d(
        ramp(tf, 1, 3, 3, 1), 2, 2, [[0, 0], [1, 0], [0, 1], [0, 0]]
    ),
    "max_pool2d channels": lambda tf: tf.nn.max_pool2d(
        ramp(tf, 1, 2, 1, 4), [1, 1, 1, 2], [1, 1, 1, 2], "VALID"
    ),
    "max_pool3d": lambda tf: tf.nn.max_pool3d(
        ramp(tf, 1, 3, 2, 2, 1), [2, 1, 2], [1, 1, 1], "SAME"
    ),
    "avg_pool": lambda tf: tf.nn.avg_pool(ramp(tf, 1, 4, 4, 1), 2, 2, "VALID"),
    "avg_pool1d": lambda tf: tf.nn.avg_pool1d(ramp(tf, 1, 5, 1), 2, 2, "SAME"),
    "avg_pool2d same": lambda tf: tf.nn.avg_pool2d(ramp(tf, 1, 3, 3, 1), 2, 1, "SAME"),
    "avg_pool3d": lambda tf: tf.nn.avg_pool3d(ramp(tf, 1, 2, 2, 2, 1), 2, 1, "SAME"),
    "argmax": lambda tf: tf.nn.max_pool_with_argmax(ramp(tf, 2, 3, 3, 1), 2, 1, "SAME").argmax,
    "argmax with batch": lambda tf: (
        tf.nn.max_pool_with_argmax(
            ramp(tf, 2, 2, 2, 1), 2, 2, "VALID", output_dtype=tf.int32, include_batch_in_index=True
        ).argmax
    ),
    "pool": lambda tf: tf.nn.pool(
        ramp(tf, 1, 4, 4, 1), [2, 2], "MAX", strides=[2, 1], padding="SAME"
    ),
    "pool 1-D": lambda tf: tf.nn.pool(ramp(tf, 1, 5, 1), [2], "AVG"),
    "pool dilated": lambda tf: tf.nn.pool(ramp(tf, 1, 5, 6, 1), [2, 2], "MAX", dilations=[2, 3]),
    "pool dilated mean": lambda tf: tf.nn.pool(ramp(tf, 1, 7, 1), [3], "AVG", dilations=[2]),
    "extract_patches": lambda tf: tf.image.extract_patches(
        ramp(tf, 1, 3, 3, 1), [1, 2, 2, 1], [1, 1, 2, 1], [1, 1, 1, 1], "SAME"
    ),
    "extract_patches dilated": lambda tf: tf.image.extract_patches(
        ramp(tf, 1, 3, 3, 2), [1, 2, 2, 1], [1, 1, 1, 1], [1, 2, 2, 1], "VALID"
    ),
    "extract_volume_patches": lambda tf: tf.extract_volume_patches(
        ramp(tf, 1, 2, 2, 2, 1), [1, 2, 1, 2, 1], [1, 1, 1, 1, 1], "VALID"
    ),
    "dilation2d": lambda tf: tf.nn.dilation2d(
        ramp(tf, 1, 3, 3, 1), ramp(tf, 2, 2, 1), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]
    ),
    "dilation2d dilated": lambda tf: tf.nn.dilation2d(
        ramp(tf, 1, 4, 4, 1), ramp(tf, 2, 2, 1), [1, 2, 1, 1], "VALID", "NHWC", [1, 2, 2, 1]
    ),
    "erosion2d": lambda tf: tf.nn.erosion2d(
        ramp(tf, 1, 3, 3, 1), ramp(tf, 2, 2, 1), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]
    ),
    "gradient of equal elements": lambda tf: _gradient(
        tf, lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), tf.zeros([1, 4, 4, 1])
    ),
    "gradient of equal elements, overlapping": lambda tf: _gradient(
        tf, lambda x: tf.nn.max_pool2d(x, 3, 1, "SAME"), tf.zeros([1, 4, 4, 1])
    ),
    "gradient of two equal elements": lambda tf: _gradient(
        tf,
        lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"),
        tf.constant([[[[0.0], [5.0]], [[5.0], [1.0]]]]),
    ),
    "gradient of avg_pool2d": lambda tf: _gradient(
        tf, lambda x: tf.nn.avg_pool2d(x, 2, 1, "SAME") ** 2, ramp(tf, 1, 3, 3, 2)
    ),
    "gradient of max_pool_with_argmax": lambda tf: _gradient(
        tf, lambda x: tf.nn.max_pool_with_argmax(x, 2, 1, "SAME").output, ramp(tf, 1, 3, 3, 1)
    ),
    "gradient of extract_patches": lambda tf: _gradient(
        tf,
        lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1] * 4, [1] * 4, "SAME") ** 2,
        ramp(tf, 1, 3, 3, 1),
    ),
    "gradient of dilation2d": lambda tf: _gradient(
        tf,
        lambda x, w: tf.nn.dilation2d(x, w, [1] * 4, "SAME", "NHWC", [1] * 4),
        tf.zeros([1, 3, 3, 1]),
        tf.zeros([2, 2, 1]),
    ),
}
