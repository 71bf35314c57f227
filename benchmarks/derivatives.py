"""What gradtape's derivatives cost in its own terms: further passes, and memory."""

from collections.abc import Mapping
from typing import Any

from client import WorkerProcess
from load import ForeignLoad
from timing import CALM_TURNS, rotated
from venvs import Environment
from workloads.data import EMBEDDING_ROWS, EMBEDDING_WIDTH, JACOBIAN_ROWS, ROWS_IN_FLIGHT

# Each beside the plain gradient, or eager step, that it is measured by.
COSTS = {
    "hvp": "gradient",
    "per_example": "batch_gradient",
    "mlp_function": "mlp_small",
    "chain_function": "scalar_chain",
}
TURN_SECONDS = 0.1


def derivative_costs(environments: Mapping[str, Environment], rounds: int) -> dict[str, Any]:
    """Return the seconds of derivatives and of the gradients they are multiples of, in turns."""
    names = [name for pair in COSTS.items() for name in pair]
    best = dict.fromkeys(names, float("inf"))
    calm = dict.fromkeys(names, 0)
    with WorkerProcess("gradtape", environments["gradtape"]) as worker:
        repetitions = {
            name: worker.request("calibrate", workload=name, seconds=TURN_SECONDS)["repetitions"]
            for name in names
        }
        for round_number in range(rounds):
            for name in rotated(names, round_number):
                load = ForeignLoad([worker.process.pid])
                answer = worker.request("time", workload=name, repetitions=repetitions[name])
                best[name] = min(best[name], answer["seconds"])
                calm[name] += load.was_calm()
    enough = min(CALM_TURNS, rounds)
    return {"seconds": best, "disturbed": [name for name in names if calm[name] < enough]}


def recomputation(environments: Mapping[str, Environment]) -> dict[str, Any]:
    """Return the peaks with activations kept and recomputed, and whether gradients are equal."""
    with WorkerProcess("gradtape", environments["gradtape"]) as worker:
        kept = worker.request("traced", workload="kept")
        again = worker.request("traced", workload="recomputed")
    return {
        "kept_bytes": kept["peak_bytes"],
        "recomputed_bytes": again["peak_bytes"],
        "equal": kept["digest"] == again["digest"],
    }


def sparse_memory(environments: Mapping[str, Environment]) -> dict[str, Any]:
    """Return the peak of what a training step of an embedding allocates, and the table's size."""
    with WorkerProcess("gradtape", environments["gradtape"]) as worker:
        traced = worker.request("traced", workload="embedding")
    return {
        "peak_bytes": traced["peak_bytes"],
        "table_bytes": 4 * EMBEDDING_ROWS * EMBEDDING_WIDTH,
    }


def function_memory(environments: Mapping[str, Environment]) -> dict[str, Any]:
    """Return the peaks of what a deep network's step allocates, eager and as a function."""
    with WorkerProcess("gradtape", environments["gradtape"]) as worker:
        eager = worker.request("traced", workload="mlp_64_layers")
        function = worker.request("traced", workload="mlp_64_layers_function")
    return {"eager_bytes": eager["peak_bytes"], "function_bytes": function["peak_bytes"]}


def rows_in_flight(environments: Mapping[str, Environment]) -> dict[str, Any]:
    """Return the peak of a Jacobian with few rows in flight, and what it should be.

    That is the result, and of what all rows at once need the share of the few.
    """
    with WorkerProcess("gradtape", environments["gradtape"]) as worker:
        everything = worker.request("traced", workload="all_rows")
        some = worker.request("traced", workload="some_rows")
    share = ROWS_IN_FLIGHT / JACOBIAN_ROWS
    return {
        "promised_bytes": everything["result_bytes"] + share * everything["peak_bytes"],
        "peak_bytes": some["peak_bytes"],
        "all_rows_bytes": everything["peak_bytes"],
    }
