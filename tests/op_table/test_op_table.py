"""Every op of the table, checked on every sample of its case."""

import collections

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gradtape.core.op import DIFFERENTIABLE, OPS

from .calls import arrays_of, continuous, differentiable_positions, gradients, run, tensors_of
from .cases import all_cases
from .checks import checks_of
from .value_checks import infer, value

CASES = all_cases()
KNOWN_CASES = [case for case in CASES if case.op in OPS]


@pytest.mark.parametrize(
    ("case", "check", "sample"),
    [
        pytest.param(case, check, sample, id=f"{case.op}-{check.__name__}-{number}")
        for case in KNOWN_CASES
        for check, number, sample in checks_of(case)
    ],
)
def test_op(case, check, sample):
    check(case, sample)


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.op) for case in KNOWN_CASES if case.generated is not None]
)
@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_op_on_generated_samples(case, data):
    sample = data.draw(case.generated)
    value(case, sample)
    infer(case, sample)
    outputs = continuous(arrays_of(run(case, tensors_of(sample.inputs), sample.attrs)))
    positions = differentiable_positions(case, sample)
    if outputs and positions:
        found = arrays_of(gradients(case, sample.inputs, sample.attrs, outputs))
        for i in positions:
            assert found[i].shape == sample.inputs[i].shape
            assert found[i].dtype == sample.inputs[i].dtype


def test_every_op_has_exactly_one_case():
    counts = collections.Counter(case.op for case in CASES)
    assert {name: counts[name] for name in OPS} == dict.fromkeys(OPS, 1)


def test_every_case_names_an_op():
    assert [case.op for case in CASES if case.op not in OPS] == []


@pytest.mark.parametrize("case", KNOWN_CASES, ids=lambda case: case.op)
def test_row_has_the_state_its_case_says(case):
    assert OPS[case.op].state == case.state


@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_row_is_complete(op):
    assert callable(op.kernel)
    assert callable(op.infer)
    assert callable(op.batch)
    assert op.call.op is op
    if op.state == DIFFERENTIABLE:
        assert callable(op.vjp) or (any(op.vjp) and len(op.vjp) == len(op.inputs))


@pytest.mark.parametrize("case", KNOWN_CASES, ids=lambda case: case.op)
def test_samples_have_every_kind_of_number_the_row_accepts(case):
    accepted = {dtype.kind for dtype in OPS[case.op].accepts or ()}
    sampled = {x.dtype.kind for sample in case.samples for x in sample.inputs}
    assert accepted & set("biufcO") <= sampled | {"u"}
    if "i" in accepted:
        assert any(all(x.dtype == np.int64 for x in sample.inputs) for sample in case.samples)
