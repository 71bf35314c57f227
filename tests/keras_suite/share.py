"""Which share of the tests of Keras that pass on JAX pass on gradtape.

`python tests/keras_suite/share.py RECORD` reads what `run.py --record RECORD` wrote, and the ids in
`passing_on_jax.txt.gz`. With `--jax RECORD` it first writes those ids, from a record of a run with
`run.py --on jax`. A test that is skipped on gradtape, or is missing, does not pass.
"""

import argparse
import gzip
import json
import sys
from collections import Counter
from pathlib import Path

PASSING_ON_JAX = Path(__file__).with_name("passing_on_jax.txt.gz")
BAR = 0.97


def outcomes(record):
    """From ids of tests to "passed", "failed" or "skipped"; the last line of each counts."""
    lines = Path(record).read_text(encoding="utf-8").splitlines()
    return {line["id"]: line["outcome"] for line in map(json.loads, lines)}


def write_passing_on_jax(record):
    passing = sorted(name for name, outcome in outcomes(record).items() if outcome == "passed")
    text = "".join(name + "\n" for name in passing)
    PASSING_ON_JAX.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def read_passing_on_jax():
    return gzip.decompress(PASSING_ON_JAX.read_bytes()).decode().splitlines()


def report(record):
    """Prints the share, and returns whether it reaches the bar."""
    found, expected = outcomes(record), read_passing_on_jax()
    counts = Counter(found.get(name, "missing") for name in expected)
    share = counts["passed"] / len(expected)
    others = ", ".join(f"{counts[each]} {each}" for each in ("failed", "skipped", "missing"))
    print(f"Of {len(expected)} tests that pass on JAX, {counts['passed']} pass on gradtape: "
          f"{share:.2%} (bar: {BAR:.0%}; {others})")  # fmt: skip
    return share >= BAR


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("record")
    parser.add_argument("--jax", metavar="RECORD")
    arguments = parser.parse_args()
    if arguments.jax:
        write_passing_on_jax(arguments.jax)
    sys.exit(not report(arguments.record))
