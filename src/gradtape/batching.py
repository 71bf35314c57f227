"""Batched tensors: values with one more leading axis that the code using them does not see.

Applying an op to one runs the op's batch rule on the values inside. Recorders that were active
before the batch level was entered see those inner ops; those entered later see the op as written.
"""

from .core import log, nest
from .core.convert import convert_to_tensor
from .core.dispatch import thread
from .core.exports import export
from .core.op import NON_DIFFERENTIABLE, Spec
from .core.tensor import Tensor, next_id
from .ops.broadcasting import broadcast_to, reshape
from .ops.joining import stack

_new_spec = tuple.__new__  # Spec(…) without its Python-level call: one is made for every op


class NotVectorizableError(TypeError):
    """Code inside vectorized_map asked for a value, but each element has its own."""


class RankError(ValueError, IndexError):
    """A tensor lacks the axis over which its elements are counted."""


class BatchedTensor(Tensor):
    """One tensor for each index of a hidden leading axis."""

    __slots__ = ("_inner", "_level", "_outer_recorders")
    _dispatch_level = 1

    def __init__(self, inner, level, outer_recorders):
        value = inner._value
        self._value = _new_spec(Spec, (value.shape[1:], value.dtype))
        self._id = next_id()
        self._inner = inner
        self._level = level
        self._outer_recorders = outer_recorders

    def _dispatch(self, op, inputs, attrs):
        if thread.maps and not thread.in_backward and (op.on_tensors is None or len(inputs) > 1):
            # Elements must suit the op by themselves: with one axis more, other shapes would do.
            op.infer(*[x._value for x in inputs], **attrs)
        level = self._level
        flags, values = [], []
        for x in inputs:
            if type(x) is BatchedTensor and x._level == level:
                flags.append(True)
                values.append(x._inner)
            else:
                flags.append(False)
                values.append(x)
        recorders = thread.recorders
        outer = self._outer_recorders
        if len(recorders) == outer:  # nobody has entered since: all see the inner ops
            result = op.batch(op, values, flags, attrs)
            if op.outputs == 1:
                return BatchedTensor(result, level, outer)
            return tuple([BatchedTensor(each, level, outer) for each in result])
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

    def _no_single_value(self, *arguments, **options):
        raise NotVectorizableError(
            f"A tensor of shape {self.shape} inside vectorized_map has another value for every "
            "element: it cannot become a Python or NumPy value. Use tf.where instead of `if`."
        )

    __bool__ = __int__ = __float__ = __index__ = __array__ = numpy = _no_single_value

    def __repr__(self):
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, batched={self._inner!r}>"


class batch_level:  # noqa: N801 - a context, used like a function
    """A context whose `wrap` hides the leading axis of tensors, and `unwrap` shows it again.

    Args:
        count: the length of that axis, if random numbers drawn inside are to differ along it.

    Example:
        >>> with batch_level() as level:
        ...     row = level.wrap(tf.ones((5, 3)))
        ...     total = tf.reduce_sum(row)
        >>> level.unwrap(total).shape
        TensorShape([5])
    """

    def __init__(self, count=None):
        self.count = count

    def __enter__(self):
        self._maps = thread.maps
        if self.count is not None:
            thread.maps = (*thread.maps, self)
        thread.batch_depth += 1
        self._level = thread.batch_depth
        self._outer_recorders = len(thread.recorders)
        return self

    def __exit__(self, *error):
        thread.batch_depth -= 1
        thread.maps = self._maps

    def wrap(self, tensor):
        return BatchedTensor(tensor, self._level, self._outer_recorders)

    def unwrap(self, tensor):
        """The tensor with its leading axis, or None if `tensor` does not depend on it."""
        if type(tensor) is BatchedTensor and tensor._level == self._level:
            return tensor._inner
        return None


def on_all_rows(fn, rows):
    """`fn` of every row of a tensor, as a single run of it: random numbers are the same for all."""
    with batch_level() as level:
        result = fn(level.wrap(rows))
    return _all_elements(level, result, len(rows))


@export("vectorized_map")
def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """Applies `fn` to every element of the first axis, all at once.

    Args:
        fn: from an element (in the structure of `elems`) to tensors, in any structure.
        elems: a tensor or structure of tensors whose first axes have one length, or 1.
        fallback_to_while_loop: whether to go element by element if `fn` needs Python values, or
            an op in it needs to know numbers that differ.
        warn: whether to log that this happens.

    Returns:
        What `fn` returns, each tensor with the results of all elements along a first axis; None
        stays None.

    Raises:
        ValueError: a tensor has no first axis, or their lengths differ.
        TypeError: `fn` cannot be vectorized, and `fallback_to_while_loop` is False.
    """
    leaves = [convert_to_tensor(x) for x in nest.flatten(elems)]
    count = _common_length(leaves)
    try:
        with batch_level(count) as level:
            elements = [_element(level, x, count) for x in leaves]
            result = fn(nest.pack_sequence_as(elems, elements))
        return nest.map_structure(lambda r: _all_elements(level, r, count), result)
    except TypeError as error:
        if not fallback_to_while_loop or not count:
            raise
        reason = str(error)
    elems = nest.pack_sequence_as(elems, leaves)
    # What is wrong with `fn` itself shows here, before any talk of loops.
    results = [_result_of_one(fn, elems, 0)]
    if warn:
        log.warn(f"Using a loop for vectorized_map: {reason}")
    results += [_result_of_one(fn, elems, i) for i in range(1, count)]
    return nest.map_structure(_stacked, *results)


def _result_of_one(fn, elems, index):
    """The result for one element, as it is now: a variable may change with the next."""
    result = fn(nest.map_structure(lambda x: x[index % x._value.shape[0]], elems))
    return nest.map_structure(lambda r: None if r is None else convert_to_tensor(r), result)


def _stacked(*parts):
    return None if all([part is None for part in parts]) else stack(list(parts))


def _common_length(tensors):
    if not tensors:
        raise ValueError("vectorized_map needs at least one tensor. Received: elems=[]")
    if any([not x._value.shape for x in tensors]):
        raise RankError("vectorized_map takes tensors with a first axis. Received: a scalar.")
    lengths = {x._value.shape[0] for x in tensors}
    if len(lengths - {1}) > 1:
        raise ValueError(
            f"vectorized_map needs first axes of one length. Received: {sorted(lengths)}"
        )
    return max(lengths) if 0 not in lengths else 0


def _element(level, x, count):
    """One element standing for all; a first axis of length 1 is shared by all of them."""
    if x._value.shape[0] == 1 and count != 1:
        return reshape(x, shape=x._value.shape[1:])
    return level.wrap(x)


def _all_elements(level, result, count):
    if result is None:
        return None
    inner = level.unwrap(result)
    if inner is not None:
        return inner
    tensor = convert_to_tensor(result)
    shape = tensor._value.shape
    return broadcast_to(reshape(tensor, shape=(1, *shape)), shape=(count, *shape))
