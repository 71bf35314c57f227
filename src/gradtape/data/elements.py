"""What datasets pass on: elements as flat tuples of leaves, and the structures they stand for.

A leaf is the raw value of a tensor (an array or NumPy scalar), or, for anything but a dense tensor,
the object itself: a ragged or sparse tensor, a dataset, None. The structure is kept once, as the
dataset's `element_spec`. Unlike elsewhere a list is no structure here: it becomes a tensor.
"""

from collections import abc
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import nest
from ..core.containers import container_of, is_composite
from ..core.convert import convert_to_tensor
from ..core.dtypes import variant
from ..core.exports import PUBLIC, export
from ..core.ragged_spec import RaggedTensorSpec
from ..core.ragged_tensor import RaggedTensor
from ..core.sparse_tensor import SparseTensor, SparseTensorValue
from ..core.spec import TensorSpec
from ..core.tensor import EagerTensor, Tensor
from ..ops.ragged_functions import type_spec_from_value
from ..type_specs import TypeSpec
from .specs import DatasetSpec, boxes, leave_trace


@export("NoneTensorSpec")
class NoneTensorSpec(TypeSpec):
    """Describes None in the place of a tensor."""

    value_type = type(None)

    @staticmethod
    def from_value(value):
        """The spec of None."""
        return NoneTensorSpec()

    def most_specific_common_supertype(self, others):
        """This spec if all others are such specs too, else None."""
        return self if all([isinstance(other, NoneTensorSpec) for other in others]) else None

    def _serialize(self):
        return ()

    @property
    def _component_specs(self):
        return ()

    def _to_components(self, value):
        return ()

    def _from_components(self, components):
        return None

    def _batch(self, batch_size):
        return self

    def _unbatch(self):
        return self


# Leaves that are more than the value a user sees --------------------------------------------------


class Part:
    """A part of something ragged that does not look it, with the spec that says so.

    A row of a ragged matrix is a dense tensor, but many such rows make a ragged tensor again.
    """

    _is_composite = True
    __slots__ = ("spec", "value")

    def __init__(self, value, spec):
        self.value = value
        self.spec = spec

    @property
    def shape(self):
        return self.value.shape

    # Where composites are opened and rebuilt, it is what a user sees.

    def _components(self):
        return [self.value]

    def _from_components(self, components):
        return components[0]


class NestedDatasets:
    """Several datasets as one leaf: what a list or a batch of datasets is."""

    _is_composite = True

    def __init__(self, datasets):
        self.datasets: np.ndarray = datasets

    @classmethod
    def of(cls, nested):
        """Datasets in nested lists of equal lengths."""
        shape, first = [], nested
        while isinstance(first, list):
            shape.append(len(first))
            first = first[0]
        datasets = np.empty(shape, object)
        for place in np.ndindex(*shape):
            found = nested
            for i in place:
                found = found[i]
            datasets[place] = found
        return cls(datasets)

    @property
    def shape(self):
        return self.datasets.shape

    @property
    def _type_spec(self):
        specs = [dataset.element_spec for dataset in self.datasets.flat]
        return DatasetSpec(common_spec(specs), self.shape)

    def _components(self):
        return [EagerTensor(boxes(self.datasets))]

    def _from_components(self, components):
        tensor = components[0]
        if type(tensor) is not EagerTensor:
            leave_trace()
        return NestedDatasets(tensor._value[variant.name])


def common_spec(specs):
    """The narrowest structure of specs that covers several of one form.

    Raises:
        TypeError, ValueError: their forms differ.
        AttributeError: two leaves in the same place have nothing in common.
    """
    first, *others = specs
    for other in others:
        nest.assert_same_structure(first, other)
    columns = zip(*[leaf_specs(spec) for spec in specs], strict=True)
    return with_leaf_specs(first, [_common_leaf_spec(column) for column in columns])


def _common_leaf_spec(specs):
    first, *others = specs
    if all([other == first for other in others]):
        return first
    merge = getattr(first, "most_specific_common_supertype", None)
    common = None if merge is None else merge(others)
    if common is None:
        raise AttributeError(f"No spec covers all of these: {', '.join(map(str, specs))}")
    return common


# Structures ---------------------------------------------------------------------------------------


def flattened(element):
    """An element taken apart.

    Returns:
        Its structure with a spec in the place of each leaf, and the leaves.

    Raises:
        TypeError, ValueError: a part of it is no tensor and cannot be made one.
    """
    spec, values = as_values(element)
    return spec, tuple([as_leaf(value) for value in values])


def as_values(element):
    """As `flattened`, with tensors in the place of raw values."""
    values = []
    spec = _take_apart(element, values)
    return spec, values


def structure_leaves(structure):
    """What stands in the leaves of a structure; lists are such leaves."""
    container = _container_of(structure)
    if container is None:
        return [structure]
    return [leaf for child in container.children(structure) for leaf in structure_leaves(child)]


def _container_of(item):
    is_leaf = isinstance(item, (list, range, abc.MappingView, SparseTensorValue))
    return None if is_leaf else container_of(item, False)


def _take_apart(item, values):
    container = _container_of(item)
    if container is not None:
        if not isinstance(item, (tuple, abc.Mapping)) and isinstance(item, abc.Sequence):
            raise TypeError(f"Could not build a `TypeSpec` for {item} with type {type(item)}")
        return container.rebuild(item, [_take_apart(c, values) for c in container.children(item)])
    spec, value = _described(item)
    values.append(value)
    return spec


def _described(item):
    """The spec of a leaf, and the leaf as a tensor or composite."""
    dtype = None
    if isinstance(item, list) and item:
        item, dtype = _described_list(item)
    elif isinstance(item, SparseTensorValue):
        item = SparseTensor.from_value(item)
    elif isinstance(item, (abc.KeysView, abc.ValuesView, abc.ItemsView)):
        item = list(item)
    if item is None:
        return NoneTensorSpec(), None
    if is_composite(item):
        return type_spec_from_value(item), item
    tensor = convert_to_tensor(item, dtype)
    return TensorSpec(tensor.shape, tensor.dtype), tensor


def _described_list(items):
    """What a list stands for, if it is no tensor, and else the dtype of the tensor, if known."""
    first = items
    while isinstance(first, list) and first:
        first = first[0]
    if first is None and _holds_nothing(items):
        return None, None
    if hasattr(first, "_elements"):
        return NestedDatasets.of(items), None
    if isinstance(first, SparseTensor):
        return SparseTensor.from_value(items), None
    if isinstance(first, RaggedTensor):
        raise first._no_tensor()
    return items, _dtype_of_arrays(items) if isinstance(first, np.ndarray) else None


def _holds_nothing(items):
    return items is None or (isinstance(items, list) and all(map(_holds_nothing, items)))


def _dtype_of_arrays(item):
    """The dtype that all arrays in nested lists have; None if they differ or are no arrays."""
    if isinstance(item, np.ndarray):
        return item.dtype if item.dtype.kind in "biufc" else None
    found = {_dtype_of_arrays(each) for each in item} if isinstance(item, list) else ()
    return found.pop() if len(found) == 1 else None


def as_public(leaf):
    """A leaf as users see it."""
    if isinstance(leaf, (np.ndarray, np.generic)):
        return EagerTensor(leaf)
    return leaf.value if type(leaf) is Part else leaf


def as_numpy(leaf):
    """A leaf as `as_numpy_iterator` gives it: arrays that cannot be written to, and no copies."""
    if leaf is None or isinstance(leaf, np.generic):
        return leaf
    if isinstance(leaf, np.ndarray):
        if not leaf.ndim:
            return leaf[()]
        array = leaf.view()
    elif type(leaf) is Part:
        return as_numpy(as_leaf(leaf.value))
    else:
        is_sparse = isinstance(leaf, SparseTensor)
        array = (PUBLIC["sparse.to_dense"](leaf) if is_sparse else leaf).numpy()
    array.flags.writeable = False
    return array


def unchanged(value):
    """The value itself: for `packer`, where leaves are what users see already."""
    return value


def as_leaf(value):
    """The leaf of a tensor, composite or None."""
    return value._value if isinstance(value, Tensor) else value


def packer(spec, convert=as_public) -> Callable[[Any], Any]:
    """A function that makes the structure of `spec` from leaves, each converted."""
    parts = nest.flatten(spec)
    if convert is as_public:
        if all([type(part) is TensorSpec for part in parts]):
            convert = EagerTensor
        elif any([_uniform_rows(part) for part in parts]):
            converters = [_converter(part) for part in parts]
            pack = packer(spec, unchanged)
            return lambda leaves: pack(
                [own(leaf) for own, leaf in zip(converters, leaves, strict=True)]
            )
    if parts and spec is parts[0]:
        return lambda leaves: convert(leaves[0])
    if (
        type(spec) is tuple
        and len(spec) == len(parts)
        and all([a is b for a, b in zip(spec, parts, strict=False)])
    ):
        if len(spec) == 2:
            return lambda leaves: (convert(leaves[0]), convert(leaves[1]))
        return lambda leaves: tuple([convert(leaf) for leaf in leaves])
    build = _builder(spec)
    return lambda leaves: build(iter([convert(leaf) for leaf in leaves]))


def _builder(spec):
    """A function that makes the structure of `spec` from an iterator over leaves."""
    container = container_of(spec, False)
    if container is None:
        return next
    builders = [_builder(child) for child in container.children(spec)]
    if type(spec) is tuple:
        return lambda leaves: tuple([build(leaves) for build in builders])
    if type(spec) is dict:
        keys, order = list(spec), sorted(spec)
        if keys == order:
            return lambda leaves: {
                key: build(leaves) for key, build in zip(keys, builders, strict=True)
            }
        places = [order.index(key) for key in keys]

        def build_in_order(leaves):
            found = [build(leaves) for build in builders]
            return {key: found[i] for key, i in zip(keys, places, strict=True)}

        return build_in_order
    return lambda leaves: container.rebuild(spec, [build(leaves) for build in builders])


def _converter(spec):
    """How leaves of one spec become what users see: ragged tensors know axes of fixed length."""
    lengths = _uniform_rows(spec)
    return (lambda leaf: _with_uniform_rows(as_public(leaf), lengths)) if lengths else as_public


def _uniform_rows(spec):
    """The lengths of rows along ragged axes, None where they differ; nothing if all may."""
    if not isinstance(spec, RaggedTensorSpec) or spec.shape.rank is None:
        return None
    lengths = spec.shape.as_list()[1 : spec.ragged_rank + 1]
    return lengths if any([length is not None for length in lengths]) else None


def _with_uniform_rows(ragged, lengths):
    if not lengths or not isinstance(ragged, RaggedTensor):
        return ragged
    inner = _with_uniform_rows(ragged.values, lengths[1:])
    return RaggedTensor(inner, ragged.row_splits, lengths[0])


def arguments(element):
    """What a function of an element is called with: a tuple's parts, anything else as it is."""
    return element if type(element) is tuple else (element,)


def leaf_specs(spec) -> list[Any]:
    """The specs of the leaves."""
    return nest.flatten(spec)


def with_leaf_specs(spec, specs):
    """The structure of `spec` with other specs for its leaves."""
    return nest.pack_sequence_as(spec, list(specs))
