"""Boxes thinned out: of those that overlap, the best stay."""

import heapq
from typing import Any, NamedTuple

import numpy as np

from ..core.convert import convert_to_tensor, operand
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.tensor import EagerTensor
from .arguments import integer
from .families import shape_of


def _overlaps(box, others):
    """The area a box shares with each of the others, over the area both cover together."""
    top = np.maximum(box[0], others[:, 0])
    left = np.maximum(box[1], others[:, 1])
    bottom = np.minimum(box[2], others[:, 2])
    right = np.minimum(box[3], others[:, 3])
    shared = np.maximum(bottom - top, 0) * np.maximum(right - left, 0)
    area = (box[2] - box[0]) * (box[3] - box[1])
    areas = (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1])
    whole = area + areas - shared
    valid = (area > 0) & (areas > 0)
    return np.where(valid, shared / np.where(whole == 0, 1, whole), 0)


def _ordered(boxes):
    """Boxes with top above bottom and left before right."""
    low = np.minimum(boxes[:, :2], boxes[:, 2:])
    return np.concatenate([low, np.maximum(boxes[:, :2], boxes[:, 2:])], 1)


def _suppressed(similar, scores, limit, threshold, score_threshold):
    """The indices of boxes to keep: the best, without those too similar to one kept already.

    Args:
        similar: from an index to the similarity of that box to all.
    """
    order = np.argsort(-scores, kind="stable")
    alive = scores > score_threshold
    kept = []
    for index in order:
        if len(kept) >= limit:
            break
        if alive[index]:
            kept.append(int(index))
            alive &= ~(similar(index) > threshold)
    return kept


def _softly_suppressed(boxes, scores, limit, score_threshold, sigma):
    """Like `_suppressed`, but boxes similar to a kept one lose some of their score first."""
    kept, kept_scores = [], []
    queue = [(-float(s), i, 0) for i, s in enumerate(scores) if s > score_threshold]
    heapq.heapify(queue)
    while queue and len(kept) < limit:
        score, index, seen = heapq.heappop(queue)
        score = original = np.float32(-score)
        if len(kept) > seen:
            likeness = _overlaps(boxes[index], boxes[kept[seen:]])[::-1]
            for each in likeness:
                weight = np.exp(np.float32(-0.5 / sigma) * each * each)
                score = np.float32(score * weight)
                if score <= score_threshold:
                    break
        if score == original:
            kept.append(index)
            kept_scores.append(score)
        elif score > score_threshold:
            heapq.heappush(queue, (-float(score), index, len(kept)))
    return kept, kept_scores


def _boxes_and_scores(name, boxes, scores):
    boxes, scores = operand(boxes).numpy(), operand(scores).numpy()
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise invalid_argument(name, f"boxes must have 4 columns{boxes.shape}")
    if scores.shape != boxes.shape[:1]:
        raise invalid_argument(name, f"scores has incompatible shape {scores.shape}")
    return boxes, scores


def _fraction(name, value, what="iou_threshold"):
    number = float(convert_to_tensor(value).numpy())
    if not 0 <= number <= 1:
        raise invalid_argument(name, f"{what} must be in [0, 1]")
    return np.float32(number)


def _limit(name, value):
    number = integer(value, name)
    if number < 0:
        raise invalid_argument(name, f"output size must be non-negative: {number}")
    return number


def _number(value):
    return np.float32(convert_to_tensor(value).numpy())


def _indices(kept):
    return EagerTensor(np.array(kept, np.int32))


@export("image.non_max_suppression")
def non_max_suppression(
    boxes,
    scores,
    max_output_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    name=None,
):
    """The indices of the best boxes, best first, without those that overlap a better one.

    Args:
        boxes: [boxes, 4]: two opposite corners, row and column each.
        scores: how good each is.
        max_output_size: how many to keep at most.
        iou_threshold: how much of their joint area two kept boxes may share.
        score_threshold: boxes must be better than that.

    Raises:
        InvalidArgumentError: shapes that do not fit, or a threshold that is not between 0 and 1.
    """
    name = "NonMaxSuppressionV3"
    boxes, scores = _boxes_and_scores(name, boxes, scores)
    threshold, limit = _fraction(name, iou_threshold), _limit(name, max_output_size)
    boxes = _ordered(boxes)
    return _indices(
        _suppressed(
            lambda i: _overlaps(boxes[i], boxes), scores, limit, threshold, _number(score_threshold)
        )
    )


@export("image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(
    boxes,
    scores,
    max_output_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    soft_nms_sigma=0.0,
    name=None,
):
    """The best boxes and their scores, which overlaps with better boxes lower.

    Args:
        soft_nms_sigma: how slowly overlaps lower scores; 0 to drop overlapping boxes at once.

    The other arguments are those of `tf.image.non_max_suppression`.

    Returns:
        Indices and scores.
    """
    name = "NonMaxSuppressionV5"
    boxes, scores = _boxes_and_scores(name, boxes, scores)
    threshold, limit = _fraction(name, iou_threshold), _limit(name, max_output_size)
    sigma, least = float(_number(soft_nms_sigma)), _number(score_threshold)
    boxes = _ordered(boxes)
    if sigma < 0:
        raise invalid_argument(name, f"soft_nms_sigma must be >= 0. Received: {sigma}")
    if sigma > 0:
        kept, found = _softly_suppressed(boxes, scores, limit, least, sigma)
        return _indices(kept), EagerTensor(np.array(found, scores.dtype))
    kept = _suppressed(lambda i: _overlaps(boxes[i], boxes), scores, limit, threshold, least)
    return _indices(kept), EagerTensor(scores[kept])


@export("image.non_max_suppression_overlaps")
def non_max_suppression_overlaps(
    overlaps,
    scores,
    max_output_size,
    overlap_threshold=0.5,
    score_threshold=float("-inf"),
    name=None,
):
    """Like `tf.image.non_max_suppression`, of boxes whose overlaps a matrix tells."""
    name = "NonMaxSuppressionWithOverlaps"
    overlaps, scores = operand(overlaps).numpy(), operand(scores).numpy()
    if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
        raise invalid_argument(name, f"overlaps must be square{overlaps.shape}")
    if scores.shape != overlaps.shape[:1]:
        raise invalid_argument(name, f"scores has incompatible shape {scores.shape}")
    limit = _limit(name, max_output_size)
    threshold, least = _number(overlap_threshold), _number(score_threshold)
    return _indices(_suppressed(lambda i: overlaps[:, i], scores, limit, threshold, least))


@export("image.non_max_suppression_padded")
def non_max_suppression_padded(
    boxes,
    scores,
    max_output_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    pad_to_max_output_size=False,
    name=None,
    sorted_input=False,
    canonicalized_coordinates=False,
    tile_size=512,
):
    """The best boxes of one image or of each of a batch, filled up with zeros.

    Args:
        pad_to_max_output_size: whether to fill up; a batch must be.
        sorted_input: accepted for compatibility.
        canonicalized_coordinates: accepted for compatibility.
        tile_size: accepted for compatibility.

    The other arguments are those of `tf.image.non_max_suppression`.

    Returns:
        Indices, [..., max_output_size], and how many of them are valid.

    Raises:
        ValueError: a batch that is not to be filled up.
    """
    boxes, scores = operand(boxes), operand(scores)
    if not pad_to_max_output_size and boxes.ndim > 2:
        raise ValueError(
            f"'pad_to_max_output_size' (value {pad_to_max_output_size}) must be True for batched "
            "input"
        )
    limit = _limit("NonMaxSuppressionV4", max_output_size)
    outer = shape_of(boxes)[:-2]
    flat = boxes.numpy().reshape(-1, *shape_of(boxes)[-2:])
    kept = [
        non_max_suppression(b, s, limit, iou_threshold, score_threshold).numpy()
        for b, s in zip(flat, scores.numpy().reshape(len(flat), -1), strict=True)
    ]
    counts = EagerTensor(np.array([len(each) for each in kept], np.int32).reshape(outer)[()])
    if not pad_to_max_output_size:
        return EagerTensor(kept[0]), counts
    filled = np.zeros((len(kept), limit), np.int32)
    for row, each in zip(filled, kept, strict=True):
        row[: len(each)] = each
    return EagerTensor(filled.reshape(*outer, limit)), counts


class CombinedNonMaxSuppression(NamedTuple):
    """The boxes kept in each image, filled up with zeros, and how many there are."""

    nmsed_boxes: Any
    nmsed_scores: Any
    nmsed_classes: Any
    valid_detections: Any


@export("image.combined_non_max_suppression")
def combined_non_max_suppression(
    boxes,
    scores,
    max_output_size_per_class,
    max_total_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    pad_per_class=False,
    clip_boxes=True,
    name=None,
):
    """The best boxes of each class in each image, and of these the best of all classes.

    Args:
        boxes: [batch, boxes, classes, 4], or 1 in the place of classes for boxes all share.
        scores: [batch, boxes, classes].
        max_output_size_per_class: how many to keep of a class at most.
        max_total_size: how many to keep at most.
        iou_threshold: how much of their joint area two kept boxes of a class may share.
        score_threshold: boxes must be better than that.
        pad_per_class: whether the result has only as many places as classes can fill.
        clip_boxes: whether to clip results to the range from 0 to 1.

    Raises:
        InvalidArgumentError: shapes that do not fit, or a threshold that is not between 0 and 1.
    """
    name = "CombinedNonMaxSuppression"
    boxes, scores = operand(boxes).numpy(), operand(scores).numpy()
    if boxes.ndim != 4 or boxes.shape[3] != 4:
        raise invalid_argument(name, f"boxes must be 4-D{boxes.shape}")
    if scores.ndim != 3 or scores.shape[:2] != boxes.shape[:2]:
        raise invalid_argument(name, f"scores must be 3-D and fit the boxes{scores.shape}")
    classes = scores.shape[2]
    if boxes.shape[2] not in (1, classes):
        raise invalid_argument(
            name, f"third dimension of boxes must be either 1 or num classes ({classes})"
        )
    each, total = integer(max_output_size_per_class, name), integer(max_total_size, name)
    if each <= 0 or total <= 0:
        raise invalid_argument(name, "max_size_per_class and max_total_size must be > 0")
    threshold, least = _fraction(name, iou_threshold), _number(score_threshold)
    places = min(total, each * classes) if pad_per_class else total
    results = [
        _best_of_classes(b, s, each, places, threshold, least, clip_boxes)
        for b, s in zip(boxes, scores, strict=True)
    ]
    columns = [np.stack(column) for column in zip(*results, strict=True)] if results else [
        np.zeros((0, places, 4), np.float32),
        np.zeros((0, places), np.float32),
        np.zeros((0, places), np.float32),
        np.zeros(0, np.int32),
    ]  # fmt: skip
    return CombinedNonMaxSuppression(*[EagerTensor(column) for column in columns])


def _best_of_classes(boxes, scores, each, places, threshold, least, clip_boxes):
    found = []
    for label in range(scores.shape[1]):
        own = boxes[:, min(label, boxes.shape[1] - 1)]
        ordered = _ordered(own)

        def similar(i, ordered=ordered):
            return _overlaps(ordered[i], ordered)

        kept = _suppressed(similar, scores[:, label], each, threshold, least)
        found += [(scores[i, label], label, own[i]) for i in kept]
    found.sort(key=lambda item: -item[0])
    found = found[:places]
    out_boxes = np.zeros((places, 4), np.float32)
    out_scores, out_classes = np.zeros(places, np.float32), np.zeros(places, np.float32)
    for i, (score, label, box) in enumerate(found):
        out_boxes[i] = np.clip(box, 0, 1) if clip_boxes else box
        out_scores[i], out_classes[i] = score, label
    return out_boxes, out_scores, out_classes, np.int32(len(found))
