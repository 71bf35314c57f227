"""Where elements stand in order: argmax, sorting, the largest k."""

from typing import NamedTuple

import numpy as np

from ..core import dtypes
from ..core.active import is_recording
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import EagerTensor, Tensor
from .arguments import integer
from .broadcasting import not_allowed, reduced_shape, words
from .casting import cast
from .families import linear, non_differentiable, opaque, shape_of
from .joining import all_batched
from .manipulation import move_axis
from .order_kernels import order

_INT32 = np.dtype(np.int32)
# So many elements are looked through sooner than those at given places are gathered.
_FEW = 4096


def _check_index_dtype(op_name, attr, dtype, allowed):
    """Raises TensorFlow's error for a dtype in which an op does not give indices."""
    if dtype not in allowed:
        names = ", ".join(sorted([each.runtime_word for each in allowed]))
        raise invalid_argument(
            op_name,
            f"Value for attr '{attr}' of {dtype.runtime_word} is not in the list of allowed "
            f"values: {names}\n\t; NodeDef: {{{{node {op_name}}}}}",
        )


# Positions of extremes ----------------------------------------------------------------------------

_COMPARABLE = dtypes.REAL | dtypes.BOOL


def _at(x, places, axis):
    """The elements of `x` at one place along an axis, in any shape."""
    if axis % x.ndim == x.ndim - 1 and x.flags.c_contiguous:
        starts = np.arange(0, x.size, x.shape[-1])
        return x.reshape(-1).take(np.asarray(places).reshape(-1) + starts)
    return np.take_along_axis(x, np.expand_dims(places, axis), axis)


def _has_nan(x, places, axis):
    """Whether there is a NaN, given the places along an axis where it would be found."""
    if 0 < x.size <= _FEW:
        return np.isnan(np.maximum.reduce(x, axis=None))
    return np.isnan(_at(x, places, axis)).any()


def _extreme_position(name, function, last):
    """A row for the position of an extreme; `last` is what every number comes before."""

    def infer(input, *, axis, dtype):
        shape = input.shape
        rank = len(shape)
        if input.dtype not in _COMPARABLE:
            raise not_allowed(name, input.dtype, _COMPARABLE)
        if not -rank <= axis < rank:
            raise invalid_argument(
                name, f"Expected dimension in the range [{-rank}, {rank}), but got {axis}"
            )
        if shape[axis] == 0:
            raise invalid_argument(name, f"Reduction axis {axis} is empty in shape {words(shape)}")
        return Spec(reduced_shape(shape, (axis,), False), dtype)

    def kernel(input, axis, dtype):
        places = function(input, axis=axis)
        # NumPy finds the first NaN, if there is one.
        if input.dtype.kind not in "biu" and _has_nan(input, places, axis):
            ordered = np.where(np.isnan(input), input.dtype.type(last), input)
            places = function(ordered, axis=axis)
        return places.astype(dtype, copy=False)

    def batch(op, values, flags, attrs):
        rank = len(shape_of(values[0])) - 1
        return op.call(values[0], axis=attrs["axis"] % rank + 1, dtype=attrs["dtype"])

    return non_differentiable(
        name, kernel, inputs="input", infer=infer, batch=batch,
        raw="input, dimension:axis, output_type:dtype=tf.int64",
    )  # fmt: skip


argmax_row = _extreme_position("ArgMax", np.argmax, -np.inf)
argmin_row = _extreme_position("ArgMin", np.argmin, np.inf)


_ARGMAX_TYPES = frozenset((dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.int64))
_ARGMIN_TYPES = frozenset((dtypes.int32, dtypes.int64))


def _position(row, input, axis, output_type, allowed):
    name = row.op.name
    goal = dtypes.as_dtype(output_type)
    _check_index_dtype(name, "output_type", goal, allowed)
    if isinstance(axis, (list, tuple)):
        raise TypeError(f"axis must be int or Tensor with integer datatype. Received: axis={axis}.")
    attrs = {"axis": 0 if axis is None else integer(axis, name), "dtype": goal.numpy_dtype}
    return apply(row.op, (operand(input),), attrs)


@export("argmax math.argmax")
def argmax(input, axis=None, output_type=dtypes.int64, name=None):
    """The index of the largest element along an axis (0 if None): of equals the first; not NaN.

    Raises:
        InvalidArgumentError: there is no such axis, or it is empty.
        TypeError: `axis` is not an integer.
    """
    return _position(argmax_row, input, axis, output_type, _ARGMAX_TYPES)


@export("argmin math.argmin")
def argmin(input, axis=None, output_type=dtypes.int64, name=None):
    """The index of the smallest element along an axis (0 if None): of equals the first; not NaN.

    Raises:
        InvalidArgumentError: there is no such axis, or it is empty.
        TypeError: `axis` is not an integer.
    """
    return _position(argmin_row, input, axis, output_type, _ARGMIN_TYPES)


# Rearranging along the last axis: the linear map behind every gradient of an ordering ------------


def _check_lead(name, x, indices):
    if x.shape[:-1] != indices.shape[:-1]:
        raise invalid_argument(
            name,
            f"Leading axes must be equal. Received: {words(x.shape)} and {words(indices.shape)}",
        )


def _infer_take(x, indices, *, size):
    _check_lead("TakeAlongLastAxis", x, indices)
    return Spec(indices.shape, x.dtype)


def _infer_put(x, indices, *, size):
    _check_lead("PutAlongLastAxis", x, indices)
    return Spec((*x.shape[:-1], size), x.dtype)


def _put(x, indices, size):
    placed = np.zeros((*x.shape[:-1], size), x.dtype)
    np.put_along_axis(placed, indices, x, axis=-1)
    return placed


def _batch_both(op, values, flags, attrs):
    return op.call(*all_batched(values, flags), **attrs)


take_along = linear(
    "TakeAlongLastAxis",
    lambda x, indices, size: np.take_along_axis(x, indices, axis=-1),
    inputs="x indices",
    infer=_infer_take,
    transpose=lambda g, indices, *, size: put_along(g, indices, size=size),
    batch=_batch_both,
    raw=False,
)

put_along = linear(
    "PutAlongLastAxis",
    _put,
    inputs="x indices",
    infer=_infer_put,
    transpose=lambda g, indices, *, size: take_along(g, indices, size=size),
    batch=_batch_both,
    raw=False,
)

# The largest k, and sorting, which is the case that k is everything ------------------------------


def _infer_top_k(input, *, k, largest):
    shape = input.shape
    if input.dtype not in dtypes.REAL:
        raise not_allowed("TopKV2", input.dtype, dtypes.REAL)
    if not shape:
        raise invalid_argument("TopKV2", "input must be >= 1-D, got shape []")
    if k < 0:
        raise invalid_argument("TopKV2", f"Need k >= 0, got {k}")
    if shape[-1] < k:
        raise invalid_argument(
            "TopKV2", f"input must have at least k columns. Had {shape[-1]}, needed {k}"
        )
    return Spec((*shape[:-1], k), input.dtype), Spec((*shape[:-1], k), _INT32)


def _top_k(input, k, largest):
    places = order(input.astype(np.float32) if input.dtype.kind == "V" else input, k, largest)
    return np.take_along_axis(input, places, axis=-1), places.astype(np.int32)


def _top_k_tangent(tangents, inputs, out, attrs):
    values = take_along(tangents[0], out[1], size=shape_of(inputs[0])[-1])
    return values, EagerTensor(np.zeros(shape_of(out[1]), np.int32))


top_k_row = opaque(
    "TopKV2",
    _top_k,
    inputs="input",
    infer=_infer_top_k,
    vjp={"input": lambda g, out, input_shape: put_along(g[0], out[1], size=input_shape[-1])},
    jvp=_top_k_tangent,
    batch=lambda op, values, flags, attrs: op.call(values[0], **attrs),
    outputs=2,
    raw=lambda input, k, sorted=True, index_type=dtypes.int32: top_k(input, k, sorted, index_type),
)


# Sorting everything: values and places are each found sooner alone than both together.


def _infer_sorted(dtype):
    def infer(x, *, largest):
        values, _ = _infer_top_k(x, k=x.shape[-1] if x.shape else 0, largest=largest)
        return values if dtype is None else Spec(values.shape, dtype)

    return infer


def _argsort(x, largest):
    x = x.astype(np.float32) if x.dtype.kind == "V" else x
    return order(x, x.shape[-1], largest).astype(np.int32)


def _sort(x, largest):
    if x.dtype.kind == "V":
        return _sort(x.astype(np.float32), largest).astype(x.dtype)
    if x.dtype.kind == "f":
        zeros = x[x == 0]
        if zeros.size and np.signbit(zeros).any():  # equal, but not the same
            return np.take_along_axis(x, order(x, x.shape[-1], largest), axis=-1)
    values = np.sort(x, axis=-1)
    return values[..., ::-1] if largest else values


argsort_row = non_differentiable(
    "ArgsortLastAxis",
    _argsort,
    inputs="x",
    infer=_infer_sorted(_INT32),
    batch=lambda op, values, flags, attrs: op.call(values[0], **attrs),
    raw=False,
)

sort_row = opaque(
    "SortLastAxis",
    _sort,
    inputs="x",
    infer=_infer_sorted(None),
    vjp={
        "x": lambda g, x, *, largest: put_along(
            g, argsort_row(x, largest=largest), size=shape_of(x)[-1]
        )
    },
    jvp=lambda tangents, inputs, out, attrs: take_along(
        tangents[0], argsort_row(inputs[0], **attrs), size=shape_of(out)[-1]
    ),
    batch=lambda op, values, flags, attrs: op.call(values[0], **attrs),
    raw=False,
)


_INDEX_TYPES = frozenset((dtypes.int16, dtypes.int32, dtypes.int64))


class TopKV2(NamedTuple):
    """The values and indices that `top_k` returns."""

    values: Tensor
    indices: Tensor


@export("math.top_k nn.top_k")
def top_k(input, k=1, sorted=True, index_type=dtypes.int32, name=None):
    """The `k` largest elements of the last axis and their indices; equal ones keep their order.

    Args:
        input: a tensor.
        k: how many.
        sorted: accepted; they are always sorted, the largest first.
        index_type: the dtype of the indices.

    Returns:
        A pair with the fields `values` and `indices`.

    Raises:
        InvalidArgumentError: there are fewer than `k` elements.
    """
    goal = dtypes.as_dtype(index_type)
    _check_index_dtype("TopKV2", "index_type", goal, _INDEX_TYPES)
    attrs = {"k": integer(k, "TopKV2"), "largest": True}
    values, indices = apply(top_k_row.op, (operand(input),), attrs)
    return TopKV2(values, cast(indices, goal))


def _in_order(find, values, axis, direction):
    """What `find(x, largest)`, which orders the last axis, gives along any one."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            "Argument `direction` should be one of ASCENDING, DESCENDING. Received: "
            f"direction={direction}"
        )
    x = convert_to_tensor(values)
    rank = x.ndim
    if isinstance(axis, (list, tuple)):
        raise ValueError(f"Argument `axis` must be a constant scalar. Received: axis={axis}.")
    axis = integer(axis, "TopKV2")
    if not -rank <= axis < rank:
        raise invalid_argument(
            "TopKV2", f"Expected an axis in the range [{-rank}, {rank}), but got {axis}"
        )
    axis %= rank
    is_last = axis == rank - 1
    x = x if is_last else move_axis(x, axis, rank - 1)
    found = find(x, direction == "DESCENDING")
    return found if is_last else move_axis(found, rank - 1, axis)


@export("sort")
def sort(values, axis=-1, direction="ASCENDING", name=None):
    """Sorts along an axis; NaN counts as the largest.

    Args:
        values: a tensor.
        axis: the axis.
        direction: "ASCENDING" or "DESCENDING".

    Raises:
        ValueError: there is no such direction.
        InvalidArgumentError: there is no such axis.
    """
    return _in_order(lambda x, largest: sort_row(x, largest=largest), values, axis, direction)


@export("argsort")
def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """The indices that sort along an axis; equal elements keep their order, stable or not."""
    return _in_order(_all_places, values, axis, direction)


def _all_places(x, largest):
    if type(x) is EagerTensor and not is_recording():
        return argsort_row(x, largest=largest)
    # Places have a gradient, of zeros, as those of TopKV2 have in TensorFlow.
    return top_k_row(x, k=shape_of(x)[-1], largest=largest)[1]
