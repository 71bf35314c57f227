"""How the checks call ops: on arrays or tensors, for values, gradients and tangents."""

from typing import Any

import numpy as np

import gradtape as tf
from gradtape.autodiff.forward import op_tangent
from gradtape.core.dispatch import apply
from gradtape.core.op import DIFFERENTIABLE, OPS, Spec

from .arrays import is_continuous, random_like

# Units in the last place by which two ways to compute the same gradient may differ.
GRADIENT_ROUNDING = 1000


def tensors_of(inputs):
    """A new tensor for each array, at rank 0 around a NumPy scalar."""
    return tuple([tf.convert_to_tensor(x) for x in inputs])


def arrays_of(tensors) -> list[Any]:
    """The tensors' values as arrays; IndexedSlices as dense ones, None as None."""
    return [None if t is None else np.asarray(tf.convert_to_tensor(t)) for t in tensors]


def continuous(items):
    """Those arrays or tensors that have gradients."""
    return [item for item in items if is_continuous(item)]


def run(case, inputs, attrs):
    """The outputs of the case's op, always as a tuple of tensors."""
    out = apply(OPS[case.op], tuple(inputs), attrs)
    return out if isinstance(out, tuple) else (out,)


def call(case, inputs, attrs):
    """The same through the row's function, the shorter way that rules and operators take."""
    op = OPS[case.op]
    out = op.call(list(inputs), **attrs) if op.variadic else op.call(*inputs, **attrs)
    return out if isinstance(out, tuple) else (out,)


def values(case, inputs, attrs):
    """The continuous outputs, from arrays to arrays."""
    return continuous(arrays_of(run(case, tensors_of(inputs), attrs)))


def gradients(case, inputs, attrs, seeds):
    """Gradients of every input, for the given gradients of the continuous outputs."""
    tensors = [x if isinstance(x, tf.Tensor) else tf.convert_to_tensor(x) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch(continuous(tensors))
        outputs = call(case, tensors, attrs)
    return tape.gradient(continuous(outputs), tensors, output_gradients=list(seeds))


def tangents(case, directions, inputs, outputs, attrs):
    """The tangents of the continuous outputs, as arrays; directions may be None."""
    op = OPS[case.op]
    given = [None if d is None else tf.convert_to_tensor(d) for d in directions]
    found = op_tangent(op, given, tuple(inputs), outputs if op.outputs != 1 else outputs[0], attrs)
    assert found is not None
    found = found if isinstance(found, tuple) else (found,)
    return arrays_of([t for t, out in zip(found, outputs, strict=True) if is_continuous(out)])


def direction(case, rng, x, position):
    """A random direction to step from an input."""
    return random_like(rng, x) if case.direction is None else case.direction(rng, x, position)


def differentiable_positions(case, sample):
    """The positions of the inputs that have gradients."""
    if case.state != DIFFERENTIABLE:
        return []
    positions = [i for i, x in enumerate(sample.inputs) if is_continuous(x)]
    if case.differentiable is None:
        return positions
    return [i for i in positions if OPS[case.op].inputs[i] in case.differentiable]


def passes_gradients(case, sample):
    """Whether a gradient passes from some output of this sample to some input."""
    return bool(differentiable_positions(case, sample)) and _has_continuous_output(case, sample)


def _has_continuous_output(case, sample):
    try:
        specs = OPS[case.op].infer(*sample.inputs, **sample.attrs)
    except Exception:
        return True  # the check of inference fails and says why
    return bool(continuous([specs] if isinstance(specs, Spec) else specs))


def bytes_of(tensors):
    """The tensors' contents, for comparison; strings as lists."""
    contents = [np.asarray(t._value) for t in tensors]
    return [v.tolist() if v.dtype == object else v.tobytes() for v in contents]
