"""Draws `latest.json` as `latest.png`; run as a script, since matplotlib may live elsewhere."""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from contenders import label_of
from report import duration
from targets import SPEED_TARGETS
from workloads.data import TIMED

OURS, PEER, LIMIT = "#d1495b", "#8d99ae", "#2b2d42"


def draw_workload(axes: Axes, workload: str, best: dict[str, float]) -> None:
    """Draw one workload's times, fastest on top, and the tightest limit as a dashed line."""
    names = sorted(best, key=lambda name: best[name], reverse=True)
    seconds = [best[name] for name in names]
    colours = [OURS if name == "gradtape" else PEER for name in names]
    kind = TIMED[workload].kind
    axes.barh([label_of(name, kind) for name in names], seconds, color=colours)
    for position, value in enumerate(seconds):
        label = axes.text(value * 1.08, position, duration(value), va="center", fontsize=8)
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.8})
    limits = [
        best[target.peer] * target.limit
        for target in SPEED_TARGETS
        if target.workload == workload and target.peer in best
    ]
    if limits:
        axes.axvline(min(limits), color=LIMIT, linestyle="--", linewidth=1)
    axes.set_xscale("log")
    # A logarithmic axis has no zero: start under everything drawn, end with room for the text.
    axes.set_xlim(min(seconds + limits) / 4, max(seconds + limits) * 6)
    axes.set_title(TIMED[workload].title, fontsize=10, loc="left")
    axes.xaxis.set_major_formatter(lambda value, _: duration(value))
    axes.minorticks_off()
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def draw(results: dict[str, Any], path: Path) -> None:
    """Draw every timed workload as a panel of its own."""
    mpl.use("Agg")
    panels = {name: timed["best"] for name, timed in results["timed"].items() if timed.get("best")}
    rows = max(1, (len(panels) + 1) // 2)
    figure, grid = plt.subplots(rows, 2, figsize=(11, 2.4 * rows + 0.8), squeeze=False)
    for axes, (workload, best) in zip(grid.flat, panels.items(), strict=False):
        draw_workload(axes, workload, best)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    figure.suptitle("Time per step, logarithmic; dashed: the most gradtape may take", fontsize=11)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    draw(json.loads((folder / "latest.json").read_text(encoding="utf-8")), folder / "latest.png")
