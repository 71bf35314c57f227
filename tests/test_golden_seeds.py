"""The snippets of five tutorials, with what TensorFlow shows: output, values, logs, errors."""

import contextlib
import io
import json
import linecache
import pathlib
import re
import warnings

import numpy as np
import pytest

import gradtape as tf

GOLDEN = pathlib.Path(__file__).with_name("golden") / "golden_seeds.json"
SNIPPETS = json.loads(GOLDEN.read_text(encoding="utf-8"))["snippets"]
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")

# Lines of a snippet's output in which TensorFlow refuses what gradtape accepts.
REFUSALS = {"1.built_layers_watch": "ValueError Passed in object <Variable path"}


def run(snippet):
    """The snippet's final names, its standard output, and the exception it ended with or None."""
    code = snippet["code"]
    # Warnings are limited per call site: a file name of its own makes every line a site of its own.
    filename = f"<golden {snippet['id']}>"
    linecache.cache[filename] = (len(code), None, code.splitlines(True), filename)
    names, out, error = {"tf": tf}, io.StringIO(), None
    with warnings.catch_warnings(), contextlib.redirect_stdout(out):
        warnings.simplefilter("ignore")
        try:
            exec(compile(code, filename, "exec"), names)
        except Exception as caught:
            error = caught
    return names, out.getvalue(), error


def assert_same_text(got, want, exact):
    if exact:
        assert got == want
        return
    assert NUMBER.sub("#", got) == NUMBER.sub("#", want)
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (got, want)]
    np.testing.assert_allclose(*numbers, rtol=1e-4, atol=1e-6)


def assert_same_value(got, want, exact):
    if want is None:
        assert got is None
        return
    kind = want["kind"]
    if kind in ("Tensor", "Variable", "ndarray"):
        array = np.asarray(got.numpy() if hasattr(got, "numpy") else got)
        assert list(array.shape) == want["shape"]
        assert str(array.dtype) == want["dtype"]
        expected = np.asarray(want["value"], array.dtype)
        rtol, atol = (0.0, 0.0) if exact else (1e-5, 1e-6)
        np.testing.assert_allclose(array, expected, rtol=rtol, atol=atol)
    elif kind in ("list", "tuple"):
        assert type(got).__name__ == kind
        assert len(got) == len(want["items"])
        for got_item, want_item in zip(got, want["items"], strict=True):
            assert_same_value(got_item, want_item, exact)
    elif kind == "dict":
        for key, item in want["items"].items():
            assert_same_value(got[key], item, exact)
    elif exact or not isinstance(got, float):
        assert got == want["value"]
    else:
        assert got == pytest.approx(want["value"], abs=1e-5)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=[snippet["id"] for snippet in SNIPPETS])
def test_shows_what_tensorflow_shows(snippet, logs):
    expected, exact = snippet["expected"], snippet["compare"] == "exact"
    if "tf.keras" in snippet["code"]:
        tf.keras.backend.clear_session()  # layer names count from the start of a session
    names, out, error = run(snippet)
    if expected["error"] is None:
        if error is not None:
            raise error
    else:
        assert type(error).__name__ == expected["error"]["type"]
        assert str(error) == expected["error"]["message"]
    lines = expected["stdout"].splitlines(keepends=True)
    if snippet["id"] in REFUSALS:
        lines = [line for line in lines if not line.startswith(REFUSALS[snippet["id"]])]
    assert_same_text(out, "".join(lines), exact)
    for name, want in expected["values"].items():
        assert_same_value(names[name], want, exact)
    assert logs == [re.sub(r"^(\w+):\w+:", r"\1:", line) for line in expected["logs"]]


def test_all_snippets_are_here():
    assert len(SNIPPETS) == 61
    assert len({snippet["id"] for snippet in SNIPPETS}) == 61
