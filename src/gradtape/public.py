"""Public names of everything that is not an op; ops name themselves in their rows."""

from . import module
from .autodiff import accumulator, check, custom, functional, override, recompute, registry, tape
from .core import (
    dtypes,
    errors,
    exports,
    indexed_slices,
    log,
    name_scopes,
    nest,
    shapes,
    spec,
    tensor as tensors,
    variable_creation,
)
from .core.active import thread

export = exports.export

for _dtype in dtypes.PLAIN + dtypes.OPAQUE:
    export(f"{_dtype.name} dtypes.{_dtype.name}", _dtype)
for _dtype in dtypes.EXPERIMENTAL:
    export(f"dtypes.experimental.{_dtype.name}", _dtype)
export("half dtypes.half", dtypes.half)
export("double dtypes.double", dtypes.double)
export("DType dtypes.DType", dtypes.DType)
export("as_dtype dtypes.as_dtype", dtypes.as_dtype)

for _name, _item in vars(errors).items():
    if isinstance(_item, type) or _name.isupper():
        export(f"errors.{_name}", _item)

for _name in ("assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"):
    export(f"nest.{_name}", getattr(nest, _name))

export("TensorShape", shapes.TensorShape)
export("TensorSpec", spec.TensorSpec)
export("VariableAggregation", variable_creation.VariableAggregation)
export("VariableSynchronization", variable_creation.VariableSynchronization)
export("variable_creator_scope", variable_creation.variable_creator_scope)
export("Tensor", tensors.Tensor)
export("IndexedSlices", indexed_slices.IndexedSlices)
export("Module", module.Module)
export("name_scope", name_scopes.name_scope)
export("get_logger", log.get_logger)

export("GradientTape autodiff.GradientTape", tape.GradientTape)
export("UnconnectedGradients", tape.UnconnectedGradients)
export("RegisterGradient", registry.RegisterGradient)
export("no_gradient", registry.no_gradient)
export("custom_gradient", custom.custom_gradient)
export("grad_pass_through", custom.grad_pass_through)
export("recompute_grad", recompute.recompute_grad)
export("autodiff.ForwardAccumulator", accumulator.ForwardAccumulator)
export("autodiff.gradient_override", override.gradient_override)
export("autodiff.check_gradients", check.check_gradients)
export("autodiff.GradientError", check.GradientError)
for _function in functional.PUBLIC:
    export(f"autodiff.{_function.__name__}", _function)


@export("is_tensor")
def is_tensor(x):
    """Whether `x` is a tensor, a variable, or made of tensors."""
    return hasattr(x, "_dispatch_level") or isinstance(x, indexed_slices.IndexedSlices)


@export("executing_eagerly")
def executing_eagerly():
    """Whether ops run as they are called: not while a function is traced."""
    return thread.trace is None


@export("get_static_value")
def get_static_value(tensor, partial=False):
    """The value of an eager tensor as a NumPy array or scalar; None of a variable.

    What is not a tensor is returned as it is.
    """
    if isinstance(tensor, tensors.Tensor):
        return tensor.numpy()
    return None if is_tensor(tensor) else tensor


exports.PUBLIC["newaxis"] = None
