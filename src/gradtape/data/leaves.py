"""Leaves in batches: their parts along the first axis, and many of them as one."""

import itertools
from typing import Any

import numpy as np

from ..core.errors import InvalidArgumentError
from ..core.ragged_spec import RaggedTensorSpec
from ..core.ragged_tensor import RaggedTensor
from ..core.sparse_tensor import SparseTensor, SparseTensorSpec
from ..core.spec import TensorSpec
from ..core.tensor import EagerTensor
from .elements import NestedDatasets, Part, as_leaf, as_public
from .specs import DatasetSpec

# Parts along the first axis -----------------------------------------------------------------------


def count_of(leaf) -> Any:
    """How many parts a leaf has along its first axis; None if any number would do."""
    if leaf is None:
        return None
    if isinstance(leaf, (np.ndarray, RaggedTensor, SparseTensor, NestedDatasets)):
        return leaf.shape[0]
    if type(leaf) is Part:
        return count_of(as_leaf(leaf.value))
    return leaf._batch_length()


def slices(leaf):
    """An iterator over the parts of a leaf along its first axis; without end for None.

    Raises:
        InvalidArgumentError: it is a sparse tensor of which that is not possible.
    """
    if isinstance(leaf, np.ndarray):
        if leaf.dtype.kind != "O":
            return iter(leaf)
        # A string of rank 0 is an array, where a number is a scalar.
        return (leaf[i, ...] for i in range(len(leaf)))
    if leaf is None:
        return itertools.repeat(None)
    if isinstance(leaf, RaggedTensor):
        return _ragged_rows(leaf)
    if isinstance(leaf, SparseTensor):
        return _sparse_rows(leaf)
    if isinstance(leaf, NestedDatasets):
        return map(_nested_or_single, leaf.datasets)
    if type(leaf) is Part:
        return _parts_of_part(leaf)
    spec = leaf._type_spec._unbatch()
    return (Part(value, spec) for value in leaf._unstacked())


def _ragged_rows(ragged):
    spec = unbatched(RaggedTensorSpec.from_value(ragged))
    inner, splits = ragged.values, ragged._splits
    bounds = itertools.pairwise(splits.tolist())
    if not isinstance(inner, RaggedTensor):
        array = inner._value
        return (Part(EagerTensor(array[low:high]), spec) for low, high in bounds)
    return (_ragged_range(inner, low, high) for low, high in bounds)


def _ragged_range(ragged, start, stop):
    """The rows of a ragged tensor from one on and before another."""
    splits = ragged._splits[start : stop + 1]
    inner, low, high = ragged.values, int(splits[0]), int(splits[-1])
    if isinstance(inner, RaggedTensor):
        inner = _ragged_range(inner, low, high)
    else:
        inner = EagerTensor(inner._value[low:high])
    return RaggedTensor(inner, EagerTensor(splits - splits[0]), ragged._uniform)


def _sparse_rows(sparse):
    places, values, sizes = sparse._places, sparse.values._value, sparse._sizes
    if len(sizes) < 2:
        raise InvalidArgumentError(
            None, None, "Rank of input SparseTensor should be > 1, but saw rank: "
            f"{len(sizes)} [Op:SerializeManySparse] name: ",
        )  # fmt: skip
    _check_order(places)
    ends = np.searchsorted(places[:, 0], np.arange(sizes[0] + 1)).tolist()
    shape = EagerTensor(np.array(sizes[1:], np.int64))
    return (
        SparseTensor(EagerTensor(places[low:high, 1:]), EagerTensor(values[low:high]), shape)
        for low, high in itertools.pairwise(ends)
    )


def _check_order(places):
    """Raises unless rows of coordinates come in lexicographic order."""
    steps = np.diff(places, axis=0)
    along = steps[np.arange(len(steps)), (steps != 0).argmax(axis=1)]
    wrong = np.flatnonzero(along <= 0)
    if len(wrong):
        i = wrong[0] + 1
        why = "is out of order" if along[i - 1] < 0 else "is repeated"
        raise InvalidArgumentError(
            None, None, f"indices[{i}] = [{','.join(map(str, places[i]))}] {why}. Many sparse ops "
            "require sorted indices.\n    Use `tf.sparse.reorder` to create a correctly ordered "
            "copy.\n\n [Op:SerializeManySparse] name: ",
        )  # fmt: skip


def _parts_of_part(part):
    spec = unbatched(part.spec)
    return (Part(as_public(each), spec) for each in slices(as_leaf(part.value)))


def _nested_or_single(item):
    return NestedDatasets(item) if isinstance(item, np.ndarray) else item


# Many as one --------------------------------------------------------------------------------------


def stacked(leaves, component):
    """Leaves of one shape as one, along a new first axis; ragged ones may differ in lengths.

    Raises:
        InvalidArgumentError: shapes differ; `component` is the position of the leaf, to tell it.
    """
    first = leaves[0]
    if isinstance(first, (np.ndarray, np.generic)):
        return _stacked_arrays(leaves, component)
    if first is None:
        return None
    if isinstance(first, RaggedTensor):
        return _stacked_ragged(leaves, component)
    if isinstance(first, SparseTensor):
        return _stacked_sparse(leaves, component)
    if isinstance(first, NestedDatasets):
        return NestedDatasets(_stacked_arrays([leaf.datasets for leaf in leaves], component))
    if hasattr(first, "_elements"):
        return NestedDatasets.of(list(leaves))
    if type(first) is not Part:
        return first._type_spec._stacked(leaves)
    if isinstance(first.spec, RaggedTensorSpec):
        return _stacked_rows(leaves, component)
    return first.spec._stacked([leaf.value for leaf in leaves])


def _stacked_arrays(leaves, component):
    first = leaves[0]
    shape = first.shape
    for i, leaf in enumerate(leaves):
        if leaf.shape != shape:
            raise _shapes_differ(component, shape, i, leaf.shape)
    if not shape:
        dtype = first.dtype
        if dtype.kind == "O":
            leaves = [leaf.item() for leaf in leaves]
        return np.array(leaves, dtype)
    return np.stack(leaves)


def _shapes_differ(component, shape, i, other):
    return InvalidArgumentError(
        None,
        None,
        f"Cannot batch tensors with different shapes in component {component}. First element had "
        f"shape {list(shape)} and element {i} had shape {list(other)}. "
        "[Op:IteratorGetNext] name: ",
    )


def _stacked_rows(leaves, component):
    """Dense rows as a ragged tensor, and what rows are made of as a row."""
    arrays, spec = [leaf.value._value for leaf in leaves], leaves[0].spec
    if spec.ragged_rank < 0:
        whole = _stacked_arrays(arrays, component)
        return Part(EagerTensor(whole), batched(spec, len(arrays)))
    splits = _splits([len(array) for array in arrays], spec.row_splits_dtype.numpy_dtype)
    return RaggedTensor(EagerTensor(np.concatenate(arrays)), EagerTensor(splits))


def _stacked_ragged(leaves, component):
    ranks = [leaf.ragged_rank for leaf in leaves]
    for i, rank in enumerate(ranks):
        if rank != ranks[0]:
            raise _shapes_differ(component, leaves[0].shape, i, leaves[i].shape)
    splits = _splits([leaf._nrows for leaf in leaves], leaves[0]._splits.dtype)
    return RaggedTensor(_joined_ragged(leaves), EagerTensor(splits))


def _joined_ragged(leaves):
    """Ragged tensors one after the other."""
    inner = [leaf.values for leaf in leaves]
    lengths = np.concatenate([leaf._lengths for leaf in leaves])
    if isinstance(inner[0], RaggedTensor):
        values = _joined_ragged(inner)
    else:
        values = EagerTensor(np.concatenate([each._value for each in inner]))
    return RaggedTensor(values, EagerTensor(_splits(lengths, leaves[0]._splits.dtype)))


def _splits(lengths, dtype):
    splits = np.zeros(len(lengths) + 1, dtype)
    np.cumsum(lengths, out=splits[1:])
    return splits


def _stacked_sparse(leaves, component):
    """Sparse tensors of one rank as one of the least shape that holds them all."""
    sizes = [leaf._sizes for leaf in leaves]
    for i, own in enumerate(sizes):
        if len(own) != len(sizes[0]):
            raise _shapes_differ(component, sizes[0], i, own)
    rows = np.repeat(np.arange(len(leaves)), [len(leaf._places) for leaf in leaves])
    places = np.concatenate([leaf._places for leaf in leaves])
    values = np.concatenate([leaf.values._value for leaf in leaves])
    shape = np.array([len(leaves), *np.max(sizes, axis=0)], np.int64)
    return SparseTensor(
        EagerTensor(np.column_stack([rows, places])), EagerTensor(values), EagerTensor(shape)
    )


# Specs --------------------------------------------------------------------------------------------


def batched(spec, size):
    """The spec of `size` leaves as one; None for any number.

    Raises:
        AttributeError: such leaves cannot be batched.
    """
    if isinstance(spec, TensorSpec):
        return TensorSpec(_batch_shape(spec, size), spec.dtype)
    if isinstance(spec, RaggedTensorSpec):
        rank, splits = spec.ragged_rank + 1, spec.row_splits_dtype
        return RaggedTensorSpec(_batch_shape(spec, size), spec.dtype, rank, splits)
    if isinstance(spec, SparseTensorSpec):
        return SparseTensorSpec(_batch_shape(spec, size), spec.dtype)
    if isinstance(spec, DatasetSpec):
        return DatasetSpec(spec.element_spec, [size, *spec._dataset_shape.as_list()])
    return spec._batch(size)


def unbatched(spec):
    """The spec of the parts along the first axis.

    Raises:
        ValueError: there is no such axis.
        AttributeError: such leaves have no parts.
    """
    if isinstance(spec, TensorSpec):
        if spec.shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(_inner_shape(spec), spec.dtype)
    if isinstance(spec, RaggedTensorSpec):
        rank, splits = spec.ragged_rank - 1, spec.row_splits_dtype
        return RaggedTensorSpec(_inner_shape(spec), spec.dtype, rank, splits)
    if isinstance(spec, SparseTensorSpec):
        return SparseTensorSpec(_inner_shape(spec), spec.dtype)
    if isinstance(spec, DatasetSpec):
        if spec._dataset_shape.rank == 0:
            raise ValueError("Slicing dataset elements is not supported for rank 0.")
        return DatasetSpec(spec.element_spec, spec._dataset_shape[1:])
    return spec._unbatch()


def _batch_shape(spec, size):
    return None if spec.shape.rank is None else [size, *spec.shape.as_list()]


def _inner_shape(spec):
    return None if spec.shape.rank is None else spec.shape[1:]
