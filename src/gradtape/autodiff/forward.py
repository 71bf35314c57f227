"""Tangents of single ops: the row's own rule, or the adjoint transposed."""

import numpy as np

from ..core import dtypes
from ..core.indexed_slices import IndexedSlices
from ..core.op import DIFFERENTIABLE, UNREGISTERED
from ..core.tensor import EagerTensor
from ..ops.elementwise import conj_public
from .registry import user_gradient
from .tape import GradientTape, Recording


def op_tangent(op, tangents, inputs, out, attrs):
    """The tangent of `out` for tangents of the inputs, None where an input has none.

    Returns:
        A tensor, or a tuple of them for an op with several outputs; None if no gradient passes.

    Raises:
        LookupError: the op has no gradient registered.
    """
    if op.outputs == 1 and out._value.dtype not in dtypes.DIFFERENTIABLE:
        return None
    if op.state == UNREGISTERED:
        return _transposed_adjoint(op, tangents, inputs, out, attrs)
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
        tape.watch([p for p in probes if p._value.dtype in dtypes.DIFFERENTIABLE])
        adjoints = _adjoints(op, tuple(probes) if several else probes[0], saved, tangents, attrs)
        adjoints = [d._to_tensor(None) if isinstance(d, IndexedSlices) else d for d in adjoints]
    pairs = [
        (d, t) for d, t in zip(adjoints, tangents, strict=True) if d is not None and t is not None
    ]
    if not pairs:
        return None
    # Rules of holomorphic ops are written for real numbers, and the gradient of such a rule brings
    # in a conjugate that the tangent must not have.
    turned = conj_public if op.holomorphic and op.state != UNREGISTERED else (lambda t: t)
    found = tape.gradient(
        [d for d, _ in pairs], probes, output_gradients=[turned(t) for _, t in pairs]
    )
    found = [None if t is None else turned(t) for t in found]
    return tuple(found) if several else found[0]


def _adjoints(op, g, saved, tangents, attrs):
    """The gradients of those inputs that have a tangent."""
    if op.state == UNREGISTERED:
        return user_gradient(op, attrs, saved, g if type(g) is tuple else (g,))
    if op.joint:
        wanted = [t is not None for t in tangents]
        return op.tensor_rules(g, saved, {**attrs, "wanted": wanted})
    return [
        None if rule is None or tangent is None else rule(g, saved, attrs)
        for rule, tangent in zip(op.tensor_rules, tangents, strict=True)
    ]


def _ones(tensor):
    return EagerTensor(np.ones(tensor._value.shape, tensor._value.dtype))
