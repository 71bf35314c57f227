"""Variables' methods that need ops: recorded reads and scattered updates.

Updates happen in place when nobody else holds the variable's buffer. Like assignment they end
gradients: a variable is a fresh leaf afterwards. The rows are what a graph makes of updates.
"""

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.dispatch import apply, thread
from ..core.effects import perform
from ..core.errors import OutOfRangeError, invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import EagerTensor
from ..core.variable import ResourceVariable, Variable, array_of
from .broadcasting import not_allowed, words
from .families import dtype_of, non_differentiable, shape_of
from .identity import read_variable
from .indexing import (
    check_index_dtype,
    check_places,
    check_range,
    gather_nd_row,
    gather_row,
    index_operand,
)
from .joining import stack
from .random_rows import for_each
from .scatter import check_update_shapes, combine_rows, scatter_into

export("Variable", Variable)

_COUNTING = dtypes.numpy_set(dtypes.int32, dtypes.int64)


class _Methods:
    """What this file gives to variables; updates return the variable, read when looked at.

    An update raises InvalidArgumentError for a place outside of the variable or a shape that does
    not agree, and then changes nothing.
    """

    def read_value(self):
        """A tensor with the current value; a read that tapes record."""
        return apply(read_variable.op, (self,))

    def read_value_no_copy(self):
        """A tensor with the current value, as `read_value` gives it."""
        return self.read_value()

    def load(self: Any, value, session=None):
        """Puts `value` in place of the current one; returns nothing."""
        self.assign(value)

    def count_up_to(self: Any, limit):
        """Adds 1, and returns what the value was before.

        Raises:
            OutOfRangeError: that is `limit` already. Nothing is changed.
        """
        if self.dtype not in (dtypes.int32, dtypes.int64):
            raise not_allowed("ResourceCountUpTo", self.dtype.numpy_dtype, _COUNTING)
        before = self.read_value()

        def check(value):
            if value >= limit:
                raise OutOfRangeError(
                    None, None, f"Reached limit of {limit} [Op:ResourceCountUpTo] name: "
                )
            return ()

        perform("ResourceCountUpTo", check, (before,))
        self.assign_add(1)
        return before

    def to_proto(self, export_scope=None):
        raise RuntimeError("This operation is not supported when eager execution is enabled.")

    def initialized_value(self):
        raise NotImplementedError("A variable always has its value; read it with read_value().")

    def sparse_read(self, indices, name=None):
        """The rows at `indices`; their gradient is IndexedSlices."""
        return apply(gather_row.op, (self, index_operand(indices)), {"axis": 0, "batch_dims": 0})

    def gather_nd(self, indices, name=None):
        """The elements or slices at places, as `tf.gather_nd` gives them."""
        return apply(gather_nd_row.op, (self, index_operand(indices)))

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        """Adds the rows of IndexedSlices."""
        return _scatter_rows(self, sparse_delta, "ResourceScatterAdd", "add")

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        """Subtracts the rows of IndexedSlices."""
        return _scatter_rows(self, sparse_delta, "ResourceScatterSub", "sub")

    def scatter_mul(self, sparse_delta, use_locking=False, name=None):
        """Multiplies by the rows of IndexedSlices."""
        return _scatter_rows(self, sparse_delta, "ResourceScatterMul", "mul")

    def scatter_div(self, sparse_delta, use_locking=False, name=None):
        """Divides by the rows of IndexedSlices."""
        return _scatter_rows(self, sparse_delta, "ResourceScatterDiv", "div")

    def scatter_min(self, sparse_delta, use_locking=False, name=None):
        """Puts the rows of IndexedSlices where they are less."""
        return _scatter_rows(self, sparse_delta, "ResourceScatterMin", "min")

    def scatter_max(self, sparse_delta, use_locking=False, name=None):
        """Puts the rows of IndexedSlices where they are greater."""
        return _scatter_rows(self, sparse_delta, "ResourceScatterMax", "max")

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Puts the rows of IndexedSlices; of a row named twice, the last."""
        return _scatter_rows(self, sparse_delta, "ResourceScatterUpdate", "put")

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Puts rows within each element of the leading axes, which go in step with the indices."""
        op_name = "ResourceScatterNdUpdate"
        indices, updates = _parts(self, sparse_delta, op_name)
        lead = np.indices(shape_of(indices), dtype_of(indices))[:-1]
        places = stack([*map(EagerTensor, lead), indices], axis=-1)
        return _scatter_places(self, places, updates, op_name, "put")

    def scatter_nd_add(self, indices, updates, name=None):
        """Adds elements or slices at places, the coordinates of which lie along the last axis."""
        return _scatter_places(self, indices, updates, "ResourceScatterNdAdd", "add")

    def scatter_nd_sub(self, indices, updates, name=None):
        """Subtracts elements or slices at places."""
        return _scatter_places(self, indices, updates, "ResourceScatterNdSub", "sub")

    def scatter_nd_update(self, indices, updates, name=None):
        """Puts elements or slices at places; at a place named twice, the last."""
        return _scatter_places(self, indices, updates, "ResourceScatterNdUpdate", "put")

    def scatter_nd_min(self, indices, updates, name=None):
        """Puts elements or slices at places where they are less."""
        return _scatter_places(self, indices, updates, "ResourceScatterNdMin", "min")

    def scatter_nd_max(self, indices, updates, name=None):
        """Puts elements or slices at places where they are greater."""
        return _scatter_places(self, indices, updates, "ResourceScatterNdMax", "max")


for _name, _method in vars(_Methods).items():
    if not _name.startswith("__"):
        setattr(ResourceVariable, _name, _method)


def _parts(variable, sparse_delta, op_name):
    """The indices and values of IndexedSlices, as tensors, the values of the variable's dtype."""
    if not getattr(sparse_delta, "_is_sparse_update", False):
        raise TypeError(
            f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {sparse_delta}"
        )
    indices = convert_to_tensor(sparse_delta.indices)
    check_index_dtype(op_name, dtype_of(indices))
    return indices, variable._new_tensor(sparse_delta.values)


def _scatter_rows(variable, sparse_delta, op_name, how):
    indices, updates = _parts(variable, sparse_delta, op_name)
    return _scatter(variable, scatter_rows.op, indices, updates, op_name, how)


def _scatter_places(variable, indices, updates, op_name, how):
    indices = convert_to_tensor(index_operand(indices))
    return _scatter(
        variable, scatter_places.op, indices, variable._new_tensor(updates), op_name, how
    )


def _scatter(variable, op, indices, updates, op_name, how):
    attrs = {"op_name": op_name, "how": how}
    if thread.trace is not None:
        thread.trace.write(variable, apply(op, (variable, indices, updates), attrs))
        return variable._written(True)
    current = variable._handle.tensor._value
    arrays = [np.asarray(array_of(x)) for x in (indices, updates)]
    op.infer(current, *arrays, **attrs)
    check, change = IN_PLACE[op.name]
    check(current.shape, *arrays, **attrs)
    del current
    # Rows have to lie one after another in memory.
    array = np.asarray(variable._writable(), order="C")
    change(array, *arrays, **attrs)
    return variable._store(array if array.ndim else array[()], True)


# Rows ---------------------------------------------------------------------------------------------

_COMBINING = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "min": np.minimum,
    "max": np.maximum,
    "put": None,
}


def _infer_rows(variable, indices, updates, *, op_name, how):
    check_index_dtype(op_name, indices.dtype)
    shape = variable.shape
    if not shape or (updates.shape and updates.shape != indices.shape + shape[1:]):
        raise invalid_argument(
            op_name,
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
            f"updates.shape {words(updates.shape)}, indices.shape {words(indices.shape)}, "
            f"params.shape {words(shape)}",
        )
    return Spec(shape, variable.dtype)


def _check_rows(shape, indices, updates, *, op_name, how):
    check_range(op_name, np.asarray(indices), shape[0])
    if how == "div" and updates.dtype.kind in "iu" and not updates.all():
        raise invalid_argument(op_name, "Integer division by zero")


def _change_rows(array, indices, updates, *, op_name, how):
    """Combines rows with those of an array, one after another."""
    ufunc = _COMBINING[how]
    # Of a row named twice NumPy keeps the last in the order of memory.
    numbers = np.ascontiguousarray(indices).reshape(-1)
    rows = updates if updates.shape else np.broadcast_to(updates, indices.shape + array.shape[1:])
    rows = rows.reshape((indices.size, *array.shape[1:]))
    with np.errstate(all="ignore"):
        if ufunc is None:
            array[numbers] = rows
        elif ufunc is np.divide and array.dtype.kind in "iu":
            _divide_integers(array, numbers, rows)
        else:
            combine_rows(ufunc, array, numbers, rows)


def _divide_integers(array, numbers, rows):
    """Division that cuts off towards zero, which no ufunc does."""
    for number, row in zip(numbers.tolist(), rows, strict=True):
        array[number] = (array[number] - np.fmod(array[number], row)) // row


def _infer_places(variable, indices, updates, *, op_name, how):
    check_index_dtype(op_name, indices.dtype)
    check_update_shapes(op_name, indices.shape, updates.shape, variable.shape)
    return Spec(variable.shape, variable.dtype)


def _check_places(shape, indices, updates, *, op_name, how):
    check_places(op_name, indices, shape)


def _change_places(array, indices, updates, *, op_name, how):
    with np.errstate(all="ignore"):
        scatter_into(array, indices, updates, _COMBINING[how])


# For each row, how its values are checked for a shape, and how an array is changed in place.
IN_PLACE = {
    "ScatterRows": (_check_rows, _change_rows),
    "ScatterPlaces": (_check_places, _change_places),
}


def _kernel_of(name):
    def kernel(variable, indices, updates, op_name, how):
        check, change = IN_PLACE[name]
        updates = np.asarray(updates)
        check(variable.shape, indices, updates, op_name=op_name, how=how)
        array = np.array(variable, order="C")
        change(array, np.asarray(indices), updates, op_name=op_name, how=how)
        return array if array.ndim else array[()]

    return kernel


scatter_rows = non_differentiable(
    "ScatterRows",
    _kernel_of("ScatterRows"),
    inputs="variable indices updates",
    infer=_infer_rows,
    batch=for_each,
    raw=False,
)

scatter_places = non_differentiable(
    "ScatterPlaces",
    _kernel_of("ScatterPlaces"),
    inputs="variable indices updates",
    infer=_infer_places,
    batch=for_each,
    raw=False,
)
