"""Whether targets rank among the best, and the best found approximately (here: exactly)."""

from typing import NamedTuple

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import Tensor
from .arguments import integer
from .broadcasting import not_allowed, reshape
from .families import non_differentiable, shape_of
from .indexing import check_index_dtype, index_operand
from .joining import all_batched
from .manipulation import move_axis
from .ordering import top_k_row
from .pointwise import dtype_mismatch

_FLOAT32 = np.dtype(np.float32)
_INDICES = dtypes.numpy_set(dtypes.int32, dtypes.int64)


def _infer_in_top_k(predictions, targets, *, k):
    if predictions.dtype != _FLOAT32:
        raise dtype_mismatch("InTopKV2", 0, _FLOAT32, predictions.dtype)
    check_index_dtype("InTopKV2", targets.dtype, "T", _INDICES)
    if len(predictions.shape) != 2:
        raise invalid_argument("InTopKV2", "predictions must be 2-dimensional")
    if len(targets.shape) != 1:
        raise invalid_argument("InTopKV2", "targets must be 1-dimensional")
    if predictions.shape[0] != targets.shape[0]:
        raise invalid_argument(
            "InTopKV2",
            f"First dimension of predictions {predictions.shape[0]} must match length of targets "
            f"{targets.shape[0]}",
        )
    return Spec(targets.shape, np.dtype(np.bool_))


def _in_top_k(predictions, targets, k):
    """Rows with infinities or NaNs have no best ones; targets that are no class never are."""
    classes = predictions.shape[1]
    sound = (targets >= 0) & (targets < classes)
    if not classes:
        return sound
    own = np.take_along_axis(predictions, np.where(sound, targets, 0)[:, None], 1)
    finite = np.isfinite(predictions)
    if not finite.all():  # which is much quicker than row by row
        sound &= finite.all(axis=1)
    return sound & (np.count_nonzero(predictions > own, axis=1) < k)


def _batch_in_top_k(op, values, flags, attrs):
    predictions, targets = all_batched(values, flags)
    outer = shape_of(targets)
    rows = (outer[0] * outer[1],)
    predictions = reshape(predictions, shape=(*rows, *shape_of(predictions)[2:]))
    return reshape(op.call(predictions, reshape(targets, shape=rows), **attrs), shape=outer)


in_top_k_row = non_differentiable(
    "InTopKV2",
    _in_top_k,
    inputs="predictions targets",
    infer=_infer_in_top_k,
    batch=_batch_in_top_k,
)


@export("math.in_top_k nn.in_top_k")
def in_top_k(targets, predictions, k, name=None):
    """Whether each target is among the `k` best of its row of predictions; ties are all in.

    Args:
        targets: class numbers.
        predictions: a float32 matrix with a row for each of them.
        k: how many count as the best.

    Raises:
        InvalidArgumentError: the shapes do not fit.
    """
    if not hasattr(predictions, "_dispatch_level"):
        predictions = convert_to_tensor(predictions, dtypes.float32)
    inputs = (operand(predictions), index_operand(targets))
    return apply(in_top_k_row.op, inputs, {"k": integer(k, "InTopKV2")})


class ApproxTopK(NamedTuple):
    """The values and indices that the approximate searches return."""

    values: Tensor
    indices: Tensor


@export("approx_top_k")
def approx_top_k(
    input, k, reduction_dimension=-1, recall_target=0.95, is_max_k=True,
    reduction_input_size_override=-1, aggregate_to_topk=True, name=None,
):  # fmt: skip
    """The `k` largest (or smallest) elements along an axis, and their indices; all are found.

    Args:
        input: a floating-point tensor.
        k: how many.
        reduction_dimension: the axis.
        recall_target: the share of them that must be found; accepted, since all are.
        is_max_k: whether to look for the largest.
        reduction_input_size_override: accepted; it only matters where not all are found.
        aggregate_to_topk: accepted, likewise.

    Returns:
        A pair with the fields `values` and `indices`.

    Raises:
        InvalidArgumentError: there are fewer than `k` elements, or no such axis.
    """
    x = operand(input)
    if x.dtype.numpy_dtype not in dtypes.FLOATING:
        raise not_allowed("ApproxTopK", x.dtype.numpy_dtype, dtypes.FLOATING)
    axis, k = integer(reduction_dimension, "ApproxTopK"), integer(k, "ApproxTopK")
    rank = x.ndim
    if not -rank <= axis < rank:
        raise invalid_argument(
            "ApproxTopK", f"Expected an axis in the range [{-rank}, {rank}), but got {axis}"
        )
    if not 0 <= k <= x.shape[axis]:
        raise invalid_argument(
            "ApproxTopK", f"input must have at least k columns. Had {x.shape[axis]}, needed {k}"
        )
    axis %= rank
    moved = x if axis == rank - 1 else move_axis(x, axis, rank - 1)
    found = apply(top_k_row.op, (moved,), {"k": k, "largest": bool(is_max_k)})
    if axis != rank - 1:
        found = [move_axis(each, rank - 1, axis) for each in found]
    return ApproxTopK(*found)


@export("math.approx_max_k nn.approx_max_k")
def approx_max_k(
    operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1,
    aggregate_to_topk=True, name=None,
):  # fmt: skip
    """The `k` largest elements along an axis, and their indices; see `approx_top_k`."""
    return approx_top_k(operand, k, reduction_dimension, recall_target, True)


@export("math.approx_min_k nn.approx_min_k")
def approx_min_k(
    operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1,
    aggregate_to_topk=True, name=None,
):  # fmt: skip
    """The `k` smallest elements along an axis, and their indices; see `approx_top_k`."""
    return approx_top_k(operand, k, reduction_dimension, recall_target, False)
