"""tf.TypeSpec: what specs of composite values have in common."""

import abc
from collections.abc import Mapping
from typing import Any

from .core.dtypes import as_dtype, float32, int64
from .core.exports import export
from .core.indexed_slices import IndexedSlices
from .core.ragged_spec import RaggedTensorSpec
from .core.shapes import TensorShape, as_shape
from .core.sparse_tensor import SparseTensorSpec
from .core.spec import TensorSpec
from .ops.ragged_functions import type_spec_from_value


class TypeSpec(abc.ABC):
    """Describes values of one type by what is fixed about them, and tensors in them by specs.

    A subclass says with `_serialize()` what there is to compare: a tuple of specs, shapes, dtypes
    and other values.
    """

    value_type: Any

    def _serialize(self) -> tuple:
        raise NotImplementedError(f"{type(self).__name__}._serialize()")

    def is_compatible_with(self, spec_or_value):
        """Whether a value, or some value of another spec, is described by this one."""
        other: Any = spec_or_value
        if not isinstance(other, TypeSpec):
            try:
                other = type_spec_from_value(other)
            except TypeError:
                return False
        return type(other) is type(self) and _compatible(self._serialize(), other._serialize())

    def is_subtype_of(self, other):
        """Whether every value this spec describes is also described by `other`."""
        return type(other) is type(self) and _is_within(self._serialize(), other._serialize())

    def __eq__(self, other):
        return type(other) is type(self) and self._serialize() == other._serialize()

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((type(self), _hashable(self._serialize())))

    def __repr__(self):
        return f"{type(self).__name__}{self._serialize()!r}"


for _spec in (TensorSpec, RaggedTensorSpec, SparseTensorSpec):
    TypeSpec.register(_spec)


@export("IndexedSlicesSpec")
class IndexedSlicesSpec(TypeSpec):
    """Describes IndexedSlices: the shape and dtype of the whole, and of the indices.

    Args:
        shape: the dense shape, as far as it is known.
        dtype: of the values.
        indices_dtype: of the indices.
        dense_shape_dtype: of the dense shape; None if the slices come without one.
        indices_shape: a shape of rank 1, if the number of slices is known.
    """

    def __init__(
        self, shape=None, dtype=float32, indices_dtype=int64, dense_shape_dtype=None,
        indices_shape=None,
    ):  # fmt: skip
        self._shape = as_shape(shape)
        self._values_dtype = as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = as_shape([None] if indices_shape is None else indices_shape)

    @property
    def value_type(self):
        """The class of the values this spec describes."""
        return IndexedSlices

    @classmethod
    def from_value(cls, value):
        """The spec that describes `value` exactly."""
        dense = value.dense_shape
        rows = None if dense is None else value.shape[0]
        return cls(
            [rows, *value.values.shape[1:]],
            value.dtype,
            value.indices.dtype,
            None if dense is None else dense.dtype,
            value.indices.shape,
        )

    def _serialize(self):
        return (
            self._shape,
            self._values_dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def _component_specs(self):
        rank = self._shape.rank
        rows = self._indices_shape.as_list()
        values = None if rank is None else [*rows, *self._shape.as_list()[1:]]
        specs = TensorSpec(values, self._values_dtype), TensorSpec(rows, self._indices_dtype)
        if self._dense_shape_dtype is None:
            return specs
        return *specs, TensorSpec([rank], self._dense_shape_dtype)

    def _to_components(self, value):
        return tuple(value._components())

    def _from_components(self, components):
        return IndexedSlices(*components)


IndexedSlices._type_spec = property(IndexedSlicesSpec.from_value)  # pyright: ignore[reportAttributeAccessIssue]


def _compatible(own, other):
    if isinstance(own, (TypeSpec, TensorShape)):
        return type(own) is type(other) and own.is_compatible_with(other)
    return _by_parts(_compatible, own, other)


def _is_within(own, other):
    if hasattr(own, "is_subtype_of"):
        return own.is_subtype_of(other)
    return _by_parts(_is_within, own, other)


def _by_parts(compare, own, other):
    if isinstance(own, (list, tuple)):
        return (
            isinstance(other, (list, tuple))
            and len(own) == len(other)
            and all(compare(a, b) for a, b in zip(own, other, strict=True))
        )
    if isinstance(own, Mapping):
        return (
            isinstance(other, Mapping)
            and own.keys() == other.keys()
            and all(compare(own[key], other[key]) for key in own)
        )
    return type(own) is type(other) and own == other


def _hashable(item):
    if isinstance(item, (list, tuple)):
        return tuple([_hashable(each) for each in item])
    if isinstance(item, Mapping):
        return tuple([(key, _hashable(item[key])) for key in item])
    return item
