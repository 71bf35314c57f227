"""Random ops whose numbers follow from the program's seed and their own: `tf.random.normal`, …

With a seed set by `set_seed`, every number is the one TensorFlow draws on a CPU.
"""

import numpy as np

from ..core import dtypes, random_seed
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.effects import perform
from ..core.exports import export
from ..core.op import Spec
from .drawing import (
    COUNTS,
    FLOATS,
    NORMAL,
    PERMUTATION,
    POISSON,
    SIGNED,
    TRUNCATED_NORMAL,
    categorical_samples,
    check_argument,
    check_attr,
    draw,
    gamma_samples,
    integer_samples,
    normal_samples,
    reserved,
    sample_shape,
    uniform_samples,
)
from .families import unregistered
from .identity import stop_gradient
from .indexing import gather
from .pointwise import batch_aligned


@export("random.set_seed")
def set_seed(seed):
    """Makes the random ops that follow repeatable, or with None unpredictable again.

    Args:
        seed: an integer, or None.

    Raises:
        TypeError: the seed is not a number.
    """
    number = random_seed.as_number("seed", seed)

    def start_streams():
        random_seed.set_seed(number)
        return ()

    perform("SetSeed", start_streams)


def _stream(seed, *kinds):
    """The stream of an op with the seed `seed`; ops of other `kinds` have streams of their own."""

    def stream(op, blocks):
        return reserved((op, kinds), seed, blocks)

    return stream


def _shaped_stream(seed, shape):
    """The stream of an op that also depends on the type of its argument `shape`."""
    return _stream(seed, dtypes.int64 == getattr(shape, "dtype", None))


@export("random.normal")
def normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Samples of the normal distribution; differentiable in its mean and standard deviation.

    Args:
        shape: the shape of the samples, a list of integers or a tensor.
        mean: the mean, a number or a tensor that broadcasts with the samples.
        stddev: the standard deviation, likewise.
        dtype: a floating dtype.
        seed: the op's own seed: calls with the same one continue one sequence.

    Raises:
        InvalidArgumentError: the shape is not a vector of integers, or one is negative.
    """
    stream = _shaped_stream(seed, shape)
    return normal_samples("RandomStandardNormal", NORMAL, stream, shape, mean, stddev, dtype, "T")


@export("random.truncated_normal")
def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Samples of the normal distribution, those beyond two standard deviations drawn again.

    Args:
        shape: the shape of the samples, a list of integers or a tensor.
        mean: the mean, a number or a tensor that broadcasts with the samples.
        stddev: the standard deviation before truncation, likewise.
        dtype: a floating dtype.
        seed: the op's own seed: calls with the same one continue one sequence.

    Raises:
        InvalidArgumentError: the shape is not a vector of integers, or one is negative.
    """
    stream = _shaped_stream(seed, shape)
    return normal_samples(
        "TruncatedNormal", TRUNCATED_NORMAL, stream, shape, mean, stddev, dtype, "T"
    )


@export("random.uniform")
def uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    """Samples spread evenly from `minval` up to, not including, `maxval`.

    Floating samples are differentiable in both limits.

    Args:
        shape: the shape of the samples, a list of integers or a tensor.
        minval: the lower limit; for floats a number or a tensor that broadcasts with the samples.
        maxval: the upper limit, likewise; 1 unless said otherwise, but needed for integers.
        dtype: a floating dtype, int32 or int64.
        seed: the op's own seed: calls with the same one continue one sequence.

    Raises:
        ValueError: integers without `maxval`, or another dtype.
        InvalidArgumentError: a wrong shape, or integers with `minval` not below `maxval`.
    """
    dtype = dtypes.as_dtype(dtype)
    check_argument(dtype, (*FLOATS, *SIGNED))
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    stream = _shaped_stream(seed, shape)
    if dtype.is_integer:
        return integer_samples("RandomUniformInt", stream, shape, minval, maxval, dtype, "T")
    return uniform_samples("RandomUniform", stream, shape, minval, maxval, dtype, "T")


@export("random.gamma")
def gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    """Samples of the gamma distribution for each of its parameters.

    Differentiable in both parameters, in `alpha` by implicit differentiation; second derivatives
    in `alpha` are not known.

    Args:
        shape: the shape of the samples drawn for each parameter.
        alpha: the shape parameters.
        beta: the rates, the inverse of scales; 1 unless said otherwise.
        dtype: float16, float32 or float64.
        seed: the op's own seed: calls with the same one continue one sequence.

    Returns:
        A tensor of shape `shape` followed by the common shape of `alpha` and `beta`.

    Raises:
        InvalidArgumentError: a wrong shape or dtype, or parameters that do not broadcast.
    """
    own = sample_shape(shape, "RandomGamma", "S")
    return gamma_samples(
        "RandomGamma", _stream(seed), lambda common: own + common, alpha, beta, dtype
    )


# The samples, drawn before for these rates: a row, so that asking for a gradient is an error.
_poisson_row = unregistered(
    "RandomPoissonV2",
    lambda rate, sample: np.broadcast_to(sample, np.broadcast_shapes(rate.shape, sample.shape))[()],
    inputs="rate sample",
    infer=lambda rate, sample: Spec(np.broadcast_shapes(rate.shape, sample.shape), sample.dtype),
    batch=batch_aligned,
    checked=False,
    raw=False,
)


@export("random.poisson")
def poisson(shape, lam, dtype=dtypes.float32, seed=None, name=None):
    """Samples of the Poisson distribution for each of its rates.

    Args:
        shape: the shape of the samples drawn for each rate.
        lam: the rates.
        dtype: float16, float32, float64, int32 or int64.
        seed: the op's own seed: calls with the same one continue one sequence.

    Returns:
        A tensor of shape `shape` followed by that of `lam`.

    Raises:
        InvalidArgumentError: a wrong shape or dtype.
    """
    op_name = "RandomPoissonV2"
    dtype = dtypes.as_dtype(dtype)
    # A Python number is taken in double precision here, which decides how samples near 10 go.
    rate = convert_to_tensor(lam, dtypes.float64 if type(lam) in (int, float) else None)
    check_attr(op_name, rate.dtype, COUNTS, "R")
    check_attr(op_name, dtype, COUNTS)
    shape = sample_shape(shape, op_name, "S") + rate._value.shape
    samples = draw(op_name, POISSON, _stream(seed), shape, dtype, rate)
    return apply(_poisson_row.op, (rate, samples))


@export("random.categorical")
def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """Class indices drawn with probabilities proportional to `exp(logits)`.

    Args:
        logits: a matrix with one row of logarithms of probabilities for each result row.
        num_samples: how many indices to draw for each row.
        dtype: int32 or int64, the default.
        seed: the op's own seed: calls with the same one continue one sequence.

    Returns:
        A matrix with `num_samples` columns.

    Raises:
        InvalidArgumentError: `logits` is not a matrix, or `num_samples` is negative.
        ValueError: another dtype.
    """
    return categorical_samples("Multinomial", _stream(seed), logits, num_samples, dtype)


@export("random.shuffle")
def shuffle(value, seed=None, name=None):
    """The rows of a tensor in random order; gradients end here.

    Args:
        value: a tensor, shuffled along its first axis.
        seed: the op's own seed: calls with the same one continue one sequence.
    """
    value = operand(value)
    if 0 in value.shape:  # draws nothing, whatever its number of rows
        return stop_gradient(value)
    stream = _stream(seed, value.dtype.name)
    rows = len(value) if value.ndim else 1
    order = draw("RandomShuffle", PERMUTATION, stream, (rows,), dtypes.int64)
    return stop_gradient(gather(value, order) if value.ndim else value)
