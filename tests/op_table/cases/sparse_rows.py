"""Cases of gradtape.ops.sparse_rows."""

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

PLACES = np.array([[0, 1], [2, 0], [2, 3]])


def _matmul(a_indices, a_values, b, a_shape, adjoint_a, adjoint_b):
    a = np.zeros(a_shape, a_values.dtype)
    for place, value in zip(a_indices.tolist(), a_values, strict=True):
        a[tuple(place)] += value
    a = a.conj().T if adjoint_a else a
    return a @ (b.conj().T if adjoint_b else b)


def _to_dense(sparse_indices, sparse_values, default_value, output_shape, validate_indices):
    dense = np.full(output_shape, default_value, sparse_values.dtype)
    for i, place in enumerate(sparse_indices.tolist()):
        dense[tuple(place)] = sparse_values[i] if sparse_values.ndim else sparse_values
    return dense


def _attrs(a_shape=(3, 4), adjoint_a=False, adjoint_b=False):
    return {"a_shape": a_shape, "adjoint_a": adjoint_a, "adjoint_b": adjoint_b}


CASES = [
    Case(
        op="SparseTensorDenseMatMul",
        samples=[
            Sample((PLACES, draw.uniform(3), draw.uniform(4, 2)), _attrs()),
            Sample((PLACES[::-1], draw.uniform(3), draw.uniform(4, 2)), _attrs()),
            Sample((PLACES, draw.uniform(3), draw.uniform(3, 2)), _attrs(adjoint_a=True)),
            Sample((PLACES, draw.uniform(3), draw.uniform(2, 4)), _attrs(adjoint_b=True)),
            Sample((PLACES, draw.uniform(3), draw.uniform(1, 3)), _attrs((3, 4), True, True)),
            Sample((PLACES[[0, 0, 1]], draw.uniform(3), draw.uniform(4, 1)), _attrs()),
            Sample((PLACES[:0], draw.uniform(0), draw.uniform(4, 2)), _attrs()),
            Sample((PLACES, draw.uniform(3), draw.uniform(4, 0)), _attrs()),
            Sample((PLACES, draw.complex_uniform(3), draw.complex_uniform(4, 2)), _attrs()),
            Sample(
                (PLACES, draw.complex_uniform(3), draw.complex_uniform(2, 3)),
                _attrs(adjoint_a=True, adjoint_b=True),
            ),
            Sample(
                (PLACES.astype(np.int32), draw.integers(3, dtype=np.int32),
                 draw.integers(4, 2, dtype=np.int32)),
                _attrs(),
            ),
        ],
        reference=_matmul,
        batch_inputs=["a_values", "b"],
        failures=[
            Failure(
                (PLACES, draw.uniform(3), draw.uniform(3, 2)), _attrs(), InvalidArgumentError,
                "inner dimension does not match: 4 vs. 3",
            ),
            Failure(
                (PLACES + 1, draw.uniform(3), draw.uniform(4, 2)), _attrs(), InvalidArgumentError,
                r"m \(3\) from index\[1,0\] out of bounds \(>=3\)",
            ),
            Failure(
                (PLACES, draw.uniform(3), draw.uniform(4)), _attrs(), InvalidArgumentError,
                r"Tensor 'b' is not a matrix: \[4\]",
            ),
            Failure(
                (PLACES, draw.uniform(2), draw.uniform(4, 2)), _attrs(), InvalidArgumentError,
                "Number of rows of a_indices does not match",
            ),
        ],
    ),
    Case(
        op="SparseToDense",
        samples=[
            Sample(
                (PLACES, draw.uniform(3), draw.uniform()),
                {"output_shape": (3, 4), "validate_indices": True},
            ),
            Sample(
                (PLACES[::-1], draw.uniform(), draw.uniform()),
                {"output_shape": (3, 4), "validate_indices": False},
            ),
            Sample(
                (np.array([[1]]), draw.complex_uniform(1), draw.complex_uniform()),
                {"output_shape": (2,), "validate_indices": True},
            ),
            Sample(
                (PLACES[:0], draw.uniform(0), draw.uniform()),
                {"output_shape": (3, 4), "validate_indices": True},
            ),
        ],
        reference=_to_dense,
        batch_inputs=["sparse_values", "default_value"],
        failures=[
            Failure(
                (PLACES, draw.uniform(3), draw.uniform()),
                {"output_shape": (3, 3), "validate_indices": True},
                InvalidArgumentError,
                r"indices\[2\] = \[2,3\] is out of bounds: need 0 <= index < \[3,3\]",
            ),
            Failure(
                (PLACES[::-1], draw.uniform(3), draw.uniform()),
                {"output_shape": (3, 4), "validate_indices": True},
                InvalidArgumentError,
                r"indices\[1\] = \[2,0\] is out of order",
            ),
            Failure(
                (PLACES[[0, 0, 1]], draw.uniform(3), draw.uniform()),
                {"output_shape": (3, 4), "validate_indices": True},
                InvalidArgumentError,
                r"indices\[1\] = \[0,1\] is repeated",
            ),
            Failure(
                (PLACES, draw.uniform(3), draw.uniform(1)),
                {"output_shape": (3, 4), "validate_indices": True},
                InvalidArgumentError,
                "default_value should be a scalar",
            ),
        ],
    ),
]  # fmt: skip
