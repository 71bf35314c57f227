"""What programs ask of the library itself: versions, builds, scopes, and other odds and ends."""

import inspect
import textwrap
import time
from contextlib import contextmanager

import numpy as np

from ._version import __version__
from .core.dispatch import thread
from .core.effects import perform
from .core.exports import export
from .core.name_scopes import current_scope

export("version.VERSION", __version__)
export("version.GIT_VERSION", f"v{__version__}")
export("version.COMPILER_VERSION", "none: gradtape is written in Python")
export("version.GRAPH_DEF_VERSION", 0)
export("version.GRAPH_DEF_VERSION_MIN_CONSUMER", 0)
export("version.GRAPH_DEF_VERSION_MIN_PRODUCER", 0)


@export("sysconfig.get_build_info")
def get_build_info():
    """What it was built with: nothing but the CPU is used."""
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}


@export("test.is_built_with_cuda")
def is_built_with_cuda():
    """False: there is no GPU code."""
    return False


export("test.is_built_with_rocm", is_built_with_cuda)
export("test.is_built_with_gpu_support", is_built_with_cuda)
export("test.is_built_with_xla", is_built_with_cuda)


@export("test.is_gpu_available")
def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """False: there is no GPU code."""
    return False


@export("test.gpu_device_name")
def gpu_device_name():
    """The name of the GPU: empty, as there is none."""
    return ""


# Text and bytes -----------------------------------------------------------------------------------


@export("compat.as_bytes")
def as_bytes(bytes_or_text, encoding="utf-8"):
    """A string or bytes as bytes."""
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@export("compat.as_text compat.as_str")
def as_text(bytes_or_text, encoding="utf-8"):
    """A string or bytes as a string."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text).decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@export("compat.as_str_any")
def as_str_any(value, encoding="utf-8"):
    """Anything as a string; bytes are decoded."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


@export("compat.path_to_str")
def path_to_str(path):
    """A path object as a string; anything else as it is."""
    return as_str_any(path.__fspath__()) if hasattr(path, "__fspath__") else path


@export("compat.dimension_value")
def dimension_value(dimension):
    """A dimension as an integer or None."""
    return getattr(dimension, "value", dimension)


@export("compat.dimension_at_index")
def dimension_at_index(shape, index):
    """The dimension of a shape at an index; None for a shape of unknown rank."""
    return None if shape.rank is None else shape[index]


@export("compat.forward_compatible")
def forward_compatible(year, month, day):
    """True: there are no older programs to wait for."""
    return True


# Scopes -------------------------------------------------------------------------------------------


@export("get_current_name_scope")
def get_current_name_scope():
    """The name scope that is open now, without a slash at its end."""
    return current_scope().rstrip("/")


@export("inside_function")
def inside_function():
    """Whether a function is being traced."""
    return thread.trace is not None


@export("is_symbolic_tensor")
def is_symbolic_tensor(tensor):
    """Whether a tensor belongs to a function being traced."""
    return type(tensor).__name__ == "SymbolicTensor"


@export("init_scope")
@contextmanager
def init_scope():
    """A context outside of the functions being traced, which tapes and accumulators do not see."""
    outside = thread.recorders, thread.trace
    thread.recorders, thread.trace = (), None
    try:
        yield
    finally:
        thread.recorders, thread.trace = outside


@export("timestamp")
def timestamp(name=None):
    """The time since 1970 in seconds, as a float64 tensor."""
    (now,) = perform("Timestamp", lambda: (np.float64(time.time()),), fixed=True)
    return now


# AutoGraph ----------------------------------------------------------------------------------------


@export("autograph.to_code")
def to_code(entity, recursive=True, experimental_optional_features=None):
    """The source of a function, which is traced as it is: nothing rewrites it."""
    return textwrap.dedent(inspect.getsource(entity))


@export("autograph.to_graph")
def to_graph(entity, recursive=True, experimental_optional_features=None):
    """The function itself, for the same reason."""
    return entity


@export("autograph.set_verbosity")
def set_verbosity(level, alsologtostdout=False):
    """Accepted: there is no rewriting to report on."""


@export("autograph.trace")
def trace(*args):
    """Prints its arguments when the code is run, or traced."""
    print(*args)


@export("autograph.experimental.do_not_convert")
def do_not_convert(func=None):
    """A decorator that leaves a function as it is, which all functions are."""
    return (lambda function: function) if func is None else func


@export("autograph.experimental.set_loop_options")
def set_loop_options(
    parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None
):
    """Accepted: loops run as Python runs them."""
