"""Random ops that are pure functions of a seed: the same seed gives the same numbers."""

import enum

from ..core import dtypes, nest
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply, thread
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.philox import key_and_counter_from_seed
from ..core.tensor import Tensor
from ..core.variable import Variable
from .arguments import integers
from .broadcasting import words
from .drawing import (
    COUNTS,
    FLOATS,
    FULL_RANGE,
    NORMAL,
    PERMUTATION,
    POISSON,
    SIGNED,
    TRUNCATED_NORMAL,
    WHOLE_RANGE,
    binomial_samples,
    categorical_samples,
    check_argument,
    check_attr,
    check_ending,
    draw,
    gamma_samples,
    integer_samples,
    normal_samples,
    sample_shape,
    uniform_samples,
)
from .families import unregistered
from .indexing import gather_row
from .joining import stack
from .random_rows import philox_seed


@export("random.Algorithm random.experimental.Algorithm")
class Algorithm(enum.Enum):
    """The algorithms behind random numbers."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


_BY_NAME = {each.name.lower(): each for each in Algorithm}


def as_algorithm(alg):
    """An `alg` argument (a name, number or Algorithm) as Algorithm.PHILOX or Algorithm.THREEFRY.

    Raises:
        ValueError: there is no such algorithm.
    """
    if isinstance(alg, Algorithm):
        found = alg
    elif isinstance(alg, str):
        found = _BY_NAME.get(alg)
        known = "philox", "threefry", "auto_select"
    else:
        found = next((each for each in Algorithm if each.value == int(alg)), None)
        known = 1, 2, 3
    if found is None:
        raise ValueError(
            f"Argument `alg` got unsupported value {alg}. Supported values are {known[0]} for the "
            f"Philox algorithm, {known[1]} for the ThreeFry algorithm, and {known[2]} for "
            "auto-selection."
        )
    return Algorithm.PHILOX if found is Algorithm.AUTO_SELECT else found


def _stream(seed, op_name="StatelessRandomGetKeyCounter", alg=None):
    """The stream a seed stands for.

    Raises:
        InvalidArgumentError: the seed is not a vector of two integers, or needs ThreeFry.
        ValueError: there is no such algorithm.
    """
    if alg is not None and as_algorithm(alg) is Algorithm.THREEFRY:
        raise invalid_argument(
            op_name, "The ThreeFry algorithm does not run on CPUs. Use alg='philox'."
        )
    parts = () if thread.trace is None else nest.flatten(seed)
    if any([isinstance(x, (Tensor, Variable)) for x in parts]):
        # The numbers may differ from call to call of the function that is traced.
        state = apply(philox_seed.op, (convert_to_tensor(seed),), {"op_name": op_name})
        return lambda op, blocks: state
    pair = integers(seed, op_name, "Tseed")
    if pair.shape != (2,):
        raise invalid_argument(op_name, f"seed must have shape [2], not {words(pair.shape)}")
    start = key_and_counter_from_seed(*pair.tolist())
    return lambda op, blocks: start


@export("random.stateless_normal")
def stateless_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"
):
    """Samples of the normal distribution; differentiable in its mean and standard deviation.

    Args:
        shape: the shape of the samples, a list of integers or a tensor.
        seed: two integers.
        mean: the mean, a number or a tensor that broadcasts with the samples.
        stddev: the standard deviation, likewise.
        dtype: a floating dtype.
        alg: the algorithm, "philox" or "auto_select".

    Raises:
        InvalidArgumentError: a wrong shape or seed.
    """
    return normal_samples(
        "StatelessRandomNormalV2", NORMAL, _stream(seed, alg=alg), shape, mean, stddev, dtype
    )


@export("random.stateless_truncated_normal")
def stateless_truncated_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"
):
    """Samples of the normal distribution, those beyond two standard deviations drawn again.

    Args:
        shape: the shape of the samples, a list of integers or a tensor.
        seed: two integers.
        mean: the mean, a number or a tensor that broadcasts with the samples.
        stddev: the standard deviation before truncation, likewise.
        dtype: a floating dtype.
        alg: the algorithm, "philox" or "auto_select".

    Raises:
        InvalidArgumentError: a wrong shape or seed.
    """
    op_name, stream = "StatelessTruncatedNormalV2", _stream(seed, alg=alg)
    return normal_samples(op_name, TRUNCATED_NORMAL, stream, shape, mean, stddev, dtype)


@export("random.stateless_uniform")
def stateless_uniform(
    shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None, alg="auto_select"
):
    """Samples spread evenly from `minval` up to, not including, `maxval`.

    Floating samples are differentiable in both limits.

    Args:
        shape: the shape of the samples, a list of integers or a tensor.
        seed: two integers.
        minval: the lower limit; for floats a number or a tensor that broadcasts with the samples.
        maxval: the upper limit, likewise; 1 unless said otherwise. Integers need both limits, or
            None twice for all integers of the dtype.
        dtype: a floating dtype or a 32- or 64-bit integer one.
        alg: the algorithm, "philox" or "auto_select".

    Raises:
        ValueError: integers with one limit only, or another dtype.
        InvalidArgumentError: a wrong shape or seed, or integers with `minval` not below `maxval`.
    """
    dtype = dtypes.as_dtype(dtype)
    check_argument(dtype, (*FLOATS, *WHOLE_RANGE))
    if dtype.is_integer:
        if (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer `dtype` argument {dtype}, argument `minval` and `maxval` must be "
                f"both None or not None. Got `minval`={minval} and `maxval`={maxval}."
            )
        if minval is not None and dtype not in SIGNED:
            raise ValueError(
                f"Argument `dtype` got invalid value {dtype} when argument `minval` is not None. "
                "Please don't use unsigned integers in this case."
            )
    elif maxval is None:
        maxval = 1
    stream = _stream(seed, alg=alg)
    if not dtype.is_integer:
        return uniform_samples("StatelessRandomUniformV2", stream, shape, minval, maxval, dtype)
    if minval is None:
        return full_range_samples(stream, shape, dtype)
    return integer_samples("StatelessRandomUniformIntV2", stream, shape, minval, maxval, dtype)


def full_range_samples(stream, shape, dtype):
    """Integers over the whole range of a dtype."""
    op_name = "StatelessRandomUniformFullIntV2"
    check_attr(op_name, dtype, WHOLE_RANGE)
    return draw(op_name, FULL_RANGE, stream, sample_shape(shape, op_name), dtype)


@export("random.stateless_gamma")
def stateless_gamma(shape, seed, alpha, beta=None, dtype=dtypes.float32, name=None):
    """Samples of the gamma distribution; differentiable in both parameters.

    The derivative in `alpha` is implicit; second derivatives in `alpha` are not known.

    Args:
        shape: the shape of the samples; it ends with the common shape of `alpha` and `beta`.
        seed: two integers.
        alpha: the shape parameters.
        beta: the rates, the inverse of scales; 1 unless said otherwise.
        dtype: float16, float32 or float64.

    Raises:
        InvalidArgumentError: a wrong shape, seed or dtype, or parameters that do not broadcast.
    """
    op_name = "StatelessRandomGammaV3"

    def shape_of_samples(common):
        goal = sample_shape(shape, op_name, "shape_dtype")
        check_ending(op_name, goal, common)
        return goal

    return gamma_samples(op_name, _stream(seed), shape_of_samples, alpha, beta, dtype)


@export("random.stateless_poisson")
def stateless_poisson(shape, seed, lam, dtype=dtypes.int32, name=None):
    """Samples of the Poisson distribution.

    Args:
        shape: the shape of the samples; it ends with that of `lam`.
        seed: two integers.
        lam: the rates.
        dtype: float16, float32, float64, int32 or int64.

    Raises:
        InvalidArgumentError: a wrong shape, seed or dtype.
    """
    op_name = "StatelessRandomPoisson"
    dtype, rate = dtypes.as_dtype(dtype), convert_to_tensor(lam)
    check_attr(op_name, rate.dtype, COUNTS, "Rtype")
    check_attr(op_name, dtype, COUNTS)
    shape = sample_shape(shape, op_name, "T")
    check_ending(op_name, shape, rate._value.shape)
    return draw(op_name, POISSON, _stream(seed, op_name), shape, dtype, rate)


@export("random.stateless_binomial")
def stateless_binomial(shape, seed, counts, probs, output_dtype=dtypes.int32, name=None):
    """Samples of the binomial distribution.

    Args:
        shape: the shape of the samples; it ends with the common shape of `counts` and `probs`.
        seed: two integers.
        counts: the numbers of trials, floating.
        probs: the probabilities of success in one trial.
        output_dtype: float16, float32, float64, int32 or int64.

    Raises:
        InvalidArgumentError: a wrong shape, seed or dtype, or parameters that do not broadcast.
    """
    op_name = "StatelessRandomBinomial"
    probs = convert_to_tensor(probs, dtype_hint=dtypes.float32)
    counts = convert_to_tensor(counts, dtype_hint=probs.dtype)
    stream = _stream(seed, op_name)
    return binomial_samples(op_name, stream, shape, counts, probs, output_dtype, 3)


@export("random.stateless_categorical")
def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64, name=None):
    """Class indices drawn with probabilities proportional to `exp(logits)`.

    Args:
        logits: a matrix with one row of logarithms of probabilities for each result row.
        num_samples: how many indices to draw for each row.
        seed: two integers.
        dtype: int32 or int64.

    Returns:
        A matrix with `num_samples` columns.

    Raises:
        InvalidArgumentError: a wrong seed, `logits` no matrix, or `num_samples` negative.
        ValueError: another dtype.
    """
    op_name = "StatelessMultinomial"
    return categorical_samples(op_name, _stream(seed, op_name), logits, num_samples, dtype)


def _batch_shuffle(op, values, flags, attrs):
    return gather_row.op.batch(gather_row.op, values, flags, {"axis": 0, "batch_dims": 0})


# A permutation of rows, drawn before: a row, so that asking for a gradient is an error.
_shuffle_row = unregistered(
    "StatelessShuffle",
    lambda value, order: value[order],
    inputs="value order",
    infer=lambda value, order: Spec(value.shape, value.dtype),
    batch=_batch_shuffle,
    checked=False,
    raw=False,
)


@export("random.experimental.stateless_shuffle")
def stateless_shuffle(value, seed, alg="auto_select", name=None):
    """The rows of a tensor in random order.

    Args:
        value: a tensor, shuffled along its first axis.
        seed: two integers.
        alg: the algorithm, "philox" or "auto_select".

    Raises:
        InvalidArgumentError: the seed is not a vector of two integers.
    """
    value, stream = operand(value), _stream(seed, alg=alg)
    if not value.ndim:
        return value
    order = draw("StatelessShuffle", PERMUTATION, stream, (len(value),), dtypes.int64)
    return apply(_shuffle_row.op, (value, order))


@export("random.split random.experimental.stateless_split")
def split(seed, num=2, alg="auto_select"):
    """New seeds, independent of each other, from one.

    Args:
        seed: two integers.
        num: how many.
        alg: the algorithm, "philox" or "auto_select".

    Returns:
        A tensor of shape `[num, 2]`, each row of which is a seed.

    Raises:
        InvalidArgumentError: the seed is not a vector of two integers, or `num` is negative.
    """
    seed = convert_to_tensor(seed)
    return full_range_samples(_stream(seed, alg=alg), [num, 2], seed.dtype)


@export("random.fold_in random.experimental.stateless_fold_in")
def fold_in(seed, data, alg="auto_select"):
    """A new seed from a seed and a number, such as that of a training step.

    Args:
        seed: two integers.
        data: an integer.
        alg: the algorithm, "philox" or "auto_select".

    Raises:
        InvalidArgumentError: the seed is not a vector of two integers, or `data` not a scalar.
    """
    data = convert_to_tensor(data)
    check_argument(data.dtype, WHOLE_RANGE)
    return stack([full_range_samples(_stream(seed, alg=alg), [], data.dtype), data])
