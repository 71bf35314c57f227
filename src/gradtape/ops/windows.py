"""Sliding windows: where they lie along each axis, shared by convolutions, pools and patches.

Padding is `"SAME"`, `"VALID"`, or a tuple with one pair (before, after) for each axis. A window
along one axis is a `Span`; what slides over a tensor is a tuple of them.
"""

import functools
from typing import NamedTuple

import numpy as np

from ..core.errors import InvalidArgumentError, invalid_argument, unimplemented
from .broadcasting import words

FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


class Span(NamedTuple):
    """A window that slides along one axis."""

    size: int  # of the axis
    window: int
    stride: int
    dilation: int
    before: int  # padding
    after: int
    count: int  # of places for the window

    @property
    def padded(self):
        return bool(self.before or self.after)

    @property
    def reach(self):
        """How much of the padded axis the windows touch."""
        return (self.count - 1) * self.stride + (self.window - 1) * self.dilation + 1


@functools.lru_cache(maxsize=4096)
def spans(sizes, windows, strides, dilations, padding):
    """One Span for each axis."""
    pairs = padding if isinstance(padding, tuple) else (padding,) * len(sizes)
    return tuple(
        [_span(*axis) for axis in zip(sizes, windows, strides, dilations, pairs, strict=True)]
    )


def _span(size, window, stride, dilation, padding):
    extent = (window - 1) * dilation + 1
    if padding == "SAME":
        count = -(-size // stride)
        missing = max((count - 1) * stride + extent - size, 0) if count else 0
        before, after = missing // 2, missing - missing // 2
    else:
        before, after = (0, 0) if padding == "VALID" else padding
        count = max((size + before + after - extent) // stride + 1, 0)
    return Span(size, window, stride, dilation, before, after, count)


def places(axes):
    """How many places the windows have along each axis."""
    return tuple([axis.count for axis in axes])


def checked_places(name, axes):
    """The same, as the shape of what op `name` gives; an error if a window is far too large."""
    for axis in axes:
        extent = (axis.window - 1) * axis.dilation + 1
        room = axis.size + axis.before + axis.after - extent + axis.stride
        if room <= -axis.stride:
            raise invalid_argument(
                name,
                f"Computed output size would be negative: {-(-room // axis.stride)} [input_size: "
                f"{axis.size}, effective_filter_size: {extent}, stride: {axis.stride}]",
            )
    return places(axes)


# Rows of at least this many bytes are copied as one item each.
_ITEM_BYTES = 32


def copy_rows(target, source):
    """Copies row by row along the last axis: NumPy is slow at it element by element.

    Args:
        target: an array.
        source: another of its shape and dtype.
    """
    step, size = source.itemsize, source.shape[-1] * source.itemsize
    if size >= _ITEM_BYTES and source.strides[-1] == target.strides[-1] == step:
        row = np.dtype((np.void, size))
        source, target = source.view(row), target.view(row)
    np.copyto(target, source)


def padded(x, axes, first=1, value: float = 0):
    """`x` with its axes from `first` on padded as the windows ask; itself if they ask nothing."""
    if not any([axis.padded for axis in axes]):
        return x
    shape = list(x.shape)
    inside = [slice(None)] * x.ndim
    for i, axis in enumerate(axes, first):
        shape[i] += axis.before + axis.after
        inside[i] = slice(axis.before, axis.before + axis.size)
    whole = np.zeros(shape, x.dtype) if not value else np.full(shape, value, x.dtype)
    copy_rows(whole[tuple(inside)], x)
    return whole


def unpadded(x, axes, first=1):
    """The part of a padded array that `padded` was given."""
    if not any([axis.padded for axis in axes]):
        return x
    inside = [slice(None)] * x.ndim
    for i, axis in enumerate(axes, first):
        inside[i] = slice(axis.before, axis.before + axis.size)
    return x[tuple(inside)]


def offsets(axes):
    """For each element of a window the slices of a padded array that it sees, row by row."""
    for index in np.ndindex(*[axis.window for axis in axes]):
        yield index, tuple([seen(axis, i) for axis, i in zip(axes, index, strict=True)])


def seen(axis, i):
    """The slice of a padded axis that the i-th element of the window sees."""
    start = i * axis.dilation
    return slice(start, start + (axis.count - 1) * axis.stride + 1, axis.stride)


# Arguments and attributes -------------------------------------------------------------------------


def is_channels_first(data_format):
    """Whether the channels come before the spatial axes."""
    return data_format[1] == "C"


def spatial(values, data_format):
    """The entries for the spatial axes, out of one for each axis."""
    return values[2:] if data_format[1] == "C" else values[1:-1]


def others(values, data_format):
    """The entries for the batch and the channels, out of one for each axis."""
    return (values[0], values[1 if data_format[1] == "C" else -1])


def spatial_padding(padding, data_format):
    """Padding of the spatial axes alone."""
    return spatial(padding, data_format) if isinstance(padding, tuple) else padding


def per_axis(value, name, spatial_axes, data_format):
    """Sizes for every axis, from one for all spatial axes, one for each of them, or one for all.

    Raises:
        ValueError: there are as many of them as neither.
    """
    if value is None:
        value = 1
    listed = value if isinstance(value, (list, tuple)) else np.asarray(value).reshape(-1).tolist()
    given = [int(each) for each in listed]
    if len(given) == spatial_axes + 2:
        return tuple(given)
    if len(given) == 1:
        given *= spatial_axes
    elif len(given) != spatial_axes:
        expected = ", ".join([str(n) for n in sorted({1, spatial_axes})])
        raise ValueError(
            f"{name} should be of length {expected} or {spatial_axes + 2}. "
            f"Received: {name}={value} of length {len(given)}"
        )
    return (1, 1, *given) if is_channels_first(data_format) else (1, *given, 1)


def padding_argument(padding, rank):
    """Padding as rows take it: a word, or pairs as tuples.

    Raises:
        ValueError: there is not one pair for each axis.
    """
    if not isinstance(padding, (list, tuple)):
        return padding
    if len(padding) != rank:
        raise ValueError(
            f"When padding is a list, it must be of size {rank}. Received: padding={padding} of "
            f"size {len(padding)}"
        )
    for i, pair in enumerate(padding):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            size = len(pair) if isinstance(pair, (list, tuple)) else "a single number"
            raise ValueError(
                "When `padding` is a list, each element of `padding` must be a list/tuple of size "
                f"2. Received: padding={padding} with element at index {i} of size {size}"
            )
    return tuple([(int(before), int(after)) for before, after in padding])


def merged_padding(padding, explicit_paddings):
    """Padding from the two attributes that raw ops have for it."""
    if padding != "EXPLICIT":
        return padding
    flat = [int(each) for each in np.asarray(explicit_paddings).reshape(-1)]
    return tuple(zip(flat[::2], flat[1::2], strict=True))


def check_format(name, data_format, allowed):
    """Raises TensorFlow's error for a data format the op does not know."""
    if data_format not in allowed:
        raise _not_a_value(name, "data_format", data_format, allowed)


@functools.lru_cache(maxsize=4096)
def check_padding(name, padding, data_format, explicit=True):
    """Raises TensorFlow's errors for padding that cannot be."""
    if not isinstance(padding, tuple):
        if padding not in ("SAME", "VALID"):
            allowed = ("SAME", "VALID", "EXPLICIT") if explicit else ("SAME", "VALID")
            raise _not_a_value(name, "padding", padding, allowed)
        return
    if min([width for pair in padding for width in pair]) < 0:
        raise invalid_argument(name, "All elements of explicit_paddings must be nonnegative")
    if any([width for pair in others(padding, data_format) for width in pair]):
        raise invalid_argument(
            name, "Nonzero explicit padding in the batch or depth dimensions is not supported"
        )


def check_steps(name, strides, dilations, data_format):
    """Raises TensorFlow's errors for strides and dilations that cannot be."""
    for what, values in (("strides", strides), ("dilations", dilations)):
        if len(values) != len(data_format):
            raise invalid_argument(
                name,
                f"Sliding window {what} field must specify {len(data_format)} dimensions. "
                f"Received: {what}={values}",
            )
        if others(values, data_format) != (1, 1):
            raise unimplemented(
                name,
                f"Current implementation does not yet support {what} in the batch and depth "
                f"dimensions. Received: {what}={values}",
            )
    if min(strides) < 1:
        raise invalid_argument(
            name, f"Row and column strides should be larger than 0. Received: {words(strides)}"
        )
    if min(dilations) < 1:
        raise invalid_argument(
            name, f"Dilated rates should be larger than 0. Received: {words(dilations)}"
        )


def _not_a_value(name, attr, value, allowed):
    words_allowed = ", ".join([f'"{each}"' for each in allowed])
    return InvalidArgumentError(
        None,
        None,
        f"Value for attr '{attr}' of \"{value}\" is not in the list of allowed values: "
        f"{words_allowed}\n\t; NodeDef: {{{{node {name}}}}}",
    )
