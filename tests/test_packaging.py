"""What the project promises about itself: one version, two dependencies, pinned tools."""

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest

import gradtape
from gradtape._version import __version__

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
MAX_LINES = 500


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pyproject():
    return tomllib.loads(read("pyproject.toml"))


def name_of(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9_.-]+", requirement)
    assert found, f"not a requirement: {requirement!r}"
    return found[0]


def test_package_reports_the_version_that_is_built(pyproject):
    assert gradtape.__version__ == __version__
    assert pyproject["tool"]["hatch"]["version"]["path"] == "src/gradtape/_version.py"
    assert pyproject["project"]["dynamic"] == ["version"]


def test_installed_version_is_the_source_version():
    try:
        installed = importlib.metadata.version("gradtape")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("gradtape is on the path but not installed")
    assert installed == __version__


def test_changelog_begins_with_the_version():
    headings = re.findall(r"^## (\S+)", read("CHANGELOG.md"), flags=re.MULTILINE)
    assert headings[0] == __version__


def test_only_two_dependencies(pyproject):
    names = [name_of(requirement) for requirement in pyproject["project"]["dependencies"]]
    assert sorted(names) == ["ml_dtypes", "numpy"]


def test_extras(pyproject):
    extras = pyproject["project"]["optional-dependencies"]
    assert sorted(extras) == ["all", "dev", "image", "jit", "keras", "mpi"]
    assert extras["all"] == ["gradtape[image,jit,keras,mpi]"]


def test_development_tools_are_pinned(pyproject):
    tools = pyproject["project"]["optional-dependencies"]["dev"]
    assert [tool for tool in tools if not re.search(r"==\d[\w.]*$", tool)] == []


def test_hooks_use_the_pinned_ruff(pyproject):
    tools = pyproject["project"]["optional-dependencies"]["dev"]
    (pinned,) = [tool.partition("==")[2] for tool in tools if name_of(tool) == "ruff"]
    assert re.findall(r"ruff-pre-commit\n\s+rev: v(\S+)", read(".pre-commit-config.yaml")) == [
        pinned
    ]


def test_continuous_integration_is_lint_and_test():
    commands = [line for line in read(".ci/run").splitlines() if line.startswith("make")]
    assert commands == ["make lint", "make test"]


def test_warnings_and_passing_xfails_are_errors(pyproject):
    options = pyproject["tool"]["pytest"]["ini_options"]
    assert options["filterwarnings"][0] == "error"
    assert options["xfail_strict"] is True


def test_sources_are_found():
    assert any(path.name == "_version.py" for path in SOURCES)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_file_stays_readable_in_one_sitting(path):
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines < MAX_LINES, f"{lines} lines: split it by idea"
