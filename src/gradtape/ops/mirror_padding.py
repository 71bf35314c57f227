"""Tensors continued beyond their edges by their own mirror images, and the transpose of that."""

import numpy as np

from ..core.errors import invalid_argument
from ..core.op import Spec
from .families import linear


def _along(axis, start, stop):
    """The key of a range of one axis."""
    return (slice(None),) * axis + (slice(start, stop),)


def _mirrors(before, length, after, mode):
    """For both ends of an axis that is padded, where the padding lies and what it mirrors."""
    edge = mode == "SYMMETRIC"  # the edge itself is repeated
    first, end = before + 1 - edge, before + length - 1 + edge
    yield (0, before), (first, first + before)
    yield (before + length, before + length + after), (end - after, end)


def _mirror_pad(input, paddings, mode):
    shape = input.shape
    out = np.empty([a + n + b for n, (a, b) in zip(shape, paddings, strict=True)], input.dtype)
    if not out.ndim:
        return input
    # First the middle is filled, then all of one axis after another.
    middle = [slice(a, a + n) for n, (a, _) in zip(shape, paddings, strict=True)]
    out[tuple(middle)] = input
    for axis, (before, after) in enumerate(paddings):
        part = out[(slice(None),) * (axis + 1) + tuple(middle[axis + 1 :])]
        for padding, mirrored in _mirrors(before, shape[axis], after, mode):
            part[_along(axis, *padding)] = np.flip(part[_along(axis, *mirrored)], axis)
    return out


def _mirror_pad_grad(input, paddings, mode):
    total = np.array(input)
    for axis in reversed(range(total.ndim)):
        before, after = paddings[axis]
        length = total.shape[axis] - before - after
        for padding, mirrored in _mirrors(before, length, after, mode):
            total[_along(axis, *mirrored)] += np.flip(total[_along(axis, *padding)], axis)
        total = total[_along(axis, before, before + length)]
    return total


def check_mirrored(op_name, shape, paddings, mode):
    """Raises TensorFlow's error for more padding than there is to mirror."""
    for length, (before, after) in zip(shape, paddings, strict=True):
        if mode == "REFLECT" and max(before, after) >= max(length, 1):
            raise invalid_argument(
                op_name,
                f"paddings must be less than the dimension size: {before}, {after} not less than "
                f"{length}",
            )
        if mode == "SYMMETRIC" and max(before, after) > length:
            raise invalid_argument(
                op_name,
                f"paddings must be no greater than the dimension size: {before}, {after} greater "
                f"than {length}",
            )


def _infer_for(op_name, sign):
    def infer(input, *, paddings, mode):
        pairs = zip(input.shape, paddings, strict=True)
        shape = tuple([n + sign * (a + b) for n, (a, b) in pairs])
        check_mirrored(op_name, input.shape if sign > 0 else shape, paddings, mode)
        return Spec(shape, input.dtype)

    return infer


def _batch(op, values, flags, attrs):
    return op.call(values[0], paddings=((0, 0), *attrs["paddings"]), mode=attrs["mode"])


def _raw(name):
    """How tf.raw_ops calls a row."""

    def raw(input, paddings, mode):
        from ..core.convert import operand
        from ..core.dispatch import apply
        from .padding import padding_widths

        x = operand(input)
        attrs = {"paddings": padding_widths(paddings, x.shape, name), "mode": mode}
        return apply(_ROWS[name].op, (x,), attrs)

    return raw


mirror_pad = linear(
    "MirrorPad",
    _mirror_pad,
    inputs="input",
    infer=_infer_for("MirrorPad", 1),
    transpose=lambda g, *, paddings, mode: mirror_pad_grad(g, paddings=paddings, mode=mode),
    batch=_batch,
    raw=_raw("MirrorPad"),
)

mirror_pad_grad = linear(
    "MirrorPadGrad",
    _mirror_pad_grad,
    inputs="input",
    infer=_infer_for("MirrorPadGrad", -1),
    transpose=lambda g, *, paddings, mode: mirror_pad(g, paddings=paddings, mode=mode),
    batch=_batch,
    raw=_raw("MirrorPadGrad"),
)

_ROWS = {row.op.name: row for row in (mirror_pad, mirror_pad_grad)}
