"""tf.TypeSpec: what specs of composite values have in common."""

import abc
from collections.abc import Mapping
from typing import Any

from .core.ragged_spec import RaggedTensorSpec
from .core.shapes import TensorShape
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
