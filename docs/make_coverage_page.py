"""Writes docs/coverage.md, which names of TensorFlow exist here: `make docs` runs it too."""

import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "coverage.md"
NAMES = ROOT / "docs" / "api_names.txt"
SIGNATURES = ROOT / "tests" / "data" / "tensorflow_signatures.txt"
RAW_OPS = ROOT / "tests" / "data" / "tensorflow_raw_ops.txt"
sys.path[:0] = [path for path in (str(ROOT / "src"),) if path not in sys.path]

import gradtape  # noqa: E402 - found through the line above

HEADER = """\
# Which names exist

The names of TensorFlow and Keras that real code uses, counted over 491 public documents: guides,
tutorials and books, of which 97 use a `GradientTape`. A name is in tier 1 if two of those 97, or
six of all, use it; in tier 2 if one of the 97, or two of all; in tier 3 otherwise. Behind each
name stands in how many of the 97, and of all. This page is generated; `make docs` writes it anew.

A name that exists has TensorFlow's arguments and defaults (a test compares them); where it behaves
otherwise, [differences.md](differences.md) says so. Missing names are of areas that are not built
yet.
"""

TIERS = {
    1: "Tier 1: two or more documents with a tape, or six of all",
    2: "Tier 2: one document with a tape, or two of all",
    3: "Tier 3: one document",
}


def names_by_tier():
    """For each library and tier the names in use, as `(name, with a tape, of all)`."""
    found = defaultdict(list)
    for line in NAMES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            tier, name, with_tape, of_all = line.split()
            library = "Keras" if name.split(".")[0] == "keras" else "TensorFlow"
            found[library, int(tier)].append((name, with_tape, of_all))
    return found


def exists(name):
    """Whether gradtape has the name, below modules and classes too."""
    item = gradtape
    for part in name.split("."):
        if not hasattr(item, part):
            return False
        item = getattr(item, part)
    return True


def functions():
    """The names of all public functions of TensorFlow."""
    return [line.partition("(")[0] for line in SIGNATURES.read_text(encoding="utf-8").splitlines()]


def raw_ops():
    """The names of all op types of TensorFlow."""
    return [line.partition("(")[0] for line in RAW_OPS.read_text(encoding="utf-8").splitlines()]


def share(names):
    """How many of the names exist, in words."""
    present = sum([exists(name) for name in names])
    return f"{present} of {len(names)} ({100 * present / len(names):.0f} %)"


def _by_namespace(names):
    """Rows of a table: each namespace and how many of its functions exist."""
    grouped = defaultdict(list)
    for name in names:
        grouped["tf." + name.rpartition(".")[0] if "." in name else "tf"].append(name)
    rows = [f"| `{namespace}` | {share(grouped[namespace])} |" for namespace in sorted(grouped)]
    return "\n".join(["| namespace | functions |", "|---|---|", *rows])


def _listed(entries):
    return ", ".join([f"`{name}` ({tape}/{all_})" for name, tape, all_ in entries]) or "none"


def page():
    """The whole page as text."""
    tiers = names_by_tier()
    summary = ["| names | exist |", "|---|---|"]
    for (library, tier), entries in tiers.items():
        summary.append(f"| {library}, tier {tier} | {share([name for name, *_ in entries])} |")
    summary.append(f"| functions of `tf.*`, under all their names | {share(functions())} |")
    summary.append(f"| `tf.raw_ops` | {share([f'raw_ops.{name}' for name in raw_ops()])} |")
    parts = [HEADER, "\n".join(summary) + "\n"]
    for library in ("TensorFlow", "Keras"):
        parts.append(f"## {library}\n")
        for tier, title in TIERS.items():
            entries = tiers[library, tier]
            present = [entry for entry in entries if exists(entry[0])]
            missing = [entry for entry in entries if not exists(entry[0])]
            parts.append(f"### {title}\n")
            parts.append(f"Exist ({len(present)}): {_listed(present)}.\n")
            parts.append(f"Missing ({len(missing)}): {_listed(missing)}.\n")
    parts.append("## All public functions, by namespace\n")
    parts.append(_by_namespace(functions()) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
