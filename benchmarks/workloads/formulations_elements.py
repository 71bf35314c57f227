"""Elementwise ops, activations, losses and reductions beside their NumPy formulations."""

from typing import Any

import numpy as np

from workloads.numpy_formulations import MILLION, Comparison, define_inputs, integers

Array = np.ndarray

define_inputs(
    labels=integers(1000, 1000),
    probabilities=lambda random: random.dirichlet(np.ones(1000), 1000).astype(np.float32),
    targets=lambda random: random.random(MILLION, np.float32),
)


def unary(name: str, function: Any, inputs: str = "x") -> Comparison:
    """Return the comparison of a function of `tf.math` with a NumPy function."""
    return Comparison(inputs, lambda tf, x: getattr(tf.math, name)(x), function)


def binary(name: str, function: Any, inputs: str = "x y") -> Comparison:
    """Return the comparison of a function of two tensors."""
    return Comparison(inputs, lambda tf, x, y: getattr(tf.math, name)(x, y), function)


def reduction(name: str, function: Any, inputs: str = "m") -> dict[str, Comparison]:
    """Return the comparisons of a reduction over everything, over columns and over rows."""

    def over(axis: int | None) -> Comparison:
        return Comparison(
            inputs,
            lambda tf, x: getattr(tf.math, name)(x, axis=axis),
            lambda x: function(x, axis),
        )

    return {
        f"{name}, axis {axis}".replace("axis None", "all"): over(axis) for axis in (None, 0, -1)
    }


# Formulations -------------------------------------------------------------------------------------


def sigmoid(x: Array) -> Array:
    y = np.negative(x)
    np.exp(y, out=y)
    y += 1
    return np.reciprocal(y, out=y)


def softplus(x: Array) -> Array:
    y = np.abs(x)
    np.negative(y, out=y)
    np.exp(y, out=y)
    np.log1p(y, out=y)
    y += np.maximum(x, 0)
    return y


def silu(x: Array) -> Array:
    y = sigmoid(x)
    y *= x
    return y


def elu(x: Array) -> Array:
    y = np.minimum(x, 0)
    np.expm1(y, out=y)
    return np.maximum(x, y, out=y)


def selu(x: Array) -> Array:
    y = np.minimum(x, 0)
    np.expm1(y, out=y)
    y *= np.float32(1.0507009873554805 * 1.6732632423543772)
    y += np.maximum(x, 0) * np.float32(1.0507009873554805)
    return y


def leaky_relu(x: Array) -> Array:
    y = x * np.float32(0.2)
    return np.maximum(x, y, out=y)


def relu6(x: Array) -> Array:
    y = np.maximum(x, 0)
    return np.minimum(y, 6, out=y)


def gelu(x: Array) -> Array:
    y = x * x
    y *= np.float32(0.044715)
    y += 1
    y *= x
    y *= np.float32(np.sqrt(2 / np.pi))
    np.tanh(y, out=y)
    y += 1
    y *= x
    y *= np.float32(0.5)
    return y


def softsign(x: Array) -> Array:
    y = np.abs(x)
    y += 1
    return np.divide(x, y, out=y)


def rsqrt(x: Array) -> Array:
    y = np.sqrt(x)
    return np.reciprocal(y, out=y)


def divide_no_nan(x: Array, y: Array) -> Array:
    quotient = np.divide(x, y)
    if not y.all():
        quotient[y == 0] = 0
    return quotient


def squared_difference(x: Array, y: Array) -> Array:
    z = x - y
    z *= z
    return z


def x_times_log(x: Array, y: Array) -> Array:
    z = np.log(y)
    z *= x
    if not x.all():
        z[x == 0] = 0
    return z


def x_divided(x: Array, y: Array) -> Array:
    z = np.divide(x, y)
    if not x.all():
        z[x == 0] = 0
    return z


def x_times_log1p(x: Array, y: Array) -> Array:
    z = np.log1p(y)
    z *= x
    if not x.all():
        z[x == 0] = 0
    return z


def clip(x: Array) -> Array:
    y = np.maximum(x, np.float32(-1))
    return np.minimum(y, np.float32(1), out=y)


def sum_of_three(x: Array, y: Array, z: Array) -> Array:
    total = x + y
    total += z
    return total


def polynomial(x: Array) -> Array:
    y = x * np.float32(0.5)
    y += 2
    y *= x
    y -= 1
    y *= x
    y += 3
    return y


def shifted_powers(x: Array) -> Array:
    """Return exp(x - max) along the last axis."""
    y = x - x.max(-1, keepdims=True)
    return np.exp(y, out=y)


def softmax(x: Array) -> Array:
    y = shifted_powers(x)
    y /= y.sum(-1, keepdims=True)
    return y


def log_softmax(x: Array) -> Array:
    y = x - x.max(-1, keepdims=True)
    y -= np.log(np.exp(y).sum(-1, keepdims=True))
    return y


def logsumexp(x: Array, axis: int | None) -> Array:
    top = x.max(axis, keepdims=True)
    y = x - top
    np.exp(y, out=y)
    return (np.log(y.sum(axis, keepdims=True)) + top).squeeze(axis)


def variance(x: Array, axis: int | None) -> Array:
    y = x - x.mean(axis, keepdims=True)
    y *= y
    return y.mean(axis)


def euclidean(x: Array, axis: int | None) -> Array:
    if axis == -1:
        return np.sqrt(np.vecdot(x, x))
    if axis is None:
        return np.sqrt(np.dot(x.reshape(-1), x.reshape(-1)))
    return np.sqrt(np.einsum("ij,ij->j", x, x))


def sparse_cross_entropy(labels: Array, logits: Array) -> Array:
    y = logits - logits.max(-1, keepdims=True)
    own = y[np.arange(len(y)), labels]
    np.exp(y, out=y)
    return np.log(y.sum(-1)) - own


def cross_entropy(labels: Array, logits: Array) -> Array:
    y = logits - logits.max(-1, keepdims=True)
    own = np.einsum("ij,ij->i", labels, y)
    np.exp(y, out=y)
    return np.log(y.sum(-1)) * labels.sum(-1) - own


def sigmoid_cross_entropy(labels: Array, x: Array) -> Array:
    y = np.abs(x)
    np.negative(y, out=y)
    np.exp(y, out=y)
    np.log1p(y, out=y)
    y += np.maximum(x, 0)
    y -= x * labels
    return y


def log_poisson(targets: Array, x: Array) -> Array:
    y = np.exp(x)
    y -= x * targets
    return y


def l2_normalize(x: Array) -> Array:
    squares = np.vecdot(x, x)
    return x * (1 / np.sqrt(np.maximum(squares, np.float32(1e-12))))[:, None]


def moments(x: Array) -> tuple[Array, Array]:
    mean = x.mean(0)
    y = x - mean
    y *= y
    return mean, y.mean(0)


def batch_normalization(x: Array, row: Array) -> Array:
    factor = 1 / np.sqrt(np.square(row) + np.float32(1e-3)) * row
    y = x * factor
    y += row - row * factor
    return y


def clip_by_norm(x: Array) -> Array:
    norm = np.sqrt(np.dot(x, x))
    return x * (np.float32(10) / max(norm, np.float32(10)))


def is_increasing(x: Array) -> np.bool_:
    return (x[1:] >= x[:-1]).all()


# Rows ---------------------------------------------------------------------------------------------

COMPARISONS: dict[str, Comparison] = {
    "abs": unary("abs", np.abs),
    "negative": unary("negative", np.negative),
    "sign": unary("sign", np.sign),
    "square": unary("square", np.square),
    "sqrt": unary("sqrt", np.sqrt, "positive"),
    "rsqrt": unary("rsqrt", rsqrt, "positive"),
    "reciprocal": unary("reciprocal", np.reciprocal, "positive"),
    "exp": unary("exp", np.exp),
    "expm1": unary("expm1", np.expm1),
    "log": unary("log", np.log, "positive"),
    "log1p": unary("log1p", np.log1p, "positive"),
    "sin": unary("sin", np.sin),
    "cos": unary("cos", np.cos),
    "tan": unary("tan", np.tan),
    "asin": unary("asin", np.arcsin, "small"),
    "acos": unary("acos", np.arccos, "small"),
    "atan": unary("atan", np.arctan),
    "sinh": unary("sinh", np.sinh),
    "cosh": unary("cosh", np.cosh),
    "tanh": unary("tanh", np.tanh),
    "asinh": unary("asinh", np.arcsinh),
    "acosh": unary("acosh", np.arccosh, "large"),
    "atanh": unary("atanh", np.arctanh, "small"),
    "floor": unary("floor", np.floor),
    "ceil": unary("ceil", np.ceil),
    "round": unary("round", np.rint),
    "rint": unary("rint", np.rint),
    "is_nan": unary("is_nan", np.isnan),
    "is_inf": unary("is_inf", np.isinf),
    "is_finite": unary("is_finite", np.isfinite),
    "logical_not": unary("logical_not", np.logical_not, "yes"),
    "real": unary("real", lambda x: x.real.copy(), "complex_x"),
    "imag": unary("imag", lambda x: x.imag.copy(), "complex_x"),
    "conj": unary("conj", np.conj, "complex_x"),
    "abs, complex": unary("abs", np.abs, "complex_x"),
    "angle": unary("angle", lambda x: np.arctan2(x.imag, x.real), "complex_x"),
    "complex": Comparison("x y", lambda tf, x, y: tf.complex(x, y), lambda x, y: x + 1j * y),
    "add": binary("add", np.add),
    "add, row to matrix": binary("add", np.add, "m row"),
    "subtract": binary("subtract", np.subtract),
    "multiply": binary("multiply", np.multiply),
    "divide": binary("divide", np.divide, "x positive"),
    "divide_no_nan": binary("divide_no_nan", divide_no_nan),
    "multiply_no_nan": binary(
        "multiply_no_nan", lambda x, y: np.multiply(x, y) if y.all() else np.where(y == 0, 0, x * y)
    ),
    "maximum": binary("maximum", np.maximum),
    "minimum": binary("minimum", np.minimum),
    "pow": binary("pow", np.power, "positive y"),
    "floordiv": binary("floordiv", np.floor_divide, "x positive"),
    "floordiv, int": binary("floordiv", np.floor_divide, "whole divisor"),
    "mod": binary("mod", np.mod, "x positive"),
    "mod, int": binary("mod", np.mod, "whole divisor"),
    "atan2": binary("atan2", np.arctan2),
    "squared_difference": binary("squared_difference", squared_difference),
    "xlogy": binary("xlogy", x_times_log, "x positive"),
    "xlog1py": binary("xlog1py", x_times_log1p, "x positive"),
    "xdivy": binary("xdivy", x_divided, "x positive"),
    "nextafter": binary("nextafter", np.nextafter),
    "equal": binary("equal", np.equal),
    "less": binary("less", np.less),
    "greater_equal": binary("greater_equal", np.greater_equal),
    "logical_and": binary("logical_and", np.logical_and, "yes no"),
    "logical_xor": binary("logical_xor", np.logical_xor, "yes no"),
    "bitwise_and": Comparison(
        "whole divisor", lambda tf, x, y: tf.bitwise.bitwise_and(x, y), np.bitwise_and
    ),
    "left_shift": Comparison(
        "whole divisor",
        lambda tf, x, y: tf.bitwise.left_shift(x, tf.constant(3)),
        lambda x, y: np.left_shift(x, np.int32(3)),
    ),
    "add_n": Comparison("x y z", lambda tf, *xs: tf.add_n(list(xs)), sum_of_three),
    "polyval": Comparison("x", lambda tf, x: tf.math.polyval([0.5, 2.0, -1.0, 3.0], x), polynomial),
    "clip_by_value": Comparison("x", lambda tf, x: tf.clip_by_value(x, -1.0, 1.0), clip),
    "clip_by_norm": Comparison("x", lambda tf, x: tf.clip_by_norm(x, 10.0), clip_by_norm),
    "where": Comparison("yes x y", lambda tf, c, x, y: tf.where(c, x, y), np.where),
    "where, positions": Comparison("yes", lambda tf, c: tf.where(c), np.argwhere),
    "cast to float64": Comparison(
        "x", lambda tf, x: tf.cast(x, tf.float64), lambda x: x.astype(np.float64)
    ),
    "cast to int32": Comparison(
        "x", lambda tf, x: tf.cast(x, tf.int32), lambda x: x.astype(np.int32)
    ),
    "cast from bool": Comparison(
        "yes", lambda tf, x: tf.cast(x, tf.float32), lambda x: x.astype(np.float32)
    ),
    "saturate_cast": Comparison(
        "x",
        lambda tf, x: tf.saturate_cast(x, tf.uint8),
        lambda x: np.minimum(np.maximum(x, 0), 255).astype(np.uint8),
    ),
    "bitcast": Comparison("x", lambda tf, x: tf.bitcast(x, tf.int32), lambda x: x.view(np.int32)),
    "relu": Comparison("x", lambda tf, x: tf.nn.relu(x), lambda x: np.maximum(x, np.float32(0))),
    "relu6": Comparison("x", lambda tf, x: tf.nn.relu6(x), relu6),
    "leaky_relu": Comparison("x", lambda tf, x: tf.nn.leaky_relu(x), leaky_relu),
    "elu": Comparison("x", lambda tf, x: tf.nn.elu(x), elu),
    "selu": Comparison("x", lambda tf, x: tf.nn.selu(x), selu),
    "sigmoid": Comparison("x", lambda tf, x: tf.nn.sigmoid(x), sigmoid),
    "log_sigmoid": Comparison(
        "x", lambda tf, x: tf.math.log_sigmoid(x), lambda x: np.negative(softplus(-x))
    ),
    "softplus": Comparison("x", lambda tf, x: tf.nn.softplus(x), softplus),
    "softsign": Comparison("x", lambda tf, x: tf.nn.softsign(x), softsign),
    "silu": Comparison("x", lambda tf, x: tf.nn.silu(x), silu),
    "gelu, tanh": Comparison("x", lambda tf, x: tf.nn.gelu(x, approximate=True), gelu),
    "crelu": Comparison(
        "m",
        lambda tf, x: tf.nn.crelu(x),
        lambda x: np.maximum(np.concatenate([x, -x], -1), np.float32(0)),
    ),
    "bias_add": Comparison("m row", lambda tf, x, b: tf.nn.bias_add(x, b), np.add),
    "softmax": Comparison("m", lambda tf, x: tf.nn.softmax(x), softmax),
    "log_softmax": Comparison("m", lambda tf, x: tf.nn.log_softmax(x), log_softmax),
    "sparse_softmax_cross_entropy": Comparison(
        "labels m",
        lambda tf, labels, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x),
        sparse_cross_entropy,
    ),
    "softmax_cross_entropy": Comparison(
        "probabilities m",
        lambda tf, labels, x: tf.nn.softmax_cross_entropy_with_logits(labels, x),
        cross_entropy,
    ),
    "sigmoid_cross_entropy": Comparison(
        "targets x",
        lambda tf, labels, x: tf.nn.sigmoid_cross_entropy_with_logits(labels, x),
        sigmoid_cross_entropy,
    ),
    "log_poisson_loss": Comparison(
        "targets x", lambda tf, labels, x: tf.nn.log_poisson_loss(labels, x), log_poisson
    ),
    "l2_loss": Comparison(
        "x", lambda tf, x: tf.nn.l2_loss(x), lambda x: np.dot(x, x) * np.float32(0.5)
    ),
    "l2_normalize": Comparison("m", lambda tf, x: tf.math.l2_normalize(x, -1), l2_normalize),
    "norm": Comparison("x", lambda tf, x: tf.norm(x), lambda x: np.sqrt(np.dot(x, x))),
    "norm, rows": Comparison(
        "m", lambda tf, x: tf.norm(x, axis=-1), lambda x: np.sqrt(np.vecdot(x, x))
    ),
    "norm, ord 1": Comparison(
        "m", lambda tf, x: tf.norm(x, ord=1, axis=-1), lambda x: np.abs(x).sum(-1)
    ),
    "global_norm": Comparison(
        "x y",
        lambda tf, x, y: tf.linalg.global_norm([x, y]),
        lambda x, y: np.sqrt(np.dot(x, x) + np.dot(y, y)),
    ),
    "moments": Comparison("m", lambda tf, x: tf.nn.moments(x, [0]), moments),
    "batch_normalization": Comparison(
        "m row",
        lambda tf, x, r: tf.nn.batch_normalization(x, r, tf.square(r), r, r, 1e-3),
        batch_normalization,
    ),
    "zero_fraction": Comparison(
        "x",
        lambda tf, x: tf.nn.zero_fraction(x),
        lambda x: np.float32(1 - np.count_nonzero(x != 0) / x.size),
    ),
    "is_non_decreasing": Comparison("x", lambda tf, x: tf.math.is_non_decreasing(x), is_increasing),
    **reduction("reduce_sum", lambda x, axis: x.sum(axis)),
    **reduction("reduce_mean", lambda x, axis: x.mean(axis)),
    **reduction("reduce_max", lambda x, axis: x.max(axis)),
    **reduction("reduce_min", lambda x, axis: x.min(axis)),
    **reduction("reduce_prod", lambda x, axis: x.prod(axis)),
    **reduction("reduce_all", lambda x, axis: x.all(axis), "yes_matrix"),
    **reduction("reduce_any", lambda x, axis: x.any(axis), "yes_matrix"),
    **reduction("reduce_variance", variance),
    **reduction("reduce_std", lambda x, axis: np.sqrt(variance(x, axis))),
    **reduction("reduce_euclidean_norm", euclidean),
    **reduction("reduce_logsumexp", logsumexp),
    **reduction("count_nonzero", lambda x, axis: np.count_nonzero(x != 0, axis)),
}
