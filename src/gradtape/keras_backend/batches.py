"""Batches as steps take them, and outputs as `predict` gives them."""

import numpy as np
from keras.src import tree
from keras.src.trainers.data_adapters import data_adapter_utils

import gradtape as tf

from .core import convert_to_numpy

_KEPT = (tf.SparseTensor, tf.RaggedTensor)


def as_tensors(batch):
    """A batch with tensors in the place of arrays; those of datasets are there already."""
    if isinstance(batch, tf.Tensor):
        return batch
    if type(batch) is tuple:
        return tuple([as_tensors(part) for part in batch])
    if isinstance(batch, np.ndarray):
        return tf.convert_to_tensor(batch)
    return tree.map_structure(_as_tensor, batch)


def _as_tensor(x):
    if x is None or isinstance(x, _KEPT):
        return x
    if data_adapter_utils.is_scipy_sparse(x):
        x = x.tocoo()
        indices = np.stack([x.row, x.col], axis=1).astype("int64")
        return tf.sparse.reorder(tf.SparseTensor(indices, x.data, x.shape))
    if data_adapter_utils.is_jax_sparse(x):
        return tf.sparse.from_dense(np.asarray(x.todense()))
    return tf.convert_to_tensor(x)


class Shapes:
    """Counts the shapes of batches, of which a trace is made for each.

    To trace a step takes as long as a dozen runs of it as a graph save. A last batch that is
    smaller comes again in every epoch; of ragged batches hardly any has the shape of another.
    """

    # So many shapes are traced at once; a further one when it comes for this time.
    _AT_ONCE, _AGAIN = 4, 12
    _MOST = 4096

    def __init__(self):
        self._counts = {}

    def are_worth_a_trace(self, batch):
        """Whether a batch shall run as a graph."""
        shapes = _shapes(batch)
        counts = self._counts
        count = counts.get(shapes)
        if count is None:
            if len(counts) >= self._MOST:
                counts.clear()
            count = 0 if len(counts) >= self._AT_ONCE else self._AGAIN
        if count < self._AGAIN:
            count += 1
        counts[shapes] = count
        return count == self._AGAIN


def _shapes(batch):
    if isinstance(batch, tf.Tensor):
        return batch._value.shape
    if type(batch) is tuple:
        return tuple([_shapes(part) for part in batch])
    if batch is None:
        return None
    leaves = tree.flatten(batch)
    return tuple(
        [_shapes(leaf) if isinstance(leaf, tf.Tensor) else _sizes(leaf) for leaf in leaves]
    )


def _sizes(leaf):
    """What a trace depends on, of a leaf that is not dense."""
    if isinstance(leaf, tf.RaggedTensor):
        lengths = [splits.shape[0] for splits in leaf.nested_row_splits]
        return tuple(leaf.flat_values.shape), tuple(lengths)
    if isinstance(leaf, tf.SparseTensor):
        return tuple(leaf.shape), leaf.values.shape[0]
    return None


def as_output(x):
    """An output as users get it: an array, but if it is sparse or ragged."""
    return x if x is None or isinstance(x, _KEPT) else convert_to_numpy(x)


def joined(results):
    """Outputs of several batches as one structure."""
    if len(results) == 1:
        return results[0]
    columns = zip(*[tree.flatten(result) for result in results], strict=True)
    return tree.pack_sequence_as(results[0], [_concatenated(parts) for parts in columns])


def _concatenated(parts):
    first = parts[0]
    if first is None:
        return None
    if isinstance(first, tf.SparseTensor):
        return tf.sparse.concat(0, parts)
    if isinstance(first, tf.RaggedTensor):
        return tf.concat(parts, 0)
    sizes = zip(*[part.shape[1:] for part in parts], strict=True)
    open_axes = [axis for axis, each in enumerate(sizes, 1) if len(set(each)) > 1]
    if open_axes:  # rows of one length in each batch, and of another in the next
        rows = [tf.RaggedTensor.from_tensor(part, ragged_rank=open_axes[-1]) for part in parts]
        return tf.concat(rows, 0)
    return (np.concatenate if isinstance(first, np.ndarray) else tf.concat)(parts, 0)
