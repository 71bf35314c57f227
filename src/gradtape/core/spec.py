"""TensorSpec: the shape, dtype and optional name that describe a tensor without its value."""

from .dtypes import DType, as_dtype, float32
from .shapes import TensorShape, as_shape
from .tensor import Tensor


class TensorSpec:
    """Describes tensors: their shape (perhaps partly unknown), dtype and an optional name.

    Example:
        >>> TensorSpec([None, 2]).is_compatible_with(TensorSpec([3, 2]))
        True
    """

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape, dtype=float32, name=None):
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec, name=None):
        """A copy of `spec`, under the name `name` if one is given."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """The spec that describes `tensor` exactly."""
        if not isinstance(tensor, Tensor):
            raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")
        return cls(tensor.shape, tensor.dtype, name)

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def name(self):
        return self._name

    @property
    def value_type(self):
        """The class of the values this spec describes."""
        return Tensor

    def is_compatible_with(self, spec_or_tensor):
        """Whether a tensor, or some tensor of another spec, has this dtype and fits this shape.

        The name plays no part. Anything but a spec or a tensor is incompatible: a Python number
        has no dtype of its own.
        """
        return (
            isinstance(spec_or_tensor, (TensorSpec, Tensor))
            and self._dtype == spec_or_tensor.dtype
            and self._shape.is_compatible_with(spec_or_tensor.shape)
        )

    def is_subtype_of(self, other):
        """Whether every tensor this spec describes is also described by the spec `other`."""
        return (
            isinstance(other, TensorSpec)
            and (self._name is None or self._name == other._name)
            and self._dtype == other._dtype
            and self._shape.is_subtype_of(other._shape)
        )

    def most_specific_common_supertype(self, others):
        """The narrowest spec that covers this one and all `others`, or None if there is none."""
        shape = self._shape
        for other in others:
            if (
                not isinstance(other, TensorSpec)
                or self._dtype != other._dtype
                or self._name != other._name
            ):
                return None
            shape = shape.most_specific_compatible_shape(other._shape)
        return TensorSpec(shape, self._dtype, self._name)

    def most_specific_compatible_type(self, other):
        """The narrowest spec that covers this one and `other`; a ValueError if there is none."""
        common = self.most_specific_common_supertype([other])
        if common is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other!s}")
        return common

    def __eq__(self, other):
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return (
            self._shape == other._shape
            and self._dtype == other._dtype
            and self._name == other._name
        )

    def __hash__(self):
        return hash((self._shape, self._dtype))

    def __reduce__(self):
        return TensorSpec, (self._shape, self._dtype, self._name)

    def __repr__(self):
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"
