"""Datasets against TensorFlow's recorded answers: specs, cardinalities, elements and errors."""

import re
from pathlib import Path

import pytest

import gradtape as tf
from pipelines import DATA, answer_of, expressions, files, recorded

FILES = sorted(DATA.glob("*.txt"))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param(path, text, id=f"{path.stem}: {text}")
        for path in FILES
        for text in expressions(path)
    ],
)
def test_pipeline(path, text):
    with files() as folder:
        assert answer_of(tf, text, folder) == recorded(path)[text]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_answer_belongs_to_a_pipeline(path):
    assert list(recorded(path)) == expressions(path)


def test_there_are_as_many_as_the_page_says():
    page = Path(__file__).resolve().parent.parent / "docs" / "data.md"
    (said,) = re.findall(r"over ([\d,]+)\s+pipelines", page.read_text(encoding="utf-8"))
    assert sum([len(expressions(path)) for path in FILES]) > int(said.replace(",", ""))
