"""What ops on matrices share: their checks, and products and adjoints that rules are made of."""

import functools

from ..core import dtypes
from ..core.errors import invalid_argument
from ..core.op import Spec
from .arithmetic import sub
from .broadcasting import not_allowed, reshape, working_dtype
from .casting import cast_row
from .contraction import batch_matmul_row
from .elementwise import conj
from .families import dtype_of, shape_of
from .joining import all_batched
from .manipulation import transpose_row
from .pointwise import dtype_mismatch
from .slicing import EVERYTHING, strided_slice_row

# What most decompositions and solvers take.
ACCEPTS = dtypes.numpy_set(
    dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128
)


def check_matrices(name, input, accepts=ACCEPTS):
    """Raises TensorFlow's errors for what are not matrices of an accepted dtype."""
    if input.dtype not in accepts:
        raise not_allowed(name, input.dtype, accepts)
    if len(input.shape) < 2:
        raise invalid_argument(name, f"Input tensor 0 must have rank >= 2, got {len(input.shape)}")


def check_square(name, input, accepts=ACCEPTS):
    """Likewise for what are not square matrices."""
    check_matrices(name, input, accepts)
    if input.shape[-1] != input.shape[-2]:
        raise invalid_argument(name, "Input matrix must be square.")


def infer_square(name, accepts=ACCEPTS):
    """The inference rule of an op from square matrices to such of the same size."""

    def infer(input, **attrs):
        check_square(name, input, accepts)
        return Spec(input.shape, input.dtype)

    return infer


def check_same_dtype(name, first, second):
    """Raises TensorFlow's error for two inputs of different dtypes."""
    if first.dtype != second.dtype:
        raise dtype_mismatch(name, 1, first.dtype, second.dtype)


def in_working_precision(kernel):
    """A kernel on float16 too: LAPACK begins at float32."""

    @functools.wraps(kernel)
    def widened(*values, **attrs):
        dtype = values[0].dtype
        working = working_dtype(dtype)
        if working is dtype:
            return kernel(*values, **attrs)
        out = kernel(*[x.astype(working) for x in values], **attrs)
        if isinstance(out, tuple):
            return tuple([x.astype(dtype) if x.dtype == working else x for x in out])
        return out.astype(dtype)

    return widened


def batch_leading(op, values, flags, attrs):
    """The batch rule of an op whose leading axes are a batch already."""
    return op.call(*all_batched(values, flags), **attrs)


def times(a, b, adjoint_a=False, adjoint_b=False):
    """The product of matrices; of their adjoints where that is said."""
    a = conj(a) if adjoint_a and dtype_of(a).kind == "c" else a
    b = conj(b) if adjoint_b and dtype_of(b).kind == "c" else b
    return batch_matmul_row(a, b, transpose_a=adjoint_a, transpose_b=adjoint_b)


def transposed(x):
    """Matrices with rows and columns swapped."""
    rank = len(shape_of(x))
    return transpose_row(x, perm=(*range(rank - 2), rank - 1, rank - 2))


def adjoint_of(x):
    """The conjugate transpose of matrices."""
    swapped = transposed(x)
    return conj(swapped) if dtype_of(x).kind == "c" else swapped


def per_matrix(x, like=None):
    """A number for each matrix, shaped to scale it; in the dtype of `like` if that is given."""
    x = reshape(x, shape=(*shape_of(x), 1, 1))
    if like is not None and dtype_of(x) != dtype_of(like):
        x = cast_row(x, dtype=dtype_of(like))
    return x


def per_column(x, like):
    """A vector for each matrix, as one row in the dtype of `like`: it scales columns."""
    shape = shape_of(x)
    x = reshape(x, shape=(*shape[:-1], 1, shape[-1]))
    return x if dtype_of(x) == dtype_of(like) else cast_row(x, dtype=dtype_of(like))


def per_row(x, like):
    """Likewise as one column, which scales rows."""
    shape = shape_of(x)
    return reshape(per_column(x, like), shape=(*shape, 1))


def columns_of(x, start, stop):
    """Some columns of matrices."""
    return strided_slice_row(x, key=(Ellipsis, EVERYTHING, (start, stop, None)))


def without_complement(g, basis, count):
    """The first vectors of a square orthonormal basis, and the gradient by them alone.

    One further vector is determined by them, but for its sign, and its gradient falls on them.

    Raises:
        NotImplementedError: more than one vector is left, which are arbitrary.
    """
    size = shape_of(basis)[-1]
    if size == count:
        return g, basis
    if size > count + 1:
        raise NotImplementedError(
            f"There is no gradient by the {size - count} vectors that fill up an orthonormal "
            "basis: they are arbitrary. Use full_matrices=False."
        )
    kept, last = columns_of(basis, 0, count), columns_of(basis, count, size)
    along = times(columns_of(g, count, size), kept, adjoint_a=True)
    return sub(columns_of(g, 0, count), times(last, along)), kept
