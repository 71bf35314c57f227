"""Matrix products and the contractions built on them."""

import math
import operator

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand, operands
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import Variable
from .broadcasting import not_allowed, reshape, sum_to, with_inner_rank, words, working_dtype
from .casting import cast
from .elementwise import conj_public
from .families import multilinear, shape_of
from .manipulation import expand_dims, transpose
from .pointwise import dtype_mismatch


def _check_dtypes(name, a, b):
    if a.dtype != b.dtype:
        raise dtype_mismatch(name, 1, a.dtype, b.dtype)
    if a.dtype not in dtypes.NUMERIC:
        raise not_allowed(name, a.dtype)


def _size_mismatch(name, a, b):
    return invalid_argument(
        name, f"Matrix size-incompatible: In[0]: {words(a.shape)}, In[1]: {words(b.shape)}"
    )


# Two matrices -------------------------------------------------------------------------------------


def _infer_matmul(a, b, *, transpose_a, transpose_b):
    dtype = a.dtype
    if dtype is not b.dtype or dtype not in dtypes.NUMERIC:
        _check_dtypes("MatMul", a, b)
    shape_a, shape_b = a.shape, b.shape
    if len(shape_a) != 2 or len(shape_b) != 2:
        raise _wrong_rank(shape_a, shape_b)
    rows, inner = shape_a[::-1] if transpose_a else shape_a
    inner_b, columns = shape_b[::-1] if transpose_b else shape_b
    if inner != inner_b:
        raise _size_mismatch("MatMul", a, b)
    return Spec((rows, columns), dtype)


def _wrong_rank(shape_a, shape_b):
    if len(shape_a) != len(shape_b):
        message = f"In[0] and In[1] has different ndims: {words(shape_a)} vs. {words(shape_b)}"
    else:
        message = f"In[0] and In[1] ndims must be == 2: {len(shape_a)}"
    return invalid_argument("MatMul", message)


def _matmul(a, b, transpose_a, transpose_b):
    dtype = a.dtype
    working = working_dtype(dtype)
    if working is not dtype:
        a, b = a.astype(working), b.astype(working)
    product = np.dot(a.T if transpose_a else a, b.T if transpose_b else b)
    return product if working is dtype else product.astype(dtype)


def _gradient_of_a(row, g, b, transpose_a, transpose_b):
    if transpose_a:
        return row(b, g, transpose_a=transpose_b, transpose_b=True)
    return row(g, b, transpose_a=False, transpose_b=not transpose_b)


def _gradient_of_b(row, g, a, transpose_a, transpose_b):
    if transpose_b:
        return row(g, a, transpose_a=True, transpose_b=transpose_a)
    return row(a, g, transpose_a=not transpose_a, transpose_b=False)


def _batch_of_matrices(op, values, flags, attrs):
    a, b = values
    transpose_a, transpose_b = attrs["transpose_a"], attrs["transpose_b"]
    if flags == [False, True] and shape_of(b)[1 if transpose_b else 2] == 1:
        # One matrix times many columns is a single product, with the columns as rows.
        rows = reshape(b, shape=(shape_of(b)[0], math.prod(shape_of(b)[1:])))
        product = matmul_row(rows, a, transpose_a=False, transpose_b=not transpose_a)
        return reshape(product, shape=(*shape_of(product), 1))
    return batch_matmul_row(a, b, **attrs)


matmul_row = multilinear(
    "MatMul",
    _matmul,
    infer=_infer_matmul,
    batch=_batch_of_matrices,
    a=lambda g, b, *, transpose_a, transpose_b: _gradient_of_a(
        matmul_row, g, b, transpose_a, transpose_b
    ),
    b=lambda g, a, *, transpose_a, transpose_b: _gradient_of_b(
        matmul_row, g, a, transpose_a, transpose_b
    ),
    raw="a, b, transpose_a=False, transpose_b=False, grad_a:_=False, grad_b:_=False",
)

# Matrices in leading axes that broadcast ----------------------------------------------------------


def _infer_batch_matmul(a, b, *, transpose_a, transpose_b):
    name = "BatchMatMulV2"
    _check_dtypes(name, a, b)
    for i, x in enumerate((a, b)):
        if len(x.shape) < 2:
            raise invalid_argument(name, f"In[{i}] ndims must be >= 2: {len(x.shape)}")
    rows, inner = a.shape[:-3:-1] if transpose_a else a.shape[-2:]
    inner_b, columns = b.shape[:-3:-1] if transpose_b else b.shape[-2:]
    lead = _common_lead(a, b)
    if inner != inner_b:
        raise _size_mismatch(name, a, b)
    return Spec((*lead, rows, columns), a.dtype)


def _common_lead(a, b):
    lead_a, lead_b = a.shape[:-2], b.shape[:-2]
    if lead_a == lead_b or not lead_b:
        return lead_a
    try:
        return np.broadcast_shapes(lead_a, lead_b)
    except ValueError:
        raise invalid_argument(
            "BatchMatMulV2",
            f"In[0] and In[1] must have compatible batch dimensions: {words(a.shape)} vs. "
            f"{words(b.shape)}",
        ) from None


def _batch_matmul(a, b, transpose_a, transpose_b):
    dtype = a.dtype
    working = working_dtype(dtype)
    if working is not dtype:
        a, b = a.astype(working), b.astype(working)
    if transpose_b:
        b = b.swapaxes(-1, -2)
    if transpose_a:
        a = a.swapaxes(-1, -2)
    if a.shape[-1] == 1:
        # Columns times rows: nothing to sum, and BLAS takes long to start for each of them.
        product = np.einsum("...ik,...kj->...ij", a, b)
    elif transpose_a:
        product = np.matmul(a, b)
    elif b.ndim == 2:
        product = np.dot(_stacked(a), b).reshape((*a.shape[:-1], b.shape[1]))
    else:
        product = np.matmul(a, b)
    return product if working is dtype else product.astype(dtype)


def _stacked(x):
    """Matrices one below the other: many times one is then a single product."""
    shape = shape_of(x)
    return reshape(x, shape=(math.prod(shape[:-1]), shape[-1]))


def _batch_gradient_of_b(g, a, b_shape, *, transpose_a, transpose_b):
    if len(b_shape) == 2 and not transpose_a:
        return _gradient_of_b(matmul_row, _stacked(g), _stacked(a), False, transpose_b)
    return sum_to(_gradient_of_b(batch_matmul_row, g, a, transpose_a, transpose_b), b_shape)


def _batch_of_batches(op, values, flags, attrs):
    ranks = [len(shape_of(x)) - flag for x, flag in zip(values, flags, strict=True)]
    aligned = [
        with_inner_rank(x, max(ranks)) if flag else x for x, flag in zip(values, flags, strict=True)
    ]
    return op.call(*aligned, **attrs)


batch_matmul_row = multilinear(
    "BatchMatMulV2",
    _batch_matmul,
    infer=_infer_batch_matmul,
    batch=_batch_of_batches,
    a=lambda g, b, a_shape, *, transpose_a, transpose_b: sum_to(
        _gradient_of_a(batch_matmul_row, g, b, transpose_a, transpose_b), a_shape
    ),
    b=_batch_gradient_of_b,
    raw=lambda x, y, adj_x=False, adj_y=False, grad_x=False, grad_y=False: apply(
        batch_matmul_row.op,
        tuple(
            [
                conj_public(each) if adjoint else each
                for each, adjoint in zip(operands(x, y), (adj_x, adj_y), strict=True)
            ]
        ),
        {"transpose_a": adj_x, "transpose_b": adj_y},
    ),
)


def _product(a, b, transpose_a, transpose_b):
    """The product of two tensors, by the row that their ranks ask for."""
    few = len(a._value.shape) <= 2 and len(b._value.shape) <= 2
    row = matmul_row if few else batch_matmul_row
    return apply(row.op, (a, b), {"transpose_a": transpose_a, "transpose_b": transpose_b})


@export("matmul linalg.matmul")
def matmul(
    a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False,
    a_is_sparse=False, b_is_sparse=False, output_type=None, grad_a=False, grad_b=False, name=None,
):  # fmt: skip
    """The matrix product, over leading axes that broadcast.

    Args:
        a: a tensor of rank 2 or more; its dtype is what Python and NumPy values for `b` take.
        b: likewise.
        transpose_a: whether to transpose the matrices of `a`; `transpose_b` likewise.
        adjoint_a: whether to conjugate and transpose them; `adjoint_b` likewise.
        output_type: the dtype to multiply in, if not that of the operands.

    Raises:
        ValueError: both transpose and adjoint are asked of one operand.
        InvalidArgumentError: the shapes or dtypes do not go together.
    """
    a = operand(a)
    b = operand(b) if hasattr(b, "_dispatch_level") else convert_to_tensor(b, dtype_hint=a.dtype)
    if adjoint_a or adjoint_b or output_type is not None:
        return _general_matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, output_type)
    return _product(a, b, bool(transpose_a), bool(transpose_b))


def _general_matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, output_type):
    for name, transposed, adjoint in (("a", transpose_a, adjoint_a), ("b", transpose_b, adjoint_b)):
        if transposed and adjoint:
            raise ValueError(
                f"Only one of `transpose_{name}` and `adjoint_{name}` can be True. Received "
                f"`transpose_{name}`={transposed}, `adjoint_{name}`={adjoint}."
            )
    if adjoint_a:
        a = conj_public(a)
    if adjoint_b:
        b = conj_public(b)
    if output_type is not None:
        a, b = cast(a, output_type), cast(b, output_type)
    return _product(a, b, bool(transpose_a or adjoint_a), bool(transpose_b or adjoint_b))


def _reflected_matmul(self, other):
    return matmul(operand(other, self), self)


for _name, _method in {"__matmul__": matmul, "__rmatmul__": _reflected_matmul}.items():
    setattr(Tensor, _name, _method)
    setattr(Variable, _name, _method)


@export("linalg.matvec")
def matvec(
    a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None
):
    """The product of matrices with vectors.

    Args:
        a: matrices.
        b: vectors of the same dtype; leading axes broadcast.
        transpose_a: whether to transpose the matrices.
        adjoint_a: whether to conjugate and transpose them.
    """
    if type(b) is EagerTensor:
        columns = reshape(b, shape=(*b._value.shape, 1))
    else:
        columns = expand_dims(b, -1)
    product = matmul(a, columns, transpose_a=transpose_a, adjoint_a=adjoint_a)
    return reshape(product, shape=shape_of(product)[:-1])


# Tensors ------------------------------------------------------------------------------------------


@export("tensordot linalg.tensordot")
def tensordot(a, b, axes, name=None):
    """Contracts axes of `a` with axes of `b`.

    Args:
        a: a tensor.
        b: a tensor of the same dtype.
        axes: a number N, for the last N axes of `a` with the first N of `b`, or two lists.

    Raises:
        ValueError: `axes` is not of that form, or N is larger than a rank.
        IndexError: there is no such axis.
        InvalidArgumentError: contracted axes differ in length.
    """
    a, b = operand(a), operand(b)
    shape_a, shape_b = a._value.shape, b._value.shape
    axes_a, axes_b = _contracted(axes, len(shape_a), len(shape_b))
    if [shape_a[i] for i in axes_a] != [shape_b[i] for i in axes_b]:
        raise _size_mismatch("MatMul", a._value, b._value)
    free_a = [i for i in range(len(shape_a)) if i not in axes_a]
    free_b = [i for i in range(len(shape_b)) if i not in axes_b]
    product = _product(_matrix(a, free_a, axes_a), _matrix(b, axes_b, free_b), False, False)
    return reshape(
        product, shape=tuple([shape_a[i] for i in free_a] + [shape_b[i] for i in free_b])
    )


def _matrix(x, rows, columns):
    """A tensor made into a matrix: some of its axes become the rows, the others the columns."""
    shape = x._value.shape
    order = rows + columns
    if order != sorted(order):
        x = transpose(x, order)
    sizes = tuple([math.prod([shape[i] for i in axes]) for axes in (rows, columns)])
    return apply(reshape.op, (x,), {"shape": sizes})


def _contracted(axes, rank_a, rank_b):
    """The two lists of contracted axes, not negative."""
    if hasattr(axes, "_dispatch_level"):
        axes = np.asarray(axes)
    if isinstance(axes, (int, np.integer)) or (isinstance(axes, np.ndarray) and not axes.ndim):
        return _last_and_first(operator.index(axes), rank_a, rank_b)
    if not isinstance(axes, (list, tuple, np.ndarray)):
        raise TypeError(f"`axes` must be an integer or two lists of them. Received: {axes!r}.")
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    axes_a, axes_b = _wrapped(axes[0], rank_a), _wrapped(axes[1], rank_b)
    if len(axes_a) != len(axes_b):
        raise ValueError(
            f"Different number of contraction axes `a` and `b`, {len(axes_a)} != {len(axes_b)}."
        )
    return axes_a, axes_b


def _last_and_first(count, rank_a, rank_b):
    if count < 0:
        raise ValueError(f"`axes` must be at least 0. Received: {count}.")
    if count > min(rank_a, rank_b):
        raise ValueError(
            "`axes` must not be larger than the number of dimensions of a tensor. Received "
            f"{count}, vs tensor dimensions {rank_a} and {rank_b}."
        )
    return list(range(rank_a - count, rank_a)), list(range(count))


def _wrapped(axes, rank):
    given = np.asarray(axes)
    if given.size and given.dtype.kind not in "iu":
        raise TypeError(f"`axes` must consist of integers. Received: {axes!r}.")
    listed = given.reshape(-1).tolist()
    for axis in listed:
        if not -rank <= axis < rank:
            raise IndexError(f"There is no axis {axis} in a tensor with {rank} dimensions.")
    wrapped = [axis % rank for axis in listed]
    if len(set(wrapped)) < len(wrapped):
        raise ValueError(f"`axes` must not name an axis twice. Received: {axes!r}.")
    return wrapped
