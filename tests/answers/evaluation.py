"""Runs a call or an expression by either library: values, gradients, or the error.

`tf` is TensorFlow while answers are recorded and gradtape while they are compared. An answer is a
dict with "values", and "gradients" if there are any to take, or with "error" and "message".
"""

import re

import numpy as np

from .storage import encode

# Parts of TensorFlow's messages that are not the same in every run.
_CHANGING = re.compile(r"goo\.gle/debug\w+ *|(?<=for attr )'\w+' ")


def weights(shape, dtype):
    """The gradients of an output by which those of the inputs are taken: fixed, of both signs."""
    numbers = np.arange(np.prod(shape, dtype=int), dtype=np.float64)
    values = np.cos(1.0 + numbers)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * np.sin(2.0 + 3.0 * numbers)
    return values.reshape(shape).astype(dtype)


def is_continuous(tensor):
    """Whether gradients are taken of, and by, a tensor of its dtype."""
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def tensors_of(tf, value):
    """An array as a tensor, a list of arrays as a list; attributes as they are."""
    if isinstance(value, np.ndarray):
        return tf.constant(value)
    if isinstance(value, list):
        return [tensors_of(tf, item) for item in value]
    return value


def answer_of(tf, function, arguments):
    """The answer of `function(**arguments)`; sources of gradients are its tensors, by name."""
    try:
        ordered = [arguments[name] for name in sorted(arguments)]
        sources = [t for t in tf.nest.flatten(ordered) if tf.is_tensor(t)]
        sources = [t for t in sources if is_continuous(t)]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            results = flat_tensors(tf, function(**arguments))
        answer: dict = {"values": [encode(_array(tf, result)) for result in results]}
    except Exception as error:
        return _error(error)
    targets = [result for result in results if is_continuous(result)]
    if sources and targets:
        answer["gradients"] = _gradients(tf, tape, targets, sources)
    return answer


def flat_tensors(tf, results):
    """The tensors of a result, in order; numbers and shapes become tensors too."""
    return [
        tf.convert_to_tensor(item)
        for item in tf.nest.flatten(results, expand_composites=True)
        if item is not None
    ]


def _gradients(tf, tape, targets, sources):
    seeds = [tf.constant(weights(t.shape, t.dtype.as_numpy_dtype)) for t in targets]
    try:
        found = tape.gradient(targets, sources, output_gradients=seeds)
        return [None if g is None else encode(_array(tf, g)) for g in found]
    except Exception as error:
        return _error(error)


def _array(tf, value):
    array = np.asarray(tf.convert_to_tensor(value).numpy())
    return np.array(value.numpy(), object) if array.dtype.kind == "S" else array


def _error(error):
    lines = _CHANGING.sub("", str(error)).splitlines()
    return {"error": type(error).__name__, "message": lines[0][:200] if lines else ""}
