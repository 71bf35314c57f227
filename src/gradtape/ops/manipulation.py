"""The shape of tensors and the order of their axes: reshape, expand_dims, transpose."""

import math

import numpy as np

from ..core.composite import Composite, open_to_composites, own_function
from ..core.convert import operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arguments import integer, integer_tuple, integers
from .broadcasting import broadcast_to, reshape
from .elementwise import conj
from .families import linear, shape_of


@export("reshape")
def reshape_public(tensor, shape, name=None):
    """The same elements, in order, in another shape.

    Args:
        tensor: the tensor.
        shape: the new shape; one size may be -1, for what the others leave.

    Raises:
        InvalidArgumentError: the new shape does not hold as many elements.
    """
    x = operand(tensor)
    if isinstance(shape, int) or getattr(shape, "ndim", 1) == 0:
        shape = (shape,)
    goal = integer_tuple(shape, "Reshape", "Tshape", "sizes input must be 1-D, not")
    if goal and min(goal) < 0:
        goal = _complete(goal, x.shape.as_list())
    return apply(reshape.op, (x,), {"shape": goal})


def _complete(goal, shape):
    """A shape with -1 replaced by the size that makes it hold what `shape` holds."""
    for axis, size in enumerate(goal):
        if size < -1:
            raise invalid_argument("Reshape", f"Size {axis} must be non-negative, not {size}")
    open_axis = goal.index(-1)
    if goal.count(-1) > 1:
        second = goal.index(-1, open_axis + 1)
        raise invalid_argument(
            "Reshape", f"Only one input size may be -1, not both {open_axis} and {second}"
        )
    return (*goal[:open_axis], _open_size(goal, shape), *goal[open_axis + 1 :])


def _open_size(goal, shape):
    others = math.prod([size for size in goal if size != -1])
    count = math.prod(shape)
    if others == 0:
        # Zero elements leave the size open; it is counted as if no axis were empty.
        return math.prod([d for d in shape if d]) // math.prod([d for d in goal if d > 0])
    if count % others:
        raise invalid_argument(
            "Reshape",
            f"Input to reshape is a tensor with {count} values, but the requested shape requires "
            f"a multiple of {others}",
        )
    return count // others


@export("expand_dims")
@open_to_composites
def expand_dims(input, axis, name=None):
    """Inserts an axis of length 1.

    Raises:
        InvalidArgumentError: the tensor has too few axes for that place.
    """
    x = operand(input)
    shape = tuple(x.shape)
    axis = integer(axis, "ExpandDims")
    rank = len(shape) + 1
    if not -rank <= axis < rank:
        raise invalid_argument(
            "ExpandDims",
            f"Tried to expand dim index {axis} for tensor with {len(shape)} dimensions.",
        )
    axis %= rank
    return apply(reshape.op, (x,), {"shape": (*shape[:axis], 1, *shape[axis:])})


@export("squeeze")
def squeeze(input, axis=None, name=None):
    """Removes axes of length 1.

    Args:
        input: the tensor.
        axis: which to remove; all of them if not given.

    Raises:
        InvalidArgumentError: such an axis does not exist or has another length.
    """
    x = operand(input)
    if isinstance(x, Composite):
        return own_function(x, "squeeze")(x, axis)
    shape = tuple(x.shape)
    gone = [] if axis is None else integers(axis, "Squeeze", "axis").reshape(-1).tolist()
    for a in gone:
        if not -len(shape) <= a < len(shape):
            raise invalid_argument(
                "Squeeze",
                f"Tried to squeeze dim index {a} for tensor with {len(shape)} dimensions.",
            )
        if shape[a] != 1:
            raise invalid_argument(
                "Squeeze",
                f"Can not squeeze dim[{a % len(shape)}], expected a dimension of 1, got {shape[a]}",
            )
    if gone:
        wrapped = {a % len(shape) for a in gone}
        kept = tuple([d for a, d in enumerate(shape) if a not in wrapped])
    else:
        kept = tuple([d for d in shape if d != 1])
    return apply(reshape.op, (x,), {"shape": kept})


@export("broadcast_to")
def broadcast_to_public(input, shape, name=None):
    """Repeats a tensor along axes of length 1 and new leading axes, up to a shape.

    Raises:
        InvalidArgumentError: the tensor does not broadcast to that shape.
    """
    x = operand(input)
    complaint = "shape must be a vector of {int32,int64}, got shape"
    goal = integer_tuple(shape, "BroadcastTo", "Tidx", complaint)
    for size in goal:
        if size < 0:
            raise invalid_argument("BroadcastTo", f"Dimension {size} must be >= 0")
    if x.ndim > len(goal):
        raise invalid_argument(
            "BroadcastTo",
            f"Rank of input ({x.ndim}) must be no greater than rank of output shape ({len(goal)}).",
        )
    return apply(broadcast_to.op, (x,), {"shape": goal})


def _infer_transpose(x, *, perm):
    return Spec(tuple([x.shape[p] for p in perm]), x.dtype)


def _inverse(perm):
    inverse = [0] * len(perm)
    for position, axis in enumerate(perm):
        inverse[axis] = position
    return tuple(inverse)


transpose_row = linear(
    "Transpose",
    lambda x, perm: x.transpose(perm),
    infer=_infer_transpose,
    transpose=lambda g, *, perm: transpose_row(g, perm=_inverse(perm)),
    batch=lambda op, values, flags, attrs: op.call(
        values[0], perm=(0, *[p + 1 for p in attrs["perm"]])
    ),
    checked=False,
    raw=lambda x, perm: transpose(x, perm),
)


def move_axis(x, source, goal):
    """A tensor or array with one axis moved to another place."""
    order = list(range(len(shape_of(x))))
    order.insert(goal, order.pop(source))
    return transpose_row(x, perm=tuple(order))


@export("transpose")
def transpose(a, perm=None, conjugate=False, name="transpose"):
    """Reorders the axes of a tensor.

    Args:
        a: the tensor.
        perm: the old axes in their new order; all reversed if not given.
        conjugate: whether to take the complex conjugate as well.

    Raises:
        InvalidArgumentError: `perm` is not a permutation of the axes.
    """
    x = operand(a)
    axes = range(x.ndim)
    perm = tuple(reversed(axes)) if perm is None else _permutation(perm, x.ndim)
    out = apply(transpose_row.op, (x,), {"perm": perm})
    return conj(out) if conjugate and out.dtype.is_complex else out


def _permutation(perm, rank):
    given = integer_tuple(perm, "Transpose", "Tperm", "perm must be rank 1, got shape")
    if len(given) != rank:
        raise invalid_argument(
            "Transpose",
            f"transpose expects a vector of size {rank}. But input(1) is a vector of size "
            f"{len(given)}",
        )
    wrapped = tuple([p + rank if p < 0 else p for p in given])
    for p in wrapped:
        if not 0 <= p < rank:
            raise invalid_argument("Transpose", f"{p} is out of range [0 .. {rank})")
    for axis in range(rank):
        if axis not in wrapped:
            shown = ",".join([str(p) for p in wrapped])
            raise invalid_argument("Transpose", f"{axis} is missing from {{{shown}}}.")
    return wrapped


@export("linalg.matrix_transpose")
def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    """Swaps the last two axes.

    Raises:
        ValueError: the tensor has fewer than two.
    """
    x = operand(a)
    if x.ndim < 2:
        raise ValueError(
            "Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = "
            f"{np.asarray(x)} with shape: {x.shape}"
        )
    return transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2), conjugate)
