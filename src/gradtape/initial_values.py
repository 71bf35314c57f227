"""Initial values of variables: `tf.zeros_initializer` and its kin, called with a shape."""

from typing import Any

import numpy as np

from .core import dtypes
from .core.exports import export
from .ops.creation import constant, ones, zeros
from .ops.random import normal, uniform
from .ops.stateless_random import stateless_normal, stateless_uniform

_PARTITION = ("partition_shape", "partition_offset")


class Initializer:
    """Makes the tensor of a given shape that a variable starts with."""

    def __call__(self, shape, dtype: Any = dtypes.float32, **kwargs):
        for key in kwargs:
            if key not in _PARTITION:
                raise TypeError(
                    f"Keyword argument should be one of {list(_PARTITION)}. Received: {key}"
                )
        part = kwargs.get("partition_shape")
        return self._make(shape if part is None else part, dtype)

    def _make(self, shape, dtype):
        raise NotImplementedError("An initializer says in `__call__` how it makes a tensor.")

    def get_config(self):
        """The arguments it was made with."""
        return {}

    @classmethod
    def from_config(cls, config):
        """An initializer from such arguments."""
        config = dict(config)
        config.pop("dtype", None)
        return cls(**config)


def _numeric(dtype):
    dtype = dtypes.as_dtype(dtype)
    if dtype == dtypes.string:
        raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {dtype}.")
    return dtype


@export("zeros_initializer")
class Zeros(Initializer):
    """Zeros."""

    def _make(self, shape, dtype):
        return zeros(shape, _numeric(dtype))


@export("ones_initializer")
class Ones(Initializer):
    """Ones."""

    def _make(self, shape, dtype):
        return ones(shape, _numeric(dtype))


@export("constant_initializer")
class Constant(Initializer):
    """One value everywhere, or a list of as many as the shape has entries.

    Args:
        value: a number, or a list, tuple or array of them.
        support_partition: accepted; variables are never divided.
    """

    def __init__(self, value=0, support_partition=False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value).__name__}. Expected Python scalar, "
                "list or tuple of values, or numpy.ndarray."
            )
        self.value = value

    def __call__(self, shape, dtype: Any = None, **kwargs):
        return super().__call__(shape, dtype, **kwargs)

    def _make(self, shape, dtype):
        return constant(self.value, None if dtype is None else dtypes.as_dtype(dtype), shape)

    def get_config(self):
        return {"value": self.value}


@export("random_normal_initializer")
class RandomNormal(Initializer):
    """Normally distributed numbers; with a seed, the same at every call.

    Args:
        mean: their mean.
        stddev: their standard deviation.
        seed: an integer, or None for other numbers at every call.
    """

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def _make(self, shape, dtype):
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_floating:
            raise ValueError(
                f"Argument `dtype` is expected to be floating point. Received: {dtype}."
            )
        if self.seed is None:
            return normal(shape, self.mean, self.stddev, dtype)
        return stateless_normal(shape, (self.seed, 0), self.mean, self.stddev, dtype)

    def get_config(self):
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


@export("random_uniform_initializer")
class RandomUniform(Initializer):
    """Evenly distributed numbers; with a seed, the same at every call.

    Args:
        minval: the least.
        maxval: their upper bound.
        seed: an integer, or None for other numbers at every call.
    """

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed=None):
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def _make(self, shape, dtype):
        dtype = dtypes.as_dtype(dtype)
        if self.seed is None:
            return uniform(shape, self.minval, self.maxval, dtype)
        return stateless_uniform(shape, (self.seed, 0), self.minval, self.maxval, dtype)

    def get_config(self):
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}
