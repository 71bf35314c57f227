"""Convolutions as matrix products: windows are copied, a cache's worth at a time, and multiplied.

Arrays have their channels last: inputs are (N, *sizes, C), filters (*windows, C / groups, O),
outputs (N, *places, O). All functions work for any number of spatial axes, given as Spans.
"""

import math

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .windows import Span, copy_rows, offsets, padded, places, unpadded

# Copied windows of this size are still in the cache when BLAS reads them.
_BLOCK_BYTES = 1 << 21
_FEW_CHANNELS = 4
# Adding up products for each element of a window costs about as much as copying this many.
_COST_OF_ADDING = 3


def convolve(x, filter, axes):
    """The convolution of `x` with `filter`."""
    out = np.empty((len(x), *places(axes), filter.shape[-1]), x.dtype)
    if not out.size:
        return out
    if not x.size or not filter.size:
        out[...] = 0
        return out
    groups = x.shape[-1] // filter.shape[-2]
    matrices = [part.reshape(-1, part.shape[-1]) for part in _channel_groups(filter, groups)]
    inputs, outputs = _channel_groups(padded(x, axes), groups), _channel_groups(out, groups)
    for part, matrix, target in zip(inputs, matrices, outputs, strict=True):
        for rows, windows in _blocks(part, axes):
            _multiply(windows, matrix, target[rows])
    return out


def _multiply(windows, matrix, target):
    if target.flags.c_contiguous:
        np.dot(windows, matrix, out=target.reshape(-1, matrix.shape[1]))
    else:
        target[...] = np.dot(windows, matrix).reshape(target.shape)


def filter_gradient(x, g, axes, filter_shape):
    """The gradient of a convolution with respect to its filter, for `g` in the output's place."""
    if not math.prod(filter_shape) or not x.size or not g.size:
        return np.zeros(filter_shape, x.dtype)
    groups = x.shape[-1] // filter_shape[-2]
    gradient = np.zeros(filter_shape, x.dtype)
    inputs, outputs = _channel_groups(padded(x, axes), groups), _channel_groups(g, groups)
    targets = _channel_groups(gradient, groups)
    for part, g_part, target in zip(inputs, outputs, targets, strict=True):
        for rows, windows in _blocks(part, axes):
            product = np.dot(windows.T, g_part[rows].reshape(len(windows), -1))
            target += product.reshape(target.shape)
    return gradient


def input_gradient(filter, g, axes, input_shape):
    """The gradient of a convolution with respect to its input, for `g` in the output's place."""
    if not math.prod(input_shape) or not g.size or not filter.size:
        return np.zeros(input_shape, g.dtype)
    groups = input_shape[-1] // filter.shape[-2]
    if groups > 1:
        return _grouped_input_gradient(filter, g, axes, input_shape, groups)
    channels, outputs = filter.shape[-2:]
    if outputs <= _COST_OF_ADDING * channels and all([_can_turn(axis) for axis in axes]):
        return _turned_convolution(filter, g, axes)
    return _added_windows(filter, g, axes, input_shape)


def _turned_convolution(filter, g, axes):
    """With strides of 1 the gradient is a convolution of `g` with the filter turned around."""
    flip = (slice(None, None, -1),) * len(axes)
    turned = np.ascontiguousarray(filter[flip].swapaxes(-1, -2))
    return convolve(g, turned, tuple([_turned(axis) for axis in axes]))


def _can_turn(axis):
    return axis.stride == 1 and max(axis.before, axis.after) <= (axis.window - 1) * axis.dilation


def _turned(axis):
    """The window that slides over the output so that it gives the input."""
    extent = (axis.window - 1) * axis.dilation
    before, after = extent - axis.before, extent - axis.after
    return Span(axis.count, axis.window, 1, axis.dilation, before, after, axis.size)


def _added_windows(filter, g, axes, input_shape):
    """Every element of `g` times the filter, added where its window lies."""
    matrix = filter.reshape(-1, filter.shape[-1]).T
    whole = np.zeros(_padded_shape(input_shape, axes), g.dtype)
    per_image = math.prod(places(axes)) * matrix.shape[1] * g.itemsize
    step = max(1, _BLOCK_BYTES // per_image)
    for start in range(0, len(g), step):
        part, target = g[start : start + step], whole[start : start + step]
        products = np.dot(part.reshape(-1, g.shape[-1]), matrix)
        products = products.reshape(*part.shape[:-1], -1, input_shape[-1])
        for i, (_, region) in enumerate(offsets(axes)):
            target[(slice(None), *region)] += products[..., i, :]
    return unpadded(whole, axes)


def _grouped_input_gradient(filter, g, axes, input_shape, groups):
    gradient = np.empty(input_shape, g.dtype)
    channels, outputs = filter.shape[-2], filter.shape[-1] // groups
    for group in range(groups):
        taken = slice(group * outputs, (group + 1) * outputs)
        gradient[..., group * channels : (group + 1) * channels] = input_gradient(
            filter[..., taken], np.ascontiguousarray(g[..., taken]), axes,
            (*input_shape[:-1], channels),
        )  # fmt: skip
    return gradient


def windows_of(x, axes):
    """A view of a padded array: (N, *places, *windows, C)."""
    steps = x.strides[1:-1]
    return as_strided(
        x,
        (len(x), *places(axes), *[axis.window for axis in axes], x.shape[-1]),
        (
            x.strides[0],
            *[axis.stride * step for axis, step in zip(axes, steps, strict=True)],
            *[axis.dilation * step for axis, step in zip(axes, steps, strict=True)],
            x.strides[-1],
        ),
        writeable=False,
    )


def _blocks(x, axes):
    """Windows copied into rows of a matrix, block by block: (which part of the output, the matrix).

    The matrix is the same memory each time.
    """
    if all([axis.window == axis.stride == 1 for axis in axes]):
        yield (slice(None),), np.ascontiguousarray(x).reshape(-1, x.shape[-1])
        return
    view = windows_of(x, axes)
    if x.shape[-1] <= _FEW_CHANNELS:
        yield from _columns(view, axes)
        return
    memory = None
    if axes[-1].dilation == 1 and x.strides[-2] == x.shape[-1] * x.strides[-1]:
        # The last axis of a window and its channels lie side by side: longer pieces to copy.
        view = as_strided(
            view,
            (*view.shape[:-2], view.shape[-2] * view.shape[-1]),
            (*view.strides[:-2], view.strides[-1]),
            writeable=False,
        )
    columns = math.prod([axis.window for axis in axes]) * x.shape[-1]
    for index in _pieces(len(x), places(axes), columns * x.itemsize):
        part = view[index]
        if memory is None:
            memory = np.empty(part.shape, x.dtype)
        block = memory[: len(part), : part.shape[1]]
        copy_rows(block, part)
        yield index, block.reshape(math.prod(part.shape[: 1 + len(axes)]), columns)


def _columns(view, axes):
    """The blocks of `_blocks` as columns: with few channels these are longer pieces to copy."""
    rank = len(axes)
    order = (*range(rank + 1, view.ndim), *range(rank + 1))
    size = math.prod(view.shape[rank + 1 :])
    for index in _pieces(len(view), places(axes), size * view.itemsize):
        block = np.ascontiguousarray(view[index].transpose(order))
        yield index, block.reshape(size, block.size // size).T


def _pieces(images, counts, bytes_per_place):
    """Parts of an output that are one block each: some images, or some rows of one of them.

    The first is the largest.
    """
    row_bytes = math.prod(counts[1:]) * bytes_per_place
    image_bytes = counts[0] * row_bytes
    if image_bytes <= _BLOCK_BYTES:
        step = max(1, _BLOCK_BYTES // image_bytes)
        for start in range(0, images, step):
            yield slice(start, start + step), slice(None)
        return
    step = max(1, _BLOCK_BYTES // row_bytes)
    for image in range(images):
        for start in range(0, counts[0], step):
            yield slice(image, image + 1), slice(start, start + step)


def _channel_groups(x, groups):
    if groups == 1:
        return [x]
    depth = x.shape[-1] // groups
    return [x[..., i * depth : (i + 1) * depth] for i in range(groups)]


def _padded_shape(shape, axes):
    sizes = [axis.size + axis.before + axis.after for axis in axes]
    return (shape[0], *sizes, shape[-1])


# Each channel by itself ---------------------------------------------------------------------------


def depthwise_convolve(x, filter, axes):
    """Each channel convolved by itself, with `filter` of shape (*windows, C, multiplier)."""
    channels, times = filter.shape[-2:]
    out = np.zeros((len(x), *places(axes), channels, times), x.dtype)
    x = padded(x, axes)
    if out.size:
        for index, region in offsets(axes):
            out += x[(slice(None), *region)][..., None] * filter[index]
    return out.reshape(*out.shape[:-2], channels * times)


def depthwise_filter_gradient(x, g, axes, filter_shape):
    """The gradient of `depthwise_convolve` with respect to its filter."""
    channels, times = filter_shape[-2:]
    gradient = np.zeros(filter_shape, x.dtype)
    g = g.reshape(*g.shape[:-1], channels, times)
    x = padded(x, axes)
    lead = tuple(range(g.ndim - 2))
    if g.size:
        for index, region in offsets(axes):
            gradient[index] = np.add.reduce(x[(slice(None), *region)][..., None] * g, lead)
    return gradient


def depthwise_input_gradient(filter, g, axes, input_shape):
    """The gradient of `depthwise_convolve` with respect to its input."""
    channels, times = filter.shape[-2:]
    whole = np.zeros(_padded_shape(input_shape, axes), g.dtype)
    g = g.reshape(*g.shape[:-1], channels, times)
    if g.size:
        for index, region in offsets(axes):
            whole[(slice(None), *region)] += np.add.reduce(g * filter[index], -1)
    return unpadded(whole, axes)
