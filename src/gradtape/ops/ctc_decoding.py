"""From the scores of classes in each frame to label sequences: greedily, or by a beam search."""

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import float32, float64
from ..core.errors import FailedPreconditionError, invalid_argument
from ..core.exports import export
from ..core.sparse_tensor import SparseTensor
from ..core.tensor import EagerTensor
from .arguments import integer, integers
from .broadcasting import not_allowed
from .families import shape_of

_ACCEPTED = frozenset([float32.numpy_dtype, float64.numpy_dtype])


def _frames_and_lengths(op_name, inputs, sequence_length):
    tensor = convert_to_tensor(inputs)
    if tensor.dtype.numpy_dtype not in _ACCEPTED:
        raise not_allowed(op_name, tensor.dtype.numpy_dtype, _ACCEPTED)
    if tensor.ndim != 3:
        raise invalid_argument(op_name, f"inputs is not a 3-Tensor: {shape_of(tensor)}")
    frames, examples, _ = shape_of(tensor)
    lengths = integers(sequence_length, op_name, "sequence_length")
    if lengths.ndim != 1 or len(lengths) != examples:
        raise _refused(
            op_name,
            "len(sequence_length) != batch_size.  "
            f"len(sequence_length):  {lengths.size} batch_size: {examples}",
        )
    for example in np.flatnonzero(lengths > frames)[:1].tolist():
        raise _refused(op_name, f"sequence_length({example}) <= {frames}")
    return tensor._value, lengths


def _refused(op_name, text):
    return FailedPreconditionError(None, None, f"{text} [Op:{op_name}]")


def _as_sparse(labels, kept):
    """The labels that are kept, row by row from the left, as a SparseTensor."""
    rows, _ = np.nonzero(kept)
    counts = kept.sum(axis=1)
    first = np.cumsum(counts) - counts
    places = np.stack([rows, np.arange(len(rows)) - first[rows]], axis=1).astype(np.int64)
    shape = np.array([len(labels), counts.max(initial=0)], np.int64)
    values = labels[kept].astype(np.int64)
    return SparseTensor(EagerTensor(places), EagerTensor(values), EagerTensor(shape))


@export("nn.ctc_greedy_decoder")
def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    """The labels of the best class of each frame, without the blanks.

    Args:
        inputs: the scores, a tensor (frames, examples, classes) of float32 or float64.
        sequence_length: the number of frames of each example that count.
        merge_repeated: whether equal classes of neighbouring frames are one label.
        blank_index: the class of the blank, counted from the end if negative; the last if None.

    Returns:
        A list with one SparseTensor (examples, labels), and a matrix (examples, 1) with the
        negative sums of the best scores.

    Raises:
        InvalidArgumentError: the scores have another rank, or there is no such blank.
        FailedPreconditionError: the lengths do not fit the scores.
    """
    name = "CTCGreedyDecoder"
    scores, lengths = _frames_and_lengths(name, inputs, sequence_length)
    frames, _, classes = scores.shape
    blank = -1 if blank_index is None else integer(blank_index, name)
    if not -classes <= blank < classes:
        raise invalid_argument(
            name,
            f"blank_index expected to be between {-classes} and {classes - 1} but was {blank}",
        )
    counted = np.arange(frames) < lengths[:, None]
    best = np.argmax(scores, axis=2).T
    kept = counted & (best != blank % classes)
    if merge_repeated:
        kept[:, 1:] &= best[:, 1:] != best[:, :-1]
    highest = np.where(counted, np.max(scores, axis=2).T, scores.dtype.type(0))
    total = -np.sum(highest, axis=1, keepdims=True, dtype=scores.dtype) + scores.dtype.type(0)
    return [_as_sparse(best, kept)], EagerTensor(total)


@export("nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1):
    """The most probable label sequences, by a search that keeps the best beginnings.

    Args:
        inputs: the logits, a tensor (frames, examples, classes) of float32 or float64; the last
            class is the blank.
        sequence_length: the number of frames of each example that count.
        beam_width: how many beginnings to keep from frame to frame.
        top_paths: how many sequences to return.

    Returns:
        A list of SparseTensors (examples, labels), best first, and a matrix (examples, top_paths)
        with the logarithms of their probabilities.

    Raises:
        InvalidArgumentError: the logits have another rank, or there are not that many sequences.
        FailedPreconditionError: the lengths do not fit the logits.
    """
    name = "CTCBeamSearchDecoder"
    logits, lengths = _frames_and_lengths(name, inputs, sequence_length)
    width, count = integer(beam_width, name), integer(top_paths, name)
    for what, number in (("beam_width", width), ("top_paths", count)):
        if number < 1:
            raise invalid_argument(
                name, f"Value for attr '{what}' of {number} must be at least minimum 1"
            )
    if count > width:
        raise invalid_argument(name, "requested more paths than the beam width.")
    wide = logits.astype(np.float64)
    with np.errstate(all="ignore"):
        wide -= wide.max(axis=2, keepdims=True)
        wide -= np.log(np.exp(wide).sum(axis=2, keepdims=True))
        beam = _Beam(logits.shape[1])
        for t, chances in enumerate(wide):
            beam.advance(chances, t < lengths, width)
    totals, paths = beam.best(count)
    if (totals == -np.inf).any() or totals.shape[1] < count:
        raise invalid_argument(name, "Less leaves in the beam search than requested.")
    decoded = [_as_sparse(labels, labels >= 0) for labels in paths]
    return decoded, EagerTensor(totals.astype(logits.dtype))


class _Beam:
    """The best beginnings of the label sequences of several examples, best first.

    For each: the logarithms of the probabilities of those alignments that end in a blank and of
    those that do not, the last label (-1 if there is none), a number that stands for all labels,
    and that number of all but the last label.
    """

    _FACTOR = np.uint64(0x9E3779B97F4A7C15)

    def __init__(self, examples):
        self.blank = np.zeros((examples, 1))
        self.label = np.full((examples, 1), -np.inf)
        self.last = np.full((examples, 1), -1)
        self.number = np.ones((examples, 1), np.uint64)
        self.number_before = np.zeros((examples, 1), np.uint64)
        self._steps = []

    def advance(self, chances, live, width):
        """Takes in a frame, whose log-probabilities are given; examples not `live` stay."""
        examples, classes = chances.shape
        labels = classes - 1
        width_now = self.last.shape[1]
        total = np.logaddexp(self.blank, self.label)
        own = np.take_along_axis(chances, self.last.clip(0), axis=1)
        own[self.last < 0] = -np.inf
        blank = total + chances[:, -1:]
        label = self.label + own
        # Another way to a beginning is from the one without its last label, if that is there too.
        parents = self.number_before[:, :, None] == self.number[:, None, :]
        is_there = total > -np.inf
        parents &= is_there[:, None, :] & is_there[:, :, None]
        example, child, parent = np.nonzero(parents)
        from_parent = np.where(
            self.last[example, child] == self.last[example, parent],
            self.blank[example, parent],
            total[example, parent],
        )
        label[example, child] = np.logaddexp(
            label[example, child], from_parent + own[example, child]
        )
        longer = total[:, :, None] + chances[:, None, :labels]
        row, place = np.nonzero(self.last >= 0)
        again = self.last[row, place]
        longer[row, place, again] = self.blank[row, place] + chances[row, again]
        longer[example, parent, self.last[example, child]] = -np.inf
        candidates = np.concatenate(
            [np.logaddexp(blank, label), longer.reshape(examples, -1)], axis=1
        )
        chosen = _highest(candidates, min(width, candidates.shape[1]))
        still = np.arange(chosen.shape[1])
        chosen = np.where(live[:, None], chosen, np.where(still < width_now, still, 0))
        stays = chosen < width_now
        origin = np.where(stays, chosen, (chosen - width_now) // max(labels, 1))
        added = np.where(stays, -1, (chosen - width_now) % max(labels, 1))
        values = np.take_along_axis(candidates, chosen, axis=1)
        self._replace(origin, added, stays, values, blank, label, live)

    def _replace(self, origin, added, stays, values, blank, label, live):
        def of_origin(array):
            return np.take_along_axis(array, origin, axis=1)

        live = live[:, None]
        filled = live | (np.arange(origin.shape[1]) < self.last.shape[1])
        old_blank = np.where(filled, of_origin(self.blank), -np.inf)
        old_label = np.where(filled, of_origin(self.label), -np.inf)
        self.blank = np.where(live, np.where(stays, of_origin(blank), -np.inf), old_blank)
        self.label = np.where(live, np.where(stays, of_origin(label), values), old_label)
        number = of_origin(self.number)
        self.number_before = np.where(stays, of_origin(self.number_before), number)
        self.number = np.where(
            stays, number, (number ^ (number >> np.uint64(29))) * self._FACTOR
            + (added + 2).astype(np.uint64)
        )  # fmt: skip
        self.last = np.where(stays, of_origin(self.last), added)
        self._steps.append((origin, added))

    def best(self, count):
        """The log-probabilities of the best sequences, and for each of them its labels, with -1."""
        total = np.logaddexp(self.blank, self.label)
        order = np.argsort(-total, axis=1, kind="stable")[:, :count]
        place = order
        labels = np.full((len(self._steps), *order.shape), -1)
        for t in range(len(self._steps) - 1, -1, -1):
            origin, added = self._steps[t]
            labels[t] = np.take_along_axis(added, place, axis=1)
            place = np.take_along_axis(origin, place, axis=1)
        return np.take_along_axis(total, order, axis=1), list(labels.transpose(2, 1, 0))


def _highest(candidates, count):
    """The positions of the `count` highest numbers of each row, highest first."""
    if candidates.shape[1] > 4 * count:
        found = np.argpartition(-candidates, count - 1, axis=1)[:, :count]
        found.sort(axis=1)
    else:
        found = np.broadcast_to(np.arange(candidates.shape[1]), candidates.shape)
    order = np.argsort(-np.take_along_axis(candidates, found, axis=1), axis=1, kind="stable")
    return np.take_along_axis(found, order[:, :count], axis=1)
