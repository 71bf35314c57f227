"""Pools as users call them, over one, two or three axes."""

from typing import NamedTuple

import numpy as np

from ..core import dtypes
from ..core.convert import operand
from ..core.dispatch import apply
from ..core.exports import export
from ..core.tensor import Tensor
from .broadcasting import reshape
from .convolution_api import check_not_both, one_or_each
from .indexing import gather
from .joining import stack
from .pooling import (
    average_pool3d_row,
    average_pool_row,
    max_pool3d_row,
    max_pool_row,
    max_pool_with_argmax_row,
)
from .slicing import EVERYTHING, strided_slice_row
from .windows import FORMATS, is_channels_first, padding_argument, per_axis


def _pool(rows, x, ksize, strides, padding, data_format, axes):
    """Applies the row of `rows` for `axes` spatial axes; a sequence is an image of height 1."""
    attrs = {
        "ksize": per_axis(ksize, "ksize", axes, data_format),
        "strides": per_axis(strides, "strides", axes, data_format),
        "padding": padding,
        "data_format": data_format,
    }
    if axes > 1:
        return apply(rows[axes - 2].op, (x,), attrs)
    first = is_channels_first(data_format)
    place = 2 if first else 1
    attrs["data_format"] = "NCHW" if first else "NHWC"
    for name in ("ksize", "strides"):
        attrs[name] = (*attrs[name][:place], 1, *attrs[name][place:])
    if isinstance(padding, tuple):
        attrs["padding"] = (*padding[:place], (0, 0), *padding[place:])
    shape = tuple(x.shape)
    image = apply(reshape.op, (x,), {"shape": (*shape[:place], 1, *shape[place:])})
    out = apply(rows[0].op, (image,), attrs)
    shape = tuple(out.shape)
    return apply(reshape.op, (out,), {"shape": shape[:place] + shape[place + 1 :]})


_MAXIMUM = (max_pool_row, max_pool3d_row)
_MEAN = (average_pool_row, average_pool3d_row)


def _maximum(x, ksize, strides, padding, data_format, axes):
    padding = padding_argument(padding, axes + 2) if axes < 3 else _a_word(padding)
    return _pool(_MAXIMUM, x, ksize, strides, padding, data_format, axes)


def _mean(x, ksize, strides, padding, data_format, axes):
    return _pool(_MEAN, x, ksize, strides, _a_word(padding), data_format, axes)


def _a_word(padding):
    if not isinstance(padding, str):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
    return padding


def _any_rank(pool, input, ksize, strides, padding, data_format):
    x = operand(input)
    axes = x.ndim - 2
    if not 1 <= axes <= 3:
        raise ValueError(
            f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={x.shape} of rank "
            f"{x.ndim}."
        )
    first = data_format is not None and is_channels_first(data_format)
    return pool(x, ksize, strides, padding, FORMATS[axes][first], axes)


@export("nn.max_pool")
def max_pool(input, ksize, strides, padding, data_format=None, name=None):
    """The largest element in each window, over one to three axes as the input has them.

    Args:
        input: of shape [batch, *sizes, channels].
        ksize: the size of the window: one number, one for each spatial axis, or for every axis.
        strides: the step of the window, likewise.
        padding: `"SAME"`, `"VALID"`, or a pair (before, after) for each axis.
        data_format: starts with `"NC"` if channels come before the spatial axes.

    Raises:
        ValueError: the input has not three to five axes, or there are not as many numbers as axes.
        InvalidArgumentError: a number is out of range.
    """
    return _any_rank(_maximum, input, ksize, strides, padding, data_format)


@export("nn.max_pool1d")
def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """The largest element in each window of sequences [batch, length, channels]."""
    return _maximum(_of_rank(input, 3), ksize, strides, padding, data_format, 1)


@export("nn.max_pool2d")
def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """The largest element in each window of images [batch, height, width, channels]."""
    return _maximum(operand(input), ksize, strides, padding, data_format or "NHWC", 2)


@export("nn.max_pool3d")
def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """The largest element in each window of volumes [batch, depth, height, width, channels]."""
    return _maximum(operand(input), ksize, strides, padding, data_format or "NDHWC", 3)


@export("nn.avg_pool")
def avg_pool(input, ksize, strides, padding, data_format=None, name=None):
    """The mean of each window, over one to three axes as the input has them.

    Elements outside the input count neither in the sum nor in the number; arguments as of
    `max_pool`, but `padding` is a word.
    """
    return _any_rank(_mean, input, ksize, strides, padding, data_format)


@export("nn.avg_pool1d")
def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """The mean of each window of sequences [batch, length, channels]."""
    return _mean(_of_rank(input, 3), ksize, strides, padding, data_format, 1)


@export("nn.avg_pool2d")
def avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """The mean of each window of images [batch, height, width, channels]."""
    return _mean(operand(input), ksize, strides, padding, data_format or "NHWC", 2)


@export("nn.avg_pool3d")
def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """The mean of each window of volumes [batch, depth, height, width, channels]."""
    return _mean(operand(input), ksize, strides, padding, data_format or "NDHWC", 3)


def _of_rank(input, rank):
    x = operand(input)
    if x.ndim != rank:
        raise ValueError(f"Shape {x.shape} must have rank {rank}")
    return x


class MaxPoolWithArgmax(NamedTuple):
    """What `max_pool_with_argmax` returns."""

    output: Tensor
    argmax: Tensor


@export("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input, ksize, strides, padding, data_format="NHWC", output_dtype=dtypes.int64,
    include_batch_in_index=False, name=None,
):  # fmt: skip
    """The largest element in each window, and where in the flattened image it is.

    Args:
        input: images of shape [batch, height, width, channels].
        ksize: as of `max_pool`; likewise `strides`.
        padding: `"SAME"` or `"VALID"`.
        data_format: `"NHWC"`.
        output_dtype: of the positions: int32 or int64.
        include_batch_in_index: whether positions are counted in the whole batch.

    Returns:
        A named tuple of `output` and `argmax`.

    Raises:
        ValueError: `data_format` is another.
    """
    if data_format != "NHWC":
        raise ValueError(
            f"`data_format` values other  than 'NHWC' are not supported. Received: "
            f"data_format={data_format}"
        )
    attrs = {
        "ksize": per_axis(ksize, "ksize", 2, data_format),
        "strides": per_axis(strides, "strides", 2, data_format),
        "padding": _a_word(padding),
        "Targmax": dtypes.as_dtype(output_dtype).numpy_dtype,
        "include_batch_in_index": bool(include_batch_in_index),
    }
    return MaxPoolWithArgmax(*apply(max_pool_with_argmax_row.op, (operand(input),), attrs))


@export("nn.pool")
def pool(
    input, window_shape, pooling_type, strides=None, padding="VALID", data_format=None,
    dilations=None, name=None,
):  # fmt: skip
    """The largest element or the mean of windows, over as many axes as `window_shape` has.

    Args:
        input: of shape [batch, *sizes, channels].
        window_shape: the size of the window along each spatial axis.
        pooling_type: `"MAX"` or `"AVG"`.
        strides: the step of the window along each of them.
        padding: `"SAME"` or `"VALID"`.
        data_format: starts with `"NC"` if channels come before the spatial axes.
        dilations: the distance between elements of the window along each of them.

    Raises:
        ValueError: there is no such pool; strides and dilations are both more than 1; or dilations
            are, and `padding` is `"SAME"`.
    """
    window = np.asarray(window_shape).reshape(-1).tolist()
    axes = len(window)
    x = _of_rank(input, axes + 2)
    strides = one_or_each(strides, "strides", axes)
    dilations = one_or_each(dilations, "dilation_rate", axes)
    check_not_both(strides, dilations)
    pools = {"MAX": _maximum, "AVG": _mean}
    if pooling_type not in pools or not 1 <= axes <= 3:
        raise ValueError(f"{axes}-D {pooling_type} pooling is not supported.")
    first = data_format is not None and is_channels_first(data_format)

    def undilated(x, padding):
        return pools[pooling_type](x, window, strides, padding, FORMATS[axes][first], axes)

    if max(dilations) == 1:
        return undilated(x, padding)
    if padding == "SAME":
        raise ValueError(
            "pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. Received: "
            f"padding={padding} and dilation_rate={np.array(dilations)}"
        )
    return _dilated(undilated, x, window, dilations, 2 if first else 1)


def _dilated(pool, x, window, dilations, first_axis):
    """A pool whose windows take every d-th element: that of every d-th element, interleaved."""
    if not dilations:
        return pool(x, "VALID")
    rate, axis = dilations[-1], first_axis + len(dilations) - 1
    count = max(x.shape[axis] - (window[-1] - 1) * rate, 0)
    # Each phase is made as long as the longest, and what is too much cut off at the end.
    length = -(-count // rate) + window[-1] - 1
    parts = []
    for phase in range(rate):
        taken = np.minimum(phase + rate * np.arange(length), x.shape[axis] - 1)
        part = gather(x, taken, axis=axis)
        parts.append(_dilated(pool, part, window[:-1], dilations[:-1], first_axis))
    out = stack(parts, axis=axis + 1)
    shape = tuple(out.shape)
    flat = (*shape[:axis], shape[axis] * rate, *shape[axis + 2 :])
    out = apply(reshape.op, (out,), {"shape": flat})
    key = (*(EVERYTHING,) * axis, (None, count, None))
    return apply(strided_slice_row.op, (out,), {"key": key})
