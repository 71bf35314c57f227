"""Padded batches of elements of similar length: bucket_by_sequence_length."""

import numpy as np

from ..core import nest
from ..core.convert import convert_to_tensor
from ..core.dtypes import int32
from ..core.errors import InternalError
from ..core.exports import export
from ..core.shapes import TensorShape, as_shape
from .batches import element_error
from .dataset import VariantDataset, method
from .elements import leaf_specs
from .functions import ElementFunction, known_spec
from .grouping import GroupByWindowDataset
from .states import first_element


class _Buckets:
    """Buckets of elements by their lengths, and the batches that are made of them."""

    def __init__(self, source, boundaries, sizes, arguments):
        self._source = source
        self._boundaries = np.array(boundaries, np.int32)
        self.sizes = sizes
        self._shapes, self._values, self._pads_to_boundary, self._no_padding, self._drops = (
            arguments
        )

    def number_of(self, length):
        """The bucket for elements of some length, the first one that is right."""
        below = np.append(length < self._boundaries, True)
        above = np.insert(length >= self._boundaries, 0, True)
        return int(np.argmax(below & above))

    def spec(self):
        """What batches look like; their sizes differ from bucket to bucket."""
        outline = VariantDataset(None, self._source.element_spec)
        return self._batched(outline, 1, None, False).element_spec

    def batch(self, bucket, dataset):
        """A bucket's elements as a dataset of one batch."""
        longest = None
        if self._pads_to_boundary and not self._no_padding:
            if bucket >= len(self._boundaries):
                raise element_error(
                    InternalError,
                    "When pad_to_bucket_boundary=True, elements must have length < "
                    "max(bucket_boundaries).",
                )
            longest = int(self._boundaries[bucket]) - 1
        return self._batched(dataset, self.sizes[bucket], longest, self._drops)

    def _batched(self, dataset, size, longest, drops):
        if self._no_padding:
            return dataset.batch(size, drops)
        shapes = self._shapes
        if not shapes:
            spec = dataset.element_spec
            shapes = nest.pack_sequence_as(spec, [_shape_of(leaf) for leaf in leaf_specs(spec)])
        shapes = _filled(shapes, longest)
        return dataset.padded_batch(size, shapes, self._values, drops)


def _shape_of(spec):
    return getattr(spec, "shape", TensorShape(None))


def _filled(shapes, longest):
    """A structure of shapes with a size where they leave one open."""
    if isinstance(shapes, dict):
        return {key: _filled(shapes[key], longest) for key in shapes}
    if isinstance(shapes, tuple) and not all([n is None or isinstance(n, int) for n in shapes]):
        parts = [_filled(shape, longest) for shape in shapes]
        return type(shapes)(*parts) if hasattr(shapes, "_fields") else tuple(parts)
    shape = as_shape(shapes)
    return shape if shape.rank is None else [longest if n is None else n for n in shape]


@method
def bucket_by_sequence_length(
    self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None,
    padding_values=None, pad_to_bucket_boundary=False, no_padding=False, drop_remainder=False,
    name=None,
):  # fmt: skip
    """Makes padded batches of elements of similar length.

    Args:
        element_length_func: gives the length of an element, an int32 scalar.
        bucket_boundaries: a list of ints; elements shorter than the first one are in one bucket,
            then those shorter than the second one, and so on.
        bucket_batch_sizes: a list of the batch sizes of the buckets, one more than boundaries.
        padded_shapes: what to pad to, as in `padded_batch`.
        padding_values: what to pad with, as in `padded_batch`.
        pad_to_bucket_boundary: whether to pad to one less than the bucket's upper boundary rather
            than to the longest element of the batch.
        no_padding: whether batches are made without padding, as `batch` does.
        drop_remainder: whether to leave out last batches that are smaller than the others.

    Raises:
        ValueError: there is not one batch size more than boundaries.
        TypeError: lengths are no int32.
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError(
            "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
            f"`len(bucket_batch_sizes)={len(bucket_batch_sizes)}` and "
            f"`len(bucket_boundaries)={len(bucket_boundaries)}`."
        )

    def length(*args):
        found = convert_to_tensor(element_length_func(*args))
        if found.dtype != int32:
            raise TypeError(
                "`element_length_func` must return a `tf.int32` tensor, but its dtype is "
                f"{found.dtype.name}."
            )
        return found

    length_of = ElementFunction(
        length,
        lambda: self.element_spec,
        first=lambda: first_element(self),
        what="Dataset.bucket_by_sequence_length()",
    )
    arguments = padded_shapes, padding_values, pad_to_bucket_boundary, no_padding, drop_remainder
    sizes = [int(size) for size in bucket_batch_sizes]
    buckets = _Buckets(self, bucket_boundaries, sizes, arguments)
    found = GroupByWindowDataset(
        self,
        lambda *leaves: buckets.number_of(length_of(*leaves)[0]),
        sizes.__getitem__,
        buckets.batch,
        buckets.spec,
    )
    known_spec(found)
    return found


@export("data.experimental.bucket_by_sequence_length")
def experimental_bucket_by_sequence_length(
    element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None,
    padding_values=None, pad_to_bucket_boundary=False, no_padding=False, drop_remainder=False,
):  # fmt: skip
    """`Dataset.bucket_by_sequence_length` as a function for `Dataset.apply`."""
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
        pad_to_bucket_boundary, no_padding, drop_remainder,
    )  # fmt: skip
