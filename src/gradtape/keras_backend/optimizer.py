"""The update of all variables by one of Keras's optimizers, as one traced function.

Outside of `fit`, `apply_gradients` runs as Python, some twenty small ops for each variable, and
takes longer than the rest of a training step. Only the arithmetic is traced: clipping, weight
decay, averages, schedules and constraints stay with Keras and run as before.
"""

import weakref
from typing import Any

from keras.src import ops
from keras.src.backend.common import get_autocast_scope
from keras.src.backend.common.stateless_scope import in_stateless_scope
from keras.src.optimizers.optimizer import BackendOptimizer

import gradtape as tf

from .core import Variable, convert_to_tensor

# Optimizers of others may do anything in `update_step`, so theirs always runs as Python.
_KERAS_OPTIMIZERS = "keras.src.optimizers."
_PLAIN = frozenset((bool, int, float, str, type(None)))
# How many sets of variables an optimizer keeps a function for; most have one or two.
_MOST_SETS = 16


def _update(optimizer, gradients, variables, learning_rate):
    for gradient, variable in zip(gradients, variables, strict=True):
        optimizer.update_step(gradient, variable, learning_rate)


class _TracedUpdate:
    """The update of some variables as a function of their gradients and of the learning rate."""

    def __init__(self, optimizer, variables):
        self._settings = _settings(optimizer)
        # Neither keeps the optimizer alive: it is what the functions are kept for.
        optimizer = weakref.ref(optimizer)

        def update(learning_rate, *gradients):
            _update(optimizer(), gradients, variables, learning_rate)

        self.run: Any = tf.function(update)

    def is_for(self, optimizer):
        """Whether the optimizer's settings, which the trace took as they were, are still those."""
        return _settings(optimizer) == self._settings


def _settings(optimizer):
    """Its numbers and words by value, the rest by identity, which keeps none of it alive."""
    return [x if type(x) in _PLAIN else id(x) for x in vars(optimizer).values()]


_updates: Any = weakref.WeakKeyDictionary()


def _update_step(self, grads, trainable_variables, learning_rate):
    """What `apply` calls for all variables together."""
    if not _can_be_traced(self, grads):
        return _update(self, grads, trainable_variables, learning_rate)
    known = _updates.setdefault(self, {})
    key = tuple([id(variable) for variable in trainable_variables])
    traced = known.get(key)
    if traced is None or not traced.is_for(self):
        if len(known) >= _MOST_SETS:
            known.clear()
        known[key] = _TracedUpdate(self, list(trainable_variables))
        # A first update runs as Python: there may be no other with these variables and settings.
        return _update(self, grads, trainable_variables, learning_rate)
    if isinstance(learning_rate, Variable):
        learning_rate = convert_to_tensor(learning_rate)
    if not isinstance(learning_rate, tf.Tensor):  # a number, from a function of the user's
        return _update(self, grads, trainable_variables, learning_rate)
    traced.run(learning_rate, *grads)


def _can_be_traced(optimizer, gradients):
    return (
        type(optimizer).__module__.startswith(_KERAS_OPTIMIZERS)
        and tf.executing_eagerly()
        and not in_stateless_scope()
        and get_autocast_scope() is None
        and all([isinstance(gradient, tf.Tensor) for gradient in gradients])
    )


_clip_dense = BackendOptimizer._clip_by_norm


def _clip_by_norm(self, values, axes=None):
    """What clips a gradient to `clipnorm`; rows of an embedding stay rows, with one factor."""
    if not isinstance(values, tf.IndexedSlices):
        return _clip_dense(self, values, axes)
    length = ops.sqrt(ops.sum(ops.square(values)))
    return ops.multiply(values, self.clipnorm / ops.maximum(length, self.clipnorm))


# The class is what Keras makes for a backend that brings no optimizer of its own.
BackendOptimizer._backend_update_step = _update_step
BackendOptimizer._clip_by_norm = _clip_by_norm
