"""Questions about shapes: shape, size, rank, and whether a shape is the expected one."""

import math

import numpy as np

from ..core import dtypes
from ..core.composite import open_to_composites
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.shapes import TensorShape, as_shape
from ..core.tensor import EagerTensor
from .arguments import integer_tuple, integers
from .broadcasting import reshape, words
from .families import non_differentiable, shape_of
from .identity import identity
from .indexing import check_index_dtype, index_operand
from .manipulation import move_axis

_UNRAVELLED = dtypes.numpy_set(dtypes.int32, dtypes.int64)


@export("ensure_shape")
def ensure_shape(x, shape, name=None):
    """The tensor itself, checked to have a shape, of which sizes may be None.

    Raises:
        InvalidArgumentError: it has another shape.
    """
    x = operand(x)
    expected = as_shape(shape)
    if not x.shape.is_compatible_with(expected):
        shown = words(["?" if d is None else d for d in expected.as_list()])
        raise invalid_argument(
            "EnsureShape",
            f"Shape of tensor input {words(x.shape)} is not compatible with expected shape "
            f"{shown}.",
        )
    result = identity(x)
    result.set_shape(expected)  # of one in a graph, for all calls
    return result


def _shape_read(input):
    """The shape of a tensor; asking a variable for it counts as reading it."""
    return operand(input)._value.shape


def _shape_dtype(op_name, out_type):
    dtype = dtypes.int32 if out_type is None else dtypes.as_dtype(out_type)
    if dtype is not dtypes.int32 and dtype is not dtypes.int64:
        raise invalid_argument(
            op_name,
            f"Value for attr 'out_type' of {dtype.runtime_word} is not in the list of allowed "
            "values: int32, int64",
        )
    return dtype.numpy_dtype


@export("shape")
@open_to_composites
def shape(input, out_type=None, name=None):
    """The sizes of a tensor's axes, as an integer tensor."""
    return EagerTensor(np.array(_shape_read(input), _shape_dtype("Shape", out_type)))


@export("shape_n")
def shape_n(input, out_type=dtypes.int32, name=None):
    """The shapes of several tensors, as a list of integer tensors."""
    return [shape(x, out_type) for x in input]


@export("size")
@open_to_composites
def size(input, out_type=None, name=None):
    """The number of elements of a tensor, as a scalar tensor."""
    dtype = dtypes.as_dtype(dtypes.int32 if out_type is None else out_type)
    return EagerTensor(dtype.numpy_dtype.type(math.prod(_shape_read(input))))


@export("rank")
def rank(input, name=None):
    """The number of axes of a tensor, as a scalar tensor."""
    return EagerTensor(np.int32(len(_shape_read(input))))


@export("broadcast_static_shape")
def broadcast_static_shape(shape_x, shape_y):
    """The shape that results from broadcasting two shapes, of which sizes may be unknown.

    Raises:
        ValueError: they do not broadcast.
    """
    x, y = as_shape(shape_x), as_shape(shape_y)
    if x.rank is None or y.rank is None:
        return TensorShape(None)
    longest = max(len(x), len(y))
    sizes = []
    for a, b in zip(
        [1] * (longest - len(x)) + x.as_list(), [1] * (longest - len(y)) + y.as_list(), strict=True
    ):
        if a == 1 or b == 1:
            sizes.append(b if a == 1 else a)
        elif a is None or b is None:
            sizes.append(b if a is None else a)
        elif a == b:
            sizes.append(a)
        else:
            raise ValueError(
                "Incompatible shapes for broadcasting. Two shapes are compatible if for each "
                f"dimension pair they are either equal or one of them is 1. Received: {x} and {y}."
            )
    return TensorShape(sizes)


@export("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape that results from broadcasting two shapes, all given as integer tensors.

    Raises:
        InvalidArgumentError: they do not broadcast.
    """
    x, y = [integers(convert_to_tensor(each), "BroadcastArgs", "T") for each in (shape_x, shape_y)]
    try:
        result = np.broadcast_shapes(tuple(x.tolist()), tuple(y.tolist()))
    except ValueError:
        raise invalid_argument(
            "BroadcastArgs", f"Incompatible shapes: {words(x)} vs. {words(y)}"
        ) from None
    return EagerTensor(np.array(result, np.result_type(x, y)))


def _infer_unravel_index(indices, *, dims):
    if len(indices.shape) > 1:
        raise invalid_argument(
            "UnravelIndex",
            f'The indices can only be scalar or vector, got "{words(indices.shape)}"',
        )
    check_index_dtype("UnravelIndex", indices.dtype, "Tidx", _UNRAVELLED)
    if 0 in dims:
        raise invalid_argument(
            "UnravelIndex",
            "Input dims cannot contain a dim of zero, but dims contains zero at index "
            f"{dims.index(0)}",
        )
    return Spec((len(dims), *indices.shape), indices.dtype)


def _unravel_index(indices, dims):
    numbers = np.asarray(indices)
    count = math.prod(dims)
    if ((numbers < 0) | (numbers >= count)).any():
        bad = numbers[(numbers < 0) | (numbers >= count)].flat[0]
        raise invalid_argument(
            "UnravelIndex", f"index is out of bound as with dims: {bad} is not in [0, {count})"
        )
    if not dims:
        return np.zeros((0, *numbers.shape), numbers.dtype)
    return np.stack(np.unravel_index(numbers, dims)).astype(numbers.dtype)


def _batch_unravel_index(op, values, flags, attrs):
    shape = shape_of(values[0])
    places = op.call(reshape(values[0], shape=(math.prod(shape),)), **attrs)
    return move_axis(reshape(places, shape=(len(attrs["dims"]), *shape)), 1, 0)


unravel_index_row = non_differentiable(
    "UnravelIndex",
    _unravel_index,
    inputs="indices",
    infer=_infer_unravel_index,
    batch=_batch_unravel_index,
)


@export("unravel_index")
def unravel_index(indices, dims, name=None):
    """The coordinates, in a tensor of shape `dims`, of elements counted row by row.

    Args:
        indices: the numbers of elements, a scalar or vector.
        dims: the shape.

    Returns:
        A tensor with one row of coordinates for each axis.

    Raises:
        InvalidArgumentError: there is no such element.
    """
    complaint = "The dims can only be 1-D, got shape"
    goal = integer_tuple(dims, "UnravelIndex", "Tidx", complaint)
    return apply(unravel_index_row.op, (index_operand(indices),), {"dims": goal})
