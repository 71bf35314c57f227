"""Sequences of different lengths reversed: reverse_sequence."""

import numpy as np

from ..core.convert import operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arguments import integer
from .broadcasting import reshape
from .families import linear, shape_of
from .indexing import INDICES, check_index_dtype, index_operand
from .joining import all_batched
from .manipulation import move_axis

_LENGTHS = INDICES - {np.dtype(np.int16)}


def _infer(input, seq_lengths, *, seq_dim, batch_dim):
    check_index_dtype("ReverseSequence", seq_lengths.dtype, "Tlen", _LENGTHS)
    rank = len(input.shape)
    if len(seq_lengths.shape) != 1:
        raise _invalid(f"seq_lens input must be 1-dim, not {len(seq_lengths.shape)}")
    if batch_dim == seq_dim:
        raise _invalid(f"batch_dim == seq_dim == {seq_dim}")
    for name, dim in (("seq_dim", seq_dim), ("batch_dim", batch_dim)):
        if dim >= rank:
            raise _invalid(f"{name} must be < input rank ( {dim} vs. {rank})")
        if dim < 0:
            raise _invalid(f"Invalid {name} {dim}")
    size = input.shape[batch_dim]
    if seq_lengths.shape[0] != size:
        raise _invalid(
            f"Length of seq_lengths != input.dims({batch_dim}), ({seq_lengths.shape[0]} vs. {size})"
        )
    return Spec(input.shape, input.dtype)


def _invalid(message):
    return invalid_argument("ReverseSequence", message)


def _kernel(input, seq_lengths, seq_dim, batch_dim):
    length = input.shape[seq_dim]
    for i, count in enumerate(seq_lengths.tolist()):
        if count < 0:
            raise _invalid(f"seq_lens({i}) < 0")
        if count > length:
            raise _invalid(f"seq_lens({i}) > input.dims({seq_dim})")
    counts = seq_lengths.astype(np.int64)[:, None]
    places = np.arange(length)
    sources = np.where(places < counts, counts - 1 - places, places)
    front = np.moveaxis(input, (batch_dim, seq_dim), (0, 1))
    flat = front.reshape((len(counts) * length, *front.shape[2:]))
    numbers = sources + np.arange(len(counts))[:, None] * length
    front = flat.take(numbers, 0)
    return np.moveaxis(front, (0, 1), (batch_dim, seq_dim))


def _batch(op, values, flags, attrs):
    seq_dim, batch_dim = attrs["seq_dim"] + 1, attrs["batch_dim"] + 1
    if not flags[1]:
        return op.call(*values, seq_dim=seq_dim, batch_dim=batch_dim)
    x, lengths = all_batched(values, flags)
    # The two leading axes, of the batch and of the sequences, become one.
    x = move_axis(x, batch_dim, 1)
    shape = shape_of(x)
    seq_dim += seq_dim < batch_dim
    merged = reshape(x, shape=(shape[0] * shape[1], *shape[2:]))
    flat = reshape(lengths, shape=(shape[0] * shape[1],))
    out = op.call(merged, flat, seq_dim=seq_dim - 1, batch_dim=0)
    return move_axis(reshape(out, shape=shape), 1, batch_dim)


reverse_sequence_row = linear(
    "ReverseSequence",
    _kernel,
    inputs="input seq_lengths",
    infer=_infer,
    transpose=lambda g, seq_lengths, *, seq_dim, batch_dim: reverse_sequence_row(
        g, seq_lengths, seq_dim=seq_dim, batch_dim=batch_dim
    ),
    batch=_batch,
    raw="input, seq_lengths, seq_dim, batch_dim=0",
)


@export("reverse_sequence")
def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None):
    """Reverses the first elements of each sequence, as many as its length says.

    Args:
        input: the sequences.
        seq_lengths: the lengths, one for each sequence.
        seq_axis: the axis along which sequences lie; required.
        batch_axis: the axis that counts them; 0 if not given.

    Raises:
        InvalidArgumentError: a length is greater than the axis, or there is no such axis.
        TypeError: without `seq_axis`.
    """
    if seq_axis is None:
        raise TypeError("Expected int for argument 'seq_dim' not None.")
    attrs = {
        "seq_dim": integer(seq_axis, "ReverseSequence"),
        "batch_dim": 0 if batch_axis is None else integer(batch_axis, "ReverseSequence"),
    }
    return apply(reverse_sequence_row.op, (operand(input), index_operand(seq_lengths)), attrs)
