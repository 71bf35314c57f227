"""Which pixels, with which weights, make up each pixel of a resized axis.

Resizing treats height and width alike and one after the other, so a method is a table for one axis:
row `o` names the inputs that output `o` is a weighted sum of. The adjoint is a table too.
"""

import functools
from typing import NamedTuple

import numpy as np

# Above so many inputs for each output, if they are a fair part of the axis, a matrix product beats
# adding them one by one.
_MANY_TAPS = 8
_WIDE = 16

_TINY = 1000 * np.finfo(np.float32).tiny
_CUBIC_STEPS = 1024


class Taps(NamedTuple):
    """Row `o` holds the positions and weights of the inputs of output `o`, padded with zeros."""

    positions: np.ndarray
    weights: np.ndarray
    input_size: int


def resample(x, taps, axis):
    """Applies a table along an axis."""
    positions, weights, input_size = taps
    count = positions.shape[1]
    if count > _MANY_TAPS and input_size < _WIDE * count:
        matrix = np.zeros((len(positions), input_size), x.dtype)
        np.add.at(matrix, (np.arange(len(positions))[:, None], positions), weights)
        before, after = x.shape[:axis], x.shape[axis + 1 :]
        flat = x.reshape(-1, input_size, int(np.prod(after, dtype=int)))
        return np.matmul(matrix, flat).reshape(*before, len(positions), *after)
    aligned = (-1,) + (1,) * (x.ndim - 1 - axis)
    total = None
    for tap in range(count):
        term = np.take(x, positions[:, tap], axis)
        factor = weights[:, tap].astype(x.dtype)
        if not (factor == 1).all():
            term *= factor.reshape(aligned)
        total = term if total is None else np.add(total, term, out=total)
    return total


@functools.lru_cache(maxsize=256)
def taps_for(method, input_size, output_size, settings):
    """The table of a method for one axis; `settings` are the method's own."""
    return _TABLES[method](input_size, output_size, *settings)


@functools.lru_cache(maxsize=256)
def transposed_taps(method, input_size, output_size, settings):
    """The table of the adjoint, from outputs back to inputs."""
    positions, weights, _ = taps_for(method, input_size, output_size, settings)
    sources = positions.ravel()
    order = np.argsort(sources, kind="stable")
    order = order[weights.ravel()[order] != 0]
    sources = sources[order]
    starts = np.searchsorted(sources, np.arange(input_size))
    counts = np.bincount(sources, minlength=input_size)
    columns = np.arange(len(sources)) - starts[sources]
    shape = (input_size, max(1, int(counts.max(initial=0))))
    back, factors = np.zeros(shape, np.intp), np.zeros(shape, weights.dtype)
    back[sources, columns] = order // positions.shape[1]
    factors[sources, columns] = weights.ravel()[order]
    return Taps(back, factors, output_size)


def _axis_scale(input_size, output_size, align_corners):
    """How many input pixels one output pixel steps over, in the precision TensorFlow uses."""
    if align_corners and output_size > 1:
        return np.float32(input_size - 1) / np.float32(output_size - 1)
    return np.float32(input_size) / np.float32(output_size)


def _places(input_size, output_size, align_corners, half_pixel_centers):
    scale = _axis_scale(input_size, output_size, align_corners)
    steps = np.arange(output_size, dtype=np.float32)
    if half_pixel_centers:
        return (steps + np.float32(0.5)) * scale - np.float32(0.5)
    return steps * scale


def _bilinear(input_size, output_size, align_corners, half_pixel_centers):
    places = _places(input_size, output_size, align_corners, half_pixel_centers)
    floor = np.floor(places)
    share = places - floor
    lower = np.maximum(floor, 0).astype(np.intp)
    upper = np.minimum(np.ceil(places), input_size - 1).astype(np.intp)
    positions = np.stack([np.minimum(lower, input_size - 1), upper], 1)
    return Taps(positions, np.stack([1 - share, share], 1), input_size)


def _nearest(input_size, output_size, align_corners, half_pixel_centers):
    scale = _axis_scale(input_size, output_size, align_corners)
    steps = np.arange(output_size, dtype=np.float32)
    places = (steps + np.float32(0.5)) * scale if half_pixel_centers else steps * scale
    places = np.floor(places + np.float32(0.5)) if align_corners else np.floor(places)
    positions = np.clip(places.astype(np.intp), 0, input_size - 1)
    return Taps(positions[:, None], np.ones((output_size, 1), np.float32), input_size)


def _bicubic(input_size, output_size, align_corners, half_pixel_centers):
    places = _places(input_size, output_size, align_corners, half_pixel_centers)
    base = np.floor(places)
    offset = np.rint((places - base) * _CUBIC_STEPS).astype(np.intp)
    near, far = _cubic_table(-0.5 if half_pixel_centers else -0.75)
    rest = _CUBIC_STEPS - offset
    weights = np.stack([far[offset], near[offset], near[rest], far[rest]], 1)
    wanted = base.astype(np.intp)[:, None] + np.arange(-1, 3)
    positions = np.clip(wanted, 0, input_size - 1)
    if half_pixel_centers:  # pixels beyond the edge count for nothing, not as the edge
        weights = np.where(positions == wanted, weights, 0.0)
        weights = _normalised(weights)
    return Taps(positions, weights, input_size)


@functools.cache
def _cubic_table(a):
    """The cubic at steps from 0 to 1 and from 1 to 2; TensorFlow looks its weights up."""
    near = np.arange(_CUBIC_STEPS + 1) / _CUBIC_STEPS
    far = near + 1
    inner = ((a + 2) * near - (a + 3)) * near * near + 1
    outer = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a
    return inner, outer


def _area(input_size, output_size, align_corners):
    if align_corners and output_size > 1:
        scale = (input_size - 1) / (output_size - 1)
    else:
        scale = input_size / output_size
    start = np.arange(output_size) * scale
    stop = np.arange(1, output_size + 1) * scale
    first = np.floor(start)
    pixels = first[:, None] + np.arange(int((np.ceil(stop) - first).max(initial=1)))
    covered = np.minimum(pixels + 1, stop[:, None]) - np.maximum(pixels, start[:, None])
    weights = np.maximum(covered, 0) / (scale or 1.0)
    return Taps(np.clip(pixels.astype(np.intp), 0, input_size - 1), weights, input_size)


def _scaled(input_size, output_size, scale, translation, kernel_type, antialias):
    radius, kernel = KERNELS[kernel_type]
    # In TensorFlow's precision, for a pixel just at the kernel's edge counts or not by rounding.
    half, step = np.float32(0.5), np.float32(1 / scale)
    stretch = max(step, np.float32(1)) if antialias else np.float32(1)
    centres = (np.arange(output_size, dtype=np.float32) + half) * step - step * np.float32(
        translation
    )
    reach = np.float32(radius) * stretch
    start = np.clip(np.ceil(centres - reach - half), 0, input_size - 1)
    stop = np.clip(np.floor(centres + reach - half), 0, input_size - 1) + 1
    taps = np.arange(int((stop - start).max(initial=1)), dtype=np.float32)
    pixels = start[:, None] + taps
    distance = np.abs((pixels + half - centres[:, None]) / stretch).astype(np.float64)
    weights = _normalised(np.where(pixels < stop[:, None], kernel(distance), 0.0))
    weights[(centres < 0) | (centres > input_size)] = 0
    return Taps(np.clip(pixels, 0, input_size - 1).astype(np.intp), weights, input_size)


def _valid(input_size, output_size, *weights):
    """A filter that stays inside the axis."""
    positions = np.arange(output_size)[:, None] + np.arange(len(weights))
    rows = np.broadcast_to(np.array(weights), positions.shape)
    return Taps(positions, rows, input_size)


def _normalised(weights):
    total = weights.sum(1, keepdims=True)
    return weights / np.where(np.abs(total) >= _TINY, total, 1.0)


def _lanczos(radius):
    def kernel(x):
        angle = np.pi * np.maximum(x, 1e-3)
        wave = radius * np.sin(angle) * np.sin(angle / radius) / (angle * angle)
        return np.where(x <= 1e-3, 1.0, np.where(x > radius, 0.0, wave))

    return kernel


def _piecewise(inner, outer):
    return lambda x: np.where(x >= 2, 0.0, np.where(x >= 1, outer(x), inner(x)))


# By name, the radius and the weight at a distance.
KERNELS = {
    "lanczos1": (1, _lanczos(1)),
    "lanczos3": (3, _lanczos(3)),
    "lanczos5": (5, _lanczos(5)),
    "gaussian": (1.5, lambda x: np.where(x >= 1.5, 0.0, np.exp(-2 * x * x))),
    "box": (1, lambda x: np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))),
    "triangle": (1, lambda x: np.maximum(1 - x, 0.0)),
    "keyscubic": (
        2,
        _piecewise(
            lambda x: ((1.5 * x - 2.5) * x) * x + 1,
            lambda x: ((-0.5 * x + 2.5) * x - 4) * x + 2,
        ),
    ),
    "mitchellcubic": (
        2,
        _piecewise(
            lambda x: ((7 / 6 * x - 2) * x) * x + 8 / 9,
            lambda x: ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9,
        ),
    ),
}

_TABLES = {
    "bilinear": _bilinear,
    "nearest": _nearest,
    "bicubic": _bicubic,
    "area": _area,
    "scaled": _scaled,
    "valid": _valid,
}
