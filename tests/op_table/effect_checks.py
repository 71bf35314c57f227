"""Checks that an op changes nothing it was given, and that nothing later changes its results."""

import numpy as np

import gradtape as tf

from .arrays import assert_close, random_like
from .calls import (
    GRADIENT_ROUNDING,
    arrays_of,
    bytes_of,
    continuous,
    differentiable_positions,
    gradients,
    passes_gradients,
    run,
    tangents,
    tensors_of,
)


def inputs_unchanged(case, sample):
    """Inputs, seeds and attributes are what they were after values, gradients and tangents."""
    rng = np.random.default_rng(4)
    inputs = tensors_of(sample.inputs)
    attrs = dict(sample.attrs)
    before = bytes_of(inputs)
    outputs = run(case, inputs, attrs)
    assert bytes_of(inputs) == before
    if passes_gradients(case, sample):
        seeds = tensors_of([random_like(rng, out._value) for out in continuous(outputs)])
        before = bytes_of([*inputs, *outputs, *seeds])
        gradients(case, inputs, attrs, seeds)
        with tf.GradientTape():  # somebody records: the adjoints run on tensors
            gradients(case, inputs, attrs, seeds)
        positions = differentiable_positions(case, sample)
        steps = [
            random_like(rng, x) if i in positions else None for i, x in enumerate(sample.inputs)
        ]
        tangents(case, steps, inputs, outputs, attrs)
        assert bytes_of([*inputs, *outputs, *seeds]) == before
    assert attrs == sample.attrs


def assignment(case, sample):
    """Values and gradients stay what they are when the variables they came from are assigned."""
    variables = [tf.Variable(x) for x in sample.inputs]
    with tf.GradientTape() as tape:
        outputs = run(case, variables, sample.attrs)
    kept = list(outputs)
    if passes_gradients(case, sample):
        found = tape.gradient(continuous(outputs), variables)
        kept += [tf.convert_to_tensor(g) for g in found if g is not None]
    before = bytes_of(kept)
    for variable in variables:
        if variable.dtype.is_numeric:
            variable.assign_add(variable)
        variable.assign(tf.zeros(variable.shape, variable.dtype))
    assert bytes_of(kept) == before


def aliasing(case, sample):
    """Adding up gradients writes to no source, no seed and no other gradient.

    The op is applied three times to the same inputs, so that gradients are added up, and the
    outputs are sources too, so that the gradients that came in are seen again.
    """
    rng = np.random.default_rng(5)
    inputs = tensors_of(sample.inputs)
    sources = [inputs[i] for i in differentiable_positions(case, sample)]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(sources)
        runs = [continuous(run(case, inputs, sample.attrs)) for _ in range(3)]
    targets = [out for outputs in runs for out in outputs]
    given = [random_like(rng, out._value) for out in runs[0]]
    expected_seeds = [array.copy() for array in given] * 3
    seeds = tensors_of(given)
    once = arrays_of(tape.gradient(runs[0], sources, output_gradients=list(seeds)))
    found = tape.gradient(targets, [*sources, *targets], output_gradients=list(seeds) * 3)
    found = [tf.convert_to_tensor(g) for g in found]
    for array in [*given, *(g.numpy() for g in [*found, *seeds])]:
        if isinstance(array, np.ndarray):
            array[...] = -7.0
    for g, single in zip(found, once, strict=False):
        assert_close(np.asarray(g), 3 * single, rounding=GRADIENT_ROUNDING)
    for g, seed in zip(found[len(sources) :], expected_seeds, strict=True):
        assert_close(np.asarray(g), seed, rounding=1)
