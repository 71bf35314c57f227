"""The backward walk: from the gradients of targets to those of everything they came from.

One loop over the records, latest first, without recursion. It runs in two forms: on raw arrays
when nobody records the gradient computation itself, on tensors through dispatch when somebody
does; `OnArrays` and `OnTensors` hold the few operations in which the two differ. Jacobians add a
third, for many rows at once.
"""

import functools

import numpy as np

from ..core import dtypes
from ..core.dispatch import thread
from ..core.errors import invalid_argument
from ..core.indexed_slices import IndexedSlices, RawSlices
from ..core.op import DIFFERENTIABLE, UNREGISTERED
from ..core.rules import guarded_rules
from ..core.tensor import EagerTensor, Tensor
from ..ops.arithmetic import add, masked
from ..ops.elementwise import conj
from ..ops.joining import concat_row
from ..ops.logic import equal, logical_or, not_equal
from ..ops.selection import zero_of
from .registry import user_gradient, user_gradient_of_arrays


class OnArrays:
    """Gradients are arrays; nothing is recorded."""

    raw = True
    sparse = RawSlices
    user_gradient = staticmethod(user_gradient_of_arrays)

    @staticmethod
    def densify(g):
        return g.to_dense()

    @staticmethod
    def zeros(shape, dtype):
        return np.zeros(shape, dtype)

    @staticmethod
    def add(a, b):
        return a + b

    @staticmethod
    def concatenate(a, b):
        return RawSlices(
            np.concatenate([a.values, b.values]),
            np.concatenate([a.indices, b.indices]),
            a.dense_shape,
        )

    @staticmethod
    def wrap(g):
        return g.wrap() if type(g) is RawSlices else EagerTensor(g)


class OnTensors:
    """Gradients are tensors, and computing them goes through dispatch."""

    raw = False
    sparse = IndexedSlices
    user_gradient = staticmethod(user_gradient)

    @staticmethod
    def rules(op):
        return op.tensor_rules

    @staticmethod
    def densify(g):
        return g._to_tensor(None)

    @staticmethod
    def zeros(shape, dtype):
        return EagerTensor(np.zeros(shape, dtype)[()])

    @staticmethod
    def add(a, b):
        return add(a, b)

    @staticmethod
    def concatenate(a, b):
        return IndexedSlices(
            concat_row([a.values, b.values], axis=0),
            concat_row([a.indices, b.indices], axis=0),
            a.dense_shape,
        )

    @staticmethod
    def wrap(g):
        return g


def walk_back(recording, grads, keep, mode, *, free):
    """Runs every adjoint that the gradients in `grads` reach, once each.

    Args:
        recording: the tape's records and the ids it tracks.
        grads: from tensor ids to gradients; holds the results of `keep` afterwards.
        keep: ids whose gradients the caller wants.
        mode: OnArrays, OnTensors or what answers like them.
        free: whether to drop each record, with what it saved, as soon as it is done.
    """
    outside = thread.in_backward, thread.nan_safe
    # Gradients that a rule computes by a tape of its own, as recompute_grad does, are safe too.
    thread.in_backward, thread.nan_safe = True, recording.nan_safe or thread.nan_safe
    try:
        _walk(recording, grads, keep, mode, free)
    finally:
        thread.in_backward, thread.nan_safe = outside


def _walk(recording, grads, keep, mode, free):
    tracked = recording.tracked
    records = recording.records
    sparse = mode.sparse
    raw = mode.raw
    has_complex = recording.has_complex
    nan_safe = thread.nan_safe
    owned = set()
    take, look_up, next_record = grads.pop, grads.get, records.pop
    # A persistent tape inside its own context grows while it is walked.
    for position in range(len(records) - 1, -1, -1):
        op, attrs, saved, ids, out_id = next_record() if free else records[position]
        if op.outputs == 1:
            g = look_up(out_id) if out_id in keep else take(out_id, None)
            if g is None:
                continue
            if type(g) is sparse and not op.takes_sparse:
                g = mode.densify(g)
        else:
            g = _gradients_of_outputs(mode, grads, keep, saved, out_id)
            if g is None:
                continue
        rules = op.array_rules if raw else mode.rules(op)
        if nan_safe and op.state == DIFFERENTIABLE and (op.broadcasts or op.accepts):
            rules = _nan_safe_rules(op, raw)
        conjugate = has_complex and op.holomorphic and _is_complex(g)
        if conjugate or type(rules) is not tuple:
            wanted = [input_id in tracked for input_id in ids]
            found = _joint(mode, op, rules, attrs, saved, g, wanted, conjugate)
            if op.by_user or op.state == UNREGISTERED:
                _check_dtypes(op, saved[0], found, ids, keep)
            rules = _constant_rules(found)
        for rule, input_id in zip(rules, ids):  # noqa: B905 - equal by construction, and hot
            if rule is None or input_id not in tracked:
                continue
            d = rule(g, saved, attrs)
            if d is None:
                continue
            earlier = look_up(input_id)
            if earlier is None:
                grads[input_id] = d
            else:
                grads[input_id] = _accumulate(mode, earlier, d, input_id, owned)


@functools.cache
def _nan_safe_rules(op, raw):
    """The rules of an elementwise op in which an incoming zero outweighs infinite slopes."""
    return guarded_rules(op, raw, _zero_where_none_came)


def _zero_where_none_came(d, g):
    """`d`, but 0 where it is NaN although the incoming `g` is exactly 0.

    Only those elements are touched: where the slope is finite, `d` must go on depending on `g`, for
    the sake of the second derivative.
    """
    value = d._value if type(d) is EagerTensor else d
    if not isinstance(value, Tensor) and not np.any(value != value):
        return d
    return masked(d, logical_or(equal(d, d), not_equal(g, zero_of(g))))


def _is_complex(g):
    if type(g) is tuple:
        return any([_is_complex(each) for each in g])
    if isinstance(g, (RawSlices, IndexedSlices)):
        g = g.values
    return (g._value if isinstance(g, Tensor) else g).dtype.kind == "c"


def _constant_rules(found):
    """Gradients that are known already, in the form of rules."""
    return [None if d is None else (lambda g, saved, attrs, d=d: d) for d in found]


def _gradients_of_outputs(mode, grads, keep, saved, out_ids):
    """A gradient for each output of an op with several, zeros where none came."""
    found = [grads.get(i) if i in keep else grads.pop(i, None) for i in out_ids]
    if all([g is None for g in found]):
        return None
    specs = saved[-1] if type(saved[-1]) is tuple else ()
    for i, g in enumerate(found):
        if g is None:
            # A record that wants to know which gradients came has no shapes for the others.
            found[i] = None if specs[i] is None else mode.zeros(*specs[i])
        elif type(g) is mode.sparse:
            found[i] = mode.densify(g)
    return tuple(found)


def _joint(mode, op, rules, attrs, saved, g, wanted, conjugate):
    """All gradients of a record at once: joint rules, registered functions, complex numbers."""
    if op.state == UNREGISTERED:
        return mode.user_gradient(op, attrs, saved, g if type(g) is tuple else (g,))
    if conjugate:
        g = _conjugated(g)
    if op.joint:
        found = rules(g, saved, {**attrs, "wanted": wanted})
    else:
        found = [
            rule(g, saved, attrs) if rule is not None and want else None
            for rule, want in zip(rules, wanted, strict=True)
        ]
    return [None if d is None else _conjugated(d) for d in found] if conjugate else found


def _check_dtypes(op, inputs, found, ids, keep):
    """Raises for a user's gradient that the next op back cannot take, as its dtype is another."""
    for i, (x, d, input_id) in enumerate(zip(inputs, found, ids, strict=True)):
        if d is None or input_id in keep:
            continue
        want = x if isinstance(x, np.dtype) else x._value.dtype
        values = d.values if isinstance(d, (RawSlices, IndexedSlices)) else d
        got = (values._value if isinstance(values, Tensor) else values).dtype
        if got != want:
            want, got = dtypes.of_numpy(want).name, dtypes.of_numpy(got).name
            raise invalid_argument(
                op.name,
                f"the gradient function of {op.name} was expected to return a {want} tensor for "
                f"input #{i}(zero-based) but it is a {got} tensor. Convert it with tf.cast.",
            )


def _conjugated(g):
    if type(g) is tuple:
        return tuple([_conjugated(each) for each in g])
    if isinstance(g, (RawSlices, IndexedSlices)):
        return type(g)(conj(g.values), g.indices, g.dense_shape)
    return conj(g)


def _accumulate(mode, earlier, d, input_id, owned):
    """The sum of two gradients of one tensor; sums we made ourselves are added to in place."""
    sparse = mode.sparse
    if type(earlier) is sparse or type(d) is sparse:
        if type(earlier) is sparse and type(d) is sparse:
            return mode.concatenate(earlier, d)
        earlier = mode.densify(earlier) if type(earlier) is sparse else earlier
        d = mode.densify(d) if type(d) is sparse else d
    elif mode is not OnTensors and earlier.dtype != d.dtype:
        raise _unlike(earlier.dtype, d.dtype)
    elif input_id in owned and earlier.shape == d.shape:
        earlier += d
        return earlier
    total = mode.add(earlier, d)
    if type(total) is np.ndarray:
        owned.add(input_id)
    return total


def _unlike(*found):
    """The error for gradients of one tensor that differ in dtype; NumPy would widen in silence."""
    first, second = [dtypes.of_numpy(dtype).name for dtype in found]
    return invalid_argument(
        "AddN",
        "cannot compute AddN as input #1(zero-based) was expected to be a "
        f"{first} tensor but is a {second} tensor: two gradients of one tensor differ in dtype. "
        "A gradient function of custom_gradient, RegisterGradient or gradient_override must return "
        "gradients of the dtypes of its inputs; convert them with tf.cast.",
    )


def seed_like(target):
    """Ones in the shape and dtype of a target tensor."""
    value = target._value
    if not value.shape:
        return value.dtype.type(1) if value.dtype != object else None
    return np.ones(value.shape, value.dtype)
