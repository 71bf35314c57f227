"""Convolutions and their gradients: three rows each, linear in both inputs, that use each other."""

import functools

import numpy as np

from ..core.convert import operand
from ..core.dispatch import apply
from ..core.dtypes import FLOATING, int32, numpy_set
from ..core.errors import invalid_argument
from ..core.op import OPS, Spec
from .broadcasting import not_allowed, words
from .convolution_batch import (
    batch_convolution,
    batch_depthwise,
    batch_depthwise_filter,
    batch_depthwise_input,
    batch_filter_gradient,
    batch_input_gradient,
)
from .convolution_kernel import (
    convolve,
    depthwise_convolve,
    depthwise_filter_gradient,
    depthwise_input_gradient,
    filter_gradient,
    input_gradient,
)
from .families import multilinear
from .numerics import in_float32
from .pointwise import dtype_mismatch
from .windows import (
    FORMATS,
    check_format,
    check_padding,
    check_steps,
    checked_places,
    is_channels_first,
    merged_padding,
    spans,
    spatial,
    spatial_padding,
)

_FLOATING_AND_INT32 = FLOATING | numpy_set(int32)


# Shapes and errors --------------------------------------------------------------------------------


def _check_dtypes(name, first, second, allowed):
    if first.dtype not in allowed:
        raise not_allowed(name, first.dtype, allowed)
    if second.dtype != first.dtype:
        raise dtype_mismatch(name, 1, first.dtype, second.dtype)


def _depth(shape, data_format):
    return shape[1] if is_channels_first(data_format) else shape[-1]


def _axes(input_shape, filter_shape, strides, padding, data_format, dilations):
    return spans(
        spatial(input_shape, data_format),
        filter_shape[:-2],
        spatial(strides, data_format),
        spatial(dilations, data_format),
        spatial_padding(padding, data_format),
    )


@functools.lru_cache(maxsize=4096)
def _output_shape(
    name, depthwise, input_shape, filter_shape, strides, padding, data_format, dilations
):
    """The shape of a convolution's output; every error its shapes can have."""
    rank = 5 if "3D" in name else 4
    check_format(name, data_format, FORMATS[rank - 2])
    for what, shape in (("input", input_shape), ("filter", filter_shape)):
        if len(shape) != rank:
            raise invalid_argument(
                name, f"convolution {what} must be {rank}-dimensional: {words(shape)}"
            )
    check_padding(name, padding, data_format, explicit=rank == 4)
    check_steps(name, strides, dilations, data_format)
    if 0 in filter_shape[:-2]:
        raise invalid_argument(
            name,
            "filter must not have zero elements (i.e. all dimensions must be non-zero). "
            f"Received: shape {words(filter_shape)}",
        )
    depth, (filter_depth, outputs) = _depth(input_shape, data_format), filter_shape[-2:]
    if depthwise:
        if depth != filter_depth:
            raise invalid_argument(
                name, f"input and filter must have the same depth: {depth} vs {filter_depth}"
            )
        outputs *= depth
    else:
        _check_groups(name, depth, filter_depth, outputs)
    axes = _axes(input_shape, filter_shape, strides, padding, data_format, dilations)
    counts = checked_places(name, axes)
    if is_channels_first(data_format):
        return (input_shape[0], outputs, *counts)
    return (input_shape[0], *counts, outputs)


def _check_groups(name, depth, filter_depth, outputs):
    if not filter_depth:
        if depth:
            raise invalid_argument(name, "filter depth must be stricly positive, got 0")
        return
    if depth % filter_depth:
        raise invalid_argument(
            name,
            f"input depth must be evenly divisible by filter depth: {depth} vs {filter_depth}",
        )
    groups = depth // filter_depth
    if groups and outputs % groups:
        raise invalid_argument(
            name,
            f"output depth must be evenly divisible by number of groups: {outputs} vs {groups}",
        )


def _check_gradient(name, computed, shape, input_shape, filter_shape, data_format):
    """Raises TensorFlow's errors for a gradient that is not of the output's shape."""
    if len(shape) != len(computed):
        raise invalid_argument(
            name, f"out_backprop must be {len(computed)}-dimensional: {words(shape)}"
        )
    if shape[0] != computed[0]:
        raise invalid_argument(
            name,
            f"{name}: input and out_backprop must have the same batch size. Input batch: "
            f"{computed[0]}, outbackprop batch: {shape[0]}, batch_dim: 0",
        )
    if _depth(shape, data_format) != _depth(computed, data_format):
        raise invalid_argument(
            name,
            f"{name}: filter and out_backprop must have the same out_depth. Received: filter "
            f"{words(filter_shape)}, out_backprop {words(shape)}",
        )
    axes = enumerate(zip(spatial(shape, data_format), spatial(computed, data_format), strict=True))
    for i, (actual, expected) in axes:
        if actual != expected:
            raise invalid_argument(
                name,
                f"{name}: Size of out_backprop doesn't match computed: actual = {actual}, computed "
                f"= {expected} spatial_dim: {i + 1} input: {spatial(input_shape, data_format)[i]} "
                f"filter: {filter_shape[i]} output: {actual}",
            )


# How raw ops call them ----------------------------------------------------------------------------


def _applied(name, tensors, attrs, strides, padding, explicit_paddings, data_format, dilations):
    attrs = {key: tuple(np.asarray(value).tolist()) for key, value in attrs.items()}
    first = operand(tensors[0])
    attrs |= {
        "strides": tuple(strides),
        "padding": merged_padding(padding, explicit_paddings),
        "data_format": data_format,
        "dilations": tuple(dilations),
    }
    return apply(OPS[name], (first, operand(tensors[1], first)), attrs)


_ONES = (1, 1, 1, 1)


def _raw_conv2d(
    input, filter, strides, padding, use_cudnn_on_gpu=True, explicit_paddings=(),
    data_format="NHWC", dilations=_ONES,
):  # fmt: skip
    steps = (strides, padding, explicit_paddings, data_format, dilations)
    return _applied("Conv2D", (input, filter), {}, *steps)


def _raw_conv2d_input(
    input_sizes, filter, out_backprop, strides, padding, use_cudnn_on_gpu=True,
    explicit_paddings=(), data_format="NHWC", dilations=_ONES,
):  # fmt: skip
    steps = (strides, padding, explicit_paddings, data_format, dilations)
    sizes = {"input_sizes": input_sizes}
    return _applied("Conv2DBackpropInput", (filter, out_backprop), sizes, *steps)


def _raw_conv2d_filter(
    input, filter_sizes, out_backprop, strides, padding, use_cudnn_on_gpu=True,
    explicit_paddings=(), data_format="NHWC", dilations=_ONES,
):  # fmt: skip
    steps = (strides, padding, explicit_paddings, data_format, dilations)
    sizes = {"filter_sizes": filter_sizes}
    return _applied("Conv2DBackpropFilter", (input, out_backprop), sizes, *steps)


def _raw_depthwise(
    input, filter, strides, padding, explicit_paddings=(), data_format="NHWC", dilations=_ONES
):
    steps = (strides, padding, explicit_paddings, data_format, dilations)
    return _applied("DepthwiseConv2dNative", (input, filter), {}, *steps)


def _raw_depthwise_input(
    input_sizes, filter, out_backprop, strides, padding, explicit_paddings=(),
    data_format="NHWC", dilations=_ONES,
):  # fmt: skip
    steps = (strides, padding, explicit_paddings, data_format, dilations)
    name, sizes = "DepthwiseConv2dNativeBackpropInput", {"input_sizes": input_sizes}
    return _applied(name, (filter, out_backprop), sizes, *steps)


def _raw_depthwise_filter(
    input, filter_sizes, out_backprop, strides, padding, explicit_paddings=(),
    data_format="NHWC", dilations=_ONES,
):  # fmt: skip
    steps = (strides, padding, explicit_paddings, data_format, dilations)
    name, sizes = "DepthwiseConv2dNativeBackpropFilter", {"filter_sizes": filter_sizes}
    return _applied(name, (input, out_backprop), sizes, *steps)


_RAW_CONV3D = tuple(
    [
        f"{inputs}, strides, padding, data_format='NDHWC', dilations=[1, 1, 1, 1, 1]"
        for inputs in (
            "input, filter",
            "input_sizes, filter, out_backprop",
            "input, filter_sizes, out_backprop",
        )
    ]
)


# Rows ---------------------------------------------------------------------------------------------


def _last(x, data_format):
    """A view with the channels in the last axis."""
    if not is_channels_first(data_format):
        return x
    return x.transpose(0, *range(2, x.ndim), 1)


def _back(x, data_format):
    if not is_channels_first(data_format):
        return x
    return x.transpose(0, x.ndim - 1, *range(1, x.ndim - 1))


def _last_shape(shape, data_format):
    return (shape[0], *spatial(shape, data_format), _depth(shape, data_format))


def _rows(names, allowed, kernels, raw, depthwise=False):
    """The rows of a convolution and of its gradients for the input and for the filter.

    Args:
        names: of the three op types.
        allowed: the dtypes they take.
        kernels: of the three, for channels in the last axis.
        raw: how raw ops call each of them.
        depthwise: whether each channel is convolved by itself.
    """
    on_arrays, input_on_arrays, filter_on_arrays = kernels

    def infer(input, filter, *, strides, padding, data_format, dilations):
        _check_dtypes(names[0], input, filter, allowed)
        shape = _output_shape(
            names[0], depthwise, input.shape, filter.shape, strides, padding, data_format, dilations
        )
        return Spec(shape, input.dtype)

    @in_float32
    def kernel(input, filter, strides, padding, data_format, dilations):
        axes = _axes(input.shape, filter.shape, strides, padding, data_format, dilations)
        return _back(on_arrays(_last(input, data_format), filter, axes), data_format)

    def infer_input(filter, out_backprop, *, input_sizes, strides, padding, data_format, dilations):
        _check_dtypes(names[1], filter, out_backprop, allowed)
        if len(input_sizes) != len(data_format):
            raise invalid_argument(
                names[1],
                f"{names[1]} requires input_sizes to contain {len(data_format)} values, but got: "
                f"{len(input_sizes)}",
            )
        computed = _output_shape(
            names[1], depthwise, input_sizes, filter.shape, strides, padding, data_format, dilations
        )
        if out_backprop.shape != computed:
            _check_gradient(
                names[1], computed, out_backprop.shape, input_sizes, filter.shape, data_format
            )
        return Spec(input_sizes, filter.dtype)

    @in_float32
    def input_kernel(filter, out_backprop, input_sizes, strides, padding, data_format, dilations):
        axes = _axes(input_sizes, filter.shape, strides, padding, data_format, dilations)
        g, shape = _last(out_backprop, data_format), _last_shape(input_sizes, data_format)
        return _back(input_on_arrays(filter, g, axes, shape), data_format)

    def infer_filter(
        input, out_backprop, *, filter_sizes, strides, padding, data_format, dilations
    ):
        _check_dtypes(names[2], input, out_backprop, allowed)
        computed = _output_shape(
            names[2], depthwise, input.shape, filter_sizes, strides, padding, data_format, dilations
        )
        if out_backprop.shape != computed:
            _check_gradient(
                names[2], computed, out_backprop.shape, input.shape, filter_sizes, data_format
            )
        return Spec(filter_sizes, input.dtype)

    @in_float32
    def filter_kernel(input, out_backprop, filter_sizes, strides, padding, data_format, dilations):
        axes = _axes(input.shape, filter_sizes, strides, padding, data_format, dilations)
        x, g = _last(input, data_format), _last(out_backprop, data_format)
        return filter_on_arrays(x, g, axes, filter_sizes)

    def of_output(x, filter, strides, padding, data_format, dilations):
        return forward(
            x, filter, strides=strides, padding=padding, data_format=data_format,
            dilations=dilations,
        )  # fmt: skip

    def of_input(filter, g, shape, strides, padding, data_format, dilations):
        return backward_input(
            filter, g, input_sizes=shape, strides=strides, padding=padding,
            data_format=data_format, dilations=dilations,
        )  # fmt: skip

    def of_filter(x, g, shape, strides, padding, data_format, dilations):
        return backward_filter(
            x, g, filter_sizes=shape, strides=strides, padding=padding,
            data_format=data_format, dilations=dilations,
        )  # fmt: skip

    forward = multilinear(
        names[0],
        kernel,
        infer=infer,
        batch=batch_depthwise if depthwise else batch_convolution,
        raw=raw[0],
        input=lambda g, filter, input_shape, *, strides, padding, data_format, dilations: of_input(
            filter, g, input_shape, strides, padding, data_format, dilations
        ),
        filter=lambda g, input, filter_shape, *, strides, padding, data_format, dilations: (
            of_filter(input, g, filter_shape, strides, padding, data_format, dilations)
        ),
    )
    backward_input = multilinear(
        names[1],
        input_kernel,
        infer=infer_input,
        batch=batch_depthwise_input if depthwise else batch_input_gradient,
        raw=raw[1],
        filter=lambda g, out_backprop, filter_shape, *, strides, padding, data_format, dilations: (
            of_filter(g, out_backprop, filter_shape, strides, padding, data_format, dilations)
        ),
        out_backprop=lambda g, filter, *, strides, padding, data_format, dilations: of_output(
            g, filter, strides, padding, data_format, dilations
        ),
    )
    backward_filter = multilinear(
        names[2],
        filter_kernel,
        infer=infer_filter,
        batch=batch_depthwise_filter if depthwise else batch_filter_gradient,
        raw=raw[2],
        input=lambda g, out_backprop, input_shape, *, strides, padding, data_format, dilations: (
            of_input(g, out_backprop, input_shape, strides, padding, data_format, dilations)
        ),
        out_backprop=lambda g, input, *, strides, padding, data_format, dilations: of_output(
            input, g, strides, padding, data_format, dilations
        ),
    )
    return forward, backward_input, backward_filter


conv2d_row, conv2d_input_row, conv2d_filter_row = _rows(
    ("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"),
    _FLOATING_AND_INT32,
    (convolve, input_gradient, filter_gradient),
    (_raw_conv2d, _raw_conv2d_input, _raw_conv2d_filter),
)

conv3d_row, conv3d_input_row, conv3d_filter_row = _rows(
    ("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"),
    FLOATING,
    (convolve, input_gradient, filter_gradient),
    _RAW_CONV3D,
)

depthwise_row, depthwise_input_row, depthwise_filter_row = _rows(
    (
        "DepthwiseConv2dNative",
        "DepthwiseConv2dNativeBackpropInput",
        "DepthwiseConv2dNativeBackpropFilter",
    ),
    FLOATING,
    (depthwise_convolve, depthwise_input_gradient, depthwise_filter_gradient),
    (_raw_depthwise, _raw_depthwise_input, _raw_depthwise_filter),
    depthwise=True,
)
