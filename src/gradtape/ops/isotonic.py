"""Isotonic regression: the nearest sequence that does not rise."""

import math
from collections import namedtuple

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.dispatch import apply
from ..core.dtypes import REAL
from ..core.errors import InvalidArgumentError, invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arithmetic import add, neg, real_div
from .broadcasting import not_allowed, reshape, words
from .casting import cast_row
from .families import dtype_of, opaque, shape_of
from .indexing import gather_row
from .manipulation import move_axis
from .scatter import segment_sum

IsotonicRegression = namedtuple("IsotonicRegression", "output segments", module=__name__)


def _infer(input, *, output_dtype):
    if input.dtype not in REAL:
        raise not_allowed("IsotonicRegression", input.dtype, REAL)
    if len(input.shape) != 2:
        raise invalid_argument(
            "IsotonicRegression", f"input should be a matrix, but got: {words(input.shape)}"
        )
    return Spec(input.shape, output_dtype), Spec(input.shape, np.dtype(np.int32))


def _regression(input, output_dtype):
    """Pools neighbours that rise until none do; each pool then has its mean."""
    rows, length = input.shape
    if not input.size:
        return np.zeros(input.shape, output_dtype), np.zeros(input.shape, np.int32)
    sums = input.astype(np.float64).reshape(-1)
    sizes = np.ones(sums.size, np.int64)
    row = np.repeat(np.arange(rows), length)
    while True:
        means = sums / sizes
        starts = np.ones(sums.size, bool)
        np.less_equal(means[1:], means[:-1], out=starts[1:])
        starts[1:] |= row[1:] != row[:-1]
        if starts.all():
            break
        first = np.flatnonzero(starts)
        sums, sizes, row = np.add.reduceat(sums, first), np.add.reduceat(sizes, first), row[first]
    first_of_row = np.searchsorted(row, np.arange(rows))
    segments = np.arange(len(row)) - first_of_row[row]
    return (
        np.repeat(means, sizes).astype(output_dtype).reshape(input.shape),
        np.repeat(segments, sizes).astype(np.int32).reshape(input.shape),
    )


def _row_starts(shape):
    return (np.arange(shape[0]) * shape[1]).astype(np.int32).reshape(-1, 1)


def _adjoint(g, out, input_dtype):
    """Each pool shares the gradients of its members equally."""
    g, segments = g[0], out[1]
    shape = shape_of(g)
    count = shape[0] * shape[1]
    numbers = reshape(add(segments, _row_starts(shape)), shape=(count,))
    ones = np.ones(count, dtype_of(g))
    sums = segment_sum(reshape(g, shape=(count,)), numbers, num_segments=count)
    sizes = segment_sum(ones, numbers, num_segments=count)
    means = real_div(
        gather_row(sums, numbers, axis=0, batch_dims=0),
        gather_row(sizes, numbers, axis=0, batch_dims=0),
    )
    return cast_row(reshape(means, shape=shape), dtype=input_dtype)


def _batch(op, values, flags, attrs):
    shape = shape_of(values[0])
    merged = reshape(values[0], shape=(shape[0] * shape[1], shape[2]))
    return tuple([reshape(each, shape=shape) for each in op.call(merged, **attrs)])


isotonic_row = opaque(
    "IsotonicRegression",
    _regression,
    inputs="input",
    infer=_infer,
    vjp={"input": _adjoint},
    batch=_batch,
    outputs=2,
    raw=lambda input, output_dtype=dtypes.float32: IsotonicRegression(
        *apply(
            isotonic_row.op,
            (convert_to_tensor(input),),
            {"output_dtype": dtypes.as_dtype(output_dtype).numpy_dtype},
        )
    ),
)

_NARROW_RESULTS = {
    dtypes.float32: dtypes.float32,
    dtypes.float16: dtypes.float16,
    dtypes.bfloat16: dtypes.bfloat16,
    dtypes.int8: dtypes.float32,
    dtypes.int16: dtypes.float32,
}


@export("nn.isotonic_regression")
def isotonic_regression(inputs, decreasing=True, axis=-1):
    """The sequences nearest to those given, by squared distance, that do not rise.

    Args:
        inputs: a tensor of real numbers.
        decreasing: False for sequences that do not fall.
        axis: the axis along which the sequences lie.

    Returns:
        The sequences, and for each element the number of the run of equal ones it is in.

    Raises:
        InvalidArgumentError: there is no such axis, or the numbers are not real.
    """
    x = convert_to_tensor(inputs)
    result = _NARROW_RESULTS.get(x.dtype, dtypes.float64)
    rank = x.ndim
    if rank and not -rank <= axis < rank:
        raise InvalidArgumentError(
            None,
            None,
            f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of "
            f"dimensions in the input. Received: dim={axis}",
        )
    if not decreasing:
        x = neg(x)
    last = move_axis(x, axis % rank, rank - 1) if rank else x
    shape = shape_of(last)
    length = shape[-1] if rank else 1
    rows = math.prod(shape[:-1])
    output, segments = apply(
        isotonic_row.op,
        (reshape(last, shape=(rows, length)),),
        {"output_dtype": result.numpy_dtype},
    )
    if not decreasing:
        output = neg(output)
    output, segments = [reshape(each, shape=shape) for each in (output, segments)]
    if rank:
        output = move_axis(output, rank - 1, axis % rank)
        segments = move_axis(segments, rank - 1, axis % rank)
    return IsotonicRegression(output, segments)
