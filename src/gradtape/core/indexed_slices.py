"""IndexedSlices: the gradient of a gather, as rows and where they belong."""

import numpy as np

from . import dtypes
from .shapes import TensorShape
from .tensor import EagerTensor, Tensor

# Set by the ops layer: (values, indices, dense_shape) -> the dense tensor, differentiably.
_densify = None


def set_densify(function):
    """Tells IndexedSlices which op sums its rows into a dense tensor."""
    global _densify
    _densify = function


def _dense(values, indices, dense_shape):
    if _densify is None:
        raise RuntimeError("Dense IndexedSlices need gradtape.ops: import gradtape first.")
    return _densify(values, indices, dense_shape)


class IndexedSlices:
    """Rows `values[i]` that belong at `indices[i]` of a dense tensor that is zero elsewhere.

    Repeated indices add up. It can be used wherever a dense gradient can: it converts to a tensor
    and to an array, takes part in arithmetic, and variables can be updated with it.

    Args:
        values: a tensor of rows.
        indices: a vector of row numbers.
        dense_shape: the shape of the dense tensor, if known.
    """

    _is_composite = True
    _is_sparse_update = True
    __array_priority__ = 100
    __slots__ = ("__weakref__", "_dense_shape", "_indices", "_values")

    def __init__(self, values, indices, dense_shape=None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self):
        return self._values

    @property
    def indices(self):
        return self._indices

    @property
    def dense_shape(self):
        return self._dense_shape

    @property
    def shape(self):
        if self._dense_shape is None:
            return TensorShape(None)
        return TensorShape(np.asarray(self._dense_shape).tolist())

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def name(self):
        return None

    @property
    def device(self):
        return self._values.device

    @property
    def op(self):
        raise AttributeError("Tensor.op is undefined when eager execution is enabled.")

    @property
    def graph(self):
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    def _components(self):
        parts = [self._values, self._indices]
        return parts if self._dense_shape is None else [*parts, self._dense_shape]

    def _from_components(self, components):
        return IndexedSlices(*components)

    def _to_tensor(self, dtype):
        if self._dense_shape is None:
            raise ValueError(
                "Tensor conversion requested for IndexedSlices for argument `value` without "
                f"dense_shape: {self!s}"
            )
        if dtype is not None and dtype is not self.dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype "
                f"{self.dtype.name}"
            )
        indices = self._indices
        if not isinstance(indices, Tensor):
            indices = np.asarray(indices)
        return _dense(self._values, indices, tuple(np.asarray(self._dense_shape).tolist()))

    def numpy(self):
        """The dense gradient as a NumPy array."""
        return self._to_tensor(None).numpy()

    def __array__(self, dtype=None, copy=None):
        return self._to_tensor(None).__array__(dtype, copy)

    def _scaled(self, operation, other):
        """`operation` on the rows alone, where that is the operation on the whole."""
        number = isinstance(other, (int, float, np.generic)) or (
            isinstance(other, Tensor) and other.ndim == 0
        )
        if number:
            return IndexedSlices(operation(self._values, other), self._indices, self._dense_shape)
        return operation(self._to_tensor(None), other)

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __mul__(self, other):
        return self._scaled(lambda rows, number: rows * number, other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._scaled(lambda rows, number: rows / number, other)

    def __add__(self, other):
        return self._to_tensor(None) + other

    __radd__ = __add__

    def __sub__(self, other):
        return self._to_tensor(None) - other

    def __rsub__(self, other):
        return -self._to_tensor(None) + other

    def __pow__(self, other):
        return self._to_tensor(None) ** other

    def __getitem__(self, key):
        return self._to_tensor(None)[key]

    def __len__(self):
        return len(self._to_tensor(None))

    def __str__(self):
        dense = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{dense})"

    def __repr__(self):
        return str(self)


class RawSlices:
    """IndexedSlices on arrays, as they occur inside a gradient that is not recorded."""

    __slots__ = ("dense_shape", "indices", "values")

    def __init__(self, values, indices, dense_shape):
        self.values = values
        self.indices = indices
        self.dense_shape = dense_shape

    def to_dense(self):
        return _dense(self.values, self.indices, self.dense_shape)

    def wrap(self):
        return IndexedSlices(
            EagerTensor(self.values),
            EagerTensor(self.indices),
            EagerTensor(np.array(self.dense_shape, dtypes.int32.numpy_dtype)),
        )


def make_slices(values, indices, dense_shape):
    """A gather's gradient: `values` decides whether it is recorded tensors or raw arrays."""
    if isinstance(values, Tensor):
        shape = EagerTensor(np.array(dense_shape, dtypes.int32.numpy_dtype))
        return IndexedSlices(values, indices, shape)
    return RawSlices(values, indices, dense_shape)
