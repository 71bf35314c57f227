"""GradientTape: records what happens inside its context and differentiates it."""

import enum
from typing import Any

import numpy as np

from ..core import convert, log, nest
from ..core.active import is_recording
from ..core.dispatch import thread
from ..core.errors import InternalError
from ..core.indexed_slices import IndexedSlices
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import Variable, variable_of
from . import backward, jacobians
from .recording import Recording

_IN_CONTEXT = (
    "Calling GradientTape.gradient on a persistent tape inside its context is significantly less "
    "efficient than calling it outside the context (it causes the gradient ops to be recorded on "
    "the tape, leading to increased CPU and memory usage). Only call GradientTape.gradient inside "
    "the context if you actually want to trace the gradient in order to compute higher order "
    "derivatives."
)


class UnconnectedGradients(enum.Enum):
    """What stands for the gradient of a source that the target does not depend on."""

    NONE = "none"
    ZERO = "zero"


class NotDifferentiableError(TypeError, AttributeError):
    """A target, source or watched object is not a tensor or variable."""


class _StopRecording:
    """The context of `GradientTape.stop_recording`."""

    __slots__ = ("_tape",)

    def __init__(self, tape):
        self._tape = tape

    def __enter__(self):
        if self._tape._inner is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._tape._pop()

    def __exit__(self, *error):
        self._tape._push()


class GradientTape:
    """Records operations for automatic differentiation.

    Args:
        persistent: whether `gradient` may be called more than once.
        watch_accessed_variables: whether trainable variables are watched when they are used.
        nan_safe: whether an element that gets a gradient of exactly 0 passes on 0 even where the
            slope is infinite or NaN, as in the branch that `tf.where` did not take. Tapes nested
            for higher orders should all have it.

    Example:
        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.gradient(y, x)
        <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """

    def __init__(self, persistent=False, watch_accessed_variables=True, *, nan_safe=False):
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._nan_safe = nan_safe
        self._inner = None
        self._recording = False
        self._variables_of_used = ()
        self._departures = {}  # what the last recording noted; it outlives a one-shot tape's use

    def __enter__(self):
        self._push()
        return self

    def __exit__(self, typ, value, traceback):
        if self._recording:
            self._pop()

    def _push(self):
        if self._recording:
            raise ValueError(
                "Tape is still recording, This can happen if you try to re-enter an "
                "already-active tape."
            )
        if self._inner is None:
            self._inner = Recording(
                self._watch_accessed_variables, self._nan_safe, self._persistent
            )
            self._departures = self._inner.departures
        self._inner.is_stopped = False
        thread.recorders = (*thread.recorders, self._inner)
        self._recording = True

    def _pop(self):
        if not self._recording:
            raise ValueError("Tape is not recording.")
        inner: Any = self._inner
        inner.is_stopped = True
        thread.recorders = tuple([r for r in thread.recorders if r is not inner])
        self._recording = False

    def watch(self, tensor):
        """Makes the tape follow `tensor`, which may be a nested structure of tensors and variables.

        Raises:
            ValueError: for anything that is not a tensor or variable.
        """
        for leaf in nest.flatten(tensor, expand_composites=True):
            leaf = variable_of(leaf)
            if not isinstance(leaf, (Tensor, Variable)):
                raise ValueError(
                    f"Passed in object {leaf} of type '{type(leaf).__name__}', not tf.Tensor or "
                    "tf.Variable or ExtensionType."
                )
            if self._inner is None:
                raise AttributeError(
                    "GradientTape.watch needs a tape that is recording: call it inside "
                    "`with tf.GradientTape() as tape:`."
                )
            if not leaf.dtype.is_differentiable:
                log.warn_first(
                    5,
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got "
                    f"{leaf.dtype!r}",
                    depth=1,
                )
            if isinstance(leaf, Tensor):
                leaf = leaf._here()
            # As in TensorFlow, where a thread without an active tape has nothing to watch with.
            if is_recording():
                if isinstance(leaf, Variable):
                    self._inner.watch_variable(leaf)
                elif leaf.dtype.is_differentiable:
                    self._inner.watch_tensor(leaf)

    def stop_recording(self):
        """A context in which this tape records nothing.

        Raises:
            ValueError: on entering it while the tape is not recording.
        """
        return _StopRecording(self)

    def reset(self):
        """Forgets everything recorded and watched, as if the context were entered anew."""
        self._pop()
        self._inner = None
        self._push()

    def watched_variables(self):
        """The variables this tape watches, in the order they were made."""
        variables = self._inner.variables if self._inner is not None else self._variables_of_used
        return tuple([variables[key] for key in sorted(variables)])

    def gradient(
        self,
        target,
        sources,
        output_gradients=None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """Derivatives of `target` with respect to `sources`.

        Args:
            target: a tensor or variable, or a structure of them whose gradients are summed; a
                target that is not a scalar counts as the sum of its elements.
            sources: a tensor or variable, or a structure of them.
            output_gradients: what to start from instead of ones, one for each target.
            unconnected_gradients: `"none"` or `"zero"`, for sources the target does not reach.

        Returns:
            For each source its gradient (a tensor, IndexedSlices, or None), in the structure of
            `sources`.

        Raises:
            RuntimeError: the tape is not persistent and was used already.
            LookupError: an op on the way has no gradient registered.
        """
        inner = self._usable()
        self._leave_context(depth=1)
        if target is None:
            raise TypeError(
                "Argument `target` should be a list or nested structure of Tensors, Variables or "
                "CompositeTensors to be differentiated, but received None."
            )
        zero = _wants_zeros(unconnected_gradients)
        targets = _differentiable_leaves(target, "target")
        flat_sources = _differentiable_leaves(sources, "source")
        if output_gradients is not None:
            output_gradients = [
                convert.convert_to_tensor(g) for g in nest.flatten(output_gradients)
            ]
        found = self._run(inner, targets, flat_sources, output_gradients)
        self._finish_use(inner)
        flat = [
            zeros_in_place_of(source) if g is None and zero else g
            for g, source in zip(found, flat_sources, strict=True)
        ]
        return _packed(sources, flat)

    def jacobian(
        self,
        target,
        sources,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations=None,
        experimental_use_pfor=True,
    ) -> Any:
        """Derivatives of every element of `target`, by one batched sweep over the tape.

        Args:
            target: a tensor or variable.
            sources: a tensor or variable, or a structure of them.
            unconnected_gradients: `"none"` or `"zero"`, for sources the target does not reach.
            parallel_iterations: how many elements of the target to take at a time; all if None.
            experimental_use_pfor: False to take them one by one, without batching.

        Returns:
            For each source a tensor of shape `target.shape + source.shape`, or None, in the
            structure of `sources`.

        Raises:
            RuntimeError: the tape was used already, or is not persistent and batching is off.
        """
        if not experimental_use_pfor and not self._persistent and thread.trace is None:
            raise RuntimeError(jacobians.LOOP_NEEDS_PERSISTENT.format("jacobian", "with  "))
        inner = self._usable()
        y = tensor_of(target, "target")
        flat_sources = _differentiable_leaves(sources, "source")
        self._leave_context(depth=1)
        zero = _wants_zeros(unconnected_gradients)
        chunk = jacobians.rows_at_a_time(parallel_iterations, experimental_use_pfor)
        rows = self._rows(inner, y, flat_sources, jacobians.identity_seeds, chunk)
        shapes = [y._value.shape + source._value.shape for source in flat_sources]
        found = [
            (_zeros(shape, source._value.dtype) if zero else None)
            if g is None
            else jacobians.reshape(g, shape=shape)
            for g, source, shape in zip(rows, flat_sources, shapes, strict=True)
        ]
        return _packed(sources, found)

    def batch_jacobian(
        self,
        target,
        source,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations=None,
        experimental_use_pfor=True,
    ) -> Any:
        """The Jacobian of each example of a batch: of `target[i]` with respect to `source[i]`.

        Args:
            target: a tensor of shape (batch, y…), whose element i depends on `source[i]` alone.
            source: a tensor of shape (batch, x…).
            unconnected_gradients: a source that is not reached always gives zeros, with `"zero"` of
                its own dtype, with `"none"` of the target's.
            parallel_iterations: how many elements of an example to take at a time; all if None.
            experimental_use_pfor: False to take them one by one, without batching.

        Returns:
            A tensor of shape (batch, y…, x…).

        Raises:
            RuntimeError: the tape was used already, or is not persistent and batching is off.
            ValueError: a rank is below 2, or the batches differ in size.
        """
        if not experimental_use_pfor and not self._persistent and thread.trace is None:
            raise RuntimeError(jacobians.LOOP_NEEDS_PERSISTENT.format("batch_jacobian", " with "))
        inner = self._usable()
        y, x = tensor_of(target, "target"), tensor_of(source, "source")
        jacobians.check_batches(y, x)
        self._leave_context(depth=1)
        zero = _wants_zeros(unconnected_gradients)
        chunk = jacobians.rows_at_a_time(parallel_iterations, experimental_use_pfor)
        (rows,) = self._rows(inner, y, [x], jacobians.batch_seeds, chunk)
        if rows is None:
            dtype = (x if zero else y)._value.dtype
            return _zeros(y._value.shape + x._value.shape[1:], dtype)
        return jacobians.examples_first(rows, y, x)

    def _rows(self, inner, target, sources, seeds, chunk):
        """Gradients of the sources for each seed of the target, along a first axis."""
        rows = [None] * len(sources)
        if target.dtype.is_differentiable:
            try:
                rows = jacobians.gradients_of_rows(
                    inner, target, sources, seeds, chunk=chunk,
                    free=not self._persistent,
                )  # fmt: skip
            except BaseException:
                inner.broken = not self._persistent
                raise
        self._finish_use(inner)
        return rows

    def _finish_use(self, inner):
        """A one-shot tape has been used up; what it watched can still be asked."""
        if not self._persistent:
            self._variables_of_used = inner.variables
            self._inner = None

    def _usable(self):
        """What was recorded, if it may still be used."""
        inner = self._inner
        if inner is None:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians)"
            )
        if inner.broken:
            raise InternalError(
                None, None, "Internal state of the gradient tape is invalid: an earlier gradient "
                "call failed half way. Record again, or use a persistent tape."
            )  # fmt: skip
        return inner

    def _leave_context(self, *, depth):
        """A one-shot tape that is about to be used stops recording; a persistent one warns."""
        if self._recording:
            if self._persistent:
                log.warn_first(1, _IN_CONTEXT, depth=depth + 1)
            else:
                self._pop()

    def _run(self, inner, targets, sources, output_gradients):
        """Gradients of `sources`, as tensors or None."""
        on_arrays = (
            not thread.recorders
            and thread.trace is None
            and not inner.has_bfloat16
            and all([type(t) is EagerTensor for t in targets])
        )
        if on_arrays and output_gradients is not None:
            # A seed that does not fit goes through dispatch, which words the error.
            on_arrays = all([_fits(g, t) for g, t in zip(output_gradients, targets, strict=False)])
        mode = backward.OnArrays if on_arrays else backward.OnTensors
        grads, given = {}, {}
        for i, target in enumerate(targets):
            if output_gradients is not None and i < len(output_gradients):
                tensor = output_gradients[i]
                seed = tensor._value if on_arrays else tensor
            else:
                tensor, seed = None, backward.seed_like(target)
                if seed is None:
                    continue
                seed = seed if on_arrays else EagerTensor(seed)
            key = target._id
            if key in grads:
                grads[key] = mode.add(grads[key], seed)
                given.pop(key, None)
            else:
                grads[key] = seed
                given[key] = (seed, tensor)
        keep = {source._id for source in sources}
        try:
            # Kernels run here without dispatch, which elsewhere keeps NumPy from complaining.
            with np.errstate(all="ignore"):
                backward.walk_back(inner, grads, keep, mode, free=not self._persistent)
        except BaseException:
            inner.broken = not self._persistent
            raise
        results = []
        for source in sources:
            g = grads.get(source._id)
            seed, tensor = given.get(source._id, (None, None))
            # A source that is a target, and nothing more, gets back the very tensor given for it.
            unchanged = tensor is not None and g is seed
            results.append(None if g is None else tensor if unchanged else mode.wrap(g))
        return results


def _fits(seed, target):
    return (
        type(seed) is EagerTensor
        and seed._value.shape == target._value.shape
        and seed._value.dtype == target._value.dtype
    )


def _wants_zeros(unconnected_gradients):
    if unconnected_gradients is UnconnectedGradients.NONE:
        return False
    try:
        choice = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {unconnected_gradients!r}"
        ) from None
    return choice is UnconnectedGradients.ZERO


def _differentiable_leaves(structure, role):
    """The tensors of a structure, variables as the tensors they hold."""
    tensors = []
    for leaf in nest.flatten(structure):
        if getattr(leaf, "_is_composite", False) and not isinstance(leaf, IndexedSlices):
            tensors += leaf._differentiable_components(role)
        else:
            tensors.append(tensor_of(leaf, role))
    return tensors


def tensor_of(leaf, role):
    if isinstance(leaf, Tensor):
        return leaf._here()
    leaf = variable_of(leaf)
    if isinstance(leaf, Variable):
        return leaf._handle.tensor  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(leaf, IndexedSlices):
        raise NotDifferentiableError(
            f"IndexedSlices cannot be a gradient {role}: use its `.values`."
        )
    raise NotDifferentiableError(
        f"A gradient {role} must be a tensor or variable, or a structure of them. "
        f"Received: {leaf!r} of type {type(leaf).__name__!r}."
    )


def zeros_in_place_of(source):
    return _zeros(source._value.shape, source._value.dtype)


def _zeros(shape, dtype):
    """A tensor of zeros; of empty strings for strings."""
    if dtype.kind == "O":
        return EagerTensor(np.full(shape, b"", dtype=object))
    return EagerTensor(np.zeros(shape, dtype)[()])


def _packed(structure, flat):
    if isinstance(structure, (Tensor, Variable)):
        return flat[0]
    return nest.pack_sequence_as(structure, flat, expand_composites=True)
