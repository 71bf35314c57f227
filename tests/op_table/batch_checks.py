"""Checks of ops on batches: values and gradients are those of a loop."""

import itertools

import numpy as np

import gradtape as tf
from gradtape.batching import batch_level
from gradtape.core.op import OPS
from gradtape.core.tensor import EagerTensor

from .arrays import assert_close, is_continuous, random_like
from .calls import (
    GRADIENT_ROUNDING,
    arrays_of,
    differentiable_positions,
    gradients,
    run,
    tensors_of,
    values,
)

_SIZE = 3


def batch(case, sample):
    """A batch gives what a loop gives, whichever inputs carry the batch axis."""
    for flags in _choices(case, sample):
        rows = [_row(case, sample.inputs, flags, k) for k in range(_SIZE)]
        looped = [arrays_of(run(case, tensors_of(row), sample.attrs)) for row in rows]
        with batch_level() as level:
            outputs = run(case, _stacked(level, rows, flags), sample.attrs)
        for out, *expected in zip(outputs, *looped, strict=True):
            _assert_rows(case, level.unwrap(out), expected)
        _empty_batch(case, sample, flags, looped[0])


def _empty_batch(case, sample, flags, expected):
    """A batch of no elements has the shapes and dtypes that one of several has."""
    with batch_level() as level:
        given = [
            level.wrap(EagerTensor(np.zeros((0, *x.shape), x.dtype))) if flag else EagerTensor(x)
            for x, flag in zip(sample.inputs, flags, strict=True)
        ]
        outputs = run(case, given, sample.attrs)
    for out, row in zip(outputs, expected, strict=True):
        batched = level.unwrap(out)
        assert batched is not None
        assert batched._value.shape == (0, *row.shape)
        assert batched._value.dtype == row.dtype


def batch_gradient(case, sample):
    """Inside a batch, gradients are those of a loop."""
    rng = np.random.default_rng(3)
    positions = differentiable_positions(case, sample)
    batched = [i for i in positions if i in _batched_positions(case, sample)]
    flags = [i in batched for i in range(len(sample.inputs))]
    rows = [_row(case, sample.inputs, flags, k) for k in range(_SIZE)]
    seeds = [[random_like(rng, out) for out in values(case, row, sample.attrs)] for row in rows]
    looped = [
        arrays_of(gradients(case, row, sample.attrs, seed))
        for row, seed in zip(rows, seeds, strict=True)
    ]
    with batch_level() as level:
        given = _stacked(level, rows, flags)
        found = gradients(case, given, sample.attrs, _stacked(level, seeds, [True] * len(seeds[0])))
        dense = {i: tf.convert_to_tensor(found[i]) for i in batched}
    for i in batched:
        gradient = level.unwrap(dense[i])
        if gradient is None:  # it is the same for every element, as zeros are
            gradient = np.broadcast_to(np.asarray(dense[i]), (_SIZE, *dense[i].shape))
        _assert_rows(case, gradient, [row[i] for row in looped])


def _batched_positions(case, sample):
    chosen = case.batch_inputs if sample.batch_inputs is None else sample.batch_inputs
    if chosen is None:
        return list(range(len(sample.inputs)))
    names = OPS[case.op].inputs
    return [names.index(each) if isinstance(each, str) else each for each in chosen]


def _choices(case, sample):
    """Flags for every choice of at least one of the inputs that may carry the batch axis."""
    positions = _batched_positions(case, sample)
    for count in range(1, len(positions) + 1):
        for chosen in itertools.combinations(positions, count):
            yield [i in chosen for i in range(len(sample.inputs))]


def _row(case, inputs, flags, k):
    """The inputs for the k-th element of a batch: varied where the flag is set."""
    vary = case.vary or _vary
    return [vary(x, k) if flag else x for x, flag in zip(inputs, flags, strict=True)]


def _vary(x, k):
    return x * (1 - 0.05 * k) if is_continuous(x) else np.roll(x, k)


def _stacked(level, rows, flags):
    """For each input a tensor of this batch level, or a plain one where rows do not differ."""
    return [
        level.wrap(tf.convert_to_tensor(np.stack(column))) if flag else EagerTensor(column[0])
        for column, flag in zip(zip(*rows, strict=True), flags, strict=True)
    ]


def _assert_rows(case, batched, rows):
    assert batched is not None
    actual, expected = np.asarray(batched), np.stack(rows)
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    if not case.random:
        assert_close(actual, expected, rounding=GRADIENT_ROUNDING * case.tolerance)
