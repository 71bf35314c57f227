"""Losses over many classes that look at the true ones and at a sample of the others."""

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import int64
from ..core.effects import performed
from ..core.exports import export
from ..core.tensor import EagerTensor
from .arithmetic import sub
from .broadcasting import reshape
from .candidate_sampling import compute_accidental_hits, log_uniform_candidate_sampler
from .casting import cast
from .contraction import matmul
from .cross_entropy import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits
from .elementwise import log
from .embedding import embedding_lookup
from .families import shape_of
from .identity import stop_gradient
from .joining import concat
from .reduction import reduce_sum


def _sampled_logits(
    weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
    remove_accidental_hits, seed,
):  # fmt: skip
    """The logits of true and of sampled classes, side by side, and what they should be."""
    inputs = convert_to_tensor(inputs)
    labels = cast(convert_to_tensor(labels), int64)
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            labels, num_true, num_sampled, True, num_classes, seed
        )
    sampled, true_expected, sampled_expected = [
        stop_gradient(convert_to_tensor(each)) for each in sampled_values
    ]
    sampled = cast(sampled, int64)
    examples = shape_of(inputs)[0]
    ids = concat([reshape(labels, shape=(-1,)), sampled], 0)
    count = examples * num_true
    all_weights = embedding_lookup(weights, ids)
    all_biases = embedding_lookup(biases, ids)
    width = shape_of(inputs)[1]
    true_weights = reshape(all_weights[:count], shape=(examples, num_true, width))
    true_logits = reduce_sum(true_weights * inputs[:, None, :], 2)
    true_logits += reshape(all_biases[:count], shape=(examples, num_true))
    sampled_logits = matmul(inputs, all_weights[count:], transpose_b=True) + all_biases[count:]
    if remove_accidental_hits:
        sampled_logits += cast(
            _hits(labels, sampled, num_true, shape_of(sampled_logits)), inputs.dtype
        )
    true_logits = sub(true_logits, log(true_expected))
    sampled_logits = sub(sampled_logits, log(sampled_expected))
    aims = np.zeros((examples, num_true + shape_of(sampled)[0]), inputs.dtype.numpy_dtype)
    aims[:, :num_true] = 1 / num_true
    return concat([true_logits, sampled_logits], 1), EagerTensor(aims)


@performed("ComputeAccidentalHits")
def _hits(labels, sampled, num_true, shape):
    """Very negative where a sample is a true class of its example."""
    hits = compute_accidental_hits(labels, sampled, num_true)
    weights = np.zeros(shape, np.float32)
    weights[hits.indices._value, hits.ids._value] = hits.weights._value
    return EagerTensor(weights)


@export("nn.nce_loss")
def nce_loss(
    weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
    remove_accidental_hits=False, name="nce_loss",
):  # fmt: skip
    """The loss of noise-contrastive estimation, for each example.

    Args:
        weights: a matrix (num_classes, width), or a list of its parts.
        biases: a vector (num_classes).
        labels: the true classes, integers (examples, num_true).
        inputs: the activations, a matrix (examples, width).
        num_sampled: how many classes to sample for the batch.
        num_classes: how many classes there are.
        num_true: how many true classes each example has.
        sampled_values: what a candidate sampler gives; if None, that of
            `tf.random.log_uniform_candidate_sampler`.
        remove_accidental_hits: whether to ignore samples that are true classes.

    Raises:
        InvalidArgumentError: the shapes do not fit, or a class does not exist.
    """
    logits, aims = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, None,
    )  # fmt: skip
    return reduce_sum(sigmoid_cross_entropy_with_logits(aims, logits), 1)


@export("nn.sampled_softmax_loss")
def sampled_softmax_loss(
    weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
    remove_accidental_hits=True, seed=None, name="sampled_softmax_loss",
):  # fmt: skip
    """The cross entropy of a softmax over the true and some sampled classes, for each example.

    The arguments are those of `tf.nn.nce_loss`, and

    Args:
        seed: an integer, for the same samples in every run.

    Raises:
        InvalidArgumentError: the shapes do not fit, or a class does not exist.
    """
    logits, aims = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, seed,
    )  # fmt: skip
    return softmax_cross_entropy_with_logits(aims, logits)
