"""Fourier transforms over any axes: fftnd and its kin."""

import math

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arguments import integer_tuple
from .arithmetic import mul
from .broadcasting import not_allowed, words
from .families import linear, shape_of
from .fourier import (
    _COMPLEX,
    _COMPLEX_OF,
    _REAL_OF,
    _SINGLE_AND_DOUBLE,
    _half,
    _inverse_adjoint,
    _real_adjoint,
    _real_inverse,
    _real_transform,
    _replaced,
    complex_input,
    fitted,
    real_input,
)


def _check(name, x, accepts, fft_length, axes):
    if x.dtype not in accepts:
        raise not_allowed(name, x.dtype, accepts)
    rank = len(x.shape)
    if len(fft_length) != len(axes):
        raise invalid_argument(
            name,
            f"axes must have the same size as fft_length. Got {words(axes)} and "
            f"{words(fft_length)}",
        )
    if any([not -rank <= a < rank for a in axes]):
        raise invalid_argument(name, f"axes {words(axes)} are out of range for rank {rank}")
    if len({a % rank for a in axes}) != len(axes):
        raise invalid_argument(name, f"axes {words(axes)} must be unique")
    if min(fft_length, default=0) < 0:
        raise invalid_argument(name, f"fft_length must be >= 0, but got: {min(fft_length)}")


def _batch(op, values, flags, attrs):
    rank = len(shape_of(values[0])) - 1
    return op.call(
        values[0], fft_length=attrs["fft_length"], axes=tuple([a % rank + 1 for a in attrs["axes"]])
    )


def _complex_kernel(transform):
    def kernel(input, fft_length, axes):
        if not input.size or not math.prod(fft_length):
            return np.zeros(_replaced(input.shape, axes, fft_length), input.dtype)
        return transform(input, fft_length, axes)

    return kernel


def _infer_complex(name):
    def infer(input, *, fft_length, axes):
        _check(name, input, _COMPLEX, fft_length, axes)
        return Spec(_replaced(input.shape, axes, fft_length), input.dtype)

    return infer


def _own_sizes(shape, axes):
    return tuple([shape[a] for a in axes])


def _forward_adjoint(g, input_shape, *, fft_length, axes):
    spread = mul(ifftnd_row(g, fft_length=fft_length, axes=axes), float(math.prod(fft_length)))
    return fitted(spread, _own_sizes(input_shape, axes), axes)


def _backward_adjoint(g, input_shape, *, fft_length, axes):
    share = 1.0 / max(math.prod(fft_length), 1)
    spread = mul(fftnd_row(g, fft_length=fft_length, axes=axes), share)
    return fitted(spread, _own_sizes(input_shape, axes), axes)


fftnd_row = linear(
    "FFTND",
    _complex_kernel(np.fft.fftn),
    inputs="input",
    infer=_infer_complex("FFTND"),
    transpose=_forward_adjoint,
    batch=_batch,
)

ifftnd_row = linear(
    "IFFTND",
    _complex_kernel(np.fft.ifftn),
    inputs="input",
    infer=_infer_complex("IFFTND"),
    transpose=_backward_adjoint,
    batch=_batch,
)


def _infer_real(input, *, fft_length, axes):
    _check("RFFTND", input, _SINGLE_AND_DOUBLE, fft_length, axes)
    return Spec(_replaced(input.shape, axes, _half(fft_length)), _COMPLEX_OF[input.dtype])


def _infer_real_inverse(input, *, fft_length, axes):
    _check("IRFFTND", input, _COMPLEX, fft_length, axes)
    return Spec(_replaced(input.shape, axes, fft_length), _REAL_OF[input.dtype])


rfftnd_row = linear(
    "RFFTND",
    _real_transform,
    inputs="input",
    infer=_infer_real,
    transpose=lambda g, input_shape, *, fft_length, axes: _real_adjoint(
        g,
        fft_length,
        axes,
        input_shape,
        lambda x: irfftnd_row(x, fft_length=fft_length, axes=axes),
    ),
    batch=_batch,
    raw="input, fft_length, axes, Tcomplex:=tf.complex64",
)

irfftnd_row = linear(
    "IRFFTND",
    _real_inverse,
    inputs="input",
    infer=_infer_real_inverse,
    transpose=lambda g, input_shape, *, fft_length, axes: _inverse_adjoint(
        g,
        fft_length,
        axes,
        input_shape,
        lambda x: rfftnd_row(x, fft_length=fft_length, axes=axes),
    ),
    batch=_batch,
    raw="input, fft_length, axes, Treal:=tf.float32",
)


def _transform(row, x, fft_length, axes, norm, inverse):
    """Applies a row; the factor of `norm` goes to the input, as TensorFlow has it."""
    name = row.op.name
    axes = tuple(range(x.ndim)) if axes is None else integer_tuple(axes, name, "T", "axes")
    if fft_length is None:
        lengths = list(shape_of(x))
        if row is irfftnd_row:
            lengths[-1] = max(0, 2 * (lengths[-1] - 1))
        lengths = tuple(lengths)
    else:
        lengths = integer_tuple(fft_length, name, "T", "fft_length")
    count = math.prod(lengths)
    if norm not in (None, "backward", "forward", "ortho"):
        raise ValueError(f"norm must be None, 'backward', 'forward' or 'ortho'. Received: {norm!r}")
    if norm in ("forward", "ortho"):
        factor = float(count) if norm == "forward" else math.sqrt(count)
        x = mul(x, factor if inverse else 1 / factor)
    return apply(row.op, (x,), {"fft_length": lengths, "axes": axes})


@export("signal.fftnd")
def fftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The Fourier transform of a complex tensor over any axes.

    Args:
        input_tensor: the tensor.
        fft_length: for each axis the length to cut or fill it to.
        axes: the axes; all if None.
        norm: `"backward"`, `"ortho"` or `"forward"`: which way is divided by the length.

    Raises:
        InvalidArgumentError: the lengths do not fit the axes, or there are no such axes.
    """
    x = convert_to_tensor(input_tensor, dtype_hint=dtypes.complex64)
    return _transform(fftnd_row, x, fft_length, axes, norm, False)


@export("signal.ifftnd")
def ifftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The inverse of `tf.signal.fftnd`, with the same arguments."""
    x = convert_to_tensor(input_tensor, dtype_hint=dtypes.complex64)
    return _transform(ifftnd_row, x, fft_length, axes, norm, True)


@export("signal.rfftnd")
def rfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The Fourier transform of real numbers over any axes; the last keeps half of its length.

    The arguments are those of `tf.signal.fftnd`.

    Raises:
        ValueError: the tensor is not real.
    """
    return _transform(rfftnd_row, real_input(input_tensor, 1), fft_length, axes, norm, False)


@export("signal.irfftnd")
def irfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The inverse of `tf.signal.rfftnd`, with the same arguments.

    Raises:
        ValueError: the tensor is not complex.
    """
    return _transform(irfftnd_row, complex_input(input_tensor, 1), fft_length, axes, norm, True)
