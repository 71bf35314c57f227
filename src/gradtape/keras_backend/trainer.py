"""Training, evaluation and prediction of Keras models, each step a traced function."""

import itertools
import warnings
from typing import TYPE_CHECKING, Any

from keras.src import (
    callbacks as callbacks_module,
    metrics as metrics_module,
    optimizers as optimizers_module,
    tree,
)
from keras.src.backend import config
from keras.src.trainers import trainer as base_trainer
from keras.src.trainers.data_adapters import array_slicing, data_adapter_utils
from keras.src.trainers.epoch_iterator import EpochIterator
from keras.src.utils import traceback_utils
from keras.src.utils.python_utils import is_default, pythonify_logs

import gradtape as tf

from . import optimizer as optimizer  # gives Keras's optimizers their update
from .batches import Shapes, as_output, as_tensors, joined
from .datasets import iterator_over


class NumpyTrainer(base_trainer.Trainer):
    """What `keras.Model` inherits from its backend: `fit`, `evaluate`, `predict` and their parts.

    The functions that run a step take a list of batches, which is what one execution gets.
    """

    if TYPE_CHECKING:  # what the model has besides
        __call__: Any
        _call_has_training_arg: bool
        _flatten_layers: Any
        _loss_tracker: Any
        history: Any
        optimizer: Any
        trainable_weights: Any

    train_function: Any
    test_function: Any
    predict_function: Any
    _eval_epoch_iterator: Any

    def __init__(self):
        super().__init__()
        self.train_function = None
        self.test_function = None
        self.predict_function = None

    # Steps, which models may replace ------------------------------------------------------------

    def train_step(self, data):
        """One update of the weights; returns the metrics so far."""
        x, y, sample_weight = data_adapter_utils.unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            y_pred, loss = self._forward(x, y, sample_weight, training=True)
            if self.optimizer is not None:
                loss = self.optimizer.scale_loss(loss)
        weights = self.trainable_weights
        if weights:
            gradients = tape.gradient(loss, weights)
            pairs = zip(gradients, weights, strict=True)
            self.optimizer.apply_gradients(pairs)  # pyright: ignore[reportOptionalMemberAccess]
        else:
            warnings.warn("The model does not have any trainable weights.", stacklevel=1)
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def test_step(self, data):
        """Loss and metrics of one batch; returns the metrics so far."""
        x, y, sample_weight = data_adapter_utils.unpack_x_y_sample_weight(data)
        y_pred, _ = self._forward(x, y, sample_weight, training=False)
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def predict_step(self, data):
        """The outputs for one batch."""
        x, _, _ = data_adapter_utils.unpack_x_y_sample_weight(data)
        return self._call_model(x, training=False)

    def _call_model(self, x, training):
        return self(x, training=training) if self._call_has_training_arg else self(x)

    def _forward(self, x, y, sample_weight, training):
        """Outputs and loss of one batch; the loss is counted once for each example."""
        y_pred = self._call_model(x, training)
        loss = self._compute_loss(
            x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=training
        )
        examples = next(leaf for leaf in tree.flatten(x) if leaf is not None)
        self._loss_tracker.update_state(loss, sample_weight=examples.shape[0])
        return y_pred, loss

    # Steps as functions of the batches of one execution -----------------------------------------

    def make_train_function(self, force=False):
        """Makes `train_function`, if there is none or with `force`, and returns it."""
        if self.train_function is None or force:
            self.train_function = _last_result(self._as_function(self.train_step))
        return self.train_function

    def make_test_function(self, force=False):
        """Makes `test_function`, if there is none or with `force`, and returns it."""
        if self.test_function is None or force:
            self.test_function = _last_result(self._as_function(self.test_step))
        return self.test_function

    def make_predict_function(self, force=False):
        """Makes `predict_function`, if there is none or with `force`, and returns it."""
        if self.predict_function is None or force:
            self.predict_function = _joined_results(self._as_function(self.predict_step))
        return self.predict_function

    def _as_function(self, step):
        """A step from a batch of arrays, traced once for each shape of batches.

        Where batches have many shapes, those are traced that come again and again.
        """
        if self.run_eagerly:
            return lambda batch: step(as_tensors(batch))
        options = {"jit_compile": self.jit_compile, "reduce_retracing": True}
        traced = tf.function(_OnParts(step), **options)
        shapes = Shapes()
        made_all = False

        def run(batch):
            nonlocal made_all
            batch = as_tensors(batch)
            # What makes variables runs as Python: a trace is for those that are there.
            makes_some = not made_all and not self._has_all_variables()
            if makes_some or not shapes.are_worth_a_trace(batch):
                result = step(batch)
            elif type(batch) is tuple:
                result = traced(True, *batch)
            else:
                result = traced(False, batch)
            made_all = True
            return result

        return run

    def _has_all_variables(self):
        parts = [self.optimizer, self._compile_metrics, self._compile_loss] if self.compiled else []
        parts += self._flatten_layers()
        return all([part is None or part.built for part in parts])

    # Loops --------------------------------------------------------------------------------------

    @traceback_utils.filter_traceback
    def fit(
        self,
        x=None,
        y=None,
        batch_size=None,
        epochs=1,
        verbose="auto",
        callbacks=None,
        validation_split=0.0,
        validation_data=None,
        shuffle=True,
        class_weight=None,
        sample_weight=None,
        initial_epoch=0,
        steps_per_epoch=None,
        validation_steps=None,
        validation_batch_size=None,
        validation_freq=1,
    ):
        """Trains for a number of epochs; see `keras.Model.fit`."""
        self._assert_compile_called("fit")
        limit = config.max_epochs()
        if limit and limit < epochs:
            warnings.warn(f"Limiting epochs to {limit}", stacklevel=2)
            epochs = limit
        if validation_split and validation_data is None:
            parts: Any = array_slicing.train_validation_split(
                (x, y, sample_weight), validation_split=validation_split
            )
            (x, y, sample_weight), validation_data = parts
        iterator = _Batches(
            x=x,
            y=y,
            sample_weight=sample_weight,
            batch_size=batch_size,
            steps_per_epoch=steps_per_epoch,
            shuffle=shuffle,
            class_weight=class_weight,
            steps_per_execution=self.steps_per_execution,
        )
        evaluation = {
            "batch_size": validation_batch_size or batch_size,
            "steps": validation_steps,
        }
        if validation_data is not None:
            parts = data_adapter_utils.unpack_x_y_sample_weight(validation_data)
            evaluation.update(zip(("x", "y", "sample_weight"), parts, strict=True))
        callbacks = self._callback_list(
            callbacks, verbose, iterator, epochs=epochs, add_history=True
        )
        self._eval_epoch_iterator = None
        self.stop_training = False
        self.make_train_function()
        callbacks.on_train_begin()
        # The names of an epoch without batches are those of the epoch before.
        logs, epoch_logs = {}, None
        for epoch in range(self._initial_epoch or initial_epoch, epochs):
            self.reset_metrics()
            callbacks.on_epoch_begin(epoch)
            for begin, end, batches in iterator:
                callbacks.on_train_batch_begin(begin)
                logs = self.train_function(batches)
                callbacks.on_train_batch_end(end, logs)
                if self.stop_training:
                    break
            epoch_logs = dict(self._get_metrics_result_or_logs(logs))
            if validation_data is not None and self._should_eval(epoch, validation_freq):
                found = self._validate(evaluation, callbacks)
                epoch_logs.update({f"val_{name}": value for name, value in found.items()})
            callbacks.on_epoch_end(epoch, epoch_logs)
            if self.stop_training:
                break
        if isinstance(self.optimizer, optimizers_module.Optimizer) and epochs > 0:
            self.optimizer.finalize_variable_values(self.trainable_weights)
        self._eval_epoch_iterator = None
        callbacks.on_train_end(logs=epoch_logs)
        return self.history

    def _validate(self, evaluation, callbacks):
        """Evaluates between epochs, on an iterator that is made once for all of them."""
        if self._eval_epoch_iterator is None:
            self._eval_epoch_iterator = self._iterator_in_order(**evaluation)
        return self.evaluate(
            **evaluation, callbacks=callbacks, return_dict=True, _use_cached_eval_dataset=True
        )

    def _iterator_in_order(self, x, y=None, sample_weight=None, batch_size=None, steps=None):
        return _Batches(
            x=x,
            y=y,
            sample_weight=sample_weight,
            batch_size=batch_size,
            steps_per_epoch=steps,
            shuffle=False,
            steps_per_execution=self.steps_per_execution,
        )

    def _callback_list(self, callbacks, verbose, iterator, epochs=1, add_history=False):
        if isinstance(callbacks, callbacks_module.CallbackList):
            return callbacks
        return _Callbacks(
            callbacks,
            add_history=add_history,
            add_progbar=verbose != 0,
            verbose=verbose,
            epochs=epochs,
            steps=iterator.num_batches,
            model=self,
        )

    @traceback_utils.filter_traceback
    def evaluate(
        self,
        x=None,
        y=None,
        batch_size=None,
        verbose="auto",
        sample_weight=None,
        steps=None,
        callbacks=None,
        return_dict=False,
        **kwargs,
    ) -> Any:
        """Loss and metrics on data; see `keras.Model.evaluate`."""
        self._assert_compile_called("evaluate")
        use_cached = kwargs.pop("_use_cached_eval_dataset", False)
        if kwargs:
            raise ValueError(f"Arguments not recognized: {kwargs}")
        if use_cached:
            iterator = self._eval_epoch_iterator
            iterator.reset()
        else:
            iterator = self._iterator_in_order(x, y, sample_weight, batch_size, steps)
        callbacks = self._callback_list(callbacks, verbose, iterator)
        self.make_test_function()
        self.stop_evaluating = False
        callbacks.on_test_begin()
        self.reset_metrics()
        logs = {}
        for begin, end, batches in iterator:
            callbacks.on_test_batch_begin(begin)
            logs = self.test_function(batches)
            callbacks.on_test_batch_end(end, logs)
            if self.stop_evaluating:
                break
        logs = pythonify_logs(self._get_metrics_result_or_logs(logs))
        callbacks.on_test_end(logs)
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    @traceback_utils.filter_traceback
    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        """The outputs for data, as NumPy arrays; see `keras.Model.predict`."""
        iterator = self._iterator_in_order(x, batch_size=batch_size, steps=steps)
        callbacks = self._callback_list(callbacks, verbose, iterator)
        self.make_predict_function()
        self.stop_predicting = False
        callbacks.on_predict_begin()
        results = []
        for begin, end, batches in iterator:
            callbacks.on_predict_batch_begin(begin)
            outputs = tree.map_structure(as_output, self.predict_function(batches))
            results.append(outputs)
            callbacks.on_predict_batch_end(end, {"outputs": outputs})
            if self.stop_predicting:
                break
        if not results:
            raise ValueError("`predict` needs at least one batch of data. Received none.")
        callbacks.on_predict_end()
        return joined(results)

    # Single batches -----------------------------------------------------------------------------

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, return_dict=False):
        """One update on one batch; see `keras.Model.train_on_batch`."""
        self._assert_compile_called("train_on_batch")
        if class_weight is not None:
            if sample_weight is not None:
                raise ValueError(
                    "Arguments `sample_weight` and `class_weight` cannot be specified at the same "
                    f"time. Received: sample_weight={sample_weight}, class_weight={class_weight}"
                )
            sample_weight = data_adapter_utils.class_weight_to_sample_weights(y, class_weight)
        return self._run_on_batch(self.make_train_function(), (x, y, sample_weight), return_dict)

    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False):
        """Loss and metrics on one batch; see `keras.Model.test_on_batch`."""
        self._assert_compile_called("test_on_batch")
        return self._run_on_batch(self.make_test_function(), (x, y, sample_weight), return_dict)

    def _run_on_batch(self, function, batch, return_dict):
        self.reset_metrics()
        logs = pythonify_logs(function([batch]))
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    def predict_on_batch(self, x):
        """The outputs for one batch, as NumPy arrays; see `keras.Model.predict_on_batch`."""
        return tree.map_structure(as_output, self.make_predict_function()([(x,)]))

    # What training steps written for earlier versions of Keras use ------------------------------

    def compiled_loss(self, y, y_pred, sample_weight=None, regularization_losses=None):
        """The loss of outputs, as `compute_loss` gives it."""
        warnings.warn(
            "`model.compiled_loss()` is deprecated. Instead, use "
            "`model.compute_loss(x, y, y_pred, sample_weight, training)`.",
            stacklevel=2,
        )
        return self.compute_loss(x=None, y=y, y_pred=y_pred, sample_weight=sample_weight)

    @property
    def compiled_metrics(self):
        """All metrics, to be updated together."""
        return _AllMetrics(self)


class _AllMetrics:
    def __init__(self, model):
        self._model = model

    def update_state(self, y, y_pred, sample_weight=None):
        warnings.warn(
            "`model.compiled_metrics()` is deprecated. Instead, use e.g.:\n```\n"
            "for metric in self.metrics:\n    metric.update_state(y, y_pred)\n```\n",
            stacklevel=2,
        )
        for metric in self._model.metrics:
            compared = (y_pred,) if type(metric) is metrics_module.Mean else (y, y_pred)
            metric.update_state(*compared, sample_weight=sample_weight)


class _OnParts:
    """A step on a batch given part by part: calls of a function are quick without a structure.

    Being an object, it has retraces counted for one model, not for all that have this code.
    """

    def __init__(self, step):
        self._step = step
        self.__name__ = step.__name__

    def __call__(self, is_tuple, *parts):
        return self._step(parts if is_tuple else parts[0])


class _Batches(EpochIterator):
    """Batches in groups for one execution each; the last may be smaller, without a warning."""

    _epoch_iterator: Any

    def _get_iterator(self):
        return iterator_over(self.data_adapter)

    def __next__(self):
        begin, end, batches = next(self._epoch_iterator)
        group = list(itertools.islice(batches, self.steps_per_execution))
        if group:
            return begin, end, group
        with self.catch_stop_iteration():
            raise StopIteration
        raise StopIteration


class _Callbacks(callbacks_module.CallbackList):
    """Callbacks that are called at once.

    A thread for them would gain nothing: when a step returns, its results are there.
    """

    def _configure_async_dispatch(self, callbacks):
        self._async_train = self._async_test = self._async_predict = False

    # Whether a callback does something at a batch: logs are made for that alone.
    _at_begin = _at_end = True

    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        self._at_begin = self._do("on_train_batch_begin", "on_batch_begin")
        self._at_end = self._do("on_train_batch_end", "on_batch_end")

    def _do(self, *hooks):
        return any(
            [not is_default(getattr(c, hook, None)) for c in self.callbacks for hook in hooks]
        )

    def on_train_batch_begin(self, batch, logs=None):
        if self._at_begin:
            super().on_train_batch_begin(batch, logs)

    def on_train_batch_end(self, batch, logs=None):
        if self._at_end:
            super().on_train_batch_end(batch, logs)


def _last_result(function):
    """Runs all batches of an execution; their metrics add up, so the last are those of all."""

    def run(batches):
        for batch in batches:
            logs = function(batch)
        return logs

    return run


def _joined_results(function):
    """Runs all batches of an execution, and joins their outputs."""
    return lambda batches: joined([function(batch) for batch in batches])
