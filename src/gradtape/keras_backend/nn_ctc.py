"""Connectionist temporal classification: labels of sequences without their alignment."""

import numpy as np
from keras.src.backend.common import dtypes

import gradtape as tf

from .core import cast, convert_to_tensor


def _when_values_are_known(function, tensors, result_dtypes):
    """`function` of tensors whose values decide the shapes inside it, also while tracing."""
    if any([tf.is_symbolic_tensor(tensor) for tensor in tensors]):
        return tf.py_function(function, tensors, result_dtypes)
    return function(*tensors)


def ctc_loss(target, output, target_length, output_length, mask_index=0):
    target = convert_to_tensor(target, dtype="int32")
    output = convert_to_tensor(output)
    output = cast(output, dtypes.result_type(output.dtype, "float32"))
    target_length = convert_to_tensor(target_length, dtype="int32")
    output_length = convert_to_tensor(output_length, dtype="int32")
    blank = mask_index % output.shape[-1]

    def loss(target, output, target_length, output_length):
        is_blank = tf.logical_and(_counted(target, target_length), target == blank)
        if tf.reduce_any(is_blank):
            return _loss_with_blanks(target, output, target_length, output_length, blank, is_blank)
        return _loss(target, output, target_length, output_length, blank)

    tensors = (target, output, target_length, output_length)
    return _when_values_are_known(loss, tensors, output.dtype)


def _counted(x, lengths):
    """Which places along the second axis are within the lengths."""
    return tf.range(x.shape[1]) < lengths[:, None]


def _loss(target, output, target_length, output_length, blank):
    return tf.nn.ctc_loss(
        target, output, target_length, output_length, logits_time_major=False, blank_index=blank
    )


def _loss_with_blanks(target, output, target_length, output_length, blank, is_blank):
    """The loss where blanks are among the labels, as another class with the blank's chances."""
    chances = tf.nn.log_softmax(output)
    of_blank = chances[..., blank : blank + 1]
    chances = tf.concat([chances, of_blank], axis=-1)
    target = tf.where(is_blank, output.shape[-1], target)
    loss = _loss(target, chances, target_length, output_length, blank)
    # These chances add up to more than 1 in a frame. All alignments are divided by these sums.
    excess = tf.math.log1p(tf.exp(of_blank[..., 0]))
    live = _counted(excess, output_length)
    return loss - tf.reduce_sum(tf.where(live, excess, tf.zeros_like(excess)), axis=1)


def ctc_decode(
    inputs,
    sequence_lengths,
    strategy="greedy",
    beam_width=100,
    top_paths=1,
    merge_repeated=True,
    mask_index=0,
):
    """The labels of each sequence, filled up with -1, and their scores."""
    inputs = convert_to_tensor(inputs)
    inputs = cast(inputs, dtypes.result_type(inputs.dtype, "float32"))
    lengths = convert_to_tensor(sequence_lengths, dtype="int32")
    classes = inputs.shape[-1]
    blank = classes - 1 if mask_index is None else mask_index % classes
    if strategy == "greedy":
        return _greedy(inputs, lengths, blank, merge_repeated)
    if strategy == "beam_search":
        return _beam_search(inputs, lengths, blank, beam_width, top_paths)
    raise ValueError(
        f"Invalid strategy {strategy}. Supported values are 'greedy' and 'beam_search'."
    )


def _greedy(inputs, lengths, blank, merge_repeated):
    counted = _counted(inputs, lengths)
    best = tf.argmax(inputs, axis=-1, output_type="int32")
    kept = tf.logical_and(counted, best != blank)
    if merge_repeated:
        first_of_run = tf.pad(best[:, 1:] != best[:, :-1], [[0, 0], [1, 0]], constant_values=True)
        kept = tf.logical_and(kept, first_of_run)
    # What is kept goes to the front, in its order.
    order = tf.argsort(tf.where(kept, 0, 1), axis=-1, stable=True)
    labels = tf.gather(tf.where(kept, best, -1), order, axis=1, batch_dims=1)
    highest = tf.reduce_max(inputs, axis=-1)
    total = tf.reduce_sum(tf.where(counted, highest, tf.zeros_like(highest)), axis=1, keepdims=True)
    return labels[None], -total


def _beam_search(inputs, lengths, blank, beam_width, top_paths):
    examples, frames, classes = tuple(inputs.shape)
    # TensorFlow's decoder takes the last class for the blank.
    labels = np.delete(np.arange(classes), blank)
    logits = tf.gather(inputs, [*labels, blank], axis=2)

    def search(logits, lengths):
        decoded, scores = tf.nn.ctc_beam_search_decoder(
            tf.transpose(logits, [1, 0, 2]), lengths, beam_width, top_paths
        )
        paths = []
        for path in decoded:
            whole = tf.SparseTensor(path.indices, path.values, (examples, frames))
            paths.append(tf.sparse.to_dense(whole, default_value=-1))
        return tf.cast(tf.stack(paths), "int32"), scores

    paths, scores = _when_values_are_known(search, (logits, lengths), ["int32", logits.dtype])
    return tf.where(paths >= blank, paths + 1, paths), scores
