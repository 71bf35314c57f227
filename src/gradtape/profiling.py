"""tf.profiler.experimental: where a program spends its time, by Python's own profiler.

A profile is written into its directory as a file that `pstats` (and tools that read it) can show:
`python -m pstats LOGDIR/plugins/profile/<time>/gradtape.pstats`.
"""

import cProfile
import datetime
import os
import threading
from collections import namedtuple

from .core.errors import AlreadyExistsError, UnavailableError
from .core.exports import export

_lock = threading.Lock()
_running: list = []

ProfilerOptions = export(
    "profiler.experimental.ProfilerOptions",
    namedtuple(
        "ProfilerOptions",
        "host_tracer_level python_tracer_level device_tracer_level delay_ms",
        defaults=(2, 0, 1, None),
        module=__name__,
    ),
)


ProfilerOptions.__doc__ = "What TensorFlow's profiler looks at; accepted for compatibility."


@export("profiler.experimental.start")
def start(logdir, options=None):
    """Starts profiling.

    Args:
        logdir: the directory the profile is to be written into.
        options: accepted for compatibility.

    Raises:
        AlreadyExistsError: profiling is under way already.
    """
    profile = cProfile.Profile()
    with _lock:
        if _running:
            raise AlreadyExistsError(None, None, "Another profiler is running.")
        _running.append((profile, os.fspath(logdir)))
    try:
        profile.enable()
    except ValueError as error:  # another tool profiles this thread
        _running.clear()
        raise AlreadyExistsError(None, None, f"Another profiler is running: {error}") from error


@export("profiler.experimental.stop")
def stop(save=True):
    """Stops profiling, and writes the profile unless `save` is False.

    Raises:
        UnavailableError: profiling was not started.
    """
    with _lock:
        if not _running:
            raise UnavailableError(
                None, None, "Cannot export profiling results. No profiler is running."
            )
        profile, logdir = _running.pop()
    profile.disable()
    if save:
        moment = datetime.datetime.now().strftime("%Y_%m_%d_%H_%M_%S")
        directory = os.path.join(logdir, "plugins", "profile", moment)
        os.makedirs(directory, exist_ok=True)
        profile.dump_stats(os.path.join(directory, "gradtape.pstats"))


@export("profiler.experimental.Profile")
class Profile:
    """Profiles a `with` block; see `start`."""

    def __init__(self, logdir, options=None):
        self._logdir, self._options = logdir, options

    def __enter__(self):
        start(self._logdir, self._options)

    def __exit__(self, kind, value, traceback):
        stop()


@export("profiler.experimental.Trace")
class Trace:
    """A named step of a program; profiles show functions alone, so that it leaves no trace."""

    def __init__(self, name, **kwargs):
        self._name = name

    def __enter__(self):
        return self

    def set_metadata(self, **kwargs):
        """Accepted for compatibility."""

    def __exit__(self, kind, value, traceback):
        return None
