"""What gradtape is to reach, and whether a run reached it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from contenders import label_of
from derivatives import COSTS
from footprint import TAPE_LENGTHS, TRAINING_STEPS
from op_speed import LIMIT, misses, ratios
from workloads.data import TIMED, described

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class SpeedTarget:
    """The time of a workload, as a multiple of a peer's, that gradtape must not exceed."""

    workload: str
    peer: str
    limit: float
    limit_text: str


@dataclass(frozen=True)
class Verdict:
    """A target beside what was measured; `mark` is one of those below."""

    what: str
    measured: str
    target: str
    mark: str


PASS, MISS = "pass", "MISS"
# Other programs ran meanwhile, which slows some libraries far more than others: proof of nothing.
DISTURBED = "disturbed"
NOT_MEASURED = "-"


SPEED_TARGETS = (
    SpeedTarget("scalar_chain", "tensorflow", 1 / 25, "1/25 (0.040)"),
    SpeedTarget("scalar_chain", "torch", 1 / 2, "1/2 (0.500)"),
    SpeedTarget("vector_chain", "numpy", 3.0, "3"),
    SpeedTarget("mlp_small", "torch", 1.0, "1"),
    SpeedTarget("mlp_small", "tensorflow", 1 / 12, "1/12 (0.083)"),
    SpeedTarget("mlp_large", "torch", 1.1, "1.1"),
    SpeedTarget("rnn", "torch", 1.0, "1"),
    SpeedTarget("transformer", "torch", 1.3, "1.3"),
    SpeedTarget("cnn", "torch", 1.0, "1"),
    SpeedTarget("embedding", "torch", 1.0, "1"),
    SpeedTarget("embedding", "tensorflow", 1 / 10, "1/10 (0.100)"),
    SpeedTarget("jacobian", "torch", 1.0, "1"),
    SpeedTarget("jacobian", "tensorflow", 1 / 100, "1/100 (0.010)"),
    SpeedTarget("batch_jacobian", "torch", 1.0, "1"),
    SpeedTarget("hessian", "torch", 1 / 2, "1/2 (0.500)"),
    SpeedTarget("mlp_function", "tensorflow", 1 / 3, "1/3 (0.333)"),
    SpeedTarget("first_call", "tensorflow", 1 / 3, "1/3 (0.333)"),
    SpeedTarget("fit_mlp", "tensorflow", 1.0, "1"),
    SpeedTarget("fit_mlp", "torch", 1.0, "1"),
    SpeedTarget("fit_mlp", "jax", 1.0, "1"),
    SpeedTarget("fit_cnn", "tensorflow", 1.0, "1"),
    SpeedTarget("fit_cnn", "torch", 1.0, "1"),
    SpeedTarget("fit_cnn", "jax", 1.0, "1"),
    SpeedTarget("fit_dataset", "tensorflow", 1.0, "1"),
    SpeedTarget("keras_step", "tensorflow", 1 / 3, "1/3 (0.333)"),
)
COST_LIMITS = {"hvp": 4.0, "per_example": 3.0, "mlp_function": 0.5, "chain_function": 0.5}
RECOMPUTATION_SAVING = 4.0
ROWS_IN_FLIGHT_LIMIT = 1.1
SPARSE_MEMORY_LIMIT = 0.1
LONG_TAPE_LIMIT = 1.5
IMPORT_LIMIT_SECONDS = 0.080
KERAS_IMPORT_LIMIT = 1.1


def mark_of(passed: bool, disturbed: bool = False) -> str:
    """Return the mark of a target that was measured."""
    if disturbed:
        return DISTURBED
    return PASS if passed else MISS


def verdicts(results: dict[str, Any]) -> list[Verdict]:
    """Return a verdict for every target whose experiment was part of the run."""
    found = list(speed_verdicts(results.get("timed", {})))
    if "tape_length" in results:
        found.append(tape_verdict(results["tape_length"]))
    if "import_time" in results:
        found.append(import_verdict(results["import_time"]))
    if "keras_import" in results:
        found.append(keras_import_verdict(results["keras_import"]))
    if "wheel" in results:
        found.append(wheel_verdict(results["wheel"]))
    if "training_memory" in results:
        found.append(growth_verdict(results["training_memory"]))
    if "peak_memory" in results:
        found.extend(peak_verdicts(results["peak_memory"]))
    if "derivative_costs" in results:
        found.extend(cost_verdicts(results["derivative_costs"]))
    if "recomputation" in results:
        found.append(recomputation_verdict(results["recomputation"]))
    if "rows_in_flight" in results:
        found.append(rows_verdict(results["rows_in_flight"]))
    if "sparse_memory" in results:
        found.append(sparse_verdict(results["sparse_memory"]))
    if "function_memory" in results:
        found.append(function_verdict(results["function_memory"]))
    if "op_speed" in results:
        found.append(op_verdict(results["op_speed"]))
    return found


def speed_verdicts(timed: dict[str, Any]) -> Iterator[Verdict]:
    """Yield a verdict for each speed target of the workloads that were timed."""
    for target in SPEED_TARGETS:
        if target.workload not in timed:
            continue
        best = timed[target.workload].get("best", {})
        described_by = TIMED[target.workload]
        what = f"{described_by.title}: time / {label_of(target.peer, described_by.kind)}"
        limit = f"<= {target.limit_text}"
        if "gradtape" not in best or target.peer not in best:
            yield Verdict(what, "not measured", limit, NOT_MEASURED)
            continue
        ratio = best["gradtape"] / best[target.peer]
        disturbed = {"gradtape", target.peer} & set(timed[target.workload]["disturbed"])
        mark = mark_of(ratio <= target.limit, bool(disturbed))
        yield Verdict(what, f"{ratio:.3f}", limit, mark)


def tape_verdict(result: dict[str, Any]) -> Verdict:
    """Judge the cost per op of a long tape against a short one."""
    short, long = TAPE_LENGTHS
    what = f"cost per op: {long:,}-op tape / {short:,}-op tape"
    limit = f"<= {LONG_TAPE_LIMIT}"
    if "error" in result:
        return Verdict(what, "not measured", limit, NOT_MEASURED)
    seconds = result["seconds_per_op"]
    ratio = seconds[str(long)] / seconds[str(short)]
    mark = mark_of(ratio <= LONG_TAPE_LIMIT, bool(result["disturbed"]))
    return Verdict(what, f"{ratio:.2f}", limit, mark)


def import_verdict(result: dict[str, Any]) -> Verdict:
    """Judge the time of the import beyond NumPy's own."""
    what = "import time above NumPy's"
    limit = f"<= {IMPORT_LIMIT_SECONDS * 1e3:.0f} ms"
    seconds = result.get("seconds", {})
    if "gradtape" not in seconds or "numpy" not in seconds:
        return Verdict(what, "not measured", limit, NOT_MEASURED)
    extra = seconds["gradtape"] - seconds["numpy"]
    disturbed = {"gradtape", "numpy"} & set(result["disturbed"])
    mark = mark_of(extra <= IMPORT_LIMIT_SECONDS, bool(disturbed))
    return Verdict(what, f"{extra * 1e3:.0f} ms", limit, mark)


def keras_import_verdict(result: dict[str, Any]) -> Verdict:
    """Judge the import of Keras on gradtape by Keras's own, on its NumPy backend."""
    what, limit = (
        "`import gradtape.keras`: time / `import keras` on NumPy",
        f"<= {KERAS_IMPORT_LIMIT}",
    )
    seconds = result.get("seconds", {})
    if not {"gradtape.keras", "keras"} <= seconds.keys():
        return Verdict(what, "not measured", limit, NOT_MEASURED)
    ratio = seconds["gradtape.keras"] / seconds["keras"]
    mark = mark_of(ratio <= KERAS_IMPORT_LIMIT, bool(result["disturbed"]))
    return Verdict(what, f"{ratio:.2f}", limit, mark)


def wheel_verdict(result: dict[str, Any]) -> Verdict:
    """Judge the wheel: small, and the same for every platform."""
    what, limit = "wheel", "<= 1 MB, py3-none-any"
    if "error" in result:
        return Verdict(what, "not measured", limit, NOT_MEASURED)
    passed = result["bytes"] <= MEGABYTE and result["tag"] == "py3-none-any"
    return Verdict(
        what, f"{result['bytes'] / MEGABYTE:.2f} MB, {result['tag']}", limit, mark_of(passed)
    )


def growth_verdict(result: dict[str, Any]) -> Verdict:
    """Judge the memory that training without the garbage collector adds."""
    steps = result.get("steps", TRAINING_STEPS)
    what, limit = f"memory growth of {steps:,} training steps, no gc", "< 1 MB"
    if "error" in result:
        return Verdict(what, "not measured", limit, NOT_MEASURED)
    grown = result["growth_bytes"]
    return Verdict(what, f"{grown / MEGABYTE:.2f} MB", limit, mark_of(grown < MEGABYTE))


def peak_verdicts(result: dict[str, Any]) -> Iterator[Verdict]:
    """Judge the peak memory of a deep network's step against PyTorch's."""
    figures = {"peak_bytes": "resident", "held_bytes": "resident, freed arrays handed back"}
    for figure, kind in figures.items():
        what, limit = f"peak memory of a 64-layer MLP step ({kind}) / PyTorch eager", "<= 1"
        peaks = result.get(figure, {})
        if "gradtape" in peaks and "torch" in peaks:
            ratio = peaks["gradtape"] / peaks["torch"]
            yield Verdict(what, f"{ratio:.2f}", limit, mark_of(ratio <= 1))
        else:
            yield Verdict(what, "not measured", limit, NOT_MEASURED)


def cost_verdicts(result: dict[str, Any]) -> Iterator[Verdict]:
    """Judge derivatives by the gradients they are multiples of."""
    for name, measure in COSTS.items():
        what = f"{described(name).title}: time / {described(measure).title}"
        limit = f"<= {COST_LIMITS[name]:g}"
        if "error" in result:
            yield Verdict(what, "not measured", limit, NOT_MEASURED)
            continue
        ratio = result["seconds"][name] / result["seconds"][measure]
        disturbed = {name, measure} & set(result["disturbed"])
        mark = mark_of(ratio <= COST_LIMITS[name], bool(disturbed))
        yield Verdict(what, f"{ratio:.2f}", limit, mark)


def recomputation_verdict(result: dict[str, Any]) -> Verdict:
    """Judge what recomputing saves, and that it changes nothing."""
    what = "64 layers in 8 segments: peak memory kept / recomputed"
    limit = f">= {RECOMPUTATION_SAVING:g}, gradients equal"
    if "error" in result:
        return Verdict(what, "not measured", limit, NOT_MEASURED)
    saving = result["kept_bytes"] / result["recomputed_bytes"]
    words = "equal" if result["equal"] else "NOT equal"
    passed = saving >= RECOMPUTATION_SAVING and result["equal"]
    return Verdict(what, f"{saving:.2f}, gradients {words}", limit, mark_of(passed))


def rows_verdict(result: dict[str, Any]) -> Verdict:
    """Judge the memory of a Jacobian computed some rows at a time."""
    what = "parallel_iterations: peak memory / promised"
    limit = f"<= {ROWS_IN_FLIGHT_LIMIT}"
    if "error" in result:
        return Verdict(what, "not measured", limit, NOT_MEASURED)
    ratio = result["peak_bytes"] / result["promised_bytes"]
    return Verdict(what, f"{ratio:.2f}", limit, mark_of(ratio <= ROWS_IN_FLIGHT_LIMIT))


def sparse_verdict(result: dict[str, Any]) -> Verdict:
    """Judge whether a step that touches few rows of a table allocates anything of its size."""
    what = "embedding step: peak of what is allocated / the table"
    limit = f"< {SPARSE_MEMORY_LIMIT:g}"
    if "error" in result:
        return Verdict(what, "not measured", limit, NOT_MEASURED)
    ratio = result["peak_bytes"] / result["table_bytes"]
    return Verdict(what, f"{ratio:.3f}", limit, mark_of(ratio < SPARSE_MEMORY_LIMIT))


def function_verdict(result: dict[str, Any]) -> Verdict:
    """Judge the memory of a compiled step by the eager one's."""
    what, limit = "64-layer MLP step as a function: peak memory / eager", "<= 1"
    if "error" in result:
        return Verdict(what, "not measured", limit, NOT_MEASURED)
    ratio = result["function_bytes"] / result["eager_bytes"]
    return Verdict(what, f"{ratio:.2f}", limit, mark_of(ratio <= 1))


def op_verdict(result: dict[str, Any]) -> Verdict:
    """Judge every op by its NumPy formulation; the slowest are named."""
    what, limit = f"ops at 1M elements: time / NumPy <= {LIMIT:g}", "all"
    if not result.get("seconds"):
        return Verdict(what, "not measured", limit, NOT_MEASURED)
    measured, slow = ratios(result), misses(result)
    worst = ", ".join(f"{name} {measured[name]:.1f}" for name in slow[:3])
    text = f"{len(measured) - len(slow)} of {len(measured)}" + (f"; {worst}" if slow else "")
    return Verdict(what, text, limit, mark_of(not slow and not result["failed"]))
