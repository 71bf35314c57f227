"""Calls of `tf.raw_ops`, made from the samples and failures of a case.

A call is a dict of keyword arguments in which arrays stand for tensors, lists of arrays for lists
of tensors, and everything else is an attribute.
"""

import inspect

import numpy as np

from gradtape import raw_ops
from gradtape.core.op import OPS

_NARROW = {
    np.dtype(np.float64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.complex64),
}


class NoCallError(Exception):
    """The raw op cannot be called like this; the message says why."""


def call_of(case, sample):
    """The keyword arguments of `tf.raw_ops` that stand for a sample or failure.

    Raises:
        NoCallError: there are none.
    """
    call = _call_of(case, sample)
    return {name: getattr(value, "numpy_dtype", value) for name, value in call.items()}


def _call_of(case, sample):
    explicit = getattr(sample, "raw", None)
    if explicit is not None:
        return explicit
    op = OPS[case.op]
    if case.raw is not None:
        made = case.raw(*sample.inputs, **sample.attrs)
        if made is None:
            raise NoCallError("TensorFlow's op has no such argument")
        return made
    inputs = {"".join(op.inputs).lstrip("*"): list(sample.inputs)} if op.variadic else {}
    if not op.variadic:
        inputs = dict(zip(op.inputs, sample.inputs, strict=True))
    known = {**inputs, **sample.attrs}
    return _by_function(op, known) if callable(op.raw) else _by_names(op, known)


def _by_function(op, known):
    if isinstance(known.get("padding"), tuple):  # given in numbers, which is an argument of its own
        numbers = tuple([int(n) for pair in known["padding"] for n in pair])
        known = {**known, "padding": "EXPLICIT", "explicit_paddings": numbers}
    parameters = inspect.signature(op.raw).parameters.values()
    required = {p.name for p in parameters if p.default is inspect.Parameter.empty}
    names = {p.name for p in parameters}
    if not required <= set(known) or not set(known) <= names:
        raise NoCallError(f"its case needs `raw`: arguments {sorted(names)}, row {sorted(known)}")
    return known


def _by_names(op, known):
    if isinstance(known.get("padding"), tuple):
        raise NoCallError("TensorFlow's op does not take padding in numbers")
    call = {}
    for argument in raw_ops._parse(op)[0]:
        if not argument.name and known[argument.own] != argument.default:
            raise NoCallError(f"TensorFlow's op has no argument {argument.own}")
        if argument.name and argument.own in known:
            call[argument.name] = known[argument.own]
    return call


def narrowed(call):
    """The same call in float32 and complex64; None if it holds nothing wider."""
    small = {name: _narrow(value) for name, value in call.items()}
    return small if any([small[name] is not value for name, value in call.items()]) else None


def _narrow(value):
    if isinstance(value, np.ndarray):
        return value.astype(_NARROW[value.dtype]) if value.dtype in _NARROW else value
    if isinstance(value, np.dtype):
        return _NARROW.get(value, value)
    if isinstance(value, list) and any([_narrow(item) is not item for item in value]):
        return [_narrow(item) for item in value]
    return value
