"""The order of elements along axes: reverse, roll."""

import numpy as np

from ..core.composite import open_to_composites
from ..core.convert import operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument
from ..core.exports import export
from .arguments import integers
from .identity import identity
from .joining import concat
from .slicing import EVERYTHING, strided_slice_row


@export("reverse")
@open_to_composites
def reverse(tensor, axis, name=None):
    """Reverses the order along axes.

    Raises:
        InvalidArgumentError: an axis does not exist or is named twice.
    """
    x = operand(tensor)
    axes = integers(axis, "ReverseV2", "Tidx")
    if not x.ndim:  # whatever the axes
        return identity(x)
    if axes.ndim != 1:
        raise invalid_argument("ReverseV2", f"'dims' must be 1-dimension, not {axes.ndim}")
    key = [EVERYTHING] * x.ndim
    for i, a in enumerate(axes.tolist()):
        if not -x.ndim <= a < x.ndim:
            raise invalid_argument(
                "ReverseV2", f"'axis'[{i}] = {a} is out of valid range [0, {x.ndim - 1}"
            )
        if key[a] != EVERYTHING:
            raise invalid_argument("ReverseV2", f"axis {a % x.ndim} specified more than once.")
        key[a] = (None, None, -1)
    return apply(strided_slice_row.op, (x,), {"key": tuple(key)})


@export("roll")
def roll(input, shift, axis, name=None):
    """Moves elements along axes; what leaves at the end comes in at the front.

    Args:
        input: the tensor.
        shift: by how much, for each axis named.
        axis: the axes.

    Raises:
        InvalidArgumentError: an axis does not exist, or there are not as many shifts as axes.
    """
    x = operand(input)
    shifts = np.atleast_1d(integers(shift, "Roll", "Tshift"))
    axes = np.atleast_1d(integers(axis, "Roll", "Taxis"))
    if not x.ndim:
        raise invalid_argument("Roll", "input must be 1-D or higher")
    for argument, numbers in (("shift", shifts), ("axis", axes)):
        if numbers.ndim > 1:
            raise invalid_argument(
                "Roll", f"{argument} must be a scalar or a 1-D vector. Found: {numbers.tolist()}"
            )
    if shifts.shape != axes.shape:
        raise invalid_argument("Roll", "shift and axis must have the same size")
    for by, a in zip(shifts.tolist(), axes.tolist(), strict=True):
        place = a + x.ndim if a < 0 else a
        if not 0 <= place < x.ndim:
            raise invalid_argument("Roll", f"axis {place} is out of range")
        x = _rolled(x, by, place)
    return identity(x)


def _rolled(x, by, axis):
    length = x.shape[axis]
    cut = -by % length if length else 0
    if not cut:
        return x
    before = (EVERYTHING,) * axis
    head = apply(strided_slice_row.op, (x,), {"key": (*before, (cut, None, None))})
    tail = apply(strided_slice_row.op, (x,), {"key": (*before, (None, cut, None))})
    return concat([head, tail], axis)
