"""check_gradients: a function's derivatives against differences, in both modes and two orders."""

from typing import Any

import numpy as np

from ..core import convert, dtypes, nest
from ..core.tensor import EagerTensor
from ..ops.casting import cast
from ..ops.complex_numbers import complex_public, imag, real
from ..ops.reduction import reduce_sum
from .functional import jvp, value_and_gradient
from .points import as_point, check_result

_MODES = ("reverse", "forward")
# By dtype: the step of a central difference, and how far it may be off, relative to the size of
# what is compared.
_STEP = {dtypes.float64: 1e-5, dtypes.float32: 1e-2}
_TOLERANCE = {dtypes.float64: 1e-6, dtypes.float32: 1e-2}


class GradientError(AssertionError):
    """A derivative does not agree with differences of the function."""


def check_gradients(function, *args, order=2, modes=_MODES, tolerance=None, seed=0):
    """Compares the derivatives of `function` at `args` with differences, in random directions.

    The function should be smooth around `args` and give the same value every time. Second
    derivatives are those in each mode of the first derivatives in each mode.

    Args:
        function: from tensors to a tensor or structure.
        *args: tensors or structures of them, of float32, float64, complex64 or complex128; in
            double precision the check is far sharper.
        order: 1 for first derivatives only, 2 for those of the first derivatives too.
        modes: which of "reverse" and "forward" to check.
        tolerance: how far a derivative may be off, relative to its size or 1, whichever is more;
            None for what differences in that precision allow.
        seed: of the random directions.

    Raises:
        GradientError: a derivative is off; the message says which, and by how much.
        ValueError: an argument is of another dtype, or there is no such mode or order.

    Example:
        >>> tf.autodiff.check_gradients(tf.sin, tf.constant([1.0, 2.0], tf.float64))
    """
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    if order not in (1, 2):
        raise ValueError(f"check_gradients takes order=1 or order=2. Received: order={order!r}")
    if not modes or not set(modes) <= set(_MODES):
        raise ValueError(
            f"check_gradients takes one or both of {_MODES} as `modes`. Received: modes={modes!r}"
        )
    names, points, on_parts = _on_real_parts(function, args)
    rng = np.random.default_rng(seed)
    outputs = on_parts(*points)
    # Differences are no sharper than the least precise of what takes part.
    single = any([t.dtype is not dtypes.float64 for t in (*points, *outputs)])
    precision = dtypes.float32 if single else dtypes.float64
    tolerance = _TOLERANCE[precision] if tolerance is None else tolerance
    weights = [_random_like(y, rng) for y in outputs]
    directions = [_random_like(point, rng) for point in points]

    def weighted(*parts):
        return _dot(on_parts(*parts), weights)

    def check(scalar, what):
        _check(scalar, names, points, directions, modes, precision, tolerance, what)

    check(weighted, "The first derivative in {}")
    if order == 2:
        for inner in modes:

            def first(*parts, inner=inner):
                return _derivative(inner, weighted, parts, directions)

            check(first, f"The second derivative in {{}}-over-{inner}")


def _on_real_parts(function, args):
    """The arguments as real tensors with their names, and `function` as a list of real tensors."""
    args = as_point("check_gradients", "args", args)
    leaves = [convert.convert_to_tensor(leaf) for leaf in nest.flatten(args)]
    owners = [i for i, arg in enumerate(args) for _ in nest.flatten(arg)]
    names, parts = [], []
    for i, leaf in zip(owners, leaves, strict=True):
        if leaf.dtype.real_dtype not in _STEP:
            raise ValueError(
                "check_gradients takes float32, float64, complex64 or complex128 arguments. "
                f"Received: argument #{i} of dtype {leaf.dtype.name} and shape {leaf.shape}. Cast "
                "it, best to float64: differences say little in fewer digits."
            )
        names += [f"argument #{i}"] * len(_real_parts(leaf))
        parts += _real_parts(leaf)

    def on_parts(*given):
        remaining = iter(given)
        whole = [
            complex_public(next(remaining), next(remaining))
            if x.dtype.is_complex
            else next(remaining)
            for x in leaves
        ]
        result = function(*nest.pack_sequence_as(args, whole))
        check_result("check_gradients", result)
        outputs = [y for y in nest.flatten(result) if y.dtype.is_differentiable]
        if not outputs:
            raise ValueError(
                "check_gradients takes a function with a floating or complex result. It returned: "
                f"{result!r}"
            )
        return [part for y in outputs for part in _real_parts(y)]

    return names, parts, on_parts


def _real_parts(tensor):
    return [real(tensor), imag(tensor)] if tensor.dtype.is_complex else [tensor]


def _check(scalar, names, points, directions, modes, precision, tolerance, what):
    """Compares the derivatives of `scalar` by each point alone, in each mode."""
    step = _STEP[precision]
    size = abs(float(scalar(*points)))
    rounding = 10 * np.finfo(precision.numpy_dtype).eps * size / step
    for i, (name, point) in enumerate(zip(names, points, strict=True)):
        alone = [d if j == i else _zeros_like(d) for j, d in enumerate(directions)]
        expected = _difference(scalar, points, alone, step)
        allowed = tolerance * max(1.0, abs(expected)) + rounding
        for mode in modes:
            found = float(_derivative(mode, scalar, points, alone))
            if not abs(found - expected) <= allowed:
                raise GradientError(
                    f"{what.format(mode)} mode by {name}, of shape {point.shape}, does not agree "
                    f"with differences: along a random direction it is {found:.10g}, but should "
                    f"be {expected:.10g} to within {allowed:.1e}. Either a gradient rule on the "
                    "way is wrong, or the function has a kink there or draws random numbers."
                )


def _derivative(mode, scalar, points, directions):
    """The derivative of `scalar` along `directions`, which can be differentiated again."""
    if mode == "forward":
        return jvp(scalar, list(points), list(directions))[1]
    gradients = value_and_gradient(scalar, *points, unconnected_gradients="zero")[1]
    return _dot(gradients if len(points) > 1 else [gradients], directions)


def _difference(scalar, points, directions, step):
    """The derivative of `scalar` along `directions`, by a central difference."""

    def at(signed_step):
        moved = [
            EagerTensor(p._value + p._value.dtype.type(signed_step) * d._value)
            for p, d in zip(points, directions, strict=True)
        ]
        return float(scalar(*moved))

    return (at(step) - at(-step)) / (2 * step)


def _dot(tensors, others) -> Any:
    """The inner product of two lists of tensors, which may differ in precision."""
    total = None
    for a, b in zip(tensors, others, strict=True):
        product = reduce_sum(convert.convert_to_tensor(a) * b)
        if total is not None and product.dtype is not total.dtype:
            product, total = cast(product, dtypes.float64), cast(total, dtypes.float64)
        total = product if total is None else total + product
    return total


def _random_like(tensor, rng):
    value = tensor._value
    return EagerTensor(np.asarray(rng.standard_normal(value.shape)).astype(value.dtype)[()])


def _zeros_like(tensor):
    return EagerTensor(np.zeros_like(tensor._value)[()])
