"""Devices: one CPU, which can be divided into logical ones, and the names by which it is called."""

import re
from typing import NamedTuple

from .core.errors import InvalidArgumentError
from .core.exports import export
from .core.log import get_logger


@export("config.PhysicalDevice")
class PhysicalDevice(NamedTuple):
    """A device as the machine has it."""

    name: str
    device_type: str


@export("config.LogicalDevice")
class LogicalDevice(NamedTuple):
    """A device as programs see it."""

    name: str
    device_type: str


@export("config.LogicalDeviceConfiguration config.experimental.VirtualDeviceConfiguration")
class LogicalDeviceConfiguration(NamedTuple):
    """What one logical device gets of a physical one."""

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")


class _Devices:
    """What was asked for; fixed as soon as logical devices have been listed."""

    def __init__(self):
        self.configurations: list[LogicalDeviceConfiguration] | None = None
        self.initialized = False
        self.told_of_cluster = False


_devices = _Devices()


@export("config.list_physical_devices config.experimental.list_physical_devices")
def list_physical_devices(device_type=None):
    """The machine's devices; there is one CPU and never a GPU."""
    return [_CPU] if device_type in (None, "CPU") else []


@export("config.list_logical_devices config.experimental.list_logical_devices")
def list_logical_devices(device_type=None):
    """The devices that programs see: one, unless `set_logical_device_configuration` made more."""
    _devices.initialized = True
    if device_type not in (None, "CPU"):
        return []
    count = len(_devices.configurations or (None,))
    return [LogicalDevice(f"/device:CPU:{i}", "CPU") for i in range(count)]


@export("config.get_visible_devices config.experimental.get_visible_devices")
def get_visible_devices(device_type=None):
    """The devices in use: all there are."""
    return list_physical_devices(device_type)


@export("config.set_visible_devices config.experimental.set_visible_devices")
def set_visible_devices(devices, device_type=None):
    """Says which devices to use; the CPU cannot be left out.

    Raises:
        ValueError: one of `devices` is not a physical device.
        RuntimeError: the CPU is left out.
    """
    listed = [devices] if isinstance(devices, (PhysicalDevice, str)) else list(devices)
    for device in listed:
        _check_known(device)
    if device_type in (None, "CPU") and _CPU not in listed:
        raise RuntimeError("Visible devices cannot be modified after being initialized")


@export(
    "config.get_logical_device_configuration config.experimental.get_virtual_device_configuration"
)
def get_logical_device_configuration(device):
    """The configurations `set_logical_device_configuration` gave a device, or None."""
    _check_known(device)
    return _devices.configurations


@export(
    "config.set_logical_device_configuration config.experimental.set_virtual_device_configuration"
)
def set_logical_device_configuration(device, logical_devices):
    """Divides a physical device into as many logical ones as there are configurations.

    Raises:
        ValueError: the device is unknown, or a configuration limits the memory of the CPU.
        RuntimeError: logical devices have been listed already.
    """
    _check_known(device)
    for configuration in logical_devices:
        if configuration.memory_limit is not None:
            raise ValueError(
                "Setting memory limit on CPU virtual devices is currently not supported"
            )
    wanted = list(logical_devices)
    if _devices.initialized and wanted != (_devices.configurations or []):
        raise RuntimeError("Virtual devices cannot be modified after being initialized")
    _devices.configurations = wanted


@export("config.experimental_connect_to_cluster")
def connect_to_cluster(
    cluster_spec_or_resolver,
    job_name="localhost",
    task_index=0,
    protocol=None,
    make_master_device_default=True,
    cluster_device_filters=None,
):
    """Takes part in a cluster: nothing to do, as every program is one process of its own.

    The first call says so in the log.
    """
    if not _devices.told_of_cluster:
        _devices.told_of_cluster = True
        get_logger().warning(
            "There is one process, which runs all ops: the cluster is not connected to."
        )


@export("config.experimental.set_memory_growth")
def set_memory_growth(device, enable):
    """For GPUs: whether to take memory as needed.

    Raises:
        ValueError: the device is not a GPU.
    """
    _check_known(device)
    raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")


@export("config.experimental.get_memory_growth")
def get_memory_growth(device):
    """For GPUs: whether memory is taken as needed; KeyError for any other device."""
    _check_known(device)
    raise KeyError(device)


@export("config.experimental.get_device_details")
def get_device_details(device):
    """What is known of a device's make: nothing, for a CPU."""
    _check_known(device)
    return {}


@export("config.experimental.get_memory_info")
def get_memory_info(device):
    """For GPUs: how much memory is in use; ValueError for any other device."""
    raise ValueError(f"Allocator stats not available for device {device!r}")


@export("config.experimental.reset_memory_stats")
def reset_memory_stats(device):
    """For GPUs: starts the count of memory anew; ValueError for any other device."""
    raise ValueError(f"Cannot reset memory stats for device {device!r}")


@export("config.experimental.get_memory_usage")
def get_memory_usage(device):
    """For GPUs: how much memory is in use; ValueError for any other device."""
    return get_memory_info(device)


def _check_known(device):
    if device != _CPU:
        raise ValueError(f"Unrecognized device: {device!r}")


# Names --------------------------------------------------------------------------------------------

_PART = re.compile(r"(job|replica|task|device|cpu|gpu|tpu)(?::(.*))?", re.IGNORECASE)


@export("DeviceSpec")
class DeviceSpec:
    """The parts of a device's name, any of which may be left open.

    Example:
        >>> DeviceSpec.from_string("/job:worker/cpu:0").to_string()
        '/job:worker/device:CPU:0'
    """

    __slots__ = ("device_index", "device_type", "job", "replica", "task")

    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None):
        self.job = None if job is None else str(job)
        self.replica = None if replica is None else int(replica)
        self.task = None if task is None else int(task)
        self.device_type = None if device_type is None else str(device_type).upper()
        self.device_index = None if device_index is None else int(device_index)

    @classmethod
    def from_string(cls, spec):
        """The parts of a name such as `"/job:worker/task:1/device:GPU:0"`.

        Raises:
            ValueError: a part has an unknown name.
        """
        parts = {}
        for part in filter(None, spec.split("/")):
            match = _PART.fullmatch(part)
            if match is None:
                raise ValueError(
                    f"Unknown attribute '{part.partition(':')[0]}' is encountered while parsing "
                    f"the device spec: '{spec}'."
                )
            key, value = match.group(1).lower(), match.group(2)
            if key == "device":
                parts["device_type"], _, value = (value or "").partition(":")
            elif key in ("cpu", "gpu", "tpu"):
                parts["device_type"] = key
            else:
                parts[key] = value
                continue
            parts["device_index"] = None if value in (None, "", "*") else int(value)
        return cls(**parts)

    def parse_from_string(self, spec):
        """A new spec, from a name."""
        return type(self).from_string(spec)

    def make_merged_spec(self, dev):
        """A new spec with the parts that `dev` gives, and this one's where it gives none."""
        given = {name: value for name, value in dev._parts().items() if value is not None}
        return type(self)(**{**self._parts(), **given})

    def replace(self, **kwargs):
        """A new spec in which some parts are others."""
        return type(self)(**{**self._parts(), **kwargs})

    def to_string(self):
        """The name that has these parts."""
        named = [("job", self.job), ("replica", self.replica), ("task", self.task)]
        text = "".join([f"/{name}:{value}" for name, value in named if value is not None])
        if self.device_type is None:
            return text
        index = "*" if self.device_index is None else self.device_index
        return f"{text}/device:{self.device_type}:{index}"

    def _parts(self):
        names = ("job", "replica", "task", "device_type", "device_index")
        return {name: getattr(self, name) for name in names}

    def __eq__(self, other):
        return isinstance(other, DeviceSpec) and self._parts() == other._parts()

    def __hash__(self):
        return hash(self.to_string())

    def __repr__(self):
        shown = ", ".join([f"{name}={value}" for name, value in self._parts().items()])
        return f"<DeviceSpec({shown})>"


class _Placement:
    """Whether an op may run elsewhere than asked, which here means on the CPU."""

    def __init__(self):
        self.soft = True


_placement = _Placement()


@export("config.get_soft_device_placement")
def get_soft_device_placement():
    """Whether code for a device that does not exist runs on the CPU."""
    return _placement.soft


@export("config.set_soft_device_placement")
def set_soft_device_placement(enabled):
    """Says whether code for a device that does not exist runs on the CPU, or is an error."""
    _placement.soft = bool(enabled)


class _DeviceContext:
    def __init__(self, device_name):
        self._name = device_name

    def __enter__(self):
        name = self._name
        if name is None:
            return
        if isinstance(name, LogicalDevice):
            name = name.name
        elif isinstance(name, DeviceSpec):
            name = name.to_string()
        if not isinstance(name, str):
            raise ValueError(f"Expecting a string device name. Got {type(name)}({name})")
        spec = DeviceSpec.from_string(name)
        if spec.job not in (None, "localhost"):
            raise InvalidArgumentError(None, None, f"{name} unknown device.")
        if spec.device_type not in (None, "CPU") and not _placement.soft:
            raise InvalidArgumentError(
                None,
                None,
                f"Could not satisfy device specification '{name}'. enable_soft_placement=0. "
                "Supported device types [CPU]. All available devices "
                "[/job:localhost/replica:0/task:0/device:CPU:0].",
            )

    def __exit__(self, *error):
        return None


@export("device")
def device(device_name):
    """A context for code that is meant for one device; all of it runs on the CPU.

    Args:
        device_name: as `"/GPU:0"` or `"CPU:0"`, a `DeviceSpec`, a logical device, or None.

    Raises:
        RuntimeError: `device_name` is a function.
        ValueError: on entering, if it is not a device's name.
        InvalidArgumentError: on entering, if there is no such device and soft placement is off.
    """
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    return _DeviceContext(device_name)
