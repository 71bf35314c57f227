"""Timing in turns: contenders take turns round by round, and the best turn of each counts."""

import statistics
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from client import WorkerError, WorkerProcess
from load import ForeignLoad

# float32 sums in another order, and another library's tanh: far below any error in the maths.
TOLERANCE = 2e-4
# Threads of the last contender may still spin for a moment after its answer.
PAUSE_SECONDS = 0.05


# A time is trusted if at least so many turns, or all of fewer, were calm.
CALM_TURNS = 3


@dataclass(frozen=True)
class Pace:
    """How long to measure."""

    rounds: int
    turn_seconds: float


class DisagreementError(Exception):
    """Contenders computed different results, so their times cannot be compared."""


def time_in_turns(
    workers: Mapping[str, WorkerProcess], workload: str, pace: Pace
) -> dict[str, Any]:
    """Return each contender's seconds per step for one workload, and how they were measured.

    Where other programs disturb the turns, up to three times as many are taken.

    Raises:
        DisagreementError: The contenders' losses or gradients differ.
    """
    left_out: dict[str, str] = {}
    results = first_results(workers, workload, left_out)
    check_agreement(results)
    repetitions = calibrated(workers, list(results), workload, pace, left_out)
    turns: dict[str, list[float]] = {name: [] for name in repetitions}
    calm = dict.fromkeys(repetitions, 0)
    enough_calm = min(CALM_TURNS, pace.rounds)
    process_ids = [worker.process.pid for worker in workers.values()]
    for round_number in range(3 * pace.rounds):
        if round_number >= pace.rounds and all(calm[name] >= enough_calm for name in turns):
            break
        for name in rotated(list(turns), round_number):
            time.sleep(PAUSE_SECONDS)
            load = ForeignLoad(process_ids)
            try:
                answer = workers[name].request(
                    "time", workload=workload, repetitions=repetitions[name]
                )
            except WorkerError as error:
                left_out[name] = str(error)
                del turns[name]
                continue
            turns[name].append(answer["seconds"])
            calm[name] += load.was_calm()
    return {
        "best": {name: min(seconds) for name, seconds in turns.items()},
        "median": {name: statistics.median(seconds) for name, seconds in turns.items()},
        "turns": {name: len(seconds) for name, seconds in turns.items()},
        "repetitions": {name: repetitions[name] for name in turns},
        "left_out": left_out,
        "disturbed": [name for name in turns if calm[name] < enough_calm],
    }


def calibrated(
    workers: Mapping[str, WorkerProcess],
    names: list[str],
    workload: str,
    pace: Pace,
    left_out: dict[str, str],
) -> dict[str, int]:
    """Return how many repetitions make a turn of each contender; failures go to `left_out`."""
    repetitions = {}
    for name in names:
        try:
            answer = workers[name].request(
                "calibrate", workload=workload, seconds=pace.turn_seconds
            )
            repetitions[name] = answer["repetitions"]
        except WorkerError as error:
            left_out[name] = str(error)
    return repetitions


def first_results(
    workers: Mapping[str, WorkerProcess], workload: str, left_out: dict[str, str]
) -> dict[str, list[np.ndarray]]:
    """Return loss and gradients of each contender's first step; failures go to `left_out`."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, worker in workers.items():
            path = Path(folder) / f"{name}.npz"
            try:
                worker.request("check", workload=workload, path=str(path))
            except WorkerError as error:
                left_out[name] = str(error)
                continue
            with np.load(path) as arrays:
                results[name] = [arrays[key] for key in arrays.files]
    return results


def check_agreement(results: Mapping[str, list[np.ndarray]]) -> None:
    """Compare everyone's results with those of a contender other than gradtape.

    Raises:
        DisagreementError: Numbers, shapes or dtypes differ.
    """
    if not results:
        return
    reference = next((name for name in results if name != "gradtape"), "gradtape")
    largest = max(float(np.max(np.abs(array))) for array in results[reference][1:])
    for name, arrays in results.items():
        if len(arrays) != len(results[reference]):
            raise DisagreementError(f"{name} and {reference} differ in their number of gradients")
        for index, (array, expected) in enumerate(zip(arrays, results[reference], strict=True)):
            what = "loss" if index == 0 else f"gradient {index}"
            if (array.shape, array.dtype) != (expected.shape, expected.dtype):
                raise DisagreementError(
                    f"{what}: {name} has {array.dtype} {array.shape}, "
                    f"{reference} has {expected.dtype} {expected.shape}"
                )
            # A gradient that is zero but for rounding is measured against the largest one.
            scale = max(float(np.max(np.abs(expected))), 1e-3 * largest)
            error = float(np.max(np.abs(array - expected))) / scale
            # Written so that a NaN, which compares false with everything, does not pass.
            if not error <= TOLERANCE:
                raise DisagreementError(f"{what}: {name} and {reference} differ by {error:.1e}")


def rotated(names: list[str], by: int) -> list[str]:
    """Return the names, another one first in each round."""
    start = by % len(names) if names else 0
    return names[start:] + names[:start]
