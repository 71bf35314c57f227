"""Cases of gradtape.ops.resize."""

import math

import numpy as np

from gradtape.core.errors import InvalidArgumentError

from ..case import Case, Failure, Sample
from ..draws import Draws

draw = Draws(__name__)

_FLOATS = ["float32"]
_CENTRED = {"align_corners": False, "half_pixel_centers": True}
_LEGACY = {"align_corners": False, "half_pixel_centers": False}
_CORNERS = {"align_corners": True, "half_pixel_centers": False}


def _source(i, old, new, align_corners, half_pixel_centers):
    scale = np.float32(old / new)
    if align_corners and new > 1:
        scale = np.float32((old - 1) / (new - 1))
    if half_pixel_centers:
        return np.float32(np.float32(np.float32(i + 0.5) * scale) - np.float32(0.5))
    return np.float32(np.float32(i) * scale)


def _put(matrix, row, column, weight):
    matrix[row, min(max(column, 0), matrix.shape[1] - 1)] += weight


def _bilinear(old, new, **attrs):
    matrix = np.zeros((new, old))
    for i in range(new):
        place = _source(i, old, new, **attrs)
        low = math.floor(place)
        _put(matrix, i, low, 1 - (place - low))
        _put(matrix, i, math.ceil(place), place - low)
    return matrix


def _nearest(old, new, align_corners, half_pixel_centers):
    matrix = np.zeros((new, old))
    for i in range(new):
        place = _source(i, old, new, align_corners, half_pixel_centers)
        shift = 0.5 if align_corners or half_pixel_centers else 0.0
        _put(matrix, i, math.floor(place + shift), 1.0)
    return matrix


def _keys(x, a):
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


def _bicubic(old, new, align_corners, half_pixel_centers):
    matrix = np.zeros((new, old))
    a = -0.5 if half_pixel_centers else -0.75
    for i in range(new):
        place = _source(i, old, new, align_corners, half_pixel_centers)
        low = math.floor(place)
        share = float(np.rint((place - low) * 1024)) / 1024
        for step in range(-1, 3):
            if half_pixel_centers and not 0 <= low + step < old:
                continue
            _put(matrix, i, low + step, _keys(step - share, a))
        if half_pixel_centers:
            matrix[i] /= matrix[i].sum()
    return matrix


def _area(old, new, align_corners):
    scale = (old - 1) / (new - 1) if align_corners and new > 1 else old / new
    matrix = np.zeros((new, old))
    for i in range(new):
        start, stop = i * scale, (i + 1) * scale
        for pixel in range(math.floor(start), math.ceil(stop)):
            _put(matrix, i, pixel, (min(pixel + 1, stop) - max(pixel, start)) / scale)
    return matrix


def _triangle(old, new, scale, translation, antialias):
    stretch = max(1 / scale, 1) if antialias else 1
    matrix = np.zeros((new, old))
    for i in range(new):
        centre = (i + 0.5 - translation) / scale
        if not 0 <= centre <= old:
            continue
        for pixel in range(old):
            matrix[i, pixel] = max(1 - abs(pixel + 0.5 - centre) / stretch, 0)
        matrix[i] /= matrix[i].sum() or 1
    return matrix


def _applied(rows, columns, images):
    result = np.einsum("ih,jw,bhwc->bijc", rows, columns, images)
    return result.astype(images.dtype)


def _forward(matrix):
    def reference(images, size, **attrs):
        rows = matrix(images.shape[1], size[0], **attrs)
        return _applied(rows, matrix(images.shape[2], size[1], **attrs), images)

    return reference


def _backward(matrix):
    def reference(grads, size, **attrs):
        rows = matrix(size[0], grads.shape[1], **attrs)
        return _applied(rows.T, matrix(size[1], grads.shape[2], **attrs).T, grads)

    return reference


def _scaled(matrix_of, order):
    def reference(images, size, scale, translation, kernel_type, antialias):
        matrices = [
            matrix_of(*order(old, new), s, t, antialias)
            for old, new, s, t in zip(images.shape[1:3], size, scale, translation, strict=True)
        ]
        if order(0, 1) == (1, 0):
            matrices = [m.T for m in matrices]
        return _applied(*matrices, images)

    return reference


_REFUSED = [
    Failure(
        (np.ones((2, 2, 1)),), {"size": (2, 2), **_LEGACY}, InvalidArgumentError, "must be 4-d"
    ),
    Failure(
        (np.ones((1, 2, 2, 1)),), {"size": (0, 2), **_LEGACY}, InvalidArgumentError, "positive"
    ),
    Failure(
        (np.ones((1, 0, 2, 1)),), {"size": (2, 2), **_LEGACY}, InvalidArgumentError, "non-zero"
    ),
]
_BOTH = Failure(
    (np.ones((1, 2, 2, 1)),),
    {"size": (2, 2), "align_corners": True, "half_pixel_centers": True},
    InvalidArgumentError,
    "align_corners must be False",
)


_SIZES = (((1, 3, 2, 2), (5, 3)), ((2, 4, 3, 1), (2, 2)), ((1, 1, 3, 1), (1, 7)))


def _samples(*extra):
    return [
        *[
            Sample((draw.uniform(*shape),), {"size": size, **attrs})
            for attrs in (_CENTRED, _LEGACY, _CORNERS)
            for shape, size in _SIZES
        ],
        Sample((np.zeros((0, 2, 3, 1)),), {"size": (4, 4), **_CENTRED}),
        *extra,
    ]  # fmt: skip


def _original(grads, size):
    """An image as large as the gradient's is to be."""
    shape = (grads.shape[0], *size, grads.shape[3]) if grads.ndim == 4 else (1, *size, 1)
    return np.zeros(shape, grads.dtype)


def _raw_grad(grads, size, **attrs):
    """TensorFlow's call, which takes gradients in single precision whatever the image's."""
    if grads.dtype == np.float64:
        return {"grads": np.float32(grads), "original_image": _original(grads, size), **attrs}
    return {"grads": grads, "original_image": _original(grads, size), **attrs}


def _raw_scaled(images, size, scale, translation, **attrs):
    where = {"scale": np.float32(scale), "translation": np.float32(translation)}
    return {"images": images, "size": np.array(size, np.int32), **where, **attrs}


def _raw_scaled_grad(grads, size, scale, translation, **attrs):
    grads = np.float32(grads)  # the only dtype it has
    where = {"scale": np.float32(scale), "translation": np.float32(translation)}
    return {"grads": grads, "original_image": _original(grads, size), **where, **attrs}


def _pair(name, matrix, dtypes, extra=()):
    refused = [*_REFUSED, _BOTH]
    return [
        Case(
            op=name, samples=_samples(*extra), reference=_forward(matrix), failures=refused,
            dtypes=dtypes,
        ),
        Case(
            op=f"{name}Grad", samples=_samples(*extra), reference=_backward(matrix),
            failures=refused, dtypes=dtypes, raw=None if matrix is _nearest else _raw_grad,
        ),
    ]  # fmt: skip


_INTEGERS = Sample((draw.integers(1, 3, 2, 1, dtype=np.int64),), {"size": (2, 4), **_CENTRED})

_AREA = [
    Sample((draw.uniform(1, 4, 3, 2),), {"size": (2, 2), "align_corners": False}),
    Sample((draw.uniform(1, 3, 2, 1),), {"size": (5, 3), "align_corners": False}),
    Sample((draw.uniform(2, 3, 3, 1),), {"size": (2, 2), "align_corners": True}),
]
_SCALED = [
    Sample(
        (draw.uniform(1, 4, 3, 1),),
        {
            "size": (2, 5),
            "scale": (0.5, 1.6),  # whose reciprocals are exact in float32
            "translation": (0.0, 0.25),
            "kernel_type": "triangle",
            "antialias": antialias,
        },
    )
    for antialias in (True, False)
]
_UNKNOWN_KERNEL = Failure(
    (np.ones((1, 2, 2, 1)),),
    {
        "size": (2, 2),
        "scale": (1.0, 1.0),
        "translation": (0.0, 0.0),
        "kernel_type": "square",
        "antialias": True,
    },
    InvalidArgumentError,
    "Unrecognized kernel type: square",
)

CASES = [
    *_pair("ResizeBilinear", _bilinear, _FLOATS),
    *_pair("ResizeNearestNeighbor", _nearest, None, [_INTEGERS]),
    *_pair("ResizeBicubic", _bicubic, _FLOATS),
    Case(op="ResizeArea", samples=_AREA, reference=_forward(_area), dtypes=_FLOATS),
    Case(op="ResizeAreaGrad", samples=_AREA, reference=_backward(_area), dtypes=_FLOATS),
    Case(
        op="ScaleAndTranslate",
        raw=_raw_scaled,
        samples=_SCALED,
        reference=_scaled(_triangle, lambda old, new: (old, new)),
        failures=[_UNKNOWN_KERNEL],
        dtypes=_FLOATS,
    ),
    Case(
        op="ScaleAndTranslateGrad",
        raw=_raw_scaled_grad,
        samples=_SCALED,
        reference=_scaled(_triangle, lambda old, new: (new, old)),
        failures=[_UNKNOWN_KERNEL],
        dtypes=_FLOATS,
    ),
]
