"""Functions at the top of the namespace that are op types of TensorFlow under their own names."""

from ..core.convert import convert_to_tensor, operands
from ..core.dispatch import apply
from ..core.dtypes import complex64, float32
from ..core.errors import unimplemented
from ..core.exports import export
from . import convolution, fourier_any_axes as fourier
from .arithmetic import real_div
from .casting import cast
from .convolution_api import conv2d, conv3d
from .families import shape_of
from .joining import stack


@export("realdiv")
def realdiv(x, y, name=None):
    """`x / y` of floating or complex numbers, element by element."""
    return apply(real_div.op, operands(x, y))


@export("parallel_stack")
def parallel_stack(values, name="parallel_stack"):
    """Joins tensors of equal shape along a new first axis."""
    return stack(values, 0)


@export("fftnd")
def fftnd(input, fft_length, axes, name=None):
    """The Fourier transform over axes; see `tf.signal.fftnd`."""
    return fourier.fftnd(input, fft_length, axes)


@export("ifftnd")
def ifftnd(input, fft_length, axes, name=None):
    """The inverse of `tf.fftnd`."""
    return fourier.ifftnd(input, fft_length, axes)


@export("rfftnd")
def rfftnd(input, fft_length, axes, Tcomplex=complex64, name=None):
    """The Fourier transform of real numbers over axes; see `tf.signal.rfftnd`."""
    return cast(fourier.rfftnd(input, fft_length, axes), Tcomplex)


@export("irfftnd")
def irfftnd(input, fft_length, axes, Treal=float32, name=None):
    """The inverse of `tf.rfftnd`."""
    return cast(fourier.irfftnd(input, fft_length, axes), Treal)


@export("conv2d_backprop_filter_v2")
def conv2d_backprop_filter_v2(
    input, filter, out_backprop, strides, padding, use_cudnn_on_gpu=True, explicit_paddings=(),
    data_format="NHWC", dilations=(1, 1, 1, 1), name=None,
):  # fmt: skip
    """The gradient of a convolution by its filter, of which only the shape is used."""
    sizes = shape_of(convert_to_tensor(filter))
    return convolution.conv2d_filter_row.op.raw(
        input, sizes, out_backprop, strides, padding, use_cudnn_on_gpu, explicit_paddings,
        data_format, dilations,
    )  # fmt: skip


@export("conv2d_backprop_input_v2")
def conv2d_backprop_input_v2(
    input, filter, out_backprop, strides, padding, use_cudnn_on_gpu=True, explicit_paddings=(),
    data_format="NHWC", dilations=(1, 1, 1, 1), name=None,
):  # fmt: skip
    """The gradient of a convolution by its input, of which only the shape is used."""
    sizes = shape_of(convert_to_tensor(input))
    return convolution.conv2d_input_row.op.raw(
        sizes, filter, out_backprop, strides, padding, use_cudnn_on_gpu, explicit_paddings,
        data_format, dilations,
    )  # fmt: skip


@export("conv")
def conv(
    input, filter, strides, padding, explicit_paddings=(), data_format="CHANNELS_LAST",
    dilations=(), batch_dims=1, groups=1, name=None,
):  # fmt: skip
    """A convolution over two or three axes; see `tf.nn.convolution`.

    Args:
        input: a tensor with one axis for the batch, two or three of space, and one of channels.
        filter: the filter.
        strides: a step for each axis of `input`.
        padding: "SAME", "VALID" or "EXPLICIT".
        explicit_paddings: how much to pad before and behind each axis, one after the other.
        data_format: "CHANNELS_LAST" or "CHANNELS_FIRST".
        dilations: a step within the filter for each axis of `input`; all 1 if empty.
        batch_dims: only 1 is supported.
        groups: accepted for compatibility; the shapes say how many groups there are.

    Raises:
        UnimplementedError: there is more than one axis for the batch.
        InvalidArgumentError: the shapes do not fit.
    """
    if batch_dims != 1:
        raise unimplemented("Conv", f"batch_dims must be 1. Received: {batch_dims}")
    rank = convert_to_tensor(filter).ndim
    last = data_format == "CHANNELS_LAST"
    if padding == "EXPLICIT":
        ends = list(explicit_paddings)
        padding = [ends[i : i + 2] for i in range(0, len(ends), 2)]
    dilations = list(dilations) or [1] * rank
    if rank == 5:
        layout = "NDHWC" if last else "NCDHW"
        return conv3d(input, filter, strides, padding, layout, dilations)
    return conv2d(input, filter, strides, padding, "NHWC" if last else "NCHW", dilations)
