"""Where random ops without a stateless seed get their key and counter from.

A random op has two seeds: the global one, set by `set_seed`, and the op's own. With neither, its
numbers are unpredictable. With a global seed only, each call draws an op seed from a Python
`random.Random` seeded alike. With an op seed, calls of the same op with the same two seeds
continue one stream, until `set_seed` starts all streams afresh.

`capture` takes a snapshot of all that, and of whatever else `also_capture` was told of, so that
what follows can be run again with the same random numbers.
"""

import os
import random
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

from .active import thread

_SEED_MODULUS = 2**31 - 1
# Stands for the global seed of an op that has a seed while the program has none.
_DEFAULT_GLOBAL_SEED = 87654321
_HIGHER_COUNTER = 64


def _entropy() -> tuple[int, int]:
    """An unpredictable key and start counter."""
    return int.from_bytes(os.urandom(8)), int.from_bytes(os.urandom(8)) << _HIGHER_COUNTER


class Snapshot:
    """The random state of the program at one moment."""

    def __init__(self, restorers: list[Callable[[], None]]) -> None:
        self._restorers = restorers

    def restore(self) -> None:
        """Go back to that moment; may be done any number of times."""
        for restorer in self._restorers:
            restorer()


class _SeedState:
    """The seeds of the program, shared by its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._global_seed: int | None = None
        self._op_seeds = random.Random()
        self._streams: dict[Hashable, int] = {}
        self._unseeded_key, self._unseeded_counter = _entropy()
        self._captures = [self._capture]
        self._resets: list[Callable[[], None]] = []

    def set_seed(self, seed: object) -> None:
        """Make the random ops that follow a function of ``seed``; None makes them unpredictable."""
        number = as_number("seed", seed)
        with self._lock:
            self._global_seed = None if number is None else int(number % _SEED_MODULUS)
            self._op_seeds = random.Random(number)
            self._streams.clear()
        for reset in self._resets:
            reset()

    def seeds(self, op_seed: object = None) -> tuple[int | None, int | None]:
        """The global and the op seed an op uses now; draws an op seed if it has to."""
        number = as_number("seed", op_seed)
        with self._lock:
            return self._seeds(number)

    def reserve(self, op: Hashable, op_seed: object, blocks: int) -> tuple[int, int]:
        """Key and counter for the next ``blocks`` blocks of an op.

        Args:
            op: identifies ops that share a stream: the op's type and its dtypes.
            op_seed: the op's own seed, or None.
            blocks: how far the op's stream advances.
        """
        number = as_number("seed", op_seed)
        with self._lock:
            global_seed, own_seed = self._seeds(number)
            if global_seed is None or own_seed is None:
                counter = self._unseeded_counter
                self._unseeded_counter += blocks
                return self._unseeded_key, counter
            start = own_seed << _HIGHER_COUNTER
            if number is None:
                # Seeds drawn here are not met again: no need to remember where they ended.
                return global_seed, start
            stream = (op, global_seed, own_seed)
            counter = self._streams.get(stream, start)
            self._streams[stream] = counter + blocks
            return global_seed, counter

    def also_capture(self, capture: Callable[[], Callable[[], None]]) -> None:
        """Have snapshots call ``capture``, which returns a function that undoes later changes."""
        self._captures.append(capture)

    def also_reset(self, reset: Callable[[], None]) -> None:
        """Have `set_seed` call ``reset`` too."""
        self._resets.append(reset)

    def capture(self) -> Snapshot:
        """A snapshot of the random state, which can be restored."""
        return Snapshot([capture() for capture in self._captures])

    def _capture(self) -> Callable[[], None]:
        with self._lock:
            global_seed, op_seeds = self._global_seed, self._op_seeds.getstate()
            streams = dict(self._streams)
            unseeded = self._unseeded_key, self._unseeded_counter

        def restore() -> None:
            with self._lock:
                self._global_seed = global_seed
                self._op_seeds.setstate(op_seeds)
                self._streams = dict(streams)
                self._unseeded_key, self._unseeded_counter = unseeded

        return restore

    def _seeds(self, op_seed: float | None) -> tuple[int | None, int | None]:
        if op_seed is not None:
            own_seed = int(op_seed % _SEED_MODULUS)
            global_seed = self._global_seed
            if global_seed is None:
                global_seed = _DEFAULT_GLOBAL_SEED
        elif self._global_seed is not None:
            global_seed, own_seed = self._global_seed, self._op_seeds.randint(0, _SEED_MODULUS)
        else:
            return None, None
        # A pair of zeros would ask for unpredictable numbers.
        return (0, _SEED_MODULUS) if global_seed == own_seed == 0 else (global_seed, own_seed)


def as_number(name: str, value: object) -> int | float | None:
    """A seed as a Python number: accepts NumPy and tensor scalars."""
    if value is None or type(value) is int:
        return value
    if isinstance(value, (int, float)):
        return value if isinstance(value, float) else int(value)
    if isinstance(value, (str, bytes)) or not hasattr(value, "__int__"):
        raise TypeError(f"{name} must be an integer or None. Received: {name}={value!r}")
    return int(value)  # pyright: ignore[reportArgumentType]


class SameDraws:
    """Has code that runs once more draw the random numbers it drew the first time.

    While a function is traced the random state is not at hand. There the starts of all draws are
    kept in their order, and come again in that order.
    """

    def __init__(self) -> None:
        self._before: Snapshot | None = None
        self._starts: list[Any] = []

    @contextmanager
    def first_time(self) -> Iterator[None]:
        """The context of the first run."""
        if thread.trace is None:
            self._before = capture()
            yield
            return
        outside = thread.kept_starts
        thread.kept_starts = (*outside, self._starts)
        try:
            yield
        finally:
            thread.kept_starts = outside

    @contextmanager
    def again(self) -> Iterator[None]:
        """The context of another run."""
        if self._before is not None:
            after = capture()
            self._before.restore()
            try:
                yield
            finally:
                after.restore()
            return
        outside = thread.starts
        thread.starts = iter(self._starts)
        try:
            yield
        finally:
            thread.starts = outside


def start_of(draw: Callable[[], Any]) -> Any:
    """Where a draw starts: what `draw` says, or what it said the first time."""
    start = draw() if thread.starts is None else next(thread.starts)
    for starts in thread.kept_starts:
        starts.append(start)
    return start


_state = _SeedState()
set_seed = _state.set_seed
seeds = _state.seeds
reserve = _state.reserve
capture = _state.capture
also_capture = _state.also_capture
also_reset = _state.also_reset
