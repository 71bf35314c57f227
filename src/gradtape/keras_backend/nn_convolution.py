"""Convolutions over one, two or three axes."""

from keras.src.backend.common.backend_utils import (
    check_conv_input_channels,
    check_conv_transpose_input_channels,
    compute_conv_transpose_output_shape,
)
from keras.src.backend.config import standardize_data_format

import gradtape as tf

from .core import convert_to_tensor
from .nn_pooling import per_axis, tf_data_format


def _every_axis(value, axes, data_format):
    """`value` for each spatial axis, with 1 for the batch and the channels."""
    numbers = per_axis(value, axes)
    return [1, *numbers, 1] if data_format == "channels_last" else [1, 1, *numbers]


def _channels(x, data_format):
    return x.shape[-1] if data_format == "channels_last" else x.shape[1]


def conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    data_format = standardize_data_format(data_format)
    kernel = convert_to_tensor(kernel)
    inputs = convert_to_tensor(inputs, dtype=kernel.dtype)
    channels, kernel_channels = _channels(inputs, data_format), kernel.shape[-2]
    if channels % kernel_channels:
        raise ValueError(
            "The number of input channels must be evenly divisible by kernel's in_channels. "
            f"Received input channels {channels} and kernel in_channels {kernel_channels}. "
        )
    outputs = _convolve(inputs, kernel, strides, padding, data_format, dilation_rate)
    if 0 in outputs.shape and 0 not in inputs.shape:
        raise ValueError(
            "The convolution operation resulted in an empty output. Output shape: "
            f"{tuple(outputs.shape)}. This can happen if the input is too small for the given "
            "kernel size, strides, dilation rate, and padding mode. Please check the input shape "
            "and convolution parameters."
        )
    return outputs


def _convolve(inputs, kernel, strides, padding, data_format, dilation_rate):
    rank = inputs.shape.rank
    name = tf_data_format(data_format, rank)
    padding = padding.upper()
    if rank == 3:
        (stride,), (dilation,) = per_axis(strides, 1), per_axis(dilation_rate, 1)
        return tf.nn.conv1d(inputs, kernel, stride, padding, name, dilation)
    steps = _every_axis(strides, rank - 2, data_format)
    dilations = _every_axis(dilation_rate, rank - 2, data_format)
    function = tf.nn.conv2d if rank == 4 else tf.nn.conv3d
    return function(inputs, kernel, steps, padding, name, dilations)


def depthwise_conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    data_format = standardize_data_format(data_format)
    inputs, kernel = convert_to_tensor(inputs), convert_to_tensor(kernel)
    check_conv_input_channels(inputs, kernel, data_format)
    axes = inputs.shape.rank - 2
    if axes > 2:
        # A convolution in groups of one channel.
        shape = tuple(kernel.shape)
        kernel = tf.reshape(kernel, [*shape[:-2], 1, shape[-2] * shape[-1]])
        return _convolve(inputs, kernel, strides, padding, data_format, dilation_rate)
    strides, dilations = per_axis(strides, axes), per_axis(dilation_rate, axes)
    new_axis = 1 if data_format == "channels_last" else 2
    if axes == 1:
        # Sequences are images of height 1.
        inputs, kernel = tf.expand_dims(inputs, new_axis), tf.expand_dims(kernel, 0)
        strides, dilations = (1, *strides), (1, *dilations)
    outputs = tf.nn.depthwise_conv2d(
        inputs,
        kernel,
        _every_axis(strides, 2, data_format),
        padding.upper(),
        tf_data_format(data_format, 4),
        list(dilations),
    )
    return tf.squeeze(outputs, [new_axis]) if axes == 1 else outputs


def separable_conv(
    inputs,
    depthwise_kernel,
    pointwise_kernel,
    strides=1,
    padding="valid",
    data_format=None,
    dilation_rate=1,
):
    channels = depthwise_conv(
        inputs, depthwise_kernel, strides, padding, data_format, dilation_rate
    )
    return conv(channels, pointwise_kernel, data_format=data_format)


def conv_transpose(
    inputs,
    kernel,
    strides=1,
    padding="valid",
    output_padding=None,
    data_format=None,
    dilation_rate=1,
):
    data_format = standardize_data_format(data_format)
    inputs, kernel = convert_to_tensor(inputs), convert_to_tensor(kernel)
    check_conv_transpose_input_channels(inputs, kernel, data_format)
    axes = inputs.shape.rank - 2
    kernel_shape = tuple(kernel.shape)
    output_shape = compute_conv_transpose_output_shape(
        tuple(inputs.shape),
        kernel_shape[:-2],
        kernel_shape[-2],
        strides,
        padding,
        output_padding,
        data_format,
        dilation_rate,
    )
    return tf.nn.conv_transpose(
        inputs,
        kernel,
        output_shape,
        per_axis(strides, axes),
        padding.upper(),
        tf_data_format(data_format, axes + 2),
        per_axis(dilation_rate, axes),
    )
