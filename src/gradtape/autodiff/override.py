"""gradient_override: a context in which ops use other gradients than their own."""

import contextlib
import dataclasses
import threading

from ..batching import batch_level
from ..core.dispatch import thread
from ..core.indexed_slices import IndexedSlices
from ..core.op import DIFFERENTIABLE, NON_DIFFERENTIABLE, OPS, UNREGISTERED, find_op
from ..core.rules import compile_rules
from ..ops.broadcasting import broadcast_to, reshape
from ..ops.reduction import reduce_sum
from .custom import override
from .registry import ask, call_on_arrays, user_gradients


class gradient_override:  # noqa: N801 - a context, used like a function
    """A context in which ops use other gradients: `gradient_override({"Relu": "GuidedRelu"})`.

    It is for the ops called inside it on this thread, wherever the gradient is computed.

    Args:
        mapping: from op types to names given to `RegisterGradient`.

    Raises:
        LookupError: there is no such op, or nobody has registered the gradient.
        ValueError: the op is not differentiable, so tapes never hear of it.
    """

    def __init__(self, mapping):
        for op_type, name in mapping.items():
            if find_op(op_type) is None:
                raise LookupError(f"There is no op of type {op_type!r}.")
            if name not in user_gradients:
                raise LookupError(f"gradient registry has no entry for: {name}")
            if OPS[op_type].state == NON_DIFFERENTIABLE:
                raise ValueError(
                    f"Op {op_type} is not differentiable by definition, and its gradient cannot be "
                    "overridden. Wrap it in tf.grad_pass_through or tf.custom_gradient."
                )
        self._mapping = dict(mapping)
        self._outer = []

    def __enter__(self):
        for op_type in self._mapping:
            _look_at_overrides(OPS[op_type])
        self._outer.append(_overrides.active)
        _overrides.active = {**_overrides.active, **self._mapping}
        return self

    def __exit__(self, *error):
        _overrides.active = self._outer.pop()


class _Overrides(threading.local):
    active: dict = {}  # noqa: RUF012 - replaced, never changed


_overrides = _Overrides()


def active_overrides():
    """From op types to the gradients that take the place of theirs here."""
    return _overrides.active


def active_gradient(op):
    """The name of the gradient that takes the place of the op's here, or None."""
    return _overrides.active.get(op.name)


@contextlib.contextmanager
def _no_overrides():
    """For what recorders compute at once, as tangents: only the ops that the user calls count."""
    outer, _overrides.active = _overrides.active, {}
    try:
        yield
    finally:
        _overrides.active = outer


_watched_ops: set = set()


def _look_at_overrides(op):
    """Makes `op` look, when it is recorded, whether another gradient is asked for."""
    if op.name in _watched_ops:
        return
    _watched_ops.add(op.name)
    if op.tensor_rules is None and op.state != UNREGISTERED:
        compile_rules(op)
    usual = op.record
    usual_batch = op.batch
    twins = {}

    def record(recorder, attrs, inputs, out):
        name = _overrides.active.get(op.name)
        if name is None:
            return usual(recorder, attrs, inputs, out)
        if name not in twins:
            twins[name] = _twin_with_gradient(op, name)
        with _no_overrides():
            twins[name].record(recorder, attrs, inputs, out)

    def batch(op, values, flags, attrs):
        name = _overrides.active.get(op.name)
        if name is None or not thread.recorders:
            return usual_batch(op, values, flags, attrs)
        return _batch_with_gradient(usual_batch, name, op, values, flags, attrs)

    op.record = record
    op.batch = batch


def _batch_with_gradient(usual_batch, name, op, values, flags, attrs):
    """All elements at once, as one step whose gradient is that of each by the function `name`.

    The batch rule may use other ops, and those around it must not see them instead of this one.
    """
    recorders, thread.recorders = thread.recorders, ()
    try:
        result = usual_batch(op, values, flags, attrs)
    finally:
        thread.recorders = recorders
    outputs = list(result) if isinstance(result, (list, tuple)) else [result]

    def backward(*grads):
        with batch_level() as level:
            inputs = [level.wrap(x) if f else x for x, f in zip(values, flags, strict=True)]
            outs = tuple([level.wrap(out) for out in outputs])
            saved = inputs, outs if op.outputs != 1 else outs[0]
            each = tuple([level.wrap(g) for g in grads])
            found = ask(user_gradients[name], op, attrs, saved, each)
        return [
            None if d is None else _for_all(level, d, len(outputs[0]), flag)
            for d, flag in zip(found, flags, strict=True)
        ]

    with _no_overrides():
        fresh = override(op.name, list(values), outputs, backward)
    return fresh[0] if op.outputs == 1 else tuple(fresh)


def _for_all(level, gradient, count, has_axis):
    """The gradients of all elements; their sum for an input that all of them share."""
    if isinstance(gradient, IndexedSlices):
        gradient = gradient._to_tensor(None)
    rows = level.unwrap(gradient)
    if rows is None:
        shape = gradient._value.shape
        rows = broadcast_to(reshape(gradient, shape=(1, *shape)), shape=(count, *shape))
    return rows if has_axis else reduce_sum(rows, axis=0)


def _twin_with_gradient(op, name):
    """`op` as it is recorded where its gradient is the one registered as `name`."""
    function = user_gradients[name]

    def on_tensors(g, saved, attrs):
        return ask(function, op, attrs, saved, g if type(g) is tuple else (g,))

    def on_arrays(g, saved, attrs):
        grads = g if type(g) is tuple else (g,)
        return call_on_arrays(lambda *each: ask(function, op, attrs, saved, each), grads)

    # The gradients of ops without a rule are asked with all inputs and outputs, and so is this one.
    twin = dataclasses.replace(op, state=UNREGISTERED, holomorphic=False, by_user=True)
    compile_rules(twin)
    twin.state, twin.vjp, twin.jvp = DIFFERENTIABLE, on_tensors, None
    twin.tensor_rules, twin.array_rules = on_tensors, on_arrays
    return twin
