"""Runs Keras's own test suite on gradtape: `python tests/keras_suite/run.py [files or options]`."""

import importlib.util
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main():
    found = importlib.util.find_spec("keras")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("Keras is not installed: pip install 'gradtape[keras]'")
    site = Path(found.submodule_search_locations[0]).parent
    chosen = sys.argv[1:] or ["keras/src"]
    options = ["-q", "-p", "plugin", "-p", "no:cacheprovider", "-c", str(HERE / "pytest.ini"),
               "--rootdir", str(site), "--continue-on-collection-errors"]  # fmt: skip
    paths = [str(HERE), str(HERE.parent.parent / "src")]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}; import pytest; "
         "sys.exit(pytest.main(sys.argv[1:]))", *options, *chosen],
        cwd=site, check=False,
    )  # fmt: skip
    raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
