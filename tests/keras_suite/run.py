"""Runs Keras's own test suite on gradtape: `python tests/keras_suite/run.py [files or options]`.

Without any files it runs all of them, and prints which share of what passes on JAX passes. The
files in `subset.txt`, which need no other backend, are run by `@tests/keras_suite/subset.txt`.
"""

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

import share

HERE = Path(__file__).resolve().parent

# Networks with weights to download, or too large to build within a test's time on two cores.
LEFT_OUT = ("keras/src/applications",)


def main():
    found = importlib.util.find_spec("keras")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("Keras is not installed: pip install 'gradtape[keras]'")
    site = Path(found.submodule_search_locations[0]).parent
    chosen = sys.argv[1:]
    if any(each.startswith(("keras/", "@")) for each in chosen):
        chosen = [f"@{Path(each[1:]).resolve()}" if each[0] == "@" else each for each in chosen]
        raise SystemExit(run(site, chosen))
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "record.jsonl")
        everything = ["keras/src", *[f"--ignore={each}" for each in LEFT_OUT]]
        status = run(site, [*everything, "--record", str(record), *chosen])
        raise SystemExit(status or not share.report(record))


def run(site, arguments):
    """The exit status of pytest on tests below `site`, which holds Keras."""
    options = [
        *("-q", "-p", "plugin", "-p", "no:cacheprovider", "-c", str(HERE / "pytest.ini")),
        *("--rootdir", str(site), "--continue-on-collection-errors", "--disable-warnings"),
    ]
    paths = [str(HERE), str(HERE.parent.parent / "src")]
    program = f"import sys; sys.path[:0] = {paths!r}; import pytest; sys.exit(pytest.main())"
    command = [sys.executable, "-c", program, *options, *arguments]
    return subprocess.run(command, cwd=site, check=False).returncode


if __name__ == "__main__":
    main()
