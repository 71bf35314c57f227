"""What is not a time per step: length of the tape, imports, the wheel, memory."""

import os
import subprocess
import tempfile
import time
from collections.abc import Container, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import venvs
from client import QUIET, WorkerError, WorkerProcess
from contenders import CONTENDERS
from load import ForeignLoad
from timing import rotated
from venvs import Environment

TAPE_LENGTHS = (1_000, 1_000_000)
TRAINING_STEPS = 100_000
WARM_UP_STEPS = 2_000
# Setting glibc's threshold keeps it where it starts, instead of rising with what is freed.
HAND_BACK = {"MALLOC_MMAP_THRESHOLD_": "131072"}


def tape_length(environments: Mapping[str, Environment], rounds: int) -> dict[str, Any]:
    """Return gradtape's seconds per op for a short and a long tape, in turns."""
    best = dict.fromkeys(TAPE_LENGTHS, float("inf"))
    calm = dict.fromkeys(TAPE_LENGTHS, 0)
    with WorkerProcess("gradtape", environments["gradtape"]) as worker:
        for _ in range(rounds):
            for length in TAPE_LENGTHS:
                repetitions = max(1, 100_000 // length)
                # Only the short tape needs warming; the long one takes seconds by itself.
                load = ForeignLoad([worker.process.pid])
                seconds = worker.request(
                    "time",
                    workload=f"tape_{length}",
                    repetitions=repetitions,
                    warm_up=repetitions > 1,
                )["seconds"]
                best[length] = min(best[length], seconds / length)
                calm[length] += load.was_calm()
    return {
        "seconds_per_op": {str(length): seconds for length, seconds in best.items()},
        "disturbed": [f"{length:,} ops" for length in TAPE_LENGTHS if not calm[length]],
    }


def import_times(environments: Mapping[str, Environment], rounds: int) -> dict[str, Any]:
    """Return the seconds that `python -c "import LIBRARY"` takes, by library, in turns."""
    places = {
        contender.library: environments[contender.environment]
        for contender in CONTENDERS.values()
        if contender.environment in environments
    }
    # The difference of two fast imports needs more rounds than the slow ones can have.
    return imports_in_turns(places, rounds, every_round=("gradtape", "numpy"))


def imports_in_turns(
    places: Mapping[str, Environment], rounds: int, every_round: Container[str]
) -> dict[str, Any]:
    """Return the shortest time of each import; three rounds do for those not in `every_round`."""
    best = dict.fromkeys(places, float("inf"))
    calm = dict.fromkeys(places, 0)
    left_out: dict[str, str] = {}
    for round_number in range(rounds):
        for library in rotated(list(best), round_number):
            if round_number >= 3 and library not in every_round:
                continue
            load = ForeignLoad()
            try:
                best[library] = min(best[library], import_seconds(library, places[library]))
                calm[library] += load.was_calm()
            except subprocess.CalledProcessError as error:
                left_out[library] = error.stderr.strip().splitlines()[-1]
                del best[library]
    return {
        "seconds": best,
        "left_out": left_out,
        "disturbed": [library for library in best if not calm[library]],
    }


def keras_import(environments: Mapping[str, Environment], rounds: int) -> dict[str, Any]:
    """Return the seconds to import Keras on gradtape, and on NumPy, in turns.

    Keras's NumPy backend imports JAX, so it is measured where JAX is.
    """
    places = {}
    if "gradtape" in environments:
        places["gradtape.keras"] = environments["gradtape"]
    if "jax" in environments:
        variables = environments["jax"].variables | {"KERAS_BACKEND": "numpy"}
        places["keras"] = replace(environments["jax"], variables=variables)
    return imports_in_turns(places, rounds, every_round=places)


def import_seconds(library: str, environment: Environment) -> float:
    """Return how long a fresh interpreter takes to start, import a library and end."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        subprocess.run(
            [environment.python, "-c", f"import {library}"],
            check=True,
            cwd=folder,
            env=os.environ | QUIET | environment.variables,
            capture_output=True,
            encoding="utf-8",
        )
        return time.perf_counter() - start


def wheel(environments: Mapping[str, Environment]) -> dict[str, Any]:
    """Build the wheel and return its size and its tag."""
    with tempfile.TemporaryDirectory() as folder:
        venvs.pip(
            environments["gradtape"], "wheel", "--no-deps", "--wheel-dir", folder, str(venvs.ROOT)
        )
        (path,) = Path(folder).glob("*.whl")
        return {"bytes": path.stat().st_size, "tag": path.stem.split("-", 2)[2]}


def training_memory(environments: Mapping[str, Environment], steps: int) -> dict[str, Any]:
    """Return how much memory gradtape's training steps add with the garbage collector off."""
    with WorkerProcess("gradtape", environments["gradtape"]) as worker:
        answer = worker.request(
            "growth", workload="linear_model", warm_up=WARM_UP_STEPS, steps=steps
        )
    return {"steps": steps, "growth_bytes": answer["growth_bytes"]}


def peak_memory(environments: Mapping[str, Environment], rounds: int) -> dict[str, Any]:
    """Return the memory that one step of a 64-layer network needs, each in a fresh process.

    Twice: as the C library manages memory, and with freed arrays handed back to the system at
    once, which shows what a library really holds.
    """
    peaks: dict[str, dict[str, int]] = {"peak_bytes": {}, "held_bytes": {}}
    left_out: dict[str, str] = {}
    for name in [name for name in ("gradtape", "torch") if name in environments] * rounds:
        usual = environments[name]
        handing_back = replace(usual, variables=usual.variables | HAND_BACK)
        for figure, environment in (("peak_bytes", usual), ("held_bytes", handing_back)):
            try:
                with WorkerProcess(name, environment) as worker:
                    answer = worker.request(
                        "peak", warm_up="mlp_2_layers", workload="mlp_64_layers"
                    )
            except WorkerError as error:
                left_out[name] = str(error)
                continue
            best = peaks[figure]
            best[name] = min(best.get(name, answer["peak_bytes"]), answer["peak_bytes"])
    return {**peaks, "left_out": left_out}
