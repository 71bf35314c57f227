"""The switch that makes NumPy's functions on tensors recorded ops."""

from .core.exports import export
from .core.tensor import Tensor


@export("config.numpy_dispatch")
def numpy_dispatch(enabled):
    """Says whether NumPy's functions, called on tensors, are ops that tapes record.

    Off, as in TensorFlow, `np.sin(tensor)` gives an array and the gradient ends there. On, it
    gives a tensor and the gradient goes through; what cannot be recorded raises TypeError.

    Args:
        enabled: True or False, for the whole process.
    """
    from .numpy_api import dispatch

    (dispatch.install if enabled else dispatch.remove)()


@export("config.numpy_dispatch_enabled")
def numpy_dispatch_enabled():
    """Whether NumPy's functions on tensors are recorded ops."""
    return "__array_ufunc__" in vars(Tensor)
