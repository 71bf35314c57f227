"""Checks of derivatives: adjoint, tangent, second order, and where gradients end."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.op import UNREGISTERED

from .arrays import assert_close, derivative, inner_sum, random_like, size_of
from .calls import (
    GRADIENT_ROUNDING,
    arrays_of,
    continuous,
    differentiable_positions,
    direction,
    gradients,
    run,
    tangents,
    tensors_of,
    values,
)

# How far a derivative may be from differences, in proportion.
_DIFFERENCE_ERROR = 1e-8


def vjp(case, sample):
    """Gradients agree with differences, input by input; inputs without a gradient have None."""
    rng = np.random.default_rng(0)
    outputs = values(case, sample.inputs, sample.attrs)
    seeds = [random_like(rng, out) for out in outputs]
    found = arrays_of(gradients(case, sample.inputs, sample.attrs, seeds))
    positions = differentiable_positions(case, sample)
    for i, (x, gradient) in enumerate(zip(sample.inputs, found, strict=True)):
        if i not in positions:
            assert gradient is None
            continue
        assert gradient is not None
        assert (gradient.shape, gradient.dtype) == (x.shape, x.dtype)
        step = direction(case, rng, x, i)

        def projected(t, i=i, step=step):
            return inner_sum(seeds, values(case, _moved(sample.inputs, i, t * step), sample.attrs))

        scale = size_of(seeds, outputs) + size_of([gradient], [step])
        expected = _approximately(derivative(projected), _DIFFERENCE_ERROR * case.tolerance * scale)
        assert inner_sum([gradient], [step]) == expected


def jvp(case, sample):
    """<w, jvp v> = <vjp w, v> but for rounding, for each input alone and for all together."""
    rng = np.random.default_rng(1)
    inputs = tensors_of(sample.inputs)
    outputs = run(case, inputs, sample.attrs)
    results = continuous(arrays_of(outputs))
    seeds = [random_like(rng, out) for out in results]
    adjoint = arrays_of(gradients(case, sample.inputs, sample.attrs, seeds))
    positions = differentiable_positions(case, sample)
    alone = [[i] for i in positions]
    for moving in alone if len(alone) == 1 else [*alone, positions]:
        steps = [
            direction(case, rng, x, i) if i in moving else None for i, x in enumerate(sample.inputs)
        ]
        tangent = tangents(case, steps, inputs, outputs, sample.attrs)
        for t, out in zip(tangent, results, strict=True):
            assert (t.shape, t.dtype) == (out.shape, out.dtype)
        pairs = [adjoint[i] for i in moving], [steps[i] for i in moving]
        scale = size_of(seeds, tangent) + size_of(*pairs)
        error = GRADIENT_ROUNDING * case.tolerance * np.finfo(np.float64).eps * scale
        assert inner_sum(seeds, tangent) == _approximately(inner_sum(*pairs), error)


def second_order(case, sample):
    """Gradients of gradients agree with differences, and those by the seeds with the tangent."""
    rng = np.random.default_rng(2)
    inputs = tensors_of(sample.inputs)
    outputs = run(case, inputs, sample.attrs)
    seeds = [random_like(rng, out) for out in continuous(arrays_of(outputs))]
    seed_tensors = tensors_of(seeds)
    positions = differentiable_positions(case, sample)
    sources = [inputs[i] for i in positions]
    weights = [direction(case, rng, sample.inputs[i], i) for i in positions]
    with tf.GradientTape() as outer:
        outer.watch([*sources, *seed_tensors])
        recorded = gradients(case, inputs, sample.attrs, seed_tensors)
        recorded = [tf.convert_to_tensor(recorded[i]) for i in positions]
    second = arrays_of(
        outer.gradient(recorded, [*sources, *seed_tensors], list(tensors_of(weights)))
    )

    plain = arrays_of(gradients(case, sample.inputs, sample.attrs, seeds))
    plain = [plain[i] for i in positions]
    for on_tensors, on_arrays in zip(recorded, plain, strict=True):
        assert_close(on_tensors.numpy(), on_arrays, rounding=GRADIENT_ROUNDING)

    for i, gradient in zip(positions, second, strict=False):
        step = direction(case, rng, sample.inputs[i], i)

        def projected(t, i=i, step=step):
            moved = _moved(sample.inputs, i, t * step)
            first = arrays_of(gradients(case, moved, sample.attrs, seeds))
            return inner_sum(weights, [first[p] for p in positions])

        assert gradient is None or gradient.shape == sample.inputs[i].shape
        scale = size_of(weights, plain) + size_of([step], [gradient])
        expected = _approximately(derivative(projected), _DIFFERENCE_ERROR * case.tolerance * scale)
        assert inner_sum([step], [gradient]) == expected

    weight_at = dict(zip(positions, weights, strict=True))
    steps = [weight_at.get(i) for i in range(len(inputs))]
    tangent = tangents(case, steps, inputs, outputs, sample.attrs)
    for gradient, t in zip(second[len(sources) :], tangent, strict=True):
        assert gradient is not None
        assert_close(gradient, t, rounding=GRADIENT_ROUNDING * case.tolerance)


def ends_gradients(case, sample):
    """No gradient passes: it is None, or a LookupError where the registry has no entry."""
    inputs = list(tensors_of(sample.inputs))
    with tf.GradientTape() as tape:
        tape.watch(continuous(inputs))
        outputs = list(run(case, inputs, sample.attrs))
    if case.state == UNREGISTERED and continuous(inputs):
        with pytest.raises(LookupError, match=f"gradient registry has no entry for: {case.op}"):
            tape.gradient(outputs, inputs)
    else:
        assert tape.gradient(outputs, inputs) == [None] * len(inputs)


def _moved(inputs, position, step):
    return [x + step if i == position else x for i, x in enumerate(inputs)]


def _approximately(number, error):
    return pytest.approx(number, rel=0, abs=error)
