"""docs/ops.md is what the op table says, and the op table has no holes."""

import importlib.util
from pathlib import Path

import pytest

from gradtape.core.op import DIFFERENTIABLE, NON_DIFFERENTIABLE, OPS, UNREGISTERED

SCRIPT = Path(__file__).resolve().parent.parent / "docs" / "make_ops_page.py"


def load_generator():
    spec = importlib.util.spec_from_file_location("make_ops_page", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATOR = load_generator()
CASES = {case.op: case for case in GENERATOR.all_cases()}
ROWS = {cells[0].strip("`"): cells for rows in GENERATOR.rows().values() for cells in rows}


def test_page_is_up_to_date():
    committed = GENERATOR.PAGE.read_text(encoding="utf-8")
    assert committed == GENERATOR.page(), "docs/ops.md is stale. Run: make docs"


def test_every_op_has_a_row():
    assert set(ROWS) == set(OPS)


@pytest.mark.parametrize("name", OPS)
def test_op_has_every_rule_or_is_declared_to_have_none(name):
    assert GENERATOR.MISSING not in ROWS[name], dict(
        zip(GENERATOR.COLUMNS, ROWS[name], strict=True)
    )


@pytest.mark.parametrize(
    ("state", "changes", "column"),
    [
        (DIFFERENTIABLE, {"vjp": (None,)}, "vjp"),
        (DIFFERENTIABLE, {"batch": None}, "batch"),
        (NON_DIFFERENTIABLE, {"batch": None}, "batch"),
        (UNREGISTERED, {"batch": None}, "batch"),
    ],
)
def test_a_missing_rule_is_called_missing(monkeypatch, state, changes, column):
    op = OPS["Tan"]
    for field, value in {"state": state, **changes}.items():
        monkeypatch.setattr(op, field, value)
    cells = dict(zip(GENERATOR.COLUMNS, GENERATOR.row(op, CASES["Tan"], ["tan"]), strict=True))
    assert [name for name, cell in cells.items() if cell == GENERATOR.MISSING] == [column]


def test_an_op_without_a_checked_second_order_is_called_missing():
    assert GENERATOR.second_order(OPS["Tan"], None) == GENERATOR.MISSING
    assert GENERATOR.second_order(OPS["Tan"], CASES["Tan"]) == "yes"
