"""Boxes in images: cut out and drawn."""

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor, operand
from ..core.errors import OutOfRangeError, invalid_argument
from ..core.exports import export
from ..core.tensor import EagerTensor
from .arguments import integer_tuple
from .arithmetic import add, mul, sub
from .broadcasting import reshape
from .casting import cast
from .families import shape_of
from .indexing import gather_nd
from .selection import select

_PALETTE = (
    (1, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0.5, 0, 0.5, 1),
    (0.5, 0.5, 0, 1), (0.5, 0, 0, 1), (0, 0, 0.5, 1), (0, 1, 1, 1), (1, 0, 1, 1),
)  # fmt: skip


@export("image.crop_and_resize")
def crop_and_resize(
    image,
    boxes,
    box_indices,
    crop_size,
    method="bilinear",
    extrapolation_value=0.0,
    name=None,
):
    """Cuts boxes out of images and resizes each to one size, in float32.

    Args:
        image: [batch, height, width, channels].
        boxes: [boxes, 4]: top, left, bottom and right, from 0 to 1; mirrored if not in order.
        box_indices: for each box its image.
        crop_size: the height and width of the results.
        method: `"bilinear"` or `"nearest"`.
        extrapolation_value: what stands where a box leaves its image.

    Raises:
        InvalidArgumentError: shapes that do not fit, or no such method.
        OutOfRangeError: a box of an image that is not there.
    """
    name = "CropAndResize"
    image = cast(operand(image), dtypes.float32)
    boxes = convert_to_tensor(boxes, dtypes.float32)
    owners = convert_to_tensor(box_indices, dtypes.int32).numpy()
    size = integer_tuple(crop_size, name, "T", "crop_size must be 1-D")
    if image.ndim != 4:
        raise invalid_argument(name, f"input image must be 4-D{image.shape}")
    if boxes.ndim != 2 or shape_of(boxes)[1] != 4:
        raise invalid_argument(name, f"boxes must be 2-D with 4 columns, got {boxes.shape}")
    if owners.shape != shape_of(boxes)[:1]:
        raise invalid_argument(name, f"box_index has incompatible shape {owners.shape}")
    if len(size) != 2 or min(size) <= 0:
        raise invalid_argument(name, f"crop dimensions must be positive: {size}")
    if method not in ("bilinear", "nearest"):
        raise invalid_argument(name, f"method must be 'bilinear' or 'nearest': {method}")
    count, height, width, depth = shape_of(image)
    if owners.size and not (owners.min() >= 0 and owners.max() < count):
        raise OutOfRangeError(None, None, f"box_index has values outside [0, {count})")
    rows = _places(boxes[:, 0], boxes[:, 2], height, size[0])
    columns = _places(boxes[:, 1], boxes[:, 3], width, size[1])
    inside = _between(rows.numpy(), height)[:, :, None] & _between(columns.numpy(), width)[:, None]
    inside = np.broadcast_to(inside[..., None], (len(owners), *size, depth))
    if method == "nearest":
        crops = _pixels(image, owners, _rounded(rows), _rounded(columns))
    else:
        crops = _interpolated(image, owners, rows, columns)
    outside = np.full(inside.shape, extrapolation_value, np.float32)
    return select(convert_to_tensor(inside), crops, convert_to_tensor(outside))


def _places(start, stop, extent, count):
    """Where in an image the pixels of each box lie along one axis, [boxes, count]."""
    boxes = shape_of(start)[0]
    start, stop = reshape(start, shape=(boxes, 1)), reshape(stop, shape=(boxes, 1))
    if count == 1:
        return mul(add(start, stop), np.float32(0.5 * (extent - 1)))
    steps = np.arange(count, dtype=np.float32)[None]
    step = mul(sub(stop, start), np.float32((extent - 1) / (count - 1)))
    return add(mul(start, np.float32(extent - 1)), mul(step, convert_to_tensor(steps)))


def _between(places, extent):
    return (places >= 0) & (places <= extent - 1)


def _rounded(places):
    values = places.numpy()
    return np.trunc(values + np.copysign(np.float32(0.5), values)).astype(np.intp)


def _pixels(image, owners, rows, columns):
    _, height, width, _ = shape_of(image)
    index = np.stack(
        np.broadcast_arrays(
            owners[:, None, None],
            np.clip(rows, 0, height - 1)[:, :, None],
            np.clip(columns, 0, width - 1)[:, None, :],
        ),
        -1,
    )
    return gather_nd(image, convert_to_tensor(index.astype(np.int64)))


def _interpolated(image, owners, rows, columns):
    top, left = np.floor(rows.numpy()), np.floor(columns.numpy())
    bottom, right = np.ceil(rows.numpy()), np.ceil(columns.numpy())
    down = sub(rows, convert_to_tensor(top))
    across = sub(columns, convert_to_tensor(left))
    boxes, height = shape_of(rows)
    down = reshape(down, shape=(boxes, height, 1, 1))
    across = reshape(across, shape=(boxes, 1, shape_of(columns)[1], 1))
    corners = (top, left, bottom, right)
    top, left, bottom, right = [np.nan_to_num(each).astype(np.intp) for each in corners]
    upper_left = _pixels(image, owners, top, left)
    upper = add(upper_left, mul(sub(_pixels(image, owners, top, right), upper_left), across))
    lower_left = _pixels(image, owners, bottom, left)
    lower = add(lower_left, mul(sub(_pixels(image, owners, bottom, right), lower_left), across))
    return add(upper, mul(sub(lower, upper), down))


@export("image.draw_bounding_boxes")
def draw_bounding_boxes(images, boxes, colors, name=None):
    """Draws boxes, one pixel wide, on images.

    Args:
        images: float32 or float16, [batch, height, width, channels], with 1, 3 or 4 channels.
        boxes: [batch, boxes, 4]: top, left, bottom and right, from 0 to 1.
        colors: [colors, channels], taken in turn; None for ten colours.

    Raises:
        InvalidArgumentError: shapes that do not fit.
    """
    name = "DrawBoundingBoxesV2"
    images = operand(images)
    boxes = convert_to_tensor(boxes, dtypes.float32).numpy()
    if images.ndim != 4 or shape_of(images)[-1] not in (1, 3, 4):
        raise invalid_argument(
            name, f"The images should be 4-D with 1, 3 or 4 channels. Got {images.shape}"
        )
    count, height, width, depth = shape_of(images)
    if boxes.ndim != 3 or boxes.shape[0] != count or boxes.shape[2] != 4:
        raise invalid_argument(
            name, f"The boxes should have shape [{count}, boxes, 4]. Got {boxes.shape}"
        )
    drawn = images.numpy().copy()
    palette = _colours(colors, depth).astype(drawn.dtype)
    extent = np.array([height - 1, width - 1] * 2, np.float32)
    for image, image_boxes in zip(drawn, boxes, strict=True):
        for i, box in enumerate(np.trunc(image_boxes * extent).astype(int).tolist()):
            _draw(image, box, palette[i % len(palette)])
    return EagerTensor(drawn)


def _colours(colors, depth):
    if colors is not None:
        colors = convert_to_tensor(colors, dtypes.float32).numpy()
        if colors.size:
            if colors.ndim != 2 or colors.shape[1] < depth:
                raise invalid_argument(
                    "DrawBoundingBoxesV2",
                    f"colors must be a 2-D matrix with {depth} channels. Got {colors.shape}",
                )
            return colors[:, :depth]
    return np.ones((1, 1), np.float32) if depth == 1 else np.array(_PALETTE)[:, :depth]


def _draw(image, box, colour):
    height, width, _ = image.shape
    top, left, bottom, right = box
    if top > bottom or left > right or top >= height or left >= width or bottom < 0 or right < 0:
        return
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    if top >= 0:
        image[top, columns] = colour
    if bottom < height:
        image[bottom, columns] = colour
    if left >= 0:
        image[rows, left] = colour
    if right < width:
        image[rows, right] = colour
