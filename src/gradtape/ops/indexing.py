"""Reading at positions that are data: gather and gather_nd."""

import math

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.indexed_slices import make_slices
from ..core.op import Spec
from ..core.tensor import EagerTensor
from .arguments import integer
from .arithmetic import add, masked
from .broadcasting import reshape, words
from .casting import cast_row
from .families import dtype_of, linear, shape_of
from .joining import all_batched, concat, concat_row
from .manipulation import move_axis

INDICES = dtypes.numpy_set(dtypes.int16, dtypes.int32, dtypes.int64)
_INT64 = np.dtype(np.int64)

_UNSIGNED = {size: np.dtype(f"u{size}") for size in (2, 4, 8)}


def all_below(indices, size):
    """Whether all of some indices lie in [0, size): a negative one, taken as unsigned, is huge."""
    unsigned = indices.view(_UNSIGNED[indices.dtype.itemsize])
    if unsigned.size < _FEW:
        return unsigned.item(unsigned.argmax()) < size
    return np.maximum.reduce(unsigned, None) < size


# Up to so many elements, NumPy finds the largest more quickly by its place.
_FEW = 4096


def check_index_dtype(op_name, dtype, attr="Tindices", allowed=INDICES):
    """Raises TensorFlow's error for indices that are not integers of an allowed size."""
    if dtype not in allowed:
        words = ", ".join(sorted([dtypes.of_numpy(d).runtime_word for d in allowed]))
        raise invalid_argument(
            op_name,
            f"Value for attr '{attr}' of {dtypes.of_numpy(dtype).runtime_word} is not in the list "
            f"of allowed values: {words}\n\t; NodeDef: {{{{node {op_name}}}}}",
        )


def index_operand(value):
    """Indices as a tensor; an empty list, which by itself would be float32, holds no index."""
    first = value
    while isinstance(first, (list, tuple)):
        if not first:
            return EagerTensor(np.zeros(np.shape(value), np.int32))
        first = first[0]
    return operand(value)


# gather -------------------------------------------------------------------------------------------


def _infer_gather(params, indices, *, axis, batch_dims):
    check_index_dtype("GatherV2", indices.dtype)
    shape = params.shape
    rank = len(shape)
    if not rank:
        raise invalid_argument("GatherV2", "params must be at least 1 dimensional")
    if not -rank <= axis < rank:
        least = axis + 1 if axis >= 0 else -axis
        raise invalid_argument(
            "GatherV2", f"Shape must be at least rank {least} but is rank {rank}"
        )
    axis %= rank
    _check_batch_dims(batch_dims, rank, len(indices.shape), axis)
    for d in range(batch_dims):
        if shape[d] != indices.shape[d]:
            raise invalid_argument(
                "GatherV2",
                f"params.shape[{d}]: {shape[d]} should be equal to indices.shape[{d}]: "
                f"{indices.shape[d]}",
            )
    return Spec(shape[:axis] + indices.shape[batch_dims:] + shape[axis + 1 :], params.dtype)


def _check_batch_dims(batch_dims, rank, indices_rank, axis):
    if not 0 <= batch_dims <= indices_rank:
        raise invalid_argument(
            "GatherV2",
            f"Expected batch_dims in the range [{-indices_rank}, {indices_rank}], but got "
            f"{batch_dims}",
        )
    if batch_dims >= rank:
        bound = f"less than rank(params) ({rank})"
    elif batch_dims > axis:
        bound = f"less than or equal to axis ({axis})"
    else:
        return
    raise invalid_argument("GatherV2", f"batch_dims ({batch_dims}) must be {bound}.")


def _gather(params, indices, axis, batch_dims):
    check_range("GatherV2", indices, params.shape[axis])
    if batch_dims:
        axis %= params.ndim
        shape = params.shape
        rows = params.reshape((math.prod(shape[: axis + 1]), *shape[axis + 1 :]))
        inner = shape[batch_dims:axis] + indices.shape[batch_dims:] + shape[axis + 1 :]
        picked = rows.take(_row_numbers(indices, shape, axis, batch_dims), 0)
        return picked.reshape(shape[:batch_dims] + inner)
    picked = params.take(indices, axis)
    return np.asarray(picked, object) if params.dtype.kind == "O" else picked


def _row_numbers(indices, shape, axis, batch_dims):
    """Indices into `params` with all axes up to `axis` made one, in the order of the result."""
    batches, between = math.prod(shape[:batch_dims]), math.prod(shape[batch_dims:axis])
    starts = np.arange(batches * between).reshape(batches, between, 1) * shape[axis]
    count = math.prod(shape_of(indices)[batch_dims:])
    inner = cast_row(reshape(indices, shape=(batches, 1, count)), dtype=_INT64)
    return reshape(add(inner, starts), shape=(batches * between * count,))


def check_range(op_name, indices, size):
    """Raises TensorFlow's error for the first of some indices that is not in [0, size)."""
    if not indices.size or all_below(indices, size):
        return
    bad = np.argwhere((indices < 0) | (indices >= size))[0].tolist()
    where = words(bad) if bad else ""
    raise invalid_argument(op_name, f"indices{where} = {indices[tuple(bad)]} is not in [0, {size})")


def _gather_adjoint(g, indices, params_shape, *, axis, batch_dims):
    """Rows and where they belong, if whole rows were gathered; else their dense sum."""
    if axis == 0 and batch_dims == 0:
        shape = shape_of(indices)
        if len(shape) != 1:
            count = math.prod(shape)
            g = reshape(g, shape=(count, *params_shape[1:]))
            indices = reshape(indices, shape=(count,))
        return make_slices(g, indices, params_shape)
    from .scatter import segment_sum

    axis %= len(params_shape)
    numbers = _row_numbers(indices, params_shape, axis, batch_dims)
    rest = params_shape[axis + 1 :]
    rows = reshape(g, shape=(*shape_of(numbers), *rest))
    total = segment_sum(rows, numbers, num_segments=math.prod(params_shape[: axis + 1]))
    return reshape(total, shape=params_shape)


def _batch_gather(op, values, flags, attrs):
    params, indices = values
    rank = len(shape_of(params)) - flags[0]
    axis, batch_dims = attrs["axis"] % rank, attrs["batch_dims"]
    if batch_dims or all(flags):
        params, indices = all_batched(values, flags)
        return op.call(params, indices, axis=axis + 1, batch_dims=batch_dims + 1)
    if flags[0]:
        return op.call(params, indices, axis=axis + 1, batch_dims=0)
    return move_axis(op.call(params, indices, axis=axis, batch_dims=0), axis, 0)


gather_row = linear(
    "GatherV2",
    _gather,
    inputs="params indices",
    infer=_infer_gather,
    transpose=_gather_adjoint,
    batch=_batch_gather,
    raw="params, indices, axis, batch_dims=0",
)


@export("gather")
def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    """The parts of `params` at the given positions along an axis.

    Args:
        params: a tensor or variable, which is not copied.
        indices: integers of any shape.
        validate_indices: accepted for compatibility; indices are always checked.
        axis: the axis; `batch_dims` if not given.
        batch_dims: how many leading axes of `params` and `indices` go in step.

    Raises:
        InvalidArgumentError: an index is out of range, or there is no such axis.
    """
    params, indices = operand(params), index_operand(indices)
    batch_dims = integer(batch_dims, "GatherV2")
    axis = batch_dims if axis is None else integer(axis, "GatherV2")
    if -indices.ndim <= batch_dims < 0:
        batch_dims += indices.ndim
    return apply(gather_row.op, (params, indices), {"axis": axis, "batch_dims": batch_dims})


# gather_nd ----------------------------------------------------------------------------------------


def _infer_gather_nd(params, indices):
    check_index_dtype("GatherNd", indices.dtype)
    if not params.shape:
        raise invalid_argument("GatherNd", "params must be at least a vector")
    if not indices.shape:
        raise invalid_argument("GatherNd", "indices must be at least a vector")
    depth = indices.shape[-1]
    if depth > len(params.shape):
        raise invalid_argument(
            "GatherNd",
            "index innermost dimension length must be <= params rank; saw: "
            f"{depth} vs. {len(params.shape)}",
        )
    return Spec(indices.shape[:-1] + params.shape[depth:], params.dtype)


def lies_inside(indices, shape):
    """For each place, an array of coordinates along the last axis, whether it lies in `shape`."""
    return ((indices >= 0) & (indices < np.array(shape[: indices.shape[-1]]))).all(-1)


def _all_inside(indices, shape):
    """Whether all places lie in `shape`; by coordinate, which is quicker than by place."""
    coordinates = indices.reshape(-1, indices.shape[-1])
    for i, size in zip(range(indices.shape[-1]), shape, strict=False):
        if not all_below(coordinates[:, i], size):
            return False
    return True


def check_places(op_name, indices, shape, what="shape", tail=""):
    """Raises TensorFlow's error for places outside of `shape`."""
    if not indices.size or _all_inside(indices, shape):
        return
    inside = lies_inside(indices, shape)
    if not inside.all():
        bad = np.argwhere(~inside)[0].tolist()
        shown = ", ".join([str(i) for i in indices[tuple(bad)].tolist()])
        raise invalid_argument(
            op_name,
            f"indices{words(bad) if bad else ''} = [{shown}] does not index into {what} "
            f"{words(shape)}{tail}",
        )


def numpy_places(indices):
    """Places as NumPy's advanced indexing takes them."""
    return (*[indices[..., i] for i in range(indices.shape[-1])], ...)


def ignores_bad_indices(op_name, policy):
    """Whether places outside are to be left out rather than to be errors."""
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise invalid_argument(
            op_name,
            f"Argument `bad_indices_policy` must be '', 'ERROR' or 'IGNORE'. Received: {policy!r}",
        )
    return policy == "IGNORE"


def _gather_nd(params, indices):
    check_places("GatherNd", indices, params.shape, "param shape", tail=", node name: GatherNd")
    if not indices.shape[-1]:
        return np.broadcast_to(params, indices.shape[:-1] + params.shape)
    picked = params[numpy_places(indices)]
    return picked if picked.shape or picked.dtype.kind == "O" else picked[()]


def with_batch_coordinate(indices):
    """Coordinates into values with a leading axis, from those of each of its elements."""
    shape = (*shape_of(indices)[:-1], 1)
    column = np.arange(shape[0], dtype=dtype_of(indices)).reshape((-1,) + (1,) * (len(shape) - 1))
    return concat_row([np.broadcast_to(column, shape), indices], axis=-1)


def _batch_gather_nd(op, values, flags, attrs):
    params, indices = all_batched(values, flags)
    return op.call(params, with_batch_coordinate(indices))


def _gather_nd_adjoint(g, indices, params_shape):
    """Rows and where they belong, if places are a list of rows; else their dense sum."""
    from .scatter import scatter_nd_row

    shape = shape_of(indices)
    if len(shape) == 2 and shape[1] == 1:
        return make_slices(g, reshape(indices, shape=shape[:1]), params_shape)
    return scatter_nd_row(g, indices, shape=params_shape)


gather_nd_row = linear(
    "GatherNd",
    _gather_nd,
    inputs="params indices",
    infer=_infer_gather_nd,
    transpose=_gather_nd_adjoint,
    batch=_batch_gather_nd,
    raw=lambda params, indices, bad_indices_policy="": gather_nd(
        params, indices, bad_indices_policy=bad_indices_policy
    ),
)


@export("gather_nd")
def gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy=""):
    """The elements or slices of `params` at places, whose coordinates lie along the last axis.

    Args:
        params: the tensor.
        indices: integers, of which the last axis holds one coordinate of each place.
        batch_dims: how many leading axes of `params` and `indices` go in step.
        bad_indices_policy: `"IGNORE"` for zeros at places outside of `params`.

    Raises:
        InvalidArgumentError: a place is outside of `params`.
        ValueError: there are not as many leading axes.
    """
    params, indices = operand(params), index_operand(indices)
    batch_dims = integer(batch_dims, "GatherNd")
    if batch_dims:
        indices = _with_leading_coordinates(params, indices, batch_dims)
    if not ignores_bad_indices("GatherNd", bad_indices_policy):
        return apply(gather_nd_row.op, (params, indices))
    inside = lies_inside(convert_to_tensor(indices)._value, tuple(params.shape))
    safe = np.where(inside[..., None], convert_to_tensor(indices)._value, 0)
    found = apply(gather_nd_row.op, (params, EagerTensor(safe)))
    inside = inside.reshape(inside.shape + (1,) * (found.ndim - inside.ndim))
    return masked(found, EagerTensor(inside))


def _with_leading_coordinates(params, indices, batch_dims):
    """Places inside `params` as a whole, from those inside the parts its leading axes hold."""
    for argument, x in (("indices", indices), ("params", params)):
        if batch_dims >= x.ndim:
            raise ValueError(
                f"Argument `batch_dims` = {batch_dims} must be less than rank(`{argument}`) = "
                f"{x.ndim}"
            )
    lead = tuple(indices.shape[:batch_dims])
    if tuple(params.shape[:batch_dims]) != lead:
        raise invalid_argument(
            "GatherNd",
            f"The first {batch_dims} axes of params {words(params.shape)} and indices "
            f"{words(indices.shape)} must be equal",
        )
    grid = np.moveaxis(np.indices(lead, indices.dtype.numpy_dtype), 0, -1)
    thin = lead + (1,) * (indices.ndim - 1 - batch_dims) + (batch_dims,)
    wide = (*indices.shape[:-1], batch_dims)
    return concat([EagerTensor(np.broadcast_to(grid.reshape(thin), wide)), indices], -1)
