"""tf.data.Options: how a dataset is to be run, as far as that can be chosen."""

import enum

from ..core import log
from ..core.exports import export
from .dataset import Reordered, method
from .functions import debugging


@export("data.experimental.AutotuneAlgorithm")
class AutotuneAlgorithm(enum.Enum):
    """How numbers of parallel calls and sizes of buffers are found."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


@export("data.experimental.AutoShardPolicy")
class AutoShardPolicy(enum.IntEnum):
    """How datasets are shared among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


@export("data.experimental.ExternalStatePolicy")
class ExternalStatePolicy(enum.Enum):
    """What to do about datasets that depend on state outside of them."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class _Option:
    """A property of options: a value of one type, or its default."""

    def __init__(self, kind, default=lambda: None):
        self._kind, self._default = kind, default

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, options, owner=None):
        if options is None:
            return self
        values = options._options
        if self._name not in values:
            values[self._name] = self._default()
        value = values[self._name]
        return value._fix() if options._is_fixed and isinstance(value, OptionsBase) else value

    def __set__(self, options, value):
        if not isinstance(value, self._kind):
            raise TypeError(
                f'Property "{self._name}" must be of type {self._kind}, got: {value} '
                f"(type: {type(value)})"
            )
        options._options[self._name] = value


class OptionsBase:
    """A set of options that have names and types."""

    _options: dict
    _is_fixed: bool

    def __init__(self):
        object.__setattr__(self, "_options", {})
        object.__setattr__(self, "_is_fixed", False)

    def __setattr__(self, name, value):
        if self._is_fixed:
            raise ValueError(
                "Mutating `tf.data.Options()` returned by `tf.data.Dataset.options()` has no "
                "effect. Use `tf.data.Dataset.with_options(options)` to set or update dataset "
                "options."
            )
        if not hasattr(self, name):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    def __eq__(self, other):
        if not isinstance(other, type(self)):
            return NotImplemented
        names = {*self._options, *other._options}
        return all([getattr(self, name) == getattr(other, name) for name in names])

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def _fix(self):
        """Has attempts to change it fail."""
        object.__setattr__(self, "_is_fixed", True)
        return self


@export("data.experimental.AutotuneOptions")
class AutotuneOptions(OptionsBase):
    """Options of finding out numbers of parallel calls and sizes of buffers."""

    enabled = _Option(bool)
    cpu_budget = _Option(int)
    ram_budget = _Option(int)
    autotune_algorithm = _Option(AutotuneAlgorithm)
    initial_parallelism = _Option(int)
    min_parallelism = _Option(int)


@export("data.experimental.DistributeOptions")
class DistributeOptions(OptionsBase):
    """Options of datasets that several workers share."""

    auto_shard_policy = _Option(AutoShardPolicy, lambda: AutoShardPolicy.AUTO)
    num_devices = _Option(int)


@export("data.experimental.OptimizationOptions")
class OptimizationOptions(OptionsBase):
    """Which transformations may be joined or left out."""

    apply_default_optimizations = _Option(bool)
    filter_fusion = _Option(bool)
    filter_parallelization = _Option(bool)
    inject_prefetch = _Option(bool)
    seq_interleave_prefetch = _Option(bool)
    map_and_batch_fusion = _Option(bool)
    map_and_filter_fusion = _Option(bool)
    map_fusion = _Option(bool)
    map_parallelization = _Option(bool)
    noop_elimination = _Option(bool)
    parallel_batch = _Option(bool)
    shuffle_and_repeat_fusion = _Option(bool)


@export("data.experimental.ServiceOptions")
class ServiceOptions(OptionsBase):
    """Options of datasets that a service runs."""

    pinned = _Option(bool)


@export("data.ThreadingOptions data.experimental.ThreadingOptions")
class ThreadingOptions(OptionsBase):
    """Options of threads."""

    max_intra_op_parallelism = _Option(int)
    private_threadpool_size = _Option(int)


# Old names of options.
_RENAMED = {"experimental_threading": "threading", "experimental_deterministic": "deterministic"}


@export("data.Options")
class Options(OptionsBase):
    """How a dataset is to be run: `dataset.with_options(options)`.

    `deterministic` says whether parallel calls keep the order of elements. Everything else is for
    TensorFlow's runtime: it is kept, and changes nothing here.

    Raises:
        AttributeError: an unknown option is set.
        TypeError: one is set to a value of another type.

    Example:
        >>> options = Options()
        >>> options.deterministic = False
        >>> Dataset.range(3).with_options(options).options().deterministic
        False
    """

    autotune = _Option(AutotuneOptions, AutotuneOptions)
    deterministic = _Option(bool)
    experimental_deterministic = _Option(bool)
    experimental_distribute = _Option(DistributeOptions, DistributeOptions)
    experimental_external_state_policy = _Option(ExternalStatePolicy)
    experimental_optimization = _Option(OptimizationOptions, OptimizationOptions)
    experimental_slack = _Option(bool)
    experimental_symbolic_checkpoint = _Option(bool)
    experimental_service = _Option(ServiceOptions, ServiceOptions)
    experimental_threading = _Option(ThreadingOptions)
    experimental_warm_start = _Option(bool)
    dataset_name = _Option(str)
    framework_type = _Option(list)
    threading = _Option(ThreadingOptions, ThreadingOptions)

    def __getattribute__(self, name):
        if name in _RENAMED:
            log.warn(f"options.{name} is deprecated. Use options.{_RENAMED[name]} instead.")
            name = _RENAMED[name]
        return super().__getattribute__(name)

    def __setattr__(self, name, value):
        if name in _RENAMED:
            log.warn(f"options.{name} is deprecated. Use options.{_RENAMED[name]} instead.")
            name = _RENAMED[name]
        super().__setattr__(name, value)

    def merge(self, options):
        """New options: these, with the others in their place where those are set."""
        return _merged(self, options)


def _merged(*every):
    """New options with what was set last in any of some options of one class."""
    first = every[0]
    if not isinstance(first, OptionsBase):
        raise TypeError(
            "All options to be merged should inherit from `OptionsBase` but found option of type "
            f"{type(first)} which does not."
        )
    result, default = type(first)(), type(first)()
    for options in every:
        if not isinstance(options, type(first)):
            raise TypeError(
                f"Could not merge incompatible options of type {type(options)} and {type(first)}."
            )
        for name in list(options._options):
            before, value = getattr(result, name), getattr(options, name)
            if value == getattr(default, name):
                continue
            if isinstance(before, OptionsBase):
                setattr(result, name, _merged(before, value))
            elif before == getattr(default, name):
                setattr(result, name, value)
            elif name == "framework_type":
                setattr(result, name, before + value)
            elif before != value:
                log.warn(f"Changing the value of option {name} from {before!r} to {value!r}.")
                setattr(result, name, value)
    return result


class OptionsDataset(Reordered):
    """The same elements; datasets made of it are run as the options say."""

    def __init__(self, source, options):
        super().__init__(source)
        self._own = options

    def _reordered(self, begin):
        return begin()

    def _count(self):
        return self._input._count()


@method
def with_options(self, options, name=None):
    """The same dataset, to be run as options say, on top of those it has.

    Raises:
        AttributeError: they are no tf.data.Options.
    """
    if not isinstance(options, Options):
        raise AttributeError(f"{options!r} has no options: it is no tf.data.Options")
    return OptionsDataset(self, _merged(Options(), options))


@method
def options(self):
    """The options of this dataset: of all datasets it is made of, and its own."""
    found = [each.options() for each in self._inputs]
    if isinstance(self, OptionsDataset):
        found.append(self._own)
    return _merged(Options(), *found)._fix()


@export("data.experimental.enable_debug_mode")
def enable_debug_mode():
    """Has functions of datasets made from now on run as Python code, so that debuggers see it."""
    debugging.is_on = True
