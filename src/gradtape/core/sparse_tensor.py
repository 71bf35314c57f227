"""SparseTensor: the elements of a tensor that are not zero, and where they are."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import dtypes
from .composite import Composite
from .convert import convert_to_tensor
from .op import Spec
from .shapes import TensorShape, as_shape
from .tensor import EagerTensor

_INT64 = np.dtype(np.int64)


class SparseTensorValue(NamedTuple):
    """The three parts of a sparse tensor as arrays."""

    indices: Any
    values: Any
    dense_shape: Any


class SparseTensor(Composite):
    """Elements `values[i]` at the places `indices[i]` of a tensor that is zero elsewhere.

    Args:
        indices: a matrix of int64, a row of coordinates for each element; most ops want the
            rows in lexicographic order, which `tf.sparse.reorder` establishes.
        values: a vector of elements.
        dense_shape: a vector of int64, the shape of the whole.

    Raises:
        ValueError: the lengths do not agree.

    Example:
        >>> SparseTensor([[0, 1]], [5.0], [2, 3]).shape
        TensorShape([2, 3])
    """

    __slots__ = ("_dense_shape", "_indices", "_values")
    _incomplete = "SparseTensor"

    def __init__(self, indices, values, dense_shape):
        self._indices = _int64(indices)
        self._values = convert_to_tensor(values)
        self._dense_shape = _int64(dense_shape)
        self._check()

    def _check(self):
        for part, rank in ((self._indices, 2), (self._values, 1), (self._dense_shape, 1)):
            if part.ndim != rank:
                raise ValueError(f"Shape {tuple(part.shape)} must have rank {rank}")
        count, rank = self._indices.shape
        for expected, part in ((count, self._values), (rank, self._dense_shape)):
            if part.shape[0] != expected:
                raise ValueError(f"Dimensions {expected} and {part.shape[0]} are not compatible")

    @classmethod
    def from_value(cls, sparse_tensor_value):
        """A sparse tensor from a `SparseTensorValue` or itself."""
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        if not hasattr(sparse_tensor_value, "dense_shape"):
            raise TypeError(
                f"Argument sparse_tensor_value={sparse_tensor_value} is neither a SparseTensor nor "
                "SparseTensorValue."
            )
        return cls(*[getattr(sparse_tensor_value, part) for part in SparseTensorValue._fields])

    @property
    def indices(self):
        return self._indices

    @property
    def values(self):
        return self._values

    @property
    def dense_shape(self):
        return self._dense_shape

    @property
    def shape(self):
        return TensorShape(self._sizes)

    @property
    def _sizes(self):
        """The dense shape as a tuple of ints."""
        return tuple(self._dense_shape._value.tolist())

    @property
    def _value(self):
        """The shape and dtype, for questions about these alone."""
        return Spec(self._sizes, self._values._value.dtype)

    @property
    def _places(self):
        """The indices as an array."""
        return self._indices._value

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def op(self):
        raise AttributeError("Tensor.op is undefined when eager execution is enabled.")

    @property
    def graph(self):
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    def get_shape(self):
        return self.shape

    def set_shape(self, shape):
        """Checks that the shape agrees with `shape`."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Shapes {self.shape} and {as_shape(shape)} are incompatible")

    def consumers(self):
        """The ops that read it; nobody keeps a list of them."""
        return []

    def eval(self, feed_dict=None, session=None):
        """The three parts as arrays."""
        return SparseTensorValue(*[part.numpy() for part in self._components()])

    def numpy(self):
        """The three parts as arrays."""
        return self.eval()

    def with_values(self, new_values):
        """The same places with other elements."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def _components(self):
        return [self._indices, self._values, self._dense_shape]

    def _from_components(self, components):
        return SparseTensor(*components)

    def __repr__(self):
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )

    if TYPE_CHECKING:

        def __mul__(self, other: Any) -> "SparseTensor": ...
        def __truediv__(self, other: Any) -> "SparseTensor": ...


def _int64(value):
    if isinstance(value, (EagerTensor, np.ndarray)):
        return convert_to_tensor(value, dtypes.int64)
    if isinstance(value, (list, tuple)) and not len(value):
        return EagerTensor(np.zeros(np.shape(value), _INT64))
    return convert_to_tensor(value, dtypes.int64)


class SparseTensorSpec:
    """Describes sparse tensors: the shape (perhaps partly unknown) and dtype of the whole."""

    __slots__ = ("_dtype", "_shape")

    def __init__(self, shape=None, dtype=dtypes.float32):
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @property
    def shape(self):
        return self._shape

    @property
    def dtype(self):
        return self._dtype

    @property
    def value_type(self):
        """The class of the values this spec describes."""
        return SparseTensor

    @classmethod
    def from_value(cls, value):
        """The spec that describes `value` exactly."""
        return cls(value.shape, value.dtype)

    def is_compatible_with(self, spec_or_value):
        """Whether a sparse tensor, or some of another spec, has this dtype and fits this shape."""
        return (
            isinstance(spec_or_value, (SparseTensorSpec, SparseTensor))
            and self._dtype == spec_or_value.dtype
            and self._shape.is_compatible_with(spec_or_value.shape)
        )

    def most_specific_common_supertype(self, others):
        """The narrowest spec that covers this one and all `others`, or None if there is none."""
        shape = self._shape
        for other in others:
            if not isinstance(other, SparseTensorSpec) or other._dtype != self._dtype:
                return None
            shape = shape.most_specific_compatible_shape(other._shape)
        return SparseTensorSpec(shape, self._dtype)

    def __eq__(self, other):
        if not isinstance(other, SparseTensorSpec):
            return NotImplemented
        return self._shape == other._shape and self._dtype == other._dtype

    def __hash__(self):
        return hash((self._shape, self._dtype))

    def __reduce__(self):
        return SparseTensorSpec, (self._shape, self._dtype)

    def __repr__(self):
        return f"SparseTensorSpec({self._shape!r}, {self._dtype!r})"
