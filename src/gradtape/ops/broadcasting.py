"""Reshape, BroadcastTo and Sum: the three rows that broadcasting itself is differentiated with."""

import functools
import math
from typing import Any

import numpy as np

from ..core.dtypes import EXPERIMENTAL, NUMERIC, of_numpy
from ..core.errors import NotFoundError, invalid_argument
from ..core.op import Spec
from .families import linear, shape_of


def _infer_reshape(x, *, shape):
    if math.prod(shape) != math.prod(x.shape):
        raise invalid_argument(
            "Reshape",
            f"Input to reshape is a tensor with {math.prod(x.shape)} values, but the requested "
            f"shape has {math.prod(shape)}",
        )
    return Spec(shape, x.dtype)


def _raw_reshape(tensor, shape):
    from .manipulation import reshape_public

    return reshape_public(tensor, shape)


reshape = linear(
    "Reshape",
    lambda x, shape: x.reshape(shape),
    infer=_infer_reshape,
    transpose=lambda g, x_shape: reshape(g, shape=x_shape),
    batch=lambda op, values, flags, attrs: op.call(
        values[0], shape=shape_of(values[0])[:1] + attrs["shape"]
    ),
    checked=False,
    raw=_raw_reshape,
)


def _infer_broadcast_to(x, *, shape):
    try:
        fits = np.broadcast_shapes(x.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise invalid_argument(
            "BroadcastTo", f"Incompatible shapes: {words(x.shape)} vs. {words(shape)}"
        )
    return Spec(shape, x.dtype)


def _batch_broadcast_to(op, values, flags, attrs):
    x, shape = values[0], attrs["shape"]
    aligned = with_inner_rank(x, len(shape))
    return op.call(aligned, shape=shape_of(x)[:1] + shape)


def _broadcast(x, shape):
    """A view of `x` in a larger shape; `np.broadcast_to`, several times quicker where it can be."""
    own = x.shape
    if x.dtype.kind not in "fiubc" or (own and not x.flags.c_contiguous):
        return np.broadcast_to(x, shape)
    if not own:
        return np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
    lead = len(shape) - len(own)
    strides = (0,) * lead + tuple(
        [
            stride if have == want else _repeated(have, own, shape)
            for stride, have, want in zip(x.strides, own, shape[lead:], strict=True)
        ]
    )
    return np.ndarray(shape, x.dtype, x, 0, strides)


def _repeated(size, own, shape):
    if size != 1:
        raise ValueError(f"An array of shape {own} does not broadcast to {shape}.")
    return 0


broadcast_to = linear(
    "BroadcastTo",
    _broadcast,
    infer=_infer_broadcast_to,
    transpose=lambda g, x_shape: sum_to(g, x_shape),
    batch=_batch_broadcast_to,
    checked=False,
    raw="input:x, shape",
)


def check_axes(op_name, rank, axis):
    """Raises TensorFlow's errors for reduction axes that are out of range or repeated."""
    for a in axis:
        if not -rank <= a < rank:
            raise invalid_argument(
                op_name, f"Invalid reduction dimension ({a} for input with {rank} dimension(s)"
            )
    wrapped = [a % rank for a in axis]
    for a in wrapped:
        if wrapped.count(a) > 1:
            raise invalid_argument(
                op_name, f"Invalid reduction arguments: Axes contains duplicate dimension: {a}"
            )


def reduced_shape(shape, axis, keepdims):
    """The shape left after reducing over `axis`, a tuple of ints."""
    rank = len(shape)
    gone = {a % rank for a in axis} if rank else set()
    if keepdims:
        return tuple([1 if i in gone else d for i, d in enumerate(shape)])
    return tuple([d for i, d in enumerate(shape) if i not in gone])


@functools.lru_cache(maxsize=4096)
def checked_shape(op_name, shape, axis, keepdims):
    """The shape a reduction leaves; TensorFlow's errors if there are no such axes."""
    check_axes(op_name, len(shape), axis)
    return reduced_shape(shape, axis, keepdims)


def working_dtype(dtype):
    """The dtype to add and multiply in: 16-bit floats lose digits with every step, and are slow."""
    return np.dtype(np.float32) if dtype.itemsize == 2 and dtype.kind not in "iu" else dtype


def batch_axes(values, attrs):
    """A reduction's attributes with its axes moved behind a new leading axis."""
    rank = len(shape_of(values[0])) - 1
    return {**attrs, "axis": tuple([a % rank + 1 for a in attrs["axis"]])}


def spread(g, shape, axis, keepdims):
    """Undoes a reduction's change of shape: `g` broadcast back over `axis` to `shape`."""
    if not keepdims and shape_of(g):
        g = reshape(g, shape=reduced_shape(shape, axis, True))
    return broadcast_to(g, shape=shape)


def _infer_sum(x, *, axis, keepdims):
    if x.dtype not in NUMERIC:
        raise not_allowed("Sum", x.dtype)
    return Spec(checked_shape("Sum", x.shape, axis, keepdims), x.dtype)


_add_reduce: Any = np.add.reduce  # by position: keywords cost as much as a small sum


LARGE = 1 << 14
_SHORT = 8
# So many rows are added up in parts: a float32 sum that grows row by row loses digits.
MANY_ROWS = 256


def quick_reduction(ufunc, x, axis, keepdims):
    """The reduction of many elements in the ways in which NumPy is slow or inexact; else None."""
    width = x.shape[-1]
    if 2 <= width <= _SHORT and axis in ((-1,), (x.ndim - 1,)):
        total = _across_columns(ufunc, x)
        return total[..., None] if keepdims else total
    if axis == tuple(range(x.ndim - 1)):
        total = _across_rows(ufunc, x, width)
        return total.reshape((1,) * len(axis) + (width,)) if keepdims else total
    return None


def _across_columns(ufunc, x):
    """Short rows are reduced all at once, one column after the other."""
    total = ufunc(x[..., 0], x[..., 1])
    for i in range(2, x.shape[-1]):
        ufunc(total, x[..., i], out=total)
    return total


def _across_rows(ufunc, x, width):
    """All axes but the last; some rows are taken together as one."""
    x = x.reshape(-1, width)
    rows = len(x)
    together = min(math.isqrt(rows), LARGE // 4 // width)  # what is added to stays in the cache
    if rows < MANY_ROWS or together < 2:
        return ufunc.reduce(x, 0)
    taken = rows - rows % together
    wide = ufunc.reduce(x[:taken].reshape(-1, together * width), 0)
    total = ufunc.reduce(wide.reshape(together, width), 0)
    return total if taken == rows else ufunc(total, ufunc.reduce(x[taken:], 0))


def _sum(x, axis, keepdims):
    if not axis or not x.shape:
        return x
    dtype = x.dtype
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        return _add_reduce(x, axis, working_dtype(dtype), None, keepdims).astype(dtype)
    if dtype.kind in "fc":  # integers narrower than the machine's would be summed as wider ones
        if x.size > LARGE or (x.size >= MANY_ROWS and x.size >= MANY_ROWS * x.shape[-1]):
            total = quick_reduction(np.add, x, axis, keepdims)
            if total is not None:
                return total
        return _add_reduce(x, axis, None, None, keepdims)
    return _add_reduce(x, axis, dtype, None, keepdims)


sum_ = linear(
    "Sum",
    _sum,
    infer=_infer_sum,
    transpose=lambda g, x_shape, *, axis, keepdims: spread(g, x_shape, axis, keepdims),
    batch=lambda op, values, flags, attrs: op.call(values[0], **batch_axes(values, attrs)),
    raw="input:x, axis, keep_dims:keepdims=False",
)


def sum_to(g, shape):
    """Sums a broadcast gradient back to `shape`."""
    have = shape_of(g)
    if have == shape:
        return g
    lead = len(have) - len(shape)
    if lead > 0 and have[lead:] == shape:  # as for a bias
        if have[:lead] == (1,) * lead:  # nothing to add up, as for a single example
            return reshape(g, shape=shape)
        return sum_(g, axis=tuple(range(lead)), keepdims=False)
    if lead < 0 or not all([d == 1 or d == h for d, h in zip(shape, have[lead:], strict=True)]):
        return broadcast_to(g, shape=shape)
    axis = tuple(
        [*range(lead)] + [lead + i for i, d in enumerate(shape) if d == 1 and have[lead + i] != 1]
    )
    g = sum_(g, axis=axis, keepdims=False)
    return g if shape_of(g) == shape else reshape(g, shape=shape)


def sum_rows_to(g, shape):
    """Sums each row of an array of broadcast gradients back to `shape`."""
    have = g.shape[1:]
    if have == shape:
        return g
    aligned = (1,) * (len(have) - len(shape)) + shape
    axis = [i for i, d in enumerate(aligned, 1) if d == 1 and have[i - 1] != 1]
    return sum_(g, axis=tuple(axis), keepdims=True).reshape(g.shape[:1] + shape)


def with_inner_rank(x, rank):
    """A batched value reshaped so that, behind its leading axis, it has `rank` axes."""
    shape = shape_of(x)
    missing = rank - (len(shape) - 1)
    return reshape(x, shape=shape[:1] + (1,) * missing + shape[1:]) if missing > 0 else x


def words(shape):
    """A shape as TensorFlow's messages write it: [2,3]."""
    return "[" + ",".join([str(d) for d in shape]) + "]"


# By TensorFlow's declarations these take every dtype; what they lack for some is a kernel.
_DECLARED_FOR_ALL = ("Einsum", "Equal", "NotEqual")


def not_allowed(op_name, numpy_dtype, allowed=None):
    """The error for a dtype an op does not take."""
    if op_name in _DECLARED_FOR_ALL and of_numpy(numpy_dtype) in EXPERIMENTAL:
        missing = f"{op_name}[T=DT_{of_numpy(numpy_dtype).name.upper()}]"
        return NotFoundError(
            None, None, f"Could not find device for node: {{{{node {op_name}}}}} = {missing}"
        )
    names = ", ".join(sorted([of_numpy(d).runtime_word for d in allowed or NUMERIC]))
    return invalid_argument(
        op_name,
        f"Value for attr 'T' of {of_numpy(numpy_dtype).runtime_word} is not in the list of allowed "
        f"values: {names}\n\t; NodeDef: {{{{node {op_name}}}}}",
    )
