"""Values that stand in for arguments of which only specs are known, so that they can be traced."""

import numpy as np

from ..core.dtypes import string
from ..core.ragged_spec import RaggedTensorSpec
from ..core.ragged_tensor import RaggedTensor
from ..core.sparse_tensor import SparseTensor, SparseTensorSpec
from ..core.spec import TensorSpec
from ..core.tensor import EagerTensor
from .guards import Effects
from .keys import PLAIN, opened
from .kinds import is_spec

# The size taken for a dimension that a spec leaves open.
_SIZE = 2


class RehearsalError(BaseException):
    """A trace on examples came to something that must not happen before the first call.

    It is no Exception, so that the function being traced does not catch it.
    """


class Rehearsal(Effects):
    """In the place of effects where a function is traced without being called."""

    __slots__ = ()

    def run(self, function, arrays, key=None):
        is_harmless = key is not None and key[-1]
        if not is_harmless:
            raise RehearsalError
        return super().run(function, arrays, key)


def with_examples(item):
    """`item` with examples in the place of specs."""
    if is_spec(item):
        return example_of(item)
    if type(item) in PLAIN:
        return item
    container = opened(item)
    if container is None or getattr(item, "_is_composite", False):
        return item
    children = container.children(item)
    examples = [with_examples(child) for child in children]
    if all([a is b for a, b in zip(children, examples, strict=True)]):
        return item
    return container.rebuild(item, examples)


def example_of(spec):
    """Some value that a spec describes: of ones, or zeros for integers."""
    if isinstance(spec, TensorSpec):
        return _tensor(spec.shape, spec.dtype)
    if isinstance(spec, RaggedTensorSpec):
        return _ragged(spec)
    if isinstance(spec, SparseTensorSpec):
        sizes = np.array(_sizes(spec.shape), np.int64)
        indices = EagerTensor(np.zeros((1, len(sizes)), np.int64))
        return SparseTensor(indices, _tensor([1], spec.dtype), EagerTensor(sizes))
    return spec._from_components([example_of(part) for part in spec._component_specs])


def _sizes(shape):
    rank = getattr(shape, "rank", len(shape) if isinstance(shape, list) else None)
    if rank is None:
        return [_SIZE]
    return [_SIZE if size is None else int(size) for size in shape]


def _tensor(shape, dtype):
    numpy_dtype = dtype.numpy_dtype
    sizes = _sizes(shape)
    if dtype is string:
        return EagerTensor(np.full(sizes, b"", object))
    if dtype.is_floating or dtype.is_complex:
        value = np.ones(sizes, numpy_dtype)
    else:
        value = np.zeros(sizes, numpy_dtype)
    return EagerTensor(value if sizes else value[()])


def _ragged(spec):
    sizes = _sizes(spec.shape)
    inner = sizes[spec.ragged_rank + 1 :]
    result = _tensor([sizes[0], *inner], spec.dtype)
    splits = EagerTensor(np.arange(sizes[0] + 1, dtype=spec.row_splits_dtype.numpy_dtype))
    for _ in range(spec.ragged_rank):
        result = RaggedTensor.from_row_splits(result, splits, validate=False)
    return result
