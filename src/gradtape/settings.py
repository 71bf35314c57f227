"""Switches of `tf.config` and `tf.debugging`: what there is to set, kept and given back.

Threads within an op are those of `core.parallel`; products have the threads of NumPy's BLAS. The
other settings are remembered so that programs which set and read them run, and change no result.
"""

from .core.active import program, thread
from .core.errors import InvalidArgumentError
from .core.exports import export
from .core.log import get_logger
from .core.op import Recorder
from .core.parallel import set_thread_count
from .core.tensor import EagerTensor
from .ops.finite_checks import what_is_not_finite


class _Settings:
    def __init__(self):
        self.intra_op_threads = 0
        self.inter_op_threads = 0
        self.optimizer_options = {}
        self.jit = ""
        self.device_policy = "silent"
        self.synchronous = True
        self.tensor_float_32 = True
        self.log_placement = False
        self.filter_tracebacks = True


_settings = _Settings()

# Functions ----------------------------------------------------------------------------------------


@export("config.run_functions_eagerly config.experimental_run_functions_eagerly")
def run_functions_eagerly(run_eagerly):
    """Says whether functions run as plain Python at every call."""
    program.functions_run_eagerly = bool(run_eagerly)


@export("config.functions_run_eagerly config.experimental_functions_run_eagerly")
def functions_run_eagerly():
    """Whether functions run as plain Python at every call."""
    return program.functions_run_eagerly


# Threads ------------------------------------------------------------------------------------------


def _thread_count(num_threads):
    if num_threads < 0:
        raise ValueError(f"The number of threads must be 0 or more. Received: {num_threads}")
    return int(num_threads)


@export("config.threading.get_intra_op_parallelism_threads")
def get_intra_op_parallelism_threads():
    """The number of threads asked for within an op; 0 leaves it open."""
    return _settings.intra_op_threads


@export("config.threading.set_intra_op_parallelism_threads")
def set_intra_op_parallelism_threads(num_threads):
    """Asks for a number of threads within an op."""
    _settings.intra_op_threads = _thread_count(num_threads)
    set_thread_count(_settings.intra_op_threads)


@export("config.threading.get_inter_op_parallelism_threads")
def get_inter_op_parallelism_threads():
    """The number of threads asked for between ops; 0 leaves it open."""
    return _settings.inter_op_threads


@export("config.threading.set_inter_op_parallelism_threads")
def set_inter_op_parallelism_threads(num_threads):
    """Asks for a number of threads between ops."""
    _settings.inter_op_threads = _thread_count(num_threads)


# Graphs -------------------------------------------------------------------------------------------

_ALWAYS_SHOWN = {"disable_model_pruning": False, "disable_meta_optimizer": False}


@export("config.optimizer.get_experimental_options")
def get_experimental_options():
    """The optimizer's options that were set, as a dictionary."""
    return {**_ALWAYS_SHOWN, **_settings.optimizer_options}


@export("config.optimizer.set_experimental_options")
def set_experimental_options(options):
    """Sets options of the graph optimizer, by their names."""
    _settings.optimizer_options.update(options)


@export("config.optimizer.get_jit")
def get_jit():
    """`"autoclustering"` if just-in-time compilation was asked for, else `""`."""
    return _settings.jit


@export("config.optimizer.set_jit")
def set_jit(enabled):
    """Asks for just-in-time compilation of functions: a bool, or `"autoclustering"`."""
    _settings.jit = "autoclustering" if enabled in (True, "autoclustering") else ""


# Execution ----------------------------------------------------------------------------------------

_POLICIES = ("explicit", "warn", "silent", "silent_for_int32")


@export("config.experimental.get_device_policy")
def get_device_policy():
    """How ops are to treat inputs on other devices."""
    return _settings.device_policy


@export("config.experimental.set_device_policy")
def set_device_policy(device_policy):
    """Says how ops are to treat inputs on other devices.

    Raises:
        ValueError: there is no such policy.
    """
    policy = "silent" if device_policy is None else device_policy
    if policy not in _POLICIES:
        raise ValueError(
            f"Invalid argument `device_policy`: {device_policy!r}. It is one of {_POLICIES}."
        )
    _settings.device_policy = policy


@export("config.experimental.get_synchronous_execution")
def get_synchronous_execution():
    """Whether an op is done when its call returns; here it always is."""
    return _settings.synchronous


@export("config.experimental.set_synchronous_execution")
def set_synchronous_execution(enable):
    """Asks that an op be done when its call returns, or allows otherwise."""
    _settings.synchronous = True if enable is None else bool(enable)


@export("config.experimental.tensor_float_32_execution_enabled")
def tensor_float_32_execution_enabled():
    """Whether products of float32 may be rounded to 10 bits where a GPU is quicker so."""
    return _settings.tensor_float_32


@export("config.experimental.enable_tensor_float_32_execution")
def enable_tensor_float_32_execution(enabled):
    """Allows or forbids that; products on the CPU are never rounded so."""
    _settings.tensor_float_32 = bool(enabled)


@export("config.experimental.enable_op_determinism")
def enable_op_determinism():
    """Asks that the same inputs give the same results, bit for bit, as they always do here."""


@export("debugging.get_log_device_placement")
def get_log_device_placement():
    """Whether the device of each op was to be logged."""
    return _settings.log_placement


@export("debugging.set_log_device_placement")
def set_log_device_placement(enabled):
    """Logs that every op runs on the CPU, once; there is no other device to tell apart."""
    if enabled and not _settings.log_placement:
        get_logger().info("All ops run on /job:localhost/replica:0/task:0/device:CPU:0.")
    _settings.log_placement = bool(enabled)


@export("debugging.enable_traceback_filtering")
def enable_traceback_filtering():
    """Asks for tracebacks without the library's own frames."""
    _settings.filter_tracebacks = True


@export("debugging.disable_traceback_filtering")
def disable_traceback_filtering():
    """Asks for tracebacks with all frames."""
    _settings.filter_tracebacks = False


@export("debugging.is_traceback_filtering_enabled")
def is_traceback_filtering_enabled():
    """Which of the two was asked for last."""
    return _settings.filter_tracebacks


# Numbers that are not finite ----------------------------------------------------------------------


class _FiniteChecker(Recorder):
    """Looks at the results of all ops of its thread."""

    __slots__ = ()
    sees_everything = True

    def record(self, op, attrs, inputs, out):
        for position, tensor in enumerate(out if isinstance(out, tuple) else (out,)):
            if type(tensor) is not EagerTensor or not tensor.dtype.is_differentiable:
                continue
            found = what_is_not_finite(tensor._value)
            if found:
                count = len(out) if isinstance(out, tuple) else 1
                shown = "\n".join([f"  Input tensor: {x!s}" for x in inputs])
                raise InvalidArgumentError(
                    None,
                    None,
                    "\n\n!!! Detected Infinity or NaN in output "
                    f'{position} of eagerly-executing op "{op.name}" (# of outputs: {count}) !!!\n'
                    f"  dtype: {tensor.dtype}\n  shape: {tensor.shape}\n{shown}\n\n"
                    f" : Tensor had {found} values",
                )


_checker = _FiniteChecker()


@export("debugging.enable_check_numerics")
def enable_check_numerics(stack_height_limit=30, path_length_limit=50):
    """From now on, on this thread, an op whose result is not finite raises InvalidArgumentError.

    Args:
        stack_height_limit: accepted; the traceback shows the whole stack.
        path_length_limit: accepted likewise.
    """
    if _checker not in thread.recorders:
        thread.recorders = (_checker, *thread.recorders)


@export("debugging.disable_check_numerics")
def disable_check_numerics():
    """Ends what `enable_check_numerics` began."""
    thread.recorders = tuple([each for each in thread.recorders if each is not _checker])
