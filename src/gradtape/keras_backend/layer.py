"""What Keras's layers inherit from their backend: a short way through `Layer.__call__`.

Before and after `call`, Keras converts arguments, binds them to the signature, builds, looks for
masks and more, which takes ten times as long as a small layer computes. Most of it has no effect
when a layer that was called before gets one tensor of its dtype: such a call leaves that out.
"""

import functools
import inspect
import weakref
from typing import Any

from keras.src.backend.common import get_autocast_scope
from keras.src.backend.common.masking import get_keras_mask
from keras.src.backend.common.name_scope import name_scope
from keras.src.distribution import distribution_lib
from keras.src.dtype_policies import DTypePolicyMap
from keras.src.utils import traceback_utils
from keras.src.utils.python_utils import is_default

import gradtape as tf


class NumpyLayer:
    """The base that `keras.Layer` asks of a backend."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if NumpyLayer in cls.__bases__:  # Keras's own class, from which all others inherit
            cls.__call__ = _with_short_way(cls.__call__)


def _with_short_way(call_in_full):
    @functools.wraps(call_in_full)
    def call(self, *args, **kwargs):
        if len(args) == 1 and _is_usual(self, args[0], kwargs):
            return _call(self, args[0], kwargs.get("training"))
        return call_in_full(self, *args, **kwargs)

    return call


def _is_usual(layer, x, kwargs):
    """Whether nothing counts but the check of `x`, the value of `training` and the name scope."""
    if not isinstance(x, tf.Tensor) or not getattr(layer, "_called", False) or not layer.built:
        return False
    policy = layer._dtype_policy
    return (
        (not kwargs or (len(kwargs) == 1 and type(kwargs.get("training")) is bool))
        and not isinstance(policy, DTypePolicyMap)
        and policy.quantization_mode is None
        and policy.compute_dtype == policy.variable_dtype
        and x.dtype.name == layer.input_dtype == layer.compute_dtype
        and get_autocast_scope() is None
        and get_keras_mask(x) is None
        and layer.activity_regularizer is None
        and not layer._remat_mode
        and layer._parent_path is not None
        and len(layer._call_context_args) == 1
        and distribution_lib.distribution() is None
        and _takes_one_tensor(layer)
    )


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_answers: Any = weakref.WeakKeyDictionary()


def _takes_one_tensor(layer):
    """Whether `call` can do with its first argument, and no other holds a tensor by default."""
    answer = _answers.get(layer)
    if answer is None:
        parameters = list(layer._call_signature.parameters.values())
        answer = _answers[layer] = (
            bool(parameters)
            and parameters[0].kind in _BY_PLACE
            and all([_may_be_left_out(each) for each in parameters[1:]])
        )
    return answer


def _may_be_left_out(parameter):
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return True
    return parameter.default is None or type(parameter.default) in (bool, int, float, str)


@traceback_utils.filter_traceback
def _call(layer, x, training):
    layer._assert_input_compatibility(x)
    context = layer._get_call_context()
    takes_training = layer._call_has_training_arg
    if training is None:
        training = context.get_value("training")
        if training is None and takes_training:
            training = layer._call_signature.parameters["training"].default
    context.set_value("training", training)
    kwargs = {"training": training} if takes_training and training is not None else {}
    try:
        with name_scope(layer.name, caller=layer):
            try:
                outputs = layer.call(x, **kwargs)
            except Exception as error:
                _raise_with_arguments(error, layer, x, kwargs)
        if layer.supports_masking and not is_default(layer.compute_mask):
            layer._set_mask_metadata(x, outputs, None)
    finally:
        layer._maybe_reset_call_context()
    return outputs


def _raise_with_arguments(error, layer, x, kwargs):
    """Raises what Keras makes of an error in `call`, which tells of the arguments."""

    @functools.wraps(layer.call)
    def fail(*args, **kwargs):
        raise error

    name = f"{type(layer).__name__}.call()"
    traceback_utils.inject_argument_info_in_traceback(fail, object_name=name)(x, **kwargs)
