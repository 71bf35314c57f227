"""Convolutions as users call them: every number of axes, transposed, dilated, by channel."""

import numpy as np

from ..core.convert import operand, operands
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from .arguments import integer_tuple
from .broadcasting import reshape
from .convolution import (
    conv2d_input_row,
    conv2d_row,
    conv3d_input_row,
    conv3d_row,
    depthwise_filter_row,
    depthwise_input_row,
    depthwise_row,
)
from .windows import FORMATS, is_channels_first, padding_argument, per_axis


def _steps(strides, padding, data_format, dilations, axes=2):
    """The attributes of a convolution over `axes` spatial axes."""
    return {
        "strides": per_axis(strides, "strides", axes, data_format),
        "padding": padding_argument(padding, axes + 2),
        "data_format": data_format,
        "dilations": per_axis(dilations, "dilations", axes, data_format),
    }


def _with_one_batch(row, x, others, attrs):
    """Applies `row`, with all leading axes of `x` before the last few folded into one."""
    lead = len(x.shape) - len(attrs["data_format"]) + 1
    if lead <= 1:
        return apply(row.op, (x, *others), attrs)
    shape = tuple(x.shape)
    x = apply(reshape.op, (x,), {"shape": (int(np.prod(shape[:lead])), *shape[lead:])})
    out = apply(row.op, (x, *others), attrs)
    return apply(reshape.op, (out,), {"shape": shape[:lead] + tuple(out.shape[1:])})


def _a_word(padding):
    """Padding that must be a word.

    Raises:
        TypeError: it is a list.
    """
    if not isinstance(padding, str):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
    return padding


def _a_list(value, name, function):
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"Expected list for '{name}' argument to '{function}' Op, not {value!r}.")
    return value


@export("nn.conv2d")
def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    """The convolution of images with a filter.

    Args:
        input: images of shape [..., height, width, channels].
        filters: of shape [height, width, channels, outputs]; with fewer channels than the images,
            these are convolved in groups.
        strides: the step of the window: one number, one for each spatial axis, or for every axis.
        padding: `"SAME"`, `"VALID"`, or a pair (before, after) for each axis.
        data_format: `"NHWC"`, or `"NCHW"` for channels before height and width.
        dilations: the distance between elements of the window, as `strides`.

    Raises:
        InvalidArgumentError: shapes do not go together, or a number is out of range.
        ValueError: there are not as many numbers as axes.
    """
    x, filters = operands(input, filters)
    attrs = _steps(strides, padding, data_format or "NHWC", dilations)
    return _with_one_batch(conv2d_row, x, (filters,), attrs)


@export("nn.conv3d")
def conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None):
    """The convolution of volumes with a filter.

    Args:
        input: volumes of shape [..., depth, height, width, channels].
        filters: of shape [depth, height, width, channels, outputs].
        strides: a list of five numbers, the step of the window along each axis.
        padding: `"SAME"` or `"VALID"`.
        data_format: `"NDHWC"`, or `"NCDHW"` for channels before the spatial axes.
        dilations: the distance between elements of the window, as `strides`.

    Raises:
        InvalidArgumentError: shapes do not go together, or a number is out of range.
        TypeError: `strides` is not a list, or `padding` not a word.
    """
    x, filters = operands(input, filters)
    strides = _a_list(strides, "strides", "conv3d")
    attrs = _steps(strides, _a_word(padding), data_format or "NDHWC", dilations, 3)
    return _with_one_batch(conv3d_row, x, (filters,), attrs)


# Sequences, as images of height 1 -----------------------------------------------------------------


def _as_image_steps(stride, padding, data_format, dilations):
    """The attributes of a convolution of sequences, for one of images of height 1."""
    line_format = (data_format or "NWC").upper()
    line_format = {"NHWC": "NWC", "NCHW": "NCW"}.get(line_format, line_format)
    if line_format not in FORMATS[1]:
        raise ValueError(
            f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}"
        )
    first = is_channels_first(line_format)
    place = 2 if first else 1

    def widened(value, name):
        line = per_axis(value, name, 1, line_format)
        return (*line[:place], 1, *line[place:])

    return place, {
        "strides": widened(stride, "stride"),
        "padding": _a_word(padding),
        "data_format": "NCHW" if first else "NHWC",
        "dilations": widened(dilations, "dilations"),
    }


def _with_axis(x, place):
    """`x` with an axis of length 1, `place` counted in sequences without more leading axes."""
    shape = tuple(x.shape)
    place += len(shape) - 3
    return apply(reshape.op, (x,), {"shape": (*shape[:place], 1, *shape[place:])})


def _without_axis(x, place):
    shape = tuple(x.shape)
    place += len(shape) - 4
    return apply(reshape.op, (x,), {"shape": shape[:place] + shape[place + 1 :]})


@export("nn.conv1d")
def conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None):
    """The convolution of sequences with a filter.

    Args:
        input: sequences of shape [..., length, channels].
        filters: of shape [length, channels, outputs].
        stride: the step of the window, a number.
        padding: `"SAME"` or `"VALID"`.
        data_format: `"NWC"`, or `"NCW"` for channels before the length.
        dilations: the distance between elements of the window, a number.

    Raises:
        InvalidArgumentError: shapes do not go together, or a number is out of range.
        TypeError: `padding` is not a word.
    """
    x, filters = operands(input, filters)
    place, attrs = _as_image_steps(stride, padding, data_format, dilations)
    out = _with_one_batch(conv2d_row, _with_axis(x, place), (_with_axis(filters, 0),), attrs)
    return _without_axis(out, place)


# Transposed ---------------------------------------------------------------------------------------


def _sizes(output_shape, x, filters, data_format, op_name):
    """The whole output shape; batch and channels follow from the rest if it names none."""
    complaint = "input_sizes must be 1-dimensional, not"
    sizes = integer_tuple(output_shape, op_name, "Tshape", complaint)
    if len(sizes) != len(data_format) - 2:
        return sizes
    batch, depth = x.shape[0], filters.shape[-2]
    return (batch, depth, *sizes) if is_channels_first(data_format) else (batch, *sizes, depth)


def _transposed(row, x, filters, output_shape, attrs):
    sizes = _sizes(output_shape, x, filters, attrs["data_format"], row.op.name)
    return apply(row.op, (filters, x), {"input_sizes": sizes, **attrs})


@export("nn.conv2d_transpose")
def conv2d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NHWC", dilations=None,
    name=None,
):  # fmt: skip
    """The transpose of `conv2d`: what its gradient does to `input`.

    Args:
        input: of shape [batch, height, width, channels].
        filters: of shape [height, width, outputs, channels].
        output_shape: the shape of the result, of which a convolution gives the shape of `input`.
        strides: as of `conv2d`; likewise `padding`, `data_format` and `dilations`.

    Raises:
        InvalidArgumentError: shapes do not go together, or a number is out of range.
    """
    x, filters = operands(input, filters)
    attrs = _steps(strides, padding, data_format or "NHWC", dilations)
    return _transposed(conv2d_input_row, x, filters, output_shape, attrs)


@export("nn.conv3d_transpose")
def conv3d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NDHWC", dilations=None,
    name=None,
):  # fmt: skip
    """The transpose of `conv3d`; arguments as of `conv2d_transpose`."""
    x, filters = operands(input, filters)
    attrs = _steps(strides, _a_word(padding), data_format or "NDHWC", dilations, 3)
    return _transposed(conv3d_input_row, x, filters, output_shape, attrs)


@export("nn.conv1d_transpose")
def conv1d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NWC", dilations=None,
    name=None,
):  # fmt: skip
    """The transpose of `conv1d`; arguments as of `conv2d_transpose`."""
    x, filters = operands(input, filters)
    place, attrs = _as_image_steps(strides, padding, data_format, dilations)
    complaint = "output_shape must be 1-dimensional, not"
    sizes = integer_tuple(output_shape, "Conv2DBackpropInput", "Tshape", complaint)
    if len(sizes) != 3:
        raise invalid_argument(
            "Conv2DBackpropInput",
            f"output_shape must contain 3 values. Received: output_shape={sizes}",
        )
    sizes = (*sizes[:place], 1, *sizes[place:])
    tensors = (_with_axis(filters, 0), _with_axis(x, place))
    out = apply(conv2d_input_row.op, tensors, {"input_sizes": sizes, **attrs})
    return _without_axis(out, place)


@export("nn.conv_transpose")
def conv_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format=None, dilations=None,
    name=None,
):  # fmt: skip
    """The transpose of a convolution over one, two or three axes, as `output_shape` has them.

    Raises:
        ValueError: there are none, or more than three.
    """
    axes = len(integer_tuple(output_shape, "Conv2DBackpropInput", "Tshape", "rank")) - 2
    if not 1 <= axes <= 3:
        raise ValueError(
            "`output_shape` must be of length 3, 4 or 5. "
            f"Received: output_shape={output_shape} of length {axes + 2}."
        )
    function = (conv1d_transpose, conv2d_transpose, conv3d_transpose)[axes - 1]
    data_format = data_format or FORMATS[axes][0]
    return function(input, filters, output_shape, strides, padding, data_format, dilations)


# Dilated ------------------------------------------------------------------------------------------


@export("nn.atrous_conv2d")
def atrous_conv2d(value, filters, rate, padding, name=None):
    """The convolution of images with a filter whose elements lie `rate` apart.

    Raises:
        ValueError: `rate` is not positive.
    """
    return convolution(value, filters, padding=padding, dilations=[rate, rate])


@export("nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """The transpose of `atrous_conv2d`.

    Raises:
        ValueError: `rate` is not positive.
    """
    _positive("dilation_rate", [rate, rate])
    return conv2d_transpose(value, filters, output_shape, 1, padding, "NHWC", rate)


def _positive(name, values):
    if min(values) < 1:
        raise ValueError(
            f"all values of `{name}` must be positive. Received: {name}={np.array(values)}"
        )


def one_or_each(value, name, count):
    """A number for each of `count` spatial axes, from one for all or one for each.

    Raises:
        ValueError: there is another number of them, or one is not positive.
    """
    values = np.atleast_1d(np.asarray(1 if value is None else value)).reshape(-1).tolist()
    if len(values) == 1:
        values = values * count
    if len(values) != count:
        raise ValueError(
            f"`len({name})` should be equal to the number of spatial dimensions, {count}. "
            f"Received: {name}={value}"
        )
    _positive(name, values)
    return values


def check_not_both(strides, dilations):
    """Raises TensorFlow's error for windows that are both dilated and moved by more than one."""
    if max(strides) > 1 and max(dilations) > 1:
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
            f"strides={np.array(strides)} and dilation_rate={np.array(dilations)}"
        )


@export("nn.convolution")
def convolution(
    input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None
):
    """A convolution over one, two or three axes, as the filter has them.

    Args:
        input: of shape [..., *sizes, channels].
        filters: of shape [*windows, channels, outputs].
        strides: the step of the window: one number, or one for each spatial axis.
        padding: `"SAME"` or `"VALID"`.
        data_format: starts with `"NC"` if channels come before the spatial axes.
        dilations: the distance between elements of the window, as `strides`.

    Raises:
        ValueError: there are no spatial axes, or more than three; strides and dilations are both
            more than 1.
        InvalidArgumentError: shapes do not go together.
    """
    x, filters = operands(input, filters)
    axes = filters.ndim - 2
    if not 1 <= axes <= 3:
        raise ValueError(
            f"`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={axes}."
        )
    first = data_format is not None and is_channels_first(data_format)
    data_format = FORMATS[axes][first]
    strides = one_or_each(strides, "strides", axes)
    dilations = one_or_each(dilations, "dilation_rate", axes)
    check_not_both(strides, dilations)
    padding = _a_word(padding)
    if axes == 1:
        return conv1d(x, filters, strides[0], padding, data_format, dilations[0])
    attrs = _steps(strides, padding, data_format, dilations, axes)
    return _with_one_batch((conv2d_row, conv3d_row)[axes - 2], x, (filters,), attrs)


# Each channel by itself ---------------------------------------------------------------------------


@export("nn.depthwise_conv2d")
def depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None):
    """Convolves each channel by itself.

    Args:
        input: images of shape [batch, height, width, channels].
        filter: of shape [height, width, channels, multiplier].
        strides: a list of four numbers, the step of the window along each axis.
        padding: `"SAME"`, `"VALID"`, or a pair (before, after) for each axis.
        data_format: `"NHWC"`, or `"NCHW"` for channels before height and width.
        dilations: the distance between elements of the window, a list of two numbers.

    Returns:
        Images with channels times multiplier channels, those of one channel side by side.

    Raises:
        InvalidArgumentError: shapes do not go together, or a number is out of range.
        TypeError: `strides` is not a list.
    """
    x, filter = operands(input, filter)
    strides = _a_list(strides, "strides", "depthwise_conv2d_native")
    attrs = _steps(strides, padding, data_format or "NHWC", dilations)
    return apply(depthwise_row.op, (x, filter), attrs)


@export("nn.depthwise_conv2d_backprop_input")
def depthwise_conv2d_backprop_input(
    input_sizes, filter, out_backprop, strides, padding, data_format="NHWC",
    dilations=[1, 1, 1, 1], name=None,  # noqa: B006
):  # fmt: skip
    """The gradient of `depthwise_conv2d` with respect to its input, of shape `input_sizes`."""
    filter, g = operands(filter, out_backprop)
    attrs = _steps(strides, padding, data_format, dilations)
    complaint = "input_sizes must be 1-dimensional, not"
    sizes = integer_tuple(input_sizes, depthwise_input_row.op.name, "Tshape", complaint)
    return apply(depthwise_input_row.op, (filter, g), {"input_sizes": sizes, **attrs})


@export("nn.depthwise_conv2d_backprop_filter")
def depthwise_conv2d_backprop_filter(
    input, filter_sizes, out_backprop, strides, padding, data_format="NHWC",
    dilations=[1, 1, 1, 1], name=None,  # noqa: B006
):  # fmt: skip
    """The gradient of `depthwise_conv2d` with respect to its filter, of shape `filter_sizes`."""
    x, g = operands(input, out_backprop)
    attrs = _steps(strides, padding, data_format, dilations)
    complaint = "filter_sizes must be 1-dimensional, not"
    sizes = integer_tuple(filter_sizes, depthwise_filter_row.op.name, "Tshape", complaint)
    return apply(depthwise_filter_row.op, (x, g), {"filter_sizes": sizes, **attrs})


@export("nn.separable_conv2d")
def separable_conv2d(
    input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None,
    name=None,
):  # fmt: skip
    """Convolves each channel by itself, then mixes channels at each point.

    Args:
        input: images of shape [batch, height, width, channels].
        depthwise_filter: as of `depthwise_conv2d`.
        pointwise_filter: of shape [1, 1, channels times multiplier, outputs].
        strides: as of `depthwise_conv2d`; likewise `padding`, `data_format` and `dilations`.

    Raises:
        ValueError: the second filter is not of that shape.
    """
    point = operand(pointwise_filter)
    for size in point.shape[:2]:
        if size != 1:
            raise ValueError(f"Dimensions {size} and 1 are not compatible")
    data_format = data_format or "NHWC"
    channels = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(channels, point, 1, "VALID", data_format)
