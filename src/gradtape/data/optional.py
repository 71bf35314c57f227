"""Optional: a value that may be there or not."""

import abc

import numpy as np

from ..core import nest
from ..core.effects import perform
from ..core.errors import InvalidArgumentError
from ..core.exports import export
from ..core.tensor import EagerTensor
from .elements import as_leaf, as_public, as_values, packer, unchanged
from .specs import ElementsComposite, OptionalSpec, as_results, box, from_results, unboxed


@export("experimental.Optional data.experimental.Optional")
class Optional(abc.ABC):
    """A value that may be there or not, as the next element of an iterator.

    Example:
        >>> Optional.from_value(42).has_value().numpy()
        True
    """

    @abc.abstractmethod
    def has_value(self, name=None):
        """Whether there is a value, as a tensor."""

    @abc.abstractmethod
    def get_value(self, name=None):
        """The value.

        Raises:
            InvalidArgumentError: there is none.
        """

    @property
    @abc.abstractmethod
    def element_spec(self):
        """The structure of the value, with specs in the place of tensors."""

    @staticmethod
    def empty(element_spec):
        """An Optional without a value; `element_spec` says what a value would look like."""
        return OptionalValue(element_spec, None)

    @staticmethod
    def from_value(value):
        """An Optional with a value: a structure of tensors, or what can be converted to them.

        Raises:
            TypeError: a part of the value cannot be.
            InvalidArgumentError: there is no tensor in it.
        """
        try:
            spec, values = as_values(value)
        except ValueError as error:
            raise TypeError(str(error)) from error
        if all([each is None for each in values]):
            raise InvalidArgumentError(
                None,
                None,
                "Expected a value with at least one tensor in it. "
                "[Op:OptionalFromValue] name: optional/",
            )
        return OptionalValue(spec, values)


class OptionalValue(ElementsComposite, Optional):
    """An Optional.

    Args:
        element_spec: what a value looks like.
        values: tensors and composites, in the order of that structure; None if there is no value.
        tensor: what stands for them in a function being traced, where neither is known.
    """

    _spec_class = OptionalSpec

    def __init__(self, element_spec, values, tensor=None):
        self._spec = element_spec
        self._values = values
        self._tensor = tensor
        self._is_traced = tensor is not None

    @property
    def element_spec(self):
        return self._spec

    def has_value(self, name=None):
        if not self._is_traced:
            return EagerTensor(np.bool_(self._values is not None))
        return perform("OptionalHasValue", _has_value, [self._tensor], rehearsable=True)[0]

    def get_value(self, name=None):
        if not self._is_traced:
            if self._values is None:
                raise _no_value()
            return packer(self._spec, unchanged)(self._values)
        spec = self._spec

        def taken(holder):
            leaves = unboxed(holder)
            if leaves is None:
                raise _no_value()
            return as_results(packer(spec)(leaves))

        return from_results(perform("OptionalGetValue", taken, [self._tensor], rehearsable=True))

    def _components(self):
        # In a trace it is a part of the graph, and must be there once.
        if self._tensor is None:
            self._tensor = self._held()
        return [self._tensor]

    def _held(self):
        """The tensor that holds the value."""
        if self._values is None:
            return EagerTensor(box(None))
        values = self._values
        tensors = [x for x in nest.flatten(values, expand_composites=True) if x is not None]
        if all([type(x) is EagerTensor for x in tensors]):
            return EagerTensor(box(tuple([as_leaf(value) for value in values])))

        def made(*arrays):
            parts = iter(arrays)
            flat = nest.flatten(values, expand_composites=True)
            flat = [None if each is None else EagerTensor(next(parts)) for each in flat]
            own = nest.pack_sequence_as(values, flat, expand_composites=True)
            return (box(tuple([as_leaf(value) for value in own])),)

        return perform("OptionalFromValue", made, tensors, rehearsable=True, fixed=True)[0]

    @classmethod
    def _from_tensor(cls, tensor, element_spec):
        if type(tensor) is not EagerTensor:
            return cls(element_spec, None, tensor)
        leaves = unboxed(tensor._value)
        if not isinstance(leaves, tuple):
            return cls(element_spec, None)
        return cls(element_spec, [as_public(leaf) for leaf in leaves])


OptionalSpec.value_type = OptionalValue


def _has_value(holder):
    return (np.bool_(unboxed(holder) is not None),)


def _no_value():
    return InvalidArgumentError(
        None, None, "The given optional does not have a value. [Op:OptionalGetValue] name: "
    )
