"""Counting: how often each number occurs, confusion matrices, histograms."""

import math

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.ragged_tensor import RaggedTensor
from ..core.tensor import EagerTensor
from .arguments import integer
from .arithmetic import add, masked, maximum, minimum, mul, sub, true_divide
from .broadcasting import broadcast_to, not_allowed, reshape, sum_, words
from .casting import cast
from .elementwise import is_nan
from .extremes import reduce_max
from .families import opaque, shape_of
from .indexing import check_index_dtype, gather_row
from .joining import all_batched
from .logic import less
from .manipulation import squeeze
from .reduction import reduce_all, reduce_any
from .scatter import unsorted_segment_sum
from .selection import zero_of

_WEIGHTS = dtypes.numpy_set(dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)
_INDICES = dtypes.numpy_set(dtypes.int32, dtypes.int64)

# DenseBincount ------------------------------------------------------------------------------------


def _infer_bincount(input, weights, *, size, binary_output):
    check_index_dtype("DenseBincount", input.dtype, "Tidx", _INDICES)
    if weights.dtype not in _WEIGHTS:
        raise not_allowed("DenseBincount", weights.dtype, _WEIGHTS)
    if len(input.shape) > 2:
        raise invalid_argument(
            "DenseBincount", f"Shape must be at most rank 2 but is rank {len(input.shape)}"
        )
    if weights.shape not in ((0,), input.shape):
        raise invalid_argument(
            "DenseBincount",
            "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it "
            f"acts as all weights equal to 1. Received {words(weights.shape)}",
        )
    if size < 0:
        raise invalid_argument("DenseBincount", f"size ({size}) must be non-negative")
    return Spec((*input.shape[:-1], size), weights.dtype)


def _bincount(input, weights, size, binary_output):
    rows = np.atleast_1d(input)
    lowest, highest = (rows.min(), rows.max()) if rows.size else (0, 0)
    if lowest < 0:
        raise invalid_argument("DenseBincount", "Input arr must be non-negative!")
    dtype = weights.dtype
    count = rows.shape[0] if rows.ndim == 2 else 1
    shape = (*rows.shape[:-1], size)
    places = np.minimum(rows, size) if highest >= size else rows  # the last place is cut off
    if rows.ndim == 2:
        places = places + np.arange(count)[:, None] * (size + 1)
    places = places.reshape(-1)
    total = count * (size + 1)
    if weights.shape == input.shape and not binary_output:
        if dtype.kind == "f":
            sums = np.bincount(places, weights.reshape(-1), total).astype(dtype, copy=False)
        else:  # whose sums floats would round
            sums = np.zeros(total, dtype)
            np.add.at(sums, places, weights.reshape(-1))
    else:
        sums = np.bincount(places, minlength=total).astype(dtype)
        if binary_output:
            np.minimum(sums, 1, out=sums)
    return sums.reshape((count, size + 1))[:, :size].reshape(shape)


def _weights_rule(g, input, weights_shape, *, size, binary_output):
    """Each weight gets the gradient of what it was counted in."""
    shape = shape_of(input)
    if weights_shape != shape or binary_output or not size:
        nothing = mul(sum_(g, axis=tuple(range(len(shape_of(g)))), keepdims=False), zero_of(g))
        return broadcast_to(nothing, shape=weights_shape)
    inside = less(input, size)
    found = gather_row(
        g, masked(input, inside), axis=max(len(shape) - 1, 0), batch_dims=max(len(shape) - 1, 0)
    )
    return masked(found, inside)


def _bincount_tangent(tangents, inputs, out, attrs):
    if attrs["binary_output"] or shape_of(inputs[0]) != shape_of(inputs[1]):
        return mul(out, zero_of(out))
    return bincount_row(inputs[0], tangents[1], **attrs)


def _batch_bincount(op, values, flags, attrs):
    input, weights = values
    rank = len(shape_of(input)) - flags[0]
    if shape_of(weights)[flags[1] :] == (0,):
        count = shape_of(values[flags.index(True)])[0]
        weights = reshape(weights, shape=(0,))
        if not flags[0]:
            counted = op.call(input, weights, **attrs)
            return broadcast_to(counted, shape=(count, *shape_of(counted)))
    else:
        input, weights = all_batched(values, flags)
    outer = shape_of(input)[: max(rank, 1)]
    flat = (math.prod(outer), shape_of(input)[-1] if rank else 1)
    weights = weights if shape_of(weights) == (0,) else reshape(weights, shape=flat)
    counted = op.call(reshape(input, shape=flat), weights, **attrs)
    return reshape(counted, shape=(*outer, attrs["size"]))


bincount_row = opaque(
    "DenseBincount",
    _bincount,
    inputs="input weights",
    infer=_infer_bincount,
    vjp={"weights": _weights_rule},
    jvp=_bincount_tangent,
    batch=_batch_bincount,
    raw="input, size, weights, binary_output=False",
)


@export("math.bincount")
def bincount(
    arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32, name=None, axis=None,
    binary_output=False,
):  # fmt: skip
    """How often each of the numbers 0, 1, 2, … occurs.

    Args:
        arr: integers that are not negative, perhaps ragged.
        weights: what to add for each of them; 1 if None. They have gradients.
        minlength: how many numbers to count at least.
        maxlength: how many at most; larger ones are left out.
        dtype: of the counts; those with weights have the weights' dtype.
        axis: -1 to count along the last axis of a matrix; None or 0 to count everything.
        binary_output: whether to say 1 for what occurs, instead of how often.

    Raises:
        InvalidArgumentError: a number is negative, or the weights have another shape.
        ValueError: `axis` is another one, or there are weights and `binary_output`.
    """
    if binary_output and weights is not None:
        raise ValueError(
            "Arguments `binary_output` and `weights` are mutually exclusive. Please specify only "
            "one."
        )
    if axis not in (None, 0, -1):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    if isinstance(arr, RaggedTensor):
        arr, weights, minlength, maxlength = _padded(arr, weights, axis, minlength, maxlength)
    x = operand(arr)
    if not x.dtype.is_integer:
        x = cast(x, dtypes.int32)
    if weights is None:
        weights = EagerTensor(np.zeros(0, dtypes.as_dtype(dtype).numpy_dtype))
    else:
        weights = operand(weights)
    if axis != -1:
        if weights.shape == x.shape:
            weights = reshape(weights, shape=(x.shape.num_elements(),))
        x = reshape(x, shape=(x.shape.num_elements(),))
    size = _size(x, minlength, maxlength)
    attrs = {"size": size, "binary_output": bool(binary_output)}
    return apply(bincount_row.op, (x, weights), attrs)


def _padded(ragged, weights, axis, minlength, maxlength):
    """Rows of different lengths, filled up with a number that is too large to be counted."""
    flat = ragged.flat_values
    if axis != -1:
        return flat, None if weights is None else weights.flat_values, minlength, maxlength
    size = _size(flat, minlength, maxlength)
    weights = None if weights is None else weights.to_tensor()
    return ragged.to_tensor(default_value=cast(size, flat.dtype)), weights, size, size


def _size(x, minlength, maxlength):
    """How many numbers to count: up to the largest, within bounds."""
    if maxlength is not None and minlength is not None and int(minlength) == int(maxlength):
        return integer(maxlength, "DenseBincount")
    largest = _largest(x)
    if largest is None:
        raise TypeError(
            "How many numbers bincount counts must be known: give `minlength` and `maxlength`, "
            f"both the same. Received: minlength={minlength}, maxlength={maxlength}."
        )
    size = largest + 1
    if minlength is not None:
        size = max(size, integer(minlength, "DenseBincount"))
    if maxlength is not None:
        size = min(size, integer(maxlength, "DenseBincount"))
    return max(size, 0) if maxlength is None else size


def _largest(x):
    """The largest element, on which alone a trace relies; -1 of none, None in a batch."""
    if not math.prod(shape_of(x)):
        return -1
    found = reduce_max(x)._known()
    return None if found is None else int(found)


# Confusion matrices -------------------------------------------------------------------------------


def _classes(value, word, num_classes):
    """Class numbers as int64, checked."""
    x = cast(value, dtypes.int64)
    if reduce_any(less(x, np.int64(0)))._known():
        raise invalid_argument(
            "Assert", f"`{word}` contains negative values. Received: {x._known()}"
        )
    if num_classes is not None and not reduce_all(less(x, np.int64(num_classes)))._known():
        raise invalid_argument(
            "Assert",
            f"`{word}` out of bound\nCondition x < y did not hold. x: {x._known()}, "
            f"y: {num_classes}",
        )
    return x


@export("math.confusion_matrix")
def confusion_matrix(
    labels, predictions, num_classes=None, weights=None, dtype=dtypes.int32, name=None
):
    """How often each class (row) was predicted as each class (column).

    Args:
        labels: the true classes, from 0 on.
        predictions: the predicted ones; of `labels`' shape, but for a last axis of length 1.
        num_classes: how many there are; one more than the largest if None.
        weights: what to add for each of them; 1 if None. They have gradients.
        dtype: of the result.

    Raises:
        InvalidArgumentError: a class is negative or too large, or the shapes differ.
        ValueError: the weights have another shape.
    """
    labels, predictions = operand(labels), operand(predictions)
    if labels.ndim == predictions.ndim + 1 and labels.shape[-1] == 1:
        labels = squeeze(labels, -1)
    elif predictions.ndim == labels.ndim + 1 and predictions.shape[-1] == 1:
        predictions = squeeze(predictions, -1)
    if num_classes is not None:
        num_classes = integer(num_classes, "ConfusionMatrix")
    labels = _classes(labels, "labels", num_classes)
    predictions = _classes(predictions, "predictions", num_classes)
    if labels.shape != predictions.shape:
        raise invalid_argument(
            "Pack",
            "Shapes of all inputs must match: values[0].shape = "
            f"{words(labels.shape)} != values[1].shape = {words(predictions.shape)}",
        )
    if num_classes is None:
        largest = [_largest(labels), _largest(predictions)]
        if None in largest:
            raise TypeError("In a batch the number of classes must be given as `num_classes`.")
        num_classes = max([number for number in largest if number is not None]) + 1
    count = math.prod(shape_of(labels))
    if weights is None:
        values = EagerTensor(np.ones(count, dtypes.as_dtype(dtype).numpy_dtype))
    else:
        weights = operand(weights)
        if weights.shape != predictions.shape:
            raise ValueError(f"Shapes {predictions.shape} and {weights.shape} are incompatible")
        values = reshape(cast(weights, dtype), shape=(count,))
    places = reshape(add(mul(labels, np.int64(num_classes)), predictions), shape=(count,))
    total = unsorted_segment_sum(values, places, num_classes * num_classes)
    return reshape(total, shape=(num_classes, num_classes))


# Histograms ---------------------------------------------------------------------------------------


def _bins(values, value_range, nbins):
    """The bin of each value, as int32; those outside of the range are in the outermost ones."""
    low, high = value_range[0], value_range[1]
    place = true_divide(sub(values, low), sub(high, low))
    inside = minimum(maximum(mul(place, float(nbins)), 0.0), float(nbins - 1))
    return cast(inside, dtypes.int32)  # which cuts off the fraction


def _range(values, value_range, nbins, op_name):
    """The arguments of a histogram, converted and checked."""
    values = operand(values)
    limits = convert_to_tensor(value_range, values.dtype)
    count = integer(nbins, op_name)
    if count <= 0:
        raise invalid_argument(op_name, f"nbins should be a positive number, but got '{count}'")
    if limits.shape != (2,):
        raise invalid_argument(op_name, "value_range should be a vector of 2 elements.")
    return values, limits, count


@export("histogram_fixed_width_bins")
def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """The number of the bin, of equal bins between two limits, that each value falls in.

    Args:
        values: a tensor.
        value_range: the limits, of `values`' dtype; what lies outside is in the outermost bins.
        nbins: how many bins there are.
        dtype: accepted; the numbers are int32.

    Raises:
        InvalidArgumentError: there are no bins, or not two limits.
    """
    return _bins(*_range(values, value_range, nbins, "HistogramFixedWidth"))


@export("histogram_fixed_width")
def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """How many values fall in each of equal bins between two limits.

    Args:
        values: a tensor of any shape.
        value_range: the limits, of `values`' dtype; what lies outside is in the outermost bins.
        nbins: how many bins there are.
        dtype: of the counts, int32 or int64.

    Raises:
        InvalidArgumentError: there are no bins, the limits are not in order, or a value is NaN.
    """
    op_name = "HistogramFixedWidth"
    goal = dtypes.as_dtype(dtype)
    check_index_dtype(op_name, goal.numpy_dtype, "dtype", _INDICES)
    values, limits, count = _range(values, value_range, nbins, op_name)
    if values.dtype.numpy_dtype not in _WEIGHTS:
        raise not_allowed(op_name, values.dtype.numpy_dtype, _WEIGHTS)
    low, high = limits.numpy().tolist()
    if not low < high:
        raise invalid_argument(
            op_name,
            "value_range should satisfy value_range[0] < value_range[1], but got "
            f"'[{low}, {high}]'",
        )
    # In a batch there are no values to look at.
    if values.dtype.is_floating and is_nan(reduce_max(values))._known():
        raise invalid_argument(op_name, "Histogram values must not contain NaN")
    flat = reshape(_bins(values, limits, count), shape=(values.shape.num_elements(),))
    ones = EagerTensor(np.zeros(0, goal.numpy_dtype))
    return apply(bincount_row.op, (flat, ones), {"size": count, "binary_output": False})
