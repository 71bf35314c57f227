"""tf.experimental.BatchableExtensionType: extension types that map_fn takes apart and stacks."""

from typing import Any

from .core import nest
from .core.ragged_spec import RaggedTensorSpec
from .core.ragged_tensor import RaggedTensor
from .core.shapes import TensorShape
from .core.sparse_tensor import SparseTensorSpec
from .core.spec import TensorSpec
from .extension_type import ExtensionType, ExtensionTypeSpec, _is_spec, _made
from .ops.joining import stack, unstack
from .ops.ragged import stack as stack_ragged


class ExtensionTypeBatchEncoder:
    """How values are turned into tensors that can be stacked, and back.

    By default all tensors of a value are stacked one by one, and its shapes get one more axis.
    """

    def batch(self, spec, batch_size):
        """The spec of `batch_size` values of `spec` stacked."""
        return _mapped(spec, lambda item: _with_axis(item, batch_size))

    def unbatch(self, spec):
        """The spec of the values of which a stack has the spec `spec`."""
        return _mapped(spec, _without_axis)

    def encode(self, spec, value, minimum_rank=0):
        """The tensors that stand for a value."""
        return value._components()

    def decode(self, spec, encoded_value):
        """The value of `spec` that tensors stand for."""
        return spec._from_components(list(encoded_value))

    def encoding_specs(self, spec):
        """The specs of the tensors that stand for a value."""
        return list(spec._component_specs)


def _mapped(spec, function):
    names = [each.name for each in type(spec)._fields()]
    own = [spec.__dict__[name] for name in names]
    changed = [
        function(leaf) if _is_spec(leaf) or isinstance(leaf, TensorShape) else leaf
        for leaf in nest.flatten(own)
    ]
    return _made(type(spec), zip(names, nest.pack_sequence_as(own, changed), strict=True))


def _with_axis(item, size):
    if isinstance(item, TensorShape):
        return TensorShape([size]).concatenate(item)
    if isinstance(item, BatchableExtensionTypeSpec):
        return item._batch(size)
    return _respecified(item, TensorShape([size]).concatenate(item.shape), 1)


def _without_axis(item):
    if isinstance(item, TensorShape):
        if item.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return item[1:]
    if isinstance(item, BatchableExtensionTypeSpec):
        return item._unbatch()
    return _respecified(item, _without_axis(item.shape), -1)


def _respecified(spec, shape, more) -> Any:
    if isinstance(spec, RaggedTensorSpec):
        rank = spec.ragged_rank + more
        return RaggedTensorSpec(shape, spec.dtype, max(rank, 0), spec.row_splits_dtype)
    if isinstance(spec, (TensorSpec, SparseTensorSpec)):
        return type(spec)(shape, spec.dtype)
    raise TypeError(f"{spec!r} describes values that cannot be stacked.")


class BatchableExtensionTypeSpec(ExtensionTypeSpec):
    """Describes values that can be stacked."""

    __batch_encoder__ = ExtensionTypeBatchEncoder()

    def _batch(self, batch_size):
        return self.__batch_encoder__.batch(self, batch_size)

    def _unbatch(self):
        return self.__batch_encoder__.unbatch(self)

    def _stacked(self, values):
        """Values described by this spec stacked into one."""
        encoder = self.__batch_encoder__
        columns = zip(*[encoder.encode(value._type_spec, value) for value in values], strict=True)
        kinds = encoder.encoding_specs(self)
        parts = [_stack(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        return encoder.decode(encoder.batch(self, len(values)), parts)


class BatchableExtensionType(ExtensionType, is_base=True):
    """An extension type whose values can be stacked: map_fn calls a function with each of them.

    A class attribute `__batch_encoder__` may say how, where stacking all tensors is not the way.
    """

    __batch_encoder__ = ExtensionTypeBatchEncoder()
    _spec_base = BatchableExtensionTypeSpec

    def __init_subclass__(cls, is_base=False, **kwargs):
        super().__init_subclass__(is_base=is_base, **kwargs)
        if not is_base and "__batch_encoder__" not in vars(cls.Spec):
            cls.Spec.__batch_encoder__ = cls.__batch_encoder__

    def _batch_length(self):
        first: Any = self.__batch_encoder__.encode(self._type_spec, self)[0]
        if isinstance(first, BatchableExtensionType):
            return first._batch_length()
        return first.shape[0] if first.shape.rank else None

    def _unstacked(self):
        """The values of which this one is a stack."""
        spec = self._type_spec
        encoder = spec.__batch_encoder__
        columns = [_rows_of(part) for part in encoder.encode(spec, self, minimum_rank=1)]
        each = encoder.unbatch(spec)
        return [encoder.decode(each, parts) for parts in zip(*columns, strict=True)]


def _rows_of(part):
    if isinstance(part, BatchableExtensionType):
        return part._unstacked()
    return list(part) if isinstance(part, RaggedTensor) else unstack(part)


def _stack(column, spec):
    if isinstance(spec, BatchableExtensionTypeSpec):
        return spec._stacked(column)
    return stack_ragged(list(column)) if isinstance(spec, RaggedTensorSpec) else stack(list(column))
