"""Examples of elements, on which users' functions are rehearsed before there are elements."""

from typing import NamedTuple

import numpy as np

from ..core.dtypes import string
from ..core.ragged_tensor import RaggedTensor
from ..core.shapes import TensorShape
from ..core.sparse_tensor import SparseTensor
from ..core.spec import TensorSpec
from ..graph.examples import RehearsalError, example_of


class Example(NamedTuple):
    """What stands in for elements.

    Attributes:
        size: stands for sizes that a spec leaves open.
        whole, real: what tensors of integers and of other numbers consist of.
        text: what tensors of strings consist of.
    """

    size: int
    whole: int
    real: float
    text: bytes


# Where results differ in size between them, sizes are open.
EXAMPLES = Example(2, 0, 1, b""), Example(3, 1, 0, b"1"), Example(4, 3, -2, b"a b c")


def is_closed(spec):
    """Whether a spec leaves no size open."""
    return isinstance(spec, TensorSpec) and spec.shape.is_fully_defined()


def resized(spec, size):
    """A spec with a size where it leaves one open; of any rank, less dimensions than that."""
    if not isinstance(spec, TensorSpec) or is_closed(spec):
        return spec
    shape = spec.shape
    sizes = [size] * (size - 1) if shape.rank is None else [size if n is None else n for n in shape]
    return TensorSpec(TensorShape(sizes), spec.dtype)


def scaled(shape, sizes, change):
    """Sizes of an element, those changed that a shape leaves open."""
    if shape.rank is None:
        return [change(size) for size in sizes]
    both = zip(shape, sizes, strict=True)
    return [change(size) if known is None else known for known, size in both]


def example_leaf(spec, example):
    """A leaf that a spec describes.

    Raises:
        RehearsalError: there is no example of such a thing.
    """
    if spec.value_type is type(None):
        return None
    if not isinstance(spec, TensorSpec):
        if spec.value_type in (RaggedTensor, SparseTensor):
            return example_of(spec)
        return _of_another_kind(spec, example)
    shape, dtype = tuple(spec.shape.as_list()), spec.dtype
    if dtype is string:
        return np.full(shape, example.text, object)
    fill = example.real if dtype.is_floating or dtype.is_complex else example.whole
    array = np.full(shape, fill, dtype.numpy_dtype)
    return array if shape else array[()]


def _of_another_kind(spec, example):
    """A dataset of examples, or another thing that says itself how to make one of it."""
    make = getattr(spec, "_example", None)
    if make is None:
        raise RehearsalError
    return make(lambda inner: example_leaf(resized(inner, example.size), example))
