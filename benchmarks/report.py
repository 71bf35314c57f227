"""The results as tables of text and as files."""

import json
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import op_speed
from contenders import CONTENDERS, FIELDS, field_of
from targets import Verdict
from workloads.data import PROBES, TIMED, described

# Experiments that are no times per step.
FIGURES = (
    "tape_length",
    "import_time",
    "keras_import",
    "wheel",
    "training_memory",
    "peak_memory",
    "derivative_costs",
    "recomputation",
    "rows_in_flight",
    "sparse_memory",
    "function_memory",
    "op_speed",
)

TIME_TABLES = {"libraries": "Time per step", "keras": "Time per step of Keras models"}


def tables(results: dict[str, Any], verdicts: Sequence[Verdict]) -> str:
    """Return the whole report as Markdown, which reads as plain text too."""
    parts = [heading(results)]
    if verdicts:
        rows = [[v.what, v.measured, v.target, v.mark] for v in verdicts]
        parts.append("## Targets\n\n" + table(["gradtape", "measured", "target", ""], rows))
    for field, title in TIME_TABLES.items():
        timed = {
            name: measured
            for name, measured in results.get("timed", {}).items()
            if field_of(TIMED[name].kind) == field
        }
        if timed:
            turns = f"(best of {results['rounds']} turns or more)"
            parts.append(f"## {title} {turns}\n\n{time_table(timed, field)}")
    footprints = [*footprint_rows(results), *derivative_rows(results)]
    if footprints:
        parts.append("## Other figures\n\n" + table(["", "figure"], footprints))
    if results.get("op_speed", {}).get("seconds"):
        parts.append("## Ops at a million elements\n\n" + op_table(results["op_speed"]))
    remarks = list(notes(results))
    if remarks:
        parts.append("## Notes\n\n" + "\n".join(f"- {remark}" for remark in remarks))
    return "\n\n".join(parts) + "\n"


def heading(results: dict[str, Any]) -> str:
    """Return the title and what was run."""
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    lines = ["# Benchmark results", "", f"{results['date']}, {results['cores']} cores; {versions}."]
    if results["quick"]:
        lines += ["", "A quick run: fewer and shorter turns, so coarser figures."]
    return "\n".join(lines)


def time_table(timed: dict[str, Any], field: str) -> str:
    """Return the times of a field's contenders, and how many times gradtape's they are."""
    contenders = FIELDS[field]
    names = [name for name in contenders if any(name in t.get("best", {}) for t in timed.values())]
    rows = []
    for workload, measured in timed.items():
        best = measured.get("best", {})
        row = [TIMED[workload].title]
        for name in names:
            cell = duration(best[name]) if name in best else ""
            if cell and "gradtape" in best and name != "gradtape":
                cell += f" ({best[name] / best['gradtape']:.2g}x)"
            row.append(cell)
        rows.append(row)
    return table(["", *(contenders[name].label for name in names)], rows)


def footprint_rows(results: dict[str, Any]) -> Iterator[list[str]]:
    """Yield a name and a figure for everything that is not a time per step."""
    for length, seconds in results.get("tape_length", {}).get("seconds_per_op", {}).items():
        yield [f"gradtape, per op of a {int(length):,}-op tape", duration(seconds)]
    for library, seconds in results.get("import_time", {}).get("seconds", {}).items():
        yield [f'`python -c "import {library}"`', duration(seconds)]
    for library, seconds in results.get("keras_import", {}).get("seconds", {}).items():
        backend = "" if library == "gradtape.keras" else ", on its NumPy backend"
        yield [f'`python -c "import {library}"`{backend}', duration(seconds)]
    if "bytes" in results.get("wheel", {}):
        yield ["wheel", f"{results['wheel']['bytes'] / 1e3:.0f} kB"]
    if "growth_bytes" in results.get("training_memory", {}):
        grown = results["training_memory"]
        yield [
            f"growth of {grown['steps']:,} training steps",
            f"{grown['growth_bytes'] / 1e3:.0f} kB",
        ]
    peaks = results.get("peak_memory", {})
    for name, peak in peaks.get("peak_bytes", {}).items():
        held = peaks["held_bytes"].get(name, 0)
        figure = f"{peak / 1e6:.1f} MB; {held / 1e6:.1f} MB with freed arrays handed back"
        yield [f"peak of a 64-layer MLP step, {CONTENDERS[name].label}", figure]


def derivative_rows(results: dict[str, Any]) -> Iterator[list[str]]:
    """Yield a name and a figure for what gradtape's derivatives cost."""
    for name, seconds in results.get("derivative_costs", {}).get("seconds", {}).items():
        yield [described(name).title, duration(seconds)]
    recomputed = results.get("recomputation", {})
    for figure, name in (("kept_bytes", "kept"), ("recomputed_bytes", "recomputed")):
        if figure in recomputed:
            yield [f"{PROBES[name].title}: peak", f"{recomputed[figure] / 1e6:.1f} MB"]
    rows = results.get("rows_in_flight", {})
    figures = {"all_rows_bytes": "all_rows", "peak_bytes": "some_rows"}
    for figure, name in figures.items():
        if figure in rows:
            yield [f"{PROBES[name].title}: peak", f"{rows[figure] / 1e6:.1f} MB"]


def op_table(measured: dict[str, Any]) -> str:
    """Return every op that is slower than its NumPy formulation may be, then a summary of all."""
    ratios = op_speed.ratios(measured)
    slow = [
        [name, *(duration(measured["seconds"][name][side]) for side in ("gradtape", "numpy")), r]
        for name, r in ((name, f"{ratio:.2f}") for name, ratio in ratios.items())
        if name in op_speed.misses(measured)
    ]
    faster = sum(ratio <= 1 for ratio in ratios.values())
    middle = statistics.median(ratios.values())
    summary = (
        f"{len(ratios)} ops were measured; {faster} are no slower than NumPy, the median ratio is "
        f"{middle:.2f}. These take more than {op_speed.LIMIT} times as long:"
    )
    return f"{summary}\n\n{table(['op', 'gradtape', 'NumPy', 'ratio'], slow)}"


def notes(results: dict[str, Any]) -> Iterator[str]:
    """Yield what a reader should know before trusting the figures."""
    for name, reason in results["left_out"].items():
        yield f"{name} is left out: {reason}"
    others = {name: figures for name, figures in results.items() if name in FIGURES}
    measured = results["timed"] | others
    for experiment, figures in measured.items():
        if "error" in figures:
            yield f"{experiment} was not measured: {figures['error']}"
        for name, reason in figures.get("left_out", {}).items():
            yield f"{experiment}: {name} is left out: {reason}"
        for name, reason in figures.get("failed", {}).items():
            yield f"{experiment}: {name} was not measured: {reason}"
        disturbed = ", ".join(figures.get("disturbed", ()))
        if disturbed:
            yield f"{experiment}: other programs disturbed {disturbed} most of the time"


def duration(seconds: float) -> str:
    """Return a time with three digits and the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def table(header: list[str], rows: Sequence[list[str]]) -> str:
    """Return a Markdown table whose columns line up."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        return f"| {' | '.join(padded)} |"

    rule = f"|{'|'.join('-' * (width + 2) for width in widths)}|"
    return "\n".join([line(header), rule, *(line(row) for row in rows)])


def write(results: dict[str, Any], text: str, folder: Path) -> None:
    """Write the table and the raw figures."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "latest.md").write_text(text, encoding="utf-8")
    (folder / "latest.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
