"""One contender in a process of its own: reads a JSON request a line, answers each with a line.

Requests are `{"command": NAME, ...arguments}`; an answer holds the result, or `error`.
"""

import gc
import hashlib
import json
import os
import platform
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import memory
import op_speed
from contenders import FIELDS
from workloads.data import described


class Worker:
    """Carries out the requests of the runner for one contender."""

    def __init__(self, field: str, contender: str) -> None:
        self.steps = FIELDS[field][contender].load()

    def versions(self) -> dict[str, str]:
        """Return the versions of the library, of NumPy and of Python."""
        return {
            "library": str(self.steps.version),
            "numpy": np.__version__,
            "python": platform.python_version(),
        }

    def build(self, workload: str) -> Callable[[], Any]:
        """Return a step that starts from the workload's initial parameters."""
        found = described(workload)
        return getattr(self.steps, found.kind)(found.make_data())

    def check(self, workload: str, path: str) -> dict[str, int]:
        """Save the loss and gradients of the first step, for the runner to compare."""
        loss, gradients = self.build(workload)()
        arrays = [self.steps.to_numpy(value) for value in (loss, *gradients)]
        np.savez(Path(path), *arrays)
        return {"arrays": len(arrays)}

    def calibrate(self, workload: str, seconds: float) -> dict[str, int]:
        """Return how many repetitions take about `seconds`."""
        step = self.build(workload)
        step()
        fastest, spent, repetitions = float("inf"), 0.0, 0
        while spent < seconds and repetitions < 1000:
            start = time.perf_counter()
            step()
            elapsed = time.perf_counter() - start
            fastest, spent, repetitions = min(fastest, elapsed), spent + elapsed, repetitions + 1
        return {"repetitions": max(1, round(seconds / fastest))}

    def time(self, workload: str, repetitions: int, warm_up: bool = True) -> dict[str, float]:
        """Return seconds per step."""
        step = self.build(workload)
        if warm_up:
            step()
        gc.collect()
        start = time.perf_counter()
        for _ in range(repetitions):
            step()
        elapsed = time.perf_counter() - start
        return {"seconds": elapsed / repetitions / described(workload).steps}

    def compare(self, op: str, seconds: float) -> dict[str, Any]:
        """Return the times of one op and of its NumPy formulation."""
        return op_speed.compare(self.steps.tf, op, seconds)

    def growth(self, workload: str, warm_up: int, steps: int) -> dict[str, int]:
        """Return how much resident memory `steps` steps add with the garbage collector off."""
        step = self.build(workload)
        gc.collect()
        gc.disable()
        for _ in range(warm_up):
            step()
        before = memory.resident_bytes()
        for _ in range(steps):
            step()
        grown = memory.resident_bytes() - before
        gc.enable()
        return {"growth_bytes": grown}

    def peak(self, warm_up: str, workload: str) -> dict[str, int]:
        """Return the peak of resident memory during one step, above what there was before it."""
        self.build(warm_up)()
        step = self.build(workload)
        gc.collect()
        memory.return_free_memory()
        before = memory.resident_bytes()
        memory.reset_peak()
        result = step()
        peak = memory.peak_bytes() - before
        # Alive until here: a training loop holds loss and gradients at the end of its step.
        del result
        return {"peak_bytes": peak}

    def traced(self, workload: str) -> dict[str, Any]:
        """Return the peak of what one step allocates, and what identifies its results bit by bit.

        NumPy reports its arrays to tracemalloc, so nothing but what is really held is counted.
        """
        step = self.build(workload)
        step()
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        loss, gradients = step()
        peak = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
        arrays = [self.steps.to_numpy(value) for value in (loss, *gradients)]
        digest = hashlib.sha256()
        for array in arrays:
            digest.update(array.tobytes())
        sizes = [array.nbytes for array in arrays]
        return {"peak_bytes": peak, "result_bytes": sum(sizes), "digest": digest.hexdigest()}


def answer(worker: Worker, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out one request; an exception becomes an `error`, so that the worker lives on."""
    command = request.pop("command")
    try:
        return getattr(worker, command)(**request)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def main() -> None:
    """Serve requests until standard input ends."""
    # Libraries may print: what they write to standard output goes to standard error instead.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        worker = Worker(*sys.argv[1:])
        first = worker.versions()
    except Exception as error:
        answers.write(json.dumps({"error": f"{type(error).__name__}: {error}"}) + "\n")
        answers.flush()
        raise
    answers.write(json.dumps(first) + "\n")
    answers.flush()
    for line in sys.stdin:
        answers.write(json.dumps(answer(worker, json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
