"""Cross-entropies between labels and logits.

Those of classes are rows with two outputs, as in TensorFlow: the loss and its derivative by the
logits, computed together because they share almost all the work.
"""

import functools

import numpy as np

from ..core.active import is_recording
from ..core.convert import convert_to_tensor
from ..core.dispatch import apply
from ..core.dtypes import FLOATING, int32, int64, numpy_set, of_numpy
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from ..core.tensor import EagerTensor
from .activations import log1p_in_place, sigmoid, sigmoid_grad, softplus
from .arguments import integer
from .arithmetic import add, mul, neg, sub
from .broadcasting import broadcast_to, not_allowed, reshape, sum_, words
from .casting import cast, cast_row
from .families import dtype_of, opaque, shape_of
from .joining import all_batched
from .logic import equal
from .numerics import decay, in_float32, on_arrays
from .pointwise import dtype_mismatch, elementwise
from .softmax import (
    batch_along,
    dot_along,
    log_softmax_row,
    softmax_grad,
    softmax_row,
    sum_along,
)

# Of probabilities of classes ----------------------------------------------------------------------


def _without(shape, axis):
    axis %= len(shape)
    return shape[:axis] + shape[axis + 1 :]


def _with(shape, axis):
    """The shape with an axis of length 1 at a place counted from either end of the result."""
    axis %= len(shape) + 1
    return (*shape[:axis], 1, *shape[axis:])


def _spread(g, axis):
    """Loss gradients with an axis of length 1 for the classes."""
    return reshape(g, shape=_with(shape_of(g), axis))


def _absent(g):
    """Whether a gradient may be left out: zeros, where nobody records what is made of them."""
    if type(g) is EagerTensor and not is_recording():
        g = g._value
    return isinstance(g, np.ndarray) and not g.any()


def _infer_cross_entropy(features, labels, *, axis):
    name = "SoftmaxCrossEntropyWithLogits"
    if features.dtype not in FLOATING:
        raise not_allowed(name, features.dtype, FLOATING)
    if labels.dtype != features.dtype:
        raise dtype_mismatch(name, 1, features.dtype, labels.dtype)
    rank = len(features.shape)
    if features.shape != labels.shape:
        raise invalid_argument(
            name,
            f"logits and labels must be broadcastable: logits_size={words(features.shape)} "
            f"labels_size={words(labels.shape)}",
        )
    if not -rank <= axis < rank:
        raise invalid_argument(
            name, f"axis must be in the range [{-rank}, {rank}). Received: axis={axis}"
        )
    loss = Spec(_without(features.shape, axis), features.dtype)
    return loss, Spec(features.shape, features.dtype)


@in_float32
def _cross_entropy(features, labels, axis):
    goal = _without(features.shape, axis)
    if not features.size:
        return np.zeros(goal, features.dtype), features
    shifted = features - np.maximum.reduce(features, axis=axis, keepdims=True)
    powers = np.exp(shifted)
    total = sum_along(powers, axis)
    weight = sum_along(labels, axis)  # 1, if the labels are probabilities
    loss = np.log(total) * weight - dot_along(labels, shifted, axis)
    powers *= weight / total
    powers -= labels
    return loss.reshape(goal)[()], powers


def _cross_entropy_by_features(g, features, labels, out, *, axis):
    from_loss = mul(_spread(g[0], axis), out[1])
    if _absent(g[1]):
        return from_loss
    weight = sum_(labels, axis=(axis,), keepdims=True)
    softmax = softmax_row(features, axis=axis)
    return add(from_loss, mul(weight, softmax_grad(softmax, g[1], axis=axis)))


def _cross_entropy_by_labels(g, features, *, axis):
    from_loss = neg(mul(_spread(g[0], axis), log_softmax_row(features, axis=axis)))
    if _absent(g[1]):
        return from_loss
    softmax = softmax_row(features, axis=axis)
    return add(from_loss, sub(sum_(mul(softmax, g[1]), axis=(axis,), keepdims=True), g[1]))


cross_entropy = opaque(
    "SoftmaxCrossEntropyWithLogits",
    _cross_entropy,
    inputs="features labels",
    infer=_infer_cross_entropy,
    vjp={"features": _cross_entropy_by_features, "labels": _cross_entropy_by_labels},
    batch=batch_along,
    outputs=2,
    raw="features, labels, :axis=-1 -> loss, backprop",
)


@export("nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """The cross-entropy between probabilities and the softmax of logits.

    The gradient by the logits is exact also where labels do not add up to 1.

    Args:
        labels: probabilities, as numbers of any dtype; they have a gradient too.
        logits: a floating tensor of the same shape.
        axis: the axis of the classes.

    Returns:
        The losses, in the shape of `logits` without `axis`.

    Raises:
        InvalidArgumentError: the shapes do not fit, there is no such axis, or the logits are not
            floating.
    """
    logits = convert_to_tensor(logits)
    labels = cast(convert_to_tensor(labels), logits.dtype)
    axis = integer(axis, cross_entropy.op.name)
    if shape_of(labels) != shape_of(logits):
        labels = _fitted(labels, shape_of(logits), axis)
    return apply(cross_entropy.op, (logits, labels), {"axis": axis})[0]


def _fitted(labels, shape, axis):
    """Labels that say the same of several examples, or number them along fewer or more axes."""
    have = shape_of(labels)
    if have and shape and axis in (-1, len(shape) - 1):
        flat = (np.prod(shape[:-1], dtype=int).item(), shape[-1])
        rows = np.prod(have[:-1], dtype=int).item()
        if rows in (1, flat[0]) and have[-1] in (1, flat[1]):
            labels = reshape(labels, shape=(rows, have[-1]))
            return reshape(broadcast_to(labels, shape=flat), shape=shape)
    return labels


# Of numbers of classes ----------------------------------------------------------------------------

_LABELS = numpy_set(int32, int64)


def _infer_sparse(features, labels):
    name = "SparseSoftmaxCrossEntropyWithLogits"
    if features.dtype not in FLOATING:
        raise not_allowed(name, features.dtype, FLOATING)
    if labels.dtype not in _LABELS:
        raise invalid_argument(
            name,
            f"Value for attr 'Tlabels' of {of_numpy(labels.dtype).runtime_word} is not in the list "
            f"of allowed values: int32, int64\n\t; NodeDef: {{{{node {name}}}}}",
        )
    if not features.shape or not features.shape[-1]:
        raise invalid_argument(
            name, f"Must have at least one class, but got logits shape {words(features.shape)}"
        )
    if features.shape[:-1] != labels.shape:
        raise invalid_argument(
            name,
            "logits and labels must have the same first dimension, got logits shape "
            f"{words(features.shape)} and labels shape {words(labels.shape)}",
        )
    return Spec(labels.shape, features.dtype), Spec(features.shape, features.dtype)


@functools.lru_cache(maxsize=64)
def _row_starts(rows, length):
    starts = np.arange(0, rows * length, length)
    starts.flags.writeable = False
    return starts


_UNSIGNED = {np.dtype(np.int32): np.uint32, np.dtype(np.int64): np.uint64}


@in_float32
def _sparse_cross_entropy(features, labels):
    classes = features.shape[-1]
    logits = features.reshape(-1, classes)
    chosen = labels.reshape(-1)
    # Seen as unsigned numbers, negative ones are too large as well.
    if chosen.size and chosen.view(_UNSIGNED[chosen.dtype]).max() >= classes:
        raise _no_such_class(chosen, classes)
    places = _row_starts(len(chosen), classes) + chosen
    powers = logits - np.maximum.reduce(logits, axis=-1, keepdims=True)
    of_label = powers.take(places)
    np.exp(powers, out=powers)
    total = sum_along(powers, -1)
    loss = np.log(total.reshape(-1))
    loss -= of_label
    powers /= total
    powers.reshape(-1)[places] -= 1
    return loss.reshape(labels.shape)[()], powers.reshape(features.shape)


def _no_such_class(labels, classes):
    wrong = labels[(labels < 0) | (labels >= classes)][0]
    shown = " ".join([str(label) for label in labels[:100].tolist()])
    return invalid_argument(
        "SparseSoftmaxCrossEntropyWithLogits",
        f"Received a label value of {wrong} which is outside the valid range of [0, {classes}).  "
        f"Label values: {shown}{' ...' if len(labels) > 100 else ''}",
    )


def _sparse_cross_entropy_by_features(g, labels, out):
    backprop = out[1]
    from_loss = mul(_spread(g[0], -1), backprop)
    if _absent(g[1]):
        return from_loss
    softmax = add(backprop, _one_hot(labels, shape_of(backprop)[-1], dtype_of(backprop)))
    return add(from_loss, softmax_grad(softmax, g[1], axis=-1))


def _one_hot(labels, classes, dtype):
    """1 in the column of each label, 0 elsewhere."""
    columns = np.arange(classes, dtype=dtype_of(labels))
    return cast_row(equal(_spread(labels, -1), columns), dtype=dtype)


sparse_cross_entropy = opaque(
    "SparseSoftmaxCrossEntropyWithLogits",
    _sparse_cross_entropy,
    inputs="features labels",
    infer=_infer_sparse,
    vjp={"features": _sparse_cross_entropy_by_features},
    batch=lambda op, values, flags, attrs: op.call(*all_batched(values, flags)),
    outputs=2,
    raw="features, labels -> loss, backprop",
)


@export("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None):
    """The cross-entropy between known classes and the softmax of logits along the last axis.

    Args:
        labels: the numbers of the classes, int32 or int64.
        logits: a floating tensor with one more axis.

    Returns:
        The losses, in the shape of `labels`.

    Raises:
        ValueError: an argument is missing, or the shapes do not fit.
        InvalidArgumentError: a label is not a class, or a dtype is not allowed.
    """
    if labels is None or logits is None:
        raise ValueError(
            "Both `labels` and `logits` must be provided for "
            f"sparse_softmax_cross_entropy_with_logits. Received: labels={labels} and "
            f"logits={logits}"
        )
    labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
    if not logits.ndim:
        raise ValueError(f"`logits` cannot be a scalar. Received: logits={logits}")
    if labels.ndim != logits.ndim - 1:
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
            f"labels.shape={labels.shape} of rank {labels.ndim} and logits.shape={logits.shape} "
            f"of rank {logits.ndim}"
        )
    if shape_of(labels) != shape_of(logits)[:-1]:
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            f"labels.shape={labels.shape} and logits.shape={logits.shape}"
        )
    return apply(sparse_cross_entropy.op, (logits, labels))[0]


# Of probabilities of one thing --------------------------------------------------------------------


@in_float32
@on_arrays
def _logistic_loss(logits, labels):
    loss = np.maximum(logits, 0) - logits * labels
    loss += log1p_in_place(decay(logits))
    return loss


@in_float32
@on_arrays
def _logistic_residual(logits, labels):
    """sigmoid(logits) - labels, without the cancellation where sigmoid is nearly 1."""
    power = decay(logits)
    power /= 1 + power
    np.copysign(power, logits, out=power)
    return np.signbit(-logits) - labels - power


logistic_loss = elementwise(
    "SigmoidCrossEntropyWithLogits",
    _logistic_loss,
    logits=lambda g, logits, labels: mul(g, logistic_residual(logits, labels)),
    labels=lambda g, logits: neg(mul(g, logits)),
    accepts=FLOATING,
    raw=False,
)

logistic_residual = elementwise(
    "SigmoidCrossEntropyGrad",
    _logistic_residual,
    logits=lambda g, logits: sigmoid_grad(sigmoid(logits), g),
    labels=lambda g: neg(g),
    accepts=FLOATING,
    raw=False,
)


def _check_shapes(logits, labels):
    if shape_of(logits) != shape_of(labels):
        raise ValueError(
            "`logits` and `labels` must have the same shape, received "
            f"({logits.shape} vs {labels.shape})."
        )


@export("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """The cross-entropy between probabilities and the sigmoid of logits, element by element.

    Args:
        labels: numbers between 0 and 1; they have a gradient too.
        logits: a floating tensor of the same shape and dtype.

    Raises:
        ValueError: an argument is missing, or the shapes differ.
    """
    if labels is None or logits is None:
        raise ValueError(
            "Both `labels` and `logits` must be provided for sigmoid_cross_entropy_with_logits. "
            f"Received: labels={labels} and logits={logits}"
        )
    logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
    _check_shapes(logits, labels)
    return logistic_loss(logits, labels)


@export("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None):
    """`sigmoid_cross_entropy_with_logits` with the loss of positive labels times `pos_weight`.

    Args:
        labels: numbers between 0 and 1.
        logits: a floating tensor of the same shape and dtype.
        pos_weight: a number or tensor.

    Raises:
        ValueError: the shapes differ.
    """
    logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
    _check_shapes(logits, labels)
    return (1.0 - labels) * softplus(logits) + pos_weight * labels * softplus(neg(logits))
