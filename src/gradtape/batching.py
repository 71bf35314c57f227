"""Batched tensors: values with one more leading axis that the code using them does not see.

Applying an op to one runs the op's batch rule on the values inside. Recorders that were active
before the batch level was entered see those inner ops; those entered later see the op as written.
"""

from .core.dispatch import thread
from .core.op import NON_DIFFERENTIABLE, Spec
from .core.tensor import Tensor, next_id


class BatchedTensor(Tensor):
    """One tensor for each index of a hidden leading axis."""

    __slots__ = ("_inner", "_level", "_outer_recorders")
    _dispatch_level = 1

    def __init__(self, inner, level, outer_recorders):
        value = inner._value
        self._value = Spec(value.shape[1:], value.dtype)
        self._id = next_id()
        self._inner = inner
        self._level = level
        self._outer_recorders = outer_recorders

    def _dispatch(self, op, inputs, attrs):
        level = self._level
        flags = [isinstance(x, BatchedTensor) and x._level == level for x in inputs]
        values = [x._inner if flag else x for x, flag in zip(inputs, flags, strict=True)]
        recorders = thread.recorders
        outer = self._outer_recorders
        thread.recorders = recorders[:outer]
        try:
            result = op.batch(op, values, flags, attrs)
        finally:
            thread.recorders = recorders
        if op.outputs == 1:
            out = BatchedTensor(result, level, outer)
        else:
            out = tuple([BatchedTensor(each, level, outer) for each in result])
        if op.state is not NON_DIFFERENTIABLE:
            for recorder in recorders[outer:]:
                op.record(recorder, attrs, inputs, out)
        return out

    def __repr__(self):
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, batched={self._inner!r}>"


class batch_level:  # noqa: N801 - a context, used like a function
    """A context whose `wrap` hides the leading axis of tensors, and `unwrap` shows it again.

    Example:
        >>> with batch_level() as level:
        ...     row = level.wrap(tf.ones((5, 3)))
        ...     total = tf.reduce_sum(row)
        >>> level.unwrap(total).shape
        TensorShape([5])
    """

    def __enter__(self):
        thread.batch_depth = getattr(thread, "batch_depth", 0) + 1
        self._level = thread.batch_depth
        self._outer_recorders = len(thread.recorders)
        return self

    def __exit__(self, *error):
        thread.batch_depth -= 1

    def wrap(self, tensor):
        return BatchedTensor(tensor, self._level, self._outer_recorders)

    def unwrap(self, tensor):
        """The tensor with its leading axis, or None if `tensor` does not depend on it."""
        if isinstance(tensor, BatchedTensor) and tensor._level == self._level:
            return tensor._inner
        return None
