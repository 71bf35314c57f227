"""Moments from sums, moments with weights, and normalisation by given moments."""

import math

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import float16, float32
from ..core.exports import export
from ..core.tensor import EagerTensor
from .arithmetic import add, div_no_nan, mul, real_div, squared_difference, sub
from .broadcasting import broadcast_to
from .casting import cast
from .elementwise import square
from .families import shape_of
from .manipulation import squeeze
from .nn import batch_normalization
from .reduction import reduce_sum


@export("nn.sufficient_statistics")
def sufficient_statistics(x, axes, shift=None, keepdims=False, name=None):
    """What `tf.nn.normalize_moments` needs to know of a tensor to find its mean and variance.

    Args:
        x: the tensor.
        axes: a list of axes to sum over.
        shift: a number near the mean, subtracted from all elements for the sake of accuracy.
        keepdims: whether to keep the axes with length 1.

    Returns:
        The number of elements in each sum, the sums, the sums of squares, and the shift.
    """
    x = convert_to_tensor(x)
    axes = list(set(axes))
    sizes = shape_of(x)
    count = EagerTensor(x.dtype.numpy_dtype.type(math.prod([sizes[axis] for axis in axes])))
    if shift is None:
        moved, squares = x, square(x)
    else:
        shift = convert_to_tensor(shift, x.dtype)
        moved, squares = sub(x, shift), squared_difference(x, shift)
    return count, reduce_sum(moved, axes, keepdims), reduce_sum(squares, axes, keepdims), shift


@export("nn.normalize_moments")
def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """The mean and the variance, from what `tf.nn.sufficient_statistics` gives."""
    mean_ss, variance_ss = convert_to_tensor(mean_ss), convert_to_tensor(variance_ss)
    share = real_div(1.0, convert_to_tensor(counts, dtype_hint=mean_ss.dtype))
    moved = mul(mean_ss, share)
    variance = sub(mul(variance_ss, share), square(moved))
    return (moved if shift is None else add(moved, convert_to_tensor(shift, moved.dtype))), variance


@export("nn.weighted_moments")
def weighted_moments(x, axes, frequency_weights, keepdims=False, name=None):
    """The mean and the variance along axes, of elements that count as often as weights say.

    Args:
        x: a tensor; float16 is computed in float32.
        axes: an axis or list of axes.
        frequency_weights: a tensor that broadcasts with `x`. Where all weights are 0, so are the
            results.
        keepdims: whether to keep the axes with length 1.
    """
    x = convert_to_tensor(x)
    dtype = x.dtype
    if dtype is float16:
        x = cast(x, float32)
    weights = cast(convert_to_tensor(frequency_weights), x.dtype)
    common = np.broadcast_shapes(shape_of(x), shape_of(weights))
    total = reduce_sum(broadcast_to(weights, shape=common), axes, True)
    mean = div_no_nan(reduce_sum(weights * x, axes, True), total)
    variance = div_no_nan(reduce_sum(weights * squared_difference(x, mean), axes, True), total)
    if not keepdims:
        mean, variance = squeeze(mean, axes), squeeze(variance, axes)
    return cast(mean, dtype), cast(variance, dtype)


@export("nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    input, mean, variance, beta, gamma, variance_epsilon, scale_after_normalization, name=None
):
    """Normalises by given moments.

    Args:
        input: the tensor.
        mean: the mean of each channel.
        variance: the variance of each channel.
        beta: what to add to each channel in the end.
        gamma: what to multiply each channel by.
        variance_epsilon: a small number, added to the variance.
        scale_after_normalization: whether `gamma` is used.
    """
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon)
