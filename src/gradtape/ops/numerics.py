"""How kernels of special functions are written: as functions of one-dimensional float arrays."""

import numpy as np

# A block and its few temporaries stay in the processor's cache.
_BLOCK = 1 << 15


def special_kernel(double, single=None, scalar=None):
    """An elementwise kernel, for floats of every width, from functions of flat arrays.

    Args:
        double: computes float64 arrays from float64 arrays of one length.
        single: the same in float32, used for narrower inputs too; None to use `double` for all.
        scalar: the same for a Python float, where the standard library has it: sooner done for
            scalars.
    """

    def kernel(*inputs):
        dtype = inputs[0].dtype
        if scalar is not None and not inputs[0].shape:
            return dtype.type(scalar(float(inputs[0])))
        if single is None or dtype == np.float64:
            function, working = double, np.float64
        else:
            function, working = single, np.float32
        arrays = inputs if len(inputs) == 1 else np.broadcast_arrays(*inputs)
        shape = arrays[0].shape
        flat = [np.ravel(x).astype(working, copy=False) for x in arrays]
        out = np.empty(flat[0].size, dtype)
        with np.errstate(all="ignore"):
            for start in range(0, out.size, _BLOCK):
                block = slice(start, start + _BLOCK)
                out[block] = function(*[x[block] for x in flat])
        return out.reshape(shape)[()]

    return kernel


def in_float32(kernel):
    """The kernel, with 16-bit floats computed in float32: sooner done, and rounded only once."""

    def widened(*inputs, **attrs):
        dtype = inputs[0].dtype
        if dtype.itemsize != 2 or dtype.kind in "iu":
            return kernel(*inputs, **attrs)
        results = kernel(*[_widened(x, dtype) for x in inputs], **attrs)
        if type(results) is tuple:
            return tuple([each.astype(dtype) for each in results])
        return results.astype(dtype)

    return widened


def _widened(x, dtype):
    return x.astype(np.float32) if x.dtype == dtype else x


def on_arrays(kernel):
    """The kernel, with scalars given as arrays of one element, so that it can work in place."""

    def lifted(*inputs):
        if max([x.ndim for x in inputs]):
            return kernel(*[x if x.ndim else x.reshape(1) for x in inputs])
        return kernel(*[x.reshape(1) for x in inputs])[0]

    return lifted


def decay(x):
    """exp(-|x|), in one new array."""
    power = np.abs(x)
    np.negative(power, out=power)
    return np.exp(power, out=power)


def polynomial(coefficients, x):
    """A polynomial in `x`, highest power first, computed in one new array."""
    total = x * coefficients[0]
    for coefficient in coefficients[1:-1]:
        total += coefficient
        total *= x
    total += coefficients[-1]
    return total


def chebyshev(coefficients, t):
    """A Chebyshev series in `t` from -1 to 1, lowest degree first, by Clenshaw's recurrence."""
    twice = t + t
    above, current = np.zeros_like(t), np.full_like(t, coefficients[-1])
    for coefficient in coefficients[-2:0:-1]:
        # The next one takes the place of the one before the last.
        np.subtract(coefficient, above, out=above)
        above += twice * current
        above, current = current, above
    current *= t
    current -= above
    current += coefficients[0]
    return current
