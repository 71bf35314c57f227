"""Drawing random tensors: the distributions, their arguments, and `draw`, which alone samples.

Where the random words come from is said by a *stream*, a function `stream(op, blocks)` that sets
aside blocks for an op and returns the key and the counter of the first: the streams of seeded ops,
of stateless seeds and of generators differ in nothing else. While a function is traced, a stream
may return a tensor instead, the state that `random_rows` draws from.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core import distributions, dtypes, random_seed, samplers
from ..core.convert import convert_to_tensor
from ..core.dispatch import apply, thread
from ..core.effects import is_deferred, perform
from ..core.errors import NotFoundError, invalid_argument
from ..core.op import Spec
from ..core.tensor import EagerTensor, Tensor
from .arguments import static_shape
from .arithmetic import add, maximum, mul, real_div, sub
from .broadcasting import broadcast_to, words
from .joining import stack
from .pointwise import broadcast_shape, dtype_mismatch
from .random_gamma import random_gamma
from .random_rows import DISTRIBUTIONS, philox_samples, state_of

_BLOCKS = distributions.BLOCKS_PER_SAMPLE

FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
_HALF_TO_DOUBLE = (dtypes.float16, dtypes.float32, dtypes.float64)
SIGNED = (dtypes.int32, dtypes.int64)
WHOLE_RANGE = (*SIGNED, dtypes.uint32, dtypes.uint64)
COUNTS = (*_HALF_TO_DOUBLE, *SIGNED)


class Distribution(NamedTuple):
    """How to draw an array of samples.

    Attributes:
        sample: `sample(key, counter, shape, dtype, *parameters)`, an array from arrays.
        blocks: `blocks(shape, *parameters)`, how many blocks of random words to set aside; it looks
            at no more than the shapes of the parameters.
        check: `check(op_name, shape, *parameters)`, raises an error if no samples can be drawn.
    """

    sample: Callable[..., Any]
    blocks: Callable[..., int]
    check: Callable[..., None] = lambda op_name, shape, *parameters: None


def draw(op_name, distribution, stream, shape, dtype, *parameters):
    """A tensor of random numbers: the one place where they are made.

    Args:
        op_name: TensorFlow's op type.
        distribution: a Distribution.
        stream: where the random words come from.
        shape: the shape, a tuple of ints.
        dtype: the DType.
        parameters: tensors the distribution depends on; gradients to them are the caller's affair.
    """
    return _draw(thread.maps, op_name, distribution, stream, shape, dtype, parameters)


def _draw(maps, op_name, distribution, stream, shape, dtype, parameters):
    if maps:
        return _draw_for_each(maps, op_name, distribution, stream, shape, dtype, parameters)
    values = []
    for x in parameters:
        if hasattr(x, "_inner"):
            raise TypeError(
                f"The parameters of random op {op_name} must be known. Received: {x!r}."
            )
        values.append(x._value)
    eager = all([type(x) is EagerTensor for x in parameters])
    if eager:
        distribution.check(op_name, shape, *values)
    identity = (op_name, dtype.name, *[value.dtype.name for value in values])
    blocks = distribution.blocks(shape, *values)
    start = random_seed.start_of(lambda: stream(identity, blocks))
    if not eager or isinstance(start, Tensor):
        return _draw_from(start, distribution, parameters, shape, dtype, op_name)
    samples = distribution.sample(*start, shape, dtype.numpy_dtype, *values)
    return EagerTensor(samples if shape else samples[()])


def _draw_from(start, distribution, parameters, shape, dtype, op_name):
    """Samples as an op, which a graph can repeat."""
    state = start if isinstance(start, Tensor) else EagerTensor(state_of(*start))
    attrs = {
        "distribution": _NAMES[distribution],
        "shape": shape,
        "dtype": dtype.numpy_dtype,
        "op_name": op_name,
    }
    return apply(philox_samples.op, (state, *parameters), attrs)


def reserved(op, seed, blocks):
    """Key and counter for the next blocks of a seeded op; their state, where a graph draws.

    Args:
        op: identifies ops that share a stream.
        seed: the op's own seed, or None.
        blocks: how many.
    """
    if not is_deferred():
        return random_seed.reserve(op, seed, blocks)
    number = random_seed.as_number("seed", seed)
    (state,) = perform(
        "PhiloxBlocks",
        lambda: (state_of(*random_seed.reserve(op, number, blocks)),),
        rehearsable=True,
        fixed=True,
    )
    return state


def skip_seeds(seed):
    """Has the ops that follow find the seeds as after a draw."""
    number = random_seed.as_number("seed", seed)

    def draw_seeds():
        random_seed.seeds(number)
        return ()

    random_seed.start_of(lambda: perform("PhiloxBlocks", draw_seeds, rehearsable=True))


def _draw_for_each(maps, op_name, distribution, stream, shape, dtype, parameters):
    """A draw for each element of a vectorized_map, from its own parameters: as a loop would.

    The stream decides whether the numbers differ: those of a stateless seed must not.
    """
    *outer, innermost = maps
    if not innermost.count:
        return innermost.wrap(EagerTensor(np.empty((0, *shape), dtype.numpy_dtype)))
    batched = [innermost.unwrap(x) for x in parameters]
    samples = []
    for i in range(innermost.count):
        own = [x if rows is None else rows[i] for x, rows in zip(parameters, batched, strict=True)]
        samples.append(_draw(outer, op_name, distribution, stream, shape, dtype, own))
    return innermost.wrap(stack(samples))


# Distributions ------------------------------------------------------------------------------------


def _some_each(shape, *parameters):
    return math.prod(shape) * _BLOCKS


def _independent(kernel):
    """Samples that depend on no parameter, by a kernel that makes a number of them."""

    def sample(key, counter, shape, dtype):
        return kernel(key, counter, math.prod(shape), dtype).reshape(shape)

    return Distribution(sample, _some_each)


UNIFORM = _independent(distributions.uniform)
FULL_RANGE = _independent(distributions.uniform_full_int)
NORMAL = _independent(distributions.normal)
TRUNCATED_NORMAL = _independent(distributions.truncated_normal)


def _integers(key, counter, shape, dtype, low, high):
    count = math.prod(shape)
    if not count:  # where low and high may be anything
        return np.empty(shape, dtype)
    samples = distributions.uniform_int(key, counter, count, int(low), int(high), dtype)
    return samples.reshape(shape)


def _check_limits(op_name, shape, low, high):
    if math.prod(shape) and not int(low) < int(high):
        raise invalid_argument(op_name, f"Need minval < maxval, got {int(low)} >= {int(high)}")


INTEGERS = Distribution(_integers, _some_each, _check_limits)


def _per_parameter(kernel):
    """Samples whose last axes are those of the parameters, by a kernel that makes rows."""

    def sample(key, counter, shape, dtype, *parameters):
        flat = [np.ravel(each).astype(np.float64) for each in np.broadcast_arrays(*parameters)]
        if not math.prod(shape):
            return np.empty(shape, dtype)
        rows = kernel(key, counter, math.prod(shape) // flat[0].size, *flat)
        return samplers.round_to(rows.T, dtype).reshape(shape)

    return sample


GAMMA = Distribution(_per_parameter(samplers.gamma), _some_each)
POISSON = Distribution(_per_parameter(samplers.poisson), _some_each)


def _binomial_blocks(shape, counts, probs):
    parameters = math.prod(np.broadcast_shapes(counts.shape, probs.shape))
    each = math.prod(shape) // parameters if parameters else 0
    return 50 * _BLOCKS * (each + 3) * parameters


BINOMIAL = Distribution(_per_parameter(samplers.binomial), _binomial_blocks)


def _categorical(key, counter, shape, dtype, logits):
    return samplers.categorical(key, counter, shape[1], logits).astype(dtype, copy=False)


def _categorical_blocks(shape, logits):
    rows, each = shape
    return rows * -(-each // 4) * 4 * 2 * _BLOCKS


CATEGORICAL = Distribution(_categorical, _categorical_blocks)

PERMUTATION = Distribution(
    lambda key, counter, shape, dtype: samplers.permutation(key, counter, *shape),
    lambda shape: -(-(shape[0] - 1) // 4),
)

DISTRIBUTIONS.update(
    {
        "binomial": BINOMIAL,
        "categorical": CATEGORICAL,
        "full_range": FULL_RANGE,
        "gamma": GAMMA,
        "integers": INTEGERS,
        "normal": NORMAL,
        "permutation": PERMUTATION,
        "poisson": POISSON,
        "truncated_normal": TRUNCATED_NORMAL,
        "uniform": UNIFORM,
    }
)
_NAMES = {distribution: name for name, distribution in DISTRIBUTIONS.items()}


# Arguments ----------------------------------------------------------------------------------------


def sample_shape(shape, op_name, attr="Tshape"):
    """A shape argument as a tuple of ints.

    Raises:
        InvalidArgumentError: it is not a vector of integers, or one is negative.
    """
    shape = static_shape(shape, op_name, attr)
    if not isinstance(shape, tuple):
        raise invalid_argument(
            op_name, f"shape must be a vector of {{int32,int64}}, got shape {words(shape.shape)}"
        )
    for d in shape:
        if d < 0:
            raise invalid_argument(op_name, f"Dimension {d} must be >= 0")
    return shape


def parameter(value, dtype, name):
    """A distribution's parameter as a tensor of the samples' dtype."""
    try:
        return convert_to_tensor(value, dtype)
    except ValueError as error:
        if "Tensor conversion requested" in str(error):
            raise ValueError(f"{name}: {error}") from None
        raise


def check_attr(op_name, dtype, allowed, attr="dtype"):
    """Raises the error for a dtype that an op does not make or take."""
    if dtype not in allowed:
        choice = ", ".join([each.runtime_word for each in allowed])
        raise invalid_argument(
            op_name,
            f"Value for attr '{attr}' of {dtype.runtime_word} is not in the list of allowed "
            f"values: {choice}\n\t; NodeDef: {{{{node {op_name}}}}}",
        )


def check_argument(dtype, accepted):
    """Raises the error for a `dtype` argument that a function does not accept."""
    if dtype not in accepted:
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are {accepted}."
        )


def check_ending(op_name, shape, ending):
    """Raises an error unless a shape ends with that of the parameters."""
    if ending and shape[-len(ending) :] != ending:
        raise invalid_argument(op_name, "Shape passed in must end with broadcasted shape.")


def _is_number(value, number):
    return type(value) in (int, float) and value == number


# Samples that are shifted and scaled, differentiably ----------------------------------------------


def normal_samples(op_name, distribution, stream, shape, mean, stddev, dtype, attr="Tshape"):
    """Normal samples times `stddev` plus `mean`; differentiable in both."""
    dtype = dtypes.as_dtype(dtype)
    factor = term = None
    if not dtype.is_floating or not _is_number(mean, 0):
        term = parameter(mean, dtype, "mean")
    if not dtype.is_floating or not _is_number(stddev, 1):
        factor = parameter(stddev, dtype, "stddev")
    check_attr(op_name, dtype, FLOATS)
    shape = sample_shape(shape, op_name, attr)
    result = _broadcast("Mul", shape, factor)
    _broadcast("AddV2", result, term)
    samples = draw(op_name, distribution, stream, shape, dtype)
    if factor is not None:
        samples = mul(samples, factor)
    return samples if term is None else add(samples, term)


def uniform_samples(op_name, stream, shape, minval, maxval, dtype, attr="Tshape"):
    """Floats between `minval` and `maxval`; differentiable in both."""
    from_zero = dtype.is_floating and type(minval) is int and minval == 0
    low = None if from_zero else parameter(minval, dtype, "min")
    high = None if from_zero and _is_number(maxval, 1) else parameter(maxval, dtype, "max")
    check_attr(op_name, dtype, FLOATS)
    shape = sample_shape(shape, op_name, attr)
    width = high if low is None else sub(high, low)
    result = _broadcast("Mul", shape, width)
    _broadcast("AddV2", result, low)
    samples = draw(op_name, UNIFORM, stream, shape, dtype)
    if width is not None:
        samples = mul(samples, width)
    return samples if low is None else add(samples, low)


def _broadcast(op_name, shape, x):
    """The shape after an op with `x`: its error must come before anything is drawn."""
    if x is None or not x.ndim:
        return shape
    return broadcast_shape(op_name, Spec(shape, x._value.dtype), x._value)


def integer_samples(op_name, stream, shape, minval, maxval, dtype, attr="Tshape"):
    """Integers from `minval` up to, not including, `maxval`."""
    low, high = parameter(minval, dtype, "min"), parameter(maxval, dtype, "max")
    if dtype not in SIGNED:
        check_attr(op_name, dtype, WHOLE_RANGE)
        raise _no_kernel(op_name, dtype, SIGNED)
    for name, limit in (("minval", low), ("maxval", high)):
        if limit.ndim:
            raise invalid_argument(op_name, f"{name} must be 0-D, got shape {words(limit.shape)}")
    shape = sample_shape(shape, op_name, attr)
    return draw(op_name, INTEGERS, stream, shape, dtype, low, high)


def categorical_samples(op_name, stream, logits, num_samples, dtype):
    """Class indices, one row for each row of `logits`."""
    dtype = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    check_argument(dtype, SIGNED)
    logits = convert_to_tensor(logits)
    count = convert_to_tensor(num_samples, dtypes.int32)
    check_attr(op_name, logits.dtype, _LOGITS, "T")
    if not logits.dtype.is_floating:
        raise _no_kernel(op_name, logits.dtype, FLOATS)
    if logits.ndim != 2:
        raise invalid_argument(
            op_name, f"logits should be a matrix, got shape {words(logits.shape)}"
        )
    if count.ndim:
        raise invalid_argument(
            op_name, f"num_samples should be a scalar, got shape {words(count.shape)}"
        )
    if int(count) < 0:
        raise invalid_argument(op_name, f"num_samples should be non-negative, got {int(count)}")
    rows, classes = logits.shape
    if rows and not classes:
        raise invalid_argument(op_name, f"num_classes should be positive, got {classes}")
    return draw(op_name, CATEGORICAL, stream, (rows, int(count)), dtype, logits)


_LOGITS = (
    dtypes.float32, dtypes.float64, dtypes.int32, dtypes.uint8, dtypes.int16, dtypes.int8,
    dtypes.int64, dtypes.bfloat16, dtypes.uint16, dtypes.float16, dtypes.uint32, dtypes.uint64,
)  # fmt: skip


def _no_kernel(op_name, dtype, taken):
    return NotFoundError(
        None,
        None,
        f"Could not find device for node: {{{{node {op_name}}}}} = {op_name}[T={dtype.name}]. It "
        f"takes {', '.join([each.name for each in taken])}. [Op:{op_name}]",
    )


def gamma_samples(op_name, stream, shape_of_samples, alpha, beta, dtype):
    """Gamma samples divided by the rate `beta`; differentiable in both parameters.

    Args:
        shape_of_samples: a function from the parameters' common shape to that of the samples.
    """
    dtype = dtypes.as_dtype(dtype)
    alpha = parameter(alpha, dtype, "alpha")
    beta = None if beta is None else parameter(beta, dtype, "beta")
    check_attr(op_name, dtype, _HALF_TO_DOUBLE)
    if beta is not None:
        common = broadcast_shape("BroadcastArgs", alpha._value, beta._value)
        alpha = alpha if alpha.shape == common else broadcast_to(alpha, shape=common)
    shape = shape_of_samples(alpha._value.shape)
    samples = random_gamma(alpha, draw(op_name, GAMMA, stream, shape, dtype, alpha))
    if beta is not None:
        samples = real_div(samples, beta)
    return maximum(EagerTensor(np.finfo(dtype.numpy_dtype).tiny), samples)


def binomial_samples(op_name, stream, shape, counts, probs, dtype, position):
    """Binomial samples; `position` is that of `probs` among the op's inputs."""
    dtype = dtypes.as_dtype(dtype)
    check_attr(op_name, dtype, COUNTS)
    if counts.dtype not in _HALF_TO_DOUBLE:
        raise _no_kernel(op_name, counts.dtype, _HALF_TO_DOUBLE)
    if counts.dtype is not probs.dtype:
        raise dtype_mismatch(op_name, position, counts._value.dtype, probs._value.dtype)
    shape = sample_shape(shape, op_name, "S")
    check_ending(op_name, shape, broadcast_shape("BroadcastArgs", counts._value, probs._value))
    return draw(op_name, BINOMIAL, stream, shape, dtype, counts, probs)
