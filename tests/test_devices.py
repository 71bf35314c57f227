"""tf.config's devices, tf.device and tf.DeviceSpec, as TensorFlow on a machine without GPU."""

import subprocess
import sys

import pytest

import gradtape as tf
from gradtape import devices

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def in_new_process(code):
    """What `code` prints where no logical device has been listed yet."""
    done = subprocess.run(
        [sys.executable, "-c", f"import gradtape as tf\n{code}"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_is_one_cpu():
    (cpu,) = tf.config.list_physical_devices()
    assert repr(cpu) == "PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')"
    assert tf.config.list_physical_devices("CPU") == tf.config.get_visible_devices() == [cpu]
    assert tf.config.list_physical_devices("GPU") == tf.config.list_logical_devices("GPU") == []


def test_it_can_be_divided_before_logical_devices_are_listed():
    shown = in_new_process(
        "cpu, = tf.config.list_physical_devices()\n"
        "parts = [tf.config.LogicalDeviceConfiguration()] * 2\n"
        "tf.config.set_logical_device_configuration(cpu, parts)\n"
        "print([d.name for d in tf.config.list_logical_devices()])\n"
        "tf.config.set_logical_device_configuration(cpu, parts)\n"
        "try: tf.config.set_logical_device_configuration(cpu, parts * 2)\n"
        "except RuntimeError as error: print(error)\n"
    )
    assert shown == (
        "['/device:CPU:0', '/device:CPU:1']\n"
        "Virtual devices cannot be modified after being initialized\n"
    )


def test_errors_of_device_settings():
    (cpu,) = tf.config.list_physical_devices()
    limited = tf.config.LogicalDeviceConfiguration(memory_limit=10)
    with pytest.raises(ValueError, match="Setting memory limit on CPU"):
        tf.config.set_logical_device_configuration(cpu, [limited])
    with pytest.raises(ValueError, match="non-GPU and non-Pluggable"):
        tf.config.experimental.set_memory_growth(cpu, True)
    with pytest.raises(ValueError, match="Unrecognized device: None"):
        tf.config.experimental.set_memory_growth(None, True)
    with pytest.raises(ValueError, match="Unrecognized device: 'foo'"):
        tf.config.set_visible_devices("foo")
    with pytest.raises(RuntimeError, match="Visible devices cannot be modified"):
        tf.config.set_visible_devices([], "CPU")
    assert tf.config.set_visible_devices([], "GPU") is None
    with pytest.raises(ValueError, match="Allocator stats not available for device 'CPU:0'"):
        tf.config.experimental.get_memory_info("CPU:0")


@pytest.mark.parametrize(
    "name",
    ["/CPU:0", "GPU:0", "/cpu:1", CPU, None, tf.DeviceSpec(device_type="CPU", device_index=0)],
)
def test_code_for_any_device_runs_on_the_cpu(name):
    with tf.device(name):
        assert (tf.constant(1.0) + 1).device == CPU


def test_a_logical_device_is_a_device():
    with tf.device(tf.config.list_logical_devices()[0]):
        assert tf.constant(1.0).device == CPU


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("foo", ValueError, "Unknown attribute 'foo' is encountered while parsing the device spec"),
        (3, ValueError, "Expecting a string device name. Got <class 'int'>"),
        ("/job:foo/device:CPU:0", tf.errors.InvalidArgumentError, "unknown device"),
        (lambda op: "CPU:0", RuntimeError, "tf.device does not support functions."),
    ],
)
def test_names_that_are_no_device(name, error, message):
    with pytest.raises(error, match=message), tf.device(name):
        pass


def test_without_soft_placement_there_is_no_gpu():
    tf.config.set_soft_device_placement(False)
    try:
        assert not tf.config.get_soft_device_placement()
        refused = pytest.raises(tf.errors.InvalidArgumentError, match="Could not satisfy device")
        with refused, tf.device("GPU:0"):
            pass
    finally:
        tf.config.set_soft_device_placement(True)


def test_device_spec():
    spec = tf.DeviceSpec.from_string("/job:a/device:GPU:*/task:3")
    assert spec.to_string() == "/job:a/task:3/device:GPU:*"
    assert repr(tf.DeviceSpec(replica=1, device_type="gpu").replace(device_index=2)) == (
        "<DeviceSpec(job=None, replica=1, task=None, device_type=GPU, device_index=2)>"
    )
    cpu = tf.DeviceSpec.from_string("/cpu:0")
    assert cpu == tf.DeviceSpec(device_type="CPU", device_index=0)
    assert hash(cpu) == hash(tf.DeviceSpec(device_type="CPU", device_index=0))
    assert cpu.make_merged_spec(tf.DeviceSpec(job="a")).to_string() == "/job:a/device:CPU:0"
    with pytest.raises(ValueError, match="invalid literal for int"):
        tf.DeviceSpec.from_string("CPU:x")


def test_connecting_to_a_cluster_is_logged_once(logs, monkeypatch):
    monkeypatch.setattr(devices._devices, "told_of_cluster", False)
    for _ in range(2):
        assert tf.config.experimental_connect_to_cluster({"worker": ["host:1"]}, "worker") is None
    (line,) = logs
    assert line.startswith("WARNING:There is one process")
