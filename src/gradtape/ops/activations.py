"""Activations: sigmoid, softplus, the relu family and what is composed of them.

Rows read as little as they can in the backward pass: relu and its relatives only their output.
"""

import numpy as np

from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.dtypes import DIFFERENTIABLE, FLOATING, REAL, float32
from ..core.exports import export
from ..core.op import Spec
from .arguments import integer
from .arithmetic import add, masked, mul, neg, real_div, sub
from .broadcasting import not_allowed, sum_to
from .casting import cast
from .elementwise import abs_, square, tanh
from .families import opaque
from .horner import polynomial_row
from .joining import concat_row
from .logic import greater
from .numerics import decay, in_float32, on_arrays, polynomial
from .pointwise import batch_aligned, broadcast_shape, dtype_mismatch, elementwise
from .selection import select, zero_of
from .special import ndtr

# Sigmoid and softplus -----------------------------------------------------------------------------


@in_float32
@on_arrays
def _sigmoid(x):
    power = np.negative(x)
    np.exp(power, out=power)
    power += 1
    return np.reciprocal(power, out=power)


@in_float32
def _sigmoid_grad(y, dy):
    slope = 1 - y
    slope *= y
    if slope.shape != dy.shape:
        return slope * dy
    slope *= dy
    return slope


sigmoid = elementwise(
    "Sigmoid",
    _sigmoid,
    x=lambda g, out: sigmoid_grad(out, g),
    accepts=DIFFERENTIABLE,
    public="sigmoid math.sigmoid nn.sigmoid",
)

sigmoid_grad = elementwise(
    "SigmoidGrad",
    _sigmoid_grad,
    y=lambda g, y, dy: mul(mul(g, dy), sub(1.0, add(y, y))),
    dy=lambda g, y: sigmoid_grad(y, g),
    accepts=DIFFERENTIABLE,
)

# log1p(x) / z in powers of z², where z = x / (2 + x) and 0 <= x <= 1; error 4e-9.
_LOG1P_SINGLE = (0.28178445, 0.2796058, 0.40024912, 0.66666317, 2.0)


def log1p_in_place(x):
    """log1p of an array of numbers from 0 to 1; NumPy's is several times slower in float32."""
    if x.dtype != np.float32:
        return np.log1p(x, out=x)
    square = x + 2
    x /= square
    np.multiply(x, x, out=square)
    x *= polynomial(_LOG1P_SINGLE, square)
    return x


_SMALLEST = {np.dtype(t): np.finfo(t).tiny for t in (np.float32, np.float64)}


@in_float32
@on_arrays
def _softplus(x):
    rest = log1p_in_place(decay(x))
    # Subnormal numbers are 0, as in TensorFlow; they would make all that follows slow.
    rest *= rest >= _SMALLEST[x.dtype]
    rest += np.maximum(x, 0)
    return rest


softplus = elementwise(
    "Softplus",
    _softplus,
    features=lambda g, features: mul(g, sigmoid(features)),
    accepts=FLOATING,
    public="math.softplus nn.softplus",
)


@export("math.log_sigmoid")
def log_sigmoid(x, name=None):
    """log(sigmoid(x)), element by element, without underflow."""
    return neg(softplus(neg(convert_to_tensor(x))))


@on_arrays
def _softsign(features):
    size = np.abs(features)
    size += 1
    return np.divide(features, size, out=size)


softsign = elementwise(
    "Softsign",
    _softsign,
    features=lambda g, features: real_div(g, square(add(abs_(features), 1.0))),
    accepts=FLOATING,
    public="math.softsign nn.softsign",
)

# The relu family ----------------------------------------------------------------------------------


def _nothing(g):
    """Zeros, even where `g` is infinite: the derivative of a step, wherever it has one."""
    return masked(g, np.False_)


# Beside an array NumPy is quickest with another one, even of rank 0.
_ZEROS = {np.dtype(kind): np.zeros((), kind) for kind in (np.float32, np.float64)}


def _zero_beside(x):
    return _ZEROS.get(x.dtype, 0)


_ROW = 1 << 12
_ROWS_OF_ZEROS = {np.dtype(kind): np.zeros(_ROW, kind) for kind in (np.float32, np.float64)}


def _relu(features):
    zeros = _ROWS_OF_ZEROS.get(features.dtype)
    if features.size < 2 * _ROW or zeros is None or not features.flags.c_contiguous:
        return np.maximum(features, _zero_beside(features))
    # NumPy takes the larger of two arrays several times quicker than of an array and a scalar.
    out = np.empty_like(features)
    flat, target = features.reshape(-1), out.reshape(-1)
    whole = flat.size // _ROW * _ROW
    np.maximum(flat[:whole].reshape(-1, _ROW), zeros, out=target[:whole].reshape(-1, _ROW))
    np.maximum(flat[whole:], zeros[: flat.size - whole], out=target[whole:])
    return out


relu = elementwise(
    "Relu",
    _relu,
    features=lambda g, out: relu_grad(g, out),
    accepts=REAL,
    public="nn.relu",
)

# A product with a mask is several times faster than a selection by it.
relu_grad = elementwise(
    "ReluGrad",
    lambda gradients, features: gradients * (features > _zero_beside(features)),
    gradients=lambda g, features: relu_grad(g, features),
    features=_nothing,
    accepts=REAL,
)

relu6 = elementwise(
    "Relu6",
    lambda features: np.minimum(
        np.maximum(features, features.dtype.type(0)), features.dtype.type(6)
    ),
    features=lambda g, out: relu6_grad(g, out),
    accepts=REAL,
    public="nn.relu6",
)

relu6_grad = elementwise(
    "Relu6Grad",
    lambda gradients, features: gradients * ((features > 0) & (features < 6)),
    gradients=lambda g, features: relu6_grad(g, features),
    features=_nothing,
    accepts=REAL,
)


def _leaky_relu(features, alpha):
    scaled = features * features.dtype.type(alpha)
    if 0 < alpha <= 1:
        return np.maximum(features, scaled, out=scaled if scaled.ndim else None)
    return np.where(features > 0, features, scaled)[()]


def _leaky_relu_grad(gradients, features, alpha):
    slope = gradients.dtype.type(alpha)
    if alpha <= 1:
        return gradients * np.maximum(features > 0, slope)
    return gradients * np.where(features > 0, gradients.dtype.type(1), slope)


def _leaky(name, kernel, inputs, vjp, jvp, raw):
    def infer(*inputs, alpha):
        dtype = inputs[0].dtype
        for i, x in enumerate(inputs):
            if x.dtype != dtype:
                raise dtype_mismatch(name, i, dtype, x.dtype)
        if dtype not in FLOATING:
            raise not_allowed(name, dtype, FLOATING)
        return Spec(broadcast_shape(name, *inputs), dtype)

    return opaque(
        name, kernel, inputs=inputs, infer=infer, vjp=vjp, jvp=jvp, batch=batch_aligned,
        broadcasts=sum_to, raw=raw,
    )  # fmt: skip


# alpha is not negative, so that the output has the sign of the input.
leaky_relu_row = _leaky(
    "LeakyRelu",
    _leaky_relu,
    "features",
    vjp={"features": lambda g, out, *, alpha: leaky_relu_grad(g, out, alpha=alpha)},
    jvp=lambda tangents, inputs, out, attrs: leaky_relu_grad(tangents[0], out, **attrs),
    raw="features, alpha=0.2",
)


def _leaky_relu_grad_jvp(tangents, inputs, out, attrs):
    if tangents[0] is None:
        return _nothing(out)
    return leaky_relu_grad(tangents[0], inputs[1], **attrs)


leaky_relu_grad = _leaky(
    "LeakyReluGrad",
    _leaky_relu_grad,
    "gradients features",
    vjp={
        "gradients": lambda g, features, *, alpha: leaky_relu_grad(g, features, alpha=alpha),
        "features": lambda g: _nothing(g),
    },
    jvp=_leaky_relu_grad_jvp,
    raw="gradients, features, alpha=0.2",
)


@export("nn.leaky_relu")
def leaky_relu(features, alpha=0.2, name=None):
    """`features` where positive, `alpha * features` elsewhere; the slope at 0 is `alpha`.

    Args:
        features: a tensor; integers become float32.
        alpha: the slope of the negative part, a number.

    Raises:
        TypeError: `alpha` is not a number.
    """
    if alpha is None:
        alpha = 0.2
    if not isinstance(alpha, (int, float, np.integer, np.floating)):
        raise TypeError(f"Expected float for argument 'alpha' not {alpha!r}.")
    x = operand(features)
    if x.dtype.is_integer:
        x = cast(x, float32)
    if alpha < 0:
        x = convert_to_tensor(x)
        return select(greater(x, zero_of(x)), x, mul(x, float(alpha)))
    return apply(leaky_relu_row.op, (x,), {"alpha": float(alpha)})


# Exponential units --------------------------------------------------------------------------------


@in_float32
def _elu(features):
    negative = np.expm1(np.minimum(features, 0))
    negative += np.maximum(features, 0)
    return negative


@in_float32
def _elu_grad(gradients, outputs):
    return gradients * (1 + np.fmin(outputs, 0))  # NaN counts as positive


elu = elementwise(
    "Elu",
    _elu,
    features=lambda g, out: elu_grad(g, out),
    accepts=FLOATING,
    public="nn.elu",
)

elu_grad = elementwise(
    "EluGrad",
    _elu_grad,
    gradients=lambda g, outputs: elu_grad(g, outputs),
    outputs=lambda g, gradients, outputs: relu_grad(mul(g, gradients), neg(outputs)),
    accepts=FLOATING,
)

# The scale and slope for which activations keep mean 0 and variance 1 from layer to layer.
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_LIMIT = _SELU_SCALE * 1.6732632423543772848170429916717


@in_float32
def _selu(features):
    negative = np.expm1(np.minimum(features, 0))
    negative *= _SELU_LIMIT
    negative += np.maximum(features, 0) * _SELU_SCALE
    return negative


@in_float32
def _selu_grad(gradients, outputs):
    negative = outputs < 0
    slope = negative * outputs.dtype.type(_SELU_LIMIT)
    slope += np.fmin(outputs, 0)  # exactly 0 where the output is at its limit
    slope += ~negative * outputs.dtype.type(_SELU_SCALE)
    return gradients * slope


selu = elementwise(
    "Selu",
    _selu,
    features=lambda g, out: selu_grad(g, out),
    accepts=FLOATING,
    public="nn.selu",
)

selu_grad = elementwise(
    "SeluGrad",
    _selu_grad,
    gradients=lambda g, outputs: selu_grad(g, outputs),
    outputs=lambda g, gradients, outputs: relu_grad(mul(g, gradients), neg(outputs)),
    accepts=FLOATING,
)

# Compositions -------------------------------------------------------------------------------------


# sqrt(2 / pi) (0.044715 x^3 + x), without one x and in powers of x^2.
_ANGLE = tuple([np.sqrt(2 / np.pi).item() * coefficient for coefficient in (0.044715, 1.0)])


@export("nn.gelu")
def gelu(features, approximate=False, name=None):
    """`x` times the probability that a normal number is less than `x`.

    Args:
        features: a floating tensor.
        approximate: whether to compute that probability by a formula with tanh.

    Raises:
        ValueError: the tensor is not floating.
    """
    x = convert_to_tensor(features)
    if not x.dtype.is_floating:
        raise ValueError(
            f"`features.dtype` must be a floating point tensor. Received: features.dtype={x.dtype}"
        )
    if approximate:
        angle = mul(x, polynomial_row(square(x), coefficients=_ANGLE))
        return mul(x, polynomial_row(tanh(angle), coefficients=(0.5, 0.5)))
    return mul(x, ndtr(x))


@export("nn.silu nn.swish")
def swish(features, beta=1.0):
    """`x * sigmoid(beta * x)`, element by element.

    Args:
        features: a tensor.
        beta: a number or tensor; it has a gradient too.
    """
    x = convert_to_tensor(features)
    if isinstance(beta, (int, float)):
        scaled = x if beta == 1 else mul(x, float(beta))
    else:
        scaled = mul(x, cast(beta, x.dtype))
    return mul(x, sigmoid(scaled))


@export("nn.crelu")
def crelu(features, axis=-1, name=None):
    """The positive and the negative part of `features`, side by side along `axis`."""
    x = convert_to_tensor(features)
    return relu(concat_row([x, neg(x)], axis=integer(axis, "ConcatV2")))
