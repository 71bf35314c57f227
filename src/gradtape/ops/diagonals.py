"""Diagonals and bands of matrices."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import EagerTensor
from .broadcasting import broadcast_to, not_allowed, words
from .families import linear, opaque, shape_of
from .identity import stop_gradient_row
from .joining import all_batched
from .pointwise import dtype_mismatch
from .selection import select, zero_of

_ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")

# Where diagonals lie ------------------------------------------------------------------------------


def _length(rows, columns, d):
    """The length of one diagonal, counted upwards from the main one."""
    return max(min(rows + min(d, 0), columns - max(d, 0)), 0)


def _places(shape, k, align):
    """For each diagonal from the highest, where it lies in packed form and in flat matrices.

    Yields:
        Its row in packed form, the slice of that row, and the slice of the flattened matrix.
    """
    rows, columns = shape[-2:]
    lower, upper = k
    longest = _longest(rows, columns, k)
    above, below = align.split("_")
    for i, d in enumerate(range(upper, lower - 1, -1)):
        length = _length(rows, columns, d)
        begin = longest - length if (above if d >= 0 else below) == "RIGHT" else 0
        first = max(d, 0) + max(-d, 0) * columns
        stop = first + length * (columns + 1)
        yield i, slice(begin, begin + length), slice(first, stop, columns + 1)


def _longest(rows, columns, k):
    lower, upper = k
    return _length(rows, columns, min(max(0, lower), upper))


def _packed_shape(shape, k):
    """The shape of the diagonals of matrices: of one a vector, of several a row for each."""
    longest = _longest(shape[-2], shape[-1], k)
    count = k[1] - k[0] + 1
    return (*shape[:-2], longest) if count == 1 else (*shape[:-2], count, longest)


def _rows_of(diagonals, k):
    """Packed diagonals as one row for each, also where there is but one."""
    count = k[1] - k[0] + 1
    return diagonals[..., None, :] if count == 1 else diagonals


def _check_align(name, align):
    if align not in _ALIGNMENTS:
        allowed = ", ".join([f'"{each}"' for each in _ALIGNMENTS])
        raise invalid_argument(
            name,
            f"Value for attr 'align' of \"{align}\" is not in the list of allowed values: "
            f"{allowed}",
        )


def _diagonal_range(name, k):
    """The lowest and highest diagonal that an argument `k` means."""
    if type(k) is int:
        return k, k
    given = np.asarray(convert_to_tensor(k, dtypes.int32)).reshape(-1).tolist()
    if len(given) not in (1, 2):
        raise invalid_argument(
            name, f"diag_index must have only one or two elements, received {len(given)} elements."
        )
    if given[0] > given[-1]:
        raise invalid_argument(
            name,
            f"lower_diag_index must not be larger than upper_diag_index: {given[0]} > {given[-1]}",
        )
    return given[0], given[-1]


def _check_inside(name, shape, k):
    """Raises TensorFlow's errors for what are not matrices, or do not have such diagonals."""
    if len(shape) < 2:
        raise invalid_argument(
            name, f"input must be at least 2-dim, received shape: {words(shape)}"
        )
    rows, columns = shape[-2:]
    for which, index in (("lower", k[0]), ("upper", k[1])):
        if index and not -rows < index < columns:
            raise invalid_argument(
                name,
                f"{which}_diag_index is out of bound: {index}. It must be between {-rows} and "
                f"{columns}",
            )


def _check_dtype(name, dtype):
    if dtype.kind == "O":
        raise not_allowed(name, dtype, dtypes.NUMERIC | dtypes.BOOL)


# Diagonals out of matrices ------------------------------------------------------------------------


def _infer_diag_part(input, *, k, align):
    _check_dtype("MatrixDiagPartV3", input.dtype)
    _check_align("MatrixDiagPartV3", align)
    _check_inside("MatrixDiagPartV3", input.shape, k)
    return Spec(_packed_shape(input.shape, k), input.dtype)


def _diag_part(input, k, align):
    shape = input.shape
    if k[0] == k[1]:
        return np.diagonal(input, k[0], -2, -1)
    flat = input.reshape(*shape[:-2], shape[-2] * shape[-1])
    packed = np.zeros(_packed_shape(shape, k), input.dtype)
    for i, inside, place in _places(shape, k, align):
        packed[..., i, inside] = flat[..., place]
    return packed


def _raw_diag_part(input, k, padding_value, align="RIGHT_LEFT", name=None):
    return diag_part(input, k=k, padding_value=padding_value, align=align)


diag_part_row = linear(
    "MatrixDiagPartV3",
    _diag_part,
    inputs="input",
    infer=_infer_diag_part,
    transpose=lambda g, input_shape, *, k, align: diag_row(
        g, k=k, num_rows=input_shape[-2], num_cols=input_shape[-1], align=align
    ),
    batch=lambda op, values, flags, attrs: op.call(values[0], **attrs),
    raw=_raw_diag_part,
)


@export("linalg.diag_part")
def diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):
    """The diagonals of matrices.

    Args:
        input: matrices.
        k: which diagonal, counted upwards from the main one; or the lowest and highest of several.
        padding_value: what fills up the shorter of several diagonals.
        align: on which side those above and those below the main diagonal are aligned.

    Raises:
        InvalidArgumentError: there are no such diagonals, or these are not matrices.
    """
    x = operand(input)
    k = _diagonal_range("MatrixDiagPartV3", k)
    packed = apply(diag_part_row.op, (x,), {"k": k, "align": align})
    padding = _padding(padding_value, packed)
    if padding is None:
        return packed
    shape = x._value.shape[-2:]
    is_inside = np.zeros((k[1] - k[0] + 1, _longest(shape[0], shape[1], k)), bool)
    for i, inside, _ in _places(shape, k, align):
        is_inside[i, inside] = True
    if is_inside.all():
        return packed
    return select(EagerTensor(is_inside), packed, padding)


def _padding(padding_value, like):
    """What fills up, as a tensor without gradient; None if that is zero, as it is anyway."""
    if type(padding_value) is int and padding_value == 0 and not like.dtype.is_bool:
        return None
    return stop_gradient_row(convert_to_tensor(padding_value, like.dtype))


# Matrices out of diagonals ------------------------------------------------------------------------


def _infer_diag(diagonal, *, k, num_rows, num_cols, align):
    _check_dtype("MatrixDiagV3", diagonal.dtype)
    _check_align("MatrixDiagV3", align)
    lead = diagonal.shape[: -1 if k[0] == k[1] else -2]
    return Spec((*lead, num_rows, num_cols), diagonal.dtype)


def _diag(diagonal, k, num_rows, num_cols, align):
    packed = _rows_of(diagonal, k)
    lead = packed.shape[:-2]
    flat = np.zeros((*lead, num_rows * num_cols), diagonal.dtype)
    for i, inside, place in _places((num_rows, num_cols), k, align):
        flat[..., place] = packed[..., i, inside]
    return flat.reshape(*lead, num_rows, num_cols)


def _raw_diag(diagonal, k, num_rows, num_cols, padding_value, align="RIGHT_LEFT", name=None):
    return diag(
        diagonal, k=k, num_rows=num_rows, num_cols=num_cols, padding_value=padding_value,
        align=align,
    )  # fmt: skip


diag_row = linear(
    "MatrixDiagV3",
    _diag,
    inputs="diagonal",
    infer=_infer_diag,
    transpose=lambda g, *, k, align: diag_part_row(g, k=k, align=align),
    batch=lambda op, values, flags, attrs: op.call(values[0], **attrs),
    raw=_raw_diag,
)


@export("linalg.diag")
def diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    """Matrices with given diagonals.

    Args:
        diagonal: vectors; where `k` means several diagonals, a row for each from the highest.
        k: which diagonal, counted upwards from the main one; or the lowest and highest of several.
        num_rows: the number of rows; by default as few as hold the diagonals.
        num_cols: the number of columns, likewise.
        padding_value: what stands elsewhere.
        align: on which side the shorter diagonals above and below the main one are aligned.

    Raises:
        InvalidArgumentError: these diagonals do not make up a matrix of that size.
    """
    x = operand(diagonal)
    k = _diagonal_range("MatrixDiagV3", k)
    rows, columns = _size_of(x._value.shape, k, _scalar(num_rows), _scalar(num_cols))
    attrs = {"k": k, "num_rows": rows, "num_cols": columns, "align": align}
    padding = _padding(padding_value, x)
    matrices = apply(diag_row.op, (x,), attrs)
    if padding is None:
        return matrices
    return select(EagerTensor(_band(rows, columns, *k)), matrices, padding)


def _scalar(number):
    if type(number) is int:
        return number
    return int(np.asarray(convert_to_tensor(number, dtypes.int32)).reshape(()))


def _size_of(shape, k, rows, columns):
    """The size of the matrix in which packed diagonals lie."""
    name = "MatrixDiagV3"
    if not shape:
        raise invalid_argument(
            name, f"diagonal must be at least 1-dim, received shape: {words(shape)}"
        )
    lower, upper = k
    if lower != upper and (len(shape) < 2 or shape[-2] != upper - lower + 1):
        raise invalid_argument(
            name,
            "The number of diagonals provided in the input does not match the lower_diag_index "
            "and upper_diag_index range.",
        )
    longest = shape[-1]
    least_rows, least_columns = longest - min(upper, 0), longest + max(lower, 0)
    for size, least, what in ((rows, least_rows, "rows"), (columns, least_columns, "columns")):
        if size != -1 and size < least:
            raise invalid_argument(name, f"The number of {what} is too small.")
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    if rows != least_rows and columns != least_columns:
        raise invalid_argument(
            name,
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, "
            "and diagonal.",
        )
    return rows, columns


# Diagonals put into matrices ----------------------------------------------------------------------


def _infer_set_diag(input, diagonal, *, k, align):
    name = "MatrixSetDiagV3"
    _check_dtype(name, input.dtype)
    if input.dtype != diagonal.dtype:
        raise dtype_mismatch(name, 1, input.dtype, diagonal.dtype)
    _check_align(name, align)
    _check_inside(name, input.shape, k)
    count = k[1] - k[0] + 1
    if not diagonal.shape:
        raise invalid_argument(name, "diagonal must be at least 1-dim, received shape: []")
    if count > 1 and (len(diagonal.shape) < 2 or diagonal.shape[-2] != count):
        raise invalid_argument(
            name,
            "The number of diagonals provided in `diag` is not consistent with `lower_diag_index` "
            "and `upper_diag_index`",
        )
    expected = _packed_shape(input.shape, k)
    if diagonal.shape != expected:
        raise invalid_argument(
            name,
            "Either first dimensions of diagonal don't match input.shape[:-2], or "
            "diagonal.shape[:-1] is not equal to the longests diagonal in range "
            f"[lower_diag_index:upper_diag_index].\nInput shape: {words(input.shape)}\n"
            f"Diagonal shape: {words(diagonal.shape)}\nExpected diagonal shape: {words(expected)}",
        )
    return Spec(input.shape, input.dtype)


def _set_diag(input, diagonal, k, align):
    shape = input.shape
    # Always a new array in C order: only such a one can be written to in flat form.
    matrices = np.array(input, order="C")
    flat = matrices.reshape(*shape[:-2], shape[-2] * shape[-1])
    packed = _rows_of(diagonal, k)
    for i, inside, place in _places(shape, k, align):
        flat[..., place] = packed[..., i, inside]
    return matrices


def _without_diagonals(g, *, k, align):
    shape = _packed_shape(shape_of(g), k)
    return set_diag_row(g, broadcast_to(zero_of(g), shape=shape), k=k, align=align)


def _set_diag_jvp(tangents, inputs, out, attrs):
    filled = [
        broadcast_to(zero_of(x), shape=shape_of(x)) if t is None else t
        for t, x in zip(tangents, inputs, strict=True)
    ]
    return set_diag_row(*filled, **attrs)


def _raw_set_diag(input, diagonal, k, align="RIGHT_LEFT", name=None):
    return set_diag(input, diagonal, k=k, align=align)


set_diag_row = opaque(
    "MatrixSetDiagV3",
    _set_diag,
    inputs="input diagonal",
    infer=_infer_set_diag,
    vjp={
        "input": _without_diagonals,
        "diagonal": lambda g, *, k, align: diag_part_row(g, k=k, align=align),
    },
    jvp=_set_diag_jvp,
    batch=lambda op, values, flags, attrs: op.call(*all_batched(values, flags), **attrs),
    holomorphic=False,
    raw=_raw_set_diag,
)


@export("linalg.set_diag")
def set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT"):
    """Matrices with some diagonals replaced.

    Args:
        input: matrices.
        diagonal: the new diagonals; where `k` means several, a row for each from the highest.
        k: which diagonal, counted upwards from the main one; or the lowest and highest of several.
        align: on which side the shorter diagonals above and below the main one are aligned.

    Raises:
        InvalidArgumentError: there are no such diagonals, or they have other lengths.
    """
    x = operand(input)
    attrs = {"k": _diagonal_range("MatrixSetDiagV3", k), "align": align}
    return apply(set_diag_row.op, (x, operand(diagonal, x)), attrs)


# Bands --------------------------------------------------------------------------------------------


def _infer_band_part(input, *, num_lower, num_upper):
    name, shape = "MatrixBandPart", input.shape
    _check_dtype(name, input.dtype)
    if len(shape) < 2:
        raise invalid_argument(
            name, f"input must be at least 2-dim, received shape: {words(shape)}"
        )
    for which, number, size, of in (
        ("num_lower", num_lower, shape[-2], "rows"),
        ("num_upper", num_upper, shape[-1], "columns"),
    ):
        if number > size:
            raise invalid_argument(
                name,
                f"{which} must be negative or less or equal to number of {of} ({size}) got: "
                f"{number}",
            )
    return Spec(shape, input.dtype)


def _band(rows, columns, lowest, highest):
    """Which elements of a matrix lie on one of these diagonals."""
    band = np.tri(rows, columns, highest, bool)
    if lowest > -rows:
        band &= ~np.tri(rows, columns, lowest - 1, bool)
    return band


def _band_part(input, num_lower, num_upper):
    rows, columns = input.shape[-2:]
    lowest = -rows if num_lower < 0 else -num_lower
    highest = columns if num_upper < 0 else num_upper
    return np.where(_band(rows, columns, lowest, highest), input, input.dtype.type(0))


band_part_row = linear(
    "MatrixBandPart",
    _band_part,
    inputs="input",
    infer=_infer_band_part,
    transpose=lambda g, *, num_lower, num_upper: band_part_row(
        g, num_lower=num_lower, num_upper=num_upper
    ),
    batch=lambda op, values, flags, attrs: op.call(values[0], **attrs),
)


@export("linalg.band_part")
def band_part(input, num_lower, num_upper, name=None):
    """Matrices with zeros outside of a band around the main diagonal.

    Args:
        input: matrices.
        num_lower: how many diagonals below the main one to keep; all of them if negative.
        num_upper: how many above, likewise.

    Raises:
        InvalidArgumentError: these are more than there are, or the input has no matrices.
    """
    attrs = {
        "num_lower": _number_of_diagonals("num_lower", num_lower),
        "num_upper": _number_of_diagonals("num_upper", num_upper),
    }
    return apply(band_part_row.op, (operand(input),), attrs)


def _number_of_diagonals(which, number):
    tensor = convert_to_tensor(number, dtype_hint=dtypes.int64)
    value = np.asarray(tensor)
    if value.dtype.kind not in "iu":
        convert_to_tensor(number, dtypes.int64)  # raises TensorFlow's error
    if value.shape:
        raise invalid_argument(
            "MatrixBandPart", f"{which} must be scalar, got shape {words(value.shape)}"
        )
    return max(int(value), -1)
