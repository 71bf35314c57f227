"""The names of `tf.experimental` itself."""

from .. import (
    api_dispatch,
    extension_batches,
    extension_type,
    ragged_shape,
    row_partition,
    type_specs,
)
from ..core.exports import export

export("TypeSpec", type_specs.TypeSpec)
for _class in (
    extension_type.ExtensionType,
    extension_type.ExtensionTypeSpec,
    extension_batches.BatchableExtensionType,
    extension_batches.ExtensionTypeBatchEncoder,
    ragged_shape.DynamicRaggedShape,
    row_partition.RowPartition,
):
    export(f"experimental.{_class.__name__}", _class)
export("experimental.extension_type.as_dict", extension_type.as_dict)
for _function in (
    api_dispatch.dispatch_for_api,
    api_dispatch.dispatch_for_binary_elementwise_apis,
    api_dispatch.dispatch_for_binary_elementwise_assert_apis,
    api_dispatch.dispatch_for_unary_elementwise_apis,
    api_dispatch.unregister_dispatch_for,
):
    export(f"experimental.{_function.__name__}", _function)
