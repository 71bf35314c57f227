"""Tensors with some places changed: tensor_scatter_nd_update and its relatives."""

import numpy as np

from ..core.convert import operands
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arithmetic import add, mul, neg, real_div
from .broadcasting import words
from .casting import cast_row
from .families import dtype_of, opaque, shape_of
from .indexing import (
    check_index_dtype,
    check_places,
    gather_nd_row,
    ignores_bad_indices,
    index_operand,
    with_batch_coordinate,
)
from .joining import all_batched
from .logic import equal
from .pointwise import dtype_mismatch
from .scatter import only_inside, scatter_into, scatter_nd_row


def _infer_for(op_name):
    def infer(tensor, indices, updates):
        check_index_dtype(op_name, indices.dtype)
        if updates.dtype != tensor.dtype:
            raise dtype_mismatch(op_name, 2, tensor.dtype, updates.dtype)
        for argument, x in (("Indices", indices), ("Updates", updates)):
            if not x.shape:
                raise invalid_argument(
                    op_name, f"{argument} shape must have rank at least one. Found:[]"
                )
        outer, depth = len(indices.shape) - 1, indices.shape[-1]
        if updates.shape[:outer] != indices.shape[:-1]:
            raise invalid_argument(
                op_name,
                "Outer dimensions of indices and update must match. Indices shape: "
                f"{words(indices.shape)}, updates shape:{words(updates.shape)}",
            )
        if depth > len(tensor.shape) or updates.shape[outer:] != tensor.shape[depth:]:
            raise invalid_argument(
                op_name,
                "Inner dimensions of output shape must match inner dimensions of updates shape. "
                f"Output: {words(tensor.shape)} updates: {words(updates.shape)}",
            )
        return Spec(tensor.shape, tensor.dtype)

    return infer


def _row(op_name, ufunc, **rules):
    """A row that combines a tensor with updates by `ufunc`."""

    def kernel(tensor, indices, updates):
        check_places(op_name, indices, tensor.shape)
        out = np.array(tensor, order="C")
        scatter_into(out, indices, updates, ufunc)
        return out

    def batch(op, values, flags, attrs):
        tensor, indices, updates = all_batched(values, flags)
        return op.call(tensor, with_batch_coordinate(indices), updates)

    def raw(tensor, indices, updates, bad_indices_policy=""):
        return _apply(row, tensor, indices, updates, bad_indices_policy)

    row = opaque(
        op_name,
        kernel,
        inputs="tensor indices updates",
        infer=_infer_for(op_name),
        batch=batch,
        raw=raw,
        **rules,
    )
    return row


def _zeros(like, shape):
    """Zeros as a constant for a rule, in the dtype of a tensor or array."""
    return np.zeros(shape, dtype_of(like))


def _linear_row(op_name, ufunc, *, tensor, updates):
    """A row that is linear in the tensor and the updates together, given their adjoints."""

    def tangent(tangents, inputs, out, attrs):
        t, _, u = tangents
        like = u if t is None else t
        return row(
            _zeros(like, shape_of(inputs[0])) if t is None else t,
            inputs[1],
            _zeros(like, shape_of(inputs[2])) if u is None else u,
        )

    row = _row(
        op_name,
        ufunc,
        vjp={"tensor": tensor, "updates": updates},
        jvp=tangent,
        holomorphic=False,
    )
    return row


tensor_scatter_update = _linear_row(
    "TensorScatterUpdate",
    None,
    tensor=lambda g, indices, updates_shape: tensor_scatter_update(
        g, indices, _zeros(g, updates_shape)
    ),
    updates=lambda g, indices: gather_nd_row(g, indices),
)

tensor_scatter_add = _linear_row(
    "TensorScatterAdd",
    np.add,
    tensor=lambda g: g,
    updates=lambda g, indices: gather_nd_row(g, indices),
)

tensor_scatter_sub = _linear_row(
    "TensorScatterSub",
    np.subtract,
    tensor=lambda g: g,
    updates=lambda g, indices: neg(gather_nd_row(g, indices)),
)


def _extreme_adjoint(g, tensor, indices, updates, out):
    """The gradient of each element goes in equal parts to all that equal it."""
    dtype = dtype_of(g)
    of_tensor = cast_row(equal(tensor, out), dtype=dtype)
    of_updates = cast_row(equal(updates, gather_nd_row(out, indices)), dtype=dtype)
    count = add(of_tensor, scatter_nd_row(of_updates, indices, shape=shape_of(out)))
    part = real_div(g, count)
    return mul(part, of_tensor), None, mul(gather_nd_row(part, indices), of_updates)


tensor_scatter_min = _row("TensorScatterMin", np.minimum, vjp=_extreme_adjoint)
tensor_scatter_max = _row("TensorScatterMax", np.maximum, vjp=_extreme_adjoint)


def _apply(row, tensor, indices, updates, bad_indices_policy=""):
    tensor, updates = operands(tensor, updates)
    indices = index_operand(indices)
    if ignores_bad_indices(row.op.name, bad_indices_policy):
        indices, updates = only_inside(indices, updates, tuple(tensor.shape))
    return apply(row.op, (tensor, indices, updates))


@export("tensor_scatter_nd_update")
def tensor_scatter_nd_update(tensor, indices, updates, name=None):
    """A tensor with the elements or slices at some places replaced.

    Args:
        tensor: the tensor.
        indices: integers, of which the last axis holds one coordinate of each place.
        updates: elements or slices, one for each place; at a place named twice, the last.

    Raises:
        InvalidArgumentError: a place is outside of the tensor, or the shapes do not agree.
    """
    return _apply(tensor_scatter_update, tensor, indices, updates)


@export("tensor_scatter_nd_add")
def tensor_scatter_nd_add(tensor, indices, updates, bad_indices_policy="", name=None):
    """A tensor with `updates` added at some places; see `tensor_scatter_nd_update`."""
    return _apply(tensor_scatter_add, tensor, indices, updates, bad_indices_policy)


@export("tensor_scatter_nd_sub")
def tensor_scatter_nd_sub(tensor, indices, updates, bad_indices_policy="", name=None):
    """A tensor with `updates` subtracted at some places; see `tensor_scatter_nd_update`."""
    return _apply(tensor_scatter_sub, tensor, indices, updates, bad_indices_policy)


@export("tensor_scatter_nd_min")
def tensor_scatter_nd_min(tensor, indices, updates, bad_indices_policy="", name=None):
    """A tensor with the lesser of itself and `updates` at some places."""
    return _apply(tensor_scatter_min, tensor, indices, updates, bad_indices_policy)


@export("tensor_scatter_nd_max")
def tensor_scatter_nd_max(tensor, indices, updates, bad_indices_policy="", name=None):
    """A tensor with the greater of itself and `updates` at some places."""
    return _apply(tensor_scatter_max, tensor, indices, updates, bad_indices_policy)
