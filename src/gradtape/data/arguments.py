"""Arguments of transformations: numbers that may be tensors, checked as TensorFlow does."""

import operator
import warnings

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import int64
from ..core.errors import InvalidArgumentError
from .dataset import AUTOTUNE


def whole_number(value):
    """An argument as an int.

    Raises:
        TypeError, ValueError: it is none.
    """
    if type(value) is int:
        return value
    tensor = convert_to_tensor(value, int64)
    return operator.index(np.asarray(tensor._known()).item())


def parallel_calls(value, op):
    """A number of parallel calls; -1 for as many as pay.

    Raises:
        InvalidArgumentError: it is less than 1.
    """
    count = whole_number(value)
    if count != AUTOTUNE and count <= 0:
        raise wrong_number(op, "num_parallel_calls must be greater than zero.")
    return count


def wrong_number(op, text):
    """The error for an argument that is too small."""
    return InvalidArgumentError(None, None, f"{text} [Op:{op}] name: ")


def keeps_order(dataset, deterministic):
    """Whether elements come in order: as an argument says or, if that is None, the options."""
    if deterministic is None:
        return dataset.options().deterministic is not False
    return deterministic


def warn_of_deterministic():
    """Says that an argument has no effect."""
    warnings.warn(
        "The `deterministic` argument has no effect unless the `num_parallel_calls` argument is "
        "specified.",
        stacklevel=3,
    )
