"""Ops on the parts of sparse tensors: the product with a matrix, and the dense tensor."""

import numpy as np

from ..core.errors import invalid_argument
from ..core.op import Spec
from .arithmetic import add, mul, sub
from .broadcasting import broadcast_to, reshape, sum_, words, working_dtype
from .complex_numbers import conj
from .families import dtype_of, opaque, shape_of
from .indexing import (
    all_below,
    check_index_dtype,
    gather_nd_row,
    gather_row,
    with_batch_coordinate,
)
from .joining import all_batched
from .logic import not_equal
from .manipulation import transpose_row
from .segment_kernels import starts_of_runs
from .selection import select

# How many products are held at a time: few enough to stay in the cache.
_CHUNK = 1 << 18


def check_places(op_name, places, sizes):
    """Raises TensorFlow's error for the first of some places that lies outside of `sizes`."""
    if not places.size:
        return
    outside = ((places < 0) | (places >= np.array(sizes))).any(1)
    if outside.any():
        bad = int(np.argmax(outside))
        raise invalid_argument(
            op_name,
            f"indices[{bad}] = {words(places[bad])} is out of bounds: need 0 <= index < "
            f"{words(sizes)}",
        )


# Product with a matrix ----------------------------------------------------------------------------


def _infer_matmul(a_indices, a_values, b, *, a_shape, adjoint_a, adjoint_b):
    name = "SparseTensorDenseMatMul"
    check_index_dtype(name, a_indices.dtype)
    if len(b.shape) != 2:
        raise invalid_argument(name, f"Tensor 'b' is not a matrix: {words(b.shape)}")
    if len(a_shape) != 2 or len(a_indices.shape) != 2:
        raise invalid_argument(name, "Tensor 'a_shape' must have 2 elements")
    if a_values.dtype != b.dtype:
        raise invalid_argument(
            name, f"the values are of {a_values.dtype} but the matrix is of {b.dtype}"
        )
    if len(a_values.shape) != 1 or a_indices.shape != (a_values.shape[0], 2):
        raise invalid_argument(
            name,
            f"Number of rows of a_indices does not match number of entries in a_values: "
            f"{words(a_indices.shape)} vs. {words(a_values.shape)}",
        )
    outer, inner = a_shape[::-1] if adjoint_a else a_shape
    b_inner, b_outer = b.shape[::-1] if adjoint_b else b.shape
    if inner != b_inner:
        raise invalid_argument(
            name,
            f"Cannot multiply A and B because inner dimension does not match: {inner} vs. "
            f"{b_inner}.  Did you forget a transpose?  Dimensions of A: [{a_shape[0]}, "
            f"{a_shape[1]}).  Dimensions of B: {words(b.shape)}",
        )
    return Spec((outer, b_outer), b.dtype)


def _check_range(numbers, size, letter, column):
    if numbers.size and not all_below(numbers, size):
        bad = int(np.argmax((numbers < 0) | (numbers >= size)))
        raise invalid_argument(
            "SparseTensorDenseMatMul",
            f"{letter} ({numbers[bad]}) from index[{bad},{column}] out of bounds (>={size})",
        )


def _matmul(a_indices, a_values, b, a_shape, adjoint_a, adjoint_b):
    rows, columns = np.ascontiguousarray(a_indices.T)
    _check_range(rows, a_shape[0], "m", 0)
    _check_range(columns, a_shape[1], "k", 1)
    if adjoint_a:
        rows, columns, a_shape, a_values = columns, rows, a_shape[::-1], np.conj(a_values)
    if adjoint_b:
        b = np.conj(b.T)
    dtype = b.dtype
    working = working_dtype(dtype)
    starts = starts_of_runs(rows)
    numbers = rows.take(starts)
    if (numbers[1:] < numbers[:-1]).any():
        order = np.argsort(rows, kind="stable")
        rows, columns, a_values = rows[order], columns[order], a_values[order]
        starts = starts_of_runs(rows)
    total = np.zeros((a_shape[0], b.shape[1]), working)
    step = max(_CHUNK // max(b.shape[1], 1), 1)
    for start in range(0, rows.size, step):
        part = slice(start, start + step)
        products = b.take(columns[part], 0).astype(working, copy=False)
        products *= a_values[part, None]
        numbers = rows[part]
        first = starts if step >= rows.size else starts_of_runs(numbers)
        sums = np.add.reduceat(products, first, 0)
        if start and numbers[0] == rows[start - 1]:
            sums[0] += total[numbers[0]]
        total[numbers.take(first)] = sums
    return total if working is dtype else total.astype(dtype)


def _conjugate(x):
    return conj(x) if dtype_of(x).kind == "c" else x


def _adjoint(x):
    return _conjugate(transpose_row(x, perm=(1, 0)))


def _values_rule(g, a_indices, b, *, adjoint_a, adjoint_b):
    """Each element's gradient is the product of two rows: the whole is never formed."""
    b = _adjoint(b) if adjoint_b else b
    of_out, of_b = (1, 0) if adjoint_a else (0, 1)
    column = np.array([of_out]), np.array([of_b])
    rows, others = [
        gather_row(x, reshape(gather_row(a_indices, i, axis=1, batch_dims=0),
                              shape=shape_of(a_indices)[:1]), axis=-2, batch_dims=0)
        for x, i in zip((g, b), column, strict=True)
    ]  # fmt: skip
    total = sum_(mul(rows, _conjugate(others)), axis=(1,), keepdims=False)
    return _conjugate(total) if adjoint_a else total


def _matrix_rule(g, a_indices, a_values, *, a_shape, adjoint_a, adjoint_b):
    found = sparse_matmul(
        a_indices, a_values, g, a_shape=a_shape, adjoint_a=not adjoint_a, adjoint_b=False
    )
    return _adjoint(found) if adjoint_b else found


def _matmul_tangent(tangents, inputs, out, attrs):
    indices, values, b = inputs
    total = None
    if tangents[1] is not None:
        total = sparse_matmul(indices, tangents[1], b, **attrs)
    if tangents[2] is not None:
        term = sparse_matmul(indices, values, tangents[2], **attrs)
        total = term if total is None else add(total, term)
    return total


def _batch_matmul(op, values, flags, attrs):
    """One product with the matrices of the batch as blocks along a diagonal."""
    indices, elements, b = all_batched(values, flags)
    count, per = shape_of(elements)
    if attrs["adjoint_b"]:
        b = _conjugate(transpose_row(b, perm=(0, 2, 1)))
    rows, columns = attrs["a_shape"]
    starts = np.arange(count)[:, None, None] * np.array([rows, columns])
    indices = add(indices, starts.astype(dtype_of(indices)))
    _, inner, width = shape_of(b)
    total = op.call(
        reshape(indices, shape=(count * per, 2)),
        reshape(elements, shape=(count * per,)),
        reshape(b, shape=(count * inner, width)),
        a_shape=(count * rows, count * columns),
        adjoint_a=attrs["adjoint_a"],
        adjoint_b=False,
    )
    return reshape(total, shape=(count, columns if attrs["adjoint_a"] else rows, width))


sparse_matmul = opaque(
    "SparseTensorDenseMatMul",
    _matmul,
    inputs="a_indices a_values b",
    infer=_infer_matmul,
    vjp={"a_values": _values_rule, "b": _matrix_rule},
    jvp=_matmul_tangent,
    batch=_batch_matmul,
    holomorphic=False,
    raw="a_indices, a_values, a_shape, b, adjoint_a=False, adjoint_b=False",
)


# The dense tensor ---------------------------------------------------------------------------------


def _infer_to_dense(
    sparse_indices, sparse_values, default_value, *, output_shape, validate_indices
):
    check_index_dtype("SparseToDense", sparse_indices.dtype)
    if len(sparse_indices.shape) != 2 or sparse_indices.shape[1] != len(output_shape):
        raise invalid_argument(
            "SparseToDense",
            f"output_shape has incorrect number of elements: {len(output_shape)} should be: "
            f"{sparse_indices.shape[-1] if sparse_indices.shape else 1}",
        )
    if sparse_values.shape not in ((), sparse_indices.shape[:1]):
        raise invalid_argument(
            "SparseToDense",
            f"sparse_values has incorrect shape {words(sparse_values.shape)}, should be [] or "
            f"[{sparse_indices.shape[0]}]",
        )
    if default_value.shape:
        raise invalid_argument("SparseToDense", "default_value should be a scalar.")
    if default_value.dtype != sparse_values.dtype:
        raise invalid_argument(
            "SparseToDense",
            f"default_value is of {default_value.dtype}, the values of {sparse_values.dtype}",
        )
    return Spec(output_shape, sparse_values.dtype)


def _check_order(places):
    """Raises unless places are in strictly ascending order."""
    later = np.zeros(max(len(places) - 1, 0), bool)
    undecided = ~later
    for column in range(places.shape[1]):
        before, after = places[:-1, column], places[1:, column]
        later |= undecided & (before < after)
        undecided &= before == after
    if later.all():
        return
    bad = int(np.argmin(later))
    shown = f"indices[{bad + 1}] = {words(places[bad + 1])}"
    if undecided[bad]:
        raise invalid_argument("SparseToDense", f"{shown} is repeated")
    raise invalid_argument(
        "SparseToDense",
        f"{shown} is out of order. Many sparse ops require sorted indices.\n    Use "
        "`tf.sparse.reorder` to create a correctly ordered copy.\n\n",
    )


def _to_dense(sparse_indices, sparse_values, default_value, output_shape, validate_indices):
    check_places("SparseToDense", sparse_indices, output_shape)
    if validate_indices:
        _check_order(sparse_indices)
    dense = np.full(output_shape, default_value, sparse_values.dtype)
    dense[tuple(sparse_indices.T)] = sparse_values
    return dense


def _dense_values_rule(g, sparse_indices, sparse_values_shape):
    found = gather_nd_row(g, sparse_indices)
    return found if sparse_values_shape else sum_(found, axis=(0,), keepdims=False)


def _dense_default_rule(g, sparse_indices):
    every = tuple(range(len(shape_of(g))))
    placed = sum_(gather_nd_row(g, sparse_indices), axis=(0,), keepdims=False)
    return sub(sum_(g, axis=every, keepdims=False), placed)


def _batch_to_dense(op, values, flags, attrs):
    indices, elements, default = all_batched(values, flags)
    count, per = shape_of(indices)[:2]
    if len(shape_of(elements)) == 1:
        elements = broadcast_to(reshape(elements, shape=(count, 1)), shape=(count, per))
    flat = reshape(with_batch_coordinate(indices), shape=(count * per, shape_of(indices)[2] + 1))
    elements = reshape(elements, shape=(count * per,))
    zero = np.zeros((), dtype_of(elements))[()]
    attrs = {**attrs, "output_shape": (count, *attrs["output_shape"])}
    dense = op.call(flat, elements, zero, **attrs)
    ones = np.ones(count * per, np.int32)
    filled = not_equal(op.call(flat, ones, np.int32(0), **attrs), np.int32(0))
    rank = len(attrs["output_shape"])
    return select(filled, dense, reshape(default, shape=(count,) + (1,) * (rank - 1)))


to_dense_row = opaque(
    "SparseToDense",
    _to_dense,
    inputs="sparse_indices sparse_values default_value",
    infer=_infer_to_dense,
    vjp={"sparse_values": _dense_values_rule, "default_value": _dense_default_rule},
    batch=_batch_to_dense,
    holomorphic=False,
    raw="sparse_indices, output_shape, sparse_values, default_value, validate_indices=True",
)
