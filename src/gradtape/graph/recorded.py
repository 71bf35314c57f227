"""Calls of a function under tapes and accumulators.

Where a single tape looks on, a call is one record, whose gradient is a program of its own. Where
more than one recorder does, each op is shown to all of them.
"""

import functools
from typing import Any

from ..autodiff.tape import GradientTape
from ..core.active import thread
from ..core.indexed_slices import IndexedSlices
from ..core.op import Op
from ..core.tensor import EagerTensor
from .guards import Effects, Miss
from .replay import effect_by, replay


def call_recorded(paths, tensors, may_create):
    """What a function returns for these tensors, in view of the recorders of this thread."""
    effects = Effects()
    path = paths.latest
    if path is None:
        with paths.lock:  # threads that come second find what the first has traced
            path = paths.latest or _new_path(paths, tensors, effects, may_create)
    while path is not None:
        try:
            found = _run(paths, path, tensors, effects)
        except Exception:
            if not path.graph.handles_errors:
                raise
            return paths.run_python(tensors, effects)
        if type(found) is not Miss:
            paths.latest = path
            return found
        effects.start_over()
        path = paths.other(path, found) or _new_path(paths, tensors, effects)
    return paths.run_python(tensors, effects)


def _new_path(paths, tensors, effects, may_create=False):
    """A new path, traced without writing to variables; None if there can be none."""
    found = paths.traced(tensors, effects, may_create)
    effects.start_over()
    if found is None:
        return None
    path, trace, _ = found
    trace.release()
    return path


def follows_captured(path):
    """Whether a recorder follows a tensor whose value is a constant of the path's graph."""
    return any([recorder.tracks(path.captured) for recorder in thread.recorders])


def _run(paths, path, tensors, effects):
    """What a path returns; a Miss if a guard does not hold."""
    if path.captured and follows_captured(path):
        return paths.run_python(tensors, effects)
    recorders = thread.recorders
    if path.variables:
        for recorder in recorders:
            if recorder.is_tape:
                recorder.watch_accessed(path.trainable, path.watched_ids, path.variable_kinds)
            else:
                for variable in path.variables:
                    recorder.variable_read(variable)
    ids = [x._id for x in tensors]
    ids += path.variable_ids
    looking = [r for r in recorders if r.sees_everything or r.tracks(ids)]
    if not looking:
        found = path.program.run([x._value for x in tensors], effects)
        return found if type(found) is Miss else path.pack(list(map(EagerTensor, found)))
    if len(looking) == 1 and looking[0].is_tape:
        tape = looking[0]
        wanted = tuple([i for i in path.differentiable if ids[i] in tape.tracked])
        nan_safe = tape.nan_safe or thread.nan_safe
        derivative = path.derivative([x._value for x in tensors], wanted, effects, nan_safe)
        if type(derivative) is Miss:
            return derivative
        if derivative is not None:
            return _run_as_one(paths, path, derivative, tape, tensors, ids, wanted, effects)
    effects.start_over()
    found = replay(path.graph, tensors, effect_by(effects))
    return found if type(found) is Miss else path.pack(found)


def _run_as_one(paths, path, derivative, tape, tensors, ids, wanted, effects):
    """Runs the forward graph of a derivative and records it; a Miss if a guard does not hold."""
    # Before the run, which may write to variables.
    kept = [path.source(i, tensors) for _, i in derivative.kept_sources]
    again = None
    if tape.is_persistent or derivative.has_rules:
        held = [variable._handle.tensor for variable in path.variables]
        again = functools.partial(_outputs_again, path, tensors, held, effects)
    found = derivative.forward.run([x._value for x in tensors], effects)
    if type(found) is Miss:
        return found
    count = derivative.count
    outputs = list(map(EagerTensor, found[:count]))
    if derivative.followed:
        call = _Call(derivative, found[count:], kept)
        if again is not None:
            sources = [*tensors, *again.args[2]]
            call.again, call.sources = again, [sources[i] for i in wanted]
        followed = [outputs[i] for i in derivative.followed]
        _record(tape, paths.name, call, tuple([ids[i] for i in wanted]), followed)
    return path.pack(outputs)


def _outputs_again(path, tensors, held, effects):
    """The outputs of a call that has taken place, op by op, from what was held then."""
    effects.start_over()
    states = {x._id: x for x in held}
    return replay(path.graph, tensors, effect_by(effects), states)


class _Call:
    """One call of a function on a tape: what its gradient needs.

    Attributes:
        derivative: that of the path it took.
        residuals: the arrays that the backward program reads.
        kept: tensors that some of those belong to: arguments, and what variables held.
        again: runs the call once more, for recorders to see; None if that will not be needed.
        sources: the tensors that gradients are for, if `again` is given.
    """

    __slots__ = ("again", "derivative", "kept", "residuals", "sources")

    def __init__(self, derivative, residuals, kept):
        self.derivative = derivative
        self.residuals = residuals
        self.kept = kept
        self.again: Any = None
        self.sources: list = []

    def on_arrays(self, grads):
        """The gradients of the sources, for arrays, None where no gradient came."""
        backward = self.derivative.backward(self.residuals, grads)
        arrays = [g for g in grads if g is not None]
        if backward.expects(arrays):
            return backward.on_arrays(self.residuals, arrays)
        # Gradients of other shapes may still suit the ops themselves, which say so if not.
        recorders, thread.recorders = thread.recorders, ()
        try:
            found = backward.on_tensors(self._tensors(), list(map(EagerTensor, arrays)))
        finally:
            thread.recorders = recorders
        return [d if d is None else _raw(d) for d in found]

    def on_tensors(self, grads):
        """The gradients of the sources, recorded or batched if those of the outputs are."""
        if self.again is not None and thread.recorders:
            return self._recorded_again(grads)
        backward = self.derivative.backward(self.residuals, grads)
        return backward.on_tensors(self._tensors(), [g for g in grads if g is not None])

    def _tensors(self):
        """The residuals as tensors; recorders may know those that were given to the call."""
        tensors = list(map(EagerTensor, self.residuals))
        for (position, _), tensor in zip(self.derivative.kept_sources, self.kept, strict=True):
            tensors[position] = tensor
        return tensors

    def _recorded_again(self, grads):
        """Gradients that are differentiated once more: by a tape on the call, op by op."""
        with GradientTape(watch_accessed_variables=False, nan_safe=thread.nan_safe) as tape:
            tape.watch(self.sources)
            outputs = self.again()
        followed = [outputs[i] for i in self.derivative.followed]
        pairs = [(y, g) for y, g in zip(followed, grads, strict=True) if g is not None]
        seeds = [g for _, g in pairs]
        return tape.gradient([y for y, _ in pairs], self.sources, output_gradients=seeds)


def _raw(gradient):
    if isinstance(gradient, IndexedSlices):
        return gradient._to_tensor(None)._value
    return gradient._value


def _record(tape, name, call, ids, followed):
    out_ids = tuple([x._id for x in followed])
    tape.tracked.update(out_ids)
    for tensor in followed:
        tape.note_dtype(tensor)
    count = len(followed)
    op = _calling_op(name, count)
    # In the place of a shape None: outputs that no gradient came for are left out, not zero.
    saved = ((None,) * count,)
    tape.append((op, {"call": call}, saved, ids, out_ids if count != 1 else out_ids[0]))


@functools.lru_cache(maxsize=1000)
def _calling_op(name, outputs):
    """An op whose gradient is that of its attribute `call`."""
    return Op(
        name, ("*sources",), _no_kernel, _no_kernel, vjp=_on_tensors, outputs=outputs,
        holomorphic=False, tensor_rules=_on_tensors, array_rules=_on_arrays,
    )  # fmt: skip


def _on_tensors(g, saved, attrs):
    return attrs["call"].on_tensors(g if type(g) is tuple else (g,))


def _on_arrays(g, saved, attrs):
    return attrs["call"].on_arrays(g if type(g) is tuple else (g,))


def _no_kernel(*inputs, **attrs):
    raise AssertionError("A call of a function is recorded, never applied.")
