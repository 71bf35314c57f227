"""ForwardAccumulator: tangents computed alongside the values (forward mode)."""

import weakref
from typing import Any

from ..core import convert, log, nest
from ..core.dispatch import thread
from ..core.op import Recorder
from ..core.tensor import Tensor
from ..core.variable import Variable
from .forward import op_tangent
from .tape import UnconnectedGradients, tensor_of, zeros_in_place_of


class _Watch(weakref.ref):
    """A weak reference that knows the id of its tensor."""

    __slots__ = ("key",)

    def __new__(cls, tensor, forget):
        self = super().__new__(cls, tensor, forget)
        self.key = tensor._id
        return self


class _Tangents(Recorder):
    """The recorder behind an accumulator: from tensor ids to tangents.

    Tangents of intermediate tensors live as long as those tensors do.
    """

    def __init__(self):
        self.of = {}
        self._watches = {}
        # A weak reference to itself: an accumulator is freed without the garbage collector.
        me = weakref.ref(self)

        def forget(watch):
            recorder = me()
            if recorder is not None:
                recorder.of.pop(watch.key, None)
                recorder._watches.pop(watch.key, None)

        self._forget = forget

    def set(self, tensor, tangent):
        key = tensor._id
        self._watches[key] = _Watch(tensor, self._forget)
        self.of[key] = tangent

    def tracks(self, ids):
        return any([i in self.of for i in ids])

    def record(self, op, attrs, inputs, out):
        tangents = [self.of.get(x._id) for x in inputs]
        if all([t is None for t in tangents]):
            return
        # What computes tangents is seen by recorders outside this one, not by it or those inside.
        recorders = thread.recorders
        thread.recorders = recorders[: recorders.index(self)]
        try:
            tangent = op_tangent(op, tangents, inputs, out, attrs)
        finally:
            thread.recorders = recorders
        if tangent is None:
            return
        if op.outputs == 1:
            self.set(out, tangent)
        else:
            for each, t in zip(out, tangent, strict=True):
                if t is not None and each.dtype.is_differentiable:
                    self.set(each, t)


def _broadcasts(shape, goal):
    pairs = zip(reversed(shape), reversed(goal), strict=False)
    return len(shape) <= len(goal) and all([size in (1, wanted) for size, wanted in pairs])


class ForwardAccumulator:
    """Computes Jacobian-vector products while the function runs.

    Args:
        primals: a tensor or variable, or a structure of them.
        tangents: the direction, in the same structure; converted to the primals' dtypes.

    Raises:
        ValueError: the structures, shapes or dtypes differ, or a tensor is given twice.
        TypeError: a primal is not a tensor or variable.

    Example:
        >>> x = tf.constant(3.0)
        >>> with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        ...     y = x * x
        >>> acc.jvp(y)
        <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """

    def __init__(self, primals, tangents):
        nest.assert_same_structure(primals, tangents)
        self._tangents = _Tangents()
        self._recording = False
        # Tensors are known by their ids, which must not die before the accumulator does.
        self._primals = []
        self._of_integers = {}
        for primal, tangent in zip(nest.flatten(primals), nest.flatten(tangents), strict=True):
            self._watch(primal, tangent)

    def _watch(self, primal, tangent):
        tensor = tensor_of(primal, "primal")
        known = self._tangents.of
        if not tensor.dtype.is_differentiable:
            log.warn_first(
                5,
                "The dtype of the watched primal must be floating (e.g. tf.float32), got "
                f"{tensor.dtype!r}",
                depth=2,
            )
            # No op carries it on, but it can be asked for.
            known = self._of_integers
        if tensor._id in known:
            raise ValueError(
                "Tensor {} was specified as a primal multiple times. This may indicate an error. "
                f"If it was intended, please sum the corresponding tangents. Received: {primal!r}."
            )
        known[tensor._id] = tangent = convert.convert_to_tensor(tangent, tensor.dtype)
        if not _broadcasts(tangent._value.shape, tensor._value.shape):
            raise ValueError(
                "ForwardAccumulator takes tangents in the shapes of their primals. Received: in "
                f"`tangents` one of shape {tangent.shape} for a primal of shape {tensor.shape}. "
                "Reshape it, or give the primal that it belongs to."
            )
        self._primals.append(primal)

    def __enter__(self):
        if self._recording:
            raise ValueError("Accumulator is already recording.")
        thread.recorders = (*thread.recorders, self._tangents)
        self._recording = True
        return self

    def __exit__(self, *error):
        if self._recording:
            mine = self._tangents
            thread.recorders = tuple([r for r in thread.recorders if r is not mine])
            self._recording = False

    def jvp(
        self,
        primals,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """The tangents of tensors computed inside the context, in the same structure.

        Args:
            primals: a tensor or variable, or a structure of them.
            unconnected_gradients: `"none"` or `"zero"`, for those that do not depend on a primal.

        Raises:
            ValueError: there is no such choice for `unconnected_gradients`.
            TypeError: one of `primals` is not a tensor or variable.
        """
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO

        def tangent_of(primal):
            tensor = tensor_of(primal, "primal")
            tangent = self._tangents.of.get(tensor._id)
            if tangent is None:
                tangent = self._of_integers.get(tensor._id)
            return zeros_in_place_of(tensor) if tangent is None and zero else tangent

        if isinstance(primals, (Tensor, Variable)):
            return tangent_of(primals)
        return nest.map_structure(tangent_of, primals)
