"""docs/coverage.md says of each name that real code uses whether it exists."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "docs" / "make_coverage_page.py"


def load_generator():
    spec = importlib.util.spec_from_file_location("make_coverage_page", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATOR = load_generator()


def test_page_is_up_to_date():
    committed = GENERATOR.PAGE.read_text(encoding="utf-8")
    assert committed == GENERATOR.page(), "docs/coverage.md is stale. Run: make docs"


def test_every_name_is_on_the_page():
    names = [name for entries in GENERATOR.names_by_tier().values() for name, *_ in entries]
    assert len(names) == len(set(names)) == 558
    text = GENERATOR.page()
    assert [name for name in names if f"`{name}` (" not in text] == []


@pytest.mark.parametrize(
    ("name", "exists"),
    [
        ("GradientTape", True),
        ("math.tanh", True),
        ("newaxis", True),
        ("Tensor.__add__", True),
        ("math.no_such_function", False),
        ("no_such_module.tanh", False),
        ("raw_ops.Tan", True),
        ("raw_ops.NoSuchOp", False),
    ],
)
def test_a_name_exists_or_not(name, exists):
    assert GENERATOR.exists(name) is exists


def test_shares_are_counted(monkeypatch):
    monkeypatch.setattr(GENERATOR, "exists", lambda name: name != "b")
    assert GENERATOR.share(["a", "b", "c", "d"]) == "3 of 4 (75 %)"
