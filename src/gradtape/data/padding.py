"""Consecutive elements of different shapes as one, padded: padded_batch."""

import functools
from collections.abc import Mapping

import numpy as np

from ..core.containers import container_of
from ..core.convert import convert_to_tensor
from ..core.dtypes import int64, string, variant
from ..core.errors import DataLossError, InvalidArgumentError
from ..core.shapes import TensorShape, as_shape
from ..core.spec import TensorSpec
from .batches import Batches, batch_size_of, element_error, flag
from .dataset import method
from .elements import leaf_specs, with_leaf_specs
from .functions import known_spec
from .leaves import stacked
from .specs import DatasetSpec

_DEFAULT = object()


class PaddedBatchDataset(Batches):
    def __init__(self, source, size, shapes, values, drop_remainder):
        super().__init__(source, size, drop_remainder)
        self._shapes, self._values = shapes, values
        known_spec(self)

    @property
    def element_spec(self):
        spec = self._input.element_spec
        size = self._static_size
        leaves = zip(leaf_specs(spec), self._targets[0], strict=True)
        return with_leaf_specs(
            spec, [TensorSpec([size, *target], leaf.dtype) for leaf, target in leaves]
        )

    @functools.cached_property
    def _targets(self):
        """Of each leaf the shape to pad to, None in it for the longest, and what to pad with."""
        spec = self._input.element_spec
        specs = leaf_specs(spec)
        for leaf in specs:
            _check_is_dense(leaf)
        if self._shapes is None:
            for i, leaf in enumerate(specs):
                if leaf.shape.rank is None:
                    raise ValueError(
                        "You must provide `padded_shapes` argument because component "
                        f"{i} has unknown rank."
                    )
            shapes = [leaf.shape.as_list() for leaf in specs]
        else:
            pairs = zip(specs, _in_places(spec, self._shapes), strict=True)
            shapes = [_padded_shape(shape, leaf.shape) for leaf, shape in pairs]
        values = self._values
        if not _is_structure(values):
            values = [_DEFAULT if values is None else values] * len(specs)
        else:
            values = _in_places(spec, values, may_be_none=True)
        pairs = zip(specs, values, strict=True)
        return shapes, [_padding_value(value, leaf.dtype) for leaf, value in pairs]

    def _join(self, elements):
        columns = zip(zip(*elements, strict=True), *self._targets, strict=True)
        return tuple([_padded(*column, i) for i, column in enumerate(columns)])


def _check_is_dense(spec):
    if isinstance(spec, DatasetSpec):
        raise TypeError("`padded_batch` is not supported for datasets of datasets")
    if not isinstance(spec, TensorSpec):
        raise TypeError(
            "`padded_batch` is only supported for datasets that produce tensor elements but type "
            "spec of elements in the input dataset is not a subclass of TensorSpec: "
            f"`{spec}`."
        )


def _is_structure(value):
    """Lists are values here: shapes."""
    return not isinstance(value, (list, TensorShape)) and container_of(value, False) is not None


def _in_places(spec, value, may_be_none=False):
    """What `value` has in the places of the leaves of `spec`.

    Args:
        spec: a structure of specs.
        value: a structure with something for each of them.
        may_be_none: whether None may stand for whole parts; it is marked as the default.

    Raises:
        TypeError, ValueError: the structures differ.
    """
    container = container_of(spec, False)
    if value is None and may_be_none:
        return [_DEFAULT] * len(leaf_specs(spec))
    if container is None:
        if may_be_none and _is_structure(value):
            raise TypeError(f"Expected a single value for {spec}. Received: {value!r}.")
        return [value]
    if not _is_structure(value) or isinstance(spec, Mapping) != isinstance(value, Mapping):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type: "
            f"'{type(value).__name__}'."
        )
    given = container_of(value, False)
    assert given is not None  # it is a structure
    if list(container.keys(spec)) != list(given.keys(value)):
        raise ValueError(
            "The two structures don't have the same sequence length or keys. Structure of "
            f"elements: {spec}. Received: {value!r}."
        )
    pairs = zip(container.children(spec), given.children(value), strict=True)
    return [found for own, part in pairs for found in _in_places(own, part, may_be_none)]


def _padded_shape(shape, own):
    """A shape to pad to, as a list with None where the longest element decides.

    Raises:
        TypeError, ValueError: it is no shape, or elements of shape `own` do not fit in it.
    """
    try:
        found = [None if n == -1 else n for n in _sizes_of(shape)]
    except (TypeError, ValueError) as error:
        tensor = convert_to_tensor(shape, dtype_hint=int64)
        if tensor.shape.rank != 1:
            raise ValueError(
                f"Padded shape {shape} must be a `tf.int64` vector tensor, but its shape was "
                f"{tensor.shape}."
            ) from error
        if tensor.dtype != int64:
            raise TypeError(
                f"Padded shape {shape} must be a `tf.int64` vector tensor, but its element type "
                f"was {tensor.dtype.name}."
            ) from error
        found = [None if n == -1 else n for n in np.asarray(tensor._known()).tolist()]
        as_shape(found)
    fits = own.rank is None or (
        own.rank == len(found)
        and all([a is None or b is None or a >= b for a, b in zip(found, own, strict=True)])
    )
    if not fits:
        raise ValueError(
            f"The padded shape {as_shape(found)} is not compatible with the shape {own} of the "
            "corresponding input component."
        )
    return found


def _sizes_of(shape):
    if hasattr(shape, "_known"):
        shape = np.asarray(shape._known()).tolist()
        shape = shape if isinstance(shape, list) else [shape]
        shape = [None if n == -1 else n for n in shape]
    return as_shape(shape).as_list()


def _padding_value(value, dtype):
    """What to pad with, as something to fill an array with.

    Raises:
        TypeError, ValueError: it is no scalar of this dtype.
    """
    if value is _DEFAULT:
        if dtype == variant:
            raise TypeError(
                "Unable to create default padding value for a component of type 'variant'."
            )
        return b"" if dtype == string else dtype.numpy_dtype.type(0)
    tensor = convert_to_tensor(value)
    if tensor.shape.rank:
        raise ValueError(
            "Invalid `padding_values`. `padding_values` values should be scalars, but got "
            f"{tensor.shape}."
        )
    if tensor.dtype != dtype:
        raise TypeError(
            f"Invalid `padding_values`. `padding_values` values type {tensor.dtype!r} does not "
            f"match type {dtype!r} of the corresponding input component."
        )
    return np.asarray(tensor._known())[()]


def _padded(leaves, target, value, component):
    """Arrays as one, each padded at its ends."""
    shapes = [leaf.shape for leaf in leaves]
    rank = len(target)
    for shape in shapes:
        if len(shape) != rank:
            raise element_error(
                InvalidArgumentError,
                "All elements in a batch must have the same rank as the padded shape for "
                f"component{component}: expected rank {rank} but got element with rank "
                f"{len(shape)}",
            )
    if not rank:
        return stacked(leaves, component)
    longest = [max(sizes) for sizes in zip(*shapes, strict=True)]
    sizes = [long if n is None else n for n, long in zip(target, longest, strict=True)]
    if any([n < long for n, long in zip(sizes, longest, strict=True)]):
        raise element_error(
            DataLossError, "Attempted to pad to a smaller size than the input element."
        )
    padded_shape = tuple(sizes)
    if all([shape == padded_shape for shape in shapes]):
        return np.stack(leaves)
    found = np.full((len(leaves), *sizes), value, leaves[0].dtype)
    if rank == 1:
        for row, leaf in zip(found, leaves, strict=True):
            row[: len(leaf)] = leaf
    else:
        for row, leaf in zip(found, leaves, strict=True):
            row[tuple([slice(n) for n in leaf.shape])] = leaf
    return found


@method
def padded_batch(
    self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None
):
    """Joins each `batch_size` consecutive elements, padded to one shape.

    Args:
        batch_size: how many elements make one.
        padded_shapes: a structure of shapes to pad to; None or -1 in them stands for the longest
            element of the batch. By default the shapes of `element_spec`.
        padding_values: a structure of scalars to pad with, or one for all; by default 0 or "".
        drop_remainder: whether to leave out a last batch that is smaller than the others.

    Raises:
        TypeError, ValueError: structures, dtypes or shapes do not suit the elements.
        InvalidArgumentError: `batch_size` is less than 1.
        DataLossError: an element of a batch is longer than the shape to pad to.

    Example:
        >>> lengths = Dataset.range(1, 4).map(lambda n: fill([n], n))
        >>> [batch.numpy().tolist() for batch in lengths.padded_batch(3)]
        [[[1, 0, 0], [2, 2, 0], [3, 3, 3]]]
    """
    size = batch_size_of(batch_size, "PaddedBatchDatasetV2")
    return PaddedBatchDataset(self, size, padded_shapes, padding_values, flag(drop_remainder))
