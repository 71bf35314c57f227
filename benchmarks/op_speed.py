"""How long each op takes at a million elements, beside the quickest NumPy code for it."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from client import WorkerError, WorkerProcess
from venvs import Environment
from workloads.numpy_formulations import comparisons, input_array

# NumPy's float32 sums and products in another order; values are compared with the largest.
TOLERANCE = 1e-3
# A slow op gets fewer turns, but at least so many.
FEWEST_TURNS = 3
# How many times as long as NumPy an op may take.
LIMIT = 1.3
# What every call may cost, whatever its size: a view moves no elements and takes no longer.
CALL_SECONDS = 20e-6


def op_speed(
    environments: Mapping[str, Environment], turn_seconds: float, attempts: int
) -> dict[str, Any]:
    """Return for each op the seconds of gradtape and of NumPy, in turns in one process.

    An op that seems too slow is measured again, up to `attempts` times: what disturbs makes nothing
    quicker, so the best times of each are the ones that count.
    """
    seconds: dict[str, dict[str, float]] = {}
    failed: dict[str, str] = {}
    with WorkerProcess("gradtape", environments["gradtape"]) as worker:
        for name in comparisons():
            best = {"gradtape": math.inf, "numpy": math.inf}
            for _ in range(attempts):
                try:
                    answer = worker.request("compare", op=name, seconds=turn_seconds)
                except WorkerError as error:
                    failed[name] = str(error)
                    break
                best = {side: min(best[side], answer[side]) for side in best}
                if is_quick_enough(best):
                    break
            if name not in failed:
                seconds[name] = best
    return {"seconds": seconds, "failed": failed}


def is_quick_enough(seconds: Mapping[str, float]) -> bool:
    """Return whether an op's time is within the limit, or no more than any call may take."""
    return seconds["gradtape"] <= max(LIMIT * seconds["numpy"], CALL_SECONDS)


def ratios(measured: Mapping[str, Any]) -> dict[str, float]:
    """Return gradtape's time divided by NumPy's for each op, the largest first."""
    found = {name: each["gradtape"] / each["numpy"] for name, each in measured["seconds"].items()}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def misses(measured: Mapping[str, Any]) -> list[str]:
    """Return the ops that take longer than they may, the slowest first."""
    seconds = measured["seconds"]
    return [name for name in ratios(measured) if not is_quick_enough(seconds[name])]


def compare(tf: Any, name: str, seconds: float) -> dict[str, float]:
    """Return the best seconds of gradtape and of NumPy for one op.

    Raises:
        ValueError: Their results differ.
    """
    comparison = comparisons()[name]
    tensors = [tf.constant(input_array(each)) for each in comparison.inputs.split()]
    # The very memory of the tensors: how an array happens to be aligned makes a third of the speed.
    arrays = [np.asarray(tensor) for tensor in tensors]
    sides: dict[str, Callable[[], Any]] = {
        "gradtape": lambda: comparison.gradtape(tf, *tensors),
        "numpy": lambda: comparison.numpy(*arrays),
    }
    with np.errstate(all="ignore"):
        if comparison.agrees:
            error = difference(flat(sides["gradtape"]()), flat(sides["numpy"]()))
            if error:
                raise ValueError(f"gradtape and NumPy differ: {error}")
        return best_in_turns(sides, seconds)


def best_in_turns(sides: Mapping[str, Callable[[], Any]], seconds: float) -> dict[str, float]:
    """Return the shortest time of each side; they take turns call by call."""
    best = dict.fromkeys(sides, math.inf)
    stop, turns = time.perf_counter() + seconds, 0
    while turns < FEWEST_TURNS or time.perf_counter() < stop:
        for name in sorted(sides, reverse=bool(turns % 2)):
            start = time.perf_counter()
            result = sides[name]()
            best[name] = min(best[name], time.perf_counter() - start)
            del result
        turns += 1
    return best


def flat(result: Any) -> list[np.ndarray]:
    """Return the arrays of a result that may be a tensor, an array or several of them."""
    if isinstance(result, (list, tuple)):
        return [array for each in result for array in flat(each)]
    return [np.asarray(result)]


def difference(results: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> str:
    """Return how the results of gradtape and of NumPy differ; nothing if they agree."""
    if [array.shape for array in results] != [array.shape for array in expected]:
        shapes = [[array.shape for array in arrays] for arrays in (results, expected)]
        return f"shapes differ: {shapes[0]} and {shapes[1]}"
    for array, wanted in zip(results, expected, strict=True):
        finite = wanted[np.isfinite(wanted)] if wanted.dtype.kind in "fc" else wanted
        scale = float(np.max(np.abs(finite), initial=0)) or 1.0
        if not np.allclose(array, wanted, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True):
            return "values differ"
    return ""
