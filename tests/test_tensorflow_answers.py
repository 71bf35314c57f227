"""gradtape answers as TensorFlow did: values, dtypes, gradients and errors, recorded from it."""

import re

import numpy as np
import pytest

import gradtape as tf
from answers import storage
from answers.calls import narrowed
from answers.comparison import compare
from answers.differences import (
    DIFFERENCES,
    MORE_THAN_TENSORFLOW,
    OTHER_ERRORS,
    SINGLE_PRECISION,
)
from answers.evaluation import answer_of, tensors_of
from answers.expressions import EXPRESSIONS, REFUSALS, arguments_of, function_of
from answers.unexpressed import SETTINGS, UNEXPRESSED
from gradtape.core.exports import PUBLIC
from op_table.cases import all_cases
from pipelines import DATA, expressions
from test_public_names import FUNCTIONS, SIGNATURES
from test_raw_ops import RAW, TENSORFLOW

pytestmark = pytest.mark.filterwarnings("ignore")

FILES = {name: storage.load(name) for name in storage.saved_names()}
BY_TEXT = ("expressions", "refusals")
RECORDS = [r for name, file in FILES.items() if name not in BY_TEXT for r in file["records"]]
SAMPLES = [r for r in RECORDS if "-sample-" in r["key"]]
FAILURES = [r for r in RECORDS if "-failure-" in r["key"]]
OF_EXPRESSIONS = {r["key"]: r for r in FILES["expressions"]["records"]}
OF_REFUSALS = {r["key"]: r["float32"] for r in FILES["refusals"]["records"]}
# Single precision, in units of the last place of double precision.
IN_SINGLE_PRECISION = float(4 * np.finfo(np.float32).eps / np.finfo(np.float64).eps)

RANDOM = {case.op for case in all_cases() if case.random}


def _in_each_precision(record):
    """Pairs of a call and TensorFlow's answer: the sample as it is, then in single precision."""
    call = {name: storage.decode(value) for name, value in record["call"].items()}
    yield call, record["answer"]
    small = narrowed(call)
    if small is not None and "float32" in record:
        yield small, record["float32"]


def _answer(record, call):
    arguments = {name: tensors_of(tf, value) for name, value in call.items()}
    return answer_of(tf, getattr(tf.raw_ops, record["op"]), arguments)


# How TensorFlow says that it lacks an op for a dtype or processor.
NO_KERNEL = (
    "Could not find device for node",
    "is not in the list of allowed values",
    "only supports",
    "not yet support",
    "not supported",
    "is not available in GraphDef",
)


def _has_no_kernel(wanted):
    """Whether TensorFlow refuses only because it lacks the op for this dtype or processor."""
    return wanted["error"] == "UnimplementedError" or any(
        [words in wanted["message"] for words in NO_KERNEL]
    )


def _compare(record, found, wanted, *, without=None, factor=1.0):
    if "error" in wanted:
        known = _has_no_kernel(wanted) or record["op"] in MORE_THAN_TENSORFLOW
        assert known or "error" in found, wanted
    elif without != "everything":
        parts = ("values",) if without == "gradients" else ("values", "gradients")
        kept = [{p: answer[p] for p in parts if p in answer} for answer in (found, wanted)]
        compare(*(kept if "error" not in found else (found, wanted)), factor=factor)


def _compare_in_each_precision(record, *, without=None):
    loose = record["op"] in SINGLE_PRECISION
    for (call, wanted), is_loose in zip(_in_each_precision(record), (loose, False), strict=False):
        factor = IN_SINGLE_PRECISION if is_loose else 1.0
        _compare(record, _answer(record, call), wanted, without=without, factor=factor)


@pytest.mark.parametrize("record", SAMPLES, ids=[r["key"] for r in SAMPLES])
def test_raw_op(record):
    difference = DIFFERENCES.get(record["key"]) or DIFFERENCES.get(record["op"])
    _compare_in_each_precision(record, without=difference and difference[0])


def _compare_all(key):
    for text in EXPRESSIONS:
        if text.partition("(")[0] == key:
            _compare_expression(text, "float32")
    for record in SAMPLES:
        if key in (record["key"], record["op"]):
            _compare_in_each_precision(record)


@pytest.mark.beyond_tensorflow
@pytest.mark.parametrize("key", DIFFERENCES)
def test_difference_still_exists(key):
    with pytest.raises(AssertionError):
        _compare_all(key)


@pytest.mark.parametrize("record", FAILURES, ids=[r["key"] for r in FAILURES])
def test_raw_op_refuses(record):
    call, wanted = next(_in_each_precision(record))
    found = _answer(record, call)
    assert "error" in found
    if record["key"] in OTHER_ERRORS:
        assert found["error"] != wanted.get("error")
        return
    assert "error" in wanted, "TensorFlow accepts this"
    if _has_no_kernel(wanted):
        # gradtape says what it takes, or what else is wrong.
        assert found["error"] in ("InvalidArgumentError", wanted["error"])
    else:
        assert found["error"] == wanted["error"]


def test_every_raw_op_has_answers():
    assert {r["op"] for r in SAMPLES} == set(RAW) - RANDOM, "Run: make answers"


def test_results_have_tensorflows_names():
    wrong = []
    for name in {r["op"]: r for r in SAMPLES}:
        results = TENSORFLOW[name][1]
        accepted = [r for r in SAMPLES if r["op"] == name and "error" not in r["answer"]]
        if not accepted:
            continue
        call, _ = next(_in_each_precision(accepted[0]))
        found = getattr(tf.raw_ops, name)(**{n: tensors_of(tf, v) for n, v in call.items()})
        if len(results) > 1 and list(getattr(found, "_fields", ())) != results:
            wrong.append(name)
        if results[0].startswith("*") and len(results) == 1 and not isinstance(found, list):
            wrong.append(name)
    assert wrong == []


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expression(text, precision):
    if _is_missing(text):
        pytest.skip(f"not in gradtape: {text}")
    if "error" in OF_EXPRESSIONS[text][precision]:
        pytest.skip(f"TensorFlow refuses this in {precision}")
    difference = DIFFERENCES.get(text.partition("(")[0])
    _compare_expression(text, precision, without=difference and difference[0])


def _compare_expression(text, precision, *, without=None):
    found = answer_of(tf, function_of(tf, text), arguments_of(tf, text, precision))
    names = re.findall(r"\btf(?:\.\w+)+", text)
    loose = precision == "float64" and any([name in SINGLE_PRECISION for name in names])
    factor = IN_SINGLE_PRECISION if loose else 1.0
    _compare({"op": None}, found, OF_EXPRESSIONS[text][precision], without=without, factor=factor)


def _is_missing(text):
    """Whether gradtape lacks a name that the expression uses."""
    for name in re.findall(r"\btf((?:\.\w+)+)", text):
        item = tf
        for part in name.strip(".").split("."):
            item = getattr(item, part, None)
        if item is None and name != ".newaxis":
            return True
    return False


def _functions_in(texts):
    names = {name for text in texts for name in re.findall(r"\btf\.([\w.]+)", text)}
    return {id(PUBLIC[name]) for name in names if name in PUBLIC}


def test_every_function_is_in_an_expression():
    expressed = _functions_in(EXPRESSIONS)
    in_pipelines = _functions_in(
        [text for path in DATA.glob("*.txt") for text in expressions(path)]
    )
    excused = {id(PUBLIC[name]) for name in UNEXPRESSED}
    missing = [
        name
        for name in FUNCTIONS
        if name in SIGNATURES
        and not name.startswith(SETTINGS)
        and id(PUBLIC[name]) not in expressed | in_pipelines | excused
    ]
    assert missing == [], "Add them to data/tensorflow_expressions.txt and run: make answers"
    assert [name for name in UNEXPRESSED if id(PUBLIC[name]) in expressed] == []


def test_expressions_have_answers():
    assert list(OF_EXPRESSIONS) == EXPRESSIONS, "Run: make answers"
    refused = [key for key, r in OF_EXPRESSIONS.items() if "error" in r["float32"]]
    assert refused == []


@pytest.mark.parametrize("text", REFUSALS)
def test_refused_expression(text):
    found = answer_of(tf, function_of(tf, text), arguments_of(tf, text, "float32"))
    assert "error" in found
    if text in OTHER_ERRORS:
        assert found["error"] != OF_REFUSALS[text]["error"]
    else:
        assert found["error"] == OF_REFUSALS[text]["error"], found["message"]


def test_refusals_have_answers():
    assert list(OF_REFUSALS) == REFUSALS, "Run: make answers"
    assert [text for text, answer in OF_REFUSALS.items() if "error" not in answer] == []


def test_answers_are_of_one_version():
    assert {file["tensorflow"] for file in FILES.values()} == {"2.21.0"}


def test_answers_are_small():
    assert sum(path.stat().st_size for path in storage.FOLDER.iterdir()) < 3_000_000
