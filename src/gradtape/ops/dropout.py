"""Dropout: elements set to zero at random, the others scaled up to keep the mean."""

from functools import partial

import numpy as np

from ..core.convert import constant_like, convert_to_tensor
from ..core.exports import export
from ..core.op import Spec
from ..core.shapes import TensorShape
from .arithmetic import mul, real_div
from .drawing import sample_shape, skip_seeds
from .elementwise import one_minus
from .logic import greater_equal
from .random import uniform
from .selection import select, zero_of
from .stateless_random import stateless_uniform


@export("nn.dropout")
def dropout(x, rate, noise_shape=None, seed=None, name=None):
    """Sets elements to zero with probability `rate` and divides the others by `1 - rate`.

    Args:
        x: a floating tensor.
        rate: the probability, a number in [0, 1) or a scalar tensor; with the number 0, `x` itself
            is returned.
        noise_shape: the shape of the random choices, which broadcasts with that of `x`: elements
            along an axis of length 1 are kept or dropped together. None stands for the length in
            `x`.
        seed: the op's own seed: calls with the same one continue one sequence.

    Raises:
        ValueError: `x` is not floating, or `rate` is not in [0, 1).
        InvalidArgumentError: `noise_shape` does not broadcast with the shape of `x`.

    Example:
        >>> tf.random.set_seed(0)
        >>> tf.nn.dropout(tf.ones([6]), rate=0.5).numpy()
        array([0., 0., 2., 2., 0., 2.], dtype=float32)
    """
    # A rate of 0 draws nothing, but the ops that follow find the seeds as after another rate.
    return _dropout(x, rate, noise_shape, partial(uniform, seed=seed), partial(skip_seeds, seed))


@export("nn.experimental.stateless_dropout")
def stateless_dropout(x, rate, seed, rng_alg=None, noise_shape=None, name=None):
    """Dropout whose choices are a function of `seed`.

    Args:
        x: a floating tensor.
        rate: the probability with which elements are set to zero, as in `tf.nn.dropout`.
        seed: two integers.
        rng_alg: the algorithm, "philox" or "auto_select".
        noise_shape: the shape of the random choices, as in `tf.nn.dropout`.

    Raises:
        ValueError: `x` is not floating, or `rate` is not in [0, 1).
        InvalidArgumentError: a wrong seed, or `noise_shape` does not broadcast with that of `x`.
    """
    alg = "auto_select" if rng_alg is None else rng_alg
    return _dropout(x, rate, noise_shape, partial(stateless_uniform, seed=seed, alg=alg))


@export("nn.experimental.general_dropout")
def general_dropout(x, rate, uniform_sampler, noise_shape=None, name=None):
    """Dropout whose choices come from a function.

    Args:
        x: a floating tensor.
        rate: the probability with which elements are set to zero, as in `tf.nn.dropout`.
        uniform_sampler: called as `uniform_sampler(shape=…, dtype=…)`, returns numbers in [0, 1);
            an element is dropped where they are below `rate`.
        noise_shape: the shape of the random choices, as in `tf.nn.dropout`.

    Raises:
        ValueError: `x` is not floating, or `rate` is not in [0, 1).
        InvalidArgumentError: `noise_shape` does not broadcast with the shape of `x`.
    """
    return _dropout(x, rate, noise_shape, uniform_sampler)


def _dropout(x, rate, noise_shape, sampler, skip=None):
    x = convert_to_tensor(x)
    if not x.dtype.is_floating:
        raise ValueError(
            "`x.dtype` must be a floating point tensor as `x` will be scaled. Received: "
            f"x_dtype={x.dtype}"
        )
    if isinstance(rate, (int, float, np.integer, np.floating)):
        if not 0 <= rate < 1:
            raise ValueError(
                "`rate` must be a scalar tensor or a float in the range [0, 1). Received: "
                f"rate={rate}"
            )
        if rate == 0:
            if skip is not None:
                skip()
            return x
        threshold = constant_like(float(rate), x)
        scaled = mul(x, constant_like(float(1 / (1 - rate)), x))
    else:
        threshold = _rate_tensor(rate, x)
        scaled = real_div(x, one_minus(threshold))
    shape, zero = _noise_shape(x, noise_shape), zero_of(x)
    # What does not broadcast must be found before anything is drawn.
    select.op.infer(Spec(shape, np.dtype(bool)), x._value, zero._value)
    keep = greater_equal(sampler(shape=shape, dtype=x.dtype), threshold)
    return select(keep, scaled, zero)


def _rate_tensor(rate, x):
    if not hasattr(rate, "_dispatch_level"):
        raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
    if rate.dtype is not x.dtype:
        raise ValueError(
            f"`x.dtype` must be compatible with `rate.dtype`. Received: x.dtype={x.dtype} and "
            f"rate.dtype={rate.dtype}"
        )
    if rate.ndim:
        raise ValueError(f"Shape {rate.shape} must have rank 0")
    return convert_to_tensor(rate)


def _noise_shape(x, noise_shape):
    """The shape of the choices; where it says None, that of `x`."""
    shape = x._value.shape
    if noise_shape is None:
        return shape
    if isinstance(noise_shape, TensorShape):
        noise_shape = noise_shape.as_list()
    if isinstance(noise_shape, (list, tuple)) and len(noise_shape) == len(shape):
        noise_shape = [n if d is None else d for d, n in zip(noise_shape, shape, strict=True)]
    return sample_shape(noise_shape, "RandomUniform", "T")
