"""What users give to functions of derivatives, and what their functions return, checked."""

from typing import Any

import numpy as np

from ..core import convert, nest
from ..core.tensor import Tensor
from ..core.variable import Variable, variable_of


def as_tensors(name, argument, structure) -> Any:
    """The structure with every leaf a tensor or variable."""

    def tensor(value):
        value = variable_of(value)
        if isinstance(value, (Tensor, Variable)):
            return value
        try:
            return convert.convert_to_tensor(value)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"{name} takes tensors, variables or what converts to them as `{argument}`. "
                f"Received: {value!r} of type {type(value).__name__!r}. ({error})"
            ) from error

    return nest.map_structure(tensor, structure)


def as_point(name, argument, x) -> Any:
    """The point, as tensors and variables that can all be differentiated by."""
    point = as_tensors(name, argument, x)
    leaves: list[Any] = nest.flatten(point)
    if not leaves:
        raise ValueError(f"{name} needs at least one tensor in `{argument}`. Received: {x!r}")
    for leaf in leaves:
        if not leaf.dtype.is_differentiable:
            raise ValueError(
                f"{name} differentiates by floating or complex tensors. Received: in `{argument}` "
                f"one of shape {leaf.shape} and dtype {leaf.dtype.name}. Convert it with tf.cast, "
                "or let the function capture it."
            )
    return point


def as_real_point(name, x):
    """A point without complex numbers."""
    point = as_point(name, "x", x)
    if any([leaf.dtype.is_complex for leaf in nest.flatten(point)]):
        raise ValueError(
            f"{name} takes real tensors as `x`. Received: a complex one. Use hvp, or differentiate "
            "by real and imaginary parts."
        )
    return point


def fitting(name, argument, given, what, structure):
    """`given` as tensors of the dtypes in `structure`, whose structure and shapes it must have."""
    try:
        nest.assert_same_structure(structure, given, check_types=False)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{name} takes a `{argument}` in the structure of {what}. {error}"
        ) from None

    def tensor(model, value):
        converted = convert.convert_to_tensor(value, model.dtype)
        if tuple(converted.shape) != tuple(model.shape):
            raise ValueError(
                f"{name} takes a `{argument}` in the shape of {what}, {model.shape}. Received: "
                f"shape {converted.shape}. Broadcast it first, with tf.broadcast_to."
            )
        return converted

    flat = [tensor(m, v) for m, v in zip(nest.flatten(structure), nest.flatten(given), strict=True)]
    return nest.pack_sequence_as(structure, flat)


def checked_chunk(name, parallel_iterations):
    """How many rows to take at a time, or None."""
    if parallel_iterations is None:
        return None
    if not isinstance(parallel_iterations, (int, np.integer)) or parallel_iterations < 1:
        raise ValueError(
            f"{name} takes a positive integer, or None for all at once, as `parallel_iterations`. "
            f"Received: {parallel_iterations!r}"
        )
    return int(parallel_iterations)


def check_result(name, value):
    """Raises unless a function's value is made of tensors."""
    for leaf in nest.flatten(value):
        if not isinstance(leaf, (Tensor, Variable)):
            raise TypeError(
                f"{name} takes a function that returns a tensor or a structure of them. It "
                f"returned: {leaf!r} of type {type(leaf).__name__!r}."
            )


def one_tensor(name, y):
    """A function's value, which must be one tensor that can be differentiated."""
    if not isinstance(y, (Tensor, Variable)):
        raise TypeError(
            f"{name} takes a function that returns one tensor. It returned: {y!r} of type "
            f"{type(y).__name__!r}. Return one, or take each result by itself."
        )
    if not y.dtype.is_differentiable:
        raise ValueError(
            f"{name} takes a function with a floating or complex result. It returned: a tensor of "
            f"shape {y.shape} and dtype {y.dtype.name}, which has no derivative."
        )
    return convert.convert_to_tensor(y)


def one_scalar(name, y):
    """A function's value, which must be a scalar."""
    y = one_tensor(name, y)
    if y._value.shape:
        raise ValueError(
            f"{name} takes a function with a scalar result. It returned: a tensor of shape "
            f"{y.shape}. Sum it, e.g. with tf.reduce_sum, or use jacobian."
        )
    return y
