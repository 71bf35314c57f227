"""Datasets as input of `fit`, `evaluate` and `predict`, where Keras looks for TensorFlow's.

Batches of gradtape's datasets are tensors already and go to a step as they are. TensorFlow's own
datasets, if that is installed too, give arrays.
"""

from typing import Any

import numpy as np
from keras.src import tree
from keras.src.trainers import data_adapters
from keras.src.trainers.data_adapters import (
    array_slicing,
    data_adapter_utils,
    tf_dataset_adapter,
)
from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter
from keras.src.utils import dataset_utils

import gradtape as tf

from .core import convert_to_numpy

_KEPT = (tf.SparseTensor, tf.RaggedTensor)


def iterator_over(adapter):
    """The batches of an adapter: tensors as they are where it has any, and arrays else."""
    if isinstance(adapter, DatasetAdapter):
        return adapter.batches()
    if isinstance(adapter, ArrayDataAdapter):
        inputs = tree.map_structure(_composite_as_ours, adapter._inputs)
        inputs = array_slicing.convert_to_sliceable(inputs, target_backend="numpy")
        return adapter._get_iterator(_rows, inputs)
    return adapter.get_numpy_iterator()


def _rows(sliceable, indices=None):
    rows = sliceable[indices]
    return rows if isinstance(rows, _KEPT) else sliceable.convert_to_numpy(rows)


def is_dataset(x):
    """Whether it is a dataset of gradtape, or of TensorFlow."""
    return isinstance(x, tf.data.Dataset) or _is_tensorflows(x)


class DatasetAdapter(tf_dataset_adapter.TFDatasetAdapter):
    """Gives the batches of a dataset, and says how many there are."""

    def __init__(self, dataset, class_weight=None, distribution=None):
        if not is_dataset(dataset):
            raise ValueError(
                f"Expected argument `dataset` to be a tf.data.Dataset. Received: {dataset}"
            )
        self._class_weights = None
        if class_weight is not None:
            _targets(dataset.element_spec)  # refuses at once what it cannot weigh
            self._class_weights = _table(class_weight)
        self._dataset = dataset
        if distribution is not None:
            self._dataset = distribution.distribute_dataset(dataset)

    def get_numpy_iterator(self):
        return (
            tree.map_structure(convert_to_numpy, batch, none_is_leaf=False)
            for batch in self.batches()
        )

    def get_jax_iterator(self):
        return data_adapter_utils.get_jax_iterator(self.batches())

    def get_tf_dataset(self):
        if self._class_weights is None:
            return self._dataset
        return self._dataset.map(lambda *batch: self._weighted(batch))

    def get_torch_dataloader(self):
        return data_adapter_utils.get_torch_dataloader(self.get_numpy_iterator())

    def batches(self):
        """An iterator over batches, of tensors where the dataset is gradtape's."""
        batches = iter(self._dataset)
        if not isinstance(self._dataset, tf.data.Dataset):
            batches = map(_from_tensorflow, batches)
        return batches if self._class_weights is None else map(self._weighted, batches)

    def _weighted(self, batch):
        """Adds the weight of each example's class to a batch."""
        x, y = _targets(batch)
        classes = y
        if len(y.shape) > 1:
            is_one_hot = y.shape[-1] > 1
            classes = tf.argmax(y, axis=-1) if is_one_hot else tf.squeeze(y, axis=-1)
        classes = tf.cast(tf.round(classes), tf.int32)
        return x, y, tf.gather(self._class_weights, classes)


def _targets(batch) -> Any:
    """What the classes of a batch are for, and the classes.

    Raises:
        ValueError: there are weights of examples already, or several outputs.
    """
    x, y, sample_weight = data_adapter_utils.unpack_x_y_sample_weight(batch)
    if sample_weight is not None:
        raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
    if tree.is_nested(y):
        raise ValueError("`class_weight` is only supported for Models with a single output.")
    return x, y


def _table(class_weight):
    weights = [class_weight.get(each, 1.0) for each in range(max(class_weight) + 1)]
    return tf.constant(weights, tf.float32)


def _from_tensorflow(batch):
    return tree.map_structure(_leaf_from_tensorflow, batch, none_is_leaf=False)


def _leaf_from_tensorflow(x):
    x = _composite_as_ours(x)
    return x if isinstance(x, _KEPT) else np.asarray(x)


def _composite_as_ours(x):
    """A sparse or ragged tensor of TensorFlow as one of gradtape; anything else as it is."""
    if _is_sparse_of_tensorflow(x):
        return tf.SparseTensor(x.indices.numpy(), x.values.numpy(), x.dense_shape.numpy())
    if _is_ragged_of_tensorflow(x):
        return tf.RaggedTensor.from_nested_row_splits(
            x.flat_values.numpy(), [splits.numpy() for splits in x.nested_row_splits]
        )
    return x


# What Keras knows by the names of TensorFlow's classes -------------------------------------------

_is_tensorflows = data_adapters.is_tf_dataset
_is_sparse_of_tensorflow = data_adapter_utils.is_tensorflow_sparse
_is_ragged_of_tensorflow = data_adapter_utils.is_tensorflow_ragged
_is_tensor_of_tensorflow = data_adapter_utils.is_tensorflow_tensor


def _is_sparse(x):
    return isinstance(x, tf.SparseTensor) or _is_sparse_of_tensorflow(x)


def _is_ragged(x):
    return isinstance(x, tf.RaggedTensor) or _is_ragged_of_tensorflow(x)


def _is_tensor(x):
    """Whether rows are to be taken of it by gradtape: of other tensors NumPy takes them quicker."""
    if isinstance(x, tf.Tensor):
        return x.dtype == tf.string
    return isinstance(x, _KEPT) or _is_tensor_of_tensorflow(x)


data_adapters.is_tf_dataset = dataset_utils.is_tf_dataset = is_dataset
data_adapters.TFDatasetAdapter = tf_dataset_adapter.TFDatasetAdapter = DatasetAdapter
data_adapter_utils.is_tensorflow_sparse = _is_sparse
data_adapter_utils.is_tensorflow_ragged = _is_ragged
data_adapter_utils.is_tensorflow_tensor = _is_tensor
