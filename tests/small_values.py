"""Values and gradients as plain lists, for tests that compare few numbers."""

import numpy as np

import gradtape as tf


def values(structure):
    """The structure with every tensor as a list or number."""
    return tf.nest.map_structure(lambda x: x.numpy().tolist(), structure)


def gradient(function, x):
    """The gradient of a function at `x`, as a list or number."""
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x).numpy().tolist()


def numbers(structure):
    """The structure with every tensor as a list or number; None stays None."""
    return tf.nest.map_structure(
        lambda t: None if t is None else np.asarray(t.numpy()).tolist(), structure
    )
