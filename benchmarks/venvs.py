"""Virtual environments: one for gradtape, one for each peer, one for the plot if need be."""

import hashlib
import importlib.util
import json
import os
import platform
import subprocess
import sys
import venv
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / ".bench"
SOURCES = ROOT / "src"

# One version of Keras for all who compute for it.
KERAS = "keras==3.15.1"
REQUIREMENTS = {
    "gradtape": [str(ROOT), KERAS],
    "torch": ["torch==2.13.0", "numpy", KERAS],
    "autograd": ["autograd"],
    "tensorflow": ["tensorflow-cpu", KERAS],
    "jax": ["jax", KERAS],
    "plot": ["matplotlib"],
}
STAMP = "benchmark-stamp.json"


@dataclass(frozen=True)
class Environment:
    """An interpreter, and the environment variables that go with it."""

    python: Path
    variables: dict[str, str] = field(default_factory=dict)


class InstallError(Exception):
    """An environment could not be made or found."""


def install(name: str) -> Environment:
    """Return the environment `name`, made or renewed only if what it is made from has changed.

    Raises:
        InstallError: A package could not be installed.
    """
    folder = BENCH / "venvs" / name
    stamp_path = folder / STAMP
    stamp = {"python": platform.python_version(), "made_from": made_from(name)}
    environment = Environment(interpreter(folder))
    if stamp_path.exists() and json.loads(stamp_path.read_text()) == stamp:
        return environment
    print(f"installing {name} into {folder.relative_to(ROOT)}", flush=True)
    venv.create(folder, with_pip=True, clear=True)
    pip(environment, "install", *REQUIREMENTS[name])
    stamp_path.write_text(json.dumps(stamp))
    return environment


def find(name: str, folder: Path) -> Environment:
    """Return an environment under `folder` that has the library `name`.

    gradtape itself, where no environment has it, runs from the source tree with this interpreter.

    Raises:
        InstallError: No environment there has the library.
    """
    candidates = [folder / name, *sorted(path for path in folder.iterdir() if path.is_dir())]
    for candidate in candidates:
        environment = Environment(interpreter(candidate))
        if environment.python.exists() and has_module(environment, name):
            return environment
    if name == "gradtape":
        return Environment(Path(sys.executable), {"PYTHONPATH": str(SOURCES)})
    raise InstallError(f"no environment in the given folder has {name}")


def for_plotting() -> Environment:
    """Return an environment with matplotlib: this interpreter's if it has it."""
    if importlib.util.find_spec("matplotlib") is not None:
        return Environment(Path(sys.executable))
    return install("plot")


def pip(environment: Environment, *arguments: str) -> None:
    """Run pip in an environment.

    Raises:
        InstallError: pip failed; the message is its last line.
    """
    command = [environment.python, "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run([*command, "--quiet"], capture_output=True, encoding="utf-8")
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise InstallError(lines[-1] if lines else f"pip ended with status {done.returncode}")


def interpreter(folder: Path) -> Path:
    """Return where the Python of a virtual environment is."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def has_module(environment: Environment, name: str) -> bool:
    """Return whether a module can be found in an environment, without importing it."""
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)"
    return subprocess.run([environment.python, "-c", code]).returncode == 0


def made_from(name: str) -> list[str]:
    """Return the requirements of an environment, gradtape by the contents of its sources."""
    if name != "gradtape":
        return REQUIREMENTS[name]
    digest = hashlib.sha256()
    for path in [ROOT / "pyproject.toml", *sorted((SOURCES / "gradtape").rglob("*"))]:
        if path.is_file() and path.suffix != ".pyc":
            digest.update(path.relative_to(ROOT).as_posix().encode())
            digest.update(path.read_bytes())
    return [digest.hexdigest(), *REQUIREMENTS[name][1:]]
