"""Between real and complex tensors: these ops are linear over the reals, not holomorphic."""

import numpy as np

from ..core import dtypes
from ..core.convert import operand, operands
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arithmetic import add, div_no_nan, mul
from .broadcasting import not_allowed, sum_to
from .casting import cast_row
from .elementwise import conj
from .families import dtype_of, opaque
from .pointwise import batch_aligned, broadcast_shape, dtype_mismatch
from .selection import zero_of

_COMPLEX_OF = {
    np.dtype(np.float32): np.dtype(np.complex64),
    np.dtype(np.float64): np.dtype(np.complex128),
}


def _real_of(dtype):
    return dtypes.of_numpy(dtype).real_dtype.numpy_dtype


def _to_real(name, kernel, vjp, jvp):
    """A row from complex to real numbers, element by element."""

    def infer(x):
        if x.dtype not in dtypes.COMPLEX:
            raise not_allowed(name, x.dtype, dtypes.COMPLEX)
        return Spec(x.shape, _real_of(x.dtype))

    def raw(input, Tout=dtypes.float32):
        return _checked(name, row.op.on_tensors(operand(input)), Tout)

    row = opaque(
        name, kernel, inputs="x", infer=infer, vjp={"x": vjp}, jvp=jvp, batch=batch_aligned,
        holomorphic=False, accepts=dtypes.COMPLEX,
        raw=raw if name != "ComplexAbs" else lambda x, Tout=dtypes.float32: raw(x, Tout),
    )  # fmt: skip
    return row


def _checked(op_name, result, dtype):
    """What `tf.raw_ops` returns, whose dtype the caller must say."""
    if result.dtype is not dtypes.as_dtype(dtype):
        raise invalid_argument(
            op_name, f"Expected Tout={result.dtype.name} for these inputs. Received: Tout={dtype}"
        )
    return result


real = _to_real(
    "Real",
    lambda x: x.real.copy(),
    vjp=lambda g: complex_(g, mul(g, 0.0)),
    jvp=lambda tangents, inputs, out, attrs: real(tangents[0]),
)

imag = _to_real(
    "Imag",
    lambda x: x.imag.copy(),
    vjp=lambda g: complex_(mul(g, 0.0), g),
    jvp=lambda tangents, inputs, out, attrs: imag(tangents[0]),
)


def _scaled(g, z):
    """A real gradient times a complex direction."""
    return mul(cast_row(g, dtype=dtype_of(z)), z)


def _along(direction, t):
    """The real tangent Re(conj(direction) t)."""
    return real(mul(conj(direction), t))


def unit(x, out):
    """x / |x|, and 0 at 0."""
    return div_no_nan(x, cast_row(out, dtype=dtype_of(x)))


complex_abs = _to_real(
    "ComplexAbs",
    np.abs,
    vjp=lambda g, x, out: _scaled(g, unit(x, out)),
    jvp=lambda tangents, inputs, out, attrs: _along(unit(inputs[0], out), tangents[0]),
)


def _turn(x):
    """The direction in which the angle of `x` grows: i / conj(x)."""
    i = add(zero_of(x), 1j)
    return div_no_nan(i, conj(x))


angle_row = _to_real(
    "Angle",
    lambda x: np.arctan2(x.imag, x.real),
    vjp=lambda g, x: _scaled(g, _turn(x)),
    jvp=lambda tangents, inputs, out, attrs: _along(_turn(inputs[0]), tangents[0]),
)


def _infer_complex(real, imag):
    if real.dtype != imag.dtype:
        raise dtype_mismatch("Complex", 1, real.dtype, imag.dtype)
    if real.dtype not in _COMPLEX_OF:
        raise not_allowed("Complex", real.dtype, frozenset(_COMPLEX_OF))
    return Spec(broadcast_shape("Complex", real, imag), _COMPLEX_OF[real.dtype])


def _join(real, imag):
    joined = np.empty(np.broadcast_shapes(real.shape, imag.shape), _COMPLEX_OF[real.dtype])
    joined.real = real
    joined.imag = imag
    return joined[()]


def _complex_jvp(tangents, inputs, out, attrs):
    filled = [mul(x, 0.0) if t is None else t for t, x in zip(tangents, inputs, strict=True)]
    return complex_(*filled)


complex_ = opaque(
    "Complex",
    _join,
    inputs="real imag",
    infer=_infer_complex,
    vjp={"real": lambda g: real(g), "imag": lambda g: imag(g)},
    jvp=_complex_jvp,
    batch=batch_aligned,
    holomorphic=False,
    broadcasts=sum_to,
    raw=lambda real, imag, Tout=dtypes.complex64: _checked(
        "Complex", apply(complex_.op, operands(real, imag)), Tout
    ),
)


@export("complex dtypes.complex")
def complex_public(real, imag, name=None):
    """A complex tensor from its real and imaginary parts.

    Raises:
        TypeError: the parts are not both float32 or both float64.
    """
    real, imag = operands(real, imag)
    if real.dtype is not imag.dtype or real.dtype.numpy_dtype not in _COMPLEX_OF:
        raise TypeError(
            "The `real` and `imag` components have incorrect types: "
            f"{real.dtype.name} {imag.dtype.name}. They must be consistent, and one of "
            "[tf.float32, tf.float64]"
        )
    return apply(complex_.op, (real, imag))


@export("math.real")
def real_public(input, name=None):
    """The real part; real tensors are returned as they are."""
    x = operand(input)
    return real.op.on_tensors(x) if x.dtype.is_complex else x


@export("math.imag")
def imag_public(input, name=None):
    """The imaginary part; zeros for a real tensor."""
    x = operand(input)
    return imag.op.on_tensors(x) if x.dtype.is_complex else mul(x, 0.0)


@export("math.angle")
def angle(input, name=None):
    """The angle in radians; of a real tensor, 0 or pi."""
    x = operand(input)
    if x.dtype.is_complex:
        return angle_row.op.on_tensors(x)
    from .logic import less
    from .selection import select

    return select(less(x, zero_of(x)), add(zero_of(x), np.pi), zero_of(x))
