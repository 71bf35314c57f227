"""Images in another size: the resize ops, their adjoints and `tf.image.resize`."""

import numpy as np

from ..core.convert import convert_to_tensor, operand
from ..core.dispatch import apply
from ..core.dtypes import REAL, float32, int32
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.op import Spec
from .arguments import integer_tuple
from .broadcasting import not_allowed, reshape, words
from .casting import cast
from .families import linear, shape_of
from .resampling import KERNELS, resample, taps_for, transposed_taps

# The rows compute in the dtype they are given; `_resized` makes float32 of it first.
_FLOATS = frozenset([np.dtype(np.float32), np.dtype(np.float64)])
_HEIGHT, _WIDTH = 1, 2


@export("image.ResizeMethod")
class ResizeMethod:
    """The names of the ways to resize."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def _infer_for(name, accepts):
    def infer(images, *, size, **attrs):
        if images.dtype not in accepts:
            raise not_allowed(name, images.dtype, accepts)
        if len(images.shape) != 4:
            raise invalid_argument(
                name, f"input must be 4-dimensional but is {words(images.shape)}"
            )
        if min(size) <= 0:
            raise invalid_argument(name, f"output dimensions must be positive: {words(size)}")
        if 0 in images.shape[1:]:
            raise invalid_argument(name, f"input image must be of non-zero size: {images.shape}")
        return Spec((images.shape[0], *size, images.shape[3]), images.dtype)

    return infer


def _along_both(x, size, table_for):
    """Resamples height and width, the one first that leaves less to do for the other."""
    shape = x.shape
    if not x.size:
        return np.zeros((shape[0], *size, shape[3]), x.dtype)
    shrink = [size[axis - 1] / shape[axis] for axis in (_HEIGHT, _WIDTH)]
    for axis in (_HEIGHT, _WIDTH) if shrink[0] <= shrink[1] else (_WIDTH, _HEIGHT):
        x = resample(x, table_for(axis, shape[axis], size[axis - 1]), axis)
    return x


def axis_kernels(method, settings_for):
    """The kernels of an op and of its adjoint."""

    def forward(images, size, **attrs):
        settings = settings_for(**attrs)
        return _along_both(
            images, size, lambda axis, old, new: taps_for(method, old, new, settings[axis - 1])
        )

    def backward(grads, size, **attrs):
        settings = settings_for(**attrs)
        return _along_both(
            grads,
            size,
            lambda axis, old, new: transposed_taps(method, new, old, settings[axis - 1]),
        )

    return forward, backward


def height_and_width(shape):
    return tuple(shape[1:3])


def batch_images(op, values, flags, attrs):
    """A further axis merges with the one that counts the images."""
    shape = shape_of(values[0])
    out = op.call(reshape(values[0], shape=(shape[0] * shape[1], *shape[2:])), **attrs)
    return reshape(out, shape=(*shape[:2], *shape_of(out)[1:]))


def _image_size(original_image):
    return height_and_width(shape_of(operand(original_image)))


def _between_pixels(op_name, method, accepts):
    """The rows of an op, and of its adjoint, that say where a pixel's centre is."""

    def settings(align_corners, half_pixel_centers):
        _check_centres(op_name, align_corners, half_pixel_centers)
        return ((align_corners, half_pixel_centers),) * 2

    def raw(images, size, align_corners=False, half_pixel_centers=False):
        return _resized(
            row, images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers
        )

    def grad(grads, size, align_corners, half_pixel_centers):
        attrs = {
            "size": size,
            "align_corners": align_corners,
            "half_pixel_centers": half_pixel_centers,
        }
        return apply(grad_row.op, (operand(grads),), attrs)

    def raw_grad(grads, original_image, align_corners=False, half_pixel_centers=False):
        found = grad(grads, _image_size(original_image), align_corners, half_pixel_centers)
        return cast(found, operand(original_image).dtype)

    def raw_nearest_grad(grads, size, align_corners=False, half_pixel_centers=False):
        sizes = integer_tuple(size, f"{op_name}Grad", "T", "size must be 1-D")
        return grad(grads, sizes, align_corners, half_pixel_centers)

    forward, backward = axis_kernels(method, settings)
    row = linear(
        op_name,
        forward,
        inputs="images",
        infer=_infer_for(op_name, accepts),
        transpose=lambda g, images_shape, *, align_corners, half_pixel_centers: grad_row(
            g,
            size=height_and_width(images_shape),
            align_corners=align_corners,
            half_pixel_centers=half_pixel_centers,
        ),
        batch=batch_images,
        raw=raw,
    )
    grad_row = linear(
        f"{op_name}Grad",
        backward,
        inputs="grads",
        infer=_infer_for(f"{op_name}Grad", accepts),
        transpose=lambda g, grads_shape, *, align_corners, half_pixel_centers: row(
            g,
            size=height_and_width(grads_shape),
            align_corners=align_corners,
            half_pixel_centers=half_pixel_centers,
        ),
        batch=batch_images,
        raw=raw_nearest_grad if method == "nearest" else raw_grad,
    )
    return row


def _check_centres(op_name, align_corners, half_pixel_centers):
    if align_corners and half_pixel_centers:
        raise invalid_argument(
            op_name, "If half_pixel_centers is True, align_corners must be False."
        )


resize_bilinear = _between_pixels("ResizeBilinear", "bilinear", _FLOATS)
resize_nearest = _between_pixels("ResizeNearestNeighbor", "nearest", REAL)
resize_bicubic = _between_pixels("ResizeBicubic", "bicubic", _FLOATS)

_area, _area_grad = axis_kernels("area", lambda align_corners: ((align_corners,),) * 2)

resize_area = linear(
    "ResizeArea",
    _area,
    inputs="images",
    infer=_infer_for("ResizeArea", _FLOATS),
    transpose=lambda g, images_shape, *, align_corners: resize_area_grad(
        g, size=height_and_width(images_shape), align_corners=align_corners
    ),
    batch=batch_images,
    raw=lambda images, size, align_corners=False: _resized(
        resize_area, images, size, align_corners=align_corners
    ),
)

resize_area_grad = linear(
    "ResizeAreaGrad",
    _area_grad,
    inputs="grads",
    infer=_infer_for("ResizeAreaGrad", _FLOATS),
    transpose=lambda g, grads_shape, *, align_corners: resize_area(
        g, size=height_and_width(grads_shape), align_corners=align_corners
    ),
    batch=batch_images,
    raw=False,
)


def _scaled_settings(scale, translation, kernel_type, antialias):
    if kernel_type not in KERNELS:
        raise invalid_argument("ScaleAndTranslate", f"Unrecognized kernel type: {kernel_type}")
    if min(scale) <= 0:
        raise invalid_argument("ScaleAndTranslate", f"scale must be positive: {scale}")
    return tuple([(s, t, kernel_type, antialias) for s, t in zip(scale, translation, strict=True)])


_scaled, _scaled_grad = axis_kernels("scaled", _scaled_settings)


def _raw_scaled(images, size, scale, translation, kernel_type="lanczos3", antialias=True):
    return _resized(
        scale_and_translate,
        images,
        size,
        scale=_floats(scale),
        translation=_floats(translation),
        kernel_type=kernel_type,
        antialias=antialias,
    )


def _raw_scaled_grad(
    grads, original_image, scale, translation, kernel_type="lanczos3", antialias=True
):
    attrs = {
        "size": _image_size(original_image),
        "scale": _floats(scale),
        "translation": _floats(translation),
        "kernel_type": kernel_type,
        "antialias": antialias,
    }
    return apply(scale_and_translate_grad.op, (operand(grads),), attrs)


def _floats(values):
    return tuple([float(each) for each in convert_to_tensor(values, float32).numpy()])


scale_and_translate = linear(
    "ScaleAndTranslate",
    _scaled,
    inputs="images",
    infer=_infer_for("ScaleAndTranslate", _FLOATS),
    transpose=lambda g, images_shape, *, scale, translation, kernel_type, antialias: (
        scale_and_translate_grad(
            g,
            size=height_and_width(images_shape),
            scale=scale,
            translation=translation,
            kernel_type=kernel_type,
            antialias=antialias,
        )
    ),
    batch=batch_images,
    raw=_raw_scaled,
)

scale_and_translate_grad = linear(
    "ScaleAndTranslateGrad",
    _scaled_grad,
    inputs="grads",
    infer=_infer_for("ScaleAndTranslateGrad", _FLOATS),
    transpose=lambda g, grads_shape, *, scale, translation, kernel_type, antialias: (
        scale_and_translate(
            g,
            size=height_and_width(grads_shape),
            scale=scale,
            translation=translation,
            kernel_type=kernel_type,
            antialias=antialias,
        )
    ),
    batch=batch_images,
    raw=_raw_scaled_grad,
)


def _resized(row, images, size, **attrs):
    """Applies a row, as TensorFlow does in float32 whatever the images hold."""
    images = operand(images)
    size = integer_tuple(size, row.op.name, "T", "size must be 1-D with 2 elements, got shape")
    if len(size) != 2:
        raise invalid_argument(row.op.name, f"shape_t must be 1-D and have 2 elements: {size}")
    if row is not resize_nearest:
        images = cast(images, float32)
    return apply(row.op, (images,), {"size": size, **attrs})


_CENTRED = {"align_corners": False, "half_pixel_centers": True}
_ANTIALIASED = {"bilinear": "triangle", "bicubic": "keyscubic"}


@export("image.resize")
def resize(
    images,
    size,
    method=ResizeMethod.BILINEAR,
    preserve_aspect_ratio=False,
    antialias=False,
    name=None,
):
    """Images in another size, as float32 except by the method `"nearest"`, which keeps the dtype.

    Args:
        images: one image [height, width, channels] or a batch of them.
        size: the new height and width.
        method: a `tf.image.ResizeMethod` or its name.
        preserve_aspect_ratio: whether to take the largest size of the same ratio inside `size`.
        antialias: whether to average over more pixels when shrinking.

    Raises:
        ValueError: there is no such method, `size` is not two integers, or the rank is neither
            3 nor 4.
        InvalidArgumentError: a size is not positive.
    """
    images = operand(images)
    if images.ndim not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    try:
        size = convert_to_tensor(size, int32).numpy()
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    if size.shape != (2,):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    shape = shape_of(images)
    batch = images if images.ndim == 4 else reshape(images, shape=(1, *shape))
    old = np.array(shape[-3:-1])
    if preserve_aspect_ratio:
        factor = (size.astype(np.float32) / old.astype(np.float32)).min()
        size = np.rint(factor * old.astype(np.float32)).astype(np.int32)
    resized = _by_method(batch, size, old, method, antialias)
    return resized if images.ndim == 4 else reshape(resized, shape=shape_of(resized)[1:])


def _by_method(images, size, old, method, antialias):
    kernel_type = _ANTIALIASED.get(method) if antialias else None
    if method in ("lanczos3", "lanczos5", "gaussian", "mitchellcubic"):
        kernel_type = method
    if kernel_type:
        scale = size.astype(np.float32) / np.maximum(old, 1).astype(np.float32)
        return _raw_scaled(images, size, scale, [0.0, 0.0], kernel_type, antialias)
    if method == "bilinear":
        return _resized(resize_bilinear, images, size, **_CENTRED)
    if method == "nearest":
        return _resized(resize_nearest, images, size, **_CENTRED)
    if method == "bicubic":
        return _resized(resize_bicubic, images, size, **_CENTRED)
    if method == "area":
        return _resized(resize_area, images, size, align_corners=False)
    raise ValueError(f"Resize method is not implemented: {method}")
