"""Cases of gradtape.ops.indexing."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws
from ..places import vary_places

draw = Draws(__name__)


def _at(axis, batch_dims=0):
    return {"axis": axis, "batch_dims": batch_dims}


def _gather(params, indices, axis, batch_dims):
    if batch_dims:
        inner = axis - 1 if axis > 0 else axis
        pairs = zip(params, indices, strict=True)
        return np.stack([_gather(p, i, inner, batch_dims - 1) for p, i in pairs])
    return np.asarray(np.take(params, indices, axis), params.dtype)


def _gather_nd(params, indices):
    shape = indices.shape[:-1]
    picked = [params[tuple(indices[place])] for place in np.ndindex(shape)]
    return np.array(picked, params.dtype).reshape(shape + params.shape[indices.shape[-1] :])


CASES = [
    Case(
        op="GatherV2",
        samples=[
            Sample((draw.uniform(3, 2), np.array([2, 0, 2])), _at(0)),
            Sample((draw.uniform(3, 2), np.array(1)), _at(0)),
            Sample((draw.uniform(3), np.array(2, np.int32)), _at(0)),
            Sample((draw.uniform(2, 3), np.array([[2, 0], [1, 1]], np.int32)), _at(1)),
            Sample((draw.uniform(3, 2), np.array([1, 1], np.int16)), _at(-2)),
            Sample((draw.uniform(2, 3, 2), np.array([0, 2, 2])), _at(-2)),
            Sample((draw.uniform(2, 3), np.array([[2, 0], [1, 1]])), _at(1, 1)),
            Sample((draw.uniform(2, 3, 2), np.array([[2, 0], [1, 1]])), _at(1, 1)),
            Sample((draw.uniform(2, 2, 3), np.array([[2, 0], [1, 1]])), _at(2, 1)),
            Sample((draw.uniform(2, 2, 3), np.array([[2, 0], [1, 1]])), _at(2, 2)),
            Sample((draw.uniform(2, 2, 3), np.array([1, 0])), _at(-1, 1)),
            Sample((draw.uniform(2, 0), np.array([1, 1])), _at(0)),
            Sample((draw.uniform(2, 3), np.zeros(0, np.int64)), _at(1)),
            Sample((draw.complex_uniform(3, 2), np.array([0, 0, 1])), _at(0)),
            Sample((draw.complex_uniform(2, 3), np.array([0, 0, 1])), _at(1)),
            Sample((draw.integers(3), np.array([0, 2])), _at(0)),
            Sample((draw.strings(3), np.array(1)), _at(0)),
            Sample((draw.strings(2, 3), np.array([[0], [2]])), _at(1, 1)),
        ],
        reference=_gather,
        failures=[
            Failure(
                (draw.uniform(2, 3), np.array([[0, 1], [0, 7]])),
                _at(0),
                InvalidArgumentError,
                r"indices\[1,1\] = 7 is not in \[0, 2\)",
            ),
            Failure(
                (draw.uniform(2), np.array(-1)),
                _at(0),
                InvalidArgumentError,
                r"indices = -1 is not in \[0, 2\)",
            ),
            Failure(
                (draw.uniform(2), np.array([0])),
                _at(1),
                InvalidArgumentError,
                "Shape must be at least rank 2 but is rank 1",
            ),
            Failure(
                (draw.uniform(), np.array(0)),
                _at(0),
                InvalidArgumentError,
                "params must be at least 1 dimensional",
            ),
            Failure(
                (draw.uniform(2), np.array([0.5])),
                _at(0),
                InvalidArgumentError,
                "Value for attr 'Tindices' of double is not in the list of allowed values: int16",
            ),
            Failure(
                (draw.uniform(2, 3), np.array([0, 1, 1])),
                _at(1, 1),
                InvalidArgumentError,
                r"params.shape\[0\]: 2 should be equal to indices.shape\[0\]: 3",
            ),
            Failure(
                (draw.uniform(2, 3), np.array([[0, 1], [1, 1]])),
                _at(1, 2),
                InvalidArgumentError,
                r"batch_dims \(2\) must be less than rank\(params\) \(2\)",
            ),
            Failure(
                (draw.uniform(2, 3), np.array([[0, 1], [1, 1]])),
                _at(0, 1),
                InvalidArgumentError,
                r"batch_dims \(1\) must be less than or equal to axis \(0\)",
            ),
        ],
    ),
    Case(
        op="GatherNd",
        samples=[
            Sample((draw.uniform(2, 3), np.array([[0, 1], [1, 2], [0, 1]]))),
            Sample((draw.uniform(2, 3), np.array([[0], [1]], np.int32))),
            Sample((draw.uniform(2, 3), np.array([1, 1]))),
            Sample((draw.uniform(2, 2, 2), np.array([[[0, 1]], [[1, 0]]], np.int16))),
            Sample((draw.uniform(2, 3), np.zeros((2, 0), np.int64))),
            Sample((draw.uniform(2, 3), np.zeros((0, 2), np.int64))),
            Sample((draw.complex_uniform(2, 3), np.array([[0, 1], [0, 1]]))),
            Sample((draw.integers(2, 3), np.array([[0, 1], [1, 2]]))),
            Sample((draw.strings(2), np.array([1]))),
        ],
        reference=_gather_nd,
        vary=vary_places,
        failures=[
            Failure(
                (draw.uniform(2, 3), np.array([[0, 0], [0, 3]])),
                {},
                InvalidArgumentError,
                r"indices\[1\] = \[0, 3\] does not index into param shape \[2,3\]",
            ),
            Failure(
                (draw.uniform(2), np.array([-1])),
                {},
                InvalidArgumentError,
                r"indices = \[-1\] does not index into param shape \[2\]",
            ),
            Failure(
                (draw.uniform(2), np.array([[0, 0]])),
                {},
                InvalidArgumentError,
                "index innermost dimension length must be <= params rank; saw: 2 vs. 1",
            ),
            Failure(
                (draw.uniform(2), np.array(0)),
                {},
                InvalidArgumentError,
                "indices must be at least a vector",
            ),
            Failure(
                (draw.uniform(), np.array([[0]])),
                {},
                InvalidArgumentError,
                "params must be at least a vector",
            ),
            Failure(
                (draw.uniform(2), np.array([[0.5]])),
                {},
                InvalidArgumentError,
                "'Tindices' of double",
            ),
        ],
    ),
]
