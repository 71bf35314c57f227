"""Clipping of values and of gradients' norms."""

import functools

import numpy as np

from ..core import dtypes
from ..core.composite import open_to_composites
from ..core.convert import convert_to_tensor
from ..core.dispatch import apply
from ..core.exports import export
from ..core.indexed_slices import IndexedSlices
from .arithmetic import maximum, minimum, mul, real_div
from .axes import reduce_with
from .broadcasting import not_allowed
from .casting import cast
from .elementwise import is_finite
from .families import shape_of
from .norms import euclidean_norm, global_norm_row
from .selection import select, zero_of


def _on_values(function):
    """Applies to the rows of IndexedSlices what a function does to a tensor."""

    @functools.wraps(function)
    def applied(t, *arguments, **options):
        if isinstance(t, IndexedSlices):
            values = function(t.values, *arguments, **options)
            return IndexedSlices(values, t.indices, t.dense_shape)
        return function(convert_to_tensor(t), *arguments, **options)

    return applied


def _of_shape(result, t):
    """The result, if clipping has not broadcast `t` to another shape."""
    if shape_of(result) != shape_of(t):
        raise ValueError(f"Shapes {shape_of(t)} and {shape_of(result)} are incompatible")
    return result


@export("clip_by_value")
@open_to_composites
@_on_values
def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """`t` with every element moved into the interval of the two bounds.

    Args:
        t: a tensor, or IndexedSlices, of which the values are clipped.
        clip_value_min: the lower bound, which broadcasts to `t`.
        clip_value_max: the upper bound, which broadcasts to `t`.

    Raises:
        ValueError: a bound has a larger shape than `t`.
        InvalidArgumentError: a bound has another dtype, or does not broadcast with `t`.
    """
    low, high = [
        convert_to_tensor(bound, None if hasattr(bound, "_dispatch_level") else t.dtype)
        for bound in (clip_value_min, clip_value_max)
    ]
    below = _of_shape(minimum(t, high), t)
    return _of_shape(maximum(below, low), t)


@export("clip_by_norm")
@_on_values
def clip_by_norm(t, clip_norm, axes=None, name=None):
    """`t` scaled down, where its norm along `axes` is larger, to the norm `clip_norm`.

    Raises:
        ValueError: `clip_norm` has a larger shape than `t`.
    """
    _check_floating("Sqrt", t)
    limit = maximum(cast(clip_norm, t.dtype), zero_of(t))
    size = reduce_with(euclidean_norm, t, axes, True)
    return _of_shape(mul(t, real_div(limit, maximum(size, limit))), t)


def _check_floating(op_name, t):
    if t.dtype.numpy_dtype not in dtypes.FLOATING:
        raise not_allowed(op_name, t.dtype.numpy_dtype, dtypes.FLOATING)


def _check_list(t_list):
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")


@export("linalg.global_norm")
def global_norm(t_list, name=None):
    """The norm of all tensors of a list together; None entries are left out.

    Raises:
        TypeError: `t_list` is not a list.
        InvalidArgumentError: the tensors are not of one floating dtype.
    """
    _check_list(t_list)
    tensors = [
        t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t)
        for t in t_list
        if t is not None
    ]
    return apply(global_norm_row.op, tuple(tensors)) if tensors else convert_to_tensor(0.0)


@export("clip_by_global_norm")
def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """Scales all tensors of a list so that their global norm is at most `clip_norm`.

    Args:
        t_list: tensors, IndexedSlices, or None, which stays None.
        clip_norm: the norm they are scaled down to, if theirs is larger.
        use_norm: their norm, if it is known already.

    Returns:
        The list, and the global norm before. If that is not finite, every tensor becomes NaN.

    Raises:
        TypeError: `t_list` is not a list.
    """
    _check_list(t_list)
    norm = global_norm(t_list) if use_norm is None else convert_to_tensor(use_norm)
    limit = cast(clip_norm, norm.dtype)
    scale = real_div(limit, maximum(norm, limit))
    scale = select(is_finite(norm), scale, convert_to_tensor(np.nan, norm.dtype))
    return [None if t is None else _scaled(t, scale) for t in t_list], norm


@_on_values
def _scaled(t, scale):
    return mul(t, cast(scale, t.dtype))
