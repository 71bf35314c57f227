"""Variables' methods that need ops: recorded reads and scattered updates.

Updates happen in place when nobody else holds the variable's buffer. Like assignment they end
gradients: a variable is a fresh leaf afterwards.
"""

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.dispatch import apply
from ..core.errors import OutOfRangeError, invalid_argument
from ..core.exports import export
from ..core.variable import ResourceVariable, Variable
from .broadcasting import not_allowed, words
from .identity import read_variable
from .indexing import (
    check_index_dtype,
    check_places,
    check_range,
    gather_nd_row,
    gather_row,
    index_operand,
)
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
        if before._value >= limit:
            raise OutOfRangeError(
                None, None, f"Reached limit of {limit} [Op:ResourceCountUpTo] name: "
            )
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
        return _scatter_rows(self, sparse_delta, "ResourceScatterAdd", np.add)

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        """Subtracts the rows of IndexedSlices."""
        return _scatter_rows(self, sparse_delta, "ResourceScatterSub", np.subtract)

    def scatter_mul(self, sparse_delta, use_locking=False, name=None):
        """Multiplies by the rows of IndexedSlices."""
        return _scatter_rows(self, sparse_delta, "ResourceScatterMul", np.multiply)

    def scatter_div(self, sparse_delta, use_locking=False, name=None):
        """Divides by the rows of IndexedSlices."""
        return _scatter_rows(self, sparse_delta, "ResourceScatterDiv", np.divide)

    def scatter_min(self, sparse_delta, use_locking=False, name=None):
        """Puts the rows of IndexedSlices where they are less."""
        return _scatter_rows(self, sparse_delta, "ResourceScatterMin", np.minimum)

    def scatter_max(self, sparse_delta, use_locking=False, name=None):
        """Puts the rows of IndexedSlices where they are greater."""
        return _scatter_rows(self, sparse_delta, "ResourceScatterMax", np.maximum)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Puts the rows of IndexedSlices; of a row named twice, the last."""
        return _scatter_rows(self, sparse_delta, "ResourceScatterUpdate", None)

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Puts rows within each element of the leading axes, which go in step with the indices."""
        op_name = "ResourceScatterNdUpdate"
        indices, updates = _parts(self, sparse_delta, op_name)
        lead = np.indices(indices.shape, indices.dtype)[:-1]
        return _scatter_places(self, np.stack([*lead, indices], axis=-1), updates, op_name, None)

    def scatter_nd_add(self, indices, updates, name=None):
        """Adds elements or slices at places, the coordinates of which lie along the last axis."""
        return _scatter_places(self, indices, updates, "ResourceScatterNdAdd", np.add)

    def scatter_nd_sub(self, indices, updates, name=None):
        """Subtracts elements or slices at places."""
        return _scatter_places(self, indices, updates, "ResourceScatterNdSub", np.subtract)

    def scatter_nd_update(self, indices, updates, name=None):
        """Puts elements or slices at places; at a place named twice, the last."""
        return _scatter_places(self, indices, updates, "ResourceScatterNdUpdate", None)

    def scatter_nd_min(self, indices, updates, name=None):
        """Puts elements or slices at places where they are less."""
        return _scatter_places(self, indices, updates, "ResourceScatterNdMin", np.minimum)

    def scatter_nd_max(self, indices, updates, name=None):
        """Puts elements or slices at places where they are greater."""
        return _scatter_places(self, indices, updates, "ResourceScatterNdMax", np.maximum)


for _name, _method in vars(_Methods).items():
    if not _name.startswith("__"):
        setattr(ResourceVariable, _name, _method)


def _parts(variable, sparse_delta, op_name):
    """The indices and values of IndexedSlices, as arrays, the values of the variable's dtype."""
    if not getattr(sparse_delta, "_is_sparse_update", False):
        raise TypeError(
            f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {sparse_delta}"
        )
    indices = np.asarray(convert_to_tensor(sparse_delta.indices)._value)
    check_index_dtype(op_name, indices.dtype)
    return indices, np.asarray(variable._new_value(sparse_delta.values))


def _writable(variable):
    """The variable's array, to be written to, with its rows one after another in memory."""
    return np.asarray(variable._writable(), order="C")


def _scatter_rows(variable, sparse_delta, op_name, ufunc):
    indices, updates = _parts(variable, sparse_delta, op_name)
    shape = variable._handle.tensor._value.shape
    expected = indices.shape + shape[1:]
    if not shape or (updates.shape and updates.shape != expected):
        raise invalid_argument(
            op_name,
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
            f"updates.shape {words(updates.shape)}, indices.shape {words(indices.shape)}, "
            f"params.shape {words(shape)}",
        )
    check_range(op_name, indices, shape[0])
    numbers = indices.reshape(-1)
    rows = updates if updates.shape else np.broadcast_to(updates, expected)
    rows = rows.reshape((indices.size, *shape[1:]))
    if ufunc is np.divide and updates.dtype.kind in "iu" and not updates.all():
        raise invalid_argument(op_name, "Integer division by zero")
    array = _writable(variable)
    with np.errstate(all="ignore"):
        if ufunc is None:
            array[numbers] = rows
        elif ufunc is np.divide and array.dtype.kind in "iu":
            _divide_integers(array, numbers, rows)
        else:
            combine_rows(ufunc, array, numbers, rows)
    return variable._store(array if array.ndim else array[()], True)


def _divide_integers(array, numbers, rows):
    """Division that cuts off towards zero, which no ufunc does."""
    for number, row in zip(numbers.tolist(), rows, strict=True):
        array[number] = (array[number] - np.fmod(array[number], row)) // row


def _scatter_places(variable, indices, updates, op_name, ufunc):
    indices = np.asarray(convert_to_tensor(index_operand(indices)))
    check_index_dtype(op_name, indices.dtype)
    updates = np.asarray(variable._new_value(updates))
    shape = variable._handle.tensor._value.shape
    check_update_shapes(op_name, indices.shape, updates.shape, shape)
    check_places(op_name, indices, shape)
    array = _writable(variable)
    with np.errstate(all="ignore"):
        scatter_into(array, indices, updates, ufunc)
    return variable._store(array if array.ndim else array[()], True)
