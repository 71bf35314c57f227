"""Masks and one-hot vectors: where, boolean_mask, one_hot."""

import math

import numpy as np

from ..core import dtypes
from ..core.composite import open_to_composites
from ..core.convert import convert_to_tensor, operand, operands
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import EagerTensor, Tensor
from .arguments import integer
from .broadcasting import not_allowed, reshape, words
from .casting import cast
from .families import non_differentiable, shape_of
from .indexing import all_below, check_index_dtype, gather_row
from .joining import all_batched
from .logic import less
from .pointwise import dtype_mismatch
from .selection import select

_INT64 = np.dtype(np.int64)


def _infer_where(condition):
    if not condition.shape:
        raise invalid_argument("Where", "WhereOp : Unhandled input dimensions: 0")
    if condition.dtype.kind == "O":
        raise not_allowed("Where", condition.dtype)
    return Spec((None, len(condition.shape)), _INT64)


def _batch_where(op, values, flags, attrs):
    raise TypeError(
        "tf.where(condition) and tf.boolean_mask give as many rows as there are true elements, "
        "which may differ within a batch. Use tf.where(condition, x, y)."
    )


where_row = non_differentiable(
    "Where",
    lambda condition: np.argwhere(condition),
    inputs="condition",
    infer=_infer_where,
    batch=_batch_where,
)


@export("where")
@open_to_composites
def where(condition, x=None, y=None, name=None):
    """Elements of `x` where the condition holds and of `y` elsewhere, with broadcasting.

    Without `x` and `y`, the coordinates of the elements that are not zero, one row for each.

    Raises:
        ValueError: only one of `x` and `y` is given.
        InvalidArgumentError: the shapes do not broadcast, or the condition is not boolean.
    """
    if x is None and y is None:
        return apply(where_row.op, (operand(condition),))
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    if not isinstance(condition, Tensor):
        condition = convert_to_tensor(condition, dtypes.bool_)
    return apply(select.op, (condition, *operands(x, y)))


@export("boolean_mask")
def boolean_mask(tensor, mask, axis=None, name="boolean_mask"):
    """The elements or slices of a tensor at which a mask is true.

    Args:
        tensor: the tensor.
        mask: booleans; its shape must be that of the tensor's axes from `axis` on.
        axis: the first axis that is masked; 0 if not given.

    Raises:
        ValueError: the mask is a scalar, or its shape does not agree.
    """
    x, mask = operand(tensor), convert_to_tensor(mask)
    if not mask.ndim:
        raise ValueError("mask cannot be scalar.")
    axis = 0 if axis is None else integer(axis, "Where")
    shape = x.shape
    covered = shape[axis : axis + mask.ndim]
    if covered != mask.shape:
        raise ValueError(f"Shapes {covered} and {mask.shape} are incompatible")
    if mask.ndim > 1:
        merged = (*shape[:axis], math.prod(covered), *shape[axis + mask.ndim :])
        x = apply(reshape.op, (x,), {"shape": merged})
    rows = apply(where_row.op, (reshape(mask, shape=(math.prod(covered),)),))
    places = reshape(rows, shape=shape_of(rows)[:1])
    # An axis counted from the end: the gradient of a mask is dense.
    return apply(gather_row.op, (x, places), {"axis": axis % x.ndim - x.ndim, "batch_dims": 0})


_ONE_HOT_INDICES = dtypes.numpy_set(dtypes.uint8, dtypes.int8, dtypes.int32, dtypes.int64)


def _infer_one_hot(indices, on_value, off_value, *, depth, axis):
    check_index_dtype("OneHot", indices.dtype, "TI", _ONE_HOT_INDICES)
    rank = len(indices.shape) + 1
    if not -1 <= axis < rank:
        raise invalid_argument(
            "OneHot", f"Expected axis to be -1 or between [0, {rank}).  But received: {axis}"
        )
    if depth < 0:
        raise invalid_argument("OneHot", f"depth must be non-negative, got: {depth}")
    for argument, value in (("on_value", on_value), ("off_value", off_value)):
        if value.shape:
            raise invalid_argument(
                "OneHot", f"{argument} must be a scalar, but got: {words(value.shape)}"
            )
    if on_value.dtype != off_value.dtype:
        raise dtype_mismatch("OneHot", 3, on_value.dtype, off_value.dtype)
    axis %= rank
    shape = (*indices.shape[:axis], depth, *indices.shape[axis:])
    return Spec(shape, on_value.dtype)


def _one_hot(indices, on_value, off_value, depth, axis):
    classes = np.asarray(indices)
    rank = classes.ndim + 1
    flat = classes.reshape(-1).astype(np.int64)
    vectors = np.zeros((flat.size, depth), off_value.dtype)
    if off_value.dtype.kind == "O" or any(off_value.tobytes()):
        vectors[...] = off_value
    known = np.arange(flat.size)
    if flat.size and not all_below(flat, depth):
        known = np.flatnonzero((flat >= 0) & (flat < depth))
        flat = flat[known]
    vectors[known, flat] = on_value
    vectors = vectors.reshape((*classes.shape, depth))
    return vectors if axis % rank == rank - 1 else np.moveaxis(vectors, -1, axis)


def _batch_one_hot(op, values, flags, attrs):
    indices, on_value, off_value = values
    moved = {**attrs, "axis": attrs["axis"] + (attrs["axis"] >= 0)}
    if not flags[1] and not flags[2]:
        return op.call(indices, on_value, off_value, **moved)
    indices, on_value, off_value = all_batched(values, flags)
    hot = op.call(indices, np.bool_(True), np.bool_(False), **moved)
    size = shape_of(hot)[:1] + (1,) * (len(shape_of(hot)) - 1)
    return select(hot, reshape(on_value, shape=size), reshape(off_value, shape=size))


one_hot_row = non_differentiable(
    "OneHot",
    _one_hot,
    inputs="indices on_value off_value",
    infer=_infer_one_hot,
    batch=_batch_one_hot,
    raw="indices, depth, on_value, off_value, axis=-1",
)


@export("one_hot")
def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """Vectors that are `on_value` at one place and `off_value` elsewhere.

    Args:
        indices: the places; one outside of the vector gives a vector of `off_value` alone.
        depth: the length of the vectors.
        on_value: 1 if not given.
        off_value: 0 if not given.
        axis: where the vectors lie in the result; last if not given.
        dtype: the dtype; that of the values, or float32.

    Raises:
        TypeError: the values have different dtypes.
        InvalidArgumentError: there is no such axis, or the indices are not integers.
    """
    found = None if dtype is None else dtypes.as_dtype(dtype)
    on = None if on_value is None else convert_to_tensor(on_value, dtype_hint=found)
    off = None if off_value is None else convert_to_tensor(off_value, dtype_hint=found)
    for argument, value in (("on_value", on), ("off_value", off)):
        if value is not None and found is not None and value.dtype is not found:
            raise TypeError(
                f"dtype {value.dtype} of {argument} does not match dtype parameter {found}"
            )
    if on is not None and off is not None and on.dtype is not off.dtype:
        raise TypeError(
            f"dtype {on.dtype} of on_value does not match dtype {off.dtype} of off_value"
        )
    common = off if on is None else on
    if found is None:
        found = dtypes.float32 if common is None else common.dtype
    on = _number(1, found) if on is None else on
    off = _number(0, found) if off is None else off
    if type(depth) is not int and np.ndim(depth):
        raise invalid_argument(
            "OneHot", f"depth must be a scalar, but got: {words(np.shape(depth))}"
        )
    if isinstance(indices, (list, tuple, bool)):
        indices = convert_to_tensor(indices, dtype_hint=dtypes.int64)
    elif isinstance(indices, (np.ndarray, np.generic)) and indices.dtype.kind in "bfu":
        indices = indices.astype(np.int64)  # labels that were read as floats, say
    attrs = {"depth": integer(depth, "OneHot"), "axis": -1 if axis is None else axis}
    return apply(one_hot_row.op, (operand(indices), on, off), attrs)


def _number(number, dtype):
    numpy_dtype = dtype.numpy_dtype
    if numpy_dtype in dtypes.NUMERIC:
        return EagerTensor(numpy_dtype.type(number))
    return convert_to_tensor(number, dtype)


@export("sequence_mask")
def sequence_mask(lengths, maxlen=None, dtype=dtypes.bool_, name=None):
    """Masks whose first elements are true, as many as each length says.

    Args:
        lengths: the lengths, a tensor of any shape.
        maxlen: the length of the masks; that of the longest if not given.
        dtype: the dtype of the masks.

    Raises:
        ValueError: `maxlen` is not a scalar.
        InvalidArgumentError: `maxlen` is negative.
    """
    lengths = operand(lengths)
    limit = max(lengths._value.max(initial=0), 0) if maxlen is None else operand(maxlen)._value
    if np.ndim(limit):
        raise ValueError(
            "Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = "
            f"{limit} with shape '{np.shape(limit)}' instead"
        )
    if limit < 0:
        raise invalid_argument("Range", f"Requires start <= limit when delta > 0: 0/{limit}")
    places = np.arange(limit).astype(lengths._value.dtype)
    column = apply(reshape.op, (lengths,), {"shape": (*lengths.shape, 1)})
    return cast(apply(less.op, (EagerTensor(places), column)), dtype)
