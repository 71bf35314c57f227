"""Rows of pools: largest elements and means of windows, with their gradients."""

import functools

import numpy as np

from ..core import dtypes
from ..core.convert import operand
from ..core.dispatch import apply
from ..core.errors import invalid_argument, unimplemented
from ..core.op import Spec
from .arithmetic import masked, sub
from .broadcasting import not_allowed, reshape, words, working_dtype
from .families import linear, opaque, shape_of
from .joining import all_batched
from .pointwise import dtype_mismatch
from .pooling_kernel import (
    all_hits,
    average_pool,
    average_pool_gradient,
    first_hits,
    max_pool,
    max_pool_gradient,
    pick_at_maximum,
)
from .windows import (
    FORMATS,
    check_format,
    check_padding,
    checked_places,
    merged_padding,
    others,
    spans,
)

# What TensorFlow pools; the widest unsigned integers are not among it.
_ORDERED = dtypes.REAL - dtypes.numpy_set(dtypes.uint32, dtypes.uint64)


def _axes(shape, ksize, strides, padding):
    return spans(shape, ksize, strides, (1,) * len(shape), padding)


@functools.lru_cache(maxsize=4096)
def _pooled_shape(name, shape, ksize, strides, padding, data_format):
    """The shape of a pool's output; every error its shape and attributes can have."""
    rank = 5 if "3D" in name else 4
    check_format(name, data_format, FORMATS[rank - 2])
    if len(shape) != rank:
        raise invalid_argument(
            name, f"tensor_in must be {rank}-dimensional. Received: shape {words(shape)}"
        )
    for what, values in (("ksize", ksize), ("strides", strides)):
        if len(values) != rank:
            raise invalid_argument(
                name,
                f"Sliding window {what} field must specify {rank} dimensions. "
                f"Received: {words(values)}",
            )
    if min(ksize) < 1:
        raise invalid_argument(
            name,
            "Sliding window ksize must be positive. The specified or inferred ksize is: "
            f"{','.join([str(k) for k in ksize])}",
        )
    if min(strides) < 1:
        raise invalid_argument(name, f"Stride must be > 0, but got {min(strides)}")
    if ksize[0] != 1 or strides[0] != 1:
        raise unimplemented(name, "Pooling is not yet supported on the batch dimension.")
    if "Avg" in name and (
        others(ksize, data_format)[1] != 1 or others(strides, data_format)[1] != 1
    ):
        raise unimplemented(name, "Non-spatial pooling is not yet supported.")
    check_padding(name, padding, data_format, explicit=name.startswith("MaxPool"))
    if isinstance(padding, tuple):
        for pair, window in zip(padding, ksize, strict=True):
            if max(pair) >= window and max(pair):
                raise invalid_argument(
                    name,
                    f"Padding {max(pair)} needs to be smaller than the window size {window}",
                )
    return checked_places(name, _axes(shape, ksize, strides, padding))


def _fold(x):
    """A batch of batches as one batch."""
    shape = shape_of(x)
    return reshape(x, shape=(shape[0] * shape[1], *shape[2:]))


def _unfold(x, count, size):
    return reshape(x, shape=(count, size, *shape_of(x)[1:]))


def _batch(op, values, flags, attrs):
    """The op on one batch of all."""
    values = all_batched(values, flags)
    count, size = shape_of(values[0])[:2]
    out = op.call(*[_fold(x) for x in values], **attrs)
    if op.outputs == 1:
        return _unfold(out, count, size)
    return tuple([_unfold(each, count, size) for each in out])


# Largest elements ---------------------------------------------------------------------------------


def _check_parts(name, orig_input, orig_output, grad, expected, pooled):
    if orig_input.dtype not in _ORDERED:
        raise not_allowed(name, orig_input.dtype, _ORDERED)
    for i, x in ((1, orig_output), (2, grad)):
        if x.dtype != orig_input.dtype:
            raise dtype_mismatch(name, i, orig_input.dtype, x.dtype)
    if orig_output.shape != pooled:
        raise invalid_argument(
            name,
            f"Expected orig_output shape to be {words(pooled)}, but got {words(orig_output.shape)}",
        )
    if grad.shape != expected:
        raise invalid_argument(
            name, f"Expected grad shape to be {words(expected)}, but got {words(grad.shape)}"
        )


def _max_rows(names, raw, hits):
    """The rows of a max pool, of its gradient, and of the gradient of that.

    Args:
        names: of the three ops.
        raw: their arguments as raw ops.
        hits: which of several equal elements have the gradient.
    """

    def infer(input, *, ksize, strides, padding, data_format):
        if input.dtype not in _ORDERED:
            raise not_allowed(names[0], input.dtype, _ORDERED)
        shape = _pooled_shape(names[0], input.shape, ksize, strides, padding, data_format)
        return Spec(shape, input.dtype)

    def infer_gradient(orig_input, orig_output, grad, *, ksize, strides, padding, data_format):
        shape = orig_input.shape
        pooled = _pooled_shape(names[1], shape, ksize, strides, padding, data_format)
        _check_parts(names[1], orig_input, orig_output, grad, pooled, pooled)
        return Spec(shape, orig_input.dtype)

    def infer_second(orig_input, orig_output, grad, *, ksize, strides, padding, data_format):
        shape = orig_input.shape
        pooled = _pooled_shape(names[2], shape, ksize, strides, padding, data_format)
        _check_parts(names[2], orig_input, orig_output, grad, shape, pooled)
        return Spec(pooled, orig_input.dtype)

    pool = opaque(
        names[0],
        lambda input, ksize, strides, padding, data_format: max_pool(
            input, axes=_axes(input.shape, ksize, strides, padding)
        ),
        inputs="input",
        infer=infer,
        vjp={
            "input": lambda g, input, out, *, ksize, strides, padding, data_format: gradient(
                input,
                out,
                g,
                ksize=ksize,
                strides=strides,
                padding=padding,
                data_format=data_format,
            )
        },
        jvp=lambda tangents, inputs, out, attrs: second(inputs[0], out, tangents[0], **attrs),
        batch=_batch,
        raw=raw[0],
    )
    gradient = opaque(
        names[1],
        lambda orig_input, orig_output, grad, ksize, strides, padding, data_format: (
            max_pool_gradient(
                orig_input,
                orig_output,
                grad,
                axes=_axes(orig_input.shape, ksize, strides, padding),
                hits=hits,
            )
        ),
        inputs="orig_input orig_output grad",
        infer=infer_gradient,
        vjp={
            "orig_input": lambda g: masked(g, np.False_),
            "grad": lambda g, orig_input, orig_output, *, ksize, strides, padding, data_format: (
                second(
                    orig_input,
                    orig_output,
                    g,
                    ksize=ksize,
                    strides=strides,
                    padding=padding,
                    data_format=data_format,
                )
            ),
        },
        jvp=lambda tangents, inputs, out, attrs: (
            masked(out, np.False_)
            if tangents[2] is None
            else gradient(inputs[0], inputs[1], tangents[2], **attrs)
        ),
        batch=_batch,
        raw=raw[1],
    )
    second = opaque(
        names[2],
        lambda orig_input, orig_output, grad, ksize, strides, padding, data_format: pick_at_maximum(
            orig_input, orig_output, grad, axes=_axes(orig_input.shape, ksize, strides, padding)
        ),
        inputs="orig_input orig_output grad",
        infer=infer_second,
        vjp={
            "orig_input": lambda g, grad: masked(grad, np.False_),
            "grad": lambda g, orig_input, orig_output, *, ksize, strides, padding, data_format: (
                gradient(
                    orig_input,
                    orig_output,
                    g,
                    ksize=ksize,
                    strides=strides,
                    padding=padding,
                    data_format=data_format,
                )
            ),
        },
        jvp=lambda tangents, inputs, out, attrs: (
            masked(out, np.False_)
            if tangents[2] is None
            else second(inputs[0], inputs[1], tangents[2], **attrs)
        ),
        batch=_batch,
        raw=raw[2],
    )
    return pool, gradient, second


def _raw_max_pool(input, ksize, strides, padding, explicit_paddings=(), data_format="NHWC"):
    attrs = _normal(ksize, strides, merged_padding(padding, explicit_paddings), data_format)
    return apply(max_pool_row.op, (operand(input),), attrs)


def _raw_max_pool_gradient(
    orig_input, orig_output, grad, ksize, strides, padding, explicit_paddings=(),
    data_format="NHWC",
):  # fmt: skip
    attrs = _normal(ksize, strides, merged_padding(padding, explicit_paddings), data_format)
    x, out = operand(orig_input), operand(orig_output)
    shape = _pooled_shape("MaxPoolGrad", tuple(x.shape), **attrs)
    if (tuple(out.shape), out.dtype) == (shape, x.dtype):
        # TensorFlow looks for the maxima itself, whatever `orig_output` holds.
        out = apply(max_pool_row.op, (x,), attrs)
    return apply(max_pool_gradient_row.op, (x, out, operand(grad)), attrs)


def _normal(ksize, strides, padding, data_format):
    return {
        "ksize": tuple(ksize), "strides": tuple(strides), "padding": padding,
        "data_format": data_format,
    }  # fmt: skip


def _raw(inputs, data_format):
    return f"{inputs}, ksize, strides, padding, data_format='{data_format}'"


_PARTS = "orig_input, orig_output, grad"

max_pool_row, max_pool_gradient_row, max_pool_second_row = _max_rows(
    ("MaxPool", "MaxPoolGrad", "MaxPoolGradGrad"),
    (_raw_max_pool, _raw_max_pool_gradient, _raw(_PARTS, "NHWC")),
    first_hits,
)
max_pool3d_row, max_pool3d_gradient_row, max_pool3d_second_row = _max_rows(
    ("MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad"),
    (_raw("input", "NDHWC"), _raw(_PARTS, "NDHWC"), _raw(_PARTS, "NDHWC")),
    all_hits,  # but the first alone in MaxPool3DGradGrad: TensorFlow's are not each other's adjoint
)

# Largest elements and where they are --------------------------------------------------------------


def _infer_with_argmax(input, *, ksize, strides, padding, Targmax, include_batch_in_index):
    name = "MaxPoolWithArgmax"
    if input.dtype not in _ORDERED:
        raise not_allowed(name, input.dtype, _ORDERED)
    shape = _pooled_shape(name, input.shape, ksize, strides, padding, "NHWC")
    return Spec(shape, input.dtype), Spec(shape, Targmax)


def _with_argmax(input, ksize, strides, padding, Targmax, include_batch_in_index):
    axes = _axes(input.shape, ksize, strides, padding)
    shape = input.shape if include_batch_in_index else (1, *input.shape[1:])
    numbers = np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)
    numbers = np.broadcast_to(numbers, input.shape)
    out = max_pool(input, axes=axes)
    working = working_dtype(input.dtype)
    positions = pick_at_maximum(
        input.astype(working, copy=False), out.astype(working, copy=False), numbers, axes=axes
    )
    return out, positions.astype(Targmax)


def _with_argmax_gradient(g, input, out, *, ksize, strides, padding):
    return (
        max_pool_gradient_row(
            input, out[0], g[0], ksize=ksize, strides=strides, padding=padding, data_format="NHWC"
        ),
    )


def _batch_with_argmax(op, values, flags, attrs):
    out, positions = _batch(op, values, flags, attrs)
    if not attrs["include_batch_in_index"]:
        return out, positions
    # Counted from the start of all batches: take off where each begins.
    shape = shape_of(values[0])
    starts = np.arange(shape[0], dtype=attrs["Targmax"]) * int(np.prod(shape[1:]))
    return out, sub(positions, starts.reshape(-1, *(1,) * (len(shape) - 1)))


max_pool_with_argmax_row = opaque(
    "MaxPoolWithArgmax",
    _with_argmax,
    inputs="input",
    infer=_infer_with_argmax,
    vjp=_with_argmax_gradient,
    batch=_batch_with_argmax,
    outputs=2,
    raw="input, ksize, strides, padding, Targmax=tf.int64, include_batch_in_index=False"
    " -> output, argmax",
)

# Means --------------------------------------------------------------------------------------------


def _mean_rows(names, source, data_format):
    """The rows of an average pool, with its input's name, and of its transpose."""

    def infer(value, *, ksize, strides, padding, data_format):
        if value.dtype not in dtypes.FLOATING:
            raise not_allowed(names[0], value.dtype, dtypes.FLOATING)
        shape = _pooled_shape(names[0], value.shape, ksize, strides, padding, data_format)
        return Spec(shape, value.dtype)

    def infer_gradient(grad, *, orig_input_shape, ksize, strides, padding, data_format):
        if grad.dtype not in dtypes.FLOATING:
            raise not_allowed(names[1], grad.dtype, dtypes.FLOATING)
        expected = _pooled_shape(names[1], orig_input_shape, ksize, strides, padding, data_format)
        if grad.shape != expected:
            raise invalid_argument(
                names[1],
                f"Expected grad shape to be {words(expected)}, but got {words(grad.shape)}",
            )
        return Spec(orig_input_shape, grad.dtype)

    def transposed(g, shape, ksize, strides, padding, data_format):
        return gradient(
            g, orig_input_shape=shape, ksize=ksize, strides=strides, padding=padding,
            data_format=data_format,
        )  # fmt: skip

    def batch_gradient(op, values, flags, attrs):
        count = shape_of(values[0])[0]
        size, *rest = attrs["orig_input_shape"]
        out = op.call(_fold(values[0]), **{**attrs, "orig_input_shape": (count * size, *rest)})
        return _unfold(out, count, size)

    # A rule names the input as its row does.
    rules = {
        "value": lambda g, value_shape, *, ksize, strides, padding, data_format: transposed(
            g, value_shape, ksize, strides, padding, data_format
        ),
        "input": lambda g, input_shape, *, ksize, strides, padding, data_format: transposed(
            g, input_shape, ksize, strides, padding, data_format
        ),
    }
    pool = linear(
        names[0],
        lambda value, ksize, strides, padding, data_format: average_pool(
            value, axes=_axes(value.shape, ksize, strides, padding)
        ),
        inputs=source,
        infer=infer,
        transpose=rules[source],
        batch=_batch,
        raw=_raw(source, data_format),
    )
    gradient = linear(
        names[1],
        lambda grad, orig_input_shape, ksize, strides, padding, data_format: average_pool_gradient(
            grad, shape=orig_input_shape, axes=_axes(orig_input_shape, ksize, strides, padding)
        ),
        inputs="grad",
        infer=infer_gradient,
        transpose=lambda g, *, ksize, strides, padding, data_format: pool(
            g, ksize=ksize, strides=strides, padding=padding, data_format=data_format
        ),
        batch=batch_gradient,
        raw=_raw("orig_input_shape, grad", data_format),
    )
    return pool, gradient


average_pool_row, average_pool_gradient_row = _mean_rows(
    ("AvgPool", "AvgPoolGrad"), "value", "NHWC"
)
average_pool3d_row, average_pool3d_gradient_row = _mean_rows(
    ("AvgPool3D", "AvgPool3DGrad"), "input", "NDHWC"
)
