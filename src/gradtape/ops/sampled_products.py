"""Some elements of a matrix product, without computing the others."""

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import float32
from ..core.errors import invalid_argument
from ..core.exports import export
from .casting import cast
from .families import shape_of
from .indexing import gather
from .manipulation import transpose
from .reduction import reduce_sum


@export("sparse.sampled_addmm")
def sampled_addmm(
    indices, values, dense_shape, mat1, mat2, beta=1.0, alpha=1.0, output_type=float32
):
    """`alpha * (mat1 @ mat2) + beta * values`, at the places of a sparse matrix alone.

    Args:
        indices: the places, integers (n, 2).
        values: the n elements there.
        dense_shape: the shape of the sparse matrix.
        mat1: the left matrix.
        mat2: the right matrix.
        beta: a factor of the values.
        alpha: a factor of the product.
        output_type: the dtype of the result.

    Returns:
        The parts of the resulting sparse matrix: indices, values and shape.

    Raises:
        InvalidArgumentError: the shapes do not fit.
    """
    indices, dense_shape = convert_to_tensor(indices), convert_to_tensor(dense_shape)
    values, left, right = [
        cast(convert_to_tensor(each), output_type) for each in (values, mat1, mat2)
    ]
    sizes = shape_of(left), shape_of(right), tuple(np.asarray(dense_shape._value).tolist())
    if len(sizes[0]) != 2 or len(sizes[1]) != 2 or sizes[0][1] != sizes[1][0]:
        raise invalid_argument("SampledAddmm", f"Matrix size-incompatible: {sizes[0]}, {sizes[1]}")
    if sizes[2] != (sizes[0][0], sizes[1][1]):
        raise invalid_argument("SampledAddmm", f"The product is no {sizes[2]} matrix: {sizes[:2]}")
    if shape_of(indices) != (*shape_of(values), 2):
        raise invalid_argument(
            "SampledAddmm",
            f"indices {shape_of(indices)} and values {shape_of(values)} do not fit each other",
        )
    rows, columns = gather(left, indices[:, 0]), gather(transpose(right), indices[:, 1])
    product = reduce_sum(rows * columns, 1)
    return indices, product * alpha + values * beta, dense_shape
