"""Slices of tensors: the row behind `tensor[...]`, tf.slice and tf.strided_slice.

A slice is described by its key: a tuple of integers, None for a new axis, Ellipsis, and
`(start, stop, step)` for Python's `start:stop:step`, which unlike a `slice` can be hashed.
"""

import functools
import math

import numpy as np

from ..core import dtypes
from ..core.active import thread
from ..core.convert import operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import Variable
from .arguments import integer, integers, static_shape
from .broadcasting import words
from .families import linear, shape_of
from .joining import unpack

EVERYTHING = (None, None, None)


@functools.lru_cache(maxsize=4096)
def numpy_key(key):
    """A key as NumPy takes it."""
    return tuple([slice(*item) if type(item) is tuple else item for item in key])


@functools.lru_cache(maxsize=4096)
def _view_key(key):
    """The same, but so that even a single element is a view, which can be written to."""
    return numpy_key(key if Ellipsis in key else (*key, Ellipsis))


def _strided_slice(x, key):
    part = x[key if len(key) == 1 and type(key[0]) is int else numpy_key(key)]
    if type(part) is np.ndarray and part.ndim:
        return part
    # At rank 0 a tensor's value is a NumPy scalar, but that of a string an array.
    return x[_view_key(key)] if x.dtype.kind == "O" else part[()]


def _infer_strided_slice(x, *, key):
    return Spec(sliced_shape(x.shape, key), x.dtype)


def sliced_shape(shape, key):
    """The shape of a slice; raises TensorFlow's errors for a key that does not fit."""
    rank = len(shape)
    used = sum([item is not None and item is not Ellipsis for item in key])
    if not rank and used:
        raise _bad_slice("Attempting to slice scalar input.")
    if sum([item is Ellipsis for item in key]) > 1:
        raise _bad_slice("Multiple ellipses in slice spec not allowed")
    if used > rank:
        raise _bad_slice(f"Index out of range using input dim {rank}; input has only {rank} dims")
    sizes = []
    axis = 0
    for position, item in enumerate(key):
        if item is None:
            sizes.append(1)
        elif item is Ellipsis:
            sizes += shape[axis : axis + rank - used]
            axis += rank - used
        elif type(item) is tuple:
            if item[2] == 0:
                raise _bad_slice(f"strides[{position}] must be non-zero")
            sizes.append(len(range(*slice(*item).indices(shape[axis]))))
            axis += 1
        else:
            _check_index(item, axis, shape[axis])
            axis += 1
    return (*sizes, *shape[axis:])


def _check_index(index, axis, size):
    if not -size <= index < size:
        shown = index + size if index < 0 else index
        raise _bad_slice(f"slice index {shown} of dimension {axis} out of bounds.")


def _bad_slice(message):
    return invalid_argument("StridedSlice", message)


def _batch_key(op, values, flags, attrs):
    return op.call(values[0], **{**attrs, "key": (EVERYTHING, *attrs["key"])})


def _raw_strided_slice(
    input, begin, end, strides, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
    shrink_axis_mask=0,
):  # fmt: skip
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return strided_slice(input, begin, end, strides, *masks)


strided_slice_row = linear(
    "StridedSlice",
    _strided_slice,
    infer=_infer_strided_slice,
    transpose=lambda g, x_shape, *, key: strided_slice_grad(g, shape=x_shape, key=key),
    batch=_batch_key,
    checked=False,
    raw=_raw_strided_slice,
)


def _strided_slice_grad(x, shape, key):
    whole = np.zeros(shape, x.dtype)
    try:
        whole[_view_key(key)] = x
    except ValueError:
        _infer_strided_slice_grad(x, shape=shape, key=key)
        raise
    return whole if shape else whole[()]


def _infer_strided_slice_grad(x, *, shape, key):
    expected = sliced_shape(shape, key)
    if x.shape != expected:
        raise invalid_argument(
            "StridedSliceGrad",
            f"shape of dy was {words(x.shape)} instead of {words(expected)}",
        )
    return Spec(shape, x.dtype)


def _batch_strided_slice_grad(op, values, flags, attrs):
    shape = shape_of(values[0])[:1] + attrs["shape"]
    return op.call(values[0], shape=shape, key=(EVERYTHING, *attrs["key"]))


def _raw_strided_slice_grad(
    shape, begin, end, strides, dy, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
    shrink_axis_mask=0,
):  # fmt: skip
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    shape = static_shape(shape, "StridedSliceGrad", "Index")
    attrs = {"shape": shape, "key": _key_of(begin, end, strides, *masks)}
    return apply(strided_slice_grad.op, (operand(dy),), attrs)


strided_slice_grad = linear(
    "StridedSliceGrad",
    _strided_slice_grad,
    infer=_infer_strided_slice_grad,
    transpose=lambda g, *, key: strided_slice_row(g, key=key),
    batch=_batch_strided_slice_grad,
    checked=False,
    raw=_raw_strided_slice_grad,
)


def _getitem(self, key):
    """A part of the tensor: integers, slices, `...`, None, integer tensors, or one mask."""
    if type(key) is int:
        return apply(strided_slice_row.op, (self,), {"key": (key,)})
    if _is_mask(key):
        from .masks import boolean_mask

        return boolean_mask(self, key)
    key, unknown = _plain_key(key)
    part = apply(strided_slice_row.op, (self,), {"key": key})
    for position, index in reversed(unknown):
        part = _take_unknown(part, key, position, index)
    return part


def _getitem_of_variable(self, key):
    """A part of the variable, which can be assigned to: `v[0].assign(value)`."""
    part = _getitem(self, key)
    if not thread.batch_depth and not _is_mask(key):
        part.__dict__["assign"] = functools.partial(_assign_at, self, key)
    return part


def _assign_at(variable, key, value, name=None):
    """Assigns to `variable[key]`; where that is has to be known, so a trace relies on it."""
    items = key if isinstance(key, (list, tuple)) else (key,)
    key, _ = _plain_key([_index(x) if isinstance(x, Tensor) else x for x in items])
    return _assign_slice(variable, key, value)


def _iter(self):
    """The rows, by one op, so that gradients of all of them come back in one piece."""
    if not self.ndim:
        raise TypeError("Cannot iterate over a scalar tensor.")
    return iter(apply(unpack.op, (self,), {"axis": 0}))


Tensor.__getitem__ = _getitem
Variable.__getitem__ = _getitem_of_variable
Tensor.__iter__ = Variable.__iter__ = _iter

_INDEX_DTYPES = dtypes.numpy_set(dtypes.int16, dtypes.int32, dtypes.int64)


def _is_mask(key):
    if isinstance(key, (Tensor, Variable)):
        return key.dtype.is_bool
    return isinstance(key, (bool, np.bool_)) or (
        isinstance(key, np.ndarray) and key.dtype == np.bool_
    )


def _plain_key(key):
    """A key in the form the row takes, and those of its entries that have no value yet."""
    plain = []
    unknown = []
    for item in key if isinstance(key, (list, tuple)) else (key,):
        if type(item) is int or item is None or item is Ellipsis:
            plain.append(item)
        elif type(item) is slice:
            plain.append((_bound(item.start), _bound(item.stop), _bound(item.step)))
        elif isinstance(item, Tensor) and type(item) is not EagerTensor and _is_index(item):
            unknown.append((len(plain), item))
            plain.append(EVERYTHING)
        else:
            plain.append(_index(item))
    return tuple(plain), unknown


def _take_unknown(part, key, position, index):
    """One element along the axis a key's entry stands for; the index differs within a batch."""
    from .arithmetic import add
    from .indexing import gather
    from .logic import less
    from .selection import select

    axis = sum([item is None or type(item) is tuple for item in key[:position]])
    if Ellipsis in key[:position]:
        after = sum([item is None or type(item) is tuple for item in key[position:]])
        axis = part.ndim - after
    size = index._value.dtype.type(part.shape[axis])
    from_front = select(less(index, size.dtype.type(0)), add(index, size), index)
    # An axis counted from the end: the gradient of a slice is dense.
    return gather(part, from_front, axis=axis - part.ndim)


def _bound(value):
    return value if value is None or type(value) is int else _index(value)


def _is_index(value):
    return value.ndim == 0 and value.dtype.numpy_dtype in _INDEX_DTYPES


def _index(value):
    """An integer given as a NumPy number or as a scalar tensor or variable."""
    if isinstance(value, (Tensor, Variable)) and _is_index(value):
        return integer(value, "StridedSlice")
    if isinstance(value, (bool, np.bool_)):
        raise _bad_slice(
            "Value for attr 'Index' of bool is not in the list of allowed values: int16, int32, "
            "int64"
        )
    number = np.asarray(value) if isinstance(value, (np.ndarray, np.integer, int)) else None
    if number is not None and number.ndim == 0 and number.dtype.kind in "iu":
        return int(number)
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {value!r}"
    )


def _assign_slice(variable, key, value, name=None):
    """Puts `value`, broadcast, into a part of the variable; returns the variable.

    Raises:
        InvalidArgumentError: the value does not broadcast to the part. Nothing is changed.
    """
    if thread.trace is not None:
        return _assign_slice_in_trace(variable, key, variable._new_tensor(value))
    new = variable._new_value(value)
    shape = sliced_shape(variable._handle.tensor._value.shape, key)
    if not math.prod(shape):
        return variable._written(True)
    try:
        array = variable._writable()
        array[_view_key(key)] = new
    except ValueError:
        raise _cannot_broadcast(new.shape, shape) from None
    return variable._store(array if array.ndim else array[()], True)


def _assign_slice_in_trace(variable, key, new):
    """The same by ops: the whole variable is written, of which only the part is new."""
    from .broadcasting import broadcast_to
    from .selection import select

    recorders, thread.recorders = thread.recorders, ()
    try:
        old = variable._read()
        whole = shape_of(old)
        part = sliced_shape(whole, key)
        try:
            fits = np.broadcast_shapes(shape_of(new), part) == part
        except ValueError:
            fits = False
        if not fits and math.prod(part):
            raise _cannot_broadcast(shape_of(new), part)
        if math.prod(part):
            covered = EagerTensor(_strided_slice_grad(np.ones(part, bool), whole, key))
            spread = strided_slice_grad(broadcast_to(new, shape=part), shape=whole, key=key)
            thread.trace.write(variable, select(covered, spread, old))
    finally:
        thread.recorders = recorders
    return variable._written(True)


def _cannot_broadcast(shape, goal):
    return invalid_argument(
        "ResourceStridedSliceAssign",
        f"Cannot broadcast input shape {words(shape)} into final shape {words(goal)}",
    )


@export("slice")
def slice_(input_, begin, size, name=None):
    """The part of a tensor that starts at `begin` and has the given size along each axis.

    Args:
        input_: the tensor.
        begin: the first index along each axis.
        size: how many along each axis; -1 for all that follow.

    Raises:
        InvalidArgumentError: the part reaches beyond the tensor.
    """
    x = operand(input_)
    shape = x.shape
    begin = integers(begin, "Slice", "Index")
    size = integers(size, "Slice", "Index")
    if begin.shape != (len(shape),) or size.shape != (len(shape),):
        raise invalid_argument(
            "Slice",
            f"Expected begin and size arguments to be 1-D tensors of size {len(shape)}, but got "
            f"shapes {words(begin.shape)} and {words(size.shape)} instead.",
        )
    key = []
    for axis, (first, count) in enumerate(zip(begin.tolist(), size.tolist(), strict=True)):
        length = shape[axis]
        if not 0 <= first <= length:
            raise invalid_argument(
                "Slice", f"Expected begin[{axis}] in [0, {length}], but got {first}"
            )
        if count == -1:
            count = length - first
        if not 0 <= count <= length - first:
            raise invalid_argument(
                "Slice", f"Expected size[{axis}] in [0, {length - first}], but got {count}"
            )
        key.append((first, first + count, 1))
    return apply(strided_slice_row.op, (x,), {"key": tuple(key)})


@export("strided_slice")
def strided_slice(
    input_,
    begin,
    end,
    strides=None,
    begin_mask=0,
    end_mask=0,
    ellipsis_mask=0,
    new_axis_mask=0,
    shrink_axis_mask=0,
    var=None,
    name=None,
):
    """The part `input_[begin:end:strides]`, where bits of the masks change single entries.

    Args:
        input_: the tensor.
        begin: first index per entry.
        end: the index to stop before, per entry.
        strides: steps; 1 if not given.
        begin_mask: entries whose `begin` is ignored.
        end_mask: entries whose `end` is ignored.
        ellipsis_mask: the entry that stands for `...`.
        new_axis_mask: entries that stand for a new axis.
        shrink_axis_mask: entries that pick the single index `begin`.
        var: the variable that `input_` is, so that the part can be assigned to.

    Raises:
        InvalidArgumentError: the entries differ in number or do not fit the tensor.
    """
    key = _key_of(
        begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    )
    part = apply(strided_slice_row.op, (operand(input_),), {"key": key})
    if var is not None:
        part.assign = functools.partial(_assign_slice, var, key)
    return part


def _key_of(
    begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
):
    """The key of a slice that is described by numbers and the bits of masks."""
    begin, end = [integers(each, "StridedSlice", "Index") for each in (begin, end)]
    strides = np.ones_like(begin) if strides is None else integers(strides, "StridedSlice", "Index")
    if begin.ndim != 1 or not begin.shape == end.shape == strides.shape:
        raise _bad_slice(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"{words(begin.shape)}, {words(end.shape)}, and {words(strides.shape)} instead."
        )
    key = []
    entries = zip(begin.tolist(), end.tolist(), strides.tolist(), strict=True)
    for i, (start, stop, step) in enumerate(entries):
        bit = 1 << i
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            if step != 1:
                raise _bad_slice("only stride 1 allowed on non-range indexing.")
            key.append(start)
        else:
            key.append((
                None if begin_mask & bit else start, None if end_mask & bit else stop, step
            ))  # fmt: skip
    return tuple(key)
