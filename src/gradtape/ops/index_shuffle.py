"""Shuffled positions one at a time: where a random permutation takes an index."""

import numpy as np

from ..core import dtypes, simon
from ..core.convert import convert_to_tensor, operands
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .broadcasting import not_allowed, reshape, words
from .families import non_differentiable, shape_of
from .joining import all_batched, pack, unpack
from .padding import pad
from .pointwise import dtype_mismatch

_NAME = "RandomIndexShuffle"
_INTEGERS = dtypes.numpy_set(dtypes.int32, dtypes.uint32, dtypes.int64, dtypes.uint64)
# What stands before the two numbers of a seed.
_FIRST_OF_SEED = 498247692


def _infer(index, seed, max_index, *, rounds):
    for x in (index, seed):
        if x.dtype not in _INTEGERS:
            raise not_allowed(_NAME, x.dtype, _INTEGERS)
    if max_index.dtype != index.dtype:
        raise dtype_mismatch(_NAME, 2, index.dtype, max_index.dtype)
    if len(index.shape) > 1 or index.shape == (0,):
        raise _invalid("Index must be a scalar or vector.")
    shape = _result_shape(index.shape, seed.shape, max_index.shape)
    size = shape[0] if shape else 1
    if seed.shape not in ((3,), (size, 3)):
        raise _invalid(
            f"Seed must be a vector of size [3] or a matrix of size [{size}, 3] but got "
            f"{words(seed.shape)}."
        )
    if max_index.shape not in ((), (size,)):
        raise _invalid(
            "Maxval must be a scalar or a vector of the same size as index but got "
            f"{words(max_index.shape)}"
        )
    if rounds < 4 or rounds % 2:
        raise _invalid(f"rounds must be an even number of at least 4, got {rounds}")
    return Spec(shape, index.dtype)


def _result_shape(index, seed, max_index):
    """A vector's if one of the inputs holds something for each index."""
    return (*index, *seed[:-1], *max_index)[:1]


def _invalid(message):
    return invalid_argument(_NAME, message)


def _out_of_range(index, max_index):
    if index < 0:
        return _invalid(f"index must be >= 0 but was {index}")
    if max_index < 0:
        return _invalid(f"max_index must be >= 0 but was {max_index}")
    return _invalid(f"max_index must be >= index, but {max_index} < {index}")


def _kernel(index, seed, max_index, rounds):
    shape = np.broadcast_shapes(index.shape, seed.shape[:-1], max_index.shape)
    refused = (index < 0) | (max_index < index)
    if np.any(refused):
        first = np.argmax(refused)
        pair = np.broadcast_arrays(index, max_index)
        raise _out_of_range(*[each.reshape(-1)[first] for each in pair])
    numbers = np.broadcast_to(index, shape).reshape(-1).astype(np.uint64)
    keys = (seed.astype(np.int64) & 0xFFFFFFFF).reshape(-1, 3).tolist()
    limits = np.ravel(max_index).tolist()
    if len(keys) == len(limits) == 1:
        shuffled = simon.permuted(numbers, tuple(keys[0]), limits[0], rounds)
    else:
        keys *= numbers.size // len(keys)
        limits *= numbers.size // len(limits)
        shuffled = np.concatenate([
            simon.permuted(numbers[i : i + 1], tuple(keys[i]), limits[i], rounds)
            for i in range(numbers.size)
        ])  # fmt: skip
    return shuffled.astype(index.dtype).reshape(shape)[()]


def _batch(op, values, flags, attrs):
    """Row by row: each has a permutation of its own."""
    batched = all_batched(values, flags)
    shapes = [shape_of(x) for x in batched]
    if not shapes[0][0]:
        return reshape(batched[0], shape=(0, *_result_shape(*[shape[1:] for shape in shapes])))
    rows = zip(*[unpack(x, axis=0) for x in batched], strict=True)
    return pack([op.call(*row, **attrs) for row in rows], axis=0)


index_shuffle_row = non_differentiable(
    _NAME,
    _kernel,
    inputs="index seed max_index",
    infer=_infer,
    batch=_batch,
    raw="index, seed, max_index, rounds=4",
)


@export("random_index_shuffle")
def random_index_shuffle(index, seed, max_index, rounds=4, name=None):
    """Where a random permutation of the numbers up to `max_index` takes an index.

    Args:
        index: a number from 0 to `max_index`, or a vector of them.
        seed: three integers, or a row of three for each index.
        max_index: the largest index, or one for each.
        rounds: how often numbers are mixed: an even number of at least 4.

    Raises:
        InvalidArgumentError: an index is negative or above `max_index`, shapes do not match, or
            so many rounds cannot be.
    """
    index, max_index = operands(index, max_index)
    inputs = (index, convert_to_tensor(seed), max_index)
    return apply(index_shuffle_row.op, inputs, {"rounds": int(rounds)})


@export("random.experimental.index_shuffle")
def index_shuffle(index, seed, max_index):
    """Where the permutation that belongs to a seed takes an index.

    All indices up to `max_index` with the same seed give a shuffle, of which nothing is kept.

    Args:
        index: a number from 0 to `max_index`, or a vector of them.
        seed: two integers.
        max_index: the largest index, or one for each.

    Raises:
        InvalidArgumentError: an index is negative or above `max_index`, or shapes do not match.

    Example:
        >>> [int(tf.random.experimental.index_shuffle(i, [5, 9], 3)) for i in range(4)]
        [2, 0, 1, 3]
    """
    seed = convert_to_tensor(seed)
    paddings = [[1, 0]] + [[0, 0]] * (len(shape_of(seed)) - 1)
    key = pad(seed, paddings, constant_values=_FIRST_OF_SEED) if seed.ndim else seed
    return random_index_shuffle(index, key, max_index)
