"""Resident memory of this process, now and at its peak (Linux only)."""

import ctypes
from pathlib import Path

PROCESS = Path("/proc/self")


def field_bytes(file: str, field: str) -> int:
    """Return a field such as `Rss:  1234 kB` of one of the process's status files, in bytes."""
    path = PROCESS / file
    if not path.exists():
        raise NotImplementedError("memory is measured on Linux only")
    for line in path.read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise NotImplementedError(f"this kernel does not tell {field}")


def resident_bytes() -> int:
    """Return the resident memory, counted page by page: the cheap counters lag behind."""
    return field_bytes("smaps_rollup", "Rss")


def peak_bytes() -> int:
    """Return the highest resident memory since the start or the last `reset_peak`."""
    return field_bytes("status", "VmHWM")


def reset_peak() -> None:
    """Forget earlier peaks: importing a library or building a model may need more than a step."""
    (PROCESS / "clear_refs").write_text("5")


def return_free_memory() -> None:
    """Give freed memory back to the system, so that reusing it counts as growth."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
