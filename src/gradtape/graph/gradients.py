"""tf.gradients and tf.hessians: derivatives inside a function without a tape.

They are asked for when everything has been computed. So a function that uses them is traced with a
log of its ops, from which a tape is made once it is known what it has to follow.
"""

import numpy as np

from ..autodiff import backward
from ..autodiff.custom import tell_of_rule
from ..autodiff.recording import Recording
from ..autodiff.tape import GradientTape, UnconnectedGradients, zeros_in_place_of
from ..batching import BatchedTensor
from ..core.active import thread
from ..core.convert import convert_to_tensor
from ..core.exports import export
from ..core.indexed_slices import IndexedSlices
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import Variable
from .op_log import Log, NeedsLog


@export("gradients")
def gradients(
    ys,
    xs,
    grad_ys=None,
    name="gradients",
    gate_gradients=False,
    aggregation_method=None,
    stop_gradients=None,
    unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
):
    """Derivatives of the sum of `ys` with respect to each of `xs`, inside a tf.function.

    Args:
        ys: a tensor or a list of them.
        xs: a tensor or variable, or a list of them; none needs to be watched.
        grad_ys: what to start from instead of ones: one for each of `ys`, or None for ones.
        name: ignored, as are `gate_gradients` and `aggregation_method`.
        gate_gradients: whether TensorFlow would wait for all gradients of an op.
        aggregation_method: how TensorFlow would add gradients up.
        stop_gradients: a tensor or a list of them that count as constants.
        unconnected_gradients: `"none"` or `"zero"`, for those of `xs` that `ys` do not depend on.

    Returns:
        A list with a gradient for each of `xs`: a tensor, IndexedSlices, or None.

    Raises:
        RuntimeError: outside of a tf.function.
        ValueError: `grad_ys` are not as many as `ys`.
        TypeError: one of `ys` is complex, and `grad_ys` says nothing of it.

    Example:
        >>> f = tf.function(lambda x: tf.gradients(x * x, x))
        >>> f(tf.constant(3.0))
        [<tf.Tensor: shape=(), dtype=float32, numpy=6.0>]
    """
    log = _active_log()
    targets = [convert_to_tensor(y) for y in _as_list(ys)]
    sources = [_checked(x, "xs") for x in _as_list(xs)]
    stops = [_checked(x, "stop_gradients") for x in _as_list(stop_gradients or [])]
    tape = _tape_of(log, sources, stops)
    return tape.gradient(
        targets,
        sources,
        output_gradients=_seeds(targets, grad_ys),
        unconnected_gradients=unconnected_gradients,
    )


@export("hessians")
def hessians(ys, xs, gate_gradients=False, aggregation_method=None, name="hessians"):
    """Second derivatives of the sum of `ys` with respect to each of `xs`, inside a tf.function.

    Args:
        ys: a tensor or a list of them.
        xs: a tensor or variable, or a list of them.
        gate_gradients: ignored, as are `aggregation_method` and `name`.
        aggregation_method: how TensorFlow would add gradients up.
        name: what TensorFlow would call the ops.

    Returns:
        A list with a tensor of shape `x.shape + x.shape` for each `x`.

    Raises:
        RuntimeError: outside of a tf.function.
    """
    log = _active_log()
    sources = _as_list(xs)
    found = []
    for x, g in zip(sources, gradients(ys, sources), strict=True):
        if g is None:
            g = zeros_in_place_of(x if isinstance(x, Tensor) else x._handle.tensor)
        elif isinstance(g, IndexedSlices):
            g = convert_to_tensor(g)
        found.append(_tape_of(log, [x]).jacobian(g, x, unconnected_gradients="zero"))
    return found


def _active_log():
    """The log of the function that is being traced.

    Raises:
        RuntimeError: there is no function.
        NeedsLog: it has none; whoever traces it does so again, with one.
    """
    for recorder in reversed(thread.recorders):
        if isinstance(recorder, Log):
            return recorder
    if thread.trace is None:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape "
            "instead."
        )
    raise NeedsLog


def _as_list(items):
    return list(items) if isinstance(items, (list, tuple)) else [items]


def _checked(x, argument):
    """A tensor or variable that a log knows."""
    if isinstance(x, BatchedTensor):
        raise ValueError(
            f"tf.gradients does not see what happens inside vectorized_map. Received: in "
            f"`{argument}` one of its elements. Use tf.GradientTape there."
        )
    if not isinstance(x, (Tensor, Variable)):
        raise TypeError(
            f"tf.gradients takes tensors and variables as `{argument}`. Received: {x!r} of type "
            f"{type(x).__name__!r}."
        )
    return x


def _seeds(targets, grad_ys):
    """The gradients to start from, one for each target."""
    given = [None] * len(targets) if grad_ys is None else _as_list(grad_ys)
    if len(given) != len(targets):
        raise ValueError(f"Length mismatch. Passed {len(given)} grad_ys for {len(targets)} ys")
    for y, g in zip(targets, given, strict=True):
        if g is None and y.dtype.is_complex:
            raise TypeError(
                f"Gradients of complex tensors ({y}) must set grad_ys (y.dtype = {y.dtype.name})"
            )
    return [
        _ones(y) if g is None else convert_to_tensor(g) for y, g in zip(targets, given, strict=True)
    ]


def _ones(target):
    seed = backward.seed_like(target)
    return EagerTensor(np.zeros((), np.float32) if seed is None else seed)


def _tape_of(log, sources, stops=()):
    """A tape that has followed `sources` from the start, and nothing beyond `stops`."""
    recording = Recording(False)
    for x in sources:
        tensor = x if isinstance(x, Tensor) else x._handle.tensor
        if tensor.dtype.is_differentiable:
            recording.watch_tensor(tensor)
    constant = {x._id if isinstance(x, Tensor) else x._handle.id for x in stops}
    for op, attrs, inputs, old, out in log.entries:
        outs = out if isinstance(out, (list, tuple)) else (out,)
        if constant and not constant.isdisjoint([each._id for each in outs]):
            continue
        if old is None:
            op.record(recording, attrs, inputs, out)
        else:
            tell_of_rule(recording, op, attrs, inputs, old, out)
    tape = GradientTape(watch_accessed_variables=False)
    tape._inner = recording
    return tape
