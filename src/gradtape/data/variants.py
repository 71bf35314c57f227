"""Datasets as tensors, and back."""

from ..core.exports import export
from ..core.tensor import EagerTensor
from .dataset import Dataset, VariantDataset
from .specs import leave_trace, unboxed


@export("data.experimental.to_variant")
def to_variant(dataset):
    """A scalar of dtype variant that holds a dataset."""
    return dataset._components()[0]


@export("data.experimental.from_variant")
def from_variant(variant, structure):
    """The dataset that a scalar of dtype variant holds.

    Args:
        variant: what `to_variant` gave.
        structure: the structure of an element, with specs in the place of tensors.

    Raises:
        TypeError: it holds no dataset.
    """
    if type(variant) is not EagerTensor:
        leave_trace()
    found = unboxed(variant._value) if variant._value.dtype.names else None
    if not isinstance(found, Dataset):
        raise TypeError(f"Expected a tensor that holds a dataset. Received: {variant!r}.")
    return VariantDataset(found, structure)
