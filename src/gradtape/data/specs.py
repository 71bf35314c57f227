"""DatasetSpec, IteratorSpec and OptionalSpec; and tensors that hold the things they describe."""

from typing import Any

import numpy as np

from ..core import nest
from ..core.active import thread
from ..core.dtypes import of_numpy, resource, variant
from ..core.effects import boxed, real_value
from ..core.errors import InvalidArgumentError
from ..core.exports import export
from ..core.shapes import as_shape
from ..core.spec import TensorSpec
from ..core.tensor import EagerTensor
from ..type_specs import TypeSpec

# Why a function with a dataset in it runs as Python, for its users to read.
DATASET_IN_FUNCTION = (
    "a dataset is used in it, and datasets are no part of graphs. Functions of datasets, and a "
    "tf.function called for each element, run as graphs all the same"
)


def box(thing, dtype=variant):
    """A scalar of dtype variant or resource: an array whose only element holds any object."""
    array = np.empty((), dtype.numpy_dtype)
    array[()] = (thing,)
    return array


def boxes(things):
    """An array of dtype variant that holds the objects of an array."""
    array: Any = np.empty(things.shape, variant.numpy_dtype)
    array[variant.name] = things
    return array


def unboxed(array) -> Any:
    """What `box` was given."""
    array = np.asarray(array)
    return array[of_numpy(array.dtype).name][()]


def as_results(element):
    """What an effect returns for an element: the values of its tensors, and the element itself."""
    flat = nest.flatten(element, expand_composites=True)
    return (*[each._value for each in flat if each is not None], boxed(element))


def from_results(results):
    """The element of an effect that returns `as_results`, made of that effect's tensors."""
    *tensors, found = results
    element, remaining = real_value(found).item(), iter(tensors)
    flat = nest.flatten(element, expand_composites=True)
    flat = [None if each is None else next(remaining) for each in flat]
    return nest.pack_sequence_as(element, flat, expand_composites=True)


def leave_trace():
    """Has a function that is being traced run as Python: elements must not become constants."""
    if thread.trace is not None:
        thread.trace.give_up(DATASET_IN_FUNCTION)


class _ElementSpec(TypeSpec):
    """Describes things that give elements, by what those look like.

    The class of these things sets `value_type`, and has a method `_from_tensor(tensor, spec)`.
    """

    _dtype = variant

    def __init__(self, element_spec):
        self._element_spec = element_spec

    @property
    def element_spec(self):
        """The structure of an element, with specs in the place of tensors."""
        return self._element_spec

    @classmethod
    def from_value(cls, value):
        """The spec that describes `value` exactly."""
        return cls(value.element_spec)

    def _serialize(self):
        return (self._element_spec,)

    def most_specific_common_supertype(self, others):
        """The narrowest spec that covers this one and all `others`, or None if there is none."""
        if not all([type(other) is type(self) for other in others]):
            return None
        parts = [_common(*each) for each in zip(*map(_serialized, [self, *others]), strict=True)]
        return None if any([part is _NOTHING for part in parts]) else type(self)(*parts)

    def most_specific_compatible_type(self, other):
        """The narrowest spec that covers this one and `other`; a ValueError if there is none."""
        common = self.most_specific_common_supertype([other])
        if common is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other!s}")
        return common

    @property
    def _component_specs(self):
        return (TensorSpec((), self._dtype),)

    def _to_components(self, value):
        return tuple(value._components())

    def _from_components(self, components):
        return self.value_type._from_tensor(components[0], self._element_spec)


@export("data.DatasetSpec")
class DatasetSpec(_ElementSpec):
    """Describes datasets: what their elements look like.

    Args:
        element_spec: the structure of an element, with specs in the place of tensors.
        dataset_shape: that of a tensor of datasets, as batches of datasets are; () for one.
    """

    def __init__(self, element_spec, dataset_shape=()):
        super().__init__(element_spec)
        self._dataset_shape = as_shape(dataset_shape)

    def _serialize(self):
        return self._element_spec, self._dataset_shape

    @property
    def _component_specs(self):
        return (TensorSpec(self._dataset_shape, variant),)

    def _example(self, example_leaf):
        """A dataset to see what functions make of such; `example_leaf` gives a leaf for a spec."""
        from .windows import example_dataset  # datasets are made with specs

        return example_dataset(self._element_spec, example_leaf)


@export("data.IteratorSpec")
class IteratorSpec(_ElementSpec):
    """Describes iterators over datasets.

    Args:
        element_spec: the structure of an element, with specs in the place of tensors.

    Example:
        >>> @function(input_signature=[IteratorSpec(TensorSpec([], float32))])
        ... def doubled(iterator):
        ...     return next(iterator) * 2.0
    """

    _dtype = resource


@export("OptionalSpec")
class OptionalSpec(_ElementSpec):
    """Describes a tf.experimental.Optional.

    Args:
        element_spec: the structure of its value, with specs in the place of tensors.
    """


class ElementsComposite:
    """What datasets, iterators and optionals are to nest and to functions: each a single tensor.

    A function is traced once for all that have elements of one spec.
    """

    _is_composite = True
    _spec_class: type[_ElementSpec]
    _texts: list[str] | None = None
    element_spec: Any

    @property
    def _type_spec(self):
        return self._spec_class(self.element_spec)

    def _components(self):
        return [EagerTensor(box(self, self._spec_class._dtype))]

    def _from_components(self, components):
        return self._from_tensor(components[0], self.element_spec)

    @classmethod
    def _from_tensor(cls, tensor, element_spec) -> Any:
        """What a tensor holds, which may be one of a trace, or an outline that holds nothing."""
        raise NotImplementedError(f"{cls.__name__}._from_tensor()")

    def _key_class(self):
        """The class functions tell arguments apart by: how a dataset was made plays no part."""
        return self._spec_class

    def _leaf_texts(self):
        if self._texts is None:
            self._texts = [repr(self.element_spec)]
        return self._texts

    def _is_like(self, other):
        """Whether nest takes both for structures of one form."""
        spec = getattr(other, "_type_spec", None)
        return self._type_spec.most_specific_common_supertype([spec]) is not None

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        raise TypeError(f"{self!r} cannot be copied: make another one in the same way.")

    def __reduce__(self):
        raise InvalidArgumentError(
            None,
            None,
            f"Cannot convert a Tensor of dtype {self._spec_class._dtype.name} to a NumPy array. "
            f"{type(self).__name__} cannot be pickled.",
        )

    def _differentiable_components(self, role):
        raise ValueError(
            f"Type {type(self).__name__} is not supported as a gradient source or gradient target."
        )


_NOTHING = object()


def _serialized(spec):
    return spec._serialize()


def _common(own, *others):
    """What covers some structures of specs, or some shapes."""
    try:
        for other in others:
            nest.assert_same_structure(own, other)
    except (TypeError, ValueError):
        return _NOTHING
    found = []
    for leaf, *leaves in zip(*map(nest.flatten, (own, *others)), strict=True):
        if hasattr(leaf, "most_specific_common_supertype"):
            common = leaf.most_specific_common_supertype(leaves)
        else:
            common = leaf if all([leaf == each for each in leaves]) else None
        if common is None and leaf is not None:
            return _NOTHING
        found.append(common)
    return nest.pack_sequence_as(own, found)
