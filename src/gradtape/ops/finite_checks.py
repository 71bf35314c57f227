"""CheckNumerics: a tensor passed on as it is, unless it holds what is not finite."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .broadcasting import not_allowed
from .families import linear

_ACCEPTS = dtypes.numpy_set(dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)

_IN_GRADIENT = "Not a number (NaN) or infinity (Inf) values detected in gradient. "


def _infer(tensor, *, message):
    if tensor.dtype not in _ACCEPTS:
        raise not_allowed("CheckNumerics", tensor.dtype, _ACCEPTS)
    return Spec(tensor.shape, tensor.dtype)


def what_is_not_finite(array):
    """`"Inf"`, `"NaN"` or `"Inf and NaN"` for what an array holds of them; else None."""
    if np.isfinite(array).all():
        return None
    kinds = [("Inf", np.isinf(array).any()), ("NaN", np.isnan(array).any())]
    return " and ".join([name for name, present in kinds if present])


def _check(tensor, message):
    found = what_is_not_finite(tensor)
    if found:
        raise invalid_argument("CheckNumerics", f"{message} : Tensor had {found} values")
    return tensor


check_numerics_row = linear(
    "CheckNumerics",
    _check,
    inputs="tensor",
    infer=_infer,
    transpose=lambda g, *, message: check_numerics_row(g, message=_IN_GRADIENT + message),
    batch=lambda op, values, flags, attrs: op.call(values[0], **attrs),
)


@export("debugging.check_numerics")
def check_numerics(tensor, message, name=None):
    """`tensor` itself, if all of it is finite; its gradient is checked likewise.

    Raises:
        InvalidArgumentError: it holds NaN or infinity; starts with `message`.
    """
    return apply(check_numerics_row.op, (convert_to_tensor(tensor),), {"message": message})


@export("debugging.assert_all_finite")
def assert_all_finite(x, message, name=None):
    """The same as `check_numerics`."""
    return check_numerics(x, message)
