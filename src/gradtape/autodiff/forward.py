"""Tangents of single ops: the row's own rule, or the adjoint transposed."""

import numpy as np

from ..core.op import DIFFERENTIABLE
from ..core.tensor import EagerTensor
from ..ops.elementwise import conj_public
from .tape import GradientTape, Recording


def op_tangent(op, tangents, inputs, out, attrs):
    """The tangent of `out` for tangents of the inputs, None where an input has none.

    Returns:
        A tensor, or a tuple of them for an op with several outputs; None if no gradient passes.
    """
    if op.state != DIFFERENTIABLE:
        return None
    if op.jvp is not None:
        return op.jvp(op, tangents, inputs, out, attrs)
    return _transposed_adjoint(op, tangents, inputs, out, attrs)


def _transposed_adjoint(op, tangents, inputs, out, attrs):
    """The adjoint is linear in what it is given; its own adjoint is therefore the tangent."""
    recording = Recording(False)
    recording.tracked.update([x._id for x in inputs])
    op.record(recording, attrs, inputs, out)
    saved = recording.records[0][2]
    several = op.outputs != 1
    probes = [_ones(o) for o in (out if several else (out,))]
    with GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(probes)
        g = tuple(probes) if several else probes[0]
        if op.joint:
            wanted = [t is not None for t in tangents]
            adjoints = op.tensor_rules(g, saved, {**attrs, "wanted": wanted})
        else:
            adjoints = [
                None if rule is None or tangent is None else rule(g, saved, attrs)
                for rule, tangent in zip(op.tensor_rules, tangents, strict=True)
            ]
    pairs = [
        (d, t) for d, t in zip(adjoints, tangents, strict=True) if d is not None and t is not None
    ]
    if not pairs:
        return None
    # Rules of holomorphic ops are written for real numbers, and the gradient of such a rule brings
    # in a conjugate that the tangent must not have.
    turned = conj_public if op.holomorphic else (lambda t: t)
    found = tape.gradient(
        [d for d, _ in pairs], probes, output_gradients=[turned(t) for _, t in pairs],
        unconnected_gradients="zero",
    )  # fmt: skip
    found = [turned(t) for t in found]
    return tuple(found) if several else found[0]


def _ones(tensor):
    return EagerTensor(np.ones(tensor._value.shape, tensor._value.dtype))
