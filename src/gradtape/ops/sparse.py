"""The structure of sparse tensors: making, sorting, joining and cutting them.

Places are plain integers that are computed with at once; only the values pass through ops, so that
gradients reach them.
"""

import math

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.indexed_slices import IndexedSlices
from ..core.sparse_tensor import SparseTensor, SparseTensorSpec
from ..core.tensor import EagerTensor
from .arguments import integer, integers
from .broadcasting import words
from .identity import stop_gradient
from .indexing import gather_nd, gather_row
from .joining import concat as concat_tensors
from .sparse_rows import check_places, sparse_matmul, to_dense_row

_INT64 = np.dtype(np.int64)

export("SparseTensor sparse.SparseTensor", SparseTensor)
export("SparseTensorSpec", SparseTensorSpec)


def as_sparse(value):
    """`value` as a sparse tensor.

    Raises:
        TypeError: it is none.
    """
    if isinstance(value, SparseTensor):
        return value
    if hasattr(value, "dense_shape") and not isinstance(value, IndexedSlices):
        return SparseTensor.from_value(value)
    raise TypeError(f"Input must be a SparseTensor. Received: {value!r}.")


def sparse_of(places, values, sizes):
    """A sparse tensor from an array of places, a tensor of values and a shape."""
    places = np.asarray(places, _INT64).reshape(-1, len(sizes))
    return SparseTensor(EagerTensor(places), values, EagerTensor(np.array(sizes, _INT64)))


def take(values, positions):
    """The values at some positions, with a dense gradient."""
    return apply(
        gather_row.op, (values, EagerTensor(np.asarray(positions, _INT64))),
        {"axis": -1, "batch_dims": 0},
    )  # fmt: skip


def numbers_of(places, sizes):
    """The position of each place among all elements of a tensor, row after row."""
    strides = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    return places @ np.array(strides, _INT64)


def places_of(numbers, sizes):
    """The inverse of `numbers_of`."""
    if not len(sizes):
        return np.zeros((len(numbers), 0), _INT64)
    if not len(numbers):
        return np.zeros((0, len(sizes)), _INT64)
    return np.stack(np.unravel_index(numbers, sizes), 1).astype(_INT64)


def axis_of(axis, rank, op_name):
    """An axis as a number from 0 to `rank` - 1."""
    axis = integer(axis, op_name)
    if not -rank <= axis < rank:
        raise invalid_argument(op_name, f"axis {axis} is not in [{-rank}, {rank})")
    return axis % rank


@export("sparse.from_dense")
def from_dense(tensor, name=None):
    """The elements of a tensor that are not zero (not empty, for strings)."""
    tensor = operand(tensor)
    array = np.asarray(tensor._value)
    places = np.argwhere(array != (b"" if tensor.dtype is dtypes.string else 0))
    values = gather_nd(tensor, EagerTensor(places)) if array.ndim else tensor
    return sparse_of(places, values, array.shape)


@export("sparse.to_dense")
def to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """The dense tensor.

    Args:
        sp_input: the sparse tensor.
        default_value: the element where there is none; 0, or "" for strings, if None.
        validate_indices: whether indices must be in order and without repetition.

    Raises:
        InvalidArgumentError: they are not, or they lie outside of the shape.
    """
    sp_input = as_sparse(sp_input)
    dtype = sp_input.dtype
    if default_value is None:
        default_value = b"" if dtype is dtypes.string else dtype.numpy_dtype.type(0)
    inputs = (sp_input.indices, sp_input.values, convert_to_tensor(default_value, dtype))
    attrs = {"output_shape": sp_input._sizes, "validate_indices": bool(validate_indices)}
    return apply(to_dense_row.op, inputs, attrs)


@export("sparse.sparse_dense_matmul")
def sparse_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """The product of a sparse and a dense matrix, in either order.

    Args:
        sp_a: the left matrix.
        b: the right matrix; one of both is a SparseTensor.
        adjoint_a: whether to transpose and conjugate the left one first.
        adjoint_b: likewise the right one.

    Raises:
        InvalidArgumentError: they are not matrices of matching sizes.
    """
    if isinstance(b, SparseTensor):
        if isinstance(sp_a, SparseTensor):
            raise TypeError("One of `sp_a` and `b` must be dense.")
        swapped = sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
        from .manipulation import transpose

        return transpose(swapped, conjugate=swapped.dtype.is_complex)
    sp_a = as_sparse(sp_a)
    attrs = {"a_shape": sp_a._sizes, "adjoint_a": bool(adjoint_a), "adjoint_b": bool(adjoint_b)}
    return apply(sparse_matmul.op, (sp_a.indices, sp_a.values, operand(b, sp_a.values)), attrs)


@export("sparse.eye")
def eye(num_rows, num_columns=None, dtype=dtypes.float32, name=None):
    """A sparse matrix with ones on its diagonal."""
    rows = integer(num_rows, "SparseEye")
    columns = rows if num_columns is None else integer(num_columns, "SparseEye")
    steps = np.arange(min(rows, columns))
    ones = np.ones(len(steps), dtypes.as_dtype(dtype).numpy_dtype)
    return sparse_of(np.stack([steps, steps], 1), EagerTensor(ones), (rows, columns))


@export("sparse.reorder")
def reorder(sp_input, name=None):
    """The same elements with their places in lexicographic order."""
    sp_input = as_sparse(sp_input)
    places = sp_input._places
    check_places("SparseReorder", places, sp_input._sizes)
    order = np.lexsort(places.T[::-1]) if places.shape[1] else np.arange(len(places))
    return sparse_of(places[order], take(sp_input.values, order), sp_input._sizes)


@export("sparse.transpose")
def transpose(sp_input, perm=None, name=None):
    """The axes in another order; reversed if `perm` is None."""
    sp_input = as_sparse(sp_input)
    rank = len(sp_input._sizes)
    perm = range(rank)[::-1] if perm is None else integers(perm, "SparseTranspose", "Tperm")
    order = [int(axis) for axis in perm]
    if sorted(order) != list(range(rank)):
        raise invalid_argument("SparseTranspose", f"{words(order)} is no permutation of {rank}")
    sizes = tuple([sp_input._sizes[axis] for axis in order])
    return reorder(sparse_of(sp_input._places[:, order], sp_input.values, sizes))


@export("sparse.reshape")
def reshape(sp_input, shape, name=None):
    """Another shape of the same number of elements, of which one size may be -1.

    Raises:
        InvalidArgumentError: the number of elements differs.
    """
    sp_input = as_sparse(sp_input)
    sizes, goal = sp_input._sizes, integers(shape, "SparseReshape", "Tshape").tolist()
    total = math.prod(sizes)
    if goal.count(-1) > 1:
        raise invalid_argument("SparseReshape", "only one output dimension may be -1")
    if -1 in goal:
        missing = goal.index(-1)
        rest = math.prod([size for size in goal if size != -1])
        if not rest or total % rest:
            goal[missing] = 1
            raise invalid_argument(
                "SparseReshape",
                f"Input to reshape is a SparseTensor with {total} dense values, but the requested "
                f"shape requires a multiple of {rest}. input_shape={words(sizes)} "
                f"output_shape={words(goal)}",
            )
        goal[missing] = total // rest
    if math.prod(goal) != total:
        raise invalid_argument(
            "SparseReshape",
            f"Input to reshape is a tensor with {total} dense values, but the requested shape has "
            f"{math.prod(goal)}. input_shape={words(sizes)} output_shape={words(goal)}",
        )
    places = places_of(numbers_of(sp_input._places, sizes), tuple(goal))
    return sparse_of(places, sp_input.values, goal)


@export("sparse.expand_dims")
def expand_dims(sp_input, axis=None, name=None):
    """One more axis of length 1, the last if `axis` is None."""
    sp_input = as_sparse(sp_input)
    rank = len(sp_input._sizes)
    axis = -1 if axis is None else integer(axis, "ExpandDims")
    if not -rank - 1 <= axis <= rank:
        raise ValueError(f"axis {axis} is not in [{-rank - 1}, {rank}]")
    axis %= rank + 1
    sizes = (*sp_input._sizes[:axis], 1, *sp_input._sizes[axis:])
    return sparse_of(np.insert(sp_input._places, axis, 0, 1), sp_input.values, sizes)


@export("sparse.concat")
def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Sparse tensors one after the other along an axis; gradients end here.

    Args:
        axis: the axis.
        sp_inputs: the sparse tensors.
        expand_nonconcat_dims: whether other axes may differ; the longest counts.

    Raises:
        InvalidArgumentError: the shapes do not agree.
    """
    inputs = [as_sparse(each) for each in sp_inputs] if _is_sequence(sp_inputs) else [sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    sizes = [list(each._sizes) for each in inputs]
    axis = axis_of(axis, len(sizes[0]), "SparseConcat")
    for i, own in enumerate(sizes):
        if len(own) != len(sizes[0]):
            raise invalid_argument(
                "SparseConcat",
                f"Ranks of all input tensors must match: expected {len(sizes[0])} but got "
                f"{len(own)} at position {i}",
            )
    result = [max(column) for column in zip(*sizes, strict=True)]
    for i, own in enumerate(sizes if not expand_nonconcat_dims else ()):
        for d, size in enumerate(own):
            if d != axis and size != sizes[0][d]:
                raise invalid_argument(
                    "SparseConcat",
                    f"Input shapes must match: expected {sizes[0][d]} for dimension {d} but got "
                    f"{size} at position {i}",
                )
    moved, start = [], 0
    for each, own in zip(inputs, sizes, strict=True):
        places = each._places.copy()
        places[:, axis] += start
        start += own[axis]
        moved.append(places)
    result[axis] = start
    values = stop_gradient(concat_tensors([each.values for each in inputs], 0))
    return reorder(sparse_of(np.concatenate(moved), values, result))


def _is_sequence(value):
    return isinstance(value, (list, tuple))


@export("sparse.split")
def split(sp_input=None, num_split=None, axis=None, name=None):
    """Cuts along an axis into `num_split` parts, of which the first may be longer by one."""
    for value, what in ((num_split, "num_split"), (axis, "axis"), (sp_input, "sp_input")):
        if value is None:
            raise ValueError(f"{what} is required.")
    sp_input = as_sparse(sp_input)
    sizes = sp_input._sizes
    axis = axis_of(axis, len(sizes), "SparseSplit")
    count = integer(num_split, "SparseSplit")
    if not 1 <= count <= sizes[axis]:
        raise invalid_argument(
            "SparseSplit",
            f"Argument num_split must be in [1, {sizes[axis]}] but got: {count}",
        )
    least, longer = divmod(sizes[axis], count)
    parts, start = [], 0
    for i in range(count):
        length = least + (i < longer)
        size = [*sizes[:axis], length, *sizes[axis + 1 :]]
        begin = [0] * len(sizes)
        begin[axis] = start
        parts.append(slice_(sp_input, begin, size))
        start += length
    return parts


@export("sparse.slice")
def slice_(sp_input, start, size, name=None):
    """The box of `size` that begins at `start`, as far as it lies inside."""
    sp_input = as_sparse(sp_input)
    begin = integers(start, "SparseSlice", "T").astype(_INT64)
    length = integers(size, "SparseSlice", "T").astype(_INT64)
    sizes = np.array(sp_input._sizes, _INT64)
    if begin.shape != sizes.shape or length.shape != sizes.shape:
        raise invalid_argument(
            "SparseSlice",
            f"Expected start and size of length {len(sizes)} but got {begin.size} and "
            f"{length.size}",
        )
    if (length < 0).any() or (begin < 0).any():
        raise invalid_argument("SparseSlice", "start and size must not be negative")
    places = sp_input._places
    kept = np.flatnonzero(((places >= begin) & (places < begin + length)).all(1))
    goal = np.clip(sizes - begin, 0, length)
    return sparse_of(places[kept] - begin, take(sp_input.values, kept), goal.tolist())


@export("sparse.retain")
def retain(sp_input, to_retain):
    """Only the elements for which a vector of bools says so."""
    sp_input = as_sparse(sp_input)
    kept = np.asarray(convert_to_tensor(to_retain, dtypes.bool_)._value)
    if kept.shape != (len(sp_input._places),):
        raise ValueError(f"Dimensions {len(sp_input._places)} and {kept.size} are not compatible")
    chosen = np.flatnonzero(kept)
    return sparse_of(sp_input._places[chosen], take(sp_input.values, chosen), sp_input._sizes)


@export("sparse.reset_shape")
def reset_shape(sp_input, new_shape=None):
    """The same elements in a larger shape, or in the smallest that holds them."""
    sp_input = as_sparse(sp_input)
    places = sp_input._places
    if new_shape is None:
        sizes = places.max(0) + 1 if len(places) else np.zeros(places.shape[1], _INT64)
    else:
        sizes = integers(new_shape, "SparseResetShape", "T")
        if len(sizes) != places.shape[1]:
            raise ValueError(f"Dimensions {places.shape[1]} and {len(sizes)} are not compatible")
        if (sizes < np.array(sp_input._sizes)).any():
            raise ValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape.  Found "
                f"new_shape ({sizes}), sp_input.shape ({np.array(sp_input._sizes)})."
            )
    return sparse_of(places, sp_input.values, sizes.tolist())


@export("sparse.fill_empty_rows")
def fill_empty_rows(sp_input, default_value, name=None):
    """Puts `default_value` into the first column of every row that is empty.

    Returns:
        The filled sparse matrix, and a vector of bools: which rows were empty.
    """
    sp_input = as_sparse(sp_input)
    places, sizes = sp_input._places, sp_input._sizes
    default = convert_to_tensor(default_value, sp_input.dtype)
    if default.ndim:
        raise invalid_argument(
            "SparseFillEmptyRows",
            f"default_value must be a scalar, saw: {words(default.shape)}",
        )
    check_places("SparseFillEmptyRows", places, sizes)
    empty = np.ones(sizes[0], bool)
    empty[places[:, 0]] = False
    added = np.zeros((int(empty.sum()), len(sizes)), _INT64)
    added[:, 0] = np.flatnonzero(empty)
    joined = np.concatenate([places, added])
    order = np.argsort(joined[:, 0], kind="stable")
    from .manipulation import expand_dims as with_axis

    both = concat_tensors([sp_input.values, with_axis(default, 0)], 0)
    positions = np.where(order < len(places), order, len(places))
    return sparse_of(joined[order], take(both, positions), sizes), EagerTensor(empty)


@export("sparse.mask")
def mask(a, mask_indices, name=None):
    """IndexedSlices without the rows whose numbers `mask_indices` lists."""
    from .masks import boolean_mask

    kept = ~np.isin(np.asarray(a.indices._value), np.asarray(convert_to_tensor(mask_indices)))
    return IndexedSlices(boolean_mask(a.values, kept), EagerTensor(a.indices._value[kept]))


@export("sparse.to_indicator")
def to_indicator(sp_input, vocab_size, name=None):
    """A dense tensor of bools: which ids, along a new last axis, occur among the values."""
    sp_input = as_sparse(sp_input)
    if not sp_input.dtype.is_integer:
        raise TypeError(f"sp_input.values must be integers. Received: {sp_input.dtype!r}.")
    size = integer(vocab_size, "SparseToIndicator")
    ids = sp_input.values._value.astype(_INT64)
    places = np.concatenate([sp_input._places[:, :-1], ids[:, None]], 1)
    sizes = (*sp_input._sizes[:-1], size)
    check_places("SparseToDense", places, sizes)
    dense = np.zeros(sizes, bool)
    dense[tuple(places.T)] = True
    return EagerTensor(dense)


@export("sparse.map_values")
def map_values(op, *args, **kwargs):
    """Calls `op` with the values of every sparse argument; they must have the same places."""
    sparse = [x for x in (*args, *kwargs.values()) if isinstance(x, SparseTensor)]
    if not sparse:
        raise ValueError("No SparseTensor in argument list of map_values")
    first = sparse[0]
    for other in sparse[1:]:
        if not np.array_equal(first._places, other._places) or first._sizes != other._sizes:
            raise invalid_argument("map_values", "All sparse tensors must have the same indices")

    def inner(x):
        return x.values if isinstance(x, SparseTensor) else x

    result = op(*[inner(x) for x in args], **{key: inner(x) for key, x in kwargs.items()})
    result = convert_to_tensor(result)
    if result.shape != first.values.shape:
        raise ValueError("map_values: `op` must keep the shape of the values.")
    return first.with_values(result)


def _of_values(op, inputs, attrs):
    (x,) = inputs
    return x.with_values(apply(op, (x.values,), attrs))


for _name in ("Abs", "Cast", "Conj", "Erf", "Neg", "Sign", "Sqrt", "Square", "Tanh"):
    SparseTensor._handlers[_name] = _of_values
