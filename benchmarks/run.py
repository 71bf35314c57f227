"""Compares gradtape with its peers in one run: `python benchmarks/run.py --help`."""

import argparse
import datetime
import os
import platform
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import derivatives
import footprint
import op_speed
import report
import venvs
from client import WorkerError, WorkerProcess
from contenders import CONTENDERS, FIELDS, KERAS, field_of, takes_part
from targets import verdicts
from timing import DisagreementError, Pace, time_in_turns
from venvs import Environment, InstallError
from workloads.data import TIMED

FOOTPRINTS = report.FIGURES
EXPERIMENTS = (*TIMED, *FOOTPRINTS)
PEERS = tuple(name for name in CONTENDERS if name != "gradtape")
PLOT = Path(__file__).resolve().with_name("plot.py")
# Only a complete run is a result to keep; anything less is written where nothing is committed.
COMMITTED = Path(__file__).resolve().with_name("results")
PARTIAL = venvs.BENCH / "partial"


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only",
        type=names_of(EXPERIMENTS),
        default=EXPERIMENTS,
        metavar="NAME[,NAME]",
        help=f"experiments to run: {', '.join(EXPERIMENTS)}",
    )
    parser.add_argument(
        "--peers",
        type=names_of(PEERS),
        default=PEERS,
        metavar="NAME[,NAME]",
        help=f"peers to compare with: {', '.join(PEERS)}",
    )
    parser.add_argument(
        "--rounds", type=at_least_one, help="turns of each contender (default 12, quick 3)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer and shorter turns")
    parser.add_argument(
        "--venvs",
        type=existing_folder,
        metavar="DIR",
        help="take environments from DIR and install nothing",
    )
    return parser.parse_args()


def names_of(known: tuple[str, ...]):
    """Return a parser of comma-separated names that refuses unknown ones."""

    def parse(text: str) -> tuple[str, ...]:
        names = tuple(name.strip() for name in text.split(",") if name.strip())
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"unknown {name!r}; known: {', '.join(known)}")
        return names

    return parse


def at_least_one(text: str) -> int:
    """Parse a positive number."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, got {text!r}")
    return int(text)


def existing_folder(text: str) -> Path:
    """Parse the path of a folder."""
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"no such folder: {text}")
    return Path(text).absolute()


def gather_environments(
    contenders: list[str], folder: Path | None, left_out: dict[str, str]
) -> dict[str, Environment]:
    """Return the environments that could be had; why the others could not goes to `left_out`."""
    environments: dict[str, Environment] = {}
    for name in dict.fromkeys(CONTENDERS[contender].environment for contender in contenders):
        try:
            environments[name] = venvs.find(name, folder) if folder else venvs.install(name)
        except InstallError as error:
            left_out[name] = without_paths(str(error))
            print(f"{name} is left out: {error}", file=sys.stderr)
    return environments


def start_workers(
    field: str,
    contenders: list[str],
    environments: dict[str, Environment],
    left_out: dict[str, str],
    stack: ExitStack,
) -> dict[str, WorkerProcess]:
    """Start a worker for each contender of a field; why one cannot start goes to `left_out`."""
    workers = {}
    for name in contenders:
        contender = FIELDS[field].get(name)
        environment = environments.get(contender.environment) if contender else None
        if contender is None or environment is None:
            continue
        try:
            workers[name] = stack.enter_context(WorkerProcess(name, environment, field))
        except WorkerError as error:
            left_out[contender.label] = without_paths(str(error))
            print(f"{contender.label} is left out: {error}", file=sys.stderr)
    return workers


def run_timed(
    workloads: list[str], workers: dict[str, WorkerProcess], pace: Pace
) -> dict[str, Any]:
    """Time the workloads one after another."""
    timed: dict[str, Any] = {}
    for workload in workloads:
        print(f"timing {workload}", flush=True)
        kind = TIMED[workload].kind
        entrants = {n: w for n, w in workers.items() if takes_part(n, workload, kind)}
        try:
            timed[workload] = time_in_turns(entrants, workload, pace)
        except DisagreementError as error:
            timed[workload] = {"error": f"the contenders disagree: {error}"}
    return timed


def run_footprints(
    names: list[str], environments: dict[str, Environment], quick: bool
) -> dict[str, Any]:
    """Measure what is not a time per step; a failure is part of the result."""
    steps = footprint.TRAINING_STEPS // (10 if quick else 1)
    measurements = {
        "tape_length": lambda: footprint.tape_length(environments, rounds=1 if quick else 3),
        "import_time": lambda: footprint.import_times(environments, rounds=3 if quick else 15),
        "keras_import": lambda: footprint.keras_import(environments, rounds=3 if quick else 15),
        "wheel": lambda: footprint.wheel(environments),
        "training_memory": lambda: footprint.training_memory(environments, steps),
        "peak_memory": lambda: footprint.peak_memory(environments, rounds=1 if quick else 3),
        "derivative_costs": lambda: derivatives.derivative_costs(environments, 3 if quick else 12),
        "recomputation": lambda: derivatives.recomputation(environments),
        "rows_in_flight": lambda: derivatives.rows_in_flight(environments),
        "sparse_memory": lambda: derivatives.sparse_memory(environments),
        "function_memory": lambda: derivatives.function_memory(environments),
        "op_speed": lambda: op_speed.op_speed(
            environments, turn_seconds=0.05 if quick else 0.2, attempts=2 if quick else 5
        ),
    }
    figures: dict[str, Any] = {}
    for name in names:
        print(f"measuring {name}", flush=True)
        try:
            figures[name] = measurements[name]()
        except (WorkerError, InstallError) as error:
            figures[name] = {"error": without_paths(str(error))}
    return figures


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Carry out the chosen experiments and return everything measured."""
    contenders = ["gradtape", *options.peers]
    pace = Pace(3, 0.05) if options.quick else Pace(12, 0.15)
    if options.rounds:
        pace = replace(pace, rounds=options.rounds)
    left_out: dict[str, str] = {}
    environments = gather_environments(contenders, options.venvs, left_out)
    workloads = [name for name in options.only if name in TIMED]
    footprints = [name for name in options.only if name in FOOTPRINTS]
    versions, timed = {}, {}
    for field in FIELDS:
        chosen = [name for name in workloads if field_of(TIMED[name].kind) == field]
        # The libraries are asked for their versions in any case.
        if not chosen and field == "keras":
            continue
        with ExitStack() as stack:
            workers = start_workers(field, contenders, environments, left_out, stack)
            for name, worker in workers.items():
                versions[name if field == "libraries" else field] = worker.versions["library"]
            timed |= run_timed(chosen, workers, pace)
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "quick": options.quick,
        "rounds": pace.rounds,
        "versions": {"Python": platform.python_version()} | versions,
        "left_out": left_out,
        "timed": timed,
        **run_footprints(footprints, environments, options.quick),
    }


def without_paths(message: str) -> str:
    """Return a message fit for a file that is committed."""
    for path, name in ((venvs.ROOT, "."), (Path(sys.prefix), "python"), (Path.home(), "~")):
        message = message.replace(str(path), name)
    return message


def draw_plot(folder: Path) -> None:
    """Draw the results, in another environment if this one has no matplotlib."""
    try:
        python = venvs.for_plotting().python
        subprocess.run([python, PLOT, folder], check=True)
    except (InstallError, subprocess.CalledProcessError) as error:
        print(f"no plot: {error}", file=sys.stderr)


def gradtape_failed(results: dict[str, Any]) -> bool:
    """Return whether gradtape went unmeasured somewhere; a missing peer is no failure."""
    measured = [*results["timed"].values(), *(results.get(name, {}) for name in FOOTPRINTS)]
    ours = {"gradtape", KERAS["gradtape"].label}
    return bool(ours & results["left_out"].keys()) or any(
        "error" in figures or "gradtape" in figures.get("left_out", {}) for figures in measured
    )


def main() -> int:
    """Run, print and write; the status is 1 if gradtape could not be measured somewhere."""
    options = parse_arguments()
    results = run(options)
    judged = verdicts(results)
    results["targets"] = [asdict(verdict) for verdict in judged]
    text = report.tables(results, judged)
    print("\n" + text)
    complete = (options.only, options.peers, options.quick) == (EXPERIMENTS, PEERS, False)
    folder = COMMITTED if complete else PARTIAL
    report.write(results, text, folder)
    if results["timed"]:
        draw_plot(folder)
    print(f"written to {folder.relative_to(venvs.ROOT)}")
    return int(gradtape_failed(results))


if __name__ == "__main__":
    sys.exit(main())
