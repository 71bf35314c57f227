"""Fourier transforms: over the last one, two or three axes, or any; of complex or real numbers."""

import math

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arguments import integer_tuple
from .arithmetic import mul
from .broadcasting import not_allowed, words
from .casting import cast
from .families import dtype_of, linear, shape_of
from .padding import pad_row
from .permutation import roll
from .slicing import EVERYTHING, strided_slice_row

_COMPLEX = frozenset([np.dtype(np.complex64), np.dtype(np.complex128)])
_SINGLE_AND_DOUBLE = frozenset([np.dtype(np.float32), np.dtype(np.float64)])
_COMPLEX_OF = {
    np.dtype(np.float32): np.dtype(np.complex64),
    np.dtype(np.float64): np.dtype(np.complex128),
}
_REAL_OF = {complex_: real for real, complex_ in _COMPLEX_OF.items()}


def fitted(x, sizes, axes):
    """`x` cut, or filled up with zeros, at the end of each of these axes."""
    shape = shape_of(x)
    rank = len(shape)
    goal = dict(zip([a % rank for a in axes], sizes, strict=True))
    if any(goal.get(i, d) < d for i, d in enumerate(shape)):
        key = [(0, goal[i], 1) if goal.get(i, d) < d else EVERYTHING for i, d in enumerate(shape)]
        x = strided_slice_row(x, key=tuple(key))
    missing = [max(goal.get(i, d) - d, 0) for i, d in enumerate(shape)]
    return pad_row(x, paddings=tuple([(0, m) for m in missing])) if any(missing) else x


def _check(name, x, accepts, attr, rank, fft_length=None):
    if x.dtype not in accepts:
        raise not_allowed(name, x.dtype, accepts)
    if len(x.shape) < rank:
        raise invalid_argument(name, f"Input must have rank of at least {rank}: {words(x.shape)}")
    if fft_length is not None:
        if len(fft_length) != rank:
            raise invalid_argument(
                name, f"fft_length must have shape [{rank}]. Received: {words(fft_length)}"
            )
        if min(fft_length, default=0) < 0:
            raise invalid_argument(name, f"fft_length must be >= 0, but got: {min(fft_length)}")


def _batch(op, values, flags, attrs):
    return op.call(values[0], **attrs)


def _complex_rows(suffix, rank):
    """The transform of the last `rank` axes and its inverse."""
    axes = tuple(range(-rank, 0))

    def infer_for(name):
        def infer(input):
            _check(name, input, _COMPLEX, "Tcomplex", rank)
            return Spec(input.shape, input.dtype)

        return infer

    def kernel_of(transform):
        def kernel(input):
            return transform(input, axes=axes) if input.size else input.copy()

        return kernel

    # Both matrices are symmetric, and each is the other's conjugate but for the factor.
    forward = linear(
        f"FFT{suffix}", kernel_of(np.fft.fftn), inputs="input", infer=infer_for(f"FFT{suffix}"),
        transpose=lambda g: mul(inverse(g), _count(g, axes)), batch=_batch,
    )  # fmt: skip
    inverse = linear(
        f"IFFT{suffix}", kernel_of(np.fft.ifftn), inputs="input", infer=infer_for(f"IFFT{suffix}"),
        transpose=lambda g: mul(forward(g), 1.0 / max(_count(g, axes), 1.0)), batch=_batch,
    )  # fmt: skip
    return forward, inverse


def _count(g, axes):
    shape = shape_of(g)
    return float(math.prod([shape[a] for a in axes]))


def _half(lengths):
    """The lengths of a real transform's result: the last axis lacks the mirrored part."""
    return (*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0)


def _edge_weights(g, length, edge, inside, axis=-1):
    """Weights along an axis for entries that have a mirror image and for those that have none."""
    size = length // 2 + 1
    weights = np.full(size, inside)
    weights[0] = edge
    if length % 2 == 0:
        weights[-1] = edge
    rank = len(shape_of(g))
    return weights.astype(dtype_of(g)).reshape((size,) + (1,) * (rank - 1 - axis % rank))


def _real_transform(input, fft_length, axes):
    dtype = _COMPLEX_OF[input.dtype]
    shape = _replaced(input.shape, axes, _half(fft_length))
    if not input.size or not math.prod(fft_length):
        return np.zeros(shape, dtype)
    return np.fft.rfftn(input, fft_length, axes)


def _real_inverse(input, fft_length, axes):
    shape = _replaced(input.shape, axes, fft_length)
    if not input.size or not math.prod(fft_length):
        return np.zeros(shape, _REAL_OF[input.dtype])
    return np.fft.irfftn(input, fft_length, axes)


def _replaced(shape, axes, sizes):
    shape = list(shape)
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size
    return tuple(shape)


def _real_rows(suffix, rank):
    """The transform of real numbers over the last `rank` axes, and its inverse."""
    axes = tuple(range(-rank, 0))

    def infer(input, *, fft_length):
        _check(f"RFFT{suffix}", input, _SINGLE_AND_DOUBLE, "Treal", rank, fft_length)
        shape = _replaced(input.shape, axes, _half(fft_length))
        return Spec(shape, _COMPLEX_OF[input.dtype])

    def infer_inverse(input, *, fft_length):
        _check(f"IRFFT{suffix}", input, _COMPLEX, "Tcomplex", rank, fft_length)
        return Spec(_replaced(input.shape, axes, fft_length), _REAL_OF[input.dtype])

    def transpose(g, input_shape, *, fft_length):
        return _real_adjoint(
            g, fft_length, axes, input_shape, lambda x: inverse(x, fft_length=fft_length)
        )

    def transpose_inverse(g, input_shape, *, fft_length):
        return _inverse_adjoint(
            g, fft_length, axes, input_shape, lambda x: forward(x, fft_length=fft_length)
        )

    forward = linear(
        f"RFFT{suffix}", lambda input, fft_length: _real_transform(input, fft_length, axes),
        inputs="input", infer=infer, transpose=transpose, batch=_batch,
        raw=lambda input, fft_length, Tcomplex=dtypes.complex64: _as_said(
            _apply_fft(forward, input, fft_length), Tcomplex
        ),
    )  # fmt: skip
    inverse = linear(
        f"IRFFT{suffix}", lambda input, fft_length: _real_inverse(input, fft_length, axes),
        inputs="input", infer=infer_inverse, transpose=transpose_inverse, batch=_batch,
        raw=lambda input, fft_length, Treal=dtypes.float32: _as_said(
            _apply_fft(inverse, input, fft_length), Treal
        ),
    )  # fmt: skip
    return forward, inverse


def _as_said(result, dtype):
    """The result, if it has the dtype the caller announced."""
    if result.dtype is not dtypes.as_dtype(dtype):
        raise invalid_argument(
            "FFT", f"The result is {result.dtype.name}, not {dtypes.as_dtype(dtype).name}."
        )
    return result


def _real_adjoint(g, fft_length, axes, shape, inverse):
    """The gradient of a real transform: the inverse, without counting the mirrored part twice."""
    count = float(math.prod(fft_length))
    if not count:
        return fitted(inverse(g), [shape[a] for a in axes], axes)
    weights = _edge_weights(g, fft_length[-1], count, count / 2, axes[-1])
    return fitted(inverse(mul(g, weights)), [shape[a] for a in axes], axes)


def _inverse_adjoint(g, fft_length, axes, shape, forward):
    count = float(math.prod(fft_length))
    if not count:
        return fitted(forward(g), [shape[a] for a in axes], axes)
    spectrum = forward(g)
    weights = _edge_weights(spectrum, fft_length[-1], 1 / count, 2 / count, axes[-1])
    return fitted(mul(spectrum, weights), [shape[a] for a in axes], axes)


def _apply_fft(row, input, fft_length):
    lengths = integer_tuple(fft_length, row.op.name, "Tlen", "fft_length must be 1-D")
    return apply(row.op, (operand(input),), {"fft_length": lengths})


fft_row, ifft_row = _complex_rows("", 1)
fft2d_row, ifft2d_row = _complex_rows("2D", 2)
fft3d_row, ifft3d_row = _complex_rows("3D", 3)
rfft_row, irfft_row = _real_rows("", 1)
rfft2d_row, irfft2d_row = _real_rows("2D", 2)
rfft3d_row, irfft3d_row = _real_rows("3D", 3)


def _complex(x):
    """The input as a tensor: real numbers that are not one yet become complex64."""
    tensor = operand(x)
    is_tensor = hasattr(x, "_dispatch_level")
    return tensor if is_tensor or tensor.dtype.is_complex else cast(tensor, dtypes.complex64)


@export("signal.fft")
def fft(input, name=None):
    """The discrete Fourier transform over the last axis of a complex tensor.

    Raises:
        InvalidArgumentError: the tensor is not complex or has no axis.
    """
    return apply(fft_row.op, (_complex(input),))


@export("signal.ifft")
def ifft(input, name=None):
    """The inverse of `tf.signal.fft`."""
    return apply(ifft_row.op, (_complex(input),))


@export("signal.fft2d")
def fft2d(input, name=None):
    """The Fourier transform over the last two axes of a complex tensor."""
    return apply(fft2d_row.op, (_complex(input),))


@export("signal.ifft2d")
def ifft2d(input, name=None):
    """The inverse of `tf.signal.fft2d`."""
    return apply(ifft2d_row.op, (_complex(input),))


@export("signal.fft3d")
def fft3d(input, name=None):
    """The Fourier transform over the last three axes of a complex tensor."""
    return apply(fft3d_row.op, (_complex(input),))


@export("signal.ifft3d")
def ifft3d(input, name=None):
    """The inverse of `tf.signal.fft3d`."""
    return apply(ifft3d_row.op, (_complex(input),))


def real_input(x, rank):
    """The input of a real transform as a tensor."""
    x = convert_to_tensor(x, dtype_hint=dtypes.float32)
    if x.dtype.numpy_dtype not in _SINGLE_AND_DOUBLE:
        raise ValueError(f"RFFT requires tf.float32 or tf.float64 inputs, got: {x}")
    return _with_rank(x, rank)


def complex_input(x, rank):
    """The input of the inverse of a real transform as a tensor."""
    x = convert_to_tensor(x, dtype_hint=dtypes.complex64)
    _with_rank(x, rank)
    if x.dtype.numpy_dtype not in _COMPLEX:
        raise ValueError(f"IRFFT requires tf.complex64 or tf.complex128 inputs, got: {x}")
    return x


def _with_rank(x, rank):
    if x.ndim < rank:
        raise ValueError(f"Shape {x.shape} must have rank at least {rank}")
    return x


def _lengths(fft_length):
    lengths = convert_to_tensor(fft_length, dtypes.int32)
    for size in np.ravel(lengths.numpy()):
        if size < -1:  # -1 is a shape's unknown size, which the op refuses
            raise ValueError(f"Dimension {size} must be >= 0")
    return lengths


def _real_fft(row, rank, x, fft_length):
    x = real_input(x, rank)
    lengths = shape_of(x)[-rank:] if fft_length is None else _lengths(fft_length)
    return _apply_fft(row, x, lengths)


def _real_ifft(row, rank, x, fft_length):
    x = complex_input(x, rank)
    if fft_length is None:
        shape = shape_of(x)[-rank:]
        fft_length = (*shape[:-1], max(0, 2 * (shape[-1] - 1)))
    return _apply_fft(row, x, _lengths(fft_length))


@export("signal.rfft")
def rfft(input_tensor, fft_length=None, name=None):
    """The Fourier transform over the last axis of real numbers, without its mirrored half.

    Args:
        input_tensor: float32 or float64.
        fft_length: the length to cut or fill the axis to, in a list; its own if None.

    Raises:
        ValueError: the tensor is not real.
        InvalidArgumentError: the length is not a list of one, or negative.
    """
    return _real_fft(rfft_row, 1, input_tensor, fft_length)


@export("signal.rfft2d")
def rfft2d(input_tensor, fft_length=None, name=None):
    """The Fourier transform of real numbers over two axes; see `tf.signal.rfft`."""
    return _real_fft(rfft2d_row, 2, input_tensor, fft_length)


@export("signal.rfft3d")
def rfft3d(input_tensor, fft_length=None, name=None):
    """The Fourier transform of real numbers over three axes; see `tf.signal.rfft`."""
    return _real_fft(rfft3d_row, 3, input_tensor, fft_length)


@export("signal.irfft")
def irfft(input_tensor, fft_length=None, name=None):
    """The inverse of `tf.signal.rfft`.

    Args:
        input_tensor: a complex tensor.
        fft_length: the length of the result, in a list; if None the even one that fits.

    Raises:
        ValueError: the tensor is not complex.
        InvalidArgumentError: the length is not a list of one, or negative.
    """
    return _real_ifft(irfft_row, 1, input_tensor, fft_length)


@export("signal.irfft2d")
def irfft2d(input_tensor, fft_length=None, name=None):
    """The inverse of `tf.signal.rfft2d`; see `tf.signal.irfft`."""
    return _real_ifft(irfft2d_row, 2, input_tensor, fft_length)


@export("signal.irfft3d")
def irfft3d(input_tensor, fft_length=None, name=None):
    """The inverse of `tf.signal.rfft3d`; see `tf.signal.irfft`."""
    return _real_ifft(irfft3d_row, 3, input_tensor, fft_length)


def _shifted(x, axes, name, sign):
    x = convert_to_tensor(x)
    if axes is None:
        axes = list(range(x.ndim))
    elif isinstance(axes, int):
        axes = [axes]
    else:
        axes = [int(a) for a in np.ravel(convert_to_tensor(axes).numpy())]
    return roll(x, [sign * (shape_of(x)[a] // 2) for a in axes], [a % x.ndim for a in axes], name)


@export("signal.fftshift")
def fftshift(x, axes=None, name=None):
    """Moves the zero frequency to the middle of each axis."""
    return _shifted(x, axes, name, 1)


@export("signal.ifftshift")
def ifftshift(x, axes=None, name=None):
    """The inverse of `tf.signal.fftshift`."""
    return _shifted(x, axes, name, -1)
