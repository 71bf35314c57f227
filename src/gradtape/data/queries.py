"""What is asked of a dataset: its only element, its structure, its size."""

import itertools

from ..core.errors import InvalidArgumentError
from ..core.exports import export
from .dataset import Dataset, method
from .iterator import Iterator, OwnedIterator


@method
def get_single_element(self, name=None):
    """The only element of the dataset.

    Raises:
        InvalidArgumentError: it has none, or more than one.

    Example:
        >>> from gradtape import data
        >>> data.Dataset.range(3).batch(3).get_single_element().numpy().tolist()
        [0, 1, 2]
    """
    found = list(itertools.islice(OwnedIterator(self), 2))
    if len(found) != 1:
        problem = "had more than one element" if found else "was empty"
        raise InvalidArgumentError(
            None, None, f"Dataset {problem}. [Op:DatasetToSingleElement] name: "
        )
    return found[0]


@export("data.experimental.get_single_element")
def _get_single_element(dataset):
    """As `dataset.get_single_element()`."""
    if not isinstance(dataset, Dataset):
        raise TypeError(
            f"Invalid `dataset`. Expected a `tf.data.Dataset` object but got {type(dataset)}."
        )
    return get_single_element(dataset)


@export("data.experimental.get_structure")
def get_structure(dataset_or_iterator):
    """The `element_spec` of a dataset or iterator.

    Raises:
        TypeError: it is neither.
    """
    if not isinstance(dataset_or_iterator, (Dataset, Iterator)):
        raise TypeError(
            "Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or "
            f"tf.data.Iterator object, but got {type(dataset_or_iterator)}."
        )
    return dataset_or_iterator.element_spec


@export("data.experimental.cardinality")
def cardinality(dataset):
    """As `dataset.cardinality()`."""
    return dataset.cardinality()
