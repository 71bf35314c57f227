"""Cases of gradtape.ops.counting."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)


def _attrs(size, binary_output=False):
    return {"size": size, "binary_output": binary_output}


def _bincount(input, weights, size, binary_output):
    out = np.zeros((*input.shape[:-1], size), weights.dtype)
    for place in np.ndindex(input.shape):
        number = input[place]
        if number < size:
            where = (*place[:-1], number)
            weight = weights[place] if weights.shape == input.shape else 1
            out[where] = 1 if binary_output else out[where] + weight
    return out


_UNWEIGHTED = np.zeros(0)


CASES = [
    Case(
        op="DenseBincount",
        samples=[
            Sample((np.array([1, 1, 3, 0]), draw.uniform(4)), _attrs(4)),
            Sample((np.array([1, 5, 3, 0], np.int32), draw.uniform(4)), _attrs(3)),
            Sample((np.array([[1, 1, 2], [0, 4, 0]]), draw.uniform(2, 3)), _attrs(3)),
            Sample((np.array([2, 2, 7]), _UNWEIGHTED), _attrs(4)),
            Sample((np.array([[2, 2], [1, 0]]), _UNWEIGHTED), _attrs(3, True)),
            Sample((np.array([[2, 2], [1, 0]]), np.zeros(0, np.int32)), _attrs(3)),
            Sample((np.array([1, 1]), np.array([2**53, 1])), _attrs(2)),
            Sample((np.array(2), _UNWEIGHTED), _attrs(4)),
            Sample((np.zeros(0, np.int64), _UNWEIGHTED), _attrs(2)),
        ],
        reference=_bincount,
        dtypes=["float32"],
        failures=[
            Failure(
                (np.array([1, -1]), _UNWEIGHTED),
                _attrs(2), InvalidArgumentError, "Input arr must be non-negative!",
            ),
            Failure(
                (np.array([1, 1]), draw.uniform(3)),
                _attrs(2), InvalidArgumentError, r"`weights` must be the same shape .* \[3\]",
            ),
            Failure(
                (np.zeros((1, 1, 1), np.int64), _UNWEIGHTED),
                _attrs(2), InvalidArgumentError, "at most rank 2 but is rank 3",
            ),
            Failure(
                (np.array([1, 1]), _UNWEIGHTED),
                _attrs(-1), InvalidArgumentError, r"size \(-1\) must be non-negative",
            ),
            Failure(
                (np.array([1], np.uint8), _UNWEIGHTED),
                _attrs(2), InvalidArgumentError, "uint8 is not in the list",
            ),
            Failure(
                (np.array([1]), np.array([1j])),
                _attrs(2), InvalidArgumentError, "complex128 is not in the list",
            ),
        ],
    ),
]  # fmt: skip
