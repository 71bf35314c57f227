"""DatasetInitializer: what fills a lookup table from a dataset."""

from ..core.errors import OutOfRangeError
from ..core.exports import export


@export("data.experimental.DatasetInitializer")
class DatasetInitializer:
    """Fills a tf.lookup.StaticHashTable with the pairs of keys and values of a dataset.

    Args:
        dataset: its elements are pairs of scalars.

    Raises:
        ValueError: they are not.
    """

    def __init__(self, dataset):
        spec = dataset.element_spec
        parts = [spec[i] for i in range(len(spec))]
        if len(parts) != 2 or any([part.shape.rank not in (None, 0) for part in parts]):
            raise ValueError(
                "Datasets used to initialize lookup tables must produce elements in the form "
                "(key, value), where the keys and values are scalar tensors. However, the given "
                f"dataset produces elements of type {spec}."
            )
        self._dataset = dataset
        self._key_dtype, self._value_dtype = [part.dtype for part in parts]

    @property
    def dataset(self):
        """The dataset."""
        return self._dataset

    @property
    def key_dtype(self):
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self):
        """The dtype of the values."""
        return self._value_dtype

    def initialize(self, table):
        """Fills a table.

        Raises:
            OutOfRangeError: there are no pairs.
        """
        pairs = [(key.item(), value.item()) for key, value in self._dataset._elements()]
        if not pairs:
            raise OutOfRangeError(
                None, None, "end of iterator [Op:InitializeTableFromDataset] name: "
            )
        table._fill([key for key, _ in pairs], [value for _, value in pairs])
