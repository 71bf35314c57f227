"""Convolutions of batches: the new axis is folded into one that a convolution has anyway.

That is the batch where only images differ, the channels where filters do too: groups of channels
do not mix.
"""

import math

from .broadcasting import reshape
from .families import shape_of
from .joining import all_batched
from .manipulation import transpose_row
from .windows import is_channels_first


def _merge(x, axis):
    """The leading axis of `x` folded into what is `axis` without it."""
    shape = shape_of(x)
    if axis:
        order = (*range(1, axis + 1), 0, *range(axis + 1, len(shape)))
        x = transpose_row(x, perm=order)
    merged = (*shape[1 : axis + 1], shape[0] * shape[axis + 1], *shape[axis + 2 :])
    return reshape(x, shape=merged)


def _split(x, axis, count, size):
    """Undoes `_merge`: `axis`, of `count` times `size`, gives a leading axis."""
    shape = shape_of(x)
    x = reshape(x, shape=(*shape[:axis], count, size, *shape[axis + 1 :]))
    if not axis:
        return x
    return transpose_row(x, perm=(axis, *range(axis), *range(axis + 1, len(shape) + 1)))


def _channel_axis(attrs):
    data_format = attrs["data_format"]
    return 1 if is_channels_first(data_format) else len(data_format) - 1


def _with(shape, axis, size):
    return (*shape[:axis], size, *shape[axis + 1 :])


def _is_grouped(depth, filter_depth):
    return depth != filter_depth


def batch_convolution(op, values, flags, attrs):
    """The convolution of many inputs with one filter, of one with many, or of each with its own."""
    x, filter = values
    channels = _channel_axis(attrs)
    if not flags[1]:
        out = op.call(_merge(x, 0), filter, **attrs)
        return _split(out, 0, *shape_of(x)[:2])
    filter_shape = shape_of(filter)
    if flags[0] or _is_grouped(shape_of(x)[channels], filter_shape[-2]):
        x, filter = all_batched(values, flags)
        x = _merge(x, channels)
    out = op.call(x, _merge(filter, len(filter_shape) - 2), **attrs)
    return _split(out, channels, filter_shape[0], filter_shape[-1])


def batch_input_gradient(op, values, flags, attrs):
    """The gradients for many inputs, as `batch_convolution`."""
    filter, g = values
    sizes = attrs["input_sizes"]
    channels = _channel_axis(attrs)
    depth = sizes[channels]
    if not flags[0]:
        count = shape_of(g)[0]
        attrs = {**attrs, "input_sizes": (count * sizes[0], *sizes[1:])}
        return _split(op.call(filter, _merge(g, 0), **attrs), 0, count, sizes[0])
    shape = shape_of(filter)
    count = shape[0]
    attrs = {**attrs, "input_sizes": _with(sizes, channels, count * depth)}
    if flags[1] or _is_grouped(depth, shape[-2]):
        filter, g = all_batched(values, flags)
        filter, g = _merge(filter, len(shape) - 2), _merge(g, channels)
    else:
        filter = _merge(filter, len(shape) - 3)
    return _split(op.call(filter, g, **attrs), channels, count, depth)


def batch_filter_gradient(op, values, flags, attrs):
    """The gradients for many filters, as `batch_convolution`."""
    x, g = values
    shape = attrs["filter_sizes"]
    channels = _channel_axis(attrs)
    count = shape_of(x if flags[0] else g)[0]
    last = len(shape) - 1
    depth = shape_of(x)[channels + flags[0]]
    if flags == [True, False] and not _is_grouped(depth, shape[-2]):
        sizes = _with(shape, last - 1, count * depth)
        gradient = op.call(_merge(x, channels), g, **{**attrs, "filter_sizes": sizes})
        return _split(gradient, last - 1, count, depth)
    if flags[0] or _is_grouped(depth, shape[-2]):
        x, g = all_batched(values, flags)
        x = _merge(x, channels)
    sizes = _with(shape, last, count * shape[-1])
    gradient = op.call(x, _merge(g, channels), **{**attrs, "filter_sizes": sizes})
    return _split(gradient, last, count, shape[-1])


def batch_depthwise(op, values, flags, attrs):
    """As `batch_convolution`, channel by channel."""
    if not flags[1]:
        return batch_convolution(op, values, flags, attrs)
    x, filter = all_batched(values, flags)
    channels, shape = _channel_axis(attrs), shape_of(filter)
    out = op.call(_merge(x, channels), _merge(filter, len(shape) - 3), **attrs)
    return _split(out, channels, shape[0], math.prod(shape[-2:]))


def batch_depthwise_input(op, values, flags, attrs):
    """As `batch_input_gradient`, channel by channel."""
    if not flags[0]:
        return batch_input_gradient(op, values, flags, attrs)
    filter, g = all_batched(values, flags)
    channels, shape, sizes = _channel_axis(attrs), shape_of(filter), attrs["input_sizes"]
    depth = sizes[channels]
    attrs = {**attrs, "input_sizes": _with(sizes, channels, shape[0] * depth)}
    gradient = op.call(_merge(filter, len(shape) - 3), _merge(g, channels), **attrs)
    return _split(gradient, channels, shape[0], depth)


def batch_depthwise_filter(op, values, flags, attrs):
    """As `batch_filter_gradient`, channel by channel."""
    x, g = all_batched(values, flags)
    channels, shape = _channel_axis(attrs), attrs["filter_sizes"]
    count, depth = shape_of(x)[0], shape[-2]
    axis = len(shape) - 2
    attrs = {**attrs, "filter_sizes": _with(shape, axis, count * depth)}
    gradient = op.call(_merge(x, channels), _merge(g, channels), **attrs)
    return _split(gradient, axis, count, depth)
