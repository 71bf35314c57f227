"""Connectionist temporal classification: the loss of label sequences without given positions."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.sparse_tensor import SparseTensor
from ..core.tensor import EagerTensor
from .arguments import integer, integers
from .arithmetic import neg
from .broadcasting import not_allowed, words
from .casting import cast
from .ctc_alignment import NEVER, UNFINISHED, likelihood
from .families import shape_of
from .indexing import check_index_dtype, gather
from .manipulation import transpose
from .masks import where
from .softmax import log_softmax

_HINT = "You can turn this error into a warning by using the flag ignore_longer_outputs_than_inputs"


def _lengths(value, name, count, op_name="CTCLoss"):
    array = integers(value, op_name, name)
    if array.shape != (count,):
        raise invalid_argument(
            op_name,
            f"{name} must hold one length for each of {count} examples. Received shape: "
            f"{words(array.shape)}",
        )
    return array


def _as_dense(labels, frames, examples, logit_length):
    """The labels of a SparseTensor and their lengths, checked as strictly as TensorFlow does."""
    if labels.values.dtype is not dtypes.int32:
        convert_to_tensor(labels.values, dtypes.int32)  # raises TensorFlow's error
    places = np.asarray(labels.indices._value).reshape(-1, 2)
    values = np.asarray(labels.values._value)
    within = places[:, 0] < examples
    places, values = places[within], values[within]
    lengths = np.bincount(places[:, 0], minlength=examples)
    dense = np.zeros((examples, int(lengths.max(initial=0))), np.int64)
    first = np.cumsum(lengths) - lengths
    dense[places[:, 0], np.arange(len(values)) - first[places[:, 0]]] = values
    for b, (length, available) in enumerate(
        zip(lengths.tolist(), logit_length.tolist(), strict=True)
    ):
        if available < 0:
            raise invalid_argument("CTCLoss", f"seq_len({b}) < 0")
        if available > frames:
            raise invalid_argument("CTCLoss", f"sequence_length({b}) <= {frames}")
        if not length:
            raise invalid_argument("CTCLoss", f"Labels length is zero in batch {b}")
        if length > available:
            raise invalid_argument(
                "CTCLoss",
                f"Not enough time for target transition sequence (required: {length}, available: "
                f"{available}){b}{_HINT}",
            )
    return dense, lengths


def _check_labels(labels, label_length, classes, blank):
    counted = np.arange(labels.shape[1]) < label_length[:, None]
    if (label_length < 0).any() or (label_length > labels.shape[1]).any():
        raise invalid_argument(
            "CTCLoss",
            f"label_length must lie in [0, {labels.shape[1]}]. Received: {label_length.tolist()}",
        )
    wrong = counted & ((labels < 0) | (labels >= classes) | (labels == blank))
    if wrong.any():
        example, place = np.argwhere(wrong)[0].tolist()
        raise invalid_argument(
            "CTCLoss",
            f"labels must lie in [0, {classes}) and differ from the blank, {blank}. Received: "
            f"labels[{example}, {place}] = {labels[example, place]}",
        )


def _states(labels, label_length, classes, blank, unfinished):
    """For each state its class, and whether it may be entered and left as `likelihood` asks."""
    examples, longest = labels.shape
    state_classes = np.full((examples, 2 * longest + 1), blank, np.int64)
    state_classes[:, 1::2] = labels.clip(0, classes - 1)
    entry = np.full(state_classes.shape, NEVER)
    entry[:, 3::2] = np.where(labels[:, 1:] != labels[:, :-1], 0.0, NEVER)
    ends = 2 * label_length[:, None] - np.arange(2 * longest + 1)
    final = np.where((ends == 0) | (ends == 1), 0.0, unfinished)
    return state_classes, entry, final


@export("nn.ctc_loss")
def ctc_loss(
    labels, logits, label_length, logit_length, logits_time_major=True, unique=None,
    blank_index=None, name=None,
):  # fmt: skip
    """The negative logarithm of the probability of label sequences.

    Args:
        labels: integers (examples, labels), of which `label_length` count; or a SparseTensor.
        logits: a floating tensor (frames, examples, classes).
        label_length: the number of labels of each example; not used with a SparseTensor.
        logit_length: the number of frames of each example that count.
        logits_time_major: whether the axis of frames is the first, not the second.
        unique: accepted for compatibility.
        blank_index: the class of the blank, counted from the end if negative; 0 if None. Must be
            given with a SparseTensor.

    Returns:
        A loss for each example. Where there are too few frames for the labels it is above 700, and
        with a SparseTensor infinite.

    Raises:
        ValueError: `labels` is a SparseTensor, and `blank_index` is not given.
        InvalidArgumentError: the shapes do not fit, a label is no class or the blank, or a
            SparseTensor has an example without labels or with more of them than frames.
    """
    sparse = isinstance(labels, SparseTensor)
    if sparse and blank_index is None:
        raise ValueError(
            "Argument `blank_index` must be provided when `labels` is a `SparseTensor`."
        )
    logits = convert_to_tensor(logits)
    dtype = logits.dtype
    if dtype.numpy_dtype not in dtypes.FLOATING:
        raise not_allowed("CTCLoss", dtype.numpy_dtype, dtypes.FLOATING)
    if logits.ndim != 3:
        raise invalid_argument("CTCLoss", f"inputs is not a 3-Tensor: {words(shape_of(logits))}")
    if logits_time_major:
        logits = transpose(logits, (1, 0, 2))
    examples, frames, classes = shape_of(logits)
    blank = 0 if blank_index is None else integer(blank_index, "CTCLoss")
    if not -classes <= blank < classes:
        raise invalid_argument(
            "CTCLoss", f"blank_index expected to be between {-classes} and {classes - 1} but was "
            f"{blank}",
        )  # fmt: skip
    blank %= classes
    logit_length = _lengths(logit_length, "logit_length", examples)
    if sparse:
        labels, label_length = _as_dense(labels, frames, examples, logit_length)
    else:
        convert_to_tensor(label_length)
        labels = integers(labels, "CTCLoss", "labels")
        label_length = _lengths(label_length, "label_length", examples)
        if labels.ndim != 2 or len(labels) != examples:
            raise invalid_argument(
                "CTCLoss",
                f"labels must be a matrix with {examples} rows. Received shape: "
                f"{words(labels.shape)}",
            )
    _check_labels(labels, label_length, classes, blank)
    unfinished = NEVER if sparse else UNFINISHED
    state_classes, entry, final = _states(labels, label_length, classes, blank, unfinished)
    chances = cast(log_softmax(logits), dtypes.float64)
    emissions = gather(chances, EagerTensor(state_classes), axis=2, batch_dims=1)
    live = np.arange(frames)[:, None] < logit_length
    inputs = (transpose(emissions, (1, 0, 2)), *map(EagerTensor, (entry, final, live)))
    loss = neg(apply(likelihood.op, inputs))
    if sparse:
        endless = EagerTensor(np.float64(np.inf))
        loss = where(loss > -NEVER / 2, endless, loss)
    return cast(loss, dtype)


@export("nn.ctc_unique_labels")
def ctc_unique_labels(labels, name=None):
    """The different labels of each row, in the order in which they appear first.

    Returns:
        A list of two tensors of the shape of `labels`: the different labels, filled up with 0; and
        for each label the position of its like there.
    """
    array = integers(labels, "Unique", "T")
    if array.ndim != 2:
        raise invalid_argument("Unique", f"labels must be a matrix: {words(array.shape)}")
    # Whether a label is equal to the one at each earlier place, and where that was first so.
    first = np.argmax(array[:, :, None] == array[:, None, :], axis=2) if array.size else array
    is_new = first == np.arange(array.shape[1])
    number = np.cumsum(is_new, axis=1) - 1
    unique = np.zeros(array.shape, np.int64)
    rows = np.nonzero(is_new)[0]
    unique[rows, number[is_new]] = array[is_new]
    places = np.take_along_axis(number, first.astype(np.int64), axis=1)
    return [EagerTensor(unique), EagerTensor(places.astype(np.int32))]


@export("nn.collapse_repeated")
def collapse_repeated(labels, seq_length, name=None):
    """Keeps one of each run of equal labels.

    Args:
        labels: integers (examples, labels).
        seq_length: the number of labels of each example that count.

    Returns:
        The labels that are left, filled up with 0 to the longest row, and how many each row has.
    """
    array = np.asarray(convert_to_tensor(labels)._value)
    check_index_dtype("collapse_repeated", array.dtype, "T")
    if array.ndim != 2:
        raise invalid_argument(
            "collapse_repeated", f"labels must be a matrix: {words(array.shape)}"
        )
    lengths = _lengths(seq_length, "seq_length", len(array), "collapse_repeated")
    kept = np.arange(array.shape[1]) < lengths[:, None]
    kept[:, 1:] &= array[:, 1:] != array[:, :-1]
    counts = kept.sum(axis=1)
    collapsed = np.zeros((len(array), int(counts.max(initial=0))), array.dtype)
    collapsed[np.arange(collapsed.shape[1]) < counts[:, None]] = array[kept]
    return EagerTensor(collapsed), EagerTensor(counts.astype(np.int32))
