"""How busy other programs keep the processor: one can slow a threaded library a hundredfold."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

PROC = Path("/proc")
# A measurement is calm if other programs used less than this much of a core meanwhile.
CALM_CORES = 0.3


class ForeignLoad:
    """Counts the processor time used by processes other than ours, from its making on."""

    def __init__(self, ours: Iterable[int] = ()) -> None:
        self.ours = [os.getpid(), *ours]
        self.started = time.perf_counter()
        self.foreign_at_start = self.foreign_ticks()

    def cores(self) -> float:
        """Return how many cores others kept busy on average; 0 where the system does not tell."""
        ticks = self.foreign_ticks() - self.foreign_at_start
        elapsed = time.perf_counter() - self.started
        return ticks / os.sysconf("SC_CLK_TCK") / elapsed if ticks else 0.0

    def was_calm(self) -> bool:
        """Return whether others used so little that what ran since the start may be trusted."""
        return self.cores() < CALM_CORES

    def foreign_ticks(self) -> int:
        """Return the clock ticks that all processors spent on others so far."""
        if not (PROC / "stat").exists():
            return 0
        all_processors = (PROC / "stat").read_text().partition("\n")[0]
        ticks = [int(field) for field in all_processors.split()[1:9]]
        idle, waiting = ticks[3:5]
        return sum(ticks) - idle - waiting - sum(process_ticks(pid) for pid in self.ours)


def process_ticks(pid: int) -> int:
    """Return the clock ticks spent by a process and those of its children that have ended."""
    try:
        status = (PROC / str(pid) / "stat").read_text()
    except FileNotFoundError:
        return 0
    # The second field is the program's name, in parentheses, and may hold spaces.
    fields = status.rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15])
