"""Floating dtypes to compute in."""

from keras.src.backend import config

from .core import cast, convert_to_tensor


def floating(x):
    """`x` as a tensor of floating or complex numbers."""
    x = convert_to_tensor(x)
    return x if x.dtype.is_floating or x.dtype.is_complex else cast(x, config.floatx())


def at_least_single(*tensors):
    """The dtype for a computation on tensors that half precision is too coarse for."""
    return "float64" if any([x.dtype.name == "float64" for x in tensors]) else "float32"
