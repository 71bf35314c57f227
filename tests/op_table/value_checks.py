"""Checks of values, shapes and dtypes, and of what an op must refuse."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.op import OPS, Spec
from gradtape.core.tensor import EagerTensor

from .arrays import assert_close, numpy_dtype, with_other_memory
from .calls import arrays_of, call, continuous, run, tensors_of

_NARROW = ("float16", "bfloat16", "float32")
# Units in the last place by which a value may differ from the reference.
_ROUNDING = 8


def value(case, sample):
    """The value is the reference's, in every dtype the op takes, however inputs lie in memory."""
    for inputs, goal in _in_every_dtype(case, sample):
        scattered = [EagerTensor(with_other_memory(x)) for x in inputs]
        for apply, tensors in ((run, tensors_of(inputs)), (call, scattered)):
            found = arrays_of(apply(case, tensors, sample.attrs))
            if case.verify is not None:
                case.verify(tuple(found), inputs, sample.attrs)
            else:
                _compare_with_reference(case, sample, inputs, goal, found)


def _compare_with_reference(case, sample, inputs, goal, found):
    expected = sample.expected
    if expected is None:
        widened = [x.astype(_wide(x.dtype)) for x in inputs] if goal else inputs
        expected = case.reference(*widened, **sample.attrs)
    expected = expected if isinstance(expected, (tuple, list)) else (expected,)
    for actual, wanted in zip(found, expected, strict=True):
        wanted = np.asarray(wanted)
        assert actual.dtype == _narrow(wanted.dtype, goal)
        # An elementwise op must be accurate in its small values too.
        relative = OPS[case.op].broadcasts is not None
        assert_close(actual, wanted, rounding=_ROUNDING * case.tolerance, relative=relative)


def _in_every_dtype(case, sample):
    """The inputs as given, then cast: pairs of inputs and the floating dtype they were cast to."""
    yield sample.inputs, None
    accepts = OPS[case.op].accepts
    if accepts is not None and all(x.dtype == np.int64 for x in sample.inputs):
        for dtype in sorted(accepts, key=str):
            if dtype.kind in "iu" and dtype != np.int64:
                yield tuple([x.astype(dtype) for x in sample.inputs]), None
    wide = {x.dtype for x in sample.inputs} & {np.dtype(np.float64), np.dtype(np.complex128)}
    for name in _NARROW:
        casts = {dtype: _narrow(dtype, name) for dtype in wide}
        if casts and all(_takes(case, dtype) for dtype in casts.values()):
            yield tuple([x.astype(casts.get(x.dtype, x.dtype)) for x in sample.inputs]), name


def _takes(case, dtype):
    if dtype is None:
        return False
    if case.dtypes is not None:
        return tf.as_dtype(dtype).name in case.dtypes
    accepts = OPS[case.op].accepts
    return accepts is None or dtype in accepts


def _wide(dtype):
    """The dtype in which the reference computes."""
    if dtype.kind == "c":
        return np.dtype(np.complex128)
    return np.dtype(np.float64) if tf.as_dtype(dtype).is_floating else dtype


def _narrow(dtype, name):
    """What float64 and complex128 are cast to along with the floating dtype; None if nothing is."""
    if name is not None and dtype == np.float64:
        return numpy_dtype(name)
    if name is not None and dtype == np.complex128:
        return np.dtype(np.complex64) if name == "float32" else None
    return dtype


def infer(case, sample):
    """Inferred shapes and dtypes are those of the result, with scalars of either kind at rank 0."""
    for inputs, _ in _in_every_dtype(case, sample):
        specs = [Spec(x.shape, x.dtype) for x in inputs]
        inferred = OPS[case.op].infer(*specs, **sample.attrs)
        inferred = (inferred,) if isinstance(inferred, Spec) else inferred
        scalars = [x[()] if x.ndim == 0 and x.dtype != object else x for x in inputs]
        for arrays in (scalars, inputs):
            outputs = run(case, [EagerTensor(x) for x in arrays], sample.attrs)
            for spec, out in zip(inferred, outputs, strict=True):
                assert isinstance(out._value, (np.ndarray, np.generic))
                assert spec.dtype == out._value.dtype
                assert isinstance(spec.shape, tuple)
                assert _agrees(spec.shape, out._value.shape)


def _agrees(inferred, actual):
    """Whether shapes are equal; a dimension that depends on values is inferred as None."""
    return len(inferred) == len(actual) and all(
        d is None or d == n for d, n in zip(inferred, actual, strict=True)
    )


def refuses(case, failure):
    """A bad call raises the right error, records nothing, and leaves the tape usable."""
    inputs = tensors_of(failure.inputs)
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([x, *continuous(inputs)])
        y = x * x
        recorded = len(tape._inner.records)
        for apply in (run, call):
            with pytest.raises(failure.error, match=failure.match):
                apply(case, inputs, failure.attrs)
        assert len(tape._inner.records) == recorded
        y = y * x
    assert tape.gradient(y, x).numpy() == 27.0
