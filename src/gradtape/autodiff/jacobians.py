"""Jacobians by one batched backward sweep: no tracing, and no loop over rows.

The rows of the identity are put before the target as a hidden leading axis, and the tape is walked
back once: the ops' batch rules carry all rows together.
"""

import functools
import math
import operator

import numpy as np

from ..batching import BatchedTensor, RankError, batch_level
from ..core.dispatch import thread
from ..core.indexed_slices import IndexedSlices
from ..core.rules import rules_of_rows
from ..core.tensor import EagerTensor
from ..ops.broadcasting import broadcast_to, reshape, sum_rows_to
from ..ops.joining import concat_row
from ..ops.manipulation import transpose_row
from . import backward
from .registry import user_gradient

LOOP_NEEDS_PERSISTENT = (
    "GradientTape must be created with persistent=True to compute the {} with eager execution "
    "enabled and {}experimental_use_pfor set to False."
)


class ParallelIterationsError(ValueError, TypeError):
    """`parallel_iterations` is not a positive integer."""


def rows_at_a_time(parallel_iterations, use_pfor):
    """How many rows may be in flight: a positive integer, None for all, 0 for a plain loop.

    Raises:
        ParallelIterationsError: `parallel_iterations` is neither None nor a positive integer.
    """
    if parallel_iterations is not None:
        try:
            parallel_iterations = operator.index(parallel_iterations)
        except TypeError:
            raise _bad_count(parallel_iterations) from None
        if parallel_iterations < 1:
            raise _bad_count(parallel_iterations)
    return parallel_iterations if use_pfor else 0


def _bad_count(received):
    return ParallelIterationsError(
        "'parallel_iterations' must be a positive integer, or None for all rows at once. "
        f"Received: parallel_iterations={received!r}"
    )


def gradients_of_rows(recording, target, sources, seeds, *, chunk, free):
    """Gradients of `sources` for many gradients of `target` at once.

    Args:
        recording: the tape's records.
        target: a tensor.
        sources: tensors.
        seeds: `identity_seeds` or `batch_seeds`, which count and make the gradients of `target`.
        chunk: how many of them may be in flight at a time; None for all, 0 for a plain loop.
        free: whether the records are no longer needed afterwards.

    Returns:
        For each source a tensor of shape (rows, *source.shape), or None if it is not reached.
    """
    rows, make_seeds = seeds(target)
    step = rows if chunk is None else max(1, chunk)
    if step >= rows and (chunk != 0 or not rows):
        return _sweep(recording, target, sources, make_seeds(0, rows), free)
    sweep = _sweep if chunk else _sweep_of_one
    found = [_Rows(rows) for _ in sources]
    for start in range(0, rows, step):
        stop = min(start + step, rows)
        last = free and stop == rows
        # Passed on by no name of its own, which would keep a chunk alive while the next is made.
        _add(found, start, stop, sweep(recording, target, sources, make_seeds(start, stop), last))
    return [each.tensor() for each in found]


def _add(found, start, stop, pieces):
    for each, piece in zip(found, pieces, strict=True):
        if piece is not None:
            each.add(start, stop, piece)


class _Rows:
    """Rows that come in pieces; written to one array as they come, where nobody records."""

    def __init__(self, count):
        self._count = count
        self._array = None
        self._pieces = []

    def add(self, start, stop, piece):
        if thread.recorders or thread.trace is not None or type(piece) is not EagerTensor:
            self._pieces.append(piece)
            return
        if self._array is None:
            shape = piece._value.shape[1:]
            self._array = np.empty((self._count, *shape), piece._value.dtype)
        self._array[start:stop] = piece._value

    def tensor(self):
        if self._pieces:
            return concat_row(self._pieces, axis=0)
        return None if self._array is None else EagerTensor(self._array)


def _sweep(recording, target, sources, seeds, free):
    """All rows of `seeds` in one walk."""
    outermost = not thread.recorders and not thread.batch_depth and thread.trace is None
    with batch_level() as level:
        if outermost and not (recording.nan_safe or thread.nan_safe or recording.has_complex):
            grads = {target._id: seeds}
            _walk(recording, grads, sources, OnRows(len(seeds)), free)
            found = [grads.get(source._id) for source in sources]
            return [None if g is None else EagerTensor(g) for g in found]
        grads = {target._id: level.wrap(EagerTensor(seeds))}
        _walk(recording, grads, sources, backward.OnTensors, free)
        found = []
        for source in sources:
            g = _dense(grads.get(source._id))
            found.append(None if g is None else _with_rows(level, g, len(seeds)))
    return found


def _sweep_of_one(recording, target, sources, seeds, free):
    """A single row, without batch rules."""
    grads = {target._id: EagerTensor(seeds.reshape(seeds.shape[1:])[()])}
    _walk(recording, grads, sources, backward.OnTensors, free)
    found = [_dense(grads.get(source._id)) for source in sources]
    return [None if g is None else reshape(g, shape=(1, *g._value.shape)) for g in found]


def _walk(recording, grads, sources, mode, free):
    keep = {source._id for source in sources}
    backward.walk_back(recording, grads, keep, mode, free=free)


class OnRows:
    """Gradients are arrays of rows; nothing is recorded, and no tape or map is around.

    Elementwise ops have rules for that; all others go through dispatch, and so by batch rules.
    """

    raw = False
    sparse = IndexedSlices

    def __init__(self, rows):
        self._rows = rows

    @staticmethod
    def rules(op):
        return _rules_of_rows(op)

    @staticmethod
    def user_gradient(op, attrs, saved, g):
        return [_rows_of(d, g) for d in user_gradient(op, attrs, saved, _batched(g))]

    def zeros(self, shape, dtype):
        return np.zeros((self._rows, *shape), dtype)

    @staticmethod
    def add(a, b):
        return a + b


@functools.cache
def _rules_of_rows(op):
    """The rules of `op` from arrays of rows to such arrays."""
    if op.broadcasts and not op.joint:
        return rules_of_rows(op, sum_rows_to)
    if op.joint:
        return lambda g, saved, attrs: [
            _rows_of(d, g) for d in op.tensor_rules(_batched(g), saved, attrs)
        ]
    return tuple([rule and _rule_of_rows(rule) for rule in op.tensor_rules])


def _rule_of_rows(rule):
    return lambda g, saved, attrs: _rows_of(rule(_batched(g), saved, attrs), g)


def _batched(g):
    """Rows as the gradient of one element, for the rules; one for each output if several came."""
    if type(g) is tuple:
        return tuple([None if each is None else _batched(each) for each in g])
    return BatchedTensor(EagerTensor(g), thread.batch_depth, 0)


def _rows_of(d, g):
    """What a rule gave for `g`, as an array of rows; what is the same for all is repeated."""
    if d is None:
        return None
    d = _dense(d)
    if type(d) is BatchedTensor:
        return d._inner._value
    rows = len(next(each for each in g if each is not None) if type(g) is tuple else g)
    return np.broadcast_to(d._value, (rows, *d._value.shape))


def _dense(g):
    return backward.OnTensors.densify(g) if type(g) is backward.OnTensors.sparse else g


def _with_rows(level, g, rows):
    """The gradient with its leading axis; one that is the same for all rows is repeated."""
    inner = level.unwrap(g)
    if inner is not None:
        return inner
    shape = g._value.shape
    return broadcast_to(reshape(g, shape=(1, *shape)), shape=(rows, *shape))


def identity_seeds(target):
    """The rows of the identity on the elements of `target`, each in its shape.

    Returns:
        Their number, and `make(start, stop)`, which gives some of them.
    """
    value = target._value
    size = math.prod(value.shape)

    def make(start, stop):
        return _unit_rows(start, stop, size, value.dtype).reshape(stop - start, *value.shape)

    return size, make


def batch_seeds(target):
    """Gradients that pick one element of every example: (elements, batch, …)."""
    value = target._value
    size = math.prod(value.shape[1:])

    def make(start, stop):
        one_each = _unit_rows(start, stop, size, value.dtype)
        one_each = one_each.reshape(stop - start, 1, *value.shape[1:])
        return np.broadcast_to(one_each, (stop - start, *value.shape))

    return size, make


def _unit_rows(start, stop, size, dtype):
    """Some rows of the identity, and no more, so that few rows need little memory."""
    rows = np.zeros((stop - start, size), dtype)
    rows[np.arange(stop - start), np.arange(start, stop)] = 1
    return rows


def check_batches(target, source):
    """Raises an error unless both are batches, of as many examples."""
    for name, tensor in (("target", target), ("source", source)):
        if len(tensor._value.shape) < 2:
            raise RankError(
                f"Shape {tensor.shape} must have rank at least 2: batch_jacobian takes a `{name}` "
                "whose first axis counts examples. Use `jacobian` if there is no such axis."
            )
    if target._value.shape[0] != source._value.shape[0]:
        raise ValueError(
            f"Need first dimension of target shape ({target.shape}) and source shape "
            f"({source.shape}) to match: batch_jacobian takes each example of `target` as a "
            "function of the same example of `source`. Use `jacobian` if they are no batches."
        )


def examples_first(rows, target, source):
    """From (elements, batch, x…) to (batch, y…, x…)."""
    rank = len(rows._value.shape)
    moved = transpose_row(rows, perm=(1, 0, *range(2, rank)))
    return reshape(moved, shape=target._value.shape + source._value.shape[1:])
